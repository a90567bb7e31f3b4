/* HTA's queue length and memory bandwidth series. */
#ifndef HS_ANALYSIS_HTA_QUEUE_H
#define HS_ANALYSIS_HTA_QUEUE_H

#include "analysis/hta_query.h"

/* A launch raises the length of its kernel's stream, the kernel's start lowers it. */
struct hta_queue_point {
    int64_t ts, stream;
    uint32_t row;  /* of the rank: the launch or the device row; its index is HTA's label of the point */
    uint32_t lane; /* of the device row */
    int64_t length;
};
struct hta_queue {
    HS_VEC(struct hta_queue_point);
    bool uneven; /* launches and kernels do not pair up: HTA stops here with an assertion */
};

/* Points of one rank, by stream ascending, then in HTA's order. False: they grew beyond all measure. */
bool hta_queue_points(const struct hta_trace *t, const struct hta_rank *r, struct hta_queue *out);

static inline bool hta_is_launch(const struct hta_trace *t, const struct hta_row *x)
{
    return hta_name_has(t, x, HTA_IS_LAUNCH) && x->icorr > 0;
}

/* Device rows (on a stream) by correlation: rows[at[g] .. at[g + 1]) in row order, g from `group`. */
struct hta_by_corr {
    struct hta_map group;
    size_t *at;
    uint32_t *rows;
};
void hta_by_corr_build(const struct hta_rank *r, struct hta_by_corr *out);
const uint32_t *hta_by_corr_find(const struct hta_by_corr *b, int64_t corr, size_t *n);
void hta_by_corr_free(struct hta_by_corr *b);

#endif
