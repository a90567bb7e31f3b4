/* The whole way, from a generated trace file to the analyses, against what the generator knows because it made it
 * (tests/tools/gentrace: a simulation whose sums are taken as the events are made, by no code of ours). */
#include "ingest/import.h"
#include "report/report.h"
#include "tests/unit/fake_view.h"
#include "tests/unit/test.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RANKS = 2 };

/* What is planted, and what the report has to say first about it; first: the first recommendation, NULL: there is none. */
static const struct {
    const char *story, *verdict, *finding, *first;
} stories[] = {
    {"healthy", "compute-bound", "with computation", NULL},
    {"straggler", "communication-bound", "mostly because rank ", "slow-rank"},
    {"slow-loader", "CPU-bound", "waiting for the CPU to load data", "data-loading"},
    {"poor-overlap", "communication-bound", "communication that no computation hides", "exposed-communication"},
    {"launch-bound", "CPU-bound", "waiting for the CPU to launch work", "late-launches"},
    {"pageable-copies", "memory-bound", "copies and memsets that nothing hides", "pageable-copies"},
    {"malloc", "CPU-bound", "waiting for the CPU to allocate memory", "allocations"},
    {"compute-bound", "compute-bound", "with computation", "one-kernel"}, /* attention's backward kernel, thirty-fold */
    {"cuda-graph", "compute-bound", "with computation", NULL},
};

static struct {
    char *dir;
    json_t *truth;
    struct hs_view *views[RANKS];
    struct hs_run *run;
} t;

static void load_rank(int rank)
{
    char path[600];
    struct hs_input in;
    struct hs_err err = HS_ERR_INIT;
    struct hs_imported *out;
    size_t n;
    struct hs_import_options o = {.rank = HS_RANK_AUTO};
    snprintf(path, sizeof path, "%s/rank%d.json", t.dir, rank);
    ck_assert_msg(!hs_input_open_file(&in, path, &err), "%s", err.text);
    ck_assert_msg(!hs_import(&in, &o, &out, &n, &err), "%s", err.text);
    hs_input_close_file(&in);
    ck_assert_uint_eq(n, 1);
    t.views[rank] = out[0].view;
    out[0].view = NULL;
    hs_imported_free(out, n);
}

/* In the style of either era: microseconds and no base, nanoseconds and one. */
static bool make(int story, const char *style)
{
    char cmd[1200], path[600];
    struct hs_err err = HS_ERR_INIT;
    if (access(hs_test_gentrace(), X_OK))
        return false; /* the unit tests may be run alone */
    t.dir = hs_test_tmpdir();
    snprintf(cmd, sizeof cmd, "'%s' --out '%s' --story %s --seed %d --ranks %d --style %s >/dev/null",
             hs_test_gentrace(), t.dir, stories[story].story, 100 + story, RANKS, style);
    ck_assert_int_eq(system(cmd), 0);
    snprintf(path, sizeof path, "%s/truth.json", t.dir);
    t.truth = json_load_file(path, 0, NULL);
    ck_assert_ptr_nonnull(t.truth);
    for (int r = 0; r < RANKS; r++)
        load_rank(r);
    ck_assert_int_eq(hs_run_build("truth", t.views, RANKS, &t.run, &err), 0);
    return true;
}

static void drop(void)
{
    hs_run_free(t.run);
    for (int r = 0; r < RANKS; r++)
        hs_view_close(t.views[r]);
    json_decref(t.truth);
    hs_test_rmdir(t.dir);
    free(t.dir);
}

static int64_t number(const json_t *o, const char *key)
{
    const json_t *x = json_object_get(o, key);
    ck_assert_msg(json_is_integer(x), "the truth has no %s", key);
    return json_integer_value(x);
}

static const json_t *rank_truth(int rank)
{
    return json_array_get(json_object_get(t.truth, "ranks"), (size_t)rank);
}

static void check_overview(void)
{
    struct hs_table o = fake_analyze(t.run, "overview", "");
    ck_assert_uint_eq(o.rows, RANKS);
    for (int r = 0; r < RANKS; r++) {
        const json_t *x = rank_truth(r);
        size_t row = (size_t)r;
        ck_assert_int_eq(table_i64(&o, row, "rank"), r);
        ck_assert_int_eq(table_i64(&o, row, "events"), number(x, "events"));
        ck_assert_int_eq(table_i64(&o, row, "cpu_ops"), number(x, "cpu_ops"));
        ck_assert_int_eq(table_i64(&o, row, "kernels"), number(x, "kernels"));
        ck_assert_int_eq(table_i64(&o, row, "memory_ops"), number(x, "memcpys") + number(x, "memsets"));
        ck_assert_int_eq(table_i64(&o, row, "busy_us"), number(x, "busy_ns"));
        ck_assert_int_eq(table_i64(&o, row, "span_us"), number(x, "span_ns"));
        ck_assert_int_eq(table_i64(&o, row, "idle_us"), number(x, "idle_ns"));
        ck_assert_int_eq(table_i64(&o, row, "steps"), (int64_t)json_array_size(json_object_get(x, "steps")));
    }
    hs_table_free(&o);
}

