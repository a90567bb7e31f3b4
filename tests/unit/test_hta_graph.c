/* compat=hta on call stacks, sequences, operators, the critical path and diff: small graphs drawn here, figures by hand. */
#include "tests/unit/hta_fixture.h"
#include "tests/unit/test.h"

#include <math.h>
#include <string.h>

/*  A [0 .......................... 100]
 *    B [10 .. 20]  C [20 .. 50]  touch: siblings
 *      L [12-15]     M [30-33]
 *  kernels k1 (of L) [40, 45), k2 (of M) [60, 68) on stream 7                                   */
#define TREE                                                                                                           \
    OP("aten::A", "0", "100")                                                                                          \
    "," OP("aten::B", "10", "10") "," OP("aten::C", "20", "30") "," CALL("cudaLaunchKernel", "12", "3", "1") "," CALL( \
        "cudaLaunchKernel", "30", "3", "2") "," KERNEL("k1", "7", "40", "5", "1") "," KERNEL("k2", "7", "60", "8",     \
                                                                                             "2")

START_TEST(call_stack)
{
    struct hta_fixture f;
    hta_open(&f, 1, TRACE(TREE));
    struct hs_table t = hta_ask(&f, "call-stack", "");
    expect(&t, "depth", 7, 0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0);
    expect(&t, "parent", 7, -1.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0); /* the root of thread 1 is -1 */
    expect(&t, "height", 7, 3.0, 2.0, 2.0, 1.0, 1.0, 0.0, 0.0);
    expect(&t, "num_kernels", 7, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0);
    expect(&t, "kernel_dur_sum", 7, 13.0, 5.0, 8.0, 5.0, 8.0, 5.0, 8.0);
    expect(&t, "first_kernel_start", 7, 40.0, 40.0, 60.0, 40.0, 60.0, 40.0, 60.0);
    expect(&t, "kernel_span", 7, 28.0, 5.0, 8.0, 5.0, 8.0, 5.0, 8.0);
    hs_table_free(&t);
    hta_close(&f);
}
END_TEST

/* [10, 110) and [60, 160) overlap in part: the second nests. An event of no length at a border lies in neither neighbour's
 * way. A lane of thread 0 has no stack. */
START_TEST(odd_stacks)
{
    struct hta_fixture f;
    hta_open(&f, 1,
             TRACE(OP("a", "10", "100") "," OP("b", "60", "100") "," OP("z", "160", "0") "," OP(
                 "c", "200", "5") "," EVENT("overhead", "o", "1", "0", "0", "500", "")));
    struct hs_table t = hta_ask(&f, "call-stack", "");
    expect(&t, "depth", 5, 0.0, 1.0, 1.0, 0.0, -1.0); /* z opens before b closes; b's end at 110 was a's pop */
    expect(&t, "parent", 5, -1.0, 0.0, 0.0, -1.0, -1.0);
    hs_table_free(&t);
    hta_close(&f);
}
END_TEST

START_TEST(sequences)
{
    struct hta_fixture f;
    hta_open(&f, 1, TRACE(TREE));
    struct hs_table t = hta_ask(&f, "kernel-sequences", "operator_name=aten::A&min_pattern_len=2");
    expect_text(&t, "pattern", 1, "aten::A|k1|k2");
    expect(&t, "count", 1, 1.0);
    expect(&t, "GPU kernel duration (us)", 1, 13.0);
    expect(&t, "CPU op duration (us)", 1, 100.0);
    hs_table_free(&t);
    t = hta_ask(&f, "kernel-sequences", "operator_name=aten::A");
    ck_assert_uint_eq(t.rows, 0); /* two kernels are fewer than three */
    hs_table_free(&t);
    t = hta_ask(&f, "kernel-sequences", "operator_name=nothing");
    ck_assert_uint_eq(t.rows, 0);
    hs_table_free(&t);
    t = hta_ask(&f, "op-launch-delays", "");
    expect_text(&t, "aten_op_name", 2, "aten::B", "aten::C"); /* the operator with the latest start */
    expect_text(&t, "kernel_sequence", 2, "k1", "k2");
    expect(&t, "avg_aten_op_launch_delay", 2, 2.0, 10.0);
    expect(&t, "avg_runtime_delay", 2, 28.0, 30.0);
    hs_table_free(&t);
    hta_close(&f);
}
END_TEST

