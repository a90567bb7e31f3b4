/* Rules about memory, pipelines and CPU threads, and the events that show a figure: numbers by hand. */
#include "tests/unit/asked.h"
#include "tests/unit/test.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct json_trace t;

static double value(json_t *report, const char *id)
{
    return json_number_value(json_object_get(report_entry(report, "rules", id), "value"));
}

static json_int_t event_of(json_t *recommendation, size_t i)
{
    return json_integer_value(json_object_get(json_array_get(json_object_get(recommendation, "events"), i), "event"));
}

/* ---- memory ---- */

static void memory(int ts, int device_type, int device, int64_t allocated, int64_t reserved)
{
    char at[40];
    trace_event(
        &t,
        "{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":%s,"
        "\"args\":{\"Bytes\":512,\"Total Allocated\":%lld,\"Total Reserved\":%lld,\"Addr\":1,"
        "\"Device Type\":%d,\"Device Id\":%d}}",
        trace_us(at, ts), (long long)allocated, (long long)reserved, device_type, device);
}

/* Device 0 of 1000 bytes: 600 of 850 held are allocated at the peak (60 % full, 250 / 850 = 29.4 % unused), 850 are held at
 * most. Device 1 of 2000: 500 of 500. The host's figures are as large, and mean nothing. */
static void allocations(void)
{
    json_trace_begin(&t, 0);
    trace_cpu(&t, "cpu_op", "aten::add", 1, 1000, 1000);
    memory(2000, 1, 0, 400, 500);
    memory(3000, 1, 0, 600, 850);
    memory(4000, 1, 0, 100, 850);
    memory(5000, 1, 1, 500, 500);
    memory(6000, 0, -1, 99999, 99999);
}

START_TEST(memory_that_is_held_and_unused)
{
    allocations();
    t.header = "\"deviceProperties\":[{\"id\":0,\"totalGlobalMem\":1000},{\"id\":1,\"totalGlobalMem\":2000}],";
    json_t *j = report_json(&t, NULL), *held = report_entry(j, "recommendations", "memory-held-unused");
    ck_assert_str_eq(rule_state(j, "device-memory-full"), "ok");
    ck_assert_double_eq(value(j, "device-memory-full"), 60);
    ck_assert_ptr_nonnull(held); /* 85 % of the device is held, from 80 on */
    ck_assert_double_eq_tol(json_number_value(json_object_get(held, "value")), 100.0 * 250 / 850, 1e-4);
    ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(held, "detail")), "Rank 0, device 0"));
    ck_assert_int_eq(event_of(held, 0), 3); /* origin, add, memory, the peak */
    json_decref(j);
    json_trace_end(&t, 1);
}
END_TEST

START_TEST(memory_that_is_nearly_full)
{
    allocations();
    memory(7000, 1, 1, 1900, 1950);
    t.header = "\"deviceProperties\":[{\"id\":0,\"totalGlobalMem\":1000},{\"id\":1,\"totalGlobalMem\":2000}],";
    json_t *j = report_json(&t, NULL), *full = report_entry(j, "recommendations", "device-memory-full");
    ck_assert_ptr_nonnull(full);
    ck_assert_double_eq(json_number_value(json_object_get(full, "value")), 95);
    ck_assert_int_eq(event_of(full, 0), 7);
    ck_assert_int_eq(event_of(full, 1), 3); /* device 0's peak, 60 % */
    json_decref(j);
    json_trace_end(&t, 1);
}
END_TEST

/* What was not recorded is no zero: without sizes of devices, without allocations. */
START_TEST(memory_that_nobody_knows)
{
    allocations();
    json_t *j = report_json(&t, NULL);
    ck_assert_str_eq(rule_state(j, "device-memory-full"), "cannot_answer");
    ck_assert_str_eq(rule_state(j, "memory-held-unused"), "cannot_answer");
    ck_assert_ptr_nonnull(
        strstr(json_string_value(json_object_get(report_entry(j, "rules", "memory-held-unused"), "reason")),
               "deviceProperties"));
    json_decref(j);
    json_trace_end(&t, 1);
    json_trace_begin(&t, 0);
    trace_cpu(&t, "cpu_op", "aten::add", 1, 1000, 1000);
    j = report_json(&t, NULL);
    ck_assert_ptr_nonnull(
        strstr(json_string_value(json_object_get(report_entry(j, "rules", "device-memory-full"), "reason")),
               "profile_memory"));
    json_decref(j);
    json_trace_end(&t, 1);
}
END_TEST

