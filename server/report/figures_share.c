#include "report/figures.h"

#include "trace/stats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LOST "the trace lost GPU activity (launches without their kernels), so idle time cannot be told from lost work"

static int64_t quality(const struct hs_run *run, enum hs_quality_kind kind)
{
    int64_t n = 0;
    for (size_t i = 0; i < run->n; i++)
        n += run->ranks[i].view->quality.count[kind];
    return n;
}

/* Where the rule of pipelines tells of communication, that of all communication tells the rest. */
static void without_pipeline(struct hs_figures *f)
{
    f->at[HS_FIG_COMM].gain_ns = hs_max_i64(0, f->at[HS_FIG_COMM].gain_ns - f->at[HS_FIG_PIPELINE].gain_ns);
}

static void from_facts(struct hs_figures *f)
{
    const struct hs_facts *x = f->facts;
    f->at[HS_FIG_COMM].gain_ns = hs_exposed_comm(&x->time);
    f->at[HS_FIG_MEMORY].gain_ns = hs_exposed_memory(&x->time);
    f->at[HS_FIG_PAGEABLE].gain_ns = x->pageable_ns;
    for (enum hs_gap_cause c = 0; c < HS_GAP_CAUSES; c++)
        f->at[HS_FIG_HOST].gain_ns += hs_gap_of_host(c) ? f->gap_ns[c] : 0;
    static const enum hs_figure_id of_span[] = {HS_FIG_LOADING, HS_FIG_SYNC,      HS_FIG_ALLOC,    HS_FIG_COMPILE,
                                                HS_FIG_COLLECT, HS_FIG_LAUNCHING, HS_FIG_DISPATCH, HS_FIG_UNEXPLAINED,
                                                HS_FIG_HOST,    HS_FIG_COMM,      HS_FIG_MEMORY,   HS_FIG_PAGEABLE,
                                                HS_FIG_PIPELINE};
    for (size_t i = 0; i < sizeof of_span / sizeof of_span[0]; i++)
        f->at[of_span[i]].v = hs_facts_pct(x, f->at[of_span[i]].gain_ns);
    /* Waiting that computation hides costs nothing. */
    f->at[HS_FIG_SLOW_RANK].gain_ns = hs_min_i64(f->at[HS_FIG_SLOW_RANK].gain_ns, f->at[HS_FIG_COMM].gain_ns);
    /* The longest communication is where the others wait. */
    f->at[HS_FIG_SLOW_RANK].nexamples = f->at[HS_FIG_COMM].nexamples;
    memcpy(f->at[HS_FIG_SLOW_RANK].examples, f->at[HS_FIG_COMM].examples, sizeof f->at[HS_FIG_COMM].examples);
    f->at[HS_FIG_SLOW_LEAD] = f->at[HS_FIG_SLOW_RANK];
    f->at[HS_FIG_SLOW_LEAD].v = hs_facts_pct(x, f->at[HS_FIG_SLOW_RANK].gain_ns);
    static const enum hs_figure_id of_work[] = {HS_FIG_FP32, HS_FIG_LAYOUT, HS_FIG_ATTENTION};
    for (size_t i = 0; i < sizeof of_work / sizeof of_work[0]; i++)
        f->at[of_work[i]].v = x->work_ns > 0 ? hs_percent(f->at[of_work[i]].gain_ns, x->work_ns) : 0;
    f->at[HS_FIG_STREAMING].v = x->work_ns > 0 ? hs_percent(f->streaming_ns, x->work_ns) : 0;
    f->at[HS_FIG_SLOW_ATTENTION].v = x->work_ns > 0 ? hs_percent(f->attention_ns, x->work_ns) : 0;
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
    static const enum hs_figure_id sums[] = {HS_FIG_PAGEABLE,  HS_FIG_KERNEL,        HS_FIG_FP32,
                                             HS_FIG_LAYOUT,    HS_FIG_GRID,          HS_FIG_ATTENTION,
                                             HS_FIG_STREAMING, HS_FIG_SLOW_ATTENTION};
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
        f->at[id].missing = !gpu                                    ? HS_NO_GPU
                            : f->loses                              ? LOST
                            : !launches && id != HS_FIG_UNEXPLAINED ? HS_NO_LAUNCHES
                                                                    : NULL;
    f->at[HS_FIG_GAP].missing = !gpu ? HS_NO_GPU : f->loses ? LOST : NULL;
    static const enum hs_figure_id of_gpu[] = {HS_FIG_SHORT,  HS_FIG_COMM,      HS_FIG_MEMORY,  HS_FIG_PAGEABLE,
                                               HS_FIG_COPIES, HS_FIG_KERNEL,    HS_FIG_FP32,    HS_FIG_LAYOUT,
                                               HS_FIG_GRID,   HS_FIG_ATTENTION, HS_FIG_PIPELINE};
    for (size_t i = 0; i < sizeof of_gpu / sizeof of_gpu[0]; i++)
        f->at[of_gpu[i]].missing = gpu ? NULL : HS_NO_GPU;
    if (gpu && !f->launch_shapes)
        f->at[HS_FIG_GRID].missing = "the trace does not tell how many blocks kernels have for each multiprocessor: "
                                     "only Kineto on NVIDIA GPUs records it";
    static const enum hs_figure_id of_shapes[] = {HS_FIG_STREAMING, HS_FIG_SLOW_ATTENTION, HS_FIG_ABOVE_PEAK};
    for (size_t i = 0; i < sizeof of_shapes / sizeof of_shapes[0]; i++)
        f->at[of_shapes[i]].missing = !gpu ? HS_NO_GPU : !f->shapes ? f->no_shapes : !f->peaks ? f->no_peaks : NULL;
    if (gpu && !x->cpu_events)
        f->at[HS_FIG_ATTENTION].missing = HS_NO_LAUNCHES;
    if (gpu && f->sendrecv_untold && !f->at[HS_FIG_PIPELINE].nexamples)
        f->at[HS_FIG_PIPELINE].missing = "nothing tells whether the SendRecv kernels are sends and receives or an "
                                         "all-to-all: record with ProfilerActivity.CPU and a PyTorch that names "
                                         "collectives (2.1 or later)";
    if (x->gpu_ranks < 2)
        f->at[HS_FIG_ODD_RANK].missing = "there is one rank with GPU activity: give all ranks of the run";
    if (x->steps < 3)
        f->at[HS_FIG_FIRST_STEP].missing = "there are fewer than three steps: call prof.step() once per iteration";
    if (!x->cpu_events)
        f->at[HS_FIG_OVERHEAD].missing = f->at[HS_FIG_PARALLEL].missing = f->at[HS_FIG_THREAD].missing = HS_NO_LAUNCHES;
    const char *no_memory = "allocations on devices were not recorded: record with profile_memory=True";
    const char *no_size = "the trace does not tell how much memory the device has (deviceProperties)";
    f->at[HS_FIG_UNUSED].missing = f->memory_events ? NULL : no_memory;
    f->at[HS_FIG_FULL].missing = f->at[HS_FIG_RESERVED].missing = !f->memory_events   ? no_memory
                                                                  : !f->device_memory ? no_size
                                                                                      : NULL;
}

void hs_figures_share(struct hs_figures *f)
{
    from_facts(f);
    without_pipeline(f);
    what_is_missing(f);
}
