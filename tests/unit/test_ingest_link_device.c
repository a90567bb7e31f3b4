/* link, the device side: launches, device work, steps; every expected value is argued where it stands. */
#include "tests/unit/link_build.h"
#include "tests/unit/test.h"

#include <string.h>

#define SEC 1000000000ll

/* ---- launches ---- */

START_TEST(kernels_find_their_launch)
{
    uint32_t o = link_op("aten::mm", 0, 100);
    uint32_t l1 = link_call("cudaLaunchKernel", 10, 5, 1), l2 = link_call("cudaMemcpyAsync", 20, 5, 2);
    link_call("cudaLaunchKernel", 30, 5, 3);      /* its kernel is not in the trace */
    link_call("cudaStreamSynchronize", 40, 5, 4); /* launches nothing */
    link_call("cudaLaunchHostFunc", 46, 1, 5);    /* nothing on the device */
    uint32_t k1 = link_kernel("mm", 50, 7, 1);
    uint32_t m = link_add(&link_t, (struct ev){.ph = 'X',
                                               .cat = "gpu_memcpy",
                                               .name = "Memcpy HtoD",
                                               .pid = "0",
                                               .tid = 7,
                                               .ts = 60,
                                               .dur = 4,
                                               .corr = 2,
                                               .stream = 7,
                                               .bytes = 4096});
    uint32_t orphan = link_kernel("lost", 70, 1, 99);
    uint32_t zero = link_kernel("zero", 80, 1, 0), minus = link_kernel("minus", 90, 1, -1);
    link_run(&link_t, &link_k);
    ck_assert_uint_eq(link_k.parent[k1], l1);
    ck_assert_int_eq(link_k.depth[k1], 2); /* op, call, kernel */
    ck_assert_int_eq(link_k.depth[l1], 1);
    ck_assert_uint_eq(link_k.parent[l1], o);
    ck_assert_uint_eq(link_k.parent[m], l2);
    ck_assert_uint_eq(link_k.parent[orphan], HS_NO_EVENT);
    ck_assert_uint_eq(link_k.parent[zero], HS_NO_EVENT);
    ck_assert_uint_eq(link_k.parent[minus], HS_NO_EVENT);
    ck_assert_int_eq(link_count(HS_Q_KERNEL_WITHOUT_LAUNCH), 3);
    ck_assert_int_eq(link_count(HS_Q_LAUNCH_WITHOUT_KERNEL), 1);
    ck_assert_int_eq(link_count(HS_Q_NO_GPU) + link_count(HS_Q_NO_CPU), 0);
    ck_assert_uint_eq(link_k.launches.n, 5);
    ck_assert_uint_eq(link_k.launches.p[0].event, l1);
    ck_assert_uint_eq(link_k.launches.p[0].kernels, 1);
    ck_assert_uint_eq(link_k.launches.p[2].kernels, 0);
    ck_assert_uint_eq(link_k.gpu.n, 5);
    ck_assert_int_eq((int)link_k.gpu.p[0].launch_ts, 10);
    ck_assert_int_eq((int)link_k.gpu.p[0].launch_dur, 5);
    ck_assert_int_eq(link_k.gpu.p[1].cls, HS_CLASS_MEMCPY);
    ck_assert_int_eq((int)link_k.gpu.p[1].bytes, 4096);
    ck_assert(link_k.gpu.p[2].launch_ts == HS_NO_VALUE && link_k.gpu.p[2].launch == HS_NO_EVENT);
    ck_assert_int_eq((int)link_k.sum.kernels, 4);
    ck_assert_int_eq((int)link_k.sum.memcpys, 1);
    ck_assert_int_eq((int)link_k.sum.kernel_ns, 10);
    ck_assert_int_eq((int)link_k.sum.memory_ns, 4);
    ck_assert_int_eq((int)link_k.sum.busy_ns, 14);
    ck_assert_int_eq((int)link_k.sum.runtime_calls, 5);
}
END_TEST

START_TEST(a_graph_launch_has_many_kernels)
{
    uint32_t g = link_call("cudaGraphLaunch", 0, 10, 8);
    for (int i = 0; i < 5; i++)
        ck_assert_uint_eq(link_kernel("k", 20 + 10 * i, 5, 8), (unsigned)i + 1);
    link_run(&link_t, &link_k);
    ck_assert_uint_eq(link_k.launches.n, 1);
    ck_assert_uint_eq(link_k.launches.p[0].kernels, 5);
    for (uint32_t i = 1; i <= 5; i++)
        ck_assert_uint_eq(link_k.parent[i], g);
    ck_assert_int_eq(link_count(HS_Q_GRAPH_LAUNCH), 1);
}
END_TEST

