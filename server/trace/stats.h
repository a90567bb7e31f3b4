/* Statistics of int64 samples (nanoseconds, counts). Conventions: sample standard deviation (n - 1), percentiles by
 * linear interpolation at position (n - 1) q of the sorted samples, as numpy and pandas have them. */
#ifndef HS_TRACE_STATS_H
#define HS_TRACE_STATS_H

#include <stddef.h>
#include <stdint.h>

/* Sorts ascending. `scratch` has n elements. Merge sort below a few hundred, radix sort above: linear, whatever the input. */
void hs_sort_i64(int64_t *v, int64_t *scratch, size_t n);

int64_t hs_sum_i64(const int64_t *v, size_t n); /* saturates */
double hs_mean_i64(const int64_t *v, size_t n); /* NaN for n = 0 */
double hs_std_i64(const int64_t *v, size_t n);  /* NaN for n < 2; two passes: the mean, then the deviations from it */
double hs_std_about(const int64_t *v, size_t n, double mean); /* the second pass alone */

/* q in 0..1 of ascending samples; NaN for n = 0. */
double hs_percentile_i64(const int64_t *sorted, size_t n, double q);

/* out[k] = percentile q[k], k < nq <= HS_QUANTILES, of samples in any order: finds the few samples that matter instead of
 * sorting all. v and scratch (n elements each) are used up. */
#define HS_QUANTILES 8
void hs_quantiles_i64(int64_t *v, int64_t *scratch, size_t n, const double *q, size_t nq, double *out);

struct hs_moments {
    int64_t sum, min, max; /* the sum saturates; all 0 for n = 0 */
    double mean, std;      /* as hs_mean_i64, hs_std_i64 */
};
struct hs_moments hs_moments_i64(const int64_t *v, size_t n);

/* 100 * part / whole; NaN (a null cell) if whole is not positive. */
double hs_percent(int64_t part, int64_t whole);

/* To the nearest integer, halves away from 0; saturates; NaN gives 0. For times: results have whole nanoseconds. */
int64_t hs_round_i64(double v);
int64_t hs_trunc_i64(double v); /* the same towards 0 */

#endif
