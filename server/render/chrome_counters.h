/* chrome_counters: the series of the exact analyses as counter events (ph C) of a Chrome trace, in the form that
 * HolisticTraceAnalysis' generate_trace_with_counters gives them:
 *
 *   {"ph":"C","name":"Queue Length","pid":0,"id":7,"ts":12.5,"args":{"Queue Length":3}}       id: the stream
 *   {"ph":"C","name":"Memcpy HtoD","pid":0,"ts":12.5,"args":{"Memcpy BW":21.4}}               GB/s
 *
 * Where several devices share a pid, the id tells them apart ("device:stream"; the device). One series is in memory at a
 * time. */
#ifndef HS_RENDER_CHROME_COUNTERS_H
#define HS_RENDER_CHROME_COUNTERS_H

#include "analysis/bandwidth.h"
#include "analysis/queue.h"

struct hs_chrome_device {
    int32_t device;
    uint32_t lane; /* of its first row */
};

struct hs_chrome_counters {
    struct hs_select sel;
    struct hs_table *notes;
    bool queue, bandwidth; /* still to be told */
    bool in_queue, in_bandwidth;
    struct hs_queue_walk queues;
    struct hs_bandwidth_walk copies;
    struct hs_queue q;
    struct hs_bandwidth b;
    const struct hs_series *series; /* of q or b */
    size_t i;                       /* next point */
    struct {
        HS_VEC(struct hs_chrome_device);
    } devices;
    bool shared_pid; /* several devices have one pid */
};

/* Takes step, from and to of `p`. Notes about what is missing go to `notes`, which must outlive it. The struct must not move.
 * hs_chrome_counters_close, also after a failure. */
int hs_chrome_counters_open(struct hs_chrome_counters *c, const struct hs_run_rank *r, const struct hs_params *p,
                            bool queue, bool bandwidth, struct hs_table *notes, struct hs_err *err);
/* Appends one event's JSON; *more is false, and nothing appended, at the end. */
int hs_chrome_counters_next(struct hs_chrome_counters *c, struct hs_buf *out, bool *more, struct hs_err *err);
void hs_chrome_counters_close(struct hs_chrome_counters *c);

#endif
