/* encode: columns of int64 numbers to the bytes described in store/codec.h. The encoder picks the layout by size: exact
 * for constants and runs, estimated from a sample of blocks for the others. */
#ifndef HS_STORE_ENCODE_H
#define HS_STORE_ENCODE_H

#include "base/mem.h"

struct hs_encoder; /* scratch memory, about 2 MiB; one thread at a time */

struct hs_encoder *hs_encoder_new(void);
void hs_encoder_free(struct hs_encoder *e);

/* Appends the blob of v[0..n) to `out`, n <= HS_SEG_ROWS (trace/model.h). *min and *max are those of the numbers that
 * are not HS_NO_VALUE; both HS_NO_VALUE when there is none. Nothing fails but `out` being full (hs_buf_check). */
void hs_encode(struct hs_encoder *e, const int64_t *v, size_t n, struct hs_buf *out, int64_t *min, int64_t *max);

#endif
