/* Device time of a run in parts that add up to it, for diff by=part. */
#ifndef HS_ANALYSIS_DIFF_PARTS_H
#define HS_ANALYSIS_DIFF_PARTS_H

#include "analysis/registry.h"

enum { HS_PART_COMPUTE, HS_PART_COMM, HS_PART_MEMORY, HS_PART_IDLE, HS_PARTS };
struct hs_parts {
    int64_t
        ns[HS_PARTS]; /* over devices and chosen ranks; compute: alone or with others; communication: without compute */
};
const char *hs_part_word(size_t part);
int hs_diff_parts(struct hs_run *run, const struct hs_params *p, int side, struct hs_parts *parts, struct hs_table *out,
                  struct hs_err *err);

#endif
