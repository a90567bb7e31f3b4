/* quality: what is wrong with the traces, and with the run they make: counts of ingest (trace/quality.def) and checks over
 * the ranks. */
#include "analysis/analyses.h"
#include "analysis/select.h"
#include "trace/stats.h"

#include <math.h>

static const struct hs_param_spec params_spec[] = {
    {"all", HS_P_BOOL, "", "false", 0, 0, NULL, "also the kinds that do not occur, with count 0"},
};

static const struct hs_column_spec columns[] = {
    {"rank", HS_T_INT, "", "rank of the trace; null for what concerns the run"},
    {"kind", HS_T_TEXT, "", "stable name of the kind"},
    {"severity", HS_T_TEXT, "",
     "info: nothing is lost; warn: something was repaired or left out; error: answers may be wrong"},
    {"count", HS_T_INT, "1", "events or places concerned"},
    {"share_pct", HS_T_PCT, "percent",
     "count of the events it could concern: device events for kernel-without-launch, duplicate-event and ts-zero, of "
     "all events else; null for kinds that count no events"},
    {"first_offset", HS_T_INT, "bytes", "byte of the decompressed file where the first one stands; null where unknown"},
    {"text", HS_T_TEXT, "", "what it is and what was done about it"},
};

static const char *severity_word(enum hs_severity s)
{
    return s == HS_SEV_error ? "error" : s == HS_SEV_warn ? "warn" : "info";
}

/* Of what a count is a share; 0 where that means nothing. Kinds before BAD_ESCAPE concern the container, from
 * MERGED_RANKS on the whole trace. */
static int64_t whole_of(enum hs_quality_kind kind, const struct hs_summary *s)
{
    int64_t device = hs_add_sat(s->kernels, hs_add_sat(s->memcpys, s->memsets));
    if (kind == HS_Q_KERNEL_WITHOUT_LAUNCH || kind == HS_Q_EARLY_KERNEL || kind == HS_Q_STREAM_OVERLAP ||
        kind == HS_Q_DUPLICATE_EVENT || kind == HS_Q_TS_ZERO)
        return device;
    if (kind < HS_Q_BAD_ESCAPE || kind >= HS_Q_MERGED_RANKS || kind == HS_Q_SKIPPED_BYTES)
        return 0;
    return s->events;
}

static void row(const struct hs_run_rank *r, enum hs_quality_kind kind, struct hs_table *out)
{
    const struct hs_quality *q = &r->view->quality;
    const struct hs_quality_info *info = &hs_quality_infos[kind];
    double share = hs_percent(q->count[kind], whole_of(kind, &r->view->sum));
    hs_table_row(out);
    hs_cell_i64(out, r->rank);
    hs_cell_cstr(out, info->name);
    hs_cell_cstr(out, severity_word(info->severity));
    hs_cell_i64(out, q->count[kind]);
    hs_cell_f64(out, share <= 100 ? share : NAN);
    if (q->count[kind] && q->first[kind] >= 0)
        hs_cell_i64(out, q->first[kind]);
    else
        hs_cell_null(out);
    hs_cell_cstr(out, info->text);
}

static void run_row(struct hs_table *out, bool all, const char *kind, enum hs_severity severity, int64_t count,
                    const char *text)
{
    if (!count && !all)
        return;
    hs_table_row(out);
    hs_cell_null(out);
    hs_cell_cstr(out, kind);
    hs_cell_cstr(out, severity_word(severity));
    hs_cell_i64(out, count);
    hs_cell_null(out);
    hs_cell_null(out);
    hs_cell_cstr(out, text);
}

/* What only the ranks together show. */
static void run_rows(const struct hs_run *r, bool all, struct hs_table *out)
{
    int64_t repeated = 0, distinct = 0, world = 0, no_base = 0;
    for (size_t i = 0; i < r->n; i++) {
        bool again = i && r->ranks[i].rank == r->ranks[i - 1].rank;
        repeated += again;
        distinct += !again;
        no_base += !r->ranks[i].view->has_base;
        world = hs_max_i64(world, r->ranks[i].view->world_size);
    }
    run_row(out, all, "repeated-rank", HS_SEV_warn, repeated,
            "traces whose rank another trace of the run has already; each is answered for on its own");
    run_row(out, all, "missing-ranks", HS_SEV_info, world > distinct ? world - distinct : 0,
            "ranks of the job (world size) whose traces are not in the run");
    run_row(out, all, "clocks-not-aligned", HS_SEV_info, r->n > 1 ? no_base : 0,
            "traces without baseTimeNanoseconds: the ranks' clocks are taken as they stand");
}

static int run(struct hs_run *r, const struct hs_params *p, struct hs_table *out, struct hs_err *err)
{
    (void)err;
    bool all = hs_param_bool(p, "all");
    hs_note_unapplied(p, out, "step", "from", "to", NULL);
    for (size_t i = 0; i < r->n; i++)
        for (int severity = HS_SEV_error; severity >= HS_SEV_info; severity--)
            for (int k = 0; k < HS_QUALITY_KINDS; k++)
                if ((int)hs_quality_infos[k].severity == severity && (all || r->ranks[i].view->quality.count[k]))
                    row(&r->ranks[i], (enum hs_quality_kind)k, out);
    run_rows(r, all, out);
    if (!out->rows)
        hs_table_note(out, "Nothing was found wrong.");
    return HS_OK;
}

const struct hs_analysis hs_analysis_quality = {
    .name = "quality",
    .summary = "What was repaired, dropped, clamped or is missing in each trace, with count and severity",
    .doc = "Each kind of defect that ingest counts, the worst severity first; kinds that do not occur are left out "
           "unless all=true. Then "
           "what only the ranks together show: repeated ranks, missing ranks, clocks that cannot be aligned (rank is "
           "null in these "
           "rows). step, from and to do not apply.",
    .version = 1,
    .params = params_spec,
    .nparams = sizeof params_spec / sizeof params_spec[0],
    .columns = columns,
    .ncolumns = sizeof columns / sizeof columns[0],
    .run = run,
    .memory_timelines = true,
};
