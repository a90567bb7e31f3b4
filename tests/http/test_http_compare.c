/* /api/v1/compare, the join with an execution trace, and the report, over loopback. */
#include "tests/http/live.h"
#include "tests/unit/test.h"

#include <curl/curl.h>
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
}

static void upload(const char *query, int kernels)
{
    char *t = small_trace(0, kernels);
    struct answer a = put_trace(&g, query, t);
    ck_assert_msg(a.status == 201, "%ld %.300s", a.status, a.body);
    answer_free(&a);
    free(t);
}

static json_t *row_named(json_t *doc, const char *name)
{
    json_t *row;
    size_t i;
    json_array_foreach(json_object_get(doc, "rows"), i, row)
    {
        if (!strcmp(json_string_value(json_object_get(row, "name")), name))
            return row;
    }
    ck_abort_msg("there is no row of %s", name);
    return NULL;
}

/* small_trace: kernel i is "k<i % 3>" of 10, 20, 30 us. Nine kernels have each name three times, twelve four times: k2 is 90 us
 * on one side, 120 on the other. */
START_TEST(two_runs)
{
    start();
    upload("name=a.json&run=base", 9);
    upload("name=b.json&run=test", 12);
    struct answer a = get(&g, "/api/v1/compare?base=base&test=test");
    ck_assert_int_eq(a.status, 200);
    json_t *doc = json_of(&a);
    ck_assert_str_eq(json_string_value(json_object_get(doc, "analysis")), "diff");
    json_t *k2 = row_named(doc, "k2");
    ck_assert_int_eq(json_integer_value(json_object_get(k2, "base_count")), 3);
    ck_assert_int_eq(json_integer_value(json_object_get(k2, "test_count")), 4);
    ck_assert_double_eq(json_number_value(json_object_get(k2, "base_us")), 90);
    ck_assert_double_eq(json_number_value(json_object_get(k2, "test_us")), 120);
    json_decref(doc);
    char etag[80];
    snprintf(etag, sizeof etag, "If-None-Match: %.60s", header_of(&a, "ETag"));
    answer_free(&a);
    const char *const same[] = {etag, NULL};
    a = ask(&g, "GET", "/api/v1/compare?base=base&test=test", same, NULL, 0);
    ck_assert_int_eq(a.status, 304);
    answer_free(&a);
    a = get(&g, "/api/v1/compare?base=base&test=test&analysis=diff-ops&format=csv");
    ck_assert_int_eq(a.status, 200);
    ck_assert_ptr_nonnull(strstr(a.body, "k2"));
    answer_free(&a);
    stop();
}
END_TEST

START_TEST(what_cannot_be_compared)
{
    start();
    upload("name=a.json&run=base", 3);
    static const struct {
        const char *path;
        long status;
        const char *code;
    } bad[] = {
        {"/api/v1/compare?base=base", 400, "usage"},
        {"/api/v1/compare?test=base", 400, "usage"},
        {"/api/v1/compare?base=base&test=none", 404, "not-found"},
        {"/api/v1/compare?base=base&test=base&analysis=kernels", 400, "usage"},
        {"/api/v1/compare?base=base&test=base&nonsense=1", 400, "usage"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct answer a = get(&g, bad[i].path);
        check_problem(&a, bad[i].status, bad[i].code);
        answer_free(&a);
    }
    stop();
}
END_TEST

START_TEST(an_execution_trace)
{
    static const char et[] = "{\"schema\":\"1.0.1\",\"nodes\":[{\"name\":\"op\",\"id\":12,\"rf_id\":5,\"parent\":3}]}";
    static const char trace[] =
        "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op\",\"pid\":1,\"tid\":1,"
        "\"ts\":1,\"dur\":2,\"args\":{\"External id\":5}}]}";
    start();
    struct answer a = put_trace(&g, "name=a.json&run=r", trace);
    ck_assert_int_eq(a.status, 201);
    answer_free(&a);
    a = ask(&g, "POST", "/api/v1/runs/r/execution-trace", NULL, et, strlen(et));
    ck_assert_msg(a.status == 200, "%ld %.300s", a.status, a.body);
    json_t *doc = json_of(&a), *row = json_array_get(json_object_get(doc, "rows"), 0);
    ck_assert_int_eq(json_integer_value(json_object_get(row, "et_node")), 12);
    json_decref(doc);
    answer_free(&a);
    a = ask(&g, "POST", "/api/v1/runs/r/execution-trace", NULL, trace, strlen(trace));
    check_problem(&a, 422, "input");
    answer_free(&a);
    a = ask(&g, "POST", "/api/v1/runs/r/execution-trace?rank=x", NULL, et, strlen(et));
    check_problem(&a, 400, "usage");
    answer_free(&a);
    a = ask(&g, "POST", "/api/v1/runs/none/execution-trace", NULL, et, strlen(et));
    check_problem(&a, 404, "not-found");
    answer_free(&a);
    stop();
}
END_TEST

/* The report in its three forms, its rules, and a threshold from the configuration. */
START_TEST(the_report_and_its_rules)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
    live_start(&g, "[report]\nthresholds = [\"one-kernel=12.5\"]\n");
    upload("name=a.json&run=r", 9);
    static const struct {
        const char *path, *type, *part;
    } forms[] = {
        {"/api/v1/runs/r/report", "application/json", "\"recommendations\""},
        {"/api/v1/runs/r/report?format=md", "text/markdown", "**Main Finding:**"},
        {"/api/v1/runs/r/report?format=html", "text/html", "<h2>Bottleneck</h2>"},
        {"/api/v1/runs/r/report?part=overview", "application/json", "\"part\":\"overview\""},
        {"/api/v1/runs/r/report?part=overview&format=md", "text/markdown", "# Overview: "},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct answer a = get(&g, forms[i].path);
        ck_assert_int_eq(a.status, 200);
        ck_assert(!strncmp(header_of(&a, "Content-Type"), forms[i].type, strlen(forms[i].type)));
        ck_assert_ptr_nonnull(strstr(a.body, forms[i].part));
        answer_free(&a);
    }
    struct answer a = get(&g, "/api/v1/runs/r/report?format=pdf");
    check_problem(&a, 400, "usage");
    answer_free(&a);
    a = get(&g, "/api/v1/rules");
    ck_assert_int_eq(a.status, 200);
    json_t *doc = json_of(&a), *row;
    bool found = false;
    size_t i;
    json_array_foreach(json_object_get(doc, "rows"), i, row)
    {
        if (strcmp(json_string_value(json_object_get(row, "id")), "one-kernel") != 0)
            continue;
        found = true;
        ck_assert_double_eq(json_number_value(json_object_get(row, "threshold")), 12.5);
        ck_assert_double_eq(json_number_value(json_object_get(row, "default_threshold")), 50);
    }
    ck_assert(found);
    json_decref(doc);
    answer_free(&a);
    stop();
}
END_TEST

HS_SUITE(http_compare)
{
    HS_TEST(two_runs);
    HS_TEST(what_cannot_be_compared);
    HS_TEST(an_execution_trace);
    HS_TEST(the_report_and_its_rules);
}
