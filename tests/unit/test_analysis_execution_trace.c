/* execution-trace: nodes beside events, in both schemas; hand-made files and the pair in HTA's own data. */
#include "analysis/execution_trace.h"
#include "tests/unit/exported.h"
#include "tests/unit/fake_view.h"
#include "tests/unit/json_trace.h"
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

static int read_et(struct hs_et *et, const char *json, struct hs_err *err)
{
    struct hs_input_bytes t = {json, strlen(json)};
    struct hs_input in = hs_input_of_bytes(&t, "et.json");
    return hs_et_read(et, &in, &hs_limits_default, err);
}

/* op (External id 5) with a launch and a kernel of 30 us beneath; inner (6) in it; lone (9) without a node. */
static struct hs_run *trace(struct json_trace *t)
{
    char a[40];
    static const struct {
        const char *name;
        int64_t ts, dur;
        int id;
    } ops[] = {{"op", 1000, 90000, 5}, {"inner", 2000, 40000, 6}, {"lone", 95000, 1000, 9}};
    json_trace_begin(t, 0);
    for (size_t i = 0; i < 3; i++)
        trace_event(t,
                    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"%s\",\"pid\":1,\"tid\":1,\"ts\":%s,\"dur\":%s,"
                    "\"args\":{\"External id\":%d}}",
                    ops[i].name, trace_us(a, ops[i].ts),
                    i == 0   ? "90"
                    : i == 1 ? "40"
                             : "1",
                    ops[i].id);
    trace_launch(t, "cudaLaunchKernel", 1, 3000, 1000, 1);
    trace_kernel(t, "k", 0, 7, 50000, 30000, 1);
    return json_trace_load(t, 1);
}

static void check_rows(const char *json, int64_t parent)
{
    static struct json_trace t;
    struct hs_err err = HS_ERR_INIT;
    struct hs_et et;
    struct hs_table x;
    struct hs_run *run = trace(&t);
    ck_assert_msg(!read_et(&et, json, &err), "%s", err.text);
    ck_assert_int_eq(hs_et_join(&et, run, NULL, &x, &err), HS_OK);
    ck_assert_uint_eq(x.rows, 2);
    ck_assert_str_eq(table_text(&x, 0, "name"), "op");
    ck_assert_int_eq(table_i64(&x, 0, "external_id"), 5);
    ck_assert_int_eq(table_i64(&x, 0, "et_node"), 12);
    ck_assert_int_eq(table_i64(&x, 0, "et_parent"), parent);
    ck_assert_int_eq(table_i64(&x, 0, "num_kernels"), 1);
    ck_assert_int_eq(table_i64(&x, 0, "kernel_dur_sum_us"), 30000);
    ck_assert_str_eq(table_text(&x, 1, "et_name"), "another");
    ck_assert_int_eq(table_i64(&x, 1, "et_node"), 13);
    ck_assert_int_eq(table_i64(&x, 1, "dur_us"), 40000);
    ck_assert(
        table_has_note(&x, "2 operators and annotations have a node; 1 with an External id have none, and 1 of 3"));
    ck_assert(table_has_note(&x, "1 nodes have no rf_id"));
    ck_assert(table_has_note(&x, "1 pairs have different names"));
    hs_table_free(&x);
    hs_et_free(&et);
    json_trace_end(&t, 1);
}

START_TEST(members_of_the_node)
{
    check_rows("{\"schema\":\"1.0.1\",\"nodes\":[{\"name\":\"op\",\"id\":12,\"rf_id\":5,\"parent\":3},"
               "{\"name\":\"another\",\"id\":13,\"rf_id\":6,\"parent\":12},{\"name\":\"x\",\"id\":14,\"rf_id\":7},"
               "{\"name\":\"## process_group:init ##\",\"id\":2}]}",
               3);
}
END_TEST

START_TEST(attributes_of_the_node)
{
    check_rows(
        "{\"schema\":\"1.1.1-chakra.0.0.4\",\"nodes\":["
        "{\"id\":12,\"name\":\"op\",\"ctrl_deps\":4,\"attrs\":[{\"name\":\"rf_id\",\"type\":\"uint64\",\"value\":5}]},"
        "{\"id\":13,\"name\":\"another\",\"ctrl_deps\":12,\"attrs\":[{\"name\":\"fw_parent\",\"value\":0},"
        "{\"name\":\"rf_id\",\"type\":\"uint64\",\"value\":\"6\"}]},"
        "{\"id\":14,\"name\":\"x\",\"attrs\":[{\"name\":\"rf_id\",\"value\":7}]},{\"id\":1,\"name\":\"root\"}]}",
        4);
}
END_TEST

START_TEST(what_is_none_is_refused)
{
    static const char *const bad[] = {"{\"traceEvents\":[]}", "{\"nodes\":{}}", "[1,2]", "{\"nodes\":[", "hello"};
    struct hs_err err = HS_ERR_INIT;
    struct hs_et et;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ck_assert_int_eq(read_et(&et, bad[i], &err), HS_EINPUT);
}
END_TEST

/* 36 operators and annotations of HTA's pair have External ids 1 to 36, each of a node (counted by another program). */
START_TEST(the_real_pair)
{
    const char *dir = hs_test_traces();
    if (!dir)
        return;
    char path[4096];
    struct traced t;
    struct hs_err err = HS_ERR_INIT;
    struct hs_input in;
    struct hs_et et;
    struct hs_table x;
    snprintf(path, sizeof path, "%s/execution_trace/rank0.json.gz", dir);
    traced_file(&t, path);
    snprintf(path, sizeof path, "%s/execution_trace/et.json.gz", dir);
    ck_assert_int_eq(hs_input_open_file(&in, path, &err), HS_OK);
    ck_assert_int_eq(hs_et_read(&et, &in, &hs_limits_default, &err), HS_OK);
    hs_input_close_file(&in);
    ck_assert_int_eq(hs_et_join(&et, t.run, NULL, &x, &err), HS_OK);
    ck_assert_uint_eq(x.rows, 36);
    for (size_t i = 0; i < x.rows; i++) {
        ck_assert_int_eq(table_i64(&x, i, "external_id"), (int64_t)i + 1);
        if (table_i64(&x, i, "external_id") == 22) /* aten::add */
            ck_assert_int_eq(table_i64(&x, i, "et_node"), 36);
    }
    ck_assert(!table_has_note(&x, "different names"));
    hs_table_free(&x);
    int64_t other = 99;
    ck_assert_int_eq(hs_et_join(&et, t.run, &other, &x, &err), HS_EUSAGE);
    hs_table_free(&x);
    hs_et_free(&et);
    traced_end(&t);
}
END_TEST

HS_SUITE(analysis_execution_trace)
{
    HS_TEST(members_of_the_node);
    HS_TEST(attributes_of_the_node);
    HS_TEST(what_is_none_is_refused);
    HS_TEST(the_real_pair);
}
