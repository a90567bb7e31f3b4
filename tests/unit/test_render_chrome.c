/* Traces given back: the same value for value, and on top exactly what was asked for, against hand computation. */
#include "render/chrome_args.h"
#include "tests/unit/exported.h"
#include "tests/unit/json_trace.h"
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

static const char g_document[] =
    "{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"name\": \"A \\\"GPU\\\" \\u00fc\", \"x\": 1.50e3}],\n"
    "\"distributedInfo\": {\"rank\": 5, \"world_size\": 8}, \"with_flops\": true, \"nothing\": null,\n"
    "\"traceEvents\": [\n"
    "{\"name\": \"process_name\", \"ph\": \"M\", \"ts\": 1000.5, \"pid\": \"Spans\", \"tid\": 0, \"args\": {\"name\": "
    "\"x\"}},\n"
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::add <b> & \\\\ \\u0001\", \"pid\": 10, \"tid\": 11, "
    "\"ts\": 1712195495519689.123, \"dur\": 7.25, \"args\": {\"Input Dims\": [[2, 3], []], \"k\": \"42\", \"k2\": 42, "
    "\"k3\": 42.0, \"k4\": null, \"k5\": false}},\n"
    "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 10, \"tid\": 11, "
    "\"ts\": 1712195495519690, \"dur\": 2, \"args\": {\"correlation\": 9, \"External id\": 123456789012345678}},\n"
    "{\"ph\": \"s\", \"id\": 9, \"pid\": 10, \"tid\": 11, \"ts\": 1712195495519690, \"cat\": \"ac2g\", \"name\": "
    "\"ac2g\"},\n"
    "{\"args\": {\"device\": 0, \"stream\": 7, \"correlation\": 9}, \"ph\": \"X\", \"cat\": \"kernel\", \"name\": "
    "\"k\", "
    "\"pid\": 0, \"tid\": 7, \"ts\": 1712195495519700.001, \"dur\": 0.5},\n"
    "{\"ph\": \"f\", \"id\": 9, \"pid\": 0, \"tid\": 7, \"ts\": 1712195495519700.001, \"cat\": \"ac2g\", \"name\": "
    "\"ac2g\", "
    "\"bp\": \"e\"},\n"
    "{\"ph\": \"C\", \"name\": \"mem\", \"pid\": 0, \"ts\": 1712195495519700, \"args\": {\"v\": 1}}\n"
    "], \"traceName\": \"/tmp/x.json\"}\n";

START_TEST(the_document_comes_back_value_for_value)
{
    struct traced t;
    json_t *want = json_loads(g_document, 0, NULL), *v;
    traced_text(&t, g_document, strlen(g_document));
    json_t *got = exported(&t.run->ranks[0], "");
    ck_assert_ptr_nonnull(want);
    ck_assert_uint_eq(json_object_size(got), json_object_size(want));
    const char *key;
    json_object_foreach(want, key, v) json_agree(json_object_get(got, key), v, key);
    json_decref(got);
    /* what an exported file gives when it is read and given back again is that file, byte for byte */
    struct hs_buf first = exported_text(&t.run->ranks[0], "");
    ck_assert_ptr_nonnull(
        strstr(first.p, "\"ts\":1712195495519689.123,")); /* more digits than jansson's doubles have */
    ck_assert_ptr_nonnull(strstr(first.p, "\"ts\":1712195495519700.001,"));
    ck_assert_ptr_nonnull(strstr(first.p, "\"x\": 1.50e3")); /* header members stand as they were written */
    struct traced again;
    traced_text(&again, first.p, first.n);
    struct hs_buf second = exported_text(&again.run->ranks[0], "");
    ck_assert_uint_eq(first.n, second.n);
    ck_assert_mem_eq(first.p, second.p, first.n);
    json_decref(want);
    hs_buf_free(&first);
    hs_buf_free(&second);
    traced_end(&again);
    traced_end(&t);
}
END_TEST

