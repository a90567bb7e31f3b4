/* Edges between CPU events: calls that share the runtime's lock, and the call stacks. */
#include "analysis/hta_cp.h"

#include "analysis/hta_sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool lock(const struct hta_cp *c, uint32_t node)
{
    return hta_name_has(c->t, hta_cp_row(c, node), HTA_IS_LOCK);
}

/* In order of time over all threads: an end closes every open call; its own gets the whole time as weight, the others a
 * dependency, and so does the end before it. */
static void lock_edges(struct hta_cp *c)
{
    struct {
        HS_VEC(uint32_t);
    } open = HS_VEC_INIT(HS_MAX_EVENTS);
    uint32_t last = HTA_NONE;
    for (uint32_t n = 0; n < c->nodes.n; n++) {
        if (!lock(c, n))
            continue;
        if (c->nodes.p[n].start) {
            if (!hs_vec_push(&open, n))
                break;
        } else {
            while (open.n) {
                uint32_t p = open.p[--open.n];
                if (c->nodes.p[p].row == c->nodes.p[n].row)
                    hta_cp_charge(c, hta_cp_add(c, p, n, HTA_CP_OPERATOR, false), HTA_NONE);
                else
                    hta_cp_add(c, p, n, HTA_CP_DEPENDENCY, false);
            }
            if (last != HTA_NONE && !c->nodes.p[last].start)
                hta_cp_add(c, last, n, HTA_CP_DEPENDENCY, false);
        }
        last = n;
    }
    hs_vec_free(&open);
}

/* ---- threads ---- */

static struct hs_id tid_of(const struct hta_cp *c, const struct hta_row *x)
{
    struct hs_id none = {0, HS_ID_NONE};
    return x->lane < c->r->view->nlanes ? c->r->view->lanes[x->lane].tid : none;
}

static bool same_id(struct hs_id a, struct hs_id b)
{
    return a.kind == b.kind && a.v == b.v;
}
static bool is_true(struct hs_id a)
{
    return a.kind == HS_ID_TEXT || (a.kind == HS_ID_INT && a.v != 0);
}

/* The one thread that has operators or annotations whose name contains `word`; of none or several: kind NONE. */
static struct hs_id only_thread(const struct hta_cp *c, const char *word)
{
    struct hs_id found = {0, HS_ID_NONE};
    for (size_t i = 0; i < c->clip.n; i++) {
        const struct hta_row *x = &c->r->rows[c->clip.p[i]];
        if (!hta_cat_has(c->t, x, HTA_IS_CPU_OP | HTA_IS_USER_ANNOTATION) ||
            !hs_str_contains(hta_text(c->t, x->name), word))
            continue;
        struct hs_id tid = tid_of(c, x);
        if (found.kind != HS_ID_NONE && !same_id(found, tid))
            return (struct hs_id){0, HS_ID_NONE};
        found = tid;
    }
    return found;
}

/* A clipped row on its way into a stack. */
struct member {
    struct hs_id pid, tid;
    uint32_t row, seq;
};
struct members {
    struct member *p;
    size_t n;
    const struct hs_view *v;
};

static int compare_id(const struct hs_view *v, struct hs_id a, struct hs_id b)
{
    if (a.kind != b.kind)
        return a.kind < b.kind ? -1 : 1;
    if (a.kind == HS_ID_TEXT && a.v != b.v)
        return hs_str_cmp(hs_view_str(v, (uint32_t)a.v), hs_view_str(v, (uint32_t)b.v));
    return (a.v > b.v) - (a.v < b.v);
}

static int by_thread(const void *a, const void *b, void *ctx)
{
    const struct member *x = a, *y = b;
    int c = compare_id(ctx, x->pid, y->pid);
    c = c ? c : compare_id(ctx, x->tid, y->tid);
    return c ? c : (x->seq > y->seq) - (x->seq < y->seq);
}

/* Clipped rows by process and thread; the backward thread counts as the forward one where there is one of each. */
static struct members find_members(const struct hta_cp *c)
{
    struct members m = {hs_malloc((c->clip.n + 1) * sizeof *m.p), 0, c->r->view};
    struct hs_id forward = only_thread(c, "forward"), backward = only_thread(c, "autograd");
    bool join = is_true(forward) && is_true(backward);
    for (uint32_t i = 0; i < c->clip.n; i++) {
        const struct hta_row *x = &c->r->rows[c->clip.p[i]];
        if (x->lane >= m.v->nlanes)
            continue;
        struct member *new = &m.p[m.n++];
        *new = (struct member){m.v->lanes[x->lane].pid, tid_of(c, x), c->clip.p[i], i};
        if (join && same_id(new->tid, backward))
            new->tid = forward;
    }
    qsort_r(m.p, m.n, sizeof *m.p, by_thread, c->r->view);
    return m;
}

/* ---- stacks ---- */

struct ends {
    const struct hta_row *rows;
    const struct member *m; /* event 2k starts m[k], 2k + 1 ends it */
};

static double length(const struct hta_row *x)
{
    return x->dur > 0 ? x->dur : 0;
}
static int sign(bool less)
{
    return less ? -1 : 1;
}

