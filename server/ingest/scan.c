#include "ingest/scan.h"

#include "ingest/number.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* ---- the end of a run of plain string bytes ---- */

static inline bool stops(unsigned char c)
{
    return c == '"' || c == '\\' || c < 0x20;
}

const char *hs_scan_string_plain(const char *p, const char *end)
{
    while (p < end && !stops((unsigned char)*p))
        p++;
    return p;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static const char *string_avx2(const char *p, const char *end)
{
    const __m256i quote = _mm256_set1_epi8('"'), slash = _mm256_set1_epi8('\\'), low = _mm256_set1_epi8(0x1f);
    for (; p < end; p += 32) {
        __m256i x = _mm256_loadu_si256((const __m256i *)p);
        __m256i stop = _mm256_or_si256(_mm256_cmpeq_epi8(x, quote), _mm256_cmpeq_epi8(x, slash));
        stop = _mm256_or_si256(stop, _mm256_cmpeq_epi8(_mm256_min_epu8(x, low), x));
        unsigned mask = (unsigned)_mm256_movemask_epi8(stop);
        if (mask) {
            p += __builtin_ctz(mask);
            break;
        }
    }
    return p < end ? p : end;
}
#endif

#if defined(__SSE2__)
static const char *string_sse2(const char *p, const char *end)
{
    for (; p < end; p += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)p);
        __m128i stop = _mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8('"')), _mm_cmpeq_epi8(x, _mm_set1_epi8('\\')));
        stop = _mm_or_si128(stop, _mm_cmpeq_epi8(_mm_min_epu8(x, _mm_set1_epi8(0x1f)), x));
        unsigned mask = (unsigned)_mm_movemask_epi8(stop);
        if (mask) {
            p += __builtin_ctz(mask);
            break;
        }
    }
    return p < end ? p : end;
}
#elif defined(__aarch64__)
static const char *string_neon(const char *p, const char *end)
{
    for (; p < end; p += 16) {
        uint8x16_t x = vld1q_u8((const uint8_t *)p);
        uint8x16_t stop = vorrq_u8(vceqq_u8(x, vdupq_n_u8('"')), vceqq_u8(x, vdupq_n_u8('\\')));
        stop = vorrq_u8(stop, vcltq_u8(x, vdupq_n_u8(0x20)));
        /* four bits a byte: NEON has no movemask */
        uint64_t mask = vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(stop), 4)), 0);
        if (mask) {
            p += __builtin_ctzll(mask) / 4;
            break;
        }
    }
    return p < end ? p : end;
}
#endif

static struct {
    const char *(*string)(const char *, const char *);
    const char *name;
} g_simd = {hs_scan_string_plain, "plain"};

/* Before main, so that no thread ever sees it change. */
__attribute__((constructor)) static void choose(void)
{
#if defined(__SSE2__)
    g_simd.string = string_sse2;
    g_simd.name = "sse2";
#elif defined(__aarch64__)
    g_simd.string = string_neon;
    g_simd.name = "neon";
#endif
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2")) {
        g_simd.string = string_avx2;
        g_simd.name = "avx2";
    }
#endif
}

const char *hs_scan_string_long(const char *p, const char *end)
{
    return g_simd.string(p, end);
}

const char *hs_scan_simd(void)
{
    return g_simd.name;
}

/* ---- strings ---- */

int hs_scan_hex4(const char *p)
{
    int v = 0;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        int d = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
        if (d < 0)
            return -1;
        v = v * 16 + d;
    }
    return v;
}

/* One escape at p (on the backslash): its length, 0 if it is none, -1 if the text ends inside. */
static int escape_length(const char *p, const char *end)
{
    if (end - p < 2)
        return -1;
    if (p[1] != 'u')
        return p[1] && strchr("\"\\/bfnrt", p[1]) ? 2 : 0;
    if (end - p < 6) {
        for (const char *q = p + 2; q < end; q++)
            if (!(*q && strchr("0123456789abcdefABCDEF", *q)))
                return 0;
        return -1;
    }
    return hs_scan_hex4(p + 2) < 0 ? 0 : 6;
}

