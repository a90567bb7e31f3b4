/* The critical path in an exported trace: marks, arrows, and that Perfetto can bind them. */
#include "tests/unit/exported.h"
#include "tests/unit/json_trace.h"
#include "tests/unit/test.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static const char *text_of(json_t *event, const char *key)
{
    const char *s = json_string_value(json_object_get(event, key));
    return s ? s : "";
}

static bool is_flow(json_t *event)
{
    return !strcmp(text_of(event, "cat"), "critical_path");
}

static bool critical(json_t *event)
{
    return json_integer_value(json_object_get(json_object_get(event, "args"), "critical")) == 1;
}

static double number(json_t *event, const char *key)
{
    return json_number_value(json_object_get(event, key));
}

/* ---- by hand ---- */

/* CPU       |launch A 1-2|launch B 2-3|cudaDeviceSynchronize 4 ------- 12|after 12-13|
 * stream 7        |A 3 ------ 11|
 * stream 16          |B 4 - 6|
 * On the path: launch A, A, the synchronisation, after. Two arrows: launch A at 2 (its last ns) to A at 3, weight 1; A at 11 (its last
 * ns) to the call's end at 12, weight 1. Between the call and `after` there is none: they are of one thread. */
static json_t *by_hand(const char *params)
{
    static struct json_trace t;
    json_trace_begin(&t, 0);
    trace_launch(&t, "cudaLaunchKernel", 1, 1000, 1000, 1);
    trace_launch(&t, "cudaLaunchKernel", 1, 2000, 1000, 2);
    trace_launch(&t, "cudaDeviceSynchronize", 1, 4000, 8000, 3);
    trace_cpu(&t, "cpu_op", "after", 1, 12000, 1000);
    trace_kernel(&t, "A", 0, 7, 3000, 8000, 1);
    trace_kernel(&t, "B", 0, 16, 4000, 2000, 2);
    struct hs_run *run = json_trace_load(&t, 1);
    json_t *doc = exported(&run->ranks[0], params);
    json_trace_end(&t, 1);
    return doc;
}

/* Times as large as those of traces have a quarter of a microsecond in a double. */
#define TIME_EPS 0.3

static void arrow(json_t *s, json_t *f, const char *type, double base, double from, double to, double weight)
{
    ck_assert_str_eq(text_of(s, "ph"), "s");
    ck_assert_str_eq(text_of(f, "ph"), "f");
    ck_assert_str_eq(text_of(f, "bp"), "e");
    ck_assert_int_eq(json_integer_value(json_object_get(s, "id")), json_integer_value(json_object_get(f, "id")));
    ck_assert_double_eq_tol(number(s, "ts") - base, from, TIME_EPS);
    ck_assert_double_eq_tol(number(f, "ts") - base, to, TIME_EPS);
    ck_assert_str_eq(text_of(json_object_get(f, "args"), "type"), type);
    ck_assert_double_eq_tol(number(json_object_get(f, "args"), "weight"), weight, 1e-6);
}

START_TEST(marks_and_arrows)
{
    json_t *doc = by_hand("overlay=critical-path&from=0.5&only_show_critical_events=false"), *events, *event;
    json_t *flows[8];
    size_t n = 0, i, marked = 0;
    double base = 0;
    events = json_object_get(doc, "traceEvents");
    json_array_foreach(events, i, event)
    {
        if (is_flow(event) && n < 8)
            flows[n++] = event;
        else
            marked += critical(event);
        if (!strcmp(text_of(event, "name"), "after"))
            base = number(event, "ts") - 12;
        if (!strcmp(text_of(event, "name"), "B"))
            ck_assert(!critical(event));
    }
    ck_assert_uint_eq(marked, 4);
    ck_assert_uint_eq(n, 4);
    for (i = 0; i < n; i += 2) /* in the order of what they lead to: threads first */
        if (!strcmp(text_of(json_object_get(flows[i], "args"), "type"), "launch delay"))
            arrow(flows[i], flows[i + 1], "launch delay", base, 1.999, 3, 2); /* 1 of the call, 1 of delay */
        else
            arrow(flows[i], flows[i + 1], "synchronisation", base, 10.999, 11.999, 1);
    json_decref(doc);
}
END_TEST

static size_t count(json_t *doc, bool flows)
{
    json_t *event;
    size_t n = 0, i;
    json_array_foreach(json_object_get(doc, "traceEvents"), i, event)
    {
        n += flows ? is_flow(event) : !strcmp(text_of(event, "ph"), "X");
    }
    return n;
}

START_TEST(only_what_is_critical_or_all_edges)
{
    json_t *only = by_hand("overlay=critical-path&from=0.5"),
           *both = by_hand("overlay=critical-path&from=0.5&show_all_edges=true"),
           *all = by_hand("overlay=critical-path&from=0.5&only_show_critical_events=false&show_all_edges=true");
    ck_assert_uint_eq(count(only, false), 4); /* without launch B and B */
    ck_assert_uint_eq(count(only, true), 4);
    ck_assert_uint_eq(count(both, true), 4); /* only_show_critical_events is stronger */
    ck_assert_uint_eq(count(all, false), 6);
    /* operators 6, dependencies 3 (launch, launch, call, after), launches 2, synchronisation 1: a pair each */
    ck_assert_uint_eq(count(all, true), 2 * 12);
    json_decref(only);
    json_decref(both);
    json_decref(all);
}
END_TEST

