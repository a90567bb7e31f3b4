#include "analysis/annotated.h"

#include "analysis/order.h"

#include <stdlib.h>

/* ---- device rows by lane ---- */

void hs_by_lane(const struct hs_select *s, struct hs_by_lane *out)
{
    const struct hs_gpu *g = &s->gpu;
    size_t lanes = s->view->nlanes;
    out->row = hs_realloc_array(NULL, g->n ? g->n : 1, sizeof *out->row);
    out->first = hs_calloc(lanes + 2, sizeof *out->first);
    for (size_t i = 0; i < g->n; i++)
        if (g->lane[i] < lanes)
            out->first[g->lane[i] + 2]++;
    for (size_t l = 0; l < lanes; l++)
        out->first[l + 2] += out->first[l + 1];
    for (size_t i = 0; i < g->n; i++)
        if (g->lane[i] < lanes)
            out->row[out->first[g->lane[i] + 1]++] = (uint32_t)i;
    /* A lane is a stream, so its rows are by start already; where a writer put several into one, they are sorted here. */
    uint32_t *scratch = hs_realloc_array(NULL, g->n ? g->n : 1, sizeof *scratch);
    for (size_t l = 0; l < lanes; l++) {
        size_t n = out->first[l + 1] - out->first[l];
        hs_order_i64(out->row + out->first[l], scratch, n, g->ts);
    }
    free(scratch);
}

void hs_by_lane_free(struct hs_by_lane *b)
{
    free(b->row);
    free(b->first);
}

/* ---- collecting ---- */

/* They are few: their times are read alone, which on 4 M events saves a third of the memory that an answer touches. */
static int collect(struct hs_annotated *a, enum hs_cat_kind kind, struct hs_err *err)
{
    const struct hs_events *ev = &a->cpu.ev;
    struct hs_events few;
    struct {
        HS_VEC(uint32_t);
    } events = HS_VEC_INIT(HS_MAX_EVENTS);
    for (size_t e = 0; e < ev->n; e++)
        if (hs_cpu_kind(&a->cpu, (uint32_t)e) == kind && (ev->ph[e] == 'X' || ev->ph[e] == 'B'))
            hs_vec_push(&events, (uint32_t)e);
    int rc = a->sel.view->ops->events_at(a->sel.view, HS_EV_TS | HS_EV_DUR | HS_EV_LANE, events.p, events.n, &few, err);
    a->list = rc ? NULL : hs_realloc_array(NULL, events.n + 1, sizeof *a->list);
    for (size_t i = 0; i < events.n && !rc; i++)
        if (few.ts[i] >= a->sel.from && few.ts[i] < a->sel.to)
            a->list[a->n++] = (struct hs_annotation){
                few.ts[i], hs_end_ns(few.ts[i], few.dur[i]), ev->name[events.p[i]], few.lane[i], events.p[i], 0, 0};
    hs_events_free(&few);
    hs_vec_free(&events);
    return rc;
}

static int by_place(const void *x, const void *y)
{
    const struct hs_annotation *a = x, *b = y;
    if (a->name != b->name)
        return a->name < b->name ? -1 : 1;
    if (a->lane != b->lane)
        return a->lane < b->lane ? -1 : 1;
    if (a->ts != b->ts)
        return a->ts < b->ts ? -1 : 1;
    if (a->end != b->end)
        return a->end > b->end ? -1 : 1;
    return (a->event > b->event) - (a->event < b->event);
}

/* Removes those that `on` does not mark. */
static void filter(struct hs_annotated *a, const uint8_t *on)
{
    size_t k = 0;
    for (size_t i = 0; i < a->n; i++)
        if (on[i])
            a->list[k++] = a->list[i];
    a->n = k;
}

/* ---- the GPU's side ---- */

