/* The reader on small documents; every expectation is written by hand. */
#include "tests/unit/rebuild.h"
#include "tests/unit/test.h"

#include <stdio.h>

static struct rebuilt read_text(const char *text)
{
    struct rebuilt r;
    rebuild(&r, text, strlen(text), NULL, NULL, NULL);
    return r;
}

static struct rebuilt read_ok(const char *text)
{
    struct rebuilt r = read_text(text);
    ck_assert_msg(r.rc == HS_OK, "%s: %s", text, r.err.text);
    return r;
}

static int64_t count(const struct rebuilt *r, enum hs_quality_kind kind)
{
    return r->trace.quality.count[kind];
}

static void only(const struct rebuilt *r, enum hs_quality_kind kind, int64_t n)
{
    for (int i = 0; i < HS_QUALITY_KINDS; i++)
        ck_assert_msg(r->trace.quality.count[i] == (i == (int)kind ? n : 0), "%s: %lld", hs_quality_infos[i].name,
                      (long long)r->trace.quality.count[i]);
}

static void event_is(const struct rebuilt *r, size_t i, const char *want)
{
    ck_assert_uint_gt(r->at.n, i);
    struct hs_str s = rebuilt_event(r, i);
    ck_assert_msg(hs_str_is(s, want), "%.*s, not %s", (int)s.n, s.p, want);
}

/* One event in a document of its own. */
static struct rebuilt one(const char *event)
{
    char text[2000];
    snprintf(text, sizeof text, "{\"schemaVersion\": 1, \"traceEvents\": [\n%s\n]}", event);
    struct rebuilt r = read_ok(text);
    ck_assert_uint_eq(r.at.n, 1);
    return r;
}

static struct hs_str sym(const struct rebuilt *r, uint32_t id)
{
    return hs_intern_str(&r->trace.syms, id);
}

/* ---- values ---- */

START_TEST(core_columns)
{
    struct rebuilt r = one(
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"tid\": 7, \"ts\": 1712195495519689.123, "
        "\"dur\": 7.4, \"args\": {\"correlation\": 12, \"stream\": 7, \"device\": 3, \"bytes\": 4096}}");
    const struct hs_rows *rows = &r.trace.rows;
    ck_assert_int_eq(rows->ts[0], 1712195495519689123);
    ck_assert_int_eq(rows->dur[0], 7400);
    ck_assert_int_eq(rows->corr[0], 12);
    ck_assert_int_eq(rows->ph[0], 'X');
    ck_assert_int_eq(rows->flags[0], HS_ROW_HAS_TS | HS_ROW_HAS_DUR);
    ck_assert(hs_str_is(sym(&r, rows->name[0]), "k"));
    ck_assert(hs_str_is(sym(&r, rows->cat[0]), "kernel"));
    const struct hs_lane *l = &r.trace.lanes.p[rows->lane[0]];
    ck_assert(l->pid.kind == HS_ID_INT && l->pid.v == 0 && l->tid.kind == HS_ID_INT && l->tid.v == 7);
    ck_assert_uint_eq(r.trace.device_rows.n, 1);
    const struct hs_device_row *d = &r.trace.device_rows.p[0];
    ck_assert(d->event == 0 && d->device == 3 && d->stream == 7 && d->bytes == 4096 && d->graph_id == HS_NO_VALUE);
    event_is(
        &r, 0,
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":1712195495519689.123,\"dur\":7.4,"
        "\"args\":{\"correlation\":12,\"stream\":7,\"device\":3,\"bytes\":4096}}");
    rebuilt_free(&r);
}
END_TEST

/* Events that must come back byte for byte: order of keys, types, digits. */
START_TEST(nothing_is_lost)
{
    static const char *const events[] = {
        "{\"ph\":\"X\",\"ts\":1,\"dur\":2}",
        "{\"dur\":0.10,\"ts\":-5,\"ph\":\"X\",\"name\":\"\"}",
        "{\"ph\":\"X\",\"ts\":12.3456,\"dur\":1e9}",
        "{\"ph\":\"X\",\"ts\":\"12\",\"dur\":\"3.5\"}",
        "{\"ph\":\"XX\",\"ts\":null,\"name\":7,\"cat\":true}",
        "{\"ph\":\"X\",\"pid\":1.5,\"tid\":[1]}",
        "{\"ph\":\"X\",\"pid\":-1,\"tid\":140589156634432}",
        "{\"ph\":\"X\",\"pid\":\"Spans\",\"tid\":\"\"}",
        "{\"ph\":\"X\",\"args\":{\"a\":42,\"b\":\"42\",\"c\":42.0,\"d\":null,\"e\":true,\"f\":false}}",
        "{\"ph\":\"X\",\"args\":{\"u\":17999999999999999999,\"z\":-0,\"y\":-0.0,\"e\":1.50e3}}",
        "{\"ph\":\"X\",\"args\":{\"d\":-0.05,\"m\":0.123456789012345678,\"n\":0.1234567890123456789}}",
        "{\"ph\":\"X\",\"args\":{\"Input Dims\":[[1,2],[]],\"o\":{\"a\":{\"b\":[]}}}}",
        "{\"ph\":\"X\",\"args\":{},\"id\":5,\"bp\":\"e\"}",
        "{\"args\":{\"a\":1},\"ph\":\"X\"}",
        "{\"ph\":\"X\",\"args\":null}",
        "{\"ph\":\"X\",\"args\":[1,2]}",
        "{\"ph\":\"X\",\"args\":\"{}\"}",
        "{\"ph\":\"C\",\"args\":{\"\":12.5}}",
        "{\"ph\":\"X\",\"ts\":9223372036854775807}",
        "{\"ph\":\"X\",\"ts\":9223372036854775.807,\"dur\":0.001}",
        "{\"ph\":\"X\",\"ts\":-0.5,\"dur\":-0}",
    };
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        struct rebuilt r = one(events[i]);
        event_is(&r, 0, events[i]);
        rebuilt_free(&r);
    }
}
END_TEST

