#include "analysis/crit_graph.h"

#include "trace/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *hs_crit_edge_word(enum hs_crit_edge_kind k)
{
    static const char *const words[HS_CRIT_EDGE_KINDS] = {"operator", "dependency", "launch delay",
                                                          "kernel-kernel delay", "synchronisation"};
    return words[k];
}

/* ---- nodes ---- */

static bool is_segment(const struct hs_crit_graph *g, size_t node)
{
    return node < g->nseg;
}

uint32_t hs_crit_node_event(const struct hs_crit_graph *g, const struct hs_crit_index *x, size_t node)
{
    return is_segment(g, node) ? x->seg.p[g->item[node]].event : x->gpu->event[g->item[node]];
}

int64_t hs_crit_point_time(const struct hs_crit_graph *g, const struct hs_crit_index *x, uint32_t point)
{
    size_t node = point / 2, i = g->item[node];
    if (is_segment(g, node))
        return point & 1 ? hs_min_i64(x->seg.p[i].end, g->to) : hs_max_i64(x->seg.p[i].start, g->from);
    return point & 1 ? x->end_of[i] : hs_max_i64(x->gpu->ts[i], g->from);
}

bool hs_crit_node_early(const struct hs_crit_graph *g, const struct hs_crit_index *x, size_t node)
{
    return !is_segment(g, node) && hs_crit_row_since(x->gpu, g->item[node]) < g->asked_from;
}

enum hs_crit_cause hs_crit_node_cause(const struct hs_crit_graph *g, const struct hs_crit_index *x, size_t node)
{
    if (!is_segment(g, node))
        return hs_crit_cause_of_row(x->gpu, g->item[node]);
    return x->seg.p[g->item[node]].loads ? HS_CRIT_LOADING : HS_CRIT_CPU;
}

struct build {
    struct hs_crit_graph *g;
    const struct hs_crit_index *x;
    uint32_t *seg_node, *row_node; /* node of each segment and row; UINT32_MAX: not in the window */
    bool full;
};

static int64_t start_of(const struct build *b, size_t seg)
{
    return hs_max_i64(b->x->seg.p[seg].start, b->g->from);
}

static int64_t end_of(const struct build *b, size_t seg)
{
    return hs_min_i64(b->x->seg.p[seg].end, b->g->to);
}

/* The window begins where the trace does, if not later: as the walk's path. */
static void set_window(struct hs_crit_graph *g, const struct hs_crit_index *x, int64_t from, int64_t to)
{
    int64_t first = INT64_MAX;
    for (size_t i = 0; i < x->seg.n; i++)
        first = hs_min_i64(first, x->seg.p[i].start);
    for (size_t i = 0; i < x->gpu->n; i++)
        first = hs_min_i64(first, x->gpu->ts[i]);
    g->asked_from = from;
    g->from = hs_max_i64(from, first);
    g->to = to;
}

static void find_nodes(struct build *b, int64_t from, int64_t to)
{
    const struct hs_crit_index *x = b->x;
    size_t n = 0;
    b->g->item = hs_malloc((x->seg.n + x->gpu->n + 1) * sizeof *b->g->item);
    b->seg_node = hs_malloc((x->seg.n + 1) * sizeof *b->seg_node);
    b->row_node = hs_malloc((x->gpu->n + 1) * sizeof *b->row_node);
    for (size_t i = 0; i < x->seg.n; i++) {
        bool in = x->seg.p[i].end > from && x->seg.p[i].start < to;
        b->seg_node[i] = in ? (uint32_t)n : UINT32_MAX;
        if (in)
            b->g->item[n++] = (uint32_t)i;
    }
    b->g->nseg = n;
    for (size_t i = 0; i < x->gpu->n; i++) {
        int64_t since = hs_crit_row_since(x->gpu, i);
        bool in = since < to && (since >= from || x->end_of[i] > from);
        b->row_node[i] = in ? (uint32_t)n : UINT32_MAX;
        if (in)
            b->g->item[n++] = (uint32_t)i;
    }
    b->g->nnodes = n;
}

/* ---- edges ---- */

static void add(struct build *b, struct hs_crit_edge e)
{
    b->full |= !hs_vec_push(&b->g->edges, e);
    b->g->count[e.kind] += e.from != HS_NO_POINT;
}

/* What happened at t, before the window, has happened when it did. */
static int64_t since_beginning(const struct build *b, int64_t t, int64_t lag)
{
    return hs_max_i64(0, hs_add_sat(lag, hs_sub_sat(t, b->g->from)));
}

