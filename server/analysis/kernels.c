/* kernels: device time by name. Statistics are over events, exact, also in "others"; names are kept by their share of time
 * (SEMANTICS of HTA's get_gpu_kernel_breakdown put right: there both are over per-name sums). */
#include "analysis/analyses.h"
#include "analysis/hta.h"
#include "analysis/name_filter.h"
#include "analysis/select.h"
#include "trace/names.h"
#include "trace/stats.h"

#include <stdlib.h>
#include <string.h>

static const struct hs_param_spec params_spec[] = {
    {"name", HS_P_TEXT, "", NULL, 0, 0, NULL,
     "regular expression (PCRE2) found anywhere in the full name; others are left out of the rows, not of share_pct"},
    {"class", HS_P_CHOICE, "", NULL, 0, 0, "compute|communication|memory|memcpy|memset",
     "only this class of work; memory is memcpy and memset"},
    {"include_memory_kernels", HS_P_BOOL, "", "true", 0, 0, NULL,
     "whether copies and memsets are rows and part of share_pct's whole"},
    {"duration_ratio", HS_P_REAL, "1", NULL, 0, 1, NULL,
     "keep, per rank, the longest names that together make up this share of the rows' time; the rest becomes one row, "
     "others"},
    {"num_kernels", HS_P_INT, "1", NULL, 1, 1e9, NULL,
     "keep at most so many names per rank; the rest becomes one row, others"},
};

static const struct hs_column_spec columns[] = {
    {"rank", HS_T_INT, "", "rank of the trace"},
    {"name", HS_T_TEXT, "",
     "full name of the kernel, copy or memset; others: the names that duration_ratio and num_kernels leave"},
    {"short_name", HS_T_TEXT, "", "the name without return type, template and arguments"},
    {"class", HS_T_TEXT, "", "compute, communication, memcpy or memset; null for others"},
    {"calls", HS_T_INT, "1", "events"},
    {"sum_us", HS_T_TIME, "us", "sum of the durations"},
    {"mean_us", HS_T_TIME, "us", "sum_us / calls"},
    {"min_us", HS_T_TIME, "us", "shortest"},
    {"max_us", HS_T_TIME, "us", "longest"},
    {"stddev_us", HS_T_TIME, "us", "sample standard deviation (n - 1); 0 for one event"},
    {"p50_us", HS_T_TIME, "us", "median: linear interpolation at position (n - 1) q"},
    {"p95_us", HS_T_TIME, "us", "95th percentile"},
    {"p99_us", HS_T_TIME, "us", "99th percentile"},
    {"share_pct", HS_T_PCT, "percent",
     "sum_us of the summed durations of all device work of the rank within step, from and to (kernels, and copies and "
     "memsets if included), before the name and class filters"},
    {"names", HS_T_INT, "1", "distinct names in the row: 1, more for others"},
};

struct group {
    uint32_t sym;
    uint8_t cls;
    size_t count, first; /* its durations are durs[first .. first + count) */
    int64_t sum;
};

struct job {
    struct hs_select sel;
    struct hs_name_filter *filter;
    const char *cls;
    bool memory, all; /* all: no row is left out for step, window or memory */
    double ratio;     /* 1: keep all */
    int64_t limit;    /* names */
    struct {
        HS_VEC(struct group);
    } groups;
    uint32_t *group_of; /* by symbol * 4 + class - 1: index + 1; 0 not seen; UINT32_MAX filtered out */
    int64_t *durs, *scratch;
    int64_t total; /* the whole of share_pct */
};

static bool class_wanted(const char *wanted, uint8_t cls)
{
    if (!wanted || !strcmp(wanted, hs_class_word(cls)))
        return true;
    return !strcmp(wanted, "memory") && (cls == HS_CLASS_MEMCPY || cls == HS_CLASS_MEMSET);
}

/* Slot of a row in group_of; damaged numbers share the last slots. */
static size_t slot_of(const struct job *j, size_t i)
{
    const struct hs_view *v = j->sel.view;
    size_t sym = j->sel.gpu.name[i] < v->nsyms ? j->sel.gpu.name[i] : v->nsyms;
    return sym * 4 + ((j->sel.gpu.cls[i] - 1u) & 3);
}

static bool row_counts(const struct job *j, size_t i)
{
    if (j->all)
        return true;
    uint8_t cls = j->sel.gpu.cls[i];
    return hs_select_starts(&j->sel, i) && (j->memory || cls == HS_CLASS_COMPUTE || cls == HS_CLASS_COMM);
}

