/* The API as a client sees it, against the real binary. */
#include "analysis/registry.h"
#include "tests/http/live.h"
#include "tests/unit/test.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static struct live g;

static void start(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
    live_start(&g, NULL);
}

static void stop(void)
{
    ck_assert_int_eq(live_stop(&g), 0);
    curl_global_cleanup();
}

static char g_id[64];

/* One trace in run "r"; its id into g_id. */
static void upload(const char *query, int rank, int kernels, long status)
{
    char *t = small_trace(rank, kernels);
    struct answer a = put_trace(&g, query, t);
    ck_assert_msg(a.status == status, "status %ld: %.300s", a.status, a.body);
    json_t *j = json_of(&a);
    json_t *first = json_array_get(json_object_get(j, "traces"), 0);
    snprintf(g_id, sizeof g_id, "%s", json_string_value(json_object_get(first, "id")));
    json_decref(j);
    answer_free(&a);
    free(t);
}

/* ---- answers ---- */

START_TEST(every_analysis_answers_in_every_format)
{
    static const char *const formats[][2] = {
        {"records", "application/json"}, {"columns", "application/json"}, {"csv", "text/csv"}, {"md", "text/markdown"}};
    start();
    upload("name=a.json&run=r", 0, 30, 201);
    upload("name=b.json&run=r", 1, 30, 201);
    struct answer list = get(&g, "/api/v1/analyses");
    json_t *j = json_of(&list), *one;
    size_t i;
    ck_assert_uint_ge(json_array_size(json_object_get(j, "analyses")), 9);
    json_array_foreach(json_object_get(j, "analyses"), i, one)
    {
        const char *name = json_string_value(json_object_get(one, "name"));
        for (size_t f = 0; f < 4; f++) {
            char path[256];
            /* one that compares two runs is asked to compare the run with itself */
            snprintf(path, sizeof path, "/api/v1/runs/r/%s?format=%s%s", name, formats[f][0],
                     hs_analysis_find(name)->two_runs ? "&other=r" : "");
            struct answer a = get(&g, path);
            ck_assert_msg(a.status == 200, "%s: %ld %.300s", path, a.status, a.body);
            ck_assert_msg(strstr(header_of(&a, "Content-Type"), formats[f][1]) != NULL, "%s: %s", path,
                          header_of(&a, "Content-Type"));
            if (f == 0) {
                json_t *e = json_of(&a);
                ck_assert_str_eq(json_string_value(json_object_get(e, "analysis")), name);
                ck_assert_str_eq(json_string_value(json_object_get(e, "run")), "r");
                ck_assert(json_is_object(json_object_get(e, "params")));
                ck_assert(json_is_array(json_object_get(e, "columns")));
                ck_assert(json_is_array(json_object_get(e, "rows")));
                ck_assert(json_is_array(json_object_get(e, "notes")));
                json_decref(e);
            }
            answer_free(&a);
        }
        char path[256];
        snprintf(path, sizeof path, "/api/v1/analyses/%s", name);
        struct answer a = get(&g, path);
        ck_assert_int_eq(a.status, 200);
        answer_free(&a);
    }
    json_decref(j);
    answer_free(&list);
    stop();
}
END_TEST

START_TEST(the_kernel_table_is_right)
{
    start();
    upload("name=a.json&run=r", 4, 30, 201); /* k0 ten times 10 us, k1 ten times 20, k2 ten times 30 */
    struct answer a = get(&g, "/api/v1/runs/r/kernels?rank=4");
    json_t *j = json_of(&a), *rows = json_object_get(j, "rows"), *row;
    size_t i, found = 0;
    json_array_foreach(rows, i, row)
    {
        const char *name = json_string_value(json_object_get(row, "name"));
        if (name[0] != 'k')
            continue;
        found++;
        ck_assert_int_eq(json_integer_value(json_object_get(row, "calls")), 10);
        ck_assert_double_eq(json_number_value(json_object_get(row, "sum_us")), 100 * (name[1] - '0' + 1));
        ck_assert_double_eq(json_number_value(json_object_get(row, "mean_us")), 10 * (name[1] - '0' + 1));
    }
    ck_assert_uint_eq(found, 3);
    json_decref(j);
    answer_free(&a);
    stop();
}
END_TEST

