#include "store/store.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "store/catalogue.h"
#include "store/files.h"
#include "store/room.h"
#include "store/run.h"
#include "store/views.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#define VIEW_BYTES (512u << 20)
#define VIEWS_OPEN 256 /* unpinned views that stay open: each holds a file handle */

struct hs_store {
    char *dir;
    pthread_mutex_t lock; /* the catalogue's handle */
    sqlite3 *db;
    struct hs_views *views; /* has a lock of its own; never taken while `lock` is held the other way round */
    int lock_fd;            /* -1: read only */
    bool keep_original;
};

/* ---- open, close ---- */

static int open_catalogue(struct hs_store *s, bool read_only, struct hs_err *err)
{
    bool alone = false;
    char *path = hs_asprintf("%s/catalogue.db", s->dir);
    int rc = HS_OK;
    if (!read_only) {
        rc = hs_files_make_dirs(s->dir, err);
        if (!rc)
            rc = hs_files_lock(s->dir, &s->lock_fd, &alone, err);
    }
    if (!rc)
        rc = hs_catalogue_open(&s->db, path, read_only, err);
    if (rc == HS_ENOTFOUND)
        rc = hs_fail(err, HS_ENOTFOUND, "%s holds no store (there is no catalogue.db)", s->dir);
    if (!rc && alone)
        rc = hs_files_recover(s->dir, s->db, err);
    if (!rc && alone)
        rc = hs_files_share(s->lock_fd, err);
    free(path);
    return rc;
}

static int64_t make_room(void *store, int64_t bytes)
{
    return hs_store_reclaim(store, bytes);
}

int hs_store_open(struct hs_store **out, const struct hs_store_options *o, struct hs_err *err)
{
    struct hs_store *s = hs_calloc(1, sizeof *s);
    s->dir = hs_strdup(o->dir);
    s->lock_fd = -1;
    s->keep_original = o->keep_original;
    pthread_mutex_init(&s->lock, NULL);
    s->views = hs_views_new(o->view_bytes ? o->view_bytes : VIEW_BYTES, VIEWS_OPEN);
    int rc = open_catalogue(s, o->read_only, err);
    if (rc) {
        hs_store_close(s);
        return rc;
    }
    if (!o->read_only)
        hs_room_add(s->dir, make_room, s);
    *out = s;
    return HS_OK;
}

void hs_store_close(struct hs_store *s)
{
    if (!s)
        return;
    hs_room_remove(s); /* waits for who is making room */
    hs_views_free(s->views);
    sqlite3_close(s->db);
    if (s->lock_fd >= 0)
        close(s->lock_fd);
    pthread_mutex_destroy(&s->lock);
    free(s->dir);
    free(s);
}

/* ---- writing ---- */

char *hs_store_temp_path(struct hs_store *s, const char *suffix)
{
    return hs_files_temp(s->dir, suffix);
}

static int need_writable(const struct hs_store *s, struct hs_err *err)
{
    return s->lock_fd >= 0 ? HS_OK : hs_fail(err, HS_EINTERNAL, "the store %s is open for reading only", s->dir);
}

/* What commit has moved into place so far, to be taken back if the catalogue cannot name it. */
struct placed {
    char *db, *original;
    bool has_db, has_original;
};

/* Both files are on the disk before a name points to them, and the names before the catalogue does. */
static int place(struct hs_store *s, struct placed *p, const char *temp_db, const char *temp_original,
                 struct hs_err *err)
{
    char *traces = hs_asprintf("%s/traces", s->dir);
    int rc = HS_OK;
    if (temp_db) {
        rc = hs_files_rename(temp_db, p->db, err);
        p->has_db = !rc;
    }
    if (!rc && temp_original) {
        rc = hs_files_sync(temp_original, err);
        if (!rc)
            rc = hs_files_rename(temp_original, p->original, err);
        p->has_original = !rc;
    }
    if (!rc && (p->has_db || p->has_original))
        rc = hs_files_sync(traces, err);
    free(traces);
    return rc;
}

