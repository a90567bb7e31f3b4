#include "render/gzip.h"

#include <stdlib.h>
#include <zlib.h>

struct hs_gzip {
    z_stream z;
};

struct hs_gzip *hs_gzip_new(void)
{
    struct hs_gzip *g = hs_calloc(1, sizeof *g);
    if (deflateInit2(&g->z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK)
        return g;
    free(g); /* no memory: as with malloc, nobody could go on */
    abort();
}

void hs_gzip_free(struct hs_gzip *g)
{
    if (!g)
        return;
    deflateEnd(&g->z);
    free(g);
}

int hs_gzip_put(struct hs_gzip *g, const char *p, size_t n, bool last, struct hs_buf *out, struct hs_err *err)
{
    enum { ROOM = 64 * 1024 };
    z_stream *z = &g->z;
    int rc = Z_OK;
    do {
        if (!z->avail_in && n) { /* zlib counts in 32 bits */
            size_t part = n < 1u << 30 ? n : 1u << 30;
            z->next_in = (Bytef *)(uintptr_t)p; /* only read */
            z->avail_in = (uInt)part;
            p += part;
            n -= part;
        }
        if (!hs_buf_reserve(out, ROOM))
            return hs_buf_check(out, "the compressed answer", err);
        z->next_out = (Bytef *)out->p + out->n;
        z->avail_out = ROOM;
        rc = deflate(z, last && !n ? Z_FINISH : Z_NO_FLUSH);
        out->n += ROOM - z->avail_out;
        if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
            return hs_fail(err, HS_EINTERNAL, "the answer could not be compressed (zlib %d)", rc);
    } while (n || z->avail_in || !z->avail_out || (last && rc != Z_STREAM_END));
    return HS_OK;
}