/* First pass: groups and their sizes, the filters asked once per name. */
static int count_rows(struct job *j, struct hs_err *err)
{
    const struct hs_gpu *g = &j->sel.gpu;
    for (size_t i = 0; i < g->n; i++) {
        if (!row_counts(j, i))
            continue;
        uint32_t *of = &j->group_of[slot_of(j, i)];
        if (!*of) {
            bool wanted =
                class_wanted(j->cls, g->cls[i]) && hs_name_matches(j->filter, hs_view_str(j->sel.view, g->name[i]));
            *of = wanted ? (uint32_t)j->groups.n + 1 : UINT32_MAX;
            if (wanted && !hs_vec_push(&j->groups, ((struct group){g->name[i], g->cls[i], 0, 0, 0})))
                return hs_fail(err, HS_ELIMIT, "more distinct names than there may be");
        }
        if (*of == UINT32_MAX) {
            j->total = hs_add_sat(j->total, g->dur[i]);
            continue;
        }
        j->groups.p[*of - 1].count++;
    }
    return HS_OK;
}

/* Second pass: durations, group by group (a counting sort), and their sums. */
static void gather(struct job *j)
{
    const struct hs_gpu *g = &j->sel.gpu;
    size_t at = 0, largest = 0, *cursor = hs_calloc(j->groups.n, sizeof *cursor);
    for (size_t k = 0; k < j->groups.n; k++) {
        cursor[k] = j->groups.p[k].first = at;
        at += j->groups.p[k].count;
        largest = largest > j->groups.p[k].count ? largest : j->groups.p[k].count;
    }
    j->durs = hs_realloc_array(NULL, at, sizeof *j->durs);
    j->scratch = hs_realloc_array(NULL, largest, sizeof *j->scratch);
    for (size_t i = 0; i < g->n; i++) {
        uint32_t of = row_counts(j, i) ? j->group_of[slot_of(j, i)] : 0;
        if (of && of != UINT32_MAX)
            j->durs[cursor[of - 1]++] = g->dur[i];
    }
    free(cursor);
    for (size_t k = 0; k < j->groups.n; k++) {
        struct group *x = &j->groups.p[k];
        x->sum = hs_sum_i64(j->durs + x->first, x->count);
        j->total = hs_add_sat(j->total, x->sum);
    }
}

static int by_time(const void *a, const void *b, void *view)
{
    const struct group *x = a, *y = b;
    if (x->sum != y->sum)
        return x->sum < y->sum ? 1 : -1;
    int c = hs_str_cmp(hs_view_str(view, x->sym), hs_view_str(view, y->sym));
    return c ? c : (x->cls > y->cls) - (x->cls < y->cls);
}

/* Uses the durations up. */
static void stat_cells(int64_t *durs, int64_t *scratch, size_t n, int64_t total, size_t names, struct hs_table *out)
{
    static const double q[] = {0.5, 0.95, 0.99};
    double p[3];
    struct hs_moments m = hs_moments_i64(durs, n);
    hs_quantiles_i64(durs, scratch, n, q, 3, p);
    hs_cell_i64(out, (int64_t)n);
    hs_cell_ns(out, m.sum);
    hs_cell_ns(out, hs_round_i64(m.mean));
    hs_cell_ns(out, m.min);
    hs_cell_ns(out, m.max);
    hs_cell_ns(out, hs_round_i64(m.std));
    for (int k = 0; k < 3; k++)
        hs_cell_ns(out, hs_round_i64(p[k]));
    hs_cell_f64(out, hs_percent(m.sum, total));
    hs_cell_i64(out, (int64_t)names);
}

/* The names left over become one row, over their events: their durations put together. */
static void others_row(struct job *j, size_t kept, struct hs_table *out)
{
    size_t n = 0, at = 0;
    for (size_t k = kept; k < j->groups.n; k++)
        n += j->groups.p[k].count;
    int64_t *all = hs_realloc_array(NULL, n, sizeof *all), *scratch = hs_realloc_array(NULL, n, sizeof *scratch);
    for (size_t k = kept; k < j->groups.n; k++) {
        memcpy(all + at, j->durs + j->groups.p[k].first, j->groups.p[k].count * sizeof *all);
        at += j->groups.p[k].count;
    }
    hs_table_row(out);
    hs_cell_i64(out, j->sel.rank);
    hs_cell_cstr(out, "others");
    hs_cell_cstr(out, "others");
    hs_cell_null(out);
    stat_cells(all, scratch, n, j->total, j->groups.n - kept, out);
    free(all);
    free(scratch);
}

