/* The column codec: every layout, round trips of random and structured numbers, extremes, and hostile bytes. */
#include "store/codec.h"
#include "store/decode.h"
#include "store/encode.h"
#include "tests/unit/test.h"
#include "trace/model.h"

#include <stdlib.h>
#include <string.h>

static uint64_t g_seed = 1;

static uint64_t next_random(void)
{
    g_seed ^= g_seed << 13;
    g_seed ^= g_seed >> 7;
    g_seed ^= g_seed << 17;
    return g_seed;
}

/* Encodes, decodes and compares; returns the blob's size. */
static size_t round_trip(const int64_t *v, size_t n, unsigned *kind)
{
    struct hs_encoder *e = hs_encoder_new();
    struct hs_buf b = HS_BUF_INIT(1 << 24);
    struct hs_err err = HS_ERR_INIT;
    int64_t min, max, *out = malloc((n + 1) * sizeof *out), lo = HS_NO_VALUE, hi = HS_NO_VALUE;
    hs_encode(e, v, n, &b, &min, &max);
    for (size_t i = 0; i < n; i++)
        if (v[i] != HS_NO_VALUE) {
            lo = lo == HS_NO_VALUE || v[i] < lo ? v[i] : lo;
            hi = hi == HS_NO_VALUE || v[i] > hi ? v[i] : hi;
        }
    ck_assert(min == lo && max == hi);
    ck_assert_int_eq(hs_decode_count(b.p, b.n), (int64_t)n);
    char *exact = malloc(b.n); /* so that a sanitizer sees a read behind the end */
    memcpy(exact, b.p, b.n);
    ck_assert_msg(hs_decode(exact, b.n, out, n, &err) == HS_OK, "%s", err.text);
    ck_assert(!n || !memcmp(out, v, n * sizeof *v));
    if (kind)
        *kind = (unsigned)(uint8_t)b.p[0];
    size_t bytes = b.n;
    free(exact);
    free(out);
    hs_buf_free(&b);
    hs_encoder_free(e);
    return bytes;
}

START_TEST(widths_pack_and_unpack)
{
    for (unsigned w = 0; w <= 64; w++) {
        if (hs_pack_width(w) != w)
            continue;
        uint64_t in[24], out[24], mask = w == 64 ? UINT64_MAX : (UINT64_C(1) << w) - 1;
        uint8_t bytes[24 * 8 + HS_PACK_SLACK] = {0};
        for (size_t i = 0; i < 24; i++)
            in[i] = (i % 3 ? next_random() : UINT64_MAX) & mask;
        hs_pack(in, 24, w, bytes);
        hs_unpack(bytes, 24, w, out);
        ck_assert(!memcmp(in, out, sizeof in));
        /* bit j of number i stands at bit i * w + j of the bytes */
        for (size_t i = 0; i < 24; i++)
            for (unsigned j = 0; j < w; j++)
                ck_assert_uint_eq(in[i] >> j & 1, bytes[(i * w + j) / 8] >> (i * w + j) % 8 & 1u);
    }
}
END_TEST

START_TEST(empty_single_and_constant)
{
    int64_t one = -7, *same = malloc(1000 * sizeof *same);
    unsigned kind;
    round_trip(NULL, 0, NULL);
    round_trip(&one, 1, &kind);
    ck_assert_uint_eq(kind, HS_CODEC_CONST);
    for (size_t i = 0; i < 1000; i++)
        same[i] = INT64_MAX;
    ck_assert_uint_lt(round_trip(same, 1000, &kind), 32);
    ck_assert_uint_eq(kind, HS_CODEC_CONST);
    for (size_t i = 0; i < 1000; i++)
        same[i] = HS_NO_VALUE;
    ck_assert_uint_lt(round_trip(same, 1000, NULL), 32);
    free(same);
}
END_TEST

