/* The part of a report that is there at once: what ingest has counted, and the kernels with most time. No column of events is
 * read for it, only the table of device work. */
#ifndef HS_REPORT_OVERVIEW_H
#define HS_REPORT_OVERVIEW_H

#include "report/report.h"

/* Appends it as Markdown or JSON; HS_EUSAGE for HTML, HS_ELIMIT if *out is too small.
 * JSON: {"run","part":"overview","summary":{counts and times},"top_kernels":[as in the report],
 * "categories":[{"category","events","sum_us"}]}. Sums of nested events count each of them. */
int hs_report_overview(struct hs_run *run, enum hs_report_format format, struct hs_buf *out, struct hs_err *err);

#endif
