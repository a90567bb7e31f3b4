/* Bandwidth of copies and memsets over time, by device and kind: shared by memory-bandwidth and memory-bandwidth-series.
 *
 * A copy moves its bytes evenly over its duration: bytes / duration. What runs at once adds up. Inside, bandwidth is whole
 * bytes per second, so that it is exactly zero when the last copy ends. */
#ifndef HS_ANALYSIS_BANDWIDTH_H
#define HS_ANALYSIS_BANDWIDTH_H

#include "analysis/select.h"
#include "analysis/series.h"

/* Kind of a copy or memset: "Memcpy HtoD", "Memcpy DtoH", "Memcpy DtoD", "Memcpy PtoP", "Memset", …, "Memcpy Unknown".
 * ROCm's CopyHostToDevice and the like are the same kinds. Points into the name or to a constant. */
struct hs_str hs_memory_kind(struct hs_str name, unsigned cls);

struct hs_bandwidth {
    int32_t device;
    struct hs_str kind;
    int64_t copies, bytes;   /* that start in the window and tell their bytes */
    struct hs_series series; /* bytes per second; cut at the window; file time */
};

/* Walks (device, kind) of a rank, ascending:
 *     int rc = hs_bandwidth_open(&w, &sel, err);
 *     while (!rc && hs_bandwidth_next(&w, &b)) …
 *     hs_bandwidth_end(&w, out);      frees, and notes what was left out; also after a failure
 * The series belongs to the walk and is valid until the next step. */
struct hs_bandwidth_walk {
    const struct hs_select *s;
    struct hs_copy *copies; /* by device, kind */
    size_t n, i;
    struct hs_series series;
    struct hs_changes changes;
    int64_t sizeless, timeless, estimated;
};
int hs_bandwidth_open(struct hs_bandwidth_walk *w, const struct hs_select *s, struct hs_err *err);
bool hs_bandwidth_next(struct hs_bandwidth_walk *w, struct hs_bandwidth *out);
void hs_bandwidth_end(struct hs_bandwidth_walk *w, struct hs_table *out);

#endif
