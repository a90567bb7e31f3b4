/* memory-timeline, counters, symbols, and stacks as files: by hand. */
#include "tests/unit/fake_view.h"
#include "tests/unit/json_trace.h"
#include "tests/unit/test.h"

#include "render/flame.h"

#include <jansson.h>
#include <string.h>

static struct json_trace t;
static struct hs_table a;

static void memory(int64_t ts, int type, int64_t bytes, int64_t total, int64_t reserved, int number)
{
    char us[40];
    trace_event(
        &t,
        "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":%s,"
        "\"args\":{\"Ev Idx\":%d,\"Device Type\":%d,\"Device Id\":%d,\"Addr\":%d,\"Bytes\":%lld,\"Total "
        "Allocated\":%lld,"
        "\"Total Reserved\":%lld}}",
        trace_us(us, ts), number, type, type ? 0 : -1, 4096 + number, (long long)bytes, (long long)total,
        (long long)reserved);
}

static struct hs_run *allocations(void)
{
    json_trace_begin(&t, 0);
    memory(100, 1, 500, 1500, 4000, 1);
    memory(200, 1, -500, 1000, 4000, 3); /* at one time, by number: 2 comes first */
    memory(200, 1, 1000, 2500, 5000, 2);
    memory(150, 0, 64, 64, 0, 9);
    trace_cpu(&t, "cpu_op", "aten::empty", 1, 100, 200); /* the trace ends at 300 */
    return json_trace_load(&t, 1);
}

START_TEST(memory_by_hand)
{
    struct hs_run *run = allocations();
    a = fake_analyze(run, "memory-timeline", "");
    ck_assert_uint_eq(a.rows, 4);
    ck_assert_str_eq(table_text(&a, 0, "device_type"), "cpu");
    ck_assert_int_eq(table_i64(&a, 0, "device"), -1);
    ck_assert_str_eq(table_text(&a, 1, "device_type"), "cuda");
    ck_assert_int_eq(table_i64(&a, 1, "allocated_bytes"), 1500);
    ck_assert_int_eq(table_i64(&a, 1, "dur_us"), 100);
    ck_assert_int_eq(table_i64(&a, 2, "bytes"), 1000);
    ck_assert_int_eq(table_i64(&a, 2, "dur_us"), 0);
    ck_assert_int_eq(table_i64(&a, 3, "bytes"), -500);
    ck_assert_int_eq(table_i64(&a, 3, "reserved_bytes"), 4000);
    ck_assert_int_eq(table_i64(&a, 3, "dur_us"), 100);
    ck_assert_int_eq(table_i64(&a, 3, "addr"), 4099);
    ck_assert(table_has_note(&a, "Rank 0, cuda 0: the peak is 2500 bytes (5000 reserved)"));
    hs_table_free(&a);
    /* one pixel a device: 100 ns of 1500, 100 ns of 1000; what held for no time is no part of it */
    a = fake_analyze(run, "memory-timeline", "px=1&device_type=gpu");
    ck_assert_uint_eq(a.rows, 1);
    ck_assert_int_eq(table_i64(&a, 0, "allocated_bytes"), 1250);
    ck_assert_int_eq(table_i64(&a, 0, "allocated_max"), 1500);
    ck_assert_int_eq(table_i64(&a, 0, "allocated_min"), 1000);
    ck_assert(table_null(&a, 0, "bytes"));
    hs_table_free(&a);
    json_trace_end(&t, 1);
}
END_TEST

START_TEST(memory_without_totals)
{
    char us[40];
    json_trace_begin(&t, 0);
    for (int i = 0; i < 3; i++)
        trace_event(
            &t,
            "{\"ph\":\"i\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":%s,\"args\":{\"Device Type\":1,\"Device "
            "Id\":0,\"Bytes\":%d}}",
            trace_us(us, 100 + i), i == 1 ? -30 : 100);
    a = fake_analyze(json_trace_load(&t, 1), "memory-timeline", "");
    ck_assert_uint_eq(a.rows, 3);
    ck_assert_int_eq(table_i64(&a, 2, "allocated_bytes"), 170);
    ck_assert(table_null(&a, 2, "reserved_bytes"));
    ck_assert(table_has_note(&a, "tells no totals"));
    hs_table_free(&a);
    json_trace_end(&t, 1);
    json_trace_begin(&t, 0);
    a = fake_analyze(json_trace_load(&t, 1), "memory-timeline", "");
    ck_assert(!a.rows && table_has_note(&a, "profile_memory=True"));
    hs_table_free(&a);
    json_trace_end(&t, 1);
}
END_TEST

