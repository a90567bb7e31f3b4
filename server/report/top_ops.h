/* The operators with most CPU time of their own: what a report has for a trace without GPU activity. */
#ifndef HS_REPORT_TOP_OPS_H
#define HS_REPORT_TOP_OPS_H

#include "report/facts.h"

/* Fills f->top and f->ntop with operators instead of kernels, over all ranks by name: self time, which is an operator's
 * duration less that of operators directly beneath it. f->work_ns becomes the sum of all self times. */
int hs_top_ops(struct hs_facts *f, struct hs_err *err);

#endif
