/* store_dir: data directories with small traces in them, for the tests of the store. */
#ifndef HS_TESTS_STORE_DIR_H
#define HS_TESTS_STORE_DIR_H

#include "store/store.h"

#define ID_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define ID_B "aaaaaabbbbbbbbbbbbbbbbbbbbbbbbbb"
#define ID_C "cccccccccccccccccccccccccccccccc"

struct hs_store *dir_open(const char *dir); /* keeps originals */

/* A trace of one event whose clock starts at base + ts: x.json, rank 7, 100 bytes, 1000 of JSON, with a byte order mark. */
void dir_write_trace(const char *path, const char *id, int64_t base, int64_t ts);
void dir_write_trace_of(const char *path, const char *id, const char *run, int64_t base, int64_t ts);
void dir_write_text(const char *path, const char *text);

int dir_commit(struct hs_store *s, const char *id, const char *run, const char *name, int64_t rank, bool original,
               bool *existed);

char *dir_listing(const char *dir); /* names in dir/traces, sorted, a blank behind each; valid until the next call */
void dir_touch(const char *dir, const char *name);  /* a file in dir/traces that is no database */
void dir_forget(const char *dir, const char *name); /* removes one there */

#endif
