/* For tests of ingest: bytes in memory as an input, and containers around them made by zlib and libarchive (never by the
 * code under test). All buffers belong to the caller: hs_buf_free. */
#ifndef HS_TESTS_INGEST_BYTES_H
#define HS_TESTS_INGEST_BYTES_H

#include "ingest/source.h"

/* Gives `bytes` in pieces of at most `piece` (0: whole); fails with HS_EINTERNAL once `fail_at` bytes were given. */
struct test_input {
    struct hs_input in;
    struct hs_str bytes;
    size_t pos, piece, fail_at;
};
void test_input_init(struct test_input *t, struct hs_str bytes, size_t piece, const char *name);

/* Appends one gzip member: zlib's level 0..9, `strategy` Z_DEFAULT_STRATEGY, Z_FIXED, ... */
void test_gzip(struct hs_buf *out, struct hs_str text, int level, int strategy);

struct test_member {
    const char *name; /* ends in "/": a folder */
    struct hs_str bytes;
};
enum test_archive { TEST_ZIP, TEST_TAR, TEST_TAR_ZSTD, TEST_ZIP_ENCRYPTED };
void test_archive(struct hs_buf *out, enum test_archive kind, const struct test_member *members, size_t n);
void test_zstd(struct hs_buf *out, struct hs_str text);

/* A small generator of numbers that is the same everywhere (xorshift64*). */
uint64_t test_random(uint64_t *state);

#endif
