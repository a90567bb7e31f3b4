/* overlap, launches, launch-outliers, queue-*: a hand-computed case each, then random traces against counting. */
#include "tests/unit/fake_view.h"
#include "tests/unit/sim_device.h"
#include "tests/unit/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct json_trace t;
static struct hs_table a, b;

/* ---- by hand ---- */

/* Three launches at 100, 110 and 120 (10 long each) of kernels that start at 150, 160 and 300. */
static void three_kernels(void)
{
    json_trace_begin(&t, 0);
    for (int i = 0; i < 3; i++)
        trace_launch(&t, "cudaLaunchKernel", 1, 100 + 10 * i, 10, i + 1);
    trace_kernel(&t, "a", 0, 7, 150, 5, 1);
    trace_kernel(&t, "b", 0, 7, 160, 100, 2);
    trace_kernel(&t, "c", 0, 7, 300, 50, 3);
}

START_TEST(queue_by_hand)
{
    three_kernels();
    struct hs_run *run = json_trace_load(&t, 1);
    a = fake_analyze(run, "queue-length-series", "");
    static const int64_t want[][2] = {{100, 1}, {110, 2}, {120, 3}, {150, 2}, {160, 1}, {300, 0}};
    ck_assert_uint_eq(a.rows, 6);
    for (size_t i = 0; i < 6; i++) {
        ck_assert_int_eq(table_i64(&a, i, "ts_us"), want[i][0]);
        ck_assert_double_eq(table_f64(&a, i, "queue_length"), (double)want[i][1]);
    }
    hs_table_free(&a);
    /* 10 ns of 1, 10 of 2, 30 of 3, 10 of 2, 140 of 1: 200 ns; mean (150 + 40 + 90) / 200 = 1.4 */
    a = fake_analyze(run, "queue-length", "");
    ck_assert_uint_eq(a.rows, 1);
    ck_assert_int_eq(table_i64(&a, 0, "count"), 3);
    ck_assert_int_eq(table_i64(&a, 0, "time_us"), 200);
    ck_assert_double_eq_tol(table_f64(&a, 0, "mean"), 1.4, 1e-12);
    ck_assert_double_eq(table_f64(&a, 0, "p75"), 1); /* 1 for 150 of 200 ns: exactly 75 % */
    ck_assert_double_eq(table_f64(&a, 0, "max"), 3);
    ck_assert_double_eq(table_f64(&a, 0, "empty_pct"), 0);
    hs_table_free(&a);
    /* full with 2: [110, 160); calls run in [100, 130): 20 ns of it blocked; the trace lasts [0, 350) */
    a = fake_analyze(run, "queue-full", "max_queue_length=2");
    ck_assert_int_eq(table_i64(&a, 0, "full_us"), 50);
    ck_assert_int_eq(table_i64(&a, 0, "blocked_us"), 20);
    ck_assert_double_eq_tol(table_f64(&a, 0, "full_pct"), 100.0 * 50 / 350, 1e-9);
    ck_assert_int_eq(table_i64(&a, 0, "max"), 3);
    hs_table_free(&a);
    json_trace_end(&t, 1);
}
END_TEST

START_TEST(queue_in_pixels_and_windows)
{
    three_kernels();
    struct hs_run *run = json_trace_load(&t, 1);
    /* pixels [100, 200) and [200, 300): 10*1 + 10*2 + 30*3 + 10*2 + 40*1 = 180 */
    a = fake_analyze(run, "queue-length-series", "px=2&from=0.1&to=0.3");
    ck_assert_uint_eq(a.rows, 2);
    ck_assert_double_eq_tol(table_f64(&a, 0, "queue_length"), 1.8, 1e-12);
    ck_assert_double_eq(table_f64(&a, 0, "min"), 1);
    ck_assert_double_eq(table_f64(&a, 0, "max"), 3);
    ck_assert_double_eq(table_f64(&a, 1, "queue_length"), 1);
    ck_assert_int_eq(table_i64(&a, 1, "ts_us"), 200);
    hs_table_free(&a);
    a = fake_analyze(run, "queue-length", "from=0.12&to=0.15");
    ck_assert_int_eq(table_i64(&a, 0, "time_us"), 30);
    ck_assert_double_eq(table_f64(&a, 0, "mean"), 3);
    hs_table_free(&a);
    a = fake_analyze(run, "queue-length-series", "offset=2&limit=2");
    ck_assert_uint_eq(a.rows, 2);
    ck_assert_int_eq(table_i64(&a, 0, "ts_us"), 120);
    ck_assert(table_has_note(&a, "2 of 6 points"));
    hs_table_free(&a);
    json_trace_end(&t, 1);
}
END_TEST

