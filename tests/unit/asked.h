/* What tests over hand-made traces ask and look at: a path's pieces, a report's entries. */
#ifndef HS_TESTS_ASKED_H
#define HS_TESTS_ASKED_H

#include "report/report.h"
#include "tests/unit/json_trace.h"

#include <jansson.h>

/* An analysis of the trace alone; hs_table_free it. */
struct hs_table asked(struct json_trace *t, const char *analysis, const char *params);

/* Row i of critical-path is this piece; times in ns. */
void path_piece(const struct hs_table *x, size_t i, int64_t ts, int64_t dur, const char *cause, const char *name);

char *report_text(struct hs_run *run, struct hs_report_options o); /* free() it */
/* The report of the trace alone, judged by `limits` (NULL: the defaults); json_decref it. */
json_t *report_json(struct json_trace *t, const struct hs_thresholds *limits);

/* The entry with this id of the report's list ("rules", "recommendations"); NULL. */
json_t *report_entry(json_t *report, const char *list, const char *id);
const char *rule_state(json_t *report, const char *id);

#endif
