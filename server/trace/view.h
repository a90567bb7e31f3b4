/* A view: one trace opened for reading, its columns decoded in memory when first asked for. Analyses know traces only
 * through this header; the store (or a test, with plain arrays) stands behind it.
 *
 * Lifetime and threads: a view is reference counted by its owner (store/views.h pins and unpins it); while it is pinned,
 * every pointer handed out stays valid and unchanged. All functions may be called from several threads at once. */
#ifndef HS_TRACE_VIEW_H
#define HS_TRACE_VIEW_H

#include "base/mem.h"
#include "trace/links.h"
#include "trace/model.h"

/* Columns of all events, in event order. Only those asked for are set; the others are NULL. */
enum hs_event_column {
    HS_EV_TS = 1u << 0,
    HS_EV_DUR = 1u << 1,
    HS_EV_NAME = 1u << 2,
    HS_EV_CAT = 1u << 3,
    HS_EV_LANE = 1u << 4,
    HS_EV_PH = 1u << 5,
    HS_EV_PARENT = 1u << 6,
    HS_EV_DEPTH = 1u << 7,
    HS_EV_STEP = 1u << 8,
    HS_EV_SHAPE = 1u << 9,
    HS_EV_DIGITS = 1u << 10
};
struct hs_events {
    size_t n;
    const int64_t *ts,
        *dur; /* as written, of a begin until its end; see HS_EV_DUR's users for clamping: negative counts as 0 */
    const uint32_t *name, *cat, *lane, *parent, *shape;
    const uint16_t *depth;
    const int32_t *step;
    const uint8_t *ph, *digits;
};

/* For those of events_at, which are the caller's. */
void hs_events_free(struct hs_events *ev);

/* The device table as columns; rows as in struct hs_gpu_row, same order. hs_view_gpu sets all, hs_view_gpu_columns at least
 * those asked for. */
enum hs_gpu_column {
    HS_DEV_TS = 1u << 0,
    HS_DEV_DUR = 1u << 1,
    HS_DEV_STREAM = 1u << 2,
    HS_DEV_CORR = 1u << 3,
    HS_DEV_BYTES = 1u << 4,
    HS_DEV_LAUNCH_TS = 1u << 5,
    HS_DEV_LAUNCH_DUR = 1u << 6,
    HS_DEV_EVENT = 1u << 7,
    HS_DEV_LAUNCH = 1u << 8,
    HS_DEV_NAME = 1u << 9,
    HS_DEV_LANE = 1u << 10,
    HS_DEV_DEVICE = 1u << 11,
    HS_DEV_STEP = 1u << 12,
    HS_DEV_CLS = 1u << 13,
    HS_DEV_ALL = (1u << 14) - 1
};
struct hs_gpu {
    size_t n;
    const int64_t *ts, *dur, *stream, *corr, *bytes, *launch_ts, *launch_dur;
    const uint32_t *event, *launch, *name, *lane;
    const int32_t *device, *step;
    const uint8_t *cls;
};

struct hs_lane_info {
    struct hs_id pid, tid;
    uint32_t process, labels, thread; /* symbols of the names that metadata gives; 0 none */
};

struct hs_view {
    char id[33];        /* trace id: 32 hex digits; "" for one that is kept nowhere */
    const char *name;   /* file name as given */
    int64_t rank;       /* as resolved (explicit, distributedInfo, file name, order) */
    int64_t world_size; /* -1 unknown */
    bool has_base;
    int64_t base_ns; /* baseTimeNanoseconds; add it to a time for unix ns, where has_base */
    struct hs_summary sum;
    struct hs_quality quality;
    int64_t hta_rank; /* as hs_trace */
    size_t nsyms, nlanes, nsteps, ncats, nheader;
    size_t nshapes, nfields; /* what HS_EV_SHAPE's numbers mean; as in hs_trace */
    const struct hs_shape *shapes;
    const struct hs_field *fields;
    const struct hs_str *syms;
    const struct hs_lane_info *lanes;
    const struct hs_step_row *steps;
    const struct hs_cat_row *cats;
    const struct hs_header *header;
    const struct hs_view_ops *ops;
};

struct hs_sparse {
    size_t n;
    const uint32_t *event;
    const int64_t *v; /* never HS_NO_VALUE */
};

/* Such an argument walked along with ascending events: its value, HS_NO_VALUE where the event lacks it. */
struct hs_sparse_walk {
    struct hs_sparse list;
    size_t at;
};
static inline int64_t hs_sparse_at(struct hs_sparse_walk *w, uint32_t event)
{
    while (w->at < w->list.n && w->list.event[w->at] < event)
        w->at++;
    return w->at < w->list.n && w->list.event[w->at] == event ? w->list.v[w->at] : HS_NO_VALUE;
}

struct hs_event_reader;