/* The same event again and again takes the quick way from the second on; other values, other types, odd ones between. */
START_TEST(forms_give_what_parsing_gives)
{
    static const char *const ts[] = {"1",   "0",     "12.5",   "1712195495519689.123", "\"7\"", "-3",
                                     "1e3", "0.001", "12.3456"};
    static const char *const v[] = {"1",
                                    "-1",
                                    "2.50",
                                    "\"t\"",
                                    "null",
                                    "[1, 2]",
                                    "[1,2]",
                                    "{}",
                                    "1e5",
                                    "0",
                                    "-0.5",
                                    "true",
                                    "123456789012345678",
                                    "1234567890123456789",
                                    "9223372036854775807",
                                    "\"q\\\"\\u00e9\""};
    struct hs_buf all = HS_BUF_INIT(1 << 22);
    struct {
        HS_VEC(size_t);
    } at = HS_VEC_INIT(1 << 20);
    hs_buf_puts(&all, "[");
    for (int round = 0; round < 3; round++)
        for (size_t a = 0; a < sizeof ts / sizeof ts[0]; a++)
            for (size_t b = 0; b < sizeof v / sizeof v[0]; b++)
                for (size_t c = 0; c < sizeof v / sizeof v[0]; c++) {
                    hs_buf_puts(&all, at.n ? ",\n" : "\n");
                    hs_vec_push(&at, all.n);
                    hs_buf_printf(&all,
                                  "{\"ph\": \"X\", \"name\": \"n%zu\", \"pid\": %zu, \"ts\": %s, \"args\": {\"a\": %s, "
                                  "\"b\":%s}}",
                                  c, b, ts[a], v[b], v[c]);
                    hs_buf_putc(&all, 0);
                }
    struct hs_buf text = HS_BUF_INIT(1 << 22);
    for (size_t i = 0; i < all.n; i++)
        if (all.p[i])
            hs_buf_putc(&text, all.p[i]);
    hs_buf_puts(&text, "\n]");
    struct rebuilt r = read_ok(text.p);
    ck_assert_uint_eq(r.at.n, at.n);
    for (size_t i = 0; i < at.n; i++) { /* each alone, by the general parser, in a reader of its own */
        struct rebuilt alone;
        char doc[400];
        int n = snprintf(doc, sizeof doc, "[%s]", all.p + at.p[i]);
        if (i % 97) /* all of them would take a minute under a sanitizer */
            continue;
        rebuild(&alone, doc, (size_t)n, NULL, NULL, NULL);
        struct hs_str want = rebuilt_event(&alone, 0);
        ck_assert(hs_str_eq(rebuilt_event(&r, i), want));
        ck_assert_int_eq(alone.trace.rows.ts[0], r.trace.rows.ts[i]);
        ck_assert_int_eq(alone.trace.rows.flags[0], r.trace.rows.flags[i]);
        rebuilt_free(&alone);
    }
    rebuilt_free(&r);
    hs_buf_free(&all);
    hs_buf_free(&text);
    hs_vec_free(&at);
}
END_TEST

START_TEST(best_readings)
{
    struct rebuilt r =
        read_ok("[{\"ph\":\"X\",\"ts\":\"1747123456789.123\",\"dur\":1e3},"
                "{\"ph\":\"X\",\"ts\":12.3456,\"dur\":\"abc\"},"
                "{\"ph\":\"X\",\"ts\":1,\"dur\":-3,\"args\":{\"correlation\":\"102\",\"stream\":\"0x0\"}},"
                "{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"args\":{\"correlation\":0}},"
                "{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"args\":{\"correlation\":-1,\"stream\":\"7\",\"device\":\"2\"}}]");
    const struct hs_rows *rows = &r.trace.rows;
    ck_assert_int_eq(rows->ts[0], 1747123456789123);
    ck_assert_int_eq(rows->dur[0], 1000000);
    ck_assert_int_eq(rows->ts[1], 12345);
    ck_assert_int_eq(rows->flags[1], HS_ROW_HAS_TS);
    ck_assert_int_eq(rows->dur[2], -3000);
    ck_assert_int_eq(rows->corr[2], 102);
    ck_assert_int_eq(rows->corr[3], HS_NO_VALUE);
    ck_assert_int_eq(rows->corr[4], HS_NO_VALUE);
    ck_assert_uint_eq(r.trace.device_rows.n, 2);
    ck_assert_int_eq(r.trace.device_rows.p[0].stream, -1);
    ck_assert_int_eq(r.trace.device_rows.p[1].stream, 7);
    ck_assert_int_eq(r.trace.device_rows.p[1].device, 2);
    ck_assert_int_eq(count(&r, HS_Q_TEXT_NUMBER), 3);
    ck_assert_int_eq(count(&r, HS_Q_MISSING_DUR), 1);
    ck_assert_int_eq(count(&r, HS_Q_NEGATIVE_DUR), 1);
    rebuilt_free(&r);
}
END_TEST

