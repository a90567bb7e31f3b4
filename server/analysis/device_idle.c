#include "analysis/device_idle.h"
#include "analysis/device_walk.h"

/* The gap that ended at the last start, until all work that starts there is known: its launch is the earliest of theirs. */
struct open_gap {
    struct hs_span at; /* empty: none */
    int64_t launch;    /* HS_NO_VALUE: unknown so far */
};

static void settle(struct open_gap *g, int32_t device, int64_t delay, int64_t ns[HS_CAUSES],
                   struct hs_device_gap *longest)
{
    int64_t length = hs_sub_sat(g->at.end, g->at.start);
    if (length <= 0)
        return;
    enum hs_cause cause = hs_cause_of(g->launch, g->at.start, length, delay);
    ns[cause] = hs_add_sat(ns[cause], length);
    if (longest && length > hs_sub_sat(longest->at.end, longest->at.start))
        *longest = (struct hs_device_gap){g->at, cause, device};
    g->at = (struct hs_span){0, 0};
}

void hs_device_idle(const struct hs_select *s, int64_t delay, int64_t ns[HS_CAUSES], struct hs_device_gap *longest)
{
    const struct hs_gpu *g = &s->gpu;
    struct hs_device_walk walk;
    hs_device_walk_init(&walk, g);
    while (hs_device_next(&walk)) {
        struct open_gap gap = {{0, 0}, HS_NO_VALUE};
        int64_t busy_until = INT64_MAX; /* no gap before the first work */
        for (size_t i; hs_device_row(&walk, &i);) {
            int64_t ts = g->ts[i], launch = g->launch_ts[i];
            if (ts != gap.at.end)
                settle(&gap, walk.device, delay, ns, longest);
            if (ts > busy_until)
                gap = (struct open_gap){{busy_until, ts}, launch};
            else if (ts == gap.at.end && launch != HS_NO_VALUE && (gap.launch == HS_NO_VALUE || launch < gap.launch))
                gap.launch = launch;
            int64_t end = hs_end_ns(ts, g->dur[i]);
            busy_until = busy_until == INT64_MAX ? end : hs_max_i64(busy_until, end);
        }
        settle(&gap, walk.device, delay, ns, longest);
    }
    hs_device_walk_free(&walk);
}
