/* What is made of text that is not quite JSON. Every expectation is written by hand. */
#include "ingest/repair.h"
#include "tests/unit/test.h"

#include <stdio.h>
#include <stdlib.h>

struct outcome {
    enum hs_scan rc;
    size_t used;
    char *json;
    uint32_t count[HS_QUALITY_KINDS];
};

static struct outcome run_n(const char *text, size_t n, bool final, enum hs_repair_mode mode)
{
    struct hs_repair r;
    struct outcome o;
    char *p = malloc(n + HS_SCAN_PAD);
    memcpy(p, text, n);
    memset(p + n, '"', HS_SCAN_PAD);
    const char *q = p;
    hs_repair_init(&r, 1 << 20);
    o.rc = hs_repair_value(&r, &q, p + n, final, 8, mode);
    o.used = (size_t)(q - p);
    o.json = hs_strndup(r.out.n ? r.out.p : "", r.out.n);
    memcpy(o.count, r.count, sizeof o.count);
    hs_repair_free(&r);
    free(p);
    return o;
}

/* In the middle of a document: more follows. */
static struct outcome run(const char *text, enum hs_repair_mode mode)
{
    char all[2000];
    int n = snprintf(all, sizeof all, "%s\n, {\"ph\": \"X\"}", text);
    struct outcome o = run_n(all, (size_t)n, false, mode);
    if (o.rc == HS_SCAN_OK)
        ck_assert_msg(o.used == strlen(text), "%s: %zu bytes", text, o.used);
    return o;
}

static void becomes(const char *text, const char *json, enum hs_quality_kind kind, uint32_t count)
{
    struct outcome o = run(text, HS_REPAIR_EVENT);
    ck_assert_msg(o.rc == HS_SCAN_OK, "%s: %d", text, o.rc);
    ck_assert_str_eq(o.json, json);
    for (int i = 0; i < HS_QUALITY_KINDS; i++)
        ck_assert_msg(o.count[i] == (i == (int)kind ? count : 0), "%s: %s is %u", text, hs_quality_infos[i].name,
                      o.count[i]);
    free(o.json);
}

static void is_lost(const char *text)
{
    struct outcome o = run(text, HS_REPAIR_EVENT);
    ck_assert_msg(o.rc == HS_SCAN_ODD, "%s: %d %s", text, o.rc, o.json);
    free(o.json);
}

START_TEST(clean_text_is_untouched)
{
    becomes("{\"ph\": \"X\", \"args\": {\"a\": [1, 2.5, \"x\"], \"b\": null}}",
            "{\"ph\":\"X\",\"args\":{\"a\":[1,2.5,\"x\"],\"b\":null}}", HS_Q_BAD_ESCAPE, 0);
}
END_TEST

START_TEST(escapes)
{
    becomes("{\"name\": \"torch\\cuda\\__init__.py(219)\"}", "{\"name\":\"torch\\\\cuda\\\\__init__.py(219)\"}",
            HS_Q_BAD_ESCAPE, 2);
    becomes("{\"name\": \"C:\\Users\\u12\", \"ts\": 1}", "{\"name\":\"C:\\\\Users\\\\u12\",\"ts\":1}", HS_Q_BAD_ESCAPE,
            2);
    becomes("{\"name\": \"C:\\Dir\\\", \"ts\": 1}", "{\"name\":\"C:\\\\Dir\\\\\",\"ts\":1}", HS_Q_BAD_ESCAPE, 2);
    becomes("{\"name\": \"a\\'b\"}", "{\"name\":\"a\\\\'b\"}", HS_Q_BAD_ESCAPE, 1);
    becomes("{\"args\": {\"a\": [\"\\ud800\"]}}", "{\"args\":{\"a\":[\"\\ufffd\"]}}", HS_Q_LONE_SURROGATE, 1);
    becomes("{\"args\": {\"a\": [\"\\ud83d\\ude80\"]}}", "{\"args\":{\"a\":[\"\\ud83d\\ude80\"]}}", HS_Q_LONE_SURROGATE,
            0);
}
END_TEST

START_TEST(quotes)
{
    becomes("{\"name\": \"{\"device\": \"cpu\"}(12): run\", \"pid\": 1}",
            "{\"name\":\"{\\\"device\\\": \\\"cpu\\\"}(12): run\",\"pid\":1}", HS_Q_BARE_QUOTE, 4);
    becomes("{\"name\": \"say \"hi\"\", \"ts\": 1}", "{\"name\":\"say \\\"hi\\\"\",\"ts\":1}", HS_Q_BARE_QUOTE, 2);
    becomes("{\"name\": \"{\"a\": \"b\", \"c\": 1}\", \"ts\": 1}",
            "{\"name\":\"{\\\"a\\\": \\\"b\\\", \\\"c\\\": 1}\",\"ts\":1}", HS_Q_BARE_QUOTE, 6);
    becomes("{\"ts\": 1, \"name\": \"x \"y\" z\"}", "{\"ts\":1,\"name\":\"x \\\"y\\\" z\"}", HS_Q_BARE_QUOTE, 2);
    becomes("{\"args\": {\"Call stack\": \"f(\"x\")\", \"n\": 1}}",
            "{\"args\":{\"Call stack\":\"f(\\\"x\\\")\",\"n\":1}}", HS_Q_BARE_QUOTE, 2);
    becomes("{\"pid\": 1, tid\": 5}", "{\"pid\":1,\"tid\":5}", HS_Q_BARE_QUOTE, 1);
}
END_TEST

