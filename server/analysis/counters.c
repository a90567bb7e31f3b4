/* counters: hardware counters of CUPTI's range profiler, with the operator that launched each measured kernel. HTA's
 * get_cupti_counter_data_with_operators, for every launch call, by name where kernels are in the trace, and labelled by rank. */
#include "analysis/analyses.h"
#include "analysis/cpu_side.h"
#include "analysis/hta.h"
#include "analysis/order.h"
#include "analysis/page.h"
#include "base/json.h"

#include <stdlib.h>
#include <string.h>

#define COUNTERS_MAX 256
#define STACK_MAX 256 /* operators of op_stack: the innermost */

static const struct hs_param_spec params_spec[] = {HS_PARAM_PAGE};

static const struct hs_column_spec columns[] = {
    {"rank", HS_T_INT, "", "rank of the trace"},
    {"event", HS_T_INT, "", "event number of the range"},
    {"name", HS_T_TEXT, "", "name of the range: the kernel's"},
    {"ts_us", HS_T_TIME, "us", "start of the range, on the run's clock"},
    {"dur_us", HS_T_TIME, "us", "duration of the range; the profiler replays the kernel, so this is not the kernel's"},
    {"launch_event", HS_T_INT, "", "event number of the launch call; null where none could be told"},
    {"matched_by", HS_T_TEXT, "",
     "name: the k-th range of this name and the k-th kernel of this name; order: the k-th range and the k-th "
     "kernel launch; null"},
    {"op_stack", HS_T_JSON, "", "operators that enclose the launch, outermost first"},
    {"top_level_op", HS_T_TEXT, "", "the outermost of them"},
    {"bottom_level_op", HS_T_TEXT, "", "the innermost of them"},
};
enum { FIXED = sizeof columns / sizeof columns[0] };

struct counters {
    struct hs_str name[COUNTERS_MAX]; /* in the table's arena, terminated */
    size_t n;
    bool more;
};

struct job {
    struct hs_select sel;
    struct hs_cpu cpu;
    uint32_t *ranges; /* events by start */
    uint32_t *launch; /* by place in ranges; HS_NO_EVENT */
    size_t n;
    const char *matched_by;
};

/* ---- counters' names: the arguments of ranges ---- */

static void add_counter(struct counters *c, struct hs_str key, struct hs_table *out)
{
    for (size_t i = 0; i < c->n; i++)
        if (hs_str_eq(c->name[i], key))
            return;
    char *copy = c->n < COUNTERS_MAX ? hs_arena_dup(&out->text, key.p, key.n) : NULL;
    if (!copy || memchr(key.p, 0, key.n))
        c->more = true;
    else
        c->name[c->n++] = hs_str(copy, key.n);
}

static bool is_number(uint8_t type)
{
    return type == HS_V_INT || type == HS_V_DEC || type == HS_V_RAW;
}

static bool has_ranges(const struct hs_view *v, uint32_t cat)
{
    for (size_t i = 0; i < v->ncats; i++)
        if (v->cats[i].cat == cat && v->cats[i].count)
            return true;
    return false;
}

static int find_counters(struct hs_view *v, struct counters *c, struct hs_table *out, struct hs_err *err)
{
    struct hs_events ev;
    uint32_t cat = hs_view_sym(v, "cuda_profiler_range");
    if (!has_ranges(v, cat))
        return HS_OK;
    int rc = hs_view_events(v, HS_EV_CAT | HS_EV_SHAPE, &ev, err);
    if (rc)
        return rc;
    uint8_t *seen = hs_calloc(v->nshapes, 1);
    for (size_t e = 0; e < ev.n; e++) {
        uint32_t s = ev.shape[e];
        if (ev.cat[e] != cat || s >= v->nshapes || seen[s])
            continue;
        seen[s] = 1;
        for (uint32_t i = 0; i < v->shapes[s].count; i++) {
            const struct hs_field *f = &v->fields[v->shapes[s].first + i];
            if (f->level == 1 && is_number(f->type))
                add_counter(c, hs_view_str(v, f->key), out);
        }
    }
    free(seen);
    return HS_OK;
}

