/* Traces given back over loopback: streamed, compressed, with overlays; slow and vanishing clients; the bytes as uploaded. */
#include "tests/http/live.h"
#include "tests/unit/test.h"

#include <curl/curl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

static struct live g;

static void start(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
    live_start(&g, NULL);
}

static void upload(const char *query, int rank, int kernels)
{
    char *t = small_trace(rank, kernels);
    struct answer a = put_trace(&g, query, t);
    ck_assert_msg(a.status == 201, "%ld %.300s", a.status, a.body);
    answer_free(&a);
    free(t);
}

/* One gzip member, whole. */
static json_t *gunzipped(const struct answer *a)
{
    size_t cap = (size_t)256 << 20;
    char *out = malloc(cap);
    z_stream z = {0};
    ck_assert_int_eq(inflateInit2(&z, 15 + 16), Z_OK);
    z.next_in = (Bytef *)a->body;
    z.avail_in = (uInt)a->n;
    z.next_out = (Bytef *)out;
    z.avail_out = (uInt)cap;
    ck_assert_int_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
    ck_assert_uint_eq(z.avail_in, 0);
    json_t *doc = json_loadb(out, z.total_out, 0, NULL);
    ck_assert_ptr_nonnull(doc);
    inflateEnd(&z);
    free(out);
    return doc;
}

static void check_events(json_t *doc, int kernels, size_t counters)
{
    char *text = small_trace(0, kernels);
    json_t *want = json_loads(text, 0, NULL), *from = json_object_get(want, "traceEvents"),
           *events = json_object_get(doc, "traceEvents");
    ck_assert_uint_eq(json_array_size(events), json_array_size(from) + counters);
    for (size_t i = 0; i < json_array_size(from); i++)
        if (!json_equal(json_array_get(events, i), json_array_get(from, i)))
            ck_abort_msg("event %zu differs", i);
    ck_assert(json_equal(json_object_get(doc, "distributedInfo"), json_object_get(want, "distributedInfo")));
    json_decref(want);
    free(text);
}

START_TEST(a_trace_is_given_back_compressed_and_plain)
{
    start();
    upload("name=t.json&run=r", 0, 5000);
    struct answer a = get(&g, "/api/v1/runs/r/export");
    ck_assert_int_eq(a.status, 200);
    ck_assert_str_eq(header_of(&a, "Content-Type"), "application/gzip");
    ck_assert_str_eq(header_of(&a, "Content-Encoding"), "");
    ck_assert_str_eq(header_of(&a, "Accept-Ranges"), "");
    ck_assert_ptr_nonnull(strstr(header_of(&a, "Content-Disposition"), "t.json.gz"));
    json_t *doc = gunzipped(&a);
    check_events(doc, 5000, 0);
    ck_assert_ptr_null(json_object_get(doc, "holoscope"));
    json_decref(doc);

    char tag[80], condition[120];
    snprintf(tag, sizeof tag, "%s", header_of(&a, "ETag"));
    ck_assert_uint_gt(strlen(tag), 10);
    snprintf(condition, sizeof condition, "If-None-Match: %s", tag);
    const char *headers[] = {condition, NULL};
    answer_free(&a);
    a = ask(&g, "GET", "/api/v1/runs/r/export", headers, NULL, 0);
    ck_assert_int_eq(a.status, 304);
    answer_free(&a);
    a = ask(&g, "GET", "/api/v1/runs/r/export?gzip=false", headers, NULL, 0);
    ck_assert_int_eq(a.status, 200);
    ck_assert_int_eq(strncmp(header_of(&a, "Content-Type"), "application/json", 16), 0);
    doc = json_of(&a);
    check_events(doc, 5000, 0);
    json_decref(doc);
    answer_free(&a);
    a = ask(&g, "HEAD", "/api/v1/runs/r/export", NULL, NULL, 0);
    ck_assert_int_eq(a.status, 200);
    ck_assert_uint_eq(a.n, 0);
    answer_free(&a);
    ck_assert_int_eq(live_stop(&g), 0);
}
END_TEST

