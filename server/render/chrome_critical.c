#include "render/chrome_critical.h"

#include "base/json.h"
#include "render/chrome_window.h"

#include <stdlib.h>

static bool has_bit(const uint8_t *bits, size_t i)
{
    return bits[i / 8] >> i % 8 & 1;
}

static void set_bit(uint8_t *bits, size_t i)
{
    bits[i / 8] = (uint8_t)(bits[i / 8] | 1u << i % 8);
}

/* ---- open, close ---- */

static int find_way(struct hs_chrome_critical *c, struct hs_err *err)
{
    struct hs_crit_rank *r = &c->rank;
    int rc = hs_crit_graph_build(&c->graph, &r->index, r->window.start, r->window.end, err);
    if (!rc)
        rc = hs_crit_longest(&c->graph, &r->index, &(struct hs_crit_factors){0}, &c->way, err);
    if (rc)
        return rc;
    c->on_way = hs_calloc(c->graph.edges.n / 8 + 1, 1);
    for (size_t i = 0; i < c->way.edges.n; i++) {
        set_bit(c->on_way, c->way.edges.p[i]);
        set_bit(c->on_path, hs_crit_node_event(&c->graph, &r->index, c->way.points.p[i] / 2));
    }
    return HS_OK;
}

/* Above every id of the trace that a double tells apart from the next one, and above what 32 bits hold. */
static int first_id(struct hs_chrome_critical *c, struct hs_view *v, struct hs_err *err)
{
    struct hs_sparse ids;
    int rc = v->ops->arg_sparse(v, "id", 0, &ids, err);
    if (rc)
        return rc;
    c->id = INT64_C(1) << 32;
    for (size_t i = 0; i < ids.n; i++)
        if (ids.v[i] >= c->id && ids.v[i] < INT64_C(1) << 52)
            c->id = ids.v[i] + 1;
    return HS_OK;
}

int hs_chrome_critical_open(struct hs_chrome_critical *c, const struct hs_run_rank *r, const struct hs_params *p,
                            const uint8_t *window, struct hs_table *notes, struct hs_err *err)
{
    *c = (struct hs_chrome_critical){.asked = true, .only = hs_param_bool(p, "only_show_critical_events")};
    c->all_edges = !c->only && hs_param_bool(p, "show_all_edges");
    c->window = window;
    int rc = first_id(c, r->view, err);
    if (!rc)
        rc = hs_crit_loading(&c->loading, p, err);
    if (!rc)
        rc = hs_crit_rank_open(&c->rank, r, p, c->loading, notes, err);
    if (rc)
        return rc;
    c->on_path = hs_calloc(c->rank.cpu.ev.n / 8 + 1, 1);
    return c->rank.asked ? find_way(c, err) : HS_OK;
}

void hs_chrome_critical_close(struct hs_chrome_critical *c)
{
    if (!c->asked)
        return;
    hs_crit_way_free(&c->way);
    hs_crit_graph_free(&c->graph);
    hs_crit_rank_close(&c->rank);
    hs_name_filter_free(c->loading);
    free(c->on_path);
    free(c->on_way);
    c->asked = false;
}

/* ---- events ---- */

bool hs_chrome_critical_has(const struct hs_chrome_critical *c, uint32_t event)
{
    return c->asked && has_bit(c->on_path, event);
}

bool hs_chrome_critical_keeps(const struct hs_chrome_critical *c, uint32_t event)
{
    if (!c->asked || !c->only || c->rank.cpu.ev.ph[event] != 'X' || has_bit(c->on_path, event))
        return true;
    enum hs_cat_kind k = hs_cpu_kind(&c->rank.cpu, event);
    return k == HS_CAT_ANNOTATION || k == HS_CAT_PYTHON;
}

/* ---- flows ---- */

static bool exported(const struct hs_chrome_critical *c, uint32_t point)
{
    return !c->window || hs_chrome_window_has(c->window, hs_crit_node_event(&c->graph, &c->rank.index, point / 2));
}

