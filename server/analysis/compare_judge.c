/* Step times of two runs, and whether one is slower. */
#include "analysis/compare.h"
#include "trace/intervals.h"
#include "trace/stats.h"

#include <math.h>
#include <stdlib.h>

struct step {
    int64_t number, ns;
};

static int by_number(const void *a, const void *b)
{
    const struct step *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->ns < y->ns) - (x->ns > y->ns); /* the longest first */
}

/* First start and last end of the device work of each step of a view. */
struct extent {
    int64_t first, last;
};

static struct extent *extents(const struct hs_view *v, const struct hs_gpu *g)
{
    struct extent *x = hs_malloc((v->nsteps + 1) * sizeof *x);
    for (size_t k = 0; k < v->nsteps; k++)
        x[k] = (struct extent){INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < g->n; i++)
        if (g->step[i] >= 0 && (size_t)g->step[i] < v->nsteps) {
            struct extent *at = &x[g->step[i]];
            at->first = hs_min_i64(at->first, g->ts[i]);
            at->last = hs_max_i64(at->last, hs_end_ns(g->ts[i], g->dur[i]));
        }
    return x;
}

static int64_t length_of(const struct hs_view *v, const struct extent *x, size_t k)
{
    if (x[k].first > x[k].last)
        return hs_max_i64(0, v->steps[k].dur);
    bool next = k + 1 < v->nsteps && v->steps[k + 1].number == v->steps[k].number + 1 &&
                x[k + 1].first <= x[k + 1].last && x[k + 1].first >= x[k].first;
    return hs_sub_sat(next ? x[k + 1].first : x[k].last, x[k].first);
}

static int gather(struct hs_run *run, const struct hs_params *p, int side, struct step *steps, size_t *n,
                  struct hs_err *err)
{
    *n = 0;
    for (size_t i = 0; i < run->n; i++) {
        struct hs_view *v = run->ranks[i].view;
        struct hs_gpu g;
        if (!v->nsteps || !hs_compare_rank_on(p, side, run, i))
            continue;
        int rc = hs_view_gpu(v, &g, err);
        if (rc)
            return rc;
        uint8_t *on = hs_compare_steps_on(p, side, v);
        struct extent *x = extents(v, &g);
        for (size_t k = 0; k < v->nsteps; k++)
            if (on[k])
                steps[(*n)++] = (struct step){v->steps[k].number, length_of(v, x, k)};
        free(x);
        free(on);
    }
    return HS_OK;
}

int hs_compare_step_time(struct hs_run *run, const struct hs_params *p, int side, struct hs_step_time *out,
                         struct hs_err *err)
{
    size_t most = 0, n = 0, found;
    for (size_t i = 0; i < run->n; i++)
        most += run->ranks[i].view->nsteps;
    struct step *steps = hs_calloc(most + 1, sizeof *steps);
    int64_t *ns = hs_calloc(most + 1, sizeof *ns);
    int rc = gather(run, p, side, steps, &found, err);
    if (!rc) {
        qsort(steps, found, sizeof *steps, by_number);
        for (size_t i = 0; i < found; i++)
            if (!i || steps[i].number != steps[i - 1].number)
                ns[n++] = steps[i].ns;
        *out = (struct hs_step_time){n, hs_mean_i64(ns, n), hs_std_i64(ns, n)};
    }
    free(steps);
    free(ns);
    return rc;
}

/* The 95 % quantile of Student's t; beyond 30 degrees of freedom 1.645 + 1.55 / df, which is off by less than 0.002. */
static double t95(double df)
{
    static const double table[] = {6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812,
                                   1.796, 1.782, 1.771, 1.761, 1.753, 1.746, 1.740, 1.734, 1.729, 1.725,
                                   1.721, 1.717, 1.714, 1.711, 1.708, 1.706, 1.703, 1.701, 1.699, 1.697};
    if (df < 1)
        return table[0];
    return df < 31 ? table[(int)df - 1] : 1.645 + 1.55 / df;
}

struct hs_judgement hs_compare_judge(const struct hs_step_time *base, const struct hs_step_time *test, double limit)
{
    struct hs_judgement j = {HS_UNDECIDED, NAN, NAN, NAN};
    if (!base->n || !test->n || !(base->mean_ns > 0))
        return j;
    j.change = (test->mean_ns - base->mean_ns) / base->mean_ns;
    if (base->n < 2 || test->n < 2)
        return j;
    double a = base->std_ns * base->std_ns / (double)base->n, b = test->std_ns * test->std_ns / (double)test->n;
    /* Welch-Satterthwaite */
    double df = a + b > 0 ? (a + b) * (a + b) / (a * a / (double)(base->n - 1) + b * b / (double)(test->n - 1)) : 1e9;
    double half = t95(df) * sqrt(a + b) / base->mean_ns;
    j.low = j.change - half;
    j.high = j.change + half;
    j.verdict = j.low > limit ? HS_OVER : j.high <= limit ? HS_WITHIN : HS_UNDECIDED;
    return j;
}