START_TEST(overlays_and_windows)
{
    start();
    upload("name=t.json&run=r", 0, 40);
    /* every launch waits 19 µs for its kernel: in and out, 80 changes */
    struct answer a = get(&g, "/api/v1/runs/r/export?gzip=0&overlay=queue-length");
    json_t *doc = json_of(&a);
    check_events(doc, 40, 80);
    json_decref(doc);
    answer_free(&a);
    a = get(&g, "/api/v1/runs/r/export?gzip=0&overlay=kernel-sequences&operator_name=aten::&min_pattern_len=1&top_k=1");
    doc = json_of(&a);
    size_t marked = 0, i;
    json_t *e;
    json_array_foreach(json_object_get(doc, "traceEvents"), i, e) marked +=
        json_object_get(json_object_get(e, "args"), "Patterns") != NULL;
    ck_assert_uint_eq(marked, 3 * 14); /* op0 of 40 calls: operator, launch, kernel each */
    json_decref(doc);
    answer_free(&a);
    /* 100 µs hold one operator, launch and kernel; the run's clock begins with the first event */
    a = get(&g, "/api/v1/runs/r/export?gzip=0&from=100&to=200");
    doc = json_of(&a);
    ck_assert_uint_eq(json_array_size(json_object_get(doc, "traceEvents")), 3);
    ck_assert_double_eq(json_number_value(json_object_get(json_object_get(doc, "holoscope"), "to_us")), 200);
    json_decref(doc);
    answer_free(&a);
    ck_assert_int_eq(live_stop(&g), 0);
}
END_TEST

START_TEST(what_cannot_be_exported_is_said)
{
    static const struct {
        const char *path, *code, *part;
        long status;
    } cases[] = {
        {"/api/v1/runs/two/export", "usage", "rank", 400},
        {"/api/v1/runs/two/export?rank=0,1", "usage", "one number", 400},
        {"/api/v1/runs/two/export?rank=9", "not-found", "rank 9", 404},
        {"/api/v1/runs/two/export?rank=0&overlay=colours", "usage", "queue-length", 400},
        {"/api/v1/runs/two/export?rank=0&overlay=kernel-sequences", "usage", "operator_name", 400},
        {"/api/v1/runs/two/export?rank=0&from=9&to=8", "usage", "less than", 400},
        {"/api/v1/runs/two/export?rank=0&step=1", "usage", "step", 400},
        {"/api/v1/runs/none/export", "not-found", "none", 404},
    };
    start();
    upload("name=a.json&run=two", 0, 5);
    upload("name=b.json&run=two", 1, 6);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct answer a = get(&g, cases[i].path);
        check_problem(&a, cases[i].status, cases[i].code);
        ck_assert_msg(strstr(a.body, cases[i].part) != NULL, "%s: %s", cases[i].path, a.body);
        answer_free(&a);
    }
    struct answer a = get(&g, "/api/v1/runs/two/export?rank=1&gzip=no");
    json_t *doc = json_of(&a);
    ck_assert_uint_eq(json_array_size(json_object_get(doc, "traceEvents")), 18);
    json_decref(doc);
    answer_free(&a);
    a = get(&g, "/api/v1/openapi.json");
    ck_assert_ptr_nonnull(strstr(a.body, "/api/v1/runs/{run}/export"));
    answer_free(&a);
    ck_assert_int_eq(live_stop(&g), 0);
}
END_TEST

/* ---- slow and vanishing clients ---- */

static int begin_download(void)
{
    static const char request[] = "GET /api/v1/runs/r/export?gzip=false HTTP/1.1\r\nHost: localhost\r\n\r\n";
    char head[512];
    int fd = dial(&g);
    ck_assert_int_eq(send(fd, request, sizeof request - 1, MSG_NOSIGNAL), (ssize_t)sizeof request - 1);
    ssize_t n = recv(fd, head, sizeof head - 1, 0);
    ck_assert_int_gt(n, 20);
    head[n] = 0;
    ck_assert_ptr_nonnull(strstr(head, "200 OK"));
    return fd;
}

