#include "store/writer.h"

#include "store/column_jobs.h"
#include "store/db.h"
#include "store/encode.h"
#include "store/fill.h"
#include "store/layout.h"
#include "store/room.h"
#include "store/schema.h"
#include "store/view_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

struct hs_writer {
    sqlite3 *db;
    sqlite3_stmt *put;
    char *path; /* NULL: in memory */
    struct hs_encoder *enc;
    struct hs_buf blob;
    struct hs_column_jobs *jobs; /* while finishing */
    uint64_t events;             /* written so far */
    bool finished;
    int64_t v[HS_SEG_ROWS]; /* one column of one segment, widened */
};

/* The file has no readers and no value before it is finished, so it needs no journal; it is synced once, at the end.
 * Pages of 4 KiB: columns are a few to tens of KiB, and larger pages would leave more of their last page empty. */
static const char pragmas[] = "PRAGMA page_size = 4096; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                              "PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -4096; PRAGMA temp_store = MEMORY;";

int hs_writer_new(struct hs_writer **out, const char *path, struct hs_err *err)
{
    struct hs_writer *w = hs_calloc(1, sizeof *w);
    w->blob = (struct hs_buf)HS_BUF_INIT(HS_SEG_ROWS * 32u);
    w->enc = hs_encoder_new();
    w->path = path ? hs_strdup(path) : NULL;
    int rc = hs_db_open_vfs(&w->db, path ? path : ":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                            path ? hs_room_vfs() : NULL, err);
    if (!rc)
        rc = hs_db_exec(w->db, pragmas, err);
    if (!rc)
        rc = hs_schema_migrate(w->db, HS_SCHEMA_TRACE, err);
    if (!rc)
        rc = hs_db_exec(w->db, "BEGIN EXCLUSIVE", err);
    if (!rc)
        rc = hs_db_prepare(w->db, &w->put, "INSERT INTO segments VALUES (?, ?, ?, ?, ?)", err);
    if (rc) {
        hs_writer_free(w);
        return rc;
    }
    *out = w;
    return HS_OK;
}

static void close_db(struct hs_writer *w)
{
    sqlite3_finalize(w->put);
    sqlite3_close(w->db);
    w->put = NULL;
    w->db = NULL;
}

void hs_writer_free(struct hs_writer *w)
{
    if (!w)
        return;
    close_db(w);
    if (w->path && !w->finished)
        unlink(w->path);
    hs_encoder_free(w->enc);
    hs_column_jobs_free(w->jobs);
    hs_buf_free(&w->blob);
    free(w->path);
    free(w);
}

/* ---- columns ---- */

static int put_blob(struct hs_writer *w, enum hs_tbl tbl, uint32_t col, uint64_t segment, size_t n,
                    const struct hs_buf *blob, int64_t min, int64_t max, struct hs_err *err)
{
    int rc = hs_buf_check(blob, "a column", err);
    if (rc)
        return rc;
    sqlite3_bind_int64(w->put, 1, hs_segment_key(tbl, col, segment));
    sqlite3_bind_int64(w->put, 2, (int64_t)n);
    if (min == HS_NO_VALUE) {
        sqlite3_bind_null(w->put, 3);
        sqlite3_bind_null(w->put, 4);
    } else {
        sqlite3_bind_int64(w->put, 3, min);
        sqlite3_bind_int64(w->put, 4, max);
    }
    sqlite3_bind_blob64(w->put, 5, blob->p, blob->n, SQLITE_STATIC);
    return hs_db_run(w->put, err);
}

static int put_column(struct hs_writer *w, enum hs_tbl tbl, uint32_t col, uint64_t segment, const int64_t *v, size_t n,
                      struct hs_err *err)
{
    int64_t min, max;
    hs_buf_clear(&w->blob);
    hs_encode(w->enc, v, n, &w->blob, &min, &max);
    return put_blob(w, tbl, col, segment, n, &w->blob, min, max, err);
}

/* Widens an array of another type into w->v and puts it. */
#define PUT_WIDENED(w, tbl, col, segment, array, n, err)              \
    __extension__({                                                   \
        for (size_t i_ = 0; i_ < (n); i_++)                           \
            (w)->v[i_] = (array)[i_];                                 \
        put_column((w), (tbl), (col), (segment), (w)->v, (n), (err)); \
    })

static int put_args(struct hs_writer *w, uint32_t col, uint64_t segment, const struct hs_stream *s, struct hs_err *err)
{
    uint32_t part = 0;
    for (uint32_t at = 0; at < s->n; at += HS_SEG_ROWS, part++) {
        if (part == HS_ARG_PARTS)
            return hs_fail(err, HS_ELIMIT, "more than %u values of one argument in %u events", at, HS_SEG_ROWS);
        uint32_t n = s->n - at < HS_SEG_ROWS ? s->n - at : HS_SEG_ROWS;
        int rc = put_column(w, HS_TBL_ARGS, col, hs_arg_segment(segment, part), s->v + at, n, err);
        if (rc)
            return rc;
    }
    return HS_OK;
}

int hs_writer_segment(struct hs_writer *w, const struct hs_segment *s, struct hs_err *err)
{
    uint64_t k = s->first / HS_SEG_ROWS;
    if (s->first != w->events || s->first % HS_SEG_ROWS || !s->rows || s->rows > HS_SEG_ROWS)
        return hs_fail(err, HS_EINTERNAL, "segments out of order: event %llu after %llu", (unsigned long long)s->first,
                       (unsigned long long)w->events);
    int rc = put_column(w, HS_TBL_EVENTS, HS_COL_TS, k, s->ts, s->rows, err);
    if (!rc)
        rc = put_column(w, HS_TBL_EVENTS, HS_COL_DUR, k, s->dur, s->rows, err);
    if (!rc)
        rc = PUT_WIDENED(w, HS_TBL_EVENTS, HS_COL_NAME, k, s->name, s->rows, err);
    if (!rc)
        rc = PUT_WIDENED(w, HS_TBL_EVENTS, HS_COL_CAT, k, s->cat, s->rows, err);
    if (!rc)
        rc = PUT_WIDENED(w, HS_TBL_EVENTS, HS_COL_LANE, k, s->lane, s->rows, err);
    if (!rc)
        rc = PUT_WIDENED(w, HS_TBL_EVENTS, HS_COL_PH, k, s->ph, s->rows, err);
    if (!rc)
        rc = PUT_WIDENED(w, HS_TBL_EVENTS, HS_COL_SHAPE, k, s->shape, s->rows, err);
    if (!rc)
        rc = PUT_WIDENED(w, HS_TBL_EVENTS, HS_COL_DIGITS, k, s->digits, s->rows, err);
    for (uint32_t c = 0; !rc && c < s->nargs; c++)
        rc = put_args(w, c, k, &s->args[c], err);
    if (!rc)
        w->events += s->rows;
    return rc;
}

/* ---- tables: rows in memory, written by column ---- */

static int flush_jobs(struct hs_writer *w, struct hs_err *err)
{
    struct hs_column_jobs *j = w->jobs;
    int rc = HS_OK;
    hs_column_jobs_run(j);
    for (size_t i = 0; !rc && i < j->n; i++) {
        const struct hs_column_job *b = &j->job[i];
        rc = put_blob(w, b->tbl, b->col, b->segment, b->n, &b->blob, b->min, b->max, err);
    }
    j->n = 0;
    return rc;
}

/* Columns `first` to `end` of n rows. Segment by segment, so that the rows are still in the cache when the next column asks
 * for them. What was added last is encoded by the next flush. */
static int add_table(struct hs_writer *w, enum hs_tbl tbl, unsigned first, unsigned end, const void *rows, size_t n,
                     hs_fill_fn *fill, struct hs_err *err)
{
    for (size_t at = 0, k = 0; at < n; at += HS_SEG_ROWS, k++)
        for (unsigned c = first; c < end; c++) {
            int rc = w->jobs->n == HS_JOBS ? flush_jobs(w, err) : HS_OK;
            if (rc)
                return rc;
            hs_column_jobs_add(w->jobs, tbl, c, k, rows, at, n - at < HS_SEG_ROWS ? n - at : HS_SEG_ROWS, fill);
        }
    return HS_OK;
}

/* ---- dictionaries ---- */

/* The file keeps shapes as counts of fields, which stand one behind the other in the order of the shapes. */
static int put_shapes(struct hs_writer *w, const struct hs_trace *t, struct hs_err *err)
{
    struct hs_field *f = hs_malloc((t->fields.n + 1) * sizeof *f);
    size_t n = 0, room = t->fields.n;
    int rc = HS_OK;
    for (size_t i = 0; i < t->shapes.n; i++) {
        struct hs_shape s = t->shapes.p[i];
        if (s.count > room - n) { /* shapes that share fields: does not happen with ingest, but is allowed */
            room = room * 2 + s.count;
            f = hs_realloc_array(f, room + 1, sizeof *f);
        }
        for (uint32_t k = 0; k < s.count; k++)
            f[n++] = t->fields.p[s.first + k];
    }
    rc = add_table(w, HS_TBL_SHAPES, 0, 1, t->shapes.p, t->shapes.n, hs_fill_shapes, err);
    if (!rc)
        rc = add_table(w, HS_TBL_FIELDS, 0, 4, f, n, hs_fill_fields, err);
    if (!rc)
        rc = flush_jobs(w, err); /* they refer to f */
    free(f);
    return rc;
}

static int put_lanes(struct hs_writer *w, const struct hs_trace *t, struct hs_err *err)
{
    struct hs_lane_info *lanes = hs_calloc(t->lanes.n, sizeof *lanes);
    for (size_t i = 0; i < t->lanes.n; i++) {
        lanes[i].pid = t->lanes.p[i].pid;
        lanes[i].tid = t->lanes.p[i].tid;
    }
    for (size_t i = 0; i < t->lane_names.n; i++) {
        struct hs_lane_name n = t->lane_names.p[i];
        if (n.lane < t->lanes.n) {
            lanes[n.lane].process = n.process;
            lanes[n.lane].labels = n.labels;
            lanes[n.lane].thread = n.thread;
        }
    }
    int rc = add_table(w, HS_TBL_LANES, 0, 7, lanes, t->lanes.n, hs_fill_lanes, err);
    if (!rc)
        rc = flush_jobs(w, err); /* they refer to lanes */
    free(lanes);
    return rc;
}

static int put_symbol_chunk(struct hs_writer *w, sqlite3_stmt *st, const struct hs_intern *syms, size_t first, size_t n,
                            size_t bytes, struct hs_err *err)
{
    int64_t min, max;
    uLongf packed = compressBound(bytes);
    char *text = hs_malloc(bytes), *zip = hs_malloc(packed), *p = text;
    for (size_t i = 0; i < n; i++) {
        struct hs_str s = syms->p[first + i];
        w->v[i] = (int64_t)s.n;
        if (s.n)
            p = (char *)memcpy(p, s.p, s.n) + s.n;
    }
    hs_buf_clear(&w->blob);
    hs_encode(w->enc, w->v, n, &w->blob, &min, &max);
    int rc = hs_buf_check(&w->blob, "a column", err);
    if (!rc && compress2((Bytef *)zip, &packed, (const Bytef *)text, bytes, 1) != Z_OK)
        rc = hs_fail(err, HS_EINTERNAL, "zlib could not compress %zu bytes of names", bytes);
    if (!rc) {
        sqlite3_bind_int64(st, 1, (int64_t)first);
        sqlite3_bind_int64(st, 2, (int64_t)n);
        sqlite3_bind_int64(st, 3, (int64_t)bytes);
        sqlite3_bind_blob64(st, 4, w->blob.p, w->blob.n, SQLITE_STATIC);
        sqlite3_bind_blob64(st, 5, zip, packed, SQLITE_STATIC);
        rc = hs_db_run(st, err);
        sqlite3_clear_bindings(st);
    }
    free(text);
    free(zip);
    return rc;
}

static int put_symbols(struct hs_writer *w, const struct hs_intern *syms, struct hs_err *err)
{
    sqlite3_stmt *st;
    int rc = hs_db_prepare(w->db, &st, "INSERT INTO symbols VALUES (?, ?, ?, ?, ?)", err);
    for (size_t first = 0, n, bytes; !rc && first < syms->n; first += n) {
        for (n = 0, bytes = 0; first + n < syms->n && n < HS_SEG_ROWS && bytes < HS_SYMBOL_CHUNK; n++)
            bytes += syms->p[first + n].n;
        rc = put_symbol_chunk(w, st, syms, first, n, bytes, err);
    }
    sqlite3_finalize(st);
    return rc;
}

/* ---- rows of text and numbers ---- */

static int put_pair(sqlite3_stmt *st, const char *key, const char *text, int64_t v, struct hs_err *err)
{
    sqlite3_bind_text(st, 1, key, -1, SQLITE_STATIC);
    if (text)
        sqlite3_bind_text(st, 2, text, -1, SQLITE_STATIC);
    else
        sqlite3_bind_int64(st, 2, v);
    return hs_db_run(st, err);
}

static int put_meta(struct hs_writer *w, const struct hs_trace *t, const struct hs_trace_info *info, struct hs_err *err)
{
    const struct {
        const char *key, *text;
        int64_t v;
    } rows[] = {
        {"id", info->id, 0},
        {"name", info->name ? info->name : "", 0},
        {"rank", NULL, info->rank},
        {"world_size", NULL, t->world_size},
        {"hta_rank", NULL, t->hta_rank},
        {"has_base", NULL, t->has_base},
        {"base_ns", NULL, t->base_ns},
        {"bare_array", NULL, t->bare_array},
        {"has_events_key", NULL, t->has_events_key},
        {"events", NULL, (int64_t)t->events},
        {"bytes_in", NULL, (int64_t)t->bytes_in},
        {"bytes_json", NULL, (int64_t)t->bytes_json},
        {"syms", NULL, (int64_t)t->syms.n},
    };
    sqlite3_stmt *st;
    int rc = hs_db_prepare(w->db, &st, "INSERT INTO meta VALUES (?, ?)", err);
    for (size_t i = 0; !rc && i < sizeof rows / sizeof rows[0]; i++)
        rc = put_pair(st, rows[i].key, rows[i].text, rows[i].v, err);
    if (!rc && info->run)
        rc = put_pair(st, "run", info->run, 0, err);
    sqlite3_finalize(st);
    return rc;
}

static int put_summary(struct hs_writer *w, const struct hs_summary *s, struct hs_err *err)
{
#define ROW(member) {#member, s->member},
    const struct {
        const char *key;
        int64_t v;
    } rows[] = {HS_SUMMARY_MEMBERS(ROW)};
#undef ROW
    sqlite3_stmt *st;
    int rc = hs_db_prepare(w->db, &st, "INSERT INTO summary VALUES (?, ?)", err);
    for (size_t i = 0; !rc && i < sizeof rows / sizeof rows[0]; i++)
        rc = put_pair(st, rows[i].key, NULL, rows[i].v, err);
    sqlite3_finalize(st);
    return rc;
}

static int put_quality(struct hs_writer *w, const struct hs_quality *q, struct hs_err *err)
{
    sqlite3_stmt *st;
    int rc = hs_db_prepare(w->db, &st, "INSERT INTO quality VALUES (?, ?, ?)", err);
    for (int i = 0; !rc && i < HS_QUALITY_KINDS; i++)
        if (q->count[i]) {
            sqlite3_bind_int64(st, 3, q->first[i]);
            rc = put_pair(st, hs_quality_infos[i].name, NULL, q->count[i], err);
        }
    sqlite3_finalize(st);
    return rc;
}

/* ---- the end ---- */

static int put_links(struct hs_writer *w, const struct hs_links *l, struct hs_err *err)
{
    int rc = add_table(w, HS_TBL_EVENTS, HS_COL_PARENT, HS_COL_STEP + 1, l, l->n, hs_fill_links, err);
    if (!rc)
        rc = add_table(w, HS_TBL_GPU, 0, HS_GPU_COLS, l->gpu.p, l->gpu.n, hs_fill_gpu, err);
    if (!rc)
        rc = add_table(w, HS_TBL_LAUNCHES, 0, HS_LAUNCH_COLS, l->launches.p, l->launches.n, hs_fill_launches, err);
    if (!rc)
        rc = add_table(w, HS_TBL_ENDED, 0, 2, l->ended.p, l->ended.n, hs_fill_ended, err);
    if (!rc)
        rc = add_table(w, HS_TBL_STEPS, 0, 5, l->steps.p, l->steps.n, hs_fill_steps, err);
    if (!rc)
        rc = add_table(w, HS_TBL_CATS, 0, 4, l->cats.p, l->cats.n, hs_fill_cats, err);
    return rc ? rc : flush_jobs(w, err);
}

/* The data reach the disk before the caller's rename does. */
static int sync_file(const char *path, struct hs_err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), rc = HS_OK;
    if (fd < 0 || fsync(fd))
        rc = hs_fail_errno(err, HS_EINTERNAL, "%s", path);
    if (fd >= 0)
        close(fd);
    return rc;
}