/* Ranges and launches pair up in order of time; operators above the launch, outermost first. */
START_TEST(counters)
{
    struct hta_fixture f;
    hta_open(&f, 1,
             TRACE(TREE "," EVENT("cuda_profiler_range", "r2", "0", "0", "71", "1", "\"sm__x.sum\": 5") "," EVENT(
                 "cuda_profiler_range", "r1", "0", "0", "70", "1", "\"sm__x.sum\": 2.5")));
    struct hs_table t = hta_ask(&f, "counters", "");
    expect_text(&t, "name", 2, "r1", "r2");
    expect(&t, "sm__x.sum", 2, 2.5, 5.0);
    expect(&t, "index_runtime", 2, 3.0, 4.0);
    expect_text(&t, "op_stack", 2, "[\"aten::A\",\"aten::B\"]", "[\"aten::A\",\"aten::C\"]");
    expect_text(&t, "bottom_level_op", 2, "aten::B", "aten::C");
    hs_table_free(&t);
    hta_close(&f);
}
END_TEST

/*  A  s0 ------------------------------ e100          A.s -10-> L.s (operator A)
 *    L  s10 - e20                                     L.s -20-> K.s (launch: its stream was empty)
 *  K            s30 ------------------------- e130    K.s -100-> K.e (compute); all other paths are shorter: 100, 110 */
START_TEST(critical_path)
{
    struct hta_fixture f;
    hta_open(&f, 1,
             TRACE(OP("z", "0", "1") "," OP("A", "10", "100") "," CALL("cudaLaunchKernel", "20", "10", "1") "," KERNEL(
                 "void k<int>(float)", "7", "40", "100", "1")));
    struct hs_table t = hta_ask(&f, "critical-path", "annotation=A");
    expect(&t, "event_idx", 3, 1.0, NAN, 3.0);
    expect(&t, "duration", 3, 10.0, 20.0, 100.0);
    expect_text(&t, "type", 3, "critical_path_operator", "critical_path_kernel_launch_delay", "critical_path_operator");
    expect_text(&t, "bound_by", 3, "cpu_bound", "gpu_kernel_launch_overhead", "gpu_compute_bound");
    expect_text(&t, "s_name", 3, "A", NULL, "k");
    hs_table_free(&t);
    t = hta_ask(&f, "critical-path-summary", "annotation=A");
    expect_text(&t, "bound_by", 3, "cpu_bound", "gpu_compute_bound", "gpu_kernel_launch_overhead");
    expect(&t, "duration", 3, 10.0, 100.0, 20.0);
    hs_table_free(&t);
    t = hta_ask(&f, "critical-path", "annotation=A&instance_id=1");
    ck_assert_uint_eq(t.rows, 0);
    ck_assert(hta_noted(&t, "no such instance"));
    hs_table_free(&t);
    hta_close(&f);
}
END_TEST

/* Two kernels back to back, and a synchronisation that ends with the second: the path runs over both into the call.
 *  A [100, 200); L1 [110, 112), L2 [114, 116), S = cudaDeviceSynchronize [120, 195); K1 [113, 153), K2 [157, 190); the sync
 *  event ends at 190. A.s 10 L1.s 3 K1.s 40 K1.e 4 K2.s 33 K2.e 0 S.e 5 A.e = 95; on the CPU alone it is 25. */
START_TEST(critical_path_over_a_sync)
{
    struct hta_fixture f;
    hta_open(&f, 1,
             TRACE(OP("z", "0", "1") "," OP("A", "100", "100") "," CALL("cudaLaunchKernel", "110", "2", "1") "," CALL(
                 "cudaLaunchKernel", "114", "2",
                 "2") "," CALL("cudaDeviceSynchronize", "120", "75",
                               "3") "," KERNEL("k1", "7", "113", "40",
                                               "1") "," KERNEL("ncclK", "7", "157", "33",
                                                               "2") "," EVENT("cuda_sync", "Context Sync", "0", "7",
                                                                              "121", "69",
                                                                              "\"stream\": 4294967295, "
                                                                              "\"correlation\": 3")));
    struct hs_table t = hta_ask(&f, "critical-path", "annotation=A");
    expect(&t, "duration", 7, 10.0, 3.0, 40.0, 4.0, 33.0, 0.0, 5.0);
    expect_text(&t, "bound_by", 7, "cpu_bound", "gpu_kernel_launch_overhead", "gpu_compute_bound",
                "gpu_kernel_kernel_overhead", "gpu_communication_bound", "", "cpu_bound");
    expect(&t, "event_idx", 7, 1.0, NAN, 5.0, 5.0, 6.0, NAN, 1.0);
    hs_table_free(&t);
    hta_close(&f);
}
END_TEST

