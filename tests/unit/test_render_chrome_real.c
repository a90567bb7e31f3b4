/* Real traces given back: value for value what jansson reads in the source, with the counters behind it that a plain count of
 * its events gives; and read again by the import, the same events. Does nothing where the traces are not there. */
#include "tests/unit/exported.h"
#include "tests/unit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Sanitizers make this twenty times slower: without the largest two. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SLOW = 2 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { SLOW = 2 };
#else
enum { SLOW = 0 };
#endif
#else
enum { SLOW = 0 };
#endif

static json_t *read_source(const char *path)
{
    struct hs_buf b = HS_BUF_INIT((size_t)1 << 30);
    char part[1 << 16];
    gzFile f = gzopen(path, "rb");
    ck_assert_msg(f != NULL, "%s", path);
    for (int n; (n = gzread(f, part, sizeof part)) > 0;)
        hs_buf_put(&b, part, (size_t)n);
    gzclose(f);
    json_t *doc = json_loadb(b.p, b.n, 0, NULL);
    ck_assert_msg(doc != NULL, "%s", path);
    hs_buf_free(&b);
    return doc;
}

static bool is_counter_of_ours(json_t *e)
{
    const char *ph = json_string_value(json_object_get(e, "ph"));
    json_t *args = json_object_get(e, "args");
    return ph && !strcmp(ph, "C") && (json_object_get(args, "Queue Length") || json_object_get(args, "Memcpy BW"));
}

/* Every series begins and ends at 0 or above, is never negative, and its times ascend. */
static void check_counters(const char *path, json_t *events, size_t first)
{
    double last_ts = 0, last_v = 0;
    char track[200] = "";
    for (size_t i = first; i < json_array_size(events); i++) {
        json_t *e = json_array_get(events, i), *args = json_object_get(e, "args");
        if (!is_counter_of_ours(e)) /* no ck_assert for each: it would write a line for each */
            ck_abort_msg("%s, event %zu is no counter", path, i);
        char *id = json_dumps(json_object_get(e, "id"), JSON_ENCODE_ANY), now[200];
        snprintf(now, sizeof now, "%s %lld %s", json_string_value(json_object_get(e, "name")),
                 (long long)json_integer_value(json_object_get(e, "pid")), id ? id : "");
        free(id);
        double ts = json_number_value(json_object_get(e, "ts")),
               v = json_number_value(json_object_iter_value(json_object_iter(args)));
        bool same = !strcmp(track, now);
        if (v < 0 || (!same && last_v != 0) || (same && ts < last_ts)) /* exactly 0: no residue */
            ck_abort_msg("%s: %s at %f is %f after %s at %f was %f", path, now, ts, v, track, last_ts, last_v);
        strcpy(track, now);
        last_ts = ts;
        last_v = v;
    }
    ck_assert_double_eq(last_v, 0);
}

/* What Perfetto's importer asks of a file (its json_trace_tokenizer and json_trace_parser_impl count anything else as an
 * error): no control character in a string, DEL among them; a time in everything but metadata, a duration in a span, numbers
 * in a counter, a number as the id of a flow, and its end bound to the enclosing slice. Of the events from number `first` on. */
static void perfetto_takes(const char *path, const struct hs_buf *text, size_t first)
{
    bool string = false;
    for (size_t i = 0; i < text->n; i++) {
        unsigned char c = (unsigned char)text->p[i];
        string ^= c == '"';
        ck_assert_msg(!string || (c >= 0x20 && c != 0x7f), "%s: byte %u in a string", path, c);
        i += string && c == '\\';
    }
    json_error_t at;
    json_t *doc = json_loadb(text->p, text->n, JSON_DECODE_ANY, &at), *events = json_object_get(doc, "traceEvents"), *v;
    ck_assert_msg(doc != NULL, "%s: %s", path, at.text);
    ck_assert_uint_gt(json_array_size(events), first);
    for (size_t i = first; i < json_array_size(events); i++) {
        json_t *e = json_array_get(events, i);
        const char *ph = json_string_value(json_object_get(e, "ph")), *key;
        bool flow = ph && (*ph == 's' || *ph == 'f');
        ck_assert_msg(ph && strchr("CsfXM", *ph), "%s: ph %s", path, ph ? ph : "none");
        ck_assert(*ph == 'M' || json_is_number(json_object_get(e, "ts")));
        ck_assert(*ph != 'X' || json_is_number(json_object_get(e, "dur")));
        ck_assert(*ph != 'C' || json_object_size(json_object_get(e, "args")) > 0);
        json_object_foreach(json_object_get(e, "args"), key, v) ck_assert(*ph != 'C' || json_is_number(v));
        ck_assert(!flow ||
                  (json_is_integer(json_object_get(e, "id")) && json_integer_value(json_object_get(e, "id")) >= 0));
        ck_assert(*ph != 'f' || !strcmp(json_string_value(json_object_get(e, "bp")), "e"));
    }
    json_decref(doc);
}

