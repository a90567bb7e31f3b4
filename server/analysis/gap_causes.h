/* Why a whole device stood idle, to the nanosecond: what each of its gaps was spent on. Shared by idle-causes and syncs.
 *
 * A gap lies between work of a device, all streams taken together, and is ended by the work that starts next (of several that
 * start together, the one that was launched first). If that was launched only after the gap had begun, the device had
 * nothing to do, and the gap is told by what led to the launch: walking back from the launch call on its thread, and where
 * that ran nothing on the thread that ran last (as crit.h's path does), each stretch of the gap belongs to what ran. From the
 * start of the call to the start of the work it is launch time. If it was launched in time, the whole gap has one cause.
 *
 * The pieces of a gap follow each other and add up to it. n log n in events, linear in gaps and their pieces. */
#ifndef HS_ANALYSIS_GAP_CAUSES_H
#define HS_ANALYSIS_GAP_CAUSES_H

#include "analysis/crit_index.h"

enum hs_gap_cause {
    HS_GAP_LOADING,    /* the CPU loaded data */
    HS_GAP_SYNC,       /* the CPU waited for the device, which was already idle, or in a blocking copy */
    HS_GAP_ALLOC,      /* the CPU allocated or freed device or pinned memory (cudaMalloc, hipHostMalloc, …) */
    HS_GAP_COMPILE,    /* the CPU compiled or tuned kernels (dynamo, inductor, triton's autotuner) */
    HS_GAP_COLLECT,    /* Python collected garbage */
    HS_GAP_CPU,        /* the CPU ran operators, Python, other calls */
    HS_GAP_LAUNCH,     /* launch calls, and from such a call to the start of its work */
    HS_GAP_NOTHING,    /* no thread recorded anything that led to the launch */
    HS_GAP_EVENT,      /* launched in time; waited for an event of another stream, as recorded */
    HS_GAP_GRAPH,      /* between work of one CUDA graph */
    HS_GAP_DISPATCH,   /* launched in time, shorter than the delay that back to back work has */
    HS_GAP_WAITING,    /* launched in time; what it waited for is not recorded */
    HS_GAP_UNLAUNCHED, /* the launch is not in the trace */
    HS_GAP_CAUSES
};
const char *hs_gap_word(enum hs_gap_cause c); /* "data_loading", … */
bool hs_gap_of_host(enum hs_gap_cause c);     /* the device waited for the CPU */

struct hs_gap_piece {
    int64_t start, end; /* file time */
    enum hs_gap_cause cause;
    uint32_t event; /* of the CPU, HS_NO_EVENT */
};
struct hs_idle_gap {
    int64_t start, end;
    size_t row;   /* device row that ends it: its launch tells the cause */
    size_t piece; /* first of its pieces */
    size_t npieces;
};

struct hs_gap_causes {
    const struct hs_select *sel; /* window, steps */
    struct hs_cpu cpu;           /* with HS_EV_TS, DUR, LANE, PH */
    struct hs_crit_index index;
    uint8_t *call; /* by symbol: what a call of this name does, a cause + 1; 0: nothing special */
    struct hs_pick compile;
    int64_t delay;
    struct {
        HS_VEC(struct hs_idle_gap);
    } gaps; /* by device, then time; cut at the window; of work of the chosen steps */
    struct {
        HS_VEC(struct hs_gap_piece);
    } pieces; /* of each gap from its end to its start */
    bool full;
};
/* Of all devices of the rank. `sel` is open with its device table and outlives it. */
int hs_gap_causes_open(struct hs_gap_causes *g, const struct hs_select *sel, int64_t delay, struct hs_err *err);
void hs_gap_causes_close(struct hs_gap_causes *g);

/* Is this call of a runtime one that waits for the device (a cause of HS_GAP_SYNC)? */
bool hs_gap_is_sync(const struct hs_gap_causes *g, uint32_t event);

#endif
