#include "store/view_columns.h"

#include <stdlib.h>
#include <string.h>

/* ---- one column ---- */

/* How numbers of a column are kept in memory, and what they may be. */
enum form { F_I64, F_U32, F_U16, F_U8, F_I32 };

struct target {
    enum form form;
    int64_t least, most; /* inclusive; anything else is damage */
};

static const size_t form_size[] = {[F_I64] = 8, [F_U32] = 4, [F_U16] = 2, [F_U8] = 1, [F_I32] = 4};

#define NARROW(type)               \
    for (size_t i = 0; i < n; i++) \
    ((type *)out)[at + i] = (type)v[i]

static void narrow(enum form form, const int64_t *v, size_t n, void *out, size_t at)
{
    switch (form) {
    case F_U32: NARROW(uint32_t); break;
    case F_U16: NARROW(uint16_t); break;
    case F_U8: NARROW(uint8_t); break;
    case F_I32: NARROW(int32_t); break;
    case F_I64: break;
    }
}

static bool within(const int64_t *v, size_t n, int64_t least, int64_t most)
{
    bool bad = false;
    for (size_t i = 0; i < n; i++)
        bad |= (v[i] < least) | (v[i] > most);
    return !bad;
}

/* Decodes a whole column of n rows into fresh memory. */
static int load(struct hs_view_file *f, enum hs_tbl tbl, uint32_t col, size_t n, struct target t, void *out_pointer,
                struct hs_err *err)
{
    void *out = NULL;
    int rc = hs_view_alloc(f, &out, n, form_size[t.form], err);
    for (size_t at = 0, k = 0; !rc && at < n; at += HS_SEG_ROWS, k++) {
        size_t len = n - at < HS_SEG_ROWS ? n - at : HS_SEG_ROWS;
        int64_t *v = t.form == F_I64 ? (int64_t *)out + at : f->tmp;
        rc = hs_view_segment(f, tbl, col, k, v, len, err);
        if (!rc && !within(v, len, t.least, t.most))
            rc = hs_view_damaged(f, err, "a number is out of range");
        if (!rc)
            narrow(t.form, v, len, out, at);
    }
    if (rc) {
        free(out);
        return rc;
    }
    memcpy(out_pointer, &out, sizeof out);
    return HS_OK;
}

/* ---- events ---- */

static const unsigned all_columns = (1u << HS_EVENT_COLS) - 1;

/* Event numbers that the file keeps as distances: `from[i] - distance`, 0 is none. */
static int undo_distance(const struct hs_view_file *f, const int64_t *distance, size_t n, size_t at,
                         const uint32_t *from, uint32_t *out)
{
    bool bad = false;
    for (size_t i = 0; i < n; i++) {
        int64_t own = from ? from[at + i] : (int64_t)(at + i);
        int64_t other = (int64_t)((uint64_t)own - (uint64_t)distance[i]);
        bad |= distance[i] && (other < 0 || other >= (int64_t)f->events);
        out[at + i] = distance[i] ? (uint32_t)other : HS_NO_EVENT;
    }
    return bad;
}

/* Parents lead upwards to an event without one. In a sound file a parent's depth is less than its child's, which shows
 * that at once; where depths do not (they saturate), the chains themselves are followed, each event once. */
static int check_parents(struct hs_view_file *f, const uint32_t *parent, const uint16_t *depth, struct hs_err *err)
{
    size_t n = (size_t)f->events;
    bool steps_up = true;
    for (size_t i = 0; i < n; i++)
        if (parent[i] != HS_NO_EVENT)
            steps_up &= depth[parent[i]] < depth[i];
    if (steps_up)
        return HS_OK;
    uint32_t *walk = calloc(n, sizeof *walk); /* number of the walk that saw the event; 0: none yet */
    int rc = walk ? HS_OK : hs_fail(err, HS_ELIMIT, "not enough memory to check %zu events", n);
    for (size_t i = 0; !rc && i < n; i++)
        for (uint32_t e = (uint32_t)i; e != HS_NO_EVENT; e = parent[e]) {
            if (walk[e] == (uint32_t)i + 1)
                rc = hs_view_damaged(f, err, "events are their own ancestors");
            if (walk[e])
                break;
            walk[e] = (uint32_t)i + 1;
        }
    free(walk);
    return rc;
}

