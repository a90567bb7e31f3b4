#include "store/encode.h"

#include "store/codec.h"
#include "trace/model.h"

#include <stdlib.h>
#include <string.h>

#define DICT_MAX 4096u
#define DICT_SLOTS (4 * DICT_MAX)
#define SAMPLE_STRIDE 8u /* one block of eight is looked at when the layout is chosen */

struct hs_encoder {
    uint64_t q[HS_SEG_ROWS];     /* (number - base) / divisor */
    uint64_t a[HS_SEG_ROWS + 8]; /* what a nested stream codes: run values, distinct values */
    uint64_t b[HS_SEG_ROWS];     /* run lengths, dictionary indices */
    int64_t filled[HS_SEG_ROWS]; /* the input with its holes filled */
    uint64_t keys[DICT_SLOTS];
    uint32_t codes[DICT_SLOTS]; /* index + 1; 0: free */
};

struct hs_encoder *hs_encoder_new(void)
{
    return hs_malloc(sizeof(struct hs_encoder));
}

void hs_encoder_free(struct hs_encoder *e)
{
    free(e);
}

/* ---- varints ---- */

static void put_varint(struct hs_buf *out, uint64_t v)
{
    uint8_t t[10];
    size_t n = 0;
    while (v >= 0x80) {
        t[n++] = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    t[n++] = (uint8_t)v;
    hs_buf_put(out, t, n);
}

static size_t varint_bytes(uint64_t v)
{
    return v ? (hs_bits(v) + 6u) / 7u : 1;
}

/* ---- one block ---- */

struct block {
    uint64_t r[HS_BLOCK]; /* what is packed; zero beyond n */
    size_t n;
    uint64_t base; /* of FOR and DELTA (there as zigzag), else 0 */
};

/* The residuals of block `at` under a layout. */
static void block_fill(struct block *b, enum hs_codec_kind kind, const uint64_t *q, size_t n, size_t at)
{
    size_t len = n - at < HS_BLOCK ? n - at : HS_BLOCK;
    uint64_t *r = b->r;
    const uint64_t *v = q + at;
    b->n = len;
    b->base = 0;
    /* Before the first number stands the one that makes the first delta equal to the second (see start_of). */
    uint64_t first = n > 1 ? q[1] - q[0] : 0;
    if (kind == HS_CODEC_FOR) {
        uint64_t lo = v[0];
        for (size_t i = 1; i < len; i++)
            lo = v[i] < lo ? v[i] : lo;
        for (size_t i = 0; i < len; i++)
            r[i] = v[i] - lo;
        b->base = lo;
    } else {
        r[0] = at ? v[0] - v[-1] : first;
        for (size_t i = 1; i < len; i++)
            r[i] = v[i] - v[i - 1];
        if (kind == HS_CODEC_DELTA) {
            int64_t lo = (int64_t)r[0];
            for (size_t i = 1; i < len; i++)
                lo = (int64_t)r[i] < lo ? (int64_t)r[i] : lo;
            for (size_t i = 0; i < len; i++)
                r[i] -= (uint64_t)lo;
            b->base = hs_zigzag((uint64_t)lo);
        } else if (kind == HS_CODEC_ZIGZAG) {
            for (size_t i = 0; i < len; i++)
                r[i] = hs_zigzag(r[i]);
        } else {
            uint64_t before = at > 1 ? v[-1] - v[-2] : first;
            for (size_t i = 0; i < len; i++) {
                uint64_t d = r[i];
                r[i] = hs_zigzag(d - before);
                before = d;
            }
        }
    }
    for (size_t i = len; i < HS_BLOCK; i++)
        r[i] = 0;
}

struct fit {
    unsigned width, high; /* bits of the low parts; of the exceptions' high parts (0: not patched) */
    size_t exceptions, bytes;
};

/* The cheapest width: from the widest number down, each bit saved in the low parts pays for more exceptions. */
static struct fit block_fit(const struct block *b)
{
    uint8_t count[4][72] = {{0}}; /* four histograms, so that equal widths in a row do not wait for each other */
    uint64_t any = 0;
    for (size_t i = 0; i < HS_BLOCK; i++)
        any |= b->r[i];
    unsigned widest = hs_bits(any);
    struct fit best = {hs_pack_width(widest), 0, 0, 1 + hs_pack_bytes(b->n, hs_pack_width(widest))};
    if (widest < 3)
        return best;
    for (size_t i = 0; i < HS_BLOCK; i += 4)
        for (size_t k = 0; k < 4; k++)
            count[k][64u - (unsigned)__builtin_clzll(b->r[i + k] | 1)]++;
    size_t exceptions = 0;
    for (unsigned w = widest; w-- > 0;) {
        exceptions += (size_t)count[0][w + 1] + count[1][w + 1] + count[2][w + 1] + count[3][w + 1];
        if (exceptions > b->n / 2)
            break;
        if (w > 56)
            continue;
        unsigned high = hs_pack_width(widest - w);
        size_t bytes = 3 + exceptions + hs_pack_bytes(exceptions, high) + hs_pack_bytes(b->n, w);
        if (bytes < best.bytes)
            best = (struct fit){w, high, exceptions, bytes};
    }
    return best;
}

static void block_put(const struct block *b, enum hs_codec_kind kind, struct hs_buf *out)
{
    struct fit f = block_fit(b);
    if (!hs_buf_reserve(out, f.bytes + 16 + HS_PACK_SLACK))
        return;
    hs_buf_putc(out, (char)(f.width | (f.high ? HS_BLOCK_PATCHED : 0)));
    if (kind == HS_CODEC_FOR || kind == HS_CODEC_DELTA)
        put_varint(out, b->base);
    const uint64_t *low = b->r;
    uint64_t masked[HS_BLOCK];
    if (f.high) {
        uint64_t high[HS_BLOCK] = {0}, mask = (UINT64_C(1) << f.width) - 1;
        size_t k = 0;
        hs_buf_putc(out, (char)f.exceptions);
        hs_buf_putc(out, (char)f.high);
        for (size_t i = 0; i < HS_BLOCK; i++) {
            masked[i] = b->r[i] & mask;
            if (b->r[i] > mask) {
                high[k++] = b->r[i] >> f.width;
                hs_buf_putc(out, (char)i);
            }
        }
        hs_pack(high, k, f.high, (uint8_t *)out->p + out->n);
        out->n += hs_pack_bytes(k, f.high);
        low = masked;
    }
    hs_pack(low, b->n, f.width, (uint8_t *)out->p + out->n);
    out->n += hs_pack_bytes(b->n, f.width);
}

/* ---- choosing a layout ---- */

/* Estimated bytes of the blocks of q under a layout. */
static size_t estimate(enum hs_codec_kind kind, const uint64_t *q, size_t n)
{
    size_t blocks = (n + HS_BLOCK - 1) / HS_BLOCK, stride = blocks > 2 * SAMPLE_STRIDE ? SAMPLE_STRIDE : 1;
    size_t bytes = 0, seen = 0;
    struct block b;
    for (size_t i = stride / 2; i < blocks; i += stride, seen++) {
        block_fill(&b, kind, q, n, i * HS_BLOCK);
        bytes += block_fit(&b).bytes;
        if (kind == HS_CODEC_FOR || kind == HS_CODEC_DELTA)
            bytes += varint_bytes(b.base);
    }
    return seen ? bytes * blocks / seen : 0;
}

static enum hs_codec_kind choose(const uint64_t *q, size_t n, size_t *bytes)
{
    static const enum hs_codec_kind kinds[] = {HS_CODEC_FOR, HS_CODEC_DELTA, HS_CODEC_ZIGZAG, HS_CODEC_DELTA2};
    enum hs_codec_kind best = HS_CODEC_FOR;
    *bytes = SIZE_MAX;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        size_t b = estimate(kinds[i], q, n);
        if (b < *bytes) {
            *bytes = b;
            best = kinds[i];
        }
    }
    return best;
}

