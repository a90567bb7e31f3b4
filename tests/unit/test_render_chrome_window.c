/* Windows of a trace: what they keep, by hand and on random traces against the rules as they are written. */
#include "tests/unit/exported.h"
#include "tests/unit/json_trace.h"
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

/* Names of the events of a window, joined by blanks, in order. */
static void names_in(const struct hs_run *run, const char *params, char *out, size_t cap)
{
    json_t *doc = exported(&run->ranks[0], params), *e;
    size_t i, n = 0;
    out[0] = 0;
    json_array_foreach(json_object_get(doc, "traceEvents"), i, e)
    {
        int w = snprintf(out + n, cap - n, "%s%s", i ? " " : "", json_string_value(json_object_get(e, "name")));
        n += (size_t)w;
        ck_assert_uint_lt(n, cap);
    }
    json_decref(doc);
}

static void event(struct json_trace *t, const char *ph, const char *name, int tid, int us, const char *more)
{
    char a[40];
    trace_event(t, "{\"ph\":\"%s\",\"name\":\"%s\",\"pid\":1,\"tid\":%d,\"ts\":%s%s}", ph, name, tid,
                trace_us(a, us * 1000), more);
}

START_TEST(events_that_touch_the_window_are_kept)
{
    struct json_trace t;
    char got[4000];
    json_trace_begin(&t, 0);
    trace_event(&t, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"tid\":0,\"args\":{\"name\":\"p\"}}");
    trace_cpu(&t, "cpu_op", "before", 1, 5000, 5000);
    trace_cpu(&t, "cpu_op", "across_from", 1, 5000, 5001);
    trace_cpu(&t, "cpu_op", "within", 1, 12000, 1000);
    trace_cpu(&t, "cpu_op", "over_all", 1, 1000, 50000);
    trace_cpu(&t, "cpu_op", "point_at_from", 1, 10000, 0);
    trace_cpu(&t, "cpu_op", "point_at_to", 1, 20000, 0);
    trace_cpu(&t, "cpu_op", "across_to", 1, 19999, 5000);
    trace_cpu(&t, "cpu_op", "at_to", 1, 20000, 5000);
    event(&t, "i", "instant_before", 1, 9, ",\"s\":\"t\"");
    event(&t, "i", "instant_in", 1, 10, ",\"s\":\"t\"");
    event(&t, "C", "counter_in", 1, 19, ",\"args\":{\"v\":1}");
    event(&t, "C", "counter_after", 1, 20, ",\"args\":{\"v\":1}");
    struct hs_run *run = json_trace_load(&t, 1);
    names_in(run, "from=10&to=20", got, sizeof got);
    ck_assert_str_eq(got, "process_name across_from within over_all point_at_from across_to instant_in counter_in");
    names_in(run, "to=5", got, sizeof got);
    ck_assert_str_eq(got, "origin process_name over_all");
    names_in(run, "from=20.001", got, sizeof got);
    ck_assert_str_eq(got, "process_name over_all across_to at_to");
    json_trace_end(&t, 1);
}
END_TEST

START_TEST(begins_and_ends_are_kept_together)
{
    struct json_trace t;
    char got[4000];
    json_trace_begin(&t, 0);
    event(&t, "B", "outer", 1, 1, "");
    event(&t, "B", "early", 1, 2, "");
    event(&t, "E", "early", 1, 9, "");
    event(&t, "B", "in", 1, 12, "");
    event(&t, "E", "", 1, 13, "");
    event(&t, "B", "late", 1, 30, "");
    event(&t, "E", "late", 1, 31, "");
    event(&t, "E", "outer", 1, 40, "");
    event(&t, "B", "other_thread", 2, 3, "");
    event(&t, "E", "other_thread", 2, 4, "");
    event(&t, "B", "never_ends", 3, 3, "");
    event(&t, "B", "begins_too_late", 4, 30, "");
    event(&t, "E", "lone_end_in", 5, 15, "");
    event(&t, "E", "lone_end_out", 5, 25, "");
    event(&t, "b", "async", 1, 1, ",\"cat\":\"a\",\"id\":1");
    event(&t, "b", "async_out", 1, 1, ",\"cat\":\"a\",\"id\":2");
    event(&t, "e", "async_out", 1, 5, ",\"cat\":\"a\",\"id\":2");
    event(&t, "n", "async_point", 1, 14, ",\"cat\":\"a\",\"id\":1");
    event(&t, "e", "async", 1, 33, ",\"cat\":\"a\",\"id\":1");
    event(&t, "b", "text_id", 1, 15, ",\"cat\":\"a\",\"id\":\"0xx\"");
    event(&t, "e", "text_id", 1, 99, ",\"cat\":\"a\",\"id\":\"0xx\"");
    event(&t, "S", "old_async", 1, 1, ",\"cat\":\"a\",\"id\":2");
    event(&t, "F", "old_async", 1, 11, ",\"cat\":\"a\",\"id\":2");
    struct hs_run *run = json_trace_load(&t, 1);
    names_in(run, "from=10&to=20", got, sizeof got);
    ck_assert_str_eq(got, "outer in  outer never_ends lone_end_in async async_point async text_id text_id old_async "
                          "old_async");
    json_trace_end(&t, 1);
}
END_TEST

