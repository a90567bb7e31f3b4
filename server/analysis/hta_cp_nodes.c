#include "analysis/hta_cp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void hta_cp_init(struct hta_cp *c, const struct hta_trace *t, const struct hta_rank *r)
{
    memset(c, 0, sizeof *c);
    c->t = t;
    c->r = r;
    c->clip.max = c->nodes.max = c->edges.max = c->path.max = HS_MAX_EVENTS;
    hta_map_init(&c->edge_of);
}

void hta_cp_free(struct hta_cp *c)
{
    hs_vec_free(&c->clip);
    hs_vec_free(&c->nodes);
    hs_vec_free(&c->edges);
    hs_vec_free(&c->path);
    hs_free_array((void **)&c->start);
    hs_free_array((void **)&c->end);
    hta_map_free(&c->edge_of);
}

/* Does the name contain one of the comma-separated texts? */
static bool lists(const char *list, struct hs_str name)
{
    for (const char *p = list; p && *p;) {
        size_t n = strcspn(p, ",");
        if (hta_contains(name, hs_str(p, n)))
            return true;
        p += n + (p[n] == ',');
    }
    return false;
}

/* From the first start to the last end of the chosen instances. HTA numbers them in row order, whatever they are. */
static bool window(const struct hta_cp *c, const struct hta_cp_options *o, double *from, double *to)
{
    const struct hta_rank *r = c->r;
    struct hs_str part = hs_cstr(o->annotation);
    *from = INFINITY;
    *to = -INFINITY;
    bool *named = hs_calloc(c->t->syms.n + 1, sizeof *named);
    int64_t k = 0;
    for (size_t i = 0; i < c->t->syms.n; i++)
        named[i] = hta_contains(c->t->syms.p[i], part);
    for (size_t i = 0; i < r->n; i++) {
        const struct hta_row *x = &r->rows[i];
        if (!named[x->name])
            continue;
        if (part.n && (k < o->first || k > o->last)) {
            k++;
            continue;
        }
        k++;
        *from = fmin(*from, (double)x->ts);
        *to = fmax(*to, part.n ? hta_end(x) : x->end); /* the end is absolute: without annotation nothing is cut */
    }
    hs_free_array((void **)&named);
    return *from <= *to;
}

bool hta_cp_clip(struct hta_cp *c, const struct hta_cp_options *o, struct hs_table *notes)
{
    const struct hta_rank *r = c->r;
    double from, to;
    if (!window(c, o, &from, &to)) {
        hs_table_note(notes, "rank %lld has no such instance of an event whose name contains \"%s\"",
                      (long long)r->rank, o->annotation);
        return false;
    }
    bool *in = hs_calloc(r->nevents + 1, sizeof *in);
    for (size_t i = 0; i < r->n; i++) {
        const struct hta_row *x = &r->rows[i];
        if (hta_on_stream(x) || (double)x->ts < from || (double)x->ts > to || !(x->dur > 0))
            continue;
        in[x->index] = true;
        const struct hta_row *partner = hta_at(r, x->icorr);
        if (partner && hta_on_stream(partner))
            in[partner->index] = true;
    }
    for (size_t i = 0; i < r->n; i++) /* those of the whole trace */
        if (hta_on_stream(&r->rows[i]) && hta_name_has(c->t, &r->rows[i], HTA_IS_STREAM_WAIT))
            in[r->rows[i].index] = true;
    for (size_t e = 0; e < r->nevents; e++)
        if (in[e] && r->pos[e] != HTA_NONE && !hs_vec_push(&c->clip, r->pos[e]))
            break;
    hs_free_array((void **)&in);
    return true;
}

static int by_time(const void *a, const void *b)
{
    const struct hta_cp_node *x = a, *y = b;
    if (x->ts != y->ts)
        return x->ts < y->ts ? -1 : 1;
    return 0;
}

/* qsort needs the event to break ties: nodes of equal time stand in order of event, its start first. */
struct order {
    const struct hta_row *rows;
};
static int by_time_event(const void *a, const void *b, void *ctx)
{
    const struct hta_row *rows = ((struct order *)ctx)->rows;
    const struct hta_cp_node *x = a, *y = b;
    int c = by_time(a, b);
    if (c)
        return c;
    if (rows[x->row].index != rows[y->row].index)
        return rows[x->row].index < rows[y->row].index ? -1 : 1;
    return (int)y->start - (int)x->start;
}

void hta_cp_nodes(struct hta_cp *c, const struct hta_cp_options *o)
{
    const struct hta_rank *r = c->r;
    c->start = hs_malloc((r->n + 1) * sizeof *c->start);
    c->end = hs_malloc((r->n + 1) * sizeof *c->end);
    memset(c->start, 0xff, (r->n + 1) * sizeof *c->start);
    memset(c->end, 0xff, (r->n + 1) * sizeof *c->end);
    bool *data = hs_calloc(c->t->syms.n + 1, sizeof *data);
    for (size_t i = 0; o->data_load && i < c->t->syms.n; i++)
        data[i] = lists(o->data_load, c->t->syms.p[i]);
    for (size_t i = 0; i < c->clip.n; i++) {
        const struct hta_row *x = &r->rows[c->clip.p[i]];
        if (!hta_cat_has(c->t, x, HTA_IS_CALL_CAT) && !(hta_on_stream(x) && x->icorr >= 0) && !data[x->name])
            continue;
        struct hta_cp_node a = {(double)x->ts, c->clip.p[i], true}, b = {hta_end(x), c->clip.p[i], false};
        if (!hs_vec_push(&c->nodes, a) || !hs_vec_push(&c->nodes, b))
            break;
    }
    hs_free_array((void **)&data);
    c->edges.max = c->nodes.n * 8 + ((size_t)4 << 20);
    struct order order = {r->rows};
    if (c->nodes.n)
        qsort_r(c->nodes.p, c->nodes.n, sizeof *c->nodes.p, by_time_event, &order);
    for (uint32_t i = 0; i < c->nodes.n; i++)
        (c->nodes.p[i].start ? c->start : c->end)[c->nodes.p[i].row] = i;
}

uint32_t hta_cp_add(struct hta_cp *c, uint32_t from, uint32_t to, enum hta_cp_type type, bool zero)
{
    struct hta_cp_edge new = {from, to, HTA_NONE, 0, 0};
    c->full |= !hs_vec_reserve(&c->edges, 1);
    if (c->full)
        return HTA_NONE;
    uint32_t *at = hta_map_at(&c->edge_of, hta_pair(from, to));
    if (*at == HTA_NONE) {
        *at = (uint32_t)c->edges.n;
        c->edges.p[c->edges.n++] = new;
    }
    struct hta_cp_edge *e = &c->edges.p[*at];
    zero |= type == HTA_CP_DEPENDENCY || type == HTA_CP_SYNC;
    e->type = type;
    e->weight = zero ? 0 : c->nodes.p[to].ts - c->nodes.p[from].ts;
    return *at;
}

void hta_cp_charge(struct hta_cp *c, uint32_t edge, uint32_t parent)
{
    if (edge == HTA_NONE)
        return;
    struct hta_cp_edge *e = &c->edges.p[edge];
    const struct hta_cp_node *from = &c->nodes.p[e->from], *to = &c->nodes.p[e->to];
    if (e->type != HTA_CP_OPERATOR && e->type != HTA_CP_KERNEL_KERNEL)
        return;
    e->owner = e->type == HTA_CP_KERNEL_KERNEL || from->start ? from->row : !to->start ? to->row : parent;
}
