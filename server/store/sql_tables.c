#include "store/sql_tables.h"

#include "store/arg_cursor.h"
#include "store/sql_functions.h"
#include "trace/names.h"

#include <stdlib.h>
#include <string.h>

/* clang-format off */
#define WHERE_AND_WHEN \
    {"pid", "", W_PID}, {"tid", "", W_TID}, {"ts", "REAL", W_TS}, {"dur", "REAL", W_DUR}, {"ts_ns", "INTEGER", W_TS_NS}, \
    {"dur_ns", "INTEGER", W_DUR_NS}, {"end_ns", "INTEGER", W_END_NS}

static const struct hs_sql_column events[] = {
    {"event", "INTEGER", W_EVENT}, {"ph", "TEXT", W_PH}, {"cat", "TEXT", W_CAT}, {"name", "TEXT", W_NAME}, WHERE_AND_WHEN,
    {"parent", "INTEGER", W_PARENT}, {"depth", "INTEGER", W_DEPTH}, {"step", "INTEGER", W_STEP}, {"device", "INTEGER", W_DEVICE},
    {"stream", "INTEGER", W_STREAM}, {"correlation", "INTEGER", W_CORRELATION}, {"launch", "INTEGER", W_LAUNCH},
    {"class", "TEXT", W_CLASS}, {"rank", "INTEGER", W_RANK}, {"args", "JSON", W_ARGS}};

static const struct hs_sql_column device_work[] = {
    {"event", "INTEGER", W_EVENT}, {"cat", "TEXT", W_CAT}, {"name", "TEXT", W_NAME}, {"short_name", "TEXT", W_SHORT_NAME},
    {"class", "TEXT", W_CLASS}, {"device", "INTEGER", W_DEVICE}, {"stream", "INTEGER", W_STREAM}, WHERE_AND_WHEN,
    {"correlation", "INTEGER", W_CORRELATION}, {"bytes", "INTEGER", W_BYTES}, {"launch", "INTEGER", W_LAUNCH},
    {"launch_ts_ns", "INTEGER", W_LAUNCH_TS_NS}, {"launch_dur_ns", "INTEGER", W_LAUNCH_DUR_NS},
    {"delay_ns", "INTEGER", W_DELAY_NS}, {"step", "INTEGER", W_STEP}, {"rank", "INTEGER", W_RANK}, {"args", "JSON", W_ARGS}};

static const struct hs_sql_column cpu_ops[] = {
    {"event", "INTEGER", W_EVENT}, {"name", "TEXT", W_NAME}, WHERE_AND_WHEN, {"parent", "INTEGER", W_PARENT},
    {"depth", "INTEGER", W_DEPTH}, {"step", "INTEGER", W_STEP}, {"external_id", "INTEGER", W_EXTERNAL_ID},
    {"rank", "INTEGER", W_RANK}, {"args", "JSON", W_ARGS}};

static const struct hs_sql_column launches[] = {
    {"event", "INTEGER", W_EVENT}, {"name", "TEXT", W_NAME}, WHERE_AND_WHEN, {"correlation", "INTEGER", W_CORRELATION},
    {"kernels", "INTEGER", W_KERNELS}, {"delay_ns", "INTEGER", W_DELAY_NS}, {"parent", "INTEGER", W_PARENT},
    {"depth", "INTEGER", W_DEPTH}, {"step", "INTEGER", W_STEP}, {"rank", "INTEGER", W_RANK}, {"args", "JSON", W_ARGS}};

static const struct hs_sql_column memory_events[] = {
    {"event", "INTEGER", W_EVENT}, {"name", "TEXT", W_NAME}, {"pid", "", W_PID}, {"tid", "", W_TID}, {"ts", "REAL", W_TS},
    {"ts_ns", "INTEGER", W_TS_NS}, {"bytes", "INTEGER", W_BYTES}, {"addr", "INTEGER", W_ADDR},
    {"device_type", "INTEGER", W_DEVICE_TYPE}, {"device", "INTEGER", W_DEVICE},
    {"total_allocated", "INTEGER", W_ALLOCATED}, {"total_reserved", "INTEGER", W_RESERVED}, {"parent", "INTEGER", W_PARENT},
    {"step", "INTEGER", W_STEP}, {"rank", "INTEGER", W_RANK}, {"args", "JSON", W_ARGS}};

