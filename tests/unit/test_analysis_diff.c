/* diff and diff-ops: two small traces whose differences are counted by hand in the comments. */
#include "analysis/compare.h"
#include "tests/unit/fake_view.h"
#include "tests/unit/json_trace.h"
#include "tests/unit/test.h"

#include <math.h>
#include <string.h>

static struct json_trace base, test;
static struct hs_run *run;

/* Base: a step of 10 us with mm 4 us, in it copy 1 us and a launch of 0.2 us; gemm 3 us on the GPU.
 * Self times: step 6, mm 2.8, copy 1, launch 0.2; together 10.
 * Test: a step of 12 us with mm 6 us, in it two launches of 0.2 us; gemm 3.5 us and relu 0.5 us on the GPU.
 * Self times: step 6, mm 5.6, launches 0.4; together 12. */
static void load(void)
{
    json_trace_begin(&base, 0);
    trace_cpu(&base, "user_annotation", "ProfilerStep#1", 1, 1000, 10000);
    trace_cpu(&base, "cpu_op", "mm", 1, 2000, 4000);
    trace_cpu(&base, "cpu_op", "copy", 1, 3000, 1000);
    trace_launch(&base, "cudaLaunchKernel", 1, 4500, 200, 1);
    trace_kernel(&base, "gemm", 0, 7, 5000, 3000, 1);
    json_trace_begin(&test, 0);
    trace_cpu(&test, "user_annotation", "ProfilerStep#7", 1, 1000, 12000);
    trace_cpu(&test, "cpu_op", "mm", 1, 2000, 6000);
    trace_launch(&test, "cudaLaunchKernel", 1, 4500, 200, 1);
    trace_launch(&test, "cudaLaunchKernel", 1, 4800, 200, 2);
    trace_kernel(&test, "gemm", 0, 7, 5000, 3500, 1);
    trace_kernel(&test, "relu", 0, 7, 9000, 500, 2);
    run = json_trace_load(&base, 1);
    run->other = json_trace_load(&test, 1);
}

static void end(void)
{
    json_trace_end(&base, 1);
    json_trace_end(&test, 1);
}

static void expect_row(const struct hs_table *x, size_t i, const char *side, const char *name, const char *change,
                       int64_t base_ns, int64_t test_ns)
{
    ck_assert_str_eq(table_text(x, i, "side"), side);
    ck_assert_str_eq(table_text(x, i, "name"), name);
    ck_assert_str_eq(table_text(x, i, "change"), change);
    ck_assert_int_eq(table_i64(x, i, "base_us"), base_ns);
    ck_assert_int_eq(table_i64(x, i, "test_us"), test_ns);
    ck_assert_int_eq(table_i64(x, i, "delta_us"), test_ns - base_ns);
}

START_TEST(rows_add_up)
{
    load();
    struct hs_table x = fake_analyze(run, "diff", "");
    ck_assert_uint_eq(x.rows, 6);
    expect_row(&x, 0, "cpu", "mm", "unchanged", 2800, 5600);
    expect_row(&x, 1, "cpu", "copy", "deleted", 1000, 0);
    expect_row(&x, 2, "gpu", "gemm", "unchanged", 3000, 3500);
    expect_row(&x, 3, "gpu", "relu", "added", 0, 500);
    expect_row(&x, 4, "cpu", "cudaLaunchKernel", "increased", 200, 400);
    expect_row(&x, 5, "cpu", "ProfilerStep#*", "unchanged", 6000, 6000);
    ck_assert_double_eq_tol(table_f64(&x, 0, "delta_pct"), 28, 1e-9); /* 2.8 of 10 */
    ck_assert_int_eq(table_i64(&x, 0, "base_total_us"), 4000);
    ck_assert_int_eq(table_i64(&x, 0, "test_total_us"), 6000);
    ck_assert(table_has_note(&x, "CPU threads per step and rank: base 10.000 us, test 12.000 us, difference +2.000"));
    ck_assert(table_has_note(&x, "device work per step and rank: base 3.000 us, test 4.000 us, difference +1.000"));
    ck_assert(table_has_note(&x, "One step has no spread"));
    hs_table_free(&x);
    end();
}
END_TEST

START_TEST(places_in_the_tree)
{
    load();
    struct hs_table x = fake_analyze(run, "diff", "by=position&device_type=GPU");
    ck_assert_uint_eq(x.rows, 2);
    for (size_t i = 0; i < 2; i++)
        ck_assert(!strcmp(table_text(&x, i, "name"), "ProfilerStep#* > mm > cudaLaunchKernel > gemm") ||
                  !strcmp(table_text(&x, i, "name"), "ProfilerStep#* > mm > cudaLaunchKernel > relu"));
    hs_table_free(&x);
    end();
}
END_TEST

/* Base: compute 3 of a span of 3. Test: from 5 to 9.5, compute 3.5 + 0.5, idle 0.5. */
START_TEST(parts_add_up)
{
    load();
    struct hs_table x = fake_analyze(run, "diff", "by=part");
    ck_assert_uint_eq(x.rows, 4);
    ck_assert_str_eq(table_text(&x, 0, "name"), "compute");
    ck_assert_int_eq(table_i64(&x, 0, "delta_us"), 1000);
    ck_assert_int_eq(table_i64(&x, 1, "delta_us"), 0);
    ck_assert_int_eq(table_i64(&x, 2, "delta_us"), 0);
    ck_assert_str_eq(table_text(&x, 3, "name"), "idle");
    ck_assert_int_eq(table_i64(&x, 3, "delta_us"), 500);
    hs_table_free(&x);
    end();
}
END_TEST

