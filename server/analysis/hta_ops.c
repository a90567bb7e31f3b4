/* get_aten_op_kernels_and_delay: for each aten operator the kernels it launches, and how late. */
#include "analysis/hta_query.h"
#include "analysis/hta_reach.h"
#include "analysis/hta_sort.h"
#include "trace/intervals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Operators around one launch, and around all launches of a rank together, among which HTA's choice of one is worked out.
 * Far more than the stacks of real threads hold; beyond, a hostile trace gets any of the innermost. */
#define MAX_AROUND 1000
#define MAX_CHOICES ((size_t)20000000)
#define MAX_SEQUENCE ((size_t)64 << 20)
#define MAX_SEQUENCES ((size_t)512 << 20)

static const struct hs_column_spec columns[] = {
    HTA_RANK_COLUMN,
    {"aten_op_name", HS_T_TEXT, "", "the operator, of any thread, with the latest start around the launch"},
    {"kernel_sequence", HS_T_TEXT, "", "the kernels it launched, joined by ->"},
    {"occurrence_count", HS_T_INT, "1", "times it launched just these"},
    {"avg_aten_op_launch_delay", HS_T_REAL, "us",
     "mean time from the operator's start to its first launch, three decimals"},
    {"avg_runtime_delay", HS_T_REAL, "us", "mean time from the first launch's start to its kernel's, three decimals"},
};

/* One launch that has an operator and a kernel. Launches pile up over the ranks asked for: HTA never empties its list. */
struct launch {
    struct hs_id tid; /* of the operator */
    struct hs_str tid_text;
    int64_t op_ts;
    uint32_t op, kernel; /* symbols */
    uint32_t seq;
    double op_delay, kernel_delay;
};
struct launches {
    HS_VEC(struct launch);
    size_t odd; /* launches without exactly one kernel: HTA stops there */
};

/* aten operators of a rank by start. */
struct ops {
    uint32_t *rows;
    double *ts;
    size_t n;
    struct hta_reach reach; /* by end */
    size_t choices;         /* looked at so far */
};

static void find_ops(const struct hta_trace *t, const struct hta_rank *r, struct ops *o)
{
    uint32_t *rows = hs_malloc((r->n + 1) * sizeof *rows);
    double *end = hs_malloc((r->n + 1) * sizeof *end);
    o->ts = hs_malloc((r->n + 1) * sizeof *o->ts);
    o->rows = hs_malloc((r->n + 1) * sizeof *o->rows);
    o->n = o->choices = 0;
    for (uint32_t i = 0; i < r->n; i++)
        if (hta_name_has(t, &r->rows[i], HTA_IS_ATEN)) {
            end[o->n] = (double)r->rows[i].ts;
            rows[o->n++] = i;
        }
    hta_argsort_stable(end, o->n, o->rows);
    for (size_t i = 0; i < o->n; i++) {
        o->rows[i] = rows[o->rows[i]];
        o->ts[i] = (double)r->rows[o->rows[i]].ts;
        end[i] = hta_end(&r->rows[o->rows[i]]);
    }
    hta_reach_build(&o->reach, end, o->n);
    hs_free_array((void **)&rows);
    hs_free_array((void **)&end);
}

static void free_ops(struct ops *o)
{
    hta_reach_free(&o->reach);
    hs_free_array((void **)&o->rows);
    hs_free_array((void **)&o->ts);
}

