#include "analysis/registry.h"
#include "analysis/analyses.h"
#include "analysis/select.h"
#include "base/json.h"

#include <stdlib.h>
#include <string.h>

const struct hs_analysis *const hs_analyses[] = {
    &hs_analysis_overview,
    &hs_analysis_categories,
    &hs_analysis_kernels,
    &hs_analysis_kernel_types,
    &hs_analysis_temporal,
    &hs_analysis_idle,
    &hs_analysis_idle_intervals,
    &hs_analysis_overlap,
    &hs_analysis_steps,
    &hs_analysis_launches,
    &hs_analysis_launch_outliers,
    &hs_analysis_queue_length,
    &hs_analysis_queue_length_series,
    &hs_analysis_queue_full,
    &hs_analysis_memory_bandwidth,
    &hs_analysis_memory_bandwidth_series,
    &hs_analysis_annotations,
    &hs_analysis_kernel_annotations,
    &hs_analysis_op_launch_delays,
    &hs_analysis_kernel_sequences,
    &hs_analysis_roofline,
    &hs_analysis_counters,
    &hs_analysis_call_stack,
    &hs_analysis_flame,
    &hs_analysis_memory_timeline,
    &hs_analysis_symbols,
    &hs_analysis_quality,
    &hs_analysis_timeline,
    &hs_analysis_stragglers,
    &hs_analysis_collectives,
    &hs_analysis_critical_path,
    &hs_analysis_critical_path_summary,
    &hs_analysis_critical_path_what_if,
    &hs_analysis_idle_causes,
    &hs_analysis_syncs,
    &hs_analysis_diff,
    &hs_analysis_diff_ops,
    NULL,
};

const struct hs_analysis *hs_analysis_find(const char *name)
{
    for (size_t i = 0; hs_analyses[i]; i++)
        if (!strcmp(hs_analyses[i]->name, name))
            return hs_analyses[i];
    return NULL;
}

/* ---- running ---- */

static bool listed(const int64_t *list, size_t n, int64_t x)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == x)
            return true;
    return false;
}

static void note_missing(const struct hs_run *part, const int64_t *ranks, size_t n, struct hs_table *out)
{
    struct hs_buf text = HS_BUF_INIT(256);
    size_t missing = 0;
    for (size_t i = 0; i < n; i++) {
        bool there = false;
        for (size_t k = 0; k < part->n && !there; k++)
            there = part->ranks[k].rank == ranks[i];
        if (!there && missing++ < 8)
            hs_buf_printf(&text, "%s%lld", missing > 1 ? ", " : "", (long long)ranks[i]);
    }
    if (missing)
        hs_table_note(out, "The run has no rank %s%s.", text.p, missing > 8 ? " and others" : "");
    hs_buf_free(&text);
}

/* A run of the ranks asked for: a shallow copy, its `ranks` to be freed. Says which of them the run does not have. */
static struct hs_run select_ranks(const struct hs_run *run, const struct hs_params *params, struct hs_table *out)
{
    struct hs_run part = *run;
    size_t n;
    const int64_t *ranks = hs_param_list(params, "rank", &n);
    bool all = !hs_param_has(params, "rank");
    part.ranks = hs_malloc((run->n ? run->n : 1) * sizeof *part.ranks);
    part.n = 0;
    for (size_t i = 0; i < run->n; i++)
        if (all || listed(ranks, n, run->ranks[i].rank))
            part.ranks[part.n++] = run->ranks[i];
    note_missing(&part, ranks, n, out);
    for (size_t i = 1; i < part.n; i++) {
        bool again = i > 1 && part.ranks[i - 2].rank == part.ranks[i].rank;
        if (part.ranks[i].rank == part.ranks[i - 1].rank && !again)
            hs_table_note(out,
                          "Rank %lld stands in more than one trace of the run; each has rows of its own, in order of "
                          "their names.",
                          (long long)part.ranks[i].rank);
    }
    if (!run->n)
        hs_table_note(out, "The run has no traces.");
    return part;
}

static int check_window(const struct hs_params *params, struct hs_err *err)
{
    if (hs_param_has(params, "from") && hs_param_has(params, "to") &&
        hs_param_i64(params, "from") >= hs_param_i64(params, "to"))
        return hs_fail(err, HS_EUSAGE, "parameter from: it must be less than to");
    return HS_OK;
}

