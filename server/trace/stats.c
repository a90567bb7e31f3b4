#include "trace/stats.h"

#include "trace/intervals.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define RADIX_FROM 512 /* below it a merge sort is faster than clearing the histograms */

static void insertion(int64_t *v, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        int64_t x = v[i];
        size_t j = i;
        for (; j && v[j - 1] > x; j--)
            v[j] = v[j - 1];
        v[j] = x;
    }
}

static void merge_sort(int64_t *v, int64_t *scratch, size_t n)
{
    enum { BLOCK = 16 };
    for (size_t a = 0; a < n; a += BLOCK)
        insertion(v + a, n - a < BLOCK ? n - a : BLOCK);
    int64_t *from = v, *to = scratch;
    for (size_t width = BLOCK; width < n; width *= 2) {
        for (size_t a = 0; a < n; a += 2 * width) {
            size_t mid = a + width < n ? a + width : n, end = a + 2 * width < n ? a + 2 * width : n;
            size_t i = a, j = mid, k = a;
            while (i < mid && j < end)
                to[k++] = from[i] <= from[j] ? from[i++] : from[j++];
            while (i < mid)
                to[k++] = from[i++];
            while (j < end)
                to[k++] = from[j++];
        }
        int64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != v)
        memcpy(v, from, n * sizeof *v);
}

enum { BITS = 11, SIZE = 1 << BITS, DIGITS = 6 };

static size_t digit(int64_t x, int64_t min, unsigned d)
{
    return (((uint64_t)x - (uint64_t)min) >> (d * BITS)) & (SIZE - 1);
}

