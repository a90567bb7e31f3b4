/* The reader on single events in small documents; every expectation is written by hand. */
#include "tests/unit/rebuilt.h"
#include "tests/unit/test.h"

#include <stdio.h>

/* One event in a document of its own. */
static struct rebuilt one(const char *event)
{
    char text[2000];
    snprintf(text, sizeof text, "{\"schemaVersion\": 1, \"traceEvents\": [\n%s\n]}", event);
    struct rebuilt r = rebuilt_read_ok(text);
    ck_assert_uint_eq(r.at.n, 1);
    return r;
}

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
    ck_assert(hs_str_is(rebuilt_sym(&r, rows->name[0]), "k"));
    ck_assert(hs_str_is(rebuilt_sym(&r, rows->cat[0]), "kernel"));
    const struct hs_lane *l = &r.trace.lanes.p[rows->lane[0]];
    ck_assert(l->pid.kind == HS_ID_INT && l->pid.v == 0 && l->tid.kind == HS_ID_INT && l->tid.v == 7);
    ck_assert_uint_eq(r.trace.device_rows.n, 1);
    const struct hs_device_row *d = &r.trace.device_rows.p[0];
    ck_assert(d->event == 0 && d->device == 3 && d->stream == 7 && d->bytes == 4096 && d->graph_id == HS_NO_VALUE);
    rebuilt_event_is(
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
        rebuilt_event_is(&r, 0, events[i]);
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
    struct rebuilt r = rebuilt_read_ok(text.p);
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
    struct rebuilt r = rebuilt_read_ok(
        "[{\"ph\":\"X\",\"ts\":\"1747123456789.123\",\"dur\":1e3},"
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
    ck_assert_int_eq(rebuilt_count(&r, HS_Q_TEXT_NUMBER), 3);
    ck_assert_int_eq(rebuilt_count(&r, HS_Q_MISSING_DUR), 1);
    ck_assert_int_eq(rebuilt_count(&r, HS_Q_NEGATIVE_DUR), 1);
    rebuilt_free(&r);
}
END_TEST

START_TEST(device_rows_without_args)
{
    struct rebuilt r = rebuilt_read_ok(
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
    struct rebuilt r = rebuilt_read_ok(
        "[{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":2,\"args\":{\"name\":\"old\"}},"
        "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"tid\":2,\"args\":{\"name\":\"python\"}},"
        "{\"name\":\"process_labels\",\"ph\":\"M\",\"pid\":1,\"tid\":2,\"args\":{\"labels\":\"GPU 0\"}},"
        "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":2,\"args\":{\"name\":\"new\"}},"
        "{\"name\":\"thread_name\",\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":1,\"args\":{\"name\":\"no "
        "metadata\"}}]");
    ck_assert_uint_eq(r.trace.lane_names.n, 1);
    const struct hs_lane_name *n = &r.trace.lane_names.p[0];
    ck_assert(hs_str_is(rebuilt_sym(&r, n->process), "python"));
    ck_assert(hs_str_is(rebuilt_sym(&r, n->labels), "GPU 0"));
    ck_assert(hs_str_is(rebuilt_sym(&r, n->thread), "new"));
    rebuilt_free(&r);
}
END_TEST

START_TEST(texts_are_bytes)
{
    struct rebuilt r = rebuilt_read_ok(
        "[{\"ph\":\"i\",\"ts\":1,\"name\":\"\xff\"},{\"ph\":\"i\",\"ts\":1,\"name\":\"\xfe\"},"
        "{\"ph\":\"i\",\"ts\":1,\"name\":\"\xfe\"},{\"ph\":\"i\",\"ts\":1,\"name\":\"\\ud83d\\ude80\\ud800\"},"
        "{\"ph\":\"i\",\"ts\":1,\"name\":\"a\\u0000b\"}]");
    const struct hs_rows *rows = &r.trace.rows;
    ck_assert_uint_ne(rows->name[0], rows->name[1]);
    ck_assert_uint_eq(rows->name[1], rows->name[2]);
    ck_assert_int_eq(rebuilt_count(&r, HS_Q_BAD_UTF8), 2); /* texts, not events */
    ck_assert_int_eq(rebuilt_count(&r, HS_Q_LONE_SURROGATE), 1);
    ck_assert(hs_str_is(rebuilt_sym(&r, rows->name[3]), "\xf0\x9f\x9a\x80\xef\xbf\xbd"));
    ck_assert_uint_eq(rebuilt_sym(&r, rows->name[4]).n, 3);
    rebuilt_free(&r);
}
END_TEST

START_TEST(quoted_non_finite)
{
    struct rebuilt r = rebuilt_read_ok(
        "[{\"ph\":\"C\",\"ts\":1,\"name\":\"c\",\"args\":{\"a\":\"inf\",\"b\":\"-NaN\",\"c\":\"information\"}},"
        "{\"ph\":\"C\",\"ts\":1,\"name\":\"inf\",\"args\":{\"a\":\"inf\"}}]");
    rebuilt_only(&r, HS_Q_NON_FINITE, 3);
    rebuilt_event_is(
        &r, 0, "{\"ph\":\"C\",\"ts\":1,\"name\":\"c\",\"args\":{\"a\":\"inf\",\"b\":\"-NaN\",\"c\":\"information\"}}");
    rebuilt_free(&r);
}
END_TEST

START_TEST(duplicate_keys)
{
    struct rebuilt r = rebuilt_read_ok(
        "[{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"ts\":2,\"args\":{\"a\":1,\"a\":\"x\"},\"name\":\"n\"},"
        "{\"ph\":\"X\",\"ts\":3,\"dur\":1,\"ts\":4,\"args\":{\"a\":5,\"a\":\"y\"},\"name\":\"n\"},"
        "{\"ph\":\"B\",\"args\":{\"a\":1,\"b\":2},\"ph\":\"X\",\"ts\":1,\"dur\":1,\"args\":{\"c\":3},\"name\":\"n\"}]");
    rebuilt_only(&r, HS_Q_DUPLICATE_KEY, 3);
    ck_assert_int_eq(r.trace.rows.ts[0], 2000);
    ck_assert_int_eq(r.trace.rows.ts[1], 4000);
    rebuilt_event_is(&r, 1, "{\"ph\":\"X\",\"dur\":1,\"ts\":4,\"args\":{\"a\":\"y\"},\"name\":\"n\"}");
    rebuilt_event_is(&r, 2, "{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"args\":{\"c\":3},\"name\":\"n\"}");
    rebuilt_free(&r);
}
END_TEST

START_TEST(event_defects)
{
    struct rebuilt r =
        rebuilt_read_ok("[{\"name\":\"n\",\"ts\":1},{\"ph\":\"X\",\"ts\":1},{\"ph\":\"i\",\"name\":\"n\"},{},"
                        "{\"ph\":\"E\",\"ts\":1},{\"ph\":\"M\",\"name\":\"n\",\"args\":[]},5,\"x\",[1]]");
    ck_assert_int_eq(rebuilt_count(&r, HS_Q_MISSING_PH), 1);
    ck_assert_int_eq(rebuilt_count(&r, HS_Q_MISSING_DUR), 1);
    ck_assert_int_eq(rebuilt_count(&r, HS_Q_MISSING_NAME), 1);
    ck_assert_int_eq(rebuilt_count(&r, HS_Q_MISSING_TS), 1);
    ck_assert_int_eq(rebuilt_count(&r, HS_Q_EMPTY_EVENT), 1);
    ck_assert_int_eq(rebuilt_count(&r, HS_Q_BAD_ARGS), 1);
    ck_assert_int_eq(rebuilt_count(&r, HS_Q_BAD_EVENT), 3);
    ck_assert_uint_eq(r.trace.events, 5);
    rebuilt_free(&r);
}
END_TEST

/* Args that are an array must not teach the reader to take those that are an object as one text. */
START_TEST(args_of_both_kinds)
{
    struct rebuilt r = rebuilt_read_ok("[{\"ph\":\"i\",\"ts\":1,\"name\":\"a\",\"args\":[1]},"
                                       "{\"ph\":\"i\",\"ts\":2,\"name\":\"b\",\"args\":{\"correlation\": 7}}]");
    rebuilt_only(&r, HS_Q_BAD_ARGS, 1);
    ck_assert_int_eq(r.trace.rows.corr[1], 7);
    rebuilt_event_is(&r, 1, "{\"ph\":\"i\",\"ts\":2,\"name\":\"b\",\"args\":{\"correlation\":7}}");
    rebuilt_free(&r);
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
}
