/* schema: the SQL of schema/{trace,catalogue}/NNNN_*.sql, embedded, and applied in order. A database's user_version is
 * the number of the last migration it has seen. Migrations only go forward, each inside a transaction of its own. */
#ifndef HS_STORE_SCHEMA_H
#define HS_STORE_SCHEMA_H

#include "base/err.h"

#include <sqlite3.h>

enum hs_schema { HS_SCHEMA_TRACE, HS_SCHEMA_CATALOGUE };

int hs_schema_version(enum hs_schema s); /* the newest this program knows */

/* Brings a database to the newest version. HS_EINPUT: it is newer than this program. */
int hs_schema_migrate(sqlite3 *db, enum hs_schema s, struct hs_err *err);

/* Only looks: *old tells whether migrations are missing. HS_EINPUT: newer than this program. */
int hs_schema_check(sqlite3 *db, enum hs_schema s, int *old, struct hs_err *err);

#endif
