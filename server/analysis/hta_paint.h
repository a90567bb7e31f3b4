/* Which of many intervals holds an instant, when the first one that does wins: intervals painted on a line of whole
 * microseconds in order of precedence. n log n to build, log n to ask, however they overlap. */
#ifndef HS_ANALYSIS_HTA_PAINT_H
#define HS_ANALYSIS_HTA_PAINT_H

#include "analysis/hta_map.h"

struct hta_span {
    int64_t start, end; /* half-open */
};
struct hta_paint {
    int64_t *edge; /* ascending; piece i is [edge[i], edge[i + 1]) */
    uint32_t *who; /* by piece: number of the interval, HTA_NONE */
    size_t n;
};
void hta_paint_build(struct hta_paint *p, const struct hta_span *spans, size_t n);
uint32_t hta_paint_at(const struct hta_paint *p, int64_t t);
void hta_paint_free(struct hta_paint *p);

#endif
