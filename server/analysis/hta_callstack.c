/* HTA's call graph as a table, one row an event. */
#include "analysis/hta_graph.h"

static const struct hs_column_spec columns[] = {
    {"index", HS_T_INT, "1", "event number"},
    {"name", HS_T_TEXT, "", "name"},
    {"stream", HS_T_INT, "1", "stream number, -1 on the CPU"},
    HTA_NODE_COLUMNS,
};

void hta_node_cells(struct hs_table *out, const struct hta_node *n)
{
    hs_cell_i64(out, n->depth);
    hs_cell_i64(out, n->height);
    hs_cell_i64(out, n->parent);
    hs_cell_i64(out, n->kernels);
    hs_cell_f64(out, n->dur_sum);
    hs_cell_f64(out, n->kernels ? n->last_end - n->first_start : 0);
    hs_cell_f64(out, n->first_start);
    hs_cell_f64(out, n->last_end);
}

static void rank_rows(const struct hta_trace *t, const struct hta_rank *r, struct hs_table *out)
{
    struct hta_graph g;
    struct hs_cell *memo = hs_calloc(t->syms.n + 1, sizeof *memo);
    hta_graph_build(t, r, &g, out);
    for (size_t i = 0; i < r->n && !out->full; i++) {
        const struct hta_row *x = &r->rows[i];
        const struct hta_node *n = &g.nodes[r->pos[x->index]];
        hs_table_row(out);
        hs_cell_i64(out, x->index);
        hta_cell_shared(out, &memo[x->name], hta_text(t, x->name));
        hs_cell_i64(out, x->stream);
        hta_node_cells(out, n);
    }
    hta_graph_free(&g);
    hs_free_array((void **)&memo);
}

int hta_call_stack(struct hs_run *run, const struct hs_params *params, struct hs_table *out, struct hs_err *err)
{
    struct hta_query q;
    int rc = hta_query_open(&q, run, params, HTA_RANK_0, columns, HTA_COUNT(columns), out, err);
    for (size_t i = 0; !rc && i < q.n; i++)
        rank_rows(q.t, q.ranks[i], out);
    hta_query_close(&q);
    return rc ? rc : hs_table_check(out, err);
}
