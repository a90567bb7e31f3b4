#include "store/view_columns.h"

#include "store/column_load.h"

#include <stdlib.h>
#include <string.h>

static bool within(const int64_t *v, size_t n, int64_t least, int64_t most)
{
    bool bad = false;
    for (size_t i = 0; i < n; i++)
        bad |= (v[i] < least) | (v[i] > most);
    return !bad;
}

/* ---- events ---- */

static const unsigned all_columns = (1u << HS_EVENT_COLS) - 1;

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

/* What each column holds: its form, and the range outside of which a number is damage. */
static struct hs_column_load event_column(const struct hs_view_file *f, enum hs_col_event col)
{
    struct hs_column_load l = {.tbl = HS_TBL_EVENTS, .col = col, .n = (size_t)f->events, .form = HS_FORM_U32};
    switch (col) {
    case HS_COL_TS:
    case HS_COL_DUR:
        l.form = HS_FORM_I64;
        l.least = INT64_MIN;
        l.most = INT64_MAX;
        break;
    case HS_COL_NAME:
    case HS_COL_CAT: l.most = (int64_t)f->base.nsyms - 1; break;
    case HS_COL_LANE: l.most = (int64_t)f->base.nlanes - 1; break;
    case HS_COL_SHAPE: l.most = (int64_t)f->nshapes - 1; break;
    case HS_COL_PARENT:
        l.distance = true;
        l.most = (int64_t)f->events - 1;
        break;
    case HS_COL_DEPTH:
        l.form = HS_FORM_U16;
        l.most = UINT16_MAX;
        break;
    case HS_COL_STEP:
        l.form = HS_FORM_I32;
        l.least = -1;
        l.most = (int64_t)f->base.nsteps - 1;
        break;
    case HS_COL_PH:
    case HS_COL_DIGITS:
        l.form = HS_FORM_U8;
        l.most = UINT8_MAX;
        break;
    case HS_EVENT_COLS: break;
    }
    return l;
}

static void keep_event_column(struct hs_events *ev, enum hs_col_event col, void *out)
{
    switch (col) {
    case HS_COL_TS: ev->ts = out; break;
    case HS_COL_DUR: ev->dur = out; break;
    case HS_COL_NAME: ev->name = out; break;
    case HS_COL_CAT: ev->cat = out; break;
    case HS_COL_LANE: ev->lane = out; break;
    case HS_COL_PH: ev->ph = out; break;
    case HS_COL_PARENT: ev->parent = out; break;
    case HS_COL_DEPTH: ev->depth = out; break;
    case HS_COL_STEP: ev->step = out; break;
    case HS_COL_SHAPE: ev->shape = out; break;
    case HS_COL_DIGITS: ev->digits = out; break;
    case HS_EVENT_COLS: break;
    }
}

/* Gives begins the durations that their ends tell; dur[i] is that of picked event i, of event i if pick is NULL. */
static void put_ends(const struct hs_view_file *f, const int64_t *dur, const uint32_t *pick, size_t n)
{
    int64_t *out = (int64_t *)(uintptr_t)dur;
    size_t i = 0;
    for (size_t k = 0; k < f->nended; k++) {
        uint32_t e = f->ended[k].event;
        if (!pick)
            i = e;
        while (pick && i < n && pick[i] < e)
            i++;
        for (size_t at = i; at < n && (pick ? pick[at] : at) == e; at++)
            out[at] = f->ended[k].dur;
    }
}

