/* base: errors, memory with ceilings, interner, queue, pool, JSON writer. Expected values by hand. */
#include "base/intern.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/thread.h"
#include "tests/unit/test.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- err ---- */

START_TEST(an_error_is_one_line_with_its_code)
{
    struct hs_err err = HS_ERR_INIT;
    ck_assert_int_eq(hs_fail(&err, HS_EINPUT, "bad\nname %d", 7), HS_EINPUT);
    ck_assert_str_eq(err.text, "bad name 7");
    ck_assert_int_eq(hs_err_prefix(&err, "a.json"), HS_EINPUT);
    ck_assert_str_eq(err.text, "a.json: bad name 7");
    ck_assert_int_eq(hs_fail(NULL, HS_EUSAGE, "no one listens"), HS_EUSAGE);
    ck_assert_int_eq(hs_exit_status(HS_ELIMIT), 1);
    ck_assert_int_eq(hs_exit_status(HS_ENOSPACE), 3);
}
END_TEST

/* ---- memory ---- */

START_TEST(a_buffer_stops_at_its_ceiling_and_stays_whole)
{
    struct hs_buf b = HS_BUF_INIT(8);
    hs_buf_puts(&b, "12345678");
    ck_assert(!b.full);
    hs_buf_putc(&b, '9');
    ck_assert(b.full);
    hs_buf_clear(&b);
    hs_buf_puts(&b, "1234567");
    hs_buf_puts(&b, "89"); /* does not fit: dropped whole, not cut */
    hs_buf_puts(&b, "x");  /* and so is what follows, though it would fit */
    ck_assert_str_eq(b.p, "1234567");
    struct hs_err err = HS_ERR_INIT;
    ck_assert_int_eq(hs_buf_check(&b, "the answer", &err), HS_ELIMIT);
    hs_buf_free(&b);
}
END_TEST

START_TEST(integers_print_at_both_ends_of_their_range)
{
    struct hs_buf b = HS_BUF_INIT(100);
    hs_buf_put_i64(&b, INT64_MIN);
    hs_buf_putc(&b, ' ');
    hs_buf_put_i64(&b, INT64_MAX);
    hs_buf_putc(&b, ' ');
    hs_buf_put_i64(&b, 0);
    ck_assert_str_eq(b.p, "-9223372036854775808 9223372036854775807 0");
    hs_buf_free(&b);
}
END_TEST

START_TEST(an_array_and_an_arena_have_ceilings)
{
    struct {
        HS_VEC(int);
    } v = HS_VEC_INIT(3);
    ck_assert(hs_vec_push(&v, 1) && hs_vec_push(&v, 2) && hs_vec_push(&v, 3));
    ck_assert(!hs_vec_push(&v, 4));
    ck_assert_uint_eq(v.n, 3);
    hs_vec_free(&v);
    struct hs_arena a = HS_ARENA_INIT(1 << 20);
    char *p = hs_arena_dup(&a, "ab\0c", 4);
    ck_assert_int_eq(memcmp(p, "ab\0c", 5), 0);
    ck_assert(hs_arena_alloc(&a, 200 * 1024)); /* larger than a block */
    ck_assert_ptr_eq(hs_arena_alloc(&a, 1 << 20), NULL);
    ck_assert_ptr_eq(hs_arena_alloc(&a, SIZE_MAX), NULL);
    hs_arena_free(&a);
}
END_TEST

/* ---- interner ---- */

START_TEST(equal_bytes_get_one_id_in_order_of_appearance)
{
    struct hs_intern in;
    hs_intern_init(&in, 100000, 1 << 24);
    ck_assert_uint_eq(hs_intern_add(&in, "", 0), 0);
    ck_assert_uint_eq(hs_intern_add(&in, "a\0b", 3), 1);
    ck_assert_uint_eq(hs_intern_add(&in, "a\0c", 3), 2);
    ck_assert_uint_eq(hs_intern_add(&in, "a\0b", 3), 1);
    ck_assert_uint_eq(hs_intern_find(&in, "zz", 2), HS_NO_SYM);
    char t[16];
    for (int i = 0; i < 50000; i++) { /* through several growths of the table */
        int n = snprintf(t, sizeof t, "name%d", i);
        ck_assert_uint_eq(hs_intern_add(&in, t, (size_t)n), (uint32_t)i + 3);
    }
    for (int i = 0; i < 50000; i += 997) {
        int n = snprintf(t, sizeof t, "name%d", i);
        ck_assert_uint_eq(hs_intern_find(&in, t, (size_t)n), (uint32_t)i + 3);
        ck_assert(hs_str_is(hs_intern_str(&in, (uint32_t)i + 3), t));
    }
    hs_intern_free(&in);
}
END_TEST

