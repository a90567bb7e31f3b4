/* files: the files of a data directory, and what is left over in it after a crash.
 *
 *   catalogue.db  lock  traces/<id>.db  traces/<id>.orig  traces/<pid>-<n>-<random><suffix>.tmp
 *
 * Whoever has a store open for writing holds a shared flock on `lock`; leftovers are only removed under an exclusive one,
 * which nobody gets while another process may still be writing its .tmp files. */
#ifndef HS_STORE_FILES_H
#define HS_STORE_FILES_H

#include "base/mem.h"

#include <sqlite3.h>

int hs_files_make_dirs(const char *dir, struct hs_err *err);
char *hs_files_path(const char *dir, const char *id, const char *ext); /* "<dir>/traces/<id><ext>"; free() it */
char *hs_files_temp(const char *dir, const char *suffix);
/* Where a file of a trace waits for the catalogue to forget it: a temporary name that tells what it was. */
char *hs_files_deleted(const char *dir, const char *id, const char *ext);
bool hs_files_id_ok(const char *id);                     /* 32 lower-case hex digits */
int64_t hs_files_size(const char *path);                 /* -1: not there */
int hs_files_sync(const char *path, struct hs_err *err); /* of a file, or of a directory for its names */
int hs_files_rename(const char *from, const char *to, struct hs_err *err);

/* Takes the shared lock; *alone tells that nobody else has the store open: the lock is then exclusive until
 * hs_files_share. *fd is closed by the caller, which also gives the lock up. */
int hs_files_lock(const char *dir, int *fd, bool *alone, struct hs_err *err);
int hs_files_share(int fd, struct hs_err *err);

/* Under the exclusive lock, in one transaction of the catalogue:
 * - temporary files of dead processes are removed, and nothing else ever is; one that a deletion put aside goes back if the
 *   catalogue still names its trace;
 * - a trace file that the catalogue does not name is named again, in the run it was imported to, with the original beside
 *   it; one that cannot be read (damaged, of a newer program) is left alone;
 * - a row whose file is gone is forgotten.
 * Each is told in the log. */
int hs_files_recover(const char *dir, sqlite3 *catalogue, struct hs_err *err);

#endif