static void put_blocks(enum hs_codec_kind kind, const uint64_t *q, size_t n, struct hs_buf *out)
{
    uint64_t first = n > 1 ? q[1] - q[0] : 0;
    if (kind != HS_CODEC_FOR)
        put_varint(out, q[0] - first);
    if (kind == HS_CODEC_DELTA2)
        put_varint(out, first);
    struct block b;
    for (size_t at = 0; at < n; at += HS_BLOCK) {
        block_fill(&b, kind, q, n, at);
        block_put(&b, kind, out);
    }
}

static void put_head(struct hs_buf *out, unsigned kind, size_t n, uint64_t base)
{
    hs_buf_putc(out, (char)kind);
    put_varint(out, n);
    put_varint(out, hs_zigzag(base));
}

/* A stream inside a stream: one of the first five kinds, numbers as they are. */
static void put_nested(const uint64_t *q, size_t n, struct hs_buf *out)
{
    bool constant = true;
    for (size_t i = 1; i < n; i++)
        constant &= q[i] == q[0];
    if (constant) {
        put_head(out, HS_CODEC_CONST, n, n ? q[0] : 0);
        return;
    }
    size_t bytes;
    enum hs_codec_kind kind = choose(q, n, &bytes);
    put_head(out, kind, n, 0);
    put_blocks(kind, q, n, out);
}

