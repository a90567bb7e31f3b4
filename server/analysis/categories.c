/* categories: what kinds of events a trace has, out of the counts that ingest left. */
#include "analysis/analyses.h"
#include "analysis/select.h"
#include "trace/stats.h"

static const struct hs_column_spec columns[] = {
    {"rank", HS_T_INT, "", "rank of the trace"},
    {"category", HS_T_TEXT, "", "the event's cat; empty where it has none"},
    {"phase", HS_T_TEXT, "",
     "the event's ph: X complete, B and E pairs, i instant, C counter, M metadata, s t f flows, b n e async; empty "
     "where it has none"},
    {"count", HS_T_INT, "1", "events"},
    {"share_pct", HS_T_PCT, "percent", "count of all events of the rank"},
    {"duration_us", HS_T_TIME, "us", "sum of the durations of those that have one; nested events each count"},
};

static int run(struct hs_run *r, const struct hs_params *params, struct hs_table *out, struct hs_err *err)
{
    (void)err;
    hs_note_unapplied(params, out, "step", "from", "to", NULL);
    for (size_t i = 0; i < r->n; i++) {
        const struct hs_view *v = r->ranks[i].view;
        for (size_t k = 0; k < v->ncats; k++) {
            char ph = (char)v->cats[k].ph;
            hs_table_row(out);
            hs_cell_i64(out, r->ranks[i].rank);
            hs_cell_text(out, hs_view_str(v, v->cats[k].cat));
            hs_cell_text(out, hs_str(&ph, ph ? 1 : 0));
            hs_cell_i64(out, v->cats[k].count);
            hs_cell_f64(out, hs_percent(v->cats[k].count, v->sum.events));
            hs_cell_ns(out, v->cats[k].dur);
        }
    }
    return HS_OK;
}

const struct hs_analysis hs_analysis_categories = {
    .name = "categories",
    .summary = "Events by category and phase, per rank",
    .doc = "Counts taken once at ingest, of every event of the file, most frequent first. The durations are plain "
           "sums: nested events "
           "(operators in operators) each count, so they say how much was recorded, not how long it took. step, from "
           "and to do not apply.",
    .version = 1,
    .columns = columns,
    .ncolumns = sizeof columns / sizeof columns[0],
    .run = run,
};
