/* overlap: how much of the communication ran while the GPU also computed. HTA's get_comm_comp_overlap, per device and exact. */
#include "analysis/analyses.h"
#include "analysis/device_time.h"
#include "analysis/hta.h"
#include "trace/stats.h"

static const struct hs_column_spec columns[] = {
    {"rank", HS_T_INT, "", "rank of the trace"},
    {"communication_us", HS_T_TIME, "us",
     "time during which a communication kernel ran, summed over the rank's devices"},
    {"compute_us", HS_T_TIME, "us", "time during which a compute kernel ran"},
    {"overlap_us", HS_T_TIME, "us", "time during which both ran on the same device"},
    {"exposed_us", HS_T_TIME, "us", "communication_us - overlap_us"},
    {"overlap_pct", HS_T_PCT, "percent", "overlap_us of communication_us; null without communication"},
};

static int run(struct hs_run *r, const struct hs_params *p, struct hs_table *out, struct hs_err *err)
{
    int rc = HS_OK;
    for (size_t i = 0; i < r->n && !rc; i++) {
        struct hs_select s;
        struct hs_rank_time t;
        rc = hs_select_open(&s, &r->ranks[i], p, out, err);
        if (rc)
            break;
        rc = hs_rank_time(&s, &t, err);
        hs_select_close(&s);
        if (rc || !t.rows)
            continue;
        int64_t comm = hs_time_of(t.ns, HS_SET_COMM);
        int64_t both = hs_add_sat(t.ns[HS_SET_COMM | HS_SET_COMPUTE], t.ns[HS_SETS - 1]);
        hs_table_row(out);
        hs_cell_i64(out, s.rank);
        hs_cell_ns(out, comm);
        hs_cell_ns(out, hs_time_of(t.ns, HS_SET_COMPUTE));
        hs_cell_ns(out, both);
        hs_cell_ns(out, hs_sub_sat(comm, both));
        hs_cell_f64(out, hs_percent(both, comm));
        if (!comm)
            hs_table_note(out, "Rank %lld has no communication kernels.", (long long)s.rank);
    }
    hs_note_excluded(r, out);
    return rc;
}

const struct hs_analysis hs_analysis_overlap = {
    .name = "overlap",
    .summary = "Share of communication time that runs beside computation, one row per rank",
    .doc =
        "Per device the union of the intervals [ts, ts + dur) of communication kernels, and of compute kernels; "
        "`overlap_us` is the length of what both have, summed over the rank's devices, each nanosecond once. "
        "Communication "
        "beside a copy counts as exposed. Communication is told by the collective's metadata (the kernel's, or that of "
        "record_param_comms around its launch), else by the kernel's "
        "name; "
        "a collective that waits for other ranks counts as communication for as long as its kernel runs, so exposed "
        "time is "
        "an upper bound of what faster links would save. `from` and `to` cut intervals at the window's borders; `step` "
        "takes the work that those steps launched.",
    .version = 1,
    .columns = columns,
    .ncolumns = sizeof columns / sizeof columns[0],
    .run = run,
    .run_hta = hta_overlap,
};
