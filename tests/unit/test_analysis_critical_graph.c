/* critical-path: recorded waits, what-if, and the graph against a brute-force longest path. Times in us. */
#include "analysis/crit_graph.h"
#include "analysis/crit_window.h"
#include "tests/unit/asked.h"
#include "tests/unit/fake_view.h"
#include "tests/unit/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct json_trace t;

/* CUPTI's synchronisation activity, as Kineto writes it; `record` and `on`: -1 where it tells none. */
static void trace_sync(const char *name, int stream, int64_t ts, int64_t dur, int corr, int on, int record)
{
    char a[40], b[40];
    trace_event(&t,
                "{\"ph\":\"X\",\"cat\":\"cuda_sync\",\"name\":\"%s\",\"pid\":0,\"tid\":%d,\"ts\":%s,\"dur\":%s,"
                "\"args\":{\"cuda_sync_kind\":\"%s\",\"stream\":%d,\"correlation\":%d,\"device\":0,"
                "\"wait_on_stream\":%d,\"wait_on_cuda_event_record_corr_id\":%d}}",
                name, stream, trace_us(a, ts), trace_us(b, dur), name, stream, corr, on, record);
}

static int64_t dur_of(const struct hs_table *x, const char *column, const char *cause)
{
    for (size_t i = 0; i < x->rows; i++)
        if (!strcmp(table_text(x, i, "bound_by"), cause))
            return table_i64(x, i, column);
    return 0;
}

/* ---- recorded waits ---- */

/* CPU       |launch A 1-2|launch B 2-3|cudaStreamSynchronize(7) 4 ------- 12|after 12-13|
 * stream 7        |A 3 ---- 10|
 * stream 16          |B 4 ------ 11|          ended last, but the call waits for stream 7 */
static void stream_sync(bool recorded)
{
    json_trace_begin(&t, 0);
    trace_launch(&t, "cudaLaunchKernel", 1, 1000, 1000, 1);
    trace_launch(&t, "cudaLaunchKernel", 1, 2000, 1000, 2);
    trace_launch(&t, "cudaStreamSynchronize", 1, 4000, 8000, 3);
    trace_cpu(&t, "cpu_op", "after", 1, 12000, 1000);
    trace_kernel(&t, "A", 0, 7, 3000, 7000, 1);
    trace_kernel(&t, "B", 0, 16, 4000, 7000, 2);
    if (recorded)
        trace_sync("Stream Sync", 7, 4000, 8000, 3, -1, -1);
}

START_TEST(stream_sync_waits_for_its_stream)
{
    stream_sync(true);
    struct hs_table x = asked(&t, "critical-path", "from=1");
    ck_assert_uint_eq(x.rows, 5);
    path_piece(&x, 0, 1000, 1000, "cpu_bound", "cudaLaunchKernel");
    path_piece(&x, 1, 2000, 1000, "gpu_kernel_launch_overhead", "A");
    path_piece(&x, 2, 3000, 7000, "gpu_compute_bound", "A");
    path_piece(&x, 3, 10000, 2000, "sync", "cudaStreamSynchronize");
    path_piece(&x, 4, 12000, 1000, "cpu_bound", "after");
    ck_assert(!table_has_note(&x, "inferred"));
    hs_table_free(&x);
    json_trace_end(&t, 1);
}
END_TEST

/* The same without the activity: what ended last is taken for it, and a note says so. */
START_TEST(stream_sync_inferred)
{
    stream_sync(false);
    struct hs_table x = asked(&t, "critical-path", "from=1");
    path_piece(&x, x.rows - 3, 4000, 7000, "gpu_compute_bound", "B");
    path_piece(&x, x.rows - 2, 11000, 1000, "sync", "cudaStreamSynchronize");
    ck_assert(table_has_note(&x, "inferred"));
    hs_table_free(&x);
    json_trace_end(&t, 1);
}
END_TEST

/* CPU       |A 1-2|B 2-3|record 3-4 on 7|wait 4-5 for 16|C 5-6|
 * stream 7        |A 3 ---- 9|
 * stream 8           |B 4 ------ 11|       ended last before C, but C waits for the event after A
 * stream 16                               |C 12-15| */
