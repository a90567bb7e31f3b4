/* get_profiler_steps, get_potential_stragglers. */
#include "analysis/hta_query.h"
#include "analysis/hta_sort.h"
#include "trace/intervals.h"
#include "trace/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct hs_column_spec steps_columns[] = {
    {"iteration", HS_T_INT, "1", "number of a ProfilerStep in the rows HTA keeps, of any rank"},
};
static const struct hs_column_spec straggler_columns[] = {HTA_RANK_COLUMN};

struct numbers {
    HS_VEC(int64_t);
};

/* Distinct step numbers of all ranks, ascending. */
static void find_steps(const struct hta_trace *t, struct numbers *out)
{
    struct hta_map seen;
    hta_map_init(&seen);
    for (size_t k = 0; k < t->n; k++)
        for (size_t i = 0; i < t->ranks[k].n; i++) {
            const struct hta_row *x = &t->ranks[k].rows[i];
            int64_t number;
            if (!hta_name_has(t, x, HTA_IS_STEP_WORD) || !hta_step_number(hta_text(t, x->name), &number))
                continue;
            uint32_t *at = hta_map_at(&seen, number);
            if (*at == HTA_NONE && hs_vec_push(out, number))
                *at = 1;
        }
    int64_t *scratch = hs_malloc((out->n + 1) * sizeof *scratch);
    hs_sort_i64(out->p, scratch, out->n);
    hs_free_array((void **)&scratch);
    hta_map_free(&seen);
}

int hta_steps(struct hs_run *run, const struct hs_params *params, struct hs_table *out, struct hs_err *err)
{
    struct hta_query q;
    struct numbers steps = HS_VEC_INIT(HS_MAX_EVENTS);
    int rc = hta_query_open(&q, run, params, HTA_ALL_RANKS, steps_columns, HTA_COUNT(steps_columns), out, err);
    if (!rc)
        find_steps(q.t, &steps);
    for (size_t i = 0; i < steps.n; i++) {
        hs_table_row(out);
        hs_cell_i64(out, steps.p[i]);
    }
    hs_vec_free(&steps);
    hta_query_close(&q);
    return rc ? rc : hs_table_check(out, err);
}

/* ---- stragglers ---- */

/* The last run of one collective kernel in one step of one rank. */
struct run_of {
    int64_t stream, iter, rank;
    uint32_t name, seq;
    double at, len; /* start since the first event, duration; both in step lengths */
};
struct runs {
    HS_VEC(struct run_of);
};

#define CMP(f)        \
    if (x->f != y->f) \
    return x->f < y->f ? -1 : 1

static int by_kernel_step_rank(const void *a, const void *b)
{
    const struct run_of *x = a, *y = b;
    CMP(stream);
    CMP(name);
    CMP(iter);
    CMP(rank);
    CMP(seq);
    return 0;
}

static bool same_kernel(const struct run_of *x, const struct run_of *y)
{
    return x->stream == y->stream && x->name == y->name;
}

struct scale {
    int64_t first;
    double step; /* mean length of a step: all of the chosen steps together, by their number */
};

/* Over the rows of the chosen steps. False when there are none. */
static bool find_scale(const struct hta_trace *t, const struct hta_map *chosen, struct scale *out)
{
    struct hta_map seen;
    double last = -INFINITY;
    int64_t first = INT64_MAX;
    hta_map_init(&seen);
    for (size_t k = 0; k < t->n; k++)
        for (size_t i = 0; i < t->ranks[k].n; i++) {
            const struct hta_row *x = &t->ranks[k].rows[i];
            if (x->iter == HTA_NO_ITER || hta_map_get(chosen, x->iter) == HTA_NONE)
                continue;
            first = x->ts < first ? x->ts : first;
            last = fmax(last, hta_end(x));
            *hta_map_at(&seen, x->iter) = 1;
        }
    *out = (struct scale){first, (last - (double)first) / (double)seen.n};
    bool any = seen.n > 0;
    hta_map_free(&seen);
    return any;
}

/* Long ncclKernel* rows of the chosen steps but step 0, the last of each (rank, stream, step, name). */
static void find_runs(struct hta_trace *t, const struct hta_map *chosen, const struct scale *s, struct runs *out)
{
    const uint32_t *text = hta_text_order(t);
    for (size_t k = 0; k < t->n; k++)
        for (uint32_t i = 0; i < t->ranks[k].n; i++) {
            const struct hta_row *x = &t->ranks[k].rows[i];
            if (x->iter <= 0 || hta_map_get(chosen, x->iter) == HTA_NONE || x->stream <= 0 || x->dur < s->step * 0.01 ||
                !hta_name_has(t, x, HTA_IS_NCCL_KERNEL))
                continue;
            struct run_of r = {x->stream,       x->iter, t->ranks[k].rank,
                               text[x->name],   i,       (double)hs_sub_sat(x->ts, s->first) / s->step,
                               x->dur / s->step};
            if (!hs_vec_push(out, r))
                return;
        }
    if (out->n)
        qsort(out->p, out->n, sizeof *out->p, by_kernel_step_rank);
    size_t n = 0;
    for (size_t i = 0; i < out->n; i++) {
        const struct run_of *a = &out->p[i], *b = a + 1;
        if (i + 1 < out->n && same_kernel(a, b) && a->iter == b->iter && a->rank == b->rank)
            continue;
        out->p[n++] = *a;
    }
    out->n = n;
}

