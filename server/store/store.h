/* store: a data directory. catalogue.db knows runs and traces; traces/<id>.db are the traces (store/writer.h),
 * traces/<id>.orig the bytes as uploaded, if kept. A trace appears whole or not at all: it is written as
 * traces/<id or random>.tmp, synced, renamed, and only then named in the catalogue, in one transaction. Under its final name
 * a file is complete, so opening the store names what a crash between the two left unnamed (in the run it was imported to,
 * which the file tells), and removes .tmp files of dead processes and nothing else: a catalogue that is lost costs no trace
 * and no original. What it costs is the names: a file that served several runs comes back in the first one only. A deletion
 * is done when the catalogue has forgotten the trace; interrupted before, the trace stays. Several processes may have one
 * store open (SQLite's locking; a flock on <dir>/lock keeps recovery from removing another process's unfinished files).
 *
 * All functions are thread-safe; the views they pin are shared, under one LRU budget of bytes. */
#ifndef HS_STORE_STORE_H
#define HS_STORE_STORE_H

#include "store/writer.h"
#include "trace/quality.h"

struct hs_store;

struct hs_store_options {
    const char *dir;   /* created if absent */
    size_t view_bytes; /* budget of decoded columns of views that no one has pinned; 0: 512 MiB */
    bool keep_original;
    bool read_only; /* for one-shot commands: no recovery, nothing is created */
};
int hs_store_open(struct hs_store **out, const struct hs_store_options *o, struct hs_err *err);
void hs_store_close(struct hs_store *s);

/* ---- writing ---- */
/* A fresh path under traces/ for a writer (or for an original); unique, ends in .tmp. Free with free(). */
char *hs_store_temp_path(struct hs_store *s, const char *suffix);

struct hs_trace_row {
    char id[33];
    char *run, *name; /* owned by the row; hs_trace_rows_free */
    int64_t rank;
    int64_t bytes_in, bytes_json, bytes_stored, events, created_ns; /* created: unix ns */
    bool has_original;
    char *quality_json; /* {"kind": count, ...} of what is not zero */
};
/* Moves the finished file (and the original; NULL, or a file that is gone: none is kept) into place and names it in the catalogue. If the same id is
 * there already in the same run the new file is dropped and *existed is set: stored once. The same id in two runs shares
 * the file. If another trace of this run already has this rank, both are kept; they are told apart by name and id. */
int hs_store_commit(struct hs_store *s, const struct hs_trace_row *row, const char *temp_db, const char *temp_original,
                    bool *existed, struct hs_err *err);

/* A name of a run is data: UTF-8, 1 to 200 bytes, no control characters, no '/', not "." or "..". HS_EUSAGE. */
int hs_run_name_check(const char *name, struct hs_err *err);

/* ---- reading ---- */
struct hs_run_row {
    char *name;
    int64_t traces, ranks, events, bytes_in, bytes_stored, created_ns, updated_ns;
};
int hs_store_runs(struct hs_store *s, struct hs_run_row **out, size_t *n, struct hs_err *err);
void hs_run_rows_free(struct hs_run_row *r, size_t n);
/* Traces of a run (NULL: of all), by run, rank, name. HS_ENOTFOUND: no such run. */
int hs_store_traces(struct hs_store *s, const char *run, struct hs_trace_row **out, size_t *n, struct hs_err *err);
void hs_trace_rows_free(struct hs_trace_row *r, size_t n);
void hs_trace_row_clear(struct hs_trace_row *r);         /* of one that stands in the caller's memory */
char *hs_store_quality_json(const struct hs_quality *q); /* as in a row; free() it */
/* A trace by id or by a prefix of it (at least 6 digits) that only one has. */
int hs_store_find(struct hs_store *s, const char *id_prefix, struct hs_trace_row *out, struct hs_err *err);
int hs_store_delete_run(struct hs_store *s, const char *run, struct hs_err *err); /* files that no run names go, too */
int hs_store_delete_trace(struct hs_store *s, const char *run, const char *id, struct hs_err *err);
int hs_store_next_rank(struct hs_store *s, const char *run, int64_t *rank,
                       struct hs_err *err);                       /* lowest that is free */
char *hs_store_original_path(struct hs_store *s, const char *id); /* NULL if it is not kept; free() it */
/* Room: removes originals, oldest first, until at least `bytes` are free again; returns how many are. When the disk is full
 * commit does so itself, and so does a writer under this directory (store/room.h); both try once more. */
int64_t hs_store_reclaim(struct hs_store *s, int64_t bytes);

/* A run with the views of all its traces pinned; unpin when done. HS_ENOTFOUND. */
int hs_store_pin_run(struct hs_store *s, const char *run, struct hs_run **out, struct hs_err *err);
void hs_store_unpin_run(struct hs_store *s, struct hs_run *run);
/* Hash of everything that answers about a run depend on (its trace ids, ranks, names): 32 hex digits; for ETags. */
int hs_store_run_hash(struct hs_store *s, const char *run, char out[33], struct hs_err *err);
/* One trace by its id or a prefix of it, as hs_store_find. */
int hs_store_pin_trace(struct hs_store *s, const char *id, struct hs_view **out, struct hs_err *err);
void hs_store_unpin_trace(struct hs_store *s, struct hs_view *v);

/* Builds a run over views that the caller owns (files analysed without a store): sorts, aligns clocks. */
int hs_run_build(const char *name, struct hs_view **views, size_t n, struct hs_run **out, struct hs_err *err);
void hs_run_free(struct hs_run *run); /* not the views */

#endif
