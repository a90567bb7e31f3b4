/* roofline and the rules that judge it: numbers by hand, on a V100 (900 GB/s, float32 15.7, half 125 TFLOP/s, 6 MiB of cache). */
#include "tests/unit/asked.h"
#include "tests/unit/fake_view.h"
#include "tests/unit/test.h"

#include <string.h>

static struct json_trace t;
static struct hs_table a;
static int g_corr;

#define V100 "\"deviceProperties\":[{\"id\":0,\"name\":\"Tesla V100-SXM2-16GB\",\"numSms\":80}],"

static void op(const char *name, const char *dims, const char *type, int64_t ts)
{
    char at[40];
    trace_event(&t,
                "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"%s\",\"pid\":1,\"tid\":1,\"ts\":%s,\"dur\":5,\"args\":{"
                "\"Input Dims\":%s,\"Input type\":[\"%s\",\"%s\",\"%s\"]}}",
                name, trace_us(at, ts), dims, type, type, type);
}

/* An operator that launches one kernel of so many ns. */
static void op_kernel(const char *name, const char *dims, const char *type, int64_t ts, const char *kernel, int64_t dur)
{
    g_corr++;
    op(name, dims, type, ts);
    trace_launch(&t, "cudaLaunchKernel", 1, ts + 1000, 500, g_corr);
    trace_kernel(&t, kernel, 0, 7, ts + 2000, dur, g_corr);
}

static void begin(const char *header)
{
    json_trace_begin(&t, 0);
    t.header = header;
    g_corr = 0;
}

/* 2 x 1000^3 operations in 200 us are 10 TFLOP/s, 8 % of 125; 6 MB in 200 us are 30 GB/s. An addition (its list written with
 * blanks) of 3 x 16 MB in 100 us: 480 GB/s, 53.3 %. */
START_TEST(rows_by_hand)
{
    begin(V100);
    op_kernel("aten::mm", "[[1000,1000],[1000,1000]]", "c10::Half", 10000, "volta_h884gemm", 150000);
    op_kernel("aten::mm", "[[1000,1000],[1000,1000]]", "c10::Half", 300000, "volta_h884gemm", 250000);
    op_kernel("aten::add", "[[4000000],[ 4000000 ]]", "float", 700000, "add", 100000);
    op_kernel("aten::cumsum", "[[4000000],[]]", "float", 900000, "scan", 500000); /* not told by its shapes */
    a = asked(&t, "roofline", "");
    ck_assert_uint_eq(a.rows, 2);
    ck_assert_str_eq(table_text(&a, 0, "name"), "aten::mm");
    ck_assert_str_eq(table_text(&a, 0, "kind"), "matmul");
    ck_assert_str_eq(table_text(&a, 0, "dtype"), "float16");
    ck_assert_int_eq(table_i64(&a, 0, "calls"), 2);
    ck_assert_int_eq(table_i64(&a, 0, "gpu_us"), 400000);
    ck_assert_double_eq_tol(table_f64(&a, 0, "share_pct"), 40, 1e-9);
    ck_assert_double_eq(table_f64(&a, 0, "flops"), 2e9);
    ck_assert_double_eq(table_f64(&a, 0, "bytes"), 6e6);
    ck_assert_double_eq_tol(table_f64(&a, 0, "tflops"), 10, 1e-9);
    ck_assert_double_eq_tol(table_f64(&a, 0, "gbps"), 30, 1e-9);
    ck_assert_double_eq_tol(table_f64(&a, 0, "compute_pct"), 8, 1e-9);
    ck_assert_double_eq_tol(table_f64(&a, 0, "bandwidth_pct"), 100.0 / 30, 1e-9);
    ck_assert_double_eq_tol(table_f64(&a, 0, "roof_pct"), 8, 1e-9);
    ck_assert_str_eq(table_text(&a, 0, "bound"), "compute");
    ck_assert_int_eq(table_i64(&a, 0, "event_ts_us"), 300000); /* the longer of the two */
    ck_assert_str_eq(table_text(&a, 1, "kind"), "elementwise");
    ck_assert_str_eq(table_text(&a, 1, "input_dims"), "[[4000000],[4000000]]");
    ck_assert_double_eq_tol(table_f64(&a, 1, "roof_pct"), 100 * 480.0 / 900, 1e-9);
    ck_assert_str_eq(table_text(&a, 1, "bound"), "memory");
    ck_assert(table_has_note(&a, "50.0 % of the time of device work belongs to operators"));
    hs_table_free(&a);
    a = asked(&t, "roofline", "kind=elementwise");
    ck_assert_uint_eq(a.rows, 1);
    hs_table_free(&a);
    a = asked(&t, "roofline", "name=mm$");
    ck_assert_uint_eq(a.rows, 1);
    hs_table_free(&a);
    json_trace_end(&t, 1);
}
END_TEST

