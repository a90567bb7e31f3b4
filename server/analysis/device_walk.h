/* The rows of one device in order of start, whatever their streams: the device table is sorted by stream, so this merges the
 * streams as it goes, without copying a row. */
#ifndef HS_ANALYSIS_DEVICE_WALK_H
#define HS_ANALYSIS_DEVICE_WALK_H

#include "analysis/select.h"

struct hs_cursor {
    int64_t ts;     /* of row `at` */
    size_t at, end; /* rows of one stream that are still to come */
};

struct hs_device_walk {
    const struct hs_gpu *gpu;
    size_t next; /* first row after this device */
    int32_t device;
    int64_t limit; /* ts of the second least cursor: up to it the root stays the least */
    struct {
        HS_VEC(struct hs_cursor);
    } heap; /* by (ts, at): the least is at the root */
};

void hs_device_walk_init(struct hs_device_walk *w, const struct hs_gpu *gpu);
void hs_device_walk_free(struct hs_device_walk *w);

/* Goes to the next device (the first at the first call); false: there is none. What was left of the last one is skipped. */
bool hs_device_next(struct hs_device_walk *w);

/* Puts the heap in order after its root has moved on; for hs_device_row. */
void hs_device_reorder(struct hs_device_walk *w);

/* The next row of the device; rows that start together come in order of the table. */
static inline bool hs_device_row(struct hs_device_walk *w, size_t *row)
{
    struct hs_cursor *root = w->heap.p;
    if (!w->heap.n)
        return false;
    *row = root->at++;
    if (root->at == root->end || (root->ts = w->gpu->ts[root->at]) >= w->limit)
        hs_device_reorder(w);
    return true;
}

#endif
