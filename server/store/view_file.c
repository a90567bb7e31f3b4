#include "store/view_file.h"

#include "store/db.h"
#include "store/decode.h"
#include "store/schema.h"
#include "store/view_args.h"
#include "store/view_columns.h"
#include "store/view_dict.h"
#include "store/writer.h"

#include <stdlib.h>
#include <string.h>

/* ---- segments ---- */

int hs_view_damaged(const struct hs_view_file *f, struct hs_err *err, const char *what)
{
    return hs_fail(err, HS_EINPUT, "the trace file %.64s is damaged: %s", f->base.id[0] ? f->base.id : f->base.name,
                   what);
}

int hs_view_alloc(struct hs_view_file *f, void **out, size_t n, size_t size, struct hs_err *err)
{
    void *p = calloc(n ? n : 1, size); /* may fail: the number comes from a file */
    if (!p)
        return hs_fail(err, HS_ELIMIT, "not enough memory for a column of %zu rows", n);
    hs_hint_large(p, n * size);
    f->bytes += n * size;
    *out = p;
    return HS_OK;
}

int hs_view_segment_any(struct hs_view_file *f, enum hs_tbl tbl, uint32_t col, uint64_t segment, int64_t *out,
                        size_t *n, struct hs_err *err)
{
    bool row;
    sqlite3_bind_int64(f->get, 1, hs_segment_key(tbl, col, segment));
    int rc = hs_db_step(f->get, &row, err);
    *n = 0;
    if (!rc && row) {
        struct hs_str blob = hs_db_str(f->get, 0);
        int64_t count = hs_decode_count(blob.p, blob.n);
        if (count < 0 || count > HS_SEG_ROWS)
            rc = hs_view_damaged(f, err, "a column has no head");
        else
            rc = hs_decode(blob.p, blob.n, out, (size_t)count, err);
        if (!rc)
            *n = (size_t)count;
    }
    sqlite3_reset(f->get);
    return rc;
}

int hs_view_segment(struct hs_view_file *f, enum hs_tbl tbl, uint32_t col, uint64_t segment, int64_t *out, size_t n,
                    struct hs_err *err)
{
    bool row;
    sqlite3_bind_int64(f->get, 1, hs_segment_key(tbl, col, segment));
    int rc = hs_db_step(f->get, &row, err);
    if (!rc && !row)
        rc = hs_view_damaged(f, err, "a column is missing");
    if (!rc) {
        struct hs_str blob = hs_db_str(f->get, 0);
        rc = hs_decode(blob.p, blob.n, out, n, err);
    }
    sqlite3_reset(f->get);
    return rc;
}

int hs_view_rows(struct hs_view_file *f, enum hs_tbl tbl, size_t *n, struct hs_err *err)
{
    sqlite3_stmt *st;
    bool row;
    int64_t k = 0, total = 0;
    int rc = hs_db_prepare(f->db, &st, "SELECT key, rows FROM segments WHERE key BETWEEN ? AND ? ORDER BY key", err);
    if (rc)
        return rc;
    sqlite3_bind_int64(st, 1, hs_segment_key(tbl, 0, 0));
    sqlite3_bind_int64(st, 2, hs_segment_key(tbl, 0, 0xffffff));
    while (!(rc = hs_db_step(st, &row, err)) && row) {
        int64_t rows = sqlite3_column_int64(st, 1);
        bool whole = total == k * (int64_t)HS_SEG_ROWS;
        if (sqlite3_column_int64(st, 0) != hs_segment_key(tbl, 0, (uint64_t)k++) || rows < 1 || rows > HS_SEG_ROWS ||
            !whole) {
            rc = hs_view_damaged(f, err, "segments do not follow each other");
            break;
        }
        total += rows;
    }
    sqlite3_finalize(st);
    if (!rc)
        *n = (size_t)total;
    return rc;
}

/* ---- open, close ---- */

static const struct hs_view_ops file_ops = {
    .events = hs_file_events,
    .events_at = hs_file_events_at,
    .gpu = hs_file_gpu,
    .launches = hs_file_launches,
    .arg_i64 = hs_file_arg_i64,
    .arg_f64 = hs_file_arg_f64,
    .arg_sym = hs_file_arg_sym,
    .arg_json = hs_file_arg_json,
    .arg_sparse = hs_file_arg_sparse,
    .event_json = hs_file_event_json,
    .reader_new = hs_file_reader_new,
    .reader_json = hs_file_reader_json,
    .reader_free = hs_file_reader_free,
};

int hs_view_of_db(sqlite3 *db, struct hs_view **out, struct hs_err *err)
{
    struct hs_view_file *f = hs_calloc(1, sizeof *f);
    pthread_mutex_init(&f->lock, NULL);
    hs_quality_init(&f->base.quality);
    f->base.ops = &file_ops;
    f->base.name = "";
    f->tmp = hs_calloc(HS_SEG_ROWS, sizeof *f->tmp);
    f->db = db;
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 256 << 20);
    int rc = hs_db_prepare(db, &f->get, "SELECT data FROM segments WHERE key = ?", err);
    if (!rc)
        rc = hs_view_read_dict(f, err);
    if (rc) {
        sqlite3_finalize(f->get);
        f->get = NULL;
        f->db = NULL; /* the caller's still */
        hs_view_close(&f->base);
        return rc;
    }
    *out = &f->base;
    return HS_OK;
}

/* Migrates a file that an older program wrote. */
static int migrate(const char *path, struct hs_err *err)
{
    sqlite3 *db;
    int rc = hs_db_open(&db, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, err);
    if (rc)
        return rc;
    sqlite3_busy_timeout(db, 10000);
    rc = hs_schema_migrate(db, HS_SCHEMA_TRACE, err);
    sqlite3_close(db);
    return rc;
}

static int check_kind(sqlite3 *db, struct hs_err *err)
{
    int64_t kind;
    int rc = hs_db_int(db, "PRAGMA application_id", &kind, err);
    if (!rc && kind != HS_APPLICATION_ID)
        rc = hs_fail(err, HS_EINPUT, "not a trace file of Holoscope (some other SQLite database)");
    return rc;
}

int hs_view_open(const char *path, struct hs_view **out, struct hs_err *err)
{
    sqlite3 *db = NULL;
    int old = 0, rc;
    for (int attempt = 0;; attempt++) {
        rc = hs_db_open(&db, path, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, err);
        if (rc)
            return rc;
        rc = hs_db_exec(db, "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA cache_size = -2048", err);
        if (!rc)
            rc = check_kind(db, err);
        if (!rc)
            rc = hs_schema_check(db, HS_SCHEMA_TRACE, &old, err);
        if (rc || !old || attempt)
            break;
        sqlite3_close(db);
        rc = migrate(path, err);
        if (rc)
            return hs_err_prefix(err, "%s", path);
    }
    if (!rc)
        rc = hs_view_of_db(db, out, err);
    if (rc) {
        sqlite3_close(db);
        hs_err_prefix(err, "%s", path);
    }
    return rc;
}

void hs_view_close(struct hs_view *v)
{
    if (!v)
        return;
    struct hs_view_file *f = hs_view_file(v);
    hs_file_free_columns(f);
    hs_file_free_args(f);
    sqlite3_finalize(f->get);
    sqlite3_close(f->db);
    hs_view_free_dict(f);
    free(f->name);
    free(f->tmp);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

size_t hs_view_bytes(const struct hs_view *v)
{
    return ((const struct hs_view_file *)v)->bytes;
}