START_TEST(ops)
{
    load();
    struct hs_table x = fake_analyze(run, "diff-ops", "device_type=CPU");
    ck_assert_uint_eq(x.rows, 4);
    ck_assert_str_eq(table_text(&x, 0, "name"), "copy");
    ck_assert_str_eq(table_text(&x, 0, "change"), "deleted");
    ck_assert_str_eq(table_text(&x, 1, "name"), "cudaLaunchKernel");
    ck_assert_str_eq(table_text(&x, 1, "change"), "increased");
    ck_assert_double_eq(table_f64(&x, 1, "test_per_step"), 2);
    hs_table_free(&x);
    end();
}
END_TEST

/* Three steps against one: 10 ns of each kind do not divide by three, and still add up. */
START_TEST(shares_of_several_steps_add_up)
{
    json_trace_begin(&base, 0);
    for (int i = 0; i < 3; i++)
        trace_cpu(&base, "user_annotation",
                  i == 0   ? "ProfilerStep#1"
                  : i == 1 ? "ProfilerStep#2"
                           : "ProfilerStep#3",
                  1, 1000 + i * 1000, 900);
    for (int i = 0; i < 4; i++) {
        char name[8] = {(char)('a' + i), 0};
        trace_cpu(&base, "cpu_op", name, 1, 1100 + 20 * i, 10);
    }
    json_trace_begin(&test, 0);
    trace_cpu(&test, "user_annotation", "ProfilerStep#1", 1, 1000, 900);
    run = json_trace_load(&base, 1);
    run->other = json_trace_load(&test, 1);
    struct hs_table x = fake_analyze(run, "diff", "");
    int64_t sum = 0;
    ck_assert_uint_eq(x.rows, 5);
    for (size_t i = 0; i < x.rows; i++)
        sum += table_i64(&x, i, "base_us");
    ck_assert_int_eq(sum, 900); /* 3 * 900 / 3 */
    hs_table_free(&x);
    end();
}
END_TEST

START_TEST(differences_of_the_runs_are_told)
{
    load();
    run->other->ranks[0].rank = 3;
    struct hs_table x = fake_analyze(run, "diff", "");
    ck_assert(table_has_note(&x, "Not comparable: the base has ranks 0, the test 3."));
    hs_table_free(&x);
    run->other = NULL;
    struct hs_err err = HS_ERR_INIT;
    ck_assert_int_eq(fake_analyze_fails(run, "diff", "", &err), HS_EUSAGE);
    end();
}
END_TEST

/* Kernels of step 1 begin at 5 us, of step 2 at 20 us and end at 23 us: steps of 15 and 3 us. */
START_TEST(steps_last_from_work_to_work)
{
    struct hs_params *p;
    struct hs_err err = HS_ERR_INIT;
    struct hs_step_time s;
    json_trace_begin(&base, 0);
    trace_cpu(&base, "user_annotation", "ProfilerStep#1", 1, 1000, 1000);
    trace_launch(&base, "cudaLaunchKernel", 1, 1100, 100, 1);
    trace_cpu(&base, "user_annotation", "ProfilerStep#2", 1, 2000, 1000);
    trace_launch(&base, "cudaLaunchKernel", 1, 2100, 100, 2);
    trace_kernel(&base, "k", 0, 7, 5000, 3000, 1);
    trace_kernel(&base, "k", 0, 7, 20000, 3000, 2);
    run = json_trace_load(&base, 1);
    ck_assert_int_eq(hs_params_new(&p, hs_compare_params, HS_COMPARE_NPARAMS, &err), 0);
    ck_assert_int_eq(hs_compare_step_time(run, p, 0, &s, &err), 0);
    ck_assert_uint_eq(s.n, 2);
    ck_assert_double_eq_tol(s.mean_ns, 9000, 1e-9);
    hs_params_free(p);
    json_trace_end(&base, 1);
}
END_TEST

START_TEST(judgements)
{
    struct hs_step_time b = {3, 100, 0}, t = {3, 110, 0};
    ck_assert_int_eq(hs_compare_judge(&b, &t, 0.05).verdict, HS_OVER);
    ck_assert_int_eq(hs_compare_judge(&b, &t, 0.15).verdict, HS_WITHIN);
    ck_assert_double_eq_tol(hs_compare_judge(&b, &t, 0).change, 0.1, 1e-12);
    t.n = 1;
    ck_assert_int_eq(hs_compare_judge(&b, &t, 0.05).verdict, HS_UNDECIDED);
    /* {100, 120} and {112, 122}: s^2/n = 100 and 25, df = 125^2 / (100^2 + 25^2) = 1.47, t = 6.314,
     * bounds 7/110 -+ 6.314 * sqrt(125) / 110 */
    struct hs_step_time wide = {2, 110, sqrt(200)}, close = {2, 117, sqrt(50)};
    struct hs_judgement j = hs_compare_judge(&wide, &close, 0.05);
    ck_assert_int_eq(j.verdict, HS_UNDECIDED);
    ck_assert_double_eq_tol(j.low, (7 - 6.314 * sqrt(125)) / 110, 1e-9);
    ck_assert_double_eq_tol(j.high, (7 + 6.314 * sqrt(125)) / 110, 1e-9);
}
END_TEST

HS_SUITE(analysis_diff)
{
    HS_TEST(rows_add_up);
    HS_TEST(places_in_the_tree);
    HS_TEST(parts_add_up);
    HS_TEST(ops);
    HS_TEST(shares_of_several_steps_add_up);
    HS_TEST(differences_of_the_runs_are_told);
    HS_TEST(steps_last_from_work_to_work);
    HS_TEST(judgements);
}
