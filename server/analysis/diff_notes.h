/* What diff says beside its rows. */
#ifndef HS_ANALYSIS_DIFF_NOTES_H
#define HS_ANALYSIS_DIFF_NOTES_H

#include "analysis/compare.h"

/* Step times with their spread, and "Not comparable: …" where ranks, steps or devices differ. */
void hs_diff_notes(const struct hs_compare *c, struct hs_run *run, const struct hs_params *p, struct hs_table *out);
/* The whole of what the rows of one side add up to, per step and rank; nothing if both are 0. */
void hs_diff_note_whole(const char *what, int64_t base, int64_t test, struct hs_table *out);

#endif
