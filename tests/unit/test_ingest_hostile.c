/* Documents made to cost: what the reader looks at must grow with their length, never with its square, and it must stop
 * when told to. Work is counted (hs_kineto_work), time is not. */
#include "ingest/link.h"
#include "tests/unit/rebuild.h"
#include "tests/unit/test.h"

#include <stdatomic.h>
#include <stdio.h>

#define EVENTS "{\"schemaVersion\":1,\"traceEvents\":["
#define TEXT EVENTS "{\"ph\":\"X\",\"name\":\""
#define REST "\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1}]}\n"

/* `head`, then `unit` over and over, then `tail`. */
static const struct {
    const char *what, *head, *unit, *tail;
} hostile[] = {
    {"line ends in a text", TEXT, "\n", REST},
    {"line ends in a text that never ends", TEXT, "\n", ""},
    {"line ends and blanks", TEXT, "\n                              ", REST},
    {"line ends behind a comma", TEXT ",", "\n", "\"ph\":1}]}"},
    {"carriage returns and line ends", TEXT, "\r\n", REST},
    {"tabs", TEXT, "\t", REST},
    {"spaces behind quotes", TEXT, "\"  ", REST},
    {"quotes", TEXT, "\"", REST},
    {"backslashes", TEXT, "\\", REST},
    {"escaped quotes", TEXT, "\\\"", REST},
    {"escaped quotes and line ends", TEXT, "\\\"\n\n", REST},
    {"wrong escapes", TEXT, "\\q", REST},
    {"halves of pairs", TEXT, "\\ud800", REST},
    {"NULs", TEXT, "\1", REST},
    {"quote, comma", TEXT, "\",", REST},
    {"quote, comma, line ends", TEXT, "\",\n\n\n", REST},
    {"quote, brace", TEXT, "\"}", REST},
    {"quote, brace, line end", TEXT, "\"}\n", REST},
    {"quote, bracket", TEXT, "\"]", REST},
    {"line end, key without a colon", TEXT, "\n\"ph\"", REST},
    {"line end, key, line ends", TEXT, "\n\"ph\"\n\n\n", REST},
    {"line ends, long key", TEXT,
     "\n\n\n\n\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"",
     REST},
    {"braces and quotes in a text", TEXT, "{\"", REST},
    {"events in a text", TEXT, "{\"ph\":\"", REST},
    {"keys in an event", EVENTS "{\"ph\":\"X\"", ",\"a\":\"a\"", ""},
    {"keys without values", EVENTS "{\"ph\":\"X\"", ",\"a\":", ""},
    {"values without commas", EVENTS "{\"ph\":\"X\"", "\"a\":\"", ""},
    {"names without an end", EVENTS, "{\"ph\":\"X\",\"name\":\"a\n\"", ""},
    {"openings", EVENTS, "{\"ph\":", ""},
    {"openings with a text", EVENTS, "{\"ph\":\"", ""},
    {"openings of args", EVENTS, "{\"ph\":\"X\",\"args\":{", ""},
    {"braces", EVENTS, "{", ""},
    {"brackets", EVENTS, "[", ""},
    {"closing brackets", EVENTS, "]", ""},
    {"closing brackets and line ends", EVENTS "{\"ph\":\"\n", "]\n\n\n", ""},
    {"brackets, commas, line ends", EVENTS "{\"ph\":\"\n", "],\n\n", ""},
    {"commas", EVENTS, ",", "]}"},
    {"colons", EVENTS, ":", "]}"},
    {"words", EVENTS, "a ", "]}"},
    {"one word", EVENTS, "a", "]}"},
    {"digits", EVENTS, "1", "]}"},
    {"texts for events", EVENTS, "\"\n\"", "]}"},
    {"colons and backslashes", EVENTS "{\"ph\":\"X\",\"a\":", "\\", "]}"},
    {"braces alone", "", "{", ""},
    {"brackets alone", "", "[", ""},
    {"headers that swallow the rest", "", "{\"traceEvents\":{\"a\":\"\\q ", ""},
    {"headers in one object", "{", "\"traceEvents\":{\"a\":\"\\q ", ""},
    {"headers behind a broken one", "{\"x\":@\n", "\"traceEvents\":{\"a\":\"\\q ", ""},
    {"headers of arrays", "{", "\"traceEvents\":[[\"\\q ", ""},
    {"keys of headers that never end", "{", "\"traceEvents\":\"a\n", ""},
    {"keys of headers and line ends", "{", "\"traceEvents\"\n\n\n\n", ""},
    {"commas in a header's word", "{\"x\":a", ", ", ""},
    {"line ends in a header's text", "{\"x\":\"", "\n", "\",\"traceEvents\":[]}"},
    {"quotes in a header's text", "{\"x\":\"", "\"", "\",\"traceEvents\":[]}"},
};

