/* What ingest found wrong with a file, one counter a kind (quality.def). Counting never fails; answers show it. */
#ifndef HS_TRACE_QUALITY_H
#define HS_TRACE_QUALITY_H

#include <stdint.h>

enum hs_quality_kind {
#define HS_QUALITY(id, name, severity, text) HS_Q_##id,
#include "trace/quality.def"
#undef HS_QUALITY
    HS_QUALITY_KINDS
};

enum hs_severity { HS_SEV_info, HS_SEV_warn, HS_SEV_error };

struct hs_quality {
    int64_t count[HS_QUALITY_KINDS];
    int64_t first[HS_QUALITY_KINDS]; /* byte of the decompressed input, or -1 unknown, of the first one */
};

struct hs_quality_info {
    const char *name, *text;
    enum hs_severity severity;
};

extern const struct hs_quality_info hs_quality_infos[HS_QUALITY_KINDS];

void hs_quality_init(struct hs_quality *q);
void hs_quality_add(struct hs_quality *q, enum hs_quality_kind kind, int64_t count, int64_t offset);
int hs_quality_find(const char *name); /* the kind, -1 if there is none of that name */

#endif
