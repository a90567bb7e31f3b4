#include "store/catalogue.h"

#include "base/clock.h"
#include "store/db.h"
#include "store/schema.h"

#include <stdlib.h>
#include <string.h>

/* Several processes share the file: write-ahead log, so that readers never wait, and ten seconds of patience for writers.
 * A commit is on the disk when it returns. */
static const char pragmas[] = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON";

int hs_catalogue_open(sqlite3 **out, const char *path, bool read_only, struct hs_err *err)
{
    int flags = read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, old;
    sqlite3 *db;
    int rc = hs_db_open(&db, path, flags | SQLITE_OPEN_NOMUTEX, err);
    if (rc)
        return rc;
    sqlite3_busy_timeout(db, 10000);
    if (!read_only)
        rc = hs_db_exec(db, pragmas, err);
    if (!rc && !read_only)
        rc = hs_schema_migrate(db, HS_SCHEMA_CATALOGUE, err);
    if (!rc && read_only)
        rc = hs_schema_check(db, HS_SCHEMA_CATALOGUE, &old, err);
    if (!rc && read_only && old)
        rc = hs_fail(
            err, HS_EINPUT,
            "the catalogue was written by an older Holoscope: start `holoscope serve` once to bring it up to date");
    if (rc) {
        sqlite3_close(db);
        return hs_err_prefix(err, "%s", path);
    }
    *out = db;
    return HS_OK;
}

int hs_catalogue_begin(sqlite3 *db, struct hs_err *err)
{
    return hs_db_exec(db, "BEGIN IMMEDIATE", err);
}

int hs_catalogue_end(sqlite3 *db, int rc, struct hs_err *err)
{
    if (!rc)
        rc = hs_db_exec(db, "COMMIT", err);
    if (rc)
        hs_db_exec(db, "ROLLBACK", NULL);
    return rc;
}

/* ---- names ---- */

/* Length of the well-formed UTF-8 sequence at p, 0 if there is none; *c is the code point. */
static size_t utf8(const unsigned char *p, size_t n, uint32_t *c)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t len = p[0] < 0x80 ? 1 : p[0] >> 5 == 6 ? 2 : p[0] >> 4 == 14 ? 3 : p[0] >> 3 == 30 ? 4 : 0;
    if (!len || len > n)
        return 0;
    uint32_t v = len == 1 ? p[0] : p[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if (p[i] >> 6 != 2)
            return 0;
        v = v << 6 | (p[i] & 0x3fu);
    }
    *c = v;
    return v < least[len] || v > 0x10ffff || (v >= 0xd800 && v < 0xe000) ? 0 : len;
}

int hs_run_name_check(const char *name, struct hs_err *err)
{
    size_t n = name ? strlen(name) : 0;
    if (n < 1 || n > 200)
        return hs_fail(err, HS_EUSAGE, "the name of a run has 1 to 200 bytes");
    if (!strcmp(name, ".") || !strcmp(name, ".."))
        return hs_fail(err, HS_EUSAGE, "a run cannot be called \"%s\"", name);
    for (size_t i = 0, len; i < n; i += len) {
        uint32_t c = 0;
        len = utf8((const unsigned char *)name + i, n - i, &c);
        if (!len)
            return hs_fail(err, HS_EUSAGE, "the name of a run must be UTF-8 (byte %zu is not)", i);
        if (c < 0x20 || (c >= 0x7f && c < 0xa0) || c == '/')
            return hs_fail(err, HS_EUSAGE, "the name of a run must not hold control characters or '/' (byte %zu)", i);
    }
    return HS_OK;
}

/* ---- small statements ---- */

/* Prepares and binds: 's' char *, 'i' int64_t, 'n' int64_t that is NULL when negative. */
static int prepare(sqlite3 *db, sqlite3_stmt **st, struct hs_err *err, const char *sql, const char *types, ...)
{
    va_list ap;
    int rc = hs_db_prepare(db, st, sql, err);
    if (rc)
        return rc;
    va_start(ap, types);
    for (int i = 1; types[i - 1]; i++) {
        if (types[i - 1] == 's') {
            const char *s = va_arg(ap, const char *);
            sqlite3_bind_text(*st, i, s, -1, SQLITE_TRANSIENT);
        } else {
            int64_t v = va_arg(ap, int64_t);
            if (types[i - 1] == 'i' || v >= 0)
                sqlite3_bind_int64(*st, i, v);
        }
    }
    va_end(ap);
    return HS_OK;
}

static int finish(sqlite3_stmt *st, struct hs_err *err)
{
    int rc = hs_db_run(st, err);
    sqlite3_finalize(st);
    return rc;
}

/* ---- writing ---- */

int hs_catalogue_has_file(sqlite3 *db, const char *id, bool *there, bool *original, struct hs_err *err)
{
    sqlite3_stmt *st;
    int rc = prepare(db, &st, err, "SELECT bytes_original FROM files WHERE id = ?", "s", id);
    if (rc)
        return rc;
    rc = hs_db_step(st, there, err);
    *original = !rc && *there && sqlite3_column_type(st, 0) != SQLITE_NULL;
    sqlite3_finalize(st);
    return rc;
}

