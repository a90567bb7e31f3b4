/* source: decompressed bytes of one or more JSON documents from whatever was given: a file, an upload that is still
 * arriving, an archive. Formats are told by magic bytes, never by name.
 *
 * plain, gzip (any number of members, zero padding between and after, gzip within gzip twice), zip, tar, zstd. Archives
 * give one document per member that looks like a trace. Cut or damaged gzip gives all that inflates and a quality count. */
#ifndef HS_INGEST_SOURCE_H
#define HS_INGEST_SOURCE_H

#include "base/err.h"
#include "trace/model.h"

/* Raw bytes, pulled. `read` blocks until it has at least one byte, the end (*got = 0) or an error. */
struct hs_input {
    int (*read)(void *ctx, void *buf, size_t cap, size_t *got, struct hs_err *err);
    void *ctx;
    const char *name; /* for messages */
    int64_t size;     /* raw bytes in all, -1 unknown: for progress only */
};
int hs_input_open_file(struct hs_input *in, const char *path, struct hs_err *err); /* "-" is stdin */
/* A regular file of a folder that others may write into: no part of `below`, a path in `root`, may be a link, so that who swaps a
 * file or a folder for one after it was listed reaches nothing outside. `root` itself may be one. */
int hs_input_open_below(struct hs_input *in, const char *root, const char *below, struct hs_err *err);
void hs_input_close_file(struct hs_input *in);

/* Bytes in memory; `b` holds what is left of them and lives as long as the input. */
struct hs_input_bytes {
    const char *p;
    size_t n;
};
struct hs_input hs_input_of_bytes(struct hs_input_bytes *b, const char *name);

struct hs_source;

/* Takes the limits on bytes in, bytes inflated and their ratio; counts container defects into the quality object given
 * to hs_source_read. `tee` (may be NULL) sees every raw byte once, in order: the original is kept and hashed there. */
struct hs_tee {
    int (*write)(void *ctx, const void *p, size_t n, struct hs_err *err);
    void *ctx;
};
int hs_source_new(struct hs_source **out, struct hs_input *in, const struct hs_limits *limits, const struct hs_tee *tee,
                  struct hs_err *err);
void hs_source_free(struct hs_source *s);

/* The next document. *more false: there is none. `name` is its name inside an archive, else the input's. The first call
 * for plain input always finds one. Valid until the next call. */
int hs_source_next(struct hs_source *s, bool *more, const char **name, struct hs_err *err);

/* Up to `cap` decompressed bytes of this document; *got = 0 at its end. UTF-16 is transcoded, a UTF-8 BOM skipped. */
int hs_source_read(struct hs_source *s, void *buf, size_t cap, size_t *got, struct hs_quality *q, struct hs_err *err);

/* Is the input a container of named members (zip, tar)? Known after the first hs_source_next. */
bool hs_source_is_archive(const struct hs_source *s);

/* Adds to q what was found since the last read (members that hs_source_next passed over). */
void hs_source_defects(struct hs_source *s, struct hs_quality *q);

/* Reads what is left of the raw input into the tee, so that hash and original are whole. Call once after the last document. */
int hs_source_drain(struct hs_source *s, struct hs_err *err);

uint64_t hs_source_bytes_in(const struct hs_source *s);  /* raw bytes so far; safe from another thread, for progress */
uint64_t hs_source_bytes_out(const struct hs_source *s); /* decompressed bytes of this document so far */
const char *hs_source_format(const struct hs_source *s); /* "json", "gzip", "zip", "tar", "zstd", "gzip in gzip" ... */

#endif