START_TEST(the_interner_has_ceilings_of_count_and_bytes)
{
    struct hs_intern in;
    hs_intern_init(&in, 2, 1 << 20);
    ck_assert_uint_eq(hs_intern_add(&in, "a", 1), 1);
    ck_assert_uint_eq(hs_intern_add(&in, "b", 1), HS_NO_SYM);
    ck_assert_uint_eq(hs_intern_add(&in, "a", 1), 1); /* what is there is still found */
    hs_intern_free(&in);
    hs_intern_init(&in, 1000, 64);
    char big[100] = {0};
    ck_assert_uint_eq(hs_intern_add(&in, big, sizeof big), HS_NO_SYM);
    hs_intern_free(&in);
}
END_TEST

/* ---- threads ---- */

struct feed {
    struct hs_queue q;
    int n;
};

static void *produce(void *arg)
{
    struct feed *f = arg;
    for (intptr_t i = 1; i <= f->n; i++)
        if (!hs_queue_put(&f->q, (void *)i))
            return NULL;
    hs_queue_close(&f->q);
    return NULL;
}

START_TEST(a_queue_keeps_order_and_bounds)
{
    struct feed f = {.n = 10000};
    hs_queue_init(&f.q, 3);
    pthread_t t;
    pthread_create(&t, NULL, produce, &f);
    intptr_t want = 1;
    for (void *item; (item = hs_queue_get(&f.q)); want++)
        ck_assert_int_eq((intptr_t)item, want);
    ck_assert_int_eq(want, 10001);
    pthread_join(t, NULL);
    hs_queue_destroy(&f.q);
}
END_TEST

START_TEST(an_aborted_queue_wakes_a_blocked_producer)
{
    struct feed f = {.n = 1000};
    hs_queue_init(&f.q, 2);
    pthread_t t;
    pthread_create(&t, NULL, produce, &f);
    ck_assert_ptr_nonnull(hs_queue_get(&f.q));
    hs_queue_abort(&f.q);
    pthread_join(t, NULL);
    ck_assert_ptr_null(hs_queue_get(&f.q));
    int left = 0;
    while (hs_queue_try_get(&f.q))
        left++;
    ck_assert_int_le(left, 2);
    hs_queue_destroy(&f.q);
}
END_TEST

static void count_up(void *arg)
{
    atomic_fetch_add((atomic_int *)arg, 1);
}

START_TEST(a_pool_runs_all_it_accepted)
{
    atomic_int n = 0;
    struct hs_pool *p = hs_pool_new(3, 100);
    int accepted = 0;
    for (int i = 0; i < 50; i++)
        accepted += hs_pool_submit(p, count_up, &n);
    hs_pool_free(p);
    ck_assert_int_eq(accepted, 50);
    ck_assert_int_eq(atomic_load(&n), 50);
}
END_TEST

/* ---- JSON ---- */

START_TEST(json_is_nested_and_separated)
{
    struct hs_buf b = HS_BUF_INIT(1000);
    struct hs_json j = HS_JSON_INIT(&b);
    hs_json_obj(&j);
    hs_json_key(&j, "a");
    hs_json_arr(&j);
    hs_json_i64(&j, 1);
    hs_json_null(&j);
    hs_json_bool(&j, true);
    hs_json_end(&j);
    hs_json_key(&j, "b");
    hs_json_obj(&j);
    hs_json_end(&j);
    hs_json_key(&j, "c");
    hs_json_cstr(&j, "x");
    hs_json_end(&j);
    ck_assert_str_eq(b.p, "{\"a\":[1,null,true],\"b\":{},\"c\":\"x\"}");
    hs_buf_free(&b);
}
END_TEST