/* HTA's older comparison (call_stack.py), in which durations below 0 count as 0. */
static int ends_less(void *ctx, uint32_t a, uint32_t b)
{
    const struct ends *e = ctx;
    const struct hta_row *x = &e->rows[e->m[a / 2].row], *y = &e->rows[e->m[b / 2].row];
    bool x_starts = !(a & 1), y_starts = !(b & 1);
    double dx = length(x), dy = length(y);
    double tx = (double)x->ts + (x_starts ? 0 : dx), ty = (double)y->ts + (y_starts ? 0 : dy);
    int c;
    if (x->index == y->index)
        c = sign(x_starts);
    else if (tx != ty)
        c = sign(tx < ty);
    else if (x_starts == y_starts)
        c = sign(dx == dy ? (x->index < y->index) == x_starts : (dx > dy) == x_starts);
    else if (dx > 0 && dy > 0)
        c = sign(!x_starts);
    else if (dx == 0 && dy == 0)
        c = sign(x->index < y->index);
    else
        c = sign(x_starts);
    return c < 0;
}

/* The tree of one thread: nodes are members, children in order. */
struct tree {
    uint32_t *first, *last, *next, *parent; /* HTA_NONE; [n] is the root */
};

static void build_tree(const struct hta_cp *c, const struct member *m, size_t n, struct tree *t)
{
    uint32_t *order = hs_malloc((2 * n + 1) * sizeof *order), *stack = hs_malloc((n + 1) * sizeof *stack);
    struct ends e = {c->r->rows, m};
    size_t sp = 0;
    t->first = hs_malloc((n + 1) * sizeof *t->first);
    t->last = hs_malloc((n + 1) * sizeof *t->last);
    t->next = hs_malloc((n + 1) * sizeof *t->next);
    t->parent = hs_malloc((n + 1) * sizeof *t->parent);
    for (size_t i = 0; i <= n; i++)
        t->first[i] = t->last[i] = t->next[i] = t->parent[i] = HTA_NONE;
    for (size_t i = 0; i < 2 * n; i++)
        order[i] = (uint32_t)i;
    hta_timsort(order, 2 * n, ends_less, &e);
    for (size_t i = 0; i < 2 * n; i++) {
        uint32_t self = order[i] / 2, top = sp ? stack[sp - 1] : (uint32_t)n;
        if (order[i] & 1) {
            sp -= sp > 0;
            continue;
        }
        t->parent[self] = top;
        if (t->last[top] == HTA_NONE)
            t->first[top] = self;
        else
            t->next[t->last[top]] = self;
        t->last[top] = self;
        stack[sp++] = self;
    }
    hs_free_array((void **)&order);
    hs_free_array((void **)&stack);
}

static void free_tree(struct tree *t)
{
    hs_free_array((void **)&t->first);
    hs_free_array((void **)&t->last);
    hs_free_array((void **)&t->next);
    hs_free_array((void **)&t->parent);
}

/* Where the walk over a thread stands. */
struct walk {
    uint32_t last;   /* node, HTA_NONE at first */
    uint32_t parent; /* row above the last event */
    int64_t depth;
};

/* Two calls in the lock are ordered by lock_edges already. */
static bool share_lock(const struct hta_cp *c, uint32_t a, uint32_t b)
{
    return lock(c, a) && lock(c, b) && (c->nodes.p[a].start || !c->nodes.p[b].start);
}

static void visit(struct hta_cp *c, struct walk *w, uint32_t row, uint32_t parent, bool enter)
{
    if (c->start[row] == HTA_NONE)
        return;
    uint32_t node = enter ? c->start[row] : c->end[row];
    if (w->last != HTA_NONE && !share_lock(c, w->last, node)) {
        bool top = enter && w->depth == 0;
        bool blocking = !enter && hta_name_has(c->t, &c->r->rows[row], HTA_IS_BLOCKING);
        hta_cp_charge(c, hta_cp_add(c, w->last, node, top ? HTA_CP_DEPENDENCY : HTA_CP_OPERATOR, blocking), w->parent);
    }
    w->last = node;
    w->parent = parent;
    w->depth += enter ? 1 : -1;
}

static void stack_edges(struct hta_cp *c, const struct member *m, size_t n)
{
    struct tree t;
    struct walk w = {HTA_NONE, HTA_NONE, 0};
    build_tree(c, m, n, &t);
    for (uint32_t i = t.first[n]; i != HTA_NONE;) {
        uint32_t above = t.parent[i] == n ? HTA_NONE : m[t.parent[i]].row;
        visit(c, &w, m[i].row, above, true);
        if (t.first[i] != HTA_NONE) {
            i = t.first[i];
            continue;
        }
        for (;;) { /* leave i, and those whose last child it was */
            above = t.parent[i] == n ? HTA_NONE : m[t.parent[i]].row;
            visit(c, &w, m[i].row, above, false);
            if (t.next[i] != HTA_NONE || t.parent[i] == n)
                break;
            i = t.parent[i];
        }
        i = t.next[i];
    }
    free_tree(&t);
}

void hta_cp_cpu(struct hta_cp *c)
{
    lock_edges(c);
    struct members m = find_members(c);
    for (size_t i = 0, end; i < m.n; i = end) {
        bool cpu = true; /* one row with a stream takes the whole thread out */
        for (end = i;
             end < m.n && !compare_id(m.v, m.p[i].pid, m.p[end].pid) && !compare_id(m.v, m.p[i].tid, m.p[end].tid);
             end++)
            cpu &= c->r->rows[m.p[end].row].stream < 0;
        if (cpu)
            stack_edges(c, m.p + i, end - i);
    }
    hs_free_array((void **)&m.p);
}