int hs_writer_finish(struct hs_writer *w, const struct hs_trace *t, const struct hs_links *l,
                     const struct hs_trace_info *info, struct hs_err *err)
{
    int rc = HS_OK;
    if (w->events != t->events || l->n != t->events)
        rc = hs_fail(err, HS_EINTERNAL, "%llu events were written, %zu linked, %llu read",
                     (unsigned long long)w->events, l->n, (unsigned long long)t->events);
    if (!rc && !w->jobs)
        w->jobs = hs_column_jobs_new();
    if (!rc)
        rc = put_links(w, l, err);
    if (!rc)
        rc = put_symbols(w, &t->syms, err);
    if (!rc)
        rc = put_shapes(w, t, err);
    if (!rc)
        rc = add_table(w, HS_TBL_COLUMNS, 0, 4, t->columns.p, t->columns.n, hs_fill_columns, err);
    if (!rc)
        rc = put_lanes(w, t, err);
    if (!rc)
        rc = add_table(w, HS_TBL_HEADER, 0, 2, t->header.p, t->header.n, hs_fill_header, err);
    if (!rc)
        rc = flush_jobs(w, err);
    if (!rc)
        rc = put_meta(w, t, info, err);
    if (!rc)
        rc = put_summary(w, &l->sum, err);
    if (!rc)
        rc = put_quality(w, &t->quality, err);
    if (!rc)
        rc = hs_db_exec(w->db, "COMMIT", err);
    if (!rc && w->path) {
        close_db(w);
        rc = sync_file(w->path, err);
    }
    w->finished = !rc;
    return rc;
}

int hs_writer_view(struct hs_writer *w, struct hs_view **out, struct hs_err *err)
{
    if (!w->finished || w->path)
        return hs_fail(err, HS_EINTERNAL, "only a finished trace in memory can be viewed through its writer");
    sqlite3_finalize(w->put);
    w->put = NULL;
    int rc = hs_view_of_db(w->db, out, err);
    if (!rc)
        w->db = NULL;
    return rc;
}
