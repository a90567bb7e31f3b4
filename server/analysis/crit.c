#include "analysis/crit.h"

#include "analysis/crit_index.h"

const char *hs_crit_word(enum hs_crit_cause c)
{
    static const char *const words[HS_CRIT_CAUSES] = {"cpu_bound",
                                                      "data_loading",
                                                      "cpu_idle",
                                                      "gpu_compute_bound",
                                                      "gpu_communication_bound",
                                                      "gpu_memory_bound",
                                                      "gpu_kernel_launch_overhead",
                                                      "gpu_kernel_kernel_overhead",
                                                      "sync",
                                                      "unknown"};
    return words[c];
}

struct walk {
    struct hs_crit *c;
    const struct hs_crit_index *x;
    int64_t from;
    bool full;
};

/* ---- pieces, from the end to the beginning ---- */

static void put(struct walk *w, int64_t start, int64_t end, enum hs_crit_cause cause, uint32_t event, size_t row)
{
    struct hs_crit_piece x = {hs_max_i64(start, w->from), end, cause, event, row};
    if (x.start < x.end)
        w->full |= !hs_vec_push(&w->c->pieces, x);
}

/* Where the walk is: on a device row that ends at t, or on a thread at t. */
struct place {
    int64_t t;
    size_t row;
    uint32_t lane;
    bool lost; /* nothing tells what came before */
};

static struct place before_row(struct walk *w, size_t row)
{
    const struct hs_gpu *g = w->x->gpu;
    int64_t start = g->ts[row];
    struct hs_crit_arrivals a = hs_crit_arrivals(w->x, row);
    if (a.by_waited) {
        int64_t end = w->x->end_of[a.waited];
        put(w, end, start, HS_CRIT_SYNC, g->event[row], row);
        return (struct place){end, a.waited, 0, false};
    }
    if (a.by_call) {
        put(w, a.call, start, HS_CRIT_LAUNCH, g->event[row], row);
        return (struct place){a.call, HS_NO_ROW, w->x->cpu->ev.lane[g->launch[row]], false};
    }
    if (a.prev == HS_NO_ROW)
        return (struct place){start, HS_NO_ROW, 0, true};
    put(w, w->x->end_of[a.prev], start, HS_CRIT_KERNEL, g->event[row], row);
    return (struct place){w->x->end_of[a.prev], a.prev, 0, false};
}

static struct place before_cpu(struct walk *w, uint32_t lane, int64_t t)
{
    size_t k = hs_crit_segment_before(w->x, lane, t);
    const struct hs_crit_segment *s = k == HS_NO_SEGMENT ? NULL : &w->x->seg.p[k];
    bool covered = s && s->end >= t;
    if (covered && s->active) {
        size_t row = hs_crit_waited_for(w->x, s, t);
        if (row != HS_NO_ROW) {
            put(w, w->x->end_of[row], t, HS_CRIT_SYNC, s->event, HS_NO_ROW);
            return (struct place){w->x->end_of[row], row, 0, false};
        }
        put(w, s->start, t, s->loads ? HS_CRIT_LOADING : HS_CRIT_CPU, s->event, HS_NO_ROW);
        return (struct place){s->start, HS_NO_ROW, lane, false};
    }
    size_t latest = hs_crit_latest_active(w->x, t);
    const struct hs_crit_segment *other = latest == HS_NO_SEGMENT ? NULL : &w->x->seg.p[latest];
    int64_t low = covered ? s->start : s ? s->end : INT64_MIN;
    bool jump = other && other->lane != lane && hs_min_i64(other->end, t) > low;
    if (jump)
        low = hs_min_i64(other->end, t);
    bool loads = covered && s->loads;
    put(w, low, t,
        loads     ? HS_CRIT_LOADING
        : covered ? HS_CRIT_CPU
                  : HS_CRIT_CPU_IDLE,
        covered ? s->event : HS_NO_EVENT, HS_NO_ROW);
    return (struct place){low, HS_NO_ROW, jump ? other->lane : lane, false};
}

/* ---- the walk ---- */

static struct place end_of_path(const struct walk *w, int64_t from, int64_t to)
{
    struct place p = {INT64_MIN, HS_NO_ROW, 0, true};
    for (size_t i = 0; i < w->x->seg.n; i++) {
        const struct hs_crit_segment *s = &w->x->seg.p[i];
        int64_t end = hs_min_i64(s->end, to);
        if (s->start < to && end > from && (end > p.t || (end == p.t && s->active)))
            p = (struct place){end, HS_NO_ROW, s->lane, false};
    }
    for (size_t i = 0; i < w->x->gpu->n; i++) {
        int64_t since = hs_crit_row_since(w->x->gpu, i);
        if (since >= from && since < to && w->x->end_of[i] > p.t)
            p = (struct place){w->x->end_of[i], i, 0, false};
    }
    return p;
}

static void turn_round(struct hs_crit *c)
{
    for (size_t i = 0, k = c->pieces.n; i + 1 < k; i++) {
        struct hs_crit_piece x = c->pieces.p[i];
        c->pieces.p[i] = c->pieces.p[--k];
        c->pieces.p[k] = x;
    }
}

static int64_t first_time(const struct walk *w)
{
    int64_t t = INT64_MAX;
    for (size_t i = 0; i < w->x->seg.n; i++)
        t = hs_min_i64(t, w->x->seg.p[i].start);
    for (size_t i = 0; i < w->x->gpu->n; i++)
        t = hs_min_i64(t, w->x->gpu->ts[i]);
    return t;
}

static int walk(struct walk *w, int64_t from, int64_t to, struct hs_err *err)
{
    /* Each step consumes a segment or a row, or jumps once before it does; more is a fault of ours, and no endless loop. */
    size_t left = 4 * (w->x->seg.n + w->x->gpu->n) + 64;
    struct place p = end_of_path(w, from, to);
    w->from = hs_max_i64(from, first_time(w));
    while (!p.lost && p.t > w->from && !w->full && left--) {
        if (p.row != HS_NO_ROW) {
            size_t row = p.row;
            put(w, w->x->gpu->ts[row], p.t, hs_crit_cause_of_row(w->x->gpu, row), w->x->gpu->event[row], row);
            p = w->x->gpu->ts[row] > w->from ? before_row(w, row) : (struct place){w->from, HS_NO_ROW, 0, false};
        } else {
            p = before_cpu(w, p.lane, p.t);
        }
    }
    if (p.lost && p.t > w->from)
        put(w, w->from, p.t, HS_CRIT_UNKNOWN, HS_NO_EVENT, HS_NO_ROW);
    if (w->full || (!p.lost && p.t > w->from))
        return hs_fail(err, HS_ELIMIT, "the critical path has too many pieces");
    turn_round(w->c);
    return HS_OK;
}

int hs_crit_find(struct hs_crit *c, const struct hs_crit_index *x, int64_t from, int64_t to, struct hs_err *err)
{
    struct walk w = {.c = c, .x = x};
    *c = (struct hs_crit){.pieces = HS_VEC_INIT((size_t)1 << 33), .nodes = x->seg.n + x->gpu->n};
    return walk(&w, from, to, err);
}

void hs_crit_free(struct hs_crit *c)
{
    hs_vec_free(&c->pieces);
    c->pieces.n = 0;
}