static int load_parents(struct hs_view_file *f, struct hs_err *err)
{
    size_t n = (size_t)f->events;
    uint32_t *out = NULL;
    int rc = hs_file_load_events(f, HS_EV_DEPTH, err);
    if (!rc)
        rc = hs_view_alloc(f, (void **)&out, n, sizeof *out, err);
    for (size_t at = 0, k = 0; !rc && at < n; at += HS_SEG_ROWS, k++) {
        size_t len = hs_view_segment_rows(f, k);
        rc = hs_view_segment(f, HS_TBL_EVENTS, HS_COL_PARENT, k, f->tmp, len, err);
        if (!rc && undo_distance(f, f->tmp, len, at, NULL, out))
            rc = hs_view_damaged(f, err, "a parent is no event");
    }
    if (!rc)
        rc = check_parents(f, out, f->ev.depth, err);
    if (rc) {
        free(out);
        return rc;
    }
    f->ev.parent = out;
    return HS_OK;
}

static int load_event_column(struct hs_view_file *f, enum hs_col_event col, struct hs_err *err)
{
    size_t n = (size_t)f->events;
    struct hs_events *ev = &f->ev;
    const struct target any = {F_I64, INT64_MIN, INT64_MAX}, sym = {F_U32, 0, (int64_t)f->base.nsyms - 1};
    const struct target lane = {F_U32, 0, (int64_t)f->base.nlanes - 1}, shape = {F_U32, 0, (int64_t)f->nshapes - 1};
    const struct target u16 = {F_U16, 0, UINT16_MAX}, u8 = {F_U8, 0, UINT8_MAX};
    const struct target step = {F_I32, -1, (int64_t)f->base.nsteps - 1};
    switch (col) {
    case HS_COL_TS: return load(f, HS_TBL_EVENTS, col, n, any, &ev->ts, err);
    case HS_COL_DUR: return load(f, HS_TBL_EVENTS, col, n, any, &ev->dur, err);
    case HS_COL_NAME: return load(f, HS_TBL_EVENTS, col, n, sym, &ev->name, err);
    case HS_COL_CAT: return load(f, HS_TBL_EVENTS, col, n, sym, &ev->cat, err);
    case HS_COL_LANE: return load(f, HS_TBL_EVENTS, col, n, lane, &ev->lane, err);
    case HS_COL_PH: return load(f, HS_TBL_EVENTS, col, n, u8, &ev->ph, err);
    case HS_COL_PARENT: return load_parents(f, err);
    case HS_COL_DEPTH: return load(f, HS_TBL_EVENTS, col, n, u16, &ev->depth, err);
    case HS_COL_STEP: return load(f, HS_TBL_EVENTS, col, n, step, &ev->step, err);
    case HS_COL_SHAPE: return load(f, HS_TBL_EVENTS, col, n, shape, &ev->shape, err);
    case HS_COL_DIGITS: return load(f, HS_TBL_EVENTS, col, n, u8, &ev->digits, err);
    case HS_EVENT_COLS: break;
    }
    return HS_OK;
}

int hs_file_load_events(struct hs_view_file *f, unsigned columns, struct hs_err *err)
{
    for (unsigned c = 0; c < HS_EVENT_COLS; c++) {
        unsigned bit = 1u << c;
        if (!(columns & bit) || f->have & bit)
            continue;
        int rc = load_event_column(f, (enum hs_col_event)c, err);
        if (rc)
            return rc;
        f->have |= bit;
    }
    return HS_OK;
}

int hs_file_events(struct hs_view *v, unsigned columns, struct hs_events *out, struct hs_err *err)
{
    struct hs_view_file *f = hs_view_file(v);
    pthread_mutex_lock(&f->lock);
    int rc = hs_file_load_events(f, columns & all_columns, err);
    if (!rc) {
        *out = (struct hs_events){.n = f->ev.n};
#define GIVE(bit, member) \
    if (columns & (bit))  \
    out->member = f->ev.member
        GIVE(HS_EV_TS, ts);
        GIVE(HS_EV_DUR, dur);
        GIVE(HS_EV_NAME, name);
        GIVE(HS_EV_CAT, cat);
        GIVE(HS_EV_LANE, lane);
        GIVE(HS_EV_PH, ph);
        GIVE(HS_EV_PARENT, parent);
        GIVE(HS_EV_DEPTH, depth);
        GIVE(HS_EV_STEP, step);
        GIVE(HS_EV_SHAPE, shape);
        GIVE(HS_EV_DIGITS, digits);
#undef GIVE
    }
    pthread_mutex_unlock(&f->lock);
    return rc;
}

