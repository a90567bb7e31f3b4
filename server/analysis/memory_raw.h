/* What memory-timeline and its compat form answer from a memory timeline (trace/view.h: HS_MEMORY_TIMELINE). */
#ifndef HS_ANALYSIS_MEMORY_RAW_H
#define HS_ANALYSIS_MEMORY_RAW_H

#include "analysis/series.h"

/* torch.profiler._memory_profiler: Category and its index in the file; the last is that of what has none. */
#define HS_MEMORY_CATEGORIES 8

struct hs_memory_entry {
    int64_t ts; /* ns as in the file; below 0: before the recording began */
    int64_t bytes, category;
    uint32_t event;
};
struct hs_memory_raw {
    HS_VEC(struct hs_memory_entry); /* in the order of the file */
};
#define HS_MEMORY_RAW_INIT HS_VEC_INIT(HS_MAX_EVENTS)
int hs_memory_raw_read(struct hs_view *v, struct hs_memory_raw *out,
                       struct hs_err *err); /* *out initialised, emptied */

/* The exact rows of one rank, columns of memory-timeline. */
int hs_memory_raw_rows(const struct hs_run_rank *r, const struct hs_params *p, struct hs_series_writer *w,
                       struct hs_table *out, struct hs_err *err);

#endif
