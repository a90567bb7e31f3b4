#include "report/figures.h"

#include "report/figures_device.h"
#include "report/figures_memory.h"
#include "report/figures_operators.h"
#include "report/figures_tables.h"
#include "report/figures_threads.h"
#include "trace/stats.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL_DELAY_NS 30000 /* the default of idle-causes' consecutive_kernel_delay */

const struct hs_figure_doc hs_figure_docs[HS_FIGURE_IDS] = {
    [HS_FIG_LOADING] = {"data_loading_idle_pct", "percent", "of the GPU span"},
    [HS_FIG_SYNC] = {"hidden_sync_idle_pct", "percent", "of the GPU span"},
    [HS_FIG_ALLOC] = {"allocation_idle_pct", "percent", "of the GPU span"},
    [HS_FIG_COMPILE] = {"compile_idle_pct", "percent", "of the GPU span"},
    [HS_FIG_COLLECT] = {"garbage_collection_idle_pct", "percent", "of the GPU span"},
    [HS_FIG_LAUNCHING] = {"launching_idle_pct", "percent", "of the GPU span"},
    [HS_FIG_DISPATCH] = {"kernel_wait_idle_pct", "percent", "of the GPU span"},
    [HS_FIG_UNEXPLAINED] = {"unexplained_idle_pct", "percent", "of the GPU span"},
    [HS_FIG_HOST] = {"host_idle_pct", "percent", "of the GPU span"},
    [HS_FIG_SHORT] = {"short_kernels_pct", "percent", "of all kernels"},
    [HS_FIG_COMM] = {"exposed_communication_pct", "percent", "of the GPU span"},
    [HS_FIG_MEMORY] = {"exposed_memory_pct", "percent", "of the GPU span"},
    [HS_FIG_PAGEABLE] = {"pageable_copies_pct", "percent", "of the GPU span"},
    [HS_FIG_COPIES] = {"memory_operations_pct", "percent", "of all GPU activities"},
    [HS_FIG_KERNEL] = {"top_kernel_pct", "percent", "of all GPU work"},
    [HS_FIG_FP32] = {"fp32_matrix_kernels_pct", "percent", "of all GPU work"},
    [HS_FIG_LAYOUT] = {"layout_kernels_pct", "percent", "of all GPU work"},
    [HS_FIG_GRID] = {"small_grid_pct", "percent", "of all GPU work"},
    [HS_FIG_ATTENTION] = {"unfused_attention_pct", "percent", "of all GPU work"},
    [HS_FIG_STREAMING] = {"slow_memory_bound_pct", "percent", "of all GPU work"},
    [HS_FIG_SLOW_ATTENTION] = {"slow_attention_pct", "percent", "of all GPU work"},
    [HS_FIG_ABOVE_PEAK] = {"operators_above_peak", "operators", "with their shapes"},
    [HS_FIG_SLOW_RANK] = {"slow_rank_caused_wait_pct", "percent", "of all waiting in collectives"},
    [HS_FIG_SLOW_LEAD] = {"slow_rank_lead_pct", "percent", "of the GPU span"},
    [HS_FIG_ODD_RANK] = {"odd_rank_compute_pct", "percent", "of the median rank's computation"},
    [HS_FIG_GAP] = {"longest_gap_ms", "ms", "a GPU without work"},
    [HS_FIG_FIRST_STEP] = {"first_step_ratio", "1", "medians of the other steps"},
    [HS_FIG_OVERHEAD] = {"profiler_overhead_pct", "percent", "of the trace's time"},
    [HS_FIG_PARALLEL] = {"data_parallel_calls", "1", "calls of DataParallel.forward"},
    [HS_FIG_BACKEND] = {"cpu_backend_ranks", "ranks", "with a GPU"},
    [HS_FIG_PIPELINE] = {"exposed_pipeline_pct", "percent", "of the GPU span"},
    [HS_FIG_THREAD] = {"busiest_thread_pct", "percent", "of the trace's time"},
    [HS_FIG_FULL] = {"device_memory_peak_pct", "percent", "of the device's memory"},
    [HS_FIG_RESERVED] = {"device_memory_reserved_pct", "percent", "of the device's memory"},
    [HS_FIG_UNUSED] = {"reserved_unused_pct", "percent", "of what the allocator held at the peak"},
    [HS_FIG_NO_GPU] = {"traces_without_gpu", "1", "traces"},
    [HS_FIG_NO_STEPS] = {"traces_without_steps", "1", "traces"},
};

