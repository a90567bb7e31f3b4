/* get_gpu_kernels_with_user_annotations: which annotation on the device's lane each device event lies in. */
#include "analysis/hta_query.h"
#include "analysis/hta_reach.h"
#include "analysis/hta_sort.h"
#include "trace/names.h"

#include <stdlib.h>
#include <string.h>

static const struct hs_column_spec columns[] = {
    {"index", HS_T_INT, "1", "event number"},
    {"cat", HS_T_TEXT, "", "category"},
    {"name", HS_T_TEXT, "", "name"},
    {"pid", HS_T_INT, "1", "process"},
    {"tid", HS_T_INT, "1", "thread: the device's lane"},
    {"ts", HS_T_INT, "us", "start, since the first event of the run"},
    {"dur", HS_T_REAL, "us", "duration"},
    {"end", HS_T_REAL, "us", "end, since the first event of the run"},
    {"stream", HS_T_INT, "1", "stream number"},
    {"correlation", HS_T_INT, "1", "correlation"},
    {"user_annotation", HS_T_TEXT, "",
     "the shortest annotation of its lane that it touches, or one of a kernel with just its times"},
    {"s_name", HS_T_TEXT, "", "name without template and arguments"},
    {"s_cat", HS_T_TEXT, "", "category"},
    {"s_user_annotation", HS_T_TEXT, "", "the annotation's name, cut likewise"},
};

/* A device row while annotations are handed out. */
struct kernel {
    double start, end;
    uint32_t row, lane;
    uint32_t turn; /* turn of the last annotation that it got, 1 for the first one; 0 none */
};
struct kernels {
    HS_VEC(struct kernel);
};

