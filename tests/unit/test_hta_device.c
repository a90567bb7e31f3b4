/* compat=hta on device time, queues, copies and launches: small traces, figures by hand. */
#include "tests/unit/hta_fixture.h"
#include "tests/unit/test.h"

#include <math.h>

/*   0        5         10             20      30     40
 *   k compute .........|
 *            nccl ......................|
 *                                              memset     */
#define BUSY                         \
    KERNEL("k", "7", "0", "10", "1") \
    "," KERNEL("ncclX", "20", "5", "15", "2") "," WORK("gpu_memset", "Memset (Device)", "7", "30", "10", "3")

START_TEST(temporal)
{
    struct hta_fixture f;
    hta_open(&f, 1, TRACE(BUSY));
    struct hs_table t = hta_ask(&f, "temporal", "");
    expect(&t, "rank", 1, 0.0);
    expect(&t, "kernel_time(us)", 1, 40.0);
    expect(&t, "idle_time(us)", 1, 10.0);
    expect(&t, "compute_time(us)", 1, 10.0);
    expect(&t, "non_compute_time(us)", 1, 20.0);
    expect(&t, "idle_time_pctg", 1, 25.0);
    expect(&t, "non_compute_time_pctg", 1, 50.0);
    hs_table_free(&t);
    hta_close(&f);
}
END_TEST

START_TEST(kernel_types)
{
    struct hta_fixture f;
    hta_open(&f, 1, TRACE(BUSY));
    struct hs_table t = hta_ask(&f, "kernel-types", "");
    expect_text(&t, "kernel_type", 4, "COMMUNICATION", "MEMORY", "COMPUTATION",
                "COMPUTATION overlapping COMMUNICATION");
    expect(&t, "sum", 4, 10.0, 10.0, 5.0, 5.0);
    expect(&t, "percentage", 4, 33.3, 33.3, 16.7, 16.7);
    hs_table_free(&t);
    t = hta_ask(&f, "kernel-types", "include_memory_kernels=false");
    ck_assert_uint_eq(t.rows, 3);
    hs_table_free(&t);
    hta_close(&f);
}
END_TEST

START_TEST(overlap)
{
    struct hta_fixture f;
    hta_open(&f, 2, RANK("0", BUSY), RANK("1", KERNEL("k", "7", "0", "1", "1")));
    struct hs_table t = hta_ask(&f, "overlap", "");
    expect(&t, "rank", 2, 0.0, 1.0);
    expect(&t, "comp_comm_overlap_pctg", 2, 33.33, NAN); /* 5 of 15; no communication */
    hs_table_free(&t);
    hta_close(&f);
}
END_TEST

/* Sums 20, 5, 1, cumulated 20, 25, 26, of which the median is 25: only c lies beyond. Then the statistics are over sums. */
START_TEST(others)
{
    struct hta_fixture f;
    hta_open(&f, 1,
             TRACE(KERNEL("a", "7", "0", "12", "1") "," KERNEL("a", "7", "20", "8", "2") "," KERNEL(
                 "b", "7", "30", "5", "3") "," KERNEL("c", "7", "40", "1", "4")));
    struct hs_table t = hta_ask(&f, "kernels", "num_kernels=2&duration_ratio=0.5");
    expect_text(&t, "name", 3, "a", "b", "others");
    expect(&t, "sum (us)", 3, 20.0, 5.0, 1.0);
    expect(&t, "max (us)", 3, 20.0, 5.0, 1.0);
    expect(&t, "stddev", 3, 0.0, 0.0, 0.0);
    hs_table_free(&t);
    t = hta_ask(&f, "kernels", "");
    expect(&t, "max (us)", 3, 12.0, 5.0, 1.0);
    expect(&t, "mean (us)", 3, 10.0, 5.0, 1.0);
    expect(&t, "stddev", 3, sqrt(8.0), 0.0, 0.0); /* 12 and 8 around 10 */
    hs_table_free(&t);
    hta_close(&f);
}
END_TEST

