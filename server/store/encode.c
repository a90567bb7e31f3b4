#include "store/encode.h"

#include "store/codec.h"
#include "trace/model.h"

#include <stdlib.h>
#include <string.h>

#define DICT_MAX 4096u
#define DICT_SLOTS (4 * DICT_MAX)
#define SAMPLE_STRIDE 16u /* one block of sixteen is looked at when the layout is chosen */

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
    uint64_t any;         /* all of them or-ed: how wide the widest is */
    size_t n;
    uint64_t base; /* of FOR and DELTA (there as zigzag), else 0 */
};

#define TOP_BIT (UINT64_C(1) << 63)

static inline uint64_t less_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Four minima at once, so that one comparison need not wait for the one before. */
static uint64_t lowest(const uint64_t *v, size_t n)
{
    uint64_t a = v[0], b = a, c = a, d = a;
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        a = less_u64(a, v[i]);
        b = less_u64(b, v[i + 1]);
        c = less_u64(c, v[i + 2]);
        d = less_u64(d, v[i + 3]);
    }
    for (; i < n; i++)
        a = less_u64(a, v[i]);
    return less_u64(less_u64(a, b), less_u64(c, d));
}

/* The residuals of block `at` under a layout. */
static void block_fill(struct block *b, enum hs_codec_kind kind, const uint64_t *q, size_t n, size_t at)
{
    size_t len = n - at < HS_BLOCK ? n - at : HS_BLOCK;
    uint64_t *r = b->r, any = 0;
    const uint64_t *v = q + at;
    b->n = len;
    b->base = 0;
    /* Before the first number stands the one that makes the first delta equal to the second (see put_blocks). */
    uint64_t first = n > 1 ? q[1] - q[0] : 0;
    if (kind == HS_CODEC_FOR) {
        uint64_t lo = b->base = lowest(v, len);
        for (size_t i = 0; i < len; i++)
            any |= r[i] = v[i] - lo;
    } else {
        r[0] = at ? v[0] - v[-1] : first;
        for (size_t i = 1; i < len; i++)
            r[i] = v[i] - v[i - 1];
        if (kind == HS_CODEC_DELTA) {
            /* Signed order is unsigned order with the top bit turned over. */
            for (size_t i = 0; i < len; i++)
                r[i] ^= TOP_BIT;
            uint64_t lo = lowest(r, len);
            for (size_t i = 0; i < len; i++)
                any |= r[i] -= lo;
            b->base = hs_zigzag(lo ^ TOP_BIT);
        } else if (kind == HS_CODEC_ZIGZAG) {
            for (size_t i = 0; i < len; i++)
                any |= r[i] = hs_zigzag(r[i]);
        } else {
            uint64_t before = at > 1 ? v[-1] - v[-2] : first;
            for (size_t i = 0; i < len; i++) {
                uint64_t d = r[i];
                any |= r[i] = hs_zigzag(d - before);
                before = d;
            }
        }
    }
    b->any = any;
    for (size_t i = len; i < HS_BLOCK; i++)
        r[i] = 0;
}

struct fit {
    unsigned width, high; /* bits of the low parts; of the exceptions' high parts (0: not patched) */
    size_t exceptions, bytes;
};

static inline unsigned bits_or_1(uint64_t v)
{
    return 64u - (unsigned)__builtin_clzll(v | 1);
}

