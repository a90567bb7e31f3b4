#include "report/figures_tables.h"

#include "analysis/analyses.h"
#include "report/write.h"

#include <stdio.h>
#include <string.h>

static const enum hs_figure_id figure_of_cause[HS_GAP_CAUSES] = {
    [HS_GAP_LOADING] = HS_FIG_LOADING,       [HS_GAP_ALLOC] = HS_FIG_ALLOC,       [HS_GAP_COMPILE] = HS_FIG_COMPILE,
    [HS_GAP_COLLECT] = HS_FIG_COLLECT,       [HS_GAP_CPU] = HS_FIG_LAUNCHING,     [HS_GAP_LAUNCH] = HS_FIG_LAUNCHING,
    [HS_GAP_NOTHING] = HS_FIG_LAUNCHING,     [HS_GAP_DISPATCH] = HS_FIG_DISPATCH, [HS_GAP_WAITING] = HS_FIG_UNEXPLAINED,
    [HS_GAP_UNLAUNCHED] = HS_FIG_UNEXPLAINED};

enum hs_figure_id hs_figure_of_cause(enum hs_gap_cause c)
{
    return figure_of_cause[c];
}

static int ask(const struct hs_analysis *a, struct hs_run *run, struct hs_table *out, struct hs_err *err)
{
    struct hs_params *p;
    int rc = hs_params_new(&p, a->params, a->nparams, err);
    if (rc)
        return rc;
    rc = hs_analysis_run(a, run, p, out, err);
    hs_params_free(p);
    return rc;
}

static void cell_text(char *out, size_t cap, const struct hs_cell *c)
{
    snprintf(out, cap, "%.*s", c->kind == HS_C_TEXT ? (int)(c->len < 110 ? c->len : 110) : 0,
             c->kind == HS_C_TEXT ? c->s : "");
}

/* Sites of one operator together: a site is a frame of a rank, and one .item() in a loop has many. */
struct sync_op {
    char name[120];
    int64_t idle, calls;
    size_t row; /* its worst site */
};
#define SYNC_OPS 64 /* operators told apart; there are about ten that wait */

static void add_sync(struct sync_op *ops, size_t *n, const struct hs_table *t, size_t row)
{
    char name[120];
    int64_t idle = hs_report_cell(t, row, "gpu_idle_us")->i;
    cell_text(name, sizeof name, hs_report_cell(t, row, "op"));
    size_t k = 0;
    while (k < *n && strcmp(ops[k].name, name) != 0)
        k++;
    if (k == SYNC_OPS)
        return;
    if (k == *n) {
        ops[k] = (struct sync_op){.row = row};
        memcpy(ops[k].name, name, sizeof name);
        ++*n;
    }
    if (idle > hs_report_cell(t, ops[k].row, "gpu_idle_us")->i)
        ops[k].row = row;
    ops[k].idle = hs_add_sat(ops[k].idle, idle);
    ops[k].calls = hs_add_sat(ops[k].calls, hs_report_cell(t, row, "count")->i);
}

/* The worst call of a site is an example. */
static void show_sync(const struct hs_figures *f, struct hs_figure_value *x, const struct hs_table *t, size_t row)
{
    const struct hs_run *run = f->facts->run;
    int64_t rank = hs_report_cell(t, row, "rank")->i, idle = hs_report_cell(t, row, "gpu_idle_us")->i;
    for (size_t i = 0; i < run->n && idle > 0; i++)
        if (run->ranks[i].rank == rank) {
            hs_figure_shows(x, &run->ranks[i], (uint32_t)hs_report_cell(t, row, "event")->i,
                            hs_sub_sat(hs_report_cell(t, row, "ts_us")->i, run->ranks[i].offset_ns), idle);
            return;
        }
}

static void take_syncs(struct hs_figures *f, const struct hs_table *t)
{
    struct hs_figure_value *x = &f->at[HS_FIG_SYNC];
    struct sync_op ops[SYNC_OPS];
    size_t n = 0, worst = 0;
    for (size_t i = 0; i < t->rows; i++) {
        if (!hs_report_cell(t, i, "hidden")->i)
            continue;
        x->gain_ns = hs_add_sat(x->gain_ns, hs_report_cell(t, i, "gpu_idle_us")->i);
        add_sync(ops, &n, t, i);
        show_sync(f, x, t, i);
    }
    for (size_t k = 1; k < n; k++)
        if (ops[k].idle > ops[worst].idle)
            worst = k;
    if (!n || !ops[worst].idle)
        return;
    const size_t row = ops[worst].row;
    char call[120], frame[120];
    cell_text(call, sizeof call, hs_report_cell(t, row, "call"));
    cell_text(frame, sizeof frame, hs_report_cell(t, row, "frame"));
    snprintf(x->detail, sizeof x->detail, "Largest part: %.80s (%.60s), %lld calls, %.3f ms of idle time%s%.80s",
             *ops[worst].name ? ops[worst].name : "outside of operators", call, (long long)ops[worst].calls,
             (double)ops[worst].idle / 1e6, *frame ? "; worst in " : "", frame);
}

