/* get_idle_time_breakdown: why each stream was idle, and the statistics of its gaps. */
#include "analysis/hta_query.h"
#include "analysis/hta_sort.h"

#include <math.h>

#define CATEGORIES 3
static const char *const category_name[CATEGORIES] = {"host_wait", "kernel_wait", "other"};

/* The gaps of one stream; a category exists as soon as a kernel is in it, also the first one, which has no gap. */
struct gaps {
    struct hta_samples v[CATEGORIES];
    bool exists[CATEGORIES];
};

/* Rows of device work of one rank, stream by stream in order of first appearance, in row order within a stream. */
struct kernels {
    HS_VEC(uint32_t);
};
struct streams {
    HS_VEC(int64_t);
};

static const struct hs_column_spec breakdown_columns[] = {
    HTA_RANK_COLUMN,
    {"stream", HS_T_INT, "1", "stream number, whatever its device"},
    {"idle_category", HS_T_TEXT, "",
     "host_wait: the kernel was launched after the gap began; kernel_wait: a short gap; other"},
    {"idle_time", HS_T_REAL, "us", "sum of the gaps, two decimals; overlapping kernels count as negative gaps"},
    {"idle_time_ratio", HS_T_REAL, "1", "share of the stream's idle time, two decimals"},
};
static const struct hs_column_spec interval_columns[] = {
    {"idle_category", HS_T_TEXT, "", "as in idle"},
    HTA_RANK_COLUMN,
    {"stream", HS_T_INT, "1", "stream number, whatever its device"},
    {"count", HS_T_REAL, "1", "gaps"},
    {"mean", HS_T_REAL, "us", "mean gap"},
    {"std", HS_T_REAL, "us", "sample standard deviation"},
    {"min", HS_T_REAL, "us", "shortest"},
    {"25%", HS_T_REAL, "us", "first quartile"},
    {"50%", HS_T_REAL, "us", "median"},
    {"75%", HS_T_REAL, "us", "third quartile"},
    {"max", HS_T_REAL, "us", "longest"},
};

/* When the kernel was launched. A kernel without a launch has partner 0: HTA takes event number 0, if it is there. */
static const struct hta_row *launch_of(const struct hta_rank *r, const struct hta_row *k)
{
    return hta_at(r, k->icorr);
}

static void stream_gaps(const struct hta_rank *r, const uint32_t *row, size_t n, double delay, struct gaps *out)
{
    double *key = hs_malloc((n + 1) * sizeof *key), prev = NAN;
    uint32_t *order = hs_malloc((n + 1) * sizeof *order);
    for (size_t i = 0; i < n; i++)
        key[i] = (double)r->rows[row[i]].ts;
    hta_argsort(key, n, order);
    for (size_t i = 0; i < n; i++) {
        const struct hta_row *x = &r->rows[row[order[i]]], *launch = launch_of(r, x);
        int cat = 2;
        double gap = (double)x->ts - prev;
        if (i && launch && (double)launch->ts > prev)
            cat = 0;
        else if (i && gap < delay)
            cat = 1;
        out->exists[cat] = true;
        if (i && !hs_vec_push(&out->v[cat], gap))
            break;
        prev = hta_end(x);
    }
    hs_free_array((void **)&key);
    hs_free_array((void **)&order);
}

static void breakdown_rows(int64_t rank, int64_t stream, const struct gaps *g, struct hs_table *out)
{
    double sum[CATEGORIES], total = 0;
    for (int c = 0; c < CATEGORIES; c++)
        total += sum[c] = hta_sum(g->v[c].p, g->v[c].n);
    for (int c = 0; c < CATEGORIES; c++) {
        if (!g->exists[c])
            continue;
        hs_table_row(out);
        hs_cell_i64(out, rank);
        hs_cell_i64(out, stream);
        hs_cell_cstr(out, category_name[c]);
        hs_cell_f64(out, hta_round(sum[c], 2));
        hs_cell_f64(out, hta_round(sum[c] / total, 2));
    }
}

static void interval_rows(int64_t rank, int64_t stream, const struct gaps *g, struct hs_table *out)
{
    for (int c = 0; c < CATEGORIES; c++) {
        if (!g->exists[c])
            continue;
        struct hta_describe d = hta_describe(g->v[c].p, g->v[c].n);
        hs_table_row(out);
        hs_cell_cstr(out, category_name[c]);
        hs_cell_i64(out, rank);
        hs_cell_i64(out, stream);
        hta_cell_describe(out, &d, 2);
    }
}

typedef void write_rows(int64_t rank, int64_t stream, const struct gaps *g, struct hs_table *out);

