/* sql: read-only SQL over one trace. Tables: events, kernels, device_work (copies and memsets too), cpu_ops, launches,
 * memory_events, counters, steps, args (event, key, value, type), and the meta tables quality, header, categories,
 * threads; args columns are JSON text, so args ->> '$.Input Dims' works. Columns are listed in store/sql_tables.c.
 * A text has at most 1 MiB, what a query makes as well as what a trace holds: longer args are null, with a note, longer names
 * are cut. Functions are those that store/sql_functions.c lists.
 * `holoscope sql` and POST /api/v1/traces/{id}/sql both come here. */
#ifndef HS_STORE_SQL_H
#define HS_STORE_SQL_H

#include "trace/table.h"
#include "trace/view.h"

#include <stdatomic.h>

struct hs_sql_limits {
    int64_t rows;              /* most rows of the answer; more: cut, with a note */
    int64_t bytes;             /* most memory SQLite may take, and most text in the answer */
    int64_t time_ms;           /* wall time */
    const atomic_bool *cancel; /* another thread sets it: the query ends with HS_ECANCELLED; NULL: nobody does */
};
extern const struct hs_sql_limits hs_sql_limits_default; /* 10 000 rows, 256 MiB, 10 s */

/* Only SELECT, WITH and EXPLAIN QUERY PLAN; anything that writes, attaches or sets is refused by SQLite's authorizer
 * (HS_EUSAGE). Names of columns are made unique (a, a_2). `out` is initialised and empty; its columns become those of the statement and belong to its arena. A column
 * of args is HS_T_JSON, others are what their values are. HS_ELIMIT: a limit, with the sentence that says which. */
int hs_sql_run(struct hs_view *v, const char *query, const struct hs_sql_limits *limits, struct hs_table *out,
               struct hs_err *err);

#endif