/* To 2.5 only the launches are exported; A, which the path ends with, begins at 3: an arrow to it would lead nowhere. */
START_TEST(no_arrow_leads_out_of_a_window)
{
    json_t *doc = by_hand("overlay=critical-path&from=0.5&to=2.5"), *event;
    size_t i, launches = 0;
    json_array_foreach(json_object_get(doc, "traceEvents"), i, event)
    {
        launches += critical(event) && !is_flow(event) && !strcmp(text_of(event, "name"), "cudaLaunchKernel");
    }
    ck_assert_uint_eq(launches, 1);
    ck_assert_uint_eq(count(doc, true), 0);
    json_decref(doc);
}
END_TEST

/* From 3.5 on: A is running and was launched before; the path is A, the synchronisation, after. */
START_TEST(work_launched_before_the_window)
{
    json_t *doc = by_hand("overlay=critical-path&from=3.5"), *event;
    size_t i, work = 0, others = 0;
    json_array_foreach(json_object_get(doc, "traceEvents"), i, event)
    {
        if (!critical(event) || is_flow(event))
            continue;
        if (!strcmp(text_of(event, "name"), "A"))
            work++;
        else
            others++;
    }
    ck_assert_uint_eq(work, 1);
    ck_assert_uint_eq(others, 2);
    json_decref(doc);
}
END_TEST

/* ---- on real traces: each arrow can be bound ---- */

static bool encloses(json_t *span, json_t *flow)
{
    double ts = number(flow, "ts"), start = number(span, "ts");
    return !strcmp(text_of(span, "ph"), "X") &&
           json_equal(json_object_get(span, "pid"), json_object_get(flow, "pid")) &&
           json_equal(json_object_get(span, "tid"), json_object_get(flow, "tid")) && ts >= start - TIME_EPS &&
           ts <= start + number(span, "dur") + TIME_EPS;
}

static bool bound(json_t *events, json_t *flow)
{
    json_t *event;
    size_t i;
    json_array_foreach(events, i, event)
    {
        if (critical(event) && !is_flow(event) && encloses(event, flow))
            return true;
    }
    return false;
}

static int64_t id_of(json_t *event)
{
    return json_integer_value(json_object_get(event, "id"));
}

/* Each s with its f, both bound to a span, under an id above all that other flows have: readers may go by the id alone. */
static void check_arrows(json_t *events)
{
    json_t *event, *open = NULL;
    size_t i;
    int64_t id = -1;
    json_array_foreach(events, i, event)
    {
        if (strchr("stf", text_of(event, "ph")[0]) && !is_flow(event))
            id = id_of(event) > id ? id_of(event) : id;
    }
    json_array_foreach(events, i, event)
    {
        if (!is_flow(event))
            continue;
        ck_assert(bound(events, event));
        if (!open) {
            ck_assert_str_eq(text_of(event, "ph"), "s");
            ck_assert_int_gt(id_of(event), id);
            open = event;
            continue;
        }
        ck_assert_str_eq(text_of(event, "ph"), "f");
        id = id_of(event);
        ck_assert_int_eq(id_of(open), id);
        ck_assert_double_le(number(open, "ts"), number(event, "ts") + TIME_EPS);
        open = NULL;
    }
    ck_assert_ptr_null(open);
}

START_TEST(arrows_of_real_traces_bind)
{
    static const char *const names[] = {"critical_path_cuda_event_sync/rank0.json.gz",
                                        "vllm_cudagraph/rank0.json.gz",
                                        "h100_bert/rank0.json.gz",
                                        "mi250_toy/rank0.json.gz",
                                        "dlrm_8rank/worker0.pt.trace.json.gz",
                                        "critical_path_alexnet/rank0.json.gz"};
    const char *dir = hs_test_traces();
    for (size_t i = 0; dir && i < sizeof names / sizeof names[0]; i++) {
        struct traced t;
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        traced_file(&t, path);
        json_t *doc = exported(&t.run->ranks[0], "overlay=critical-path");
        check_arrows(json_object_get(doc, "traceEvents"));
        json_decref(doc);
        traced_end(&t);
    }
}
END_TEST

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* What is exported is a trace: our own import reads it and finds the same path. Its arrows do not take the numbers of those
 * that are there: each is of two events, not of four. */
START_TEST(an_overlay_is_a_trace)
{
    json_t *doc = by_hand("overlay=critical-path&from=0.5&only_show_critical_events=false");
    for (size_t times = 1; times < 3; times++) {
        char *text = json_dumps(doc, JSON_COMPACT);
        struct traced t;
        traced_text(&t, text, strlen(text));
        json_t *again = exported(&t.run->ranks[0], "overlay=critical-path&only_show_critical_events=false"), *event;
        int64_t ids[64];
        size_t i, n = 0;
        json_array_foreach(json_object_get(again, "traceEvents"), i, event)
        {
            if (is_flow(event) && n < 64)
                ids[n++] = id_of(event);
        }
        ck_assert_uint_gt(n, count(doc, true));
        qsort(ids, n, sizeof *ids, by_value);
        for (i = 0; i + 1 < n; i += 2)
            ck_assert(ids[i] == ids[i + 1] && (i + 2 >= n || ids[i + 2] > ids[i]));
        traced_end(&t);
        free(text);
        json_decref(doc);
        doc = again;
    }
    json_decref(doc);
}
END_TEST

HS_SUITE(render_critical)
{
    HS_TEST(marks_and_arrows);
    HS_TEST(only_what_is_critical_or_all_edges);
    HS_TEST(work_launched_before_the_window);
    HS_TEST(no_arrow_leads_out_of_a_window);
    HS_TEST(arrows_of_real_traces_bind);
    HS_TEST(an_overlay_is_a_trace);
}