/* The kernels of all streams; `number` maps a stream to its place in `streams`. A kernel without a launch stands there as
 * often as rows are labelled 0, its "launch". */
static void find_kernels(const struct hta_trace *t, const struct hta_rank *r, struct hta_map *number, struct kernels *k,
                         struct streams *streams)
{
    size_t zeros = 0;
    for (size_t i = 0; i < r->n; i++)
        zeros += r->rows[i].index == 0;
    for (uint32_t i = 0; i < r->n; i++) {
        const struct hta_row *x = &r->rows[i];
        if (!hta_on_stream(x) || !hta_cat_has(t, x, HTA_IS_GPU_CAT))
            continue;
        uint32_t *s = hta_map_at(number, x->stream);
        if (*s == HTA_NONE) {
            *s = (uint32_t)streams->n;
            if (!hs_vec_push(streams, x->stream))
                return;
        }
        for (size_t c = x->icorr == 0 && zeros > 1 ? zeros : 1; c > 0; c--)
            if (!hs_vec_push(k, i))
                return;
    }
}

/* Stable counting sort by stream; at[s] .. at[s + 1] is stream s afterwards. The caller frees it. */
static size_t *group_by_stream(const struct hta_rank *r, const struct hta_map *number, struct kernels *k,
                               size_t nstreams)
{
    size_t *at = hs_calloc(nstreams + 2, sizeof *at);
    uint32_t *old = hs_malloc((k->n + 1) * sizeof *old);
    for (size_t i = 0; i < k->n; i++) {
        old[i] = k->p[i];
        at[hta_map_get(number, r->rows[old[i]].stream) + 2]++;
    }
    for (size_t s = 2; s < nstreams + 2; s++)
        at[s] += at[s - 1];
    for (size_t i = 0; i < k->n; i++)
        k->p[at[hta_map_get(number, r->rows[old[i]].stream) + 1]++] = old[i];
    hs_free_array((void **)&old);
    return at;
}

static void rank_rows(const struct hta_trace *t, const struct hta_rank *r, const struct hs_params *params,
                      write_rows *write, struct hs_table *out)
{
    struct kernels k = HS_VEC_INIT(r->n * 8 + (1 << 20));
    struct streams streams = HS_VEC_INIT(HS_MAX_EVENTS);
    struct hta_map number;
    size_t n = 0;
    const int64_t *asked = hta_list(params, "streams", &n);
    double delay = (double)hta_int(params, "consecutive_kernel_delay", 30000) / 1000;
    hta_map_init(&number);
    find_kernels(t, r, &number, &k, &streams);
    size_t *at = group_by_stream(r, &number, &k, streams.n);
    if (!streams.n)
        hs_table_note(out, "rank %lld has no device work; HTA stops here", (long long)r->rank);
    for (size_t i = 0; i < (n ? n : streams.n); i++) {
        struct gaps g = {{HTA_SAMPLES_INIT, HTA_SAMPLES_INIT, HTA_SAMPLES_INIT}, {false}};
        int64_t stream = n ? asked[i] : streams.p[i];
        uint32_t s = hta_map_get(&number, stream);
        if (s != HTA_NONE)
            stream_gaps(r, k.p + at[s], at[s + 1] - at[s], delay, &g);
        write(r->rank, stream, &g, out);
        for (int c = 0; c < CATEGORIES; c++)
            hs_vec_free(&g.v[c]);
    }
    hta_map_free(&number);
    hs_free_array((void **)&at);
    hs_vec_free(&streams);
    hs_vec_free(&k);
}

int hta_idle(struct hs_run *run, const struct hs_params *params, struct hs_table *out, struct hs_err *err)
{
    struct hta_query q;
    int rc = hta_query_open(&q, run, params, HTA_RANK_0, breakdown_columns, HTA_COUNT(breakdown_columns), out, err);
    for (size_t i = 0; !rc && i < q.n; i++)
        rank_rows(q.t, q.ranks[i], params, breakdown_rows, out);
    hta_query_close(&q);
    return rc ? rc : hs_table_check(out, err);
}

int hta_idle_intervals(struct hs_run *run, const struct hs_params *params, struct hs_table *out, struct hs_err *err)
{
    struct hta_query q;
    int rc = hta_query_open(&q, run, params, HTA_RANK_0, interval_columns, HTA_COUNT(interval_columns), out, err);
    for (size_t i = 0; !rc && i < q.n; i++)
        rank_rows(q.t, q.ranks[i], params, interval_rows, out);
    hta_query_close(&q);
    return rc ? rc : hs_table_check(out, err);
}
