/* idle-causes and syncs: small traces drawn by hand, and sums that must hold on any. Times in us in the comments, ns in code. */
#include "tests/unit/fake_view.h"
#include "tests/unit/json_trace.h"
#include "tests/unit/test.h"

#include <stdio.h>
#include <string.h>

static struct json_trace t;

static struct hs_table ask(const char *analysis, const char *params)
{
    return fake_analyze(json_trace_load(&t, 1), analysis, params);
}

static size_t row_of(const struct hs_table *x, const char *column, const char *value)
{
    for (size_t i = 0; i < x->rows; i++)
        if (!strcmp(table_text(x, i, column), value))
            return i;
    ck_abort_msg("there is no row with %s = %s", column, value);
    return 0;
}

static void cause(const struct hs_table *x, const char *word, int64_t idle, int64_t gaps)
{
    size_t i = row_of(x, "cause", word);
    ck_assert_msg(table_i64(x, i, "idle_us") == idle, "%s: %lld, not %lld", word, (long long)table_i64(x, i, "idle_us"),
                  (long long)idle);
    ck_assert_int_eq(table_i64(x, i, "gaps"), gaps);
}

/* CPU       |launch A|         |DataLoader next 15 -- 40|item 40-48 (sync 42-46)|cudaMalloc 48-60|op 60-75 (launch B 70-72)|
 * stream 7     |A 5-20|                                                                                |B 80-90|
 * The gap is 20 to 80. Back from the call at 70: op 60-70, cudaMalloc 48-60, item 46-48 and 40-42, the synchronisation in it 42-46, the
 * loader 20-40 (it began before the gap); from the call at 70 to B at 80 launch. */
static void story(void)
{
    json_trace_begin(&t, 0);
    trace_launch(&t, "cudaLaunchKernel", 1, 1000, 2000, 1);
    trace_cpu(&t, "user_annotation", "enumerate(DataLoader)#next", 1, 15000, 25000);
    trace_cpu(&t, "cpu_op", "collate", 1, 16000, 23000);
    trace_cpu(&t, "cpu_op", "aten::item", 1, 40000, 8000);
    trace_launch(&t, "cudaStreamSynchronize", 1, 42000, 4000, 2);
    trace_launch(&t, "cudaMalloc", 1, 48000, 12000, 3);
    trace_cpu(&t, "cpu_op", "aten::mm", 1, 60000, 15000);
    trace_launch(&t, "cudaLaunchKernel", 1, 70000, 2000, 4);
    trace_kernel(&t, "A", 0, 7, 5000, 15000, 1);
    trace_kernel(&t, "B", 0, 7, 80000, 10000, 4);
}

START_TEST(a_gap_is_told)
{
    story();
    struct hs_table x = ask("idle-causes", "");
    ck_assert_uint_eq(x.rows, 5);
    cause(&x, "data_loading", 20000, 1);
    cause(&x, "cpu_work", 14000, 1);
    cause(&x, "allocation", 12000, 1);
    cause(&x, "launch", 10000, 1);
    cause(&x, "synchronize", 4000, 1);
    ck_assert_str_eq(table_text(&x, row_of(&x, "cause", "data_loading"), "op"), "collate");
    ck_assert_str_eq(table_text(&x, row_of(&x, "cause", "synchronize"), "op"), "aten::item");
    ck_assert_str_eq(table_text(&x, 0, "next"), "B");
    ck_assert_double_eq_tol(table_f64(&x, row_of(&x, "cause", "allocation"), "idle_pct"), 20, 1e-9); /* 12 of 60 */
    ck_assert_double_eq_tol(table_f64(&x, row_of(&x, "cause", "allocation"), "span_pct"), 100 * 12. / 85, 1e-3);
    hs_table_free(&x);
    x = ask("idle-causes", "by=gap");
    ck_assert_uint_eq(x.rows, 1);
    ck_assert_str_eq(table_text(&x, 0, "cause"), "data_loading");
    ck_assert_int_eq(table_i64(&x, 0, "idle_us"), 60000);
    ck_assert_int_eq(table_i64(&x, 0, "ts_us"), 20000);
    hs_table_free(&x);
    x = ask("idle-causes", "by=op");
    ck_assert_int_eq(table_i64(&x, row_of(&x, "op", "aten::mm"), "idle_us"), 10000);
    hs_table_free(&x);
    x = ask("idle-causes", "from=30&to=45"); /* cut: loader 30-40, item 40-42, the call 42-45 */
    cause(&x, "data_loading", 10000, 1);
    cause(&x, "cpu_work", 2000, 1);
    cause(&x, "synchronize", 3000, 1);
    hs_table_free(&x);
    json_trace_end(&t, 1);
}
END_TEST