/* What stands behind a view. Each returns 0 or a status with a message. */
struct hs_view_ops {
    int (*events)(struct hs_view *v, unsigned columns, struct hs_events *out, struct hs_err *err);
    /* The same (but HS_EV_PARENT) of n events only, ascending, for who needs few of many: out->ts[i] is that of event[i]. The
     * view keeps none of it: the caller frees it with hs_events_free. */
    int (*events_at)(struct hs_view *v, unsigned columns, const uint32_t *event, size_t n, struct hs_events *out,
                     struct hs_err *err);
    int (*gpu)(struct hs_view *v, unsigned columns, struct hs_gpu *out, struct hs_err *err);
    int (*launches)(struct hs_view *v, const struct hs_launch_row **rows, size_t *n, struct hs_err *err);
    /* One argument of every event: HS_NO_VALUE / NaN / HS_NO_SYM where an event lacks it or has another type. Level as in
     * hs_field. The i64 form also reads integers written as text; the f64 form reads INT and DEC and numeric text; the
     * sym form gives HS_V_STR values only, the json form the JSON text of HS_V_RAW values only (arrays and objects). */
    int (*arg_i64)(struct hs_view *v, const char *key, int level, const int64_t **out, struct hs_err *err);
    int (*arg_f64)(struct hs_view *v, const char *key, int level, const double **out, struct hs_err *err);
    int (*arg_sym)(struct hs_view *v, const char *key, int level, const uint32_t **out, struct hs_err *err);
    int (*arg_json)(struct hs_view *v, const char *key, int level, const uint32_t **out, struct hs_err *err);
    /* The i64 form of an argument that few events have: only those that have it, ascending. Lists that run in step (the
     * arguments of one kind of event, all of them there) have the same `event`. */
    int (*arg_sparse)(struct hs_view *v, const char *key, int level, struct hs_sparse *out, struct hs_err *err);
    /* The event, whole, as JSON text, its fields in their order with their types and digits. */
    int (*event_json)(struct hs_view *v, uint32_t event, struct hs_buf *out, struct hs_err *err);
    /* The same for who walks through many events, ascending: a reader has its own place in the trace, while event_json has
     * one for all callers, and two that walk at once would send each other back to the beginning of a segment at every
     * event. One thread at a time uses a reader. */
    struct hs_event_reader *(*reader_new)(struct hs_view *v);
    int (*reader_json)(struct hs_event_reader *r, uint32_t event, struct hs_buf *out, struct hs_err *err);
    void (*reader_free)(struct hs_event_reader *r); /* NULL is fine */
};

static inline struct hs_str hs_view_str(const struct hs_view *v, uint32_t sym)
{
    return sym < v->nsyms ? v->syms[sym] : hs_str("", 0);
}

/* Symbol of a text, HS_NO_SYM if the trace does not have it. Linear in the number of symbols: look up once, not per row. */
uint32_t hs_view_sym(const struct hs_view *v, const char *text);

static inline int hs_view_events(struct hs_view *v, unsigned columns, struct hs_events *out, struct hs_err *err)
{
    return v->ops->events(v, columns, out, err);
}
static inline int hs_view_gpu(struct hs_view *v, struct hs_gpu *out, struct hs_err *err)
{
    return v->ops->gpu(v, HS_DEV_ALL, out, err);
}
/* For who needs few of them: on 400 000 rows, five instead of fourteen save 10 ms of a cold answer. */
static inline int hs_view_gpu_columns(struct hs_view *v, unsigned columns, struct hs_gpu *out, struct hs_err *err)
{
    return v->ops->gpu(v, columns, out, err);
}

/* What torch's export_memory_timeline writes as .raw.json.gz is no trace but a list of [time_ns, action, bytes, category].
 * It is kept as one instant `[memory]` an entry, of the category below, with args Action, Bytes and Category; a time below
 * 0 means that it was allocated before the recording began. Times are unix time. No analysis but memory-timeline has any
 * use for it, and it must not count as a rank beside traces. */
#define HS_MEMORY_TIMELINE "memory_timeline"
bool hs_view_is_memory_timeline(const struct hs_view *v);

/* Several ranks as one thing to ask: the argument of every analysis. The views are pinned by whoever built it.
 * offset_ns: add it to a rank's times to bring all ranks on one clock (base_ns where all ranks have one, else 0), minus
 * a common origin so that the numbers stay small; `origin_ns` is that origin in unix ns, or 0 when unknown. */
struct hs_run_rank {
    int64_t rank;
    int64_t offset_ns;
    struct hs_view *view;
};
struct hs_run {
    const char *name;
    size_t n; /* ranks, ascending by rank, then by name */
    struct hs_run_rank *ranks;
    int64_t origin_ns;
    struct hs_run *other; /* the second run of an analysis that compares two (this one is the base); else NULL */
    const char *note;     /* to be said with every answer about it (it could not be kept); NULL */
};

#endif
