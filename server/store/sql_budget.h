/* sql_budget: a ceiling on the memory that SQLite takes for one query. SQLite's own limit is one for the whole process; this
 * counts per thread, under SQLite's allocator, so that a greedy query fails alone ("out of memory" in SQLite's words).
 *
 * The counting allocator is installed before main, as SQLite demands it. Where that fails (somebody used SQLite even
 * earlier) there is no ceiling, and hs_sql_budget_works tells. */
#ifndef HS_STORE_SQL_BUDGET_H
#define HS_STORE_SQL_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* When a query has to end. Everything that may take long asks: SQLite between its steps, our functions within, and the
 * allocator before it gives a larger piece, which stops what SQLite computes without a step in between. */
struct hs_sql_clock {
    int64_t deadline_ns;       /* monotonic */
    const atomic_bool *cancel; /* NULL: nobody cancels */
    bool up;                   /* it was found to be time */
};
bool hs_sql_clock_up(struct hs_sql_clock *c);

struct hs_sql_budget {
    int64_t used, limit;
    bool refused;               /* an allocation was */
    struct hs_sql_clock *clock; /* when it is up, larger allocations are refused, too; NULL: none */
};

/* Counts the allocations of this thread on a budget; NULL: on none. Returns the one before. What is taken under a budget
 * must be freed under it, or not at all while the budget lives. */
struct hs_sql_budget *hs_sql_budget_set(struct hs_sql_budget *b);
bool hs_sql_budget_works(void);

#endif
