#include "report/figures.h"

#include "report/figures_device.h"
#include "report/figures_tables.h"
#include "trace/stats.h"

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
    [HS_FIG_SLOW_RANK] = {"slow_rank_caused_wait_pct", "percent", "of all waiting in collectives"},
    [HS_FIG_SLOW_LEAD] = {"slow_rank_lead_pct", "percent", "of the GPU span"},
    [HS_FIG_ODD_RANK] = {"odd_rank_compute_pct", "percent", "of the median rank's computation"},
    [HS_FIG_GAP] = {"longest_gap_ms", "ms", "a GPU without work"},
    [HS_FIG_FIRST_STEP] = {"first_step_ratio", "1", "medians of the other steps"},
    [HS_FIG_OVERHEAD] = {"profiler_overhead_pct", "percent", "of the trace's time"},
    [HS_FIG_PARALLEL] = {"data_parallel_calls", "1", "calls of DataParallel.forward"},
    [HS_FIG_NO_GPU] = {"traces_without_gpu", "1", "traces"},
    [HS_FIG_NO_STEPS] = {"traces_without_steps", "1", "traces"},
};

#define NO_GPU "there is no GPU activity: record with ProfilerActivity.CUDA (or XPU, MTIA)"
#define NO_LAUNCHES "no launches were recorded: record with ProfilerActivity.CPU"
#define LOST "the trace lost GPU activity (launches without their kernels), so idle time cannot be told from lost work"

/* ---- one rank's idle time ---- */

struct rank_job {
    struct hs_figures *f;
    const struct hs_run_rank *rank;
    struct hs_select sel;
    struct hs_gap_causes gaps;
    int64_t longest[HS_GAP_CAUSES]; /* length of the longest stretch of each cause over the ranks so far */
};

static void set_event(struct hs_figure_value *x, const struct rank_job *j, uint32_t event, int64_t ts)
{
    x->has_event = true;
    x->rank = j->rank->rank;
    x->event = event;
    x->ts_ns = hs_add_sat(ts, j->rank->offset_ns);
}

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
    if (length <= j->longest[p->cause] || (id == HS_FIG_LAUNCHING && p->cause != HS_GAP_CPU))
        return;
    j->longest[p->cause] = length;
    set_event(x, j, p->event == HS_NO_EVENT ? j->sel.gpu.event[row] : p->event, p->start);
    if (p->event != HS_NO_EVENT)
        tell_event(x, j, p->event, "Longest in ");
}

static void take_gaps(struct rank_job *j)
{
    struct hs_figure_value *longest = &j->f->at[HS_FIG_GAP];
    for (size_t i = 0; i < j->gaps.gaps.n; i++) {
        const struct hs_idle_gap *g = &j->gaps.gaps.p[i];
        int64_t length = hs_sub_sat(g->end, g->start);
        if (length > longest->gain_ns) {
            longest->gain_ns = length;
            longest->v = (double)length / 1e6;
            set_event(longest, j, j->sel.gpu.event[g->row], g->start);
        }
        for (size_t k = g->piece; k < g->piece + g->npieces; k++)
            take_piece(j, &j->gaps.pieces.p[k], g->row);
    }
}

/* ---- what else a rank tells ---- */

/* Single precision matrix kernels of cuBLAS and CUTLASS that do not use tensor cores. */
static bool is_fp32_matrix(struct hs_str name)
{
    bool plain = hs_str_contains(name, "sgemm") || hs_str_contains(name, "scudnn") || hs_str_contains(name, "_simt_");
    return plain && !hs_str_contains(name, "tf32") && !hs_str_contains(name, "tensorop") &&
           !hs_str_contains(name, "s1688");
}

static bool is_layout(struct hs_str name)
{
    return hs_str_contains(name, "nchwToNhwc") || hs_str_contains(name, "nhwcToNchw") ||
           hs_str_contains(name, "NchwToNhwc") || hs_str_contains(name, "NhwcToNchw") ||
           hs_str_contains(name, "transpose_readWrite") || hs_str_contains(name, "batch_transpose");
}

