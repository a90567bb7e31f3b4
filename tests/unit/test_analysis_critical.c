/* critical-path: small graphs drawn in the comments, with their path. Times in us. */
#include "tests/unit/asked.h"
#include "tests/unit/fake_view.h"
#include "tests/unit/test.h"

static struct json_trace t;

/* CPU     |op 1-4 [launch 2-3]|          |sync 5 ------- 20|op 20-22|
 * stream 7              |gemm 6 - 15| relu 15.5-18|
 * gemm waits for its launch (3 -> 6), relu for gemm, the sync for relu. */
static void one_stream(void)
{
    json_trace_begin(&t, 0);
    trace_cpu(&t, "cpu_op", "op", 1, 1000, 3000);
    trace_launch(&t, "cudaLaunchKernel", 1, 2000, 1000, 1);
    trace_cpu(&t, "cpu_op", "op2", 1, 4000, 1000);
    trace_launch(&t, "cudaLaunchKernel", 1, 4200, 500, 2);
    trace_launch(&t, "cudaDeviceSynchronize", 1, 5000, 15000, 3);
    trace_cpu(&t, "cpu_op", "after", 1, 20000, 2000);
    trace_kernel(&t, "gemm", 0, 7, 6000, 9000, 1);
    trace_kernel(&t, "relu", 0, 7, 15500, 2500, 2);
}

START_TEST(launch_kernel_sync)
{
    one_stream();
    struct hs_table x = asked(&t, "critical-path", "from=1");
    ck_assert_uint_eq(x.rows, 8);
    path_piece(&x, 0, 1000, 1000, "cpu_bound", "op");
    path_piece(&x, 1, 2000, 1000, "cpu_bound", "cudaLaunchKernel");
    path_piece(&x, 2, 3000, 3000, "gpu_kernel_launch_overhead", "gemm");
    path_piece(&x, 3, 6000, 9000, "gpu_compute_bound", "gemm");
    path_piece(&x, 4, 15000, 500, "gpu_kernel_kernel_overhead", "relu");
    path_piece(&x, 5, 15500, 2500, "gpu_compute_bound", "relu");
    path_piece(&x, 6, 18000, 2000, "sync", "cudaDeviceSynchronize");
    path_piece(&x, 7, 20000, 2000, "cpu_bound", "after");
    hs_table_free(&x);
    x = asked(&t, "critical-path-summary", "from=1");
    int64_t sum = 0;
    for (size_t i = 0; i < x.rows; i++)
        sum += table_i64(&x, i, "dur_us");
    ck_assert_int_eq(sum, 21000); /* from 1 to 22 */
    hs_table_free(&x);
    json_trace_end(&t, 1);
}
END_TEST

/* stream 7   |gemm 2-10|
 * stream 16            |allreduce 11-15|   launched at 1.5, its stream idle: it waited for gemm */
START_TEST(other_stream)
{
    json_trace_begin(&t, 0);
    trace_launch(&t, "cudaLaunchKernel", 1, 1000, 200, 1);
    trace_launch(&t, "cudaLaunchKernel", 1, 1500, 200, 2);
    trace_kernel(&t, "gemm", 0, 7, 2000, 8000, 1);
    trace_kernel(&t, "ncclDevKernel_AllReduce", 0, 16, 11000, 4000, 2);
    struct hs_table x = asked(&t, "critical-path", "from=1");
    ck_assert_uint_eq(x.rows, 5);
    path_piece(&x, 0, 1000, 200, "cpu_bound", "cudaLaunchKernel");
    path_piece(&x, 1, 1200, 800, "gpu_kernel_launch_overhead", "gemm");
    path_piece(&x, 2, 2000, 8000, "gpu_compute_bound", "gemm");
    path_piece(&x, 3, 10000, 1000, "sync", "ncclDevKernel_AllReduce");
    path_piece(&x, 4, 11000, 4000, "gpu_communication_bound", "ncclDevKernel_AllReduce");
    hs_table_free(&x);
    json_trace_end(&t, 1);
}
END_TEST

/* main     |forward 1-3|                |optimizer 9-11|
 * backward              |mul_bwd 4-8|                    the main thread waits for it from 3 to 9
 * What runs at 8-9 belongs to the main thread (no event), 3-4 to the backward thread. */
