/* get_queue_length_summary, get_queue_length_time_series, get_time_spent_blocked_on_full_queue. */
#include "analysis/hta_queue.h"

#include "analysis/hta_sort.h"
#include "trace/intervals.h"
#include "trace/stats.h"

#include <math.h>

void hta_by_corr_build(const struct hta_rank *r, struct hta_by_corr *b)
{
    hta_map_init(&b->group);
    for (size_t i = 0; i < r->n; i++) {
        if (!hta_on_stream(&r->rows[i]))
            continue;
        uint32_t *g = hta_map_at(&b->group, r->rows[i].corr);
        if (*g == HTA_NONE)
            *g = (uint32_t)b->group.n - 1;
    }
    b->at = hs_calloc(b->group.n + 2, sizeof *b->at);
    b->rows = hs_malloc((r->n + 1) * sizeof *b->rows);
    for (size_t i = 0; i < r->n; i++)
        if (hta_on_stream(&r->rows[i]))
            b->at[hta_map_get(&b->group, r->rows[i].corr) + 2]++;
    for (size_t g = 2; g < b->group.n + 2; g++)
        b->at[g] += b->at[g - 1];
    for (uint32_t i = 0; i < r->n; i++)
        if (hta_on_stream(&r->rows[i]))
            b->rows[b->at[hta_map_get(&b->group, r->rows[i].corr) + 1]++] = i;
}

const uint32_t *hta_by_corr_find(const struct hta_by_corr *b, int64_t corr, size_t *n)
{
    uint32_t g = hta_map_get(&b->group, corr);
    *n = g == HTA_NONE ? 0 : b->at[g + 1] - b->at[g];
    return g == HTA_NONE ? NULL : b->rows + b->at[g];
}

void hta_by_corr_free(struct hta_by_corr *b)
{
    hta_map_free(&b->group);
    hs_free_array((void **)&b->at);
    hs_free_array((void **)&b->rows);
}

/* The points before sorting: launches in row order, then kernels in row order; `length` holds +1 or -1. */
static bool raw_points(const struct hta_trace *t, const struct hta_rank *r, struct hta_queue *q)
{
    struct hta_by_corr by;
    struct hta_map launched;
    size_t left = 0, right = 0;
    bool ok = true;
    hta_map_init(&launched);
    hta_by_corr_build(r, &by);
    for (uint32_t i = 0; i < r->n && ok; i++) {
        const struct hta_row *x = &r->rows[i];
        size_t n;
        if (!hta_is_launch(t, x))
            continue;
        const uint32_t *k = hta_by_corr_find(&by, x->corr, &n);
        *hta_map_at(&launched, x->corr) = 1;
        left += n ? n : 1;
        for (size_t j = 0; j < n && ok; j++) {
            struct hta_queue_point p = {x->ts, r->rows[k[j]].stream, i, r->rows[k[j]].lane, 1};
            ok = hs_vec_push(q, p);
        }
    }
    for (uint32_t i = 0; i < r->n && ok; i++) {
        const struct hta_row *x = &r->rows[i];
        if (!hta_on_stream(x) || hta_map_get(&launched, x->corr) == HTA_NONE)
            continue;
        struct hta_queue_point p = {x->ts, x->stream, i, x->lane, -1};
        ok = hs_vec_push(q, p);
        right++;
    }
    q->uneven = left != right;
    hta_map_free(&launched);
    hta_by_corr_free(&by);
    return ok;
}

bool hta_queue_points(const struct hta_trace *t, const struct hta_rank *r, struct hta_queue *q)
{
    *q = (struct hta_queue){.max = r->n * 8 + ((size_t)4 << 20)};
    if (!raw_points(t, r, q))
        return false;
    size_t n = q->n;
    struct hta_queue_point *old = hs_malloc((n + 1) * sizeof *old);
    double *key = hs_malloc((n + 1) * sizeof *key);
    uint32_t *order = hs_malloc((n + 1) * sizeof *order), *by_stream = hs_malloc((n + 1) * sizeof *by_stream);
    for (size_t i = 0; i < n; i++) {
        old[i] = q->p[i];
        key[i] = (double)old[i].ts;
    }
    hta_argsort(key, n, order);
    for (size_t i = 0; i < n; i++)
        key[i] = (double)old[order[i]].stream;
    hta_argsort_stable(key, n, by_stream);
    for (size_t i = 0; i < n; i++) {
        q->p[i] = old[order[by_stream[i]]];
        if (i && q->p[i - 1].stream == q->p[i].stream)
            q->p[i].length += q->p[i - 1].length;
    }
    hs_free_array((void **)&old);
    hs_free_array((void **)&key);
    hs_free_array((void **)&order);
    hs_free_array((void **)&by_stream);
    return true;
}

/* ---- the three tables ---- */

static const struct hs_column_spec series_columns[] = {
    HTA_RANK_COLUMN,
    {"index", HS_T_INT, "1", "event number of the launch or of the device event"},
    {"ts", HS_T_INT, "us", "launch, or start of the device event; since the first event of the run"},
    {"pid", HS_T_INT, "1", "of the device event"},
    {"tid", HS_T_INT, "1", "of the device event"},
    {"stream", HS_T_INT, "1", "stream number, whatever its device"},
    {"queue_length", HS_T_INT, "1", "launched and not yet started"},
};
static const struct hs_column_spec summary_columns[] = {
    HTA_RANK_COLUMN,
    {"stream", HS_T_INT, "1", "stream number, whatever its device"},
    {"queue_length_count", HS_T_REAL, "1", "points: launches and starts"},
    {"queue_length_mean", HS_T_REAL, "1", "mean over the points, not over time"},
    {"queue_length_std", HS_T_REAL, "1", "sample standard deviation"},
    {"queue_length_min", HS_T_REAL, "1", "smallest"},
    {"queue_length_25%", HS_T_REAL, "1", "first quartile of the points"},
    {"queue_length_50%", HS_T_REAL, "1", "median of the points"},
    {"queue_length_75%", HS_T_REAL, "1", "third quartile of the points"},
    {"queue_length_max", HS_T_REAL, "1", "largest"},
};
static const struct hs_column_spec full_columns[] = {
    HTA_RANK_COLUMN,
    {"stream", HS_T_INT, "1", "the last stream of the rank that was full; HTA tells no other"},
    {"duration_at_max_queue_length", HS_T_REAL, "us", "time with max_queue_length or more in the queue"},
    {"relative_duration_at_max_queue_length", HS_T_REAL, "1",
     "of the time from the first start to the last start of an event"},
};

