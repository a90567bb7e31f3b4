#include "analysis/hta_paint.h"

#include "base/mem.h"
#include "trace/stats.h"

/* The last edge at or before t, as a piece's number; n if there is none. */
static size_t piece(const struct hta_paint *p, int64_t t)
{
    size_t lo = 0, hi = p->n;
    while (lo < hi) {
        size_t m = lo + (hi - lo) / 2;
        if (p->edge[m] <= t)
            lo = m + 1;
        else
            hi = m;
    }
    return lo ? lo - 1 : p->n;
}

/* First unpainted piece from i on; paths are halved on the way. */
static uint32_t next_free(uint32_t *next, uint32_t i)
{
    while (next[i] != i)
        i = next[i] = next[next[i]];
    return i;
}

void hta_paint_build(struct hta_paint *p, const struct hta_span *spans, size_t n)
{
    int64_t *scratch = hs_malloc((2 * n + 1) * sizeof *scratch);
    p->edge = hs_malloc((2 * n + 1) * sizeof *p->edge);
    p->n = 0;
    for (size_t i = 0; i < n; i++) {
        p->edge[2 * i] = spans[i].start;
        p->edge[2 * i + 1] = spans[i].end;
    }
    hs_sort_i64(p->edge, scratch, 2 * n);
    for (size_t i = 0; i < 2 * n; i++)
        if (!i || p->edge[i] != p->edge[p->n - 1])
            p->edge[p->n++] = p->edge[i];
    p->who = hs_malloc((p->n + 1) * sizeof *p->who);
    uint32_t *next = hs_malloc((p->n + 1) * sizeof *next);
    for (size_t i = 0; i <= p->n; i++) {
        p->who[i] = HTA_NONE;
        next[i] = (uint32_t)i;
    }
    for (size_t i = 0; i < n; i++) {
        if (spans[i].end <= spans[i].start)
            continue;
        uint32_t last = (uint32_t)piece(p, spans[i].end);
        for (uint32_t k = next_free(next, (uint32_t)piece(p, spans[i].start)); k < last; k = next_free(next, k)) {
            p->who[k] = (uint32_t)i;
            next[k] = k + 1;
        }
    }
    hs_free_array((void **)&next);
    hs_free_array((void **)&scratch);
}

uint32_t hta_paint_at(const struct hta_paint *p, int64_t t)
{
    size_t i = piece(p, t);
    return i < p->n ? p->who[i] : HTA_NONE;
}

void hta_paint_free(struct hta_paint *p)
{
    hs_free_array((void **)&p->edge);
    hs_free_array((void **)&p->who);
    p->n = 0;
}