static void take_kernels(struct rank_job *j)
{
    const struct hs_gpu *g = &j->sel.gpu;
    const struct hs_view *v = j->rank->view;
    uint8_t *kind = hs_calloc(v->nsyms + 1, 1); /* 0 not asked yet; 1 neither, 2 fp32, 3 layout */
    for (size_t i = 0; i < g->n; i++) {
        uint8_t *k = &kind[g->name[i]];
        if (!*k) {
            struct hs_str name = hs_view_str(v, g->name[i]);
            *k = is_fp32_matrix(name) ? 2 : is_layout(name) ? 3 : 1;
        }
        if (*k == 1 || g->cls[i] != HS_CLASS_COMPUTE)
            continue;
        struct hs_figure_value *x = &j->f->at[*k == 2 ? HS_FIG_FP32 : HS_FIG_LAYOUT];
        x->gain_ns = hs_add_sat(x->gain_ns, g->dur[i]);
        if (!x->has_event)
            set_event(x, j, g->event[i], g->ts[i]);
    }
    free(kind);
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
            set_event(parallel, j, e, c->ev.ts[e]);
        } else if (hs_cpu_kind(c, e) == HS_CAT_OVERHEAD && hs_cpu_is_span(c, e)) {
            overhead->gain_ns = hs_add_sat(overhead->gain_ns, hs_max_i64(0, c->ev.dur[e]));
            set_event(overhead, j, e, c->ev.ts[e]);
        }
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
    if (ratio > x->v) {
        x->v = ratio;
        x->gain_ns = hs_max_i64(0, v->steps[0].dur - (int64_t)median);
        set_event(x, j, v->steps[0].event, v->steps[0].ts);
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
        rc = take_lost(j, err);
        if (!rc)
            rc = hs_figures_from_device(j->f, j->rank, &j->sel, &j->gaps.cpu, err);
        j->f->at[HS_FIG_NO_GPU].v += !j->sel.gpu.n && !hs_view_is_memory_timeline(j->rank->view);
        j->f->at[HS_FIG_NO_STEPS].v += j->sel.gpu.n && !j->rank->view->nsteps;
    }
    hs_gap_causes_close(&j->gaps);
    hs_select_close(&j->sel);
    return rc;
}

/* ---- percentages, and what cannot be told ---- */

static int64_t quality(const struct hs_run *run, enum hs_quality_kind kind)
{
    int64_t n = 0;
    for (size_t i = 0; i < run->n; i++)
        n += run->ranks[i].view->quality.count[kind];
    return n;
}

static void from_facts(struct hs_figures *f)
{
    const struct hs_facts *x = f->facts;
    f->at[HS_FIG_COMM].gain_ns = hs_exposed_comm(&x->time);
    f->at[HS_FIG_MEMORY].gain_ns = hs_exposed_memory(&x->time);
    f->at[HS_FIG_PAGEABLE].gain_ns = x->pageable_ns;
    for (enum hs_gap_cause c = 0; c < HS_GAP_CAUSES; c++)
        f->at[HS_FIG_HOST].gain_ns += hs_gap_of_host(c) ? f->gap_ns[c] : 0;
    static const enum hs_figure_id of_span[] = {HS_FIG_LOADING, HS_FIG_SYNC,      HS_FIG_ALLOC,       HS_FIG_COMPILE,
                                                HS_FIG_COLLECT, HS_FIG_LAUNCHING, HS_FIG_UNEXPLAINED, HS_FIG_HOST,
                                                HS_FIG_COMM,    HS_FIG_MEMORY,    HS_FIG_PAGEABLE};
    for (size_t i = 0; i < sizeof of_span / sizeof of_span[0]; i++)
        f->at[of_span[i]].v = hs_facts_pct(x, f->at[of_span[i]].gain_ns);
    /* Waiting that computation hides costs nothing. */
    f->at[HS_FIG_SLOW_RANK].gain_ns = hs_min_i64(f->at[HS_FIG_SLOW_RANK].gain_ns, f->at[HS_FIG_COMM].gain_ns);
    f->at[HS_FIG_SLOW_LEAD] = f->at[HS_FIG_SLOW_RANK];
    f->at[HS_FIG_SLOW_LEAD].v = hs_facts_pct(x, f->at[HS_FIG_SLOW_RANK].gain_ns);
    static const enum hs_figure_id of_work[] = {HS_FIG_FP32, HS_FIG_LAYOUT, HS_FIG_ATTENTION};
    for (size_t i = 0; i < sizeof of_work / sizeof of_work[0]; i++)
        f->at[of_work[i]].v = x->work_ns > 0 ? hs_percent(f->at[of_work[i]].gain_ns, x->work_ns) : 0;
    f->at[HS_FIG_GRID].v = x->work_ns > 0 ? hs_percent(f->small_grid_ns, x->work_ns) : 0;
    f->at[HS_FIG_SHORT].v = x->kernels ? hs_percent(x->short_kernels, x->kernels) : 0;
    f->at[HS_FIG_SHORT].gain_ns = (int64_t)((double)f->at[HS_FIG_LAUNCHING].gain_ns * f->at[HS_FIG_SHORT].v / 100);
    snprintf(f->at[HS_FIG_SHORT].detail, sizeof f->at[HS_FIG_SHORT].detail,
             "%lld of %lld kernels run for less than 10 µs", (long long)x->short_kernels, (long long)x->kernels);
    f->at[HS_FIG_COPIES].v = x->time.rows ? hs_percent((int64_t)x->time.rows - x->kernels, (int64_t)x->time.rows) : 0;
    f->at[HS_FIG_COPIES].gain_ns = f->at[HS_FIG_MEMORY].gain_ns;
    /* what both could gain is told once, where the advice is the more concrete one */
    f->at[HS_FIG_MEMORY].gain_ns = hs_max_i64(0, f->at[HS_FIG_MEMORY].gain_ns - x->pageable_ns);
    if (x->pageable_copies)
        snprintf(f->at[HS_FIG_PAGEABLE].detail, sizeof f->at[HS_FIG_PAGEABLE].detail, "%lld copies use pageable memory",
                 (long long)x->pageable_copies);
    int64_t comm = hs_time_of(x->time.ns, HS_SET_COMM);
    if (comm)
        snprintf(f->at[HS_FIG_COMM].detail, sizeof f->at[HS_FIG_COMM].detail, "%.0f %% of all communication time",
                 hs_percent(f->at[HS_FIG_COMM].gain_ns, comm));
    if (x->ntop && x->kernels > 1) {
        f->at[HS_FIG_KERNEL].v = x->top[0].share_pct;
        f->at[HS_FIG_KERNEL].gain_ns = x->top[0].sum_ns;
        snprintf(f->at[HS_FIG_KERNEL].detail, sizeof f->at[HS_FIG_KERNEL].detail, "%.200s, %lld calls",
                 x->top[0].display, (long long)x->top[0].calls);
    }
    if (x->gpu_ranks > 1) {
        const struct hs_rank_facts *odd = &x->ranks[x->odd];
        f->at[HS_FIG_ODD_RANK].v = fabs(odd->odd_pct);
        snprintf(f->at[HS_FIG_ODD_RANK].detail, sizeof f->at[HS_FIG_ODD_RANK].detail,
                 "Rank %lld computes %.0f %% %s than the median rank", (long long)odd->rank, fabs(odd->odd_pct),
                 odd->odd_pct > 0 ? "longer" : "less");
    }
    /* durations of concurrent streams add up to more than there is to gain */
    static const enum hs_figure_id sums[] = {HS_FIG_PAGEABLE, HS_FIG_KERNEL, HS_FIG_FP32,
                                             HS_FIG_LAYOUT,   HS_FIG_GRID,   HS_FIG_ATTENTION};
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++)
        f->at[sums[i]].gain_ns = hs_min_i64(f->at[sums[i]].gain_ns, x->time.busy_ns);
    int64_t wall = 0;
    for (size_t i = 0; i < x->run->n; i++)
        wall = hs_add_sat(wall, hs_sub_sat(x->run->ranks[i].view->sum.last_end, x->run->ranks[i].view->sum.first_ts));
    f->at[HS_FIG_OVERHEAD].v = wall > 0 ? hs_percent(f->at[HS_FIG_OVERHEAD].gain_ns, wall) : 0;
}

