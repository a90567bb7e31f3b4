/* link, case by case; every expected value is argued where it stands. */
#include "tests/unit/link_build.h"
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

#define US 1000ll
#define SEC 1000000000ll

static struct hs_trace t;
static struct hs_links k;

static void setup(void)
{
    link_trace_init(&t);
}

static void teardown(void)
{
    hs_links_free(&k);
    hs_trace_free(&t);
}

static uint32_t op(const char *name, int64_t ts, int64_t dur)
{
    return link_add(&t, (struct ev){.ph = 'X', .cat = "cpu_op", .name = name, .ts = ts, .dur = dur});
}

static uint32_t call(const char *name, int64_t ts, int64_t dur, int64_t corr)
{
    return link_add(&t,
                    (struct ev){.ph = 'X', .cat = "cuda_runtime", .name = name, .ts = ts, .dur = dur, .corr = corr});
}

static uint32_t kernel(const char *name, int64_t ts, int64_t dur, int64_t corr)
{
    return link_add(&t, (struct ev){.ph = 'X',
                                    .cat = "kernel",
                                    .name = name,
                                    .pid = "0",
                                    .tid = 7,
                                    .ts = ts,
                                    .dur = dur,
                                    .corr = corr,
                                    .stream = 7,
                                    .bytes = NONE_I64});
}

static int count(enum hs_quality_kind kind)
{
    return (int)t.quality.count[kind];
}

/* ---- stacks ---- */

START_TEST(children_nest_in_what_contains_them)
{
    /* the file has children first and another thread between: only times count */
    uint32_t leaf = op("leaf", 20, 10), mid = op("mid", 10, 40);
    uint32_t other = link_add(&t, (struct ev){.ph = 'X', .cat = "cpu_op", .name = "o", .tid = 9, .ts = 15, .dur = 30});
    uint32_t top = op("top", 0, 100), next = op("next", 50, 50), call_ = call("cudaLaunchKernel", 60, 10, 5);
    link_run(&t, &k);
    ck_assert_uint_eq(k.parent[top], HS_NO_EVENT);
    ck_assert_uint_eq(k.parent[mid], top);
    ck_assert_uint_eq(k.parent[leaf], mid);
    ck_assert_uint_eq(k.parent[next], top); /* starts where mid ends: half-open */
    ck_assert_uint_eq(k.parent[call_], next);
    ck_assert_uint_eq(k.parent[other], HS_NO_EVENT);
    ck_assert_int_eq(k.depth[leaf], 2);
    ck_assert_int_eq(k.depth[call_], 2);
    ck_assert_int_eq(k.depth[top], 0);
    ck_assert_int_eq((int)k.sum.threads, 2);
    ck_assert_int_eq((int)k.sum.processes, 1);
}
END_TEST

START_TEST(equal_spans_nest_in_file_order)
{
    uint32_t a = op("a", 10, 10), b = op("b", 10, 10), c = op("c", 10, 30);
    link_run(&t, &k);
    ck_assert_uint_eq(k.parent[c], HS_NO_EVENT); /* longest first */
    ck_assert_uint_eq(k.parent[a], c);
    ck_assert_uint_eq(k.parent[b], a);
}
END_TEST

START_TEST(overrun_up_to_a_microsecond_nests)
{
    uint32_t p = op("p", 0, 10 * US), in = op("in", 5 * US, 6 * US); /* ends 1 µs after p */
    uint32_t after = op("after", 10 * US, US);                       /* p has ended; `in` counts as ended with it */
    uint32_t q = op("q", 20 * US, 10 * US), out = op("out", 25 * US, 6 * US + 1); /* 1.001 µs after q */
    uint32_t below = op("below", 26 * US, US);
    link_run(&t, &k);
    ck_assert_uint_eq(k.parent[in], p);
    ck_assert_uint_eq(k.parent[after], HS_NO_EVENT);
    ck_assert_uint_eq(k.parent[out], HS_NO_EVENT);
    ck_assert_uint_eq(k.parent[q], HS_NO_EVENT);
    ck_assert_uint_eq(k.parent[below], out); /* of the two that contain it the one that started last */
    ck_assert_int_eq(count(HS_Q_CHILD_OVERRUN), 1);
    ck_assert_int_eq(count(HS_Q_PARTIAL_OVERLAP), 1);
}
END_TEST

