/* Spans written as a begin and an end (phases B and E) are the same to every answer as spans written in one (X): a trace of both
 * forms, asked in both. */
#include "store/sql.h"
#include "tests/unit/asked.h"
#include "tests/unit/exported.h"
#include "tests/unit/fake_view.h"
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

static struct json_trace t;

static const struct span {
    const char *cat, *name;
    int ts, dur; /* us; nested, in order of their starts */
} spans[] = {{"user_annotation", "ProfilerStep#1", 0, 100},
             {"cpu_op", "aten::linear", 5, 60},
             {"cpu_op", "aten::mm", 10, 40},
             {"user_annotation", "ProfilerStep#2", 110, 90},
             {"cpu_op", "aten::item", 120, 30}};
enum { SPANS = sizeof spans / sizeof spans[0] };

static void end(const struct span *s)
{
    trace_event(&t, "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":%d}", s->ts + s->dur);
}

static void begin_and_end(void)
{
    const struct span *open[SPANS];
    size_t depth = 0;
    for (size_t i = 0; i < SPANS; i++) {
        for (; depth && open[depth - 1]->ts + open[depth - 1]->dur <= spans[i].ts; depth--)
            end(open[depth - 1]);
        trace_event(&t, "{\"ph\":\"B\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":1,\"tid\":1,\"ts\":%d}", spans[i].cat,
                    spans[i].name, spans[i].ts);
        open[depth++] = &spans[i];
    }
    while (depth)
        end(open[--depth]);
}

static void in_one(void)
{
    for (size_t i = 0; i < SPANS; i++)
        trace_event(&t, "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":%d}",
                    spans[i].cat, spans[i].name, spans[i].ts, spans[i].dur);
}

static void make(bool pairs)
{
    json_trace_begin(&t, 0);
    trace_event(&t,
                "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,\"ts\":20,"
                "\"dur\":5,\"args\":{\"correlation\":1}}");
    trace_event(&t, "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":30,\"dur\":15,"
                    "\"args\":{\"correlation\":1,\"device\":0,\"stream\":7}}");
    (pairs ? begin_and_end : in_one)();
}

/* Numbers of events differ between the forms, all else must not. */
static void same_column(const struct hs_table *a, const struct hs_table *b, const char *column)
{
    ck_assert_msg(a->rows == b->rows, "%zu rows, not %zu", a->rows, b->rows);
    for (size_t i = 0; i < a->rows; i++)
        ck_assert_msg(table_i64(a, i, column) == table_i64(b, i, column), "%s of row %zu: %lld, not %lld", column, i,
                      (long long)table_i64(a, i, column), (long long)table_i64(b, i, column));
}

START_TEST(both_forms_give_one_answer)
{
    static const struct {
        const char *analysis, *params, *columns[4];
        size_t rows;
    } c[] = {{"call-stack", "", {"dur_us", "depth", "kernel_dur_sum_us"}, SPANS + 2},
             {"annotations", "use_gpu_annotation=false", {"sum_us", "max_us"}, 2},
             {"steps", "", {"dur_us", "busy_us"}, 2},
             {"timeline", "lanes=cpu", {"start_us", "end_us"}, SPANS + 4} /* the call, two lanes, the origin */,
             {"op-launch-delays", "", {"cpu_us", "gpu_us"}, 1}};
    for (size_t i = 0; i < sizeof c / sizeof c[0]; i++) {
        make(false);
        struct hs_table x = asked(&t, c[i].analysis, c[i].params);
        json_trace_end(&t, 1);
        make(true);
        struct hs_table pairs = asked(&t, c[i].analysis, c[i].params);
        ck_assert_msg(x.rows == c[i].rows, "%s: %zu rows", c[i].analysis, x.rows);
        for (size_t k = 0; c[i].columns[k]; k++)
            same_column(&pairs, &x, c[i].columns[k]);
        json_trace_end(&t, 1);
        hs_table_free(&x);
        hs_table_free(&pairs);
    }
}
END_TEST

/* In SQL a begin lasts until its end; one that never ends has no duration, which is not one of zero. */
START_TEST(sql_tells_what_is_told)
{
    struct hs_table a;
    struct hs_err err = HS_ERR_INIT;
    make(true);
    trace_event(&t, "{\"ph\":\"b\",\"cat\":\"async\",\"name\":\"never\",\"id\":5,\"pid\":1,\"tid\":1,\"ts\":10}");
    trace_event(&t, "{\"ph\":\"b\",\"cat\":\"async\",\"name\":\"ended\",\"id\":6,\"pid\":1,\"tid\":1,\"ts\":10}");
    trace_event(&t, "{\"ph\":\"e\",\"cat\":\"async\",\"name\":\"ended\",\"id\":6,\"pid\":1,\"tid\":1,\"ts\":17}");
    struct hs_run *run = json_trace_load(&t, 1);
    hs_table_init(&a, NULL, 0);
    ck_assert_msg(!hs_sql_run(run->ranks[0].view,
                              "SELECT dur_ns FROM events WHERE name IN ('aten::mm', 'never', 'ended') ORDER BY event",
                              &hs_sql_limits_default, &a, &err),
                  "%s", err.text);
    ck_assert_uint_eq(a.rows, 4); /* the end has a name, too */
    ck_assert_int_eq(hs_table_cell(&a, 0, 0)->i, 40000);
    ck_assert_int_eq(hs_table_cell(&a, 1, 0)->kind, HS_C_NULL);
    ck_assert_int_eq(hs_table_cell(&a, 2, 0)->i, 7000);
    ck_assert_int_eq(hs_table_cell(&a, 3, 0)->kind, HS_C_NULL);
    hs_table_free(&a);
    json_trace_end(&t, 1);
}
END_TEST

/* What was written comes back: no begin gets a duration, a begin that has one keeps it. */
START_TEST(the_file_comes_back)
{
    make(true);
    trace_event(&t, "{\"ph\":\"B\",\"cat\":\"cpu_op\",\"name\":\"told\",\"pid\":1,\"tid\":2,\"ts\":10,\"dur\":7}");
    trace_event(&t, "{\"ph\":\"E\",\"pid\":1,\"tid\":2,\"ts\":90}");
    struct hs_table a = asked(&t, "call-stack", "name=told");
    ck_assert_uint_eq(a.rows, 1);
    ck_assert_int_eq(table_i64(&a, 0, "dur_us"), 7000);
    hs_table_free(&a);
    struct hs_run *run = json_trace_load(&t, 1);
    struct hs_buf text = exported_text(&run->ranks[0], "");
    ck_assert_ptr_nonnull(strstr(text.p, "\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,\"ts\":10}"));
    ck_assert_ptr_nonnull(strstr(text.p, "\"ts\":10,\"dur\":7}"));
    hs_buf_free(&text);
    json_trace_end(&t, 1);
}
END_TEST

HS_SUITE(begin_end)
{
    HS_TEST(both_forms_give_one_answer);
    HS_TEST(sql_tells_what_is_told);
    HS_TEST(the_file_comes_back);
}