static void what_is_missing(struct hs_figures *f)
{
    const struct hs_facts *x = f->facts;
    bool gpu = x->time.rows && x->time.span_ns > 0, launches = false;
    f->lost = quality(x->run, HS_Q_LAUNCH_WITHOUT_KERNEL);
    for (size_t i = 0; i < x->run->n; i++)
        launches |= x->run->ranks[i].view->sum.runtime_calls > 0;
    double lost_ns = x->time.rows ? (double)f->lost * (double)x->work_ns / (double)x->time.rows : 0;
    f->loses = gpu && (f->lost_graphs || lost_ns > (double)x->time.idle_ns / 5);
    f->loses = f->loses && f->lost > 0;
    for (enum hs_figure_id id = HS_FIG_LOADING; id <= HS_FIG_HOST; id++)
        f->at[id].missing = !gpu                                    ? NO_GPU
                            : f->loses                              ? LOST
                            : !launches && id != HS_FIG_UNEXPLAINED ? NO_LAUNCHES
                                                                    : NULL;
    f->at[HS_FIG_GAP].missing = !gpu ? NO_GPU : f->loses ? LOST : NULL;
    static const enum hs_figure_id of_gpu[] = {HS_FIG_SHORT,  HS_FIG_COMM,     HS_FIG_MEMORY, HS_FIG_PAGEABLE,
                                               HS_FIG_COPIES, HS_FIG_KERNEL,   HS_FIG_FP32,   HS_FIG_LAYOUT,
                                               HS_FIG_GRID,   HS_FIG_ATTENTION};
    for (size_t i = 0; i < sizeof of_gpu / sizeof of_gpu[0]; i++)
        f->at[of_gpu[i]].missing = gpu ? NULL : NO_GPU;
    if (gpu && !f->launch_shapes)
        f->at[HS_FIG_GRID].missing = "the trace does not tell how many blocks kernels have for each multiprocessor: "
                                     "only Kineto on NVIDIA GPUs records it";
    if (gpu && !x->cpu_events)
        f->at[HS_FIG_ATTENTION].missing = NO_LAUNCHES;
    if (x->gpu_ranks < 2)
        f->at[HS_FIG_ODD_RANK].missing = "there is one rank with GPU activity: give all ranks of the run";
    if (x->steps < 3)
        f->at[HS_FIG_FIRST_STEP].missing = "there are fewer than three steps: call prof.step() once per iteration";
    if (!x->cpu_events)
        f->at[HS_FIG_OVERHEAD].missing = f->at[HS_FIG_PARALLEL].missing = NO_LAUNCHES;
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
    if (!rc) {
        from_facts(f);
        what_is_missing(f);
    }
    hs_params_free(p);
    hs_table_free(&notes);
    return rc;
}