static int by_text(const void *a, const void *b)
{
    return hs_str_cmp(*(const struct hs_str *)a, *(const struct hs_str *)b);
}

/* The fixed columns and one for each counter; they live as long as the table. */
static int set_columns(struct counters *c, struct hs_table *out, struct hs_err *err)
{
    struct hs_column_spec *all = hs_arena_alloc(&out->text, (FIXED + c->n) * sizeof *all);
    if (!all)
        return hs_fail(err, HS_ELIMIT, "the answer does not fit");
    memcpy(all, columns, sizeof columns);
    if (c->n)
        qsort(c->name, c->n, sizeof *c->name, by_text);
    for (size_t i = 0; i < c->n; i++)
        all[FIXED + i] = (struct hs_column_spec){c->name[i].p, HS_T_REAL, "1",
                                                 "counter of this name, as the range's arguments have it"};
    out->columns = all;
    out->ncolumns = FIXED + c->n;
    return HS_OK;
}

/* ---- ranges and launches ---- */

static void sort_events(uint32_t *list, size_t n, const int64_t *ts)
{
    uint32_t *scratch = hs_realloc_array(NULL, n + 1, sizeof *scratch);
    hs_order_i64(list, scratch, n, ts);
    free(scratch);
}

static bool is_kernel_launch(const struct hs_cpu *c, const uint8_t *launches, uint32_t e)
{
    return hs_cpu_kind(c, e) == HS_CAT_RUNTIME && c->ev.name[e] < c->view->nsyms && launches[c->ev.name[e]];
}

static uint8_t *launch_names(const struct hs_view *v)
{
    uint8_t *is = hs_calloc(v->nsyms, 1);
    for (size_t i = 0; i < v->nsyms; i++)
        is[i] = hs_str_contains(v->syms[i], "LaunchKernel") || hs_str_contains(v->syms[i], "LaunchCooperativeKernel");
    return is;
}

static void match_by_order(struct job *j, struct hs_table *out)
{
    const struct hs_events *ev = &j->cpu.ev;
    uint8_t *names = launch_names(j->sel.view);
    uint32_t *launches = hs_realloc_array(NULL, ev->n + 1, sizeof *launches);
    size_t n = 0;
    for (size_t e = 0; e < ev->n; e++)
        if (is_kernel_launch(&j->cpu, names, (uint32_t)e))
            launches[n++] = (uint32_t)e;
    sort_events(launches, n, ev->ts);
    if (n == j->n) {
        memcpy(j->launch, launches, n * sizeof *launches);
        j->matched_by = "order";
    } else {
        hs_table_note(out,
                      "Rank %lld has %zu ranges and %zu kernel launches, so they cannot be told to belong together: "
                      "the operators are "
                      "left empty.",
                      (long long)j->sel.rank, j->n, n);
    }
    free(launches);
    free(names);
}

