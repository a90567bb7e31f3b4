/* The budget of device time: for each device of a rank, how long exactly which set of classes of work ran. Every other
 * figure of busy time is a sum of these, so busy, idle and the parts always add up. */
#ifndef HS_ANALYSIS_DEVICE_TIME_H
#define HS_ANALYSIS_DEVICE_TIME_H

#include "analysis/select.h"

/* Sets of classes; copies and memsets are one class here. */
enum { HS_SET_COMPUTE = 1, HS_SET_COMM = 2, HS_SET_MEMORY = 4, HS_SETS = 8 };

struct hs_device_time {
    int32_t device;
    size_t rows;         /* device rows that touch the window */
    int64_t first, last; /* start of the first and end of the last of them, cut at the window; file time */
    int64_t ns[HS_SETS]; /* by exact set; [0] is 0 */
};

/* One entry a device that has such rows, ascending; *out is free()d by the caller. Rows on several streams at once count once. */
int hs_device_times(const struct hs_select *s, struct hs_device_time **out, size_t *n, struct hs_err *err);

/* Of a rank: sums over its devices, all judged over one span, from the rank's first to its last device work. */
struct hs_rank_time {
    size_t devices, rows;
    int64_t first, last;      /* file time */
    int64_t span_ns;          /* devices * (last - first) */
    int64_t busy_ns, idle_ns; /* busy + idle = span */
    int64_t ns[HS_SETS];
};
int hs_rank_time(const struct hs_select *s, struct hs_rank_time *out, struct hs_err *err);

/* Sum over the sets that hold a bit of `bits`. */
int64_t hs_time_of(const int64_t ns[HS_SETS], unsigned bits);

#endif
