/* multipart/form-data, in every cut of the body. */
#include "http/multipart.h"

#include "tests/unit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct seen { /* "[field|file]data;" of each part, as text */
    char text[4096];
    size_t n, data, fed;
};

static void put(struct seen *s, const char *p, size_t n)
{
    ck_assert_uint_lt(s->n + n, sizeof s->text);
    memcpy(s->text + s->n, p, n);
    s->n += n;
    s->text[s->n] = 0;
}

static int begin(void *ctx, const char *field, const char *file, struct hs_err *err)
{
    (void)err;
    struct seen *s = ctx;
    put(s, "[", 1);
    put(s, field, strlen(field));
    put(s, "|", 1);
    put(s, file ? file : "-", strlen(file ? file : "-"));
    put(s, "]", 1);
    return HS_OK;
}

static int data(void *ctx, const char *p, size_t n, struct hs_err *err)
{
    (void)err;
    struct seen *s = ctx;
    s->data += n;
    put(s, p, n);
    return HS_OK;
}

static int end(void *ctx, struct hs_err *err)
{
    (void)err;
    put(ctx, ";", 1);
    return HS_OK;
}

/* Feeds the body in pieces of `step`; the promise about room is checked at every piece. */
static int parse(const char *type, const char *body, size_t n, size_t step, struct seen *s)
{
    struct hs_multipart m;
    struct hs_multipart_sink sink = {begin, data, end, s};
    struct hs_err err = HS_ERR_INIT;
    *s = (struct seen){0};
    int rc = hs_multipart_init(&m, type, &sink, &err);
    if (rc)
        return rc;
    for (size_t i = 0; i < n && !rc; i += step) {
        size_t k = n - i < step ? n - i : step, before = s->data;
        rc = hs_multipart_feed(&m, body + i, k, &err);
        ck_assert_uint_le(s->data - before, k + HS_MULTIPART_HELD);
    }
    if (!rc)
        rc = hs_multipart_finish(&m, &err);
    hs_multipart_free(&m);
    return rc;
}

#define TYPE "multipart/form-data; charset=utf-8; boundary=\"xYz-7\""

/* Data that looks like delimiters, empty data, quoted and odd names, preamble and epilogue. */
static const char body[] = "preamble\r\n--xYz-7\r\n"
                           "Content-Disposition: form-data; name=\"run\"\r\n\r\n"
                           "monday\r\n"
                           "--xYz-7  \r\n"
                           "content-disposition: form-data; filename=\"a;\\\"b\\\".json\"; name=\"f\"\r\n"
                           "Content-Type: application/json\r\n\r\n"
                           "\r\n\r\r\n--xYz\r\n--xYz-\r\r\n-x\r\n\n\r\n"
                           "--xYz-7\r\n"
                           "Content-Disposition: form-data; name=f; filename=\"\"\r\n\r\n"
                           "\r\n"
                           "--xYz-7--\r\nepilogue --xYz-7 \r\n--xYz-7\r\n";
static const char expected[] = "[run|-]monday;"
                               "[f|a;\"b\".json]\r\n\r\r\n--xYz\r\n--xYz-\r\r\n-x\r\n\n;"
                               "[f|];";

START_TEST(every_cut_gives_the_same_parts)
{
    struct seen s;
    for (size_t step = 1; step <= sizeof body; step++) {
        ck_assert_int_eq(parse(TYPE, body, sizeof body - 1, step, &s), HS_OK);
        ck_assert_str_eq(s.text, expected);
    }
}
END_TEST

START_TEST(a_body_may_begin_with_its_delimiter)
{
    static const char plain[] = "--b\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n1\r\n--b--";
    struct seen s;
    ck_assert_int_eq(parse("multipart/form-data; boundary=b", plain, sizeof plain - 1, 3, &s), HS_OK);
    ck_assert_str_eq(s.text, "[x|-]1;");
    ck_assert_int_eq(parse("multipart/form-data; boundary=b", "--b--", 5, 1, &s), HS_OK);
    ck_assert_str_eq(s.text, "");
}
END_TEST

START_TEST(a_cut_body_is_told)
{
    struct seen s;
    size_t last = (size_t)(strstr(body, "--xYz-7--") - body) + 8; /* short of the second closing dash */
    for (size_t n = 0; n <= last; n++)
        ck_assert_int_eq(parse(TYPE, body, n, 7, &s), HS_EINPUT);
}
END_TEST

static const char *const bad_types[] = {
    "multipart/form-data",
    "multipart/form-data; boundary=",
    "multipart/form-data; boundary=\"\"",
    "multipart/form-data; boundary=12345678901234567890123456789012345678901234567890123456789012345678901",
    "multipart/form-data; oundary=x",
    "multipart/form-data; x=\"abc", /* a quote that nobody closes, at the text's very end */
    "multipart/form-data; x=\"abc\\",
};

START_TEST(bad_boundaries_are_refused)
{
    struct seen s;
    ck_assert_int_eq(parse(bad_types[_i], "", 0, 1, &s), HS_EUSAGE);
}
END_TEST

START_TEST(endless_headers_are_refused)
{
    char *big = malloc(200000);
    struct seen s;
    strcpy(big, "--b\r\nX: ");
    memset(big + strlen("--b\r\nX: "), 'a', 100000);
    ck_assert_int_eq(parse("multipart/form-data; boundary=b", big, 100000, 999, &s), HS_EINPUT);
    strcpy(big, "--b\r\n");
    for (int i = 0; i < 1000; i++)
        strcat(big, "X: y\r\n");
    ck_assert_int_eq(parse("multipart/form-data; boundary=b", big, strlen(big), 999, &s), HS_EINPUT);
    free(big);
}
END_TEST

START_TEST(random_bytes_never_harm)
{
    unsigned seed = 12345;
    char junk[600];
    struct seen s;
    for (int round = 0; round < 2000; round++) {
        static const char alphabet[] = "\r\n-bX:; =\"\\Content-Disposition";
        for (size_t i = 0; i < sizeof junk; i++) {
            seed = seed * 1103515245u + 12345u;
            junk[i] = alphabet[(seed >> 16) % (sizeof alphabet - 1)];
        }
        memcpy(junk, "--b\r\n\r\n", 7);
        parse("multipart/form-data; boundary=b", junk, sizeof junk, 1 + (size_t)round % 97, &s);
    }
}
END_TEST

HS_SUITE(http_multipart)
{
    HS_TEST(every_cut_gives_the_same_parts);
    HS_TEST(a_body_may_begin_with_its_delimiter);
    HS_TEST(a_cut_body_is_told);
    HS_LOOP_TEST(bad_boundaries_are_refused, 0, (int)(sizeof bad_types / sizeof bad_types[0]));
    HS_TEST(endless_headers_are_refused);
    HS_TEST(random_bytes_never_harm);
}
