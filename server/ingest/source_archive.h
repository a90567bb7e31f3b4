/* The archive layer: zip, tar and zstd through libarchive, member by member, in the order of the file.
 *
 * Streams: nothing is seeked, so an archive can be read while it arrives. An archive that ends early or is damaged gives
 * the members before that place; the one it breaks in is cut (GZIP_CUT, GZIP_DAMAGED). */
#ifndef HS_INGEST_SOURCE_ARCHIVE_H
#define HS_INGEST_SOURCE_ARCHIVE_H

#include "ingest/source_pull.h"

enum hs_archive_kind { HS_ARCHIVE_NONE, HS_ARCHIVE_ZIP, HS_ARCHIVE_TAR, HS_ARCHIVE_ZSTD };

enum hs_archive_kind hs_archive_sniff(const unsigned char *p, size_t n); /* needs 262 bytes to know a tar */
const char *hs_archive_kind_name(enum hs_archive_kind kind);

struct hs_archive;

/* `name` is the input's: the name of the document where the archive has none for it (zstd). Outlived by all arguments. */
int hs_archive_new(struct hs_archive **out, enum hs_archive_kind kind, struct hs_pull below,
                   const struct hs_budget *budget, struct hs_quality *defects, const char *name, struct hs_err *err);
/* The next member that is a regular file and no system litter (__MACOSX, "._"), skipping (and counting, ARCHIVE_IGNORED)
 * the others and what is left of the one before. *more = false: no further one. */
int hs_archive_next(struct hs_archive *a, bool *more, const char **name, struct hs_err *err);
bool hs_archive_has_names(const struct hs_archive *a); /* false for zstd of one document; known after hs_archive_next */
struct hs_pull hs_archive_pull(struct hs_archive *a);  /* bytes of the current member */
void hs_archive_free(struct hs_archive *a);

#endif