/* From the end of a row. */
static void after_row(struct build *b, size_t row, int64_t lag, enum hs_crit_edge_kind kind, enum hs_crit_cause cause)
{
    uint32_t node = b->row_node[row];
    struct hs_crit_edge e = {
        node == UINT32_MAX ? HS_NO_POINT : 2 * node + 1, (uint8_t)kind, (uint8_t)cause, false, 0, lag};
    if (node == UINT32_MAX)
        e.lag = since_beginning(b, b->x->end_of[row], lag);
    add(b, e);
}

/* From within a segment: when so much of it is done as was at time t. Counted from its start, so that no edge leaves a point
 * at the very instant at which it comes in. */
static void within_segment(struct build *b, size_t seg, int64_t t, struct hs_crit_edge e)
{
    uint32_t node = b->seg_node[seg];
    bool outside = node == UINT32_MAX || t < start_of(b, seg);
    e.from = outside ? HS_NO_POINT : 2 * node;
    if (outside)
        e.lag = since_beginning(b, t, e.lag);
    else
        e.own = hs_sub_sat(t, start_of(b, seg));
    add(b, e);
}

/* The same of another thread's segment, that this one waited for: from its end if that is when it let go, as its time may itself
 * have been waiting. */
static void after_segment(struct build *b, size_t seg, int64_t t, struct hs_crit_edge e)
{
    uint32_t node = b->seg_node[seg];
    if (node == UINT32_MAX || t != end_of(b, seg)) {
        within_segment(b, seg, t, e);
        return;
    }
    e.from = 2 * node + 1;
    add(b, e);
}

static void from_beginning(struct build *b, int64_t t, enum hs_crit_cause cause)
{
    add(b, (struct hs_crit_edge){HS_NO_POINT, HS_EDGE_DEPENDENCY, (uint8_t)cause, false, 0, hs_sub_sat(t, b->g->from)});
}

/* From the launch call of a row, which had returned at time t: from the segment that it is part of, or, if it took no time, from
 * the end of what its thread did before. */
static void after_call(struct build *b, size_t row, int64_t t, int64_t lag)
{
    uint32_t lane = b->x->cpu->ev.lane[b->x->gpu->launch[row]];
    size_t seg = hs_crit_segment_before(b->x, lane, t);
    struct hs_crit_edge e = {.kind = HS_EDGE_LAUNCH, .cause = HS_CRIT_LAUNCH, .lag = lag};
    if (seg == HS_NO_SEGMENT) {
        from_beginning(b, hs_add_sat(t, lag), HS_CRIT_LAUNCH);
        return;
    }
    int64_t at = hs_min_i64(b->x->seg.p[seg].end, t);
    e.lag = hs_add_sat(lag, hs_sub_sat(t, at));
    within_segment(b, seg, at, e);
}

static void into_row_start(struct build *b, size_t row)
{
    const struct hs_crit_index *x = b->x;
    int64_t start = x->gpu->ts[row];
    size_t before = b->g->edges.n;
    if (start <= b->g->from) { /* it was running when the window began */
        from_beginning(b, b->g->from, HS_CRIT_UNKNOWN);
        return;
    }
    struct hs_crit_arrivals a = hs_crit_arrivals(x, row);
    if (a.call != INT64_MIN)
        after_call(b, row, a.call, a.by_call && !a.by_waited ? hs_sub_sat(start, a.call) : 0);
    if (a.prev != HS_NO_ROW)
        after_row(b, a.prev, !a.by_call && !a.by_waited ? hs_sub_sat(start, x->end_of[a.prev]) : 0, HS_EDGE_KERNEL,
                  HS_CRIT_KERNEL);
    if (a.waited != HS_NO_ROW)
        after_row(b, a.waited, a.by_waited ? hs_sub_sat(start, x->end_of[a.waited]) : 0, HS_EDGE_SYNC, HS_CRIT_SYNC);
    if (b->g->edges.n == before)
        from_beginning(b, start, HS_CRIT_UNKNOWN);
}

/* What the time of a thread before t, in which it ran nothing, waited for: another thread, if that ran last, as crit.c's walk
 * has it. `low`: since when. The other thread's segment and the instant at which it let go; false: none. */
static bool other_thread(const struct build *b, uint32_t lane, int64_t low, int64_t t, size_t *seg, int64_t *at)
{
    size_t latest = hs_crit_latest_active(b->x, t);
    if (latest == HS_NO_SEGMENT || b->x->seg.p[latest].lane == lane)
        return false;
    *seg = latest;
    *at = hs_min_i64(b->x->seg.p[latest].end, t);
    return *at > low;
}

