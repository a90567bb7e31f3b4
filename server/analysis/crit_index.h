/* What a piece of work had to wait for, looked up in tables that are built once: shared by the walk (crit.c), which takes what
 * came last, and the graph (crit_graph.c), which keeps all of it. */
#ifndef HS_ANALYSIS_CRIT_INDEX_H
#define HS_ANALYSIS_CRIT_INDEX_H

#include "analysis/crit.h"
#include "analysis/crit_recorded.h"

#define HS_NO_ROW SIZE_MAX
#define HS_NO_SEGMENT SIZE_MAX

struct hs_crit_index {
    const struct hs_cpu *cpu;
    const struct hs_gpu *gpu;
    struct hs_crit_segments seg;
    size_t *lane_first; /* by lane: its first segment; [nlanes] is the end */
    uint32_t *by_start; /* active segments by start */
    uint32_t *latest;   /* by place in by_start: the segment with the latest end up to there */
    int64_t *start_of;  /* by place in by_start */
    size_t nactive;
    uint32_t *by_end;    /* device rows by end */
    int64_t *end_of;     /* by row */
    size_t *stream_prev; /* by row: the row before it on its stream that ends last; HS_NO_ROW */
    uint8_t *waits;      /* by symbol: calls of this name wait for the device; 2: copies, for their own work */
    struct hs_crit_recorded recorded;
};
int hs_crit_index_open(struct hs_crit_index *x, const struct hs_cpu *cpu, const struct hs_gpu *gpu,
                       const uint8_t *loading, struct hs_err *err);
void hs_crit_index_close(struct hs_crit_index *x);

/* What a device row waited for. Ends and the call are at or before its start. */
struct hs_crit_arrivals {
    int64_t call;   /* when its launch call had returned (at most its start); INT64_MIN: not known */
    size_t prev;    /* the row before it on its stream, HS_NO_ROW */
    size_t waited;  /* row of another stream, an event or an edge of its graph; HS_NO_ROW */
    bool by_call;   /* of call and prev the call came last */
    bool by_waited; /* `waited` came after both */
};
struct hs_crit_arrivals hs_crit_arrivals(const struct hs_crit_index *x, size_t row);

/* Last segment of the lane that starts before t; HS_NO_SEGMENT. */
size_t hs_crit_segment_before(const struct hs_crit_index *x, uint32_t lane, int64_t t);

/* The active segment of any thread that starts before t and ends last; HS_NO_SEGMENT. */
size_t hs_crit_latest_active(const struct hs_crit_index *x, int64_t t);

/* The device row whose end an active segment had waited for by t, at most its end; HS_NO_ROW. */
size_t hs_crit_waited_for(const struct hs_crit_index *x, const struct hs_crit_segment *s, int64_t t);

/* When a row came up: its launch, or its start where that is not known. It decides whether the row is of a window. */
static inline int64_t hs_crit_row_since(const struct hs_gpu *g, size_t row)
{
    return g->launch_ts[row] == HS_NO_VALUE ? g->ts[row] : g->launch_ts[row];
}

enum hs_crit_cause hs_crit_cause_of_row(const struct hs_gpu *g, size_t row);

#endif