/* How many of the groups, longest first, stay rows: the fewest that reach the share, at most `limit`. */
static size_t kept_names(const struct job *j)
{
    double all = 0, sum = 0;
    size_t k = 0;
    for (size_t i = 0; i < j->groups.n; i++)
        all += (double)j->groups.p[i].sum;
    while (k < j->groups.n && (int64_t)k < j->limit && (j->ratio >= 1 || sum < j->ratio * all))
        sum += (double)j->groups.p[k++].sum;
    return k;
}

static void write_rows(struct job *j, struct hs_table *out)
{
    struct hs_buf scratch = HS_BUF_INIT(1 << 24);
    qsort_r(j->groups.p, j->groups.n, sizeof *j->groups.p, by_time, j->sel.view);
    size_t kept = kept_names(j);
    for (size_t k = 0; k < kept; k++) {
        const struct group *x = &j->groups.p[k];
        struct hs_str name = hs_view_str(j->sel.view, x->sym);
        hs_table_row(out);
        hs_cell_i64(out, j->sel.rank);
        hs_cell_text(out, name);
        hs_cell_text(out, hs_short_name(name, &scratch));
        hs_cell_cstr(out, hs_class_word(x->cls));
        stat_cells(j->durs + x->first, j->scratch, x->count, j->total, 1, out);
    }
    if (kept < j->groups.n)
        others_row(j, kept, out);
    hs_buf_free(&scratch);
}

static int one_rank(struct job *j, const struct hs_run_rank *r, const struct hs_params *p, struct hs_table *out,
                    struct hs_err *err)
{
    j->groups.n = 0;
    j->total = 0;
    int rc = hs_select_open(&j->sel, r, p, out, err);
    if (rc)
        return rc;
    j->all = j->memory && !j->sel.step_on && j->sel.from == INT64_MIN && j->sel.to == INT64_MAX;
    j->group_of = hs_calloc(j->sel.view->nsyms + 1, 4 * sizeof *j->group_of);
    rc = count_rows(j, err);
    if (!rc && j->groups.n) {
        gather(j);
        write_rows(j, out);
    }
    free(j->durs);
    free(j->scratch);
    free(j->group_of);
    j->durs = j->scratch = NULL;
    hs_select_close(&j->sel);
    return rc;
}

static int run(struct hs_run *r, const struct hs_params *p, struct hs_table *out, struct hs_err *err)
{
    struct job j = {.groups = HS_VEC_INIT(UINT32_MAX - 1),
                    .cls = hs_param_text(p, "class"),
                    .memory = hs_param_bool(p, "include_memory_kernels"),
                    .ratio = hs_param_has(p, "duration_ratio") ? hs_param_f64(p, "duration_ratio") : 1,
                    .limit = hs_param_has(p, "num_kernels") ? hs_param_i64(p, "num_kernels") : INT64_MAX};
    int rc = hs_name_filter_new(&j.filter, hs_param_text(p, "name"), err);
    for (size_t i = 0; i < r->n && !rc; i++)
        rc = one_rank(&j, &r->ranks[i], p, out, err);
    if (!rc && hs_name_filter_gave_up(j.filter))
        hs_table_note(out, "The pattern took too long on %zu names; they count as not matching.",
                      hs_name_filter_gave_up(j.filter));
    if (!rc && hs_param_has(p, "from"))
        hs_table_note(out, "An event belongs to the window in which it starts, with its whole duration.");
    hs_note_excluded(r, out);
    hs_name_filter_free(j.filter);
    hs_vec_free(&j.groups);
    return rc;
}

const struct hs_analysis hs_analysis_kernels = {
    .name = "kernels",
    .summary = "GPU time by kernel name: calls, sum, mean, extremes, percentiles and share, per rank",
    .doc = "One row per rank and full name, longest first, names of equal time by their text. All figures are over the "
           "single "
           "events, also those of `others`. Durations are summed as work volume: kernels that run side by side each "
           "count, so "
           "`share_pct` is a share of work, not of elapsed time. A kernel belongs to the step that launched it and to "
           "the window in "
           "which it starts. Formulas: sample standard deviation; percentiles by linear interpolation at (n - 1) q.",
    .version = 1,
    .params = params_spec,
    .nparams = sizeof params_spec / sizeof params_spec[0],
    .columns = columns,
    .ncolumns = sizeof columns / sizeof columns[0],
    .run = run,
    .run_hta = hta_kernels,
};