START_TEST(empty_spans_stand_in_the_closing_one)
{
    /* SEMANTICS Q40: A = [10,11], Z = [11,11], B = [11,12]: Z in A, whatever the order in the file */
    uint32_t b = op("B", 11, 4), z = op("Z", 11, 0), a = op("A", 10, 1);
    op("in B", 11, 2);
    uint32_t p = op("P", 20, 10), at_start = op("s", 20, 0), inside = op("i", 25, 0), at_end = op("e", 30, 0);
    uint32_t lone = op("lone", 40, 0);
    link_run(&t, &k);
    ck_assert_uint_eq(k.parent[z], a);
    ck_assert_uint_eq(k.parent[b], HS_NO_EVENT);
    ck_assert_uint_eq(k.parent[at_start], p);
    ck_assert_uint_eq(k.parent[inside], p);
    ck_assert_uint_eq(k.parent[at_end], p);
    ck_assert_uint_eq(k.parent[lone], HS_NO_EVENT);
}
END_TEST

START_TEST(synthetic_rows_and_device_rows_have_no_stack)
{
    uint32_t span = link_add(
        &t,
        (struct ev){.ph = 'X', .cat = "Trace", .name = "PyTorch Profiler (0)", .pid = "Spans", .ts = 0, .dur = 1000});
    uint32_t spans =
        link_add(&t, (struct ev){.ph = 'X', .cat = "cpu_op", .name = "x", .pid = "Traces", .ts = 0, .dur = 9});
    uint32_t a = op("a", 10, 10);
    uint32_t g = link_add(&t, (struct ev){.ph = 'X',
                                          .cat = "gpu_user_annotation",
                                          .name = "fw",
                                          .pid = "0",
                                          .tid = 7,
                                          .ts = 5,
                                          .dur = 90,
                                          .stream = 7});
    uint32_t s = link_add(&t, (struct ev){.ph = 'X',
                                          .cat = "cuda_sync",
                                          .name = "Stream Sync",
                                          .pid = "0",
                                          .tid = 1000007,
                                          .ts = 12,
                                          .dur = 2,
                                          .stream = 7});
    link_run(&t, &k);
    ck_assert_uint_eq(k.parent[span], HS_NO_EVENT);
    ck_assert_uint_eq(k.parent[spans], HS_NO_EVENT);
    ck_assert_uint_eq(k.parent[a], HS_NO_EVENT);
    ck_assert_uint_eq(k.parent[g], HS_NO_EVENT);
    ck_assert_uint_eq(k.parent[s], HS_NO_EVENT);
    ck_assert_uint_eq(k.gpu.n, 0); /* neither an annotation nor a wait is work */
    ck_assert_int_eq((int)k.sum.syncs, 1);
    ck_assert_int_eq((int)k.sum.threads, 1);
    ck_assert_int_eq((int)k.sum.first_ts, 5); /* of what analyses use: not the writer's span */
    ck_assert_int_eq((int)k.sum.last_end, 95);
    ck_assert_int_eq(count(HS_Q_NO_GPU), 1);
}
END_TEST

/* ---- pairs ---- */

static uint32_t phase(char ph, const char *name, int64_t ts)
{
    return link_add(&t, (struct ev){.ph = ph, .cat = "cpu_op", .name = name, .ts = ts, .dur = NONE_I64});
}

START_TEST(begin_and_end_make_spans)
{
    uint32_t a = phase('B', "a", 0), b = phase('B', "b", 10), x = op("x", 12, 3);
    phase('E', NULL, 20); /* without a name: the innermost */
    uint32_t c = phase('B', "c", 30);
    phase('E', "a", 40);                                         /* c was never ended; it ends with a */
    phase('E', "zz", 50);                                        /* no begin */
    uint32_t d = phase('B', "d", 60), last = op("last", 65, 35); /* d ends with its lane: 100 */
    link_run(&t, &k);
    ck_assert_uint_eq(k.parent[b], a);
    ck_assert_uint_eq(k.parent[x], b);
    ck_assert_uint_eq(k.parent[c], a);
    ck_assert_uint_eq(k.parent[last], d);
    ck_assert_int_eq(count(HS_Q_UNMATCHED_BEGIN), 2);
    ck_assert_int_eq(count(HS_Q_UNMATCHED_END), 1);
    /* durations of the begins: 40, 10, 10, 40 */
    int64_t dur = 0, n = 0;
    for (size_t i = 0; i < k.cats.n; i++)
        if (k.cats.p[i].ph == 'B') {
            dur = k.cats.p[i].dur;
            n = k.cats.p[i].count;
        }
    ck_assert_int_eq((int)n, 4);
    ck_assert_int_eq((int)dur, 100);
    ck_assert_int_eq((int)k.sum.cpu_ops, 6);
}
END_TEST

