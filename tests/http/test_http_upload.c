/* Uploads as a client sees them, against the real binary. */
#include "tests/http/live.h"
#include "tests/unit/test.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

START_TEST(an_upload_is_answered_with_what_became_of_it)
{
    start();
    char *t = small_trace(3, 30);
    struct answer a = put_trace(&g, "name=x.json&run=r", t);
    ck_assert_int_eq(a.status, 201);
    json_t *j = json_of(&a), *one = json_array_get(json_object_get(j, "traces"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(j, "run")), "r");
    ck_assert_uint_eq(json_array_size(json_object_get(j, "traces")), 1);
    ck_assert_uint_eq(json_array_size(json_object_get(j, "errors")), 0);
    ck_assert_int_eq(json_integer_value(json_object_get(one, "rank")), 3);
    ck_assert_int_eq(json_integer_value(json_object_get(one, "events")), 90);
    ck_assert_int_eq(json_integer_value(json_object_get(one, "bytes_in")), (json_int_t)strlen(t));
    ck_assert(json_is_false(json_object_get(one, "existed")));
    ck_assert(json_is_object(json_object_get(one, "quality")));
    ck_assert_str_eq(json_string_value(json_object_get(one, "name")), "x.json");
    const char *id = json_string_value(json_object_get(one, "id"));
    ck_assert_uint_eq(strlen(id), 32);
    char location[128];
    snprintf(location, sizeof location, "/api/v1/traces/%s", id);
    ck_assert_str_eq(header_of(&a, "Location"), location);
    struct answer b = get(&g, location);
    ck_assert_int_eq(b.status, 200);
    answer_free(&b);
    /* the bytes come back, whole and in part */
    strcat(location, "/original");
    b = get(&g, location);
    ck_assert_int_eq(b.status, 200);
    ck_assert_uint_eq(b.n, strlen(t));
    ck_assert(!memcmp(b.body, t, b.n));
    answer_free(&b);
    const char *const range[] = {"Range: bytes=5-14", NULL}, *const outside[] = {"Range: bytes=99999999-", NULL};
    b = ask(&g, "GET", location, range, NULL, 0);
    ck_assert_int_eq(b.status, 206);
    ck_assert_uint_eq(b.n, 10);
    ck_assert(!memcmp(b.body, t + 5, 10));
    answer_free(&b);
    b = ask(&g, "GET", location, outside, NULL, 0);
    check_problem(&b, 416, "range");
    answer_free(&b);
    json_decref(j);
    answer_free(&a);
    free(t);
    stop();
}
END_TEST

START_TEST(the_same_file_twice_is_kept_once)
{
    start();
    upload("name=a.json&run=r", 0, 9, 201);
    char first[64];
    strcpy(first, g_id);
    char *t = small_trace(0, 9);
    struct answer a = put_trace(&g, "name=a.json&run=r", t);
    ck_assert_int_eq(a.status, 200);
    json_t *j = json_of(&a), *one = json_array_get(json_object_get(j, "traces"), 0);
    ck_assert(json_is_true(json_object_get(one, "existed")));
    ck_assert_str_eq(json_string_value(json_object_get(one, "id")), first);
    json_decref(j);
    answer_free(&a);
    char traces[700];
    snprintf(traces, sizeof traces, "%s/traces", g.data);
    ck_assert_uint_eq(files_in(traces, ".db"), 1);
    free(t);
    stop();
}
END_TEST

START_TEST(two_files_of_one_rank_are_both_kept)
{
    start();
    upload("name=a.json&run=r", 5, 6, 201);
    upload("name=b.json&run=r", 5, 9, 201);
    struct answer a = get(&g, "/api/v1/runs/r");
    json_t *j = json_of(&a), *list = json_object_get(j, "traces");
    ck_assert_uint_eq(json_array_size(list), 2);
    for (size_t i = 0; i < 2; i++)
        ck_assert_int_eq(json_integer_value(json_object_get(json_array_get(list, i), "rank")), 5);
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(list, 0), "name")), "a.json");
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(list, 1), "name")), "b.json");
    json_decref(j);
    answer_free(&a);
    stop();
}
END_TEST