/* The k-th range of a name is the k-th kernel of that name, if there are as many of each for every name. */
static bool match_by_name(struct job *j)
{
    const struct hs_gpu *g = &j->sel.gpu;
    size_t nsyms = j->sel.view->nsyms, n = 0;
    uint32_t *rows = hs_realloc_array(NULL, g->n + 1, sizeof *rows),
             *scratch = hs_realloc_array(NULL, g->n + 1, sizeof *scratch);
    uint32_t *next = hs_calloc(nsyms + 1, sizeof *next), *after = hs_realloc_array(NULL, g->n + 1, sizeof *after);
    int64_t *counts = hs_calloc(nsyms, sizeof *counts);
    for (size_t i = 0; i < j->n; i++)
        counts[j->cpu.ev.name[j->ranges[i]]]++;
    for (size_t i = 0; i < g->n; i++)
        if (g->name[i] < nsyms && (g->cls[i] == HS_CLASS_COMPUTE || g->cls[i] == HS_CLASS_COMM))
            rows[n++] = (uint32_t)i;
    bool ok = n > 0;
    hs_order_i64(rows, scratch, n, g->launch_ts);
    for (size_t k = n; k-- > 0;) { /* chains of rows by name, first launch first */
        uint32_t sym = g->name[rows[k]];
        after[rows[k]] = next[sym];
        next[sym] = rows[k] + 1;
        counts[sym]--;
    }
    for (size_t i = 0; i < nsyms && ok; i++)
        ok = counts[i] == 0;
    for (size_t i = 0; i < j->n && ok; i++) {
        uint32_t sym = j->cpu.ev.name[j->ranges[i]], r = next[sym] - 1;
        j->launch[i] = g->launch[r];
        next[sym] = after[r];
    }
    free(rows);
    free(scratch);
    free(next);
    free(after);
    free(counts);
    return ok;
}

/* ---- rows ---- */

static void stack_cells(const struct job *j, uint32_t launch, struct hs_table *out)
{
    const struct hs_events *ev = &j->cpu.ev;
    uint32_t ops[STACK_MAX], top = HS_NO_EVENT;
    size_t n = 0;
    for (uint32_t e = launch, hops = 0; e < ev->n && hops < UINT16_MAX; e = ev->parent[e], hops++) {
        if (hs_cpu_kind(&j->cpu, e) != HS_CAT_CPU_OP)
            continue;
        top = e;
        if (n < STACK_MAX)
            ops[n++] = e;
    }
    if (!n) {
        hs_cell_null(out);
        hs_cell_null(out);
        hs_cell_null(out);
        return;
    }
    struct hs_buf text = HS_BUF_INIT(1 << 24);
    struct hs_json json = HS_JSON_INIT(&text);
    hs_json_arr(&json);
    for (size_t i = n; i-- > 0;)
        hs_json_str(&json, hs_view_str(j->sel.view, ev->name[ops[i]]));
    hs_json_end(&json);
    hs_cell_text(out, hs_str(text.p, text.n));
    hs_cell_text(out, hs_view_str(j->sel.view, ev->name[top]));
    hs_cell_text(out, hs_view_str(j->sel.view, ev->name[ops[0]]));
    hs_buf_free(&text);
}

static void row(const struct job *j, size_t i, const struct counters *c, const double *const *values,
                struct hs_table *out)
{
    uint32_t e = j->ranges[i], launch = j->launch[i];
    bool matched = launch < j->cpu.ev.n;
    hs_table_row(out);
    hs_cell_i64(out, j->sel.rank);
    hs_cell_i64(out, e);
    hs_cell_text(out, hs_view_str(j->sel.view, j->cpu.ev.name[e]));
    hs_cell_ns(out, hs_add_sat(j->cpu.ev.ts[e], j->sel.offset));
    hs_cell_ns(out, hs_max_i64(0, j->cpu.ev.dur[e]));
    if (matched)
        hs_cell_i64(out, launch);
    else
        hs_cell_null(out);
    hs_cell_cstr(out, matched ? j->matched_by : NULL);
    stack_cells(j, launch, out);
    for (size_t k = 0; k < c->n; k++)
        hs_cell_f64(out, values[k][e]);
}

static int write_rows(struct job *j, const struct counters *c, struct hs_page *page, struct hs_table *out,
                      struct hs_err *err)
{
    const double *values[COUNTERS_MAX];
    int rc = HS_OK;
    for (size_t k = 0; k < c->n && !rc; k++)
        rc = j->sel.view->ops->arg_f64(j->sel.view, c->name[k].p, 1, &values[k], err);
    for (size_t i = 0; i < j->n && !rc; i++) {
        uint32_t e = j->ranges[i];
        int32_t step = j->launch[i] < j->cpu.ev.n ? hs_cpu_step(&j->cpu, j->launch[i]) : -1;
        if (hs_select_has(&j->sel, j->cpu.ev.ts[e], step) && hs_page_take(page))
            row(j, i, c, values, out);
    }
    return rc;
}

