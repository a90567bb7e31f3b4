/* User annotations of one rank, each with the device work that is its own: on the GPU's side by containment on its stream,
 * on the CPU's side by the call tree. */
#ifndef HS_ANALYSIS_ANNOTATED_H
#define HS_ANALYSIS_ANNOTATED_H

#include "analysis/cpu_side.h"

struct hs_annotation {
    int64_t ts, end; /* file time */
    uint32_t name, lane, event;
    uint32_t kernels; /* device work that no earlier annotation of this name on this lane has: outer ones take all */
    int64_t gpu_ns;
};

struct hs_annotated {
    struct hs_select sel;
    struct hs_cpu cpu;
    struct hs_annotation *list; /* by name (symbol), lane, start, longest first */
    size_t n;
};

/* Those that start in the window and are of the chosen steps. Notes where a rank has none. */
int hs_annotated_open(struct hs_annotated *a, const struct hs_run_rank *r, const struct hs_params *p, bool gpu_side,
                      struct hs_table *out, struct hs_err *err);
void hs_annotated_close(struct hs_annotated *a);

/* Device rows by lane and start. */
struct hs_by_lane {
    uint32_t *row; /* [gpu.n] */
    size_t *first; /* [nlanes + 1]: rows of lane l are row[first[l] .. first[l + 1]) */
};
void hs_by_lane(const struct hs_select *s, struct hs_by_lane *out);
void hs_by_lane_free(struct hs_by_lane *b);

#endif
