/* Queues of device streams: work that was launched and has not started. Shared by queue-length, queue-length-series and
 * queue-full.
 *
 * Per (device, stream) each device activity enters at the start of the call that launched it and leaves when it starts
 * (SEMANTICS of HTA's get_queue_length_*, for every launch API). Work in execution is not in the queue. All changes of one
 * instant count together, so the length is never negative. Work whose launch is not in the trace cannot be placed, work that
 * starts before its launch never waits: neither enters, and both are counted. */
#ifndef HS_ANALYSIS_QUEUE_H
#define HS_ANALYSIS_QUEUE_H

#include "analysis/gaps.h"
#include "analysis/series.h"

struct hs_queue {
    int32_t device;
    int64_t stream;
    struct hs_series length; /* from the first launch to the last start, cut at the window; file time */
    int64_t entered;         /* activities that entered, of the chosen steps, whatever the window */
    int64_t orphans, early;  /* activities without a launch; those that start before it */
};

/* Walks the streams of a rank that have a queue, ascending:
 *     struct hs_queue_walk w;
 *     for (hs_queue_walk(&w, &sel); hs_queue_next(&w, &queue);) …
 *     hs_queue_end(&w, out);      frees, and notes what was left out
 * The queue's series belongs to the walk and is valid until the next step. */
struct hs_queue_walk {
    const struct hs_select *s;
    struct hs_stream_rows rows;
    struct hs_series series;
    struct hs_changes changes;
    int64_t *launches, *scratch; /* start times of a stream's launches */
    int64_t orphans, early, entered;
};
void hs_queue_walk(struct hs_queue_walk *w, const struct hs_select *s);
bool hs_queue_next(struct hs_queue_walk *w, struct hs_queue *out);
void hs_queue_end(struct hs_queue_walk *w, struct hs_table *out);

#endif
