/* A table as JSON: rows as objects (records) or one array a column. */
#ifndef HS_RENDER_TABLE_JSON_H
#define HS_RENDER_TABLE_JSON_H

#include "render/render.h"

void hs_table_json(const struct hs_table *t, const struct hs_envelope *e, bool by_column, struct hs_buf *out);

#endif
