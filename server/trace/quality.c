#include "trace/quality.h"

#include <string.h>

const struct hs_quality_info hs_quality_infos[HS_QUALITY_KINDS] = {
#define HS_QUALITY(id, name, severity, text) [HS_Q_##id] = {name, text, HS_SEV_##severity},
#include "trace/quality.def"
#undef HS_QUALITY
};

void hs_quality_init(struct hs_quality *q)
{
    for (int i = 0; i < HS_QUALITY_KINDS; i++) {
        q->count[i] = 0;
        q->first[i] = -1;
    }
}

void hs_quality_add(struct hs_quality *q, enum hs_quality_kind kind, int64_t count, int64_t offset)
{
    if (count <= 0)
        return;
    if (!q->count[kind])
        q->first[kind] = offset;
    q->count[kind] += count;
}

int hs_quality_find(const char *name)
{
    for (int i = 0; i < HS_QUALITY_KINDS; i++)
        if (!strcmp(hs_quality_infos[i].name, name))
            return i;
    return -1;
}
