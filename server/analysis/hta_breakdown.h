/* HTA's table of names with their durations, its "others" included: kernels, annotations. */
#ifndef HS_ANALYSIS_HTA_BREAKDOWN_H
#define HS_ANALYSIS_HTA_BREAKDOWN_H

#include "analysis/hta_query.h"

struct hta_group {
    uint32_t name; /* symbol; HTA_NONE: "others" */
    double sum, max, min, mean, std;
};
struct hta_groups {
    HS_VEC(struct hta_group);
};
#define HTA_GROUPS_INIT HS_VEC_INIT(HS_MAX_EVENTS)

struct hta_cut {
    int64_t names;      /* more names than this: the rest is "others" */
    double ratio;       /* and so is what lies beyond this quantile of the cumulated sums */
    const bool *always; /* by symbol: never "others". NULL: those of a negative sum are not (a slip of HTA's) */
};

/* Groups `rows` (n numbers of rows of r) by name. *out is emptied first; its order is HTA's. */
void hta_group_rows(struct hta_trace *t, const struct hta_rank *r, const uint32_t *rows, size_t n,
                    const struct hta_cut *cut, struct hta_groups *out);

#endif
