/* fill: rows of the model as columns of numbers, as the file keeps them (store/layout.h). Each is a hs_fill_fn
 * (store/column_jobs.h): rows [at, at + n) of column `col` of an array of the type named. */
#ifndef HS_STORE_FILL_H
#define HS_STORE_FILL_H

#include <stddef.h>
#include <stdint.h>

#define HS_FILL(name) void name(const void *rows, size_t at, size_t n, unsigned col, int64_t *out)
HS_FILL(hs_fill_links);    /* one struct hs_links: HS_COL_PARENT, HS_COL_DEPTH, HS_COL_STEP of events */
HS_FILL(hs_fill_gpu);      /* struct hs_gpu_row */
HS_FILL(hs_fill_launches); /* struct hs_launch_row */
HS_FILL(hs_fill_steps);    /* struct hs_step_row */
HS_FILL(hs_fill_ended);    /* struct hs_ended */
HS_FILL(hs_fill_cats);     /* struct hs_cat_row */
HS_FILL(hs_fill_lanes);    /* struct hs_lane_info */
HS_FILL(hs_fill_shapes);   /* struct hs_shape */
HS_FILL(hs_fill_fields);   /* struct hs_field */
HS_FILL(hs_fill_columns);  /* struct hs_column */
HS_FILL(hs_fill_header);   /* struct hs_header */
#undef HS_FILL

#endif