int hs_catalogue_has_trace(sqlite3 *db, const char *run, const char *id, bool *there, struct hs_err *err)
{
    sqlite3_stmt *st;
    int rc = prepare(db, &st, err, "SELECT 1 FROM traces t JOIN runs r ON r.id = t.run WHERE r.name = ? AND t.file = ?",
                     "ss", run, id);
    if (rc)
        return rc;
    rc = hs_db_step(st, there, err);
    sqlite3_finalize(st);
    return rc;
}

int hs_catalogue_add_file(sqlite3 *db, const struct hs_trace_row *row, int64_t bytes_original, struct hs_err *err)
{
    sqlite3_stmt *st;
    int rc = prepare(
        db, &st, err,
        "INSERT INTO files (id, bytes_in, bytes_json, bytes_stored, bytes_original, events, quality, created_ns) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        "siiinisi", row->id, row->bytes_in, row->bytes_json, row->bytes_stored, bytes_original, row->events,
        row->quality_json ? row->quality_json : "{}", row->created_ns);
    return rc ? rc : finish(st, err);
}

int hs_catalogue_set_original(sqlite3 *db, const char *id, int64_t bytes, struct hs_err *err)
{
    sqlite3_stmt *st;
    int rc = prepare(db, &st, err, "UPDATE files SET bytes_original = ? WHERE id = ?", "ns", bytes, id);
    return rc ? rc : finish(st, err);
}

int hs_catalogue_add_trace(sqlite3 *db, const struct hs_trace_row *row, struct hs_err *err)
{
    sqlite3_stmt *st;
    int64_t now = row->created_ns;
    int rc = prepare(db, &st, err,
                     "INSERT INTO runs (name, created_ns, updated_ns) VALUES (?1, ?2, ?2) "
                     "ON CONFLICT (name) DO UPDATE SET updated_ns = max(updated_ns, ?2)",
                     "si", row->run, now);
    if (!rc)
        rc = finish(st, err);
    if (!rc)
        rc = prepare(
            db, &st, err,
            "INSERT INTO traces (run, file, name, rank, created_ns) SELECT id, ?, ?, ?, ? FROM runs WHERE name = ?",
            "ssiis", row->id, row->name ? row->name : "", row->rank, now, row->run);
    return rc ? rc : finish(st, err);
}

/* Files that no trace names: their ids out, their rows away. */
static int take_orphans(sqlite3 *db, char (**files)[33], size_t *n, struct hs_err *err)
{
    sqlite3_stmt *st;
    bool row;
    char(*ids)[33] = NULL;
    size_t count = 0;
    int rc = hs_db_prepare(db, &st, "DELETE FROM files WHERE id NOT IN (SELECT file FROM traces) RETURNING id", err);
    if (rc)
        return rc;
    while (!(rc = hs_db_step(st, &row, err)) && row) {
        struct hs_str id = hs_db_str(st, 0);
        ids = hs_realloc_array(ids, count + 1, sizeof *ids);
        memset(ids[count], 0, sizeof ids[count]);
        memcpy(ids[count++], id.p, id.n < 32 ? id.n : 32);
    }
    sqlite3_finalize(st);
    if (rc) {
        free(ids);
        return rc;
    }
    *files = ids;
    *n = count;
    return HS_OK;
}

int hs_catalogue_delete(sqlite3 *db, const char *run, const char *id, char (**files)[33], size_t *n, struct hs_err *err)
{
    sqlite3_stmt *st;
    int rc = prepare(db, &st, err,
                     "DELETE FROM traces WHERE run = (SELECT id FROM runs WHERE name = ?1) AND (?2 = '' OR file = ?2)",
                     "ss", run, id ? id : "");
    if (!rc)
        rc = finish(st, err);
    if (!rc && !sqlite3_changes(db))
        rc = id ? hs_fail(err, HS_ENOTFOUND, "run \"%s\" has no trace %s", run, id)
                : hs_fail(err, HS_ENOTFOUND, "there is no run \"%s\"", run);
    if (!rc)
        rc = hs_db_exec(db, "DELETE FROM runs WHERE id NOT IN (SELECT run FROM traces)", err);
    return rc ? rc : take_orphans(db, files, n, err);
}

int hs_catalogue_drop_file(sqlite3 *db, const char *id, struct hs_err *err)
{
    sqlite3_stmt *st;
    int rc = prepare(db, &st, err, "DELETE FROM traces WHERE file = ?", "s", id);
    if (!rc)
        rc = finish(st, err);
    if (!rc)
        rc = prepare(db, &st, err, "DELETE FROM files WHERE id = ?", "s", id);
    if (!rc)
        rc = finish(st, err);
    return rc ? rc : hs_db_exec(db, "DELETE FROM runs WHERE id NOT IN (SELECT run FROM traces)", err);
}

/* ---- reading ---- */

static char *text(sqlite3_stmt *st, int col)
{
    struct hs_str s = hs_db_str(st, col);
    return hs_strndup(s.p, s.n);
}