/* Sizes follow from the layout: 65 536 numbers at w bits are w * 8192 bytes, and little more. */
START_TEST(layouts_are_found)
{
    size_t n = HS_SEG_ROWS;
    int64_t *v = malloc(n * sizeof *v);
    unsigned kind;
    for (size_t i = 0; i < n; i++)
        v[i] = INT64_C(1712195495519689000) + (int64_t)i * 12345;
    ck_assert_uint_lt(round_trip(v, n, &kind), 6000);
    for (size_t i = 0; i < n; i++)
        v[i] = INT64_C(1712195495519689000) + (int64_t)i * 1000 * 64 + (int64_t)(next_random() % 16) * 1000;
    ck_assert_uint_lt(round_trip(v, n, &kind), 6 * 8192);
    ck_assert_uint_eq(kind & HS_CODEC_DIVISOR, HS_CODEC_DIVISOR);
    for (size_t i = 0; i < n; i++)
        v[i] = (int64_t)(i / 3000) * 977;
    ck_assert_uint_lt(round_trip(v, n, &kind), 200);
    ck_assert_uint_eq(kind & HS_CODEC_KIND_MASK, HS_CODEC_RUNS);
    int64_t some[16];
    for (size_t i = 0; i < 16; i++)
        some[i] = (int64_t)next_random();
    for (size_t i = 0; i < n; i++)
        v[i] = some[next_random() % 16];
    ck_assert_uint_lt(round_trip(v, n, &kind), 4 * 8192 + 2000);
    ck_assert_uint_eq(kind & HS_CODEC_KIND_MASK, HS_CODEC_DICT);
    for (size_t i = 0; i < n; i++)
        v[i] = (int64_t)(next_random() % 8) + (i % 100 == 0 ? 1000000000 : 0);
    ck_assert_uint_lt(round_trip(v, n, &kind), 3 * 8192 + n / 100 * 6 + 512 * 8);
    for (size_t i = 0; i < n; i++)
        v[i] = i % 10 ? HS_NO_VALUE : (int64_t)(next_random() % 256);
    round_trip(v, n, &kind);
    ck_assert_uint_eq(kind & HS_CODEC_HOLES, HS_CODEC_HOLES);
    for (size_t i = 0; i < n; i++)
        v[i] = i % 2 ? 5 : HS_NO_VALUE;
    round_trip(v, n, &kind);
    free(v);
}
END_TEST

START_TEST(steady_acceleration_needs_few_bits)
{
    int64_t v[4096];
    for (int64_t i = 0; i < 4096; i++)
        v[i] = i * i * 1000003;
    ck_assert_uint_lt(round_trip(v, 4096, NULL), 4096 * 3 / 8 + 150);
}
END_TEST

START_TEST(extremes_wrap)
{
    const int64_t edge[] = {INT64_MIN, INT64_MAX, INT64_MIN + 1, INT64_MAX - 1, 0, -1, 1};
    int64_t v[1000];
    for (int pass = 0; pass < 50; pass++) {
        size_t n = next_random() % 1000;
        for (size_t i = 0; i < n; i++)
            v[i] = edge[next_random() % (sizeof edge / sizeof edge[0])];
        round_trip(v, n, NULL);
        for (size_t i = 0; i < n; i++)
            v[i] = i % 2 ? INT64_MIN + 1 + (int64_t)i : INT64_MAX - (int64_t)i;
        round_trip(v, n, NULL);
    }
}
END_TEST

/* Numbers of random width, step, divisor, run length, holes and outliers, at random lengths. */
START_TEST(random_columns_round_trip)
{
    int64_t *v = malloc(HS_SEG_ROWS * sizeof *v);
    g_seed = (uint64_t)_i * 7919 + 1;
    for (int pass = 0; pass < 60; pass++) {
        size_t n = pass % 20 ? next_random() % 3000 : HS_SEG_ROWS - next_random() % 200;
        unsigned width = (unsigned)(next_random() % 64), shape = (unsigned)(next_random() % 8);
        uint64_t scale = next_random() % 3 ? 1 : next_random() % 100000 + 1, sum = next_random();
        uint64_t one_in = next_random() % 50 + 1, out_in = next_random() % 200 + 1;
        for (size_t i = 0; i < n; i++) {
            uint64_t x = next_random() >> (63 - width);
            if (shape & 1)
                x = sum += x;
            if (shape & 2 && i && next_random() % one_in)
                x = (uint64_t)v[i - 1];
            if (shape & 4 && next_random() % out_in == 0)
                x = next_random() % 2 ? next_random() : (uint64_t)INT64_MIN;
            v[i] = (int64_t)(shape & 2 ? x : x * scale);
        }
        round_trip(v, n, NULL);
    }
    free(v);
}
END_TEST