/* CPU       |A 1-2|B 2-3|C 4-5|D 30-31|
 * stream 7    |A 3-10|  |B 12-20|
 * stream 8                          |C 60-70|             C: launched in time, waited 40: not recorded why
 * (D: no launch in the trace)                   |D 80-90|
 * and a graph: G launches e 90.5-95 and f 96-97. */
START_TEST(work_launched_in_time)
{
    json_trace_begin(&t, 0);
    trace_launch(&t, "cudaLaunchKernel", 1, 1000, 1000, 1);
    trace_launch(&t, "cudaLaunchKernel", 1, 2000, 1000, 2);
    trace_launch(&t, "cudaLaunchKernel", 1, 4000, 1000, 3);
    trace_launch(&t, "cudaGraphLaunch", 1, 6000, 1000, 5);
    trace_kernel(&t, "A", 0, 7, 3000, 7000, 1);
    trace_kernel(&t, "B", 0, 7, 12000, 8000, 2);
    trace_kernel(&t, "C", 0, 8, 60000, 10000, 3);
    trace_kernel(&t, "D", 0, 7, 80000, 10000, 4);
    trace_kernel(&t, "e", 0, 7, 90500, 4500, 5);
    trace_kernel(&t, "f", 0, 7, 96000, 1000, 5);
    struct hs_table x = ask("idle-causes", "");
    cause(&x, "dispatch_delay", 2000 + 500, 2); /* before B, before e */
    cause(&x, "launched_waiting", 40000, 1);
    cause(&x, "launch_unknown", 10000, 1);
    cause(&x, "inside_graph", 1000, 1);
    ck_assert_uint_eq(x.rows, 4);
    hs_table_free(&x);
    json_trace_end(&t, 1);
}
END_TEST

/* main      |fwd 1-2 (launch A)|                              |step 50-52|
 * backward               |mul_bwd 12 ------- 30|  |add_bwd 32-36 (launch B 34)|
 * stream 7     |A 3-10|                                  |B 40-45|
 * Gap 10-40: 34-40 launch, 32-34 add_bwd, 30-32 nothing, 12-30 mul_bwd, 10-12 nothing: the main thread ran last at 2. */
START_TEST(nothing_recorded)
{
    json_trace_begin(&t, 0);
    trace_cpu(&t, "cpu_op", "fwd", 1, 1000, 1000);
    trace_launch(&t, "cudaLaunchKernel", 1, 1200, 500, 1);
    trace_cpu(&t, "cpu_op", "mul_bwd", 2, 12000, 18000);
    trace_cpu(&t, "cpu_op", "add_bwd", 2, 32000, 4000);
    trace_launch(&t, "cudaLaunchKernel", 2, 34000, 1000, 2);
    trace_kernel(&t, "A", 0, 7, 3000, 7000, 1);
    trace_kernel(&t, "B", 0, 7, 40000, 5000, 2);
    struct hs_table x = ask("idle-causes", "");
    cause(&x, "cpu_work", 20000, 1);
    cause(&x, "launch", 6000, 1);
    cause(&x, "not_recorded", 4000, 1);
    hs_table_free(&x);
    json_trace_end(&t, 1);
}
END_TEST

/* ---- syncs ---- */

static bool is_hidden(const struct hs_table *x, size_t row)
{
    const struct hs_cell *c = hs_table_cell(x, row, table_column(x, "hidden"));
    ck_assert_int_eq(c->kind, HS_C_BOOL);
    return c->i != 0;
}

/* In the story the gap 20-80 begins while the loader runs, so the synchronisation at 42, with the device idle already, costs nothing.
 * Here it drains the device:
 * CPU       |A 1-2|item 3 - 25 (sync 4-24)|op 25-40 (launch B 38)|
 * stream 7    |A 2 ------- 22|                                    |B 42-50|      the gap 22-42 follows from the call */
START_TEST(a_hidden_synchronisation)
{
    json_trace_begin(&t, 0);
    trace_launch(&t, "cudaLaunchKernel", 1, 1000, 1000, 1);
    trace_cpu(&t, "cpu_op", "aten::item", 1, 3000, 22000);
    trace_cpu(&t, "cpu_op", "aten::_local_scalar_dense", 1, 3500, 21000);
    trace_launch(&t, "cudaStreamSynchronize", 1, 4000, 20000, 2);
    trace_launch(&t, "cudaLaunchKernel", 1, 38000, 1000, 3);
    trace_launch(&t, "cudaDeviceSynchronize", 1, 43000, 8000, 4);
    trace_kernel(&t, "A", 0, 7, 2000, 20000, 1);
    trace_kernel(&t, "B", 0, 7, 42000, 8000, 3);
    struct hs_table x = ask("syncs", "");
    ck_assert_uint_eq(x.rows, 2);
    ck_assert_str_eq(table_text(&x, 0, "call"), "cudaStreamSynchronize");
    ck_assert_str_eq(table_text(&x, 0, "op"), "aten::item");
    ck_assert(is_hidden(&x, 0));
    ck_assert_int_eq(table_i64(&x, 0, "cpu_us"), 20000);
    ck_assert_int_eq(table_i64(&x, 0, "gpu_idle_us"), 20000);
    ck_assert_str_eq(table_text(&x, 1, "call"), "cudaDeviceSynchronize");
    ck_assert(!is_hidden(&x, 1));
    ck_assert_int_eq(table_i64(&x, 1, "gpu_idle_us"), 0);
    hs_table_free(&x);
    json_trace_end(&t, 1);
    story();
    x = ask("syncs", "by=event");
    ck_assert_uint_eq(x.rows, 1);
    ck_assert_int_eq(table_i64(&x, 0, "gpu_idle_us"), 0);
    hs_table_free(&x);
    json_trace_end(&t, 1);
}
END_TEST

