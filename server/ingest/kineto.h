/* kineto: the bytes of one JSON document become rows of columns.
 *
 * A reader is fed windows of text and fills segments; it reads a Kineto (Chrome) trace object or a bare array of
 * events, keys in any order, and never gives a file up for one bad event: what is not valid is repaired (ingest/repair.h)
 * or dropped alone, and counted in trace->quality. Text that is no trace at all is refused in hs_kineto_finish with
 * one sentence that says what it is (HTML, Parquet, a Chakra execution trace, a memory snapshot, ...) and what is missing.
 *
 * One thread feeds; the trace belongs to it until finish. */
#ifndef HS_INGEST_KINETO_H
#define HS_INGEST_KINETO_H

#include "trace/model.h"

struct hs_kineto;

/* `emit` takes over a full segment, whatever it returns, and gives an empty one back in *next (from a pool, to bound
 * memory; NULL is allowed for the last one only). */
typedef int hs_emit_segment(void *ctx, struct hs_segment *full, struct hs_segment **next, struct hs_err *err);

int hs_kineto_new(struct hs_kineto **out, struct hs_trace *trace, const struct hs_limits *limits,
                  struct hs_segment *first, hs_emit_segment *emit, void *ctx, struct hs_err *err);

/* Any number of bytes, in any cuts. `text` may be used in place: it must have HS_KINETO_PAD readable bytes behind it and
 * HS_KINETO_HEAD writable bytes before it, where an event cut by the previous window's end is put together. */
#define HS_KINETO_PAD 64
#define HS_KINETO_HEAD (1u << 20)
int hs_kineto_feed(struct hs_kineto *k, char *text, size_t n, struct hs_err *err);

/* `cancel` (the caller's, may be set by any thread): once true, feed and finish return HS_ECANCELLED within a few MiB of
 * work, also within one window. */
void hs_kineto_cancel(struct hs_kineto *k, const _Atomic bool *cancel);

/* Bytes looked at so far beyond matching events of a known form: by parsing, repairing, looking ahead and finding the way
 * again. Linear in the bytes fed, whatever they are; counted so that tests can hold it to that. */
uint64_t hs_kineto_work(const struct hs_kineto *k);

/* End of input: emits the last segment (none without rows) and settles the quality.
 * HS_EINPUT with the sentence if this was no trace. */
int hs_kineto_finish(struct hs_kineto *k, struct hs_err *err);
void hs_kineto_free(struct hs_kineto *k); /* frees the segment it still holds */

#endif