START_TEST(shared_correlations_take_the_last_call_before)
{
    uint32_t first = link_call("hipLaunchKernel", 10, 2, 7), second = link_call("hipExtModuleLaunchKernel", 20, 2, 7);
    uint32_t o =
        link_add(&link_t, (struct ev){.ph = 'X', .cat = "cpu_op", .name = "op", .ts = 24, .dur = 9, .corr = 7});
    uint32_t early = link_kernel("early", 5, 1, 7), mid = link_kernel("mid", 15, 1, 7),
             at = link_kernel("at", 20, 1, 7);
    uint32_t late = link_kernel("late", 30, 1, 7);
    link_run(&link_t, &link_k);
    ck_assert_uint_eq(link_k.parent[early], first); /* none before it: the first, and the clocks disagree */
    ck_assert_uint_eq(link_k.parent[mid], first);
    ck_assert_uint_eq(link_k.parent[at], second);
    ck_assert_uint_eq(link_k.parent[late], second); /* not the operator: a runtime call is preferred */
    ck_assert_uint_ne(link_k.parent[late], o);
    ck_assert_int_eq(link_count(HS_Q_SHARED_CORRELATION), 1);
    ck_assert_int_eq(link_count(HS_Q_EARLY_KERNEL), 1);
    ck_assert_int_eq(link_count(HS_Q_LAUNCH_WITHOUT_KERNEL), 0);
    ck_assert_uint_eq(link_k.launches.n, 2); /* the operator is no launch */
}
END_TEST

START_TEST(correlation_and_external_id_are_two_spaces)
{
    /* rows carry correlations only; a device event whose correlation equals nobody's stays alone */
    link_op("aten::mm", 0, 10);
    uint32_t g = link_kernel("k", 5, 1, 3);
    link_run(&link_t, &link_k);
    ck_assert_uint_eq(link_k.parent[g], HS_NO_EVENT);
}
END_TEST

START_TEST(event_zero_can_be_a_launch)
{
    uint32_t l = link_call("cudaLaunchKernel", 0, 1, 1), g = link_kernel("k", 5, 1, 1);
    link_run(&link_t, &link_k);
    ck_assert_uint_eq(l, 0);
    ck_assert_uint_eq(link_k.parent[g], 0);
    ck_assert_uint_eq(link_k.launches.p[0].kernels, 1);
}
END_TEST

static uint32_t ranked(const char *cat, const char *pid, int64_t ts, int64_t device)
{
    return link_add(&link_t, (struct ev){.ph = 'X',
                                         .cat = cat,
                                         .name = "cudaLaunchKernel",
                                         .pid = pid,
                                         .tid = 7,
                                         .ts = ts,
                                         .dur = 1,
                                         .corr = 5,
                                         .device = device,
                                         .stream = 7});
}

START_TEST(merged_ranks_join_within_a_rank)
{
    uint32_t l0 = ranked("cuda_runtime", "[TP00] 100", 10, 0), l1 = ranked("cuda_runtime", "[TP01] 101", 12, 0);
    uint32_t g0 = ranked("kernel", "[TP00] 0", 20, 0), g1 = ranked("kernel", "[TP01] 0", 11, 0);
    uint32_t none = ranked("kernel", "[TP02] 0", 30, 0);
    link_run(&link_t, &link_k);
    ck_assert_uint_eq(link_k.parent[g0], l0); /* by correlation and time alone it would be l1 */
    ck_assert_uint_eq(link_k.parent[g1], l1);
    ck_assert_uint_eq(link_k.parent[none], HS_NO_EVENT);
    ck_assert_int_eq(link_count(HS_Q_MERGED_RANKS), 2);
    ck_assert_int_eq(link_count(HS_Q_SHARED_CORRELATION), 0);
}
END_TEST

