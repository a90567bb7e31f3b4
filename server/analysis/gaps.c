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

bool hs_gap_next(struct hs_gap_walk *w, struct hs_gap *out)
{
    const struct hs_select *s = w->s;
    bool found = false;
    for (; w->i < w->end && !found; w->i++) {
        int64_t start = s->gpu.ts[w->i], from = w->busy_until;
        if (from >= s->to) { /* no gap from here on begins in the window */
            w->i = w->end;
            break;
        }
        if (start > from && start > s->from && from < s->to && hs_select_step(s, s->gpu.step[w->i])) {
            *out = (struct hs_gap){{hs_max_i64(from, s->from), hs_min_i64(start, s->to)},
                                   {from, start},
                                   hs_cause_of(s->gpu.launch_ts[w->i], from, hs_sub_sat(start, from), w->delay),
                                   w->i};
            found = true;
        }
        w->busy_until = hs_max_i64(from, hs_end_ns(start, s->gpu.dur[w->i]));
    }
    return found;
}