START_TEST(stream_waits_for_a_recorded_event)
{
    json_trace_begin(&t, 0);
    trace_launch(&t, "cudaLaunchKernel", 1, 1000, 1000, 1);
    trace_launch(&t, "cudaLaunchKernel", 1, 2000, 1000, 2);
    trace_launch(&t, "cudaEventRecord", 1, 3000, 1000, 3);
    trace_launch(&t, "cudaStreamWaitEvent", 1, 4000, 1000, 4);
    trace_launch(&t, "cudaLaunchKernel", 1, 5000, 1000, 5);
    trace_kernel(&t, "A", 0, 7, 3000, 6000, 1);
    trace_kernel(&t, "B", 0, 8, 4000, 7000, 2);
    trace_kernel(&t, "C", 0, 16, 12000, 3000, 5);
    trace_sync("Stream Wait Event", 16, 4000, 1000, 4, 7, 3);
    struct hs_table x = asked(&t, "critical-path", "from=1");
    ck_assert_uint_eq(x.rows, 5);
    path_piece(&x, 0, 1000, 1000, "cpu_bound", "cudaLaunchKernel");
    path_piece(&x, 1, 2000, 1000, "gpu_kernel_launch_overhead", "A");
    path_piece(&x, 2, 3000, 6000, "gpu_compute_bound", "A");
    path_piece(&x, 3, 9000, 3000, "sync", "C");
    path_piece(&x, 4, 12000, 3000, "gpu_compute_bound", "C");
    hs_table_free(&x);
    json_trace_end(&t, 1);
}
END_TEST

/* CPU       |A 1-2|record 2-3|B 3-4|cudaEventSynchronize 5 --- 9|after 9-10|
 * stream 7       |A 3 --- 8|B 8 ------- 14|     the call waits for A only; B ends the window */
START_TEST(event_sync_waits_for_what_was_before_the_record)
{
    json_trace_begin(&t, 0);
    trace_launch(&t, "cudaLaunchKernel", 1, 1000, 1000, 1);
    trace_launch(&t, "cudaEventRecord", 1, 2000, 1000, 2);
    trace_launch(&t, "cudaLaunchKernel", 1, 3000, 1000, 3);
    trace_launch(&t, "cudaEventSynchronize", 1, 5000, 4000, 4);
    trace_cpu(&t, "cpu_op", "after", 1, 9000, 7000);
    trace_kernel(&t, "A", 0, 7, 3000, 5000, 1);
    trace_kernel(&t, "B", 0, 7, 8000, 6000, 3);
    trace_sync("Event Sync", -1, 5000, 4000, 4, 7, 2);
    struct hs_table x = asked(&t, "critical-path", "from=1");
    ck_assert_uint_eq(x.rows, 5);
    path_piece(&x, 2, 3000, 5000, "gpu_compute_bound", "A");
    path_piece(&x, 3, 8000, 1000, "sync", "cudaEventSynchronize");
    path_piece(&x, 4, 9000, 7000, "cpu_bound", "after");
    hs_table_free(&x);
    json_trace_end(&t, 1);
}
END_TEST

/* One launch, a graph of three kernels; c waits for b, which is on another stream.
 * CPU       |cudaGraphLaunch 1-2|
 * stream 7            |a 3-5|        |c 9-10|
 * stream 16                 |b 5.5-8| */
START_TEST(kernels_of_a_graph)
{
    json_trace_begin(&t, 0);
    trace_launch(&t, "cudaGraphLaunch", 1, 1000, 1000, 1);
    trace_kernel(&t, "a", 0, 7, 3000, 2000, 1);
    trace_kernel(&t, "b", 0, 16, 5500, 2500, 1);
    trace_kernel(&t, "c", 0, 7, 9000, 1000, 1);
    struct hs_table x = asked(&t, "critical-path", "from=1");
    ck_assert_uint_eq(x.rows, 7);
    path_piece(&x, 1, 2000, 1000, "gpu_kernel_launch_overhead", "a");
    path_piece(&x, 2, 3000, 2000, "gpu_compute_bound", "a");
    path_piece(&x, 3, 5000, 500, "sync", "b");
    path_piece(&x, 4, 5500, 2500, "gpu_compute_bound", "b");
    path_piece(&x, 5, 8000, 1000, "sync", "c");
    path_piece(&x, 6, 9000, 1000, "gpu_compute_bound", "c");
    hs_table_free(&x);
    json_trace_end(&t, 1);
}
END_TEST