static int commit_rows(struct hs_store *s, const struct hs_trace_row *row, const char *temp_db,
                       const char *temp_original, struct placed *p, bool *existed, struct hs_err *err)
{
    bool file = false, original = false;
    int64_t bytes_original = temp_original ? hs_files_size(temp_original) : -1;
    if (bytes_original < 0) /* its writer gave it up for want of room */
        temp_original = NULL;
    struct hs_trace_row r = *row;
    int rc = hs_catalogue_has_trace(s->db, row->run, row->id, existed, err);
    if (!rc)
        rc = hs_catalogue_has_file(s->db, row->id, &file, &original, err);
    bool present = file && hs_files_size(p->db) >= 0;
    if (rc || (*existed && present))
        return rc;
    r.bytes_stored = hs_files_size(temp_db);
    r.created_ns = row->created_ns ? row->created_ns : hs_unix_ns();
    rc = place(s, p, present ? NULL : temp_db, original ? NULL : temp_original, err);
    if (!rc && !file)
        rc = hs_catalogue_add_file(s->db, &r, bytes_original, err);
    else if (!rc && p->has_original)
        rc = hs_catalogue_set_original(s->db, r.id, bytes_original, err);
    if (!rc && !*existed)
        rc = hs_catalogue_add_trace(s->db, &r, err);
    return rc;
}

static int try_commit(struct hs_store *s, const struct hs_trace_row *row, const char *temp_db,
                      const char *temp_original, bool *existed, struct hs_err *err)
{
    struct placed p = {hs_files_path(s->dir, row->id, ".db"), hs_files_path(s->dir, row->id, ".orig"), false, false};
    pthread_mutex_lock(&s->lock);
    int rc = hs_catalogue_begin(s->db, err);
    if (!rc) {
        rc = commit_rows(s, row, temp_db, temp_original, &p, existed, err);
        rc = hs_catalogue_end(s->db, rc, err);
    }
    /* Back under their temporary names, so that the caller may try again. */
    if (rc && p.has_db)
        hs_files_rename(p.db, temp_db, NULL);
    if (rc && p.has_original)
        hs_files_rename(p.original, temp_original, NULL);
    pthread_mutex_unlock(&s->lock);
    free(p.db);
    free(p.original);
    return rc;
}

int hs_store_commit(struct hs_store *s, const struct hs_trace_row *row, const char *temp_db, const char *temp_original,
                    bool *existed, struct hs_err *err)
{
    bool there = false;
    int rc = need_writable(s, err);
    if (!rc)
        rc = hs_run_name_check(row->run, err);
    if (!rc && !hs_files_id_ok(row->id))
        rc = hs_fail(err, HS_EINTERNAL, "\"%s\" is no trace id", row->id);
    if (!rc) {
        rc = try_commit(s, row, temp_db, temp_original, &there, err);
        if (rc == HS_ENOSPACE && hs_store_reclaim(s, 16 << 20) > 0)
            rc = try_commit(s, row, temp_db, temp_original, &there, err);
    }
    unlink(temp_db); /* what was not moved into place is not needed */
    if (temp_original)
        unlink(temp_original);
    if (!rc && existed)
        *existed = there;
    return rc;
}

/* Files go under a temporary name first, for good once the catalogue has forgotten them, back if it could not. Another
 * process that commits the same trace meanwhile waits for the catalogue. */
static int delete_traces(struct hs_store *s, const char *run, const char *id, struct hs_err *err)
{
    static const char *const exts[] = {".db", ".orig"};
    char(*ids)[33] = NULL;
    size_t n = 0;
    int rc = need_writable(s, err);
    if (rc)
        return rc;
    pthread_mutex_lock(&s->lock);
    rc = hs_catalogue_begin(s->db, err);
    if (!rc) {
        rc = hs_catalogue_delete(s->db, run, id, &ids, &n, err);
        char **temp = hs_calloc(2 * n, sizeof *temp);
        for (size_t i = 0; !rc && i < 2 * n; i++) {
            char *path = hs_files_path(s->dir, ids[i / 2], exts[i % 2]);
            temp[i] = hs_files_deleted(s->dir, ids[i / 2], exts[i % 2]);
            rename(path, temp[i]); /* there may be no original */
            free(path);
        }
        rc = hs_catalogue_end(s->db, rc, err);
        for (size_t i = 0; i < 2 * n && temp[i]; i++) {
            char *path = hs_files_path(s->dir, ids[i / 2], exts[i % 2]);
            if (rc)
                rename(temp[i], path);
            else
                unlink(temp[i]);
            free(path);
            free(temp[i]);
        }
        free(temp);
    }
    pthread_mutex_unlock(&s->lock);
    for (size_t i = 0; !rc && i < n; i++)
        hs_views_forget(s->views, ids[i]);
    free(ids);
    return rc;
}

int hs_store_delete_run(struct hs_store *s, const char *run, struct hs_err *err)
{
    return delete_traces(s, run, NULL, err);
}

