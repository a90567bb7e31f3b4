#include "store/fill.h"

#include "store/layout.h"
#include "trace/links.h"
#include "trace/view.h"

/* One line of a fill function: a member of the rows r[0..n) as a column. */
#define COLUMN(col, value)             \
    case col:                          \
        for (size_t i = 0; i < n; i++) \
            out[i] = (int64_t)(value); \
        break

static int64_t distance(int64_t ts, int64_t launch_ts)
{
    return launch_ts == HS_NO_VALUE ? HS_NO_VALUE : (int64_t)((uint64_t)ts - (uint64_t)launch_ts);
}

void hs_fill_links(const void *rows, size_t at, size_t n, unsigned col, int64_t *out)
{
    const struct hs_links *l = rows;
    switch (col) {
        COLUMN(HS_COL_PARENT, l->parent[at + i] == HS_NO_EVENT ? 0 : (int64_t)(at + i) - l->parent[at + i]);
        COLUMN(HS_COL_DEPTH, l->depth[at + i]);
        COLUMN(HS_COL_STEP, l->step[at + i]);
    }
}

void hs_fill_gpu(const void *rows, size_t at, size_t n, unsigned col, int64_t *out)
{
    const struct hs_gpu_row *r = (const struct hs_gpu_row *)rows + at;
    switch (col) {
        COLUMN(HS_GPU_TS, r[i].ts);
        COLUMN(HS_GPU_DUR, r[i].dur);
        COLUMN(HS_GPU_STREAM, r[i].stream);
        COLUMN(HS_GPU_CORR, r[i].corr);
        COLUMN(HS_GPU_BYTES, r[i].bytes);
        COLUMN(HS_GPU_DELAY, distance(r[i].ts, r[i].launch_ts));
        COLUMN(HS_GPU_LAUNCH_DUR, r[i].launch_dur);
        COLUMN(HS_GPU_EVENT, r[i].event);
        COLUMN(HS_GPU_LAUNCH, r[i].launch == HS_NO_EVENT ? 0 : (int64_t)r[i].event - r[i].launch);
        COLUMN(HS_GPU_NAME, r[i].name);
        COLUMN(HS_GPU_LANE, r[i].lane);
        COLUMN(HS_GPU_DEVICE, r[i].device);
        COLUMN(HS_GPU_STEP, r[i].step);
        COLUMN(HS_GPU_CLS, r[i].cls);
    }
}

void hs_fill_launches(const void *rows, size_t at, size_t n, unsigned col, int64_t *out)
{
    const struct hs_launch_row *r = (const struct hs_launch_row *)rows + at;
    switch (col) {
        COLUMN(HS_LAUNCH_TS, r[i].ts);
        COLUMN(HS_LAUNCH_DUR, r[i].dur);
        COLUMN(HS_LAUNCH_CORR, r[i].corr);
        COLUMN(HS_LAUNCH_EVENT, r[i].event);
        COLUMN(HS_LAUNCH_NAME, r[i].name);
        COLUMN(HS_LAUNCH_LANE, r[i].lane);
        COLUMN(HS_LAUNCH_KERNELS, r[i].kernels);
        COLUMN(HS_LAUNCH_STEP, r[i].step);
    }
}

void hs_fill_steps(const void *rows, size_t at, size_t n, unsigned col, int64_t *out)
{
    const struct hs_step_row *r = (const struct hs_step_row *)rows + at;
    switch (col) {
        COLUMN(0, r[i].ts);
        COLUMN(1, r[i].dur);
        COLUMN(2, r[i].number);
        COLUMN(3, r[i].event);
        COLUMN(4, r[i].lane);
    }
}

void hs_fill_ended(const void *rows, size_t at, size_t n, unsigned col, int64_t *out)
{
    const struct hs_ended *r = (const struct hs_ended *)rows + at;
    switch (col) {
        COLUMN(0, r[i].event);
        COLUMN(1, r[i].dur);
    }
}

void hs_fill_cats(const void *rows, size_t at, size_t n, unsigned col, int64_t *out)
{
    const struct hs_cat_row *r = (const struct hs_cat_row *)rows + at;
    switch (col) {
        COLUMN(0, r[i].cat);
        COLUMN(1, r[i].ph);
        COLUMN(2, r[i].count);
        COLUMN(3, r[i].dur);
    }
}

void hs_fill_lanes(const void *rows, size_t at, size_t n, unsigned col, int64_t *out)
{
    const struct hs_lane_info *r = (const struct hs_lane_info *)rows + at;
    switch (col) {
        COLUMN(0, r[i].pid.kind);
        COLUMN(1, r[i].pid.v);
        COLUMN(2, r[i].tid.kind);
        COLUMN(3, r[i].tid.v);
        COLUMN(4, r[i].process);
        COLUMN(5, r[i].labels);
        COLUMN(6, r[i].thread);
    }
}

void hs_fill_shapes(const void *rows, size_t at, size_t n, unsigned col, int64_t *out)
{
    const struct hs_shape *r = (const struct hs_shape *)rows + at;
    switch (col) {
        COLUMN(0, r[i].count);
    }
}

void hs_fill_fields(const void *rows, size_t at, size_t n, unsigned col, int64_t *out)
{
    const struct hs_field *r = (const struct hs_field *)rows + at;
    switch (col) {
        COLUMN(0, r[i].key);
        COLUMN(1, r[i].column);
        COLUMN(2, r[i].level);
        COLUMN(3, r[i].type);
    }
}

void hs_fill_columns(const void *rows, size_t at, size_t n, unsigned col, int64_t *out)
{
    const struct hs_column *r = (const struct hs_column *)rows + at;
    switch (col) {
        COLUMN(0, r[i].key);
        COLUMN(1, r[i].level);
        COLUMN(2, r[i].type);
        COLUMN(3, r[i].scale);
    }
}

void hs_fill_header(const void *rows, size_t at, size_t n, unsigned col, int64_t *out)
{
    const struct hs_header *r = (const struct hs_header *)rows + at;
    switch (col) {
        COLUMN(0, r[i].key);
        COLUMN(1, r[i].json);
    }
}