static const struct hs_sql_column counters[] = {
    {"event", "INTEGER", W_EVENT}, {"cat", "TEXT", W_CAT}, {"name", "TEXT", W_NAME}, {"pid", "", W_PID}, {"tid", "", W_TID},
    {"ts", "REAL", W_TS}, {"ts_ns", "INTEGER", W_TS_NS}, {"rank", "INTEGER", W_RANK}, {"args", "JSON", W_ARGS}};

static const struct hs_sql_column steps[] = {
    {"number", "INTEGER", W_NUMBER}, {"event", "INTEGER", W_EVENT}, {"name", "TEXT", W_NAME}, WHERE_AND_WHEN,
    {"rank", "INTEGER", W_RANK}};

static const struct hs_sql_column categories[] = {
    {"cat", "TEXT", W_CAT}, {"ph", "TEXT", W_PH}, {"count", "INTEGER", W_COUNT}, {"dur", "REAL", W_DUR},
    {"dur_ns", "INTEGER", W_DUR_NS}, {"rank", "INTEGER", W_RANK}};

static const struct hs_sql_column quality[] = {
    {"kind", "TEXT", W_KIND}, {"severity", "TEXT", W_SEVERITY}, {"count", "INTEGER", W_COUNT},
    {"first_byte", "INTEGER", W_FIRST_BYTE}, {"meaning", "TEXT", W_MEANING}, {"rank", "INTEGER", W_RANK}};

static const struct hs_sql_column header[] = {{"key", "TEXT", W_NAME}, {"json", "JSON", W_JSON}, {"rank", "INTEGER", W_RANK}};

static const struct hs_sql_column threads[] = {
    {"pid", "", W_PID}, {"tid", "", W_TID}, {"process", "TEXT", W_PROCESS}, {"labels", "TEXT", W_LABELS},
    {"thread", "TEXT", W_THREAD}, {"rank", "INTEGER", W_RANK}};

#define TABLE(name, source, filter, columns) {name, source, filter, columns, (int)(sizeof columns / sizeof columns[0])}
const struct hs_sql_table hs_sql_tables[] = {
    TABLE("events", HS_SQL_EVENTS, HS_SQL_ALL, events),
    TABLE("kernels", HS_SQL_GPU, HS_SQL_KERNELS, device_work),
    TABLE("device_work", HS_SQL_GPU, HS_SQL_ALL, device_work),
    TABLE("cpu_ops", HS_SQL_EVENTS, HS_SQL_CPU_OPS, cpu_ops),
    TABLE("launches", HS_SQL_LAUNCHES, HS_SQL_ALL, launches),
    TABLE("memory_events", HS_SQL_EVENTS, HS_SQL_MEMORY, memory_events),
    TABLE("counters", HS_SQL_EVENTS, HS_SQL_COUNTERS, counters),
    TABLE("steps", HS_SQL_STEPS, HS_SQL_ALL, steps),
    TABLE("categories", HS_SQL_CATS, HS_SQL_ALL, categories),
    TABLE("quality", HS_SQL_QUALITY, HS_SQL_ALL, quality),
    TABLE("header", HS_SQL_HEADER, HS_SQL_ALL, header),
    TABLE("threads", HS_SQL_LANES, HS_SQL_ALL, threads),
};
/* clang-format on */
const size_t hs_sql_ntables = sizeof hs_sql_tables / sizeof hs_sql_tables[0];

/* ---- cells ---- */

/* Text that lives as long as the view does, as symbols and columns do: SQLite need not copy it. */
static void put_str(sqlite3_context *out, struct hs_str s)
{
    s.n = s.n < HS_SQL_TEXT ? s.n : HS_SQL_TEXT;
    sqlite3_result_text64(out, s.n ? s.p : "", s.n, SQLITE_STATIC, SQLITE_UTF8);
}

static void put_copy(sqlite3_context *out, struct hs_str s)
{
    s.n = s.n < HS_SQL_TEXT ? s.n : HS_SQL_TEXT;
    sqlite3_result_text64(out, s.n ? s.p : "", s.n, SQLITE_TRANSIENT, SQLITE_UTF8);
}

/* JSON that is cut would be none. */
static void put_json(struct hs_sql_data *d, sqlite3_context *out, struct hs_str s)
{
    if (s.n > HS_SQL_TEXT)
        d->too_long++;
    else
        put_copy(out, s);
}