START_TEST(wrong_questions_are_told_apart)
{
    start();
    upload("name=a.json&run=r", 0, 6, 201);
    static const struct {
        const char *path, *code;
        long status;
    } asked[] = {
        {"/api/v1/runs/none", "not-found", 404},
        {"/api/v1/runs/none/kernels", "not-found", 404},
        {"/api/v1/runs/r/nosuch", "not-found", 404},
        {"/api/v1/runs/r/kernels?nosuch=1", "usage", 400},
        {"/api/v1/runs/r/kernels?rank=x", "usage", 400},
        {"/api/v1/runs/r/kernels?format=xml", "usage", 400},
        {"/api/v1/runs/r/report?format=csv", "usage", 400},
        {"/api/v1/runs/r/report?part=second", "usage", 400},
        {"/api/v1/runs/r/report?part=overview&format=html", "usage", 400},
        {"/api/v1/traces/ffffffffffff", "not-found", 404},
        {"/api/v1/analyses/nosuch", "not-found", 404},
        {"/api/v1/nosuch", "not-found", 404},
        {"/nosuch.js", "not-found", 404},
        {"/api/v1/runs?x=1", "usage", 400},
        {"/api/v1/runs/%zz", "usage", 400},
        {"/api/v1/runs/a%2Fb", "usage", 400},
        {"/../../etc/passwd", "usage", 400},
        {"/%2e%2e/%2e%2e/etc/passwd", "usage", 400},
        {"/js/..%2f..%2fetc%2fpasswd", "usage", 400},
        {"/js//main.js", "usage", 400},
        {"/api/v1/runs/%00", "usage", 400},
        {"/api/v1/runs/%ff", "usage", 400},
    };
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        struct answer a = get(&g, asked[i].path);
        ck_assert_msg(a.status == asked[i].status, "%s: %ld %.200s", asked[i].path, a.status, a.body);
        check_problem(&a, asked[i].status, asked[i].code);
        answer_free(&a);
    }
    char path[128];
    snprintf(path, sizeof path, "/api/v1/traces/%s/events/18", g_id);
    struct answer a = get(&g, path);
    check_problem(&a, 404, "not-found");
    answer_free(&a);
    snprintf(path, sizeof path, "/api/v1/traces/%s/events/-1", g_id);
    a = get(&g, path);
    check_problem(&a, 400, "usage");
    answer_free(&a);
    stop();
}
END_TEST

START_TEST(one_event_comes_back_whole)
{
    start();
    upload("name=a.json&run=r", 0, 6, 201);
    char path[128];
    snprintf(path, sizeof path, "/api/v1/traces/%.10s/events/5",
             g_id); /* the second kernel; an id's prefix is enough */
    struct answer a = get(&g, path);
    ck_assert_int_eq(a.status, 200);
    json_t *got = json_of(&a);
    json_t *want =
        json_loads("{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k1\", \"pid\": 0, \"tid\": 7, \"ts\": 1120, "
                   "\"dur\": 20, \"args\": {\"device\": 0, \"stream\": 7, \"correlation\": 2}}",
                   0, NULL);
    ck_assert_msg(json_equal(got, want), "%s", a.body);
    json_decref(got);
    json_decref(want);
    answer_free(&a);
    stop();
}
END_TEST

