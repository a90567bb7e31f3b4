#include "analysis/hta_graph.h"

#include "analysis/hta_reach.h"
#include "analysis/hta_sort.h"

#include <math.h>
#include <stdlib.h>

enum label { PLAIN, MAIN, BACKWARD };

/* Rows of one lane. */
struct thread {
    uint32_t lane, first, n; /* rows order[first .. first + n), in row order */
    uint32_t root;           /* node; HTA_NONE: no stack */
    enum label label;
};

struct builder {
    const struct hta_trace *t;
    struct hta_graph *g;
    uint32_t *order; /* rows by lane */
    struct thread *threads;
    size_t nthreads;
    struct hta_map root_of; /* |tid| -> root's number */
    size_t texts;           /* threads whose tid is a text */
};

/* ---- the order of opening and closing events ---- */

struct ends {
    const struct hta_rank *r;
    const uint32_t *rows; /* event 2k opens rows[k], 2k + 1 closes it */
    const double *time;   /* by event */
    bool odd;
};

static int sign(bool less)
{
    return less ? -1 : 1;
}

/* The comparison HTA sorts with; not transitive where an event of no duration lies between two that touch. */
static int compare_ends(struct ends *e, uint32_t a, uint32_t b)
{
    const struct hta_row *x = &e->r->rows[e->rows[a / 2]], *y = &e->r->rows[e->rows[b / 2]];
    bool x_opens = !(a & 1), y_opens = !(b & 1);
    if (e->time[a] != e->time[b])
        return sign(e->time[a] < e->time[b]);
    if (x->index == y->index)
        return sign(x_opens);
    e->odd |= (x->dur == 0 && y->dur < 0) || (y->dur == 0 && x->dur < 0);
    bool one_is_zero = (x->dur == 0 || y->dur == 0) && x->dur >= 0 && y->dur >= 0;
    if (one_is_zero && y->dur > 0)
        return sign(!y_opens);
    if (one_is_zero && x->dur > 0)
        return sign(x_opens);
    if (x_opens != y_opens)
        return sign(one_is_zero ? x_opens : !x_opens);
    if (x->dur != y->dur)
        return sign((x->dur > y->dur) == x_opens);
    return sign((x->index < y->index) == x_opens);
}

static int ends_less(void *ctx, uint32_t a, uint32_t b)
{
    return compare_ends(ctx, a, b) < 0;
}

/* ---- nodes ---- */

static void add_child(struct hta_graph *g, uint32_t parent, uint32_t child, int64_t parent_id)
{
    struct hta_node *p = &g->nodes[parent], *c = &g->nodes[child];
    c->parent = parent_id;
    c->next = HTA_NONE;
    if (p->last == HTA_NONE)
        p->first = child;
    else
        g->nodes[p->last].next = child;
    p->last = child;
}

static int64_t node_id(const struct hta_graph *g, uint32_t node)
{
    return node < g->r->n ? (int64_t)g->r->rows[node].index : g->roots.p[node - g->r->n];
}

struct hta_node *hta_graph_node(const struct hta_graph *g, int64_t index)
{
    if (index < 0 || (uint64_t)index >= g->r->nevents || g->r->pos[index] == HTA_NONE)
        return NULL;
    struct hta_node *n = &g->nodes[g->r->pos[index]];
    return n->kind == HTA_NODE_NONE ? NULL : n;
}

