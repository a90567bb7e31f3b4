#include "tests/unit/test.h"
#include "trace/intervals.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 64, SETS = 3 };

static struct hs_spans spans(const int64_t *pairs, size_t n)
{
    struct hs_spans s = HS_SPANS_INIT;
    for (size_t i = 0; i < n; i++)
        hs_spans_push(&s, pairs[2 * i], pairs[2 * i + 1]);
    hs_spans_normalise(&s);
    return s;
}

static void check(const struct hs_spans *s, const int64_t *pairs, size_t n)
{
    ck_assert_uint_eq(s->n, n);
    for (size_t i = 0; i < n; i++) {
        ck_assert_int_eq(s->p[i].start, pairs[2 * i]);
        ck_assert_int_eq(s->p[i].end, pairs[2 * i + 1]);
    }
}

START_TEST(touching_intervals_join_and_order_does_not_matter)
{
    /* [5,9) and [0,5) touch; [20,30) holds [21,22); [40,40) and [9,3) are empty */
    struct hs_spans s = spans((int64_t[]){20, 30, 5, 9, 40, 40, 21, 22, 0, 5, 9, 3}, 6);
    check(&s, (int64_t[]){0, 9, 20, 30}, 2);
    ck_assert_int_eq(hs_spans_length(&s), 19);
    hs_vec_free(&s);
}
END_TEST

START_TEST(a_longer_interval_that_starts_earlier_swallows_its_successors)
{
    struct hs_spans s = spans((int64_t[]){10, 12, 0, 100, 50, 60, 99, 101}, 4);
    check(&s, (int64_t[]){0, 101}, 1);
    hs_vec_free(&s);
}
END_TEST

START_TEST(set_operations_by_hand)
{
    struct hs_spans a = spans((int64_t[]){0, 10, 20, 30}, 2), b = spans((int64_t[]){5, 25, 28, 29, 40, 41}, 3),
                    out = HS_SPANS_INIT;
    hs_spans_union(&a, &b, &out);
    check(&out, (int64_t[]){0, 30, 40, 41}, 2);
    hs_spans_intersect(&a, &b, &out);
    check(&out, (int64_t[]){5, 10, 20, 25, 28, 29}, 3);
    ck_assert_int_eq(hs_spans_overlap(&a, &b), 11);
    hs_spans_subtract(&a, &b, &out);
    check(&out, (int64_t[]){0, 5, 25, 28, 29, 30}, 3);
    hs_vec_free(&a);
    hs_vec_free(&b);
    hs_vec_free(&out);
}
END_TEST

START_TEST(the_ends_of_time_do_not_overflow)
{
    struct hs_spans s = spans((int64_t[]){INT64_MIN, INT64_MAX}, 1);
    int64_t ns[2] = {0};
    ck_assert_int_eq(hs_spans_length(&s), INT64_MAX); /* saturated: the true length is 2^64 - 1 */
    hs_spans_sweep(&s, 1, ns);
    ck_assert_int_eq(ns[1], INT64_MAX);
    ck_assert_int_eq(hs_end_ns(INT64_MAX - 1, 10), INT64_MAX);
    ck_assert_int_eq(hs_end_ns(5, -10), 5);
    ck_assert_int_eq(hs_sub_sat(INT64_MIN, 1), INT64_MIN);
    ck_assert_int_eq(hs_add_sat(INT64_MAX, 1), INT64_MAX);
    hs_vec_free(&s);
}
END_TEST

/* ---- against a painted line ---- */

static bool on(const struct hs_spans *s, int64_t t)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->p[i].start <= t && t < s->p[i].end)
            return true;
    return false;
}

static void check_normal(const struct hs_spans *s)
{
    for (size_t i = 0; i < s->n; i++) {
        ck_assert_int_lt(s->p[i].start, s->p[i].end);
        if (i)
            ck_assert_int_lt(s->p[i - 1].end, s->p[i].start);
    }
}

static struct hs_spans random_spans(unsigned *seed, bool painted[LINE])
{
    struct hs_spans s = HS_SPANS_INIT;
    int n = rand_r(seed) % 12;
    memset(painted, 0, LINE * sizeof *painted);
    for (int i = 0; i < n; i++) {
        int64_t a = rand_r(seed) % LINE, b = a + rand_r(seed) % 10 - 1;
        b = b > LINE ? LINE : b;
        hs_spans_push(&s, a, b);
        for (int64_t t = a; t < b; t++)
            painted[t] = true;
    }
    hs_spans_normalise(&s);
    return s;
}

START_TEST(random_sets_agree_with_a_painted_line)
{
    unsigned seed = (unsigned)_i * 7919u + 1;
    bool paint[SETS][LINE];
    struct hs_spans s[SETS], out = HS_SPANS_INIT;
    int64_t ns[8] = {0}, expected[8] = {0}, both = 0, length = 0;
    for (int k = 0; k < SETS; k++) {
        s[k] = random_spans(&seed, paint[k]);
        check_normal(&s[k]);
    }
    hs_spans_sweep(s, SETS, ns);
    for (int t = 0; t < LINE; t++) {
        ck_assert_int_eq(on(&s[0], t), paint[0][t]);
        length += paint[0][t];
        both += paint[0][t] && paint[1][t];
        expected[paint[0][t] + 2 * paint[1][t] + 4 * paint[2][t]]++;
    }
    ck_assert_int_eq(hs_spans_length(&s[0]), length);
    ck_assert_int_eq(hs_spans_overlap(&s[0], &s[1]), both);
    for (int mask = 1; mask < 8; mask++)
        ck_assert_int_eq(ns[mask], expected[mask]);
    void (*const op[])(const struct hs_spans *, const struct hs_spans *,
                       struct hs_spans *) = {hs_spans_union, hs_spans_intersect, hs_spans_subtract};
    for (int o = 0; o < 3; o++) {
        op[o](&s[0], &s[1], &out);
        check_normal(&out);
        for (int t = 0; t < LINE; t++) {
            bool x = paint[0][t], y = paint[1][t], want = o == 0 ? x || y : o == 1 ? x && y : x && !y;
            ck_assert_int_eq(on(&out, t), want);
        }
    }
    for (int k = 0; k < SETS; k++)
        hs_vec_free(&s[k]);
    hs_vec_free(&out);
}
END_TEST

HS_SUITE(trace_intervals)
{
    HS_TEST(touching_intervals_join_and_order_does_not_matter);
    HS_TEST(a_longer_interval_that_starts_earlier_swallows_its_successors);
    HS_TEST(set_operations_by_hand);
    HS_TEST(the_ends_of_time_do_not_overflow);
    HS_LOOP_TEST(random_sets_agree_with_a_painted_line, 0, 300);
}