/* Copies wait where their own work ended within the call (pageable memory); those that return before do not. */
START_TEST(copies_that_wait)
{
    json_trace_begin(&t, 0);
    trace_launch(&t, "cudaMemcpyAsync", 1, 1000, 10000, 1);
    trace_launch(&t, "cudaMemcpyAsync", 1, 20000, 1000, 2);
    trace_copy(&t, "Memcpy DtoH (Device -> Pageable)", 0, 7, 2000, 7000, 1, 4096);
    trace_copy(&t, "Memcpy HtoD (Pinned -> Device)", 0, 7, 22000, 7000, 2, 4096);
    struct hs_table x = ask("syncs", "by=event");
    ck_assert_uint_eq(x.rows, 1);
    ck_assert_int_eq(table_i64(&x, 0, "ts_us"), 1000);
    ck_assert_int_eq(table_i64(&x, 0, "gpu_idle_us"), 13000); /* 9 to 22 */
    hs_table_free(&x);
    json_trace_end(&t, 1);
}
END_TEST

/* ---- sums ---- */

static int64_t sum(const struct hs_table *x, const char *column)
{
    int64_t all = 0;
    for (size_t i = 0; i < x->rows; i++)
        all += table_null(x, i, column) ? 0 : table_i64(x, i, column);
    return all;
}

static void check_sums(struct hs_run *run, const char *window)
{
    char params[100];
    static const char *const by[] = {"cause", "op", "frame", "gap"};
    struct hs_table want = fake_analyze(run, "temporal", window);
    int64_t idle = sum(&want, "idle_us");
    for (size_t i = 0; i < 4; i++) {
        snprintf(params, sizeof params, "limit=0&by=%s%s%s", by[i], *window ? "&" : "", window);
        struct hs_table x = fake_analyze(run, "idle-causes", params);
        ck_assert_int_eq(sum(&x, "idle_us"), idle);
        hs_table_free(&x);
    }
    snprintf(params, sizeof params, "limit=0%s%s", *window ? "&" : "", window);
    struct hs_table x = fake_analyze(run, "syncs", params);
    ck_assert_int_le(sum(&x, "gpu_idle_us"), idle); /* no gap counts twice */
    hs_table_free(&x);
    hs_table_free(&want);
}

/* temporal takes the union of a device's work by other means. (One device: of several it counts each from the rank's first work on.) */
START_TEST(causes_add_up_to_the_idle_time)
{
    uint32_t seed = 1234 + (uint32_t)_i;
    json_trace_begin(&t, 0);
    for (int k = 0; k < 70; k++) {
        int64_t ts = 100 + draw_below(&seed, 9000), dur = draw_below(&seed, 400);
        static const char *const names[] = {"cudaLaunchKernel", "cudaStreamSynchronize", "cudaMalloc",
                                            "cudaMemcpyAsync"};
        int tid = 1 + (int)draw_below(&seed, 3);
        unsigned what = draw_below(&seed, 6);
        trace_cpu(&t, k % 3 ? "cpu_op" : "user_annotation", k % 5 ? "op" : "DataLoader", tid, ts, dur);
        trace_launch(&t, names[what < 4 ? what : 0], tid, ts, dur, k + 1);
        if (what == 0 || what > 2)
            trace_kernel(&t, "k", 0, 7 + (int)draw_below(&seed, 3), ts + (int64_t)draw_below(&seed, 900) - 100,
                         draw_below(&seed, 200), draw_below(&seed, 9) ? k + 1 : k + 1000);
    }
    check_sums(json_trace_load(&t, 1), "");
    json_trace_shuffle(&t, seed);
    check_sums(json_trace_load(&t, 1), "");
    json_trace_end(&t, 1);
}
END_TEST

HS_SUITE(analysis_idle_causes)
{
    HS_TEST(a_gap_is_told);
    HS_TEST(work_launched_in_time);
    HS_TEST(nothing_recorded);
    HS_TEST(a_hidden_synchronisation);
    HS_TEST(copies_that_wait);
    HS_LOOP_TEST(causes_add_up_to_the_idle_time, 0, 40);
}
