/* get_memory_bw_time_series, get_memory_bw_summary: copies and memsets by kind. */
#include "analysis/hta_query.h"
#include "analysis/hta_sort.h"

#include <math.h>
#include <stdlib.h>

struct point {
    double ts, bw; /* bw: the change, later the sum so far */
    struct hs_str kind;
    uint32_t row, name;
};
struct points {
    HS_VEC(struct point);
};

static const struct hs_column_spec series_columns[] = {
    HTA_RANK_COLUMN,
    {"ts", HS_T_REAL, "us", "start or end of a copy; since the first event of the run"},
    {"pid", HS_T_INT, "1", "of the device event"},
    {"name", HS_T_TEXT, "", "kind of copy"},
    {"memory_bw_gbps", HS_T_REAL, "GB/s", "sum of the bandwidths of the copies of this kind that are under way"},
};
static const struct hs_column_spec summary_columns[] = {
    HTA_RANK_COLUMN,
    {"name", HS_T_TEXT, "", "kind of copy"},
    {"memory_bw_gbps_count", HS_T_REAL, "1", "points of the series above 0"},
    {"memory_bw_gbps_mean", HS_T_REAL, "GB/s", "mean over these points, not over time"},
    {"memory_bw_gbps_std", HS_T_REAL, "GB/s", "sample standard deviation"},
    {"memory_bw_gbps_min", HS_T_REAL, "GB/s", "smallest"},
    {"memory_bw_gbps_25%", HS_T_REAL, "GB/s", "first quartile of the points"},
    {"memory_bw_gbps_50%", HS_T_REAL, "GB/s", "median of the points"},
    {"memory_bw_gbps_75%", HS_T_REAL, "GB/s", "third quartile of the points"},
    {"memory_bw_gbps_max", HS_T_REAL, "GB/s", "largest"},
};

struct named {
    struct hs_str kind;
    uint32_t name;
};
static int by_kind(const void *a, const void *b)
{
    return hs_str_cmp(((const struct named *)a)->kind, ((const struct named *)b)->kind);
}

/* Stable order by kind ascending of the points in the order `sorted`. Kinds are numbered by their distinct names. */
static void order_by_kind(const struct points *p, const uint32_t *sorted, uint32_t *order)
{
    struct {
        HS_VEC(struct named);
    } names = HS_VEC_INIT(HS_MAX_EVENTS);
    struct hta_map number;
    double *key = hs_malloc((p->n + 1) * sizeof *key);
    hta_map_init(&number);
    for (size_t i = 0; i < p->n; i++) {
        uint32_t *at = hta_map_at(&number, p->p[i].name);
        struct named new = {p->p[i].kind, p->p[i].name};
        if (*at == HTA_NONE && hs_vec_push(&names, new))
            *at = 0;
    }
    if (names.n)
        qsort(names.p, names.n, sizeof *names.p, by_kind);
    for (uint32_t i = 0, k = 0; i < names.n; i++) {
        k += i && !hs_str_eq(names.p[i].kind, names.p[i - 1].kind);
        *hta_map_at(&number, names.p[i].name) = k;
    }
    for (size_t i = 0; i < p->n; i++)
        key[i] = (double)hta_map_get(&number, p->p[sorted[i]].name);
    hta_argsort_stable(key, p->n, order);
    hs_free_array((void **)&key);
    hs_vec_free(&names);
    hta_map_free(&number);
}

static int bandwidths(const struct hta_rank *r, const double **out, struct hs_err *err)
{
    *out = NULL;
    for (size_t i = 0; i < r->view->nfields; i++)
        if (r->view->fields[i].level == 1 &&
            hs_str_is(hs_view_str(r->view, r->view->fields[i].key), "memory bandwidth (GB/s)"))
            return r->view->ops->arg_f64(r->view, "memory bandwidth (GB/s)", 1, out, err);
    return 0;
}

