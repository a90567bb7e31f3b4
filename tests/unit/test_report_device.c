/* What the report says of how kernels were launched and of attention: three kernels, the numbers by hand. */
#include "tests/unit/asked.h"
#include "tests/unit/test.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static struct json_trace t;

static void kernel(const char *cat, const char *name, int ts, int dur, int corr, const char *more)
{
    trace_event(&t,
                "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":0,\"tid\":7,\"ts\":%d,\"dur\":%d,"
                "\"args\":{\"device\":0,\"stream\":7,\"correlation\":%d%s}}",
                cat, name, ts, dur, corr, more);
}

static void begin(void)
{
    json_trace_begin(&t, 0);
    trace_cpu(&t, "cpu_op", "aten::_scaled_dot_product_attention_math", 1, 0, 20000);
    trace_launch(&t, "cudaLaunchKernel", 1, 1000, 1000, 1);
    trace_launch(&t, "cudaLaunchKernel", 1, 3000, 1000, 2);
    trace_launch(&t, "cudaLaunchKernel", 1, 30000, 1000, 3);
}

/* 100 of 400 us with a quarter of a block for each multiprocessor: at most three quarters of the 100 are to be had. Communication
 * needs few blocks and does not count. */
START_TEST(small_grids_and_unfused_attention)
{
    begin();
    kernel("kernel", "bmm", 10, 60, 1, ",\"blocks per SM\":2.5");
    kernel("kernel", "softmax", 70, 100, 2, ",\"blocks per SM\":0.25");
    kernel("kernel", "gemm", 170, 200, 3, ",\"blocks per SM\":1");
    kernel("kernel", "ncclDevKernel_AllReduce", 370, 40, 4, ",\"blocks per SM\":0.1");
    json_t *j = report_json(&t, NULL), *grid = report_entry(j, "recommendations", "small-grids"),
           *attention = report_entry(j, "recommendations", "unfused-attention");
    ck_assert_ptr_nonnull(grid);
    ck_assert_double_eq(json_number_value(json_object_get(grid, "value")), 25);
    ck_assert_double_eq(json_number_value(json_object_get(grid, "gain_us")), 75);
    ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(grid, "detail")), "softmax, 0.25 blocks"));
    ck_assert_ptr_nonnull(attention); /* bmm and softmax, 160 of 400 us */
    ck_assert_double_eq(json_number_value(json_object_get(attention, "value")), 40);
    ck_assert_double_eq(json_number_value(json_object_get(attention, "gain_us")), 160);
    json_decref(j);
    json_trace_end(&t, 1);
}
END_TEST

/* A trace that does not tell how kernels were launched is no trace of well filled ones. */
START_TEST(unsampled_is_not_zero)
{
    begin();
    kernel("kernel", "gemm", 40, 200, 3, "");
    json_t *j = report_json(&t, NULL);
    const char *state = json_string_value(json_object_get(report_entry(j, "rules", "small-grids"), "state"));
    ck_assert_str_eq(state, "cannot_answer");
    ck_assert(json_is_null(json_object_get(report_entry(j, "rules", "small-grids"), "value")));
    state = json_string_value(json_object_get(report_entry(j, "rules", "unfused-attention"), "state"));
    ck_assert_str_eq(state, "ok"); /* the operator is there, but nothing ran beneath it */
    json_decref(j);
    json_trace_end(&t, 1);
}
END_TEST

HS_SUITE(report_device)
{
    HS_TEST(small_grids_and_unfused_attention);
    HS_TEST(unsampled_is_not_zero);
}
