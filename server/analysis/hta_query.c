#include "analysis/hta_query.h"

#include "analysis/hta_sort.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void hta_table(struct hs_table *out, const struct hs_column_spec *columns, size_t ncolumns)
{
    hs_table_free(out);
    hs_table_init(out, columns, ncolumns);
}

/* Numbers joined by commas, as many as fit. */
static void join(char *buf, size_t cap, size_t *at, int64_t v)
{
    if (*at < cap - 24)
        *at += (size_t)snprintf(buf + *at, cap - *at, "%s%lld", *at ? ", " : "", (long long)v);
}

/* Which of the ranks asked for HTA would not find, and which it finds. */
static void note_missing(struct hs_table *out, const struct hta_trace *t, const int64_t *list, size_t n)
{
    char have[128] = "none", lack[128] = "";
    size_t h = 0, l = 0;
    for (size_t i = 0; i < t->n; i++)
        join(have, sizeof have, &h, t->ranks[i].rank);
    for (size_t i = 0; i < n; i++)
        if (!hta_rank_find(t, list[i]))
            join(lack, sizeof lack, &l, list[i]);
    if (l)
        hs_table_note(out, "HTA finds no rank %s in these files (it finds: %s)", lack, have);
}

int hta_query_open(struct hta_query *q, struct hs_run *run, const struct hs_params *params, enum hta_default_ranks def,
                   const struct hs_column_spec *columns, size_t ncolumns, struct hs_table *out, struct hs_err *err)
{
    static const int64_t zero[] = {0};
    *q = (struct hta_query){NULL, NULL, 0};
    hta_table(out, columns, ncolumns);
    int rc = hta_load(&q->t, run, HTA_LOAD, out, err);
    if (rc)
        return rc;
    size_t n = 0;
    const int64_t *list = hta_list(params, "rank", &n);
    if (!list && def == HTA_RANK_0) {
        list = zero;
        n = 1;
    }
    q->ranks = hs_calloc((list ? n : q->t->n) + 1, sizeof *q->ranks);
    for (size_t i = 0; !list && i < q->t->n; i++)
        q->ranks[q->n++] = &q->t->ranks[i];
    for (size_t i = 0; list && i < n; i++) {
        const struct hta_rank *r = hta_rank_find(q->t, list[i]);
        if (r)
            q->ranks[q->n++] = r;
    }
    note_missing(out, q->t, list, list ? n : 0);
    return 0;
}

void hta_query_close(struct hta_query *q)
{
    hs_free_array((void **)&q->ranks);
    hta_free(q->t);
    q->t = NULL;
}

int64_t hta_int(const struct hs_params *p, const char *name, int64_t def)
{
    return hs_param_declared(p, name) && hs_param_has(p, name) ? hs_param_i64(p, name) : def;
}

double hta_real(const struct hs_params *p, const char *name, double def)
{
    return hs_param_declared(p, name) && hs_param_has(p, name) ? hs_param_f64(p, name) : def;
}

bool hta_flag(const struct hs_params *p, const char *name, bool def)
{
    return hs_param_declared(p, name) && hs_param_has(p, name) ? hs_param_bool(p, name) : def;
}

const char *hta_string(const struct hs_params *p, const char *name, const char *def)
{
    return hs_param_declared(p, name) && hs_param_has(p, name) ? hs_param_text(p, name) : def;
}

const int64_t *hta_list(const struct hs_params *p, const char *name, size_t *n)
{
    *n = 0;
    return hs_param_declared(p, name) && hs_param_has(p, name) ? hs_param_list(p, name, n) : NULL;
}

bool hta_in_list(int64_t v, const int64_t *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == v)
            return true;
    return false;
}

/* ---- cells ---- */

void hta_cell_id(struct hs_table *out, const struct hs_view *v, struct hs_id id)
{
    if (id.kind == HS_ID_INT)
        hs_cell_i64(out, id.v);
    else if (id.kind == HS_ID_TEXT && id.v >= 0)
        hs_cell_text(out, hs_view_str(v, (uint32_t)id.v));
    else
        hs_cell_null(out);
}

void hta_cell_pid(struct hs_table *out, const struct hta_rank *r, const struct hta_row *x)
{
    if (x->lane < r->view->nlanes)
        hta_cell_id(out, r->view, r->view->lanes[x->lane].pid);
    else
        hs_cell_null(out);
}

