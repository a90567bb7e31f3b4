/* The lanes of CPU threads in a timeline: one lane per thread and depth of its call stack. Used by analysis/timeline.c. */
#ifndef HS_ANALYSIS_TIMELINE_CPU_H
#define HS_ANALYSIS_TIMELINE_CPU_H

#include "analysis/timeline_lane.h"

/* Writes the CPU lanes of one rank: complete (X) events of CPU categories in [from, to) of the run's clock, depth below
 * max_depth. `lane`: only the thread of this id (NULL: all). *deeper grows by the events left out for their depth. */
int hs_timeline_cpu(const struct hs_run_rank *r, int64_t from, int64_t to, int max_depth, const char *lane,
                    struct hs_lane_bins *bins, struct hs_table *out, int64_t *deeper, struct hs_err *err);

#endif