START_TEST(device_rows_without_args)
{
    struct rebuilt r = read_ok(
        "[{\"ph\":\"X\",\"cat\":\"Kernel\",\"name\":\"k\",\"pid\":2,\"tid\":9,\"ts\":1,\"dur\":1},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":\"GPU\",\"tid\":\"stream 9\",\"ts\":1,\"dur\":1},"
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"t\",\"pid\":5,\"tid\":6,\"ts\":1,\"dur\":1,\"args\":{\"stream\":0}"
        "}]");
    ck_assert_uint_eq(r.trace.device_rows.n, 3);
    const struct hs_device_row *d = r.trace.device_rows.p;
    ck_assert(d[0].device == 2 && d[0].stream == 9);
    ck_assert(d[1].device == -1 && d[1].stream == -1);
    ck_assert(d[2].device == -1 && d[2].stream == 0);
    rebuilt_free(&r);
}
END_TEST

START_TEST(lane_names)
{
    struct rebuilt r =
        read_ok("[{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":2,\"args\":{\"name\":\"old\"}},"
                "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"tid\":2,\"args\":{\"name\":\"python\"}},"
                "{\"name\":\"process_labels\",\"ph\":\"M\",\"pid\":1,\"tid\":2,\"args\":{\"labels\":\"GPU 0\"}},"
                "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":2,\"args\":{\"name\":\"new\"}},"
                "{\"name\":\"thread_name\",\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":1,\"args\":{\"name\":\"no "
                "metadata\"}}]");
    ck_assert_uint_eq(r.trace.lane_names.n, 1);
    const struct hs_lane_name *n = &r.trace.lane_names.p[0];
    ck_assert(hs_str_is(sym(&r, n->process), "python"));
    ck_assert(hs_str_is(sym(&r, n->labels), "GPU 0"));
    ck_assert(hs_str_is(sym(&r, n->thread), "new"));
    rebuilt_free(&r);
}
END_TEST

START_TEST(texts_are_bytes)
{
    struct rebuilt r =
        read_ok("[{\"ph\":\"i\",\"ts\":1,\"name\":\"\xff\"},{\"ph\":\"i\",\"ts\":1,\"name\":\"\xfe\"},"
                "{\"ph\":\"i\",\"ts\":1,\"name\":\"\xfe\"},{\"ph\":\"i\",\"ts\":1,\"name\":\"\\ud83d\\ude80\\ud800\"},"
                "{\"ph\":\"i\",\"ts\":1,\"name\":\"a\\u0000b\"}]");
    const struct hs_rows *rows = &r.trace.rows;
    ck_assert_uint_ne(rows->name[0], rows->name[1]);
    ck_assert_uint_eq(rows->name[1], rows->name[2]);
    ck_assert_int_eq(count(&r, HS_Q_BAD_UTF8), 2); /* texts, not events */
    ck_assert_int_eq(count(&r, HS_Q_LONE_SURROGATE), 1);
    ck_assert(hs_str_is(sym(&r, rows->name[3]), "\xf0\x9f\x9a\x80\xef\xbf\xbd"));
    ck_assert_uint_eq(sym(&r, rows->name[4]).n, 3);
    rebuilt_free(&r);
}
END_TEST

START_TEST(quoted_non_finite)
{
    struct rebuilt r =
        read_ok("[{\"ph\":\"C\",\"ts\":1,\"name\":\"c\",\"args\":{\"a\":\"inf\",\"b\":\"-NaN\",\"c\":\"information\"}},"
                "{\"ph\":\"C\",\"ts\":1,\"name\":\"inf\",\"args\":{\"a\":\"inf\"}}]");
    only(&r, HS_Q_NON_FINITE, 3);
    event_is(&r, 0,
             "{\"ph\":\"C\",\"ts\":1,\"name\":\"c\",\"args\":{\"a\":\"inf\",\"b\":\"-NaN\",\"c\":\"information\"}}");
    rebuilt_free(&r);
}
END_TEST

