#include "analysis/device_idle.h"

#include <stdlib.h>

/* One device's streams, each with a cursor that only moves on: gaps come in order of time, so all of them together cost one
 * pass over the rows. */
struct cursors {
    HS_VEC(struct hs_stream_rows); /* first: the cursor */
};

/* Launch of the work that starts at `t`; HS_NO_VALUE if none of it has a known one. */
static int64_t launch_at(const struct hs_gpu *g, struct cursors *c, int64_t t)
{
    int64_t launch = HS_NO_VALUE;
    for (size_t k = 0; k < c->n; k++) {
        struct hs_stream_rows *r = &c->p[k];
        while (r->first < r->end && g->ts[r->first] < t)
            r->first++;
        for (size_t i = r->first; i < r->end && g->ts[i] == t; i++)
            if (g->launch_ts[i] != HS_NO_VALUE && (launch == HS_NO_VALUE || g->launch_ts[i] < launch))
                launch = g->launch_ts[i];
    }
    return launch;
}

static void one_device(const struct hs_gpu *g, int32_t device, struct hs_spans *busy, struct cursors *streams,
                       int64_t delay, int64_t ns[HS_CAUSES], struct hs_device_gap *longest)
{
    hs_spans_normalise(busy);
    for (size_t i = 1; i < busy->n; i++) {
        struct hs_span gap = {busy->p[i - 1].end, busy->p[i].start};
        int64_t length = hs_sub_sat(gap.end, gap.start);
        enum hs_cause cause = hs_cause_of(launch_at(g, streams, gap.end), gap.start, length, delay);
        ns[cause] = hs_add_sat(ns[cause], length);
        if (longest && length > hs_sub_sat(longest->at.end, longest->at.start))
            *longest = (struct hs_device_gap){gap, cause, device};
    }
    busy->n = 0;
    streams->n = 0;
}

void hs_device_idle(const struct hs_select *s, int64_t delay, int64_t ns[HS_CAUSES], struct hs_device_gap *longest)
{
    const struct hs_gpu *g = &s->gpu;
    struct hs_spans busy = HS_SPANS_INIT;
    struct cursors streams = HS_VEC_INIT(UINT32_MAX);
    int32_t device = g->n ? g->device[0] : 0;
    for (struct hs_stream_rows r = {0, 0}; hs_next_stream(g, &r);) {
        if (g->device[r.first] != device)
            one_device(g, device, &busy, &streams, delay, ns, longest);
        device = g->device[r.first];
        hs_vec_push(&streams, r);
        for (size_t i = r.first; i < r.end; i++)
            hs_spans_push(&busy, g->ts[i], hs_end_ns(g->ts[i], g->dur[i]));
    }
    one_device(g, device, &busy, &streams, delay, ns, longest);
    hs_vec_free(&busy);
    hs_vec_free(&streams);
}