/* Cut blobs, flipped bits and noise are refused or give numbers; sanitizers watch the bounds. */
START_TEST(hostile_bytes_do_no_harm)
{
    struct hs_encoder *e = hs_encoder_new();
    struct hs_err err = HS_ERR_INIT;
    int64_t min, max, *v = malloc(2000 * sizeof *v), *out = malloc(HS_SEG_ROWS * sizeof *out);
    g_seed = (uint64_t)_i * 104729 + 3;
    for (int pass = 0; pass < 300; pass++) {
        struct hs_buf b = HS_BUF_INIT(1 << 20);
        size_t n = next_random() % 2000;
        unsigned shape = (unsigned)(next_random() % 6);
        for (size_t i = 0; i < n; i++)
            v[i] = shape == 0   ? (int64_t)next_random()
                   : shape == 1 ? (int64_t)(i / 50)
                   : shape == 2 ? (int64_t)(next_random() % 5 * UINT64_C(0x123456789abcdef))
                   : shape == 3 ? (next_random() % 3 ? HS_NO_VALUE : (int64_t)(next_random() % 9))
                   : shape == 4 ? (int64_t)(i * 1000 + next_random() % 7 * 1000)
                                : (int64_t)(next_random() % 60 ? next_random() % 30 : next_random());
        hs_encode(e, v, n, &b, &min, &max);
        for (int k = 0; k < 30; k++) {
            size_t len = next_random() % 4 ? b.n : next_random() % (b.n + 1);
            char *copy = malloc(len + 1);
            memcpy(copy, b.p, len);
            for (uint64_t f = next_random() % 4; len && f; f--)
                copy[next_random() % (next_random() % 2 && len > 24 ? 24 : len)] ^= (char)(1u << next_random() % 8);
            char *exact = malloc(len ? len : 1);
            memcpy(exact, copy, len);
            hs_decode(exact, len, out, next_random() % 8 ? n : next_random() % HS_SEG_ROWS, &err);
            hs_decode_count(exact, len);
            free(exact);
            free(copy);
        }
        hs_buf_free(&b);
        char noise[64];
        for (size_t i = 0; i < sizeof noise; i++)
            noise[i] = (char)next_random();
        noise[0] &= 0x37;
        hs_decode(noise, sizeof noise, out, next_random() % 300, &err);
    }
    free(v);
    free(out);
    hs_encoder_free(e);
}
END_TEST

START_TEST(a_cut_blob_is_refused)
{
    struct hs_encoder *e = hs_encoder_new();
    struct hs_err err = HS_ERR_INIT;
    struct hs_buf b = HS_BUF_INIT(1 << 20);
    int64_t min, max, v[500], out[500];
    for (size_t i = 0; i < 500; i++)
        v[i] = (int64_t)(next_random() % 1000);
    hs_encode(e, v, 500, &b, &min, &max);
    for (size_t len = 0; len < b.n; len++)
        ck_assert_int_eq(hs_decode(b.p, len, out, 500, &err), HS_EINPUT);
    ck_assert_int_eq(hs_decode(b.p, b.n, out, 499, &err), HS_EINPUT);
    ck_assert_int_eq(hs_decode(b.p, b.n, out, 500, &err), HS_OK);
    hs_buf_free(&b);
    hs_encoder_free(e);
}
END_TEST

HS_SUITE(store_codec)
{
    HS_TEST(widths_pack_and_unpack);
    HS_TEST(empty_single_and_constant);
    HS_TEST(layouts_are_found);
    HS_TEST(steady_acceleration_needs_few_bits);
    HS_TEST(extremes_wrap);
    HS_LOOP_TEST(random_columns_round_trip, 0, 8);
    HS_LOOP_TEST(hostile_bytes_do_no_harm, 0, 4);
    HS_TEST(a_cut_blob_is_refused);
}