START_TEST(backward_thread)
{
    json_trace_begin(&t, 0);
    trace_cpu(&t, "cpu_op", "forward", 1, 1000, 2000);
    trace_cpu(&t, "cpu_op", "mul_bwd", 2, 4000, 4000);
    trace_cpu(&t, "cpu_op", "optimizer", 1, 9000, 2000);
    struct hs_table x = asked(&t, "critical-path", "from=1");
    ck_assert_uint_eq(x.rows, 5);
    path_piece(&x, 0, 1000, 2000, "cpu_bound", "forward");
    path_piece(&x, 1, 3000, 1000, "cpu_idle", "");
    path_piece(&x, 2, 4000, 4000, "cpu_bound", "mul_bwd");
    path_piece(&x, 3, 8000, 1000, "cpu_idle", "");
    path_piece(&x, 4, 9000, 2000, "cpu_bound", "optimizer");
    hs_table_free(&x);
    json_trace_end(&t, 1);
}
END_TEST

/* Two annotations; the second is asked for, and in it what nests in data loading loads data. */
START_TEST(annotation_and_loading)
{
    json_trace_begin(&t, 0);
    trace_cpu(&t, "user_annotation", "batch", 1, 1000, 1000);
    trace_cpu(&t, "user_annotation", "batch", 1, 3000, 5000);
    trace_cpu(&t, "user_annotation", "enumerate(DataLoader)", 1, 4000, 3000);
    trace_cpu(&t, "cpu_op", "stack", 1, 5000, 1000);
    struct hs_table x = asked(&t, "critical-path-summary", "annotation=batch&instance_id=1");
    ck_assert_uint_eq(x.rows, 2);
    ck_assert_str_eq(table_text(&x, 0, "bound_by"), "cpu_bound");
    ck_assert_int_eq(table_i64(&x, 0, "dur_us"), 2000);
    ck_assert_str_eq(table_text(&x, 1, "bound_by"), "data_loading");
    ck_assert_int_eq(table_i64(&x, 1, "dur_us"), 3000);
    hs_table_free(&x);
    x = asked(&t, "critical-path-summary", "annotation=batch&instance_id=2");
    ck_assert_uint_eq(x.rows, 0);
    ck_assert(table_has_note(&x, "there is no instance 2"));
    hs_table_free(&x);
    json_trace_end(&t, 1);
}
END_TEST

/* Whatever a trace holds, the pieces follow each other without gap or overlap up to the last end. */
START_TEST(random_traces_are_covered)
{
    uint32_t seed = 77 + (uint32_t)_i;
    int64_t last = 0;
    json_trace_begin(&t, 0);
    for (int k = 0; k < 60; k++) {
        int64_t ts = 100 + draw_below(&seed, 5000), dur = draw_below(&seed, 400);
        int64_t start = ts + (int64_t)draw_below(&seed, 900) - 100, len = draw_below(&seed, 600);
        bool wait = draw_below(&seed, 6) == 0;
        trace_cpu(&t, "cpu_op", "op", 1 + (int)draw_below(&seed, 3), ts, dur);
        trace_launch(&t, wait ? "cudaStreamSynchronize" : "cudaLaunchKernel", 1 + (int)draw_below(&seed, 3), ts, dur,
                     k + 1);
        if (!wait) {
            trace_kernel(&t, "k", 0, 7 + (int)draw_below(&seed, 3), start, len, k + 1);
            last = start + len > last ? start + len : last;
        }
        last = ts + dur > last ? ts + dur : last;
    }
    struct hs_table x = asked(&t, "critical-path", "");
    int64_t at = 0; /* the origin event */
    ck_assert_uint_gt(x.rows, 0);
    for (size_t i = 0; i < x.rows; i++) {
        ck_assert_int_eq(table_i64(&x, i, "ts_us"), at);
        ck_assert_int_gt(table_i64(&x, i, "dur_us"), 0);
        at += table_i64(&x, i, "dur_us");
    }
    ck_assert_int_eq(at, last);
    hs_table_free(&x);
    json_trace_end(&t, 1);
}
END_TEST

HS_SUITE(analysis_critical)
{
    HS_TEST(launch_kernel_sync);
    HS_TEST(other_stream);
    HS_TEST(backward_thread);
    HS_TEST(annotation_and_loading);
    HS_LOOP_TEST(random_traces_are_covered, 0, 40);
}