static uint32_t async(char ph, const char *name, int64_t id, int64_t ts)
{
    return link_add(&t, (struct ev){.ph = ph, .cat = "async", .name = name, .ts = ts, .dur = NONE_I64, .corr = id});
}

START_TEST(async_events_pair_by_id)
{
    async('b', "x", 1, 0);
    async('b', "y", 2, 1);
    async('n', "y", 2, 2);
    async('e', "x", 1, 10); /* x: 10 */
    async('e', "y", 2, 21); /* y: 20 */
    async('b', "z", 3, 30); /* never ends */
    async('e', "w", 4, 31); /* never began */
    link_run(&t, &k);
    ck_assert_int_eq(count(HS_Q_UNMATCHED_BEGIN), 1);
    ck_assert_int_eq(count(HS_Q_UNMATCHED_END), 1);
    for (size_t i = 0; i < k.cats.n; i++)
        if (k.cats.p[i].ph == 'b')
            ck_assert_int_eq((int)k.cats.p[i].dur, 30);
}
END_TEST

START_TEST(flow_ends_without_start_are_counted)
{
    const struct {
        char ph;
        int id;
    } flows[] = {{'f', 1}, {'s', 1}, {'f', 1}, {'f', 2}, {'t', 2}, {'s', 3}, {'f', 4}};
    for (size_t i = 0; i < sizeof flows / sizeof *flows; i++)
        link_add(&t,
                 (struct ev){
                     .ph = flows[i].ph, .cat = "ac2g", .name = "ac2g", .ts = 5, .dur = NONE_I64, .corr = flows[i].id});
    link_add(&t, (struct ev){.ph = 's', .cat = "fwdbwd", .name = "fwdbwd", .ts = 5, .dur = NONE_I64, .corr = 4});
    link_run(&t, &k);
    ck_assert_int_eq(count(HS_Q_ORPHAN_FLOW), 3); /* both of 2; 4, which starts in another category only */
    ck_assert_int_eq((int)k.sum.flows, 8);
}
END_TEST

/* ---- launches ---- */

START_TEST(kernels_find_their_launch)
{
    uint32_t o = op("aten::mm", 0, 100);
    uint32_t l1 = call("cudaLaunchKernel", 10, 5, 1), l2 = call("cudaMemcpyAsync", 20, 5, 2);
    call("cudaLaunchKernel", 30, 5, 3);      /* its kernel is not in the trace */
    call("cudaStreamSynchronize", 40, 5, 4); /* launches nothing */
    call("cudaLaunchHostFunc", 46, 1, 5);    /* nothing on the device */
    uint32_t k1 = kernel("mm", 50, 7, 1);
    uint32_t m = link_add(&t, (struct ev){.ph = 'X',
                                          .cat = "gpu_memcpy",
                                          .name = "Memcpy HtoD",
                                          .pid = "0",
                                          .tid = 7,
                                          .ts = 60,
                                          .dur = 4,
                                          .corr = 2,
                                          .stream = 7,
                                          .bytes = 4096});
    uint32_t orphan = kernel("lost", 70, 1, 99);
    uint32_t zero = kernel("zero", 80, 1, 0), minus = kernel("minus", 90, 1, -1);
    link_run(&t, &k);
    ck_assert_uint_eq(k.parent[k1], l1);
    ck_assert_int_eq(k.depth[k1], 2); /* op, call, kernel */
    ck_assert_int_eq(k.depth[l1], 1);
    ck_assert_uint_eq(k.parent[l1], o);
    ck_assert_uint_eq(k.parent[m], l2);
    ck_assert_uint_eq(k.parent[orphan], HS_NO_EVENT);
    ck_assert_uint_eq(k.parent[zero], HS_NO_EVENT);
    ck_assert_uint_eq(k.parent[minus], HS_NO_EVENT);
    ck_assert_int_eq(count(HS_Q_KERNEL_WITHOUT_LAUNCH), 3);
    ck_assert_int_eq(count(HS_Q_LAUNCH_WITHOUT_KERNEL), 1);
    ck_assert_int_eq(count(HS_Q_NO_GPU) + count(HS_Q_NO_CPU), 0);
    ck_assert_uint_eq(k.launches.n, 5);
    ck_assert_uint_eq(k.launches.p[0].event, l1);
    ck_assert_uint_eq(k.launches.p[0].kernels, 1);
    ck_assert_uint_eq(k.launches.p[2].kernels, 0);
    ck_assert_uint_eq(k.gpu.n, 5);
    ck_assert_int_eq((int)k.gpu.p[0].launch_ts, 10);
    ck_assert_int_eq((int)k.gpu.p[0].launch_dur, 5);
    ck_assert_int_eq(k.gpu.p[1].cls, HS_CLASS_MEMCPY);
    ck_assert_int_eq((int)k.gpu.p[1].bytes, 4096);
    ck_assert(k.gpu.p[2].launch_ts == HS_NO_VALUE && k.gpu.p[2].launch == HS_NO_EVENT);
    ck_assert_int_eq((int)k.sum.kernels, 4);
    ck_assert_int_eq((int)k.sum.memcpys, 1);
    ck_assert_int_eq((int)k.sum.kernel_ns, 10);
    ck_assert_int_eq((int)k.sum.memory_ns, 4);
    ck_assert_int_eq((int)k.sum.busy_ns, 14);
    ck_assert_int_eq((int)k.sum.runtime_calls, 5);
}
END_TEST

