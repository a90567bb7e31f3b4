#include "store/decode.h"

#include "store/codec.h"
#include "trace/model.h"

#include <stdlib.h>
#include <string.h>

struct reader {
    const uint8_t *p, *end; /* HS_PACK_SLACK readable bytes stand behind end */
};

static bool get_byte(struct reader *r, uint8_t *v)
{
    if (r->p == r->end)
        return false;
    *v = *r->p++;
    return true;
}

static bool get_varint(struct reader *r, uint64_t *v)
{
    uint64_t x = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t b;
        if (!get_byte(r, &b))
            return false;
        x |= (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80)) {
            *v = x;
            return true;
        }
    }
    return false;
}

static bool get_packed(struct reader *r, size_t n, unsigned width, uint64_t *out)
{
    size_t bytes = hs_pack_bytes(n, width);
    if (width != hs_pack_width(width) || (size_t)(r->end - r->p) < bytes)
        return false;
    hs_unpack(r->p, n, width, out);
    r->p += bytes;
    return true;
}

struct head {
    unsigned kind, flags;
    uint64_t n, base, divisor;
};

static bool get_head(struct reader *r, struct head *h)
{
    uint8_t k;
    if (!get_byte(r, &k) || !get_varint(r, &h->n) || !get_varint(r, &h->base) || h->n > HS_SEG_ROWS + 1)
        return false;
    h->kind = k & HS_CODEC_KIND_MASK;
    h->flags = k & ~HS_CODEC_KIND_MASK;
    h->base = hs_unzigzag(h->base);
    h->divisor = 1;
    if (h->kind >= HS_CODEC_KINDS || h->flags & ~(HS_CODEC_DIVISOR | HS_CODEC_HOLES))
        return false;
    return !(h->flags & HS_CODEC_DIVISOR) || get_varint(r, &h->divisor);
}

/* ---- blocks ---- */

static bool get_block(struct reader *r, enum hs_codec_kind kind, size_t n, uint64_t *out, uint64_t *base)
{
    uint8_t w, count = 0, high = 0;
    *base = 0;
    if (!get_byte(r, &w))
        return false;
    if ((kind == HS_CODEC_FOR || kind == HS_CODEC_DELTA) && !get_varint(r, base))
        return false;
    if (!(w & HS_BLOCK_PATCHED))
        return get_packed(r, n, w, out);
    w &= 0x7f;
    if (w > 56 || !get_byte(r, &count) || !get_byte(r, &high) || count > n || (size_t)(r->end - r->p) < count)
        return false;
    const uint8_t *positions = r->p;
    uint64_t part[HS_BLOCK];
    r->p += count;
    if (!get_packed(r, count, high, part) || !get_packed(r, n, w, out))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (positions[i] >= n)
            return false;
        out[positions[i]] |= part[i] << w;
    }
    return true;
}

/* Blocks of a stream to q[0..n). The last sum and delta run on from block to block. */
static bool get_blocks(struct reader *r, enum hs_codec_kind kind, uint64_t *q, size_t n)
{
    uint64_t sum = 0, delta = 0, base, t[HS_BLOCK];
    if (kind != HS_CODEC_FOR && !get_varint(r, &sum))
        return false;
    if (kind == HS_CODEC_DELTA2 && !get_varint(r, &delta))
        return false;
    for (size_t at = 0; at < n; at += HS_BLOCK) {
        size_t len = n - at < HS_BLOCK ? n - at : HS_BLOCK;
        uint64_t *o = q + at;
        if (!get_block(r, kind, len, t, &base))
            return false;
        if (kind == HS_CODEC_FOR) {
            for (size_t i = 0; i < len; i++)
                o[i] = t[i] + base;
        } else if (kind == HS_CODEC_DELTA) {
            base = hs_unzigzag(base);
            for (size_t i = 0; i < len; i++)
                o[i] = sum += t[i] + base;
        } else if (kind == HS_CODEC_ZIGZAG) {
            for (size_t i = 0; i < len; i++)
                o[i] = sum += hs_unzigzag(t[i]);
        } else {
            for (size_t i = 0; i < len; i++)
                o[i] = sum += delta += hs_unzigzag(t[i]);
        }
    }
    return true;
}

static bool get_plain(struct reader *r, const struct head *h, uint64_t *q)
{
    if (h->kind == HS_CODEC_CONST)
        memset(q, 0, h->n * sizeof *q);
    else if (!get_blocks(r, (enum hs_codec_kind)h->kind, q, h->n))
        return false;
    return true;
}

/* A stream inside a stream; exactly n numbers. */
static bool get_nested(struct reader *r, uint64_t *q, size_t n)
{
    struct head h;
    if (!get_head(r, &h) || h.n != n || h.flags || h.kind > HS_CODEC_DELTA2 || !get_plain(r, &h, q))
        return false;
    for (size_t i = 0; h.base && i < n; i++)
        q[i] += h.base;
    return true;
}