/* ---- device work ---- */

/* The launch's time from its distance, and its event number. */
static int load_gpu_launch(struct hs_view_file *f, struct hs_gpu *g, struct hs_err *err)
{
    int64_t *launch_ts = NULL;
    uint32_t *launch = NULL;
    const struct target any = {F_I64, INT64_MIN, INT64_MAX};
    int rc = load(f, HS_TBL_GPU, HS_GPU_DELAY, g->n, any, &launch_ts, err);
    for (size_t i = 0; !rc && i < g->n; i++)
        if (launch_ts[i] != HS_NO_VALUE)
            launch_ts[i] = (int64_t)((uint64_t)g->ts[i] - (uint64_t)launch_ts[i]);
    g->launch_ts = launch_ts;
    if (!rc)
        rc = hs_view_alloc(f, (void **)&launch, g->n, sizeof *launch, err);
    g->launch = launch;
    for (size_t at = 0, k = 0; !rc && at < g->n; at += HS_SEG_ROWS, k++) {
        size_t len = g->n - at < HS_SEG_ROWS ? g->n - at : HS_SEG_ROWS;
        rc = hs_view_segment(f, HS_TBL_GPU, HS_GPU_LAUNCH, k, f->tmp, len, err);
        if (!rc && undo_distance(f, f->tmp, len, at, g->event, launch))
            rc = hs_view_damaged(f, err, "a launch is no event");
    }
    return rc;
}

static void free_gpu(struct hs_gpu *g)
{
    const void *all[] = {g->ts,    g->dur,    g->stream, g->corr, g->bytes,  g->launch_ts, g->launch_dur,
                         g->event, g->launch, g->name,   g->lane, g->device, g->step,      g->cls};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free((void *)(uintptr_t)all[i]);
}

static int load_gpu(struct hs_view_file *f, struct hs_err *err)
{
    struct hs_gpu g = {0};
    const struct target any = {F_I64, INT64_MIN, INT64_MAX}, time = {F_I64, 0, INT64_MAX};
    const struct target event = {F_U32, 0, (int64_t)f->events - 1}, sym = {F_U32, 0, (int64_t)f->base.nsyms - 1};
    const struct target lane = {F_U32, 0, (int64_t)f->base.nlanes - 1}, device = {F_I32, INT32_MIN, INT32_MAX};
    const struct target step = {F_I32, -1, (int64_t)f->base.nsteps - 1},
                        cls = {F_U8, HS_CLASS_COMPUTE, HS_CLASS_MEMSET};
    const struct {
        enum hs_col_gpu col;
        struct target t;
        void *out;
    } plain[] = {
        {HS_GPU_TS, any, &g.ts},         {HS_GPU_DUR, time, &g.dur},
        {HS_GPU_STREAM, any, &g.stream}, {HS_GPU_CORR, any, &g.corr},
        {HS_GPU_BYTES, any, &g.bytes},   {HS_GPU_LAUNCH_DUR, any, &g.launch_dur},
        {HS_GPU_EVENT, event, &g.event}, {HS_GPU_NAME, sym, &g.name},
        {HS_GPU_LANE, lane, &g.lane},    {HS_GPU_DEVICE, device, &g.device},
        {HS_GPU_STEP, step, &g.step},    {HS_GPU_CLS, cls, &g.cls},
    };
    int rc = hs_view_rows(f, HS_TBL_GPU, &g.n, err);
    for (size_t i = 0; !rc && i < sizeof plain / sizeof plain[0]; i++)
        rc = load(f, HS_TBL_GPU, plain[i].col, g.n, plain[i].t, plain[i].out, err);
    if (!rc)
        rc = load_gpu_launch(f, &g, err);
    if (rc) {
        free_gpu(&g);
        return rc;
    }
    f->gpu = g;
    f->has_gpu = true;
    return HS_OK;
}