bool hs_figure_shows(struct hs_figure_value *x, const struct hs_run_rank *rank, uint32_t event, int64_t ts,
                     int64_t weight)
{
    struct hs_example one = {rank, event, hs_add_sat(ts, rank->offset_ns), weight};
    size_t at = x->nexamples;
    for (size_t i = 0; i < x->nexamples; i++)
        if (x->examples[i].of == rank && x->examples[i].event == event) { /* in another stretch of it */
            if (x->examples[i].weight >= weight)
                return false;
            at = i;
        }
    if (at == HS_EXAMPLES && x->examples[--at].weight >= weight)
        return false;
    if (at == x->nexamples)
        x->nexamples++;
    for (; at && x->examples[at - 1].weight < weight; at--)
        x->examples[at] = x->examples[at - 1];
    x->examples[at] = one;
    return !at;
}

/* ---- one rank's idle time ---- */

struct rank_job {
    struct hs_figures *f;
    const struct hs_run_rank *rank;
    struct hs_select sel;
    struct hs_gap_causes gaps;
};

static void tell_event(struct hs_figure_value *x, const struct rank_job *j, uint32_t event, const char *what)
{
    struct hs_str name = hs_view_str(j->rank->view, j->gaps.cpu.ev.name[event]);
    snprintf(x->detail, sizeof x->detail, "%s%.*s (rank %lld)", what, (int)(name.n < 150 ? name.n : 150), name.p,
             (long long)j->rank->rank);
}

/* What runs longest in one stretch shows the figure: the operator, call or frame, and where it is. */
static void take_piece(struct rank_job *j, const struct hs_gap_piece *p, size_t row)
{
    enum hs_figure_id id = hs_figure_of_cause(p->cause);
    int64_t length = hs_sub_sat(p->end, p->start);
    j->f->gap_ns[p->cause] = hs_add_sat(j->f->gap_ns[p->cause], length);
    if (!id)
        return;
    struct hs_figure_value *x = &j->f->at[id];
    x->gain_ns = hs_add_sat(x->gain_ns, length);
    if (id == HS_FIG_LAUNCHING && p->cause != HS_GAP_CPU)
        return;
    uint32_t event = p->event == HS_NO_EVENT ? j->sel.gpu.event[row] : p->event;
    if (hs_figure_shows(x, j->rank, event, p->start, length) && p->event != HS_NO_EVENT)
        tell_event(x, j, p->event, "Longest in ");
}

static void take_gaps(struct rank_job *j)
{
    struct hs_figure_value *longest = &j->f->at[HS_FIG_GAP];
    for (size_t i = 0; i < j->gaps.gaps.n; i++) {
        const struct hs_idle_gap *g = &j->gaps.gaps.p[i];
        int64_t length = hs_sub_sat(g->end, g->start);
        if (hs_figure_shows(longest, j->rank, j->sel.gpu.event[g->row], g->start, length)) {
            longest->gain_ns = length;
            longest->v = (double)length / 1e6;
        }
        for (size_t k = g->piece; k < g->piece + g->npieces; k++)
            take_piece(j, &j->gaps.pieces.p[k], g->row);
    }
}

/* ---- what else a rank tells ---- */

static bool is_layout(struct hs_str name)
{
    return hs_str_contains(name, "nchwToNhwc") || hs_str_contains(name, "nhwcToNchw") ||
           hs_str_contains(name, "NchwToNhwc") || hs_str_contains(name, "NhwcToNchw") ||
           hs_str_contains(name, "transpose_readWrite") || hs_str_contains(name, "batch_transpose");
}

/* What a name tells; bits, found out once a name. */
enum { ASKED = 1, FP32 = 2, LAYOUT = 4, TOP = 8, PAGEABLE = 16 };

static uint8_t what_is(const struct rank_job *j, struct hs_str name)
{
    const struct hs_facts *f = j->f->facts;
    return (uint8_t)(ASKED | (hs_is_fp32_matrix(name) ? FP32 : 0) | (is_layout(name) ? LAYOUT : 0) |
                     (f->ntop && hs_str_is(name, f->top[0].name) ? TOP : 0) |
                     (hs_str_contains(name, "Pageable") ? PAGEABLE : 0));
}

