/* What every analysis of launches, annotations and stacks promises of rank, step, from and to: the parts make up the whole. */
#include "tests/unit/fake_view.h"
#include "tests/unit/sim_device.h"
#include "tests/unit/sim_tree.h"
#include "tests/unit/test.h"

#include <stdio.h>
#include <string.h>

static struct json_trace t[2];
static struct sim sim;
static struct sim_tree tree;

/* Two ranks, each with operators on three threads, device work, GPU annotations, memory events and two steps. */
static struct hs_run *two_ranks(uint32_t seed)
{
    char us[40];
    for (int r = 0; r < 2; r++) {
        json_trace_begin(&t[r], r);
        trace_cpu(&t[r], "user_annotation", "ProfilerStep#1", 5, 10, 300);
        trace_cpu(&t[r], "user_annotation", "ProfilerStep#2", 5, 310, 2300);
        sim_fill(&sim, &t[r], seed + (uint32_t)r, 40); /* launched by threads 1 and 2, correlations from 100 on */
        for (int i = 0; i < 30; i++)
            trace_event(&t[r],
                        "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":%"
                        "s,\"args\":{\"Device "
                        "Type\":1,\"Device Id\":%d,\"Bytes\":%d,\"Total Allocated\":%d}}",
                        trace_us(us, 20 * i), i % 2, i, 100 * i);
        trace_event(
            &t[r],
            "{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":\"g\",\"pid\":0,\"tid\":7,\"ts\":%s,\"dur\":0.2}",
            trace_us(us, 100));
    }
    return json_trace_load(t, 2);
}

static size_t rows(struct hs_run *run, const char *name, const char *more, const char *params)
{
    char text[256];
    snprintf(text, sizeof text, "%s%s%s", more, *more && *params ? "&" : "", params);
    struct hs_table x = fake_analyze(run, name, text);
    size_t n = x.rows;
    hs_table_free(&x);
    return n;
}

static int64_t sum(struct hs_run *run, const char *name, const char *more, const char *params, const char *column)
{
    char text[256];
    snprintf(text, sizeof text, "%s%s%s", more, *more && *params ? "&" : "", params);
    struct hs_table x = fake_analyze(run, name, text);
    int64_t all = 0;
    for (size_t r = 0; r < x.rows; r++)
        all += table_i64(&x, r, column);
    hs_table_free(&x);
    return all;
}

/* One row an event: each row is in exactly one window and of exactly one rank. */
static const char *const by_event[][2] = {
    {"launches", ""},           {"launch-outliers", "runtime_cutoff=0.005&limit=0"},
    {"kernel-annotations", ""}, {"call-stack", ""},
    {"memory-timeline", ""},    {"steps", ""}};
/* Figures that add up over the parts. */
static const char *const by_sum[][3] = {{"flame", "", "weight_us"},
                                        {"flame", "weight=cpu", "weight_us"},
                                        {"annotations", "use_gpu_annotation=0", "sum_us"},
                                        {"annotations", "", "calls"},
                                        {"memory-bandwidth", "", "bytes"},
                                        {"queue-length", "", "time_us"},
                                        {"overlap", "", "communication_us"}};

START_TEST(windows_and_ranks_make_up_the_whole)
{
    struct hs_run *run = two_ranks((uint32_t)_i * 31 + 1);
    for (size_t k = 0; k < sizeof by_event / sizeof by_event[0]; k++) {
        const char *name = by_event[k][0], *more = by_event[k][1];
        size_t all = rows(run, name, more, "");
        ck_assert_msg(all > 1, "%s", name);
        ck_assert_uint_eq(rows(run, name, more, "to=0.25") + rows(run, name, more, "from=0.25"), all);
        ck_assert_uint_eq(rows(run, name, more, "rank=0") + rows(run, name, more, "rank=1"), all);
        ck_assert_uint_eq(rows(run, name, more, "from=5"), 0);
    }
    for (size_t k = 0; k < sizeof by_sum / sizeof by_sum[0]; k++) {
        const char *name = by_sum[k][0], *more = by_sum[k][1], *column = by_sum[k][2];
        int64_t all = sum(run, name, more, "", column);
        ck_assert_msg(all > 1, "%s", name);
        ck_assert_int_eq(sum(run, name, more, "to=0.25", column) + sum(run, name, more, "from=0.25", column), all);
        ck_assert_int_eq(sum(run, name, more, "rank=0", column) + sum(run, name, more, "rank=1", column), all);
    }
    json_trace_end(t, 2);
}
END_TEST

