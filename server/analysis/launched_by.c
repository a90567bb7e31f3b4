#include "analysis/launched_by.h"

#include "analysis/order.h"

#include <stdlib.h>
#include <string.h>

/* Sorts the rows with the minor keys first. keys is by device row. */
static void sort_rows(const struct hs_select *s, enum hs_work_order order, const uint32_t *owner_of,
                      const struct hs_events *ev, struct hs_launched_by *l)
{
    const struct hs_gpu *g = &s->gpu;
    uint32_t *scratch = hs_realloc_array(NULL, l->n + 1, sizeof *scratch);
    int64_t *key = hs_realloc_array(NULL, g->n + 1, sizeof *key);
    hs_select_settle(s, l->row, l->n);
    hs_order_i64(l->row, scratch, l->n, g->ts); /* stable: the rows came by device and stream */
    if (order == HS_BY_LAUNCH) {
        hs_order_i64(l->row, scratch, l->n, g->corr);
        hs_order_i64(l->row, scratch, l->n, g->launch_ts);
    }
    for (size_t k = 0; k < l->n; k++)
        key[l->row[k]] = owner_of[l->row[k]];
    hs_order_i64(l->row, scratch, l->n, key);
    for (size_t k = 0; k < l->n; k++)
        key[l->row[k]] = ev->ts[owner_of[l->row[k]]];
    hs_order_i64(l->row, scratch, l->n, key);
    free(key);
    free(scratch);
}

void hs_launched_by(const struct hs_select *s, struct hs_pick *pick, bool copies, enum hs_work_order order,
                    struct hs_launched_by *out)
{
    const struct hs_gpu *g = &s->gpu;
    const struct hs_events *ev = &pick->cpu->ev;
    uint32_t *owner_of = hs_realloc_array(NULL, g->n + 1, sizeof *owner_of);
    *out = (struct hs_launched_by){.row = hs_realloc_array(NULL, g->n + 1, sizeof *out->row)};
    for (size_t i = 0; i < g->n; i++) {
        bool kernel = g->cls[i] == HS_CLASS_COMPUTE || g->cls[i] == HS_CLASS_COMM;
        if ((!kernel && !copies) || !hs_select_step(s, g->step[i]))
            continue;
        owner_of[i] = g->launch[i] < ev->n ? hs_pick(pick, g->launch[i]) : HS_NO_EVENT;
        if (owner_of[i] == HS_NO_EVENT)
            ++*(g->launch[i] < ev->n ? &out->ownerless : &out->orphans);
        else if (ev->ts[owner_of[i]] >= s->from && ev->ts[owner_of[i]] < s->to)
            out->row[out->n++] = (uint32_t)i;
    }
    sort_rows(s, order, owner_of, ev, out);
    out->owner = hs_realloc_array(NULL, out->n + 1, sizeof *out->owner);
    for (size_t k = 0; k < out->n; k++)
        out->owner[k] = owner_of[out->row[k]];
    free(owner_of);
}

void hs_launched_by_free(struct hs_launched_by *l)
{
    free(l->row);
    free(l->owner);
}
