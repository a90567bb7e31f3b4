#include "trace/view.h"

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