/* ---- what if ---- */

/* CPU       |A 1-2|B 2-3|                 |cudaDeviceSynchronize 4 ------ 20|
 * stream 7        |A 3 ------------ 19|           sync returns 1 after A
 * stream 16          |B 4 --- 10|
 * With A at a half (3 to 11) the call returns at 12; at nothing B ends last of what is known, but nobody waits for it: the
 * call then takes what its return took, 1, after its own start at 4: the CPU was busy 1-3, idle 3-4. */
START_TEST(halving_work_moves_what_waits_for_it)
{
    json_trace_begin(&t, 0);
    trace_launch(&t, "cudaLaunchKernel", 1, 1000, 1000, 1);
    trace_launch(&t, "cudaLaunchKernel", 1, 2000, 1000, 2);
    trace_launch(&t, "cudaDeviceSynchronize", 1, 4000, 16000, 3);
    trace_kernel(&t, "A", 0, 7, 3000, 16000, 1);
    trace_kernel(&t, "B", 0, 16, 4000, 6000, 2);
    struct hs_table x = asked(&t, "critical-path-what-if", "from=1&reweight=name:^A$=0.5");
    ck_assert_int_eq(dur_of(&x, "base_us", "gpu_compute_bound"), 16000);
    ck_assert_int_eq(dur_of(&x, "new_us", "gpu_compute_bound"), 8000);
    ck_assert_int_eq(dur_of(&x, "change_us", "gpu_compute_bound"), -8000);
    ck_assert(table_has_note(&x, "11.000 us long instead of 19.000 us"));
    hs_table_free(&x);
    /* A takes nothing: B, 4 to 10, is the last to end; the call returns at 3 + 0 + 1, but not before 4 */
    x = asked(&t, "critical-path-what-if", "from=1&reweight=name:^A$=0");
    ck_assert(table_has_note(&x, "9.000 us long instead of 19.000 us"));
    ck_assert_int_eq(dur_of(&x, "new_us", "gpu_compute_bound"), 6000);
    hs_table_free(&x);
    /* the same by class and by event: both kernels at nothing */
    x = asked(&t, "critical-path-what-if", "from=1&reweight=class:compute=0;class:launch=0");
    ck_assert(table_has_note(&x, "3.000 us long instead of 19.000 us"));
    hs_table_free(&x);
    json_trace_end(&t, 1);
}
END_TEST

/* The same from 5 on: A and B were launched before. Of A 5 to 19 counts, 14, and at a half 7; B ends at 10, before it (12). */
START_TEST(work_from_before_the_window_is_reweighted)
{
    json_trace_begin(&t, 0);
    trace_launch(&t, "cudaLaunchKernel", 1, 1000, 1000, 1);
    trace_launch(&t, "cudaLaunchKernel", 1, 2000, 1000, 2);
    trace_launch(&t, "cudaDeviceSynchronize", 1, 4000, 16000, 3);
    trace_kernel(&t, "A", 0, 7, 3000, 16000, 1);
    trace_kernel(&t, "B", 0, 16, 4000, 6000, 2);
    struct hs_table x = asked(&t, "critical-path-what-if", "from=5&reweight=name:^A$=0.5");
    ck_assert_int_eq(dur_of(&x, "base_us", "gpu_compute_bound"), 14000);
    ck_assert_int_eq(dur_of(&x, "new_us", "gpu_compute_bound"), 7000);
    ck_assert_int_eq(dur_of(&x, "base_us", "sync"), 1000);
    ck_assert(table_has_note(&x, "8.000 us long instead of 15.000 us"));
    hs_table_free(&x);
    /* what runs longer than the window, and nobody in it waits for, is not its end */
    x = asked(&t, "critical-path-what-if", "from=5&to=6&reweight=name:^A$=9");
    ck_assert(table_has_note(&x, "1.000 us long instead of 1.000 us"));
    hs_table_free(&x);
    json_trace_end(&t, 1);
}
END_TEST

