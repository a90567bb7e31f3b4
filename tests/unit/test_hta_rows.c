/* What HTA keeps of a trace, how it rounds, links, aligns and filters; by hand from HTA's documented behaviour. */
#include "analysis/hta_rows.h"
#include "tests/unit/hta_fixture.h"
#include "tests/unit/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct loaded {
    struct hta_fixture f;
    struct hta_trace *t;
    struct hs_table notes;
};

static const struct hta_rank *load(struct loaded *l, const char *text, enum hta_load how)
{
    struct hs_err err = HS_ERR_INIT;
    hta_open(&l->f, 1, text);
    hs_table_init(&l->notes, NULL, 0);
    ck_assert_int_eq(hta_load(&l->t, l->f.run, how, &l->notes, &err), 0);
    return l->t->n ? &l->t->ranks[0] : NULL;
}

static void unload(struct loaded *l)
{
    hta_free(l->t);
    hs_table_free(&l->notes);
    hta_close(&l->f);
}

START_TEST(nanoseconds_as_the_text_reads)
{
    uint64_t x = 88172645463325252u;
    for (int i = 0; i < 200000; i++) {
        char text[40];
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        int64_t ns = (int64_t)(x >> (1 + x % 50));
        snprintf(text, sizeof text, "%lld.%03lld", (long long)(ns / 1000), (long long)(ns % 1000));
        ck_assert_msg(hta_us_of_ns(ns) == strtod(text, NULL), "%s", text);
        ck_assert_msg(hta_us_of_ns(-ns) == -strtod(text, NULL), "-%s", text);
    }
}
END_TEST

/* ts 10.2 + 0.5: the start goes up to 11, the end down to 10, and -1 µs is left. */
START_TEST(fractions_are_rounded_inwards)
{
    struct loaded l;
    const struct hta_rank *r = load(&l, TRACE(OP("a", "10.2", "0.5") "," OP("b", "20", "3.9")), HTA_PARSE_ONLY);
    ck_assert_uint_eq(r->n, 2);
    ck_assert_int_eq(r->rows[0].ts, 11);
    ck_assert(r->rows[0].dur == -1 && r->rows[0].end == 10);
    ck_assert_int_eq(r->rows[1].ts, 20);
    ck_assert(r->rows[1].dur == 3);
    unload(&l);
}
END_TEST

START_TEST(whole_starts_are_not_rounded)
{
    struct loaded l;
    const struct hta_rank *r = load(&l, TRACE(OP("a", "10", "0.5")), HTA_PARSE_ONLY);
    ck_assert(r->rows[0].dur == 0.5 && r->rows[0].end == 10.5);
    unload(&l);
}
END_TEST

START_TEST(a_missing_start_rounds_the_others)
{
    struct loaded l;
    const struct hta_rank *r = load(
        &l, TRACE("{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1}," OP("a", "10", "0.5")), HTA_PARSE_ONLY);
    ck_assert_uint_eq(r->n, 1);
    ck_assert(r->rows[0].dur == 0);
    ck_assert_uint_eq(r->rows[0].index, 1);
    unload(&l);
}
END_TEST

/* Kept: any phase with dur and cat; not: no dur, dur null, no cat, cat Trace. */
START_TEST(what_is_kept)
{
    struct loaded l;
    const struct hta_rank *r =
        load(&l,
             TRACE("{\"ph\": \"i\", \"cat\": \"c\", \"name\": \"kept\", \"ts\": 1, \"dur\": 2},"
                   "{\"ph\": \"X\", \"cat\": \"c\", \"name\": \"x\", \"ts\": 1},"
                   "{\"ph\": \"X\", \"cat\": \"c\", \"name\": \"x\", \"ts\": 1, \"dur\": null},"
                   "{\"ph\": \"X\", \"name\": \"x\", \"ts\": 1, \"dur\": 2},"
                   "{\"ph\": \"X\", \"cat\": \"Trace\", \"name\": \"x\", \"ts\": 1, \"dur\": 2}"),
             HTA_PARSE_ONLY);
    ck_assert_uint_eq(r->n, 1);
    ck_assert_uint_eq(r->rows[0].index, 0);
    unload(&l);
}
END_TEST

