/* op_groups: operators of one rank, by name and shapes, with what they must at least do (analysis/op_cost.h), how long the GPU took
 * for it, and how near that comes to what the device can (trace/peaks.h). Shared by roofline and the report. */
#ifndef HS_ANALYSIS_OP_GROUPS_H
#define HS_ANALYSIS_OP_GROUPS_H

#include "analysis/cpu_side.h"
#include "analysis/op_cost.h"

struct hs_op_group {
    uint32_t name, dims, types, concrete; /* symbols; concrete HS_NO_SYM where it tells nothing */
    int64_t calls, gpu_ns;                /* calls that launched only kernels and memsets; all that these took */
    uint32_t event;                       /* the call that took longest */
    int64_t ts, longest_ns;               /* of it */
    bool tensor_cores, plain;             /* names of its kernels say so; that they are single precision without */
    bool told;                            /* `cost` is known, and what follows from it */
    struct hs_op_cost cost;               /* of one call; dtype is what it ran in as far as can be told */
    const struct hs_peaks *peaks;         /* NULL: what follows is NaN */
    double compute_pct, bandwidth_pct;    /* of the device's peaks; NaN where it has none */
    bool cached;                          /* all it touches fits into the last cache */
};

struct hs_op_groups {
    HS_VEC(struct hs_op_group); /* most GPU time first */
    const char
        *no_shapes;  /* why no operator that launched kernels tells its shapes, and what would help; NULL: some do */
    int64_t work_ns; /* summed durations of all device work asked for */
    int64_t told_ns; /* what of it belongs to groups whose cost is told */
    struct hs_str device; /* name of the device; "" none told. Of the view */
    char *name;           /* holds it */
    const struct hs_peaks *peaks;
};

/* Device work that `s` takes by step and start, each row for the innermost operator around its launch. */
int hs_op_groups_open(struct hs_op_groups *g, const struct hs_select *s, const struct hs_cpu *cpu, struct hs_err *err);
void hs_op_groups_close(struct hs_op_groups *g);

/* TFLOP/s and GB/s of a group that is told. */
double hs_op_tflops(const struct hs_op_group *g);
double hs_op_gbps(const struct hs_op_group *g);

#endif