static size_t first_at(const struct hs_select *s, const uint32_t *row, size_t n, int64_t ts)
{
    size_t low = 0;
    while (n) {
        size_t half = n / 2;
        if (s->gpu.ts[row[low + half]] < ts) {
            low += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return low;
}

/* Sums over the rows before each place of `by`, so that a span of places is one subtraction (sums may wrap around; their
 * differences do not care). Only rows of chosen steps count. */
struct sums {
    uint32_t *count;
    uint64_t *ns;
};

static struct sums sums_of(const struct hs_select *s, const struct hs_by_lane *by)
{
    struct sums x = {hs_calloc(s->gpu.n + 1, sizeof *x.count), hs_calloc(s->gpu.n + 1, sizeof *x.ns)};
    size_t n = by->first[s->view->nlanes];
    for (size_t i = 0; i < n; i++) {
        bool on = hs_select_step(s, s->gpu.step[by->row[i]]);
        x.count[i + 1] = x.count[i] + on;
        x.ns[i + 1] = x.ns[i] + (on ? (uint64_t)s->gpu.dur[by->row[i]] : 0);
    }
    return x;
}

/* Gives each annotation what starts within it and not in an earlier one of its name and lane; drops those of other steps. */
static void contain(struct hs_annotated *a)
{
    struct hs_by_lane by;
    uint8_t *on = hs_calloc(a->n, 1);
    hs_by_lane(&a->sel, &by);
    struct sums sums = sums_of(&a->sel, &by);
    int64_t reach = INT64_MIN;
    for (size_t i = 0; i < a->n; i++) {
        struct hs_annotation *x = &a->list[i];
        bool fresh = !i || x[-1].name != x->name || x[-1].lane != x->lane;
        size_t base = by.first[x->lane], n = by.first[x->lane + 1] - base;
        size_t first = base + first_at(&a->sel, by.row + base, n, x->ts),
               end = base + first_at(&a->sel, by.row + base, n, x->end);
        on[i] = !a->sel.step_on || (first < end && hs_select_step(&a->sel, a->sel.gpu.step[by.row[first]]));
        reach = fresh ? INT64_MIN : reach;
        if (reach > x->ts)
            first = base + first_at(&a->sel, by.row + base, n, hs_min_i64(reach, x->end));
        x->kernels = sums.count[end] - sums.count[first];
        x->gpu_ns = (int64_t)(sums.ns[end] - sums.ns[first]);
        reach = hs_max_i64(reach, x->end);
    }
    filter(a, on);
    free(on);
    free(sums.count);
    free(sums.ns);
    hs_by_lane_free(&by);
}

/* ---- the CPU's side ---- */

/* What the call tree has under each; nothing for those that nest in another of their name. The window chooses annotations,
 * not the work under them, which may well run later. */
static void count_beneath(struct hs_annotated *a)
{
    struct hs_beneath b;
    struct hs_select all = a->sel;
    uint8_t *on = hs_calloc(a->n, 1);
    int64_t reach = INT64_MIN;
    all.from = INT64_MIN;
    all.to = INT64_MAX;
    all.step_on = NULL;
    hs_cpu_beneath(&a->cpu, &all, &b);
    for (size_t i = 0; i < a->n; i++) {
        struct hs_annotation *x = &a->list[i];
        if (!i || x[-1].name != x->name || x[-1].lane != x->lane)
            reach = INT64_MIN;
        on[i] = hs_select_step(&a->sel, hs_cpu_step(&a->cpu, x->event));
        if (x->ts >= reach) {
            x->kernels = b.count[x->event];
            x->gpu_ns = b.ns[x->event];
        }
        reach = hs_max_i64(reach, x->end);
    }
    filter(a, on);
    free(on);
    hs_beneath_free(&b);
}

int hs_annotated_open(struct hs_annotated *a, const struct hs_run_rank *r, const struct hs_params *p, bool gpu_side,
                      struct hs_table *out, struct hs_err *err)
{
    enum hs_cat_kind kind = gpu_side ? HS_CAT_GPU_ANNOTATION : HS_CAT_ANNOTATION;
    unsigned columns = HS_EV_PH | (hs_param_has(p, "step") ? HS_EV_STEP : 0);
    struct hs_gpu gpu;
    *a = (struct hs_annotated){.n = 0};
    int rc = hs_view_gpu_columns(r->view, gpu_side ? HS_DEV_ALL : HS_BENEATH_COLUMNS, &gpu, err);
    bool any = hs_view_has_kind(r->view, kind); /* most traces have none on the GPU's side: then no column is read */
    if (!rc && any)
        rc = hs_cpu_open(&a->cpu, r->view, columns, err);
    if (rc)
        return rc;
    hs_select_window(&a->sel, r, p, out);
    a->sel.gpu = gpu;
    if (any && (rc = collect(a, kind, err))) {
        hs_annotated_close(a);
        return rc;
    }
    if (!a->n)
        hs_table_note(out, "Rank %lld has no %s in the window%s.", (long long)a->sel.rank,
                      gpu_side ? "gpu_user_annotation" : "user_annotation",
                      gpu_side ? "; use_gpu_annotation=false asks for those of the CPU"
                               : " (record_function, profiler steps)");
    if (a->n)
        qsort(a->list, a->n, sizeof *a->list, by_place);
    if (a->n && gpu_side)
        contain(a);
    else if (a->n)
        count_beneath(a);
    return HS_OK;
}

void hs_annotated_close(struct hs_annotated *a)
{
    free(a->list);
    hs_cpu_close(&a->cpu);
    hs_select_close(&a->sel);
}