/* The cheapest width: from the widest number down, each bit saved in the low parts pays for more exceptions. */
static struct fit block_fit(const struct block *b)
{
    uint8_t count[4][72] = {{0}}; /* four histograms, so that equal widths in a row do not wait for each other */
    unsigned widest = hs_bits(b->any);
    struct fit best = {hs_pack_width(widest), 0, 0, 1 + hs_pack_bytes(b->n, hs_pack_width(widest))};
    if (widest < 3)
        return best;
    for (size_t i = 0; i < HS_BLOCK; i += 4) {
        count[0][bits_or_1(b->r[i])]++;
        count[1][bits_or_1(b->r[i + 1])]++;
        count[2][bits_or_1(b->r[i + 2])]++;
        count[3][bits_or_1(b->r[i + 3])]++;
    }
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

/* Parts the numbers at the block's width: low parts to `low`, the others' high parts packed at `p` behind their positions.
 * Returns what follows. */
static uint8_t *put_exceptions(const struct block *b, const struct fit *f, uint64_t *low, uint8_t *p)
{
    uint64_t high[HS_BLOCK + 8], mask = (UINT64_C(1) << f->width) - 1;
    size_t k = 0;
    *p++ = (uint8_t)f->exceptions;
    *p++ = (uint8_t)f->high;
    for (size_t i = 0; i < HS_BLOCK; i++) {
        low[i] = b->r[i] & mask;
        high[k] = b->r[i] >> f->width;
        p[k] = (uint8_t)i; /* overwritten by the next one unless this is an exception */
        k += high[k] != 0;
    }
    for (size_t i = k; i % 8; i++)
        high[i] = 0;
    p += k;
    hs_pack(high, k, f->high, p);
    return p + hs_pack_bytes(k, f->high);
}

static void block_put(const struct block *b, enum hs_codec_kind kind, struct hs_buf *out)
{
    struct fit f = block_fit(b);
    const uint64_t *low = b->r;
    uint64_t masked[HS_BLOCK];
    if (!hs_buf_reserve(out, f.bytes + 16 + HS_BLOCK))
        return;
    hs_buf_putc(out, (char)(f.width | (f.high ? HS_BLOCK_PATCHED : 0)));
    if (kind == HS_CODEC_FOR || kind == HS_CODEC_DELTA)
        put_varint(out, b->base);
    uint8_t *p = (uint8_t *)out->p + out->n;
    if (f.high) {
        p = put_exceptions(b, &f, masked, p);
        low = masked;
    }
    hs_pack(low, b->n, f.width, p);
    p += hs_pack_bytes(b->n, f.width);
    out->n = (size_t)(p - (uint8_t *)out->p);
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
    size_t plain = estimate(HS_CODEC_FOR, q, n), delta = estimate(HS_CODEC_DELTA, q, n);
    size_t zigzag = estimate(HS_CODEC_ZIGZAG, q, n), least = delta < zigzag ? delta : zigzag;
    enum hs_codec_kind kind = delta < zigzag ? HS_CODEC_DELTA : HS_CODEC_ZIGZAG;
    if (plain <= least) { /* then differences of differences will not be better either */
        *bytes = plain;
        return HS_CODEC_FOR;
    }
    size_t delta2 = estimate(HS_CODEC_DELTA2, q, n);
    *bytes = delta2 < least ? delta2 : least;
    return delta2 < least ? HS_CODEC_DELTA2 : kind;
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
        if (i && v == e->q[i - stride]) {
            e->b[i] = e->b[i - stride];
            continue;
        }
        /* Small numbers, which symbols mostly are, are their own slot. */
        size_t s = (size_t)(v < DICT_SLOTS ? v : v * UINT64_C(0x9e3779b97f4a7c15) >> 32) % DICT_SLOTS;
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

/* Splits if a dictionary may pay: a sample of 256 rows must have few distinct numbers, and all of them together no more
 * than can be told apart by fewer bits than the best layout so far takes a number. */
static size_t try_dict(struct hs_encoder *e, size_t n, size_t best)
{
    size_t bits = best * 8 / n, most = bits < 12 ? (size_t)1 << bits : DICT_MAX;
    if (n < 256 || !bits || !split_dict(e, n, n / 256, 160))
        return 0;
    return split_dict(e, n, 1, n / 8 < most ? n / 8 : most);
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
static uint64_t divide(uint64_t *q, size_t n, uint64_t *quotients)
{
    uint64_t g = 0;
    for (size_t i = 0; i < 64 && g != 1; i++)
        g = gcd(g, q[(i * n + i * 7919 % n) / 64]); /* uneven steps, so as not to fall in with the numbers' own */
    while (g > 1) {
        unsigned shift = (unsigned)__builtin_ctzll(g);
        uint64_t odd = g >> shift, inverse = odd, most = UINT64_MAX / g;
        bool bad = false;
        for (int i = 0; i < 5; i++)
            inverse *= 2 - odd * inverse;
        for (size_t i = 0; i < n; i++) {
            uint64_t t = q[i] * inverse;
            quotients[i] = t = t >> shift | t << ((64 - shift) & 63);
            bad |= t > most;
        }
        if (!bad) {
            memcpy(q, quotients, n * sizeof *q);
            return g;
        }
        for (size_t i = 0; i < n && g != 1; i++)
            g = gcd(g, q[i]);
    }
    return 1;
}

static inline void widen(int64_t v, int64_t *min, int64_t *max)
{
    *min = v < *min ? v : *min;
    *max = v > *max ? v : *max;
}

static void range(const int64_t *v, size_t n, int64_t *min, int64_t *max)
{
    *min = *max = v[0];
    if (!memcmp(v, v + 1, (n - 1) * sizeof *v)) /* all the same; ends at the first that is not */
        return;
    int64_t lo = v[0], hi = lo;
    size_t i = 0;
    for (; i + 2 <= n; i += 2) { /* two chains of comparisons */
        widen(v[i], min, max);
        widen(v[i + 1], &lo, &hi);
    }
    if (i < n)
        widen(v[i], min, max);
    widen(lo, min, max);
    widen(hi, min, max);
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

static void put_body(struct hs_encoder *e, size_t n, size_t runs, unsigned flags, uint64_t base,
                     const struct hs_buf *extra, struct hs_buf *out)
{
    size_t best, count = 0;
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
        size_t runs = 1;
        e->q[0] = (uint64_t)v[0] - (uint64_t)*min;
        for (size_t i = 1; i < n; i++) {
            e->q[i] = (uint64_t)v[i] - (uint64_t)*min;
            runs += v[i] != v[i - 1];
        }
        uint64_t g = divide(e->q, n, e->a);
        if (g > 1) {
            flags |= HS_CODEC_DIVISOR;
            put_varint(&extra, g);
        }
        hs_buf_put(&extra, holes.p, holes.n);
        put_body(e, n, runs, flags, (uint64_t)*min, &extra, out);
    }
    hs_buf_put(out, slack, sizeof slack);
    hs_buf_free(&extra);
    hs_buf_free(&holes);
}
