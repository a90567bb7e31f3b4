#include "render/chrome_window.h"

#include "trace/intervals.h"

#include <stdlib.h>

struct list {
    HS_VEC(uint32_t);
};

struct window {
    struct hs_events ev;
    int64_t from, to;
    const int64_t *id; /* of flows and async events: as a number, or as a text */
    const uint32_t *id_text;
    uint8_t *bits;
    struct list spans, async, flows; /* event numbers */
};

static void keep(struct window *w, uint32_t event)
{
    w->bits[event / 8] |= (uint8_t)(1u << event % 8);
}

static bool inside(const struct window *w, int64_t ts)
{
    return ts >= w->from && ts < w->to;
}

static bool touches(const struct window *w, int64_t start, int64_t end)
{
    return start < w->to && (end > w->from || (start == end && start == w->from));
}

/* ---- spans of two events ---- */

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int by_lane(const struct window *w, uint32_t a, uint32_t b)
{
    return compare(w->ev.lane[a], w->ev.lane[b]);
}

/* As the links of the trace take them: by category and id, by name where there is no id. S and F, the old form, are not
 * ended by e. */
static int by_id(const struct window *w, uint32_t a, uint32_t b)
{
    bool old_a = w->ev.ph[a] < 'a', old_b = w->ev.ph[b] < 'a';
    int c = compare(old_a, old_b);
    c = c ? c : compare(w->ev.cat[a], w->ev.cat[b]);
    c = c ? c : compare(w->id[a], w->id[b]);
    c = c ? c : compare(w->id_text[a], w->id_text[b]);
    bool nameless = w->id[a] == HS_NO_VALUE && w->id_text[a] == HS_NO_SYM;
    return c || !nameless ? c : compare(w->ev.name[a], w->ev.name[b]);
}

static int by_time(const struct window *w, uint32_t a, uint32_t b)
{
    int c = compare(w->ev.ts[a], w->ev.ts[b]);
    return c ? c : compare(a, b);
}

static int by_lane_time(const void *a, const void *b, void *ctx)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int c = by_lane(ctx, x, y);
    return c ? c : by_time(ctx, x, y);
}

static int by_id_time(const void *a, const void *b, void *ctx)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int c = by_id(ctx, x, y);
    return c ? c : by_time(ctx, x, y);
}

/* The begin that an end closes: the nearest open one of its name, the innermost where the end has no name or is async. How
 * far down it looks is limited, so that no file costs quadratic time. SIZE_MAX: none. */
static size_t begin_of(const struct window *w, const struct list *open, uint32_t end)
{
    enum { FAR = 64 };
    if (!w->ev.name[end] || w->ev.ph[end] != 'E')
        return open->n ? open->n - 1 : SIZE_MAX;
    for (size_t i = open->n; i > 0 && open->n - i < FAR; i--)
        if (w->ev.name[open->p[i - 1]] == w->ev.name[end])
            return i - 1;
    return SIZE_MAX;
}

/* An end also ends what was begun within its span and never ended. */
static void close_span(struct window *w, struct list *open, uint32_t end)
{
    size_t at = begin_of(w, open, end);
    if (at == SIZE_MAX) {
        if (inside(w, w->ev.ts[end]))
            keep(w, end);
        return;
    }
    bool kept = touches(w, w->ev.ts[open->p[at]], w->ev.ts[end]);
    if (kept)
        keep(w, end);
    for (; open->n > at; open->n--)
        if (touches(w, w->ev.ts[open->p[open->n - 1]], w->ev.ts[end]))
            keep(w, open->p[open->n - 1]);
}