/* ---- pipelines ---- */

static void transfer(const char *what, int stream, int64_t ts, int64_t dur, int corr)
{
    char at[40];
    trace_event(
        &t,
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)\","
        "\"pid\":0,\"tid\":%d,\"ts\":%s,\"dur\":%d,\"args\":{\"device\":0,\"stream\":%d,\"correlation\":%d%s%s%s}}",
        stream, trace_us(at, ts), (int)(dur / 1000), stream, corr, what ? ",\"Collective name\":\"" : "",
        what ? what : "", what ? "\"" : "");
}

/* Span 0-100 us. Sends and receives 20-40 and 30-60, computation 50-100 beside them: 30 us are exposed. The all-reduce is
 * communication, and no pipeline's. */
START_TEST(stages_that_wait)
{
    json_trace_begin(&t, 0);
    trace_kernel(&t, "gemm", 0, 7, 0, 20000, 1);
    transfer("send", 8, 20000, 20000, 2);
    transfer("recv", 9, 30000, 30000, 3);
    trace_kernel(&t, "gemm", 0, 7, 50000, 50000, 4);
    trace_kernel(&t, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, 9, 95000, 5000, 5);
    json_t *j = report_json(&t, NULL), *wait = report_entry(j, "recommendations", "pipeline-wait");
    ck_assert_ptr_nonnull(wait);
    ck_assert_double_eq(json_number_value(json_object_get(wait, "value")), 30);
    ck_assert_double_eq(json_number_value(json_object_get(wait, "gain_us")), 30);
    ck_assert_int_eq(event_of(wait, 0), 3); /* the longer one */
    ck_assert_int_eq(event_of(wait, 1), 2);
    json_t *comm = report_entry(j, "recommendations", "exposed-communication");
    ck_assert_ptr_nonnull(comm); /* the same 30 us, which are not promised twice */
    ck_assert_double_eq(json_number_value(json_object_get(comm, "value")), 30);
    ck_assert_double_eq(json_number_value(json_object_get(comm, "gain_us")), 0);
    json_decref(j);
    json_trace_end(&t, 1);
}
END_TEST

/* An all-to-all is made of the same kernels; where nothing tells, nobody knows. */
START_TEST(an_all_to_all_is_no_pipeline)
{
    json_trace_begin(&t, 0);
    transfer("all_to_allv", 8, 0, 50000, 1);
    trace_kernel(&t, "gemm", 0, 7, 50000, 50000, 2);
    json_t *j = report_json(&t, NULL);
    ck_assert_str_eq(rule_state(j, "pipeline-wait"), "ok");
    ck_assert_double_eq(value(j, "pipeline-wait"), 0);
    json_decref(j);
    json_trace_end(&t, 1);
    json_trace_begin(&t, 0);
    transfer(NULL, 8, 0, 50000, 1);
    trace_kernel(&t, "gemm", 0, 7, 50000, 50000, 2);
    j = report_json(&t, NULL);
    ck_assert_str_eq(rule_state(j, "pipeline-wait"), "cannot_answer");
    json_decref(j);
    json_trace_end(&t, 1);
}
END_TEST

/* ---- backends ---- */