/* Number of operators that start at or before t. */
static size_t started(const struct ops *o, double t)
{
    size_t lo = 0, hi = o->n;
    while (lo < hi) {
        size_t m = lo + (hi - lo) / 2;
        if (o->ts[m] <= t)
            lo = m + 1;
        else
            hi = m;
    }
    return lo;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Among several with the latest start HTA takes what its sort of all operators around the launch leaves first. */
static uint32_t first_of_sorted(const struct hta_rank *r, struct ops *o, size_t upto, double end)
{
    struct {
        HS_VEC(uint32_t);
    } around = HS_VEC_INIT(MAX_AROUND);
    for (size_t to = upto; to;) {
        size_t i = hta_reach_last_from(&o->reach, 0, to, end);
        if (i == HTA_REACH_NONE || !hs_vec_push(&around, o->rows[i]))
            break;
        to = i;
    }
    o->choices += around.n;
    qsort(around.p, around.n, sizeof *around.p, by_number);
    double *key = hs_malloc((around.n + 1) * sizeof *key);
    uint32_t *order = hs_malloc((around.n + 1) * sizeof *order);
    for (size_t i = 0; i < around.n; i++)
        key[i] = (double)r->rows[around.p[i]].ts;
    hta_argsort_desc(key, around.n, order);
    uint32_t best = around.p[order[0]];
    hs_free_array((void **)&key);
    hs_free_array((void **)&order);
    hs_vec_free(&around);
    return best;
}

/* Row of the operator with the latest start that holds [start, end]; HTA_NONE. */
static uint32_t op_around(const struct hta_rank *r, struct ops *o, double start, double end)
{
    size_t upto = started(o, start), i = hta_reach_last_from(&o->reach, 0, upto, end);
    if (i == HTA_REACH_NONE)
        return HTA_NONE;
    size_t other = hta_reach_last_from(&o->reach, 0, i, end);
    if (other == HTA_REACH_NONE || o->ts[other] != o->ts[i] || o->choices > MAX_CHOICES)
        return o->rows[i];
    return first_of_sorted(r, o, upto, end);
}

/* Device rows by their launch's number: the row, or HTA_NONE - 1 for more than one. */
#define SEVERAL (HTA_NONE - 1)
static void find_kernels(const struct hta_rank *r, struct hta_map *m)
{
    hta_map_init(m);
    for (uint32_t i = 0; i < r->n; i++) {
        if (!hta_on_stream(&r->rows[i]))
            continue;
        uint32_t *at = hta_map_at(m, r->rows[i].icorr);
        *at = *at == HTA_NONE ? i : SEVERAL;
    }
}

static bool add_launches(const struct hta_trace *t, const struct hta_rank *r, struct launches *out)
{
    struct ops ops;
    struct hta_map kernels;
    bool ok = true;
    find_ops(t, r, &ops);
    find_kernels(r, &kernels);
    for (size_t i = 0; i < r->n && ok; i++) {
        const struct hta_row *x = &r->rows[i];
        uint32_t op = hta_name_has(t, x, HTA_IS_OP_LAUNCH) ? op_around(r, &ops, (double)x->ts, hta_end(x)) : HTA_NONE;
        if (op == HTA_NONE)
            continue;
        uint32_t k = hta_map_get(&kernels, x->index);
        if (k == HTA_NONE || k == SEVERAL) {
            out->odd++;
            continue;
        }
        const struct hta_row *o = &r->rows[op];
        struct launch l = {.op_ts = o->ts,
                           .op = o->name,
                           .kernel = r->rows[k].name,
                           .seq = (uint32_t)out->n,
                           .op_delay = (double)hs_sub_sat(x->ts, o->ts),
                           .kernel_delay = (double)hs_sub_sat(r->rows[k].ts, x->ts)};
        if (o->lane < r->view->nlanes)
            l.tid = r->view->lanes[o->lane].tid;
        if (l.tid.kind == HS_ID_TEXT)
            l.tid_text = hs_view_str(r->view, (uint32_t)l.tid.v);
        ok = hs_vec_push(out, l);
    }
    hta_map_free(&kernels);
    free_ops(&ops);
    return ok;
}

/* ---- groups ---- */

static int compare_op(const struct launch *x, const struct launch *y)
{
    if (x->op != y->op)
        return x->op < y->op ? -1 : 1;
    if (x->op_ts != y->op_ts)
        return x->op_ts < y->op_ts ? -1 : 1;
    if (x->tid.kind != y->tid.kind)
        return x->tid.kind < y->tid.kind ? -1 : 1;
    if (x->tid.kind == HS_ID_TEXT)
        return hs_str_cmp(x->tid_text, y->tid_text);
    return (x->tid.v > y->tid.v) - (x->tid.v < y->tid.v);
}

static int by_op(const void *a, const void *b)
{
    const struct launch *x = a, *y = b;
    int c = compare_op(x, y);
    return c ? c : (x->seq > y->seq) - (x->seq < y->seq);
}

/* One (operator, kernels), with the delays of its first launches summed up. */
struct line {
    uint32_t op, kernels; /* symbol; in `texts` */
    int64_t count;
    double op_delay, kernel_delay;
};
struct lines {
    HS_VEC(struct line);
};

static uint32_t sequence_text(const struct hta_trace *t, const struct launch *l, size_t n, struct hs_buf *buf,
                              struct hs_intern *texts)
{
    hs_buf_clear(buf);
    for (size_t i = 0; i < n; i++) {
        struct hs_str s = hta_text(t, l[i].kernel);
        if (i)
            hs_buf_puts(buf, " -> ");
        hs_buf_put(buf, s.p, s.n);
    }
    return buf->full ? HS_NO_SYM : hs_intern_add(texts, buf->p ? buf->p : "", buf->n);
}

static bool group(const struct hta_trace *t, struct launches *l, struct hs_intern *texts, struct lines *out)
{
    struct hs_buf buf = HS_BUF_INIT(MAX_SEQUENCE);
    struct hta_map at;
    bool ok = true;
    hta_map_init(&at);
    if (l->n)
        qsort(l->p, l->n, sizeof *l->p, by_op);
    for (size_t i = 0, end; i < l->n && ok; i = end) {
        for (end = i; end < l->n && !compare_op(&l->p[i], &l->p[end]); end++)
            continue;
        uint32_t kernels = sequence_text(t, &l->p[i], end - i, &buf, texts);
        ok = kernels != HS_NO_SYM;
        uint32_t *place = ok ? hta_map_at(&at, hta_pair(l->p[i].op, kernels)) : NULL;
        if (ok && *place == HTA_NONE) {
            struct line new = {l->p[i].op, kernels, 0, 0, 0};
            *place = (uint32_t)out->n;
            ok = hs_vec_push(out, new);
        }
        if (!ok)
            break;
        struct line *x = &out->p[*place];
        x->count++;
        x->op_delay += l->p[i].op_delay;
        x->kernel_delay += l->p[i].kernel_delay;
    }
    hta_map_free(&at);
    hs_buf_free(&buf);
    return ok;
}

/* The order asked for by `sort_by`: column names joined by commas, all descending; ties keep operator and kernels ascending. */
struct order {
    const struct hta_trace *t;
    const struct hs_intern *texts;
    const char *sort_by;
};

static int compare_column(const struct order *o, const struct line *x, const struct line *y, const char *name, size_t n)
{
    struct hs_str column = hs_str(name, n);
    double a = 0, b = 0;
    if (hs_str_is(column, "aten_op_name"))
        return -hs_str_cmp(hta_text(o->t, x->op), hta_text(o->t, y->op));
    if (hs_str_is(column, "kernel_sequence"))
        return -hs_str_cmp(hs_intern_str(o->texts, x->kernels), hs_intern_str(o->texts, y->kernels));
    if (hs_str_is(column, "occurrence_count")) {
        a = (double)x->count;
        b = (double)y->count;
    } else if (hs_str_is(column, "avg_aten_op_launch_delay")) {
        a = x->op_delay / (double)x->count;
        b = y->op_delay / (double)y->count;
    } else if (hs_str_is(column, "avg_runtime_delay")) {
        a = x->kernel_delay / (double)x->count;
        b = y->kernel_delay / (double)y->count;
    }
    return (a < b) - (a > b);
}

static int by_columns(const void *a, const void *b, void *ctx)
{
    const struct order *o = ctx;
    const struct line *x = a, *y = b;
    for (const char *p = o->sort_by; p;) {
        const char *comma = strchr(p, ',');
        int c = compare_column(o, x, y, p, comma ? (size_t)(comma - p) : strlen(p));
        if (c)
            return c;
        p = comma ? comma + 1 : NULL;
    }
    int c = hs_str_cmp(hta_text(o->t, x->op), hta_text(o->t, y->op));
    return c ? c : hs_str_cmp(hs_intern_str(o->texts, x->kernels), hs_intern_str(o->texts, y->kernels));
}

static int rank_rows(const struct hta_trace *t, const struct hta_rank *r, struct launches *all, const char *sort_by,
                     struct hs_table *out, struct hs_err *err)
{
    struct hs_intern texts;
    struct lines lines = HS_VEC_INIT(HS_MAX_EVENTS);
    hs_intern_init(&texts, HS_MAX_EVENTS, MAX_SEQUENCES);
    bool ok = add_launches(t, r, all);
    struct launches copy = {.max = HS_MAX_EVENTS}; /* sorted here; the pile keeps its order */
    ok = ok && hs_vec_reserve(&copy, all->n);
    for (size_t i = 0; ok && i < all->n; i++)
        copy.p[copy.n++] = all->p[i];
    ok = ok && group(t, &copy, &texts, &lines);
    struct order o = {t, &texts, sort_by};
    if (ok && lines.n)
        qsort_r(lines.p, lines.n, sizeof *lines.p, by_columns, &o);
    if (ok && !lines.n)
        hs_table_note(out, "rank %lld: no launch inside an aten operator; HTA stops here", (long long)r->rank);
    for (size_t i = 0; ok && i < lines.n; i++) {
        const struct line *x = &lines.p[i];
        hs_table_row(out);
        hs_cell_i64(out, r->rank);
        hs_cell_text(out, hta_text(t, x->op));
        hs_cell_text(out, hs_intern_str(&texts, x->kernels));
        hs_cell_i64(out, x->count);
        hs_cell_f64(out, hta_round(x->op_delay / (double)x->count, 3));
        hs_cell_f64(out, hta_round(x->kernel_delay / (double)x->count, 3));
    }
    hs_vec_free(&copy);
    hs_vec_free(&lines);
    hs_intern_free(&texts);
    return ok ? 0 : hs_fail(err, HS_ELIMIT, "the sequences of kernels grew beyond %zu MiB", MAX_SEQUENCES >> 20);
}

int hta_op_launch_delays(struct hs_run *run, const struct hs_params *params, struct hs_table *out, struct hs_err *err)
{
    struct hta_query q;
    struct launches all = {.max = HS_MAX_EVENTS};
    int rc = hta_query_open(&q, run, params, HTA_RANK_0, columns, HTA_COUNT(columns), out, err);
    const char *sort_by = hta_string(params, "sort_by", "occurrence_count");
    for (size_t i = 0; !rc && i < q.n; i++)
        rc = rank_rows(q.t, q.ranks[i], &all, sort_by, out, err);
    if (!rc && all.odd)
        hs_table_note(out, "%zu launches without exactly one kernel were left out; HTA stops here", all.odd);
    hs_vec_free(&all);
    hta_query_close(&q);
    return rc ? rc : hs_table_check(out, err);
}
