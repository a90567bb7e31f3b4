/* catalogue: catalogue.db, what a data directory holds: runs, their traces, the files behind them. Knows nothing of the
 * files themselves (store.c does). Not thread-safe: the store's lock is held around every call.
 *
 * Writing happens inside hs_catalogue_begin … hs_catalogue_end; several processes may share the file. */
#ifndef HS_STORE_CATALOGUE_H
#define HS_STORE_CATALOGUE_H

#include "store/store.h"

#include <sqlite3.h>

int hs_catalogue_open(sqlite3 **out, const char *path, bool read_only, struct hs_err *err);

int hs_catalogue_begin(sqlite3 *db, struct hs_err *err); /* takes the write lock */
int hs_catalogue_end(sqlite3 *db, int rc,
                     struct hs_err *err); /* commits if rc is 0, else rolls back; returns the status */

/* A name of a run is data: UTF-8, 1 to 200 bytes, no control characters, no '/', not "." or "..". HS_EUSAGE. */
int hs_run_name_check(const char *name, struct hs_err *err);

/* ---- writing, inside a transaction ---- */
int hs_catalogue_has_file(sqlite3 *db, const char *id, bool *there, bool *original, struct hs_err *err);
int hs_catalogue_has_trace(sqlite3 *db, const char *run, const char *id, bool *there, struct hs_err *err);
int hs_catalogue_add_file(sqlite3 *db, const struct hs_trace_row *row, int64_t bytes_original /* -1: none */,
                          struct hs_err *err);
int hs_catalogue_set_original(sqlite3 *db, const char *id, int64_t bytes /* -1: none */, struct hs_err *err);
int hs_catalogue_add_trace(sqlite3 *db, const struct hs_trace_row *row, struct hs_err *err);
/* Removes one trace of a run (id NULL: all), the run when it is empty then, and the files that no run names any more; the ids
 * of those come back, 33 bytes each. HS_ENOTFOUND. */
int hs_catalogue_delete(sqlite3 *db, const char *run, const char *id, char (**files)[33], size_t *n,
                        struct hs_err *err);
/* Removes a file and every trace on it, and runs that are empty then. */
int hs_catalogue_drop_file(sqlite3 *db, const char *id, struct hs_err *err);

/* ---- reading ---- */
int hs_catalogue_runs(sqlite3 *db, struct hs_run_row **out, size_t *n, struct hs_err *err);
/* of run NULL: all; of prefix NULL: all, else the traces whose id begins so. No row is no error. */
int hs_catalogue_traces(sqlite3 *db, const char *run, const char *prefix, struct hs_trace_row **out, size_t *n,
                        struct hs_err *err);
int hs_catalogue_next_rank(sqlite3 *db, const char *run, int64_t *rank, struct hs_err *err);

struct hs_file_row {
    char id[33];
    int64_t bytes_original; /* -1: none */
};
int hs_catalogue_files(sqlite3 *db, struct hs_file_row **out, size_t *n, struct hs_err *err); /* oldest first */

#endif
