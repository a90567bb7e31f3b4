#include "analysis/late.h"
#include "analysis/name_filter.h"
#include "trace/classes.h"
#include "trace/stats.h"

#include <stdlib.h>

static int64_t *lengths_before(const struct hs_spans *s)
{
    int64_t *before = hs_malloc((s->n + 1) * sizeof *before), sum = 0;
    for (size_t i = 0; i < s->n; i++) {
        before[i] = sum;
        sum = hs_add_sat(sum, hs_sub_sat(s->p[i].end, s->p[i].start));
    }
    before[s->n] = sum;
    return before;
}

static int read_loading(struct hs_activity *a, struct hs_view *v, int64_t shift, struct hs_name_filter *filter,
                        struct hs_err *err)
{
    struct hs_events ev;
    int rc = hs_view_events(v, HS_EV_TS | HS_EV_DUR | HS_EV_NAME | HS_EV_CAT | HS_EV_PH, &ev, err);
    if (rc)
        return rc;
    uint8_t *known = hs_calloc(v->nsyms + 1, 1); /* by symbol: 1 no, 2 yes */
    uint8_t *cpu = hs_calloc(v->nsyms + 1, 1);
    for (size_t i = 0; i < v->ncats; i++)
        cpu[v->cats[i].cat] = !hs_cat_is_device(hs_cat_kind(hs_view_str(v, v->cats[i].cat)));
    for (size_t i = 0; i < ev.n; i++) {
        if ((ev.ph[i] != 'X' && ev.ph[i] != 'B') || !cpu[ev.cat[i]])
            continue;
        uint8_t *k = &known[ev.name[i]];
        if (!*k)
            *k = hs_name_matches(filter, hs_view_str(v, ev.name[i])) ? 2 : 1;
        if (*k == 2)
            hs_spans_push(&a->loading, hs_add_sat(ev.ts[i], shift), hs_add_sat(hs_end_ns(ev.ts[i], ev.dur[i]), shift));
    }
    free(known);
    free(cpu);
    return HS_OK;
}

int hs_activity_open(struct hs_activity *a, const struct hs_run_rank *r, int64_t shift_ns,
                     struct hs_name_filter *loading, struct hs_err *err)
{
    struct hs_gpu g;
    struct hs_spans idle_loading = HS_SPANS_INIT;
    int64_t shift = hs_add_sat(r->offset_ns, shift_ns);
    *a = (struct hs_activity){.work = HS_SPANS_INIT, .busy = HS_SPANS_INIT, .loading = HS_SPANS_INIT};
    int rc = hs_view_gpu(r->view, &g, err);
    if (!rc)
        rc = read_loading(a, r->view, shift, loading, err);
    if (rc)
        return rc;
    a->begin = hs_add_sat(r->view->sum.first_ts, shift);
    a->starts = hs_malloc((g.n + 1) * sizeof *a->starts);
    for (size_t i = 0; i < g.n; i++) {
        int64_t start = hs_add_sat(g.ts[i], shift), end = hs_add_sat(hs_end_ns(g.ts[i], g.dur[i]), shift);
        hs_spans_push(&a->busy, start, end);
        if (g.cls[i] == HS_CLASS_COMM)
            continue;
        hs_spans_push(&a->work, start, end);
        if (g.cls[i] == HS_CLASS_COMPUTE)
            a->starts[a->nstarts++] = start;
    }
    int64_t *scratch = hs_malloc((a->nstarts + 1) * sizeof *scratch);
    hs_sort_i64(a->starts, scratch, a->nstarts);
    free(scratch);
    hs_spans_normalise(&a->work);
    hs_spans_normalise(&a->busy);
    hs_spans_normalise(&a->loading);
    hs_spans_subtract(&a->loading, &a->busy, &idle_loading);
    hs_vec_free(&a->loading);
    a->loading = idle_loading;
    a->work_before = lengths_before(&a->work);
    a->busy_before = lengths_before(&a->busy);
    a->loading_before = lengths_before(&a->loading);
    return HS_OK;
}

void hs_activity_free(struct hs_activity *a)
{
    hs_vec_free(&a->work);
    hs_vec_free(&a->busy);
    hs_vec_free(&a->loading);
    free(a->work_before);
    free(a->busy_before);
    free(a->loading_before);
    free(a->starts);
    *a = (struct hs_activity){.nstarts = 0};
}

/* Length of the spans before t. */
static int64_t length_until(const struct hs_spans *s, const int64_t *before, int64_t t)
{
    size_t lo = 0, hi = s->n; /* first span that ends after t */
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (s->p[mid].end <= t)
            lo = mid + 1;
        else
            hi = mid;
    }
    int64_t inside = lo < s->n && s->p[lo].start < t ? t - s->p[lo].start : 0;
    return hs_add_sat(before[lo], inside);
}

static double length_within(const struct hs_spans *s, const int64_t *before, struct hs_span t)
{
    return (double)(length_until(s, before, t.end) - length_until(s, before, t.start));
}

static size_t starts_until(const struct hs_activity *a, int64_t t)
{
    size_t lo = 0, hi = a->nstarts;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (a->starts[mid] < t)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

struct hs_doing hs_activity_between(const struct hs_activity *a, int64_t from, int64_t to)
{
    struct hs_span t = {from, to};
    struct hs_doing d = {0, 0, 0, 0};
    if (from >= to)
        return d;
    d.kernels = (double)(starts_until(a, to) - starts_until(a, from));
    d.work_ns = length_within(&a->work, a->work_before, t);
    d.idle_ns = (double)hs_sub_sat(to, from) - length_within(&a->busy, a->busy_before, t);
    d.loading_ns = length_within(&a->loading, a->loading_before, t);
    return d;
}

const char *hs_late_word(enum hs_late_cause c)
{
    static const char *const words[] = {"unknown", "more kernels", "longer kernels", "data loading", "gaps"};
    return words[c];
}

enum hs_late_cause hs_late_cause_of(const struct hs_doing *extra, const struct hs_doing *others)
{
    if (extra->work_ns <= 0 && extra->idle_ns <= 0)
        return HS_LATE_UNKNOWN;
    if (extra->work_ns >= extra->idle_ns) {
        double each = others->kernels > 0 ? others->work_ns / others->kernels : extra->work_ns / (extra->kernels + 1);
        return extra->kernels * each >= extra->work_ns / 2 ? HS_LATE_MORE_KERNELS : HS_LATE_LONGER_KERNELS;
    }
    return extra->loading_ns >= extra->idle_ns / 2 ? HS_LATE_LOADING : HS_LATE_GAPS;
}
