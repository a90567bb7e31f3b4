#include "tests/unit/test.h"
#include "trace/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

START_TEST(mean_and_sample_deviation_by_hand)
{
    /* mean 5; deviations -3 -1 -1 -1 0 0 2 4: squares sum to 32; 32 / 7 = 4.571428...; root 2.138089935 */
    int64_t v[] = {2, 4, 4, 4, 5, 5, 7, 9};
    ck_assert_double_eq(hs_mean_i64(v, 8), 5);
    ck_assert_double_eq_tol(hs_std_i64(v, 8), 2.138089935299395, 1e-12);
    ck_assert(isnan(hs_std_i64(v, 1)));
    ck_assert(isnan(hs_mean_i64(v, 0)));
}
END_TEST

START_TEST(percentiles_interpolate_linearly)
{
    int64_t v[] = {10, 20, 30, 40};
    ck_assert_double_eq(hs_percentile_i64(v, 4, 0.5), 25);              /* position 1.5 */
    ck_assert_double_eq(hs_percentile_i64(v, 4, 0.25), 17.5);           /* position 0.75 */
    ck_assert_double_eq_tol(hs_percentile_i64(v, 4, 0.95), 38.5, 1e-9); /* position 2.85 */
    ck_assert_double_eq(hs_percentile_i64(v, 4, 0), 10);
    ck_assert_double_eq(hs_percentile_i64(v, 4, 1), 40);
    ck_assert_double_eq(hs_percentile_i64(v, 1, 0.99), 10);
    ck_assert(isnan(hs_percentile_i64(v, 0, 0.5)));
}
END_TEST

START_TEST(percent_of_nothing_is_no_number)
{
    ck_assert(isnan(hs_percent(0, 0)));
    ck_assert(isnan(hs_percent(5, -1)));
    ck_assert_double_eq(hs_percent(1, 4), 25);
}
END_TEST

START_TEST(rounding_saturates)
{
    ck_assert_int_eq(hs_round_i64(2.5), 3);
    ck_assert_int_eq(hs_round_i64(-2.5), -3);
    ck_assert_int_eq(hs_round_i64(1e300), INT64_MAX);
    ck_assert_int_eq(hs_round_i64(-1e300), INT64_MIN);
    ck_assert_int_eq(hs_round_i64(NAN), 0);
    ck_assert_int_eq(hs_sum_i64((int64_t[]){INT64_MAX, 5}, 2), INT64_MAX);
}
END_TEST

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

START_TEST(sort_agrees_with_qsort)
{
    static const size_t sizes[] = {0, 1, 2, 15, 16, 17, 100, 511, 512, 513, 5000};
    static const int64_t ranges[] = {2, 1000, 1 << 20, INT64_MAX};
    unsigned seed = (unsigned)_i + 1;
    size_t n = sizes[(size_t)_i % 11];
    int64_t range = ranges[_i / 11];
    int64_t *a = calloc(n + 1, sizeof *a), *b = calloc(n + 1, sizeof *b), *scratch = calloc(n + 1, sizeof *a);
    for (size_t i = 0; i < n; i++) {
        uint64_t x = (uint64_t)rand_r(&seed) << 42 ^ (uint64_t)rand_r(&seed) << 21 ^ (uint64_t)rand_r(&seed);
        a[i] = b[i] = range == INT64_MAX ? (int64_t)x : (int64_t)(x % (uint64_t)range) - range / 2; /* both signs */
    }
    hs_sort_i64(a, scratch, n);
    qsort(b, n, sizeof *b, ascending);
    ck_assert(!memcmp(a, b, n * sizeof *a));
    for (size_t i = n; i > 1; i--) { /* shuffled again: the places must be found without sorting */
        size_t k = (size_t)rand_r(&seed) % i;
        int64_t x = a[i - 1];
        a[i - 1] = a[k];
        a[k] = x;
    }
    static const double q[] = {0, 0.25, 0.5, 0.75, 0.95, 0.99, 1};
    double out[7];
    struct hs_moments m = hs_moments_i64(a, n);
    if (n) {
        ck_assert_int_eq(m.min, b[0]);
        ck_assert_int_eq(m.max, b[n - 1]);
        ck_assert_int_eq(m.sum, hs_sum_i64(a, n));
        hs_quantiles_i64(a, scratch, n, q, 7, out);
        for (int k = 0; k < 7; k++)
            ck_assert_double_eq(out[k], hs_percentile_i64(b, n, q[k]));
    }
    free(a);
    free(b);
    free(scratch);
}
END_TEST

HS_SUITE(trace_stats)
{
    HS_TEST(mean_and_sample_deviation_by_hand);
    HS_TEST(percentiles_interpolate_linearly);
    HS_TEST(percent_of_nothing_is_no_number);
    HS_TEST(rounding_saturates);
    HS_LOOP_TEST(sort_agrees_with_qsort, 0, 44);
}