/* Least significant digit first over v - min, as many digits as the range has; all of them counted in one pass. */
static void radix_sort(int64_t *v, int64_t *scratch, size_t n, int64_t min, uint64_t range)
{
    unsigned digits = 0;
    while (digits < DIGITS && range >> (digits * BITS))
        digits++;
    size_t(*count)[SIZE] = calloc(digits ? digits : 1, sizeof *count);
    int64_t *from = v, *to = scratch;
    if (!count) { /* slower, but it needs no memory */
        merge_sort(v, scratch, n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        for (unsigned d = 0; d < digits; d++)
            count[d][digit(v[i], min, d)]++;
    for (unsigned d = 0; d < digits; d++) {
        size_t sum = 0;
        for (size_t b = 0; b < SIZE; b++) {
            size_t c = count[d][b];
            count[d][b] = sum;
            sum += c;
        }
        for (size_t i = 0; i < n; i++)
            to[count[d][digit(from[i], min, d)]++] = from[i];
        int64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != v)
        memcpy(v, from, n * sizeof *v);
    free(count);
}

void hs_sort_i64(int64_t *v, int64_t *scratch, size_t n)
{
    if (n < RADIX_FROM) {
        merge_sort(v, scratch, n);
        return;
    }
    int64_t min = v[0], max = v[0];
    for (size_t i = 1; i < n; i++) {
        min = hs_min_i64(min, v[i]);
        max = hs_max_i64(max, v[i]);
    }
    radix_sort(v, scratch, n, min, (uint64_t)max - (uint64_t)min);
}

int64_t hs_sum_i64(const int64_t *v, size_t n)
{
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum = hs_add_sat(sum, v[i]);
    return sum;
}

double hs_mean_i64(const int64_t *v, size_t n)
{
    return n ? (double)hs_sum_i64(v, n) / (double)n : NAN;
}

double hs_std_about(const int64_t *v, size_t n, double mean)
{
    if (n < 2)
        return NAN;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double d = (double)v[i] - mean;
        sum += d * d;
    }
    return sqrt(sum / (double)(n - 1));
}

double hs_std_i64(const int64_t *v, size_t n)
{
    return hs_std_about(v, n, hs_mean_i64(v, n));
}

double hs_percentile_i64(const int64_t *sorted, size_t n, double q)
{
    if (!n)
        return NAN;
    double position = (double)(n - 1) * q, low = floor(position);
    size_t i = low > 0 ? (size_t)low : 0;
    if (i >= n - 1)
        return (double)sorted[n - 1];
    return (double)sorted[i] + ((double)sorted[i + 1] - (double)sorted[i]) * (position - low);
}

/* ---- percentiles without sorting ---- */

/* Samples are counted in buckets by their highest bits; only buckets that hold one of the wanted places are gathered and
 * sorted. `start` is the place of a bucket's first sample in sorted order, `at` where it is gathered. */
struct buckets {
    size_t start[SIZE + 1];
    size_t at[SIZE];
    bool wanted[SIZE];
};

static size_t bucket_of_place(const struct buckets *b, size_t place)
{
    size_t low = 0, high = SIZE; /* start[low] <= place < start[high] */
    while (high - low > 1) {
        size_t mid = low + (high - low) / 2;
        if (b->start[mid] <= place)
            low = mid;
        else
            high = mid;
    }
    return low;
}

static size_t place_below(size_t n, double q)
{
    double position = (double)(n - 1) * q;
    return position > 0 ? (size_t)position : 0;
}

static void count_buckets(struct buckets *b, const int64_t *v, size_t n, int64_t min, unsigned shift)
{
    for (size_t i = 0; i < n; i++)
        b->start[(((uint64_t)v[i] - (uint64_t)min) >> shift) + 1]++;
    for (size_t k = 0; k < SIZE; k++)
        b->start[k + 1] += b->start[k];
}

static void select_quantiles(int64_t *v, int64_t *scratch, size_t n, int64_t min, int64_t max, const double *q,
                             size_t nq, double *out)
{
    struct buckets b = {{0}, {0}, {false}};
    unsigned shift = 0;
    size_t total = 0;
    while (((uint64_t)max - (uint64_t)min) >> shift >= SIZE)
        shift++;
    count_buckets(&b, v, n, min, shift);
    for (size_t k = 0; k < nq; k++) {
        size_t place = place_below(n, q[k]);
        b.wanted[bucket_of_place(&b, place)] = true;
        b.wanted[bucket_of_place(&b, place + 1 < n ? place + 1 : place)] = true;
    }
    for (size_t k = 0; k < SIZE; k++) {
        b.at[k] = total;
        total += b.wanted[k] ? b.start[k + 1] - b.start[k] : 0;
    }
    for (size_t i = 0; i < n; i++) {
        size_t k = ((uint64_t)v[i] - (uint64_t)min) >> shift;
        if (b.wanted[k])
            scratch[b.at[k]++] = v[i];
    }
    for (size_t k = 0; k < SIZE; k++) {
        size_t count = b.start[k + 1] - b.start[k];
        if (b.wanted[k] && (b.at[k] -= count, count > 1 && shift))
            hs_sort_i64(scratch + b.at[k], v, count);
    }
    for (size_t k = 0; k < nq; k++) {
        size_t place = place_below(n, q[k]), next = place + 1 < n ? place + 1 : place;
        size_t low = bucket_of_place(&b, place), high = bucket_of_place(&b, next);
        double x = (double)scratch[b.at[low] + place - b.start[low]],
               y = (double)scratch[b.at[high] + next - b.start[high]];
        out[k] = x + (y - x) * ((double)(n - 1) * q[k] - (double)place);
    }
}

void hs_quantiles_i64(int64_t *v, int64_t *scratch, size_t n, const double *q, size_t nq, double *out)
{
    if (n < RADIX_FROM) {
        hs_sort_i64(v, scratch, n);
        for (size_t k = 0; k < nq; k++)
            out[k] = hs_percentile_i64(v, n, q[k]);
        return;
    }
    int64_t min = v[0], max = v[0];
    for (size_t i = 1; i < n; i++) {
        min = hs_min_i64(min, v[i]);
        max = hs_max_i64(max, v[i]);
    }
    select_quantiles(v, scratch, n, min, max, q, nq, out);
}

struct hs_moments hs_moments_i64(const int64_t *v, size_t n)
{
    struct hs_moments m = {0, n ? v[0] : 0, n ? v[0] : 0, 0, 0};
    for (size_t i = 0; i < n; i++) {
        m.sum = hs_add_sat(m.sum, v[i]);
        m.min = hs_min_i64(m.min, v[i]);
        m.max = hs_max_i64(m.max, v[i]);
    }
    m.mean = n ? (double)m.sum / (double)n : NAN;
    m.std = hs_std_about(v, n, m.mean);
    return m;
}

double hs_percent(int64_t part, int64_t whole)
{
    return whole > 0 ? 100.0 * ((double)part / (double)whole) : NAN;
}

int64_t hs_round_i64(double v)
{
    if (isnan(v))
        return 0;
    if (v >= 0x1p63)
        return INT64_MAX;
    return v <= -0x1p63 ? INT64_MIN : llround(v);
}

int64_t hs_trunc_i64(double v)
{
    return hs_round_i64(trunc(v));
}
