#include "report/figures_threads.h"

#include "trace/stats.h"

#include <stdio.h>
#include <stdlib.h>

static bool is_work(const struct hs_cpu *c, uint32_t e)
{
    enum hs_cat_kind k = hs_cpu_kind(c, e);
    return (k == HS_CAT_CPU_OP || k == HS_CAT_RUNTIME) && hs_cpu_is_span(c, e);
}

/* Spans of one thread nest, so what it spends in the outermost of them is their sum. */
static void add_up(const struct hs_gap_causes *g, int64_t *busy, uint32_t *longest)
{
    const struct hs_cpu *c = &g->cpu;
    const unsigned work = 1u << HS_CAT_CPU_OP | 1u << HS_CAT_RUNTIME;
    struct hs_pick outermost;
    hs_pick_open(&outermost, c, work, NULL, true);
    for (uint32_t e = 0; e < c->ev.n; e++) {
        uint32_t lane = c->ev.lane[e];
        int64_t dur = hs_max_i64(0, c->ev.dur[e]);
        if (lane >= c->view->nlanes || !is_work(c, e))
            continue;
        if (hs_gap_is_sync(g, e)) /* a call of a runtime has nothing beneath it that is work */
            busy[lane] = hs_sub_sat(busy[lane], dur);
        if (hs_pick(&outermost, e) != e)
            continue;
        busy[lane] = hs_add_sat(busy[lane], dur);
        if (longest[lane] == HS_NO_EVENT || dur > c->ev.dur[longest[lane]])
            longest[lane] = e;
    }
    hs_pick_close(&outermost);
}

static void put_id(const struct hs_view *v, struct hs_id id, char *out, size_t cap)
{
    struct hs_str text = id.kind == HS_ID_TEXT ? hs_view_str(v, (uint32_t)id.v) : hs_str("", 0);
    if (id.kind == HS_ID_TEXT)
        snprintf(out, cap, "%.*s", (int)(text.n < 40 ? text.n : 40), text.p);
    else
        snprintf(out, cap, "%lld", (long long)id.v);
}

void hs_figures_from_threads(struct hs_figures *f, const struct hs_run_rank *rank, const struct hs_gap_causes *g)
{
    const struct hs_view *v = rank->view;
    struct hs_figure_value *x = &f->at[HS_FIG_THREAD];
    int64_t wall = hs_sub_sat(v->sum.last_end, v->sum.first_ts);
    if (wall <= 0)
        return;
    int64_t *busy = hs_calloc(v->nlanes + 1, sizeof *busy);
    uint32_t *longest = hs_malloc((v->nlanes + 1) * sizeof *longest);
    for (size_t l = 0; l < v->nlanes; l++)
        longest[l] = HS_NO_EVENT;
    add_up(g, busy, longest);
    for (size_t l = 0; l < v->nlanes; l++) {
        double pct = hs_percent(busy[l], wall);
        char tid[48];
        if (longest[l] == HS_NO_EVENT || busy[l] <= 0)
            continue;
        hs_figure_shows(x, rank, longest[l], g->cpu.ev.ts[longest[l]], busy[l]);
        if (pct <= x->v)
            continue;
        x->v = pct;
        put_id(v, v->lanes[l].tid, tid, sizeof tid);
        snprintf(x->detail, sizeof x->detail, "Thread %s of rank %lld, %.3f ms in operators and calls that do not wait",
                 tid, (long long)rank->rank, (double)busy[l] / 1e6);
    }
    free(longest);
    free(busy);
}
