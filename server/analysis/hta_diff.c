/* TraceDiff: compare_traces and ops_diff. The run is HTA's control, run->other its test. Traces are only parsed here:
 * the last step is in, kernels without a launch are, too, and times are not aligned. */
#include "analysis/hta_query.h"
#include "trace/names.h"
#include "trace/stats.h"

#include <math.h>
#include <stdlib.h>

static const struct hs_column_spec compare_columns[] = {
    {"name", HS_T_TEXT, "", "name, or short name"},
    {"Control_counts", HS_T_INT, "1", "events of this name in the first run"},
    {"Control_total_duration", HS_T_REAL, "us", "sum of their durations; nested ones add up"},
    {"Test_counts", HS_T_INT, "1", "events of this name in the second run"},
    {"Test_total_duration", HS_T_REAL, "us", "sum of their durations"},
    {"diff_counts", HS_T_INT, "1", "second minus first"},
    {"diff_duration", HS_T_REAL, "us", "second minus first"},
    {"counts_change_categories", HS_T_TEXT, "", "+, - or ="},
};
static const struct hs_column_spec ops_columns[] = {
    {"name", HS_T_TEXT, "", "name, or short name"},
    {"change", HS_T_TEXT, "", "added, deleted, increased, decreased or unchanged, by number of events"},
};

struct op {
    int64_t count[2];
    double dur[2];
};
struct diff {
    struct hs_intern names;
    HS_VEC(struct op); /* by number of the name */
};

struct numbers {
    HS_VEC(int64_t);
};

enum device { ALL, ON_CPU, ON_GPU };

static void note_step(int side, int64_t number, struct hs_table *out)
{
    hs_table_note(out, "the %s run has no step %lld; HTA stops here", side ? "test" : "control", (long long)number);
}

/* Distinct step numbers of all ranks, ascending. */
static void find_steps(const struct hta_trace *t, struct numbers *out)
{
    for (size_t i = 0; i < t->syms.n; i++) {
        int64_t number;
        if (hta_step_number(t->syms.p[i], &number) && !hs_vec_push(out, number))
            break;
    }
    int64_t *scratch = hs_malloc((out->n + 1) * sizeof *scratch);
    hs_sort_i64(out->p, scratch, out->n);
    hs_free_array((void **)&scratch);
}

/* The iterations asked for, or the first one. False with a note if the run does not have one of them. */
static bool choose_steps(const struct hta_trace *t, int side, const int64_t *asked, size_t n, struct hta_map *chosen,
                         struct hs_table *out)
{
    struct numbers have = HS_VEC_INIT(HS_MAX_EVENTS);
    bool ok = true;
    find_steps(t, &have);
    for (size_t i = 0; i < n; i++) {
        if (!hta_in_list(asked[i], have.p, have.n)) {
            note_step(side, asked[i], out);
            ok = false;
        }
        *hta_map_at(chosen, asked[i]) = 1;
    }
    if (!asked && have.n)
        *hta_map_at(chosen, have.p[0]) = 1;
    if (!asked && !have.n) {
        hs_table_note(out, "the %s run has no profiler steps; HTA compares only events in steps",
                      side ? "test" : "control");
        ok = false;
    }
    hs_vec_free(&have);
    return ok;
}

static bool add_row(const struct hta_trace *t, const struct hta_row *x, int side, bool shorten, struct hs_buf *scratch,
                    struct diff *d)
{
    struct hs_str name = hta_text(t, x->name);
    if (shorten)
        name = hs_shorten_hta(name, scratch);
    uint32_t id = hs_intern_add(&d->names, name.p, name.n);
    struct op none = {{0, 0}, {0, 0}};
    while (id != HS_NO_SYM && d->n <= id)
        if (!hs_vec_push(d, none))
            return false;
    if (id == HS_NO_SYM)
        return false;
    d->p[id].count[side]++;
    d->p[id].dur[side] += x->dur;
    return true;
}

static bool add_rank(const struct hta_trace *t, const struct hta_rank *r, int side, const struct hta_map *chosen,
                     enum device device, bool shorten, struct diff *d)
{
    struct hs_buf scratch = HS_BUF_INIT((size_t)64 << 20);
    bool ok = true;
    for (size_t i = 0; ok && i < r->n; i++) {
        const struct hta_row *x = &r->rows[i];
        if (x->iter == HTA_NO_ITER || hta_map_get(chosen, x->iter) == HTA_NONE)
            continue;
        if (device == ALL || hta_on_stream(x) == (device == ON_GPU))
            ok = add_row(t, x, side, shorten, &scratch, d);
    }
    hs_buf_free(&scratch);
    return ok;
}