/* Device work that shows a figure, the longest first; of short kernels the shortest. */
static void take_kernels(struct rank_job *j)
{
    const struct hs_gpu *g = &j->sel.gpu;
    const struct hs_view *v = j->rank->view;
    struct hs_figure_value *at = j->f->at;
    const struct hs_facts *f = j->f->facts;
    bool odd = f->gpu_ranks > 1 && j->rank == &f->run->ranks[f->odd];
    uint8_t *names = hs_calloc(v->nsyms + 1, 1);
    for (size_t i = 0; i < g->n; i++) {
        uint8_t *k = &names[g->name[i]];
        if (!*k)
            *k = what_is(j, hs_view_str(v, g->name[i]));
        bool compute = g->cls[i] == HS_CLASS_COMPUTE, comm = g->cls[i] == HS_CLASS_COMM;
        const struct {
            enum hs_figure_id id;
            bool shows;
        } figures[] = {{HS_FIG_FP32, compute && *k & FP32},    {HS_FIG_LAYOUT, compute && *k & LAYOUT},
                       {HS_FIG_KERNEL, (*k & TOP) != 0},       {HS_FIG_COMM, comm},
                       {HS_FIG_MEMORY, !compute && !comm},     {HS_FIG_COPIES, !compute && !comm},
                       {HS_FIG_PAGEABLE, (*k & PAGEABLE) != 0}};
        for (size_t x = 0; x < sizeof figures / sizeof figures[0]; x++)
            if (figures[x].shows)
                hs_figure_shows(&at[figures[x].id], j->rank, g->event[i], g->ts[i], g->dur[i]);
        if ((compute || comm) && g->dur[i] < HS_SHORT_KERNEL_NS)
            hs_figure_shows(&at[HS_FIG_SHORT], j->rank, g->event[i], g->ts[i], HS_SHORT_KERNEL_NS - g->dur[i]);
        if (compute && odd)
            hs_figure_shows(&at[HS_FIG_ODD_RANK], j->rank, g->event[i], g->ts[i], g->dur[i]);
        if (compute && *k & FP32)
            at[HS_FIG_FP32].gain_ns = hs_add_sat(at[HS_FIG_FP32].gain_ns, g->dur[i]);
        if (compute && *k & LAYOUT)
            at[HS_FIG_LAYOUT].gain_ns = hs_add_sat(at[HS_FIG_LAYOUT].gain_ns, g->dur[i]);
    }
    free(names);
}

static void take_cpu(struct rank_job *j)
{
    const struct hs_cpu *c = &j->gaps.cpu;
    uint32_t forward = hs_view_sym(j->rank->view, "DataParallel.forward");
    struct hs_figure_value *parallel = &j->f->at[HS_FIG_PARALLEL], *overhead = &j->f->at[HS_FIG_OVERHEAD];
    bool has_overhead = hs_view_has_kind(j->rank->view, HS_CAT_OVERHEAD);
    for (uint32_t e = 0; e < c->ev.n && (has_overhead || forward != HS_NO_SYM); e++) {
        if (c->ev.name[e] == forward && hs_cpu_is_span(c, e)) {
            parallel->v++;
            hs_figure_shows(parallel, j->rank, e, c->ev.ts[e], c->ev.dur[e]);
        } else if (hs_cpu_kind(c, e) == HS_CAT_OVERHEAD && hs_cpu_is_span(c, e)) {
            overhead->gain_ns = hs_add_sat(overhead->gain_ns, hs_max_i64(0, c->ev.dur[e]));
            hs_figure_shows(overhead, j->rank, e, c->ev.ts[e], c->ev.dur[e]);
        }
    }
}

/* distributedInfo of the trace's header, {"backend": "gloo", "world_size": 8}: a backend that copies what GPUs send through the host.
 * Backends for GPUs end in ccl or are UCC; "cpu:gloo,cuda:nccl" has both. */
