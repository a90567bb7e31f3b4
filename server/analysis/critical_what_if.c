/* critical-path-what-if: how long the path would be if some of the work took another time. HTA lets one change the weights of
 * its graph's edges and ask for the path again; this is that, by class, name or event. */
#include "analysis/analyses.h"
#include "analysis/crit_graph.h"
#include "analysis/crit_window.h"
#include "analysis/reweight.h"
#include "trace/stats.h"

#include <stdlib.h>

static const struct hs_param_spec params_spec[] = {
    HS_PARAM_CRIT_WINDOW,
    {"reweight", HS_P_TEXT, "", "", 0, 0, NULL,
     "what takes how much of its time, joined by semicolons: class:WORD=FACTOR (compute, communication, memory, cpu, "
     "data_loading; delays: launch, kernel_gap, sync, cpu_idle), name:REGEX=FACTOR, event:N=FACTOR"},
};

static const struct hs_column_spec columns[] = {
    {"rank", HS_T_INT, "", "rank of the trace"},
    {"bound_by", HS_T_TEXT, "", "as in critical-path"},
    {"base_us", HS_T_TIME, "us", "time of the path as it was; the rows of a rank add up to its length"},
    {"new_us", HS_T_TIME, "us", "time of the longest path with the new weights; they add up as well"},
    {"change_us", HS_T_TIME, "us", "new_us - base_us"},
};

struct job {
    struct hs_reweights weights;
    struct hs_name_filter *loading;
    struct hs_table *out;
};

static bool applies(const struct hs_reweight *r, const struct hs_crit_rank *c, const struct hs_crit_graph *g,
                    size_t node, uint8_t *names)
{
    uint32_t event = hs_crit_node_event(g, &c->index, node), name = c->cpu.ev.name[event];
    switch (r->what) {
    case HS_REWEIGHT_CLASS: return hs_crit_node_cause(g, &c->index, node) == r->cause;
    case HS_REWEIGHT_EVENT: return event == r->event;
    case HS_REWEIGHT_NAME: break;
    }
    if (!names[name])
        names[name] = hs_name_matches(r->name, hs_view_str(c->sel.view, name)) ? 1 : 2;
    return names[name] == 1;
}

/* By node; free() it. */
static double *node_factors(const struct job *j, const struct hs_crit_rank *c, const struct hs_crit_graph *g)
{
    double *f = hs_realloc_array(NULL, g->nnodes + 1, sizeof *f);
    for (size_t k = 0; k < g->nnodes; k++)
        f[k] = 1;
    for (size_t i = 0; i < j->weights.n; i++) {
        uint8_t *names = hs_calloc(c->sel.view->nsyms + 1, 1); /* 0 not asked yet, 1 yes, 2 no */
        size_t found = 0;
        for (size_t k = 0; k < g->nnodes; k++)
            if (applies(&j->weights.p[i], c, g, k, names)) {
                f[k] *= j->weights.p[i].factor;
                found++;
            }
        if (!found && j->weights.p[i].what != HS_REWEIGHT_CLASS)
            hs_table_note(j->out, "Rank %lld: item %zu of reweight fits nothing in the window.", (long long)c->sel.rank,
                          i + 1);
        free(names);
    }
    return f;
}

static void write_rows(const struct job *j, int64_t rank, const struct hs_crit_way *base, const struct hs_crit_way *new)
{
    for (size_t k = 0; k < HS_CRIT_CAUSES; k++) {
        if (!base->ns[k] && !new->ns[k])
            continue;
        hs_table_row(j->out);
        hs_cell_i64(j->out, rank);
        hs_cell_cstr(j->out, hs_crit_word((enum hs_crit_cause)k));
        hs_cell_ns(j->out, base->ns[k]);
        hs_cell_ns(j->out, new->ns[k]);
        hs_cell_ns(j->out, hs_sub_sat(new->ns[k], base->ns[k]));
    }
    double saved = hs_percent(hs_sub_sat(base->length, new->length), base->length);
    hs_table_note(j->out, "Rank %lld: the path would be %.3f us long instead of %.3f us: %.1f %% %s.", (long long)rank,
                  (double)new->length / 1e3, (double)base->length / 1e3, saved < 0 ? -saved : saved,
                  saved < 0 ? "longer" : "shorter");
}

static int what_if(const struct job *j, const struct hs_crit_rank *c, struct hs_err *err)
{
    double lag[HS_CRIT_CAUSES], *node = NULL;
    struct hs_crit_graph g;
    struct hs_crit_way base = {0}, new = {0};
    for (size_t k = 0; k < HS_CRIT_CAUSES; k++)
        lag[k] = 1;
    for (size_t i = 0; i < j->weights.n; i++)
        if (j->weights.p[i].what == HS_REWEIGHT_CLASS)
            lag[j->weights.p[i].cause] *= j->weights.p[i].factor;
    int rc = hs_crit_graph_build(&g, &c->index, c->window.start, c->window.end, err);
    if (!rc)
        rc = hs_crit_longest(&g, &c->index, &(struct hs_crit_factors){0}, &base, err);
    if (!rc) {
        node = node_factors(j, c, &g);
        rc = hs_crit_longest(&g, &c->index, &(struct hs_crit_factors){node, lag}, &new, err);
    }
    if (!rc && base.edges.n)
        write_rows(j, c->sel.rank, &base, &new);
    else if (!rc)
        hs_table_note(j->out, "Rank %lld has nothing in this window.", (long long)c->sel.rank);
    hs_crit_way_free(&base);
    hs_crit_way_free(&new);
    hs_crit_graph_free(&g);
    free(node);
    return rc;
}

static int run(struct hs_run *r, const struct hs_params *p, struct hs_table *out, struct hs_err *err)
{
    struct job j = {.out = out};
    int rc = hs_reweights_parse(&j.weights, hs_param_text(p, "reweight"), err);
    if (!rc)
        rc = hs_crit_loading(&j.loading, p, err);
    for (size_t i = 0; i < r->n && !rc; i++) {
        struct hs_crit_rank c;
        rc = hs_crit_rank_open(&c, &r->ranks[i], p, j.loading, out, err);
        if (!rc && c.asked)
            rc = what_if(&j, &c, err);
        hs_crit_rank_close(&c);
    }
    if (!rc && !j.weights.n)
        hs_table_note(out, "Nothing is changed: reweight says what to, as in class:communication=0.5;name:gemm=0.8.");
    hs_name_filter_free(j.loading);
    hs_reweights_free(&j.weights);
    hs_note_unapplied(p, out, "zero_weight_launch_edges", NULL);
    hs_note_excluded(r, out);
    return rc;
}

const struct hs_analysis hs_analysis_critical_path_what_if = {
    .name = "critical-path-what-if",
    .summary = "How long the critical path would be if some of the work took another time",
    .doc =
        "The longest path through the whole graph of what waits for what, as it was and with new weights. Work is "
        "scaled by "
        "its class, its name or its event number; what waited for it then begins as soon as all it waits for allows. "
        "Of "
        "what a piece of work waited for, that which came last has the delay that was measured, the others none: so "
        "the "
        "answer is a lower bound of the new length, and what it saves a ceiling. A launch call "
        "that blocked because the launch queue was full counts as CPU work. Of work that was running when the window "
        "began, the part within it is scaled. "
        "With all factors 1 the length is that of critical-path (the causes may differ where several paths are equally "
        "long).",
    .version = 2,
    .params = params_spec,
    .nparams = sizeof params_spec / sizeof params_spec[0],
    .columns = columns,
    .ncolumns = sizeof columns / sizeof columns[0],
    .run = run,
};