/* Opens push, closes pop whoever is on top: rows that overlap in part nest. */
static void build_stack(struct builder *b, const struct thread *th)
{
    struct hta_graph *g = b->g;
    const struct hta_rank *r = g->r;
    uint32_t *rows = hs_malloc((th->n + 1) * sizeof *rows);
    size_t n = 0, sp = 0;
    for (uint32_t i = 0; i < th->n; i++)
        if (!hta_on_stream(&r->rows[b->order[th->first + i]]))
            rows[n++] = b->order[th->first + i];
    /* HTA sorts by time first, all opens before all closes, then with its comparison. */
    double *key = hs_malloc((2 * n + 1) * sizeof *key), *time = hs_malloc((2 * n + 1) * sizeof *time);
    uint32_t *order = hs_malloc((2 * n + 1) * sizeof *order), *stack = hs_malloc((n + 1) * sizeof *stack);
    for (size_t i = 0; i < n; i++) {
        key[i] = time[2 * i] = (double)r->rows[rows[i]].ts;
        key[n + i] = time[2 * i + 1] = hta_end(&r->rows[rows[i]]);
    }
    hta_argsort(key, 2 * n, order);
    for (size_t i = 0; i < 2 * n; i++)
        order[i] = order[i] < n ? 2 * order[i] : 2 * (order[i] - (uint32_t)n) + 1;
    struct ends e = {r, rows, time, false};
    hta_timsort(order, 2 * n, ends_less, &e);
    g->odd |= e.odd;
    for (size_t i = 0; i < 2 * n; i++) {
        uint32_t row = rows[order[i] / 2], top = sp ? stack[sp - 1] : th->root;
        if (order[i] & 1) {
            sp -= sp > 0;
            continue;
        }
        g->nodes[row].kind = HTA_NODE_CPU;
        g->nodes[row].depth = g->nodes[top].depth + 1;
        add_child(g, top, row, node_id(g, top));
        stack[sp++] = row;
    }
    hs_free_array((void **)&rows);
    hs_free_array((void **)&key);
    hs_free_array((void **)&time);
    hs_free_array((void **)&order);
    hs_free_array((void **)&stack);
}

/* Kernels become children of their launch; not those of stream 0, nor of a launch outside the stacks. */
static void add_kernels(struct hta_graph *g)
{
    for (size_t i = 0; i < g->r->n; i++) {
        const struct hta_row *x = &g->r->rows[i];
        uint32_t self = g->r->pos[x->index];
        if (x->stream <= 0 || x->icorr <= 0 || g->nodes[self].kind != HTA_NODE_NONE)
            continue;
        struct hta_node *launch = hta_graph_node(g, x->icorr);
        if (!launch || launch->kind != HTA_NODE_CPU)
            continue;
        g->nodes[self].kind = HTA_NODE_GPU;
        g->nodes[self].depth = launch->depth + 1;
        add_child(g, (uint32_t)(launch - g->nodes), self, x->icorr);
    }
}

/* ---- threads ---- */

static int compare_ids(const struct hs_view *v, struct hs_id a, struct hs_id b)
{
    if (a.kind != b.kind)
        return a.kind < b.kind ? -1 : 1;
    if (a.kind == HS_ID_TEXT)
        return hs_str_cmp(hs_view_str(v, (uint32_t)a.v), hs_view_str(v, (uint32_t)b.v));
    return (a.v > b.v) - (a.v < b.v);
}

static int by_pid_tid(const void *a, const void *b, void *ctx)
{
    const struct hs_view *v = ctx;
    const struct hs_lane_info *x = &v->lanes[((const struct thread *)a)->lane],
                              *y = &v->lanes[((const struct thread *)b)->lane];
    int c = compare_ids(v, x->pid, y->pid);
    return c ? c : compare_ids(v, x->tid, y->tid);
}

static void find_threads(struct builder *b)
{
    const struct hta_rank *r = b->g->r;
    size_t lanes = r->view->nlanes;
    uint32_t *at = hs_calloc(lanes + 2, sizeof *at);
    b->order = hs_malloc((r->n + 1) * sizeof *b->order);
    b->threads = hs_calloc(lanes + 1, sizeof *b->threads);
    for (size_t i = 0; i < r->n; i++)
        if (r->rows[i].lane < lanes)
            at[r->rows[i].lane + 1]++;
    for (uint32_t l = 0; l < lanes; l++) {
        if (at[l + 1])
            b->threads[b->nthreads++] = (struct thread){.lane = l, .first = at[l], .n = at[l + 1], .root = HTA_NONE};
        at[l + 1] += at[l];
    }
    for (uint32_t i = 0; i < r->n; i++)
        if (r->rows[i].lane < lanes)
            b->order[at[r->rows[i].lane]++] = i;
    qsort_r(b->threads, b->nthreads, sizeof *b->threads, by_pid_tid, r->view);
    hs_free_array((void **)&at);
}

