/* number: decimal text to integers, exactly. No double is ever made of a time or an id.
 *
 * Functions on padded text (hs_number, hs_digits) may read HS_SCAN_PAD bytes beyond `end`; those on hs_str may not. */
#ifndef HS_INGEST_NUMBER_H
#define HS_INGEST_NUMBER_H

#include "base/mem.h"

#include <string.h>

enum hs_number_kind {
    HS_NUM_BAD, /* no JSON number */
    HS_NUM_INT, /* canonical, within int64 */
    HS_NUM_DEC, /* canonical d.ddd, mantissa within int64, 1..18 fraction digits */
    HS_NUM_RAW  /* a JSON number that is neither: exponent, -0, too big */
};
struct hs_number {
    int64_t m;      /* INT: the value; DEC: the mantissa */
    uint8_t digits; /* DEC: fraction digits */
    uint8_t kind;
};

/* Reads the number at p; returns the byte behind it (`end` if it touches the end, and may go on there). */
const char *hs_number(const char *p, const char *end, struct hs_number *out);

/* ---- the inner loop's form: up to 8 digits at a time, without a branch per digit ---- */

/* How many of the 8 bytes at p are leading decimal digits; *v is their value. */
static inline unsigned hs_digits8(const char *p, uint64_t *v)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t x;
    memcpy(&x, p, 8);
    x ^= 0x3030303030303030u;                                            /* digits become 0..9 */
    uint64_t no = (x | (x + 0x7676767676767676u)) & 0x8080808080808080u; /* high bit: no digit; see note */
    unsigned n = no ? (unsigned)__builtin_ctzll(no) / 8 : 8;
    if (!n) {
        *v = 0;
        return 0;
    }
    x <<= 8 * (8 - n);       /* leading zeros in front */
    x = (x * 10) + (x >> 8); /* pairs, then fours, then all eight */
    *v = (((x & 0x000000ff000000ffu) * 0x000f424000000064u) +
          (((x >> 16) & 0x000000ff000000ffu) * 0x0000271000000001u)) >>
         32;
    return n;
#else
    unsigned n = 0;
    uint64_t s = 0;
    for (; n < 8 && p[n] >= '0' && p[n] <= '9'; n++)
        s = s * 10 + (uint64_t)(p[n] - '0');
    *v = s;
    return n;
#endif
}

/* Digits at p, at most 18 of them (so that nothing overflows); returns how many; 19 means more than 18. */
static inline unsigned hs_digits18(const char *p, uint64_t *v)
{
    static const uint32_t pow10[9] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    uint64_t hi, lo;
    unsigned n = hs_digits8(p, &hi);
    if (n < 8) {
        *v = hi;
        return n;
    }
    n = hs_digits8(p + 8, &lo);
    hi = hi * pow10[n] + lo;
    if (n == 8) {
        n = hs_digits8(p + 16, &lo);
        if (n > 2)
            return 19;
        hi = hi * pow10[n] + lo;
        n += 8;
    }
    *v = hi;
    return 8 + n;
}

/* ---- text ---- */

/* m · 10^-digits µs as ns; false if it does not fit. Digits beyond the third are cut (towards minus infinity). */
bool hs_us_to_ns(int64_t m, unsigned digits, int64_t *ns);

/* The best reading of any decimal text, blanks around it allowed, with sign, fraction and exponent: µs to ns, or an
 * integer (a fraction that is not zero is no integer). false: no number, or out of int64. */
bool hs_text_ns(struct hs_str s, int64_t *ns);
bool hs_text_i64(struct hs_str s, int64_t *v);

/* Is the text one of inf, nan, infinity, with or without a sign, in any case? */
bool hs_text_non_finite(struct hs_str s);

#endif
