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

static size_t gather(struct hs_run *run, const struct hs_params *p, int side, struct step *steps)
{
    size_t n = 0;
    for (size_t i = 0; i < run->n; i++) {
        const struct hs_view *v = run->ranks[i].view;
        if (!hs_compare_rank_on(p, side, run, i))
            continue;
        uint8_t *on = hs_compare_steps_on(p, side, v);
        for (size_t k = 0; k < v->nsteps; k++)
            if (on[k])
                steps[n++] = (struct step){v->steps[k].number, hs_max_i64(0, v->steps[k].dur)};
        free(on);
    }
    return n;
}

void hs_compare_step_time(struct hs_run *run, const struct hs_params *p, int side, struct hs_step_time *out)
{
    size_t most = 0, n = 0;
    for (size_t i = 0; i < run->n; i++)
        most += run->ranks[i].view->nsteps;
    struct step *steps = hs_calloc(most + 1, sizeof *steps);
    int64_t *ns = hs_calloc(most + 1, sizeof *ns);
    most = gather(run, p, side, steps);
    qsort(steps, most, sizeof *steps, by_number);
    for (size_t i = 0; i < most; i++)
        if (!i || steps[i].number != steps[i - 1].number)
            ns[n++] = steps[i].ns;
    *out = (struct hs_step_time){n, hs_mean_i64(ns, n), hs_std_i64(ns, n)};
    free(steps);
    free(ns);
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
