/* sql_functions: which functions a query may call, and our own in place of those of SQLite that take time quadratic in the
 * length of their arguments (instr, replace, like, glob, trim): SQLite cannot stop inside of a function. */
#ifndef HS_STORE_SQL_FUNCTIONS_H
#define HS_STORE_SQL_FUNCTIONS_H

#include "store/sql_budget.h"

#include <sqlite3.h>

enum { HS_SQL_TEXT = 1 << 20 }; /* bytes: SQLITE_LIMIT_LENGTH of a query */

/* The clock must live as long as the connection. A status of SQLite. */
int hs_sql_functions_register(sqlite3 *db, struct hs_sql_clock *clock);

/* Only what computes, in time linear in its arguments, and reaches nothing outside: no fts3_tokenizer, no load_extension, no
 * json_patch. */
bool hs_sql_function_allowed(const char *name);

#endif