START_TEST(sql_reads_and_never_writes)
{
    start();
    upload("name=a.json&run=r", 0, 30, 201);
    static const char *const refused[] = {
        "DELETE FROM events",
        "CREATE TABLE x (a)",
        "PRAGMA journal_mode = DELETE",
        "ATTACH '/tmp/x' AS x",
        "INSERT INTO kernels VALUES (1)",
        "DROP TABLE kernels",
        "SELECT 1; DROP TABLE kernels",
        "VACUUM",
        "not sql at all",
        "SELECT load_extension('x')",
    };
    char path[128];
    snprintf(path, sizeof path, "/api/v1/traces/%s/sql", g_id);
    const char *query = "SELECT name, count(*) AS n, sum(dur) AS total FROM kernels GROUP BY name ORDER BY name";
    const char *const text[] = {"Content-Type: text/plain", NULL}, *const json[] = {"Content-Type: application/json",
                                                                                    NULL};
    struct answer a = ask(&g, "POST", path, text, query, strlen(query));
    ck_assert_msg(a.status == 200, "%ld: %.300s", a.status, a.body);
    json_t *j = json_of(&a), *rows = json_object_get(j, "rows");
    ck_assert_uint_eq(json_array_size(rows), 3);
    ck_assert_int_eq(json_integer_value(json_object_get(json_array_get(rows, 1), "n")), 10);
    json_decref(j);
    char body[300];
    snprintf(body, sizeof body, "{\"query\": \"%s\"}", query);
    struct answer b = ask(&g, "POST", path, json, body, strlen(body));
    ck_assert_str_eq(a.body, b.body);
    answer_free(&a);
    answer_free(&b);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        a = ask(&g, "POST", path, text, refused[i], strlen(refused[i]));
        ck_assert_msg(a.status == 400, "%s: %ld %.300s", refused[i], a.status, a.body);
        answer_free(&a);
    }
    static const char *const empty[] = {"", "  ", "{}", "{\"query\": 1}", "{\"query\"", "[]"};
    for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++) {
        a = ask(&g, "POST", path, json, empty[i], strlen(empty[i]));
        check_problem(&a, 400, "usage");
        answer_free(&a);
    }
    a = ask(&g, "POST", path, text, query, strlen(query)); /* still there, still the same */
    ck_assert_int_eq(a.status, 200);
    answer_free(&a);
    stop();
}
END_TEST

START_TEST(runs_and_traces_can_be_deleted)
{
    start();
    upload("name=a.json&run=r", 0, 6, 201);
    upload("name=b.json&run=r", 1, 6, 201);
    upload("name=c.json&run=s", 0, 9, 201);
    char path[128], traces[700];
    snprintf(traces, sizeof traces, "%s/traces", g.data);
    ck_assert_uint_eq(files_in(traces, ".db"), 3);
    snprintf(path, sizeof path, "/api/v1/traces/%s", g_id);
    struct answer a = ask(&g, "DELETE", path, NULL, NULL, 0);
    ck_assert_int_eq(a.status, 204);
    answer_free(&a);
    a = get(&g, path);
    check_problem(&a, 404, "not-found");
    answer_free(&a);
    a = ask(&g, "DELETE", "/api/v1/runs/r", NULL, NULL, 0);
    ck_assert_int_eq(a.status, 204);
    answer_free(&a);
    a = ask(&g, "DELETE", "/api/v1/runs/r", NULL, NULL, 0);
    check_problem(&a, 404, "not-found");
    answer_free(&a);
    a = get(&g, "/api/v1/runs/r/kernels");
    check_problem(&a, 404, "not-found");
    answer_free(&a);
    ck_assert_uint_eq(files_in(traces, ".db"), 0);
    ck_assert_uint_eq(files_in(traces, ".orig"), 0);
    stop();
}
END_TEST

/* ---- HTTP ---- */

START_TEST(an_etag_saves_the_second_answer)
{
    start();
    upload("name=a.json&run=r", 0, 30, 201);
    struct answer a = get(&g, "/api/v1/runs/r/kernels");
    char etag[128], match[160];
    snprintf(etag, sizeof etag, "%s", header_of(&a, "ETag"));
    ck_assert_int_eq(etag[0], '"');
    ck_assert_str_eq(header_of(&a, "Cache-Control"), "private, no-cache");
    snprintf(match, sizeof match, "If-None-Match: W/\"x\", %s", etag);
    const char *const headers[] = {match, NULL};
    struct answer b = ask(&g, "GET", "/api/v1/runs/r/kernels", headers, NULL, 0);
    ck_assert_int_eq(b.status, 304);
    ck_assert_uint_eq(b.n, 0);
    ck_assert_str_eq(header_of(&b, "ETag"), etag);
    answer_free(&b);
    b = get(&g, "/api/v1/runs/r/kernels"); /* from the cache */
    ck_assert_str_eq(a.body, b.body);
    answer_free(&b);
    b = ask(&g, "GET", "/api/v1/runs/r/kernels?format=csv", headers, NULL, 0);
    ck_assert_int_eq(b.status, 200); /* another format is another answer */
    answer_free(&b);
    upload("name=b.json&run=r", 1, 6, 201);
    b = ask(&g, "GET", "/api/v1/runs/r/kernels", headers, NULL, 0);
    ck_assert_int_eq(b.status, 200); /* the run has changed */
    ck_assert_str_ne(a.body, b.body);
    answer_free(&b);
    answer_free(&a);
    stop();
}
END_TEST

