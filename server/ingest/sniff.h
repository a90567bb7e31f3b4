/* sniff: what is this text, if it is no trace? One sentence: what it is, what is missing, what to do. */
#ifndef HS_INGEST_SNIFF_H
#define HS_INGEST_SNIFF_H

#include "base/mem.h"

/* The first bytes of a document that does not start with a brace or a bracket. Always an answer. */
const char *hs_sniff_bytes(struct hs_str head);

/* Of a JSON object without traceEvents: its keys, in order. NULL: it may be the header of an empty trace. */
const char *hs_sniff_object(const struct hs_str *keys, size_t n);

/* The first bytes of a JSON array that holds no events. */
const char *hs_sniff_array(struct hs_str head);

#endif