static uint32_t lane_of(const struct hs_chrome_critical *c, uint32_t point)
{
    return c->rank.cpu.ev.lane[hs_crit_node_event(&c->graph, &c->rank.index, point / 2)];
}

static bool shown(const struct hs_chrome_critical *c, size_t edge, uint32_t to)
{
    const struct hs_crit_edge *e = &c->graph.edges.p[edge];
    if (e->from == HS_NO_POINT || !exported(c, e->from) || !exported(c, to))
        return false;
    if (c->all_edges)
        return true;
    return has_bit(c->on_way, edge) && lane_of(c, e->from) != lane_of(c, to);
}

/* When a flow begins or ends: within the event that it is to be drawn at, so not at the very end of a span. */
static int64_t inside(const struct hs_chrome_critical *c, uint32_t point, int64_t t)
{
    uint32_t event = hs_crit_node_event(&c->graph, &c->rank.index, point / 2);
    int64_t start = c->rank.cpu.ev.ts[event], end = hs_end_ns(start, c->rank.cpu.ev.dur[event]);
    int64_t last = hs_max_i64(start, hs_sub_sat(end, 1));
    return hs_max_i64(start, hs_min_i64(t, last));
}

static void put_id(struct hs_buf *out, const struct hs_view *v, const char *key, struct hs_id id)
{
    if (id.kind == HS_ID_NONE)
        return;
    hs_buf_printf(out, ",\"%s\":", key);
    if (id.kind == HS_ID_INT)
        hs_buf_put_i64(out, id.v);
    else
        hs_json_quote(out, hs_view_str(v, (uint32_t)id.v));
}

static void put_flow(const struct hs_chrome_critical *c, const struct hs_crit_edge *e, uint32_t point, int64_t t,
                     bool finish, struct hs_buf *out)
{
    const struct hs_view *v = c->rank.sel.view;
    uint32_t lane = lane_of(c, point);
    hs_buf_printf(out, "{\"ph\":\"%s\",\"id\":%lld", finish ? "f\",\"bp\":\"e" : "s", (long long)c->id);
    if (lane < v->nlanes) {
        put_id(out, v, "pid", v->lanes[lane].pid);
        put_id(out, v, "tid", v->lanes[lane].tid);
    }
    hs_buf_puts(out, ",\"ts\":");
    hs_put_us(out, inside(c, point, t));
    hs_buf_puts(out,
                ",\"cat\":\"" HS_CRITICAL_CATEGORY "\",\"name\":\"" HS_CRITICAL_CATEGORY "\",\"args\":{\"weight\":");
    hs_put_us(out, hs_add_sat(e->own, e->lag));
    hs_buf_printf(out, ",\"critical\":%d,\"type\":\"%s\"}}", has_bit(c->on_way, (size_t)(e - c->graph.edges.p)),
                  hs_crit_edge_word((enum hs_crit_edge_kind)e->kind));
}

bool hs_chrome_critical_next(struct hs_chrome_critical *c, struct hs_buf *out)
{
    const struct hs_crit_graph *g = &c->graph;
    if (!c->asked || !c->on_way)
        return false;
    for (; c->next < g->edges.n; c->next++) {
        while (g->in[c->point + 1] <= c->next)
            c->point++;
        const struct hs_crit_edge *e = &g->edges.p[c->next];
        if (!shown(c, c->next, c->point))
            continue;
        if (!c->finish) { /* a point within the source's work, or its end */
            int64_t from = hs_crit_point_time(g, &c->rank.index, e->from);
            put_flow(c, e, e->from, e->kind == HS_EDGE_OPERATOR ? from : hs_add_sat(from, e->own), false, out);
            c->finish = true;
            return true;
        }
        put_flow(c, e, c->point, hs_crit_point_time(g, &c->rank.index, c->point), true, out);
        c->finish = false;
        c->id++;
        c->next++;
        return true;
    }
    return false;
}
