/* What `ingest/link` derives once from a whole trace, for every analysis: the call tree of each thread, which launch
 * each device event came from, the steps, the kernel classes; and the tables of device work, launches and steps.
 * Filled by hs_link (ingest/link.h), written by the store, read back through trace/view.h. All memory is its own. */
#ifndef HS_TRACE_LINKS_H
#define HS_TRACE_LINKS_H

#include "base/mem.h"
#include "trace/model.h"

/* Class of a device event. Told by category first (gpu_memcpy, gpu_memset), then by collective metadata of the kernel, then by
 * name (trace/classes.h), then by the metadata of the operator that launched it. A kernel that is no communication computes. */
enum hs_class { HS_CLASS_COMPUTE = 1, HS_CLASS_COMM = 2, HS_CLASS_MEMCPY = 3, HS_CLASS_MEMSET = 4 };

/* One row per device activity (kernel, memcpy, memset, MTIA work); no sync rows, no annotations. Left out, though kept
 * as events and counted in quality: exact duplicates, time 0 far from the rest, no or huge duration.
 * Sorted by (device, stream, ts, event). */
struct hs_gpu_row {
    int64_t ts, dur;               /* ns; dur >= 0 */
    int64_t stream;                /* -1 unknown */
    int64_t corr;                  /* HS_NO_VALUE */
    int64_t bytes;                 /* of a copy or memset; HS_NO_VALUE */
    int64_t launch_ts, launch_dur; /* of the call that launched it; HS_NO_VALUE without one */
    uint32_t event;
    uint32_t launch; /* event number of that call, HS_NO_EVENT */
    uint32_t name;   /* symbol */
    uint32_t lane;
    int32_t device; /* -1 unknown */
    int32_t step;   /* index into steps, of the launch; -1 none */
    uint8_t cls;    /* hs_class */
};

/* One row per CPU call of a runtime or driver API (cuda_runtime, cuda_driver, hip, mtia_runtime, xpu_…) that has a
 * correlation. Sorted by (ts, event). */
struct hs_launch_row {
    int64_t ts, dur, corr;
    uint32_t event, name, lane;
    uint32_t kernels; /* device rows it launched; more than one under CUDA graphs */
    int32_t step;
};

/* One row per ProfilerStep#N of the CPU side (category user_annotation; of any CPU category where there is none such),
 * sorted by ts. Repeats of one number are rows of their own. */
struct hs_step_row {
    int64_t ts, dur;
    int64_t number;
    uint32_t event, lane;
};

/* Count of events by category and phase; dur is the sum of durations (ns) of those that have one. */
struct hs_cat_row {
    uint32_t cat; /* symbol */
    uint8_t ph;
    int64_t count, dur;
};

/* What `overview` answers without touching a column. Times in ns. */
struct hs_summary {
    int64_t events, cpu_ops, annotations, python, runtime_calls, kernels, memcpys, memsets, syncs, memory_events,
        counters, flows;
    int64_t steps, devices, streams, threads, processes;
    int64_t first_ts, last_end;         /* of all timed X/B events that analyses use; 0,0 when there is none */
    int64_t gpu_first_ts, gpu_last_end; /* of device work; HS_NO_VALUE without any */
    int64_t kernel_ns, memory_ns;       /* sums of durations (work volume) of kernels; of memcpy + memset */
    int64_t comm_ns;                    /* part of kernel_ns that is communication */
    int64_t busy_ns;                    /* per device the union of device work, summed over devices */
};

/* What a begin's end tells of it: how long it took. */
struct hs_ended {
    uint32_t event; /* of phase B or b, without a duration of its own */
    int64_t dur;
};

struct hs_links {
    /* per event, [n] */
    uint32_t *
        parent; /* CPU event: the event it nests in (same lane); device event: the call that launched it; HS_NO_EVENT */
    uint16_t *depth; /* CPU: 0 at the top of its lane; device events: depth of the launch + 1; UINT16_MAX saturates */
    int32_t *step;   /* index into steps; -1 */
    size_t n;

    struct {
        HS_VEC(struct hs_gpu_row);
    } gpu;
    struct {
        HS_VEC(struct hs_launch_row);
    } launches;
    struct {
        HS_VEC(struct hs_step_row);
    } steps;
    struct {
        HS_VEC(struct hs_cat_row);
    } cats; /* by count, descending, then category text, phase */
    struct {
        HS_VEC(struct hs_ended);
    } ended; /* by event */
    struct hs_summary sum;
};

void hs_links_init(struct hs_links *l);
void hs_links_free(struct hs_links *l);

#endif
