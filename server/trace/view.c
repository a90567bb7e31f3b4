#include "trace/view.h"

#include <stdlib.h>

void hs_events_free(struct hs_events *ev)
{
    const void *all[] = {ev->ts,    ev->dur,   ev->name, ev->cat, ev->lane,  ev->parent,
                         ev->shape, ev->depth, ev->step, ev->ph,  ev->digits};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free((void *)(uintptr_t)all[i]);
    *ev = (struct hs_events){0};
}

uint32_t hs_view_sym(const struct hs_view *v, const char *text)
{
    struct hs_str want = hs_cstr(text);
    for (size_t i = 0; i < v->nsyms; i++)
        if (hs_str_eq(v->syms[i], want))
            return (uint32_t)i;
    return HS_NO_SYM;
}

bool hs_view_is_memory_timeline(const struct hs_view *v)
{
    return v->ncats == 1 && v->cats[0].ph == 'i' && v->cats[0].count == v->sum.events &&
           hs_str_is(hs_view_str(v, v->cats[0].cat), HS_MEMORY_TIMELINE);
}