/* The rank that causes most of the waiting, if it does so as a rule. */
static void take_stragglers(struct hs_figures *f, const struct hs_table *t)
{
    struct hs_figure_value *x = &f->at[HS_FIG_SLOW_RANK];
    x->missing = f->facts->run->n < 2 ? "there is one rank: give all ranks of the run"
                                      : "no collective could be matched across the ranks";
    for (size_t i = 0; i < t->rows; i++) {
        const struct hs_cell *pct = hs_report_cell(t, i, "caused_pct"), *verdict = hs_report_cell(t, i, "verdict");
        if (hs_report_cell(t, i, "collectives")->kind != HS_C_I64 || hs_report_cell(t, i, "collectives")->i < 1)
            continue;
        x->missing = NULL;
        bool chronic = verdict->kind == HS_C_TEXT && hs_str_is(hs_str(verdict->s, verdict->len), "chronic");
        if (!chronic || pct->kind != HS_C_F64 || pct->f <= x->v)
            continue;
        char cause[120];
        x->v = pct->f;
        /* every rank's step would be shorter by the lead, and the GPU span is the sum over ranks */
        if (__builtin_mul_overflow(hs_report_cell(t, i, "lead_us")->i, (int64_t)f->facts->gpu_ranks, &x->gain_ns))
            x->gain_ns = INT64_MAX;
        f->slow_rank = hs_report_cell(t, i, "rank")->i;
        cell_text(cause, sizeof cause, hs_report_cell(t, i, "cause"));
        snprintf(x->detail, sizeof x->detail, "Rank %lld comes last in %lld of %lld collectives; before that it has %s",
                 (long long)hs_report_cell(t, i, "rank")->i, (long long)hs_report_cell(t, i, "last")->i,
                 (long long)hs_report_cell(t, i, "collectives")->i, *cause ? cause : "nothing that the trace shows");
    }
}

/* Where most of the idle time of a cause went, over ranks and devices: the operator and the Python frame that ran. */
static void take_causes(struct hs_figures *f, const struct hs_table *t)
{
    int64_t most[HS_FIGURE_IDS] = {0};
    for (size_t i = 0; i < t->rows; i++) {
        const struct hs_cell *cause = hs_report_cell(t, i, "cause");
        int64_t idle = hs_report_cell(t, i, "idle_us")->i;
        enum hs_figure_id id = HS_FIG_NONE;
        for (enum hs_gap_cause c = 0; c < HS_GAP_CAUSES; c++)
            if (hs_str_is(hs_str(cause->s, cause->len), hs_gap_word(c)))
                id = hs_figure_of_cause(c);
        char op[120], frame[120];
        cell_text(op, sizeof op, hs_report_cell(t, i, "op"));
        cell_text(frame, sizeof frame, hs_report_cell(t, i, "frame"));
        if (!id || idle <= most[id] || (!*op && !*frame))
            continue;
        most[id] = idle;
        snprintf(f->at[id].detail, sizeof f->at[id].detail, "Largest part in %.110s%s%.110s (rank %lld)", op,
                 *op && *frame ? ", " : "", frame, (long long)hs_report_cell(t, i, "rank")->i);
    }
}

int hs_figures_from_tables(struct hs_figures *f, struct hs_run *run, struct hs_err *err)
{
    struct hs_table t;
    int rc = ask(&hs_analysis_idle_causes, run, &t, err);
    if (rc)
        return rc;
    take_causes(f, &t);
    hs_table_free(&t);
    rc = ask(&hs_analysis_syncs, run, &t, err);
    if (rc)
        return rc;
    take_syncs(f, &t);
    hs_table_free(&t);
    rc = ask(&hs_analysis_stragglers, run, &t, err);
    if (rc)
        return rc;
    take_stragglers(f, &t);
    hs_table_free(&t);
    return HS_OK;
}