START_TEST(a_lost_closing_quote)
{
    struct outcome o = run("{\"name\": \"lost,\n  \"ts\": 5}", HS_REPAIR_EVENT);
    ck_assert_int_eq(o.rc, HS_SCAN_OK);
    ck_assert_str_eq(o.json, "{\"name\":\"lost\",\"ts\":5}");
    ck_assert_uint_eq(o.count[HS_Q_BARE_QUOTE], 1);
    free(o.json);
}
END_TEST

START_TEST(control_bytes)
{
    becomes("{\"name\": \"a\nb\x01"
            "c\"}",
            "{\"name\":\"a\\u000ab\\u0001c\"}", HS_Q_CONTROL_BYTE, 2);
    const char nul[] = "{\"name\": \"a\0b\"},";
    struct outcome o = run_n(nul, sizeof nul - 1, false, HS_REPAIR_EVENT);
    ck_assert_int_eq(o.rc, HS_SCAN_OK);
    ck_assert_str_eq(o.json, "{\"name\":\"a\\u0000b\"}");
    ck_assert_uint_eq(o.count[HS_Q_NUL_BYTE], 1);
    free(o.json);
}
END_TEST

START_TEST(words)
{
    becomes("{\"a\": inf, \"b\": -nan, \"c\": NaN, \"d\": -Infinity, \"e\": 1.#INF}",
            "{\"a\":null,\"b\":null,\"c\":null,\"d\":null,\"e\":null}", HS_Q_NON_FINITE, 5);
    becomes("{\"a\": N/A, \"b\": None, \"c\": undefined}", "{\"a\":null,\"b\":null,\"c\":null}", HS_Q_BARE_WORD, 3);
    becomes("{\"a\": True, \"b\": FALSE}", "{\"a\":true,\"b\":false}", HS_Q_BARE_WORD, 2);
    becomes("{\"a\": , \"b\": 1}", "{\"a\":null,\"b\":1}", HS_Q_BARE_WORD, 1);
}
END_TEST

START_TEST(numbers)
{
    becomes("{\"a\": +3, \"b\": .5, \"c\": 5., \"d\": 007, \"e\": -.5, \"f\": 00}",
            "{\"a\":3,\"b\":0.5,\"c\":5,\"d\":7,\"e\":-0.5,\"f\":0}", HS_Q_ODD_NUMBER, 6);
    becomes("{\"a\": 0x1f, \"b\": 0XFFFFFFFFFFFFFFFF}", "{\"a\":31,\"b\":18446744073709551615}", HS_Q_ODD_NUMBER, 2);
    becomes("{\"a\": [+1e5, 01.50]}", "{\"a\":[1e5,1.50]}", HS_Q_ODD_NUMBER, 2);
}
END_TEST

START_TEST(commas)
{
    becomes("{\"a\": 1,, \"b\": [1 2,],}", "{\"a\":1,\"b\":[1,2]}", HS_Q_STRAY_COMMA, 4);
    becomes("{,\"a\": {\"b\": 1} \"c\": 2}", "{\"a\":{\"b\":1},\"c\":2}", HS_Q_STRAY_COMMA, 2);
}
END_TEST

START_TEST(beyond_repair)
{
    is_lost("{\"ph\" \"X\"}");
    is_lost("{\"a\": [1, 2}");
    is_lost("{{");
    is_lost("{\"a\": [[[[[[[[[[1]]]]]]]]]]}"); /* deeper than the cap */
    is_lost("{\"a\": b\"c}");
}
END_TEST

START_TEST(the_next_event_ends_a_lost_text)
{
    const char text[] = "{\"name\": \"never closed},\n{\"ph\": \"X\", \"name\": \"good\"},\n";
    struct outcome o = run_n(text, sizeof text - 1, false, HS_REPAIR_EVENT);
    ck_assert_int_eq(o.rc, HS_SCAN_ODD);
    ck_assert_uint_le(o.used, 40);
    free(o.json);
}
END_TEST

START_TEST(every_cut_wants_more)
{
    const char text[] =
        "{\"name\": \"{\"a\": \"b\"}\\c\n(1): x\", \"ts\": .5, \"args\": {\"k\": nan, \"l\": \"\\ud83d\\ude80\"},}, ";
    for (size_t n = 0; n < sizeof text - 2; n++) {
        struct outcome o = run_n(text, n, false, HS_REPAIR_EVENT);
        if (n < sizeof text - 3)
            ck_assert_msg(o.rc == HS_SCAN_MORE, "%zu: %d", n, o.rc);
        free(o.json);
    }
    struct outcome o = run_n(text, sizeof text - 1, false, HS_REPAIR_EVENT);
    ck_assert_int_eq(o.rc, HS_SCAN_OK);
    free(o.json);
}
END_TEST

START_TEST(header_lines)
{
    static const char *const lines[] = {"unquoted text of a log line", "WARNING: could not read, retrying"};
    for (size_t i = 0; i < 2; i++) {
        struct outcome o = run(lines[i], HS_REPAIR_HEADER);
        ck_assert_int_eq(o.rc, HS_SCAN_OK);
        ck_assert_str_eq(o.json, "null");
        ck_assert_uint_eq(o.count[HS_Q_BARE_WORD], 1);
        free(o.json);
    }
}
END_TEST

HS_SUITE(ingest_repair)
{
    HS_TEST(clean_text_is_untouched);
    HS_TEST(escapes);
    HS_TEST(quotes);
    HS_TEST(a_lost_closing_quote);
    HS_TEST(control_bytes);
    HS_TEST(words);
    HS_TEST(numbers);
    HS_TEST(commas);
    HS_TEST(beyond_repair);
    HS_TEST(the_next_event_ends_a_lost_text);
    HS_TEST(every_cut_wants_more);
    HS_TEST(header_lines);
}
