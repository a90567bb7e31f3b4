/* Waits that the profiler recorded (CUPTI's synchronisation activity: category cuda_sync), so that none has to be inferred:
 *   Stream Wait Event  work on `stream` that was launched after the call waits for the event
 *   Event Sync         the call returns when the event has happened
 *   Stream Sync        the call returns when its stream is empty
 *   Context Sync       the call returns when the device is
 * An event happens when the work that was launched on its stream before cudaEventRecord has ended; which record it was, the
 * activity tells by correlation (wait_on_cuda_event_record_corr_id), the stream by wait_on_stream. */
#ifndef HS_ANALYSIS_CRIT_RECORDED_H
#define HS_ANALYSIS_CRIT_RECORDED_H

#include "analysis/cpu_side.h"

struct hs_crit_call {
    uint32_t event;
    int32_t device;
    int64_t stream; /* HS_NO_VALUE: all of the device, or an event's */
    size_t row;     /* of an event: what was waited for, SIZE_MAX: nothing that is known of */
    bool is_event;
};
struct hs_crit_recorded {
    bool any; /* the trace has such activities: what they do not tell did not wait */
    size_t *
        row_wait; /* by device row: the row of another stream that an event made it wait for, SIZE_MAX; NULL without any */
    struct {
        HS_VEC(struct hs_crit_call);
    } calls;        /* synchronising calls, by event */
    size_t unknown; /* activities whose event or call the trace does not have */
};

/* `end_of`: ends of the device rows. Reads arguments only if the trace has such activities. */
int hs_crit_recorded_open(struct hs_crit_recorded *r, const struct hs_cpu *cpu, const struct hs_gpu *gpu,
                          const int64_t *end_of, struct hs_err *err);
void hs_crit_recorded_close(struct hs_crit_recorded *r);

/* Of a synchronising call; NULL if nothing was recorded of it. */
const struct hs_crit_call *hs_crit_recorded_call(const struct hs_crit_recorded *r, uint32_t event);

/* Rows [first, end) of a stream. */
void hs_crit_stream_rows(const struct hs_gpu *g, int32_t device, int64_t stream, size_t *first, size_t *end);

#endif