/* Nested kernels give a negative gap, and the gap after them counts from the inner one's end. All were launched early. */
START_TEST(idle_of_overlapping_kernels)
{
    struct hta_fixture f;
    hta_open(
        &f, 1,
        TRACE(OP("zero", "0", "1") "," CALL("cudaLaunchKernel", "1", "1", "1") "," CALL(
            "cudaLaunchKernel", "2", "1",
            "2") "," CALL("cudaLaunchKernel", "3", "1",
                          "3") "," CALL("cudaLaunchKernel", "99", "1",
                                        "4") "," KERNEL("k", "7", "10", "100",
                                                        "1") "," KERNEL("k", "7", "20", "10",
                                                                        "2") "," KERNEL("k", "7", "60", "10",
                                                                                        "3") "," KERNEL("k", "7", "100",
                                                                                                        "1", "4")));
    struct hs_table t = hta_ask(&f, "idle", "");
    expect_text(&t, "idle_category", 3, "host_wait", "kernel_wait", "other");
    expect(&t, "idle_time", 3, 30.0, -90.0, 30.0); /* 100 - 70; 20 - 110; 60 - 30 */
    expect(&t, "idle_time_ratio", 3, -1.0, 3.0, -1.0);
    hs_table_free(&t);
    t = hta_ask(&f, "idle-intervals", "consecutive_kernel_delay=31");
    expect_text(&t, "idle_category", 3, "host_wait", "kernel_wait", "other");
    expect(&t, "count", 3, 1.0, 2.0, 0.0);
    expect(&t, "mean", 3, 30.0, -30.0, NAN);
    expect(&t, "std", 3, NAN, 84.85, NAN);
    expect(&t, "25%", 3, 30.0, -60.0, NAN);
    hs_table_free(&t);
    t = hta_ask(&f, "idle", "streams=9");
    ck_assert_uint_eq(t.rows, 0);
    hs_table_free(&t);
    t = hta_ask(&f, "idle", "rank=3");
    ck_assert_uint_eq(t.rows, 0);
    ck_assert(hta_noted(&t, "no rank 3"));
    hs_table_free(&t);
    hta_close(&f);
}
END_TEST

#define QUEUE                                                                                                    \
    OP("zero", "0", "1")                                                                                         \
    "," CALL("cudaLaunchKernel", "1", "1", "1") "," CALL("cudaMemcpyAsync", "2", "1", "2") "," KERNEL(           \
        "k", "7", "5", "3", "1") "," EVENT("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", "0", "7", "9", "1", \
                                           "\"stream\": 7, \"correlation\": 2, \"memory bandwidth (GB/s)\": 2.5")

START_TEST(queue)
{
    struct hta_fixture f;
    hta_open(&f, 1, TRACE(QUEUE));
    struct hs_table t = hta_ask(&f, "queue-length-series", "");
    expect(&t, "ts", 4, 1.0, 2.0, 5.0, 9.0);
    expect(&t, "queue_length", 4, 1.0, 2.0, 1.0, 0.0);
    expect(&t, "index", 4, 1.0, 2.0, 3.0, 4.0);
    expect(&t, "tid", 4, 7.0, 7.0, 7.0, 7.0);
    hs_table_free(&t);
    t = hta_ask(&f, "queue-length", "");
    expect(&t, "queue_length_mean", 1, 1.0);
    expect(&t, "queue_length_25%", 1, 0.75);
    expect(&t, "queue_length_max", 1, 2.0);
    hs_table_free(&t);
    t = hta_ask(&f, "queue-full", "max_queue_length=2");
    expect(&t, "duration_at_max_queue_length", 1, 3.0);
    expect(&t, "relative_duration_at_max_queue_length", 1, 3.0 / 9); /* of the time from the first to the last start */
    hs_table_free(&t);
    t = hta_ask(&f, "queue-full", "");
    ck_assert_uint_eq(t.rows, 0);
    hs_table_free(&t);
    t = hta_ask(&f, "launches", "");
    expect(&t, "correlation", 2, 1.0, 2.0);
    expect(&t, "launch_delay", 2, 3.0, 6.0);
    hs_table_free(&t);
    t = hta_ask(&f, "launches", "include_memory_events=false");
    expect(&t, "gpu_duration", 1, 3.0);
    hs_table_free(&t);
    hta_close(&f);
}
END_TEST

#define COPY(ts, dur, bw)                                     \
    EVENT("gpu_memcpy", "Memcpy HtoD (x)", "0", "7", ts, dur, \
          "\"stream\": 7, \"correlation\": 1, \"memory bandwidth (GB/s)\": " bw)
