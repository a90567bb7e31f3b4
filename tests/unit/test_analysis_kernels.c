#include "tests/unit/fake_view.h"
#include "tests/unit/test.h"

#include <string.h>

static struct fake f, g;

/* gemm: 10, 20, 60 (sum 90); copy: 6 and 4 (sum 10); nccl: 100 */
static struct hs_run *small(void)
{
    fake_init(&f, 3);
    fake_step(&f, 1, 0, 100);
    fake_step(&f, 2, 100, 1000);
    fake_gpu(&f, (struct fake_row){.ts = 200,
                                   .dur = 60,
                                   .name = "void gemm<float>(int)",
                                   .cls = HS_CLASS_COMPUTE,
                                   .in_step = true,
                                   .step = 1});
    fake_gpu(
        &f,
        (struct fake_row){
            .ts = 0, .dur = 10, .name = "void gemm<float>(int)", .cls = HS_CLASS_COMPUTE, .in_step = true, .step = 0});
    fake_gpu(
        &f,
        (struct fake_row){
            .ts = 20, .dur = 20, .name = "void gemm<float>(int)", .cls = HS_CLASS_COMPUTE, .in_step = true, .step = 0});
    fake_gpu(&f, (struct fake_row){.ts = 300, .dur = 6, .stream = 7, .name = "Memcpy HtoD", .cls = HS_CLASS_MEMCPY});
    fake_gpu(&f, (struct fake_row){.ts = 320, .dur = 4, .stream = 7, .name = "Memcpy HtoD", .cls = HS_CLASS_MEMCPY});
    fake_gpu(&f, (struct fake_row){.ts = 0, .dur = 100, .stream = 9, .name = "ncclDevKernel", .cls = HS_CLASS_COMM});
    return fake_run(&f, 1);
}

START_TEST(statistics_are_over_events)
{
    struct hs_table t = fake_analyze(small(), "kernels", "");
    ck_assert_uint_eq(t.rows, 3); /* longest first: nccl 100, gemm 90, copy 10 */
    ck_assert_str_eq(table_text(&t, 0, "name"), "ncclDevKernel");
    ck_assert_str_eq(table_text(&t, 0, "class"), "communication");
    ck_assert_int_eq(table_i64(&t, 0, "stddev_us"), 0); /* one event */
    ck_assert_str_eq(table_text(&t, 1, "short_name"), "gemm");
    ck_assert_int_eq(table_i64(&t, 1, "rank"), 3);
    ck_assert_int_eq(table_i64(&t, 1, "calls"), 3);
    ck_assert_int_eq(table_i64(&t, 1, "sum_us"), 90);
    ck_assert_int_eq(table_i64(&t, 1, "mean_us"), 30);
    ck_assert_int_eq(table_i64(&t, 1, "min_us"), 10);
    ck_assert_int_eq(table_i64(&t, 1, "max_us"), 60);
    ck_assert_int_eq(table_i64(&t, 1, "stddev_us"), 26); /* deviations -20 -10 30: 1400 / 2, root 26.46 */
    ck_assert_int_eq(table_i64(&t, 1, "p50_us"), 20);
    ck_assert_int_eq(table_i64(&t, 1, "p95_us"), 56);       /* position 1.9: 20 + 0.9 * 40 */
    ck_assert_int_eq(table_i64(&t, 1, "p99_us"), 59);       /* position 1.98: 59.2 */
    ck_assert_double_eq(table_f64(&t, 1, "share_pct"), 45); /* 90 of 200 */
    ck_assert_str_eq(table_text(&t, 2, "class"), "memcpy");
    hs_table_free(&t);
}
END_TEST

START_TEST(filters_leave_the_denominator)
{
    struct hs_table t = fake_analyze(small(), "kernels", "name=^void g");
    ck_assert_uint_eq(t.rows, 1);
    ck_assert_double_eq(table_f64(&t, 0, "share_pct"), 45);
    hs_table_free(&t);
    t = fake_analyze(small(), "kernels", "class=memory");
    ck_assert_uint_eq(t.rows, 1);
    ck_assert_double_eq(table_f64(&t, 0, "share_pct"), 5);
    hs_table_free(&t);
    t = fake_analyze(small(), "kernels", "include_memory_kernels=false");
    ck_assert_uint_eq(t.rows, 2);
    ck_assert_double_eq_tol(table_f64(&t, 1, "share_pct"), 90 / 1.9, 1e-9); /* of 190 */
    hs_table_free(&t);
}
END_TEST

START_TEST(steps_and_windows)
{
    struct hs_table t = fake_analyze(small(), "kernels", "step=1"); /* the two gemms that step 1 launched */
    ck_assert_uint_eq(t.rows, 1);
    ck_assert_int_eq(table_i64(&t, 0, "sum_us"), 30);
    ck_assert_double_eq(table_f64(&t, 0, "share_pct"), 100);
    hs_table_free(&t);
    t = fake_analyze(small(), "kernels", "from=0.02&to=0.301"); /* starts in [20, 301) ns: two gemms, one copy */
    ck_assert_uint_eq(t.rows, 2);
    ck_assert_int_eq(table_i64(&t, 0, "sum_us"), 80);
    ck_assert_int_eq(table_i64(&t, 1, "sum_us"), 6);
    hs_table_free(&t);
    t = fake_analyze(small(), "kernels", "step=77");
    ck_assert_uint_eq(t.rows, 0);
    ck_assert(table_has_note(&t, "none of the steps"));
    hs_table_free(&t);
}
END_TEST