static void into_segment_start(struct build *b, size_t i)
{
    const struct hs_crit_segment *s = &b->x->seg.p[i], *prev = NULL;
    int64_t start = start_of(b, i);
    struct hs_crit_edge e = {.kind = HS_EDGE_DEPENDENCY, .cause = HS_CRIT_CPU_IDLE};
    size_t other;
    int64_t at;
    if (i && b->x->seg.p[i - 1].lane == s->lane)
        prev = &b->x->seg.p[i - 1];
    bool gap = !prev || prev->end < s->start;
    bool jump = gap && start == s->start && other_thread(b, s->lane, prev ? prev->end : INT64_MIN, start, &other, &at);
    if (jump) {
        e.lag = hs_sub_sat(start, at);
        after_segment(b, other, at, e);
    }
    if (prev && b->seg_node[i - 1] != UINT32_MAX) {
        e.from = 2 * b->seg_node[i - 1] + 1;
        e.lag = jump ? 0 : hs_sub_sat(start, prev->end);
        add(b, e);
    } else if (!jump) {
        from_beginning(b, start, HS_CRIT_CPU_IDLE);
    }
}

static void into_segment_end(struct build *b, size_t i)
{
    const struct hs_crit_segment *s = &b->x->seg.p[i];
    int64_t start = start_of(b, i), end = end_of(b, i);
    struct hs_crit_edge own = {.from = 2 * b->seg_node[i], .kind = HS_EDGE_OPERATOR, .own = hs_sub_sat(end, start)};
    size_t row = s->active ? hs_crit_waited_for(b->x, s, end) : HS_NO_ROW, other;
    int64_t at;
    if (row != HS_NO_ROW) {
        own.own = 0; /* its time was waiting */
        after_row(b, row, hs_sub_sat(end, b->x->end_of[row]), HS_EDGE_SYNC, HS_CRIT_SYNC);
    } else if (!s->active && other_thread(b, s->lane, start, end, &other, &at)) {
        own.own = 0;
        after_segment(b, other, at,
                      (struct hs_crit_edge){.kind = HS_EDGE_DEPENDENCY,
                                            .cause = s->loads ? HS_CRIT_LOADING : HS_CRIT_CPU,
                                            .lag_is_work = true,
                                            .lag = hs_sub_sat(end, at)});
    }
    add(b, own);
}

static void find_edges(struct build *b)
{
    struct hs_crit_graph *g = b->g;
    g->in = hs_malloc((2 * g->nnodes + 1) * sizeof *g->in);
    for (size_t k = 0; k < g->nnodes && !b->full; k++) {
        size_t i = g->item[k];
        g->in[2 * k] = (uint32_t)g->edges.n;
        if (is_segment(g, k))
            into_segment_start(b, i);
        else
            into_row_start(b, i);
        g->in[2 * k + 1] = (uint32_t)g->edges.n;
        if (is_segment(g, k))
            into_segment_end(b, i);
        else
            add(b, (struct hs_crit_edge){.from = (uint32_t)(2 * k),
                                         .kind = HS_EDGE_OPERATOR,
                                         .own = hs_sub_sat(b->x->end_of[i], hs_max_i64(b->x->gpu->ts[i], g->from))});
    }
    g->in[2 * g->nnodes] = (uint32_t)g->edges.n;
}

int hs_crit_graph_build(struct hs_crit_graph *g, const struct hs_crit_index *x, int64_t from, int64_t to,
                        struct hs_err *err)
{
    *g = (struct hs_crit_graph){.edges = HS_VEC_INIT(UINT32_MAX - 8)};
    struct build b = {.g = g, .x = x};
    bool fits = x->seg.n < UINT32_MAX / 16 && x->gpu->n < UINT32_MAX / 16;
    if (fits) {
        set_window(g, x, from, to);
        find_nodes(&b, from, to);
        find_edges(&b);
    }
    free(b.seg_node);
    free(b.row_node);
    return fits && !b.full ? HS_OK : hs_fail(err, HS_ELIMIT, "the graph has too many points: ask for a shorter window");
}

size_t hs_crit_edges(const struct hs_crit_graph *g)
{
    size_t n = 0;
    for (int k = 0; k < HS_CRIT_EDGE_KINDS; k++)
        n += g->count[k];
    return n;
}

void hs_crit_graph_free(struct hs_crit_graph *g)
{
    free(g->item);
    free(g->in);
    hs_vec_free(&g->edges);
}

/* ---- the longest way ---- */

#define UNSEEN INT64_MIN

struct longest {
    const struct hs_crit_graph *g;
    const struct hs_crit_index *x;
    const struct hs_crit_factors *f;
    int64_t *when;  /* by point: ns since the beginning; UNSEEN */
    uint32_t *last; /* by point: the edge that came last */
    struct {
        HS_VEC(uint32_t);
    } stack;
};

static int64_t times(int64_t ns, double factor)
{
    return factor == 1 ? ns : (int64_t)llround((double)ns * factor);
}