static int by_lane_start(const void *a, const void *b)
{
    const struct kernel *x = a, *y = b;
    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static int by_interval(const void *a, const void *b)
{
    const struct kernel *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

static int by_row(const void *a, const void *b)
{
    const struct kernel *x = a, *y = b;
    return (x->row > y->row) - (x->row < y->row);
}

/* Annotations (numbers of rows) in the order in which HTA writes their names: longest first. */
static uint32_t *annotations(const struct hta_trace *t, const struct hta_rank *r, size_t *n)
{
    uint32_t *rows = hs_malloc((r->n + 1) * sizeof *rows), *order = hs_malloc((r->n + 1) * sizeof *order);
    double *key = hs_malloc((r->n + 1) * sizeof *key);
    *n = 0;
    for (uint32_t i = 0; i < r->n; i++)
        if (hta_cat_has(t, &r->rows[i], HTA_IS_GPU_ANNOTATION)) {
            key[*n] = r->rows[i].dur;
            rows[(*n)++] = i;
        }
    hta_argsort_desc(key, *n, order);
    for (size_t i = 0; i < *n; i++)
        order[i] = rows[order[i]];
    hs_free_array((void **)&rows);
    hs_free_array((void **)&key);
    return order;
}

/* First kernel at or behind the place of (lane, start). */
static size_t lower_bound(const struct kernels *k, uint32_t lane, double start)
{
    size_t lo = 0, hi = k->n;
    while (lo < hi) {
        size_t m = lo + (hi - lo) / 2;
        if (k->p[m].lane < lane || (k->p[m].lane == lane && k->p[m].start < start))
            lo = m + 1;
        else
            hi = m;
    }
    return lo;
}

/* Later annotations overwrite earlier ones, so they are handed out backwards, and a kernel that has one is out. */
static void hand_out(const struct hta_rank *r, struct kernels *k, const uint32_t *anno, size_t nanno)
{
    struct hta_reach reach;
    double *end = hs_malloc((k->n + 1) * sizeof *end);
    for (size_t i = 0; i < k->n; i++)
        end[i] = k->p[i].end;
    hta_reach_build(&reach, end, k->n);
    for (size_t turn = nanno; turn > 0; turn--) {
        const struct hta_row *a = &r->rows[anno[turn - 1]];
        size_t from = lower_bound(k, a->lane, -1e300), to = lower_bound(k, a->lane, hta_end(a));
        for (;;) {
            size_t i = hta_reach_first_above(&reach, from, to, (double)a->ts);
            if (i == HTA_REACH_NONE)
                break;
            k->p[i].turn = (uint32_t)turn;
            hta_reach_remove(&reach, i);
        }
    }
    hta_reach_free(&reach);
    hs_free_array((void **)&end);
}

/* HTA writes by interval: all kernels with just these times get the name, on whatever lane. */
static void share_by_interval(struct kernels *k)
{
    if (k->n)
        qsort(k->p, k->n, sizeof *k->p, by_interval);
    for (size_t i = 0, end; i < k->n; i = end) {
        uint32_t turn = 0;
        for (end = i; end < k->n && !by_interval(&k->p[i], &k->p[end]); end++)
            turn = k->p[end].turn > turn ? k->p[end].turn : turn;
        for (size_t j = i; j < end; j++)
            k->p[j].turn = turn;
    }
    if (k->n)
        qsort(k->p, k->n, sizeof *k->p, by_row);
}

/* Texts of one symbol in the table, each copied once. */
struct memo {
    struct hs_cell full, cut;
};

static void short_cell(const struct hta_trace *t, uint32_t sym, bool shorten, struct memo *memo, struct hs_buf *scratch,
                       struct hs_table *out)
{
    struct hs_str name = hta_text(t, sym);
    if (shorten && memo[sym].cut.kind != HS_C_TEXT)
        name = hs_shorten_hta(name, scratch);
    hta_cell_shared(out, shorten ? &memo[sym].cut : &memo[sym].full, name);
}

static void write_rows(const struct hta_trace *t, const struct hta_rank *r, const struct kernels *k,
                       const uint32_t *anno, bool shorten, struct hs_table *out)
{
    struct memo *memo = hs_calloc(t->syms.n + 1, sizeof *memo);
    struct hs_buf scratch = HS_BUF_INIT((size_t)64 << 20);
    for (size_t i = 0; i < k->n && !out->full; i++) {
        const struct hta_row *x = &r->rows[k->p[i].row];
        uint32_t note = k->p[i].turn ? r->rows[anno[k->p[i].turn - 1]].name : 0;
        struct hs_str name = hta_text(t, x->name), cat = hta_text(t, x->cat);
        hs_table_row(out);
        hs_cell_i64(out, x->index);
        hta_cell_shared(out, &memo[x->cat].full, cat);
        hta_cell_shared(out, &memo[x->name].full, name);
        hta_cell_pid(out, r, x);
        hta_cell_tid(out, r, x);
        hs_cell_i64(out, x->ts);
        hs_cell_f64(out, x->dur);
        hs_cell_f64(out, hta_end(x));
        hs_cell_i64(out, x->stream);
        hs_cell_i64(out, x->corr);
        hta_cell_shared(out, &memo[note].full, hta_text(t, note));
        short_cell(t, x->name, shorten, memo, &scratch, out);
        hta_cell_shared(out, &memo[x->cat].full, cat);
        short_cell(t, note, shorten, memo, &scratch, out);
    }
    hs_buf_free(&scratch);
    hs_free_array((void **)&memo);
}

static void rank_rows(const struct hta_trace *t, const struct hta_rank *r, bool shorten, struct hs_table *out)
{
    struct kernels k = HS_VEC_INIT(HS_MAX_EVENTS);
    size_t nanno;
    uint32_t *anno = annotations(t, r, &nanno);
    bool negative = false;
    for (uint32_t i = 0; i < r->n; i++) {
        const struct hta_row *x = &r->rows[i];
        struct kernel new = {(double)x->ts, hta_end(x), i, x->lane, 0};
        negative |= x->gpu && x->dur < 0;
        if (x->gpu && !hs_vec_push(&k, new))
            break;
    }
    if (negative)
        hs_table_note(out, "rank %lld has device events of negative (rounded) duration; HTA stops here",
                      (long long)r->rank);
    if (k.n)
        qsort(k.p, k.n, sizeof *k.p, by_lane_start);
    hand_out(r, &k, anno, nanno);
    share_by_interval(&k);
    write_rows(t, r, &k, anno, shorten, out);
    hs_vec_free(&k);
    hs_free_array((void **)&anno);
}

int hta_kernel_annotations(struct hs_run *run, const struct hs_params *params, struct hs_table *out, struct hs_err *err)
{
    struct hta_query q;
    int rc = hta_query_open(&q, run, params, HTA_RANK_0, columns, HTA_COUNT(columns), out, err);
    bool any = !rc && hta_has_symbol(q.t, "gpu_user_annotation");
    if (!rc && !any)
        hs_table_note(out, "no events of category gpu_user_annotation");
    for (size_t i = 0; any && i < q.n; i++)
        rank_rows(q.t, q.ranks[i], hta_flag(params, "shorten_names", true), out);
    hta_query_close(&q);
    return rc ? rc : hs_table_check(out, err);
}