START_TEST(merged_ranks_learn_whose_a_device_is)
{
    /* two processes, ids 5 in both; ids 6 and 7 tell that process 100 drives device 0 and 101 device 1 */
    uint32_t l0 = ranked("cuda_runtime", "100", 10, 0), l1 = ranked("cuda_runtime", "101", 12, 0);
    for (int i = 0; i < 2; i++) {
        link_add(&link_t, (struct ev){.ph = 'X',
                                      .cat = "cuda_runtime",
                                      .name = "cudaLaunchKernel",
                                      .pid = i ? "101" : "100",
                                      .ts = 30,
                                      .dur = 1,
                                      .corr = 6 + i});
        link_add(&link_t, (struct ev){.ph = 'X',
                                      .cat = "kernel",
                                      .name = "k",
                                      .pid = i ? "1" : "0",
                                      .tid = 7,
                                      .ts = 40,
                                      .dur = 1,
                                      .corr = 6 + i,
                                      .device = i,
                                      .stream = 7});
    }
    uint32_t g0 = ranked("kernel", "0", 20, 0), g1 = ranked("kernel", "1", 11, 1);
    link_run(&link_t, &link_k);
    ck_assert_uint_eq(link_k.parent[g0], l0);
    ck_assert_uint_eq(link_k.parent[g1], l1);
    ck_assert_int_eq(link_count(HS_Q_MERGED_RANKS), 2);
}
END_TEST

/* ---- device work ---- */

START_TEST(classes_by_category_then_metadata_then_name)
{
    link_add(&link_t, (struct ev){.ph = 'X',
                                  .cat = "kernel",
                                  .name = "fused_moe",
                                  .pid = "0",
                                  .ts = 1,
                                  .dur = 3,
                                  .stream = 1,
                                  .collective = true});
    link_add(&link_t, (struct ev){.ph = 'X',
                                  .cat = "kernel",
                                  .name = "ncclDevKernel_AllReduce_Sum_bf16",
                                  .pid = "0",
                                  .ts = 5,
                                  .dur = 5,
                                  .stream = 1});
    link_add(
        &link_t,
        (struct ev){.ph = 'X', .cat = "kernel", .name = "copyMemcpyLike", .pid = "0", .ts = 11, .dur = 7, .stream = 1});
    link_add(
        &link_t,
        (struct ev){.ph = 'X', .cat = "gpu_memset", .name = "ncclMemset", .pid = "0", .ts = 20, .dur = 2, .stream = 1});
    link_run(&link_t, &link_k);
    const int want[] = {HS_CLASS_COMM, HS_CLASS_COMM, HS_CLASS_COMPUTE, HS_CLASS_MEMSET};
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(link_k.gpu.p[i].cls, want[i]);
    ck_assert_int_eq((int)link_k.sum.comm_ns, 8);
    ck_assert_int_eq((int)link_k.sum.kernel_ns, 15);
}
END_TEST

/* A kernel of a name that tells nothing, launched by record_param_comms itself, communicates; what is launched beside it, or by an
 * operator within it, computes. */
START_TEST(communication_by_the_operator_that_launched)
{
    link_op("c10d::allreduce_", 0, 100);
    link_op("record_param_comms", 10, 50);
    link_op("aten::copy_", 12, 10);
    link_call("cudaLaunchKernel", 14, 2, 1);
    link_call("cudaLaunchKernel", 30, 2, 2);
    link_call("cudaLaunchKernel", 70, 2, 3);
    link_kernel("elementwise_kernel", 100, 1, 1);
    link_kernel("acme_ring", 200, 5, 2);
    link_kernel("other", 300, 2, 3);
    link_call("cudaLaunchKernel", 20, 2, 4);
    link_kernel("void c10d::checkForNaN<float>(float*, unsigned long)", 400, 3, 4);
    link_run(&link_t, &link_k);
    const int want[] = {HS_CLASS_COMPUTE, HS_CLASS_COMM, HS_CLASS_COMPUTE, HS_CLASS_COMPUTE};
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(link_k.gpu.p[i].cls, want[i]);
    ck_assert_int_eq((int)link_k.sum.comm_ns, 5);
    ck_assert_int_eq((int)link_k.sum.kernel_ns, 11);
}
END_TEST

START_TEST(repeats_count_once)
{
    link_call("cudaLaunchKernel", 0, 1, 3);
    uint32_t a = link_kernel("k", 10, 5, 3), b = link_kernel("k", 10, 5, 3), c = link_kernel("k2", 10, 5, 3),
             d = link_kernel("k", 10, 6, 3);
    link_run(&link_t, &link_k);
    ck_assert_uint_eq(link_k.gpu.n, 3);
    ck_assert_uint_eq(link_k.gpu.p[0].event, a);
    ck_assert_uint_eq(link_k.gpu.p[1].event, c);
    ck_assert_uint_eq(link_k.gpu.p[2].event, d);
    ck_assert_int_eq(link_count(HS_Q_DUPLICATE_EVENT), 1);
    ck_assert_uint_eq(link_k.parent[b], 0); /* still an event with a launch */
    ck_assert_uint_eq(link_k.launches.p[0].kernels, 3);
    ck_assert_int_eq((int)link_k.sum.kernel_ns, 16);
    ck_assert_int_eq((int)link_k.sum.busy_ns, 6); /* each nanosecond once */
    ck_assert_int_eq(link_count(HS_Q_STREAM_OVERLAP), 2);
}
END_TEST