static char *document(size_t i, size_t n, size_t *length)
{
    struct hs_buf b = HS_BUF_INIT((size_t)1 << 30);
    hs_buf_puts(&b, hostile[i].head);
    while (b.n < n)
        hs_buf_puts(&b, hostile[i].unit);
    hs_buf_puts(&b, hostile[i].tail);
    *length = b.n;
    return b.p;
}

/* Bytes looked at for a document of about n bytes, read whole or in windows of 1 MiB. */
static uint64_t work_of(size_t i, size_t n, bool whole)
{
    size_t length;
    struct rebuilt r = {.err = HS_ERR_INIT};
    struct hs_kineto *k = NULL;
    char *text = document(i, n, &length), *room = hs_malloc(HS_KINETO_HEAD + length + HS_KINETO_PAD);
    size_t part = whole ? length : (size_t)1 << 20;
    r.at.max = HS_MAX_EVENTS;
    r.json = (struct hs_buf)HS_BUF_INIT((size_t)1 << 30);
    hs_trace_init(&r.trace, NULL);
    ck_assert_int_eq(hs_kineto_new(&k, &r.trace, NULL, hs_segment_new(), rebuild_emit, &r, &r.err), HS_OK);
    for (size_t at = 0; at < length; at += part) {
        size_t m = length - at < part ? length - at : part;
        memcpy(room + HS_KINETO_HEAD, text + at, m);
        memset(room + HS_KINETO_HEAD + m, 0, HS_KINETO_PAD);
        ck_assert_int_eq(hs_kineto_feed(k, room + HS_KINETO_HEAD, m, &r.err), HS_OK);
    }
    (void)hs_kineto_finish(k, &r.err); /* it may be no trace */
    uint64_t work = hs_kineto_work(k);
    hs_kineto_free(k);
    rebuilt_free(&r);
    free(text);
    free(room);
    return work;
}

/* Failures may cost 16 times what they skip, and an item in several windows is tried again whenever it has doubled; every
 * byte of that is looked at by a parser, by the repair and by what looks ahead. */
enum { SIZE = 1 << 18, MOST_PER_BYTE = 80, FREE = 4 << 20 };

START_TEST(work_is_linear)
{
    for (int whole = 0; whole < 2; whole++) {
        uint64_t once = work_of((size_t)_i, SIZE, whole), twice = work_of((size_t)_i, 2 * SIZE, whole);
        ck_assert_msg(once <= FREE + (uint64_t)MOST_PER_BYTE * SIZE, "%s: %llu", hostile[_i].what,
                      (unsigned long long)once);
        ck_assert_msg(twice <= FREE + (uint64_t)MOST_PER_BYTE * 2 * SIZE, "%s: %llu, and %llu for twice as much",
                      hostile[_i].what, (unsigned long long)once, (unsigned long long)twice);
    }
}
END_TEST

