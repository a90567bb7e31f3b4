/* idle: idle time of each stream by cause. */
#include "analysis/analyses.h"
#include "analysis/gaps.h"
#include "analysis/hta.h"
#include "trace/stats.h"

static const struct hs_param_spec params_spec[] = {
    HS_PARAM_KERNEL_DELAY,
    HS_PARAM_STREAMS,
    {"show_idle_interval_stats", HS_P_BOOL, "", "false", 0, 0, NULL,
     "HTA's switch for a second table, which is an analysis of its own here: idle-intervals"},
};

static const struct hs_column_spec columns[] = {
    {"rank", HS_T_INT, "", "rank of the trace"},
    {"device", HS_T_INT, "", "device number; -1 where the trace does not tell"},
    {"stream", HS_T_INT, "", "stream number on that device; -1 where the trace does not tell"},
    {"cause", HS_T_TEXT, "",
     "host_wait: the launch came too late; kernel_wait: launched in time, shorter than the delay; other: waited for "
     "something else, or its launch is not in the trace"},
    {"idle_us", HS_T_TIME, "us", "time between work of this stream that has this cause"},
    {"share_pct", HS_T_PCT, "percent", "idle_us of the stream's idle time of all causes; null if it was never idle"},
    {"gaps", HS_T_INT, "1", "gaps"},
};

static void stream_rows(const struct hs_select *s, struct hs_stream_rows r, int64_t delay, struct hs_table *out)
{
    int64_t ns[HS_CAUSES] = {0}, gaps[HS_CAUSES] = {0}, all = 0;
    struct hs_gap_walk w;
    struct hs_gap gap;
    hs_gap_walk(&w, s, r, delay);
    while (hs_gap_next(&w, &gap)) {
        int64_t length = hs_sub_sat(gap.at.end, gap.at.start);
        ns[gap.cause] = hs_add_sat(ns[gap.cause], length);
        all = hs_add_sat(all, length);
        gaps[gap.cause]++;
    }
    for (int c = 0; c < HS_CAUSES; c++) {
        hs_table_row(out);
        hs_cell_i64(out, s->rank);
        hs_cell_i64(out, s->gpu.device[r.first]);
        hs_cell_i64(out, s->gpu.stream[r.first]);
        hs_cell_cstr(out, hs_cause_word((enum hs_cause)c));
        hs_cell_ns(out, ns[c]);
        hs_cell_f64(out, hs_percent(ns[c], all));
        hs_cell_i64(out, gaps[c]);
    }
}

static void note_statistics(const struct hs_params *p, struct hs_table *out)
{
    if (hs_param_bool(p, "show_idle_interval_stats"))
        hs_table_note(out, "The statistics of the idle intervals are the answer of idle-intervals.");
}

static int run(struct hs_run *r, const struct hs_params *p, struct hs_table *out, struct hs_err *err)
{
    int rc = HS_OK;
    for (size_t i = 0; i < r->n && !rc; i++) {
        struct hs_select s;
        rc = hs_select_open(&s, &r->ranks[i], p, out, err);
        if (rc)
            break;
        for (struct hs_stream_rows rows = {0, 0}; hs_next_stream(&s.gpu, &rows);)
            if (hs_stream_asked(&s.gpu, &rows, p))
                stream_rows(&s, rows, hs_param_i64(p, "consecutive_kernel_delay"), out);
        if (s.view->quality.count[HS_Q_KERNEL_WITHOUT_LAUNCH])
            hs_table_note(
                out,
                "Rank %lld: the launches of %lld device events are not in the trace; gaps before them count as other.",
                (long long)s.rank, (long long)s.view->quality.count[HS_Q_KERNEL_WITHOUT_LAUNCH]);
        hs_select_close(&s);
    }
    hs_note_excluded(r, out);
    note_statistics(p, out);
    return rc;
}

static int run_hta(struct hs_run *r, const struct hs_params *p, struct hs_table *out, struct hs_err *err)
{
    int rc = hta_idle(r, p, out, err);
    if (!rc)
        note_statistics(p, out);
    return rc;
}

const struct hs_analysis hs_analysis_idle = {
    .name = "idle",
    .summary = "Idle time of every stream by cause: host wait, kernel wait, other",
    .doc = "Per (device, stream) a gap is max(0, start - running maximum of the ends before). It is `host_wait` if the "
           "call that "
           "launched the next work started after the work before had ended; else `kernel_wait` if it is shorter than "
           "consecutive_kernel_delay (30 µs unless told otherwise); else `other`. Work whose launch is unknown ends "
           "gaps of cause "
           "`other`. Every stream with work has three rows, also where they are 0. A stream may be idle while another "
           "is busy: these "
           "times do not add up to a device's idle time (see `temporal`). Time before a stream's first and after its "
           "last work is not "
           "counted. `from` and `to` cut gaps at the window's borders; `step` keeps the gaps whose next work those "
           "steps launched.",
    .version = 1,
    .params = params_spec,
    .nparams = sizeof params_spec / sizeof params_spec[0],
    .columns = columns,
    .ncolumns = sizeof columns / sizeof columns[0],
    .run = run,
    .run_hta = run_hta,
};