/* By kind ascending, then by time as HTA's sort leaves it; all starts were put in before all ends. */
static int series(const struct hta_trace *t, const struct hta_rank *r, struct points *out, struct hs_err *err)
{
    const double *bw;
    int rc = bandwidths(r, &bw, err);
    if (rc)
        return rc;
    for (int end = 0; end < 2; end++)
        for (uint32_t i = 0; i < r->n; i++) {
            const struct hta_row *x = &r->rows[i];
            if (!hta_on_stream(x) || hta_info(t, x->name)->cls != HTA_MEMORY)
                continue;
            double v = bw && !isnan(bw[x->index]) ? bw[x->index] : 0;
            struct point p = {(double)x->ts, v, hta_memory_kind(hta_text(t, x->name)), i, x->name};
            if (end) {
                p.ts += x->dur != 0 ? x->dur : 1;
                p.bw = -v;
            }
            if (!hs_vec_push(out, p))
                return hs_fail(err, HS_ELIMIT, "too many copies");
        }
    size_t n = out->n;
    struct point *old = hs_malloc((n + 1) * sizeof *old);
    double *key = hs_malloc((n + 1) * sizeof *key);
    uint32_t *sorted = hs_malloc((n + 1) * sizeof *sorted), *order = hs_malloc((n + 1) * sizeof *order);
    for (size_t i = 0; i < n; i++) {
        old[i] = out->p[i];
        key[i] = old[i].ts;
    }
    hta_argsort(key, n, sorted);
    order_by_kind(out, sorted, order);
    for (size_t i = 0; i < n; i++) {
        out->p[i] = old[sorted[order[i]]];
        if (i && hs_str_eq(out->p[i].kind, out->p[i - 1].kind))
            out->p[i].bw += out->p[i - 1].bw;
    }
    hs_free_array((void **)&old);
    hs_free_array((void **)&key);
    hs_free_array((void **)&sorted);
    hs_free_array((void **)&order);
    return 0;
}

static void write_series(const struct hta_rank *r, const struct points *p, struct hs_table *out)
{
    for (size_t i = 0; i < p->n; i++) {
        hs_table_row(out);
        hs_cell_i64(out, r->rank);
        hs_cell_f64(out, p->p[i].ts);
        hta_cell_pid(out, r, &r->rows[p->p[i].row]);
        hs_cell_text(out, p->p[i].kind);
        hs_cell_f64(out, p->p[i].bw);
    }
}

static void write_summary(const struct hta_rank *r, const struct points *p, struct hs_table *out)
{
    double *v = hs_malloc((p->n + 1) * sizeof *v);
    for (size_t i = 0, end; i < p->n; i = end) {
        size_t n = 0;
        for (end = i; end < p->n && hs_str_eq(p->p[end].kind, p->p[i].kind); end++)
            if (p->p[end].bw > 0)
                v[n++] = p->p[end].bw;
        if (!n)
            continue;
        struct hta_describe d = hta_describe(v, n);
        hs_table_row(out);
        hs_cell_i64(out, r->rank);
        hs_cell_text(out, p->p[i].kind);
        hta_cell_describe(out, &d, -1);
    }
    hs_free_array((void **)&v);
}

typedef void write_points(const struct hta_rank *r, const struct points *p, struct hs_table *out);

static int each_rank(struct hs_run *run, const struct hs_params *params, const struct hs_column_spec *columns,
                     size_t ncolumns, write_points *write, struct hs_table *out, struct hs_err *err)
{
    struct hta_query q;
    int rc = hta_query_open(&q, run, params, HTA_RANK_0, columns, ncolumns, out, err);
    for (size_t i = 0; !rc && i < q.n; i++) {
        struct points p = HS_VEC_INIT(HS_MAX_EVENTS);
        rc = series(q.t, q.ranks[i], &p, err);
        if (!rc && !p.n)
            hs_table_note(out, "rank %lld has no copies or memsets", (long long)q.ranks[i]->rank);
        if (!rc)
            write(q.ranks[i], &p, out);
        hs_vec_free(&p);
    }
    hta_query_close(&q);
    return rc ? rc : hs_table_check(out, err);
}

int hta_memory_bandwidth_series(struct hs_run *run, const struct hs_params *params, struct hs_table *out,
                                struct hs_err *err)
{
    return each_rank(run, params, series_columns, HTA_COUNT(series_columns), write_series, out, err);
}

int hta_memory_bandwidth(struct hs_run *run, const struct hs_params *params, struct hs_table *out, struct hs_err *err)
{
    return each_rank(run, params, summary_columns, HTA_COUNT(summary_columns), write_summary, out, err);
}