/* A stack is built for every lane but those of devices (all streams positive) and those of process or thread 0. */
static bool has_stack(struct builder *b, const struct thread *th)
{
    const struct hta_rank *r = b->g->r;
    const struct hs_lane_info *l = &r->view->lanes[th->lane];
    bool device = true, zero = (l->pid.kind == HS_ID_INT && !l->pid.v) || (l->tid.kind == HS_ID_INT && !l->tid.v);
    for (uint32_t i = 0; i < th->n && device; i++)
        device = r->rows[b->order[th->first + i]].stream > 0;
    if (device || zero || l->pid.kind == HS_ID_NONE || l->tid.kind == HS_ID_NONE)
        return false;
    b->texts += l->tid.kind == HS_ID_TEXT;
    return l->tid.kind == HS_ID_INT;
}

/* Threads of equal number in two processes share a root, as HTA names roots by thread only. */
static void add_roots(struct builder *b)
{
    struct hta_graph *g = b->g;
    for (size_t i = 0; i < b->nthreads; i++) {
        struct thread *th = &b->threads[i];
        if (!has_stack(b, th))
            continue;
        int64_t tid = g->r->view->lanes[th->lane].tid.v, root = tid > 0 ? -tid : tid;
        uint32_t *at = hta_map_at(&b->root_of, root);
        if (*at == HTA_NONE) {
            *at = (uint32_t)g->roots.n;
            if (!hs_vec_push(&g->roots, root))
                continue;
        }
        th->root = (uint32_t)(g->r->n + *at);
    }
    g->n = g->r->n + g->roots.n;
    g->nodes = hs_malloc((g->n + 1) * sizeof *g->nodes);
    for (size_t i = 0; i < g->n; i++)
        g->nodes[i] = (struct hta_node){.first = HTA_NONE,
                                        .last = HTA_NONE,
                                        .next = HTA_NONE,
                                        .depth = -1,
                                        .height = -1,
                                        .parent = -1,
                                        .first_start = -1,
                                        .last_end = -1,
                                        .kind = i < g->r->n ? HTA_NODE_NONE : HTA_NODE_ROOT};
}

/* ---- the backward thread ---- */

static bool *symbols_that(const struct hta_trace *t, bool (*test)(struct hs_str))
{
    bool *yes = hs_calloc(t->syms.n + 1, sizeof *yes);
    for (size_t i = 0; i < t->syms.n; i++)
        yes[i] = test(t->syms.p[i]);
    return yes;
}
static bool is_autograd(struct hs_str s)
{
    return hs_str_contains(s, "autograd::");
}
static bool is_step(struct hs_str s)
{
    return hs_str_starts(s, "ProfilerStep#");
}
static bool is_backward(struct hs_str s)
{
    return hs_str_starts(s, "## backward ##");
}

static void label_threads(struct builder *b)
{
    bool *autograd = symbols_that(b->t, is_autograd), *step = symbols_that(b->t, is_step);
    for (size_t k = 0; k < b->nthreads; k++) {
        struct thread *th = &b->threads[k];
        for (uint32_t i = 0; th->root != HTA_NONE && i < th->n && th->label != MAIN; i++) {
            uint32_t name = b->g->r->rows[b->order[th->first + i]].name;
            if (step[name])
                th->label = MAIN;
            else if (autograd[name])
                th->label = BACKWARD;
        }
    }
    hs_free_array((void **)&autograd);
    hs_free_array((void **)&step);
}

/* The children of a root, by start, of which those within a row can be taken without looking at the others. */
struct pool {
    uint32_t root, *child;
    double *start;
    size_t n, left;
    struct hta_reach by_end; /* of the ends, negated: the largest is the earliest */
};

static int by_start(const void *a, const void *b, void *ctx)
{
    const struct hta_row *rows = ctx;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (rows[x].ts != rows[y].ts)
        return rows[x].ts < rows[y].ts ? -1 : 1;
    return (x > y) - (x < y);
}