START_TEST(a_bare_array_and_no_events_become_documents)
{
    static const char *const texts[] = {
        "[{\"ph\": \"X\", \"name\": \"a\", \"ts\": 1, \"dur\": 2, \"pid\": 1, \"tid\": 1}]",
        "{\"traceEvents\": [{\"ph\": \"M\", \"name\": \"x\"}]}"};
    for (size_t i = 0; i < 2; i++) {
        struct traced t;
        traced_text(&t, texts[i], strlen(texts[i]));
        json_t *want = json_loads(texts[i], 0, NULL), *got = exported(&t.run->ranks[0], "");
        json_agree(json_object_get(got, "traceEvents"), i ? json_object_get(want, "traceEvents") : want, texts[i]);
        ck_assert_uint_eq(json_object_size(got), 1);
        json_decref(want);
        json_decref(got);
        traced_end(&t);
    }
}
END_TEST

/* ---- counters ---- */

static json_t *counter(const char *name, const char *arg, json_t *id, int64_t ns, json_t *value)
{
    char us[40];
    json_t *j = json_pack("{s:s, s:s, s:i}", "ph", "C", "name", name, "pid", 0);
    if (id)
        json_object_set_new(j, "id", id);
    json_object_set_new(j, "ts", json_loads(trace_us(us, ns), JSON_DECODE_ANY, NULL));
    json_object_set_new(j, "args", json_pack("{s:o}", arg, value));
    return j;
}

/* Events of the export behind the first `n` against `want`, which is given up. */
static void check_added(json_t *doc, size_t n, json_t *want)
{
    json_t *events = json_object_get(doc, "traceEvents");
    ck_assert_uint_eq(json_array_size(events), n + json_array_size(want));
    for (size_t i = 0; i < json_array_size(want); i++) {
        json_t *g = json_array_get(events, n + i), *w = json_array_get(want, i);
        /* numbers by value: 12 and 12.0 are one time */
        ck_assert_double_eq(json_number_value(json_object_get(g, "ts")), json_number_value(json_object_get(w, "ts")));
        json_object_del(g, "ts");
        json_object_del(w, "ts");
        json_agree(g, w, "counter");
    }
    json_decref(want);
}

/* Two launches wait for the kernel before them; a third of another stream waits from 30 to 40. Times in µs. */
static void queue_of_three(struct json_trace *t)
{
    json_trace_begin(t, 0);
    for (int i = 0; i < 3; i++)
        trace_launch(t, "cudaLaunchKernel", 1, (10 + 10 * i) * 1000, 2000, i + 1);
    trace_kernel(t, "a", 0, 7, 15000, 20000, 1);
    trace_kernel(t, "b", 0, 7, 35000, 5000, 2);
    trace_kernel(t, "c", 0, 20, 40000, 5000, 3);
}

START_TEST(queues_become_counters)
{
    struct json_trace t;
    queue_of_three(&t);
    struct hs_run *run = json_trace_load(&t, 1);
    json_t *doc = exported(&run->ranks[0], "overlay=queue-length");
    json_t *want = json_array();
    static const struct {
        int stream, us, v;
    } points[] = {{7, 10, 1}, {7, 15, 0}, {7, 20, 1}, {7, 35, 0}, {20, 30, 1}, {20, 40, 0}};
    for (size_t i = 0; i < 6; i++)
        json_array_append_new(want, counter("Queue Length", "Queue Length", json_integer(points[i].stream),
                                            points[i].us * 1000, json_integer(points[i].v)));
    check_added(doc, t.events.n, want);
    json_t *told = json_object_get(doc, "holoscope");
    ck_assert_str_eq(json_string_value(json_array_get(json_object_get(told, "overlays"), 0)), "queue-length");
    ck_assert_int_eq(json_integer_value(json_object_get(told, "rank")), 0);
    json_decref(doc);

    /* cut at a window: what waits at its beginning is there from its beginning on. Run clock: µs from the first event. */
    doc = exported(&run->ranks[0], "overlay=queue-length&from=12&to=35");
    want = json_array();
    static const struct {
        int stream, us, v;
    } cut[] = {{7, 12, 1}, {7, 15, 0}, {7, 20, 1}, {20, 30, 1}};
    for (size_t i = 0; i < 4; i++)
        json_array_append_new(want, counter("Queue Length", "Queue Length", json_integer(cut[i].stream),
                                            cut[i].us * 1000, json_integer(cut[i].v)));
    check_added(doc, 3,
                want); /* behind the launches at 20 and 30 and kernel a; the launch [10, 12) ends where it begins */
    json_decref(doc);
    json_trace_end(&t, 1);
}
END_TEST