static void check_temporal(void)
{
    struct hs_table o = fake_analyze(t.run, "temporal", "");
    ck_assert_uint_eq(o.rows, RANKS);
    for (int r = 0; r < RANKS; r++) {
        const json_t *x = rank_truth(r);
        size_t row = (size_t)r;
        ck_assert_int_eq(table_i64(&o, row, "kernel_time_us"), number(x, "span_ns"));
        ck_assert_int_eq(table_i64(&o, row, "busy_us"), number(x, "busy_ns"));
        ck_assert_int_eq(table_i64(&o, row, "idle_us"), number(x, "idle_ns"));
        ck_assert_int_eq(table_i64(&o, row, "compute_us"), number(x, "compute_ns"));
        ck_assert_int_eq(table_i64(&o, row, "communication_us"), number(x, "communication_ns"));
        ck_assert_int_eq(table_i64(&o, row, "memory_us"), number(x, "memory_ns"));
    }
    hs_table_free(&o);
}

static void check_kernels(void)
{
    struct hs_table o = fake_analyze(t.run, "kernels", "");
    size_t expected = 0;
    for (int r = 0; r < RANKS; r++)
        expected += json_object_size(json_object_get(rank_truth(r), "kernel_names")) +
                    json_object_size(json_object_get(rank_truth(r), "memory_names"));
    ck_assert_uint_eq(o.rows, expected);
    for (size_t i = 0; i < o.rows; i++) {
        const json_t *x = rank_truth((int)table_i64(&o, i, "rank"));
        const char *name = table_text(&o, i, "name");
        const json_t *k = json_object_get(json_object_get(x, "kernel_names"), name);
        k = k ? k : json_object_get(json_object_get(x, "memory_names"), name);
        ck_assert_msg(k != NULL, "%s was never made", name);
        ck_assert_int_eq(table_i64(&o, i, "calls"), number(k, "calls"));
        ck_assert_int_eq(table_i64(&o, i, "sum_us"), number(k, "sum_ns"));
        ck_assert_int_eq(table_i64(&o, i, "min_us"), number(k, "min_ns"));
        ck_assert_int_eq(table_i64(&o, i, "max_us"), number(k, "max_ns"));
    }
    hs_table_free(&o);
}

static void check_idle(void)
{
    struct hs_table o = fake_analyze(t.run, "idle", ""), s = fake_analyze(t.run, "idle-intervals", "");
    size_t i = 0, k = 0;
    for (int r = 0; r < RANKS; r++) {
        size_t index;
        json_t *stream;
        json_array_foreach(json_object_get(rank_truth(r), "streams"), index, stream)
        {
            for (int c = 0; c < 3; c++, i++) {
                const char *cause = table_text(&o, i, "cause");
                const json_t *x = json_object_get(json_object_get(stream, "idle"), cause);
                ck_assert_int_eq(table_i64(&o, i, "stream"), number(stream, "stream"));
                ck_assert_int_eq(table_i64(&o, i, "idle_us"), number(x, "sum_ns"));
                ck_assert_int_eq(table_i64(&o, i, "gaps"), number(x, "count"));
                if (!number(x, "count"))
                    continue;
                ck_assert_str_eq(table_text(&s, k, "cause"), cause);
                ck_assert_int_eq(table_i64(&s, k, "min_us"), number(x, "min_ns"));
                ck_assert_int_eq(table_i64(&s, k, "max_us"), number(x, "max_ns"));
                k++;
            }
        }
    }
    ck_assert_uint_eq(o.rows, i);
    ck_assert_uint_eq(s.rows, k);
    hs_table_free(&o);
    hs_table_free(&s);
}

/* What a recommendation's number is made of: a column of its evidence, summed over all rows or those of some causes. */
static const struct {
    const char *rule, *column;
    const char *causes[4];
} made_of[] = {
    {"data-loading", "idle_us", {"data_loading"}},
    {"allocations", "idle_us", {"allocation"}},
    {"late-launches", "idle_us", {"cpu_work", "launch", "not_recorded"}},
    {"hidden-syncs", "gpu_idle_us", {NULL}},
    {"exposed-communication", "exposed_us", {NULL}},
    {"pageable-copies", "sum_us", {NULL}},
};

static bool of_causes(const struct hs_table *x, size_t row, const char *const causes[4])
{
    for (size_t k = 0; k < 4 && causes[k]; k++)
        if (!strcmp(table_text(x, row, "cause"), causes[k]))
            return true;
    return !causes[0];
}