int hs_analysis_run(const struct hs_analysis *a, struct hs_run *run, const struct hs_params *params,
                    struct hs_table *out, struct hs_err *err)
{
    bool hta = hs_param_has(params, "compat");
    if (hta && !a->run_hta)
        return hs_fail(err, HS_EUSAGE, "compat=hta is not there for %s: leave compat out", a->name);
    if (a->two_runs && !run->other)
        return hs_fail(err, HS_EUSAGE, "%s compares two runs: name a second one", a->name);
    int rc = check_window(params, err);
    if (rc)
        return rc;
    struct hs_table t;
    hs_table_init(&t, a->columns, a->ncolumns);
    struct hs_run traces = a->memory_timelines ? *run : hs_run_traces(run, &t);
    /* HTA reads its own rank numbers out of the files, and what it says of one rank depends on all. */
    struct hs_run part = hta ? traces : select_ranks(&traces, params, &t);
    rc = (hta ? a->run_hta : a->run)(&part, params, &t, err);
    if (!rc && !t.rows && !t.notes.n)
        hs_table_note(&t, "The run has nothing of what this asks for.");
    if (!rc)
        rc = hs_table_check(&t, err);
    if (!hta)
        free(part.ranks);
    if (!a->memory_timelines)
        free(traces.ranks);
    if (rc)
        hs_table_free(&t);
    else
        *out = t;
    return rc;
}

/* ---- describing ---- */

static const char *param_type_name(enum hs_param_type type)
{
    switch (type) {
    case HS_P_INT: return "integer";
    case HS_P_REAL: return "real";
    case HS_P_BOOL: return "boolean";
    case HS_P_TEXT: return "text";
    case HS_P_CHOICE: return "choice";
    case HS_P_INT_LIST: return "integer-list";
    case HS_P_TIME: return "time";
    }
    return "text";
}

static void describe_param(const struct hs_param_spec *s, bool common, struct hs_json *j)
{
    bool ranged = s->min < s->max || s->max < 0;
    hs_json_obj(j);
    hs_json_key(j, "name");
    hs_json_cstr(j, s->name);
    hs_json_key(j, "type");
    hs_json_cstr(j, param_type_name(s->type));
    hs_json_key(j, "unit");
    hs_json_cstr(j, s->unit);
    hs_json_key(j, "default");
    hs_json_cstr(j, s->def);
    if (ranged) {
        hs_json_key(j, "min");
        hs_json_f64(j, s->min);
        hs_json_key(j, "max");
        hs_json_f64(j, s->max);
    }
    if (s->choices) {
        hs_json_key(j, "choices");
        hs_json_arr(j);
        for (const char *p = s->choices; p;) {
            size_t len = strcspn(p, "|");
            hs_json_str(j, hs_str(p, len));
            p = p[len] ? p + len + 1 : NULL;
        }
        hs_json_end(j);
    }
    hs_json_key(j, "doc");
    hs_json_cstr(j, s->doc);
    hs_json_key(j, "common");
    hs_json_bool(j, common);
    hs_json_end(j);
}

static void describe_column(const struct hs_column_spec *c, struct hs_json *j)
{
    hs_json_obj(j);
    hs_json_key(j, "name");
    hs_json_cstr(j, c->name);
    hs_json_key(j, "type");
    hs_json_cstr(j, hs_type_name(c->type));
    hs_json_key(j, "unit");
    hs_json_cstr(j, c->unit);
    hs_json_key(j, "doc");
    hs_json_cstr(j, c->doc);
    hs_json_end(j);
}

void hs_analysis_describe(const struct hs_analysis *a, struct hs_json *j)
{
    hs_json_obj(j);
    hs_json_key(j, "name");
    hs_json_cstr(j, a->name);
    hs_json_key(j, "summary");
    hs_json_cstr(j, a->summary);
    hs_json_key(j, "doc");
    hs_json_cstr(j, a->doc);
    hs_json_key(j, "version");
    hs_json_i64(j, a->version);
    hs_json_key(j, "two_runs");
    hs_json_bool(j, a->two_runs);
    hs_json_key(j, "compat");
    hs_json_arr(j);
    if (a->run_hta)
        hs_json_cstr(j, "hta");
    hs_json_end(j);
    hs_json_key(j, "params");
    hs_json_arr(j);
    for (size_t i = 0; i < a->nparams; i++)
        describe_param(&a->params[i], false, j);
    for (size_t i = 0; i < hs_common_nparams; i++)
        describe_param(&hs_common_params[i], true, j);
    hs_json_end(j);
    hs_json_key(j, "columns");
    hs_json_arr(j);
    for (size_t i = 0; i < a->ncolumns; i++)
        describe_column(&a->columns[i], j);
    hs_json_end(j);
    hs_json_end(j);
}
