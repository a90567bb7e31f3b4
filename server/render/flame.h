/* flame: a table of stacks (analysis flame: columns rank, stack, weight_us) in the two forms that flame graph tools read.
 *
 * HS_EUSAGE if the table has no such columns, HS_ELIMIT if the text does not fit into `out`. */
#ifndef HS_RENDER_FLAME_H
#define HS_RENDER_FLAME_H

#include "base/mem.h"
#include "trace/table.h"

/* Folded stacks, as flamegraph.pl, inferno and speedscope read them: a line "frame;frame;frame weight" each, the weight in
 * whole nanoseconds. With several ranks each stack begins with "rank N". Content type text/plain. */
int hs_render_folded(const struct hs_table *t, struct hs_buf *out, struct hs_err *err);

/* speedscope's JSON (https://www.speedscope.app/file-format-schema.json): one sampled profile a rank, in nanoseconds, over
 * shared frames. `name` is the title of the file. Content type application/json. */
int hs_render_speedscope(const struct hs_table *t, const char *name, struct hs_buf *out, struct hs_err *err);

#endif