enum hs_scan hs_scan_text(const char **p, const char *end, bool *escaped)
{
    const char *q = *p;
    *escaped = false;
    for (;;) {
        q = q < end ? hs_scan_string(q, end) : end;
        *p = q;
        if (q >= end)
            return HS_SCAN_MORE;
        if (*q == '"')
            return HS_SCAN_OK;
        if (*q != '\\')
            return HS_SCAN_ODD;
        int n = escape_length(q, end);
        if (n <= 0)
            return n ? HS_SCAN_MORE : HS_SCAN_ODD;
        *escaped = true;
        q += n;
    }
}

bool hs_scan_lone_surrogate(const char *p, size_t n)
{
    const char *end = p + n;
    while (end - p >= 6 && (p = memchr(p, '\\', (size_t)(end - p) - 5))) {
        int c = p[1] == 'u' ? hs_scan_hex4(p + 2) : 0;
        if (c < 0xd800 || c > 0xdfff) {
            p += 2;
            continue;
        }
        int low = c < 0xdc00 && end - p >= 12 && p[6] == '\\' && p[7] == 'u' ? hs_scan_hex4(p + 8) : 0;
        if (low < 0xdc00 || low > 0xdfff)
            return true;
        p += 12;
    }
    return false;
}

void hs_put_utf8_code(struct hs_buf *out, uint32_t c)
{
    char t[4];
    size_t n;
    if (c < 0x80) {
        t[0] = (char)c;
        n = 1;
    } else if (c < 0x800) {
        t[0] = (char)(0xc0 | c >> 6);
        t[1] = (char)(0x80 | (c & 0x3f));
        n = 2;
    } else if (c < 0x10000) {
        t[0] = (char)(0xe0 | c >> 12);
        t[1] = (char)(0x80 | (c >> 6 & 0x3f));
        t[2] = (char)(0x80 | (c & 0x3f));
        n = 3;
    } else {
        t[0] = (char)(0xf0 | c >> 18);
        t[1] = (char)(0x80 | (c >> 12 & 0x3f));
        t[2] = (char)(0x80 | (c >> 6 & 0x3f));
        t[3] = (char)(0x80 | (c & 0x3f));
        n = 4;
    }
    hs_buf_put(out, t, n);
}

/* \uXXXX at p, and the second half of the pair if one follows. Returns how many bytes it took. */
static size_t decode_unicode(struct hs_buf *out, const char *p, size_t n, bool *lone)
{
    uint32_t c = (uint32_t)hs_scan_hex4(p + 2);
    if (c < 0xd800 || c > 0xdfff) {
        hs_put_utf8_code(out, c);
        return 6;
    }
    if (c < 0xdc00 && n >= 12 && p[6] == '\\' && p[7] == 'u') {
        int low = hs_scan_hex4(p + 8);
        if (low >= 0xdc00 && low <= 0xdfff) {
            hs_put_utf8_code(out, 0x10000 + ((c - 0xd800) << 10) + ((uint32_t)low - 0xdc00));
            return 12;
        }
    }
    hs_put_utf8_code(out, 0xfffd);
    *lone = true;
    return 6;
}

void hs_scan_decode(struct hs_buf *out, const char *p, size_t n, bool *lone)
{
    const char *end = p + n;
    while (p < end) {
        const char *slash = memchr(p, '\\', (size_t)(end - p));
        if (!slash)
            slash = end;
        hs_buf_put(out, p, (size_t)(slash - p));
        p = slash;
        if (end - p < 2)
            break;
        if (p[1] == 'u' && end - p >= 6) {
            p += decode_unicode(out, p, (size_t)(end - p), lone);
            continue;
        }
        char c = p[1];
        hs_buf_putc(out, c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c == 'b' ? '\b' : c == 'f' ? '\f' : c);
        p += 2;
    }
}

/* Length of the valid UTF-8 sequence at p (lead byte >= 0x80), 0 if it is none. */
static size_t sequence(const unsigned char *p, size_t n)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    size_t len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || len > n)
        return 0;
    uint32_t c = p[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (p[i] & 0x3fu);
    }
    return c < least[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff) ? 0 : len;
}

