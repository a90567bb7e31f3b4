/* decode: the bytes of store/codec.h back to numbers. Trusts nothing: bytes that hs_encode did not write are refused or
 * give some numbers, but never read or write out of bounds and never take more than O(n) time. */
#ifndef HS_STORE_DECODE_H
#define HS_STORE_DECODE_H

#include "base/err.h"

#include <stddef.h>

/* Decodes a blob of exactly n numbers (n <= HS_SEG_ROWS) into out[0..n), which may be half written on failure.
 * HS_EINPUT: damaged. */
int hs_decode(const void *blob, size_t len, int64_t *out, size_t n, struct hs_err *err);

/* How many numbers the blob says it holds; -1 if it is no blob. */
int64_t hs_decode_count(const void *blob, size_t len);

#endif
