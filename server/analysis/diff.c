/* diff and diff-ops: two runs compared. HTA's TraceDiff compares one step of one rank by summed durations in which nested
 * events count twice; here all chosen ranks and steps count, per step, and the differences add up. */
#include "analysis/analyses.h"
#include "analysis/compare.h"
#include "analysis/diff_notes.h"
#include "analysis/diff_parts.h"
#include "analysis/hta.h"
#include "trace/intervals.h"
#include "trace/stats.h"

#include <stdlib.h>
#include <string.h>

static const struct hs_column_spec columns[] = {
    {"side", HS_T_TEXT, "", "cpu or gpu; with by=part, gpu"},
    {"name", HS_T_TEXT, "", "name, place in the call tree, or part of the devices' time"},
    {"change", HS_T_TEXT, "", "added, deleted, increased, decreased or unchanged, by number of events a step"},
    {"base_count", HS_T_INT, "1", "events of the base, of all chosen ranks and steps; null with by=part"},
    {"test_count", HS_T_INT, "1", "events of the test"},
    {"base_us", HS_T_TIME, "us",
     "time of the base per step and rank: self time of CPU events, duration of device work; rounded so that rows add "
     "up"},
    {"test_us", HS_T_TIME, "us", "time of the test per step and rank"},
    {"delta_us", HS_T_TIME, "us", "test_us - base_us; the rows of a side add up to its whole difference"},
    {"delta_pct", HS_T_PCT, "percent", "delta_us of all base_us of the side; null where the base has none"},
    {"base_total_us", HS_T_TIME, "us",
     "time per step and rank with all that is nested; nested events of one name count twice"},
    {"test_total_us", HS_T_TIME, "us", "the same of the test"},
};
static const struct hs_column_spec ops_columns[] = {
    {"name", HS_T_TEXT, "", "name, or place in the call tree"},
    {"change", HS_T_TEXT, "", "added, deleted, increased, decreased or unchanged, by number of events a step"},
    {"side", HS_T_TEXT, "", "cpu or gpu"},
    {"base_per_step", HS_T_REAL, "1", "events of the base per step and rank"},
    {"test_per_step", HS_T_REAL, "1", "events of the test per step and rank"},
};

/* ---- order ---- */

struct sorted {
    double delta; /* ns per step, test - base, without its sign */
    struct hs_str name;
    uint32_t row;
};

static int by_delta(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;
    if (x->delta != y->delta)
        return x->delta > y->delta ? -1 : 1;
    int c = hs_str_cmp(x->name, y->name);
    return c ? c : (x->row > y->row) - (x->row < y->row);
}

static double per_step(const struct hs_compare *c, const struct hs_compare_row *r, int side)
{
    return (double)r->of[side].ns / (double)c->per[side];
}

/* The largest differences first. Names by position are not built for it: their number stands for them. */
static struct sorted *sort_rows(const struct hs_compare *c)
{
    struct sorted *s = hs_malloc((c->rows.n + 1) * sizeof *s);
    for (size_t i = 0; i < c->rows.n; i++) {
        const struct hs_compare_row *r = &c->rows.p[i];
        double d = per_step(c, r, 1) - per_step(c, r, 0);
        s[i] =
            (struct sorted){d < 0 ? -d : d, c->by == HS_BY_POSITION ? hs_str("", 0) : c->names.p[r->key], (uint32_t)i};
    }
    qsort(s, c->rows.n, sizeof *s, by_delta);
    return s;
}

/* ---- diff ---- */

/* Divides sums by the number of steps so that the rounded parts add up to the rounded whole: each part is the growth of the
 * rounded running sum. */
struct share {
    int64_t sum, given, per;
};

static int64_t next_share(struct share *s, int64_t ns)
{
    s->sum = hs_add_sat(s->sum, ns);
    int64_t rounded = (int64_t)(((__int128)s->sum * 2 + s->per) / ((__int128)s->per * 2)), part = rounded - s->given;
    s->given = rounded;
    return part;
}