/* ---- counters ---- */

static void range(const char *name, int64_t ts, const char *counters)
{
    char us[40];
    trace_event(&t,
                "{\"ph\":\"X\",\"cat\":\"cuda_profiler_range\",\"name\":\"%s\",\"pid\":0,\"tid\":0,\"ts\":%s,\"dur\":1,"
                "\"args\":{%s}}",
                name, trace_us(us, ts), counters);
}

START_TEST(counters_by_order)
{
    json_trace_begin(&t, 5);
    range("gemm", 10, "\"flops.sum\":7,\"b.avg\":0.5");
    range("add", 20, "\"flops.sum\":3");
    trace_cpu(&t, "cpu_op", "aten::linear", 1, 100, 50);
    trace_cpu(&t, "cpu_op", "aten::addmm", 1, 110, 30);
    trace_launch(&t, "cudaLaunchKernel", 1, 120, 5, 1);
    trace_launch(&t, "cuLaunchKernel", 1, 200, 5, 2);
    trace_launch(&t, "cudaMemcpyAsync", 1, 210, 5, 3); /* no kernel */
    a = fake_analyze(json_trace_load(&t, 1), "counters", "");
    ck_assert_uint_eq(a.rows, 2);
    ck_assert_int_eq(table_i64(&a, 0, "rank"), 5);
    ck_assert_str_eq(table_text(&a, 0, "matched_by"), "order");
    ck_assert_str_eq(table_text(&a, 0, "op_stack"), "[\"aten::linear\",\"aten::addmm\"]");
    ck_assert_str_eq(table_text(&a, 0, "top_level_op"), "aten::linear");
    ck_assert_str_eq(table_text(&a, 0, "bottom_level_op"), "aten::addmm");
    ck_assert_double_eq(table_f64(&a, 0, "flops.sum"), 7);
    ck_assert_double_eq(table_f64(&a, 0, "b.avg"), 0.5);
    ck_assert_double_eq(table_f64(&a, 1, "flops.sum"), 3);
    ck_assert(table_null(&a, 1, "b.avg") && table_null(&a, 1, "op_stack"));
    hs_table_free(&a);
    trace_launch(&t, "cudaLaunchKernel", 1, 300, 5, 4);
    a = fake_analyze(json_trace_load(&t, 1), "counters", "");
    ck_assert(a.rows == 2 && table_null(&a, 0, "launch_event"));
    ck_assert(table_has_note(&a, "2 ranges and 3 kernel launches"));
    hs_table_free(&a);
    json_trace_end(&t, 1);
}
END_TEST

START_TEST(counters_by_name)
{
    json_trace_begin(&t, 0);
    trace_cpu(&t, "cpu_op", "aten::a", 1, 100, 50);
    trace_launch(&t, "cudaLaunchKernel", 1, 120, 5, 1);
    trace_cpu(&t, "cpu_op", "aten::b", 1, 200, 50);
    trace_launch(&t, "cudaLaunchKernel", 1, 220, 5, 2);
    trace_kernel(&t, "first", 0, 7, 300, 5, 1);
    trace_kernel(&t, "second", 0, 7, 310, 5, 2);
    range("second", 10, "\"x\":2"); /* in another order than the launches */
    range("first", 20, "\"x\":1");
    a = fake_analyze(json_trace_load(&t, 1), "counters", "");
    ck_assert_str_eq(table_text(&a, 0, "matched_by"), "name");
    ck_assert_str_eq(table_text(&a, 0, "top_level_op"), "aten::b");
    ck_assert_str_eq(table_text(&a, 1, "top_level_op"), "aten::a");
    hs_table_free(&a);
    json_trace_end(&t, 1);
}
END_TEST

/* ---- symbols ---- */

