/* sql_tables: what the tables of `holoscope sql` are made of: rows of a view and the value of each column of a row. The
 * virtual table over them is sql_vtab.h, the statement around it sql.h. To add a column or a table, extend the lists in
 * sql_tables.c.
 *
 * Times: ts and dur are REAL µs, for reading; ts_ns, dur_ns, end_ns are INTEGER ns, exact. Numbers of events (event,
 * parent, launch) join tables. */
#ifndef HS_STORE_SQL_TABLES_H
#define HS_STORE_SQL_TABLES_H

#include "store/sql_data.h"

#include <sqlite3.h>

struct hs_sql_column {
    const char *name, *type;
    enum hs_sql_what what;
};

struct hs_sql_table {
    const char *name;
    enum hs_sql_source source;
    enum hs_sql_filter filter;
    const struct hs_sql_column *columns;
    int ncolumns;
};
extern const struct hs_sql_table hs_sql_tables[];
extern const size_t hs_sql_ntables;

/* Puts one cell. `cursor` is the caller's, for args; *cursor starts as NULL and is freed by hs_arg_cursor_free. */
int hs_sql_cell(struct hs_sql_data *d, const struct hs_sql_table *t, int column, size_t row,
                struct hs_arg_cursor **cursor, sqlite3_context *out);

#endif