START_TEST(launches_by_hand)
{
    json_trace_begin(&t, 3);
    trace_launch(&t, "cudaGraphLaunch", 1, 100, 60, 5); /* two kernels */
    trace_kernel(&t, "late", 0, 7, 400, 5, 5);
    trace_kernel(&t, "early", 0, 7, 150, 10, 5);
    trace_launch(&t, "cuLaunchKernelEx", 1, 50, 20, 4);
    trace_kernel(&t, "short", 0, 8, 70, 19, 4);
    trace_kernel(&t, "orphan", 0, 8, 900, 1, 77);
    trace_launch(&t, "cudaMemcpyAsync", 1, 200, 5, 6);
    trace_copy(&t, "Memcpy DtoH (Device -> Pinned)", 0, 8, 206, 9, 6, 64);
    struct hs_run *run = json_trace_load(&t, 1);
    a = fake_analyze(run, "launches", "");
    static const struct {
        const char *kernel, *call;
        int64_t cpu, gpu, delay;
    } want[] = {{"short", "cuLaunchKernelEx", 20, 19, 0},
                {"early", "cudaGraphLaunch", 60, 10, 0},
                {"late", "cudaGraphLaunch", 60, 5, 240},
                {"Memcpy DtoH (Device -> Pinned)", "cudaMemcpyAsync", 5, 9, 1}};
    ck_assert_uint_eq(a.rows, 4);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_str_eq(table_text(&a, i, "kernel"), want[i].kernel);
        ck_assert_str_eq(table_text(&a, i, "call"), want[i].call);
        ck_assert_int_eq(table_i64(&a, i, "rank"), 3);
        ck_assert_int_eq(table_i64(&a, i, "cpu_duration_us"), want[i].cpu);
        ck_assert_int_eq(table_i64(&a, i, "gpu_duration_us"), want[i].gpu);
        ck_assert_int_eq(table_i64(&a, i, "launch_delay_us"), want[i].delay);
    }
    ck_assert(table_has_note(&a, "1 device events are left out"));
    ck_assert(table_has_note(&a, "1 device events started before their launch call had returned"));
    hs_table_free(&a);
    a = fake_analyze(run, "launches", "include_memory_events=false&from=0.1");
    ck_assert_uint_eq(a.rows, 2);
    hs_table_free(&a);
    a = fake_analyze(run, "launch-outliers", "runtime_cutoff=0.05&launch_delay_cutoff=0.2");
    ck_assert_uint_eq(a.rows, 4); /* short: short; call: early, late; delay: late */
    ck_assert_str_eq(table_text(&a, 0, "kind"), "short");
    ck_assert_str_eq(table_text(&a, 0, "kernel"), "short");
    ck_assert_str_eq(table_text(&a, 1, "kind"), "call");
    ck_assert_str_eq(table_text(&a, 2, "kind"), "call");
    ck_assert_int_eq(table_i64(&a, 2, "of_kind"), 2);
    ck_assert_double_eq(table_f64(&a, 2, "of_pairs_pct"), 50);
    ck_assert_str_eq(table_text(&a, 3, "kind"), "delay");
    ck_assert_str_eq(table_text(&a, 3, "kernel"), "late");
    hs_table_free(&a);
    json_trace_end(&t, 1);
}
END_TEST

START_TEST(overlap_by_hand)
{
    json_trace_begin(&t, 0);
    trace_kernel(&t, "ncclDevKernel_AllReduce", 0, 20, 100, 100, 1); /* [100, 200) */
    trace_kernel(&t, "gemm", 0, 7, 150, 30, 2);                      /* 30 beside it */
    trace_kernel(&t, "gemm", 1, 7, 100, 100, 3);                     /* on another device: no overlap */
    trace_kernel(&t, "gemm", 0, 8, 160, 60, 4);                      /* [160, 220): 20 more */
    a = fake_analyze(json_trace_load(&t, 1), "overlap", "");
    ck_assert_int_eq(table_i64(&a, 0, "communication_us"), 100);
    ck_assert_int_eq(table_i64(&a, 0, "overlap_us"), 50);
    ck_assert_int_eq(table_i64(&a, 0, "exposed_us"), 50);
    ck_assert_int_eq(table_i64(&a, 0, "compute_us"), 170);
    ck_assert_double_eq(table_f64(&a, 0, "overlap_pct"), 50);
    hs_table_free(&a);
    json_trace_end(&t, 1);
}
END_TEST