START_TEST(odd_times_are_left_out)
{
    int64_t day = 24 * 3600 * SEC, base = 5000 * SEC;
    link_kernel("good", base, 5, 0);
    link_kernel("zero", 0, 5, 0);
    link_kernel("huge", base + 10, 7 * day + 1, 0);
    link_kernel("week", base + 20, 7 * day, 0);
    link_kernel("negative", base + 30, -4, 0);
    link_add(&link_t,
             (struct ev){.ph = 'X', .cat = "kernel", .name = "no dur", .pid = "0", .ts = base, .dur = NONE_I64});
    uint32_t edge = link_kernel("edge", INT64_MAX - 5, 100, 0); /* its end does not fit */
    link_op("op", base, 10);
    link_run(&link_t, &link_k);
    ck_assert_uint_eq(link_k.gpu.n, 3); /* good, week, negative (as 0) */
    ck_assert_int_eq((int)link_k.gpu.p[2].dur, 0);
    ck_assert_int_eq(link_count(HS_Q_TS_ZERO), 1);
    ck_assert_int_eq(link_count(HS_Q_HUGE_DUR), 2);
    ck_assert_int_eq(link_k.sum.first_ts == base, 1);
    ck_assert_uint_eq(link_k.parent[edge], HS_NO_EVENT);
}
END_TEST

START_TEST(time_zero_is_fine_where_all_start_there)
{
    link_kernel("zero", 0, 5, 0);
    link_kernel("near", 100, 5, 0);
    link_run(&link_t, &link_k);
    ck_assert_uint_eq(link_k.gpu.n, 2);
    ck_assert_int_eq(link_count(HS_Q_TS_ZERO), 0);
}
END_TEST

START_TEST(devices_and_streams_are_told_apart)
{
    const int where[][4] = {{1, 7, 0, 10}, {0, 7, 5, 10}, {0, 8, 10, 10}, {0, 7, 20, 10}, {0, -1, 0, 1}, {1, 9, 4, 3}};
    for (size_t i = 0; i < sizeof where / sizeof *where; i++)
        link_add(&link_t, (struct ev){.ph = 'X',
                                      .cat = "kernel",
                                      .name = "k",
                                      .pid = "0",
                                      .tid = where[i][1],
                                      .ts = where[i][2],
                                      .dur = where[i][3],
                                      .device = where[i][0],
                                      .stream = where[i][1]});
    link_run(&link_t, &link_k);
    ck_assert_int_eq((int)link_k.sum.devices, 2);
    ck_assert_int_eq((int)link_k.sum.streams, 5);
    for (size_t i = 1; i < link_k.gpu.n; i++)
        ck_assert(link_k.gpu.p[i - 1].device < link_k.gpu.p[i].device ||
                  link_k.gpu.p[i - 1].stream < link_k.gpu.p[i].stream || link_k.gpu.p[i - 1].ts < link_k.gpu.p[i].ts);
    /* device 0: [0,1) + [5,20) + [20,30) = 26; device 1: [0,10) = 10 */
    ck_assert_int_eq((int)link_k.sum.busy_ns, 36);
    ck_assert_int_eq(link_count(HS_Q_STREAM_OVERLAP), 0);
}
END_TEST

START_TEST(legacy_profiler_by_its_pids)
{
    uint32_t a = link_add(&link_t, (struct ev){.ph = 'X', .name = "mm", .pid = "CPU functions", .ts = 0, .dur = 10});
    uint32_t b = link_add(&link_t, (struct ev){.ph = 'X', .name = "t", .pid = "CPU functions", .ts = 2, .dur = 3});
    link_add(&link_t, (struct ev){.ph = 'X', .name = "mm", .pid = "CUDA functions", .tid = 1, .ts = 20, .dur = 10});
    link_run(&link_t, &link_k);
    ck_assert_uint_eq(link_k.parent[b], a);
    ck_assert_uint_eq(link_k.gpu.n, 1);
    ck_assert_int_eq(link_k.gpu.p[0].device, 1);
    ck_assert_int_eq((int)link_k.sum.cpu_ops, 2);
}
END_TEST

/* ---- steps ---- */

static uint32_t step(const char *name, const char *cat, const char *pid, int64_t ts, int64_t dur)
{
    return link_add(&link_t,
                    (struct ev){.ph = 'X', .cat = cat, .name = name, .pid = pid, .tid = 1, .ts = ts, .dur = dur});
}