START_TEST(a_window_is_left_when_cancelled)
{
    enum { N = 8 << 20 };
    static const char first[] = EVENTS "{\"ph\":\"X\",\"name\":\"a\\q\",\"ts\":1},";
    _Atomic bool cancel = false;
    struct rebuilt r = {.err = HS_ERR_INIT};
    struct hs_kineto *k = NULL;
    char *room = hs_malloc(HS_KINETO_HEAD + N + HS_KINETO_PAD), *text = room + HS_KINETO_HEAD;
    r.at.max = HS_MAX_EVENTS;
    r.json = (struct hs_buf)HS_BUF_INIT(1 << 20);
    hs_trace_init(&r.trace, NULL);
    ck_assert_int_eq(hs_kineto_new(&k, &r.trace, NULL, hs_segment_new(), rebuild_emit, &r, &r.err), HS_OK);
    hs_kineto_cancel(k, &cancel);
    memcpy(text, first, sizeof first);
    ck_assert_int_eq(hs_kineto_feed(k, text, sizeof first - 1, &r.err), HS_OK);

    uint64_t before = hs_kineto_work(k);
    int n = sprintf(text, "{\"ph\":\"X\",\"name\":\"");
    memset(text + n, 1, N - (size_t)n);
    if (_i) /* many events, each of which needs repair */
        for (size_t at = 0; at + 40 < N; at += 28)
            memcpy(text + at, "{\"ph\":\"X\",\"name\":\"a\\q\",\"ts\"1},", 28);
    memset(text + N, 0, HS_KINETO_PAD);
    atomic_store(&cancel, true);
    ck_assert_int_eq(hs_kineto_feed(k, text, N, &r.err), HS_ECANCELLED);
    ck_assert_uint_lt(hs_kineto_work(k) - before, N / 2);
    ck_assert_int_eq(hs_kineto_finish(k, &r.err), HS_ECANCELLED);
    hs_kineto_free(k);
    rebuilt_free(&r);
    free(room);
}
END_TEST

START_TEST(linking_ends_when_cancelled)
{
    _Atomic bool cancel = true;
    struct rebuilt r;
    struct hs_links links;
    static const char text[] = EVENTS "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"a\",\"ts\":1,\"dur\":1}]}";
    rebuild(&r, text, sizeof text - 1, NULL, NULL, NULL);
    ck_assert_int_eq(r.rc, HS_OK);
    hs_links_init(&links);
    ck_assert_int_eq(hs_link_stoppable(&r.trace, &links, &cancel, &r.err), HS_ECANCELLED);
    ck_assert_uint_eq(links.gpu.n, 0);
    hs_links_free(&links);
    rebuilt_free(&r);
}
END_TEST

/* What a repair made slow must still be found: the event behind, and the text whose quote was lost at a line's end. */
START_TEST(lost_quotes_before_blank_lines_are_put_back)
{
    static const char text[] =
        EVENTS "{\"name\":\"a,\n\n \n\"ph\":\"X\",\"ts\":1},{\"ph\":\"X\",\"name\":\"b\",\"ts\":2}]}";
    struct rebuilt r;
    rebuild(&r, text, sizeof text - 1, NULL, NULL, NULL);
    ck_assert_int_eq(r.rc, HS_OK);
    ck_assert_uint_eq(r.at.n, 2);
    ck_assert(hs_str_is(rebuilt_event(&r, 0), "{\"name\":\"a\",\"ph\":\"X\",\"ts\":1}"));
    rebuilt_free(&r);
}
END_TEST

/* A header member that swallows far more than failures may cost in all: the events behind it are still found. */
START_TEST(one_huge_broken_header_loses_no_event)
{
    struct hs_buf b = HS_BUF_INIT(16 << 20);
    struct rebuilt r;
    hs_buf_puts(&b, "{\"x\":{\"a\":@@ \"");
    while (b.n < 3u << 20)
        hs_buf_puts(&b, "0123456789");
    hs_buf_puts(&b, "\",\"traceEvents\":[{\"ph\":\"X\",\"name\":\"b\",\"ts\":2}]}");
    rebuild(&r, b.p, b.n, NULL, NULL, NULL);
    ck_assert_msg(r.rc == HS_OK, "%s", r.err.text);
    ck_assert_uint_eq(r.at.n, 1);
    rebuilt_free(&r);
    hs_buf_free(&b);
}
END_TEST

HS_SUITE(ingest_hostile)
{
    HS_LOOP_TEST(work_is_linear, 0, (int)(sizeof hostile / sizeof hostile[0]));
    HS_LOOP_TEST(a_window_is_left_when_cancelled, 0, 2);
    HS_TEST(linking_ends_when_cancelled);
    HS_TEST(lost_quotes_before_blank_lines_are_put_back);
    HS_TEST(one_huge_broken_header_loses_no_event);
}
