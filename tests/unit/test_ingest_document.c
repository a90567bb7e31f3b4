/* The reader on whole documents: broken ones, limits, sizes and cuts; every expectation is written by hand. */
#include "tests/unit/rebuilt.h"
#include "tests/unit/test.h"

#include <stdio.h>

/* ---- the document ---- */

#define A "{\"ph\":\"i\",\"ts\":1,\"name\":\"a\"}"
#define B "{\"ph\":\"i\",\"ts\":2,\"name\":\"b\"}"

static void events_are(const char *text, size_t n, enum hs_quality_kind kind, int64_t defects)
{
    struct rebuilt r = rebuilt_read_ok(text);
    ck_assert_msg(r.at.n == n, "%s: %zu events", text, r.at.n);
    rebuilt_only(&r, kind, defects);
    if (n > 0)
        rebuilt_event_is(&r, 0, A);
    if (n > 1)
        rebuilt_event_is(&r, 1, B);
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
    struct rebuilt r =
        rebuilt_read_ok("{\"a\":[some log, \"b\":1}],\"traceEvents\":[" A "],\"distributedInfo\":{\"rank\":2}}");
    ck_assert_uint_eq(r.at.n, 1);
    rebuilt_event_is(&r, 0, A);
    ck_assert_int_eq(r.trace.rank, 2);
    ck_assert_int_eq(rebuilt_count(&r, HS_Q_BAD_HEADER), 1);
    ck_assert_int_eq(rebuilt_count(&r, HS_Q_TRUNCATED), 0);
    rebuilt_free(&r);
}
END_TEST

START_TEST(lost_events_cost_only_themselves)
{
    struct rebuilt r = rebuilt_read_ok("{\"traceEvents\":[\n" A
                                       ",\n{\"ph\" \"X\", \"name\": \"lost\", \"args\": {\"name\": [1]}},\n" B "\n]}");
    ck_assert_uint_eq(r.at.n, 2);
    rebuilt_event_is(&r, 1, B);
    ck_assert_int_eq(rebuilt_count(&r, HS_Q_BAD_EVENT), 1);
    ck_assert_int_gt(rebuilt_count(&r, HS_Q_SKIPPED_BYTES), 40);
    ck_assert_int_eq(rebuilt_count(&r, HS_Q_TRUNCATED), 0);
    rebuilt_free(&r);
    r = rebuilt_read_ok(
        "{\"traceEvents\":[\n" A
        ",\n{\"ph\": \"X\", \"name\": \"never closed},\n{\"ph\":\"i\",\"ts\":2,\"name\":\"b\"}\n],\"x\":1}");
    ck_assert_uint_eq(r.at.n, 2);
    rebuilt_event_is(&r, 1, B);
    ck_assert_int_eq(rebuilt_count(&r, HS_Q_BAD_EVENT), 1);
    rebuilt_free(&r);
    r = rebuilt_read_ok("{\"traceEvents\":[" A
                        ",{\"ph\" 1}],\"distributedInfo\":{\"rank\":3}}"); /* the last one: the header goes on */
    ck_assert_uint_eq(r.at.n, 1);
    ck_assert_int_eq(r.trace.rank, 3);
    rebuilt_free(&r);
}
END_TEST

START_TEST(repaired_events)
{
    struct rebuilt r = rebuilt_read_ok("{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"torch\\cuda\",\"ts\":1,\"dur\":2},"
                                       "{\"ph\":\"X\",\"name\":\"{\"device\": \"cpu\"}(12): run\",\"ts\":3,\"dur\":4},"
                                       "{\"ph\":\"X\",\"name\":\"x\",\"ts\":.5,\"dur\":inf,\"args\":{\"a\":N/A}}]}");
    ck_assert_uint_eq(r.at.n, 3);
    ck_assert(hs_str_is(rebuilt_sym(&r, r.trace.rows.name[0]), "torch\\cuda"));
    ck_assert(hs_str_is(rebuilt_sym(&r, r.trace.rows.name[1]), "{\"device\": \"cpu\"}(12): run"));
    ck_assert_int_eq(r.trace.rows.ts[1], 3000);
    rebuilt_event_is(&r, 2, "{\"ph\":\"X\",\"name\":\"x\",\"ts\":0.5,\"dur\":null,\"args\":{\"a\":null}}");
    ck_assert_int_eq(rebuilt_count(&r, HS_Q_BAD_ESCAPE), 1);
    ck_assert_int_eq(rebuilt_count(&r, HS_Q_BARE_QUOTE), 1); /* events, not quotes */
    ck_assert_int_eq(rebuilt_count(&r, HS_Q_ODD_NUMBER), 1);
    ck_assert_int_eq(rebuilt_count(&r, HS_Q_NON_FINITE), 1);
    ck_assert_int_eq(rebuilt_count(&r, HS_Q_BARE_WORD), 1);
    ck_assert_int_eq(rebuilt_count(&r, HS_Q_MISSING_DUR), 1);
    rebuilt_free(&r);
}
END_TEST

