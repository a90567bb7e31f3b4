/* critical-path and critical-path-summary: the chain that decided how long it took, and what its time is bound by. */
#include "analysis/analyses.h"
#include "analysis/crit.h"
#include "analysis/hta.h"
#include "analysis/name_filter.h"
#include "analysis/page.h"
#include "analysis/threads.h"
#include "trace/stats.h"

#include <stdlib.h>
#include <string.h>

#define PATH_PARAMS                                                                                                   \
    {"annotation",                                                                                                    \
     HS_P_TEXT,                                                                                                       \
     "",                                                                                                              \
     NULL,                                                                                                            \
     0,                                                                                                               \
     0,                                                                                                               \
     NULL,                                                                                                            \
     "part of the name of the annotations whose time is looked at; absent: the window of from, to and step, or all"}, \
        {"instance_id",                                                                                               \
         HS_P_INT_LIST,                                                                                               \
         "",                                                                                                          \
         NULL,                                                                                                        \
         0,                                                                                                           \
         0,                                                                                                           \
         NULL,                                                                                                        \
         "which of them, counted from 0 in order of time; several: from the least to the greatest; absent: the "      \
         "first"},                                                                                                    \
        {"data_load_events",                                                                                          \
         HS_P_TEXT,                                                                                                   \
         "",                                                                                                          \
         NULL,                                                                                                        \
         0,                                                                                                           \
         0,                                                                                                           \
         NULL,                                                                                                        \
         "regular expression (PCRE2): names of CPU events that load data; absent: (?i)data_?loader|data_?load"},      \
    {                                                                                                                 \
        "zero_weight_launch_edges", HS_P_BOOL, "", "false", 0, 0, NULL,                                               \
            "compat=hta: launches that do not delay are edges"                                                        \
    }

static const struct hs_param_spec path_params[] = {PATH_PARAMS, HS_PARAM_PAGE};
static const struct hs_param_spec summary_params[] = {PATH_PARAMS};

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

/* ---- the window ---- */

struct numbers {
    HS_VEC(uint32_t);
};

/* Annotations of the CPU whose names contain the text, by start. */
static void find_instances(const struct hs_cpu *cpu, const char *text, struct numbers *out)
{
    const struct hs_view *v = cpu->view;
    uint8_t *fits = hs_calloc(v->nsyms + 1, 1);
    for (size_t i = 0; i < v->nsyms; i++)
        fits[i] = memmem(v->syms[i].p, v->syms[i].n, text, strlen(text)) != NULL;
    for (uint32_t e = 0; e < cpu->ev.n; e++)
        if (hs_cpu_is_span(cpu, e) && hs_cpu_kind(cpu, e) == HS_CAT_ANNOTATION && fits[cpu->ev.name[e]])
            hs_vec_push(out, e);
    free(fits);
}

static int by_start(const void *a, const void *b, void *ts)
{
    const int64_t *t = ts;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return t[x] != t[y] ? (t[x] < t[y] ? -1 : 1) : (x > y) - (x < y);
}

/* False with a note: there is no such instance. */
static bool annotation_window(const struct hs_cpu *cpu, const struct hs_params *p, int64_t rank, struct hs_span *w,
                              struct hs_table *out)
{
    size_t n;
    const int64_t *id = hs_param_list(p, "instance_id", &n);
    struct numbers found = HS_VEC_INIT(HS_MAX_EVENTS);
    int64_t first = n ? id[0] : 0, last = n ? id[n - 1] : 0;
    find_instances(cpu, hs_param_text(p, "annotation"), &found);
    bool ok = first >= 0 && last >= first && (uint64_t)last < found.n;
    if (ok) {
        qsort_r(found.p, found.n, sizeof *found.p, by_start, (void *)(uintptr_t)cpu->ev.ts);
        *w = (struct hs_span){INT64_MAX, INT64_MIN};
        for (int64_t i = first; i <= last; i++) {
            uint32_t e = found.p[i];
            w->start = hs_min_i64(w->start, cpu->ev.ts[e]);
            w->end = hs_max_i64(w->end, hs_end_ns(cpu->ev.ts[e], cpu->ev.dur[e]));
        }
    } else {
        hs_table_note(out, "Rank %lld has %zu annotations with \"%.80s\" in their names: there is no instance %lld.",
                      (long long)rank, found.n, hs_param_text(p, "annotation"), (long long)last);
    }
    hs_vec_free(&found);
    return ok;
}

