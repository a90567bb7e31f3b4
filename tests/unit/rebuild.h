/* For tests of the reader: a text goes in, cut as asked, and every event comes back as JSON, one a line. Header only, as
 * unit tests, the fuzz target and the benchmark share it. */
#ifndef HS_TESTS_REBUILD_H
#define HS_TESTS_REBUILD_H

#include "ingest/kineto.h"
#include "trace/event_json.h"

#include <stdlib.h>
#include <string.h>

struct rebuilt {
    struct hs_trace trace;
    struct hs_buf json; /* the events, each with a NUL behind it */
    struct {
        HS_VEC(size_t);
    } at; /* where each begins */
    struct hs_err err;
    int rc;
};

/* Length of the next window, given how much is left and the number of the cut; 0 means all. */
typedef size_t rebuild_cut(void *ctx, size_t left, size_t number);

static inline void rebuild_segment(struct rebuilt *r, const struct hs_segment *s)
{
    const struct hs_trace *t = &r->trace;
    uint32_t *at = hs_calloc(t->columns.n + 1, sizeof *at);
    for (uint32_t i = 0; i < s->rows; i++) {
        const struct hs_shape *shape = &t->shapes.p[s->shape[i]];
        const struct hs_lane *lane = &t->lanes.p[s->lane[i]];
        struct hs_event_core core = {s->ts[i],   s->dur[i], lane->pid, lane->tid,
                                     s->name[i], s->cat[i], s->ph[i],  s->digits[i]};
        int64_t values[1024];
        size_t n = 0;
        for (uint32_t f = shape->first; f < shape->first + shape->count; f++) {
            const struct hs_field *fd = &t->fields.p[f];
            for (uint32_t c = 0; fd->type <= HS_V_RAW && c < (fd->type == HS_V_DEC ? 2u : 1u); c++)
                values[n++] = s->args[fd->column + c].v[at[fd->column + c]++];
        }
        if (n != hs_event_values(t->fields.p + shape->first, shape->count))
            abort();
        hs_vec_push(&r->at, r->json.n);
        hs_event_json(&r->json, &core, t->fields.p + shape->first, shape->count, values, t->syms.p, t->syms.n);
        hs_buf_putc(&r->json, 0);
    }
    for (uint32_t c = 0; c < s->nargs && c < t->columns.n; c++)
        if (s->args[c].n != at[c])
            abort(); /* a value that no event owns */
    free(at);
}

static inline int rebuild_emit(void *ctx, struct hs_segment *full, struct hs_segment **next, struct hs_err *err)
{
    (void)err;
    rebuild_segment(ctx, full);
    *next = full;
    return HS_OK;
}

/* Windows are allocated at their exact size, so that a sanitizer sees a byte too many. */
static inline void rebuild(struct rebuilt *r, const char *text, size_t n, const struct hs_limits *limits,
                           rebuild_cut *cut, void *ctx)
{
    struct hs_kineto *k = NULL;
    *r = (struct rebuilt){.json = HS_BUF_INIT((size_t)4 << 30), .err = HS_ERR_INIT};
    r->at.max = HS_MAX_EVENTS;
    hs_trace_init(&r->trace, limits);
    r->rc = hs_kineto_new(&k, &r->trace, limits, hs_segment_new(), rebuild_emit, r, &r->err);
    for (size_t at = 0, number = 0; at < n && !r->rc; number++) {
        size_t part = cut ? cut(ctx, n - at, number) : 0;
        if (!part || part > n - at)
            part = n - at;
        size_t head = n < HS_KINETO_HEAD ? n : HS_KINETO_HEAD;
        char *window = hs_malloc(head + part + HS_KINETO_PAD);
        memcpy(window + head, text + at, part);
        memset(window + head + part, '"', HS_KINETO_PAD); /* what stands there must not matter */
        r->rc = hs_kineto_feed(k, window + head, part, &r->err);
        free(window);
        at += part;
    }
    if (!r->rc)
        r->rc = hs_kineto_finish(k, &r->err);
    hs_kineto_free(k);
}

static inline struct hs_str rebuilt_event(const struct rebuilt *r, size_t i)
{
    size_t end = i + 1 < r->at.n ? r->at.p[i + 1] : r->json.n;
    return hs_str(r->json.p + r->at.p[i], end - 1 - r->at.p[i]);
}

static inline void rebuilt_free(struct rebuilt *r)
{
    hs_trace_free(&r->trace);
    hs_buf_free(&r->json);
    hs_vec_free(&r->at);
}

#endif
