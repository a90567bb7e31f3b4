/* Memory timelines (export_memory_timeline's raw list): by hand, beside a trace, and against HTA's recorded samples. */
#include "tests/unit/fake_view.h"
#include "tests/unit/json_trace.h"
#include "tests/unit/test.h"

#include "report/report.h"
#include "store/store.h"

#include <jansson.h>
#include <string.h>
#include <zlib.h>

/* Two allocations from before; two changes at one time; one that stands too late in the list; a category that nobody knows. */
static const char list[] = "[[-1, 1, 100, 0], [-1, 1, 40, 7], [1000000, 2, 50, 4], [1000000, 2, -10, 7],\n"
                           "[1003000, 2, -20, 4], [1001000, 2, 30, 5], [1004000, 3, 5, 9]]";

static struct hs_view *load(const char *p, size_t n, const char *name, int64_t rank)
{
    struct hs_input_bytes x = {p, n};
    struct hs_input in = hs_input_of_bytes(&x, name);
    struct hs_import_options o = {.rank = rank};
    struct hs_imported *got;
    size_t count;
    struct hs_err err = HS_ERR_INIT;
    ck_assert_msg(!hs_import(&in, &o, &got, &count, &err), "%s", err.text);
    ck_assert_uint_eq(count, 1);
    struct hs_view *v = got->view;
    got->view = NULL;
    hs_imported_free(got, count);
    return v;
}

static struct hs_run *run_of(struct hs_view **v, size_t n)
{
    struct hs_run *run;
    struct hs_err err = HS_ERR_INIT;
    ck_assert_msg(!hs_run_build("test", v, n, &run, &err), "%s", err.text);
    return run;
}

struct expected {
    int64_t ts_ns, dur_ns, bytes, total, parameter, activation, gradient, unknown, event;
};

static void check_row(const struct hs_table *t, size_t row, struct expected x)
{
    const struct hs_cell *ts = hs_table_cell(t, row, table_column(t, "ts_us")),
                         *dur = hs_table_cell(t, row, table_column(t, "dur_us"));
    ck_assert_int_eq(ts->i, x.ts_ns);
    ck_assert_int_eq(dur->i, x.dur_ns);
    ck_assert_int_eq(table_i64(t, row, "bytes"), x.bytes);
    ck_assert_int_eq(table_i64(t, row, "allocated_bytes"), x.total);
    ck_assert_int_eq(table_i64(t, row, "parameter_bytes"), x.parameter);
    ck_assert_int_eq(table_i64(t, row, "activation_bytes"), x.activation);
    ck_assert_int_eq(table_i64(t, row, "gradient_bytes"), x.gradient);
    ck_assert_int_eq(table_i64(t, row, "unknown_bytes"), x.unknown);
    ck_assert_int_eq(table_i64(t, row, "event"), x.event);
    ck_assert_int_eq(table_i64(t, row, "optimizer_state_bytes"), 0);
    ck_assert(table_null(t, row, "device_type") && table_null(t, row, "reserved_bytes"));
}

START_TEST(samples_by_hand)
{
    struct hs_view *v = load(list, sizeof list - 1, "memory.json", 3);
    struct hs_run *run = run_of(&v, 1);
    struct hs_table a = fake_analyze(run, "memory-timeline", "");
    ck_assert_uint_eq(a.rows, 5);
    check_row(&a, 0, (struct expected){0, 0, 140, 140, 100, 0, 0, 40, 0});
    check_row(&a, 1, (struct expected){0, 1000, 40, 180, 100, 50, 0, 30, 2});
    check_row(&a, 2, (struct expected){1000, 2000, 30, 210, 100, 50, 30, 30, 5});
    check_row(&a, 3, (struct expected){3000, 1000, -20, 190, 100, 30, 30, 30, 4});
    check_row(&a, 4, (struct expected){4000, 0, 5, 195, 100, 30, 30, 35, 6});
    ck_assert(table_has_note(&a, "Rank 3: the peak is 210 bytes at 1.000 us, event 5: parameters 100, activations 50, "
                                 "gradients 30, unknown 30."));
    ck_assert(table_has_note(&a, "1 entries of categories beyond"));
    hs_table_free(&a);
    a = fake_analyze(run, "memory-timeline", "from=1&to=3");
    ck_assert_uint_eq(a.rows, 1);
    check_row(&a, 0, (struct expected){1000, 2000, 30, 210, 100, 50, 30, 30, 5});
    hs_table_free(&a);
    a = fake_analyze(run, "memory-timeline", "offset=3&limit=1&device_type=gpu");
    ck_assert_uint_eq(a.rows, 1);
    check_row(&a, 0, (struct expected){3000, 1000, -20, 190, 100, 30, 30, 30, 4});
    ck_assert(table_has_note(&a, "device_type does not apply"));
    hs_table_free(&a);
    hs_run_free(run);
    hs_view_close(v);
}
END_TEST

