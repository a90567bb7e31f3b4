/* overview: what a run holds, one row a rank, out of the summaries that ingest left: no column is touched. */
#include "analysis/analyses.h"
#include "analysis/select.h"
#include "trace/stats.h"

static const struct hs_column_spec columns[] = {
    {"rank", HS_T_INT, "", "rank of the trace"},
    {"trace", HS_T_TEXT, "", "file name of the trace as given"},
    {"events", HS_T_INT, "1", "events of the file, of every kind"},
    {"cpu_ops", HS_T_INT, "1", "operators on the CPU (category cpu_op)"},
    {"annotations", HS_T_INT, "1", "user annotations of the CPU"},
    {"python_calls", HS_T_INT, "1", "python_function events"},
    {"runtime_calls", HS_T_INT, "1", "calls of the GPU's runtime and driver APIs"},
    {"kernels", HS_T_INT, "1", "kernels on devices"},
    {"memory_ops", HS_T_INT, "1", "copies and memsets on devices"},
    {"memory_events", HS_T_INT, "1", "allocations and frees ([memory])"},
    {"counters", HS_T_INT, "1", "counter events"},
    {"kernel_us", HS_T_TIME, "us",
     "sum of the durations of kernels: work volume, kernels that run side by side each count"},
    {"comm_us", HS_T_TIME, "us", "part of kernel_us that is communication"},
    {"memory_us", HS_T_TIME, "us", "sum of the durations of copies and memsets"},
    {"busy_us", HS_T_TIME, "us",
     "time during which a device did any work, each nanosecond once, summed over the devices"},
    {"span_us", HS_T_TIME, "us", "from the first start to the last end of device work"},
    {"idle_us", HS_T_TIME, "us", "devices * span_us - busy_us: time within the span during which a device did nothing"},
    {"busy_pct", HS_T_PCT, "percent", "busy_us of devices * span_us"},
    {"idle_pct", HS_T_PCT, "percent", "idle_us of devices * span_us"},
    {"start_us", HS_T_TIME, "us", "start of the first event, on the run's clock"},
    {"trace_us", HS_T_TIME, "us", "from the first start to the last end of all events, of CPU and devices"},
    {"devices", HS_T_INT, "1", "devices with work"},
    {"streams", HS_T_INT, "1", "(device, stream) pairs with work"},
    {"threads", HS_T_INT, "1", "CPU threads with events"},
    {"processes", HS_T_INT, "1", "processes with events"},
    {"steps", HS_T_INT, "1", "ProfilerStep annotations"},
    {"ranks", HS_T_INT, "1", "ranks in the answer"},
    {"world_size", HS_T_INT, "1", "ranks of the whole job as the trace tells it; null where it does not"},
};

static void gpu_cells(const struct hs_summary *s, struct hs_table *out)
{
    bool gpu = s->gpu_first_ts != HS_NO_VALUE;
    int64_t span = gpu ? hs_sub_sat(s->gpu_last_end, s->gpu_first_ts) : 0, whole;
    if (__builtin_mul_overflow(span, hs_max_i64(s->devices, 1), &whole))
        whole = INT64_MAX;
    int64_t idle = hs_max_i64(0, hs_sub_sat(whole, s->busy_ns));
    hs_cell_ns(out, s->kernel_ns);
    hs_cell_ns(out, s->comm_ns);
    hs_cell_ns(out, s->memory_ns);
    hs_cell_ns(out, s->busy_ns);
    hs_cell_ns(out, span);
    hs_cell_ns(out, idle);
    hs_cell_f64(out, hs_percent(s->busy_ns, whole));
    hs_cell_f64(out, hs_percent(idle, whole));
}

static int run(struct hs_run *r, const struct hs_params *params, struct hs_table *out, struct hs_err *err)
{
    (void)err;
    hs_note_unapplied(params, out, "step", "from", "to", NULL);
    for (size_t i = 0; i < r->n; i++) {
        const struct hs_view *v = r->ranks[i].view;
        const struct hs_summary *s = &v->sum;
        hs_table_row(out);
        hs_cell_i64(out, r->ranks[i].rank);
        hs_cell_cstr(out, v->name);
        hs_cell_i64(out, s->events);
        hs_cell_i64(out, s->cpu_ops);
        hs_cell_i64(out, s->annotations);
        hs_cell_i64(out, s->python);
        hs_cell_i64(out, s->runtime_calls);
        hs_cell_i64(out, s->kernels);
        hs_cell_i64(out, hs_add_sat(s->memcpys, s->memsets));
        hs_cell_i64(out, s->memory_events);
        hs_cell_i64(out, s->counters);
        gpu_cells(s, out);
        hs_cell_ns(out, hs_add_sat(s->first_ts, r->ranks[i].offset_ns));
        hs_cell_ns(out, hs_sub_sat(s->last_end, s->first_ts));
        hs_cell_i64(out, s->devices);
        hs_cell_i64(out, s->streams);
        hs_cell_i64(out, s->threads);
        hs_cell_i64(out, s->processes);
        hs_cell_i64(out, s->steps);
        hs_cell_i64(out, (int64_t)r->n);
        if (v->world_size > 0)
            hs_cell_i64(out, v->world_size);
        else
            hs_cell_null(out);
        if (s->gpu_first_ts == HS_NO_VALUE)
            hs_table_note(out, "Rank %lld has no device events: its GPU columns are 0.", (long long)r->ranks[i].rank);
    }
    hs_note_excluded(r, out);
    return HS_OK;
}

const struct hs_analysis hs_analysis_overview = {
    .name = "overview",
    .summary = "What the run holds and how busy its GPUs were, one row per rank",
    .doc = "Counts and sums that ingest takes once per trace; nothing is computed here but differences and shares. "
           "`busy_us` is the "
           "union of all device work (kernels, copies, memsets) per device, summed over devices; `kernel_us` is work "
           "volume and may "
           "exceed it when streams overlap. Idle time before the first and after the last device work is not counted. "
           "step, from "
           "and to do not apply: `temporal` answers for a window.",
    .version = 1,
    .columns = columns,
    .ncolumns = sizeof columns / sizeof columns[0],
    .run = run,
};