START_TEST(collectives_through_the_cpu)
{
    static const struct {
        const char *info, *state;
    } c[] = {{"{\"backend\":\"gloo\",\"rank\":0,\"world_size\":4}", "applies"},
             {"{\"backend\":\"cpu:gloo,cuda:nccl\",\"rank\":0,\"world_size\":4}", "ok"},
             {"{\"backend\":\"nccl\",\"rank\":0,\"world_size\":4}", "ok"},
             {"{\"backend\":\"gloo\",\"rank\":0,\"world_size\":1}", "ok"}, /* nobody to speak to */
             {"{\"backend\":7,\"rank\":0,\"world_size\":4}", "ok"}};
    for (size_t i = 0; i < sizeof c / sizeof c[0]; i++) {
        char header[200];
        json_trace_begin(&t, 0);
        trace_kernel(&t, "gemm", 0, 7, 0, 20000, 1);
        snprintf(header, sizeof header, "\"distributedInfo\":%s,", c[i].info);
        t.header = header;
        json_t *j = report_json(&t, NULL);
        ck_assert_msg(!strcmp(rule_state(j, "cpu-backend"), c[i].state), "%s", c[i].info);
        json_decref(j);
        json_trace_end(&t, 1);
    }
}
END_TEST

/* Idle 16 of 100 us, 9 of them for want of a launch: below the limit by itself, and more than half of an idle share above it. */
START_TEST(most_of_the_idle_time_decides)
{
    json_trace_begin(&t, 0);
    trace_launch(&t, "cudaLaunchKernel", 1, 1000, 1000, 1);
    trace_launch(&t, "cudaLaunchKernel", 1, 2000, 1000, 2);
    trace_launch(&t, "cudaLaunchKernel", 1, 68000, 1000, 3);
    trace_kernel(&t, "k", 0, 7, 10000, 20000, 1);
    trace_kernel(&t, "k", 0, 7, 37000, 23000, 2); /* 7 us after a launch in time */
    trace_kernel(&t, "k", 0, 7, 69000, 41000, 3); /* launched 8 us after the device was free, there 9 after */
    json_t *j = report_json(&t, NULL), *b = json_object_get(j, "bottleneck");
    ck_assert_str_eq(json_string_value(json_object_get(b, "verdict")), "CPU-bound");
    ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(b, "sentence")), "idle 16.0 %"));
    ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(b, "sentence")), "9.0 %"));
    json_decref(j);
    json_trace_end(&t, 1);
}
END_TEST

/* The same with copies for 5.5 us that nothing hides: above their limit, and less than what the CPU costs. */
START_TEST(the_larger_part_decides)
{
    json_trace_begin(&t, 0);
    trace_launch(&t, "cudaLaunchKernel", 1, 1000, 1000, 1);
    trace_launch(&t, "cudaLaunchKernel", 1, 2000, 1000, 2);
    trace_launch(&t, "cudaLaunchKernel", 1, 68000, 1000, 3);
    trace_kernel(&t, "k", 0, 7, 10000, 20000, 1);
    trace_kernel(&t, "k", 0, 7, 37000, 23000, 2);
    trace_copy(&t, "Memcpy HtoD (Pinned -> Device)", 0, 7, 69000, 5500, 3, 1000);
    trace_kernel(&t, "k", 0, 7, 74500, 35500, 4);
    json_t *j = report_json(&t, NULL), *b = json_object_get(j, "bottleneck");
    ck_assert_str_eq(json_string_value(json_object_get(b, "verdict")), "CPU-bound");
    json_decref(j);
    json_trace_end(&t, 1);
}
END_TEST

/* Gaps of 5 us between kernels that were all launched at the start: 15 of 95 us. */
START_TEST(kernels_that_wait_for_each_other)
{
    json_trace_begin(&t, 0);
    for (int i = 0; i < 4; i++)
        trace_launch(&t, "cudaLaunchKernel", 1, 1000 + 1000 * i, 500, i + 1);
    for (int i = 0; i < 4; i++)
        trace_kernel(&t, "k", 0, 7, 10000 + 25000 * i, 20000, i + 1);
    json_t *j = report_json(&t, NULL), *wait = report_entry(j, "recommendations", "kernel-wait");
    ck_assert_ptr_nonnull(wait);
    ck_assert_double_eq_tol(json_number_value(json_object_get(wait, "value")), 100.0 * 15 / 95, 1e-4);
    ck_assert_double_eq(json_number_value(json_object_get(wait, "gain_us")), 15);
    ck_assert_uint_eq(json_array_size(json_object_get(wait, "events")), 3); /* the kernels that end them */
    json_decref(j);
    json_trace_end(&t, 1);
}
END_TEST

/* ---- threads ---- */

