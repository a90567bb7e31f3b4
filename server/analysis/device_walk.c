#include "analysis/device_walk.h"

void hs_device_walk_init(struct hs_device_walk *w, const struct hs_gpu *gpu)
{
    *w = (struct hs_device_walk){.gpu = gpu, .heap = HS_VEC_INIT(UINT32_MAX)};
}

void hs_device_walk_free(struct hs_device_walk *w)
{
    hs_vec_free(&w->heap);
}

static inline bool before(const struct hs_cursor *a, const struct hs_cursor *b)
{
    return a->ts != b->ts ? a->ts < b->ts : a->at < b->at;
}

static void sift_down(struct hs_cursor *h, size_t n, size_t i)
{
    struct hs_cursor x = h[i];
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && before(&h[child + 1], &h[child]))
            child++;
        if (!before(&h[child], &x))
            break;
        h[i] = h[child];
    }
    h[i] = x;
}

bool hs_device_next(struct hs_device_walk *w)
{
    const struct hs_gpu *g = w->gpu;
    size_t i = w->next;
    w->heap.n = 0;
    if (i >= g->n)
        return false;
    w->device = g->device[i];
    while (i < g->n && g->device[i] == w->device) {
        struct hs_cursor c = {g->ts[i], i, i + 1};
        while (c.end < g->n && g->device[c.end] == w->device && g->stream[c.end] == g->stream[i])
            c.end++;
        hs_vec_push(&w->heap, c); /* fewer than rows, which are numbered in 32 bits */
        i = c.end;
    }
    w->next = i;
    for (size_t k = w->heap.n / 2; k-- > 0;)
        sift_down(w->heap.p, w->heap.n, k);
    w->limit = INT64_MIN; /* unknown: the first row settles it */
    return true;
}

void hs_device_reorder(struct hs_device_walk *w)
{
    struct hs_cursor *h = w->heap.p;
    if (h->at == h->end && --w->heap.n)
        *h = h[w->heap.n];
    size_t n = w->heap.n;
    if (n > 1)
        sift_down(h, n, 0);
    w->limit = n < 2 ? INT64_MAX : n == 2 ? h[1].ts : hs_min_i64(h[1].ts, h[2].ts);
}
