/* flame: where time was spent, as stacks: CPU time by call stack, or the GPU time that each stack launched. render/flame.h
 * turns the rows into folded text and speedscope's JSON. */
#include "analysis/analyses.h"
#include "analysis/cpu_side.h"
#include "analysis/stacks.h"
#include "analysis/threads.h"

#include <stdlib.h>

static const struct hs_param_spec params_spec[] = {
    {"weight", HS_P_CHOICE, "", "gpu", 0, 0, "gpu|cpu",
     "gpu: duration of the device work that was launched; cpu: time of CPU events without that of what nests in them"},
    HS_PARAM_THREAD,
    {"python", HS_P_BOOL, "", "true", 0, 0, NULL, "whether python frames are part of the stacks"},
    {"limit", HS_P_INT, "1", "20000", 0, 4e15, NULL, "give at most so many stacks of a rank, the heaviest; 0: all"},
};

static const struct hs_column_spec columns[] = {
    {"rank", HS_T_INT, "", "rank of the trace"},
    {"stack", HS_T_TEXT, "", "frames from the thread down, joined by semicolons (those inside names are commas)"},
    {"weight_us", HS_T_TIME, "us", "time of this very stack, without the deeper ones"},
    {"count", HS_T_INT, "1", "device activities or CPU events that make it up"},
};

struct job {
    struct hs_select sel;
    struct hs_cpu cpu;
    struct hs_threads threads;
    struct hs_stacks stacks;
    bool ok;
};

static void gpu_weights(struct job *j)
{
    const struct hs_gpu *g = &j->sel.gpu;
    for (size_t i = 0; i < g->n && j->ok; i++) {
        uint32_t launch = g->launch[i] < j->cpu.ev.n ? g->launch[i] : HS_NO_EVENT;
        if (!hs_select_starts(&j->sel, i) ||
            (launch == HS_NO_EVENT ? j->threads.chosen < j->sel.view->nlanes : !j->threads.on[j->cpu.ev.lane[launch]]))
            continue;
        uint32_t stack = hs_stack_of(&j->stacks, launch);
        j->ok = stack != HS_NO_STACK;
        if (j->ok)
            j->ok = hs_stack_add(&j->stacks, hs_stack_child(&j->stacks, stack, g->name[i]), g->dur[i]);
    }
}

static struct hs_span inside(const struct job *j, uint32_t e)
{
    int64_t start = j->cpu.ev.ts[e], end = hs_end_ns(start, j->cpu.ev.dur[e]);
    return (struct hs_span){hs_max_i64(start, j->sel.from), hs_min_i64(end, j->sel.to)};
}

/* Time of each event in the window less that of its children, cut at its own borders. */
static void cpu_weights(struct job *j)
{
    const struct hs_events *ev = &j->cpu.ev;
    int64_t *self = hs_calloc(ev->n, sizeof *self);
    for (size_t e = 0; e < ev->n; e++) {
        if (!hs_cpu_is_span(&j->cpu, (uint32_t)e))
            continue;
        struct hs_span x = inside(j, (uint32_t)e);
        if (x.end <= x.start)
            continue;
        self[e] = hs_add_sat(self[e], hs_sub_sat(x.end, x.start));
        if (ev->parent[e] < ev->n) {
            struct hs_span p = inside(j, ev->parent[e]);
            int64_t part = hs_sub_sat(hs_min_i64(x.end, p.end), hs_max_i64(x.start, p.start));
            self[ev->parent[e]] = hs_sub_sat(self[ev->parent[e]], hs_max_i64(0, part));
        }
    }
    for (size_t e = 0; e < ev->n && j->ok; e++)
        if (self[e] > 0 && j->threads.on[ev->lane[e]] && hs_select_step(&j->sel, hs_cpu_step(&j->cpu, (uint32_t)e)))
            j->ok = hs_stack_add(&j->stacks, hs_stack_of(&j->stacks, (uint32_t)e), self[e]);
    free(self);
}

