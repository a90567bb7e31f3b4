/* One lane of a timeline at the level of detail that a screen can show: what is wide enough stands whole, the rest is summed
 * into bins one pixel wide, and neighbouring bins that look alike are joined. So a lane's rows are bounded by pixels,
 * whatever the number of its events. Used by analysis/timeline.c.
 *
 * Times are on the run's clock. One lane is open at a time; not thread-safe. */
#ifndef HS_ANALYSIS_TIMELINE_LANE_H
#define HS_ANALYSIS_TIMELINE_LANE_H

#include "analysis/gaps.h"
#include "trace/table.h"

enum hs_lane_kind { HS_LANE_STEPS, HS_LANE_GPU, HS_LANE_CPU };

/* What kind of work an item is; five a lane kind: bins count them apart. */
enum hs_item_class {
    HS_ITEM_COMPUTE,
    HS_ITEM_COMM,
    HS_ITEM_MEMCPY,
    HS_ITEM_MEMSET,
    HS_ITEM_DEVICE_OTHER,
    HS_ITEM_OP,
    HS_ITEM_RUNTIME,
    HS_ITEM_ANNOTATION,
    HS_ITEM_PYTHON,
    HS_ITEM_CPU_OTHER
};

struct hs_item {
    int64_t start, end;
    uint32_t name; /* symbol; in a lane of steps the index into the view's steps */
    uint32_t event;
    enum hs_item_class cls;
};

struct hs_lane_label {
    int64_t rank;
    enum hs_lane_kind kind;
    const char *id;   /* stable: "0/gpu/0/7", "0/cpu/12/34", "0/steps" */
    const char *text; /* for people: "GPU 0 stream 7" */
    int depth;        /* of a CPU lane's row of calls; -1: does not apply */
};

struct hs_lane_bins;

/* px pixels over [from, to), from < to; items and gaps of at least min_px pixels stand whole. Rows have the columns of
 * analysis/timeline.c. */
struct hs_lane_bins *hs_lane_bins_new(int64_t from, int64_t to, size_t px, double min_px, struct hs_table *out);
void hs_lane_bins_free(struct hs_lane_bins *b);

/* A row of kind "lane" that announces the lane: its whole extent and number of events, in the window or not. */
void hs_lane_announce(struct hs_lane_bins *b, const struct hs_lane_label *l, int64_t start, int64_t end, int64_t count);

/* An item that touches the window. `busy_from`: start of the part of it that no earlier item of the lane covers (its start
 * where items never overlap): only that adds to busy time. Any order. */
void hs_lane_item(struct hs_lane_bins *b, const struct hs_item *item, int64_t busy_from);
void hs_lane_gap(struct hs_lane_bins *b, struct hs_span at, enum hs_cause cause, uint32_t next_name,
                 uint32_t next_event);

/* Writes the lane's rows in order of time and empties the bins. */
void hs_lane_write(struct hs_lane_bins *b, const struct hs_lane_label *l, const struct hs_view *v);

#endif
