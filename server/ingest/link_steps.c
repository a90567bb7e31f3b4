/* Steps: spans named ProfilerStep#N of the CPU side. An event belongs to the step of its own process that contains its
 * start; of several that do, the one that starts last. To look that up quickly each process' time is cut into segments
 * that each have one winning step. */
#include "ingest/link_in.h"
#include "ingest/link_sort.h"

struct segment {
    int64_t from; /* to the next one's */
    int32_t step; /* -1: between steps */
};

struct timeline { /* of one process */
    HS_VEC(struct segment);
    size_t at; /* where the last look-up ended */
};

/* ProfilerStep, blanks, #, blanks, a number; what follows is not looked at. "ProfilerStep*" is no step. */
static bool step_number(struct hs_str s, int64_t *number)
{
    static const char word[] = "ProfilerStep";
    size_t i = sizeof word - 1;
    if (!hs_str_starts(s, word))
        return false;
    while (i < s.n && (s.p[i] == ' ' || s.p[i] == '\t'))
        i++;
    if (i == s.n || s.p[i++] != '#')
        return false;
    while (i < s.n && (s.p[i] == ' ' || s.p[i] == '\t'))
        i++;
    size_t digits = i;
    int64_t v = 0;
    for (; i < s.n && s.p[i] >= '0' && s.p[i] <= '9'; i++)
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, s.p[i] - '0', &v))
            return false;
    *number = v;
    return i > digits;
}

static bool by_start(const void *ctx, uint32_t a, uint32_t b)
{
    const struct hs_rows *r = ctx;
    return r->ts[a] != r->ts[b] ? r->ts[a] < r->ts[b] : a < b;
}

/* Numbers by name symbol for the few that are steps; others -1. One byte a symbol would do, but steps are found faster by
 * looking at each distinct name once. */
static int64_t *numbers(const struct hs_linking *l, bool *any)
{
    size_t n = l->t->syms.n;
    int64_t *v = NULL, k;
    for (size_t i = 0; i < n; i++) {
        if (!step_number(l->t->syms.p[i], &k))
            continue;
        if (!v) {
            v = hs_malloc(n * sizeof *v);
            for (size_t j = 0; j < n; j++)
                v[j] = -1;
        }
        v[i] = k;
    }
    *any = v != NULL;
    return v;
}

static void find_steps(const struct hs_linking *l)
{
    const struct hs_rows *r = l->r;
    bool any, annotations = false;
    int64_t *number = numbers(l, &any);
    if (!any)
        return;
    struct {
        HS_VEC(uint32_t);
    } v = HS_VEC_INIT(HS_MAX_EVENTS);
    for (size_t e = 0; e < r->n; e++) {
        if (number[r->name[e]] < 0 || hs_row_side(l, e) != HS_SIDE_CPU)
            continue;
        annotations |= hs_row_kind(l, e) == HS_CAT_ANNOTATION;
        (void)hs_vec_push(&v, (uint32_t)e);
    }
    uint32_t *tmp = hs_malloc(v.n * sizeof *tmp);
    hs_sort_rows(v.p, v.n, tmp, by_start, r);
    free(tmp);
    for (size_t i = 0; i < v.n; i++) {
        uint32_t e = v.p[i];
        if (annotations && hs_row_kind(l, e) != HS_CAT_ANNOTATION)
            continue;
        struct hs_step_row s = {r->ts[e], r->dur[e], number[r->name[e]], e, r->lane[e]};
        (void)hs_vec_push(&l->out->steps, s);
    }
    hs_vec_free(&v);
    free(number);
}

static void add_segment(struct timeline *t, int64_t from, int32_t step)
{
    if (t->n && t->p[t->n - 1].from == from)
        t->p[t->n - 1].step = step;
    else
        (void)hs_vec_push(t, ((struct segment){from, step}));
}

/* Closes the open steps that end at or before `until`, innermost first. */
static void close_until(struct timeline *t, const struct hs_step_row *steps, int32_t *open, size_t *depth,
                        int64_t until)
{
    while (*depth) {
        const struct hs_step_row *top = &steps[open[*depth - 1]];
        int64_t end = top->ts + top->dur;
        if (end > until)
            return;
        for (; *depth && steps[open[*depth - 1]].ts + steps[open[*depth - 1]].dur <= end; --*depth)
            ;
        add_segment(t, end, *depth ? open[*depth - 1] : -1);
    }
}

static bool by_process(const void *ctx, uint32_t a, uint32_t b)
{
    const struct hs_linking *l = ctx;
    return l->process[l->out->steps.p[a].lane] < l->process[l->out->steps.p[b].lane]; /* stable: then by start */
}

static void cut_timelines(const struct hs_linking *l, struct timeline *lines)
{
    const struct hs_step_row *steps = l->out->steps.p;
    size_t n = l->out->steps.n, depth = 0;
    int32_t *open = hs_malloc(n * sizeof *open);
    uint32_t *v = hs_malloc(n * sizeof *v), *tmp = hs_malloc(n * sizeof *tmp);
    for (size_t i = 0; i < n; i++)
        v[i] = (uint32_t)i;
    hs_sort_rows(v, n, tmp, by_process, l);
    for (size_t i = 0; i < n; i++) {
        const struct hs_step_row *s = &steps[v[i]];
        uint32_t p = l->process[s->lane];
        lines[p].max = 2 * n + 1;
        if (s->dur) {
            close_until(&lines[p], steps, open, &depth, s->ts);
            add_segment(&lines[p], s->ts, (int32_t)v[i]);
            open[depth++] = (int32_t)v[i];
        }
        if (i + 1 == n || l->process[steps[v[i + 1]].lane] != p)
            close_until(&lines[p], steps, open, &depth, INT64_MAX);
    }
    free(tmp);
    free(v);
    free(open);
}

static int32_t step_at(struct timeline *t, int64_t ts)
{
    size_t at = t->at;
    bool near = at < t->n && t->p[at].from <= ts && (at + 1 == t->n || ts < t->p[at + 1].from);
    if (!near) {
        size_t lo = 0, hi = t->n; /* the first segment that starts later */
        while (lo < hi) {
            size_t mid = lo + (hi - lo) / 2;
            if (t->p[mid].from <= ts)
                lo = mid + 1;
            else
                hi = mid;
        }
        if (!lo)
            return -1;
        t->at = lo - 1;
    }
    return t->p[t->at].step;
}

void hs_link_steps(const struct hs_linking *l)
{
    const struct hs_rows *r = l->r;
    find_steps(l);
    l->out->sum.steps = (int64_t)l->out->steps.n;
    for (size_t e = 0; e < r->n; e++)
        l->out->step[e] = -1;
    if (!l->out->steps.n)
        return;
    struct timeline *lines = hs_calloc(l->nprocesses + 1, sizeof *lines);
    cut_timelines(l, lines);
    for (size_t e = 0; e < r->n; e++) {
        struct timeline *t = &lines[l->process[r->lane[e]]];
        if (t->n && r->flags[e] & HS_ROW_HAS_TS && !hs_cat_is_device(hs_row_kind(l, e)))
            l->out->step[e] = step_at(t, r->ts[e]);
    }
    for (uint32_t p = 0; p < l->nprocesses; p++)
        hs_vec_free(&lines[p]);
    free(lines);
}