void hta_cell_tid(struct hs_table *out, const struct hta_rank *r, const struct hta_row *x)
{
    if (x->lane < r->view->nlanes)
        hta_cell_id(out, r->view, r->view->lanes[x->lane].tid);
    else
        hs_cell_null(out);
}

void hta_cell_shared(struct hs_table *out, struct hs_cell *memo, struct hs_str text)
{
    if (memo->kind == HS_C_TEXT) {
        if (!out->full && !hs_vec_push(&out->cells, *memo))
            out->full = true;
        return;
    }
    hs_cell_text(out, text);
    if (!out->full)
        *memo = out->cells.p[out->cells.n - 1];
}

/* ---- samples ---- */

double hta_sum(const double *v, size_t n)
{
    double s = 0;
    for (size_t i = 0; i < n; i++)
        s += v[i];
    return s;
}

double hta_std(const double *v, size_t n)
{
    if (n < 2)
        return NAN;
    double m = hta_sum(v, n) / (double)n, s = 0;
    for (size_t i = 0; i < n; i++)
        s += (v[i] - m) * (v[i] - m);
    return sqrt(s / (double)(n - 1));
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double sorted_quantile(const double *v, size_t n, double q)
{
    if (!n)
        return NAN;
    double p = (double)(n - 1) * q;
    size_t i = (size_t)p;
    if (i >= n - 1)
        return v[n - 1];
    return v[i] + (v[i + 1] - v[i]) * (p - (double)i);
}

double hta_quantile(const double *v, size_t n, double q)
{
    double *s = hs_malloc((n + 1) * sizeof *s);
    for (size_t i = 0; i < n; i++)
        s[i] = v[i];
    qsort(s, n, sizeof *s, ascending);
    double r = sorted_quantile(s, n, q < 0 ? 0 : q > 1 ? 1 : q);
    hs_free_array((void **)&s);
    return r;
}

double hta_round(double v, int decimals)
{
    double scale = pow(10, decimals);
    return rint(v * scale) / scale;
}

struct hta_describe hta_describe(double *v, size_t n)
{
    struct hta_describe d = {(double)n, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    if (!n)
        return d;
    d.mean = hta_sum(v, n) / (double)n;
    d.std = hta_std(v, n);
    qsort(v, n, sizeof *v, ascending);
    d.min = v[0];
    d.p25 = sorted_quantile(v, n, .25);
    d.p50 = sorted_quantile(v, n, .5);
    d.p75 = sorted_quantile(v, n, .75);
    d.max = v[n - 1];
    return d;
}

void hta_cell_describe(struct hs_table *out, const struct hta_describe *d, int decimals)
{
    const double v[] = {d->count, d->mean, d->std, d->min, d->p25, d->p50, d->p75, d->max};
    for (size_t i = 0; i < HTA_COUNT(v); i++)
        hs_cell_f64(out, decimals < 0 ? v[i] : hta_round(v[i], decimals));
}

/* ---- intervals ---- */

void hta_merge(const struct hta_trace *t, const struct hta_rank *r, uint32_t cls, struct hta_ivs *out)
{
    double *key = hs_malloc((r->n + 1) * sizeof *key);
    uint32_t *row = hs_malloc((r->n + 1) * sizeof *row), *order = hs_malloc((r->n + 1) * sizeof *order);
    size_t n = 0;
    out->n = 0;
    for (size_t i = 0; i < r->n; i++) {
        const struct hta_row *x = &r->rows[i];
        if (!hta_on_stream(x) || (cls != HTA_ANY_CLASS && hta_info(t, x->name)->cls != cls))
            continue;
        key[n] = (double)x->ts;
        row[n++] = (uint32_t)i;
    }
    hta_argsort_stable(key, n, order);
    for (size_t i = 0; i < n; i++) {
        const struct hta_row *x = &r->rows[row[order[i]]];
        struct hta_iv iv = {(long double)x->ts, (long double)x->ts + x->dur + x->rest};
        if (out->n && iv.a <= out->p[out->n - 1].b)
            out->p[out->n - 1].b = fmaxl(out->p[out->n - 1].b, iv.b);
        else if (!hs_vec_push(out, iv))
            break;
    }
    hs_free_array((void **)&key);
    hs_free_array((void **)&row);
    hs_free_array((void **)&order);
}

long double hta_ivs_length(const struct hta_ivs *v)
{
    long double s = 0;
    for (size_t i = 0; i < v->n; i++)
        s += v->p[i].b - v->p[i].a;
    return s;
}