bool hs_utf8_valid(const char *s, size_t n)
{
    const unsigned char *p = (const unsigned char *)s, *end = p + n;
    while (p < end) {
        uint64_t w;
        if (end - p >= 8 && (memcpy(&w, p, 8), (w & 0x8080808080808080u) == 0)) {
            p += 8;
        } else if (*p < 0x80) {
            p++;
        } else {
            size_t len = sequence(p, (size_t)(end - p));
            if (!len)
                return false;
            p += len;
        }
    }
    return true;
}

/* ---- values ---- */

static enum hs_scan literal(const char **p, const char *end, const char *word)
{
    const char *q = *p;
    for (; *word; word++, q++) {
        if (q == end) {
            *p = q;
            return HS_SCAN_MORE;
        }
        if (*q != *word)
            return HS_SCAN_ODD;
    }
    *p = q;
    return HS_SCAN_OK;
}

/* A text with both its quotes. */
static enum hs_scan quoted(const char **p, const char *end)
{
    bool escaped;
    const char *start = ++*p;
    enum hs_scan r = hs_scan_text(p, end, &escaped);
    if (r)
        return r;
    if (escaped && hs_scan_lone_surrogate(start, (size_t)(*p - start)))
        return HS_SCAN_ODD;
    ++*p;
    return HS_SCAN_OK;
}

static enum hs_scan scalar(const char **p, const char *end)
{
    switch (**p) {
    case '"': return quoted(p, end);
    case 't': return literal(p, end, "true");
    case 'f': return literal(p, end, "false");
    case 'n': return literal(p, end, "null");
    default: {
        struct hs_number num;
        const char *q = hs_number(*p, end, &num);
        if (q == end)
            return HS_SCAN_MORE;
        if (num.kind == HS_NUM_BAD)
            return HS_SCAN_ODD;
        *p = q;
        return HS_SCAN_OK;
    }
    }
}

/* `"key" :` of a member; *p is left before the value. */
static enum hs_scan member_key(const char **p, const char *end)
{
    if (**p != '"')
        return HS_SCAN_ODD;
    enum hs_scan r = quoted(p, end);
    if (r)
        return r;
    *p = hs_skip_space(*p, end);
    if (*p == end)
        return HS_SCAN_MORE;
    if (**p != ':')
        return HS_SCAN_ODD;
    ++*p;
    return HS_SCAN_OK;
}

enum hs_scan hs_scan_value(const char **pp, const char *end, unsigned max_depth)
{
    uint64_t is_object[HS_SCAN_DEPTH / 64] = {0};
    unsigned depth = 0;
    const char *p = *pp;
    enum hs_scan r = HS_SCAN_OK;
    bool want_value = true, may_close = false; /* may_close: directly behind the opening bracket */

    if (max_depth > HS_SCAN_DEPTH)
        max_depth = HS_SCAN_DEPTH;
    for (;;) {
        p = hs_skip_space(p, end);
        if (p >= end) {
            r = HS_SCAN_MORE;
            break;
        }
        bool object = depth && (is_object[(depth - 1) / 64] >> ((depth - 1) % 64) & 1);
        char c = *p;
        if (depth && c == (object ? '}' : ']') && (!want_value || may_close)) {
            p++;
            want_value = may_close = false;
            if (--depth == 0)
                break;
            continue;
        }
        if (!want_value) {
            if (c != ',') {
                r = HS_SCAN_ODD;
                break;
            }
            p++;
            want_value = true;
            continue;
        }
        may_close = false;
        if (object) {
            if ((r = member_key(&p, end)))
                break;
            p = hs_skip_space(p, end);
            if (p >= end) {
                r = HS_SCAN_MORE;
                break;
            }
            c = *p;
        }
        if (c == '{' || c == '[') {
            if (depth == max_depth) {
                r = HS_SCAN_ODD;
                break;
            }
            uint64_t bit = (uint64_t)1 << (depth % 64);
            is_object[depth / 64] = c == '{' ? is_object[depth / 64] | bit : is_object[depth / 64] & ~bit;
            depth++;
            p++;
            may_close = true;
            continue;
        }
        if ((r = scalar(&p, end)))
            break;
        want_value = false;
        if (!depth)
            break;
    }
    *pp = p;
    return r;
}
