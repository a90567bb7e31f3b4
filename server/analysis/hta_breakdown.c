/* The second table of get_gpu_kernel_breakdown, and get_gpu_user_annotation_breakdown, which groups the same way. */
#include "analysis/hta_breakdown.h"

#include "analysis/hta_sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One sample on its way into a group: `key` orders the groups as HTA's groupby does, by text. */
struct sample {
    uint32_t key, seq;
    double v;
};

static int by_key(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->seq > y->seq) - (x->seq < y->seq);
}

/* Sorts the samples and gives one group a key; `name` of a group is its key. */
static void collect(struct sample *s, size_t n, struct hta_groups *out)
{
    double *v = hs_malloc((n + 1) * sizeof *v);
    qsort(s, n, sizeof *s, by_key);
    out->n = 0;
    for (size_t i = 0, end; i < n; i = end) {
        struct hta_group g = {s[i].key, 0, -INFINITY, INFINITY, 0, 0};
        for (end = i; end < n && s[end].key == s[i].key; end++) {
            v[end - i] = s[end].v;
            g.max = fmax(g.max, s[end].v);
            g.min = fmin(g.min, s[end].v);
        }
        g.sum = hta_sum(v, end - i);
        g.mean = g.sum / (double)(end - i);
        g.std = end - i > 1 ? hta_std(v, end - i) : 0;
        if (!hs_vec_push(out, g))
            break;
    }
    hs_free_array((void **)&v);
}

static void sort_by_sum(struct hta_groups *g)
{
    double *key = hs_malloc((g->n + 1) * sizeof *key);
    uint32_t *order = hs_malloc((g->n + 1) * sizeof *order);
    struct hta_group *old = hs_malloc((g->n + 1) * sizeof *old);
    for (size_t i = 0; i < g->n; i++) {
        old[i] = g->p[i];
        key[i] = g->p[i].sum;
    }
    hta_argsort_desc(key, g->n, order);
    for (size_t i = 0; i < g->n; i++)
        g->p[i] = old[order[i]];
    hs_free_array((void **)&key);
    hs_free_array((void **)&order);
    hs_free_array((void **)&old);
}

/* Renames what is beyond the cut and groups the groups: from here on the statistics are over per-name sums. */
static void cut_others(struct hta_groups *g, const struct hta_cut *cut, struct sample *s)
{
    size_t n = g->n;
    double *cumulated = hs_malloc((n + 1) * sizeof *cumulated), sum = 0;
    for (size_t i = 0; i < n; i++)
        cumulated[i] = sum += g->p[i].sum;
    double limit = hta_quantile(cumulated, n, cut->ratio);
    for (size_t i = 0; i < n; i++) {
        bool keep = cut->always ? cut->always[g->p[i].name] : g->p[i].sum < 0;
        bool beyond = cumulated[i] > limit || (int64_t)i >= cut->names;
        s[i] = (struct sample){!keep && beyond ? HTA_NONE : g->p[i].name, (uint32_t)i, g->p[i].sum};
    }
    collect(s, n, g);
    hs_free_array((void **)&cumulated);
}

void hta_group_rows(struct hta_trace *t, const struct hta_rank *r, const uint32_t *rows, size_t n,
                    const struct hta_cut *cut, struct hta_groups *out)
{
    const uint32_t *text = hta_text_order(t);
    uint32_t *symbol = hs_malloc((t->syms.n + 1) * sizeof *symbol);
    struct sample *s = hs_malloc((n + 1) * sizeof *s);
    for (uint32_t i = 0; i < t->syms.n; i++)
        symbol[text[i]] = i;
    for (size_t i = 0; i < n; i++)
        s[i] = (struct sample){text[r->rows[rows[i]].name], (uint32_t)i, r->rows[rows[i]].dur};
    collect(s, n, out);
    for (size_t i = 0; i < out->n; i++)
        out->p[i].name = symbol[out->p[i].name];
    sort_by_sum(out);
    if ((int64_t)out->n > cut->names)
        cut_others(out, cut, s);
    hs_free_array((void **)&symbol);
    hs_free_array((void **)&s);
}

static void stat_cells(struct hs_table *out, const struct hta_group *g)
{
    hs_cell_f64(out, g->sum);
    hs_cell_f64(out, g->max);
    hs_cell_f64(out, g->min);
    hs_cell_f64(out, g->std);
    hs_cell_f64(out, g->mean);
}

#define STAT_COLUMNS                                                                                           \
    {"name", HS_T_TEXT, "", "name, or others"}, {"sum (us)", HS_T_REAL, "us", "total duration"},               \
        {"max (us)", HS_T_REAL, "us", "longest; of per-name sums once there are more names than num_kernels"}, \
        {"min (us)", HS_T_REAL, "us", "shortest; of per-name sums likewise"},                                  \
        {"stddev", HS_T_REAL, "us", "sample standard deviation, 0 for one; of per-name sums likewise"},        \
    {                                                                                                          \
        "mean (us)", HS_T_REAL, "us", "mean; of per-name sums likewise"                                        \
    }

static const struct hs_column_spec kernels_columns[] = {
    STAT_COLUMNS,
    {"kernel_type", HS_T_TEXT, "", "COMPUTATION, COMMUNICATION or MEMORY"},
    HTA_RANK_COLUMN,
};
static const struct hs_column_spec annotation_columns[] = {STAT_COLUMNS, HTA_RANK_COLUMN};

struct line {
    struct hta_group g;
    struct hs_str name;
    const char *type;
    int64_t rank;
};
struct lines {
    HS_VEC(struct line);
};

