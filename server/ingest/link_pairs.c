#include "ingest/link_in.h"
#include "ingest/link_sort.h"

#include <stdlib.h>

static size_t collect(const struct hs_rows *r, const char *phases, uint32_t *v)
{
    size_t n = 0;
    for (size_t e = 0; e < r->n; e++)
        if (r->flags[e] & HS_ROW_HAS_TS && r->ph[e] && strchr(phases, r->ph[e]))
            v[n++] = (uint32_t)e;
    return n;
}

/* ---- B and E: one stack a lane ---- */

static bool by_lane_time(const void *ctx, uint32_t a, uint32_t b)
{
    const struct hs_rows *r = ctx;
    if (r->lane[a] != r->lane[b])
        return r->lane[a] < r->lane[b];
    return r->ts[a] != r->ts[b] ? r->ts[a] < r->ts[b] : a < b;
}

/* A begin that tells a duration of its own keeps it. */
static void end_at(struct hs_linking *l, uint32_t b, int64_t end)
{
    struct hs_rows *r = &l->t->rows;
    int64_t dur;
    if (r->flags[b] & HS_ROW_HAS_DUR)
        return;
    if (__builtin_sub_overflow(end, r->ts[b], &dur))
        dur = INT64_MAX; /* counted as absurd later */
    r->dur[b] = dur;
    r->flags[b] |= HS_ROW_HAS_DUR;
    hs_vec_push(&l->out->ended, ((struct hs_ended){b, dur})); /* its ceiling is that of events */
}

static int by_event(const void *a, const void *b)
{
    const struct hs_ended *x = a, *y = b;
    return (x->event > y->event) - (x->event < y->event);
}

/* The last moment of each lane that has begin events; what never ends is taken to end there. */
static int64_t *lane_ends(const struct hs_linking *l)
{
    const struct hs_rows *r = l->r;
    int64_t *end = hs_malloc(l->t->lanes.n * sizeof *end);
    for (size_t i = 0; i < l->t->lanes.n; i++)
        end[i] = INT64_MIN;
    for (size_t e = 0; e < r->n; e++) {
        bool span = r->ph[e] == 'X' && r->flags[e] & HS_ROW_HAS_DUR && r->dur[e] >= 0 && r->dur[e] <= HS_HUGE_DUR;
        if (!(r->flags[e] & HS_ROW_HAS_TS) || !(span || r->ph[e] == 'B' || r->ph[e] == 'E'))
            continue;
        int64_t t = span ? hs_add_sat(r->ts[e], r->dur[e]) : r->ts[e];
        if (end[r->lane[e]] < t)
            end[r->lane[e]] = t;
    }
    return end;
}

/* An E with a name closes the nearest open B of that name (begins above it were never ended and end here, too); without
 * one the innermost. How far down it looks is limited, so that no file costs quadratic time. */
static size_t match_end(const struct hs_rows *r, const uint32_t *open, size_t depth, uint32_t e)
{
    if (!r->name[e])
        return depth ? depth - 1 : SIZE_MAX;
    for (size_t i = depth; i > 0 && depth - i < 64; i--)
        if (r->name[open[i - 1]] == r->name[e])
            return i - 1;
    return SIZE_MAX;
}

static void pair_spans(struct hs_linking *l)
{
    struct hs_rows *r = &l->t->rows;
    uint32_t *v = hs_malloc(l->nb * sizeof *v), *open = hs_malloc(l->nb * sizeof *open);
    size_t n = collect(r, "BE", v), depth = 0;
    hs_sort_rows(v, n, open, by_lane_time, r);
    int64_t *ends = lane_ends(l), begins = 0, lone_ends = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t e = v[i], lane = r->lane[e];
        if (r->ph[e] == 'B') {
            open[depth++] = e;
        } else {
            size_t at = match_end(r, open, depth, e);
            if (at == SIZE_MAX) {
                lone_ends++;
            } else {
                begins += (int64_t)(depth - at - 1);
                while (depth > at)
                    end_at(l, open[--depth], r->ts[e]);
            }
        }
        if (i + 1 == n || r->lane[v[i + 1]] != lane)
            for (begins += (int64_t)depth; depth; depth--)
                end_at(l, open[depth - 1], ends[lane]);
    }
    hs_count(&l->t->quality, HS_Q_UNMATCHED_BEGIN, begins);
    hs_count(&l->t->quality, HS_Q_UNMATCHED_END, lone_ends);
    free(ends);
    free(open);
    free(v);
}

