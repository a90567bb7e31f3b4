/* The inside of source: layers that bytes are pulled through, one on top of the other.
 *
 *     input + tee  >  gunzip  >  gunzip  >  archive member  >  gunzip  >  text
 *
 * Each layer is a hs_pull. hs_peek puts a small look-ahead on one, so that the next layer can be chosen by magic bytes;
 * once its few bytes are used up, reads go straight through into the caller's buffer. One thread at a time. */
#ifndef HS_INGEST_SOURCE_PULL_H
#define HS_INGEST_SOURCE_PULL_H

#include "trace/model.h"

#include <stdatomic.h>

/* Up to cap bytes, at least one unless *got = 0: the end, which stays the end. */
struct hs_pull {
    int (*read)(void *self, void *buf, size_t cap, size_t *got, struct hs_err *err);
    void *self;
};

/* Until `cap` bytes are there or the end. */
int hs_pull_full(const struct hs_pull *p, void *buf, size_t cap, size_t *got, struct hs_err *err);

/* ---- what one source may cost ---- */
struct hs_budget {
    const struct hs_limits *limits;
    _Atomic uint64_t bytes_in; /* raw bytes read so far */
    const char *name;          /* of the input, for messages */
};

/* The ratio is not judged before this much came out: small files of much the same line inflate a thousandfold, honestly. */
#define HS_RATIO_FROM (64u << 20)

/* HS_ELIMIT if `out` decompressed bytes are too many for the raw bytes read so far (whole = a document: its own cap too). */
int hs_budget_check(const struct hs_budget *b, uint64_t out, bool whole, struct hs_err *err);

/* ---- look-ahead ---- */
#define HS_PEEK_MAX 1024u
struct hs_peek {
    struct hs_pull below;
    size_t pos, n;
    unsigned char buf[HS_PEEK_MAX];
};
void hs_peek_init(struct hs_peek *p, struct hs_pull below);
/* The next bytes without using them up: `want` of them, or as many as there are before the end. */
int hs_peek_look(struct hs_peek *p, size_t want, const unsigned char **bytes, size_t *n, struct hs_err *err);
struct hs_pull hs_peek_pull(struct hs_peek *p);

#endif