START_TEST(header)
{
    struct rebuilt r = rebuilt_read_ok(
        "{\"traceEvents\":[" A "],\"baseTimeNanoseconds\":\"1712188800000000000\","
        "\"distributedInfo\":{\"backend\":\"nccl\",\"rank\":\"3\",\"world_size\":8},\"traceName\": \"x\\/y\" }");
    ck_assert(r.trace.has_base);
    ck_assert_int_eq(r.trace.base_ns, 1712188800000000000);
    ck_assert_int_eq(r.trace.rank, 3);
    ck_assert_int_eq(r.trace.world_size, 8);
    ck_assert_uint_eq(r.trace.header.n, 3);
    ck_assert(hs_str_is(rebuilt_sym(&r, r.trace.header.p[2].key), "traceName"));
    ck_assert(hs_str_is(rebuilt_sym(&r, r.trace.header.p[2].json), "\"x\\/y\""));
    rebuilt_free(&r);
    r = rebuilt_read_ok("{\"distributedInfo\":{\"rank\":1},\"distributedInfo\":{\"rank\":2},\"traceEvents\":[]}");
    ck_assert_int_eq(r.trace.rank, 2);
    rebuilt_free(&r);
    r = rebuilt_read_ok("{\"distributedInfo\":{\"rank\":-1},\"traceEvents\":[]}");
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
    ck_assert(hs_str_is(rebuilt_sym(&r, r.trace.rows.name[0]), "abc")); /* not inside a character */
    ck_assert(hs_str_is(rebuilt_sym(&r, r.trace.rows.name[1]), "abcd"));
    rebuilt_only(&r, HS_Q_LONG_STRING, 1);
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
    ck_assert(hs_str_is(rebuilt_sym(&r, r.trace.rows.name[199]), "(too many names)"));
    ck_assert_int_gt(rebuilt_count(&r, HS_Q_MANY_NAMES), 100);
    rebuilt_free(&r);
    hs_buf_free(&many);

    l = hs_limits_default;
    l.depth = 2;
    text = "[{\"ph\":\"i\",\"ts\":1,\"name\":\"a\",\"args\":{\"a\":[[1]]}},{\"ph\":\"i\",\"ts\":1,\"name\":\"b\","
           "\"args\":{\"a\":[[[1]]]}}]";
    rebuild(&r, text, strlen(text), &l, NULL, NULL);
    ck_assert_uint_eq(r.at.n, 1);
    ck_assert_int_eq(rebuilt_count(&r, HS_Q_BAD_EVENT), 1);
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
    ck_assert_uint_eq(rebuilt_sym(&cut, cut.trace.header.p[0].json).n, BIG + 2);
    rebuilt_only(&cut, HS_Q_BAD_EVENT, 0);
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
    rebuilt_only(&r, HS_Q_BAD_HEADER, 1);
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
    struct rebuilt r = rebuilt_read_ok(text.p);
    ck_assert_uint_eq(r.at.n, 20000);
    rebuilt_event_is(&r, 19999, "{\"ph\":\"i\",\"ts\":1,\"name\":\"a\",\"args\":{\"k19999\":19999,\"correlation\":1}}");
    rebuilt_only(&r, HS_Q_BAD_EVENT, 0);
    rebuilt_free(&r);
    hs_buf_clear(&text);
    hs_buf_puts(&text, "[{\"ph\":\"i\",\"ts\":1,\"name\":\"a\",\"args\":{");
    for (int i = 0; i < 2000; i++)
        hs_buf_printf(&text, "%s\"k%d\":%d", i ? "," : "", i, i);
    hs_buf_puts(&text, "}}]");
    r = rebuilt_read_ok(text.p);
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
        rebuilt_event_is(&r, i, want);
        ck_assert_int_eq(r.trace.rows.ts[i], (int64_t)i * 1000);
    }
    rebuilt_free(&r);
    hs_buf_free(&text);
}
END_TEST

HS_SUITE(ingest_document)
{
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
