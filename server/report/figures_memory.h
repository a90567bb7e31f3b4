/* What figures take from the allocator's events of a rank ([memory], recorded with profile_memory=True). */
#ifndef HS_REPORT_FIGURES_MEMORY_H
#define HS_REPORT_FIGURES_MEMORY_H

#include "report/figures.h"

/* Adds to HS_FIG_FULL, HS_FIG_RESERVED and HS_FIG_UNUSED, shares included: of the device where each is most. */
int hs_figures_from_memory(struct hs_figures *f, const struct hs_run_rank *rank, struct hs_err *err);

#endif
