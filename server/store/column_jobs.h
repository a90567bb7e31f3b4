/* column_jobs: encodes many columns at once, on two threads. When the links of a trace are written nothing else has work
 * left, so the second core would stand idle.
 *
 * A job names one column of one segment and a function that gives its numbers; running it fills in the blob. */
#ifndef HS_STORE_COLUMN_JOBS_H
#define HS_STORE_COLUMN_JOBS_H

#include "base/mem.h"
#include "store/encode.h"
#include "store/layout.h"

/* Puts the numbers of rows [at, at + n) of a column into out. */
typedef void hs_fill_fn(const void *rows, size_t at, size_t n, unsigned col, int64_t *out);

struct hs_column_job {
    enum hs_tbl tbl;
    uint32_t col;
    uint64_t segment;
    const void *rows;
    size_t at, n;
    hs_fill_fn *fill;
    /* the result */
    struct hs_buf blob;
    int64_t min, max;
};

#define HS_JOBS 64 /* at a time: what is encoded stands in memory until it is written */

struct hs_column_jobs {
    struct hs_column_job job[HS_JOBS];
    size_t n;
    struct hs_encoder *encoder[2];
    int64_t *numbers[2]; /* HS_SEG_ROWS each */
};

struct hs_column_jobs *hs_column_jobs_new(void);
void hs_column_jobs_free(struct hs_column_jobs *j);

/* Adds one; there must be room (n < HS_JOBS). */
void hs_column_jobs_add(struct hs_column_jobs *j, enum hs_tbl tbl, uint32_t col, uint64_t segment, const void *rows,
                        size_t at, size_t n, hs_fill_fn *fill);
/* Encodes all that were added; the caller takes the blobs and sets n = 0. */
void hs_column_jobs_run(struct hs_column_jobs *j);

#endif
