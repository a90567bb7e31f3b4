/* queue-length: how full the queue of each stream was, over time. HTA's get_queue_length_summary, time-weighted. */
#include "analysis/analyses.h"
#include "analysis/hta.h"
#include "analysis/queue.h"
#include "trace/stats.h"

static const struct hs_column_spec columns[] = {
    {"rank", HS_T_INT, "", "rank of the trace"},
    {"device", HS_T_INT, "", "device number; -1 where the trace does not tell"},
    {"stream", HS_T_INT, "", "stream number; -1 where the trace does not tell"},
    {"count", HS_T_INT, "1",
     "device activities that passed through the queue (of the chosen steps, whatever the window)"},
    {"time_us", HS_T_TIME, "us",
     "from the first launch to the last start of device work, cut at the window: what the statistics are over"},
    HS_WEIGHTED_COLUMNS("1"),
    {"empty_pct", HS_T_PCT, "percent", "share of time_us with an empty queue: the GPU lives from hand to mouth"},
};

static void row(const struct hs_select *s, const struct hs_queue *q, struct hs_weights *w, struct hs_table *out)
{
    w->n = 0;
    hs_series_weights(&q->length, w);
    struct hs_weighted x = hs_weighted(w);
    hs_table_row(out);
    hs_cell_i64(out, s->rank);
    hs_cell_i64(out, q->device);
    hs_cell_i64(out, q->stream);
    hs_cell_i64(out, q->entered);
    hs_cell_ns(out, x.ns);
    hs_weighted_cells(&x, 1, out);
    hs_cell_f64(out, hs_percent(hs_sub_sat(x.ns, hs_weights_at_least(w, 1)), x.ns));
}

static int run(struct hs_run *r, const struct hs_params *p, struct hs_table *out, struct hs_err *err)
{
    struct hs_weights weights = HS_WEIGHTS_INIT;
    int rc = HS_OK;
    for (size_t i = 0; i < r->n && !rc; i++) {
        struct hs_select s;
        struct hs_queue_walk w;
        struct hs_queue q;
        rc = hs_select_open(&s, &r->ranks[i], p, out, err);
        if (rc)
            break;
        for (hs_queue_walk(&w, &s); hs_queue_next(&w, &q);)
            row(&s, &q, &weights, out);
        hs_queue_end(&w, out);
        hs_select_close(&s);
    }
    hs_vec_free(&weights);
    hs_note_excluded(r, out);
    return rc;
}

const struct hs_analysis hs_analysis_queue_length = {
    .name = "queue-length",
    .summary = "How many launched activities waited for their start, per stream: time-weighted statistics",
    .doc =
        "Per (device, stream) an activity enters the queue at the start of the call that launched it (any runtime or "
        "driver "
        "API; a CUDA graph's launch enters one for each of its kernels) and leaves when it starts. The statistics "
        "weigh each "
        "length by the time it held, from the first launch to the last start; a percentile is the smallest length that "
        "was not exceeded for that share of the time, without interpolation; std is the population's. (HTA's are over "
        "the "
        "points of the series, one for each change.) `step` takes the activities that those steps launched; `from` and "
        "`to` "
        "cut time.",
    .version = 1,
    .columns = columns,
    .ncolumns = sizeof columns / sizeof columns[0],
    .run = run,
    .run_hta = hta_queue_length,
};