static const struct {
    double v;
    const char *text;
} reals[] = {{0.1, "0.1"},       {1e300, "1e+300"},  {1.0 / 3, "0.3333333333333333"}, {5, "5"}, {NAN, "null"},
             {INFINITY, "null"}, {-INFINITY, "null"}};

START_TEST(doubles_read_back_the_same_and_never_as_nan)
{
    struct hs_buf b = HS_BUF_INIT(1000);
    struct hs_json j = HS_JSON_INIT(&b);
    hs_json_f64(&j, reals[_i].v);
    ck_assert_str_eq(b.p, reals[_i].text);
    hs_buf_free(&b);
}
END_TEST

static const struct {
    int64_t v;
    const char *us, *json;
} ints[] = {{0, "0", "0"},
            {1234567, "1234.567", "1234567"},
            {-5, "-0.005", "-5"},
            {1500, "1.5", "1500"},
            {9007199254740992, "9007199254740.992", "9007199254740992"},
            {9007199254740993, "9007199254740.993", "\"9007199254740993\""}, /* 2^53 + 1: a double would lose it */
            {INT64_MIN, "-9223372036854775.808", "\"-9223372036854775808\""}};

START_TEST(times_are_exact_and_large_integers_are_text)
{
    struct hs_buf b = HS_BUF_INIT(1000);
    hs_put_us(&b, ints[_i].v);
    ck_assert_str_eq(b.p, ints[_i].us);
    hs_buf_clear(&b);
    struct hs_json j = HS_JSON_INIT(&b);
    hs_json_i64(&j, ints[_i].v);
    ck_assert_str_eq(b.p, ints[_i].json);
    hs_buf_free(&b);
}
END_TEST

#define BAD "\xef\xbf\xbd" /* U+FFFD */
static const struct {
    struct hs_str in;
    const char *out;
} texts[] = {
    {{"a\"b\\c\n\t\x01", 8}, "\"a\\\"b\\\\c\\n\\t\\u0001\""},
    {{"</script>&", 10}, "\"\\u003c/script\\u003e\\u0026\""},
    {{"\xc3\xa9\xf0\x9f\x9a\x80", 6}, "\"\xc3\xa9\xf0\x9f\x9a\x80\""}, /* é and an emoji pass */
    {{"\xff\xfe", 2}, "\"" BAD BAD "\""},
    {{"\xed\xa0\x80", 3}, "\"" BAD BAD BAD "\""}, /* a surrogate in UTF-8 */
    {{"\xc0\xaf", 2}, "\"" BAD BAD "\""},         /* overlong slash */
    {{"\xe2\x82", 2}, "\"" BAD BAD "\""},         /* cut */
    {{"\0x", 2}, "\"\\u0000x\""},
};

START_TEST(text_is_valid_utf8_and_safe_in_html)
{
    struct hs_buf b = HS_BUF_INIT(1000);
    hs_json_quote(&b, texts[_i].in);
    ck_assert_str_eq(b.p, texts[_i].out);
    hs_buf_free(&b);
}
END_TEST

HS_SUITE(base)
{
    HS_TEST(an_error_is_one_line_with_its_code);
    HS_TEST(a_buffer_stops_at_its_ceiling_and_stays_whole);
    HS_TEST(integers_print_at_both_ends_of_their_range);
    HS_TEST(an_array_and_an_arena_have_ceilings);
    HS_TEST(equal_bytes_get_one_id_in_order_of_appearance);
    HS_TEST(the_interner_has_ceilings_of_count_and_bytes);
    HS_TEST(a_queue_keeps_order_and_bounds);
    HS_TEST(an_aborted_queue_wakes_a_blocked_producer);
    HS_TEST(a_pool_runs_all_it_accepted);
    HS_TEST(json_is_nested_and_separated);
    HS_LOOP_TEST(doubles_read_back_the_same_and_never_as_nan, 0, sizeof reals / sizeof reals[0]);
    HS_LOOP_TEST(times_are_exact_and_large_integers_are_text, 0, sizeof ints / sizeof ints[0]);
    HS_LOOP_TEST(text_is_valid_utf8_and_safe_in_html, 0, sizeof texts / sizeof texts[0]);
}