#define STREAM(value) EVENT("c", "n", "1", "1", "1", "1", "\"stream\": " value)
START_TEST(streams_as_python_reads_them)
{
    static const int64_t want[] = {7, 7, 8, 100, -1, -1, -1, 4294967295, 7, -1};
    struct loaded l;
    const struct hta_rank *r = load(
        &l,
        TRACE(STREAM("7") "," STREAM("\"7\"") "," STREAM("\" 8 \"") "," STREAM("\"1e2\"") "," STREAM("null") "," STREAM(
            "\"0x0\"") "," STREAM("\"default\"") "," STREAM("4294967295") "," STREAM("7.9") "," OP("n", "1", "1")),
        HTA_PARSE_ONLY);
    ck_assert_uint_eq(r->n, sizeof want / sizeof want[0]);
    for (size_t i = 0; i < r->n; i++)
        ck_assert_int_eq(r->rows[i].stream, want[i]);
    unload(&l);
}
END_TEST

/* One launch, two kernels: it knows the last one only; both know it. Event 0 can be no partner: 0 says unknown. */
START_TEST(partners_by_correlation)
{
    struct loaded l;
    const struct hta_rank *r =
        load(&l,
             TRACE(CALL("cudaLaunchKernel", "1", "1", "4") "," CALL("cudaGraphLaunch", "2", "1", "5") "," KERNEL(
                 "a", "7", "3", "1", "5") "," KERNEL("b", "7", "5", "1",
                                                     "5") "," KERNEL("c", "7", "7", "1",
                                                                     "4") "," KERNEL("d", "7", "9", "1",
                                                                                     "6") "," OP("o", "1", "1")),
             HTA_PARSE_ONLY);
    static const int64_t want[] = {4, 3, 1, 1, 0, 0, -1};
    for (size_t i = 0; i < 7; i++)
        ck_assert_int_eq(r->rows[i].icorr, want[i]);
    ck_assert(!r->rows[0].gpu && r->rows[2].gpu && !r->rows[6].gpu);
    unload(&l);
}
END_TEST

/* The last step of the file that holds a start wins; kernels take their launch's; stream 0 has none. */
START_TEST(iterations)
{
    struct loaded l;
    const struct hta_rank *r = load(
        &l,
        TRACE(
            NOTE("ProfilerStep#2", "100", "100") "," NOTE("ProfilerStep #1", "0", "120") "," OP("a", "110", "1") "," OP(
                "b", "150", "1") "," OP("c", "300", "1") "," CALL("cudaLaunchKernel", "160", "1",
                                                                  "9") "," KERNEL("k", "7", "500", "1",
                                                                                  "9") "," KERNEL("z", "0", "501", "1",
                                                                                                  "9")),
        HTA_PARSE_ONLY);
    static const int64_t want[] = {1, 1, 1, 2, -1, 2, 2, HTA_NO_ITER};
    for (size_t i = 0; i < 8; i++)
        ck_assert_int_eq(r->rows[i].iter, want[i]);
    ck_assert_int_eq(l.t->steps, 1); /* "ProfilerStep #1" does not count here */
    unload(&l);
}
END_TEST

/* Two steps: the last one goes, with what starts in it; kernels come first, by correlation, once for every CPU row that
 * has it; a kernel whose launch is not kept is gone. */
