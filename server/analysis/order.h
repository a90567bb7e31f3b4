/* Sorting row numbers by keys: linear, stable, in the order "last key first", as a card sorter does.
 *
 *     hs_order_iota(order, n);
 *     hs_order_i64(order, scratch, n, depth);   second key
 *     hs_order_i64(order, scratch, n, ts);      first key
 */
#ifndef HS_ANALYSIS_ORDER_H
#define HS_ANALYSIS_ORDER_H

#include <stddef.h>
#include <stdint.h>

void hs_order_iota(uint32_t *order, size_t n); /* 0, 1, … n - 1 */

/* Stable sort of order[0..n) by key[order[i]], ascending. scratch has n elements. One look where they are sorted already. */
void hs_order_i64(uint32_t *order, uint32_t *scratch, size_t n, const int64_t *key);

#endif