int hs_store_delete_trace(struct hs_store *s, const char *run, const char *id, struct hs_err *err)
{
    return delete_traces(s, run, id, err);
}

int64_t hs_store_reclaim(struct hs_store *s, int64_t bytes)
{
    struct hs_file_row *rows = NULL;
    size_t n = 0;
    int64_t freed = 0;
    pthread_mutex_lock(&s->lock);
    if (s->lock_fd >= 0 && hs_catalogue_files(s->db, &rows, &n, NULL))
        n = 0;
    for (size_t i = 0; i < n && freed < bytes; i++) {
        if (rows[i].bytes_original < 0)
            continue;
        char *path = hs_files_path(s->dir, rows[i].id, ".orig");
        int64_t size = hs_files_size(path);
        /* The file first: the catalogue may itself be what has no room. Recovery mends it if we die in between. */
        if (!unlink(path)) {
            freed += size > 0 ? size : 0;
            hs_log(HS_LOG_WARN, "no space left: removed an original", " trace=%s bytes=%lld", rows[i].id,
                   (long long)size);
            hs_catalogue_set_original(s->db, rows[i].id, -1, NULL);
        }
        free(path);
    }
    pthread_mutex_unlock(&s->lock);
    free(rows);
    return freed;
}

/* ---- reading ---- */

void hs_run_rows_free(struct hs_run_row *r, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(r[i].name);
    free(r);
}

void hs_trace_row_clear(struct hs_trace_row *r)
{
    free(r->run);
    free(r->name);
    free(r->quality_json);
}

void hs_trace_rows_free(struct hs_trace_row *r, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hs_trace_row_clear(&r[i]);
    free(r);
}

char *hs_store_quality_json(const struct hs_quality *q)
{
    struct hs_buf b = HS_BUF_INIT(1 << 16);
    struct hs_json j = HS_JSON_INIT(&b);
    hs_json_obj(&j);
    for (int k = 0; k < HS_QUALITY_KINDS; k++)
        if (q->count[k]) {
            hs_json_key(&j, hs_quality_infos[k].name);
            hs_json_i64(&j, q->count[k]);
        }
    hs_json_end(&j);
    return b.p; /* a malloc'd text */
}