/* More of them than there are workers, none of them reading on: others are served, whatever they ask for. */
START_TEST(clients_that_stand_still_hold_up_nobody)
{
    enum { STILL = 24 };
    int fds[STILL];
    start();
    upload("name=t.json&run=r", 0, 60000); /* 30 MB: more than sockets hold */
    for (int i = 0; i < STILL; i++)
        fds[i] = begin_download();
    struct answer a = get(&g, "/api/v1/runs/r/kernel-types");
    ck_assert_int_eq(a.status, 200);
    answer_free(&a);
    a = get(&g, "/api/v1/runs/r/export");
    json_t *doc = gunzipped(&a);
    check_events(doc, 60000, 0);
    json_decref(doc);
    answer_free(&a);
    for (int i = 0; i < STILL; i++)
        close(fds[i]);
    a = ask(&g, "DELETE", "/api/v1/runs/r", NULL, NULL, 0);
    ck_assert_int_eq(a.status, 204);
    answer_free(&a);
    ck_assert_int_eq(live_stop(&g), 0); /* nobody waits for those that are gone */
}
END_TEST

START_TEST(the_server_ends_while_a_client_stands_still)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
    live_start(&g, "[server]\ngrace_s = 1\n");
    upload("name=t.json&run=r", 0, 60000);
    int fd = begin_download();
    ck_assert_int_eq(live_stop(&g), 0);
    close(fd);
}
END_TEST

/* ---- the bytes as uploaded ---- */

START_TEST(the_original_comes_back_byte_for_byte)
{
    start();
    char *t = small_trace(0, 300), path[200];
    size_t n = strlen(t);
    memcpy(t + n - 1, "\t", 1); /* white space that only the bytes remember */
    struct answer a = ask(&g, "PUT", "/api/v1/traces?name=t.json&run=r", NULL, t, n);
    ck_assert_int_eq(a.status, 201);
    answer_free(&a);
    a = get(&g, "/api/v1/runs/r");
    json_t *run = json_of(&a);
    json_t *trace = json_array_get(json_object_get(run, "traces"), 0);
    ck_assert(json_is_true(json_object_get(trace, "has_original")));
    snprintf(path, sizeof path, "/api/v1/traces/%s/original", json_string_value(json_object_get(trace, "id")));
    json_decref(run);
    answer_free(&a);
    a = get(&g, path);
    ck_assert_int_eq(a.status, 200);
    ck_assert_uint_eq(a.n, n);
    ck_assert_mem_eq(a.body, t, n);
    ck_assert_str_eq(header_of(&a, "Accept-Ranges"), "bytes");
    answer_free(&a);
    static const struct {
        const char *range;
        size_t from, count;
    } ranges[] = {{"Range: bytes=10-19", 10, 10}, {"Range: bytes=0-0", 0, 1}, {"Range: bytes=-7", SIZE_MAX, 7}};
    for (size_t i = 0; i < 3; i++) {
        const char *headers[] = {ranges[i].range, NULL};
        a = ask(&g, "GET", path, headers, NULL, 0);
        ck_assert_int_eq(a.status, 206);
        ck_assert_uint_eq(a.n, ranges[i].count);
        ck_assert_mem_eq(a.body, t + (ranges[i].from == SIZE_MAX ? n - 7 : ranges[i].from), a.n);
        answer_free(&a);
    }
    const char *beyond[] = {"Range: bytes=99999999-", NULL};
    a = ask(&g, "GET", path, beyond, NULL, 0);
    ck_assert_int_eq(a.status, 416);
    answer_free(&a);
    free(t);
    ck_assert_int_eq(live_stop(&g), 0);
}
END_TEST

HS_SUITE(http_export)
{
    HS_TEST(a_trace_is_given_back_compressed_and_plain);
    HS_TEST(overlays_and_windows);
    HS_TEST(what_cannot_be_exported_is_said);
    HS_TEST(clients_that_stand_still_hold_up_nobody);
    HS_TEST(the_server_ends_while_a_client_stands_still);
    HS_TEST(the_original_comes_back_byte_for_byte);
}
