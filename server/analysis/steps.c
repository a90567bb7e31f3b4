/* steps: the profiler's steps of each rank, with what the GPU did in their time and what they launched. HTA's
 * get_profiler_steps gives their numbers alone, and leaves the last out. */
#include "analysis/analyses.h"
#include "analysis/hta.h"
#include "analysis/select.h"
#include "trace/stats.h"

#include <stdlib.h>

static const struct hs_column_spec columns[] = {
    {"rank", HS_T_INT, "", "rank of the trace"},
    {"step", HS_T_INT, "", "N of ProfilerStep#N"},
    {"ts_us", HS_T_TIME, "us", "start on the CPU, on the run's clock"},
    {"dur_us", HS_T_TIME, "us", "duration on the CPU"},
    {"devices", HS_T_INT, "1", "devices of the rank that have work anywhere in the trace"},
    {"busy_us", HS_T_TIME, "us",
     "device time with work between the step's start and end, whoever launched it, summed over devices"},
    {"idle_us", HS_T_TIME, "us", "the rest: dur_us * devices - busy_us"},
    {"busy_pct", HS_T_PCT, "percent", "busy_us of dur_us * devices"},
    {"kernels", HS_T_INT, "1", "kernels that the step launched, whenever they ran"},
    {"memory_ops", HS_T_INT, "1", "copies and memsets that the step launched"},
    {"kernel_us", HS_T_TIME, "us", "summed durations of those kernels (work volume)"},
    {"communication_us", HS_T_TIME, "us", "part of kernel_us that is communication"},
    {"memory_us", HS_T_TIME, "us", "summed durations of those copies and memsets"},
    {"gpu_ts_us", HS_T_TIME, "us", "first start of work that the step launched; null if it launched none"},
    {"gpu_end_us", HS_T_TIME, "us", "last end of that work"},
    {"event", HS_T_INT, "", "event number of the step's annotation"},
};

/* What a step launched. */
struct launched {
    int64_t kernels, copies, kernel_ns, comm_ns, copy_ns, first, last;
};

static void add_row(struct launched *l, const struct hs_gpu *g, size_t i)
{
    bool kernel = g->cls[i] == HS_CLASS_COMPUTE || g->cls[i] == HS_CLASS_COMM;
    l->kernels += kernel;
    l->copies += !kernel;
    if (kernel)
        l->kernel_ns = hs_add_sat(l->kernel_ns, g->dur[i]);
    else
        l->copy_ns = hs_add_sat(l->copy_ns, g->dur[i]);
    if (g->cls[i] == HS_CLASS_COMM)
        l->comm_ns = hs_add_sat(l->comm_ns, g->dur[i]);
    l->first = hs_min_i64(l->first, g->ts[i]);
    l->last = hs_max_i64(l->last, hs_end_ns(g->ts[i], g->dur[i]));
}

struct job {
    struct hs_select sel;
    struct launched *by_step;
    struct hs_spans busy; /* of one device */
    int64_t *busy_ns;     /* by step, summed over devices */
    size_t devices;
};

static int64_t busy_within(const struct hs_spans *busy, size_t *at, int64_t start, int64_t end)
{
    int64_t ns = 0;
    while (*at < busy->n && busy->p[*at].end <= start)
        ++*at;
    for (size_t i = *at; i < busy->n && busy->p[i].start < end; i++)
        ns = hs_add_sat(ns, hs_sub_sat(hs_min_i64(busy->p[i].end, end), hs_max_i64(busy->p[i].start, start)));
    return ns;
}

/* Adds one device's busy time to each step. Steps stand by start, so the walk goes on where the last step began. */
static void add_device(struct job *j, size_t first, size_t end)
{
    const struct hs_gpu *g = &j->sel.gpu;
    size_t at = 0;
    j->busy.n = 0;
    for (size_t i = first; i < end; i++)
        hs_spans_push(&j->busy, g->ts[i], hs_end_ns(g->ts[i], g->dur[i]));
    hs_spans_normalise(&j->busy);
    for (size_t k = 0; k < j->sel.view->nsteps; k++) {
        const struct hs_step_row *s = &j->sel.view->steps[k];
        j->busy_ns[k] = hs_add_sat(j->busy_ns[k], busy_within(&j->busy, &at, s->ts, hs_end_ns(s->ts, s->dur)));
    }
    j->devices++;
}

