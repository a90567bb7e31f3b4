/* The sorts of the libraries HTA stands on, to the order of equal elements, because some of HTA's answers depend on it.
 * All of them fill or permute an array of positions and leave the keys alone. */
#ifndef HS_ANALYSIS_HTA_SORT_H
#define HS_ANALYSIS_HTA_SORT_H

#include <stddef.h>
#include <stdint.h>

/* numpy 1.24's argsort(kind="quicksort"), which pandas' sort_values uses for one key: introsort with the median of
 * three, insertion sort up to 16 elements, heap sort when too deep. Not stable. `order` gets positions 0..n-1. No NaN. */
void hta_argsort(const double *key, size_t n, uint32_t *order);

/* The descending form: pandas reverses the input, sorts, and reverses the result. */
void hta_argsort_desc(const double *key, size_t n, uint32_t *order);

/* A stable ascending order. */
void hta_argsort_stable(const double *key, size_t n, uint32_t *order);

/* CPython 3.11's list.sort over `order[0..n)`, whatever stands in it: timsort with binary insertion, galloping and the
 * powersort merge policy. For an order that is transitive this is any stable sort; HTA's order of call stack events is not.
 * `less` is asked less(ctx, a, b) in the same sequence as CPython asks a < b. */
typedef int hta_less(void *ctx, uint32_t a, uint32_t b);
void hta_timsort(uint32_t *order, size_t n, hta_less *less, void *ctx);

#endif