typedef void write_queue(const struct hta_rank *r, const struct hta_queue *q, const struct hs_params *params,
                         struct hs_table *out);

static int each_rank(struct hs_run *run, const struct hs_params *params, const struct hs_column_spec *columns,
                     size_t ncolumns, write_queue *write, struct hs_table *out, struct hs_err *err)
{
    struct hta_query q;
    int rc = hta_query_open(&q, run, params, HTA_RANK_0, columns, ncolumns, out, err);
    for (size_t i = 0; !rc && i < q.n; i++) {
        struct hta_queue points;
        if (!hta_queue_points(q.t, q.ranks[i], &points))
            rc = hs_fail(err, HS_ELIMIT, "rank %lld: too many launches share a correlation",
                         (long long)q.ranks[i]->rank);
        else if (!points.n)
            hs_table_note(out, "rank %lld has no kernel launches", (long long)q.ranks[i]->rank);
        if (!rc && points.uneven)
            hs_table_note(out, "rank %lld: launches and kernels do not pair up; HTA stops here",
                          (long long)q.ranks[i]->rank);
        if (!rc)
            write(q.ranks[i], &points, params, out);
        hs_vec_free(&points);
    }
    hta_query_close(&q);
    return rc ? rc : hs_table_check(out, err);
}

static size_t end_of_stream(const struct hta_queue *q, size_t i)
{
    size_t end = i;
    while (end < q->n && q->p[end].stream == q->p[i].stream)
        end++;
    return end;
}

static void write_series(const struct hta_rank *r, const struct hta_queue *q, const struct hs_params *params,
                         struct hs_table *out)
{
    (void)params;
    for (size_t i = 0; i < q->n; i++) {
        const struct hta_queue_point *p = &q->p[i];
        hs_table_row(out);
        hs_cell_i64(out, r->rank);
        hs_cell_i64(out, r->rows[p->row].index);
        hs_cell_i64(out, p->ts);
        struct hta_row at = {.lane = p->lane};
        hta_cell_pid(out, r, &at);
        hta_cell_tid(out, r, &at);
        hs_cell_i64(out, p->stream);
        hs_cell_i64(out, p->length);
    }
}

static void write_summary(const struct hta_rank *r, const struct hta_queue *q, const struct hs_params *params,
                          struct hs_table *out)
{
    (void)params;
    double *v = hs_malloc((q->n + 1) * sizeof *v);
    for (size_t i = 0, end; i < q->n; i = end) {
        end = end_of_stream(q, i);
        for (size_t k = i; k < end; k++)
            v[k] = (double)q->p[k].length;
        struct hta_describe d = hta_describe(v + i, end - i);
        hs_table_row(out);
        hs_cell_i64(out, r->rank);
        hs_cell_i64(out, q->p[i].stream);
        hta_cell_describe(out, &d, -1);
    }
    hs_free_array((void **)&v);
}

static void write_full(const struct hta_rank *r, const struct hta_queue *q, const struct hs_params *params,
                       struct hs_table *out)
{
    int64_t limit = hta_int(params, "max_queue_length", 1024), first = INT64_MAX, last = INT64_MIN, stream = 0;
    double full = NAN;
    for (size_t i = 0; i < r->n; i++) {
        first = r->rows[i].ts < first ? r->rows[i].ts : first;
        last = r->rows[i].ts > last ? r->rows[i].ts : last;
    }
    for (size_t i = 0, end; i < q->n; i = end) {
        end = end_of_stream(q, i);
        double sum = 0;
        bool reached = false;
        for (size_t k = i; k < end; k++) {
            if (q->p[k].length < limit)
                continue;
            reached = true;
            sum += k + 1 < end ? (double)hs_sub_sat(q->p[k + 1].ts, q->p[k].ts) : 0;
        }
        if (reached) {
            full = sum;
            stream = q->p[i].stream;
        }
    }
    if (isnan(full))
        return;
    hs_table_row(out);
    hs_cell_i64(out, r->rank);
    hs_cell_i64(out, stream);
    hs_cell_f64(out, full);
    hs_cell_f64(out, full / ((double)last - (double)first));
}

int hta_queue_length_series(struct hs_run *run, const struct hs_params *params, struct hs_table *out,
                            struct hs_err *err)
{
    return each_rank(run, params, series_columns, HTA_COUNT(series_columns), write_series, out, err);
}

int hta_queue_length(struct hs_run *run, const struct hs_params *params, struct hs_table *out, struct hs_err *err)
{
    return each_rank(run, params, summary_columns, HTA_COUNT(summary_columns), write_summary, out, err);
}

int hta_queue_full(struct hs_run *run, const struct hs_params *params, struct hs_table *out, struct hs_err *err)
{
    return each_rank(run, params, full_columns, HTA_COUNT(full_columns), write_full, out, err);
}
