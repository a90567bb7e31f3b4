/* critical-path and critical-path-summary: the chain that decided how long it took, and what its time is bound by. */
#include "analysis/analyses.h"
#include "analysis/crit_graph.h"
#include "analysis/crit_window.h"
#include "analysis/hta.h"
#include "analysis/page.h"
#include "analysis/threads.h"
#include "trace/stats.h"

static const struct hs_param_spec path_params[] = {HS_PARAM_CRIT_WINDOW, HS_PARAM_PAGE};
static const struct hs_param_spec summary_params[] = {HS_PARAM_CRIT_WINDOW};

static const struct hs_column_spec columns[] = {
    {"rank", HS_T_INT, "", "rank of the trace"},
    {"ts_us", HS_T_TIME, "us", "start of the piece, on the run's clock"},
    {"dur_us", HS_T_TIME, "us", "its length; pieces follow each other without a gap"},
    {"bound_by", HS_T_TEXT, "",
     "cpu_bound, data_loading, cpu_idle, gpu_compute_bound, gpu_communication_bound, gpu_memory_bound, "
     "gpu_kernel_launch_overhead, gpu_kernel_kernel_overhead, sync, unknown"},
    {"name", HS_T_TEXT, "", "of the event whose time it is; of a delay, of the work that was delayed"},
    {"thread", HS_T_TEXT, "", "thread of a CPU event"},
    {"device", HS_T_INT, "", "device of device work and its delays"},
    {"stream", HS_T_INT, "", "stream of device work and its delays"},
    {"event", HS_T_INT, "", "event number"},
};
static const struct hs_column_spec summary_columns[] = {
    {"rank", HS_T_INT, "", "rank of the trace"},
    {"bound_by", HS_T_TEXT, "", "as in critical-path"},
    {"dur_us", HS_T_TIME, "us", "time of the path; the rows of a rank add up to its length"},
    {"share_pct", HS_T_PCT, "percent", "of the path's length"},
    {"pieces", HS_T_INT, "1", "pieces of the path"},
};

/* ---- one rank ---- */

struct job {
    struct hs_name_filter *filter;
    struct hs_page page;
    struct hs_table *out;
    bool summary;
};

static void piece_row(const struct hs_crit_piece *x, const struct hs_cpu *cpu, const struct hs_select *s,
                      struct hs_table *out)
{
    hs_table_row(out);
    hs_cell_i64(out, s->rank);
    hs_cell_ns(out, hs_add_sat(x->start, s->offset));
    hs_cell_ns(out, hs_sub_sat(x->end, x->start));
    hs_cell_cstr(out, hs_crit_word(x->cause));
    if (x->event == HS_NO_EVENT) {
        for (int i = 0; i < 5; i++)
            hs_cell_null(out);
        return;
    }
    hs_cell_text(out, hs_view_str(s->view, cpu->ev.name[x->event]));
    if (x->row == SIZE_MAX) {
        struct hs_buf b = HS_BUF_INIT(4096);
        hs_put_id(&b, s->view, s->view->lanes[cpu->ev.lane[x->event]].tid);
        hs_cell_text(out, hs_str(b.p, b.n));
        hs_buf_free(&b);
        hs_cell_null(out);
        hs_cell_null(out);
    } else {
        hs_cell_null(out);
        hs_cell_i64(out, s->gpu.device[x->row]);
        hs_cell_i64(out, s->gpu.stream[x->row]);
    }
    hs_cell_i64(out, x->event);
}

static void write_summary(const struct hs_crit *c, int64_t rank, struct hs_table *out)
{
    int64_t ns[HS_CRIT_CAUSES] = {0}, count[HS_CRIT_CAUSES] = {0}, all = 0;
    for (size_t i = 0; i < c->pieces.n; i++) {
        int64_t len = hs_sub_sat(c->pieces.p[i].end, c->pieces.p[i].start);
        ns[c->pieces.p[i].cause] = hs_add_sat(ns[c->pieces.p[i].cause], len);
        count[c->pieces.p[i].cause]++;
        all = hs_add_sat(all, len);
    }
    for (size_t k = 0; k < HS_CRIT_CAUSES; k++) {
        if (!count[k])
            continue;
        hs_table_row(out);
        hs_cell_i64(out, rank);
        hs_cell_cstr(out, hs_crit_word((enum hs_crit_cause)k));
        hs_cell_ns(out, ns[k]);
        hs_cell_f64(out, hs_percent(ns[k], all));
        hs_cell_i64(out, count[k]);
    }
}

static void write_path(struct job *j, const struct hs_crit *c, const struct hs_cpu *cpu, const struct hs_select *s)
{
    if (j->summary)
        write_summary(c, s->rank, j->out);
    else
        for (size_t i = 0; i < c->pieces.n; i++)
            if (hs_page_take(&j->page))
                piece_row(&c->pieces.p[i], cpu, s, j->out);
    if (c->pieces.n)
        hs_table_note(j->out,
                      "Rank %lld: the path is %.3f us long and has %zu pieces, out of %zu stretches of threads and "
                      "device events.",
                      (long long)s->rank,
                      (double)hs_sub_sat(c->pieces.p[c->pieces.n - 1].end, c->pieces.p[0].start) / 1e3, c->pieces.n,
                      c->nodes);
    else
        hs_table_note(j->out, "Rank %lld has nothing in this window.", (long long)s->rank);
}