START_TEST(bandwidth_becomes_counters)
{
    struct json_trace t;
    json_trace_begin(&t, 0);
    trace_copy(&t, "Memcpy HtoD (Pageable -> Device)", 0, 7, 10000, 4000, 1, 8000); /* 2 GB/s in [10, 14) */
    trace_copy(&t, "Memcpy HtoD (Pageable -> Device)", 0, 9, 12000, 4000, 2, 2000); /* and 0.5 in [12, 16) */
    trace_copy(&t, "Memset (Device)", 0, 7, 20000, 1000, 3, 1000);                  /* 1 in [20, 21) */
    struct hs_run *run = json_trace_load(&t, 1);
    json_t *doc = exported(&run->ranks[0], "overlay=memory-bandwidth"), *want = json_array();
    static const struct {
        const char *kind;
        int us;
        double v;
    } points[] = {{"Memcpy HtoD", 10, 2}, {"Memcpy HtoD", 12, 2.5}, {"Memcpy HtoD", 14, 0.5},
                  {"Memcpy HtoD", 16, 0}, {"Memset", 20, 1},        {"Memset", 21, 0}};
    json_t *events = json_object_get(doc, "traceEvents");
    for (size_t i = 0; i < 6; i++) {
        json_t *v = json_object_get(json_object_get(json_array_get(events, t.events.n + i), "args"), "Memcpy BW");
        ck_assert_double_eq(json_number_value(v), points[i].v);
        json_array_append_new(want, counter(points[i].kind, "Memcpy BW", NULL, points[i].us * 1000, json_deep_copy(v)));
    }
    check_added(doc, t.events.n, want);
    json_decref(doc);
    json_trace_end(&t, 1);
}
END_TEST

/* Writers that put the devices of a machine under one process: a track of its own for each all the same. */
START_TEST(devices_of_one_pid_are_told_apart)
{
    struct json_trace t;
    char a[40];
    json_trace_begin(&t, 0);
    for (int i = 0; i < 2; i++) {
        trace_launch(&t, "cudaLaunchKernel", 1, 10000 + i * 1000, 500, i + 1);
        trace_event(&t,
                    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":\"gpus\",\"tid\":%d,\"ts\":%s,\"dur\":1,"
                    "\"args\":{\"device\":%d,\"stream\":7,\"correlation\":%d}}",
                    i, trace_us(a, 20000), i, i + 1);
    }
    struct hs_run *run = json_trace_load(&t, 1);
    json_t *doc = exported(&run->ranks[0], "overlay=queue-length"), *events = json_object_get(doc, "traceEvents");
    ck_assert_uint_eq(json_array_size(events), t.events.n + 4);
    for (size_t i = 0; i < 4; i++) {
        json_t *e = json_array_get(events, t.events.n + i);
        ck_assert_str_eq(json_string_value(json_object_get(e, "id")), i < 2 ? "0:7" : "1:7");
        ck_assert_str_eq(json_string_value(json_object_get(e, "pid")), "gpus");
    }
    json_decref(doc);
    json_trace_end(&t, 1);
}
END_TEST

/* ---- kernel sequences ---- */

/* Three calls of op, two alike (k1 k2) and one other (k2 k1), each launching from an inner operator; other work beside. */
static void three_calls(struct json_trace *t)
{
    static const char *const kernels[3][2] = {{"k1", "k2"}, {"k1", "k2"}, {"k2", "k1"}};
    json_trace_begin(t, 0);
    for (int c = 0; c < 3; c++) {
        int64_t at = 100000 * (c + 1);
        trace_cpu(t, "cpu_op", "my::op", 1, at, 50000);
        trace_cpu(t, "cpu_op", "aten::inner", 1, at + 1000, 40000);
        for (int k = 0; k < 2; k++) {
            trace_launch(t, "cudaLaunchKernel", 1, at + 2000 + 1000 * k, 500, 10 * c + k + 1);
            trace_kernel(t, kernels[c][k], 0, 7, at + 60000 + 1000 * k, 500, 10 * c + k + 1);
        }
        trace_launch(t, "cudaLaunchKernel", 1, at + 55000, 500, 10 * c + 9);
        trace_kernel(t, "k1", 0, 7, at + 70000, 500, 10 * c + 9);
    }
}

