/* Sorting of row numbers by what their rows hold: a natural merge sort, because traces come as a few runs that are sorted
 * already (operators of a thread, then its runtime calls): finding the runs and merging them is all the work there is.
 * n log n compares at worst, stable, `tmp` as large as `v`. Inlined with its comparison, hence in a header. */
#ifndef HS_INGEST_LINK_SORT_H
#define HS_INGEST_LINK_SORT_H

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

typedef bool hs_less(const void *ctx, uint32_t a, uint32_t b);

#define HS_SORT_RUN 24u /* shorter runs are lengthened by insertion */
#define HS_INLINE static inline __attribute__((always_inline))

HS_INLINE size_t hs_sort_run(uint32_t *v, size_t from, size_t n, hs_less *less, const void *ctx)
{
    size_t i = from + 1;
    while (i < n && !less(ctx, v[i], v[i - 1]))
        i++;
    for (; i < n && i - from < HS_SORT_RUN; i++) {
        uint32_t x = v[i];
        size_t k = i;
        for (; k > from && less(ctx, x, v[k - 1]); k--)
            v[k] = v[k - 1];
        v[k] = x;
    }
    return i;
}

HS_INLINE void hs_sort_merge(const uint32_t *a, size_t na, const uint32_t *b, size_t nb, uint32_t *out, hs_less *less,
                             const void *ctx)
{
    while (na && nb) {
        if (less(ctx, *b, *a))
            *out++ = *b++, nb--;
        else
            *out++ = *a++, na--;
    }
    memcpy(out, a, na * sizeof *a);
    memcpy(out + na, b, nb * sizeof *b);
}

HS_INLINE void hs_sort_rows(uint32_t *v, size_t n, uint32_t *tmp, hs_less *less, const void *ctx)
{
    size_t nruns = 0, cap = 0, *ends = NULL; /* runs end at ends[i] */
    for (size_t i = 0; i < n;) {
        i = hs_sort_run(v, i, n, less, ctx);
        if (nruns == cap)
            ends = hs_realloc_array(ends, cap = cap * 2 + 16, sizeof *ends);
        ends[nruns++] = i;
    }
    uint32_t *from = v, *to = tmp;
    while (nruns > 1) {
        size_t start = 0, merged = 0;
        for (size_t i = 0; i < nruns; i += 2) {
            size_t mid = ends[i], end = i + 1 < nruns ? ends[i + 1] : mid;
            hs_sort_merge(from + start, mid - start, from + mid, end - mid, to + start, less, ctx);
            ends[merged++] = start = end;
        }
        nruns = merged;
        uint32_t *t = from;
        from = to;
        to = t;
    }
    if (from != v)
        memcpy(v, from, n * sizeof *v);
    free(ends);
}

#endif
