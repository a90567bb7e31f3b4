/* sql_vtab: the tables of sql_tables.h as virtual tables of a SQLite connection. Equality on event, correlation, launch,
 * external_id and parent goes through an index; name, cat, ph, step and ranges of ts_ns are compared in the columns before
 * SQLite sees a row, and segments whose times cannot match are skipped whole. */
#ifndef HS_STORE_SQL_VTAB_H
#define HS_STORE_SQL_VTAB_H

#include "store/sql_tables.h"

/* Makes the tables known to the connection; `d` must outlive it. */
int hs_sql_register(sqlite3 *db, struct hs_sql_data *d);

#endif