static void keep_spans(struct window *w, struct list *v, int (*order)(const void *, const void *, void *),
                       int (*group)(const struct window *, uint32_t, uint32_t))
{
    struct list open = HS_VEC_INIT(HS_MAX_EVENTS);
    if (v->n)
        qsort_r(v->p, v->n, sizeof *v->p, order, w);
    for (size_t i = 0; i < v->n; i++) {
        uint32_t e = v->p[i];
        if (w->ev.ph[e] == 'B' || w->ev.ph[e] == 'b' || w->ev.ph[e] == 'S')
            hs_vec_push(&open, e);
        else
            close_span(w, &open, e);
        if (i + 1 < v->n && !group(w, e, v->p[i + 1]))
            continue;
        for (; open.n; open.n--)
            if (w->ev.ts[open.p[open.n - 1]] < w->to)
                keep(w, open.p[open.n - 1]);
    }
    hs_vec_free(&open);
}

/* ---- flows ---- */

static int by_flow(const struct window *w, uint32_t a, uint32_t b)
{
    int c = compare(w->ev.cat[a], w->ev.cat[b]);
    c = c ? c : compare(w->id[a], w->id[b]);
    return c ? c : compare(w->id_text[a], w->id_text[b]);
}

static int by_flow_event(const void *a, const void *b, void *ctx)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int c = by_flow(ctx, x, y);
    return c ? c : compare(x, y);
}

/* The list has only those in the window. */
static void keep_flows(struct window *w)
{
    struct list *v = &w->flows;
    if (v->n)
        qsort_r(v->p, v->n, sizeof *v->p, by_flow_event, w);
    for (size_t i = 0, end; i < v->n; i = end) {
        bool starts = false, ends = false;
        for (end = i; end < v->n && !by_flow(w, v->p[i], v->p[end]); end++) {
            starts |= w->ev.ph[v->p[end]] == 's';
            ends |= w->ev.ph[v->p[end]] == 'f';
        }
        bool known = w->id[v->p[i]] != HS_NO_VALUE || w->id_text[v->p[i]] != HS_NO_SYM;
        for (size_t k = i; k < end && starts && ends && known; k++)
            keep(w, v->p[k]);
    }
}

/* ---- all ---- */

static void one_event(struct window *w, uint32_t e)
{
    int64_t ts = w->ev.ts[e];
    switch (w->ev.ph[e]) {
    case 'M': keep(w, e); break;
    case 'X':
        if (touches(w, ts, hs_end_ns(ts, w->ev.dur[e])))
            keep(w, e);
        break;
    case 'B':
    case 'E': hs_vec_push(&w->spans, e); break;
    case 'b':
    case 'e':
    case 'S':
    case 'F': hs_vec_push(&w->async, e); break;
    case 's':
    case 't':
    case 'f':
        if (inside(w, ts))
            hs_vec_push(&w->flows, e);
        break;
    default:
        if (inside(w, ts))
            keep(w, e);
    }
}

int hs_chrome_window(struct hs_view *v, int64_t from, int64_t to, uint8_t **bits, struct hs_err *err)
{
    struct window w = {.from = from,
                       .to = to,
                       .spans = HS_VEC_INIT(HS_MAX_EVENTS),
                       .async = HS_VEC_INIT(HS_MAX_EVENTS),
                       .flows = HS_VEC_INIT(HS_MAX_EVENTS)};
    int rc = hs_view_events(v, HS_EV_TS | HS_EV_DUR | HS_EV_NAME | HS_EV_CAT | HS_EV_LANE | HS_EV_PH, &w.ev, err);
    if (rc)
        return rc;
    w.bits = hs_calloc(w.ev.n / 8 + 1, 1);
    for (size_t i = 0; i < w.ev.n; i++)
        one_event(&w, (uint32_t)i);
    if (w.async.n || w.flows.n) {
        rc = v->ops->arg_i64(v, "id", 0, &w.id, err);
        if (!rc)
            rc = v->ops->arg_sym(v, "id", 0, &w.id_text, err);
    }
    if (!rc) {
        keep_spans(&w, &w.spans, by_lane_time, by_lane);
        keep_spans(&w, &w.async, by_id_time, by_id);
        keep_flows(&w);
        *bits = w.bits;
    } else {
        free(w.bits);
    }
    hs_vec_free(&w.spans);
    hs_vec_free(&w.async);
    hs_vec_free(&w.flows);
    return rc;
}
