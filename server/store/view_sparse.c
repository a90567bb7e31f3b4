#include "store/view_sparse.h"

#include "store/arg_plan.h"

#include <stdlib.h>
#include <string.h>

/* ---- the events of a family ---- */

/* The events of some shapes, ascending, with the shape of each. */
struct hs_shape_events {
    struct hs_shape_events *next;
    uint8_t *has; /* [nshapes] which shapes */
    struct {
        HS_VEC(uint32_t);
    } event, shape;
};

void hs_shape_events_free(struct hs_shape_events *list)
{
    for (struct hs_shape_events *next; list; list = next) {
        next = list->next;
        free(list->has);
        hs_vec_free(&list->event);
        hs_vec_free(&list->shape);
        free(list);
    }
}

static int add_segment(struct hs_view_file *f, struct hs_shape_events *l, uint64_t k, struct hs_err *err)
{
    size_t base = (size_t)(k * HS_SEG_ROWS), rows = hs_view_segment_rows(f, k);
    int rc = hs_view_segment(f, HS_TBL_EVENTS, HS_COL_SHAPE, k, f->tmp, rows, err);
    for (size_t i = 0; i < rows && !rc; i++) {
        if (f->tmp[i] < 0 || (uint64_t)f->tmp[i] >= f->nshapes)
            return hs_view_damaged(f, err, "a number is out of range");
        if (!l->has[f->tmp[i]])
            continue;
        hs_vec_push(&l->event, (uint32_t)(base + i));
        hs_vec_push(&l->shape, (uint32_t)f->tmp[i]);
    }
    return rc;
}

/* The events whose shape is one of `has`, which it takes over. The shapes of all events are looked at a segment at a time: to
 * keep them would take more memory than the list (4 bytes an event; its first touch was a tenth of memory-timeline). */
static int events_of(struct hs_view_file *f, uint8_t *has, const struct hs_shape_events **out, struct hs_err *err)
{
    for (const struct hs_shape_events *l = f->of_shapes; l; l = l->next)
        if (!memcmp(l->has, has, f->nshapes)) {
            free(has);
            *out = l;
            return HS_OK;
        }
    struct hs_shape_events *l = hs_calloc(1, sizeof *l);
    l->has = has;
    l->event.max = l->shape.max = (size_t)f->events;
    int rc = HS_OK;
    for (uint64_t k = 0; k < f->segments && !rc; k++)
        rc = add_segment(f, l, k, err);
    if (rc) {
        hs_shape_events_free(l);
        return rc;
    }
    f->bytes += (l->event.cap + l->shape.cap) * sizeof(uint32_t);
    l->next = f->of_shapes;
    f->of_shapes = l;
    *out = l;
    return HS_OK;
}

/* ---- values ---- */

/* What is given out: the list, its values behind it; event numbers of its own where some of the family lack a value. */
struct sparse {
    struct hs_sparse list;
    uint32_t *own;
    int64_t v[];
};

void hs_sparse_free(void *sparse)
{
    struct sparse *s = sparse;
    free(s->own);
    free(s);
}

/* Takes the value of the family's event number `at`. From the first one without a value on, the events are a list of their own. */
static void put(struct hs_view_file *f, struct sparse *s, const struct hs_shape_events *l, size_t at, int64_t v)
{
    if (v == HS_NO_VALUE && !s->own) {
        s->own = hs_realloc_array(NULL, l->event.n, sizeof *s->own);
        memcpy(s->own, l->event.p, at * sizeof *s->own);
        s->list.event = s->own;
        f->bytes += l->event.n * sizeof *s->own;
    }
    if (v == HS_NO_VALUE)
        return;
    s->v[s->list.n] = v;
    if (s->own)
        s->own[s->list.n] = l->event.p[at];
    s->list.n++;
}

/* Appends the values of a segment, of the family's events from number *at on. */
static int add_values(struct hs_view_file *f, struct hs_arg_plan *p, const struct hs_shape_events *l, uint64_t k,
                      size_t *at, struct sparse *s, struct hs_err *err)
{
    uint64_t end = (k + 1) * HS_SEG_ROWS;
    if (*at == l->event.n || l->event.p[*at] >= end)
        return HS_OK;
    int rc = hs_arg_plan_load(f, p, k, err);
    struct hs_arg_values *plain = hs_arg_plan_plain(f, p);
    for (; !rc && *at < l->event.n && l->event.p[*at] < end; (*at)++) {
        struct hs_arg_value x = {.type = HS_V_INT};
        if (plain && plain->at < plain->n)
            x.v = plain->v[plain->at++];
        else if (plain || !hs_arg_plan_next(p, l->shape.p[*at], &x))
            return hs_view_damaged(f, err, "arguments are missing");
        if (x.type == HS_V_STR && (x.v < 0 || (uint64_t)x.v >= f->base.nsyms))
            return hs_view_damaged(f, err, "an argument is no text");
        put(f, s, l, *at, hs_arg_as_i64(&f->base, &x));
    }
    return rc;
}

int hs_make_sparse(struct hs_view_file *f, const char *key, int level, void **out, struct hs_err *err)
{
    struct hs_arg_plan p = {0};
    const struct hs_shape_events *l = NULL;
    struct sparse *s = NULL;
    size_t at = 0;
    hs_arg_plan_make(&p, f, hs_view_sym(&f->base, key), level);
    uint8_t *has = hs_calloc(f->nshapes, 1);
    for (size_t i = 0; i < f->nshapes; i++)
        has[i] = p.first[i] != p.first[i + 1];
    int rc = events_of(f, has, &l, err);
    if (!rc)
        rc = hs_view_alloc(f, (void **)&s, sizeof *s + l->event.n * sizeof s->v[0], 1, err);
    if (!rc)
        s->list = (struct hs_sparse){0, l->event.p, s->v};
    for (uint64_t k = 0; !rc && k < f->segments; k++)
        rc = add_values(f, &p, l, k, &at, s, err);
    hs_arg_plan_free(&p);
    if (rc && s)
        hs_sparse_free(s);
    if (!rc)
        *out = s;
    return rc;
}