/* Two pixels of 2 us: 180 and 210 bytes for 1 us each; 210 and 190. */
START_TEST(pixels_by_hand)
{
    struct hs_view *v = load(list, sizeof list - 1, "memory.json", 0);
    struct hs_run *run = run_of(&v, 1);
    struct hs_table a = fake_analyze(run, "memory-timeline", "px=2");
    ck_assert_uint_eq(a.rows, 2);
    ck_assert_int_eq(table_i64(&a, 0, "allocated_bytes"), 195);
    ck_assert_int_eq(table_i64(&a, 0, "allocated_min"), 180);
    ck_assert_int_eq(table_i64(&a, 0, "allocated_max"), 210);
    ck_assert_int_eq(table_i64(&a, 0, "activation_bytes"), 50);
    ck_assert_int_eq(table_i64(&a, 0, "gradient_bytes"), 15);
    ck_assert_int_eq(table_i64(&a, 1, "allocated_bytes"), 200);
    ck_assert_int_eq(table_i64(&a, 1, "activation_bytes"), 40);
    ck_assert_int_eq(table_i64(&a, 1, "gradient_bytes"), 30);
    ck_assert_int_eq(table_i64(&a, 1, "parameter_bytes"), 100);
    ck_assert(table_null(&a, 1, "bytes"));
    hs_table_free(&a);
    hs_run_free(run);
    hs_view_close(v);
}
END_TEST

/* HTA takes the entries as they come; time -1 is the smallest there is. */
START_TEST(hta_by_hand)
{
    static const int64_t rows[][5] = {/* times, Parameter, Activation, Gradient, Unknown */
                                      {1000000, 100, 0, 0, 40},
                                      {1000000, 100, 50, 0, 30},
                                      {1003000, 100, 30, 0, 30},
                                      {1001000, 100, 30, 30, 30},
                                      {1004000, 100, 30, 30, 35}};
    struct hs_view *v = load(list, sizeof list - 1, "memory.json", 0);
    struct hs_run *run = run_of(&v, 1);
    struct hs_table a = fake_analyze(run, "memory-timeline", "compat=hta");
    ck_assert_uint_eq(a.rows, 5);
    for (size_t i = 0; i < 5; i++) {
        ck_assert_int_eq(table_i64(&a, i, "times"), rows[i][0]);
        ck_assert_int_eq(table_i64(&a, i, "Parameter"), rows[i][1]);
        ck_assert_int_eq(table_i64(&a, i, "Activation"), rows[i][2]);
        ck_assert_int_eq(table_i64(&a, i, "Gradient"), rows[i][3]);
        ck_assert_int_eq(table_i64(&a, i, "Unknown"), rows[i][4]);
    }
    ck_assert(table_has_note(&a, "IndexError"));
    hs_table_free(&a);
    a = fake_analyze(run, "memory-timeline", "compat=hta&rank=7");
    ck_assert_uint_eq(a.rows, 0);
    hs_table_free(&a);
    hs_run_free(run);
    hs_view_close(v);
}
END_TEST

/* A trace that counts from the boot of its machine keeps its clock and its rank; the file beside it is told of. */
START_TEST(beside_a_trace)
{
    static const char trace[] =
        "[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":7,\"dur\":2},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":8,\"dur\":4,"
        "\"args\":{\"device\":0,\"stream\":7}}]";
    struct hs_view *v[2] = {load(list, sizeof list - 1, "memory.json", 0), load(trace, sizeof trace - 1, "t.json", 1)};
    struct hs_run *alone = run_of(&v[1], 1), *run = run_of(v, 2);
    struct hs_err err = HS_ERR_INIT;
    ck_assert_int_eq(run->ranks[1].offset_ns, alone->ranks[0].offset_ns);
    ck_assert_int_eq(run->origin_ns, alone->origin_ns);
    struct hs_table a = fake_analyze(run, "overview", "");
    ck_assert_uint_eq(a.rows, 1);
    ck_assert_int_eq(table_i64(&a, 0, "rank"), 1);
    ck_assert_int_eq(table_i64(&a, 0, "ranks"), 1);
    ck_assert(table_has_note(&a, "memory.json (rank 0) is a memory timeline"));
    hs_table_free(&a);
    a = fake_analyze(run, "kernels", "compat=hta");
    ck_assert_uint_eq(a.rows, 1);
    hs_table_free(&a);
    a = fake_analyze(run, "memory-timeline", "rank=0");
    ck_assert_uint_eq(a.rows, 5);
    hs_table_free(&a);
    struct hs_buf b = HS_BUF_INIT(1 << 20);
    ck_assert_int_eq(hs_report(run, &(struct hs_report_options){HS_REPORT_MD, NULL, false}, &b, &err), HS_OK);
    ck_assert_ptr_nonnull(strstr(b.p, "# GPU report: t.json"));
    ck_assert_ptr_nonnull(strstr(b.p, "memory.json (rank 0) is a memory timeline"));
    hs_buf_clear(&b);
    ck_assert_int_eq(hs_report(run, &(struct hs_report_options){HS_REPORT_JSON, NULL, false}, &b, &err), HS_OK);
    ck_assert_ptr_nonnull(strstr(b.p, "memory.json (rank 0) is a memory timeline"));
    hs_buf_free(&b);
    hs_run_free(alone);
    hs_run_free(run);
    hs_view_close(v[0]);
    hs_view_close(v[1]);
}
END_TEST

