/* Intervals sorted by start, asked for those that reach beyond an instant: a tree of the largest ends. */
#ifndef HS_ANALYSIS_HTA_REACH_H
#define HS_ANALYSIS_HTA_REACH_H

#include <stddef.h>
#include <stdint.h>

struct hta_reach {
    double *max; /* implicit binary tree, leaves from `leaves` on */
    size_t leaves, n;
};
#define HTA_REACH_NONE SIZE_MAX

void hta_reach_build(struct hta_reach *t, const double *end, size_t n);
void hta_reach_free(struct hta_reach *t);

/* The first i in [from, to) with end[i] > limit; the last one with end[i] >= limit; HTA_REACH_NONE. */
size_t hta_reach_first_above(const struct hta_reach *t, size_t from, size_t to, double limit);
size_t hta_reach_last_from(const struct hta_reach *t, size_t from, size_t to, double limit);

/* Takes i out: it reaches nowhere any more. */
void hta_reach_remove(struct hta_reach *t, size_t i);

#endif