int hs_catalogue_runs(sqlite3 *db, struct hs_run_row **out, size_t *n, struct hs_err *err)
{
    sqlite3_stmt *st;
    bool row;
    struct hs_run_row *rows = NULL;
    size_t count = 0;
    int rc = hs_db_prepare(
        db, &st,
        "SELECT r.name, count(*), count(DISTINCT t.rank), sum(f.events), sum(f.bytes_in), sum(f.bytes_stored), "
        "r.created_ns, r.updated_ns FROM runs r JOIN traces t ON t.run = r.id JOIN files f ON f.id = t.file "
        "GROUP BY r.id ORDER BY r.updated_ns DESC, r.name",
        err);
    if (rc)
        return rc;
    while (!(rc = hs_db_step(st, &row, err)) && row) {
        rows = hs_realloc_array(rows, count + 1, sizeof *rows);
        rows[count++] = (struct hs_run_row){text(st, 0),
                                            sqlite3_column_int64(st, 1),
                                            sqlite3_column_int64(st, 2),
                                            sqlite3_column_int64(st, 3),
                                            sqlite3_column_int64(st, 4),
                                            sqlite3_column_int64(st, 5),
                                            sqlite3_column_int64(st, 6),
                                            sqlite3_column_int64(st, 7)};
    }
    sqlite3_finalize(st);
    if (rc) {
        hs_run_rows_free(rows, count);
        return rc;
    }
    *out = rows;
    *n = count;
    return HS_OK;
}

static void read_trace(sqlite3_stmt *st, struct hs_trace_row *r)
{
    struct hs_str id = hs_db_str(st, 0);
    *r = (struct hs_trace_row){.run = text(st, 1),
                               .name = text(st, 2),
                               .rank = sqlite3_column_int64(st, 3),
                               .bytes_in = sqlite3_column_int64(st, 4),
                               .bytes_json = sqlite3_column_int64(st, 5),
                               .bytes_stored = sqlite3_column_int64(st, 6),
                               .events = sqlite3_column_int64(st, 7),
                               .created_ns = sqlite3_column_int64(st, 8),
                               .has_original = sqlite3_column_type(st, 9) != SQLITE_NULL,
                               .quality_json = text(st, 10)};
    memcpy(r->id, id.p, id.n < 32 ? id.n : 32);
}

int hs_catalogue_traces(sqlite3 *db, const char *run, const char *prefix, struct hs_trace_row **out, size_t *n,
                        struct hs_err *err)
{
    sqlite3_stmt *st;
    bool row;
    struct hs_trace_row *rows = NULL;
    size_t count = 0;
    int rc = prepare(
        db, &st, err,
        "SELECT f.id, r.name, t.name, t.rank, f.bytes_in, f.bytes_json, f.bytes_stored, f.events, t.created_ns, "
        "f.bytes_original, f.quality FROM traces t JOIN runs r ON r.id = t.run JOIN files f ON f.id = t.file "
        "WHERE (?1 = '' OR r.name = ?1) AND substr(f.id, 1, length(?2)) = ?2 ORDER BY r.name, t.rank, t.name, f.id",
        "ss", run ? run : "", prefix ? prefix : "");
    if (rc)
        return rc;
    while (!(rc = hs_db_step(st, &row, err)) && row) {
        rows = hs_realloc_array(rows, count + 1, sizeof *rows);
        read_trace(st, &rows[count++]);
    }
    sqlite3_finalize(st);
    if (rc) {
        hs_trace_rows_free(rows, count);
        return rc;
    }
    *out = rows;
    *n = count;
    return HS_OK;
}

int hs_catalogue_next_rank(sqlite3 *db, const char *run, int64_t *rank, struct hs_err *err)
{
    sqlite3_stmt *st;
    bool row;
    int64_t next = 0;
    int rc = prepare(db, &st, err,
                     "SELECT DISTINCT t.rank FROM traces t JOIN runs r ON r.id = t.run WHERE r.name = ? AND t.rank >= "
                     "0 ORDER BY t.rank",
                     "s", run);
    if (rc)
        return rc;
    while (!(rc = hs_db_step(st, &row, err)) && row && sqlite3_column_int64(st, 0) == next)
        next++;
    sqlite3_finalize(st);
    if (!rc)
        *rank = next;
    return rc;
}

int hs_catalogue_files(sqlite3 *db, struct hs_file_row **out, size_t *n, struct hs_err *err)
{
    sqlite3_stmt *st;
    bool row;
    struct hs_file_row *rows = NULL;
    size_t count = 0;
    int rc = hs_db_prepare(db, &st, "SELECT id, coalesce(bytes_original, -1) FROM files ORDER BY created_ns, id", err);
    if (rc)
        return rc;
    while (!(rc = hs_db_step(st, &row, err)) && row) {
        struct hs_str id = hs_db_str(st, 0);
        rows = hs_realloc_array(rows, count + 1, sizeof *rows);
        rows[count] = (struct hs_file_row){{0}, sqlite3_column_int64(st, 1)};
        memcpy(rows[count++].id, id.p, id.n < 32 ? id.n : 32);
    }
    sqlite3_finalize(st);
    if (rc) {
        free(rows);
        return rc;
    }
    *out = rows;
    *n = count;
    return HS_OK;
}
