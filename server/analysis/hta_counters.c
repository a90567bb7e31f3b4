/* get_cupti_counter_data_with_operators: each counter range, the launch of its place, and the operators above that. */
#include "analysis/hta_graph.h"
#include "analysis/hta_sort.h"
#include "base/json.h"

#include <math.h>
#include <string.h>

#define MAX_COUNTERS 256
#define MAX_STACK 4096

static const struct hs_column_spec head[] = {
    HTA_RANK_COLUMN,
    {"index", HS_T_INT, "1", "event number of the range"},
    {"cat", HS_T_TEXT, "", "category"},
    {"name", HS_T_TEXT, "", "name of the range: the kernel's"},
    {"pid", HS_T_INT, "1", "process"},
    {"tid", HS_T_INT, "1", "thread"},
    {"ts", HS_T_INT, "us", "start, since the first event of the run"},
    {"dur", HS_T_REAL, "us", "duration"},
};
static const struct hs_column_spec tail[] = {
    HTA_NODE_COLUMNS,
    {"index_runtime", HS_T_INT, "1", "event number of the launch"},
    {"op_stack", HS_T_JSON, "", "operators above the launch, outermost first"},
    {"top_level_op", HS_T_TEXT, "", "the outermost one"},
    {"bottom_level_op", HS_T_TEXT, "", "the innermost one"},
};

struct counters {
    const char *name[MAX_COUNTERS];
    const double *value[MAX_COUNTERS]; /* by event, of the rank at hand */
    size_t n;
};

static bool is_range_shape(const struct hs_view *v, const struct hs_events *ev, uint32_t cat, uint8_t *seen)
{
    bool any = false;
    for (size_t e = 0; e < ev->n; e++)
        if (ev->cat[e] == cat && ev->shape[e] < v->nshapes)
            any = (seen[ev->shape[e]] = 1);
    return any;
}

/* Adds the args of the rank's ranges that are not known yet; names live in the table's arena. */
static int find_counters(const struct hta_rank *r, struct counters *c, struct hs_table *out, struct hs_err *err)
{
    struct hs_view *v = r->view;
    struct hs_events ev;
    int rc = hs_view_events(v, HS_EV_CAT | HS_EV_SHAPE, &ev, err);
    if (rc)
        return rc;
    uint8_t *seen = hs_calloc(v->nshapes + 1, 1);
    bool any = is_range_shape(v, &ev, hs_view_sym(v, "cuda_profiler_range"), seen);
    for (size_t s = 0; any && s < v->nshapes; s++)
        for (uint32_t i = 0; seen[s] && i < v->shapes[s].count; i++) {
            const struct hs_field *f = &v->fields[v->shapes[s].first + i];
            struct hs_str key = hs_view_str(v, f->key);
            bool number = f->type == HS_V_INT || f->type == HS_V_DEC;
            size_t k = 0;
            while (k < c->n && !hs_str_is(key, c->name[k]))
                k++;
            if (f->level != 1 || !number || k < c->n || c->n == MAX_COUNTERS || memchr(key.p, 0, key.n))
                continue;
            char *name = hs_arena_dup(&out->text, key.p, key.n);
            if (name)
                c->name[c->n++] = name;
        }
    hs_free_array((void **)&seen);
    return 0;
}

static int load_counters(const struct hta_rank *r, struct counters *c, struct hs_err *err)
{
    int rc = 0;
    for (size_t k = 0; !rc && k < c->n; k++)
        rc = r->view->ops->arg_f64(r->view, c->name[k], 1, &c->value[k], err);
    return rc;
}

/* The table's columns with the counters in the middle, in the table's own memory. */
static void set_columns(const struct counters *c, struct hs_table *out)
{
    size_t n = HTA_COUNT(head) + c->n + HTA_COUNT(tail);
    struct hs_column_spec *spec = hs_arena_alloc(&out->text, n * sizeof *spec);
    if (!spec) {
        out->full = true;
        return;
    }
    memcpy(spec, head, sizeof head);
    for (size_t k = 0; k < c->n; k++)
        spec[HTA_COUNT(head) + k] =
            (struct hs_column_spec){c->name[k], HS_T_REAL, "1", "counter of the range; -1 where it has none"};
    memcpy(spec + HTA_COUNT(head) + c->n, tail, sizeof tail);
    out->columns = spec;
    out->ncolumns = n;
}

/* Rows of one rank by time; `launches` or ranges. */
static uint32_t *pick(const struct hta_trace *t, const struct hta_rank *r, bool launches, size_t *n)
{
    uint32_t *rows = hs_malloc((r->n + 1) * sizeof *rows), *order = hs_malloc((r->n + 1) * sizeof *order);
    double *key = hs_malloc((r->n + 1) * sizeof *key);
    *n = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        const struct hta_row *x = &r->rows[i];
        bool yes = launches ? hta_cat_has(t, x, HTA_IS_RUNTIME_CAT) && hta_name_has(t, x, HTA_IS_CUDA_LAUNCH)
                            : hta_cat_has(t, x, HTA_IS_PROFILER_RANGE);
        if (!yes)
            continue;
        key[*n] = (double)x->ts;
        rows[(*n)++] = i;
    }
    hta_argsort(key, *n, order);
    for (size_t i = 0; i < *n; i++)
        order[i] = rows[order[i]];
    hs_free_array((void **)&rows);
    hs_free_array((void **)&key);
    return order;
}