START_TEST(steps_are_found_and_used)
{
    step("ProfilerStep#5", "user_annotation", "1", 100, 100);
    step("ProfilerStep # 6", "user_annotation", "1", 200, 100);
    step("ProfilerStep*", "user_annotation", "1", 0, 1000);
    step("ProfilerStep#7", "gpu_user_annotation", "0", 150, 500); /* the device's copy is no step */
    step("ProfilerStep#9", "cpu_op", "1", 0, 1000);               /* annotations are there, so they decide */
    uint32_t in5 = link_op("a", 100, 150), in6 = link_op("b", 200, 1), before = link_op("c", 99, 50),
             behind = link_op("d", 300, 1);
    uint32_t other =
        link_add(&link_t, (struct ev){.ph = 'X', .cat = "cpu_op", .name = "e", .pid = "2", .ts = 150, .dur = 1});
    uint32_t memory = link_add(
        &link_t,
        (struct ev){.ph = 'i', .cat = "cpu_instant_event", .name = "[memory]", .tid = 44, .ts = 250, .dur = NONE_I64});
    uint32_t l = link_call("cudaLaunchKernel", 199, 1, 4), g = link_kernel("late", 900, 1, 4);
    link_run(&link_t, &link_k);
    ck_assert_uint_eq(link_k.steps.n, 2);
    ck_assert_int_eq((int)link_k.steps.p[0].number, 5);
    ck_assert_int_eq((int)link_k.steps.p[1].number, 6);
    ck_assert_int_eq(link_k.step[in5], 0);
    ck_assert_int_eq(link_k.step[in6], 1);
    ck_assert_int_eq(link_k.step[before], -1);
    ck_assert_int_eq(link_k.step[behind], -1);
    ck_assert_int_eq(link_k.step[other], -1);
    ck_assert_int_eq(link_k.step[memory], 1); /* any thread, any phase */
    ck_assert_int_eq(link_k.step[l], 0);
    ck_assert_int_eq(link_k.step[g], 0); /* of its launch */
    ck_assert_int_eq(link_k.gpu.p[0].step, 0);
    ck_assert_int_eq(link_k.launches.p[0].step, 0);
    ck_assert_int_eq((int)link_k.sum.memory_events, 1);
}
END_TEST

START_TEST(steps_of_any_category_where_there_is_no_annotation)
{
    step("ProfilerStep#1", "cpu_op", "1", 0, 10);
    step("ProfilerStep#1", "cpu_op", "1", 20, 10);                    /* a number twice: rows of their own */
    step("ProfilerStep#99999999999999999999", "cpu_op", "1", 40, 10); /* no number of ours */
    uint32_t a = link_op("a", 25, 1);
    link_run(&link_t, &link_k);
    ck_assert_uint_eq(link_k.steps.n, 2);
    ck_assert_int_eq(link_k.step[a], 1);
    ck_assert_int_eq(link_count(HS_Q_NO_STEPS), 0);
}
END_TEST

START_TEST(an_empty_trace_links)
{
    link_run(&link_t, &link_k);
    ck_assert_uint_eq(link_k.n, 0);
    ck_assert_int_eq(link_count(HS_Q_NO_GPU) + link_count(HS_Q_NO_CPU) + link_count(HS_Q_NO_STEPS), 0);
    ck_assert(link_k.sum.gpu_first_ts == HS_NO_VALUE);
}
END_TEST

HS_SUITE(ingest_link_device)
{
    tcase_add_checked_fixture(tc, link_setup, link_teardown);
    HS_TEST(kernels_find_their_launch);
    HS_TEST(a_graph_launch_has_many_kernels);
    HS_TEST(shared_correlations_take_the_last_call_before);
    HS_TEST(correlation_and_external_id_are_two_spaces);
    HS_TEST(event_zero_can_be_a_launch);
    HS_TEST(merged_ranks_join_within_a_rank);
    HS_TEST(merged_ranks_learn_whose_a_device_is);
    HS_TEST(classes_by_category_then_metadata_then_name);
    HS_TEST(communication_by_the_operator_that_launched);
    HS_TEST(repeats_count_once);
    HS_TEST(odd_times_are_left_out);
    HS_TEST(time_zero_is_fine_where_all_start_there);
    HS_TEST(devices_and_streams_are_told_apart);
    HS_TEST(legacy_profiler_by_its_pids);
    HS_TEST(steps_are_found_and_used);
    HS_TEST(steps_of_any_category_where_there_is_no_annotation);
    HS_TEST(an_empty_trace_links);
}