/* The kernel whose duration differs most between the ranks: [*from, *to) of `runs`. */
static bool pick_kernel(const struct runs *runs, size_t *from, size_t *to)
{
    double best = -INFINITY, *v = hs_malloc((runs->n + 1) * sizeof *v);
    for (size_t i = 0, end; i < runs->n; i = end) {
        double sum = 0;
        size_t steps = 0;
        for (end = i; end < runs->n && same_kernel(&runs->p[i], &runs->p[end]);) {
            size_t n = 0, first = end;
            for (; end < runs->n && same_kernel(&runs->p[i], &runs->p[end]) && runs->p[first].iter == runs->p[end].iter;
                 end++)
                v[n++] = runs->p[end].len;
            double sd = hta_std(v, n);
            sum += isnan(sd) ? 0 : sd;
            steps += isnan(sd) ? 0 : 1;
        }
        if (steps && sum / (double)steps > best) {
            best = sum / (double)steps;
            *from = i;
            *to = end;
        }
    }
    hs_free_array((void **)&v);
    return best > -INFINITY;
}

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* A point for each step in which the rank is among the `want` latest. False: a step has fewer ranks (HTA stops there). */
static bool count_points(const struct hta_trace *t, const struct runs *runs, size_t from, size_t to, size_t want,
                         double *points)
{
    double *v = hs_malloc((runs->n + 1) * sizeof *v);
    bool whole = true;
    for (size_t i = from, end; i < to; i = end) {
        size_t n = 0;
        for (end = i; end < to && runs->p[end].iter == runs->p[i].iter; end++)
            v[n++] = runs->p[end].at;
        qsort(v, n, sizeof *v, descending);
        whole &= n >= want;
        double limit = v[n >= want ? want - 1 : n - 1];
        for (size_t k = i; k < end; k++) {
            size_t rank = (size_t)(hta_rank_find(t, runs->p[k].rank) - t->ranks);
            points[rank] = fmax(points[rank], 0) + (runs->p[k].at >= limit);
        }
    }
    hs_free_array((void **)&v);
    return whole;
}

static void write_latest(const struct hta_trace *t, const double *points, size_t want, struct hs_table *out)
{
    double *key = hs_malloc((t->n + 1) * sizeof *key);
    uint32_t *who = hs_malloc((t->n + 1) * sizeof *who), *order = hs_malloc((t->n + 1) * sizeof *order);
    size_t n = 0;
    for (uint32_t i = 0; i < t->n; i++)
        if (points[i] >= 0) {
            key[n] = points[i];
            who[n++] = i;
        }
    hta_argsort_desc(key, n, order);
    for (size_t i = 0; i < n && i < want; i++) {
        hs_table_row(out);
        hs_cell_i64(out, t->ranks[who[order[i]]].rank);
    }
    hs_free_array((void **)&key);
    hs_free_array((void **)&who);
    hs_free_array((void **)&order);
}

/* "first", numbers joined by commas, or nothing for all; numbers that are no step are passed over, as HTA does. */
static void choose_steps(const struct numbers *steps, const char *asked, struct hta_map *chosen)
{
    for (size_t i = 0; i < steps->n; i++) {
        bool yes = !asked || (!strcmp(asked, "first") && i == 0);
        for (const char *p = asked; p && !yes; p = (p = strchr(p, ',')) ? p + 1 : NULL)
            yes = *p >= '0' && *p <= '9' && strtoll(p, NULL, 10) == steps->p[i];
        if (yes)
            *hta_map_at(chosen, steps->p[i]) = 1;
    }
}

static void stragglers(struct hta_trace *t, const struct hs_params *params, struct hs_table *out)
{
    struct numbers steps = HS_VEC_INIT(HS_MAX_EVENTS);
    struct runs runs = HS_VEC_INIT(HS_MAX_EVENTS);
    struct hta_map chosen;
    struct scale s;
    size_t from = 0, to = 0;
    int64_t want = hta_int(params, "num_candidates", 2);
    hta_map_init(&chosen);
    find_steps(t, &steps);
    choose_steps(&steps, hta_string(params, "profiler_steps", NULL), &chosen);
    double *points = hs_malloc((t->n + 1) * sizeof *points);
    for (size_t i = 0; i < t->n; i++)
        points[i] = -1;
    want = want < 1 ? 1 : want;
    if (!chosen.n || !find_scale(t, &chosen, &s)) {
        hs_table_note(out, "no profiler steps to look at; HTA stops here");
        goto out;
    }
    find_runs(t, &chosen, &s, &runs);
    if (!pick_kernel(&runs, &from, &to)) {
        hs_table_note(out, "no long kernel named ncclKernel* runs on two ranks or more in these steps; HTA knows no "
                           "other names and stops here");
        goto out;
    }
    if (!count_points(t, &runs, from, to, (size_t)want, points))
        hs_table_note(out, "some step has fewer ranks than num_candidates; HTA stops here");
    write_latest(t, points, (size_t)want, out);
out:
    hs_free_array((void **)&points);
    hs_vec_free(&steps);
    hs_vec_free(&runs);
    hta_map_free(&chosen);
}

int hta_stragglers(struct hs_run *run, const struct hs_params *params, struct hs_table *out, struct hs_err *err)
{
    struct hta_query q;
    int rc = hta_query_open(&q, run, params, HTA_ALL_RANKS, straggler_columns, HTA_COUNT(straggler_columns), out, err);
    if (!rc)
        stragglers(q.t, params, out);
    hta_query_close(&q);
    return rc ? rc : hs_table_check(out, err);
}