START_TEST(duplicate_keys)
{
    struct rebuilt r = read_ok(
        "[{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"ts\":2,\"args\":{\"a\":1,\"a\":\"x\"},\"name\":\"n\"},"
        "{\"ph\":\"X\",\"ts\":3,\"dur\":1,\"ts\":4,\"args\":{\"a\":5,\"a\":\"y\"},\"name\":\"n\"},"
        "{\"ph\":\"B\",\"args\":{\"a\":1,\"b\":2},\"ph\":\"X\",\"ts\":1,\"dur\":1,\"args\":{\"c\":3},\"name\":\"n\"}]");
    only(&r, HS_Q_DUPLICATE_KEY, 3);
    ck_assert_int_eq(r.trace.rows.ts[0], 2000);
    ck_assert_int_eq(r.trace.rows.ts[1], 4000);
    event_is(&r, 1, "{\"ph\":\"X\",\"dur\":1,\"ts\":4,\"args\":{\"a\":\"y\"},\"name\":\"n\"}");
    event_is(&r, 2, "{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"args\":{\"c\":3},\"name\":\"n\"}");
    rebuilt_free(&r);
}
END_TEST

START_TEST(event_defects)
{
    struct rebuilt r = read_ok("[{\"name\":\"n\",\"ts\":1},{\"ph\":\"X\",\"ts\":1},{\"ph\":\"i\",\"name\":\"n\"},{},"
                               "{\"ph\":\"E\",\"ts\":1},{\"ph\":\"M\",\"name\":\"n\",\"args\":[]},5,\"x\",[1]]");
    ck_assert_int_eq(count(&r, HS_Q_MISSING_PH), 1);
    ck_assert_int_eq(count(&r, HS_Q_MISSING_DUR), 1);
    ck_assert_int_eq(count(&r, HS_Q_MISSING_NAME), 1);
    ck_assert_int_eq(count(&r, HS_Q_MISSING_TS), 1);
    ck_assert_int_eq(count(&r, HS_Q_EMPTY_EVENT), 1);
    ck_assert_int_eq(count(&r, HS_Q_BAD_ARGS), 1);
    ck_assert_int_eq(count(&r, HS_Q_BAD_EVENT), 3);
    ck_assert_uint_eq(r.trace.events, 5);
    rebuilt_free(&r);
}
END_TEST

/* Args that are an array must not teach the reader to take those that are an object as one text. */
START_TEST(args_of_both_kinds)
{
    struct rebuilt r = read_ok("[{\"ph\":\"i\",\"ts\":1,\"name\":\"a\",\"args\":[1]},"
                               "{\"ph\":\"i\",\"ts\":2,\"name\":\"b\",\"args\":{\"correlation\": 7}}]");
    only(&r, HS_Q_BAD_ARGS, 1);
    ck_assert_int_eq(r.trace.rows.corr[1], 7);
    event_is(&r, 1, "{\"ph\":\"i\",\"ts\":2,\"name\":\"b\",\"args\":{\"correlation\":7}}");
    rebuilt_free(&r);
}
END_TEST

/* ---- the document ---- */

#define A "{\"ph\":\"i\",\"ts\":1,\"name\":\"a\"}"
#define B "{\"ph\":\"i\",\"ts\":2,\"name\":\"b\"}"

static void events_are(const char *text, size_t n, enum hs_quality_kind kind, int64_t defects)
{
    struct rebuilt r = read_ok(text);
    ck_assert_msg(r.at.n == n, "%s: %zu events", text, r.at.n);
    only(&r, kind, defects);
    if (n > 0)
        event_is(&r, 0, A);
    if (n > 1)
        event_is(&r, 1, B);
    rebuilt_free(&r);
}

START_TEST(documents)
{
    const enum hs_quality_kind none = HS_Q_BAD_EVENT;
    events_are("{\"traceEvents\":[" A "," B "]}", 2, none, 0);
    events_are("[" A "," B "]", 2, none, 0);
    events_are("\r\n{\r\n\t\"traceEvents\" :\r\n[\r\n" A "\r\n,\t" B "\r\n]\r\n}\r\n", 2, none, 0);
    events_are("{\"a\":1,\"traceEvents\":[" A "],\"b\":{\"c\":[]},\"d\":\"e\"}", 1, none, 0);
    events_are("{\"schemaVersion\":1}", 0, none, 0);
    events_are("{\"traceEvents\":[]}", 0, none, 0);
    events_are("{\"traceEvents\":null}", 0, none, 0);
    events_are("[]", 0, none, 0);
    events_are("\xef\xbb\xbf[" A "]", 1, HS_Q_BOM, 1);
    events_are("[" A "," B, 2, HS_Q_NO_CLOSING, 1);
    events_are("[" A "," B ",", 2, HS_Q_NO_CLOSING, 1);
    events_are("{\"traceEvents\":[" A "," B, 2, HS_Q_TRUNCATED, 1);
    events_are("{\"traceEvents\":[" A "," B "]", 2, HS_Q_TRUNCATED, 1);
    events_are("{\"traceEvents\":[" A "," B ",{\"ph\":\"X\",\"na", 2, HS_Q_TRUNCATED, 1);
    events_are("[" A "," B ",{\"ph\":\"X\",\"ts\":12", 2, HS_Q_TRUNCATED, 1);
    events_are("{\"traceEvents\":[" A "," B "],\"distributedInfo\":{\"ra", 2, HS_Q_TRUNCATED, 1);
    events_are("{\"traceEvents\":[" A "," B "]} {\"traceEvents\":[" A "]}", 2, HS_Q_SECOND_DOCUMENT, 1);
    events_are("[" A "," B ",]", 2, HS_Q_STRAY_COMMA, 1);
    events_are("[" A ",," B "]", 2, HS_Q_STRAY_COMMA, 1);
    events_are("[" A B "]", 2, HS_Q_STRAY_COMMA, 1);
    events_are("{\"traceEvents\":[" A "," B "],}", 2, HS_Q_STRAY_COMMA, 1);
    events_are("{\"traceEvents\":[" A "],\"traceEvents\":[" B "]}", 2, HS_Q_DUPLICATE_KEY, 1);
    events_are("{\"a\":1,\"traceEvents\":[" A "],\"a\":2}", 1, HS_Q_DUPLICATE_KEY, 1);
    events_are("{\"a\":nan,\"traceEvents\":[" A "]}", 1, HS_Q_NON_FINITE, 1);
}
END_TEST