static int by_type_name_rank(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    int c = x->type && y->type ? strcmp(x->type, y->type) : 0;
    c = c ? c : hs_str_cmp(x->name, y->name);
    return c ? c : (x->rank > y->rank) - (x->rank < y->rank);
}

static int by_rank_name(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank) : hs_str_cmp(x->name, y->name);
}

static void push_lines(const struct hta_trace *t, const struct hta_groups *g, const char *type, int64_t rank,
                       struct lines *out)
{
    for (size_t i = 0; i < g->n; i++) {
        struct line l = {g->p[i], g->p[i].name == HTA_NONE ? HS_STR("others") : hta_text(t, g->p[i].name), type, rank};
        if (!hs_vec_push(out, l))
            break;
    }
}

static void write_lines(const struct lines *lines, struct hs_table *out)
{
    for (size_t i = 0; i < lines->n; i++) {
        const struct line *l = &lines->p[i];
        hs_table_row(out);
        hs_cell_text(out, l->name);
        stat_cells(out, &l->g);
        if (l->type)
            hs_cell_cstr(out, l->type);
        hs_cell_i64(out, l->rank);
    }
}

int hta_kernels(struct hs_run *run, const struct hs_params *params, struct hs_table *out, struct hs_err *err)
{
    static const struct {
        uint32_t cls;
        const char *name;
    } types[] = {{HTA_COMPUTATION, "COMPUTATION"}, {HTA_COMMUNICATION, "COMMUNICATION"}, {HTA_MEMORY, "MEMORY"}};
    struct hta_query q;
    struct hta_groups g = HTA_GROUPS_INIT;
    struct lines lines = HS_VEC_INIT(HS_MAX_EVENTS);
    int rc = hta_query_open(&q, run, params, HTA_ALL_RANKS, kernels_columns, HTA_COUNT(kernels_columns), out, err);
    size_t ntypes = !rc && hta_flag(params, "include_memory_kernels", true) ? 3 : 2;
    struct hta_cut cut = {0, 0, NULL};
    if (!rc)
        cut = (struct hta_cut){hta_int(params, "num_kernels", 10), hta_real(params, "duration_ratio", 0.8), NULL};
    for (size_t k = 0; !rc && k < q.n; k++) {
        const struct hta_rank *r = q.ranks[k];
        uint32_t *rows = hs_malloc((r->n + 1) * sizeof *rows);
        for (size_t ty = 0; ty < ntypes; ty++) {
            size_t n = 0;
            for (uint32_t i = 0; i < r->n; i++)
                if (hta_on_stream(&r->rows[i]) && hta_info(q.t, r->rows[i].name)->cls == types[ty].cls)
                    rows[n++] = i;
            hta_group_rows(q.t, r, rows, n, &cut, &g);
            push_lines(q.t, &g, types[ty].name, r->rank, &lines);
        }
        hs_free_array((void **)&rows);
    }
    if (lines.n)
        qsort(lines.p, lines.n, sizeof *lines.p, by_type_name_rank);
    write_lines(&lines, out);
    hs_vec_free(&lines);
    hs_vec_free(&g);
    hta_query_close(&q);
    return rc ? rc : hs_table_check(out, err);
}

/* By symbol: does it contain one of the texts of the comma-separated list? NULL without a list. */
static bool *allowed(const struct hta_trace *t, const char *list)
{
    if (!list)
        return NULL;
    bool *yes = hs_calloc(t->syms.n + 1, sizeof *yes);
    for (const char *p = list, *comma; p; p = comma ? comma + 1 : NULL) {
        comma = strchr(p, ',');
        struct hs_str part = hs_str(p, comma ? (size_t)(comma - p) : strlen(p));
        for (size_t i = 0; i < t->syms.n; i++)
            yes[i] |= hta_contains(t->syms.p[i], part);
    }
    return yes;
}

int hta_annotations(struct hs_run *run, const struct hs_params *params, struct hs_table *out, struct hs_err *err)
{
    struct hta_query q;
    struct hta_groups g = HTA_GROUPS_INIT;
    struct lines lines = HS_VEC_INIT(HS_MAX_EVENTS);
    int rc =
        hta_query_open(&q, run, params, HTA_ALL_RANKS, annotation_columns, HTA_COUNT(annotation_columns), out, err);
    if (rc)
        return rc;
    const char *cat = hta_flag(params, "use_gpu_annotation", true) ? "gpu_user_annotation" : "user_annotation";
    uint32_t is = hta_flag(params, "use_gpu_annotation", true) ? HTA_IS_GPU_ANNOTATION : HTA_IS_USER_ANNOTATION;
    const char *list = hta_string(params, "allowlist_patterns", NULL);
    bool *always = allowed(q.t, list);
    struct hta_cut cut = {hta_int(params, "num_kernels", 1000), hta_real(params, "duration_ratio", 0.8), always};
    for (size_t k = 0; k < q.n; k++) {
        const struct hta_rank *r = q.ranks[k];
        uint32_t *rows = hs_malloc((r->n + 1) * sizeof *rows);
        size_t n = 0;
        for (uint32_t i = 0; i < r->n; i++)
            if (hta_cat_has(q.t, &r->rows[i], is))
                rows[n++] = i;
        hta_group_rows(q.t, r, rows, n, &cut, &g);
        push_lines(q.t, &g, NULL, r->rank, &lines);
        hs_free_array((void **)&rows);
    }
    if (lines.n)
        qsort(lines.p, lines.n, sizeof *lines.p, by_rank_name);
    else
        hs_table_note(out, "no events of category %s", cat);
    write_lines(&lines, out);
    hs_free_array((void **)&always);
    hs_vec_free(&lines);
    hs_vec_free(&g);
    hta_query_close(&q);
    return rc ? rc : hs_table_check(out, err);
}
