/* The critical path of one rank: the chain of work and waiting that decided when the window ended. Walked from the end back to
 * the beginning, always to what came last of what a piece of work had to wait for (Yang and Miller, "Critical path analysis
 * for the execution of parallel and distributed programs", 1988). Every nanosecond between the window's start and the
 * path's end is in exactly one piece, so the pieces add up, and as time only goes back there can be no cycle.
 *
 * What device work waits for: the work before it on its stream; the call that launched it; and where it began later than
 * both, the work of its device that it waited for through an event or an edge of its CUDA graph: as recorded where the trace
 * has synchronisation activities (crit_recorded.h), else inferred to be the work that ended last before it and was launched
 * earlier or by the same call. What the CPU waits for: in a synchronising call or a blocking copy, the device work that ended
 * last within it and was launched before; in time without an operator or call, the thread whose operators or calls
 * ran last (a backward thread, or the main one for it).
 *
 * n log n in events; memory is linear. */
#ifndef HS_ANALYSIS_CRIT_H
#define HS_ANALYSIS_CRIT_H

#include "analysis/cpu_side.h"

/* A stretch of a thread with one innermost event. */
struct hs_crit_segment {
    int64_t start, end;
    uint32_t event, lane;
    bool active; /* in an operator, a call of an API or the profiler's overhead, or within one */
    bool loads;  /* the event or one that it nests in loads data */
};
struct hs_crit_segments {
    HS_VEC(struct hs_crit_segment); /* by lane, then start; disjoint within a lane */
};
/* False over the ceiling. Where events of a thread overlap without nesting, the later one ends the earlier one's stretch. */
bool hs_crit_segments(const struct hs_cpu *cpu, const uint8_t *loading, struct hs_crit_segments *out);

enum hs_crit_cause {
    HS_CRIT_CPU,
    HS_CRIT_LOADING,
    HS_CRIT_CPU_IDLE, /* no event of the thread, and none of another that it could wait for */
    HS_CRIT_COMPUTE,
    HS_CRIT_COMM,
    HS_CRIT_MEMORY,
    HS_CRIT_LAUNCH,  /* from the end of the launch call to the start of the work */
    HS_CRIT_KERNEL,  /* from the end of the work before on the stream */
    HS_CRIT_SYNC,    /* from the end of the work that was waited for: on the device, or to the return of the call */
    HS_CRIT_UNKNOWN, /* before device work of which nothing tells what it waited for */
    HS_CRIT_CAUSES
};
const char *hs_crit_word(enum hs_crit_cause c); /* as HTA's bound_by where it has one */

struct hs_crit_piece {
    int64_t start, end; /* file time */
    enum hs_crit_cause cause;
    uint32_t event; /* whose time it is; of a delay, the work that was delayed; HS_NO_EVENT */
    size_t row;     /* device row of that event, SIZE_MAX on the CPU */
};

struct hs_crit {
    struct {
        HS_VEC(struct hs_crit_piece);
    } pieces;     /* in order of time; contiguous */
    size_t nodes; /* stretches of threads and device rows that could be on it */
};

struct hs_crit_index; /* crit_index.h */

/* The path that ends with the last of the CPU stretches that begin in [from, to), cut at `to`, and the device rows launched in
 * it. */
int hs_crit_find(struct hs_crit *c, const struct hs_crit_index *x, int64_t from, int64_t to, struct hs_err *err);
void hs_crit_free(struct hs_crit *c);

#endif
