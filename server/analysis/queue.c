#include "analysis/queue.h"

#include "trace/stats.h"

#include <stdlib.h>

void hs_queue_walk(struct hs_queue_walk *w, const struct hs_select *s)
{
    *w = (struct hs_queue_walk){.s = s, .series = HS_SERIES_INIT, .changes = HS_CHANGES_INIT};
    w->launches = hs_realloc_array(NULL, s->gpu.n ? s->gpu.n : 1, sizeof *w->launches);
    w->scratch = hs_realloc_array(NULL, s->gpu.n ? s->gpu.n : 1, sizeof *w->scratch);
}

/* Rows stand by start, and their launches are nearly in that order: sorted apart, the two lists merge into the changes. */
static void changes_of(struct hs_queue_walk *w, struct hs_queue *q)
{
    const struct hs_gpu *g = &w->s->gpu;
    size_t n = 0, k = 0;
    w->changes.n = 0;
    for (size_t i = w->rows.first; i < w->rows.end; i++) {
        if (!hs_select_step(w->s, g->step[i]))
            continue;
        if (g->launch_ts[i] == HS_NO_VALUE)
            q->orphans++;
        else if (g->launch_ts[i] > g->ts[i])
            q->early++;
        else
            w->launches[n++] = g->launch_ts[i];
    }
    hs_sort_i64(w->launches, w->scratch, n);
    for (size_t i = w->rows.first; i < w->rows.end; i++) {
        if (!hs_select_step(w->s, g->step[i]) || g->launch_ts[i] == HS_NO_VALUE || g->launch_ts[i] > g->ts[i])
            continue;
        for (; k < n && w->launches[k] <= g->ts[i]; k++)
            hs_vec_push(&w->changes, ((struct hs_change){w->launches[k], 1}));
        hs_vec_push(&w->changes, ((struct hs_change){g->ts[i], -1}));
    }
    q->entered = (int64_t)n;
}

bool hs_queue_next(struct hs_queue_walk *w, struct hs_queue *out)
{
    while (hs_next_stream(&w->s->gpu, &w->rows)) {
        *out = (struct hs_queue){.device = w->s->gpu.device[w->rows.first], .stream = w->s->gpu.stream[w->rows.first]};
        changes_of(w, out);
        w->orphans += out->orphans;
        w->early += out->early;
        w->entered += out->entered;
        hs_series_sum(&w->series, &w->changes);
        hs_series_cut(&w->series, w->s->from, w->s->to);
        out->length = w->series;
        if (w->series.n)
            return true;
    }
    return false;
}

void hs_queue_end(struct hs_queue_walk *w, struct hs_table *out)
{
    long long rank = (long long)w->s->rank;
    if (w->orphans)
        hs_table_note(out, "Rank %lld: %lld device events never enter a queue, as their launch is not in the trace.",
                      rank, (long long)w->orphans);
    if (w->early)
        hs_table_note(out,
                      "Rank %lld: %lld device events start before their launch call does (clocks that disagree); they "
                      "never enter a queue.",
                      rank, (long long)w->early);
    if (w->s->gpu.n && !w->entered)
        hs_table_note(out, "Rank %lld has no launches that fit: there is no queue to tell of.", rank);
    hs_vec_free(&w->series);
    hs_vec_free(&w->changes);
    free(w->launches);
    free(w->scratch);
}