START_TEST(the_filter)
{
    struct loaded l;
    const struct hta_rank *r = load(
        &l,
        TRACE(NOTE("ProfilerStep#1", "1000", "100") "," NOTE("ProfilerStep#2", "1100", "100") "," OP("a", "1010", "1") "," OP("late", "1100", "1") "," CALL(
            "cudaLaunchKernel", "1020",
            "1",
            "5") "," CALL("cudaGraphLaunch", "1030", "1",
                          "6") "," CALL("again", "1040", "1",
                                        "6") "," CALL("cudaLaunchKernel", "1150", "1",
                                                      "8") "," KERNEL("g1", "7", "1050", "1",
                                                                      "6") "," KERNEL("k", "7", "1060", "1",
                                                                                      "5") "," KERNEL("g2", "7", "1070",
                                                                                                      "1",
                                                                                                      "6") "," KERNEL("orphan",
                                                                                                                      "7",
                                                                                                                      "1080",
                                                                                                                      "1",
                                                                                                                      "77") "," KERNEL("next",
                                                                                                                                       "7",
                                                                                                                                       "1170",
                                                                                                                                       "1",
                                                                                                                                       "8")),
        HTA_LOAD);
    static const uint32_t want[] = {8, 8, 10, 10, 9, 0, 2, 4, 5, 6};
    ck_assert_uint_eq(r->n, sizeof want / sizeof want[0]);
    for (size_t i = 0; i < r->n; i++)
        ck_assert_uint_eq(r->rows[i].index, want[i]);
    ck_assert_int_eq(r->rows[5].ts, 0); /* aligned */
    ck_assert(r->rows[5].end == 1100);  /* absolute */
    ck_assert_ptr_null(hta_at(r, 11));
    unload(&l);
}
END_TEST

START_TEST(one_step_filters_nothing)
{
    struct loaded l;
    const struct hta_rank *r =
        load(&l, TRACE(NOTE("ProfilerStep#1", "0", "10") "," KERNEL("orphan", "7", "50", "1", "77")), HTA_LOAD);
    ck_assert_uint_eq(r->n, 2);
    unload(&l);
}
END_TEST

/* Nothing but the text decides: the first "rank" with a blank and a number behind its colon. */
START_TEST(the_rank_in_the_text)
{
    static const struct {
        const char *text;
        int64_t rank;
    } want[] = {
        {RANK("7", OP("a", "1", "1")), 7},
        {"{\"distributedInfo\":{\"rank\":5},\"traceEvents\":[" OP("a", "1", "1") "]}", 0},
        {"{\"traceEvents\": [" EVENT("c", "a", "1", "1", "1", "1",
                                     "\"rank\": 9") "], \"distributedInfo\": {\"rank\": 5}}",
         9},
        {"{\"traceEvents\": [" EVENT("c", "a", "1", "1", "1", "1",
                                     "\"rank\": \"9\"") "], \"distributedInfo\": {\"rank\": 5}}",
         5},
        {"{\"rank\": 3, \"traceEvents\": [" OP("a", "1", "1") "]}", 3},
        {"{\"x\": {\"y\": [{\"rank\":\t12}]}, \"traceEvents\": [" OP("a", "1", "1") "]}", 12},
        {"{\"traceEvents\": [" EVENT("c", "a", "1", "1", "1", "1", "\"n\": {\"rank\": 4}") "]}", 4},
        {TRACE(OP("\\\"rank\\\": 6", "1", "1")), 0},
    };
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        struct loaded l;
        const struct hta_rank *r = load(&l, want[i].text, HTA_LOAD);
        ck_assert_msg(r->rank == want[i].rank, "%s: %lld", want[i].text, (long long)r->rank);
        unload(&l);
    }
}
END_TEST

START_TEST(one_file_a_rank)
{
    struct hta_fixture f;
    hta_open(&f, 2, RANK("0", KERNEL("first", "7", "0", "5", "1")), RANK("0", KERNEL("second", "7", "0", "5", "1")));
    struct hs_table t = hta_ask(&f, "kernels", "");
    expect_text(&t, "name", 1, "first");
    ck_assert(hta_noted(&t, "only one file"));
    hs_table_free(&t);
    hta_close(&f);
}
END_TEST

HS_SUITE(hta_rows)
{
    HS_TEST(nanoseconds_as_the_text_reads);
    HS_TEST(fractions_are_rounded_inwards);
    HS_TEST(whole_starts_are_not_rounded);
    HS_TEST(a_missing_start_rounds_the_others);
    HS_TEST(what_is_kept);
    HS_TEST(streams_as_python_reads_them);
    HS_TEST(partners_by_correlation);
    HS_TEST(iterations);
    HS_TEST(the_filter);
    HS_TEST(one_step_filters_nothing);
    HS_TEST(the_rank_in_the_text);
    HS_TEST(one_file_a_rank);
}