static int note_graph(const struct hs_crit_rank *r, struct hs_table *out, struct hs_err *err)
{
    struct hs_crit_graph g;
    int rc = hs_crit_graph_build(&g, &r->index, r->window.start, r->window.end, err);
    if (!rc)
        hs_table_note(
            out,
            "Rank %lld: the graph has %zu nodes (starts and ends) and %zu edges: %zu operator, %zu dependency, "
            "%zu launch delay, %zu kernel-kernel delay, %zu synchronisation.",
            (long long)r->sel.rank, 2 * g.nnodes, hs_crit_edges(&g), g.count[HS_EDGE_OPERATOR],
            g.count[HS_EDGE_DEPENDENCY], g.count[HS_EDGE_LAUNCH], g.count[HS_EDGE_KERNEL], g.count[HS_EDGE_SYNC]);
    hs_crit_graph_free(&g);
    return rc;
}

static int one_rank(struct job *j, const struct hs_run_rank *r, const struct hs_params *p, struct hs_err *err)
{
    struct hs_crit_rank rank;
    struct hs_crit c = {.pieces = HS_VEC_INIT(1)};
    int rc = hs_crit_rank_open(&rank, r, p, j->filter, j->out, err);
    if (!rc && rank.asked) {
        rc = hs_crit_find(&c, &rank.index, rank.window.start, rank.window.end, err);
        if (!rc)
            write_path(j, &c, &rank.cpu, &rank.sel);
        if (!rc && j->summary && c.pieces.n)
            rc = note_graph(&rank, j->out, err);
    }
    hs_crit_free(&c);
    hs_crit_rank_close(&rank);
    return rc;
}

static int paths(struct hs_run *r, const struct hs_params *p, bool summary, struct hs_table *out, struct hs_err *err)
{
    struct job j = {.out = out, .summary = summary};
    if (!summary)
        j.page = hs_page_of(p);
    int rc = hs_crit_loading(&j.filter, p, err);
    for (size_t i = 0; i < r->n && !rc; i++)
        rc = one_rank(&j, &r->ranks[i], p, err);
    if (!rc && !summary)
        hs_page_note(&j.page, out, "pieces of the path");
    hs_name_filter_free(j.filter);
    hs_note_unapplied(p, out, "zero_weight_launch_edges", NULL);
    hs_note_excluded(r, out);
    return rc;
}

static int run_path(struct hs_run *r, const struct hs_params *p, struct hs_table *out, struct hs_err *err)
{
    return paths(r, p, false, out, err);
}

static int run_summary(struct hs_run *r, const struct hs_params *p, struct hs_table *out, struct hs_err *err)
{
    return paths(r, p, true, out, err);
}

#define DOC                                                                                                            \
    "Walked from the last end in the window back to its start, each time to what came last of what a piece of work "   \
    "had to wait "                                                                                                     \
    "for (Yang and Miller 1988), so every nanosecond has one owner and the pieces add up to the path's length. "       \
    "Device work waits "                                                                                               \
    "for the work before it on its stream, for the call that launched it, and where it began later than both, for "    \
    "the work of its device "                                                                                          \
    "that it waited for through an event or an edge of its CUDA graph: as recorded where the trace has "               \
    "synchronisation activities (category cuda_sync), else inferred to be what ended last before it and was launched " \
    "earlier or by the same call. The CPU "                                                                            \
    "waits in "                                                                                                        \
    "synchronising calls and blocking copies for the device work that ended last in them; time without an operator "   \
    "or call "                                                                                                         \
    "goes to the thread whose operators or calls ran last. A communication kernel's time may be waiting for another "  \
    "rank: see stragglers. "                                                                                           \
    "It ends with device work that the window launched, which may run after the window. compat=hta gives other "       \
    "figures: of HTA's edges those from one top-level operator to the next and those of waiting weigh nothing, so "    \
    "its path is shorter than the time that passed; a launch delay begins with its call, not after it; copies and "    \
    "fills count as compute; operators and calls alone are nodes, python frames and annotations are not."

const struct hs_analysis hs_analysis_critical_path = {
    .name = "critical-path",
    .summary = "The chain of work and waiting that decided how long it took, piece by piece",
    .doc = DOC,
    .version = 1,
    .params = path_params,
    .nparams = sizeof path_params / sizeof path_params[0],
    .columns = columns,
    .ncolumns = sizeof columns / sizeof columns[0],
    .run = run_path,
    .run_hta = hta_critical_path,
};

const struct hs_analysis hs_analysis_critical_path_summary = {
    .name = "critical-path-summary",
    .summary = "The time of the critical path by what it is bound by",
    .doc = DOC,
    .version = 2,
    .params = summary_params,
    .nparams = sizeof summary_params / sizeof summary_params[0],
    .columns = summary_columns,
    .ncolumns = sizeof summary_columns / sizeof summary_columns[0],
    .run = run_summary,
    .run_hta = hta_critical_path_summary,
};