START_TEST(a_graph_launch_has_many_kernels)
{
    uint32_t g = call("cudaGraphLaunch", 0, 10, 8);
    for (int i = 0; i < 5; i++)
        ck_assert_uint_eq(kernel("k", 20 + 10 * i, 5, 8), (unsigned)i + 1);
    link_run(&t, &k);
    ck_assert_uint_eq(k.launches.n, 1);
    ck_assert_uint_eq(k.launches.p[0].kernels, 5);
    for (uint32_t i = 1; i <= 5; i++)
        ck_assert_uint_eq(k.parent[i], g);
    ck_assert_int_eq(count(HS_Q_GRAPH_LAUNCH), 1);
}
END_TEST

START_TEST(shared_correlations_take_the_last_call_before)
{
    uint32_t first = call("hipLaunchKernel", 10, 2, 7), second = call("hipExtModuleLaunchKernel", 20, 2, 7);
    uint32_t o = link_add(&t, (struct ev){.ph = 'X', .cat = "cpu_op", .name = "op", .ts = 24, .dur = 9, .corr = 7});
    uint32_t early = kernel("early", 5, 1, 7), mid = kernel("mid", 15, 1, 7), at = kernel("at", 20, 1, 7);
    uint32_t late = kernel("late", 30, 1, 7);
    link_run(&t, &k);
    ck_assert_uint_eq(k.parent[early], first); /* none before it: the first, and the clocks disagree */
    ck_assert_uint_eq(k.parent[mid], first);
    ck_assert_uint_eq(k.parent[at], second);
    ck_assert_uint_eq(k.parent[late], second); /* not the operator: a runtime call is preferred */
    ck_assert_uint_ne(k.parent[late], o);
    ck_assert_int_eq(count(HS_Q_SHARED_CORRELATION), 1);
    ck_assert_int_eq(count(HS_Q_EARLY_KERNEL), 1);
    ck_assert_int_eq(count(HS_Q_LAUNCH_WITHOUT_KERNEL), 0);
    ck_assert_uint_eq(k.launches.n, 2); /* the operator is no launch */
}
END_TEST

START_TEST(correlation_and_external_id_are_two_spaces)
{
    /* rows carry correlations only; a device event whose correlation equals nobody's stays alone */
    op("aten::mm", 0, 10);
    uint32_t g = kernel("k", 5, 1, 3);
    link_run(&t, &k);
    ck_assert_uint_eq(k.parent[g], HS_NO_EVENT);
}
END_TEST

START_TEST(event_zero_can_be_a_launch)
{
    uint32_t l = call("cudaLaunchKernel", 0, 1, 1), g = kernel("k", 5, 1, 1);
    link_run(&t, &k);
    ck_assert_uint_eq(l, 0);
    ck_assert_uint_eq(k.parent[g], 0);
    ck_assert_uint_eq(k.launches.p[0].kernels, 1);
}
END_TEST

