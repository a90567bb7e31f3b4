/* layout: where a trace file keeps its columns (table `segments`; schema/trace). Numbers are part of the file format. */
#ifndef HS_STORE_LAYOUT_H
#define HS_STORE_LAYOUT_H

#include "trace/model.h"

enum hs_tbl {
    HS_TBL_EVENTS = 1, /* column n is bit n of hs_event_column (trace/view.h) */
    HS_TBL_ARGS,       /* column n is argument column n; segments as hs_arg_segment says */
    HS_TBL_GPU,
    HS_TBL_LAUNCHES,
    HS_TBL_STEPS,
    HS_TBL_CATS,
    HS_TBL_LANES,
    HS_TBL_SHAPES,
    HS_TBL_FIELDS,
    HS_TBL_COLUMNS,
    HS_TBL_HEADER,
    HS_TBL_ENDED /* struct hs_ended: event, dur; none in files of before it was there */
};

enum hs_col_event {
    HS_COL_TS,
    HS_COL_DUR,
    HS_COL_NAME,
    HS_COL_CAT,
    HS_COL_LANE,
    HS_COL_PH,
    HS_COL_PARENT, /* event - parent, so that neighbours look alike; 0: none */
    HS_COL_DEPTH,
    HS_COL_STEP,
    HS_COL_SHAPE,
    HS_COL_DIGITS,
    HS_EVENT_COLS
};

enum hs_col_gpu {
    HS_GPU_TS,
    HS_GPU_DUR,
    HS_GPU_STREAM,
    HS_GPU_CORR,
    HS_GPU_BYTES,
    HS_GPU_DELAY, /* ts - launch_ts; HS_NO_VALUE without a launch */
    HS_GPU_LAUNCH_DUR,
    HS_GPU_EVENT,
    HS_GPU_LAUNCH, /* event - launch; 0: none */
    HS_GPU_NAME,
    HS_GPU_LANE,
    HS_GPU_DEVICE,
    HS_GPU_STEP,
    HS_GPU_CLS,
    HS_GPU_COLS
};

enum hs_col_launch {
    HS_LAUNCH_TS,
    HS_LAUNCH_DUR,
    HS_LAUNCH_CORR,
    HS_LAUNCH_EVENT,
    HS_LAUNCH_NAME,
    HS_LAUNCH_LANE,
    HS_LAUNCH_KERNELS,
    HS_LAUNCH_STEP,
    HS_LAUNCH_COLS
};

static inline int64_t hs_segment_key(enum hs_tbl tbl, uint32_t col, uint64_t segment)
{
    return (int64_t)((uint64_t)tbl << 48 | (uint64_t)(col & 0xffffff) << 24 | (segment & 0xffffff));
}

/* Values of an argument in one segment of events. An odd event may have a key many times, so there may be more values
 * than rows: they are cut into parts of HS_SEG_ROWS. */
#define HS_ARG_PARTS 256u
static inline uint64_t hs_arg_segment(uint64_t segment, uint32_t part)
{
    return segment * HS_ARG_PARTS + part;
}

/* The members of hs_summary, by the names they have in the file. (clang-format never agrees with itself about it.) */
/* clang-format off */
#define HS_SUMMARY_MEMBERS(X) \
    X(events) X(cpu_ops) X(annotations) X(python) X(runtime_calls) X(kernels) X(memcpys) X(memsets) X(syncs) \
    X(memory_events) X(counters) X(flows) X(steps) X(devices) X(streams) X(threads) X(processes) X(first_ts) \
    X(last_end) X(gpu_first_ts) X(gpu_last_end) X(kernel_ns) X(memory_ns) X(comm_ns) X(busy_ns)
/* clang-format on */

#define HS_APPLICATION_ID 0x484f4c4f  /* "HOLO" */
#define HS_SYMBOL_CHUNK (256u * 1024) /* bytes of text after which a chunk of symbols is closed */

#endif