/* One side. *ok false: something asked for is not there, HTA refuses; the note says what. */
static int add_side(struct hs_run *run, const struct hs_params *params, int side, struct diff *d, bool *ok,
                    struct hs_table *out, struct hs_err *err)
{
    struct hta_trace *t;
    struct hta_map chosen;
    size_t nranks, nsteps;
    const int64_t *ranks = hta_list(params, side ? "test_rank" : "control_rank", &nranks);
    const int64_t *steps = hta_list(params, side ? "test_iteration" : "control_iteration", &nsteps);
    const char *where = hta_string(params, "device_type", "ALL");
    enum device device = hs_str_is(hs_cstr(where), "CPU") ? ON_CPU : hs_str_is(hs_cstr(where), "GPU") ? ON_GPU : ALL;
    int rc = hta_load(&t, run, HTA_PARSE_ONLY, out, err);
    if (rc)
        return rc;
    hta_map_init(&chosen);
    *ok = choose_steps(t, side, steps, nsteps, &chosen, out);
    for (size_t i = 0; *ok && i < (ranks ? nranks : t->n ? 1 : 0); i++) {
        const struct hta_rank *r = ranks ? hta_rank_find(t, ranks[i]) : &t->ranks[0];
        if (!r) {
            hs_table_note(out, "the %s run has no rank %lld; HTA stops here", side ? "test" : "control",
                          (long long)ranks[i]);
            *ok = false;
        } else if (!add_rank(t, r, side, &chosen, device, hta_flag(params, "use_short_name", false), d)) {
            rc = hs_fail(err, HS_ELIMIT, "too many distinct names to compare");
            break;
        }
    }
    hta_map_free(&chosen);
    hta_free(t);
    return rc;
}

static int by_side_name(const void *a, const void *b, void *ctx)
{
    const struct diff *d = ctx;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    bool new_x = !d->p[x].count[0], new_y = !d->p[y].count[0];
    return new_x != new_y ? (int)new_x - (int)new_y : hs_str_cmp(d->names.p[x], d->names.p[y]);
}

/* Names that occur: the control's in order of their text, then those that only the test has. */
static uint32_t *ordered(const struct diff *d, size_t *n)
{
    uint32_t *ids = hs_malloc((d->n + 1) * sizeof *ids);
    *n = 0;
    for (uint32_t i = 0; i < d->n; i++)
        if (d->p[i].count[0] || d->p[i].count[1])
            ids[(*n)++] = i;
    qsort_r(ids, *n, sizeof *ids, by_side_name, (void *)(uintptr_t)d);
    return ids;
}

static void write_compare(const struct diff *d, struct hs_table *out)
{
    size_t n;
    uint32_t *ids = ordered(d, &n);
    for (size_t i = 0; i < n; i++) {
        const struct op *o = &d->p[ids[i]];
        int64_t more = o->count[1] - o->count[0];
        hs_table_row(out);
        hs_cell_text(out, d->names.p[ids[i]]);
        for (int side = 0; side < 2; side++) {
            hs_cell_i64(out, o->count[side]);
            hs_cell_f64(out, o->dur[side]);
        }
        hs_cell_i64(out, more);
        hs_cell_f64(out, o->dur[1] - o->dur[0]);
        hs_cell_cstr(out, more > 0 ? "+" : more < 0 ? "-" : "=");
    }
    hs_free_array((void **)&ids);
}

static const char *change(const struct op *o)
{
    if (!o->count[0])
        return "added";
    if (!o->count[1])
        return "deleted";
    return o->count[1] > o->count[0] ? "increased" : o->count[1] < o->count[0] ? "decreased" : "unchanged";
}

static void write_ops(const struct diff *d, struct hs_table *out)
{
    static const char *const lists[] = {"added", "deleted", "increased", "decreased", "unchanged"};
    size_t n;
    uint32_t *ids = ordered(d, &n);
    for (size_t k = 0; k < HTA_COUNT(lists); k++)
        for (size_t i = 0; i < n; i++) {
            if (!hs_str_is(hs_cstr(lists[k]), change(&d->p[ids[i]])))
                continue;
            hs_table_row(out);
            hs_cell_text(out, d->names.p[ids[i]]);
            hs_cell_cstr(out, lists[k]);
        }
    hs_free_array((void **)&ids);
}

static int compare(struct hs_run *run, const struct hs_params *params,
                   void (*write)(const struct diff *, struct hs_table *), struct hs_table *out, struct hs_err *err)
{
    struct diff d = {.max = HS_MAX_EVENTS};
    bool ok[2] = {true, true};
    if (!run->other)
        return hs_fail(err, HS_EUSAGE, "this analysis compares two runs: name a second one");
    hs_intern_init(&d.names, HS_MAX_EVENTS, (size_t)2 << 30);
    int rc = add_side(run, params, 0, &d, &ok[0], out, err);
    if (!rc)
        rc = add_side(run->other, params, 1, &d, &ok[1], out, err);
    if (!rc && ok[0] && ok[1])
        write(&d, out);
    hs_intern_free(&d.names);
    hs_vec_free(&d);
    return rc ? rc : hs_table_check(out, err);
}

int hta_diff(struct hs_run *run, const struct hs_params *params, struct hs_table *out, struct hs_err *err)
{
    hta_table(out, compare_columns, HTA_COUNT(compare_columns));
    return compare(run, params, write_compare, out, err);
}

int hta_diff_ops(struct hs_run *run, const struct hs_params *params, struct hs_table *out, struct hs_err *err)
{
    hta_table(out, ops_columns, HTA_COUNT(ops_columns));
    return compare(run, params, write_ops, out, err);
}
