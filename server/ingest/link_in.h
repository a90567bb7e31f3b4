/* The inside of ingest/link, shared by its files and by nobody else.
 *
 *   link.c          hs_link: the order of the work, the two threads, the summary
 *   link_prepare.c  categories and lanes once, times made usable, counts by category
 *   link_pairs.c    B with E, b with e, flow ends with flow starts
 *   link_stack.c    call stacks: parent and depth of CPU events
 *   link_steps.c    ProfilerStep#N and the step of each event
 *   link_launch.c   which call launched a device event
 *   link_gpu.c      the table of device work */
#ifndef HS_INGEST_LINK_IN_H
#define HS_INGEST_LINK_IN_H

#include "ingest/link.h"
#include "trace/classes.h"

#include <stdatomic.h>

#define HS_HUGE_DUR (7ll * 24 * 3600 * 1000000000ll)
#define HS_OVERRUN 1000ll   /* ns: a child may end so much after its parent */
#define HS_FAR 1000000000ll /* ns: a device event at time 0 is a mistake if all others are later than this */

enum {
    HS_LANE_SYNTHETIC = 1, /* rows the writer draws for itself (pid "Spans", "Traces"): no thread */
    HS_LANE_OLD_CPU = 2,   /* the legacy autograd profiler: pid "CPU functions", no categories */
    HS_LANE_OLD_GPU = 4,   /* pid "CUDA functions", tid is the device */
    HS_LANE_PART = 8       /* pid "[TP00] 1234": the bracket names the rank in a merged file */
};

struct hs_linking {
    struct hs_trace *t;
    const struct hs_rows *r;
    struct hs_links *out;
    const _Atomic bool *cancel;   /* may be NULL */
    uint8_t kind[UINT16_MAX + 1]; /* hs_cat_kind by category symbol; UINT8_MAX: not seen */
    uint16_t mixed;               /* the category whose rows are told apart by their names; UINT16_MAX: none */
    uint8_t *lane_flags;          /* [lanes] */
    uint32_t *process, *part;     /* [lanes]: numbers of the pid, of the rank within a merged file */
    uint32_t nprocesses, nparts;
    uint8_t *side;             /* [events]: hs_side */
    bool old_profiler;         /* some lane is HS_LANE_OLD_GPU */
    size_t nb, nasync, nflows; /* events of ph B E, b e, s t f */
};

enum hs_side { HS_SIDE_NONE, HS_SIDE_CPU, HS_SIDE_DEVICE };

/* What an event's category says; where it has none, what the legacy profiler's pid says. */
static inline enum hs_cat_kind hs_row_kind(const struct hs_linking *l, size_t e)
{
    enum hs_cat_kind k = l->kind[l->r->cat[e]];
    if (k == HS_CAT_OTHER && !l->r->cat[e] && l->old_profiler)
        return l->lane_flags[l->r->lane[e]] & HS_LANE_OLD_GPU   ? HS_CAT_KERNEL
               : l->lane_flags[l->r->lane[e]] & HS_LANE_OLD_CPU ? HS_CAT_CPU_OP
                                                                : k;
    return k;
}

/* Where a span stands; HS_SIDE_NONE for what is no usable span. Known after hs_link_normalise. */
static inline enum hs_side hs_row_side(const struct hs_linking *l, size_t e)
{
    return (enum hs_side)l->side[e];
}

static inline int64_t hs_row_end(const struct hs_rows *r, size_t e)
{
    return r->ts[e] + r->dur[e]; /* hs_link_normalise made sure that it fits */
}

static inline int64_t hs_add_sat(int64_t a, int64_t b)
{
    int64_t s;
    return __builtin_add_overflow(a, b, &s) ? (b < 0 ? INT64_MIN : INT64_MAX) : s;
}

static inline bool hs_link_cancelled(const struct hs_linking *l)
{
    return l->cancel && atomic_load_explicit(l->cancel, memory_order_relaxed);
}

static inline void hs_count(struct hs_quality *q, enum hs_quality_kind kind, int64_t n)
{
    if (n)
        hs_quality_add(q, kind, n, -1);
}

/* link_prepare.c: fills what hs_linking holds (free with hs_link_forget); then, after the pairs are made, makes times usable:
 * negative durations 0, absurd ones and device times 0 without their flag; and counts categories. */
void hs_link_lanes(struct hs_linking *l);
void hs_link_normalise(struct hs_linking *l);
void hs_link_categories(const struct hs_linking *l);
void hs_link_forget(struct hs_linking *l);

/* link_pairs.c: gives each B and b that has an end its duration. */
void hs_link_pairs(struct hs_linking *l);
void hs_link_flows(const struct hs_linking *l, struct hs_quality *q);

/* link_stack.c: parent and depth of CPU spans; counts their threads and processes. */
void hs_link_stacks(const struct hs_linking *l, struct hs_quality *q);

/* link_steps.c: the steps, and the step of every event that is on no device. */
void hs_link_steps(const struct hs_linking *l);

/* link_launch.c: finds launches. */
struct hs_launcher {
    uint32_t *v;       /* CPU calls with a correlation, by (corr, part, runtime last, ts, event) */
    uint32_t *kernels; /* device rows each launched */
    size_t n;
    size_t at;   /* where the last look-up ended: the next is likely near */
    bool merged; /* several parts use the same correlations */
    struct {
        HS_VEC(struct hs_device_part);
    } parts;
};
struct hs_device_part { /* which part of a merged file launches onto a device, by majority of what is certain */
    int32_t device;
    uint32_t part;
    int64_t votes;
};
void hs_launcher_init(struct hs_launcher *c, const struct hs_linking *l, struct hs_quality *q);
/* Index in v of the call that launched device event d, or SIZE_MAX. */
size_t hs_launcher_find(struct hs_launcher *c, const struct hs_linking *l, uint32_t d, int32_t device);
/* The table of launches from v and kernels. */
void hs_launcher_table(struct hs_launcher *c, const struct hs_linking *l, struct hs_quality *q);
void hs_launcher_free(struct hs_launcher *c);

/* link_gpu.c: parent and step of device events, the table of device work, its part of the summary. */
void hs_link_gpu(const struct hs_linking *l, struct hs_quality *q);

#endif