static void put_i64(sqlite3_context *out, int64_t v)
{
    if (v == HS_NO_VALUE)
        sqlite3_result_null(out);
    else
        sqlite3_result_int64(out, v);
}

static void put_event(sqlite3_context *out, uint32_t event)
{
    put_i64(out, event == HS_NO_EVENT ? HS_NO_VALUE : (int64_t)event);
}

static void put_id(const struct hs_view *v, sqlite3_context *out, struct hs_id id)
{
    if (id.kind == HS_ID_INT)
        sqlite3_result_int64(out, id.v);
    else if (id.kind == HS_ID_TEXT)
        put_str(out, hs_view_str(v, (uint32_t)id.v));
}

/* ns as µs: exact up to 2^53 ns (104 days); beyond, ts_ns is the exact one. */
static void put_us(sqlite3_context *out, int64_t ns)
{
    if (ns != HS_NO_VALUE)
        sqlite3_result_double(out, (double)(ns / 1000) + (double)(ns % 1000) / 1000.0);
}

static int64_t sum(int64_t a, int64_t b)
{
    int64_t r;
    return a == HS_NO_VALUE || b == HS_NO_VALUE || __builtin_add_overflow(a, b, &r) ? HS_NO_VALUE : r;
}

static void put_class(sqlite3_context *out, uint8_t cls)
{
    static const char *const names[] = {NULL, "compute", "communication", "memcpy", "memset"};
    if (cls && cls <= HS_CLASS_MEMSET)
        sqlite3_result_text(out, names[cls], -1, SQLITE_STATIC);
}

static void put_step(const struct hs_sql_data *d, sqlite3_context *out, int32_t step)
{
    if (step >= 0 && (size_t)step < d->v->nsteps)
        sqlite3_result_int64(out, d->v->steps[step].number);
}

/* The times that a row's columns are computed from; HS_NO_VALUE where there is none. */
static void put_time(sqlite3_context *out, enum hs_sql_what what, int64_t ts, int64_t dur)
{
    switch (what) {
    case W_TS: put_us(out, ts); break;
    case W_DUR: put_us(out, dur); break;
    case W_TS_NS: put_i64(out, ts); break;
    case W_DUR_NS: put_i64(out, dur); break;
    case W_END_NS: put_i64(out, sum(ts, dur)); break;
    default: break;
    }
}

/* An event without ts or dur in its text has 0 in the column: which ones those are, its shape tells. */
static void make_times(struct hs_sql_data *d)
{
    const struct hs_view_file *f = d->f;
    uint32_t ts = hs_view_sym(d->v, "ts"), dur = hs_view_sym(d->v, "dur");
    d->times = hs_calloc(f->nshapes, 1);
    for (size_t s = 0; s < f->nshapes; s++)
        for (uint32_t i = 0; i < f->shapes[s].count; i++) {
            const struct hs_field *fd = &f->fields[f->shapes[s].first + i];
            if (fd->level == 0)
                d->times[s] |= (uint8_t)((fd->key == ts) | (fd->key == dur) << 1);
        }
}

static int compare_ended(const void *a, const void *b)
{
    const struct hs_ended *x = a, *y = b;
    return (x->event > y->event) - (x->event < y->event);
}

/* A begin has a duration if it has an end. */
static bool has_ended(const struct hs_view_file *f, size_t row)
{
    struct hs_ended key = {(uint32_t)row, 0};
    return f->nended && bsearch(&key, f->ended, f->nended, sizeof key, compare_ended);
}

static int event_time(struct hs_sql_data *d, enum hs_sql_what what, size_t row, sqlite3_context *out)
{
    int rc = hs_sql_need_events(d, HS_EV_TS | HS_EV_DUR | HS_EV_SHAPE);
    if (rc)
        return rc;
    if (!d->times)
        make_times(d);
    uint8_t has = d->times[d->ev.shape[row]];
    if (has_ended(d->f, row))
        has |= 2;
    put_time(out, what, has & 1 ? d->ev.ts[row] : HS_NO_VALUE, has & 2 ? d->ev.dur[row] : HS_NO_VALUE);
    return HS_OK;
}

