/* view_file: the view (trace/view.h) of a trace file or of a finished trace in memory. Dictionaries are read at once,
 * columns when first asked for; both stay until the view is closed.
 *
 * A file may be damaged or made by an enemy: every index is checked against what it points into when it is read
 * (symbols, lanes, shapes, events, steps, columns), parents cannot form a ring, so analyses need no checks of their own.
 *
 * `lock` protects the database handle and everything from `have` on; what was handed out never changes. */
#ifndef HS_STORE_VIEW_FILE_H
#define HS_STORE_VIEW_FILE_H

#include "store/layout.h"
#include "trace/view.h"

#include <pthread.h>
#include <sqlite3.h>

struct hs_arg_cursor;
struct hs_shape_events;

/* One argument of all events, as asked for by arg_i64, arg_f64, arg_sym or arg_json. */
struct hs_arg_array {
    struct hs_arg_array *next;
    char form; /* 'i', 'f', 's', 'j'; 'p': what hs_make_sparse gives */
    int level;
    char *key;
    void *data;
};

struct hs_view_file {
    struct hs_view base; /* first: a struct hs_view * of a file is a struct hs_view_file * */
    sqlite3 *db;
    sqlite3_stmt *get; /* one segment by its key */
    uint64_t events, segments;
    struct hs_shape *shapes;
    struct hs_field *fields;
    struct hs_column *columns;
    size_t nshapes, nfields, ncolumns;
    bool bare_array, has_events_key;
    char *name;
    char **chunks; /* the bytes of the symbols */
    size_t nchunks;

    pthread_mutex_t lock;
    unsigned have; /* hs_event_column bits of `ev` */
    struct hs_events ev;
    struct hs_ended *ended; /* by event: durations that begins have from their ends; read once, not under the lock */
    size_t nended;
    bool has_gpu, has_launches; /* how many device rows there are; the launches */
    unsigned have_gpu;          /* hs_gpu_column bits of `gpu` */
    struct hs_gpu gpu;
    struct hs_launch_row *launches;
    size_t nlaunches;
    struct hs_arg_array *args;
    struct hs_shape_events *of_shapes; /* those asked for so far: store/view_sparse.h */
    struct hs_arg_cursor *cursor;      /* of event_json */
    int64_t *tmp;                      /* HS_SEG_ROWS numbers */
    _Atomic size_t bytes;              /* names and decoded columns, for the budget */
};

static inline struct hs_view_file *hs_view_file(struct hs_view *v)
{
    return (struct hs_view_file *)v;
}

/* A view of an open database, which it then owns; on failure the caller still does. */
int hs_view_of_db(sqlite3 *db, struct hs_view **out, struct hs_err *err);

/* ---- for the other files of the view; the lock is held ---- */

/* Decodes one segment: exactly n numbers into out. */
int hs_view_segment(struct hs_view_file *f, enum hs_tbl tbl, uint32_t col, uint64_t segment, int64_t *out, size_t n,
                    struct hs_err *err);
/* Decodes a segment of unknown length, at most HS_SEG_ROWS; *n is 0 where there is none. */
int hs_view_segment_any(struct hs_view_file *f, enum hs_tbl tbl, uint32_t col, uint64_t segment, int64_t *out,
                        size_t *n, struct hs_err *err);
/* Rows of a table, by the lengths of the segments of its column 0. */
int hs_view_rows(struct hs_view_file *f, enum hs_tbl tbl, size_t *n, struct hs_err *err);
/* Memory for a column, counted; HS_ELIMIT when there is none (a file may claim any size). */
int hs_view_alloc(struct hs_view_file *f, void **out, size_t n, size_t size, struct hs_err *err);
/* HS_EINPUT, "the trace file is damaged: …". */
int hs_view_damaged(const struct hs_view_file *f, struct hs_err *err, const char *what);

/* Rows of events in a segment. */
static inline size_t hs_view_segment_rows(const struct hs_view_file *f, uint64_t segment)
{
    uint64_t left = f->events - segment * HS_SEG_ROWS;
    return left < HS_SEG_ROWS ? (size_t)left : HS_SEG_ROWS;
}

#endif