START_TEST(a_broken_header_does_not_cost_the_events)
{
    struct rebuilt r = read_ok("{\"a\":[some log, \"b\":1}],\"traceEvents\":[" A "],\"distributedInfo\":{\"rank\":2}}");
    ck_assert_uint_eq(r.at.n, 1);
    event_is(&r, 0, A);
    ck_assert_int_eq(r.trace.rank, 2);
    ck_assert_int_eq(count(&r, HS_Q_BAD_HEADER), 1);
    ck_assert_int_eq(count(&r, HS_Q_TRUNCATED), 0);
    rebuilt_free(&r);
}
END_TEST

START_TEST(lost_events_cost_only_themselves)
{
    struct rebuilt r = read_ok("{\"traceEvents\":[\n" A
                               ",\n{\"ph\" \"X\", \"name\": \"lost\", \"args\": {\"name\": [1]}},\n" B "\n]}");
    ck_assert_uint_eq(r.at.n, 2);
    event_is(&r, 1, B);
    ck_assert_int_eq(count(&r, HS_Q_BAD_EVENT), 1);
    ck_assert_int_gt(count(&r, HS_Q_SKIPPED_BYTES), 40);
    ck_assert_int_eq(count(&r, HS_Q_TRUNCATED), 0);
    rebuilt_free(&r);
    r = read_ok("{\"traceEvents\":[\n" A
                ",\n{\"ph\": \"X\", \"name\": \"never closed},\n{\"ph\":\"i\",\"ts\":2,\"name\":\"b\"}\n],\"x\":1}");
    ck_assert_uint_eq(r.at.n, 2);
    event_is(&r, 1, B);
    ck_assert_int_eq(count(&r, HS_Q_BAD_EVENT), 1);
    rebuilt_free(&r);
    r = read_ok("{\"traceEvents\":[" A
                ",{\"ph\" 1}],\"distributedInfo\":{\"rank\":3}}"); /* the last one: the header goes on */
    ck_assert_uint_eq(r.at.n, 1);
    ck_assert_int_eq(r.trace.rank, 3);
    rebuilt_free(&r);
}
END_TEST

START_TEST(repaired_events)
{
    struct rebuilt r = read_ok("{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"torch\\cuda\",\"ts\":1,\"dur\":2},"
                               "{\"ph\":\"X\",\"name\":\"{\"device\": \"cpu\"}(12): run\",\"ts\":3,\"dur\":4},"
                               "{\"ph\":\"X\",\"name\":\"x\",\"ts\":.5,\"dur\":inf,\"args\":{\"a\":N/A}}]}");
    ck_assert_uint_eq(r.at.n, 3);
    ck_assert(hs_str_is(sym(&r, r.trace.rows.name[0]), "torch\\cuda"));
    ck_assert(hs_str_is(sym(&r, r.trace.rows.name[1]), "{\"device\": \"cpu\"}(12): run"));
    ck_assert_int_eq(r.trace.rows.ts[1], 3000);
    event_is(&r, 2, "{\"ph\":\"X\",\"name\":\"x\",\"ts\":0.5,\"dur\":null,\"args\":{\"a\":null}}");
    ck_assert_int_eq(count(&r, HS_Q_BAD_ESCAPE), 1);
    ck_assert_int_eq(count(&r, HS_Q_BARE_QUOTE), 1); /* events, not quotes */
    ck_assert_int_eq(count(&r, HS_Q_ODD_NUMBER), 1);
    ck_assert_int_eq(count(&r, HS_Q_NON_FINITE), 1);
    ck_assert_int_eq(count(&r, HS_Q_BARE_WORD), 1);
    ck_assert_int_eq(count(&r, HS_Q_MISSING_DUR), 1);
    rebuilt_free(&r);
}
END_TEST

