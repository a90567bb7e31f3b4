#include "store/sql_budget.h"

#include "base/clock.h"

#include <sqlite3.h>
#include <stddef.h>

static sqlite3_mem_methods g_plain; /* SQLite's own; written before main, only read afterwards */
static bool g_installed;
static _Thread_local struct hs_sql_budget *t_budget;

enum { LARGER = 4096 }; /* bytes that take longer to fill than the clock to read */

bool hs_sql_clock_up(struct hs_sql_clock *c)
{
    if (!c->up)
        c->up = hs_now_ns() > c->deadline_ns || (c->cancel && atomic_load_explicit(c->cancel, memory_order_relaxed));
    return c->up;
}

static bool allowed(int64_t more)
{
    struct hs_sql_budget *b = t_budget;
    if (b && more >= LARGER && b->clock && hs_sql_clock_up(b->clock))
        return false;
    if (!b || b->used + more <= b->limit)
        return true;
    b->refused = true;
    return false;
}

static void count(int64_t more)
{
    if (t_budget)
        t_budget->used += more;
}

static void *take(int n)
{
    void *p = allowed(n) ? g_plain.xMalloc(n) : NULL;
    if (p)
        count(g_plain.xSize(p));
    return p;
}

static void give_back(void *p)
{
    count(-(int64_t)g_plain.xSize(p));
    g_plain.xFree(p);
}

static void *resize(void *p, int n)
{
    int64_t before = g_plain.xSize(p);
    void *q = allowed(n - before) ? g_plain.xRealloc(p, n) : NULL;
    if (q)
        count(g_plain.xSize(q) - before);
    return q;
}

__attribute__((constructor)) static void install(void)
{
    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &g_plain) != SQLITE_OK)
        return;
    sqlite3_mem_methods counting = g_plain;
    counting.xMalloc = take;
    counting.xFree = give_back;
    counting.xRealloc = resize;
    g_installed = sqlite3_config(SQLITE_CONFIG_MALLOC, &counting) == SQLITE_OK;
}

struct hs_sql_budget *hs_sql_budget_set(struct hs_sql_budget *b)
{
    struct hs_sql_budget *before = t_budget;
    t_budget = b;
    return before;
}

bool hs_sql_budget_works(void)
{
    return g_installed;
}