static int64_t own_of(const struct longest *l, const struct hs_crit_edge *e)
{
    return e->from == HS_NO_POINT || !l->f->node ? e->own : times(e->own, l->f->node[e->from / 2]);
}

static int64_t lag_of(const struct longest *l, const struct hs_crit_edge *e, uint32_t to)
{
    if (e->from == HS_NO_POINT) /* what was before the window stays as it was */
        return e->lag;
    if (e->lag_is_work)
        return l->f->node ? times(e->lag, l->f->node[to / 2]) : e->lag;
    return l->f->lag ? times(e->lag, l->f->lag[e->cause]) : e->lag;
}

/* When the point happens, all of its sources being known. */
static void settle(struct longest *l, uint32_t p)
{
    const struct hs_crit_graph *g = l->g;
    for (uint32_t k = g->in[p]; k < g->in[p + 1]; k++) {
        const struct hs_crit_edge *e = &g->edges.p[k];
        int64_t t = e->from == HS_NO_POINT ? 0 : l->when[e->from];
        t = hs_add_sat(t, hs_add_sat(own_of(l, e), lag_of(l, e, p)));
        if (l->when[p] == UNSEEN || t > l->when[p]) {
            l->when[p] = t;
            l->last[p] = k;
        }
    }
}

/* Settles a point after all that lead to it, with a stack of its own. False: a cycle. */
static bool visit(struct longest *l, uint32_t p)
{
    const struct hs_crit_graph *g = l->g;
    size_t most = 2 * g->nnodes; /* deeper than there are points: a cycle */
    l->stack.n = 0;
    hs_vec_push(&l->stack, p);
    while (l->stack.n) {
        uint32_t q = l->stack.p[l->stack.n - 1];
        bool ready = true;
        if (l->when[q] == UNSEEN)
            for (uint32_t k = g->in[q]; k < g->in[q + 1] && ready; k++) {
                uint32_t from = g->edges.p[k].from;
                if (from != HS_NO_POINT && l->when[from] == UNSEEN) {
                    if (l->stack.n > most || !hs_vec_push(&l->stack, from))
                        return false;
                    ready = false;
                }
            }
        if (!ready)
            continue;
        if (l->when[q] == UNSEEN)
            settle(l, q);
        l->stack.n--;
    }
    return true;
}

static void add_ns(struct hs_crit_way *way, enum hs_crit_cause cause, int64_t ns)
{
    way->ns[cause] = hs_add_sat(way->ns[cause], ns);
}

static void add_up(const struct longest *l, uint32_t p, struct hs_crit_way *way)
{
    while (p != HS_NO_POINT) {
        const struct hs_crit_edge *e = &l->g->edges.p[l->last[p]];
        int64_t own = own_of(l, e), lag = lag_of(l, e, p);
        if (e->from != HS_NO_POINT)
            add_ns(way, hs_crit_node_cause(l->g, l->x, e->from / 2), own);
        add_ns(way, e->cause, lag);
        way->length = hs_add_sat(way->length, hs_add_sat(own, lag));
        hs_vec_push(&way->edges, l->last[p]);
        hs_vec_push(&way->points, p);
        p = e->from;
    }
}

int hs_crit_longest(const struct hs_crit_graph *g, const struct hs_crit_index *x, const struct hs_crit_factors *f,
                    struct hs_crit_way *way, struct hs_err *err)
{
    size_t n = 2 * g->nnodes;
    struct longest l = {.g = g, .x = x, .f = f, .stack = HS_VEC_INIT(UINT32_MAX)};
    uint32_t end = HS_NO_POINT;
    bool ok = true;
    *way = (struct hs_crit_way){.edges = HS_VEC_INIT(UINT32_MAX), .points = HS_VEC_INIT(UINT32_MAX)};
    l.when = hs_malloc((n + 1) * sizeof *l.when);
    l.last = hs_malloc((n + 1) * sizeof *l.last);
    for (size_t i = 0; i < n; i++)
        l.when[i] = UNSEEN;
    for (size_t i = 0; i < n && ok; i++) {
        ok = visit(&l, (uint32_t)i);
        if (ok && !hs_crit_node_early(g, x, i / 2) && (end == HS_NO_POINT || l.when[i] > l.when[end]))
            end = (uint32_t)i;
    }
    if (ok && end != HS_NO_POINT)
        add_up(&l, end, way);
    free(l.when);
    free(l.last);
    hs_vec_free(&l.stack);
    return ok ? HS_OK : hs_fail(err, HS_EINTERNAL, "the graph of the critical path has a cycle");
}

void hs_crit_way_free(struct hs_crit_way *way)
{
    hs_vec_free(&way->edges);
    hs_vec_free(&way->points);
}
