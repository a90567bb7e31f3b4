/* The column decoder on arbitrary bytes: refuses or gives numbers. What it gives must survive encoding and decoding again. */
#include "store/decode.h"
#include "store/encode.h"
#include "trace/model.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int64_t v[HS_SEG_ROWS], again[HS_SEG_ROWS];
    static struct hs_encoder *e;
    struct hs_buf b = HS_BUF_INIT(HS_SEG_ROWS * 32u);
    int64_t n = hs_decode_count(data, size), min, max;
    if (n < 0 || n > HS_SEG_ROWS || hs_decode(data, size, v, (size_t)n, NULL))
        return 0;
    if (!e)
        e = hs_encoder_new();
    hs_encode(e, v, (size_t)n, &b, &min, &max);
    if (b.full || hs_decode(b.p, b.n, again, (size_t)n, NULL) || memcmp(v, again, (size_t)n * sizeof *v))
        abort();
    hs_buf_free(&b);
    return 0;
}