int hs_store_runs(struct hs_store *s, struct hs_run_row **out, size_t *n, struct hs_err *err)
{
    pthread_mutex_lock(&s->lock);
    int rc = hs_catalogue_runs(s->db, out, n, err);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

int hs_store_traces(struct hs_store *s, const char *run, struct hs_trace_row **out, size_t *n, struct hs_err *err)
{
    struct hs_trace_row *rows = NULL;
    size_t count = 0;
    int rc = HS_OK;
    pthread_mutex_lock(&s->lock);
    if (!run || *run)
        rc = hs_catalogue_traces(s->db, run, NULL, &rows, &count, err);
    pthread_mutex_unlock(&s->lock);
    if (!rc && run && !count)
        rc = hs_fail(err, HS_ENOTFOUND, "there is no run \"%s\"", run);
    if (rc)
        return rc;
    *out = rows;
    *n = count;
    return HS_OK;
}

int hs_store_find(struct hs_store *s, const char *id_prefix, struct hs_trace_row *out, struct hs_err *err)
{
    struct hs_trace_row *rows = NULL;
    size_t n = 0, len = strlen(id_prefix);
    if (len < 6 || len > 32 || strspn(id_prefix, "0123456789abcdef") != len)
        return hs_fail(err, HS_ENOTFOUND, "\"%s\" is no trace id: those are 6 to 32 hex digits, lower case", id_prefix);
    pthread_mutex_lock(&s->lock);
    int rc = hs_catalogue_traces(s->db, NULL, id_prefix, &rows, &n, err);
    pthread_mutex_unlock(&s->lock);
    if (!rc && !n)
        rc = hs_fail(err, HS_ENOTFOUND, "there is no trace %s", id_prefix);
    for (size_t i = 1; !rc && i < n; i++)
        if (strcmp(rows[i].id, rows[0].id))
            rc = hs_fail(err, HS_EUSAGE, "several traces begin with %s: give more digits", id_prefix);
    if (!rc) {
        *out = rows[0];
        memset(&rows[0], 0, sizeof rows[0]);
    }
    hs_trace_rows_free(rows, n);
    return rc;
}

int hs_store_next_rank(struct hs_store *s, const char *run, int64_t *rank, struct hs_err *err)
{
    pthread_mutex_lock(&s->lock);
    int rc = hs_catalogue_next_rank(s->db, run, rank, err);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

char *hs_store_original_path(struct hs_store *s, const char *id)
{
    bool there = false, original = false;
    pthread_mutex_lock(&s->lock);
    int rc = hs_catalogue_has_file(s->db, id, &there, &original, NULL);
    pthread_mutex_unlock(&s->lock);
    if (rc || !original)
        return NULL;
    char *path = hs_files_path(s->dir, id, ".orig");
    if (hs_files_size(path) >= 0)
        return path;
    free(path);
    return NULL;
}

/* ---- views ---- */

/* No row names the trace any more: it was deleted while somebody was about to read it. */
static bool is_forgotten(struct hs_store *s, const char *id)
{
    bool there = false, original = false;
    pthread_mutex_lock(&s->lock);
    int rc = hs_catalogue_has_file(s->db, id, &there, &original, NULL);
    pthread_mutex_unlock(&s->lock);
    return !rc && !there;
}

/* Between the look into the catalogue and the opening a deletion may take the file away (and for a moment before the
 * catalogue forgets it): whatever the opening then says, the trace is not there. */
int hs_store_pin_trace(struct hs_store *s, const char *id, struct hs_view **out, struct hs_err *err)
{
    struct hs_trace_row row;
    int rc = hs_store_find(s, id, &row, err);
    if (rc)
        return rc;
    char *path = hs_files_path(s->dir, row.id, ".db");
    rc = hs_views_pin(s->views, row.id, path, out, err);
    if (rc && is_forgotten(s, row.id))
        rc = hs_fail(err, HS_ENOTFOUND, "there is no trace %s (any more)", row.id);
    hs_trace_row_clear(&row);
    free(path);
    return rc;
}

void hs_store_unpin_trace(struct hs_store *s, struct hs_view *v)
{
    hs_views_unpin(s->views, v);
}

static int pin_run_once(struct hs_store *s, const char *run, struct hs_run **out, struct hs_err *err)
{
    struct hs_trace_row *rows = NULL;
    size_t n = 0, pinned = 0;
    int rc = hs_store_traces(s, run, &rows, &n, err);
    if (rc)
        return rc;
    struct hs_run_member *m = hs_calloc(n, sizeof *m);
    for (; !rc && pinned < n; pinned += !rc) {
        struct hs_trace_row *r = &rows[pinned];
        m[pinned] = (struct hs_run_member){NULL, r->rank, r->name};
        rc = hs_store_pin_trace(s, r->id, &m[pinned].view, err);
        if (rc)
            hs_err_prefix(err, "trace %s (%s, rank %lld)", r->id, r->name, (long long)r->rank);
    }
    if (!rc)
        *out = hs_run_make(run, m, n);
    for (size_t i = 0; rc && i < pinned; i++)
        hs_views_unpin(s->views, m[i].view);
    free(m);
    hs_trace_rows_free(rows, n);
    return rc;
}

/* A trace of the run may be deleted while the others are opened; the run is then what is left of it. */
int hs_store_pin_run(struct hs_store *s, const char *run, struct hs_run **out, struct hs_err *err)
{
    int rc = pin_run_once(s, run, out, err);
    for (int again = 0; rc == HS_ENOTFOUND && again < 8; again++)
        rc = pin_run_once(s, run, out, err);
    return rc;
}

void hs_store_unpin_run(struct hs_store *s, struct hs_run *run)
{
    if (!run)
        return;
    for (size_t i = 0; i < run->n; i++)
        hs_views_unpin(s->views, run->ranks[i].view);
    hs_run_free(run);
}

int hs_store_run_hash(struct hs_store *s, const char *run, char out[33], struct hs_err *err)
{
    struct hs_trace_row *rows;
    struct hs_buf b = HS_BUF_INIT(SIZE_MAX / 4);
    size_t n;
    int rc = hs_store_traces(s, run, &rows, &n, err);
    if (rc)
        return rc;
    hs_buf_put(&b, run, strlen(run) + 1);
    for (size_t i = 0; i < n; i++) {
        hs_buf_printf(&b, "%s %lld ", rows[i].id, (long long)rows[i].rank);
        hs_buf_put(&b, rows[i].name, strlen(rows[i].name) + 1);
    }
    XXH128_hash_t h = XXH3_128bits(b.p, b.n);
    snprintf(out, 33, "%016llx%016llx", (unsigned long long)h.high64, (unsigned long long)h.low64);
    hs_buf_free(&b);
    hs_trace_rows_free(rows, n);
    return HS_OK;
}
