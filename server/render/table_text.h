/* A table as text for people and spreadsheets: CSV (RFC 4180) and a Markdown pipe table. */
#ifndef HS_RENDER_TABLE_TEXT_H
#define HS_RENDER_TABLE_TEXT_H

#include "base/mem.h"
#include "trace/table.h"

/* A header line, then a line a row, CRLF. Text that a spreadsheet would take for a formula (= + - @, tab, CR at its start)
 * gets an apostrophe before it. Null is an empty field. Notes are left out. */
void hs_table_csv(const struct hs_table *t, struct hs_buf *out);

/* Columns of numbers are right-aligned; notes follow as a list. */
void hs_table_md(const struct hs_table *t, struct hs_buf *out);

/* Text inside a Markdown table: never opens markup or HTML (a code span where it could), never leaves its cell. */
void hs_put_md_text(struct hs_buf *out, struct hs_str s);

#endif