static int one_rank(struct job *j, const struct hs_run_rank *r, const struct counters *c, const struct hs_params *p,
                    struct hs_page *page, struct hs_table *out, struct hs_err *err)
{
    struct hs_gpu gpu;
    uint32_t cat = hs_view_sym(r->view, "cuda_profiler_range");
    if (!has_ranges(r->view, cat)) {
        hs_table_note(out,
                      "Rank %lld has no counters: CUPTI's range profiler did not record any (cuda_profiler_range).",
                      (long long)r->rank);
        return HS_OK;
    }
    int rc = hs_view_gpu(r->view, &gpu, err);
    if (!rc)
        rc = hs_cpu_open(&j->cpu, r->view, HS_EV_TS | HS_EV_DUR | HS_EV_PH | HS_EV_STEP, err);
    if (rc)
        return rc;
    hs_select_window(&j->sel, r, p, out);
    j->sel.gpu = gpu;
    j->n = 0;
    j->matched_by = NULL;
    j->ranges = hs_realloc_array(NULL, j->cpu.ev.n + 1, sizeof *j->ranges);
    for (size_t e = 0; e < j->cpu.ev.n; e++)
        if (j->cpu.ev.cat[e] == cat && j->cpu.ev.ph[e] == 'X' && j->cpu.ev.name[e] < r->view->nsyms)
            j->ranges[j->n++] = (uint32_t)e;
    sort_events(j->ranges, j->n, j->cpu.ev.ts);
    j->launch = hs_realloc_array(NULL, j->n + 1, sizeof *j->launch);
    for (size_t i = 0; i < j->n; i++)
        j->launch[i] = HS_NO_EVENT;
    if (match_by_name(j))
        j->matched_by = "name";
    else
        match_by_order(j, out);
    rc = write_rows(j, c, page, out, err);
    free(j->ranges);
    free(j->launch);
    hs_select_close(&j->sel);
    hs_cpu_close(&j->cpu);
    return rc;
}

static int run(struct hs_run *r, const struct hs_params *p, struct hs_table *out, struct hs_err *err)
{
    struct counters c = {.n = 0};
    struct job j = {.n = 0};
    struct hs_page page = hs_page_of(p);
    int rc = HS_OK;
    for (size_t i = 0; i < r->n && !rc; i++)
        rc = find_counters(r->ranks[i].view, &c, out, err);
    if (!rc)
        rc = set_columns(&c, out, err);
    for (size_t i = 0; i < r->n && !rc; i++)
        rc = one_rank(&j, &r->ranks[i], &c, p, &page, out, err);
    if (c.more)
        hs_table_note(out, "Counters beyond the first %d are left out.", COUNTERS_MAX);
    hs_page_note(&page, out, "ranges");
    return rc;
}

const struct hs_analysis hs_analysis_counters = {
    .name = "counters",
    .summary = "Hardware counters of the range profiler, kernel by kernel, with the operators that launched them",
    .doc = "One row per cuda_profiler_range, by rank and start, with one column for each counter that any of the "
           "ranges has. A range is "
           "named after its kernel. Where the trace has kernels too, and as many of each name, the k-th range of a "
           "name belongs to the "
           "launch of the k-th kernel of that name; else, where there are as many kernel launches (of any API) as "
           "ranges, the k-th to the "
           "k-th by start; else no operator is named, and a note says so. `op_stack` has the CPU operators that "
           "enclose the launch, the "
           "innermost 256 of them.",
    .version = 1,
    .params = params_spec,
    .nparams = sizeof params_spec / sizeof params_spec[0],
    .columns = columns,
    .ncolumns = FIXED,
    .run = run,
    .run_hta = hta_counters,
};