START_TEST(the_window_is_on_the_run_clock)
{
    struct hs_run *run = small();
    run->ranks[0].offset_ns = 1000000;
    struct hs_table t = fake_analyze(run, "kernels", "from=1000.02&to=1000.301");
    ck_assert_uint_eq(t.rows, 2);
    ck_assert_int_eq(table_i64(&t, 0, "sum_us"), 80);
    hs_table_free(&t);
}
END_TEST

START_TEST(others_hold_what_is_left)
{
    /* 100 of 200 reach half of the time: gemm and copy become others, five events: 4 6 10 20 60 */
    struct hs_table t = fake_analyze(small(), "kernels", "duration_ratio=0.5");
    ck_assert_uint_eq(t.rows, 2);
    ck_assert_str_eq(table_text(&t, 1, "name"), "others");
    ck_assert(table_null(&t, 1, "class"));
    ck_assert_int_eq(table_i64(&t, 1, "names"), 2);
    ck_assert_int_eq(table_i64(&t, 1, "calls"), 5);
    ck_assert_int_eq(table_i64(&t, 1, "sum_us"), 100);
    ck_assert_int_eq(table_i64(&t, 1, "min_us"), 4);
    ck_assert_int_eq(table_i64(&t, 1, "max_us"), 60);
    ck_assert_int_eq(table_i64(&t, 1, "p50_us"), 10);
    hs_table_free(&t);
    t = fake_analyze(small(), "kernels", "duration_ratio=0.51"); /* the second name is needed */
    ck_assert_uint_eq(t.rows, 3);
    ck_assert_int_eq(table_i64(&t, 2, "names"), 1);
    hs_table_free(&t);
    t = fake_analyze(small(), "kernels", "num_kernels=1");
    ck_assert_uint_eq(t.rows, 2);
    hs_table_free(&t);
    t = fake_analyze(small(), "kernels", "num_kernels=3");
    ck_assert_uint_eq(t.rows, 3);
    ck_assert_str_eq(table_text(&t, 2, "name"), "Memcpy HtoD");
    hs_table_free(&t);
}
END_TEST

START_TEST(ranks_have_their_own_rows_and_shares)
{
    small();
    fake_init(&g, 5);
    fake_gpu(&g, (struct fake_row){.ts = 0, .dur = 8, .name = "b", .cls = HS_CLASS_COMPUTE});
    fake_gpu(&g, (struct fake_row){.ts = 10, .dur = 8, .name = "a", .cls = HS_CLASS_COMPUTE});
    static struct fake both[2];
    memcpy(&both[0], &f, sizeof f);
    memcpy(&both[1], &g, sizeof g);
    for (int i = 0; i < 2; i++) { /* a copied fake points into the original */
        both[i].view.syms = both[i].syms;
        both[i].view.steps = both[i].steps;
        both[i].view.sum = (struct hs_summary){.gpu_first_ts = HS_NO_VALUE, .gpu_last_end = HS_NO_VALUE};
    }
    struct hs_table t = fake_analyze(fake_run(both, 2), "kernels", "");
    ck_assert_uint_eq(t.rows, 5);
    ck_assert_str_eq(table_text(&t, 3, "name"), "a"); /* equal time: by text */
    ck_assert_double_eq(table_f64(&t, 3, "share_pct"), 50);
    hs_table_free(&t);
    t = fake_analyze(fake_run(both, 2), "kernels", "rank=5-6");
    ck_assert_uint_eq(t.rows, 2);
    ck_assert_int_eq(table_i64(&t, 0, "rank"), 5);
    ck_assert(table_has_note(&t, "no rank 6"));
    hs_table_free(&t);
}
END_TEST

START_TEST(a_trace_without_a_gpu_answers_with_a_reason)
{
    fake_init(&f, 0);
    struct hs_table t = fake_analyze(fake_run(&f, 1), "kernels", "");
    ck_assert_uint_eq(t.rows, 0);
    ck_assert(table_has_note(&t, "no device events"));
    hs_table_free(&t);
}
END_TEST

START_TEST(bad_patterns_are_refused_and_slow_ones_give_up)
{
    struct hs_err err = HS_ERR_INIT;
    ck_assert_int_eq(fake_analyze_fails(small(), "kernels", "name=(", &err), HS_EUSAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "bad pattern at byte 1"));
    fake_init(&f, 0);
    fake_gpu(&f, (struct fake_row){.dur = 1,
                                   .name = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!",
                                   .cls = HS_CLASS_COMPUTE});
    struct hs_table t = fake_analyze(fake_run(&f, 1), "kernels", "name=^(a|aa)+$");
    ck_assert_uint_eq(t.rows, 0);
    ck_assert(table_has_note(&t, "took too long"));
    hs_table_free(&t);
}
END_TEST

START_TEST(a_name_that_is_no_utf8_can_still_match)
{
    fake_init(&f, 0);
    fake_gpu(&f, (struct fake_row){.dur = 1, .name = "k\xff_x", .cls = HS_CLASS_COMPUTE});
    struct hs_table t = fake_analyze(fake_run(&f, 1), "kernels", "name=_x$");
    ck_assert_uint_eq(t.rows, 1);
    hs_table_free(&t);
}
END_TEST

HS_SUITE(analysis_kernels)
{
    HS_TEST(statistics_are_over_events);
    HS_TEST(filters_leave_the_denominator);
    HS_TEST(steps_and_windows);
    HS_TEST(the_window_is_on_the_run_clock);
    HS_TEST(others_hold_what_is_left);
    HS_TEST(ranks_have_their_own_rows_and_shares);
    HS_TEST(a_trace_without_a_gpu_answers_with_a_reason);
    HS_TEST(bad_patterns_are_refused_and_slow_ones_give_up);
    HS_TEST(a_name_that_is_no_utf8_can_still_match);
}