static int event_class(struct hs_sql_data *d, size_t row, uint8_t *cls)
{
    if (!d->cls) {
        int rc = hs_sql_need_gpu(d);
        if (rc)
            return rc;
        d->cls = hs_calloc((size_t)d->f->events, 1);
        for (size_t i = 0; i < d->gpu.n; i++)
            d->cls[d->gpu.event[i]] = d->gpu.cls[i];
    }
    *cls = d->cls[row];
    return HS_OK;
}

static int event_arg(struct hs_sql_data *d, const char *key, size_t row, sqlite3_context *out)
{
    const int64_t *v;
    int rc = d->v->ops->arg_i64(d->v, key, 1, &v, &d->err);
    if (!rc)
        put_i64(out, v[row]);
    return rc;
}

static int event_args(struct hs_sql_data *d, size_t row, struct hs_arg_cursor **cursor, sqlite3_context *out)
{
    struct hs_buf *b = &d->text;
    hs_buf_clear(b);
    if (!*cursor)
        *cursor = hs_arg_cursor_new(d->f);
    int rc = hs_arg_cursor_json(*cursor, (uint32_t)row, true, b, &d->err);
    if (!rc && b->n)
        put_json(d, out, hs_str(b->p, b->n));
    return rc;
}

/* The device of memory events is the argument "Device Id"; of other events "device". */
static const char *arg_of(enum hs_sql_what what, bool memory)
{
    switch (what) {
    case W_DEVICE: return memory ? "Device Id" : "device";
    case W_STREAM: return "stream";
    case W_CORRELATION: return "correlation";
    case W_EXTERNAL_ID: return "External id";
    case W_BYTES: return memory ? "Bytes" : "bytes";
    case W_ADDR: return "Addr";
    case W_DEVICE_TYPE: return "Device Type";
    case W_ALLOCATED: return "Total Allocated";
    case W_RESERVED: return "Total Reserved";
    default: return NULL;
    }
}

static int event_cell(struct hs_sql_data *d, const struct hs_sql_table *t, enum hs_sql_what what, size_t row,
                      struct hs_arg_cursor **cursor, sqlite3_context *out)
{
    static const unsigned needs[] = {[W_PH] = HS_EV_PH,       [W_CAT] = HS_EV_CAT,   [W_NAME] = HS_EV_NAME,
                                     [W_PID] = HS_EV_LANE,    [W_TID] = HS_EV_LANE,  [W_PARENT] = HS_EV_PARENT,
                                     [W_DEPTH] = HS_EV_DEPTH, [W_STEP] = HS_EV_STEP, [W_LAUNCH] = HS_EV_PARENT};
    const struct hs_view *v = d->v;
    const char *arg = arg_of(what, t->filter == HS_SQL_MEMORY);
    uint8_t cls = 0;
    if (arg)
        return event_arg(d, arg, row, out);
    int rc = (size_t)what < sizeof needs / sizeof needs[0] && needs[what] ? hs_sql_need_events(d, needs[what]) : HS_OK;
    if (!rc && (what == W_CLASS || what == W_LAUNCH))
        rc = event_class(d, row, &cls);
    if (rc)
        return rc;
    switch (what) {
    case W_EVENT: sqlite3_result_int64(out, (int64_t)row); break;
    case W_PH:
        if (d->ev.ph[row])
            put_str(out, hs_str((const char *)&d->ev.ph[row], 1));
        break;
    case W_CAT: put_str(out, hs_view_str(v, d->ev.cat[row])); break;
    case W_NAME: put_str(out, hs_view_str(v, d->ev.name[row])); break;
    case W_PID: put_id(v, out, v->lanes[d->ev.lane[row]].pid); break;
    case W_TID: put_id(v, out, v->lanes[d->ev.lane[row]].tid); break;
    case W_PARENT: put_event(out, d->ev.parent[row]); break;
    case W_LAUNCH: put_event(out, cls ? d->ev.parent[row] : HS_NO_EVENT); break;
    case W_DEPTH: sqlite3_result_int(out, d->ev.depth[row]); break;
    case W_STEP: put_step(d, out, d->ev.step[row]); break;
    case W_CLASS: put_class(out, cls); break;
    case W_ARGS: return event_args(d, row, cursor, out);
    default: return event_time(d, what, row, out);
    }
    return HS_OK;
}