START_TEST(no_launches_no_queue)
{
    json_trace_begin(&t, 0);
    trace_kernel(&t, "k", 0, 7, 100, 10, 1);
    static const char *const names[] = {"launches", "launch-outliers", "queue-length", "queue-length-series",
                                        "queue-full"};
    struct hs_run *run = json_trace_load(&t, 1);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        a = fake_analyze(run, names[i], "");
        ck_assert_uint_eq(a.rows, 0);
        ck_assert(table_has_note(&a, "has no launches that fit"));
        hs_table_free(&a);
    }
    json_trace_end(&t, 1);
}
END_TEST

/* ---- against counting ---- */

static struct sim sim;

static bool waits(const struct sim_work *w, int device, int stream)
{
    return w->corr && w->device == device && w->stream == stream && w->launch_ts <= w->ts;
}

static int length_at(int device, int stream, int64_t x)
{
    int n = 0;
    for (size_t i = 0; i < sim.n; i++)
        n += waits(&sim.w[i], device, stream) && sim.w[i].launch_ts <= x && x < sim.w[i].ts;
    return n;
}

static int by_int(const void *x, const void *y)
{
    return *(const int *)x - *(const int *)y;
}

/* The length at each nanosecond between the first launch and the last start, sorted; the number of them. */
static size_t lengths(int device, int stream, int *out)
{
    int64_t first = INT64_MAX, last = 0;
    size_t n = 0;
    for (size_t i = 0; i < sim.n; i++) {
        if (!waits(&sim.w[i], device, stream))
            continue;
        first = sim.w[i].launch_ts < first ? sim.w[i].launch_ts : first;
        last = sim.w[i].ts > last ? sim.w[i].ts : last;
    }
    for (int64_t x = first; x < last; x++)
        out[n++] = length_at(device, stream, x);
    qsort(out, n, sizeof *out, by_int);
    return n;
}

static void check_summary(size_t row, const int *sorted, size_t n)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        sum += sorted[i];
    for (size_t i = 0; i < n; i++)
        squares += pow(sorted[i] - sum / (double)n, 2);
    ck_assert_int_eq(table_i64(&a, row, "time_us"), (int64_t)n);
    ck_assert_double_eq_tol(table_f64(&a, row, "mean"), sum / (double)n, 1e-9);
    ck_assert_double_eq_tol(table_f64(&a, row, "std"), sqrt(squares / (double)n), 1e-9);
    ck_assert_double_eq(table_f64(&a, row, "min"), sorted[0]);
    ck_assert_double_eq(table_f64(&a, row, "max"), sorted[n - 1]);
    ck_assert_double_eq(table_f64(&a, row, "p50"),
                        sorted[(n + 1) / 2 - 1]); /* smallest with half of the time at or below */
    ck_assert_double_eq(table_f64(&a, row, "p25"), sorted[(n + 3) / 4 - 1]);
}

START_TEST(queue_against_counting)
{
    static int sorted[2 * SIM_END];
    json_trace_begin(&t, 0);
    sim_fill(&sim, &t, (uint32_t)_i, 20 + (size_t)_i * 5);
    struct hs_run *run = json_trace_load(&t, 1);
    a = fake_analyze(run, "queue-length", "");
    b = fake_analyze(run, "queue-length-series", "");
    for (size_t r = 0; r < b.rows; r++) {
        int device = (int)table_i64(&b, r, "device"), stream = (int)table_i64(&b, r, "stream");
        int64_t at = table_i64(&b, r, "ts_us"), end = at + table_i64(&b, r, "dur_us");
        for (int64_t x = at; x == at || x < end; x++)
            ck_assert_double_eq(table_f64(&b, r, "queue_length"), length_at(device, stream, x));
    }
    for (size_t r = 0; r < a.rows; r++) {
        size_t n = lengths((int)table_i64(&a, r, "device"), (int)table_i64(&a, r, "stream"), sorted);
        if (n)
            check_summary(r, sorted, n);
    }
    ck_assert_uint_gt(a.rows, 1);
    hs_table_free(&a);
    hs_table_free(&b);
    json_trace_end(&t, 1);
}
END_TEST

