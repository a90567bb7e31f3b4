/* Pages of a long answer: the parameters offset and limit, the same for every analysis that has one row an event or a point.
 *
 *     struct hs_page page = hs_page_of(p);
 *     for (…) if (hs_page_take(&page)) { hs_table_row(out); … }
 *     hs_page_note(&page, out, "points");
 */
#ifndef HS_ANALYSIS_PAGE_H
#define HS_ANALYSIS_PAGE_H

#include "analysis/registry.h"

struct hs_page {
    int64_t offset, limit; /* limit 0: no end */
    int64_t seen;          /* rows that there are */
};

/* Two entries of a list of hs_param_spec. */
#define HS_PARAM_PAGE                                                                         \
    {"offset", HS_P_INT, "1", "0", 0, 4e15, NULL, "leave out so many rows at the beginning"}, \
    {                                                                                         \
        "limit", HS_P_INT, "1", "10000", 0, 4e15, NULL, "give at most so many rows; 0: all"   \
    }

struct hs_page hs_page_of(const struct hs_params *p);

/* Counts a row; true if it stands on the page. */
static inline bool hs_page_take(struct hs_page *page)
{
    int64_t k = page->seen++ - page->offset;
    return k >= 0 && (!page->limit || k < page->limit);
}

/* Says how many rows there are, and how to get the rest, where the page does not hold all. `what` in the plural. */
void hs_page_note(const struct hs_page *page, struct hs_table *out, const char *what);

#endif
