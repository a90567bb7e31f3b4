#include "analysis/hta_sort.h"

#include "base/mem.h"

/* Spans of up to this many elements more than one are left to insertion sort (numpy's SMALL_QUICKSORT - 1). */
#define SMALL 15

static inline void swap(uint32_t *t, size_t a, size_t b)
{
    uint32_t x = t[a];
    t[a] = t[b];
    t[b] = x;
}

/* 1-based heap: t[o + 1 .. o + n]. */
static void sift(const double *v, uint32_t *heap, size_t i, size_t n, uint32_t x)
{
    for (size_t j = i * 2; j <= n; j *= 2) {
        if (j < n && v[heap[j - 1]] < v[heap[j]])
            j++;
        if (!(v[x] < v[heap[j - 1]]))
            break;
        heap[i - 1] = heap[j - 1];
        i = j;
    }
    heap[i - 1] = x;
}

static void heap_sort(const double *v, uint32_t *t, size_t n)
{
    for (size_t k = n / 2; k > 0; k--)
        sift(v, t, k, n, t[k - 1]);
    while (n > 1) {
        uint32_t x = t[n - 1];
        t[n - 1] = t[0];
        n--;
        sift(v, t, 1, n, x);
    }
}

static void insertion_sort(const double *v, uint32_t *t, size_t pl, size_t pr)
{
    for (size_t i = pl + 1; i <= pr; i++) {
        uint32_t x = t[i];
        size_t j = i;
        for (; j > pl && v[x] < v[t[j - 1]]; j--)
            t[j] = t[j - 1];
        t[j] = x;
    }
}

/* Splits [pl, pr] and returns where the pivot stands. */
static size_t partition(const double *v, uint32_t *t, size_t pl, size_t pr)
{
    size_t pm = pl + ((pr - pl) >> 1);
    if (v[t[pm]] < v[t[pl]])
        swap(t, pm, pl);
    if (v[t[pr]] < v[t[pm]])
        swap(t, pr, pm);
    if (v[t[pm]] < v[t[pl]])
        swap(t, pm, pl);
    double pivot = v[t[pm]];
    size_t i = pl, j = pr - 1;
    swap(t, pm, j);
    for (;;) {
        do
            i++;
        while (v[t[i]] < pivot);
        do
            j--;
        while (pivot < v[t[j]]);
        if (i >= j)
            break;
        swap(t, i, j);
    }
    swap(t, i, pr - 1);
    return i;
}

void hta_argsort(const double *v, size_t n, uint32_t *t)
{
    struct {
        size_t pl, pr;
        int depth;
    } stack[128]; /* the larger part is pushed: at most log2 n */
    int sp = 0, depth = 0;
    for (size_t i = 0; i < n; i++)
        t[i] = (uint32_t)i;
    if (n < 2)
        return;
    for (size_t k = n >> 1; k; k >>= 1)
        depth += 2;
    size_t pl = 0, pr = n - 1;
    for (;;) {
        if (depth < 0) {
            heap_sort(v, t + pl, pr - pl + 1);
        } else {
            while (pr > pl && pr - pl > SMALL) {
                size_t pi = partition(v, t, pl, pr);
                depth--;
                stack[sp].depth = depth;
                if (pi - pl < pr - pi) {
                    stack[sp].pl = pi + 1;
                    stack[sp++].pr = pr;
                    pr = pi - 1; /* pi > pl: the median of three leaves something on both sides */
                } else {
                    stack[sp].pl = pl;
                    stack[sp++].pr = pi - 1;
                    pl = pi + 1;
                }
            }
            if (pr > pl && pr != SIZE_MAX)
                insertion_sort(v, t, pl, pr);
        }
        if (!sp)
            return;
        sp--;
        pl = stack[sp].pl;
        pr = stack[sp].pr;
        depth = stack[sp].depth;
    }
}

void hta_argsort_desc(const double *key, size_t n, uint32_t *order)
{
    double *back = hs_malloc((n ? n : 1) * sizeof *back);
    for (size_t i = 0; i < n; i++)
        back[i] = key[n - 1 - i];
    hta_argsort(back, n, order);
    for (size_t i = 0; i < n / 2; i++)
        swap(order, i, n - 1 - i);
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)(n - 1 - order[i]);
    hs_free_array((void **)&back);
}

struct keys {
    const double *v;
};
static int key_less(void *ctx, uint32_t a, uint32_t b)
{
    const double *v = ((struct keys *)ctx)->v;
    return v[a] < v[b];
}

void hta_argsort_stable(const double *key, size_t n, uint32_t *order)
{
    struct keys k = {key};
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    hta_timsort(order, n, key_less, &k);
}