/* A nested stream with its length before it. */
static void put_sized(const uint64_t *q, size_t n, struct hs_buf *out)
{
    struct hs_buf t = HS_BUF_INIT(HS_SEG_ROWS * 10u);
    put_nested(q, n, &t);
    put_varint(out, t.n);
    hs_buf_put(out, t.p, t.n);
    out->full |= t.full;
    hs_buf_free(&t);
}

/* ---- runs and dictionaries ---- */

static size_t count_runs(const uint64_t *q, size_t n)
{
    size_t runs = 1;
    for (size_t i = 1; i < n; i++)
        runs += q[i] != q[i - 1];
    return runs;
}

/* Values to a, lengths less 1 to b. */
static void split_runs(struct hs_encoder *e, size_t n)
{
    size_t k = 0, from = 0;
    for (size_t i = 1; i <= n; i++)
        if (i == n || e->q[i] != e->q[i - 1]) {
            e->a[k] = e->q[from];
            e->b[k++] = i - from - 1;
            from = i;
        }
}

/* Distinct values of q[0], q[stride], … in order of first appearance to a, their indices to b. 0: more than `max`. */
static size_t split_dict(struct hs_encoder *e, size_t n, size_t stride, size_t max)
{
    memset(e->codes, 0, sizeof e->codes);
    size_t count = 0;
    for (size_t i = 0; i < n; i += stride) {
        uint64_t v = e->q[i];
        size_t s = (size_t)(v * UINT64_C(0x9e3779b97f4a7c15) >> 32) % DICT_SLOTS;
        while (e->codes[s] && e->keys[s] != v)
            s = (s + 1) % DICT_SLOTS;
        if (!e->codes[s]) {
            if (count == max)
                return 0;
            e->keys[s] = v;
            e->a[count++] = v;
            e->codes[s] = (uint32_t)count;
        }
        e->b[i] = e->codes[s] - 1;
    }
    return count;
}

/* Whether a dictionary may pay: wide numbers, and a sample of 256 rows with few distinct ones. */
static size_t try_dict(struct hs_encoder *e, size_t n, size_t best)
{
    if (n < 256 || best * 8 / n < 4 || !split_dict(e, n, n / 256, 160))
        return 0;
    return split_dict(e, n, 1, n / 8 < DICT_MAX ? n / 8 : DICT_MAX);
}

static void put_pair(struct hs_encoder *e, size_t count, size_t n, struct hs_buf *out)
{
    put_varint(out, count);
    put_sized(e->a, count, out);
    put_nested(e->b, n, out);
}

/* ---- base, divisor, holes ---- */

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t t = a % b;
        a = b;
        b = t;
    }
    return a;
}

/* Divides all q by their greatest common divisor and returns it (1: none). Exact division is a multiplication by the
 * inverse modulo 2^64 of the odd part and a rotation; a quotient out of range tells a number that is no multiple. */
static uint64_t divide(uint64_t *q, size_t n)
{
    uint64_t g = 0;
    for (size_t i = 0; i < 64 && g != 1; i++)
        g = gcd(g, q[i * n / 64]);
    while (g > 1) {
        unsigned shift = (unsigned)__builtin_ctzll(g);
        uint64_t odd = g >> shift, inverse = odd, most = UINT64_MAX / g, bad = 0;
        for (int i = 0; i < 5; i++)
            inverse *= 2 - odd * inverse;
        for (size_t i = 0; i < n; i++) {
            uint64_t t = q[i] * inverse, r = t >> shift | t << ((64 - shift) & 63);
            bad |= r > most ? q[i] : 0;
        }
        if (!bad) {
            for (size_t i = 0; i < n; i++)
                q[i] = q[i] * inverse >> shift;
            return g;
        }
        for (size_t i = 0; i < n && g != 1; i++)
            g = gcd(g, q[i]);
    }
    return 1;
}