/* 100 us. Thread 1: operators 0-50 and 50-96 with one inside (counted once), less a call that waits for 2: 94 us. Thread 2:
 * 40. The GPU works 5 of its 95 us and waits for the CPU else. */
static void two_threads(int64_t second)
{
    json_trace_begin(&t, 0);
    trace_cpu(&t, "python_function", "train.py(1): main", 1, 0, 100000);
    trace_cpu(&t, "cpu_op", "aten::conv2d", 1, 0, 50000);
    trace_launch(&t, "cudaLaunchKernel", 1, 1000, 1000, 1);
    trace_cpu(&t, "cpu_op", "aten::linear", 1, 50000, second);
    trace_cpu(&t, "cpu_op", "aten::addmm", 1, 51000, 10000);
    trace_launch(&t, "cudaDeviceSynchronize", 1, 62000, 2000, 2);
    trace_launch(&t, "cudaLaunchKernel", 1, 90000, 1000, 3);
    trace_cpu(&t, "cpu_op", "aten::copy_", 2, 10000, 40000);
    trace_kernel(&t, "k", 0, 7, 5000, 1000, 1);
    trace_kernel(&t, "k", 0, 7, 96000, 4000, 3);
}

START_TEST(one_thread_does_it_all)
{
    two_threads(46000);
    json_t *j = report_json(&t, NULL), *busy = report_entry(j, "recommendations", "busy-thread");
    ck_assert_ptr_nonnull(busy);
    ck_assert_double_eq(json_number_value(json_object_get(busy, "value")), 94);
    ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(busy, "detail")), "Thread 1 of rank 0, 0.094 ms"));
    ck_assert_int_eq(event_of(busy, 0), 2); /* its longest operator */
    json_decref(j);
    json_trace_end(&t, 1);
    two_threads(36000); /* 50 + 36 - 2, and the last launch, which is in none of them any more: 85 % */
    j = report_json(&t, NULL);
    ck_assert_str_eq(rule_state(j, "busy-thread"), "ok");
    ck_assert_double_eq(value(j, "busy-thread"), 85);
    json_decref(j);
    json_trace_end(&t, 1);
}
END_TEST

/* ---- examples ---- */

START_TEST(the_events_that_show_most)
{
    struct hs_view view = {.name = "v"};
    struct hs_run_rank rank = {.rank = 3, .offset_ns = 1000, .view = &view};
    struct hs_figure_value x = {0};
    ck_assert(hs_figure_shows(&x, &rank, 10, 5, 50));
    ck_assert(!hs_figure_shows(&x, &rank, 11, 6, 40));
    ck_assert(hs_figure_shows(&x, &rank, 12, 7, 60));
    ck_assert(!hs_figure_shows(&x, &rank, 13, 8, 45)); /* pushes 11 out */
    ck_assert(!hs_figure_shows(&x, &rank, 14, 9, 45)); /* no more than the least */
    ck_assert(hs_figure_shows(&x, &rank, 13, 20, 70)); /* the same event again, with more: it moves up */
    ck_assert(!hs_figure_shows(&x, &rank, 12, 30, 1));
    static const uint32_t want[] = {13, 12, 10};
    ck_assert_uint_eq(x.nexamples, 3);
    for (size_t i = 0; i < 3; i++)
        ck_assert_uint_eq(x.examples[i].event, want[i]);
    ck_assert(x.examples[0].ts_ns == 1020 && x.examples[0].of == &rank && x.examples[0].weight == 70);
}
END_TEST

HS_SUITE(report_more)
{
    HS_TEST(memory_that_is_held_and_unused);
    HS_TEST(memory_that_is_nearly_full);
    HS_TEST(memory_that_nobody_knows);
    HS_TEST(stages_that_wait);
    HS_TEST(an_all_to_all_is_no_pipeline);
    HS_TEST(collectives_through_the_cpu);
    HS_TEST(most_of_the_idle_time_decides);
    HS_TEST(the_larger_part_decides);
    HS_TEST(kernels_that_wait_for_each_other);
    HS_TEST(one_thread_does_it_all);
    HS_TEST(the_events_that_show_most);
}
