/* The forms of a report. */
#ifndef HS_REPORT_WRITE_H
#define HS_REPORT_WRITE_H

#include "report/rules.h"
#include "report/verdict.h"

/* All that a report is written from. */
struct hs_report_parts {
    const struct hs_facts *facts;
    const struct hs_figures *figures;
    const struct hs_judgement *judgement;
    const struct hs_verdict_of_rule *rules; /* [HS_RULES], as hs_rules_judge orders them */
    const struct hs_table *quality;         /* the answer of the analysis of that name */
    const struct hs_table *notes;           /* its notes are what has to be said about the run as a whole */
    bool links;                             /* to the server that the run is on */
};
void hs_report_md(const struct hs_report_parts *r, struct hs_buf *out);
void hs_report_json(const struct hs_report_parts *r, struct hs_buf *out);
void hs_report_html(const struct hs_report_parts *r, struct hs_buf *out);

/* The kernels (or operators) with most time: a member "top_kernels" of the object that is open; a Markdown table. */
struct hs_json;
void hs_report_top_json(const struct hs_facts *f, struct hs_json *j);
void hs_report_top_md(const struct hs_report_parts *r, struct hs_buf *out); /* of r its facts and links */
/* The analysis that tells of one of them; its parameters are appended to *params. */
const char *hs_report_top_evidence(const struct hs_facts *f, const struct hs_top_kernel *k, struct hs_buf *params);

struct hs_str hs_report_event_name(const struct hs_example *e); /* the view's */
/* Where it can be had: "/api/v1/traces/ID/events/N". */
void hs_report_event_path(const struct hs_example *e, struct hs_buf *out);
/* "rank 0, event 17 at 12.345 ms". */
void hs_report_event_place(const struct hs_example *e, struct hs_buf *out);
/* What stands for evidence: "idle-causes by=op" where it is a link, else the command to type, "holoscope analyze idle-causes --set
 * by=op". */
void hs_report_evidence_name(const char *analysis, const char *params, bool link, struct hs_buf *out);

/* Where evidence is answered: "/api/v1/runs/NAME/ANALYSIS?PARAMS"; `params` as a rule has them. */
void hs_report_evidence(const char *analysis, const char *params, const char *run, struct hs_buf *out);
/* "27.3 percent of the GPU span (from 15 on)". */
void hs_report_figure(const struct hs_verdict_of_rule *v, struct hs_buf *out);
/* What it could gain at most: "at most 12.300 ms, 27.3 % of the GPU span"; nothing where nothing can be said. */
void hs_report_gain(const struct hs_facts *f, const struct hs_verdict_of_rule *v, struct hs_buf *out);

/* A table's notes: elements of the array that is open; paragraphs of Markdown. */
void hs_report_notes_json(const struct hs_table *notes, struct hs_json *j);
void hs_report_notes_md(const struct hs_table *notes, struct hs_buf *out);
/* What has to be said about the run: where it came from, files that a report has no use for. Returns the run without those, as
 * hs_run_traces; `notes` is made. */
struct hs_run hs_report_run(const struct hs_run *run, struct hs_table *notes);

/* Members of a JSON object. */
void hs_report_i64(struct hs_json *j, const char *key, int64_t v);
void hs_report_us(struct hs_json *j, const char *key, int64_t ns);
void hs_report_text(struct hs_json *j, const char *key, const char *v);

/* Cell of a table by column name; NULL if there is no such column. */
const struct hs_cell *hs_report_cell(const struct hs_table *t, size_t row, const char *column);

#endif
