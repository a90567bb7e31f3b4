/* The scanner's pieces: SIMD against the plain twin, values against jansson, numbers against 128-bit arithmetic. */
#include "ingest/number.h"
#include "ingest/scan.h"
#include "tests/unit/test.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

struct rng {
    uint64_t s;
};

static uint64_t next(struct rng *r)
{
    r->s ^= r->s << 13;
    r->s ^= r->s >> 7;
    r->s ^= r->s << 17;
    return r->s;
}

static size_t below(struct rng *r, size_t n)
{
    return (size_t)(next(r) % n);
}

/* A copy with the padding that scan asks for, at its exact size. */
static char *padded(const char *p, size_t n, char fill)
{
    char *q = malloc(n + HS_SCAN_PAD);
    memcpy(q, p, n);
    memset(q + n, fill, HS_SCAN_PAD);
    return q;
}

START_TEST(simd_equals_plain)
{
    struct rng r = {0x9e3779b97f4a7c15u};
    static const char rare[] = "\"\\\n\x1f\x20\x7f\xff\x01";
    for (int round = 0; round < 20000; round++) {
        char text[200];
        size_t n = below(&r, sizeof text), density = 1 + below(&r, 120);
        for (size_t i = 0; i < n; i++)
            text[i] = below(&r, density) ? (char)('a' + below(&r, 26)) : rare[below(&r, sizeof rare - 1)];
        char *p = padded(text, n, '"'); /* a quote behind the end must not be found */
        for (size_t from = 0; from < n; from += 1 + below(&r, 17)) {
            const char *want = hs_scan_string_plain(p + from, p + n);
            ck_assert_ptr_eq(hs_scan_string(p + from, p + n), want);
            ck_assert_ptr_eq(hs_scan_string_long(p + from, p + n), want);
        }
        free(p);
    }
}
END_TEST

START_TEST(same_equals_memcmp)
{
    struct rng r = {42};
    for (int round = 0; round < 20000; round++) {
        char a[80 + 16], b[80 + 16];
        size_t n = below(&r, 80);
        for (size_t i = 0; i < sizeof a; i++)
            a[i] = b[i] = (char)next(&r);
        if (below(&r, 2))
            b[below(&r, sizeof b)] ^= (char)(1 + below(&r, 255));
        ck_assert_int_eq(hs_same_padded(a, b, n), !memcmp(a, b, n));
    }
}
END_TEST

/* ---- numbers ---- */

static void check_number(const char *text, int kind, int64_t m, int digits)
{
    struct hs_number num;
    size_t n = strlen(text);
    char *p = padded(text, n + 1, '9'); /* the NUL is the byte behind */
    const char *end = hs_number(p, p + n + 1, &num);
    ck_assert_msg(num.kind == kind, "%s: kind %d", text, num.kind);
    if (kind != HS_NUM_BAD)
        ck_assert_msg(end == p + n, "%s: %d bytes", text, (int)(end - p));
    if (kind == HS_NUM_INT || kind == HS_NUM_DEC) {
        ck_assert_msg(num.m == m, "%s", text);
        ck_assert_msg(num.digits == digits, "%s", text);
    }
    free(p);
}

