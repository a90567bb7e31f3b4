/* Why whole devices were idle: the gaps in the union of all streams of a device, each with the cause of the work that ended
 * it (causes as in analysis/gaps.h). `idle` answers per stream; one stream's gap may be another's work. */
#ifndef HS_ANALYSIS_DEVICE_IDLE_H
#define HS_ANALYSIS_DEVICE_IDLE_H

#include "analysis/gaps.h"

/* Adds to ns[cause] the idle time of every device of the rank, between its first and last work. The window and steps of *s
 * are not applied. Where several streams start at once, the launch that came first counts. `longest` (may be NULL): the
 * longest gap of all, set if longer than the one in it. */
struct hs_device_gap {
    struct hs_span at; /* file time */
    enum hs_cause cause;
    int32_t device;
};
void hs_device_idle(const struct hs_select *s, int64_t delay, int64_t ns[HS_CAUSES], struct hs_device_gap *longest);

#endif
