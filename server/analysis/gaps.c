#include "analysis/gaps.h"

const char *hs_cause_word(enum hs_cause c)
{
    return c == HS_HOST_WAIT ? "host_wait" : c == HS_KERNEL_WAIT ? "kernel_wait" : "other";
}

bool hs_next_stream(const struct hs_gpu *g, struct hs_stream_rows *r)
{
    size_t i = r->end;
    if (i >= g->n)
        return false;
    r->first = i;
    while (++i < g->n && g->device[i] == g->device[r->first] && g->stream[i] == g->stream[r->first])
        ;
    r->end = i;
    return true;
}

bool hs_stream_asked(const struct hs_gpu *g, const struct hs_stream_rows *r, const struct hs_params *p)
{
    size_t n;
    const int64_t *streams = hs_param_list(p, "streams", &n);
    for (size_t i = 0; i < n; i++)
        if (streams[i] == g->stream[r->first])
            return true;
    return !hs_param_has(p, "streams");
}

void hs_gap_walk(struct hs_gap_walk *w, const struct hs_select *s, struct hs_stream_rows r, int64_t delay)
{
    *w = (struct hs_gap_walk){s, delay, hs_end_ns(s->gpu.ts[r.first], s->gpu.dur[r.first]), r.first + 1, r.end};
}

enum hs_cause hs_cause_of(int64_t launch, int64_t idle_since, int64_t gap, int64_t delay)
{
    if (launch == HS_NO_VALUE)
        return HS_OTHER_WAIT;
    if (launch > idle_since)
        return HS_HOST_WAIT;
    return gap < delay ? HS_KERNEL_WAIT : HS_OTHER_WAIT;
}

/* Of two rows that start together, does b end the gap before them rather than a? The one that was launched first, so that
 * the order of the file does not matter. */
static bool rather(const struct hs_select *s, size_t a, size_t b)
{
    int64_t x = s->gpu.launch_ts[a], y = s->gpu.launch_ts[b];
    if (x != y)
        return y != HS_NO_VALUE && (x == HS_NO_VALUE || y < x);
    return hs_select_after(s, (uint32_t)a, (uint32_t)b);
}

bool hs_gap_next(struct hs_gap_walk *w, struct hs_gap *out)
{
    const struct hs_select *s = w->s;
    const struct hs_gpu *g = &s->gpu;
    while (w->i < w->end && w->busy_until < s->to) { /* no gap from there on begins in the window */
        int64_t start = g->ts[w->i], from = w->busy_until;
        bool gap = start > from && start > s->from, found = false;
        size_t next = w->i;
        for (; w->i < w->end && g->ts[w->i] == start; w->i++) {
            if (gap && hs_select_step(s, g->step[w->i]) && (!found || rather(s, next, w->i))) {
                found = true;
                next = w->i;
            }
            w->busy_until = hs_max_i64(w->busy_until, hs_end_ns(start, g->dur[w->i]));
        }
        if (!found)
            continue;
        *out = (struct hs_gap){{hs_max_i64(from, s->from), hs_min_i64(start, s->to)},
                               {from, start},
                               hs_cause_of(g->launch_ts[next], from, hs_sub_sat(start, from), w->delay),
                               next};
        return true;
    }
    return false;
}