static int gpu_cell(struct hs_sql_data *d, const struct hs_sql_table *t, enum hs_sql_what what, size_t row,
                    struct hs_arg_cursor **cursor, sqlite3_context *out)
{
    const struct hs_gpu *g = &d->gpu;
    const struct hs_view *v = d->v;
    int64_t launch_end = sum(g->launch_ts[row], g->launch_dur[row]);
    switch (what) {
    case W_EVENT: put_event(out, g->event[row]); break;
    case W_NAME: put_str(out, hs_view_str(v, g->name[row])); break;
    case W_SHORT_NAME: put_copy(out, hs_short_name(hs_view_str(v, g->name[row]), &d->text)); break;
    case W_CLASS: put_class(out, g->cls[row]); break;
    case W_DEVICE: sqlite3_result_int(out, g->device[row]); break;
    case W_STREAM: sqlite3_result_int64(out, g->stream[row]); break;
    case W_PID: put_id(v, out, v->lanes[g->lane[row]].pid); break;
    case W_TID: put_id(v, out, v->lanes[g->lane[row]].tid); break;
    case W_TS:
    case W_DUR:
    case W_TS_NS:
    case W_DUR_NS:
    case W_END_NS: put_time(out, what, g->ts[row], g->dur[row]); break;
    case W_CORRELATION: put_i64(out, g->corr[row]); break;
    case W_BYTES: put_i64(out, g->bytes[row]); break;
    case W_LAUNCH: put_event(out, g->launch[row]); break;
    case W_LAUNCH_TS_NS: put_i64(out, g->launch_ts[row]); break;
    case W_LAUNCH_DUR_NS: put_i64(out, g->launch_dur[row]); break;
    case W_DELAY_NS:
        if (launch_end != HS_NO_VALUE)
            put_i64(out, g->ts[row] > launch_end ? sum(g->ts[row], -launch_end) : 0);
        break;
    case W_STEP: put_step(d, out, g->step[row]); break;
    default: return event_cell(d, t, what, g->event[row], cursor, out);
    }
    return HS_OK;
}

/* Start of the first kernel of each launch. */
static int first_kernels(struct hs_sql_data *d)
{
    int rc = hs_sql_need_gpu(d);
    for (size_t i = 0; !rc && i < d->gpu.n; i++) {
        const uint64_t *rows;
        size_t n = 0;
        if (d->gpu.launch[i] != HS_NO_EVENT)
            rc = hs_sql_lookup(d, HS_SQL_LAUNCHES, W_EVENT, d->gpu.launch[i], &rows, &n);
        for (size_t k = 0; !rc && k < n; k++) {
            int64_t *first = &d->launch_column[2][rows[k]];
            if (*first == HS_NO_VALUE || d->gpu.ts[i] < *first)
                *first = d->gpu.ts[i];
        }
    }
    return rc;
}

static int launch_delay(struct hs_sql_data *d, size_t row, sqlite3_context *out)
{
    const struct hs_launch_row *l = &d->launches[row];
    if (!l->kernels)
        return HS_OK;
    int rc = d->launch_column[2][row] == HS_NO_VALUE ? first_kernels(d) : HS_OK;
    int64_t first = d->launch_column[2][row], end = sum(l->ts, l->dur);
    if (!rc && first != HS_NO_VALUE && end != HS_NO_VALUE)
        put_i64(out, first > end ? sum(first, -end) : 0);
    return rc;
}

static int launch_cell(struct hs_sql_data *d, const struct hs_sql_table *t, enum hs_sql_what what, size_t row,
                       struct hs_arg_cursor **cursor, sqlite3_context *out)
{
    const struct hs_launch_row *l = &d->launches[row];
    switch (what) {
    case W_EVENT: put_event(out, l->event); break;
    case W_NAME: put_str(out, hs_view_str(d->v, l->name)); break;
    case W_PID: put_id(d->v, out, d->v->lanes[l->lane].pid); break;
    case W_TID: put_id(d->v, out, d->v->lanes[l->lane].tid); break;
    case W_TS:
    case W_DUR:
    case W_TS_NS:
    case W_DUR_NS:
    case W_END_NS: put_time(out, what, l->ts, l->dur); break;
    case W_CORRELATION: put_i64(out, l->corr); break;
    case W_KERNELS: sqlite3_result_int64(out, l->kernels); break;
    case W_DELAY_NS: return launch_delay(d, row, out);
    case W_STEP: put_step(d, out, l->step); break;
    default: return event_cell(d, t, what, l->event, cursor, out);
    }
    return HS_OK;
}

