/* report: the written summary of a run: where the GPU time went, what holds it up, what is wrong with the data, what to try.
 * Every number names its whole; thresholds and where they come from stand in report/verdict.c. */
#ifndef HS_REPORT_REPORT_H
#define HS_REPORT_REPORT_H

#include "trace/view.h"

enum hs_report_format { HS_REPORT_MD, HS_REPORT_JSON };

/* Appends the report to *out. A run without GPU work gets a report that says so. HS_ELIMIT if *out is too small.
 * JSON: {"run","main_finding","summary":{figures},"top_kernels":[],"bottleneck":{"verdict","sentence","figures":[]},
 * "data_quality":[],"recommendations":[{"id","text"}],"ranks":[],"notes":[]}. */
int hs_report(struct hs_run *run, enum hs_report_format format, struct hs_buf *out, struct hs_err *err);

#endif
