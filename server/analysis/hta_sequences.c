/* get_frequent_cuda_kernel_sequences: which kernels an operator runs, in order, and how often just these. */
#include "analysis/hta_graph.h"

#include <stdlib.h>
#include <string.h>

#define MAX_PATTERN ((size_t)64 << 20)   /* bytes of one */
#define MAX_PATTERNS ((size_t)512 << 20) /* of all distinct ones */

static const struct hs_column_spec columns[] = {
    {"pattern", HS_T_TEXT, "", "the operator and its kernels in order of their start, joined by |"},
    {"count", HS_T_INT, "1", "times the operator ran just these"},
    {"GPU kernel duration (us)", HS_T_REAL, "us", "sum of the kernels' durations"},
    {"CPU op duration (us)", HS_T_REAL, "us", "sum of the operators' durations"},
};

struct pattern {
    uint32_t text; /* in the interner */
    int64_t count;
    double gpu, cpu;
};
struct patterns {
    struct hs_intern texts;
    HS_VEC(struct pattern); /* pattern of text id i + 1 */
};

struct rows {
    HS_VEC(uint32_t);
};

static int by_start(const void *a, const void *b, void *ctx)
{
    const struct hta_row *rows = ctx, *x = &rows[*(const uint32_t *)a], *y = &rows[*(const uint32_t *)b];
    if (x->ts != y->ts)
        return x->ts < y->ts ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Device rows at or below a node, by start. */
static void kernels_below(const struct hta_graph *g, uint32_t node, struct rows *todo, struct rows *out)
{
    todo->n = out->n = 0;
    bool room = hs_vec_push(todo, node);
    while (room && todo->n) {
        uint32_t i = todo->p[--todo->n];
        if (hta_on_stream(&g->r->rows[i]))
            room = hs_vec_push(out, i);
        for (uint32_t c = g->nodes[i].first; room && c != HTA_NONE; c = g->nodes[c].next)
            room = hs_vec_push(todo, c);
    }
    if (out->n)
        qsort_r(out->p, out->n, sizeof *out->p, by_start, g->r->rows);
}

static bool count_pattern(const struct hta_trace *t, const struct hta_graph *g, uint32_t root,
                          const struct rows *kernels, struct hs_buf *text, struct patterns *out)
{
    struct hs_str s = hta_text(t, g->r->rows[root].name);
    hs_buf_clear(text);
    hs_buf_put(text, s.p, s.n);
    for (size_t i = 0; i < kernels->n; i++) {
        s = hta_text(t, g->r->rows[kernels->p[i]].name);
        hs_buf_putc(text, '|');
        hs_buf_put(text, s.p, s.n);
    }
    uint32_t id = text->full ? HS_NO_SYM : hs_intern_add(&out->texts, text->p ? text->p : "", text->n);
    if (id == HS_NO_SYM)
        return false;
    struct pattern fresh = {id, 0, 0, 0};
    while (out->n <= id)
        if (!hs_vec_push(out, fresh))
            return false;
    struct pattern *p = &out->p[id];
    p->text = id;
    p->count++;
    p->gpu += g->nodes[root].dur_sum;
    p->cpu += g->r->rows[root].dur;
    return true;
}

struct order {
    const struct patterns *p;
};
static int by_count_text(const void *a, const void *b, void *ctx)
{
    const struct patterns *p = ((struct order *)ctx)->p;
    const struct pattern *x = &p->p[*(const uint32_t *)a], *y = &p->p[*(const uint32_t *)b];
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return hs_str_cmp(hs_intern_str(&p->texts, x->text), hs_intern_str(&p->texts, y->text));
}

static void write_patterns(const struct patterns *p, struct hs_table *out)
{
    uint32_t *ids = hs_malloc((p->n + 1) * sizeof *ids);
    size_t n = 0;
    struct order o = {p};
    for (uint32_t i = 0; i < p->n; i++)
        if (p->p[i].count)
            ids[n++] = i;
    qsort_r(ids, n, sizeof *ids, by_count_text, &o);
    for (size_t i = 0; i < n && !out->full; i++) {
        const struct pattern *x = &p->p[ids[i]];
        hs_table_row(out);
        hs_cell_text(out, hs_intern_str(&p->texts, x->text));
        hs_cell_i64(out, x->count);
        hs_cell_f64(out, x->gpu);
        hs_cell_f64(out, x->cpu);
    }
    hs_free_array((void **)&ids);
}

/* Rows of the operator at the smallest depth at which any row of that name stands, also outside all stacks (-1). */
static int find_patterns(const struct hta_trace *t, const struct hta_graph *g, struct hs_str op, int64_t min_kernels,
                         struct hs_table *out, struct hs_err *err)
{
    const struct hta_rank *r = g->r;
    bool *named = hs_calloc(t->syms.n + 1, sizeof *named), ok = true;
    struct patterns p = {.max = HS_MAX_EVENTS};
    struct rows todo = HS_VEC_INIT(HS_MAX_EVENTS), kernels = HS_VEC_INIT(HS_MAX_EVENTS);
    struct hs_buf text = HS_BUF_INIT(MAX_PATTERN);
    int32_t top = INT32_MAX;
    hs_intern_init(&p.texts, HS_MAX_EVENTS, MAX_PATTERNS);
    for (size_t i = 0; i < t->syms.n; i++)
        named[i] = hta_contains(t->syms.p[i], op);
    for (size_t i = 0; i < r->n; i++)
        if (named[r->rows[i].name] && g->nodes[r->pos[r->rows[i].index]].depth < top)
            top = g->nodes[r->pos[r->rows[i].index]].depth;
    for (size_t i = 0; i < r->n && ok; i++) {
        uint32_t node = r->pos[r->rows[i].index];
        if (!named[r->rows[i].name] || g->nodes[node].depth != top || !g->nodes[node].kernels ||
            g->nodes[node].kernels < min_kernels)
            continue;
        kernels_below(g, node, &todo, &kernels);
        ok = count_pattern(t, g, node, &kernels, &text, &p);
    }
    if (top == INT32_MAX)
        hs_table_note(out, "rank %lld has no event whose name contains the operator's", (long long)r->rank);
    else if (top < 0)
        hs_table_note(out, "rank %lld: events of this name outside all call stacks hide the operators from HTA",
                      (long long)r->rank);
    if (ok)
        write_patterns(&p, out);
    hs_intern_free(&p.texts);
    hs_vec_free(&p);
    hs_vec_free(&todo);
    hs_vec_free(&kernels);
    hs_buf_free(&text);
    hs_free_array((void **)&named);
    return ok ? 0
              : hs_fail(err, HS_ELIMIT, "the sequences of kernels grew beyond %zu MiB: name a smaller operator",
                        MAX_PATTERNS >> 20);
}

int hta_kernel_sequences(struct hs_run *run, const struct hs_params *params, struct hs_table *out, struct hs_err *err)
{
    struct hta_query q;
    int rc = hta_query_open(&q, run, params, HTA_RANK_0, columns, HTA_COUNT(columns), out, err);
    const char *op = hta_string(params, "operator_name", "");
    if (!rc && !*op)
        hs_table_note(out, "no operator_name was given");
    for (size_t i = 0; !rc && *op && i < q.n; i++) {
        struct hta_graph g;
        hta_graph_build(q.t, q.ranks[i], &g, out);
        rc = find_patterns(q.t, &g, hs_cstr(op), hta_int(params, "min_pattern_len", 3), out, err);
        hta_graph_free(&g);
    }
    hta_query_close(&q);
    return rc ? rc : hs_table_check(out, err);
}