START_TEST(header)
{
    struct rebuilt r = read_ok(
        "{\"traceEvents\":[" A "],\"baseTimeNanoseconds\":\"1712188800000000000\","
        "\"distributedInfo\":{\"backend\":\"nccl\",\"rank\":\"3\",\"world_size\":8},\"traceName\": \"x\\/y\" }");
    ck_assert(r.trace.has_base);
    ck_assert_int_eq(r.trace.base_ns, 1712188800000000000);
    ck_assert_int_eq(r.trace.rank, 3);
    ck_assert_int_eq(r.trace.world_size, 8);
    ck_assert_uint_eq(r.trace.header.n, 3);
    ck_assert(hs_str_is(sym(&r, r.trace.header.p[2].key), "traceName"));
    ck_assert(hs_str_is(sym(&r, r.trace.header.p[2].json), "\"x\\/y\""));
    rebuilt_free(&r);
    r = read_ok("{\"distributedInfo\":{\"rank\":1},\"distributedInfo\":{\"rank\":2},\"traceEvents\":[]}");
    ck_assert_int_eq(r.trace.rank, 2);
    rebuilt_free(&r);
    r = read_ok("{\"distributedInfo\":{\"rank\":-1},\"traceEvents\":[]}");
    ck_assert_int_eq(r.trace.rank, -1);
    ck_assert_int_eq(r.trace.world_size, -1);
    ck_assert(!r.trace.has_base);
    rebuilt_free(&r);
}
END_TEST

static void refused(const char *text, size_t n, const char *says)
{
    struct rebuilt r;
    rebuild(&r, text, n, NULL, NULL, NULL);
    ck_assert_int_eq(r.rc, HS_EINPUT);
    ck_assert_msg(strstr(r.err.text, says) != NULL, "%s", r.err.text);
    ck_assert_uint_eq(r.at.n, 0);
    rebuilt_free(&r);
}
#define REFUSED(text, says) refused(text, sizeof text - 1, says)

START_TEST(no_traces)
{
    REFUSED("", "empty (0 bytes)");
    REFUSED(" \n ", "nothing but blanks");
    REFUSED("<!DOCTYPE html>\n<html>", "HTML");
    REFUSED("<?xml version=\"1.0\"?><x/>", "XML");
    REFUSED("PAR1\x15\x04\x15", "Parquet");
    REFUSED("SQLite format 3\0", "SQLite");
    REFUSED("\x80\x04\x95\x10\0\0\0", "memory snapshot");
    REFUSED("\x89PNG\r\n\x1a\n", "PNG");
    REFUSED("\x7f"
            "ELF\x02\x01",
            "ELF");
    REFUSED("\x0a\x12\x08\x01\x10\x02", "Perfetto");
    REFUSED("ts,dur,name\n1,2,x\n", "CSV");
    REFUSED("hello world", "text but not JSON");
    REFUSED("{\"schema\": \"1.0.1\", \"pid\": 1, \"nodes\": [{\"id\": 2, \"name\": \"x\"}]}", "execution trace");
    REFUSED("{\"segments\": [], \"device_traces\": []}", "memory snapshot");
    REFUSED("{\"version\": \"2.1\", \"pg_config\": {}, \"entries\": []}", "flight recorder");
    REFUSED("[[1700000000000000000, 1700000000000001000], [[1, 2, 3], [4, 5, 6]]]", "array of lists");
    REFUSED("[{\"id\": 1, \"user\": \"x\"}]", "no trace events");
    REFUSED("{\"hello\": \"world\"}", "without traceEvents");
    REFUSED("{}", "without traceEvents");
}
END_TEST

/* ---- limits ---- */

START_TEST(limits)
{
    struct rebuilt r;
    struct hs_limits l = hs_limits_default;
    l.events = 2;
    rebuild(&r, "[" A "," B "]", strlen("[" A "," B "]"), &l, NULL, NULL);
    ck_assert_int_eq(r.rc, HS_OK);
    rebuilt_free(&r);
    rebuild(&r, "[" A "," B "," A "]", strlen("[" A "," B "," A "]"), &l, NULL, NULL);
    ck_assert_int_eq(r.rc, HS_ELIMIT);
    ck_assert(strstr(r.err.text, "2 events") != NULL);
    rebuilt_free(&r);

    l = hs_limits_default;
    l.string = 4;
    const char *text = "[{\"ph\":\"i\",\"ts\":1,\"name\":\"abc\xc3\xa9"
                       "f\"},{\"ph\":\"i\",\"ts\":1,\"name\":\"abcd\"}]";
    rebuild(&r, text, strlen(text), &l, NULL, NULL);
    ck_assert_int_eq(r.rc, HS_OK);
    ck_assert(hs_str_is(sym(&r, r.trace.rows.name[0]), "abc")); /* not inside a character */
    ck_assert(hs_str_is(sym(&r, r.trace.rows.name[1]), "abcd"));
    only(&r, HS_Q_LONG_STRING, 1);
    rebuilt_free(&r);

    l = hs_limits_default;
    l.names = 100;
    struct hs_buf many = HS_BUF_INIT(1 << 20);
    hs_buf_puts(&many, "[");
    for (int i = 0; i < 200; i++)
        hs_buf_printf(&many, "%s{\"ph\":\"i\",\"ts\":%d,\"name\":\"n%d\"}", i ? "," : "", i, i);
    hs_buf_puts(&many, "]");
    rebuild(&r, many.p, many.n, &l, NULL, NULL);
    ck_assert_int_eq(r.rc, HS_OK);
    ck_assert_uint_eq(r.trace.syms.n, 100);
    ck_assert(hs_str_is(sym(&r, r.trace.rows.name[199]), "(too many names)"));
    ck_assert_int_gt(count(&r, HS_Q_MANY_NAMES), 100);
    rebuilt_free(&r);
    hs_buf_free(&many);

    l = hs_limits_default;
    l.depth = 2;
    text = "[{\"ph\":\"i\",\"ts\":1,\"name\":\"a\",\"args\":{\"a\":[[1]]}},{\"ph\":\"i\",\"ts\":1,\"name\":\"b\","
           "\"args\":{\"a\":[[[1]]]}}]";
    rebuild(&r, text, strlen(text), &l, NULL, NULL);
    ck_assert_uint_eq(r.at.n, 1);
    ck_assert_int_eq(count(&r, HS_Q_BAD_EVENT), 1);
    rebuilt_free(&r);
}
END_TEST