static int64_t rounded_share(int64_t ns, int64_t per)
{
    struct share s = {0, 0, per};
    return next_share(&s, ns);
}

static void write_diff(const struct hs_compare *c, struct hs_table *out)
{
    struct sorted *order = sort_rows(c);
    struct share share[2][2]; /* by gpu, run */
    struct hs_buf scratch = HS_BUF_INIT((size_t)64 << 20);
    int64_t whole[2] = {0, 0};
    for (int gpu = 0; gpu < 2; gpu++)
        for (int side = 0; side < 2; side++)
            share[gpu][side] = (struct share){0, 0, c->per[side]};
    for (size_t i = 0; i < c->rows.n; i++)
        whole[c->rows.p[i].gpu] = hs_add_sat(whole[c->rows.p[i].gpu], c->rows.p[i].of[0].ns);
    for (size_t i = 0; i < c->rows.n; i++) {
        const struct hs_compare_row *r = &c->rows.p[order[i].row];
        int64_t base = next_share(&share[r->gpu][0], r->of[0].ns), test = next_share(&share[r->gpu][1], r->of[1].ns);
        hs_table_row(out);
        hs_cell_cstr(out, r->gpu ? "gpu" : "cpu");
        hs_cell_text(out, hs_compare_name(c, r, &scratch));
        hs_cell_cstr(out, hs_compare_change(c, r));
        hs_cell_i64(out, r->of[0].count);
        hs_cell_i64(out, r->of[1].count);
        hs_cell_ns(out, base);
        hs_cell_ns(out, test);
        hs_cell_ns(out, test - base);
        hs_cell_f64(out, hs_percent(test - base, rounded_share(whole[r->gpu], c->per[0])));
        hs_cell_ns(out, rounded_share(r->of[0].whole_ns, c->per[0]));
        hs_cell_ns(out, rounded_share(r->of[1].whole_ns, c->per[1]));
    }
    for (int gpu = 0; gpu < 2; gpu++)
        hs_diff_note_whole(gpu ? "device work" : "CPU threads", share[gpu][0].given, share[gpu][1].given, out);
    hs_buf_free(&scratch);
    free(order);
}

/* The parts of device time, out of hs_diff_parts. */
static void write_parts(const struct hs_compare *c, const struct hs_parts part[2], struct hs_table *out)
{
    struct share share[2] = {{0, 0, c->per[0]}, {0, 0, c->per[1]}};
    int64_t whole = 0;
    for (size_t k = 0; k < HS_PARTS; k++)
        whole = hs_add_sat(whole, part[0].ns[k]);
    for (size_t k = 0; k < HS_PARTS; k++) {
        int64_t base = next_share(&share[0], part[0].ns[k]), test = next_share(&share[1], part[1].ns[k]);
        hs_table_row(out);
        hs_cell_cstr(out, "gpu");
        hs_cell_cstr(out, hs_part_word(k));
        hs_cell_null(out);
        hs_cell_null(out);
        hs_cell_null(out);
        hs_cell_ns(out, base);
        hs_cell_ns(out, test);
        hs_cell_ns(out, test - base);
        hs_cell_f64(out, hs_percent(test - base, rounded_share(whole, c->per[0])));
        hs_cell_ns(out, base);
        hs_cell_ns(out, test);
    }
    hs_diff_note_whole("device time", share[0].given, share[1].given, out);
}

static int compare_parts(struct hs_run *run, const struct hs_params *p, const struct hs_compare *c,
                         struct hs_table *out, struct hs_err *err)
{
    struct hs_parts part[2];
    int rc = hs_diff_parts(run, p, 0, &part[0], out, err);
    if (!rc)
        rc = hs_diff_parts(run->other, p, 1, &part[1], out, err);
    if (!rc)
        write_parts(c, part, out);
    return rc;
}

