/* The two forms of a report. */
#ifndef HS_REPORT_WRITE_H
#define HS_REPORT_WRITE_H

#include "report/verdict.h"

/* `quality` is the answer of the analysis of that name. */
void hs_report_md(const struct hs_facts *f, const struct hs_judgement *j, const struct hs_table *quality,
                  struct hs_buf *out);
void hs_report_json(const struct hs_facts *f, const struct hs_judgement *j, const struct hs_table *quality,
                    struct hs_buf *out);

/* Cell of a table by column name; NULL if there is no such column. */
const struct hs_cell *hs_report_cell(const struct hs_table *t, size_t row, const char *column);

#endif