/* ---- sizes and cuts ---- */

static size_t cut_at(void *ctx, size_t left, size_t number)
{
    (void)left;
    return number ? 0 : *(size_t *)ctx;
}

START_TEST(any_cut_gives_the_same)
{
    const char text[] =
        "\xef\xbb\xbf{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"x\": nan}],\n\"traceEvents\": [\n"
        "{\"ph\": \"X\", \"name\": \"a\\u00e9\", \"ts\": 12.345, \"args\": {\"a\": [1, {\"b\": 2}], \"c\": null}},\n"
        "{\"ph\": \"X\", \"name\": \"b\", \"ts\": 13.345, \"args\": {\"a\": [1, {\"b\": 2}], \"c\": null}},\n"
        "{\"ph\": \"X\", \"name\": \"x \"y\" z\\q\", \"ts\": 1},,\n{}, 7, {\"ph\" \"lost\"},\n"
        "{\"ph\": \"X\", \"name\": \"c\", \"ts\": 14.345, \"args\": {\"a\": [1, {\"b\": 2}], \"c\": null}}\n"
        "], \"distributedInfo\": {\"rank\": 5}, \"traceName\": \"t\"}\n";
    struct rebuilt want, got;
    rebuild(&want, text, sizeof text - 1, NULL, NULL, NULL);
    ck_assert_int_eq(want.rc, HS_OK);
    ck_assert_uint_eq(want.at.n, 4);
    ck_assert_int_eq(want.trace.rank, 5);
    for (size_t at = 1; at < sizeof text - 1; at++) {
        rebuild(&got, text, sizeof text - 1, NULL, cut_at, &at);
        ck_assert_int_eq(got.rc, HS_OK);
        ck_assert_msg(got.json.n == want.json.n && !memcmp(got.json.p, want.json.p, want.json.n), "cut at %zu", at);
        ck_assert_msg(!memcmp(got.trace.quality.count, want.trace.quality.count, sizeof want.trace.quality.count),
                      "cut at %zu", at);
        ck_assert_int_eq(got.trace.rank, 5);
        ck_assert_uint_eq(got.trace.header.n, want.trace.header.n);
        rebuilt_free(&got);
    }
    rebuilt_free(&want);
}
END_TEST

static size_t small_windows(void *ctx, size_t left, size_t number)
{
    (void)ctx;
    (void)left;
    return 30000 + number % 7;
}

/* An event far larger than a window, than the room before a window, and a header value as large. */
START_TEST(large_items)
{
    enum { BIG = 3 << 20 };
    struct hs_buf text = HS_BUF_INIT(1u << 25);
    hs_buf_puts(&text, "{\"big\": \"");
    for (int i = 0; i < BIG; i++)
        hs_buf_putc(&text, (char)('a' + i % 26));
    hs_buf_puts(&text,
                "\", \"traceEvents\": [" A ", {\"ph\": \"i\", \"ts\": 2, \"name\": \"b\", \"args\": {\"stack\": \"");
    for (int i = 0; i < BIG; i++)
        hs_buf_puts(&text, i % 1000 ? "y" : "\\n");
    hs_buf_puts(&text, "\"}}, " B "]}");
    struct rebuilt whole, cut;
    rebuild(&whole, text.p, text.n, NULL, NULL, NULL);
    rebuild(&cut, text.p, text.n, NULL, small_windows, NULL);
    ck_assert_int_eq(whole.rc, HS_OK);
    ck_assert_int_eq(cut.rc, HS_OK);
    ck_assert_uint_eq(whole.at.n, 3);
    ck_assert_uint_gt(rebuilt_event(&whole, 1).n, BIG);
    ck_assert(whole.json.n == cut.json.n && !memcmp(whole.json.p, cut.json.p, cut.json.n));
    ck_assert_uint_eq(sym(&cut, cut.trace.header.p[0].json).n, BIG + 2);
    only(&cut, HS_Q_BAD_EVENT, 0);
    rebuilt_free(&whole);
    rebuilt_free(&cut);
    hs_buf_free(&text);
}
END_TEST