/* Work counts for the innermost operator, and copies between host and device are no work of the memory alone. */
START_TEST(innermost_operator)
{
    begin(V100);
    trace_cpu(&t, "cpu_op", "aten::linear", 1, 9000, 20000);
    op_kernel("aten::mm", "[[1000,1000],[1000,1000]]", "float", 10000, "volta_sgemm_128", 200000);
    g_corr++;
    op("aten::copy_", "[[1000000],[1000000]]", "float", 400000);
    trace_launch(&t, "cudaMemcpyAsync", 1, 401000, 500, g_corr);
    trace_copy(&t, "Memcpy HtoD (Pinned -> Device)", 0, 7, 402000, 100000, g_corr, 4000000);
    a = asked(&t, "roofline", "");
    ck_assert_uint_eq(a.rows, 1);
    ck_assert_str_eq(table_text(&a, 0, "name"), "aten::mm");
    ck_assert_str_eq(table_text(&a, 0, "dtype"), "float32");
    ck_assert_double_eq_tol(table_f64(&a, 0, "compute_pct"), 100 * 10 / 15.7, 1e-9);
    hs_table_free(&a);
    json_trace_end(&t, 1);
}
END_TEST

START_TEST(what_is_not_known_is_null)
{
    begin("\"deviceProperties\":[{\"id\":0,\"name\":\"Tesla V100-SXM2-16GB\",\"numSms\":40}],"); /* half of one */
    op_kernel("aten::add", "[[4000000],[4000000]]", "float", 10000, "add", 100000);
    a = asked(&t, "roofline", "");
    ck_assert_uint_eq(a.rows, 1);
    ck_assert_double_eq_tol(table_f64(&a, 0, "gbps"), 480, 1e-9);
    ck_assert(table_null(&a, 0, "bandwidth_pct") && table_null(&a, 0, "roof_pct") && table_null(&a, 0, "bound") &&
              table_null(&a, 0, "flops") && table_null(&a, 0, "dtype") && table_null(&a, 0, "cached"));
    ck_assert(table_has_note(&a, "are not known"));
    hs_table_free(&a);
    json_t *j = report_json(&t, NULL);
    ck_assert_str_eq(rule_state(j, "slow-memory-bound"), "cannot_answer");
    json_decref(j);
    json_trace_end(&t, 1);
    begin(V100);
    trace_cpu(&t, "cpu_op", "aten::add", 1, 10000, 5000);
    trace_launch(&t, "cudaLaunchKernel", 1, 11000, 500, 1);
    trace_kernel(&t, "add", 0, 7, 12000, 100000, 1);
    a = asked(&t, "roofline", "");
    ck_assert_uint_eq(a.rows, 0);
    ck_assert(table_has_note(&a, "record_shapes=True"));
    hs_table_free(&a);
    j = report_json(&t, NULL);
    ck_assert_str_eq(rule_state(j, "slow-attention"), "cannot_answer");
    json_decref(j);
    json_trace_end(&t, 1);
}
END_TEST

static double value(json_t *report, const char *id)
{
    return json_number_value(json_object_get(report_entry(report, "rules", id), "value"));
}

