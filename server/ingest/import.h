/* import: a file or an upload into finished traces: source -> kineto -> link -> store, as one pipeline on two or three
 * threads with bounded queues. The one place that knows both ingest and store. */
#ifndef HS_INGEST_IMPORT_H
#define HS_INGEST_IMPORT_H

#include "ingest/source.h"
#include "store/store.h"

#define HS_RANK_AUTO INT64_MIN

struct hs_import_progress { /* may be read from other threads while it runs; plain atomics */
    _Atomic uint64_t bytes_in, bytes_json, events;
    _Atomic bool cancel; /* set it: the import stops with HS_ECANCELLED and leaves nothing */
};

struct hs_import_options {
    const struct hs_limits *limits;      /* NULL: defaults */
    struct hs_store *store;              /* NULL: in memory, nothing on disk */
    const char *run;                     /* with a store; NULL: "default" */
    int64_t rank;                        /* HS_RANK_AUTO: distributedInfo, then the file name, then upload order */
    int64_t order;                       /* upload order: the rank of last resort without a store */
    bool keep_original;                  /* with a store */
    struct hs_import_progress *progress; /* may be NULL */
};

/* One trace that came out (an archive may give several). */
struct hs_imported {
    struct hs_trace_row row; /* id, name, rank, counts, quality */
    bool existed;            /* the store had it already */
    struct hs_view *view;    /* without a store: the caller's to close */
};

/* All or nothing per trace: those of an archive that succeeded before one failed stay. *out is the caller's:
 * hs_imported_free. HS_EINPUT: no trace, with the sentence; HS_ELIMIT: a cap, nothing kept.
 *
 * Of an archive, members that turn out to be no trace are passed over (and counted as archive-ignored in the next trace)
 * as long as one member is a trace.
 *
 * The trace id is the BLAKE2b-128 of the raw bytes as they came; of a trace within a zip or tar, where the raw bytes are
 * not its own, of its decompressed bytes. For the same reason the original is kept for single traces only.
 * options->rank is for the first trace; further ones of an archive are told by themselves. */
int hs_import(struct hs_input *in, const struct hs_import_options *o, struct hs_imported **out, size_t *n,
              struct hs_err *err);
void hs_imported_free(struct hs_imported *i, size_t n); /* closes views that are still set */

/* The rank that a file name tells, or -1; the last part of the path first, then the folder it is in.
 *   rank or worker, then a number (rank0, rank-3, rank_12, worker3, global_rank=7): the last such pair;
 *   else sizes of parallelism (tp pp dp ep cp sp with a number: TP-0-DP-1, dp0_pp0_tp3): the one that is not 0, 0 if all
 *   are; if several are not, the name does not tell it (it depends on the sizes): -1;
 *   else gpu and a number. */
int64_t hs_rank_of_name(const char *file_name);

#endif