/* Operators above a launch, by start; of equal starts the outer one first. */
static size_t op_stack(const struct hta_trace *t, const struct hta_graph *g, int64_t index, uint32_t *stack)
{
    size_t n = 0;
    const struct hta_node *node;
    for (size_t steps = 0; index >= 0 && n < MAX_STACK && steps <= g->n && (node = hta_graph_node(g, index)); steps++) {
        uint32_t row = g->r->pos[index];
        if (hta_cat_has(t, &g->r->rows[row], HTA_IS_CPU_OP))
            stack[n++] = row;
        if (node->parent == index) /* a step that HTA hung below itself */
            break;
        index = node->parent;
    }
    for (size_t i = 0; i < n / 2; i++) {
        uint32_t x = stack[i];
        stack[i] = stack[n - 1 - i];
        stack[n - 1 - i] = x;
    }
    for (size_t i = 1; i < n; i++) { /* nearly sorted already */
        uint32_t x = stack[i];
        size_t k = i;
        for (; k > 0 && g->r->rows[x].ts < g->r->rows[stack[k - 1]].ts; k--)
            stack[k] = stack[k - 1];
        stack[k] = x;
    }
    return n;
}

static void stack_cells(const struct hta_trace *t, const struct hta_rank *r, const uint32_t *stack, size_t n,
                        struct hs_table *out)
{
    struct hs_buf buf = HS_BUF_INIT((size_t)64 << 20);
    struct hs_json j = HS_JSON_INIT(&buf);
    hs_json_arr(&j);
    for (size_t i = 0; i < n; i++)
        hs_json_str(&j, hta_text(t, r->rows[stack[i]].name));
    hs_json_end(&j);
    hs_cell_text(out, hs_str(buf.p ? buf.p : "[]", buf.p ? buf.n : 2));
    for (size_t end = 0; end < 2; end++) {
        if (n)
            hs_cell_text(out, hta_text(t, r->rows[stack[end ? n - 1 : 0]].name));
        else
            hs_cell_null(out);
    }
    hs_buf_free(&buf);
}

static void rank_rows(const struct hta_trace *t, const struct hta_rank *r, const struct counters *c,
                      struct hs_table *out)
{
    size_t n, nl;
    uint32_t *ranges = pick(t, r, false, &n), *launches = pick(t, r, true, &nl),
             *stack = hs_malloc(MAX_STACK * sizeof *stack);
    struct hta_graph g;
    bool bare = false;
    hta_graph_build(t, r, &g, out);
    if (n != nl)
        hs_table_note(out, "rank %lld: %zu counter ranges and %zu kernel launches cannot be matched",
                      (long long)r->rank, n, nl);
    for (size_t i = 0; n == nl && i < n && !out->full; i++) {
        const struct hta_row *x = &r->rows[ranges[i]], *launch = &r->rows[launches[i]];
        hs_table_row(out);
        hs_cell_i64(out, r->rank);
        hs_cell_i64(out, x->index);
        hs_cell_text(out, hta_text(t, x->cat));
        hs_cell_text(out, hta_text(t, x->name));
        hta_cell_pid(out, r, x);
        hta_cell_tid(out, r, x);
        hs_cell_i64(out, x->ts);
        hs_cell_f64(out, x->dur);
        for (size_t k = 0; k < c->n; k++)
            hs_cell_f64(out, isnan(c->value[k][x->index]) ? -1 : c->value[k][x->index]);
        hta_node_cells(out, &g.nodes[r->pos[x->index]]);
        hs_cell_i64(out, launch->index);
        size_t depth = op_stack(t, &g, launch->index, stack);
        bare |= !depth;
        stack_cells(t, r, stack, depth, out);
    }
    if (bare)
        hs_table_note(out, "rank %lld: launches without an operator above them; HTA stops here", (long long)r->rank);
    hta_graph_free(&g);
    hs_free_array((void **)&ranges);
    hs_free_array((void **)&launches);
    hs_free_array((void **)&stack);
}

int hta_counters(struct hs_run *run, const struct hs_params *params, struct hs_table *out, struct hs_err *err)
{
    struct hta_query q;
    struct counters c = {.n = 0};
    int rc = hta_query_open(&q, run, params, HTA_RANK_0, head, HTA_COUNT(head), out, err);
    bool any = !rc && hta_has_symbol(q.t, "cuda_profiler_range");
    if (!rc && !any)
        hs_table_note(out, "no events of category cuda_profiler_range");
    for (size_t i = 0; !rc && any && i < q.n; i++)
        rc = find_counters(q.ranks[i], &c, out, err);
    if (!rc)
        set_columns(&c, out);
    for (size_t i = 0; !rc && any && i < q.n; i++) {
        rc = load_counters(q.ranks[i], &c, err);
        if (!rc)
            rank_rows(q.t, q.ranks[i], &c, out);
    }
    hta_query_close(&q);
    return rc ? rc : hs_table_check(out, err);
}