/* ---- b and e: by category and id (the name where there is no id), nested if one id is begun twice ---- */

static bool same_id(const struct hs_rows *r, uint32_t a, uint32_t b)
{
    return r->cat[a] == r->cat[b] && r->corr[a] == r->corr[b] &&
           (r->corr[a] != HS_NO_VALUE || r->name[a] == r->name[b]);
}

static bool by_id(const struct hs_rows *r, uint32_t a, uint32_t b, bool *less)
{
    if (same_id(r, a, b))
        return false;
    *less = r->cat[a] != r->cat[b]     ? r->cat[a] < r->cat[b]
            : r->corr[a] != r->corr[b] ? r->corr[a] < r->corr[b]
                                       : r->name[a] < r->name[b];
    return true;
}

static bool by_id_time(const void *ctx, uint32_t a, uint32_t b)
{
    const struct hs_rows *r = ctx;
    bool less;
    if (by_id(r, a, b, &less))
        return less;
    return r->ts[a] != r->ts[b] ? r->ts[a] < r->ts[b] : a < b;
}

static void pair_async(struct hs_linking *l)
{
    struct hs_rows *r = &l->t->rows;
    uint32_t *v = hs_malloc(l->nasync * sizeof *v), *open = hs_malloc(l->nasync * sizeof *open);
    size_t n = collect(r, "be", v), depth = 0;
    hs_sort_rows(v, n, open, by_id_time, r);
    int64_t begins = 0, lone_ends = 0;
    for (size_t i = 0; i < n; i++) {
        if (i && !same_id(r, v[i - 1], v[i])) {
            begins += (int64_t)depth;
            depth = 0;
        }
        if (r->ph[v[i]] == 'b')
            open[depth++] = v[i];
        else if (depth)
            end_at(l, open[--depth], r->ts[v[i]]);
        else
            lone_ends++;
    }
    hs_count(&l->t->quality, HS_Q_UNMATCHED_BEGIN, begins + (int64_t)depth);
    hs_count(&l->t->quality, HS_Q_UNMATCHED_END, lone_ends);
    free(open);
    free(v);
}

void hs_link_pairs(struct hs_linking *l)
{
    if (l->nb)
        pair_spans(l);
    if (l->nasync)
        pair_async(l);
    if (l->out->ended.n)
        qsort(l->out->ended.p, l->out->ended.n, sizeof *l->out->ended.p, by_event);
}

/* ---- flows: steps and ends whose (category, id) never starts ---- */

static bool by_flow(const void *ctx, uint32_t a, uint32_t b)
{
    const struct hs_rows *r = ctx;
    return r->cat[a] != r->cat[b] ? r->cat[a] < r->cat[b] : r->corr[a] < r->corr[b];
}

void hs_link_flows(const struct hs_linking *l, struct hs_quality *q)
{
    const struct hs_rows *r = l->r;
    if (!l->nflows)
        return;
    uint32_t *v = hs_malloc(l->nflows * sizeof *v), *tmp = hs_malloc(l->nflows * sizeof *tmp);
    size_t n = 0;
    for (size_t e = 0; e < r->n; e++)
        if ((r->ph[e] == 's' || r->ph[e] == 't' || r->ph[e] == 'f') && r->corr[e] != HS_NO_VALUE)
            v[n++] = (uint32_t)e;
    hs_sort_rows(v, n, tmp, by_flow, r);
    free(tmp);
    int64_t orphans = (int64_t)0, ends = 0;
    bool started = false;
    for (size_t i = 0; i < n; i++) {
        if (i && by_flow(r, v[i - 1], v[i])) {
            orphans += started ? 0 : ends;
            started = false;
            ends = 0;
        }
        if (r->ph[v[i]] == 's')
            started = true;
        else
            ends++;
    }
    hs_count(q, HS_Q_ORPHAN_FLOW, orphans + (started ? 0 : ends));
    free(v);
}