static void inflate_all(const struct answer *a, char *out, size_t cap)
{
    z_stream z = {
        .next_in = (Bytef *)a->body, .avail_in = (uInt)a->n, .next_out = (Bytef *)out, .avail_out = (uInt)cap - 1};
    ck_assert_int_eq(inflateInit2(&z, 15 + 16), Z_OK);
    ck_assert_int_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
    out[z.total_out] = 0;
    inflateEnd(&z);
}

START_TEST(large_answers_are_compressed_for_who_takes_it)
{
    start();
    upload("name=a.json&run=r", 0, 30, 201);
    const char *const yes[] = {"Accept-Encoding: br, gzip;q=0.5", NULL}, *const no[] = {"Accept-Encoding: gzip;q=0, br",
                                                                                        NULL};
    char *out = malloc(1 << 20);
    struct answer plain = ask(&g, "GET", "/api/v1/runs/r/kernels", no, NULL, 0);
    ck_assert_str_eq(header_of(&plain, "Content-Encoding"), "");
    ck_assert_ptr_nonnull(strstr(header_of(&plain, "Vary"), "Accept-Encoding"));
    for (int i = 0; i < 2; i++) { /* computed after the plain one was cached, then cached itself */
        struct answer a = ask(&g, "GET", "/api/v1/runs/r/kernels", yes, NULL, 0);
        ck_assert_str_eq(header_of(&a, "Content-Encoding"), "gzip");
        ck_assert_uint_lt(a.n, plain.n);
        inflate_all(&a, out, 1 << 20);
        ck_assert_str_eq(out, plain.body);
        char match[160];
        snprintf(match, sizeof match, "If-None-Match: %s", header_of(&a, "ETag"));
        const char *const both[] = {match, yes[0], NULL};
        struct answer b = ask(&g, "GET", "/api/v1/runs/r/kernels", both, NULL, 0);
        ck_assert_int_eq(b.status, 304);
        answer_free(&b);
        answer_free(&a);
    }
    struct answer tiny = ask(&g, "GET", "/healthz", yes, NULL, 0);
    ck_assert_str_eq(header_of(&tiny, "Content-Encoding"), "");
    answer_free(&tiny);
    answer_free(&plain);
    free(out);
    stop();
}
END_TEST

START_TEST(methods_are_answered_as_http_wants)
{
    start();
    upload("name=a.json&run=r", 0, 30, 201);
    struct answer full = get(&g, "/api/v1/runs/r/kernels");
    struct answer a = ask(&g, "HEAD", "/api/v1/runs/r/kernels", NULL, NULL, 0);
    ck_assert_int_eq(a.status, 200);
    ck_assert_uint_eq(a.n, 0);
    ck_assert_int_eq(atol(header_of(&a, "Content-Length")), (long)full.n);
    answer_free(&a);
    answer_free(&full);
    a = ask(&g, "OPTIONS", "/api/v1/runs/r", NULL, NULL, 0);
    ck_assert_int_eq(a.status, 204);
    ck_assert_str_eq(header_of(&a, "Allow"), "GET, HEAD, DELETE, OPTIONS");
    answer_free(&a);
    a = ask(&g, "POST", "/api/v1/runs/r", NULL, "x", 1);
    check_problem(&a, 405, "method");
    ck_assert_str_eq(header_of(&a, "Allow"), "GET, HEAD, DELETE, OPTIONS");
    answer_free(&a);
    a = ask(&g, "BREW", "/api/v1/runs", NULL, NULL, 0);
    check_problem(&a, 405, "method");
    answer_free(&a);
    stop();
}
END_TEST