static int64_t painted(int device, bool comm, bool compute)
{
    int64_t ns = 0;
    for (int64_t x = 0; x < 2 * SIM_END; x++) {
        bool c = false, k = false;
        for (size_t i = 0; i < sim.n; i++) {
            const struct sim_work *w = &sim.w[i];
            if (w->device != device || w->copy || x < w->ts || x >= w->ts + w->dur)
                continue;
            c = c || w->comm;
            k = k || !w->comm;
        }
        ns += (!comm || c) && (!compute || k);
    }
    return ns;
}

START_TEST(overlap_against_painting)
{
    json_trace_begin(&t, 0);
    sim_fill(&sim, &t, 100 + (uint32_t)_i, 60);
    a = fake_analyze(json_trace_load(&t, 1), "overlap", "");
    ck_assert_int_eq(table_i64(&a, 0, "communication_us"), painted(0, true, false) + painted(1, true, false));
    ck_assert_int_eq(table_i64(&a, 0, "overlap_us"), painted(0, true, true) + painted(1, true, true));
    hs_table_free(&a);
    json_trace_end(&t, 1);
}
END_TEST

START_TEST(launches_against_a_join)
{
    json_trace_begin(&t, 0);
    sim_fill(&sim, &t, 200 + (uint32_t)_i, 80);
    a = fake_analyze(json_trace_load(&t, 1), "launches", "");
    size_t pairs = 0;
    int64_t delays = 0, cpu = 0, gpu = 0, got_delays = 0, got_cpu = 0, got_gpu = 0, before = 0;
    for (size_t i = 0; i < sim.n; i++) {
        const struct sim_work *w = &sim.w[i];
        int64_t delay = w->ts - w->launch_ts - w->launch_dur;
        pairs += w->corr != 0;
        delays += w->corr && delay > 0 ? delay : 0;
        cpu += w->corr ? w->launch_dur : 0;
        gpu += w->corr ? w->dur : 0;
    }
    ck_assert_uint_eq(a.rows, pairs);
    for (size_t r = 0; r < a.rows; r++) {
        got_delays += table_i64(&a, r, "launch_delay_us");
        got_cpu += table_i64(&a, r, "cpu_duration_us");
        got_gpu += table_i64(&a, r, "gpu_duration_us");
        ck_assert_int_ge(table_i64(&a, r, "ts_us"), before);
        before = table_i64(&a, r, "ts_us");
    }
    ck_assert_int_eq(got_delays, delays);
    ck_assert_int_eq(got_cpu, cpu);
    ck_assert_int_eq(got_gpu, gpu);
    hs_table_free(&a);
    json_trace_end(&t, 1);
}
END_TEST

START_TEST(order_of_the_file_does_not_matter)
{
    static const char *const names[] = {
        "overlap",    "launches",         "launch-outliers",         "queue-length",
        "queue-full", "memory-bandwidth", "memory-bandwidth-series", "queue-length-series"};
    static struct hs_table first[8];
    json_trace_begin(&t, 0);
    sim_fill(&sim, &t, 300 + (uint32_t)_i, 80);
    for (uint32_t round = 0; round < 3; round++) {
        struct hs_run *run = json_trace_load(&t, 1);
        for (size_t k = 0; k < 8; k++) {
            struct hs_table x = fake_analyze(run, names[k], "");
            if (!round) {
                first[k] = x;
                continue;
            }
            tables_agree(&first[k], &x, names[k]);
            hs_table_free(&x);
        }
        json_trace_shuffle(&t, round + (uint32_t)_i);
    }
    for (size_t k = 0; k < 8; k++)
        hs_table_free(&first[k]);
    json_trace_end(&t, 1);
}
END_TEST

HS_SUITE(analysis_launches)
{
    HS_TEST(queue_by_hand);
    HS_TEST(queue_in_pixels_and_windows);
    HS_TEST(launches_by_hand);
    HS_TEST(overlap_by_hand);
    HS_TEST(no_launches_no_queue);
    HS_LOOP_TEST(queue_against_counting, 0, 16);
    HS_LOOP_TEST(overlap_against_painting, 0, 6);
    HS_LOOP_TEST(launches_against_a_join, 0, 6);
    HS_LOOP_TEST(order_of_the_file_does_not_matter, 0, 4);
}
