/* report: the written summary of a run: where the GPU time went, what holds it up, what is wrong with the data, what to try.
 * Every number names its whole; thresholds and where they come from stand in report/verdict.c. */
#ifndef HS_REPORT_REPORT_H
#define HS_REPORT_REPORT_H

#include "report/rules.h"

enum hs_report_format { HS_REPORT_MD, HS_REPORT_JSON, HS_REPORT_HTML };
int hs_report_format_parse(const char *name); /* md, json, html; -1 */
const char *hs_report_content_type(enum hs_report_format f);

struct hs_report_options {
    enum hs_report_format format;
    const struct hs_thresholds *thresholds; /* NULL: the defaults */
    bool
        links; /* md, html: evidence and events as links to the API, for who reads it on the server that has the run; else as
                 * commands and event numbers */
};

/* Appends the report to *out. A run without GPU work gets a report that says so.
 * HS_ELIMIT if *out is too small.
 * JSON: {"run","main_finding","summary":{figures},"top_kernels":[],"bottleneck":{"verdict","sentence","figures":[]},"ranks":[],
 * "data_quality":[],"recommendations":[{"id","title","severity","text","detail","figure","value","unit","of","threshold","source",
 * "gain_us","gain_pct","evidence":{"analysis","params","path"},"sql","events":[{"rank","trace","event","ts_us","name","display_name"}],"next"}],
 * "rules":[{"id","state","value","threshold","reason"}],"notes":[]}. HTML: one page by itself, without scripts. */
int hs_report(struct hs_run *run, const struct hs_report_options *o, struct hs_buf *out, struct hs_err *err);

#endif
