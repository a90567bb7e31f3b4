#include "store/sql_data.h"

#include "store/db.h"
#include "trace/classes.h"

#include <stdlib.h>
#include <string.h>

struct hs_sql_index {
    struct hs_sql_index *next;
    enum hs_sql_source source;
    enum hs_sql_what what;
    bool text;       /* by the text of its symbols, not their numbers */
    uint64_t *rows;  /* sorted by value, then row */
    int64_t *values; /* [n], sorted */
    size_t n;
};

struct hs_sql_data *hs_sql_data_new(struct hs_view_file *f)
{
    struct hs_sql_data *d = hs_calloc(1, sizeof *d);
    d->v = &f->base;
    d->f = f;
    d->text.max = (size_t)1 << 30;
    return d;
}

void hs_sql_data_free(struct hs_sql_data *d)
{
    if (!d)
        return;
    for (struct hs_sql_index *i = d->indexes, *next; i; i = next) {
        next = i->next;
        free(i->rows);
        free(i->values);
        free(i);
    }
    for (size_t i = 0; i < 3; i++)
        free(d->launch_column[i]);
    for (size_t i = 0; i < sizeof d->keep / sizeof d->keep[0]; i++)
        free(d->keep[i]);
    hs_buf_free(&d->text);
    free(d->launch_event);
    free(d->launch_name);
    free(d->step_event);
    free(d->step_ts);
    free(d->cls);
    free(d->times);
    free(d->zones);
    free(d);
}

int hs_sql_need_events(struct hs_sql_data *d, unsigned columns)
{
    if ((d->have & columns) == columns)
        return HS_OK;
    int rc = hs_view_events(d->v, d->have | columns, &d->ev, &d->err);
    if (!rc)
        d->have |= columns;
    return rc;
}

int hs_sql_need_gpu(struct hs_sql_data *d)
{
    int rc = d->has_gpu ? HS_OK : hs_view_gpu(d->v, &d->gpu, &d->err);
    d->has_gpu = !rc;
    return rc;
}

int hs_sql_need_launches(struct hs_sql_data *d)
{
    if (d->has_launches)
        return HS_OK;
    int rc = d->v->ops->launches(d->v, &d->launches, &d->nlaunches, &d->err);
    if (rc)
        return rc;
    size_t n = d->nlaunches;
    d->launch_event = hs_calloc(n, sizeof *d->launch_event);
    d->launch_name = hs_calloc(n, sizeof *d->launch_name);
    for (int c = 0; c < 3; c++)
        d->launch_column[c] = hs_calloc(n, sizeof(int64_t));
    for (size_t i = 0; i < n; i++) {
        d->launch_event[i] = d->launches[i].event;
        d->launch_name[i] = d->launches[i].name;
        d->launch_column[0][i] = d->launches[i].ts;
        d->launch_column[1][i] = d->launches[i].corr;
        d->launch_column[2][i] = HS_NO_VALUE;
    }
    d->has_launches = true;
    return HS_OK;
}

int hs_sql_rows(struct hs_sql_data *d, enum hs_sql_source source, size_t *n)
{
    int rc = HS_OK;
    size_t quality_kinds = 0;
    switch (source) {
    case HS_SQL_EVENTS: *n = (size_t)d->f->events; break;
    case HS_SQL_GPU:
        rc = hs_sql_need_gpu(d);
        *n = d->gpu.n;
        break;
    case HS_SQL_LAUNCHES:
        rc = hs_sql_need_launches(d);
        *n = d->nlaunches;
        break;
    case HS_SQL_STEPS: *n = d->v->nsteps; break;
    case HS_SQL_CATS: *n = d->v->ncats; break;
    case HS_SQL_QUALITY:
        for (int i = 0; i < HS_QUALITY_KINDS; i++)
            quality_kinds += d->v->quality.count[i] != 0;
        *n = quality_kinds;
        break;
    case HS_SQL_HEADER: *n = d->v->nheader; break;
    case HS_SQL_LANES: *n = d->v->nlanes; break;
    }
    return rc;
}

/* ---- which rows a table keeps ---- */

