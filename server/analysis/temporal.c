/* temporal: where each rank's GPU time went. HTA's get_temporal_breakdown put right: only device work counts as busy (no
 * synchronisation events), devices are told apart, nothing is rounded. */
#include "analysis/analyses.h"
#include "analysis/device_time.h"
#include "analysis/hta.h"
#include "trace/stats.h"

static const struct hs_column_spec columns[] = {
    {"rank", HS_T_INT, "", "rank of the trace"},
    {"devices", HS_T_INT, "1", "devices with work in the window"},
    {"kernel_time_us", HS_T_TIME, "us",
     "the whole: from the first start to the last end of the rank's device work in the window, times devices"},
    {"idle_us", HS_T_TIME, "us", "time of it without any device work, summed over devices"},
    {"busy_us", HS_T_TIME, "us", "time of it with device work; busy_us + idle_us = kernel_time_us"},
    {"compute_us", HS_T_TIME, "us", "time during which a compute kernel ran, whatever else ran beside it"},
    {"non_compute_us", HS_T_TIME, "us", "busy_us - compute_us: only communication, copies or memsets ran"},
    {"communication_us", HS_T_TIME, "us", "time during which a communication kernel ran, whatever else ran beside it"},
    {"exposed_communication_us", HS_T_TIME, "us", "part of communication_us during which no compute kernel ran"},
    {"memory_us", HS_T_TIME, "us", "time during which a copy or memset ran, whatever else ran beside it"},
    {"exposed_memory_us", HS_T_TIME, "us", "part of memory_us during which neither compute nor communication ran"},
    {"idle_pct", HS_T_PCT, "percent", "idle_us of kernel_time_us"},
    {"busy_pct", HS_T_PCT, "percent", "busy_us of kernel_time_us"},
    {"compute_pct", HS_T_PCT, "percent", "compute_us of kernel_time_us"},
    {"non_compute_pct", HS_T_PCT, "percent", "non_compute_us of kernel_time_us"},
};

static void row(int64_t rank, const struct hs_rank_time *t, struct hs_table *out)
{
    int64_t compute = hs_time_of(t->ns, HS_SET_COMPUTE), other = hs_sub_sat(t->busy_ns, compute);
    hs_table_row(out);
    hs_cell_i64(out, rank);
    hs_cell_i64(out, (int64_t)t->devices);
    hs_cell_ns(out, t->span_ns);
    hs_cell_ns(out, t->idle_ns);
    hs_cell_ns(out, t->busy_ns);
    hs_cell_ns(out, compute);
    hs_cell_ns(out, other);
    hs_cell_ns(out, hs_time_of(t->ns, HS_SET_COMM));
    hs_cell_ns(out, hs_add_sat(t->ns[HS_SET_COMM], t->ns[HS_SET_COMM | HS_SET_MEMORY]));
    hs_cell_ns(out, hs_time_of(t->ns, HS_SET_MEMORY));
    hs_cell_ns(out, t->ns[HS_SET_MEMORY]);
    hs_cell_f64(out, hs_percent(t->idle_ns, t->span_ns));
    hs_cell_f64(out, hs_percent(t->busy_ns, t->span_ns));
    hs_cell_f64(out, hs_percent(compute, t->span_ns));
    hs_cell_f64(out, hs_percent(other, t->span_ns));
}

static int run(struct hs_run *r, const struct hs_params *p, struct hs_table *out, struct hs_err *err)
{
    int rc = HS_OK;
    for (size_t i = 0; i < r->n && !rc; i++) {
        struct hs_select sel;
        struct hs_rank_time t;
        rc = hs_select_open(&sel, &r->ranks[i], p, out, err);
        if (rc)
            break;
        rc = hs_rank_time(&sel, &t, err);
        if (!rc && t.rows)
            row(r->ranks[i].rank, &t, out);
        hs_select_close(&sel);
    }
    hs_note_excluded(r, out);
    return rc;
}

const struct hs_analysis hs_analysis_temporal = {
    .name = "temporal",
    .summary = "Idle, compute and non-compute time of the GPUs, one row per rank",
    .doc = "Per device the union of the intervals [ts, ts + dur) of kernels, copies and memsets, so each nanosecond "
           "counts once "
           "however many streams are busy; sums over the devices of the rank, all judged over the rank's one span from "
           "first start to "
           "last end. Synchronisation events and annotations are no work. Time before the first and after the last "
           "work is not "
           "counted, so this is not the step time. `from` and `to` cut intervals at the window's borders; `step` takes "
           "the work that "
           "those steps launched, and the span is then that of this work.",
    .version = 1,
    .columns = columns,
    .ncolumns = sizeof columns / sizeof columns[0],
    .run = run,
    .run_hta = hta_temporal,
};
