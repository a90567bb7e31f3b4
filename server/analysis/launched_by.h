/* Device work by the CPU event that is held to have launched it (an operator among the ancestors of the launch call), each
 * event's work in a defined order. Shared by op-launch-delays and kernel-sequences. */
#ifndef HS_ANALYSIS_LAUNCHED_BY_H
#define HS_ANALYSIS_LAUNCHED_BY_H

#include "analysis/cpu_side.h"

struct hs_launched_by {
    uint32_t *row;   /* device rows that have such an event */
    uint32_t *owner; /* by place in `row`: the event; rows of one owner stand together */
    size_t n;
    int64_t orphans;   /* rows asked for without a launch in the trace */
    int64_t ownerless; /* and with a launch under no such event */
};

enum hs_work_order {
    HS_BY_LAUNCH, /* start of the call, correlation, start */
    HS_BY_START   /* start, device, stream */
};

/* Rows that `s` chooses by step and whose owner starts in the window; copies and memsets only if `copies`. Owners by start. */
void hs_launched_by(const struct hs_select *s, struct hs_pick *pick, bool copies, enum hs_work_order order,
                    struct hs_launched_by *out);
void hs_launched_by_free(struct hs_launched_by *l);

#endif
