/* Idle gaps of device streams, and why: shared by idle, idle-intervals, timeline and the report.
 *
 * Per (device, stream), rows by start: a gap lies between the running maximum of ends and the next start, if that is later
 * (so gaps are never negative and never count twice, however rows overlap). Its cause is read off the row that ends it
 * (of several that start together the one launched first):
 *   host wait    its launch call started after the work before it had ended: the GPU had nothing to do
 *   kernel wait  it had been launched in time, and the gap is shorter than the delay that back to back work has
 *   other        it had been launched in time but waited longer (another stream, an event, a copy), or its launch is unknown
 * (HTA's get_idle_time_breakdown, with its negative gaps, merged devices and borrowed launches put right.) */
#ifndef HS_ANALYSIS_GAPS_H
#define HS_ANALYSIS_GAPS_H

#include "analysis/select.h"

enum hs_cause { HS_HOST_WAIT, HS_KERNEL_WAIT, HS_OTHER_WAIT, HS_CAUSES };
const char *hs_cause_word(enum hs_cause c); /* "host_wait", "kernel_wait", "other" */

/* Of a gap that began at idle_since, by the start of the launch call of the work that ended it (HS_NO_VALUE: unknown). */
enum hs_cause hs_cause_of(int64_t launch, int64_t idle_since, int64_t gap, int64_t delay);

struct hs_gap {
    struct hs_span at;    /* cut at the window; file time */
    struct hs_span whole; /* the same, not cut */
    enum hs_cause cause;  /* of the whole gap */
    size_t next;          /* device row that ends it */
};

/* A stream's rows: [first, end) of the device table. Walk all: for (r = {0}; hs_next_stream(g, &r);) */
struct hs_stream_rows {
    size_t first, end;
};
bool hs_next_stream(const struct hs_gpu *g, struct hs_stream_rows *r);

/* Walks the gaps of one stream in order. The row that ends a gap must be of a chosen step; all rows count as work. */
struct hs_gap_walk {
    const struct hs_select *s;
    int64_t delay;      /* ns: shorter gaps are kernel waits */
    int64_t busy_until; /* running maximum of ends */
    size_t i, end;
};
void hs_gap_walk(struct hs_gap_walk *w, const struct hs_select *s, struct hs_stream_rows r, int64_t delay);
bool hs_gap_next(struct hs_gap_walk *w, struct hs_gap *out);

/* Whether the parameter `streams` asks for this stream. */
bool hs_stream_asked(const struct hs_gpu *g, const struct hs_stream_rows *r, const struct hs_params *p);

#define HS_PARAM_STREAMS                                                                             \
    {                                                                                                \
        "streams", HS_P_INT_LIST, "", NULL, 0, 0, NULL, "stream numbers, of any device; absent: all" \
    }

#define HS_PARAM_KERNEL_DELAY                                                               \
    {                                                                                       \
        "consecutive_kernel_delay", HS_P_TIME, "us", "30", 0, 0, NULL,                      \
            "gaps shorter than this before work that was launched in time are kernel waits" \
    }

#endif
