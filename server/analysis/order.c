#include "analysis/order.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void hs_order_iota(uint32_t *order, size_t n)
{
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
}

struct pair {
    uint64_t key;
    uint32_t row;
};

/* One digit of a radix sort; false if all have the same digit (nothing was moved). */
static bool pass(const struct pair *from, struct pair *to, size_t n, unsigned shift)
{
    enum { BITS = 11, SIZE = 1 << BITS };
    size_t count[SIZE] = {0}, sum = 0;
    for (size_t i = 0; i < n; i++)
        count[(from[i].key >> shift) & (SIZE - 1)]++;
    if (count[(from[0].key >> shift) & (SIZE - 1)] == n)
        return false;
    for (size_t b = 0; b < SIZE; b++) {
        size_t c = count[b];
        count[b] = sum;
        sum += c;
    }
    for (size_t i = 0; i < n; i++)
        to[count[(from[i].key >> shift) & (SIZE - 1)]++] = from[i];
    return true;
}

static void radix(uint32_t *order, size_t n, const int64_t *key, int64_t min, uint64_t range)
{
    struct pair *from = hs_malloc(2 * n * sizeof *from), *to = from + n, *memory = from;
    for (size_t i = 0; i < n; i++)
        from[i] = (struct pair){(uint64_t)key[order[i]] - (uint64_t)min, order[i]};
    for (unsigned shift = 0; shift < 64 && range >> shift; shift += 11) {
        if (!pass(from, to, n, shift))
            continue;
        struct pair *swap = from;
        from = to;
        to = swap;
    }
    for (size_t i = 0; i < n; i++)
        order[i] = from[i].row;
    free(memory);
}

static void merge_sort(uint32_t *order, uint32_t *scratch, size_t n, const int64_t *key)
{
    uint32_t *from = order, *to = scratch;
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t a = 0; a < n; a += 2 * width) {
            size_t mid = a + width < n ? a + width : n, end = a + 2 * width < n ? a + 2 * width : n;
            size_t i = a, j = mid, k = a;
            while (i < mid && j < end)
                to[k++] = key[from[i]] <= key[from[j]] ? from[i++] : from[j++];
            while (i < mid)
                to[k++] = from[i++];
            while (j < end)
                to[k++] = from[j++];
        }
        uint32_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != order)
        memcpy(order, from, n * sizeof *order);
}

void hs_order_i64(uint32_t *order, uint32_t *scratch, size_t n, const int64_t *key)
{
    if (n < 2)
        return;
    int64_t min = key[order[0]], max = min;
    bool sorted = true;
    for (size_t i = 1; i < n; i++) {
        int64_t k = key[order[i]];
        sorted = sorted && key[order[i - 1]] <= k;
        min = k < min ? k : min;
        max = k > max ? k : max;
    }
    if (sorted)
        return;
    if (n < 2048)
        merge_sort(order, scratch, n, key);
    else
        radix(order, n, key, min, (uint64_t)max - (uint64_t)min);
}