static void open_pool(struct hta_graph *g, uint32_t root, struct pool *p)
{
    struct hta_row *rows = g->r->rows;
    *p = (struct pool){.root = root};
    for (uint32_t c = g->nodes[root].first; c != HTA_NONE; c = g->nodes[c].next)
        p->n++;
    p->child = hs_malloc((p->n + 1) * sizeof *p->child);
    p->start = hs_malloc((p->n + 1) * sizeof *p->start);
    double *end = hs_malloc((p->n + 1) * sizeof *end);
    for (uint32_t c = g->nodes[root].first; c != HTA_NONE; c = g->nodes[c].next)
        p->child[p->left++] = c;
    qsort_r(p->child, p->n, sizeof *p->child, by_start, rows);
    for (size_t i = 0; i < p->n; i++) {
        p->start[i] = (double)rows[p->child[i]].ts;
        end[i] = -rows[p->child[i]].end;
    }
    hta_reach_build(&p->by_end, end, p->n);
    g->nodes[root].first = g->nodes[root].last = HTA_NONE;
    hs_free_array((void **)&end);
}

/* What was not taken goes back to the root. */
static void close_pool(struct hta_graph *g, struct pool *p)
{
    for (size_t i; (i = hta_reach_first_above(&p->by_end, 0, p->n, -INFINITY)) != HTA_REACH_NONE;) {
        hta_reach_remove(&p->by_end, i);
        add_child(g, p->root, p->child[i], node_id(g, p->root));
    }
    hta_reach_free(&p->by_end);
    hs_free_array((void **)&p->child);
    hs_free_array((void **)&p->start);
}

/* Moves what lies within row `into` below it. False if nothing does. */
static bool take_within(struct hta_graph *g, struct pool *p, uint32_t into)
{
    const struct hta_row *x = &g->r->rows[into];
    size_t lo = 0, hi = p->n, left = p->left;
    while (lo < hi) {
        size_t m = lo + (hi - lo) / 2;
        if (p->start[m] < (double)x->ts)
            lo = m + 1;
        else
            hi = m;
    }
    for (size_t i; (i = hta_reach_last_from(&p->by_end, lo, p->n, -x->end)) != HTA_REACH_NONE; p->left--) {
        hta_reach_remove(&p->by_end, i);
        add_child(g, into, p->child[i], x->index);
    }
    return p->left < left;
}

/* The root above p; HTA_NONE if p hangs below itself. */
static uint32_t root_above(const struct builder *b, uint32_t p)
{
    const struct hta_graph *g = b->g;
    int64_t parent = g->nodes[p].parent;
    for (size_t i = 0; parent >= 0 && i <= g->n; i++)
        parent = g->nodes[g->r->pos[parent]].parent;
    uint32_t at = parent < 0 ? hta_map_get(&b->root_of, parent) : HTA_NONE;
    return at == HTA_NONE ? HTA_NONE : (uint32_t)(g->r->n + at);
}

/* HTA hangs the backward thread's top below the main thread's backward annotations or steps. Once the backward root is
 * empty it goes on with the main root itself, so that later steps become their own parents and drop out: repeated here. */
static void link_backward(struct builder *b)
{
    const struct thread *main = NULL, *backward = NULL;
    struct hta_graph *g = b->g;
    size_t labelled = 0;
    for (size_t k = 0; k < b->nthreads; k++) {
        labelled += b->threads[k].label != PLAIN;
        main = b->threads[k].label == MAIN ? &b->threads[k] : main;
        backward = b->threads[k].label == BACKWARD ? &b->threads[k] : backward;
    }
    if (labelled != 2 || !main || !backward)
        return;
    bool *step = symbols_that(b->t, is_step), *under = symbols_that(b->t, is_backward), annotated = false;
    struct pool pool;
    for (uint32_t i = 0; i < main->n; i++)
        annotated |= under[g->r->rows[b->order[main->first + i]].name];
    open_pool(g, backward->root, &pool);
    for (uint32_t i = 0; i < main->n; i++) {
        uint32_t p = b->order[main->first + i];
        if (!(annotated ? under : step)[g->r->rows[p].name] || g->nodes[p].kind != HTA_NODE_CPU)
            continue;
        if (!take_within(g, &pool, p) || pool.left)
            continue;
        uint32_t root = root_above(b, p);
        if (root == HTA_NONE)
            break;
        close_pool(g, &pool);
        open_pool(g, root, &pool);
    }
    close_pool(g, &pool);
    hs_free_array((void **)&step);
    hs_free_array((void **)&under);
}

