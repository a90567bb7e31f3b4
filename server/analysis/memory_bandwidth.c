/* memory-bandwidth: how fast copies and memsets went, per device and kind. HTA's get_memory_bw_summary, time-weighted. */
#include "analysis/analyses.h"
#include "analysis/bandwidth.h"
#include "analysis/hta.h"

static const struct hs_column_spec columns[] = {
    {"rank", HS_T_INT, "", "rank of the trace"},
    {"device", HS_T_INT, "", "device number; -1 where the trace does not tell"},
    {"name", HS_T_TEXT, "", "kind: Memcpy HtoD, Memcpy DtoH, Memcpy DtoD, Memcpy PtoP, Memset, Memcpy Unknown"},
    {"count", HS_T_INT, "1", "copies that start in the window"},
    {"bytes", HS_T_INT, "bytes", "their bytes"},
    {"time_us", HS_T_TIME, "us",
     "time during which at least one of this kind ran, cut at the window: what the statistics are over"},
    HS_WEIGHTED_COLUMNS("GB/s"),
};

/* Only the time with a copy: the gaps between copies say nothing of how fast they are. */
static void drop_zero(struct hs_weights *w)
{
    size_t k = 0;
    for (size_t i = 0; i < w->n; i++)
        if (w->p[i].v > 0)
            w->p[k++] = w->p[i];
    w->n = k;
}

static int run(struct hs_run *r, const struct hs_params *p, struct hs_table *out, struct hs_err *err)
{
    struct hs_weights weights = HS_WEIGHTS_INIT;
    int rc = HS_OK;
    for (size_t i = 0; i < r->n && !rc; i++) {
        struct hs_select s;
        struct hs_bandwidth_walk w;
        struct hs_bandwidth b;
        rc = hs_select_open(&s, &r->ranks[i], p, out, err);
        if (rc)
            break;
        rc = hs_bandwidth_open(&w, &s, err);
        while (!rc && hs_bandwidth_next(&w, &b)) {
            weights.n = 0;
            hs_series_weights(&b.series, &weights);
            drop_zero(&weights);
            struct hs_weighted x = hs_weighted(&weights);
            hs_table_row(out);
            hs_cell_i64(out, s.rank);
            hs_cell_i64(out, b.device);
            hs_cell_text(out, b.kind);
            hs_cell_i64(out, b.copies);
            hs_cell_i64(out, b.bytes);
            hs_cell_ns(out, x.ns);
            hs_weighted_cells(&x, 1000000000, out);
        }
        hs_bandwidth_end(&w, out);
        hs_select_close(&s);
    }
    hs_vec_free(&weights);
    hs_note_excluded(r, out);
    return rc;
}

const struct hs_analysis hs_analysis_memory_bandwidth = {
    .name = "memory-bandwidth",
    .summary = "Bandwidth of copies and memsets per device and kind: time-weighted statistics",
    .doc =
        "A copy's bandwidth is its bytes / its duration; what runs at once adds up. The statistics are over the time "
        "during "
        "which at least one copy of the kind ran, each value weighing as long as it held; a percentile is the smallest "
        "bandwidth that was not exceeded for that share of the time, without interpolation; std is the population's. "
        "(HTA's "
        "are over the points of the series.) Where a writer tells the bandwidth and not the bytes, bytes = bandwidth * "
        "duration. `step` takes the copies that those steps launched; `from` and `to` cut time.",
    .version = 1,
    .columns = columns,
    .ncolumns = sizeof columns / sizeof columns[0],
    .run = run,
    .run_hta = hta_memory_bandwidth,
};
