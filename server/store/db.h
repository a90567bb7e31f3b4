/* db: SQLite with this project's errors. */
#ifndef HS_STORE_DB_H
#define HS_STORE_DB_H

#include "base/mem.h"

#include <sqlite3.h>

/* `flags` as for sqlite3_open_v2. The path may be ":memory:". HS_ENOTFOUND where there is no such file. */
int hs_db_open(sqlite3 **out, const char *path, int flags, struct hs_err *err);
/* The same through a VFS of this name; NULL: the default one. */
int hs_db_open_vfs(sqlite3 **out, const char *path, int flags, const char *vfs, struct hs_err *err);

/* Runs statements that give no rows, or whose rows do not matter. */
int hs_db_exec(sqlite3 *db, const char *sql, struct hs_err *err);
int hs_db_prepare(sqlite3 *db, sqlite3_stmt **out, const char *sql, struct hs_err *err);
/* The first column of the first row; HS_ENOTFOUND without a row. */
int hs_db_int(sqlite3 *db, const char *sql, int64_t *out, struct hs_err *err);
/* Steps a statement that gives no rows, and resets it. */
int hs_db_run(sqlite3_stmt *st, struct hs_err *err);
/* Steps: *row tells whether there is one. */
int hs_db_step(sqlite3_stmt *st, bool *row, struct hs_err *err);

/* The connection's error as ours: full -> HS_ENOSPACE, not a database or malformed -> HS_EINPUT, else HS_EINTERNAL. */
int hs_db_fail(sqlite3 *db, const char *doing, struct hs_err *err);

/* Binds text; never fails in a way that stepping would not tell again. */
void hs_db_bind_str(sqlite3_stmt *st, int i, struct hs_str s);
struct hs_str hs_db_str(sqlite3_stmt *st, int column); /* valid until the next step; bytes of TEXT or BLOB */

#endif
