/* scan: the pieces of a strict JSON reader over bytes in memory. Nothing here allocates (but hs_scan_decode's buffer),
 * knows traces, or looks back.
 *
 * Text given to these functions must have HS_SCAN_PAD readable bytes behind `end`: they read whole vectors. What those
 * bytes are does not matter. A string's bytes are not checked to be UTF-8 (hs_utf8_valid does that, once per distinct
 * text).
 *
 * SIMD: 16 bytes at once where the target always has it (SSE2, NEON), 32 where the CPU turns out to have AVX2, one byte
 * otherwise; hs_scan_string_plain is the twin that tests hold the others equal to. */
#ifndef HS_INGEST_SCAN_H
#define HS_INGEST_SCAN_H

#include "base/mem.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif
#include <string.h>

#define HS_SCAN_PAD 64

enum hs_scan {
    HS_SCAN_OK,
    HS_SCAN_MORE, /* valid so far, but the text ends here */
    HS_SCAN_ODD   /* no JSON, whatever follows */
};

/* First byte at or after p that ends a run of plain string bytes: a quote, a backslash or a byte below 0x20; `end` if
 * there is none before it. */
const char *hs_scan_string_plain(const char *p, const char *end);
const char *hs_scan_string_long(const char *p, const char *end); /* the widest SIMD the CPU has */
const char *hs_scan_simd(void);                                  /* its name: "avx2", "sse2", "neon", "plain" */

/* The same for strings that are short most of the time: the first 16 bytes inline. */
static inline const char *hs_scan_string(const char *p, const char *end)
{
#if defined(__SSE2__)
    __m128i x = _mm_loadu_si128((const __m128i *)p);
    __m128i stop = _mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8('"')), _mm_cmpeq_epi8(x, _mm_set1_epi8('\\')));
    stop = _mm_or_si128(stop, _mm_cmpeq_epi8(_mm_min_epu8(x, _mm_set1_epi8(0x1f)), x));
    unsigned mask = (unsigned)_mm_movemask_epi8(stop);
    if (mask) {
        p += __builtin_ctz(mask);
        return p < end ? p : end;
    }
    p += 16;
    if (p >= end)
        return end;
#endif
    return hs_scan_string_long(p, end);
}

/* Are the n bytes at p and q equal? Both may be read up to 15 bytes beyond. */
static inline bool hs_same_padded(const char *p, const char *q, size_t n)
{
#if defined(__SSE2__)
    for (; n >= 16; p += 16, q += 16, n -= 16) {
        __m128i e = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)p), _mm_loadu_si128((const __m128i *)q));
        if (_mm_movemask_epi8(e) != 0xffff)
            return false;
    }
    __m128i e = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)p), _mm_loadu_si128((const __m128i *)q));
    return ((~(unsigned)_mm_movemask_epi8(e)) & ((1u << n) - 1)) == 0;
#else
    return memcmp(p, q, n) == 0;
#endif
}

static inline bool hs_is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static inline const char *hs_skip_space(const char *p, const char *end)
{
    while (p < end && hs_is_space(*p))
        p++;
    return p;
}

/* From behind the opening quote to the closing one (*p is left on it). *escaped: there was a backslash, so that the text
 * needs hs_scan_decode. Checks escapes as JSON has them; halves of surrogate pairs pass. */
enum hs_scan hs_scan_text(const char **p, const char *end, bool *escaped);

/* Is there half of a surrogate pair among the escapes of a text that hs_scan_text passed? */
bool hs_scan_lone_surrogate(const char *p, size_t n);

/* Over one value of any type, kept as it stands, so that its texts may hold no half of a surrogate pair either; `depth` is how deep arrays and objects may nest (0: only scalars), at most HS_SCAN_DEPTH.
 * *p is left behind it, or where it went wrong. A number that touches `end` is HS_SCAN_MORE. */
#define HS_SCAN_DEPTH 1024
enum hs_scan hs_scan_value(const char **p, const char *end, unsigned depth);

/* Appends the bytes that the inside of a string (checked by hs_scan_text) stands for. *lone is set if half of a surrogate
 * pair was among them (it becomes U+FFFD). */
void hs_scan_decode(struct hs_buf *out, const char *p, size_t n, bool *lone);

bool hs_utf8_valid(const char *p, size_t n);

/* Four hex digits as a number, -1 if they are none. */
int hs_scan_hex4(const char *p);
void hs_put_utf8_code(struct hs_buf *out, uint32_t code);

#endif