#define STEP_OF(ops) NOTE("ProfilerStep#5", "0", "100") "," ops
START_TEST(diff)
{
    struct hta_fixture a, b;
    hta_open(&a, 1,
             TRACE(STEP_OF(OP("x", "1", "2") "," OP("x", "4", "3") "," OP("y", "8", "1") "," OP("out", "500", "1"))));
    hta_open(&b, 1, TRACE(STEP_OF(OP("x", "1", "9") "," OP("w<1>", "20", "1"))));
    a.other = b.run;
    struct hs_table t = hta_ask(&a, "diff", "");
    expect_text(&t, "name", 4, "ProfilerStep#5", "x", "y", "w<1>");
    expect(&t, "Control_counts", 4, 1.0, 2.0, 1.0, 0.0);
    expect(&t, "diff_counts", 4, 0.0, -1.0, -1.0, 1.0);
    expect(&t, "diff_duration", 4, 0.0, 4.0, -1.0, 1.0);
    expect_text(&t, "counts_change_categories", 4, "=", "-", "-", "+");
    hs_table_free(&t);
    t = hta_ask(&a, "diff-ops", "use_short_name=true");
    expect_text(&t, "name", 4, "w", "y", "x", "ProfilerStep#5");
    expect_text(&t, "change", 4, "added", "deleted", "decreased", "unchanged");
    hs_table_free(&t);
    t = hta_ask(&a, "diff", "control_iteration=6");
    ck_assert_uint_eq(t.rows, 0);
    ck_assert(hta_noted(&t, "no step 6"));
    hs_table_free(&t);
    hta_close(&a);
    hta_close(&b);
}
END_TEST

/* Whatever the trace, every analysis answers. */
START_TEST(odd_traces)
{
    static const char *const traces[] = {
        TRACE(""),
        TRACE("{}"),
        TRACE("{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1}"),
        TRACE(OP("ProfilerStep*", "1", "1") "," OP("ProfilerStep#1", "1", "-1") "," OP("ProfilerStep#2", "1", "0")),
        TRACE(KERNEL("k", "7", "1", "-5", "1") "," KERNEL("k", "7", "1", "0", "1") "," CALL(
            "cudaLaunchKernel", "1", "-1", "1") "," OP("a", "1", "0") "," OP("aten::b", "1", "-3")),
        TRACE(EVENT("cpu_op", "text ids", "\"Spans\"", "\"PyTorch\"", "1", "1", "") "," EVENT("cpu_op", "n", "null",
                                                                                              "1.5", "2", "1", "")),
        TRACE(OP("huge", "9000000000000", "9000000000000") "," OP("big", "1", "18446744073709551615") "," OP("e", "1e3",
                                                                                                             "1e30")),
        TRACE(EVENT("cuda_sync", "Event Sync", "0", "7", "5", "1", "\"stream\": 7, \"correlation\": -5") "," EVENT(
            "cuda_sync", "Odd Sync", "0", "7", "5", "1",
            "\"stream\": 7, \"correlation\": 5, \"wait_on_stream\": 7") "," EVENT("cuda_sync", "Stream Wait Event", "0",
                                                                                  "7", "6", "1",
                                                                                  "\"stream\": 7, \"correlation\": 6, "
                                                                                  "\"wait_on_stream\": 7, "
                                                                                  "\"wait_on_cuda_event_record_corr_"
                                                                                  "id\": 8") "," CALL("cudaStreamWaitEv"
                                                                                                      "ent",
                                                                                                      "1", "1",
                                                                                                      "6") "," CALL("cu"
                                                                                                                    "da"
                                                                                                                    "Ev"
                                                                                                                    "en"
                                                                                                                    "tR"
                                                                                                                    "ec"
                                                                                                                    "or"
                                                                                                                    "d",
                                                                                                                    "2",
                                                                                                                    "1",
                                                                                                                    "8")),
        TRACE(WORK("gpu_memcpy", "Memcpy", "-1", "1", "1",
                   "9223372036854775807") "," WORK("kernel", "k", "9223372036854775807", "1", "1", "0")),
        TRACE("{\"ph\": \"X\", \"cat\": \"cpu_op\", \"ts\": 1, \"dur\": 1, \"args\": [1]},"
              "{\"ph\": \"X\", \"cat\": 5, \"name\": 7, \"ts\": \"3\", \"dur\": \"4\", \"args\": null}"),
        TRACE(EVENT("cuda_profiler_range", "r", "0", "0", "1", "1", "\"x\": 1") "," CALL("cudaLaunchKernel", "1", "1",
                                                                                         "2")),
    };
    for (size_t i = 0; i < sizeof traces / sizeof traces[0]; i++) {
        struct hta_fixture f;
        hta_open(&f, 1, traces[i]);
        f.other = f.run;
        for (const struct hta_entry *e = hta_entries; e->name; e++) {
            bool seq = !strcmp(e->name, "kernel-sequences");
            struct hs_table t = hta_ask(&f, e->name, seq ? "operator_name=a&min_pattern_len=0" : "");
            hs_table_free(&t);
        }
        hta_close(&f);
    }
}
END_TEST

HS_SUITE(hta_graph)
{
    HS_TEST(call_stack);
    HS_TEST(odd_stacks);
    HS_TEST(sequences);
    HS_TEST(counters);
    HS_TEST(critical_path);
    HS_TEST(critical_path_over_a_sync);
    HS_TEST(diff);
    HS_TEST(odd_traces);
}