int hs_file_load_events(struct hs_view_file *f, unsigned columns, struct hs_err *err)
{
    struct hs_column_load loads[HS_EVENT_COLS];
    size_t n = 0;
    if (columns & HS_EV_PARENT)
        columns |= HS_EV_DEPTH; /* parents are checked against it */
    for (unsigned c = 0; c < HS_EVENT_COLS; c++)
        if (columns & ~f->have & 1u << c)
            loads[n++] = event_column(f, (enum hs_col_event)c);
    int rc = hs_load_columns(f, loads, n, err);
    unsigned loaded = 0;
    for (size_t i = 0; i < n && !rc; i++) {
        keep_event_column(&f->ev, (enum hs_col_event)loads[i].col, loads[i].out);
        loaded |= 1u << loads[i].col;
    }
    f->have |= loaded;
    if (loaded & HS_EV_DUR)
        put_ends(f, f->ev.dur, NULL, f->ev.n);
    if (loaded & HS_EV_PARENT && (rc = check_parents(f, f->ev.parent, f->ev.depth, err))) { /* never hand out a ring */
        free((void *)(uintptr_t)f->ev.parent);
        f->ev.parent = NULL;
        f->have &= ~(unsigned)HS_EV_PARENT;
    }
    return rc;
}

/* Sets in `out` those of the columns that stand in `from`. */
static void give(const struct hs_events *from, unsigned columns, struct hs_events *out)
{
#define GIVE(bit, member) \
    if (columns & (bit))  \
    out->member = from->member
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

int hs_file_events(struct hs_view *v, unsigned columns, struct hs_events *out, struct hs_err *err)
{
    struct hs_view_file *f = hs_view_file(v);
    pthread_mutex_lock(&f->lock);
    int rc = hs_file_load_events(f, columns & all_columns, err);
    if (!rc) {
        *out = (struct hs_events){.n = f->ev.n};
        give(&f->ev, columns, out);
    }
    pthread_mutex_unlock(&f->lock);
    return rc;
}

/* Reads from the file even what is in memory: it is not worth a second way. */
int hs_file_events_at(struct hs_view *v, unsigned columns, const uint32_t *event, size_t n, struct hs_events *out,
                      struct hs_err *err)
{
    struct hs_view_file *f = hs_view_file(v);
    struct hs_column_load loads[HS_EVENT_COLS];
    size_t nloads = 0;
    *out = (struct hs_events){0};
    if (!n)
        return HS_OK;
    pthread_mutex_lock(&f->lock);
    for (unsigned c = 0; c < HS_EVENT_COLS; c++)
        if (columns & all_columns & ~(unsigned)HS_EV_PARENT & 1u << c) {
            loads[nloads] = event_column(f, (enum hs_col_event)c);
            loads[nloads].pick = event;
            loads[nloads++].npick = n;
        }
    int rc = hs_load_columns(f, loads, nloads, err);
    out->n = rc ? 0 : n;
    for (size_t i = 0; i < nloads && !rc; i++)
        keep_event_column(out, (enum hs_col_event)loads[i].col, loads[i].out);
    if (!rc && out->dur)
        put_ends(f, out->dur, event, n);
    pthread_mutex_unlock(&f->lock);
    return rc;
}

/* ---- device work ---- */

static void free_gpu(struct hs_gpu *g)
{
    const void *all[] = {g->ts,    g->dur,    g->stream, g->corr, g->bytes,  g->launch_ts, g->launch_dur,
                         g->event, g->launch, g->name,   g->lane, g->device, g->step,      g->cls};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free((void *)(uintptr_t)all[i]);
}

/* What each column holds: its form, and the range outside of which a number is damage. */
static struct hs_column_load gpu_column(const struct hs_view_file *f, enum hs_col_gpu col)
{
    struct hs_column_load l = {.tbl = HS_TBL_GPU, .col = col, .n = f->gpu.n, .form = HS_FORM_U32};
    switch (col) {
    case HS_GPU_DUR:
        l.form = HS_FORM_I64;
        l.most = INT64_MAX;
        break;
    case HS_GPU_TS:
    case HS_GPU_STREAM:
    case HS_GPU_CORR:
    case HS_GPU_BYTES:
    case HS_GPU_DELAY:
    case HS_GPU_LAUNCH_DUR:
        l.form = HS_FORM_I64;
        l.least = INT64_MIN;
        l.most = INT64_MAX;
        break;
    case HS_GPU_EVENT: l.most = (int64_t)f->events - 1; break;
    case HS_GPU_LAUNCH: /* its distance from the event */
        l.distance = true;
        l.from = f->gpu.event;
        l.most = (int64_t)f->events - 1;
        break;
    case HS_GPU_NAME: l.most = (int64_t)f->base.nsyms - 1; break;
    case HS_GPU_LANE: l.most = (int64_t)f->base.nlanes - 1; break;
    case HS_GPU_DEVICE:
        l.form = HS_FORM_I32;
        l.least = INT32_MIN;
        l.most = INT32_MAX;
        break;
    case HS_GPU_STEP:
        l.form = HS_FORM_I32;
        l.least = -1;
        l.most = (int64_t)f->base.nsteps - 1;
        break;
    case HS_GPU_CLS:
        l.form = HS_FORM_U8;
        l.least = HS_CLASS_COMPUTE;
        l.most = HS_CLASS_MEMSET;
        break;
    case HS_GPU_COLS: break;
    }
    return l;
}

/* Kept as its distance from the start. */
static int64_t *launch_ts(const struct hs_gpu *g, int64_t *delay)
{
    for (size_t i = 0; i < g->n; i++)
        if (delay[i] != HS_NO_VALUE)
            delay[i] = (int64_t)((uint64_t)g->ts[i] - (uint64_t)delay[i]);
    return delay;
}

static void keep_gpu_column(struct hs_gpu *g, enum hs_col_gpu col, void *out)
{
    switch (col) {
    case HS_GPU_TS: g->ts = out; break;
    case HS_GPU_DUR: g->dur = out; break;
    case HS_GPU_STREAM: g->stream = out; break;
    case HS_GPU_CORR: g->corr = out; break;
    case HS_GPU_BYTES: g->bytes = out; break;
    case HS_GPU_DELAY: g->launch_ts = launch_ts(g, out); break; /* after the starts */
    case HS_GPU_LAUNCH_DUR: g->launch_dur = out; break;
    case HS_GPU_EVENT: g->event = out; break;
    case HS_GPU_LAUNCH: g->launch = out; break;
    case HS_GPU_NAME: g->name = out; break;
    case HS_GPU_LANE: g->lane = out; break;
    case HS_GPU_DEVICE: g->device = out; break;
    case HS_GPU_STEP: g->step = out; break;
    case HS_GPU_CLS: g->cls = out; break;
    case HS_GPU_COLS: break;
    }
}

static int load_gpu_columns(struct hs_view_file *f, unsigned columns, struct hs_err *err)
{
    struct hs_column_load loads[HS_GPU_COLS];
    size_t n = 0;
    for (unsigned c = 0; c < HS_GPU_COLS; c++)
        if (columns & ~f->have_gpu & 1u << c)
            loads[n++] = gpu_column(f, (enum hs_col_gpu)c);
    int rc = hs_load_columns(f, loads, n, err);
    for (size_t i = 0; i < n && !rc; i++) {
        keep_gpu_column(&f->gpu, (enum hs_col_gpu)loads[i].col, loads[i].out);
        f->have_gpu |= 1u << loads[i].col;
    }
    return rc;
}

static int load_gpu(struct hs_view_file *f, unsigned columns, struct hs_err *err)
{
    int rc = f->has_gpu ? HS_OK : hs_view_rows(f, HS_TBL_GPU, &f->gpu.n, err);
    if (rc)
        return rc;
    f->has_gpu = true;
    if (columns & HS_DEV_LAUNCH)
        columns |= HS_DEV_EVENT; /* what it counts from */
    if (columns & HS_DEV_LAUNCH_TS)
        columns |= HS_DEV_TS;
    rc = load_gpu_columns(f, columns & ~(unsigned)HS_DEV_LAUNCH, err);
    return rc ? rc : load_gpu_columns(f, columns & HS_DEV_LAUNCH, err);
}

int hs_file_gpu(struct hs_view *v, unsigned columns, struct hs_gpu *out, struct hs_err *err)
{
    struct hs_view_file *f = hs_view_file(v);
    pthread_mutex_lock(&f->lock);
    int rc = load_gpu(f, columns & HS_DEV_ALL, err);
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
    hs_events_free(&f->ev);
    free(f->launches);
    free_gpu(&f->gpu);
}
