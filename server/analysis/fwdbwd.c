#include "analysis/fwdbwd.h"

#include <stdlib.h>

struct end {
    int64_t id, ts;
    uint32_t lane, op; /* op: the operator found, HS_NO_EVENT */
    uint8_t start;
};

static int by_place(const void *a, const void *b)
{
    const struct end *x = a, *y = b;
    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    return (x->ts > y->ts) - (x->ts < y->ts);
}

static int by_id(const void *a, const void *b)
{
    const struct end *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    if (x->ts != y->ts)
        return x->ts < y->ts ? -1 : 1;
    return (y->start > x->start) - (y->start < x->start); /* at one time the start comes first */
}

static struct end *flows(const struct hs_cpu *c, const struct hs_sparse *ids, const uint8_t *is_fwdbwd, size_t *n)
{
    struct end *list = hs_realloc_array(NULL, ids->n + 1, sizeof *list);
    *n = 0;
    for (size_t i = 0; i < ids->n; i++) {
        uint32_t e = ids->event[i];
        uint8_t ph = c->ev.ph[e];
        if ((ph == 's' || ph == 'f') && c->ev.cat[e] < c->view->nsyms && is_fwdbwd[c->ev.cat[e]])
            list[(*n)++] = (struct end){ids->v[i], c->ev.ts[e], c->ev.lane[e], HS_NO_EVENT, ph == 's'};
    }
    return list;
}

/* First end of (lane, ts) in the list by place; n if there is none. */
static size_t find(const struct end *list, size_t n, uint32_t lane, int64_t ts)
{
    size_t low = 0, count = n;
    while (count) {
        size_t half = count / 2;
        const struct end *x = &list[low + half];
        if (x->lane < lane || (x->lane == lane && x->ts < ts)) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low < n && list[low].lane == lane && list[low].ts == ts ? low : n;
}

static void find_operators(const struct hs_cpu *c, struct end *list, size_t n)
{
    uint8_t *lanes = hs_calloc(c->view->nlanes, 1);
    for (size_t i = 0; i < n; i++)
        if (list[i].lane < c->view->nlanes)
            lanes[list[i].lane] = 1;
    for (size_t e = 0; e < c->ev.n; e++) {
        uint32_t lane = c->ev.lane[e];
        if (lane >= c->view->nlanes || !lanes[lane] || hs_cpu_kind(c, (uint32_t)e) != HS_CAT_CPU_OP)
            continue;
        for (size_t i = find(list, n, lane, c->ev.ts[e]); i < n && list[i].lane == lane && list[i].ts == c->ev.ts[e];
             i++)
            if (list[i].op == HS_NO_EVENT || c->ev.depth[e] > c->ev.depth[list[i].op])
                list[i].op = (uint32_t)e;
    }
    free(lanes);
}

int hs_fwdbwd(const struct hs_cpu *c, uint32_t **out, struct hs_err *err)
{
    struct hs_sparse ids;
    size_t n = 0;
    uint8_t *is_fwdbwd = hs_calloc(c->view->nsyms, 1);
    bool any = false;
    *out = NULL;
    for (size_t i = 0; i < c->view->ncats; i++) {
        uint32_t cat = c->view->cats[i].cat;
        struct hs_str text = hs_view_str(c->view, cat);
        if (cat < c->view->nsyms && (hs_str_is(text, "fwdbwd") || hs_str_is(text, "forward_backward"))) {
            is_fwdbwd[cat] = 1;
            any = true;
        }
    }
    int rc = any ? c->view->ops->arg_sparse(c->view, "id", 0, &ids, err) : HS_OK;
    if (rc || !any) {
        free(is_fwdbwd);
        return rc;
    }
    struct end *list = flows(c, &ids, is_fwdbwd, &n);
    free(is_fwdbwd);
    if (n)
        qsort(list, n, sizeof *list, by_place);
    find_operators(c, list, n);
    if (n)
        qsort(list, n, sizeof *list, by_id);
    uint32_t *link = hs_realloc_array(NULL, c->ev.n + 1, sizeof *link);
    for (size_t e = 0; e < c->ev.n; e++)
        link[e] = HS_NO_EVENT;
    const struct end *start = NULL;
    for (size_t i = 0; i < n; i++) {
        if (list[i].start) {
            start = &list[i];
        } else if (start && start->id == list[i].id && start->op != HS_NO_EVENT && list[i].op != HS_NO_EVENT) {
            link[start->op] = list[i].op;
            link[list[i].op] = start->op;
        }
    }
    free(list);
    *out = link;
    return HS_OK;
}
