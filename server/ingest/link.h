/* link: what every analysis needs, derived once from the rows of a whole trace (results: trace/links.h; the rules stand in
 * link.c). Counts what it finds into trace->quality. */
#ifndef HS_INGEST_LINK_H
#define HS_INGEST_LINK_H

#include "trace/links.h"

/* May use two threads. Frees trace->rows as it goes, to keep the peak low: the rows are gone afterwards. */
int hs_link(struct hs_trace *trace, struct hs_links *out, struct hs_err *err);

/* The same; once *cancel (may be NULL) is true, HS_ECANCELLED at the end of the pass over the rows that is under way: *out is
 * then unfinished and good for hs_links_free only. */
int hs_link_stoppable(struct hs_trace *trace, struct hs_links *out, const _Atomic bool *cancel, struct hs_err *err);

#endif