START_TEST(bandwidth)
{
    struct hta_fixture f;
    hta_open(&f, 1, TRACE(COPY("0", "10", "2.0") "," COPY("5", "10", "3.0") "," COPY("20", "0", "1")));
    struct hs_table t = hta_ask(&f, "memory-bandwidth-series", "");
    expect(&t, "ts", 6, 0.0, 5.0, 10.0, 15.0, 20.0, 21.0); /* a copy of no length lasts 1 */
    expect(&t, "memory_bw_gbps", 6, 2.0, 5.0, 3.0, 0.0, 1.0, 0.0);
    hs_table_free(&t);
    t = hta_ask(&f, "memory-bandwidth", "");
    expect_text(&t, "name", 1, "Memcpy HtoD");
    expect(&t, "memory_bw_gbps_count", 1, 4.0);
    expect(&t, "memory_bw_gbps_50%", 1, 2.5);
    hs_table_free(&t);
    hta_close(&f);
}
END_TEST

/* The shortest annotation that a kernel touches; kernels of just the same times share it, on whatever lane. */
START_TEST(kernel_annotations)
{
    struct hta_fixture f;
    hta_open(&f, 1,
             TRACE(EVENT("gpu_user_annotation", "long", "0", "7", "0", "100", "") "," EVENT(
                 "gpu_user_annotation", "short<x>", "0", "7", "20", "10",
                 "") "," KERNEL("k<a>", "7", "5", "5", "1") "," KERNEL("k", "7", "15", "6",
                                                                       "2") "," KERNEL("k", "8", "15", "6",
                                                                                       "3") "," KERNEL("k", "8", "40",
                                                                                                       "6", "4")));
    struct hs_table t = hta_ask(&f, "kernel-annotations", "");
    expect_text(&t, "user_annotation", 4, "long", "short<x>", "short<x>", "");
    expect_text(&t, "s_user_annotation", 4, "long", "short", "short", "");
    expect_text(&t, "s_name", 4, "k", "k", "k", "k");
    expect(&t, "end", 4, 10.0, 21.0, 21.0, 46.0);
    hs_table_free(&t);
    t = hta_ask(&f, "annotations", "");
    expect_text(&t, "name", 2, "long", "short<x>");
    expect(&t, "sum (us)", 2, 100.0, 10.0);
    hs_table_free(&t);
    t = hta_ask(&f, "annotations", "use_gpu_annotation=false");
    ck_assert_uint_eq(t.rows, 0);
    hs_table_free(&t);
    hta_close(&f);
}
END_TEST

/* Rank 1 starts the collective last in both steps, and its length differs most between the ranks. */
#define STEPS                           \
    NOTE("ProfilerStep#1", "0", "1000") \
    "," NOTE("ProfilerStep#2", "1000", "1000") "," NOTE("ProfilerStep#3", "2000", "9")
#define COLLECTIVE(ts1, dur1, ts2, dur2)                                                                           \
    STEPS "," CALL("cudaLaunchKernel", "100", "1", "1") "," CALL("cudaLaunchKernel", "1100", "1", "2") "," KERNEL( \
        "ncclKernel_AllReduce", "20", ts1, dur1, "1") "," KERNEL("ncclKernel_AllReduce", "20", ts2, dur2, "2")
START_TEST(stragglers)
{
    struct hta_fixture f;
    hta_open(&f, 2, RANK("0", COLLECTIVE("200", "500", "1200", "500")),
             RANK("1", COLLECTIVE("600", "100", "1600", "100")));
    struct hs_table t = hta_ask(&f, "stragglers", "num_candidates=1");
    expect(&t, "rank", 1, 1.0);
    hs_table_free(&t);
    t = hta_ask(&f, "stragglers", "");
    ck_assert_uint_eq(t.rows, 2);
    hs_table_free(&t);
    t = hta_ask(&f, "steps", "");
    expect(&t, "iteration", 2, 1.0, 2.0); /* the last step is filtered out */
    hs_table_free(&t);
    hta_close(&f);
}
END_TEST

HS_SUITE(hta_device)
{
    HS_TEST(temporal);
    HS_TEST(kernel_types);
    HS_TEST(overlap);
    HS_TEST(others);
    HS_TEST(idle_of_overlapping_kernels);
    HS_TEST(queue);
    HS_TEST(bandwidth);
    HS_TEST(kernel_annotations);
    HS_TEST(stragglers);
}