START_TEST(a_form_brings_many_files)
{
    start();
    char *t0 = small_trace(-1, 6), *t1 = small_trace(-1, 9);
    size_t cap = strlen(t0) + strlen(t1) + 2000;
    char *body = malloc(cap);
    int n = snprintf(
        body, cap,
        "--B\r\nContent-Disposition: form-data; name=\"run\"\r\n\r\nf\xc3\xb6rm\r\n"
        "--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"C:\\fakepath\\rank1.json\"\r\n\r\n%s\r\n"
        "--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"rank0.json\"\r\n"
        "Content-Type: application/json\r\n\r\n%s\r\n"
        "--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"notes.txt\"\r\n\r\nhello\r\n--B--\r\n",
        t1, t0);
    const char *const type[] = {"Content-Type: multipart/form-data; boundary=B", NULL};
    struct answer a = ask(&g, "POST", "/api/v1/traces", type, body, (size_t)n);
    ck_assert_msg(a.status == 201, "%ld: %.300s", a.status, a.body);
    json_t *j = json_of(&a), *list = json_object_get(j, "traces"), *errors = json_object_get(j, "errors");
    ck_assert_str_eq(json_string_value(json_object_get(j, "run")), "f\xc3\xb6rm");
    ck_assert_uint_eq(json_array_size(list), 2);
    ck_assert_int_eq(json_integer_value(json_object_get(json_array_get(list, 0), "rank")), 1);
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(list, 0), "name")), "rank1.json");
    ck_assert_int_eq(json_integer_value(json_object_get(json_array_get(list, 1), "rank")), 0);
    ck_assert_int_eq(json_integer_value(json_object_get(json_array_get(list, 1), "events")), 18);
    ck_assert_uint_eq(json_array_size(errors), 1);
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(errors, 0), "name")), "notes.txt");
    ck_assert_int_eq(json_integer_value(json_object_get(json_array_get(errors, 0), "status")), 422);
    ck_assert_str_eq(header_of(&a, "Location"), "/api/v1/runs/f%C3%B6rm");
    json_decref(j);
    answer_free(&a);
    a = get(&g, "/api/v1/runs/f%C3%B6rm/overview");
    ck_assert_int_eq(a.status, 200);
    answer_free(&a);
    free(body);
    free(t0);
    free(t1);
    stop();
}
END_TEST

START_TEST(what_is_no_trace_is_refused_with_a_sentence)
{
    static const char *const bodies[] = {"", "<!DOCTYPE html><html><body>404</body></html>", "PAR1\x15\x04\x15\x10",
                                         "{\"schema\": \"1.0.1\", \"nodes\": []}", "hello"};
    start();
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        struct answer a = put_trace(&g, "name=x&run=r", bodies[i]);
        check_problem(&a, 422, "input");
        answer_free(&a);
    }
    struct answer a = get(&g, "/api/v1/runs");
    ck_assert_str_eq(a.body, "{\"runs\":[]}\n");
    answer_free(&a);
    a = put_trace(&g, "rank=minus", "x");
    check_problem(&a, 400, "usage");
    answer_free(&a);
    a = put_trace(&g, "rnak=1", "x");
    check_problem(&a, 400, "usage");
    answer_free(&a);
    a = put_trace(&g, "run=a%2Fb", "x");
    check_problem(&a, 400, "usage");
    answer_free(&a);
    stop();
}
END_TEST

START_TEST(limits_are_answered_with_413)
{
    live_start(&g, "[server]\nmax_upload = 100000\n[ingest]\nevents = 50\n");
    char *big = small_trace(0, 1000), *many = small_trace(0, 30);
    ck_assert_uint_gt(strlen(big), 100000);
    struct answer a = put_trace(&g, "run=r", big);
    check_problem(&a, 413, "limit");
    answer_free(&a);
    const char *const chunked[] = {"Transfer-Encoding: chunked", NULL};
    char path[] = "/api/v1/traces?run=r";
    a = ask(&g, "PUT", path, chunked, big, 150000);
    check_problem(&a, 413, "limit");
    answer_free(&a);
    a = put_trace(&g, "run=r", many);
    check_problem(&a, 413, "limit");
    answer_free(&a);
    a = get(&g, "/api/v1/runs");
    ck_assert_str_eq(a.body, "{\"runs\":[]}\n");
    answer_free(&a);
    char *sql = calloc(1, 1100000);
    memset(sql, ' ', 1090000);
    a = ask(&g, "POST", "/api/v1/traces/0123456789/sql", NULL, sql, 1090000);
    check_problem(&a, 413, "limit");
    answer_free(&a);
    free(sql);
    free(big);
    free(many);
    ck_assert_int_eq(live_stop(&g), 0);
}
END_TEST

HS_SUITE(http_upload)
{
    HS_TEST(an_upload_is_answered_with_what_became_of_it);
    HS_TEST(the_same_file_twice_is_kept_once);
    HS_TEST(two_files_of_one_rank_are_both_kept);
    HS_TEST(a_form_brings_many_files);
    HS_TEST(what_is_no_trace_is_refused_with_a_sentence);
    HS_TEST(limits_are_answered_with_413);
}
