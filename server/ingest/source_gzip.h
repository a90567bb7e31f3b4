/* The gzip layer (RFC 1952): any number of members, zeros between and after them, and whatever is wrong told as a quality
 * count instead of an error, with all that inflates kept: GZIP_CUT, GZIP_DAMAGED, GZIP_INTERLEAVED, GZIP_CHECKSUM,
 * GZIP_TRAILING (offsets: decompressed bytes before it). ISIZE is only compared, modulo 2^32, never believed. */
#ifndef HS_INGEST_SOURCE_GZIP_H
#define HS_INGEST_SOURCE_GZIP_H

#include "ingest/source_inflate.h"
#include "ingest/source_pull.h"

struct hs_gunzip;

/* `below`, `budget` and `defects` must outlive it. `whole`: what comes out is one document (its own cap in bytes applies),
 * not an archive. */
struct hs_gunzip *hs_gunzip_new(const struct hs_inflate_ops *ops, struct hs_pull below, const struct hs_budget *budget,
                                struct hs_quality *defects);
void hs_gunzip_whole(struct hs_gunzip *g, bool whole);
struct hs_pull hs_gunzip_pull(struct hs_gunzip *g);
void hs_gunzip_free(struct hs_gunzip *g);

/* Do these bytes begin a gzip member? */
bool hs_is_gzip(const unsigned char *p, size_t n);

#endif
