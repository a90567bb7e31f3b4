#include "analysis/launch_pairs.h"

#include "analysis/order.h"

#include <stdlib.h>

void hs_launch_pairs(const struct hs_select *s, bool copies, struct hs_launch_pairs *out)
{
    const struct hs_gpu *g = &s->gpu;
    *out = (struct hs_launch_pairs){.row = hs_realloc_array(NULL, g->n ? g->n : 1, sizeof *out->row)};
    for (size_t i = 0; i < g->n; i++) {
        if (!copies && g->cls[i] != HS_CLASS_COMPUTE && g->cls[i] != HS_CLASS_COMM)
            continue;
        if (g->launch_ts[i] == HS_NO_VALUE) {
            out->orphans += hs_select_starts(s, i);
            continue;
        }
        if (!hs_select_has(s, g->launch_ts[i], g->step[i]))
            continue;
        out->row[out->n++] = (uint32_t)i;
        out->clamped += g->ts[i] < hs_add_sat(g->launch_ts[i], hs_launch_dur(s, i));
    }
    uint32_t *scratch = hs_realloc_array(NULL, out->n ? out->n : 1, sizeof *scratch);
    hs_select_settle(s, out->row, out->n);
    hs_order_i64(out->row, scratch, out->n, g->ts);
    hs_order_i64(out->row, scratch, out->n, g->corr);
    hs_order_i64(out->row, scratch, out->n, g->launch_ts);
    free(scratch);
}

void hs_launch_pairs_free(struct hs_launch_pairs *p)
{
    free(p->row);
    p->row = NULL;
}

int64_t hs_launch_delay(const struct hs_select *s, size_t row)
{
    return hs_max_i64(0, hs_sub_sat(s->gpu.ts[row], hs_add_sat(s->gpu.launch_ts[row], hs_launch_dur(s, row))));
}

void hs_launch_pairs_note(const struct hs_launch_pairs *p, int64_t rank, struct hs_table *out)
{
    if (p->orphans)
        hs_table_note(out, "Rank %lld: %lld device events are left out, as their launch is not in the trace.",
                      (long long)rank, (long long)p->orphans);
    if (p->clamped)
        hs_table_note(
            out,
            "Rank %lld: %lld device events started before their launch call had returned; their delay counts as 0.",
            (long long)rank, (long long)p->clamped);
    if (!p->n)
        hs_table_note(out, "Rank %lld has no launches that fit.", (long long)rank);
}
