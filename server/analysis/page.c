#include "analysis/page.h"

struct hs_page hs_page_of(const struct hs_params *p)
{
    return (struct hs_page){hs_param_i64(p, "offset"), hs_param_i64(p, "limit"), 0};
}

void hs_page_note(const struct hs_page *page, struct hs_table *out, const char *what)
{
    int64_t left = page->seen - page->offset;
    if (left < 0)
        left = 0;
    int64_t given = page->limit && page->limit < left ? page->limit : left;
    if (given == page->seen)
        return;
    if (given)
        hs_table_note(out, "These are %lld of %lld %s, from number %lld on; offset and limit give the others.",
                      (long long)given, (long long)page->seen, what, (long long)page->offset);
    else
        hs_table_note(out, "There are %lld %s; offset lies behind the last.", (long long)page->seen, what);
}