static void one_trace(const char *file)
{
    char path[600];
    struct traced t, again;
    struct hs_err err = HS_ERR_INIT;
    struct hs_buf a = HS_BUF_INIT(1 << 26), b = HS_BUF_INIT(1 << 26);
    snprintf(path, sizeof path, "%s/%s", hs_test_traces(), file);
    json_t *want = read_source(path), *from = json_object_get(want, "traceEvents"), *v;
    traced_file(&t, path);
    const struct hs_run_rank *r = &t.run->ranks[0];

    json_t *got = exported(r, "");
    const char *key;
    ck_assert_uint_eq(json_object_size(got), json_object_size(want));
    json_object_foreach(want, key, v) json_agree(json_object_get(got, key), v, path);
    json_decref(got);

    got = exported(r, "overlay=queue-length,memory-bandwidth,kernel-sequences&operator_name=aten::&min_pattern_len=1");
    json_t *events = json_object_get(got, "traceEvents"),
           *list = json_object_get(json_object_get(got, "holoscope"), "sequences");
    size_t n = json_array_size(from), marks = 0, i, seq_kernels = 0;
    check_counters(path, events, n);
    for (i = 0; i < n; i++) {
        json_t *e = json_array_get(events, i);
        json_t *p = take_patterns(e, !json_object_get(json_array_get(from, i), "args"));
        const char *cat = json_string_value(json_object_get(e, "cat"));
        marks += p && cat && (!strcmp(cat, "kernel") || !strcmp(cat, "gpu_memcpy") || !strcmp(cat, "gpu_memset"));
        json_decref(p);
        json_agree(e, json_array_get(from, i), path);
    }
    json_array_foreach(list, i, v) seq_kernels +=
        (size_t)(json_integer_value(json_object_get(v, "kernels")) * json_integer_value(json_object_get(v, "count")));
    ck_assert_uint_eq(marks, seq_kernels); /* each call's kernels, each once */
    json_decref(got);

    struct hs_buf text = exported_text(r, "overlay=queue-length,memory-bandwidth,kernel-sequences,critical-path&"
                                          "operator_name=aten::&only_show_critical_events=false");
    if (json_array_size(from) && r->view->sum.kernels)
        perfetto_takes(path, &text, n);
    hs_buf_free(&text);
    text = exported_text(r, "overlay=queue-length");
    traced_text(&again, text.p, text.n);
    struct hs_view *x = t.imported[0].view, *y = again.imported[0].view;
    ck_assert_int_gt(y->sum.events, x->sum.events - 1);
    for (uint32_t k = 0; k < (uint32_t)x->sum.events; k++) {
        hs_buf_clear(&a);
        hs_buf_clear(&b);
        int rc = x->ops->event_json(x, k, &a, &err);
        rc = rc ? rc : y->ops->event_json(y, k, &b, &err);
        if (rc || a.n != b.n || memcmp(a.p, b.p, a.n) != 0)
            ck_abort_msg("%s, event %u: %s %s", path, k, err.text, b.p);
    }
    ck_assert_int_eq(y->sum.kernels, x->sum.kernels);
    hs_buf_free(&text);
    hs_buf_free(&a);
    hs_buf_free(&b);
    traced_end(&again);
    traced_end(&t);
    json_decref(want);
}

START_TEST(real_traces_are_given_back)
{
    static const char *const files[] = {"mi250_toy/rank0.json.gz",     "vllm_cudagraph/rank0.json.gz",
                                        "cupti/rank0.json.gz",         "dlrm_8rank/worker5.pt.trace.json.gz",
                                        "h100_bert/rank0.json.gz",     "mi300_bert/rank0.json.gz",
                                        "torch_compile/rank0.json.gz", "cpu_only/rank34.json.gz",
                                        "backward_thread/rank0.json",  "mtia_inference/rank0.json.gz",
                                        "resnet_ns/rank0.json.gz"};
    for (size_t i = 0; hs_test_traces() && i < sizeof files / sizeof files[0] - SLOW; i++)
        one_trace(files[i]);
}
END_TEST

HS_SUITE(render_chrome_real)
{
    HS_TEST(real_traces_are_given_back);
}