START_TEST(steps_part_the_work)
{
    struct hs_run *run = two_ranks((uint32_t)_i * 17 + 3);
    static const char *const names[] = {"launches", "kernel-annotations"};
    for (size_t k = 0; k < 2; k++) {
        size_t one = rows(run, names[k], "", "step=1"), two = rows(run, names[k], "", "step=2");
        ck_assert_uint_gt(one, 0);
        ck_assert_uint_gt(two, 0);
        ck_assert_uint_eq(rows(run, names[k], "", "step=1,2"), one + two);
    }
    ck_assert_int_eq(sum(run, "flame", "", "step=1,2", "weight_us"),
                     sum(run, "kernel-annotations", "", "step=1,2", "dur_us"));
    ck_assert_int_eq(sum(run, "steps", "", "", "kernels") + sum(run, "steps", "", "", "memory_ops"),
                     (int64_t)rows(run, "launches", "", "step=1,2"));
    struct hs_table x = fake_analyze(run, "launches", "step=77");
    ck_assert(!x.rows && table_has_note(&x, "none of the steps asked for"));
    hs_table_free(&x);
    json_trace_end(t, 2);
}
END_TEST

/* A thread nested deeper than depths are counted, with a launch at the bottom: no recursion, no quadratic walk. */
START_TEST(very_deep_stacks)
{
    enum { DEPTH = 70000 };
    json_trace_begin(&t[0], 0);
    for (int i = 0; i < DEPTH; i++)
        trace_cpu(&t[0], "python_function", i ? "f" : "aten::top", 1, 10 + i, 4 * DEPTH - 2 * i);
    trace_launch(&t[0], "cudaLaunchKernel", 1, DEPTH + 100, 10, 1);
    trace_kernel(&t[0], "k", 0, 7, DEPTH + 200, 5, 1);
    struct hs_run *run = json_trace_load(&t[0], 1);
    ck_assert_int_eq(sum(run, "flame", "", "", "weight_us"), 5);
    ck_assert_uint_eq(rows(run, "kernel-sequences", "operator_name=aten::top&min_pattern_len=1", ""), 1);
    struct hs_table x = fake_analyze(run, "call-stack", "thread=1&limit=1");
    ck_assert_int_eq(table_i64(&x, 0, "num_kernels"), 1);
    hs_table_free(&x);
    x = fake_analyze(run, "flame", "");
    ck_assert(!strncmp(table_text(&x, 0, "stack"), "...;f;f;", 8));
    hs_table_free(&x);
    json_trace_end(t, 1);
}
END_TEST

/* Weights add up: nothing is lost between frames, nor with the python frames left out. */
START_TEST(flames_hold_all_time)
{
    json_trace_begin(&t[0], 0);
    sim_tree_fill(&tree, &t[0], 200 + (uint32_t)_i);
    struct hs_run *run = json_trace_load(&t[0], 1);
    int64_t gpu = 0, top = 1; /* the origin */
    for (int k = 0; k < tree.kernels; k++)
        gpu += tree.kernel[k].dur;
    for (int n = 0; n < tree.nodes; n++)
        top += tree.node[n].parent < 0 ? tree.node[n].dur : 0;
    ck_assert_int_eq(sum(run, "flame", "", "", "weight_us"), gpu);
    ck_assert_int_eq(sum(run, "flame", "weight=cpu", "", "weight_us"), top);
    ck_assert_int_eq(sum(run, "flame", "weight=cpu&python=0", "", "weight_us"), top);
    json_trace_end(t, 1);
}
END_TEST

HS_SUITE(analysis_windows)
{
    HS_LOOP_TEST(windows_and_ranks_make_up_the_whole, 0, 4);
    HS_LOOP_TEST(steps_part_the_work, 0, 4);
    HS_LOOP_TEST(flames_hold_all_time, 0, 4);
    HS_TEST(very_deep_stacks);
}