static void write_rows(struct job *j, int64_t limit, const char *what, struct hs_table *out)
{
    size_t n;
    uint32_t *order = hs_stacks_sorted(&j->stacks, &n);
    size_t shown = limit && (size_t)limit < n ? (size_t)limit : n;
    int64_t lost = 0;
    struct hs_buf text = HS_BUF_INIT(1 << 24);
    for (size_t i = 0; i < n; i++) {
        const struct hs_stack *s = &j->stacks.list.p[order[i]];
        if (i >= shown) {
            lost = hs_add_sat(lost, s->weight);
            continue;
        }
        hs_buf_clear(&text);
        hs_stack_text(&j->stacks, order[i], &text);
        hs_table_row(out);
        hs_cell_i64(out, j->sel.rank);
        hs_cell_text(out, hs_str(text.p, text.n));
        hs_cell_ns(out, s->weight);
        hs_cell_i64(out, s->count);
    }
    if (shown < n)
        hs_table_note(out, "Rank %lld: the lightest %zu of %zu stacks, %.3f ms in all, are left out (limit).",
                      (long long)j->sel.rank, n - shown, n, (double)lost / 1e6);
    if (!n)
        hs_table_note(out, "Rank %lld has no %s time that fits%s.", (long long)j->sel.rank, what,
                      j->threads.chosen ? "" : ": it has no such thread");
    hs_buf_free(&text);
    free(order);
}

static int one_rank(struct job *j, const struct hs_run_rank *r, const struct hs_params *p, struct hs_table *out,
                    struct hs_err *err)
{
    bool gpu = hs_str_is(hs_cstr(hs_param_text(p, "weight")), "gpu");
    int rc = HS_OK;
    if (gpu)
        rc = hs_select_open(&j->sel, r, p, out, err);
    else
        hs_select_window(&j->sel, r, p, out);
    if (!rc)
        rc = hs_cpu_open(&j->cpu, r->view,
                         HS_EV_LANE | (gpu ? 0 : HS_EV_TS | HS_EV_DUR | HS_EV_PH) |
                             (!gpu && hs_param_has(p, "step") ? HS_EV_STEP : 0),
                         err);
    if (rc) {
        hs_select_close(&j->sel);
        return rc;
    }
    hs_threads_open(&j->threads, r->view, hs_param_text(p, "thread"));
    hs_stacks_open(&j->stacks, &j->cpu, hs_param_bool(p, "python"));
    j->ok = true;
    if (gpu)
        gpu_weights(j);
    else
        cpu_weights(j);
    if (j->ok)
        write_rows(j, hs_param_i64(p, "limit"), gpu ? "GPU" : "CPU", out);
    else
        rc = hs_fail(err, HS_ELIMIT,
                     "the trace has more distinct stacks than fit: narrow it with step, from, to or thread");
    hs_stacks_close(&j->stacks);
    hs_threads_close(&j->threads);
    hs_cpu_close(&j->cpu);
    hs_select_close(&j->sel);
    return rc;
}

static int run(struct hs_run *r, const struct hs_params *p, struct hs_table *out, struct hs_err *err)
{
    struct job j = {.ok = true};
    int rc = HS_OK;
    for (size_t i = 0; i < r->n && !rc; i++)
        rc = one_rank(&j, &r->ranks[i], p, out, err);
    hs_note_excluded(r, out);
    return rc;
}

const struct hs_analysis hs_analysis_flame = {
    .name = "flame",
    .summary = "Flame graph: GPU time by the stack that launched it, or CPU time by stack",
    .doc = "One row per distinct stack, the heaviest first. weight=gpu: a kernel, copy or memset weighs its duration "
           "and stands beneath "
           "the stack of its launch call (python frames, annotations, operators, the call); work whose launch is not "
           "in the trace stands "
           "under [launch not in the trace]. weight=cpu: an event weighs its duration less that of what nests in it. "
           "With weight=gpu an "
           "activity belongs to the window in which it starts, with weight=cpu time is cut at the window's borders. "
           "Weights add up: a "
           "frame's whole time is the sum over the rows whose stacks go through it.",
    .version = 1,
    .params = params_spec,
    .nparams = sizeof params_spec / sizeof params_spec[0],
    .columns = columns,
    .ncolumns = sizeof columns / sizeof columns[0],
    .run = run,
};