START_TEST(flows_are_kept_if_both_ends_are_in_the_window)
{
    struct json_trace t;
    char got[4000];
    json_trace_begin(&t, 0);
    event(&t, "s", "both", 1, 11, ",\"cat\":\"ac2g\",\"id\":1");
    event(&t, "f", "both", 1, 19, ",\"cat\":\"ac2g\",\"id\":1");
    event(&t, "s", "out_start", 1, 9, ",\"cat\":\"ac2g\",\"id\":2");
    event(&t, "f", "out_start", 1, 15, ",\"cat\":\"ac2g\",\"id\":2");
    event(&t, "s", "out_end", 1, 12, ",\"cat\":\"ac2g\",\"id\":3");
    event(&t, "f", "out_end", 1, 20, ",\"cat\":\"ac2g\",\"id\":3");
    event(&t, "s", "graph", 1, 12, ",\"cat\":\"ac2g\",\"id\":4");
    event(&t, "f", "graph_in", 1, 14, ",\"cat\":\"ac2g\",\"id\":4");
    event(&t, "f", "graph_out", 1, 24, ",\"cat\":\"ac2g\",\"id\":4");
    /* the same number in another category is another flow */
    event(&t, "s", "other_cat", 1, 12, ",\"cat\":\"fwdbwd\",\"id\":2");
    event(&t, "s", "text", 1, 12, ",\"cat\":\"x\",\"id\":\"a\"");
    event(&t, "t", "text", 1, 13, ",\"cat\":\"x\",\"id\":\"a\"");
    event(&t, "f", "text", 1, 14, ",\"cat\":\"x\",\"id\":\"a\"");
    event(&t, "s", "no_id", 1, 12, ",\"cat\":\"x\"");
    event(&t, "f", "no_id", 1, 13, ",\"cat\":\"x\"");
    struct hs_run *run = json_trace_load(&t, 1);
    names_in(run, "from=10&to=20", got, sizeof got);
    ck_assert_str_eq(got, "both both graph graph_in text text text");
    json_trace_end(&t, 1);
}
END_TEST

/* ---- random traces ---- */

struct one {
    char ph;
    int ts, dur, tid, id, cat;
};

/* The rules, each event by itself against all others. */
static bool should_be_kept(const struct one *v, int n, int k, int from, int to)
{
    const struct one *e = &v[k];
    bool in = e->ts >= from && e->ts < to, s = false, f = false;
    switch (e->ph) {
    case 'X': return e->ts < to && (e->dur ? e->ts + e->dur > from : e->ts >= from);
    case 's':
    case 'f':
        for (int i = 0; i < n; i++)
            if (v[i].id == e->id && v[i].cat == e->cat && v[i].ts >= from && v[i].ts < to) {
                s |= v[i].ph == 's';
                f |= v[i].ph == 'f';
            }
        return in && s && f;
    default: return in;
    }
}

START_TEST(random_windows_keep_what_the_rules_say)
{
    enum { N = 300 };
    uint32_t seed = (uint32_t)_i * 77 + 5;
    struct one v[N];
    struct json_trace t;
    char params[80], name[32];
    json_trace_begin(&t, 0);
    for (int i = 0; i < N; i++) {
        v[i] = (struct one){"XXsfiC"[draw_below(&seed, 6)], (int)draw_below(&seed, 60), (int)draw_below(&seed, 8),
                            (int)draw_below(&seed, 3),      (int)draw_below(&seed, 25), (int)draw_below(&seed, 2)};
        char a[40], ph[2] = {v[i].ph, 0}, more[80];
        snprintf(name, sizeof name, "n%d", i);
        snprintf(more, sizeof more, ",\"cat\":\"c%d\",\"id\":%d", v[i].cat, v[i].id);
        if (v[i].ph == 'X')
            trace_event(&t,
                        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"%s\",\"pid\":1,\"tid\":%d,\"ts\":%s,\"dur\":%d}",
                        name, v[i].tid, trace_us(a, v[i].ts * 1000), v[i].dur);
        else
            event(&t, ph, name, v[i].tid, v[i].ts, more);
    }
    struct hs_run *run = json_trace_load(&t, 1);
    for (int round = 0; round < 5; round++) {
        int from = (int)draw_below(&seed, 50), to = from + 1 + (int)draw_below(&seed, 20);
        snprintf(params, sizeof params, "from=%d&to=%d", from, to);
        json_t *doc = exported(&run->ranks[0], params), *events = json_object_get(doc, "traceEvents");
        size_t at = from == 0; /* the origin, a ns at 0 */
        for (int i = 0; i < N; i++) {
            const char *got = json_string_value(json_object_get(json_array_get(events, at), "name"));
            snprintf(name, sizeof name, "n%d", i);
            bool kept = got && !strcmp(got, name);
            ck_assert_msg(kept == should_be_kept(v, N, i, from, to), "%s: event %d, %c at %d for %d", params, i,
                          v[i].ph, v[i].ts, v[i].dur);
            at += kept;
        }
        ck_assert_uint_eq(at, json_array_size(events));
        json_decref(doc);
    }
    json_trace_end(&t, 1);
}
END_TEST

HS_SUITE(render_chrome_window)
{
    HS_TEST(events_that_touch_the_window_are_kept);
    HS_TEST(begins_and_ends_are_kept_together);
    HS_TEST(flows_are_kept_if_both_ends_are_in_the_window);
    HS_LOOP_TEST(random_windows_keep_what_the_rules_say, 0, 10);
}