START_TEST(the_page_is_served_with_a_strict_policy)
{
    start();
    struct answer a = get(&g, "/?run=r&q=%5E%28a");
    ck_assert_int_eq(a.status, 200);
    ck_assert_str_eq(header_of(&a, "Content-Type"), "text/html; charset=utf-8");
    ck_assert_ptr_nonnull(strstr(header_of(&a, "Content-Security-Policy"), "default-src 'self'"));
    ck_assert_str_eq(header_of(&a, "X-Content-Type-Options"), "nosniff");
    ck_assert_str_eq(header_of(&a, "Cross-Origin-Opener-Policy"), "");
    ck_assert_ptr_nonnull(strstr(a.body, "<title>"));
    answer_free(&a);
    a = get(&g, "/js/main.js");
    ck_assert_int_eq(a.status, 200);
    ck_assert_str_eq(header_of(&a, "Content-Type"), "text/javascript; charset=utf-8");
    ck_assert_uint_gt(strlen(header_of(&a, "ETag")), 2);
    answer_free(&a);
    static const char *const small[] = {"/healthz", "/readyz", "/version", "/api/v1/openapi.json"};
    for (size_t i = 0; i < sizeof small / sizeof small[0]; i++) {
        a = get(&g, small[i]);
        ck_assert_int_eq(a.status, 200);
        answer_free(&a);
    }
    stop();
}
END_TEST

START_TEST(other_origins_and_hosts_are_kept_out)
{
    live_start(&g, "[server]\ncors_origins = [\"https://good.example\"]\nallowed_hosts = [\"box.example\"]\n");
    const char *const rebinding[] = {"Host: evil.example", NULL}, *const known[] = {"Host: box.example:99", NULL};
    const char *const evil[] = {"Origin: https://evil.example", NULL}, *const good[] = {"Origin: https://good.example",
                                                                                        NULL};
    const char *const null_origin[] = {"Origin: null", NULL};
    struct answer a = ask(&g, "GET", "/api/v1/runs", rebinding, NULL, 0);
    check_problem(&a, 421, "host");
    answer_free(&a);
    a = ask(&g, "GET", "/api/v1/runs", known, NULL, 0);
    ck_assert_int_eq(a.status, 200);
    answer_free(&a);
    a = ask(&g, "GET", "/api/v1/runs", evil, NULL, 0);
    ck_assert_int_eq(a.status, 200); /* the browser keeps it from the page, as there is no … */
    ck_assert_str_eq(header_of(&a, "Access-Control-Allow-Origin"), "");
    answer_free(&a);
    a = ask(&g, "GET", "/api/v1/runs", good, NULL, 0);
    ck_assert_str_eq(header_of(&a, "Access-Control-Allow-Origin"), "https://good.example");
    answer_free(&a);
    a = ask(&g, "POST", "/api/v1/traces", evil, "x", 1);
    check_problem(&a, 403, "origin");
    answer_free(&a);
    a = ask(&g, "DELETE", "/api/v1/runs/r", null_origin, NULL, 0);
    check_problem(&a, 403, "origin");
    answer_free(&a);
    a = ask(&g, "DELETE", "/api/v1/runs/r", good, NULL, 0);
    check_problem(&a, 404, "not-found"); /* let through, and not there */
    answer_free(&a);
    a = ask(&g, "OPTIONS", "/api/v1/traces", good, NULL, 0);
    ck_assert_int_eq(a.status, 204);
    ck_assert_str_eq(header_of(&a, "Access-Control-Allow-Methods"), "GET, HEAD, POST, PUT, OPTIONS");
    answer_free(&a);
    char own[80];
    snprintf(own, sizeof own, "Origin: %s", g.url);
    const char *const same[] = {own, NULL};
    a = ask(&g, "DELETE", "/api/v1/runs/r", same, NULL, 0);
    check_problem(&a, 404, "not-found");
    answer_free(&a);
    ck_assert_int_eq(live_stop(&g), 0);
}
END_TEST

HS_SUITE(http_api)
{
    HS_TEST(every_analysis_answers_in_every_format);
    HS_TEST(the_kernel_table_is_right);
    HS_TEST(wrong_questions_are_told_apart);
    HS_TEST(one_event_comes_back_whole);
    HS_TEST(sql_reads_and_never_writes);
    HS_TEST(runs_and_traces_can_be_deleted);
    HS_TEST(an_etag_saves_the_second_answer);
    HS_TEST(large_answers_are_compressed_for_who_takes_it);
    HS_TEST(methods_are_answered_as_http_wants);
    HS_TEST(the_page_is_served_with_a_strict_policy);
    HS_TEST(other_origins_and_hosts_are_kept_out);
}
