/* One cell as text: what all formats write the same way. */
#ifndef HS_RENDER_VALUE_H
#define HS_RENDER_VALUE_H

#include "base/mem.h"
#include "trace/table.h"

/* A number (HS_C_I64 or HS_C_F64): times as exact µs, percentages with up to four decimals, other reals in the shortest
 * form that reads back the same; never -0. */
void hs_put_number(struct hs_buf *out, const struct hs_cell *c, enum hs_type type);

/* A percentage with up to four decimals. */
void hs_put_pct(struct hs_buf *out, double v);

#endif