START_TEST(symbols_of_two_ranks)
{
    static struct json_trace two[2];
    for (int r = 0; r < 2; r++) {
        json_trace_begin(&two[r], r);
        trace_kernel(&two[r], "void ns::gemm<int>(float)", 0, 7, 100, 5, 1);
        trace_copy(&two[r], "Memcpy DtoH (Device -> Pinned)", 0, 7, 110, 5, 2, 1);
    }
    trace_kernel(&two[0], "void ns::gemm<int>(float)", 0, 7, 120, 5, 3);
    struct hs_run *run = json_trace_load(two, 2);
    a = fake_analyze(run, "symbols", "name=gemm|Memcpy");
    ck_assert_uint_eq(a.rows, 2);
    ck_assert_str_eq(table_text(&a, 0, "short_name"), "ns::gemm");
    ck_assert_str_eq(table_text(&a, 0, "class"), "compute");
    ck_assert_str_eq(table_text(&a, 0, "hta_class"), "COMPUTATION");
    ck_assert_int_eq(table_i64(&a, 0, "events"), 3);
    ck_assert_int_eq(table_i64(&a, 0, "ranks"), 2);
    ck_assert_str_eq(table_text(&a, 1, "memory_kind"), "Memcpy DtoH");
    hs_table_free(&a);
    a = fake_analyze(run, "symbols", "compat=hta");
    ck_assert_uint_eq(a.rows, 3);
    hs_table_free(&a);
    json_trace_end(two, 2);
}
END_TEST

/* ---- stacks as files ---- */

static const struct hs_column_spec columns[] = {
    {"rank", HS_T_INT, "", ""}, {"stack", HS_T_TEXT, "", ""}, {"weight_us", HS_T_TIME, "us", ""}};

static void stacks(int ranks)
{
    hs_table_init(&a, columns, 3);
    for (int r = 0; r < ranks; r++) {
        hs_table_row(&a);
        hs_cell_i64(&a, r);
        hs_cell_cstr(&a, "thread 1;main;f<a>");
        hs_cell_ns(&a, 1500);
        hs_table_row(&a);
        hs_cell_i64(&a, r);
        hs_cell_cstr(&a, "thread 1;main");
        hs_cell_ns(&a, 7);
    }
}

START_TEST(folded_stacks)
{
    struct hs_buf out = HS_BUF_INIT(4096);
    struct hs_err err = HS_ERR_INIT;
    stacks(1);
    ck_assert_int_eq(hs_render_folded(&a, &out, &err), 0);
    ck_assert_str_eq(out.p, "thread 1;main;f<a> 1500\nthread 1;main 7\n");
    hs_table_free(&a);
    hs_buf_clear(&out);
    stacks(2);
    ck_assert_int_eq(hs_render_folded(&a, &out, &err), 0);
    ck_assert_ptr_nonnull(strstr(out.p, "\nrank 1;thread 1;main 7\n"));
    hs_table_free(&a);
    hs_buf_free(&out);
}
END_TEST

START_TEST(speedscope_file)
{
    struct hs_buf out = HS_BUF_INIT(1 << 16), small = HS_BUF_INIT(64);
    struct hs_err err = HS_ERR_INIT;
    json_error_t e;
    stacks(2);
    ck_assert_int_eq(hs_render_speedscope(&a, "run", &out, &err), 0);
    json_t *d = json_loads(out.p, 0, &e);
    ck_assert_msg(d != NULL, "%s", e.text);
    json_t *profiles = json_object_get(d, "profiles"), *p = json_array_get(profiles, 1);
    json_t *frames = json_object_get(json_object_get(d, "shared"), "frames");
    ck_assert_uint_eq(json_array_size(profiles), 2);
    ck_assert_str_eq(json_string_value(json_object_get(p, "name")), "rank 1");
    ck_assert_double_eq(json_number_value(json_object_get(p, "endValue")), 1507);
    ck_assert_double_eq(json_number_value(json_array_get(json_object_get(p, "weights"), 0)), 1500);
    json_t *sample = json_array_get(json_object_get(p, "samples"), 0);
    ck_assert_uint_eq(json_array_size(sample), 3);
    json_t *leaf = json_array_get(frames, (size_t)json_integer_value(json_array_get(sample, 2)));
    ck_assert_str_eq(json_string_value(json_object_get(leaf, "name")), "f<a>");
    json_decref(d);
    ck_assert_int_eq(hs_render_speedscope(&a, "run", &small, &err), HS_ELIMIT);
    a.columns++; /* a table that has no stacks */
    a.ncolumns--;
    ck_assert_int_eq(hs_render_folded(&a, &out, &err), HS_EUSAGE);
    hs_table_free(&a);
    hs_buf_free(&out);
    hs_buf_free(&small);
}
END_TEST

HS_SUITE(analysis_memory)
{
    HS_TEST(memory_by_hand);
    HS_TEST(memory_without_totals);
    HS_TEST(counters_by_order);
    HS_TEST(counters_by_name);
    HS_TEST(symbols_of_two_ranks);
    HS_TEST(folded_stacks);
    HS_TEST(speedscope_file);
}