START_TEST(number_kinds)
{
    check_number("0", HS_NUM_INT, 0, 0);
    check_number("-1", HS_NUM_INT, -1, 0);
    check_number("9223372036854775807", HS_NUM_INT, INT64_MAX, 0);
    check_number("-9223372036854775808", HS_NUM_INT, INT64_MIN, 0);
    check_number("9223372036854775808", HS_NUM_RAW, 0, 0);
    check_number("17999999999999999999", HS_NUM_RAW, 0, 0);
    check_number("-0", HS_NUM_RAW, 0, 0);
    check_number("-0.0", HS_NUM_RAW, 0, 0);
    check_number("0.0", HS_NUM_DEC, 0, 1);
    check_number("-0.05", HS_NUM_DEC, -5, 2);
    check_number("1712195495519689.123", HS_NUM_DEC, 1712195495519689123, 3);
    check_number("0.123456789012345678", HS_NUM_DEC, 123456789012345678, 18);
    check_number("0.1234567890123456789", HS_NUM_RAW, 0, 0);
    check_number("1e5", HS_NUM_RAW, 0, 0);
    check_number("1.50e3", HS_NUM_RAW, 0, 0);
    check_number("1E-5", HS_NUM_RAW, 0, 0);
    static const char *const bad[] = {"01", "007", ".5", "5.", "+3", "1e", "1e+", "-", "1.e5", "00"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        check_number(bad[i], HS_NUM_BAD, 0, 0);
}
END_TEST

START_TEST(digits_any_length)
{
    struct rng r = {7};
    for (int round = 0; round < 50000; round++) {
        char text[64];
        unsigned n = (unsigned)below(&r, 20);
        unsigned __int128 want = 0;
        for (unsigned i = 0; i < n; i++) {
            text[i] = (char)('0' + below(&r, 10));
            want = want * 10 + (unsigned)(text[i] - '0');
        }
        do
            text[n] = (char)next(&r);
        while (text[n] >= '0' && text[n] <= '9');
        for (unsigned i = n + 1; i < sizeof text; i++)
            text[i] = (char)next(&r);
        uint64_t got;
        unsigned m = hs_digits18(text, &got);
        ck_assert_uint_eq(m, n > 18 ? 19 : n);
        if (n <= 18)
            ck_assert(got == (uint64_t)want);
    }
}
END_TEST

static void check_ns(const char *text, bool ok, int64_t want)
{
    int64_t ns = 77;
    ck_assert_msg(hs_text_ns(hs_cstr(text), &ns) == ok, "%s", text);
    if (ok)
        ck_assert_msg(ns == want, "%s: %lld", text, (long long)ns);
}

START_TEST(text_to_ns)
{
    check_ns("1747123456789.123", true, 1747123456789123);
    check_ns(" 5 ", true, 5000);
    check_ns("1.7e15", true, 1700000000000000000);
    check_ns("1e-3", true, 1);
    check_ns("12.3456", true, 12345);
    check_ns("-12.3456", true, -12346); /* cut towards minus infinity */
    check_ns("+3", true, 3000);
    check_ns(".5", true, 500);
    check_ns("5.", true, 5000);
    check_ns("007", true, 7000);
    check_ns("9223372036854775.807", true, INT64_MAX);
    check_ns("9223372036854775.808", false, 0);
    check_ns("1e30", false, 0);
    check_ns("0e999999999999", true, 0);
    check_ns("1e-999999999999", true, 0);
    check_ns("", false, 0);
    check_ns("abc", false, 0);
    check_ns("1e", false, 0);
    check_ns("1 2", false, 0);
    check_ns("inf", false, 0);
}
END_TEST

START_TEST(text_to_integer)
{
    int64_t v;
    ck_assert(hs_text_i64(hs_cstr("12"), &v) && v == 12);
    ck_assert(hs_text_i64(hs_cstr("-1"), &v) && v == -1);
    ck_assert(hs_text_i64(hs_cstr("1.2e1"), &v) && v == 12);
    ck_assert(hs_text_i64(hs_cstr("7.000"), &v) && v == 7);
    ck_assert(!hs_text_i64(hs_cstr("7.5"), &v));
    ck_assert(!hs_text_i64(hs_cstr("0x0"), &v));
    ck_assert(!hs_text_i64(hs_cstr("9223372036854775808"), &v));
    ck_assert(hs_text_i64(hs_cstr("-9223372036854775808"), &v) && v == INT64_MIN);
    ck_assert(hs_text_non_finite(hs_cstr("-Inf")) && hs_text_non_finite(hs_cstr("NaN")));
    ck_assert(hs_text_non_finite(hs_cstr("+infinity")) && !hs_text_non_finite(hs_cstr("information")));
}
END_TEST

START_TEST(us_scale)
{
    int64_t ns;
    ck_assert(hs_us_to_ns(7, 0, &ns) && ns == 7000);
    ck_assert(hs_us_to_ns(7424, 3, &ns) && ns == 7424);
    ck_assert(hs_us_to_ns(75, 1, &ns) && ns == 7500);
    ck_assert(hs_us_to_ns(-12345, 4, &ns) && ns == -1235);
    ck_assert(!hs_us_to_ns(INT64_MAX, 2, &ns));
}
END_TEST

/* ---- texts ---- */

static void check_decode(const char *text, const char *want, size_t n, bool lone)
{
    struct hs_buf b = HS_BUF_INIT(1000);
    bool saw = false;
    hs_scan_decode(&b, text, strlen(text), &saw);
    ck_assert_uint_eq(b.n, n);
    ck_assert(!memcmp(b.p, want, n));
    ck_assert_int_eq(saw, lone);
    hs_buf_free(&b);
}

START_TEST(decoding)
{
    check_decode("a\\\"b\\\\c\\/d", "a\"b\\c/d", 7, false);
    check_decode("\\n\\t\\r\\b\\f", "\n\t\r\b\f", 5, false);
    check_decode("\\u00e9\\u4e2d", "\xc3\xa9\xe4\xb8\xad", 5, false);
    check_decode("\\ud83d\\ude80", "\xf0\x9f\x9a\x80", 4, false);
    check_decode("x\\ud800y", "x\xef\xbf\xbdy", 5, true);
    check_decode("\\ude80\\ud83d", "\xef\xbf\xbd\xef\xbf\xbd", 6, true);
    check_decode("a\\u0000b", "a\0b", 3, false);
}
END_TEST

START_TEST(utf8)
{
    static const struct {
        const char *p;
        bool ok;
    } c[] = {{"plain ascii text of some length", true},
             {"\xc3\xa9", true},
             {"\xf0\x9f\x9a\x80", true},
             {"\xff", false},
             {"\xc3", false},
             {"\xc0\x80", false},
             {"\xed\xa0\x80", false},
             {"\xf4\x90\x80\x80", false},
             {"abcdefgh\x80", false},
             {"\xe0\x80\x80", false},
             {"\xef\xbf\xbd", true}};
    for (size_t i = 0; i < sizeof c / sizeof c[0]; i++)
        ck_assert_int_eq(hs_utf8_valid(c[i].p, strlen(c[i].p)), c[i].ok);
}
END_TEST

/* ---- values, against jansson ---- */

/* 1, 0, or -1 where jansson stops for a reason that is not JSON's (a number beyond a double). */
static int jansson_takes(const char *p, size_t n)
{
    json_error_t e;
    json_t *v = json_loadb(p, n, JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, &e);
    json_decref(v);
    if (v)
        return 1;
    enum json_error_code code = json_error_code(&e);
    return code == json_error_numeric_overflow || code == json_error_null_byte_in_key ? -1 : 0;
}

static bool we_take(const char *text, size_t n)
{
    char *p = padded(text, n + 1, ' ');
    p[n] = ' '; /* a number must not touch the end */
    const char *q = p;
    bool ok = hs_scan_value(&q, p + n + 1, 64) == HS_SCAN_OK && hs_skip_space(q, p + n + 1) == p + n + 1;
    free(p);
    return ok && hs_utf8_valid(text, n);
}

START_TEST(values_as_jansson_sees_them)
{
    static const char *const seeds[] = {
        "{\"a\": [1, 2.5e-3, {\"b\": null, \"c\": [true, false]}], \"d\": \"x\\u00e9\\n\"}",
        "[\"\\ud83d\\ude80\", -0, 0.10, 1E+9, [], {}, [[[]]], \"\\\"\"]",
        "{\"\": {\"\": \"\"}, \"k\": 12345678901234567890}",
    };
    struct rng r = {99};
    int taken = 0;
    for (int round = 0; round < 200000; round++) {
        char text[128];
        const char *seed = seeds[below(&r, 3)];
        size_t n = strlen(seed);
        memcpy(text, seed, n);
        static const char bytes[] = "{}[]\",:0123456789.eE+-\\ntrufalsd \n\t\x01\x80\xc3";
        for (size_t k = below(&r, 4); k > 0; k--) {
            size_t at = below(&r, n);
            if (below(&r, 3)) {
                text[at] = bytes[below(&r, sizeof bytes - 1)];
            } else if (n > 2) {
                memmove(text + at, text + at + 1, n - at - 1);
                n--;
            }
        }
        int want = jansson_takes(text, n), got = we_take(text, n);
        ck_assert_msg(want == got || want < 0, "jansson %d, we %d: %.*s", want, got, (int)n, text);
        taken += got;
    }
    ck_assert_int_gt(taken, 1000);
}
END_TEST

START_TEST(cut_values_want_more)
{
    const char text[] = "{\"a\": [1, -2.5e-3, {\"b\": null, \"\\u00e9\": [true, \"x\\n\"]}], \"d\": \"\\\"\"} ";
    for (size_t n = 0; n < sizeof text - 2; n++) {
        char *p = padded(text, n, ':');
        const char *q = p;
        ck_assert_int_eq(hs_scan_value(&q, p + n, 8), HS_SCAN_MORE);
        free(p);
    }
}
END_TEST

START_TEST(depth_is_capped)
{
    char text[3000];
    memset(text, '[', 1400);
    memset(text + 1400, ']', 1400);
    for (unsigned depth = 0; depth < 40; depth++) {
        char *p = padded(text + 1400 - depth, 2 * depth, ' ');
        const char *q = p;
        if (depth)
            ck_assert_int_eq(hs_scan_value(&q, p + 2 * depth, depth), HS_SCAN_OK);
        q = p;
        if (depth)
            ck_assert_int_eq(hs_scan_value(&q, p + 2 * depth, depth - 1), HS_SCAN_ODD);
        free(p);
    }
    const char *q = text;
    ck_assert_int_eq(hs_scan_value(&q, text + 2800, 5000), HS_SCAN_ODD); /* beyond HS_SCAN_DEPTH, whatever is asked */
}
END_TEST

HS_SUITE(ingest_scan)
{
    HS_TEST(simd_equals_plain);
    HS_TEST(same_equals_memcmp);
    HS_TEST(number_kinds);
    HS_TEST(digits_any_length);
    HS_TEST(text_to_ns);
    HS_TEST(text_to_integer);
    HS_TEST(us_scale);
    HS_TEST(decoding);
    HS_TEST(utf8);
    HS_TEST(values_as_jansson_sees_them);
    HS_TEST(cut_values_want_more);
    HS_TEST(depth_is_capped);
}