/* The number of a recommendation, found where its evidence is said to be. */
static void check_evidence(json_t *r)
{
    const char *id = json_string_value(json_object_get(r, "id"));
    json_t *e = json_object_get(r, "evidence");
    struct hs_table x = fake_analyze(t.run, json_string_value(json_object_get(e, "analysis")),
                                     json_string_value(json_object_get(e, "params")));
    double gain = json_number_value(json_object_get(r, "gain_us")), most = 0;
    ck_assert_msg(x.rows > 0, "%s has no evidence", id);
    for (size_t m = 0; m < sizeof made_of / sizeof made_of[0]; m++) {
        double us = 0;
        if (strcmp(made_of[m].rule, id) != 0)
            continue;
        for (size_t i = 0; i < x.rows; i++)
            us += of_causes(&x, i, made_of[m].causes) ? (double)table_i64(&x, i, made_of[m].column) / 1e3 : 0;
        ck_assert_msg(us > gain - 0.01 && us < gain + 0.01, "%s: %.3f, not %.3f us", id, us, gain);
    }
    for (size_t i = 0; i < x.rows && !strcmp(id, "slow-rank"); i++)
        most = table_null(&x, i, "caused_pct") || table_f64(&x, i, "caused_pct") < most
                   ? most
                   : table_f64(&x, i, "caused_pct");
    if (!strcmp(id, "slow-rank"))
        ck_assert_double_eq_tol(json_number_value(json_object_get(r, "value")), most, 1e-4);
    hs_table_free(&x);
}

/* A figure of the bottleneck is the sum of a column of its evidence, of the GPU span. */
static void check_figure(json_t *figure, double span_us)
{
    static const char *const host[] = {"data_loading",       "synchronize", "allocation", "compile",
                                       "garbage_collection", "cpu_work",    "launch",     "not_recorded"};
    const char *name = json_string_value(json_object_get(figure, "name")), *column = "idle_us";
    json_t *evidence = json_object_get(figure, "evidence");
    struct hs_table x = fake_analyze(t.run, json_string_value(json_object_get(evidence, "analysis")),
                                     json_string_value(json_object_get(evidence, "params")));
    double us = 0;
    if (strcmp(name, "host_wait_pct") != 0)
        column = !strcmp(name, "compute_pct")          ? "compute_us"
                 : !strcmp(name, "exposed_memory_pct") ? "exposed_memory_us"
                                                       : "exposed_communication_us";
    for (size_t i = 0; i < x.rows; i++) {
        bool counts = strcmp(column, "idle_us") != 0;
        for (size_t k = 0; !counts && k < sizeof host / sizeof host[0]; k++)
            counts = !strcmp(table_text(&x, i, "cause"), host[k]);
        us += counts ? (double)table_i64(&x, i, column) / 1e3 : 0;
    }
    double pct = 100 * us / span_us, told = json_number_value(json_object_get(figure, "value_pct"));
    ck_assert_msg(pct > told - 0.001 && pct < told + 0.001, "%s: %.4f, not %.4f %%", name, pct, told);
    hs_table_free(&x);
}

static void check_report(const char *verdict, const char *finding, const char *first)
{
    struct hs_buf out = HS_BUF_INIT(1 << 20);
    struct hs_err err = HS_ERR_INIT;
    ck_assert_msg(!hs_report(t.run, &(struct hs_report_options){HS_REPORT_JSON, NULL, false}, &out, &err), "%s",
                  err.text);
    json_t *j = json_loads(out.p, 0, NULL), *list = json_object_get(j, "recommendations"), *r;
    size_t i;
    ck_assert_str_eq(json_string_value(json_object_get(json_object_get(j, "bottleneck"), "verdict")), verdict);
    const char *found = json_string_value(json_object_get(j, "main_finding"));
    ck_assert_msg(strstr(found, finding) != NULL, "%s", found);
    if (json_is_integer(json_object_get(t.truth, "straggler_rank"))) {
        char rank[60];
        snprintf(rank, sizeof rank, "rank %d comes last",
                 (int)json_integer_value(json_object_get(t.truth, "straggler_rank")));
        ck_assert_msg(strstr(found, rank) != NULL, "%s", found);
    }
    if (first)
        ck_assert_str_eq(json_string_value(json_object_get(json_array_get(list, 0), "id")), first);
    else
        ck_assert_uint_eq(json_array_size(list), 0);
    json_array_foreach(list, i, r)
    {
        check_evidence(r);
    }
    double span = json_number_value(json_object_get(json_object_get(j, "summary"), "gpu_span_us"));
    json_array_foreach(json_object_get(json_object_get(j, "bottleneck"), "figures"), i, r)
    {
        check_figure(r, span);
    }
    json_decref(j);
    hs_buf_free(&out);
}

START_TEST(generated_runs_agree_with_their_truth)
{
    const int story = _i / 2;
    if (!make(story, _i % 2 ? "us" : "ns"))
        return;
    check_overview();
    check_temporal();
    check_kernels();
    check_idle();
    check_report(stories[story].verdict, stories[story].finding, stories[story].first);
    drop();
}
END_TEST

HS_SUITE(analysis_truth)
{
    HS_LOOP_TEST(generated_runs_agree_with_their_truth, 0, 2 * (int)(sizeof stories / sizeof stories[0]));
}
