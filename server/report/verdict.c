#include "report/verdict.h"

#include <math.h>
#include <stdio.h>

/* The rule: of the figures that reach their threshold, the one that costs most time decides; compute speaks last, when
 * nothing is in its way. Idle time counts for the CPU only as far as the GPU waited for a launch; if most of a large idle share
 * has another cause, no verdict is honest. */
#define IDLE_LIMIT 15.0    /* idle share worth looking into: TraceLens' cpu-idle analyser, nsys-ai's warn level */
#define COMM_LIMIT 10.0    /* communication's share of a step: PyTorch's TensorBoard plug-in */
#define MEMORY_LIMIT 5.0   /* copies' share of time: TraceLens, nsys-ai */
#define COMPUTE_LIMIT 80.0 /* our own: below it something else has at least a fifth of the time */

const char *hs_verdict_word(enum hs_verdict v)
{
    switch (v) {
    case HS_CPU_BOUND: return "CPU-bound";
    case HS_COMM_BOUND: return "communication-bound";
    case HS_MEMORY_BOUND: return "memory-bound";
    case HS_COMPUTE_BOUND: return "compute-bound";
    case HS_BALANCED: return "balanced";
    case HS_CANNOT_TELL: break;
    }
    return "cannot tell";
}

static void fill_figures(const struct hs_facts *f, struct hs_figure out[HS_FIGURES])
{
    out[0] = (struct hs_figure){"host_wait_pct",
                                "idle, waiting for the CPU to launch work, of the GPU span",
                                hs_facts_pct(f, f->idle_ns[HS_HOST_WAIT]),
                                IDLE_LIMIT,
                                "TraceLens, nsys-ai: idle > 15 %",
                                HS_CPU_BOUND,
                                "idle-causes"};
    out[1] = (struct hs_figure){"exposed_communication_pct",
                                "communication without computation beside it, of the GPU span",
                                hs_facts_pct(f, hs_exposed_comm(&f->time)),
                                COMM_LIMIT,
                                "PyTorch TensorBoard plug-in: communication > 10 %",
                                HS_COMM_BOUND,
                                "temporal"};
    out[2] = (struct hs_figure){"exposed_memory_pct",
                                "copies and memsets with nothing else beside them, of the GPU span",
                                hs_facts_pct(f, hs_exposed_memory(&f->time)),
                                MEMORY_LIMIT,
                                "TraceLens, nsys-ai: copies > 5 %",
                                HS_MEMORY_BOUND,
                                "temporal"};
    out[3] = (struct hs_figure){"compute_pct",
                                "computation, of the GPU span",
                                hs_facts_pct(f, hs_time_of(f->time.ns, HS_SET_COMPUTE)),
                                COMPUTE_LIMIT,
                                "Holoscope: nothing else has a fifth of the time",
                                HS_COMPUTE_BOUND,
                                "temporal"};
}

/* The limit of idle time is one of all of it: where that is reached, the CPU's part speaks if it is half of it or more. */
static bool speaks(const struct hs_figure *x, double idle)
{
    return x->pct >= x->threshold || (x->points_to == HS_CPU_BOUND && idle >= IDLE_LIMIT && x->pct >= idle / 2);
}

static const struct hs_figure *strongest(const struct hs_figure figures[HS_FIGURES], double idle)
{
    const struct hs_figure *best = NULL;
    for (int i = 0; i < 3; i++)
        if (speaks(&figures[i], idle) && (!best || figures[i].pct > best->pct))
            best = &figures[i];
    return best;
}

static enum hs_verdict decide(const struct hs_facts *f, const struct hs_figures *more, struct hs_judgement *j)
{
    double idle = hs_facts_pct(f, f->time.idle_ns);
    if (!f->time.rows || f->time.span_ns <= 0) {
        snprintf(j->reason, sizeof j->reason, "There is no GPU time to judge.");
        return HS_CANNOT_TELL;
    }
    const struct hs_figure *best = strongest(j->figures, idle);
    if (j->idle_unknown) {
        snprintf(j->reason, sizeof j->reason,
                 "%lld launches have no device work in the trace: part of the GPU activity was lost, and what looks "
                 "idle may "
                 "have been busy.",
                 (long long)more->lost);
        return HS_CANNOT_TELL;
    }
    if (best && best->pct < best->threshold) {
        snprintf(
            j->reason, sizeof j->reason,
            "The GPU is idle %.1f %% of its span (from %.0f %% on), and half of that or more, %.1f %%, waits for the "
            "CPU to launch work.",
            idle, IDLE_LIMIT, j->figures[0].pct);
        return HS_CPU_BOUND;
    }
    if (best && (idle < IDLE_LIMIT || best->pct >= idle / 2)) {
        snprintf(j->reason, sizeof j->reason,
                 "%.1f %% (%s) is at or above %.0f %% and the largest of what holds the GPU up.", best->pct, best->text,
                 best->threshold);
        return best->points_to;
    }
    if (idle >= IDLE_LIMIT) {
        snprintf(j->reason, sizeof j->reason,
                 "The GPU is idle %.1f %% of its span, but less than half of that is for want of launches: the work "
                 "was launched and "
                 "waited (for another stream, an event, a copy), or its launches are not in the trace.",
                 idle);
        return HS_CANNOT_TELL;
    }
    if (j->figures[3].pct >= COMPUTE_LIMIT) {
        snprintf(j->reason, sizeof j->reason,
                 "Computation takes %.1f %% of the GPU span and nothing else reaches its threshold.",
                 j->figures[3].pct);
        return HS_COMPUTE_BOUND;
    }
    snprintf(j->reason, sizeof j->reason, "No figure reaches its threshold.");
    return HS_BALANCED;
}

