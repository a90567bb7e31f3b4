/* render: a table as text. Nothing else in the project formats results. */
#ifndef HS_RENDER_RENDER_H
#define HS_RENDER_RENDER_H

#include "base/mem.h"
#include "trace/table.h"

enum hs_format { HS_F_RECORDS, HS_F_COLUMNS, HS_F_CSV, HS_F_MD, HS_F_FOLDED, HS_F_SPEEDSCOPE };

/* "records", "columns", "csv", "md", and for tables of stacks (render/flame.h) "folded", "speedscope"; -1 for others. */
int hs_format_parse(const char *name);
const char *hs_format_content_type(enum hs_format f);

/* What stands around the rows:
 * {"analysis","run","params":{…},"columns":[{name,type,unit,doc}],"rows":[…],"notes":[…]}. records: rows are objects;
 * columns: "data" holds one array per column instead of rows. csv: a header line, RFC 4180, cells that spreadsheets would
 * take for a formula are prefixed with an apostrophe, notes left out; md: a pipe table with notes below. folded and
 * speedscope: HS_EUSAGE for a table that has no stacks. */
struct hs_envelope {
    const char *analysis, *run;
    const char *params_json; /* an object's text; NULL: {} */
};
int hs_render_table(const struct hs_table *t, const struct hs_envelope *e, enum hs_format f, struct hs_buf *out,
                    struct hs_err *err);

#endif
