/* link: what every analysis needs, derived once from the rows of a whole trace (results: trace/links.h; the rules stand in
 * link.c). Counts what it finds into trace->quality. */
#ifndef HS_INGEST_LINK_H
#define HS_INGEST_LINK_H

#include "trace/links.h"

/* May use two threads. Frees trace->rows as it goes, to keep the peak low: the rows are gone afterwards. */
int hs_link(struct hs_trace *trace, struct hs_links *out, struct hs_err *err);

#endif
