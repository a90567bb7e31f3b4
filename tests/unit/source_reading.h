/* Reads a source to its end, for tests: what it gave, and what it counted. */
#ifndef HS_TESTS_SOURCE_READING_H
#define HS_TESTS_SOURCE_READING_H

#include "ingest/source.h"

#define READING_BIG ((size_t)256 << 20)

/* What a source gave: its documents one behind the other. */
struct reading {
    int rc, documents;
    struct hs_err err;
    struct hs_buf text, names, raw; /* raw: what the tee saw; names end in "\n" */
    size_t first_end;               /* where the first document ends in text */
    struct hs_quality q;
    char format[48];
};

/* Gives the bytes in pieces, reads them `cap` at a time, and checks that the tee saw each raw byte once. */
struct reading read_limited(struct hs_str bytes, size_t piece, size_t cap, const struct hs_limits *limits);
struct reading read_all(struct hs_str bytes);
void reading_free(struct reading *r);
struct hs_str buf_str(const struct hs_buf *b);

/* Checks text and the counts given as pairs (kind, count), ended by -1; every other kind must be 0. Frees the reading. */
void reading_expect(struct reading *r, struct hs_str text, const int (*defects)[2]);
#define DEFECTS_NONE ((const int[][2]){{-1, 0}})
#define DEFECTS_ONE(kind) ((const int[][2]){{HS_Q_##kind, 1}, {-1, 0}})

/* Text that looks like a trace and is `events` events long; the same for the same number. */
struct hs_buf sample_text(unsigned events);

#endif