/* 48 MB in 200 us are 240 GB/s, 26.7 % of 900: slow, for 200 of 1000 us. In 100 us they are not. A transposed copy of 1 MB fits
 * into the cache. What 3/4 of 200 us is at most to be had: 200 x (1 - 240 / 900) = 146.7 us. */
START_TEST(slow_where_memory_binds)
{
    begin(V100);
    op_kernel("aten::add", "[[4000000],[4000000]]", "float", 10000, "slow_add", 200000);
    op_kernel("aten::add", "[[4000000, 1],[4000000, 1]]", "float", 300000, "add", 100000);
    op_kernel("aten::mul", "[[100000],[100000]]", "float", 500000, "cached", 100000);
    op_kernel("aten::native_layer_norm", "[[4000000, 1],[]]", "float", 700000, "norm", 100000); /* 320 GB/s: a third */
    op_kernel("aten::cumsum", "[[4000000],[]]", "float", 900000, "scan", 500000);
    json_t *j = report_json(&t, NULL), *slow = report_entry(j, "recommendations", "slow-memory-bound");
    ck_assert_ptr_nonnull(slow);
    ck_assert_double_eq_tol(value(j, "slow-memory-bound"), 20, 1e-4);
    ck_assert_double_eq_tol(json_number_value(json_object_get(slow, "gain_us")), 200 * (1 - 240.0 / 900), 0.001);
    ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(slow, "detail")), "aten::add, 1 calls"));
    ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(slow, "detail")), "27 % of the memory's bandwidth"));
    ck_assert_str_eq(rule_state(j, "above-peak"), "ok");
    json_decref(j);
    json_trace_end(&t, 1);
}
END_TEST

/* 1024 positions, 32 x 16 heads of 64: 1.374e11 operations, in 10 ms 13.7 TFLOP/s or 11 % of 125; 20 are to be had. A single short sequence
 * is too little work for any. */
START_TEST(slow_attention_by_length)
{
    begin(V100);
    op_kernel("aten::_flash_attention_forward", "[[32,1024,16,64],[32,1024,16,64],[32,1024,16,64]]", "c10::Half", 10000,
              "flash_fwd", 10000000);
    op_kernel("aten::_flash_attention_forward", "[[1,128,8,64],[1,128,8,64],[1,128,8,64]]", "c10::Half", 20000000,
              "flash_fwd", 10000000);
    json_t *j = report_json(&t, NULL);
    ck_assert_str_eq(rule_state(j, "slow-attention"), "applies");
    ck_assert_double_eq_tol(value(j, "slow-attention"), 50, 1e-4);
    json_decref(j);
    json_trace_end(&t, 1);
    begin(V100); /* in 5 ms it is 22 % */
    op_kernel("aten::_flash_attention_forward", "[[32,1024,16,64],[32,1024,16,64],[32,1024,16,64]]", "c10::Half", 10000,
              "flash_fwd", 5000000);
    j = report_json(&t, NULL);
    ck_assert_str_eq(rule_state(j, "slow-attention"), "ok");
    json_decref(j);
    json_trace_end(&t, 1);
}
END_TEST

/* 200 TFLOP/s on a V100. */
START_TEST(faster_than_the_device)
{
    begin(V100);
    op_kernel("aten::mm", "[[1000,1000],[1000,1000]]", "c10::Half", 10000, "volta_h884gemm", 10000);
    json_t *j = report_json(&t, NULL);
    ck_assert_str_eq(rule_state(j, "above-peak"), "applies");
    ck_assert_double_eq(value(j, "above-peak"), 1);
    json_decref(j);
    json_trace_end(&t, 1);
}
END_TEST

HS_SUITE(analysis_roofline)
{
    HS_TEST(rows_by_hand);
    HS_TEST(innermost_operator);
    HS_TEST(what_is_not_known_is_null);
    HS_TEST(slow_where_memory_binds);
    HS_TEST(slow_attention_by_length);
    HS_TEST(faster_than_the_device);
}
