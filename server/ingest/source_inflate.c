#include "ingest/source_inflate.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#ifdef HS_HAVE_ISAL
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#endif

static unsigned clamp32(size_t n)
{
    return n > UINT32_MAX ? UINT32_MAX : (unsigned)n;
}

/* ---- zlib ---- */

static void *z_create(void)
{
    z_stream *z = hs_calloc(1, sizeof *z);
    if (inflateInit2(z, -MAX_WBITS) != Z_OK) /* fails only without memory */
        abort();
    return z;
}

static void z_reset(void *self)
{
    inflateReset(self);
}

static enum hs_inflate_status z_run(void *self, const unsigned char **in, const unsigned char *in_end,
                                    unsigned char **out, unsigned char *out_end)
{
    z_stream *z = self;
    z->next_in = (Bytef *)(uintptr_t)*in; /* zlib's interface lacks the const */
    z->avail_in = clamp32((size_t)(in_end - *in));
    z->next_out = *out;
    z->avail_out = clamp32((size_t)(out_end - *out));
    int rc = inflate(z, Z_NO_FLUSH);
    *in = z->next_in;
    *out = z->next_out;
    return rc == Z_STREAM_END ? HS_INFLATE_END : rc == Z_OK || rc == Z_BUF_ERROR ? HS_INFLATE_MORE : HS_INFLATE_BAD;
}

static uint32_t z_crc(uint32_t crc, const unsigned char *p, size_t n)
{
    return (uint32_t)crc32_z(crc, p, n);
}

static void z_destroy(void *self)
{
    inflateEnd(self);
    free(self);
}

const struct hs_inflate_ops hs_inflate_zlib = {"zlib", z_create, z_reset, z_run, z_crc, z_destroy};

/* ---- ISA-L ---- */
#ifdef HS_HAVE_ISAL

struct isal {
    struct inflate_state s;
    bool bad; /* damage was met, but good bytes decoded before it wait in s.tmp_out_buffer */
};

static void *isal_create(void)
{
    struct isal *z = hs_calloc(1, sizeof *z);
    isal_inflate_init(&z->s);
    return z;
}

static void isal_reset(void *self)
{
    struct isal *z = self;
    isal_inflate_reset(&z->s);
    z->bad = false;
}

/* ISA-L decodes ahead of a full output buffer into one of its own, and forgets what is there once it meets damage. */
static enum hs_inflate_status give_rest(struct isal *z, unsigned char **out, unsigned char *out_end)
{
    struct inflate_state *s = &z->s;
    size_t n = s->tmp_out_valid > s->tmp_out_processed ? (size_t)(s->tmp_out_valid - s->tmp_out_processed) : 0;
    size_t room = (size_t)(out_end - *out);
    if (n > room)
        n = room;
    memcpy(*out, s->tmp_out_buffer + s->tmp_out_processed, n);
    *out += n;
    s->tmp_out_processed += (int32_t)n;
    return s->tmp_out_processed < s->tmp_out_valid ? HS_INFLATE_MORE : HS_INFLATE_BAD;
}

static enum hs_inflate_status isal_run(void *self, const unsigned char **in, const unsigned char *in_end,
                                       unsigned char **out, unsigned char *out_end)
{
    struct isal *z = self;
    struct inflate_state *s = &z->s;
    if (z->bad)
        return give_rest(z, out, out_end);
    s->next_in = (uint8_t *)(uintptr_t)*in;
    s->avail_in = clamp32((size_t)(in_end - *in));
    s->next_out = *out;
    s->avail_out = clamp32((size_t)(out_end - *out));
    int rc = isal_inflate(s);
    *in = s->next_in;
    *out = s->next_out;
    if (rc != ISAL_DECOMP_OK) {
        z->bad = true;
        return give_rest(z, out, out_end);
    }
    if (s->block_state != ISAL_BLOCK_FINISH)
        return HS_INFLATE_MORE;
    *in -= s->read_in_length / 8; /* whole bytes it had taken into its bit buffer */
    s->read_in_length = 0;
    return HS_INFLATE_END;
}

static uint32_t isal_crc(uint32_t crc, const unsigned char *p, size_t n)
{
    return crc32_gzip_refl(crc, p, n);
}

const struct hs_inflate_ops hs_inflate_isal = {"isa-l", isal_create, isal_reset, isal_run, isal_crc, free};
const struct hs_inflate_ops *const hs_inflate_best = &hs_inflate_isal;
#else
const struct hs_inflate_ops *const hs_inflate_best = &hs_inflate_zlib;
#endif