/* Kind of each category, by symbol: told once per text, not per event. */
static uint8_t *category_kinds(const struct hs_view *v)
{
    uint8_t *kinds = hs_calloc(v->nsyms, 1);
    for (size_t i = 0; i < v->ncats; i++)
        kinds[v->cats[i].cat] = (uint8_t)hs_cat_kind(hs_view_str(v, v->cats[i].cat));
    return kinds;
}

static int keep_events(struct hs_sql_data *d, enum hs_sql_filter filter, uint8_t *keep)
{
    int rc = hs_sql_need_events(d, HS_EV_CAT | HS_EV_PH | HS_EV_NAME);
    if (rc)
        return rc;
    uint8_t *kinds = category_kinds(d->v);
    uint32_t memory = hs_view_sym(d->v, "[memory]");
    for (size_t i = 0; i < d->ev.n; i++) {
        uint8_t kind = kinds[d->ev.cat[i]], ph = d->ev.ph[i];
        keep[i] = filter == HS_SQL_CPU_OPS  ? kind == HS_CAT_CPU_OP && (ph == 'X' || ph == 'B')
                  : filter == HS_SQL_MEMORY ? ph == 'i' && d->ev.name[i] == memory
                                            : ph == 'C';
    }
    free(kinds);
    return HS_OK;
}

int hs_sql_keeps(struct hs_sql_data *d, enum hs_sql_source source, enum hs_sql_filter filter, const uint8_t **keep)
{
    size_t n;
    *keep = d->keep[filter];
    if (filter == HS_SQL_ALL || *keep)
        return HS_OK;
    int rc = hs_sql_rows(d, source, &n);
    if (rc)
        return rc;
    uint8_t *k = hs_calloc(n, 1);
    if (source == HS_SQL_GPU)
        for (size_t i = 0; i < n; i++)
            k[i] = d->gpu.cls[i] == HS_CLASS_COMPUTE || d->gpu.cls[i] == HS_CLASS_COMM;
    else
        rc = keep_events(d, filter, k);
    if (rc) {
        free(k);
        return rc;
    }
    *keep = d->keep[filter] = k;
    return HS_OK;
}

/* ---- arrays and indexes ---- */

static int steps_arrays(struct hs_sql_data *d)
{
    if (d->step_ts)
        return HS_OK;
    d->step_ts = hs_calloc(d->v->nsteps, sizeof *d->step_ts);
    d->step_event = hs_calloc(d->v->nsteps, sizeof *d->step_event);
    for (size_t i = 0; i < d->v->nsteps; i++) {
        d->step_ts[i] = d->v->steps[i].ts;
        d->step_event[i] = d->v->steps[i].event;
    }
    return HS_OK;
}

static int event_array(struct hs_sql_data *d, enum hs_sql_what what, struct hs_sql_array *out)
{
    int rc = HS_OK;
    switch (what) {
    case W_TS_NS:
        rc = hs_sql_need_events(d, HS_EV_TS);
        out->i64 = d->ev.ts;
        break;
    case W_NAME:
        rc = hs_sql_need_events(d, HS_EV_NAME);
        out->u32 = d->ev.name;
        break;
    case W_CAT:
        rc = hs_sql_need_events(d, HS_EV_CAT);
        out->u32 = d->ev.cat;
        break;
    case W_PARENT:
        rc = hs_sql_need_events(d, HS_EV_PARENT);
        out->u32 = d->ev.parent;
        break;
    case W_CORRELATION: rc = d->v->ops->arg_i64(d->v, "correlation", 1, &out->i64, &d->err); break;
    case W_EXTERNAL_ID: rc = d->v->ops->arg_i64(d->v, "External id", 1, &out->i64, &d->err); break;
    default: break;
    }
    return rc;
}

static int gpu_array(struct hs_sql_data *d, enum hs_sql_what what, struct hs_sql_array *out)
{
    int rc = hs_sql_need_gpu(d);
    switch (what) {
    case W_TS_NS: out->i64 = d->gpu.ts; break;
    case W_STREAM: out->i64 = d->gpu.stream; break;
    case W_CORRELATION: out->i64 = d->gpu.corr; break;
    case W_NAME: out->u32 = d->gpu.name; break;
    case W_EVENT: out->u32 = d->gpu.event; break;
    case W_LAUNCH: out->u32 = d->gpu.launch; break;
    default: break;
    }
    return rc;
}