/* ---- sums ---- */

/* Adds a finished node to its parent's sums. */
static void sum_up(struct hta_node *p, const struct hta_node *c)
{
    p->height = c->height + 1 > p->height ? c->height + 1 : p->height;
    p->kernels += c->kernels;
    p->dur_sum += c->dur_sum;
    if (c->kernels) {
        p->first_start = p->kernels == c->kernels ? c->first_start : fmin(p->first_start, c->first_start);
        p->last_end = fmax(p->last_end, c->last_end);
    }
}

static void begin_node(struct hta_graph *g, uint32_t node, int32_t depth)
{
    struct hta_node *n = &g->nodes[node];
    n->depth = depth;
    n->height = n->kind == HTA_NODE_GPU ? 0 : 1;
    if (n->kind != HTA_NODE_GPU)
        return;
    const struct hta_row *x = &g->r->rows[node];
    n->kernels = 1;
    n->dur_sum = x->dur;
    n->first_start = (double)x->ts;
    n->last_end = x->end; /* absolute, as HTA has it */
}

/* Depths and sums of all that a root reaches; the rest keeps the depth it was built with. */
static void sum_tree(struct hta_graph *g, uint32_t root, uint32_t *order, uint32_t *up)
{
    size_t n = 0;
    order[n] = root;
    up[n++] = HTA_NONE;
    for (size_t i = 0; i < n; i++) {
        begin_node(g, order[i], up[i] == HTA_NONE ? -1 : g->nodes[order[up[i]]].depth + 1);
        for (uint32_t c = g->nodes[order[i]].first; c != HTA_NONE && n < g->n; c = g->nodes[c].next) {
            order[n] = c;
            up[n++] = (uint32_t)i;
        }
    }
    for (size_t i = n; i-- > 1;)
        sum_up(&g->nodes[order[up[i]]], &g->nodes[order[i]]);
}

void hta_graph_build(const struct hta_trace *t, const struct hta_rank *r, struct hta_graph *g, struct hs_table *notes)
{
    *g = (struct hta_graph){.r = r, .roots = HS_VEC_INIT(HS_MAX_EVENTS)};
    struct builder b = {.t = t, .g = g};
    hta_map_init(&b.root_of);
    find_threads(&b);
    add_roots(&b);
    for (size_t i = 0; i < b.nthreads; i++)
        if (b.threads[i].root != HTA_NONE)
            build_stack(&b, &b.threads[i]);
    add_kernels(g);
    label_threads(&b);
    link_backward(&b);
    uint32_t *order = hs_malloc((g->n + 1) * sizeof *order), *up = hs_malloc((g->n + 1) * sizeof *up);
    for (size_t i = 0; i < g->roots.n; i++)
        if (g->roots.p[i] != -2) /* HTA's word for "no root" */
            sum_tree(g, (uint32_t)(r->n + i), order, up);
    if (g->odd)
        hs_table_note(notes, "rank %lld: CPU events of no and of negative (rounded) duration touch; HTA stops here",
                      (long long)r->rank);
    if (b.texts)
        hs_table_note(notes, "rank %lld: %zu threads named by text were left out", (long long)r->rank, b.texts);
    hs_free_array((void **)&order);
    hs_free_array((void **)&up);
    hs_free_array((void **)&b.order);
    hs_free_array((void **)&b.threads);
    hta_map_free(&b.root_of);
}

void hta_graph_free(struct hta_graph *g)
{
    hs_free_array((void **)&g->nodes);
    hs_vec_free(&g->roots);
}