static int step_cell(struct hs_sql_data *d, const struct hs_sql_table *t, enum hs_sql_what what, size_t row,
                     struct hs_arg_cursor **cursor, sqlite3_context *out)
{
    const struct hs_step_row *s = &d->v->steps[row];
    switch (what) {
    case W_EVENT: put_event(out, s->event); break;
    case W_NUMBER: sqlite3_result_int64(out, s->number); break;
    case W_TS:
    case W_DUR:
    case W_TS_NS:
    case W_DUR_NS:
    case W_END_NS: put_time(out, what, s->ts, s->dur); break;
    default: return event_cell(d, t, what, s->event, cursor, out);
    }
    return HS_OK;
}

static void cat_cell(const struct hs_view *v, enum hs_sql_what what, size_t row, sqlite3_context *out)
{
    const struct hs_cat_row *c = &v->cats[row];
    if (what == W_CAT)
        put_str(out, hs_view_str(v, c->cat));
    else if (what == W_PH && c->ph)
        put_str(out, hs_str((const char *)&c->ph, 1));
    else if (what == W_COUNT)
        sqlite3_result_int64(out, c->count);
    else
        put_time(out, what, 0, c->dur);
}

static void quality_cell(const struct hs_view *v, enum hs_sql_what what, size_t row, sqlite3_context *out)
{
    static const char *const severities[] = {"info", "warn", "error"};
    int kind = 0;
    for (size_t seen = 0; kind < HS_QUALITY_KINDS; kind++)
        if (v->quality.count[kind] && seen++ == row)
            break;
    if (kind == HS_QUALITY_KINDS)
        return;
    const struct hs_quality_info *info = &hs_quality_infos[kind];
    switch (what) {
    case W_KIND: sqlite3_result_text(out, info->name, -1, SQLITE_STATIC); break;
    case W_SEVERITY: sqlite3_result_text(out, severities[info->severity], -1, SQLITE_STATIC); break;
    case W_COUNT: sqlite3_result_int64(out, v->quality.count[kind]); break;
    case W_FIRST_BYTE: put_i64(out, v->quality.first[kind] < 0 ? HS_NO_VALUE : v->quality.first[kind]); break;
    case W_MEANING: sqlite3_result_text(out, info->text, -1, SQLITE_STATIC); break;
    default: break;
    }
}

static void put_name(const struct hs_view *v, sqlite3_context *out, uint32_t sym)
{
    if (sym)
        put_str(out, hs_view_str(v, sym));
}

static void lane_cell(const struct hs_view *v, enum hs_sql_what what, size_t row, sqlite3_context *out)
{
    const struct hs_lane_info *l = &v->lanes[row];
    switch (what) {
    case W_PID: put_id(v, out, l->pid); break;
    case W_TID: put_id(v, out, l->tid); break;
    case W_PROCESS: put_name(v, out, l->process); break;
    case W_LABELS: put_name(v, out, l->labels); break;
    case W_THREAD: put_name(v, out, l->thread); break;
    default: break;
    }
}

int hs_sql_cell(struct hs_sql_data *d, const struct hs_sql_table *t, int column, size_t row,
                struct hs_arg_cursor **cursor, sqlite3_context *out)
{
    enum hs_sql_what what = t->columns[column].what;
    if (what == W_RANK) {
        sqlite3_result_int64(out, d->v->rank);
        return HS_OK;
    }
    switch (t->source) {
    case HS_SQL_EVENTS: return event_cell(d, t, what, row, cursor, out);
    case HS_SQL_GPU: return gpu_cell(d, t, what, row, cursor, out);
    case HS_SQL_LAUNCHES: return launch_cell(d, t, what, row, cursor, out);
    case HS_SQL_STEPS: return step_cell(d, t, what, row, cursor, out);
    case HS_SQL_CATS: cat_cell(d->v, what, row, out); break;
    case HS_SQL_QUALITY: quality_cell(d->v, what, row, out); break;
    case HS_SQL_HEADER:
        if (what == W_NAME)
            put_str(out, hs_view_str(d->v, d->v->header[row].key));
        else
            put_json(d, out, hs_view_str(d->v, d->v->header[row].json));
        break;
    case HS_SQL_LANES: lane_cell(d->v, what, row, out); break;
    }
    return HS_OK;
}