START_TEST(calls_and_their_work_are_marked_and_nothing_else)
{
    struct json_trace t;
    three_calls(&t);
    struct hs_run *run = json_trace_load(&t, 1);
    json_t *plain = exported(&run->ranks[0], "");
    json_t *doc = exported(&run->ranks[0], "overlay=kernel-sequences&operator_name=my::&min_pattern_len=2&top_k=1");
    json_t *list = json_object_get(json_object_get(doc, "holoscope"), "sequences"), *one = json_array_get(list, 0);
    ck_assert_uint_eq(json_array_size(list), 1);
    ck_assert_int_eq(json_integer_value(json_object_get(one, "count")), 2);
    ck_assert_str_eq(json_string_value(json_object_get(one, "sequence")), "k1 -> k2");
    ck_assert_str_eq(json_string_value(json_object_get(one, "operator")), "my::op");
    ck_assert_double_eq(json_number_value(json_object_get(one, "gpu_us")), 2); /* 4 kernels of 0.5 */
    const char *id = json_string_value(json_object_get(one, "pattern_id"));
    json_t *events = json_object_get(doc, "traceEvents"), *before = json_object_get(plain, "traceEvents");
    ck_assert_uint_eq(json_array_size(events), json_array_size(before));
    for (size_t i = 0; i < json_array_size(events); i++) {
        /* by call: op, inner, launch, kernel, launch, kernel, launch beside, kernel beside; event 0 is the origin */
        bool marked = i >= 1 && i < 17 && (i - 1) % 8 < 6;
        json_t *p = take_patterns(json_array_get(events, i), false);
        ck_assert_msg((p != NULL) == marked, "event %zu", i);
        if (p) {
            ck_assert_uint_eq(json_object_size(p), 1);
            ck_assert_int_eq(json_integer_value(json_object_get(p, id)), 2);
        }
        json_decref(p);
    }
    json_agree(events, before, "without the marks");
    json_decref(doc);

    doc = exported(&run->ranks[0], "overlay=kernel-sequences&operator_name=my::&min_pattern_len=2&top_k=0");
    ck_assert_uint_eq(json_array_size(json_object_get(json_object_get(doc, "holoscope"), "sequences")), 2);
    events = json_object_get(doc, "traceEvents");
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(events); i++) {
        json_t *p = take_patterns(json_array_get(events, i), false);
        n += p != NULL;
        json_decref(p);
    }
    ck_assert_uint_eq(n, 18);
    json_decref(doc);

    /* without the args of other spans: what is marked is whole, of the others all else */
    doc = exported(&run->ranks[0], "overlay=kernel-sequences&operator_name=my::&min_pattern_len=2&top_k=1"
                                   "&compress_other_kernels=true");
    events = json_object_get(doc, "traceEvents");
    ck_assert_uint_eq(json_array_size(events), json_array_size(before));
    for (size_t i = 0; i < json_array_size(events); i++) {
        json_t *e = json_array_get(events, i), *was = json_array_get(before, i);
        bool marked = i >= 1 && i < 17 && (i - 1) % 8 < 6;
        json_decref(take_patterns(e, false));
        ck_assert_msg(marked || !json_object_get(e, "args"), "event %zu", i);
        if (!marked)
            json_object_del(was, "args");
        json_agree(e, was, "without the marks and the others' args");
    }
    json_decref(doc);
    json_decref(plain);
    json_trace_end(&t, 1);
}
END_TEST

