#include "analysis/crit.h"
#include "analysis/order.h"

#include <stdlib.h>

struct open {
    int64_t end;
    uint32_t event;
    bool active, loads;
};
struct sweep {
    const uint8_t *loading;
    struct hs_crit_segments *out;
    struct {
        HS_VEC(struct open);
    } stack;
    uint32_t lane;
    int64_t at; /* up to here everything is written */
    bool full;
};

static void put(struct sweep *s, int64_t until)
{
    const struct open *top = &s->stack.p[s->stack.n - 1];
    if (s->at < until) {
        struct hs_crit_segment x = {s->at, until, top->event, s->lane, top->active, top->loads};
        s->full |= !hs_vec_push(s->out, x);
        s->at = until;
    }
}

/* Writes and closes what ends by t. */
static void close_until(struct sweep *s, int64_t t)
{
    while (s->stack.n && s->stack.p[s->stack.n - 1].end <= t) {
        put(s, s->stack.p[s->stack.n - 1].end);
        s->stack.n--;
    }
}

static bool is_active(enum hs_cat_kind k)
{
    return k == HS_CAT_CPU_OP || k == HS_CAT_RUNTIME || k == HS_CAT_OVERHEAD;
}

static void begin(struct sweep *s, const struct hs_cpu *cpu, uint32_t e)
{
    int64_t ts = cpu->ev.ts[e], end = hs_end_ns(ts, cpu->ev.dur[e]);
    close_until(s, ts);
    if (s->stack.n)
        put(s, ts);
    s->at = hs_max_i64(s->at, ts);
    bool inside = s->stack.n && s->stack.p[s->stack.n - 1].active;
    bool loading = s->stack.n && s->stack.p[s->stack.n - 1].loads;
    struct open x = {end, e, inside || is_active(hs_cpu_kind(cpu, e)), loading || s->loading[cpu->ev.name[e]]};
    s->full |= end > ts && !hs_vec_push(&s->stack, x);
}

bool hs_crit_segments(const struct hs_cpu *cpu, const uint8_t *loading, struct hs_crit_segments *out)
{
    size_t n = 0;
    uint32_t *order = hs_malloc((cpu->ev.n + 1) * sizeof *order), *scratch = hs_malloc((cpu->ev.n + 1) * sizeof *order);
    int64_t *key = hs_malloc((cpu->ev.n + 1) * sizeof *key);
    struct sweep s = {.loading = loading, .out = out, .stack = HS_VEC_INIT(HS_MAX_EVENTS)};
    for (uint32_t e = 0; e < cpu->ev.n; e++) {
        key[e] = -hs_max_i64(0, cpu->ev.dur[e]);
        if (hs_cpu_is_span(cpu, e))
            order[n++] = e;
    }
    hs_order_i64(order, scratch, n, key); /* what starts together: the longer one is outside */
    hs_order_i64(order, scratch, n, cpu->ev.ts);
    for (uint32_t e = 0; e < cpu->ev.n; e++)
        key[e] = cpu->ev.lane[e];
    hs_order_i64(order, scratch, n, key);
    for (size_t i = 0; i < n; i++) {
        if (!i || cpu->ev.lane[order[i]] != s.lane) {
            close_until(&s, INT64_MAX);
            s.lane = cpu->ev.lane[order[i]];
            s.at = INT64_MIN;
        }
        begin(&s, cpu, order[i]);
    }
    close_until(&s, INT64_MAX);
    hs_vec_free(&s.stack);
    free(order);
    free(scratch);
    free(key);
    return !s.full;
}
