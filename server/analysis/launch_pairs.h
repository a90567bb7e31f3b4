/* Launch calls and the device work they launched, as pairs in the order of the calls: shared by launches and launch-outliers. */
#ifndef HS_ANALYSIS_LAUNCH_PAIRS_H
#define HS_ANALYSIS_LAUNCH_PAIRS_H

#include "analysis/select.h"

/* Device rows whose launch is in the trace, by (start of the call, correlation, start of the work); a CUDA graph's launch has
 * many. In the window: the call starts there. */
struct hs_launch_pairs {
    uint32_t *row; /* numbers of device rows [n] */
    size_t n;
    int64_t orphans; /* rows that were asked for and have no launch */
    int64_t clamped; /* pairs whose work starts before the call has returned: their delay is 0 */
};
void hs_launch_pairs(const struct hs_select *s, bool copies, struct hs_launch_pairs *out);
void hs_launch_pairs_free(struct hs_launch_pairs *p);

/* From the end of the call to the start of the work; 0 if the work starts before (`clamped`). */
int64_t hs_launch_delay(const struct hs_select *s, size_t row);

/* Notes about orphans and clamped delays. */
void hs_launch_pairs_note(const struct hs_launch_pairs *p, int64_t rank, struct hs_table *out);

/* The call's duration; 0 if unknown. */
static inline int64_t hs_launch_dur(const struct hs_select *s, size_t row)
{
    return hs_max_i64(0, s->gpu.launch_dur[row]);
}

#define HS_PARAM_MEMORY_EVENTS                                               \
    {                                                                        \
        "include_memory_events", HS_P_BOOL, "", "true", 0, 0, NULL,          \
            "whether copies and memsets and the calls that start them count" \
    }

#endif