START_TEST(marks_are_put_into_args_of_any_shape)
{
    static const struct {
        const char *event, *with;
    } cases[] = {
        {"{\"ph\":\"X\"}", "{\"ph\":\"X\",\"args\":{\"P\":1}}"},
        {"{}", "{\"args\":{\"P\":1}}"},
        {"{\"args\":{},\"ph\":\"X\"}", "{\"args\":{\"P\":1},\"ph\":\"X\"}"},
        {"{\"args\":{\"a\":[1,{\"b\":2}]},\"ph\":\"X\"}", "{\"args\":{\"a\":[1,{\"b\":2}],\"P\":1},\"ph\":\"X\"}"},
        {"{\"name\":\"\\\"args\\\":{\",\"args\":{\"s\":\"}{\\\\\"}}",
         "{\"name\":\"\\\"args\\\":{\",\"args\":{\"s\":\"}{\\\\\",\"P\":1}}"},
        {"{\"name\":\"args\",\"x\":{\"args\":{}}}", "{\"name\":\"args\",\"x\":{\"args\":{}},\"args\":{\"P\":1}}"},
        {"{\"args\":{\"args\":{\"a\":1}}}", "{\"args\":{\"args\":{\"a\":1},\"P\":1}}"},
        {"{\"args\":{\"a\":1},\"args\":{\"b\":1}}", "{\"args\":{\"a\":1},\"args\":{\"b\":1,\"P\":1}}"},
        {"{\"args\":[{}]}", NULL},
        {"{\"args\":null,\"x\":{}}", NULL},
        {"{\"args\":\"{}\"}", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hs_buf b = HS_BUF_INIT(1000);
        hs_buf_puts(&b, "before{");
        hs_buf_puts(&b, cases[i].event);
        ck_assert_int_eq(hs_chrome_add_arg(&b, 7, HS_STR("\"P\":1")), cases[i].with != NULL);
        ck_assert_str_eq(b.p + 7, cases[i].with ? cases[i].with : cases[i].event);
        ck_assert_uint_eq(b.n, strlen(b.p));
        hs_buf_free(&b);
    }
    struct hs_buf full = HS_BUF_INIT(12);
    hs_buf_puts(&full, "{\"ph\":\"X\"}");
    ck_assert(!hs_chrome_add_arg(&full, 0, HS_STR("\"P\":1")));
    hs_buf_free(&full);
}
END_TEST

START_TEST(args_of_any_shape_can_be_dropped)
{
    static const char *const cases[][2] = {
        {"{\"ph\":\"X\"}", "{\"ph\":\"X\"}"},
        {"{\"args\":{}}", "{}"},
        {"{\"args\":{\"a\":{\"b\":\"}\"}},\"ph\":\"X\"}", "{\"ph\":\"X\"}"},
        {"{\"ph\":\"X\",\"args\":{\"a\":[1,{\"b\":2}]}}", "{\"ph\":\"X\"}"},
        {"{\"ph\":\"X\",\"args\":{\"a\":1},\"ts\":1}", "{\"ph\":\"X\",\"ts\":1}"},
        {"{\"x\":{\"args\":{}}}", "{\"x\":{\"args\":{}}}"},
        {"{\"args\":[{}]}", "{\"args\":[{}]}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hs_buf b = HS_BUF_INIT(1000);
        hs_buf_puts(&b, "before{");
        hs_buf_puts(&b, cases[i][0]);
        hs_chrome_drop_args(&b, 7);
        ck_assert_str_eq(b.p + 7, cases[i][1]);
        ck_assert_uint_eq(b.n, strlen(b.p));
        hs_buf_free(&b);
    }
}
END_TEST

/* ---- what is asked for ---- */

START_TEST(a_question_that_makes_no_sense_is_refused_with_a_sentence)
{
    static const struct {
        const char *params, *part;
    } cases[] = {{"overlay=queue", "there is no overlay 'queue'"},
                 {"overlay=queue-length,,memory-bandwidth", "there is no overlay ''"},
                 {"overlay=kernel-sequences", "needs operator_name"},
                 {"from=5&to=5", "less than to"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hs_err err = HS_ERR_INIT;
        struct hs_params *p = export_params(cases[i].params);
        ck_assert_int_eq(hs_chrome_check(p, &err), HS_EUSAGE);
        ck_assert_msg(strstr(err.text, cases[i].part) != NULL, "%s", err.text);
        hs_params_free(p);
    }
}
END_TEST

static int rank_of(const struct hs_run *run, const char *params, const struct hs_run_rank **out)
{
    struct hs_err err = HS_ERR_INIT;
    struct hs_params *p = export_params(params);
    int rc = hs_chrome_rank(run, p, out, &err);
    ck_assert(!rc || err.text[0]);
    hs_params_free(p);
    return rc;
}

START_TEST(one_trace_of_a_run_is_meant)
{
    struct hs_view views[3] = {{.id = "aaaa"}, {.id = "bbbb"}, {.id = "bbcc"}};
    struct hs_run_rank ranks[3] = {
        {.rank = 0, .view = &views[0]}, {.rank = 4, .view = &views[1]}, {.rank = 4, .view = &views[2]}};
    struct hs_run all = {.n = 3, .ranks = ranks}, single = {.n = 1, .ranks = ranks}, none = {0};
    const struct hs_run_rank *r = NULL;
    ck_assert_int_eq(rank_of(&all, "", &r), HS_EUSAGE);
    ck_assert_int_eq(rank_of(&all, "rank=0,4", &r), HS_EUSAGE);
    ck_assert_int_eq(rank_of(&all, "rank=1", &r), HS_ENOTFOUND);
    ck_assert_int_eq(rank_of(&all, "rank=4", &r), HS_EUSAGE);
    ck_assert_int_eq(rank_of(&all, "rank=4&trace=bb", &r), HS_EUSAGE);
    ck_assert_int_eq(rank_of(&all, "rank=0&trace=bb", &r), HS_ENOTFOUND);
    ck_assert_int_eq(rank_of(&none, "", &r), HS_ENOTFOUND);
    ck_assert_int_eq(rank_of(&all, "rank=0", &r), HS_OK);
    ck_assert_ptr_eq(r, &ranks[0]);
    ck_assert_int_eq(rank_of(&all, "trace=bbc", &r), HS_OK);
    ck_assert_ptr_eq(r, &ranks[2]);
    ck_assert_int_eq(rank_of(&single, "", &r), HS_OK);
    ck_assert_ptr_eq(r, &ranks[0]);
}
END_TEST

/* ---- several at once ---- */

/* Two who walk through one view in turn, and one who asks for single events between: nobody loses his place. */
START_TEST(exports_of_one_view_do_not_disturb_each_other)
{
    struct json_trace t;
    json_trace_begin(&t, 0);
    for (int i = 0; i < 9000; i++)
        trace_launch(&t, "cudaLaunchKernel", 1 + i % 3, 1000 * i, 500, i + 1);
    struct hs_run *run = json_trace_load(&t, 1);
    struct hs_buf whole = exported_text(&run->ranks[0], ""), part[2] = {HS_BUF_INIT(1 << 28), HS_BUF_INIT(1 << 28)};
    struct hs_buf event = HS_BUF_INIT(1 << 20);
    struct hs_params *p = export_params("gzip=false");
    struct hs_chrome_trace *w[2];
    struct hs_err err = HS_ERR_INIT;
    bool done[2] = {false, false};
    ck_assert_uint_gt(whole.n, 3 * HS_CHROME_PART);
    for (int i = 0; i < 2; i++)
        ck_assert(!hs_chrome_open(&w[i], &run->ranks[0], p, &err));
    ck_assert(!hs_chrome_next(w[0], &part[0], &done[0], &err)); /* one is a part ahead */
    while (!done[0] || !done[1])
        for (int i = 0; i < 2; i++) {
            ck_assert(!hs_chrome_next(w[i], &part[i], &done[i], &err));
            ck_assert(!run->ranks[0].view->ops->event_json(run->ranks[0].view, 17, &event, &err));
        }
    for (int i = 0; i < 2; i++) {
        ck_assert_uint_eq(part[i].n, whole.n);
        ck_assert_mem_eq(part[i].p, whole.p, whole.n);
        hs_chrome_close(w[i]);
        hs_buf_free(&part[i]);
    }
    hs_params_free(p);
    hs_buf_free(&event);
    hs_buf_free(&whole);
    json_trace_end(&t, 1);
}
END_TEST

HS_SUITE(render_chrome)
{
    HS_TEST(the_document_comes_back_value_for_value);
    HS_TEST(a_bare_array_and_no_events_become_documents);
    HS_TEST(queues_become_counters);
    HS_TEST(bandwidth_becomes_counters);
    HS_TEST(devices_of_one_pid_are_told_apart);
    HS_TEST(calls_and_their_work_are_marked_and_nothing_else);
    HS_TEST(marks_are_put_into_args_of_any_shape);
    HS_TEST(args_of_any_shape_can_be_dropped);
    HS_TEST(a_question_that_makes_no_sense_is_refused_with_a_sentence);
    HS_TEST(one_trace_of_a_run_is_meant);
    HS_TEST(exports_of_one_view_do_not_disturb_each_other);
}