/* More than the limits let an event or a header value be: those alone are lost. */
START_TEST(too_large_items)
{
    struct hs_limits l = hs_limits_default;
    l.string = 1 << 10;
    size_t huge = (size_t)(66u << 20);
    struct hs_buf text = HS_BUF_INIT(SIZE_MAX / 4);
    hs_buf_puts(&text, "{\"big\": [\"");
    hs_buf_reserve(&text, huge);
    memset(text.p + text.n, 'x', huge);
    text.n += huge;
    hs_buf_puts(&text, "\"], \"traceEvents\": [" A "], \"distributedInfo\": {\"rank\": 4}}");
    struct rebuilt r;
    size_t half = 1 << 20;
    rebuild(&r, text.p, text.n, &l, cut_at, &half);
    ck_assert_int_eq(r.rc, HS_OK);
    ck_assert_uint_eq(r.at.n, 1);
    ck_assert_int_eq(r.trace.rank, 4);
    only(&r, HS_Q_BAD_HEADER, 1);
    rebuilt_free(&r);
    hs_buf_free(&text);
}
END_TEST

/* Every event has a key of its own: the dictionaries fill up, and args are kept as one text each. */
START_TEST(more_keys_than_columns)
{
    struct hs_buf text = HS_BUF_INIT(1u << 25);
    hs_buf_puts(&text, "[");
    for (int i = 0; i < 20000; i++)
        hs_buf_printf(&text, "%s{\"ph\":\"i\",\"ts\":1,\"name\":\"a\",\"args\":{\"k%d\":%d,\"correlation\":1}}",
                      i ? "," : "", i, i);
    hs_buf_puts(&text, "]");
    struct rebuilt r = read_ok(text.p);
    ck_assert_uint_eq(r.at.n, 20000);
    event_is(&r, 19999, "{\"ph\":\"i\",\"ts\":1,\"name\":\"a\",\"args\":{\"k19999\":19999,\"correlation\":1}}");
    only(&r, HS_Q_BAD_EVENT, 0);
    rebuilt_free(&r);
    hs_buf_clear(&text);
    hs_buf_puts(&text, "[{\"ph\":\"i\",\"ts\":1,\"name\":\"a\",\"args\":{");
    for (int i = 0; i < 2000; i++)
        hs_buf_printf(&text, "%s\"k%d\":%d", i ? "," : "", i, i);
    hs_buf_puts(&text, "}}]");
    r = read_ok(text.p);
    struct hs_str s = rebuilt_event(&r, 0);
    ck_assert(s.n == text.n - 2 && !memcmp(s.p, text.p + 1, s.n));
    rebuilt_free(&r);
    hs_buf_free(&text);
}
END_TEST

/* More events than a segment holds: numbers go on, segments are given back. */
START_TEST(segments)
{
    struct hs_buf text = HS_BUF_INIT(1u << 25);
    hs_buf_puts(&text, "[");
    for (uint32_t i = 0; i < HS_SEG_ROWS * 2 + 5; i++)
        hs_buf_printf(&text, "%s{\"ph\":\"i\",\"ts\":%u,\"name\":\"a\",\"args\":{\"n\":%u}}", i ? ",\n" : "", i, i);
    hs_buf_puts(&text, "]");
    struct rebuilt r;
    rebuild(&r, text.p, text.n, NULL, small_windows, NULL);
    ck_assert_int_eq(r.rc, HS_OK);
    ck_assert_uint_eq(r.at.n, HS_SEG_ROWS * 2 + 5);
    for (uint32_t i = 0; i < r.at.n; i += 1009) {
        char want[100];
        snprintf(want, sizeof want, "{\"ph\":\"i\",\"ts\":%u,\"name\":\"a\",\"args\":{\"n\":%u}}", i, i);
        event_is(&r, i, want);
        ck_assert_int_eq(r.trace.rows.ts[i], (int64_t)i * 1000);
    }
    rebuilt_free(&r);
    hs_buf_free(&text);
}
END_TEST

HS_SUITE(ingest_kineto)
{
    HS_TEST(core_columns);
    HS_TEST(nothing_is_lost);
    HS_TEST(forms_give_what_parsing_gives);
    HS_TEST(best_readings);
    HS_TEST(device_rows_without_args);
    HS_TEST(lane_names);
    HS_TEST(texts_are_bytes);
    HS_TEST(quoted_non_finite);
    HS_TEST(duplicate_keys);
    HS_TEST(event_defects);
    HS_TEST(args_of_both_kinds);
    HS_TEST(documents);
    HS_TEST(a_broken_header_does_not_cost_the_events);
    HS_TEST(lost_events_cost_only_themselves);
    HS_TEST(repaired_events);
    HS_TEST(header);
    HS_TEST(no_traces);
    HS_TEST(limits);
    HS_TEST(any_cut_gives_the_same);
    HS_TEST(large_items);
    HS_TEST(too_large_items);
    HS_TEST(more_keys_than_columns);
    HS_TEST(segments);
}