START_TEST(reweight_is_checked)
{
    struct hs_err err = HS_ERR_INIT;
    json_trace_begin(&t, 0);
    trace_cpu(&t, "cpu_op", "op", 1, 1000, 1000);
    struct hs_run *run = json_trace_load(&t, 1);
    static const char *const bad[] = {"reweight=compute=0.5",       "reweight=class:gpu=0.5",
                                      "reweight=class:compute=-1",  "reweight=class:compute=nan",
                                      "reweight=class:compute=1e9", "reweight=event:x=1",
                                      "reweight=name:(=1",          "reweight=name:a"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ck_assert_int_eq(fake_analyze_fails(run, "critical-path-what-if", bad[i], &err), HS_EUSAGE);
    json_trace_end(&t, 1);
}
END_TEST

/* ---- the graph against all of its ways ---- */

static void random_trace(uint32_t *seed, int n, bool sync)
{
    json_trace_begin(&t, 0);
    for (int k = 0; k < n; k++) {
        int64_t ts = 100 + draw_below(seed, 4000), dur = draw_below(seed, 500);
        int64_t start = ts + (int64_t)draw_below(seed, 900) - 100, len = draw_below(seed, 700);
        unsigned kind = draw_below(seed, 5);
        int tid = 1 + (int)draw_below(seed, 2), stream = 7 + (int)draw_below(seed, 3);
        if (kind == 0) {
            trace_cpu(&t, "cpu_op", "op", tid, ts, dur);
        } else if (kind == 1) {
            trace_cpu(&t, "user_annotation", "note", tid, ts, dur);
        } else if (kind == 2) {
            trace_launch(&t, "cudaStreamSynchronize", tid, ts, dur, k + 1);
            if (sync)
                trace_sync("Stream Sync", stream, ts, dur, k + 1, -1, -1);
        } else {
            trace_launch(&t, "cudaLaunchKernel", tid, ts, dur, k + 1);
            trace_kernel(&t, "k", 0, stream, start, len, k + 1);
        }
    }
}

struct brute {
    const struct hs_crit_graph *g;
    const double *factor; /* by node */
    const double *lag;
};

/* The longest of all ways that end at point p: every edge is tried, nothing is remembered. */
static int64_t longest_to(const struct brute *b, uint32_t p, int depth)
{
    int64_t best = INT64_MIN;
    ck_assert_int_lt(depth, 200); /* else: a cycle */
    for (uint32_t k = b->g->in[p]; k < b->g->in[p + 1]; k++) {
        const struct hs_crit_edge *e = &b->g->edges.p[k];
        bool first = e->from == HS_NO_POINT;
        int64_t own = first ? e->own : llround((double)e->own * b->factor[e->from / 2]);
        double f = first ? 1 : e->lag_is_work ? b->factor[p / 2] : b->lag[e->cause];
        int64_t way = own + llround((double)e->lag * f) + (first ? 0 : longest_to(b, e->from, depth + 1));
        best = way > best ? way : best;
    }
    return best;
}

/* A path ends with a stretch of a thread, or with work that the window launched. */
static bool ends(const struct hs_crit_rank *c, const struct hs_crit_graph *g, size_t node)
{
    return node < g->nseg || c->sel.gpu.launch_ts[g->item[node]] >= c->window.start;
}

START_TEST(longest_way_of_random_graphs)
{
    uint32_t seed = 4711 + (uint32_t)_i;
    struct hs_err err = HS_ERR_INIT;
    struct hs_params *params;
    struct hs_table notes;
    struct hs_crit_rank c;
    struct hs_crit_graph g;
    struct hs_crit_way way;
    random_trace(&seed, 12, _i % 2);
    struct hs_run *run = json_trace_load(&t, 1);
    const struct hs_analysis *a = hs_analysis_find("critical-path-summary");
    ck_assert_int_eq(hs_params_new(&params, a->params, a->nparams, &err), HS_OK);
    if (_i % 3 == 0) {
        ck_assert_int_eq(hs_params_set(params, "from", "1.2", &err), HS_OK);
        ck_assert_int_eq(hs_params_set(params, "to", "3", &err), HS_OK);
    }
    hs_table_init(&notes, NULL, 0);
    ck_assert_int_eq(hs_crit_rank_open(&c, &run->ranks[0], params, NULL, &notes, &err), HS_OK);
    ck_assert_int_eq(hs_crit_graph_build(&g, &c.index, c.window.start, c.window.end, &err), HS_OK);
    double *factor = hs_malloc((g.nnodes + 1) * sizeof *factor), lag[HS_CRIT_CAUSES];
    for (int round = 0; round < 4; round++) {
        for (size_t k = 0; k < g.nnodes; k++)
            factor[k] = round ? draw_below(&seed, 300) / 100.0 : 1;
        for (size_t k = 0; k < HS_CRIT_CAUSES; k++)
            lag[k] = round ? draw_below(&seed, 300) / 100.0 : 1;
        struct brute b = {&g, factor, lag};
        int64_t best = INT64_MIN;
        for (uint32_t p = 0; p < 2 * g.nnodes; p++) {
            int64_t to = longest_to(&b, p, 0);
            best = to > best && ends(&c, &g, p / 2) ? to : best;
            if (!round) /* with the weights as measured, each point is when it was */
                ck_assert_int_eq(to, hs_crit_point_time(&g, &c.index, p) - g.from);
        }
        ck_assert_int_eq(hs_crit_longest(&g, &c.index, &(struct hs_crit_factors){factor, lag}, &way, &err), HS_OK);
        ck_assert_int_eq(way.length, best);
        hs_crit_way_free(&way);
    }
    free(factor);
    hs_crit_graph_free(&g);
    hs_crit_rank_close(&c);
    hs_table_free(&notes);
    hs_params_free(params);
    json_trace_end(&t, 1);
}
END_TEST

/* With all weights as they were, the graph's longest way is as long as the walk's path, which knows nothing of it. */
START_TEST(graph_and_walk_agree)
{
    uint32_t seed = 99 + (uint32_t)_i;
    int64_t walked = 0, base = 0, new = 0;
    random_trace(&seed, 80, _i % 2);
    struct hs_table x = asked(&t, "critical-path-summary", _i % 3 ? "" : "from=0.5&to=3");
    for (size_t i = 0; i < x.rows; i++)
        walked += table_i64(&x, i, "dur_us");
    hs_table_free(&x);
    x = asked(&t, "critical-path-what-if", _i % 3 ? "reweight=class:cpu=1" : "from=0.5&to=3&reweight=class:cpu=1");
    for (size_t i = 0; i < x.rows; i++) {
        base += table_i64(&x, i, "base_us");
        new += table_i64(&x, i, "new_us");
    }
    hs_table_free(&x);
    ck_assert_int_eq(base, walked);
    ck_assert_int_eq(new, walked);
    json_trace_end(&t, 1);
}
END_TEST

/* op 1-5 with a launch in it, its kernel, a call that waits for it: four stretches of the thread (op, call, op, sync) and one
 * activity. Operator edges: one each, 5. Dependencies: op -> launch call -> op -> sync, 3. Launch 1, synchronisation 1. The
 * event of the clock's origin is a sixth node on a thread of its own. */
START_TEST(edges_are_counted)
{
    json_trace_begin(&t, 0);
    trace_cpu(&t, "cpu_op", "op", 1, 1000, 4000);
    trace_launch(&t, "cudaLaunchKernel", 1, 2000, 1000, 1);
    trace_launch(&t, "cudaDeviceSynchronize", 1, 5000, 6000, 2);
    trace_kernel(&t, "k", 0, 7, 4000, 6000, 1);
    struct hs_table x = asked(&t, "critical-path-summary", "from=1");
    ck_assert(table_has_note(&x, "10 nodes"));
    ck_assert(table_has_note(&x, "10 edges: 5 operator, 3 dependency, 1 launch delay, 0 kernel-kernel delay, 1 sync"));
    hs_table_free(&x);
    json_trace_end(&t, 1);
}
END_TEST

HS_SUITE(analysis_critical_graph)
{
    HS_TEST(stream_sync_waits_for_its_stream);
    HS_TEST(stream_sync_inferred);
    HS_TEST(stream_waits_for_a_recorded_event);
    HS_TEST(event_sync_waits_for_what_was_before_the_record);
    HS_TEST(kernels_of_a_graph);
    HS_TEST(halving_work_moves_what_waits_for_it);
    HS_TEST(work_from_before_the_window_is_reweighted);
    HS_TEST(reweight_is_checked);
    HS_LOOP_TEST(longest_way_of_random_graphs, 0, 60);
    HS_LOOP_TEST(graph_and_walk_agree, 0, 60);
    HS_TEST(edges_are_counted);
}