/* The same with its length before it, and the reader held to that length. */
static bool get_sized(struct reader *r, uint64_t *q, size_t n)
{
    uint64_t len;
    if (!get_varint(r, &len) || len > (uint64_t)(r->end - r->p))
        return false;
    struct reader in = {r->p, r->p + len};
    r->p += len;
    return get_nested(&in, q, n);
}

/* ---- runs, dictionaries, holes ---- */

static bool get_runs(struct reader *r, uint64_t *q, size_t n, uint64_t *a)
{
    uint64_t count, *len = a + HS_SEG_ROWS, at = 0;
    if (!get_varint(r, &count) || count > n || !get_sized(r, a, count) || !get_nested(r, len, count))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (len[i] >= n - at)
            return false;
        for (uint64_t to = at + len[i] + 1; at < to; at++)
            q[at] = a[i];
    }
    return at == n;
}

static bool get_dict(struct reader *r, uint64_t *q, size_t n, uint64_t *a)
{
    uint64_t count, most = 0;
    if (!get_varint(r, &count) || !count || count > n || !get_sized(r, a, count) || !get_nested(r, q, n))
        return false;
    for (size_t i = 0; i < n; i++)
        most = q[i] > most ? q[i] : most;
    if (most >= count)
        return false;
    for (size_t i = 0; i < n; i++)
        q[i] = a[q[i]];
    return true;
}

/* The length of the hole stream is not told beforehand: it is read from its own head. */
static bool get_holes(struct reader *r, uint64_t *len, size_t *count, size_t n)
{
    uint64_t bytes, total = 0;
    struct head h;
    if (!get_varint(r, &bytes) || bytes > (uint64_t)(r->end - r->p))
        return false;
    struct reader in = {r->p, r->p + bytes}, peek = in;
    r->p += bytes;
    if (!get_head(&peek, &h) || h.n > n + 1 || !get_nested(&in, len, h.n))
        return false;
    for (size_t i = 0; i < h.n; i++) {
        if (len[i] > n - total)
            return false;
        total += len[i];
    }
    *count = h.n;
    return total == n;
}

static bool get_stream(struct reader *r, int64_t *out, size_t n, uint64_t *scratch)
{
    uint64_t *q = (uint64_t *)out, *holes = scratch ? scratch + 2 * HS_SEG_ROWS : NULL;
    struct head h;
    size_t nholes = 0;
    if (!get_head(r, &h) || h.n != n || (h.flags & HS_CODEC_HOLES && !get_holes(r, holes, &nholes, n)))
        return false;
    bool ok = h.kind == HS_CODEC_RUNS   ? get_runs(r, q, n, scratch)
              : h.kind == HS_CODEC_DICT ? get_dict(r, q, n, scratch)
                                        : get_plain(r, &h, q);
    if (!ok)
        return false;
    if (h.divisor != 1)
        for (size_t i = 0; i < n; i++)
            q[i] = h.base + q[i] * h.divisor;
    else
        for (size_t i = 0; i < n; i++)
            q[i] += h.base;
    for (size_t i = 0, at = 0; i < nholes; at += holes[i++])
        for (size_t k = 0; i % 2 && k < holes[i]; k++)
            out[at + k] = HS_NO_VALUE;
    return true;
}

/* Runs, dictionaries and holes need room for nested streams; most blobs do not. */
static bool needs_scratch(const uint8_t *p, size_t len)
{
    return len && ((*p & HS_CODEC_KIND_MASK) >= HS_CODEC_RUNS || *p & HS_CODEC_HOLES);
}

int hs_decode(const void *blob, size_t len, int64_t *out, size_t n, struct hs_err *err)
{
    const uint8_t *p = blob;
    uint64_t *scratch = NULL;
    if (len < HS_PACK_SLACK || n > HS_SEG_ROWS)
        return hs_fail(err, HS_EINPUT, "a column of the trace file is damaged (%zu bytes)", len);
    if (needs_scratch(p, len))
        scratch = hs_realloc_array(NULL, 3 * HS_SEG_ROWS + 8, sizeof *scratch);
    struct reader r = {p, p + len - HS_PACK_SLACK};
    bool ok = get_stream(&r, out, n, scratch) && r.p == r.end;
    free(scratch);
    return ok ? HS_OK : hs_fail(err, HS_EINPUT, "a column of the trace file is damaged (%zu bytes, %zu rows)", len, n);
}

int64_t hs_decode_count(const void *blob, size_t len)
{
    const uint8_t *p = blob;
    struct head h;
    if (len < HS_PACK_SLACK)
        return -1;
    struct reader r = {p, p + len - HS_PACK_SLACK};
    return get_head(&r, &h) ? (int64_t)h.n : -1;
}