static void measure(struct job *j)
{
    const struct hs_gpu *g = &j->sel.gpu;
    size_t nsteps = j->sel.view->nsteps;
    j->by_step = hs_calloc(nsteps, sizeof *j->by_step);
    j->busy_ns = hs_calloc(nsteps, sizeof *j->busy_ns);
    j->devices = 0;
    for (size_t k = 0; k < nsteps; k++)
        j->by_step[k] = (struct launched){.first = INT64_MAX, .last = INT64_MIN};
    for (size_t i = 0; i < g->n; i++)
        if (g->step[i] >= 0 && (size_t)g->step[i] < nsteps)
            add_row(&j->by_step[g->step[i]], g, i);
    for (size_t i = 0, end; i < g->n; i = end) {
        for (end = i + 1; end < g->n && g->device[end] == g->device[i];)
            end++;
        add_device(j, i, end);
    }
}

static void row(const struct job *j, size_t k, struct hs_table *out)
{
    const struct hs_step_row *s = &j->sel.view->steps[k];
    const struct launched *l = &j->by_step[k];
    int64_t dur = hs_max_i64(0, s->dur), whole;
    if (__builtin_mul_overflow(dur, (int64_t)j->devices, &whole))
        whole = INT64_MAX;
    hs_table_row(out);
    hs_cell_i64(out, j->sel.rank);
    hs_cell_i64(out, s->number);
    hs_cell_ns(out, hs_add_sat(s->ts, j->sel.offset));
    hs_cell_ns(out, dur);
    hs_cell_i64(out, (int64_t)j->devices);
    hs_cell_ns(out, j->busy_ns[k]);
    hs_cell_ns(out, hs_sub_sat(whole, j->busy_ns[k]));
    hs_cell_f64(out, hs_percent(j->busy_ns[k], whole));
    hs_cell_i64(out, l->kernels);
    hs_cell_i64(out, l->copies);
    hs_cell_ns(out, l->kernel_ns);
    hs_cell_ns(out, l->comm_ns);
    hs_cell_ns(out, l->copy_ns);
    if (l->first <= l->last) {
        hs_cell_ns(out, hs_add_sat(l->first, j->sel.offset));
        hs_cell_ns(out, hs_add_sat(l->last, j->sel.offset));
    } else {
        hs_cell_null(out);
        hs_cell_null(out);
    }
    hs_cell_i64(out, s->event);
}

static int one_rank(struct job *j, const struct hs_run_rank *r, const struct hs_params *p, struct hs_table *out,
                    struct hs_err *err)
{
    struct hs_view *v = r->view;
    hs_select_window(&j->sel, r, p, out);
    int rc = hs_view_gpu(v, &j->sel.gpu, err);
    if (!rc && v->nsteps) {
        measure(j);
        for (size_t k = 0; k < v->nsteps; k++)
            if (hs_select_has(&j->sel, v->steps[k].ts, (int32_t)k))
                row(j, k, out);
        free(j->by_step);
        free(j->busy_ns);
    } else if (!rc) {
        hs_table_note(out,
                      "Rank %lld has no profiler steps: the profiler was not told of them (profiler.step() after each "
                      "iteration).",
                      (long long)j->sel.rank);
    }
    hs_select_close(&j->sel);
    return rc;
}

static int run(struct hs_run *r, const struct hs_params *p, struct hs_table *out, struct hs_err *err)
{
    struct job j = {.busy = HS_SPANS_INIT};
    int rc = HS_OK;
    for (size_t i = 0; i < r->n && !rc; i++)
        rc = one_rank(&j, &r->ranks[i], p, out, err);
    hs_vec_free(&j.busy);
    hs_note_excluded(r, out);
    return rc;
}

const struct hs_analysis hs_analysis_steps = {
    .name = "steps",
    .summary = "The profiler's steps: start, duration, GPU busy and idle time, and what each launched",
    .doc = "One row per ProfilerStep#N of the CPU side, by rank and start; a number that occurs twice has two rows. "
           "The last step is "
           "kept, though the profiler may have cut it. Two readings stand side by side. `busy_us` and `idle_us` tell "
           "of the time from "
           "the step's start to its end on the CPU, whatever work ran then; they add up to dur_us * devices. The GPU "
           "lags behind the "
           "CPU, so the other figures (`kernels` to `gpu_end_us`) are of the work that the step launched, whenever it "
           "ran. "
           "`from` and `to` choose the steps that start in the window.",
    .version = 1,
    .columns = columns,
    .ncolumns = sizeof columns / sizeof columns[0],
    .run = run,
    .run_hta = hta_steps,
};
