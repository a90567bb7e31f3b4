/* trace_name: what the name of a file tells before it is opened. For listings and estimates; what a file is, its bytes tell
 * (ingest/sniff.h). */
#ifndef HS_INGEST_TRACE_NAME_H
#define HS_INGEST_TRACE_NAME_H

#include <stdbool.h>
#include <stdint.h>

/* The name ends in one of the endings that traces have: .json, .gz, .zst, .zip, .tar, .tgz, in any case. */
bool hs_name_may_be_trace(const char *name);
/* One file with several traces in it. */
bool hs_name_is_archive(const char *name);
bool hs_name_is_json(const char *name); /* not compressed */

/* About what the store needs for a file, by what it needed for traces that were measured: 0.6 of what is compressed, 0.05 of plain
 * JSON. */
int64_t hs_estimate_stored(const char *name, int64_t bytes);

#endif
