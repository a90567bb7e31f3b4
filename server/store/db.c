#include "store/db.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int hs_db_fail(sqlite3 *db, const char *doing, struct hs_err *err)
{
    int code = sqlite3_errcode(db) & 0xff, status = HS_EINTERNAL, os = sqlite3_system_errno(db);
    if (code == SQLITE_FULL || (code == SQLITE_IOERR && (os == ENOSPC || os == EDQUOT)))
        return hs_fail(err, HS_ENOSPACE, "%s: no space left on the device", doing);
    if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT)
        status = HS_EINPUT;
    if (code == SQLITE_IOERR || code == SQLITE_CANTOPEN)
        return hs_fail(err, status, "%s: %s%s%s", doing, sqlite3_errmsg(db), os ? ": " : "", os ? strerror(os) : "");
    return hs_fail(err, status, "%s: %s", doing, sqlite3_errmsg(db));
}

int hs_db_open(sqlite3 **out, const char *path, int flags, struct hs_err *err)
{
    return hs_db_open_vfs(out, path, flags, NULL, err);
}

int hs_db_open_vfs(sqlite3 **out, const char *path, int flags, const char *vfs, struct hs_err *err)
{
    sqlite3 *db = NULL;
    if (!(flags & (SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY)) && access(path, F_OK))
        return hs_fail_errno(err, errno == ENOENT ? HS_ENOTFOUND : HS_EINTERNAL, "%s", path);
    if (sqlite3_open_v2(path, &db, flags, vfs) != SQLITE_OK) {
        bool gone = !(flags & (SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY)) && access(path, F_OK) && errno == ENOENT;
        int rc = gone ? hs_fail(err, HS_ENOTFOUND, "%s: it was removed a moment ago", path)
                 : db ? hs_db_fail(db, path, err)
                      : hs_fail(err, HS_EINTERNAL, "%s: out of memory", path);
        sqlite3_close(db);
        return rc;
    }
    sqlite3_extended_result_codes(db, 1);
    *out = db;
    return HS_OK;
}

int hs_db_exec(sqlite3 *db, const char *sql, struct hs_err *err)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? HS_OK : hs_db_fail(db, "database", err);
}

int hs_db_prepare(sqlite3 *db, sqlite3_stmt **out, const char *sql, struct hs_err *err)
{
    return sqlite3_prepare_v2(db, sql, -1, out, NULL) == SQLITE_OK ? HS_OK : hs_db_fail(db, "database", err);
}

int hs_db_step(sqlite3_stmt *st, bool *row, struct hs_err *err)
{
    int rc = sqlite3_step(st);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        return hs_db_fail(sqlite3_db_handle(st), "database", err);
    *row = rc == SQLITE_ROW;
    return HS_OK;
}

int hs_db_run(sqlite3_stmt *st, struct hs_err *err)
{
    bool row;
    int rc = hs_db_step(st, &row, err);
    sqlite3_reset(st);
    return rc;
}

int hs_db_int(sqlite3 *db, const char *sql, int64_t *out, struct hs_err *err)
{
    sqlite3_stmt *st;
    bool row = false;
    int rc = hs_db_prepare(db, &st, sql, err);
    if (rc)
        return rc;
    rc = hs_db_step(st, &row, err);
    if (!rc && !row)
        rc = hs_fail(err, HS_ENOTFOUND, "database: no row");
    if (!rc)
        *out = sqlite3_column_int64(st, 0);
    sqlite3_finalize(st);
    return rc;
}

void hs_db_bind_str(sqlite3_stmt *st, int i, struct hs_str s)
{
    sqlite3_bind_text64(st, i, s.n ? s.p : "", s.n, SQLITE_TRANSIENT, SQLITE_UTF8);
}

struct hs_str hs_db_str(sqlite3_stmt *st, int column)
{
    const void *p = sqlite3_column_blob(st, column);
    int n = sqlite3_column_bytes(st, column);
    return p && n > 0 ? hs_str(p, (size_t)n) : hs_str("", 0);
}