/* From the first chosen step's start to the last one's end, within from and to. */
static struct hs_span step_window(const struct hs_select *s)
{
    struct hs_span w = {s->from, s->to}, steps = {INT64_MAX, INT64_MIN};
    if (!s->step_on)
        return w;
    for (size_t k = 0; k < s->view->nsteps; k++)
        if (s->step_on[k]) {
            steps.start = hs_min_i64(steps.start, s->view->steps[k].ts);
            steps.end = hs_max_i64(steps.end, hs_end_ns(s->view->steps[k].ts, s->view->steps[k].dur));
        }
    return (struct hs_span){hs_max_i64(w.start, steps.start), hs_min_i64(w.end, steps.end)};
}

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

static int find_path(struct job *j, const struct hs_cpu *cpu, const struct hs_select *s, struct hs_span w,
                     struct hs_err *err)
{
    const struct hs_view *v = s->view;
    struct hs_crit c;
    uint8_t *loading = hs_calloc(v->nsyms + 1, 1);
    for (size_t i = 0; i < v->nsyms; i++)
        loading[i] = hs_name_matches(j->filter, v->syms[i]);
    int rc = hs_crit_find(&c, cpu, &s->gpu, w.start, w.end, loading, err);
    if (!rc)
        write_path(j, &c, cpu, s);
    hs_crit_free(&c);
    free(loading);
    return rc;
}

static int one_rank(struct job *j, const struct hs_run_rank *r, const struct hs_params *p, struct hs_err *err)
{
    struct hs_select s;
    struct hs_cpu cpu;
    hs_select_window(&s, r, p, j->out);
    int rc = hs_view_gpu(r->view, &s.gpu, err);
    if (!rc)
        rc = hs_cpu_open(&cpu, r->view, HS_EV_TS | HS_EV_DUR | HS_EV_LANE | HS_EV_PH, err);
    if (!rc) {
        struct hs_span w = step_window(&s);
        bool named = hs_param_has(p, "annotation");
        if (!named || annotation_window(&cpu, p, s.rank, &w, j->out))
            rc = find_path(j, &cpu, &s, w, err);
        hs_cpu_close(&cpu);
    }
    hs_select_close(&s);
    return rc;
}

static int paths(struct hs_run *r, const struct hs_params *p, bool summary, struct hs_table *out, struct hs_err *err)
{
    const char *pattern = hs_param_text(p, "data_load_events");
    struct job j = {.out = out, .summary = summary};
    if (!summary)
        j.page = hs_page_of(p);
    int rc = hs_name_filter_new(&j.filter, pattern ? pattern : "(?i)data_?loader|data_?load", err);
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

#define DOC                                                                                                           \
    "Walked from the last end in the window back to its start, each time to what came last of what a piece of work "  \
    "had to wait "                                                                                                    \
    "for (Yang and Miller 1988), so every nanosecond has one owner and the pieces add up to the path's length. "      \
    "Device work waits "                                                                                              \
    "for the work before it on its stream, for the call that launched it, and where it began later than both, for "   \
    "the work of its device "                                                                                         \
    "that ended last before it and was launched earlier (inferred: events and graph edges are not read). The CPU "    \
    "waits in "                                                                                                       \
    "synchronising calls and blocking copies for the device work that ended last in them; time without an operator "  \
    "or call "                                                                                                        \
    "goes to the thread whose operators or calls ran last. A communication kernel's time may be waiting for another " \
    "rank: see stragglers. "                                                                                          \
    "It ends with device work that the window launched, which may run after the window."

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
    .version = 1,
    .params = summary_params,
    .nparams = sizeof summary_params / sizeof summary_params[0],
    .columns = summary_columns,
    .ncolumns = sizeof summary_columns / sizeof summary_columns[0],
    .run = run_summary,
    .run_hta = hta_critical_path_summary,
};