static void range(const int64_t *v, size_t n, int64_t *min, int64_t *max)
{
    int64_t lo = v[0], hi = v[0];
    for (size_t i = 1; i < n; i++) {
        lo = v[i] < lo ? v[i] : lo;
        hi = v[i] > hi ? v[i] : hi;
    }
    *min = lo;
    *max = hi;
}

/* Fills the holes with the number before them (the first present one at the start), appends the run lengths to `out`. */
static void fill_holes(struct hs_encoder *e, const int64_t *v, size_t n, struct hs_buf *out)
{
    size_t k = 0, from = 0, first = 0;
    bool hole = false;
    while (v[first] == HS_NO_VALUE)
        first++;
    int64_t before = v[first];
    for (size_t i = 0; i < n; i++) {
        if ((v[i] == HS_NO_VALUE) != hole) {
            e->a[k++] = i - from;
            from = i;
            hole = !hole;
        }
        before = hole ? before : v[i];
        e->filled[i] = before;
    }
    e->a[k++] = n - from;
    put_sized(e->a, k, out);
}

/* ---- the whole ---- */

static void put_body(struct hs_encoder *e, size_t n, unsigned flags, uint64_t base, const struct hs_buf *extra,
                     struct hs_buf *out)
{
    size_t best, runs = count_runs(e->q, n), count = 0;
    enum hs_codec_kind kind = choose(e->q, n, &best);
    if (runs < n / 4) {
        split_runs(e, runs ? n : 0);
        size_t ignored[2];
        choose(e->a, runs, &ignored[0]);
        choose(e->b, runs, &ignored[1]);
        if (ignored[0] + ignored[1] < best) {
            kind = HS_CODEC_RUNS;
            count = runs;
        }
    }
    if (kind != HS_CODEC_RUNS && (count = try_dict(e, n, best))) {
        size_t ignored[2];
        choose(e->a, count, &ignored[0]);
        choose(e->b, n, &ignored[1]);
        if (ignored[0] + ignored[1] + best / 32 < best)
            kind = HS_CODEC_DICT;
    }
    put_head(out, kind | flags, n, base);
    hs_buf_put(out, extra->p, extra->n);
    if (kind == HS_CODEC_RUNS)
        put_pair(e, count, count, out);
    else if (kind == HS_CODEC_DICT)
        put_pair(e, count, n, out);
    else
        put_blocks(kind, e->q, n, out);
}

void hs_encode(struct hs_encoder *e, const int64_t *v, size_t n, struct hs_buf *out, int64_t *min, int64_t *max)
{
    static const uint8_t slack[HS_PACK_SLACK] = {0};
    struct hs_buf extra = HS_BUF_INIT(HS_SEG_ROWS * 10u);
    struct hs_buf holes = HS_BUF_INIT(HS_SEG_ROWS * 10u);
    unsigned flags = 0;
    *min = *max = HS_NO_VALUE;
    if (n)
        range(v, n, min, max);
    if (n && *min == HS_NO_VALUE && *max != HS_NO_VALUE) {
        fill_holes(e, v, n, &holes);
        flags |= HS_CODEC_HOLES;
        v = e->filled;
        range(v, n, min, max);
    }
    if (*min == *max) {
        put_head(out, HS_CODEC_CONST | flags, n, (uint64_t)*min);
        hs_buf_put(out, holes.p, holes.n);
    } else {
        for (size_t i = 0; i < n; i++)
            e->q[i] = (uint64_t)v[i] - (uint64_t)*min;
        uint64_t g = divide(e->q, n);
        if (g > 1) {
            flags |= HS_CODEC_DIVISOR;
            put_varint(&extra, g);
        }
        hs_buf_put(&extra, holes.p, holes.n);
        put_body(e, n, flags, (uint64_t)*min, &extra, out);
    }
    hs_buf_put(out, slack, sizeof slack);
    hs_buf_free(&extra);
    hs_buf_free(&holes);
}