int hs_file_gpu(struct hs_view *v, struct hs_gpu *out, struct hs_err *err)
{
    struct hs_view_file *f = hs_view_file(v);
    int rc = HS_OK;
    pthread_mutex_lock(&f->lock);
    if (!f->has_gpu)
        rc = load_gpu(f, err);
    if (!rc)
        *out = f->gpu;
    pthread_mutex_unlock(&f->lock);
    return rc;
}

/* ---- launches ---- */

static int put_launch(struct hs_view_file *f, struct hs_launch_row *rows, enum hs_col_launch col, const int64_t *v,
                      size_t n)
{
    int64_t least = 0, most = 0;
    switch (col) {
    case HS_LAUNCH_EVENT: most = (int64_t)f->events - 1; break;
    case HS_LAUNCH_NAME: most = (int64_t)f->base.nsyms - 1; break;
    case HS_LAUNCH_LANE: most = (int64_t)f->base.nlanes - 1; break;
    case HS_LAUNCH_KERNELS: most = UINT32_MAX; break;
    case HS_LAUNCH_STEP:
        least = -1;
        most = (int64_t)f->base.nsteps - 1;
        break;
    default: least = INT64_MIN, most = INT64_MAX; break;
    }
    if (!within(v, n, least, most))
        return 1;
    for (size_t i = 0; i < n; i++)
        switch (col) {
        case HS_LAUNCH_TS: rows[i].ts = v[i]; break;
        case HS_LAUNCH_DUR: rows[i].dur = v[i]; break;
        case HS_LAUNCH_CORR: rows[i].corr = v[i]; break;
        case HS_LAUNCH_EVENT: rows[i].event = (uint32_t)v[i]; break;
        case HS_LAUNCH_NAME: rows[i].name = (uint32_t)v[i]; break;
        case HS_LAUNCH_LANE: rows[i].lane = (uint32_t)v[i]; break;
        case HS_LAUNCH_KERNELS: rows[i].kernels = (uint32_t)v[i]; break;
        case HS_LAUNCH_STEP: rows[i].step = (int32_t)v[i]; break;
        case HS_LAUNCH_COLS: break;
        }
    return 0;
}

static int load_launches(struct hs_view_file *f, struct hs_err *err)
{
    struct hs_launch_row *rows = NULL;
    size_t n = 0;
    int rc = hs_view_rows(f, HS_TBL_LAUNCHES, &n, err);
    if (!rc)
        rc = hs_view_alloc(f, (void **)&rows, n, sizeof *rows, err);
    for (size_t at = 0, k = 0; !rc && at < n; at += HS_SEG_ROWS, k++) {
        size_t len = n - at < HS_SEG_ROWS ? n - at : HS_SEG_ROWS;
        for (unsigned c = 0; !rc && c < HS_LAUNCH_COLS; c++) {
            rc = hs_view_segment(f, HS_TBL_LAUNCHES, c, k, f->tmp, len, err);
            if (!rc && put_launch(f, rows + at, (enum hs_col_launch)c, f->tmp, len))
                rc = hs_view_damaged(f, err, "a launch does not fit");
        }
    }
    if (rc) {
        free(rows);
        return rc;
    }
    f->launches = rows;
    f->nlaunches = n;
    f->has_launches = true;
    return HS_OK;
}

int hs_file_launches(struct hs_view *v, const struct hs_launch_row **rows, size_t *n, struct hs_err *err)
{
    struct hs_view_file *f = hs_view_file(v);
    int rc = HS_OK;
    pthread_mutex_lock(&f->lock);
    if (!f->has_launches)
        rc = load_launches(f, err);
    if (!rc) {
        *rows = f->launches;
        *n = f->nlaunches;
    }
    pthread_mutex_unlock(&f->lock);
    return rc;
}

void hs_file_free_columns(struct hs_view_file *f)
{
    const void *all[] = {f->ev.ts,    f->ev.dur,   f->ev.name, f->ev.cat, f->ev.lane,   f->ev.parent,
                         f->ev.shape, f->ev.depth, f->ev.step, f->ev.ph,  f->ev.digits, f->launches};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free((void *)(uintptr_t)all[i]);
    free_gpu(&f->gpu);
}