START_TEST(alone_it_is_told_of)
{
    struct hs_view *v = load(list, sizeof list - 1, "memory.json", 0);
    struct hs_run *run = run_of(&v, 1);
    struct hs_err err = HS_ERR_INIT;
    struct hs_table a = fake_analyze(run, "overview", "");
    ck_assert_uint_eq(a.rows, 1);
    ck_assert_int_eq(table_i64(&a, 0, "memory_events"), 7);
    ck_assert(table_has_note(&a, "only memory-timeline answers"));
    hs_table_free(&a);
    struct hs_buf b = HS_BUF_INIT(1 << 20);
    ck_assert_int_eq(hs_report(run, &(struct hs_report_options){HS_REPORT_MD, NULL, false}, &b, &err), HS_OK);
    ck_assert_ptr_nonnull(strstr(b.p, "This is a memory timeline"));
    hs_buf_free(&b);
    hs_run_free(run);
    hs_view_close(v);
}
END_TEST

/* ---- HTA's own samples ---- */

static struct hs_buf read_gz(const char *path)
{
    struct hs_buf b = HS_BUF_INIT(1u << 28);
    gzFile f = gzopen(path, "rb");
    static char piece[1 << 16];
    for (int n; f && (n = gzread(f, piece, sizeof piece)) > 0;)
        hs_buf_put(&b, piece, (size_t)n);
    if (f)
        gzclose(f);
    return b;
}

static void check_sample(const struct hs_table *t, size_t i, const json_t *result, int64_t first)
{
    const json_t *sizes = json_array_get(json_object_get(result, "sizes"), i);
    int64_t rel = json_integer_value(json_array_get(json_object_get(result, "times_ns_rel"), i));
    ck_assert_int_eq(table_i64(t, i, "times"), first + rel);
    for (size_t c = 0; c < 8; c++)
        ck_assert_int_eq(hs_table_cell(t, i, 2 + c)->i, json_integer_value(json_array_get(sizes, c)));
}

START_TEST(hta_recorded)
{
    const char *traces = hs_test_traces();
    if (!traces)
        return;
    char *path = hs_asprintf("%s/../golden/memory_timeline.json.gz", traces),
         *file = hs_asprintf("%s/memory_timeline/memory_timeline.raw.gz", traces);
    struct hs_buf golden = read_gz(path), raw = read_gz(file);
    free(path);
    free(file);
    json_t *doc = golden.n ? json_loadb(golden.p, golden.n, 0, NULL) : NULL;
    if (doc && raw.n) {
        const json_t *result = json_object_get(json_object_get(doc, "memory_timeline"), "result");
        int64_t first = json_integer_value(json_object_get(result, "t_min"));
        struct hs_view *v = load(raw.p, raw.n, "memory_timeline.raw", 0);
        struct hs_run *run = run_of(&v, 1);
        struct hs_table a = fake_analyze(run, "memory-timeline", "compat=hta"),
                        b = fake_analyze(run, "memory-timeline", "limit=0");
        ck_assert_int_eq((int64_t)a.rows, json_integer_value(json_object_get(result, "n")));
        ck_assert_uint_eq(a.rows, b.rows); /* the list is in order of time, so the exact answer has these samples too */
        int64_t peak = 0;
        for (size_t i = 0; i < a.rows; i++) {
            check_sample(&a, i, result, first);
            int64_t total = table_i64(&b, i, "allocated_bytes");
            peak = total > peak ? total : peak;
            for (size_t c = 0; c < 8; c++)
                total -= hs_table_cell(&a, i, 2 + c)->i;
            ck_assert_int_eq(total, 0);
        }
        ck_assert_int_eq(peak, json_integer_value(json_object_get(result, "peak_total")));
        hs_table_free(&a);
        hs_table_free(&b);
        hs_run_free(run);
        hs_view_close(v);
    }
    json_decref(doc);
    hs_buf_free(&golden);
    hs_buf_free(&raw);
}
END_TEST

HS_SUITE(analysis_memory_raw)
{
    HS_TEST(samples_by_hand);
    HS_TEST(pixels_by_hand);
    HS_TEST(hta_by_hand);
    HS_TEST(beside_a_trace);
    HS_TEST(alone_it_is_told_of);
    HS_TEST(hta_recorded);
}