static void take_backend(struct rank_job *j)
{
    const struct hs_view *v = j->rank->view;
    struct hs_figure_value *x = &j->f->at[HS_FIG_BACKEND];
    for (size_t i = 0; i < v->nheader && j->sel.gpu.n; i++) {
        struct hs_str text = hs_view_str(v, v->header[i].json);
        if (!hs_str_is(hs_view_str(v, v->header[i].key), "distributedInfo"))
            continue;
        json_t *info = json_loadb(text.p, text.n, 0, NULL);
        const char *backend = json_string_value(json_object_get(info, "backend"));
        if (backend && (strstr(backend, "gloo") || strstr(backend, "mpi")) && !strstr(backend, "ccl") &&
            !strstr(backend, "ucc") && v->world_size > 1) {
            x->v++;
            snprintf(x->detail, sizeof x->detail, "Backend %.60s, %lld ranks", backend, (long long)v->world_size);
        }
        json_decref(info);
        return;
    }
}

/* The first step against the median of the others. */
static void take_steps(struct rank_job *j)
{
    const struct hs_view *v = j->rank->view;
    struct hs_figure_value *x = &j->f->at[HS_FIG_FIRST_STEP];
    if (v->nsteps < 3)
        return;
    int64_t *dur = hs_realloc_array(NULL, 2 * v->nsteps, sizeof *dur);
    for (size_t i = 1; i < v->nsteps; i++)
        dur[i - 1] = v->steps[i].dur;
    hs_sort_i64(dur, dur + v->nsteps, v->nsteps - 1);
    double median = hs_percentile_i64(dur, v->nsteps - 1, 0.5),
           ratio = median > 0 ? (double)v->steps[0].dur / median : 0;
    int64_t longer = hs_max_i64(0, v->steps[0].dur - (int64_t)median);
    hs_figure_shows(x, j->rank, v->steps[0].event, v->steps[0].ts, longer);
    if (ratio > x->v) {
        x->v = ratio;
        x->gain_ns = longer;
    }
    free(dur);
}

static int take_lost(struct rank_job *j, struct hs_err *err)
{
    struct hs_view *v = j->rank->view;
    const struct hs_launch_row *rows;
    size_t n = 0;
    if (!j->sel.gpu.n || !v->quality.count[HS_Q_LAUNCH_WITHOUT_KERNEL])
        return HS_OK;
    int rc = v->ops->launches(v, &rows, &n, err);
    for (size_t i = 0; i < n && !rc; i++)
        j->f->lost_graphs |= !rows[i].kernels && hs_str_contains(hs_view_str(v, rows[i].name), "GraphLaunch");
    return rc;
}

static int take_rank(struct rank_job *j, const struct hs_params *p, struct hs_table *notes, struct hs_err *err)
{
    int rc = hs_select_open(&j->sel, j->rank, p, notes, err);
    if (rc)
        return rc;
    rc = hs_gap_causes_open(&j->gaps, &j->sel, KERNEL_DELAY_NS, err);
    if (!rc) {
        take_gaps(j);
        take_kernels(j);
        take_cpu(j);
        take_steps(j);
        take_backend(j);
        rc = take_lost(j, err);
        if (!rc)
            rc = hs_figures_from_device(j->f, j->rank, &j->sel, &j->gaps.cpu, err);
        if (!rc)
            rc = hs_figures_from_operators(j->f, j->rank, &j->sel, &j->gaps.cpu, err);
        if (!rc)
            rc = hs_figures_from_memory(j->f, j->rank, err);
        if (!rc)
            hs_figures_from_threads(j->f, j->rank, &j->gaps);
        j->f->at[HS_FIG_NO_GPU].v += !j->sel.gpu.n && !hs_view_is_memory_timeline(j->rank->view);
        j->f->at[HS_FIG_NO_STEPS].v += j->sel.gpu.n && !j->rank->view->nsteps;
    }
    hs_gap_causes_close(&j->gaps);
    hs_select_close(&j->sel);
    return rc;
}

int hs_figures_take(struct hs_figures *f, const struct hs_facts *facts, struct hs_run *run, struct hs_err *err)
{
    struct hs_params *p = NULL;
    struct hs_table notes;
    struct rank_job j = {.f = f};
    *f = (struct hs_figures){.facts = facts};
    hs_table_init(&notes, NULL, 0);
    int rc = hs_params_new(&p, NULL, 0, err);
    for (size_t i = 0; i < run->n && !rc; i++) {
        j.rank = &run->ranks[i];
        rc = take_rank(&j, p, &notes, err);
    }
    if (!rc)
        rc = hs_figures_from_tables(f, run, err);
    if (!rc)
        hs_figures_share(f);
    hs_params_free(p);
    hs_table_free(&notes);
    return rc;
}