static int64_t launches_without_work(const struct hs_facts *f)
{
    int64_t n = 0;
    for (size_t i = 0; i < f->run->n; i++)
        n = hs_add_sat(n, f->run->ranks[i].view->quality.count[HS_Q_LAUNCH_WITHOUT_KERNEL]);
    return n;
}

static void cpu_only_finding(const struct hs_facts *f, struct hs_judgement *j)
{
    if (!f->run->n)
        snprintf(j->finding, sizeof j->finding, "The run has no traces.");
    else if (hs_view_is_memory_timeline(f->run->ranks[0].view)) /* then all are */
        snprintf(j->finding, sizeof j->finding,
                 "This is a memory timeline (export_memory_timeline), no trace: memory-timeline answers what was "
                 "allocated when, nothing here tells of GPU time.");
    else if (f->time.rows)
        snprintf(j->finding, sizeof j->finding,
                 "The GPU events of this run have no length: there is no GPU time to explain.");
    else if (launches_without_work(f))
        snprintf(
            j->finding, sizeof j->finding,
            "There is no GPU work in %s although %lld calls launched some: the profiler recorded no GPU activity "
            "(another profiler held the GPU, or only the CPU was asked for), so where GPU time went cannot be told.",
            f->run->n == 1 ? "this trace" : "these traces", (long long)launches_without_work(f));
    else
        snprintf(j->finding, sizeof j->finding,
                 "There is no GPU work in %s: %s, so where GPU time went cannot be told.",
                 f->run->n == 1 ? "this trace" : "these traces",
                 f->cpu_events ? "it is a CPU-only trace, or the profiler recorded no GPU activity"
                               : "neither the CPU nor a GPU did anything");
}

/* What the GPU waited for the CPU for, if one thing was most of it; else that work was launched too late. */
static void host_finding(const struct hs_facts *f, const struct hs_figures *more, const char *gpu,
                         struct hs_judgement *j)
{
    static const struct {
        enum hs_figure_id id;
        const char *what;
    } causes[] = {{HS_FIG_LOADING, "waiting for the CPU to load data"},
                  {HS_FIG_SYNC, "after synchronisations hidden in operators"},
                  {HS_FIG_ALLOC, "waiting for the CPU to allocate memory"},
                  {HS_FIG_COMPILE, "waiting for the CPU to compile kernels"},
                  {HS_FIG_COLLECT, "waiting for Python's garbage collection"}};
    double idle = hs_facts_pct(f, f->time.idle_ns), share = j->figures[0].pct;
    const char *what = "waiting for the CPU to launch work";
    for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++)
        if (more->at[causes[i].id].gain_ns >= more->at[HS_FIG_HOST].gain_ns / 2 && more->at[causes[i].id].gain_ns > 0) {
            what = causes[i].what;
            share = more->at[causes[i].id].v;
            break;
        }
    snprintf(j->finding, sizeof j->finding, "The %s idle %.1f %% of the time, mostly %s (%.1f %% of the GPU span).",
             gpu, idle, what, share);
}

static void find(const struct hs_facts *f, const struct hs_figures *more, struct hs_judgement *j)
{
    const char *gpu = f->time.devices == 1 ? "GPU is" : "GPUs are",
               *gpus = f->time.devices == 1 ? "GPU spends" : "GPUs spend";
    double idle = hs_facts_pct(f, f->time.idle_ns);
    char late[80] = "";
    const struct hs_figure_value *slow = &more->at[HS_FIG_SLOW_RANK];
    if (!slow->missing && slow->v >= 50)
        snprintf(late, sizeof late, ", mostly because rank %lld comes last", (long long)more->slow_rank);
    switch (j->verdict) {
    case HS_CPU_BOUND: host_finding(f, more, gpu, j); return;
    case HS_COMM_BOUND:
        snprintf(j->finding, sizeof j->finding,
                 "The %s %.1f %% of the time on communication that no computation hides%s.", gpus, j->figures[1].pct,
                 late);
        return;
    case HS_MEMORY_BOUND:
        snprintf(j->finding, sizeof j->finding, "The %s %.1f %% of the time on copies and memsets that nothing hides.",
                 gpus, j->figures[2].pct);
        return;
    case HS_CANNOT_TELL:
        if (!f->time.rows || f->time.span_ns <= 0) {
            cpu_only_finding(f, j);
            return;
        }
        if (j->idle_unknown)
            snprintf(j->finding, sizeof j->finding,
                     "The trace lost GPU activity: %lld launches have no device work in it, so nothing can be said "
                     "about idle "
                     "time.",
                     (long long)more->lost);
        else
            snprintf(j->finding, sizeof j->finding,
                     "The %s idle %.1f %% of the time, mostly for other reasons than late launches.", gpu, idle);
        return;
    case HS_COMPUTE_BOUND:
    case HS_BALANCED: break;
    }
    snprintf(j->finding, sizeof j->finding,
             "The %s busy %.1f %% of the time, %.1f %% with computation; the largest kernel takes %.1f %% of GPU work.",
             gpu, hs_facts_pct(f, f->time.busy_ns), j->figures[3].pct, f->ntop ? f->top[0].share_pct : 0);
}

void hs_judge(const struct hs_facts *f, const struct hs_figures *more, struct hs_judgement *j)
{
    *j = (struct hs_judgement){0};
    fill_figures(f, j->figures);
    j->idle_unknown = more->loses && hs_facts_pct(f, f->time.idle_ns) >= IDLE_LIMIT;
    j->verdict = decide(f, more, j);
    find(f, more, j);
}