static uint32_t ranked(const char *cat, const char *pid, int64_t ts, int64_t device)
{
    return link_add(&t, (struct ev){.ph = 'X',
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
    link_run(&t, &k);
    ck_assert_uint_eq(k.parent[g0], l0); /* by correlation and time alone it would be l1 */
    ck_assert_uint_eq(k.parent[g1], l1);
    ck_assert_uint_eq(k.parent[none], HS_NO_EVENT);
    ck_assert_int_eq(count(HS_Q_MERGED_RANKS), 2);
    ck_assert_int_eq(count(HS_Q_SHARED_CORRELATION), 0);
}
END_TEST

START_TEST(merged_ranks_learn_whose_a_device_is)
{
    /* two processes, ids 5 in both; ids 6 and 7 tell that process 100 drives device 0 and 101 device 1 */
    uint32_t l0 = ranked("cuda_runtime", "100", 10, 0), l1 = ranked("cuda_runtime", "101", 12, 0);
    for (int i = 0; i < 2; i++) {
        link_add(&t, (struct ev){.ph = 'X',
                                 .cat = "cuda_runtime",
                                 .name = "cudaLaunchKernel",
                                 .pid = i ? "101" : "100",
                                 .ts = 30,
                                 .dur = 1,
                                 .corr = 6 + i});
        link_add(&t, (struct ev){.ph = 'X',
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
    link_run(&t, &k);
    ck_assert_uint_eq(k.parent[g0], l0);
    ck_assert_uint_eq(k.parent[g1], l1);
    ck_assert_int_eq(count(HS_Q_MERGED_RANKS), 2);
}
END_TEST

/* ---- device work ---- */

START_TEST(classes_by_category_then_metadata_then_name)
{
    link_add(&t, (struct ev){.ph = 'X',
                             .cat = "kernel",
                             .name = "fused_moe",
                             .pid = "0",
                             .ts = 1,
                             .dur = 3,
                             .stream = 1,
                             .collective = true});
    link_add(&t, (struct ev){.ph = 'X',
                             .cat = "kernel",
                             .name = "ncclDevKernel_AllReduce_Sum_bf16",
                             .pid = "0",
                             .ts = 5,
                             .dur = 5,
                             .stream = 1});
    link_add(
        &t,
        (struct ev){.ph = 'X', .cat = "kernel", .name = "copyMemcpyLike", .pid = "0", .ts = 11, .dur = 7, .stream = 1});
    link_add(
        &t,
        (struct ev){.ph = 'X', .cat = "gpu_memset", .name = "ncclMemset", .pid = "0", .ts = 20, .dur = 2, .stream = 1});
    link_run(&t, &k);
    const int want[] = {HS_CLASS_COMM, HS_CLASS_COMM, HS_CLASS_COMPUTE, HS_CLASS_MEMSET};
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(k.gpu.p[i].cls, want[i]);
    ck_assert_int_eq((int)k.sum.comm_ns, 8);
    ck_assert_int_eq((int)k.sum.kernel_ns, 15);
}
END_TEST

START_TEST(repeats_count_once)
{
    call("cudaLaunchKernel", 0, 1, 3);
    uint32_t a = kernel("k", 10, 5, 3), b = kernel("k", 10, 5, 3), c = kernel("k2", 10, 5, 3),
             d = kernel("k", 10, 6, 3);
    link_run(&t, &k);
    ck_assert_uint_eq(k.gpu.n, 3);
    ck_assert_uint_eq(k.gpu.p[0].event, a);
    ck_assert_uint_eq(k.gpu.p[1].event, c);
    ck_assert_uint_eq(k.gpu.p[2].event, d);
    ck_assert_int_eq(count(HS_Q_DUPLICATE_EVENT), 1);
    ck_assert_uint_eq(k.parent[b], 0); /* still an event with a launch */
    ck_assert_uint_eq(k.launches.p[0].kernels, 3);
    ck_assert_int_eq((int)k.sum.kernel_ns, 16);
    ck_assert_int_eq((int)k.sum.busy_ns, 6); /* each nanosecond once */
    ck_assert_int_eq(count(HS_Q_STREAM_OVERLAP), 2);
}
END_TEST

START_TEST(odd_times_are_left_out)
{
    int64_t day = 24 * 3600 * SEC, base = 5000 * SEC;
    kernel("good", base, 5, 0);
    kernel("zero", 0, 5, 0);
    kernel("huge", base + 10, 7 * day + 1, 0);
    kernel("week", base + 20, 7 * day, 0);
    kernel("negative", base + 30, -4, 0);
    link_add(&t, (struct ev){.ph = 'X', .cat = "kernel", .name = "no dur", .pid = "0", .ts = base, .dur = NONE_I64});
    uint32_t edge = kernel("edge", INT64_MAX - 5, 100, 0); /* its end does not fit */
    op("op", base, 10);
    link_run(&t, &k);
    ck_assert_uint_eq(k.gpu.n, 3); /* good, week, negative (as 0) */
    ck_assert_int_eq((int)k.gpu.p[2].dur, 0);
    ck_assert_int_eq(count(HS_Q_TS_ZERO), 1);
    ck_assert_int_eq(count(HS_Q_HUGE_DUR), 2);
    ck_assert_int_eq(k.sum.first_ts == base, 1);
    ck_assert_uint_eq(k.parent[edge], HS_NO_EVENT);
}
END_TEST

START_TEST(time_zero_is_fine_where_all_start_there)
{
    kernel("zero", 0, 5, 0);
    kernel("near", 100, 5, 0);
    link_run(&t, &k);
    ck_assert_uint_eq(k.gpu.n, 2);
    ck_assert_int_eq(count(HS_Q_TS_ZERO), 0);
}
END_TEST

START_TEST(devices_and_streams_are_told_apart)
{
    const int where[][4] = {{1, 7, 0, 10}, {0, 7, 5, 10}, {0, 8, 10, 10}, {0, 7, 20, 10}, {0, -1, 0, 1}, {1, 9, 4, 3}};
    for (size_t i = 0; i < sizeof where / sizeof *where; i++)
        link_add(&t, (struct ev){.ph = 'X',
                                 .cat = "kernel",
                                 .name = "k",
                                 .pid = "0",
                                 .tid = where[i][1],
                                 .ts = where[i][2],
                                 .dur = where[i][3],
                                 .device = where[i][0],
                                 .stream = where[i][1]});
    link_run(&t, &k);
    ck_assert_int_eq((int)k.sum.devices, 2);
    ck_assert_int_eq((int)k.sum.streams, 5);
    for (size_t i = 1; i < k.gpu.n; i++)
        ck_assert(k.gpu.p[i - 1].device < k.gpu.p[i].device || k.gpu.p[i - 1].stream < k.gpu.p[i].stream ||
                  k.gpu.p[i - 1].ts < k.gpu.p[i].ts);
    /* device 0: [0,1) + [5,20) + [20,30) = 26; device 1: [0,10) = 10 */
    ck_assert_int_eq((int)k.sum.busy_ns, 36);
    ck_assert_int_eq(count(HS_Q_STREAM_OVERLAP), 0);
}
END_TEST

START_TEST(legacy_profiler_by_its_pids)
{
    uint32_t a = link_add(&t, (struct ev){.ph = 'X', .name = "mm", .pid = "CPU functions", .ts = 0, .dur = 10});
    uint32_t b = link_add(&t, (struct ev){.ph = 'X', .name = "t", .pid = "CPU functions", .ts = 2, .dur = 3});
    link_add(&t, (struct ev){.ph = 'X', .name = "mm", .pid = "CUDA functions", .tid = 1, .ts = 20, .dur = 10});
    link_run(&t, &k);
    ck_assert_uint_eq(k.parent[b], a);
    ck_assert_uint_eq(k.gpu.n, 1);
    ck_assert_int_eq(k.gpu.p[0].device, 1);
    ck_assert_int_eq((int)k.sum.cpu_ops, 2);
}
END_TEST

/* ---- steps ---- */

static uint32_t step(const char *name, const char *cat, const char *pid, int64_t ts, int64_t dur)
{
    return link_add(&t, (struct ev){.ph = 'X', .cat = cat, .name = name, .pid = pid, .tid = 1, .ts = ts, .dur = dur});
}

START_TEST(steps_are_found_and_used)
{
    step("ProfilerStep#5", "user_annotation", "1", 100, 100);
    step("ProfilerStep # 6", "user_annotation", "1", 200, 100);
    step("ProfilerStep*", "user_annotation", "1", 0, 1000);
    step("ProfilerStep#7", "gpu_user_annotation", "0", 150, 500); /* the device's copy is no step */
    step("ProfilerStep#9", "cpu_op", "1", 0, 1000);               /* annotations are there, so they decide */
    uint32_t in5 = op("a", 100, 150), in6 = op("b", 200, 1), before = op("c", 99, 50), behind = op("d", 300, 1);
    uint32_t other =
        link_add(&t, (struct ev){.ph = 'X', .cat = "cpu_op", .name = "e", .pid = "2", .ts = 150, .dur = 1});
    uint32_t memory = link_add(
        &t,
        (struct ev){.ph = 'i', .cat = "cpu_instant_event", .name = "[memory]", .tid = 44, .ts = 250, .dur = NONE_I64});
    uint32_t l = call("cudaLaunchKernel", 199, 1, 4), g = kernel("late", 900, 1, 4);
    link_run(&t, &k);
    ck_assert_uint_eq(k.steps.n, 2);
    ck_assert_int_eq((int)k.steps.p[0].number, 5);
    ck_assert_int_eq((int)k.steps.p[1].number, 6);
    ck_assert_int_eq(k.step[in5], 0);
    ck_assert_int_eq(k.step[in6], 1);
    ck_assert_int_eq(k.step[before], -1);
    ck_assert_int_eq(k.step[behind], -1);
    ck_assert_int_eq(k.step[other], -1);
    ck_assert_int_eq(k.step[memory], 1); /* any thread, any phase */
    ck_assert_int_eq(k.step[l], 0);
    ck_assert_int_eq(k.step[g], 0); /* of its launch */
    ck_assert_int_eq(k.gpu.p[0].step, 0);
    ck_assert_int_eq(k.launches.p[0].step, 0);
    ck_assert_int_eq((int)k.sum.memory_events, 1);
}
END_TEST

START_TEST(steps_of_any_category_where_there_is_no_annotation)
{
    step("ProfilerStep#1", "cpu_op", "1", 0, 10);
    step("ProfilerStep#1", "cpu_op", "1", 20, 10);                    /* a number twice: rows of their own */
    step("ProfilerStep#99999999999999999999", "cpu_op", "1", 40, 10); /* no number of ours */
    uint32_t a = op("a", 25, 1);
    link_run(&t, &k);
    ck_assert_uint_eq(k.steps.n, 2);
    ck_assert_int_eq(k.step[a], 1);
    ck_assert_int_eq(count(HS_Q_NO_STEPS), 0);
}
END_TEST

START_TEST(an_empty_trace_links)
{
    link_run(&t, &k);
    ck_assert_uint_eq(k.n, 0);
    ck_assert_int_eq(count(HS_Q_NO_GPU) + count(HS_Q_NO_CPU) + count(HS_Q_NO_STEPS), 0);
    ck_assert(k.sum.gpu_first_ts == HS_NO_VALUE);
}
END_TEST

HS_SUITE(ingest_link)
{
    tcase_add_checked_fixture(tc, setup, teardown);
    HS_TEST(children_nest_in_what_contains_them);
    HS_TEST(equal_spans_nest_in_file_order);
    HS_TEST(overrun_up_to_a_microsecond_nests);
    HS_TEST(empty_spans_stand_in_the_closing_one);
    HS_TEST(synthetic_rows_and_device_rows_have_no_stack);
    HS_TEST(begin_and_end_make_spans);
    HS_TEST(async_events_pair_by_id);
    HS_TEST(flow_ends_without_start_are_counted);
    HS_TEST(kernels_find_their_launch);
    HS_TEST(a_graph_launch_has_many_kernels);
    HS_TEST(shared_correlations_take_the_last_call_before);
    HS_TEST(correlation_and_external_id_are_two_spaces);
    HS_TEST(event_zero_can_be_a_launch);
    HS_TEST(merged_ranks_join_within_a_rank);
    HS_TEST(merged_ranks_learn_whose_a_device_is);
    HS_TEST(classes_by_category_then_metadata_then_name);
    HS_TEST(repeats_count_once);
    HS_TEST(odd_times_are_left_out);
    HS_TEST(time_zero_is_fine_where_all_start_there);
    HS_TEST(devices_and_streams_are_told_apart);
    HS_TEST(legacy_profiler_by_its_pids);
    HS_TEST(steps_are_found_and_used);
    HS_TEST(steps_of_any_category_where_there_is_no_annotation);
    HS_TEST(an_empty_trace_links);
}