int hs_sql_array(struct hs_sql_data *d, enum hs_sql_source source, enum hs_sql_what what, struct hs_sql_array *out)
{
    int rc = HS_OK;
    *out = (struct hs_sql_array){NULL, NULL};
    if (source == HS_SQL_EVENTS)
        return event_array(d, what, out);
    if (source == HS_SQL_GPU)
        return gpu_array(d, what, out);
    if (source == HS_SQL_LAUNCHES && !(rc = hs_sql_need_launches(d))) {
        out->i64 = what == W_TS_NS ? d->launch_column[0] : what == W_CORRELATION ? d->launch_column[1] : NULL;
        out->u32 = what == W_EVENT ? d->launch_event : what == W_NAME ? d->launch_name : NULL;
    } else if (source == HS_SQL_STEPS && !(rc = steps_arrays(d))) {
        out->i64 = what == W_TS_NS ? d->step_ts : NULL;
        out->u32 = what == W_EVENT ? d->step_event : NULL;
    }
    return rc;
}

struct pair {
    uint64_t key; /* value - least, so that the order is unsigned and small ranges have few digits */
    uint64_t row;
};

/* Sorts by key, rows of one key stay in their order: least significant digit first, digits of 11 bits, as many as the
 * largest key has. */
static void radix_sort(struct pair *p, size_t n, uint64_t largest)
{
    enum { BITS = 11, DIGITS = 1 << BITS };
    struct pair *other = hs_malloc((n + 1) * sizeof *other), *from = p, *to = other;
    size_t *at = hs_malloc(DIGITS * sizeof *at);
    for (unsigned shift = 0; shift < 64 && largest >> shift; shift += BITS) {
        memset(at, 0, DIGITS * sizeof *at);
        for (size_t i = 0; i < n; i++)
            at[from[i].key >> shift & (DIGITS - 1)]++;
        for (size_t d = 0, sum = 0; d < DIGITS; d++) {
            size_t count = at[d];
            at[d] = sum;
            sum += count;
        }
        for (size_t i = 0; i < n; i++)
            to[at[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
        struct pair *t = from;
        from = to;
        to = t;
    }
    if (from != p)
        memcpy(p, from, n * sizeof *p);
    free(other);
    free(at);
}

/* A row's value as SQL sees it; HS_NO_VALUE is NULL. */
static int64_t value_at(const struct hs_sql_array *a, size_t i)
{
    if (a->i64)
        return a->i64[i];
    return a->u32 && a->u32[i] != HS_NO_EVENT ? (int64_t)a->u32[i] : HS_NO_VALUE;
}

static struct hs_sql_index *index_of(const struct hs_sql_array *a, size_t n)
{
    struct hs_sql_index *x = hs_calloc(1, sizeof *x);
    struct pair *p = hs_malloc((n + 1) * sizeof *p);
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (size_t i = 0; i < n; i++) { /* NULLs are in no index: nothing is equal to them */
        int64_t v = value_at(a, i);
        if (v == HS_NO_VALUE)
            continue;
        least = v < least ? v : least;
        most = v > most ? v : most;
        p[x->n++] = (struct pair){(uint64_t)v, i};
    }
    for (size_t i = 0; i < x->n; i++)
        p[i].key -= (uint64_t)least;
    if (x->n)
        radix_sort(p, x->n, (uint64_t)most - (uint64_t)least);
    x->rows = hs_calloc(x->n, sizeof *x->rows);
    x->values = hs_calloc(x->n, sizeof *x->values);
    for (size_t i = 0; i < x->n; i++) {
        x->rows[i] = p[i].row;
        x->values[i] = (int64_t)(p[i].key + (uint64_t)least);
    }
    free(p);
    return x;
}

/* Texts by their bytes, which is SQLite's order of BINARY. */
static int by_text(const void *a, const void *b, void *syms)
{
    const struct hs_str *s = syms;
    return hs_str_cmp(s[*(const uint32_t *)a], s[*(const uint32_t *)b]);
}

/* Symbols of a column replaced by their place in the order of texts. free() it. */
static uint32_t *text_ranks(const struct hs_view *v, const uint32_t *symbols, size_t n)
{
    uint32_t *rank = hs_calloc(v->nsyms, sizeof *rank), *used = hs_calloc(v->nsyms, sizeof *used), *out;
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (!rank[symbols[i]]) {
            rank[symbols[i]] = 1;
            used[count++] = symbols[i];
        }
    qsort_r(used, count, sizeof *used, by_text, (void *)(uintptr_t)v->syms);
    for (size_t k = 0; k < count; k++)
        rank[used[k]] = (uint32_t)k;
    out = hs_calloc(n, sizeof *out);
    for (size_t i = 0; i < n; i++)
        out[i] = rank[symbols[i]];
    free(rank);
    free(used);
    return out;
}

static int find_index(struct hs_sql_data *d, enum hs_sql_source source, enum hs_sql_what what, bool text,
                      struct hs_sql_index **out)
{
    struct hs_sql_array a;
    size_t n;
    struct hs_sql_index *x = d->indexes;
    while (x && (x->source != source || x->what != what || x->text != text))
        x = x->next;
    if (!x) {
        int rc = hs_sql_rows(d, source, &n);
        if (!rc)
            rc = hs_sql_array(d, source, what, &a);
        if (rc)
            return rc;
        uint32_t *ranks = text ? text_ranks(d->v, a.u32, n) : NULL;
        if (text)
            a.u32 = ranks;
        x = index_of(&a, n);
        x->text = text;
        free(ranks);
        x->source = source;
        x->what = what;
        x->next = d->indexes;
        d->indexes = x;
    }
    *out = x;
    return HS_OK;
}

int hs_sql_by_text(struct hs_sql_data *d, enum hs_sql_source source, enum hs_sql_what what, const uint64_t **rows,
                   size_t *n)
{
    struct hs_sql_index *x;
    int rc = find_index(d, source, what, true, &x);
    if (rc)
        return rc;
    *rows = x->rows;
    *n = x->n;
    return HS_OK;
}

static size_t first_at_least(const int64_t *v, size_t n, int64_t x)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (v[mid] < x)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

int hs_sql_lookup(struct hs_sql_data *d, enum hs_sql_source source, enum hs_sql_what what, int64_t v,
                  const uint64_t **rows, size_t *n)
{
    struct hs_sql_index *x;
    int rc = find_index(d, source, what, false, &x);
    if (rc)
        return rc;
    size_t from = first_at_least(x->values, x->n, v);
    size_t to = v == INT64_MAX ? x->n : from + first_at_least(x->values + from, x->n - from, v + 1);
    *rows = x->rows + from;
    *n = to - from;
    return HS_OK;
}

/* ---- other ways to pass over rows ---- */

int hs_sql_zones(struct hs_sql_data *d, const struct hs_sql_zone **out)
{
    struct hs_view_file *f = d->f;
    sqlite3_stmt *st;
    bool row;
    *out = d->zones;
    if (d->zones)
        return HS_OK;
    struct hs_sql_zone *z = hs_calloc((size_t)f->segments, sizeof *z);
    pthread_mutex_lock(&f->lock);
    int rc =
        hs_db_prepare(f->db, &st, "SELECT key & 0xffffff, min, max FROM segments WHERE key BETWEEN ? AND ?", &d->err);
    if (!rc) {
        sqlite3_bind_int64(st, 1, hs_segment_key(HS_TBL_EVENTS, HS_COL_TS, 0));
        sqlite3_bind_int64(st, 2, hs_segment_key(HS_TBL_EVENTS, HS_COL_TS, 0xffffff));
        while (!(rc = hs_db_step(st, &row, &d->err)) && row)
            if ((uint64_t)sqlite3_column_int64(st, 0) < f->segments)
                z[sqlite3_column_int64(st, 0)] =
                    (struct hs_sql_zone){sqlite3_column_int64(st, 1), sqlite3_column_int64(st, 2)};
        sqlite3_finalize(st);
    }
    pthread_mutex_unlock(&f->lock);
    if (rc) {
        free(z);
        return rc;
    }
    *out = d->zones = z;
    return HS_OK;
}

int hs_sql_need_ph_step(struct hs_sql_data *d)
{
    return hs_sql_need_events(d, HS_EV_PH | HS_EV_STEP);
}

bool hs_sql_event_is(const struct hs_sql_data *d, size_t event, int ph, bool by_step, int64_t step)
{
    int32_t s = d->ev.step[event];
    return (ph < 0 || d->ev.ph[event] == ph) && (!by_step || (s >= 0 && d->v->steps[s].number == step));
}
