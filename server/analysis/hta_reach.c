#include "analysis/hta_reach.h"

#include "base/mem.h"

#include <math.h>

void hta_reach_build(struct hta_reach *t, const double *end, size_t n)
{
    t->n = n;
    t->leaves = 1;
    while (t->leaves < n)
        t->leaves *= 2;
    t->max = hs_malloc(2 * t->leaves * sizeof *t->max);
    for (size_t i = 0; i < t->leaves; i++)
        t->max[t->leaves + i] = i < n ? end[i] : -INFINITY;
    for (size_t k = t->leaves - 1; k > 0; k--)
        t->max[k] = fmax(t->max[2 * k], t->max[2 * k + 1]);
}

void hta_reach_free(struct hta_reach *t)
{
    hs_free_array((void **)&t->max);
    t->n = 0;
}

void hta_reach_remove(struct hta_reach *t, size_t i)
{
    t->max[t->leaves + i] = -INFINITY;
    for (size_t k = (t->leaves + i) / 2; k > 0; k /= 2)
        t->max[k] = fmax(t->max[2 * k], t->max[2 * k + 1]);
}

/* Nodes cover [lo, lo + width). Depth is log2 of the leaves. */
static size_t first_above(const struct hta_reach *t, size_t node, size_t lo, size_t width, size_t from, size_t to,
                          double limit)
{
    if (lo >= to || lo + width <= from || !(t->max[node] > limit))
        return HTA_REACH_NONE;
    if (width == 1)
        return lo;
    size_t i = first_above(t, 2 * node, lo, width / 2, from, to, limit);
    return i != HTA_REACH_NONE ? i : first_above(t, 2 * node + 1, lo + width / 2, width / 2, from, to, limit);
}

static size_t last_from(const struct hta_reach *t, size_t node, size_t lo, size_t width, size_t from, size_t to,
                        double limit)
{
    if (lo >= to || lo + width <= from || !(t->max[node] >= limit))
        return HTA_REACH_NONE;
    if (width == 1)
        return lo;
    size_t i = last_from(t, 2 * node + 1, lo + width / 2, width / 2, from, to, limit);
    return i != HTA_REACH_NONE ? i : last_from(t, 2 * node, lo, width / 2, from, to, limit);
}

size_t hta_reach_first_above(const struct hta_reach *t, size_t from, size_t to, double limit)
{
    return first_above(t, 1, 0, t->leaves, from, to < t->n ? to : t->n, limit);
}

size_t hta_reach_last_from(const struct hta_reach *t, size_t from, size_t to, double limit)
{
    return last_from(t, 1, 0, t->leaves, from, to < t->n ? to : t->n, limit);
}
