/* The inside of ingest/import, shared by its files and by nobody else.
 *
 *     reader thread          caller's thread             writer thread (one a trace)
 *     source, hash, copy ──▶ kineto ──────────────────▶ hs_writer_segment
 *            ◀── blocks         ◀── segments
 *     import_read.c          import.c                    import_write.c
 *
 * Both ways are bounded queues: whoever is slow makes the others wait. The first error of any thread is kept and stops all. */
#ifndef HS_INGEST_IMPORT_IN_H
#define HS_INGEST_IMPORT_IN_H

#include "base/thread.h"
#include "ingest/import.h"
#include "ingest/kineto.h"

#include <stdatomic.h>

/* ---- the first error of several threads ---- */
struct hs_first_error {
    pthread_mutex_t lock; /* protects err and rc */
    int rc;
    struct hs_err err;
};
void hs_first_error_init(struct hs_first_error *f);
void hs_first_error_set(struct hs_first_error *f, int rc, const struct hs_err *err); /* later ones are dropped */
int hs_first_error_get(struct hs_first_error *f, struct hs_err *err);
void hs_first_error_destroy(struct hs_first_error *f);

/* ---- reader ---- */
#define HS_BLOCK_BYTES (4u << 20)
#define HS_BLOCKS 3

enum hs_block_kind {
    HS_BLOCK_BEGIN, /* a document; name */
    HS_BLOCK_TEXT,  /* text[0 .. n) */
    HS_BLOCK_END    /* of the document; all fields below name */
};
struct hs_block {
    enum hs_block_kind kind;
    char *name; /* owned */
    char id[33];
    struct hs_quality quality;
    uint64_t bytes_in, bytes_json;
    bool last; /* no document follows; the reader has ended */
    bool archive;
    size_t n;
    char head[HS_KINETO_HEAD]; /* kineto puts together events here that a block's end cut */
    char text[HS_BLOCK_BYTES + HS_KINETO_PAD];
};

struct hs_reader {
    struct hs_input *in;
    const struct hs_import_options *o;
    const struct hs_limits *limits;
    struct hs_first_error *error;
    struct hs_queue full, free;
    char *original; /* temporary path the raw bytes are copied to, NULL: not kept; the caller's after the end */
    pthread_t thread;
    bool running;
    unsigned nblocks; /* made so far; the reader's own */
};
int hs_reader_start(struct hs_reader *r, struct hs_err *err);
/* The next block, NULL after the last or after an error. Give it back with hs_reader_give. */
struct hs_block *hs_reader_take(struct hs_reader *r);
void hs_reader_give(struct hs_reader *r, struct hs_block *b);
void hs_reader_trim(struct hs_reader *r); /* frees the blocks that are not in use */
void hs_reader_stop(struct hs_reader *r); /* waits for the thread; removes the copy if `original` is still set */

/* ---- writer ---- */
#define HS_SEGMENTS 3

struct hs_segments { /* of one trace */
    struct hs_writer *writer;
    struct hs_first_error *error;
    struct hs_queue full, free;
    unsigned made;
    pthread_t thread;
    bool running;
};
int hs_segments_start(struct hs_segments *s, struct hs_writer *w, struct hs_first_error *error, struct hs_err *err);
struct hs_segment *hs_segments_first(struct hs_segments *s); /* an empty one, for hs_kineto_new */
hs_emit_segment hs_segments_emit;                            /* ctx: the hs_segments */
void hs_segments_finish(struct hs_segments *s, bool cancel); /* waits until all is written (or stopped); frees */

bool hs_import_cancelled(const struct hs_import_options *o);

#endif