static int run_diff(struct hs_run *run, const struct hs_params *p, struct hs_table *out, struct hs_err *err)
{
    struct hs_compare c;
    int rc = hs_compare_open(&c, run, p, out, err);
    if (!rc) {
        hs_diff_notes(&c, run, p, out);
        if (!strcmp(hs_param_text(p, "by"), "part"))
            rc = compare_parts(run, p, &c, out, err);
        else
            write_diff(&c, out);
    }
    hs_compare_free(&c);
    return rc;
}

/* ---- diff-ops ---- */

static void write_ops(const struct hs_compare *c, struct hs_table *out)
{
    static const char *const lists[] = {"added", "deleted", "increased", "decreased", "unchanged"};
    struct sorted *order = sort_rows(c);
    struct hs_buf scratch = HS_BUF_INIT((size_t)64 << 20);
    for (size_t k = 0; k < sizeof lists / sizeof lists[0]; k++)
        for (size_t i = 0; i < c->rows.n; i++) {
            const struct hs_compare_row *r = &c->rows.p[order[i].row];
            if (strcmp(hs_compare_change(c, r), lists[k]) != 0)
                continue;
            hs_table_row(out);
            hs_cell_text(out, hs_compare_name(c, r, &scratch));
            hs_cell_cstr(out, lists[k]);
            hs_cell_cstr(out, r->gpu ? "gpu" : "cpu");
            hs_cell_f64(out, (double)r->of[0].count / (double)c->per[0]);
            hs_cell_f64(out, (double)r->of[1].count / (double)c->per[1]);
        }
    hs_buf_free(&scratch);
    free(order);
}

static int run_ops(struct hs_run *run, const struct hs_params *p, struct hs_table *out, struct hs_err *err)
{
    struct hs_compare c;
    int rc = strcmp(hs_param_text(p, "by"), "part") != 0
                 ? HS_OK
                 : hs_fail(err, HS_EUSAGE, "parameter by: diff-ops takes name and position; part is diff's");
    if (rc)
        return rc;
    rc = hs_compare_open(&c, run, p, out, err);
    if (!rc) {
        hs_diff_notes(&c, run, p, out);
        write_ops(&c, out);
    }
    hs_compare_free(&c);
    return rc;
}

#define DOC                                                                                                         \
    "Of both runs all ranks and steps count (choose with control_rank, test_rank, control_iteration, "              \
    "test_iteration), "                                                                                             \
    "and figures are per step and rank, so runs of different length compare; without steps they are per rank. CPU " \
    "events "                                                                                                       \
    "have their self time, device work its duration. ProfilerStep#N is one name. Notes tell the step time of both " \
    "runs "                                                                                                         \
    "with its spread, the whole of each side, and what makes the runs hard to compare."

const struct hs_analysis hs_analysis_diff = {
    .name = "diff",
    .summary = "Two runs compared by name, place in the call tree or part of device time: counts, times, differences",
    .doc = DOC
    " The largest difference comes first. `delta_us` adds up, per side, to the whole difference; with by=part it "
    "is the devices' time (first to last work of the chosen steps, times devices) cut into compute, "
    "communication that no compute hides, copies that neither hides, and idle.",
    .version = 1,
    .params = hs_compare_params,
    .nparams = HS_COMPARE_NPARAMS,
    .columns = columns,
    .ncolumns = sizeof columns / sizeof columns[0],
    .run = run_diff,
    .run_hta = hta_diff,
    .two_runs = true,
};

const struct hs_analysis hs_analysis_diff_ops = {
    .name = "diff-ops",
    .summary = "Which events two runs have more, fewer, or only one of them has",
    .doc = DOC " Added and deleted names first, then those that occur more or less often a step.",
    .version = 1,
    .params = hs_compare_params,
    .nparams = HS_COMPARE_NPARAMS,
    .columns = ops_columns,
    .ncolumns = sizeof ops_columns / sizeof ops_columns[0],
    .run = run_ops,
    .run_hta = hta_diff_ops,
    .two_runs = true,
};
