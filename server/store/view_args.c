#include "store/view_args.h"

#include "store/arg_cursor.h"
#include "store/view_columns.h"
#include "trace/event_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers in text ---- */

static struct hs_str trim(struct hs_str s)
{
    while (s.n && s.p[0] == ' ')
        s = hs_str(s.p + 1, s.n - 1);
    while (s.n && s.p[s.n - 1] == ' ')
        s.n--;
    return s;
}

bool hs_parse_i64(struct hs_str s, int64_t *out)
{
    s = trim(s);
    bool negative = s.n && s.p[0] == '-';
    size_t i = s.n && (s.p[0] == '-' || s.p[0] == '+');
    int64_t v = 0;
    if (i == s.n)
        return false;
    for (; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9' || __builtin_mul_overflow(v, 10, &v) ||
            __builtin_sub_overflow(v, s.p[i] - '0', &v)) /* negative, so that INT64_MIN fits */
            return false;
    }
    if (!negative && v == INT64_MIN)
        return false;
    *out = negative ? v : -v;
    return true;
}

bool hs_parse_f64(struct hs_str s, double *out)
{
    char t[64], *end;
    s = trim(s);
    if (!s.n || s.n >= sizeof t)
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!s.p[i] || !strchr("0123456789+-.eE", s.p[i]))
            return false;
    memcpy(t, s.p, s.n);
    t[s.n] = 0;
    double v = strtod(t, &end);
    if (*end || !isfinite(v))
        return false;
    *out = v;
    return true;
}

/* Mantissa over a power of ten. Both are exact up to 2^53 and 10^18, so one division rounds correctly; a larger mantissa
 * goes through its text. */
static double decimal(int64_t mantissa, int64_t digits)
{
    static const double pow10[] = {1,    1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                   1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
    unsigned d = digits < 0 ? 0 : digits > 18 ? 18 : (unsigned)digits;
    if (mantissa >= -(INT64_C(1) << 53) && mantissa <= INT64_C(1) << 53)
        return (double)mantissa / pow10[d];
    struct hs_buf b = HS_BUF_INIT(64);
    double v = NAN;
    hs_put_decimal(&b, mantissa, d);
    hs_parse_f64(hs_str(b.p, b.n), &v);
    hs_buf_free(&b);
    return v;
}

/* ---- one argument of all events ---- */

/* What each shape says about one (key, level): the fields that match, in their order. Several only where an event has
 * the key twice; the last one counts. */
struct plan {
    uint32_t *first; /* [nshapes + 1] into fields */
    const struct hs_field **fields;
    uint32_t *slot;                /* of each field: index into streams; UINT32_MAX for those without values */
    struct hs_arg_values *streams; /* mantissas at slot, digits at slot + 1 */
    uint32_t *columns;             /* of each stream */
    size_t nstreams;
};

static void plan_free(struct plan *p)
{
    for (size_t i = 0; i < p->nstreams; i++)
        free(p->streams[i].v);
    free(p->first);
    free((void *)p->fields);
    free(p->slot);
    free(p->streams);
    free(p->columns);
}

static uint32_t plan_slot(struct plan *p, uint32_t column, uint32_t count)
{
    for (size_t i = 0; i < p->nstreams; i++)
        if (p->columns[i] == column)
            return (uint32_t)i;
    p->columns = hs_realloc_array(p->columns, p->nstreams + 2, sizeof *p->columns);
    for (uint32_t i = 0; i < count; i++)
        p->columns[p->nstreams + i] = column + i;
    p->nstreams += count;
    return (uint32_t)(p->nstreams - count);
}

static void plan_make(struct plan *p, const struct hs_view_file *f, uint32_t key, int level)
{
    size_t n = 0;
    p->first = hs_calloc(f->nshapes + 1, sizeof *p->first);
    p->fields = hs_calloc(f->nfields, sizeof *p->fields);
    p->slot = hs_calloc(f->nfields, sizeof *p->slot);
    for (size_t s = 0; s < f->nshapes; s++) {
        p->first[s] = (uint32_t)n;
        for (uint32_t i = 0; i < f->shapes[s].count; i++) {
            const struct hs_field *fd = &f->fields[f->shapes[s].first + i];
            if (fd->key != key || fd->level != level || fd->type == HS_V_CORE)
                continue;
            p->slot[n] = hs_field_has_values(fd) ? plan_slot(p, fd->column, fd->type == HS_V_DEC ? 2 : 1) : UINT32_MAX;
            p->fields[n++] = fd;
        }
    }
    p->first[f->nshapes] = (uint32_t)n;
    p->streams = hs_calloc(p->nstreams, sizeof *p->streams);
}

/* One value, of any type, with what is needed to read it. */
struct value {
    uint8_t type;
    int64_t v, digits;
};

static bool plan_next(struct plan *p, uint32_t shape, struct value *out)
{
    *out = (struct value){HS_V_NULL, 0, 0};
    for (uint32_t i = p->first[shape]; i < p->first[shape + 1]; i++) {
        out->type = p->fields[i]->type;
        if (p->slot[i] == UINT32_MAX)
            continue;
        struct hs_arg_values *s = &p->streams[p->slot[i]];
        if (s[0].at == s[0].n || (out->type == HS_V_DEC && s[1].at == s[1].n))
            return false;
        out->v = s[0].v[s[0].at++];
        out->digits = out->type == HS_V_DEC ? s[1].v[s[1].at++] : 0;
    }
    return true;
}

static int64_t as_i64(const struct hs_view *v, const struct value *x)
{
    int64_t i;
    if (x->type == HS_V_INT)
        return x->v;
    if (x->type == HS_V_STR && hs_parse_i64(hs_view_str(v, (uint32_t)x->v), &i))
        return i;
    return HS_NO_VALUE;
}

static double as_f64(const struct hs_view *v, const struct value *x)
{
    double d;
    if (x->type == HS_V_INT)
        return (double)x->v;
    if (x->type == HS_V_DEC)
        return decimal(x->v, x->digits);
    if ((x->type == HS_V_STR || x->type == HS_V_RAW) && hs_parse_f64(hs_view_str(v, (uint32_t)x->v), &d))
        return d;
    return NAN;
}

static void put_value(const struct hs_view *v, const struct value *x, char form, void *data, size_t event)
{
    if (form == 'i')
        ((int64_t *)data)[event] = as_i64(v, x);
    else if (form == 'f')
        ((double *)data)[event] = as_f64(v, x);
    else
        ((uint32_t *)data)[event] = x->type == HS_V_STR ? (uint32_t)x->v : HS_NO_SYM;
}

static int load_streams(struct hs_view_file *f, struct plan *p, uint64_t k, struct hs_err *err)
{
    int rc = HS_OK;
    for (size_t i = 0; i < p->nstreams && !rc; i++) {
        rc = hs_arg_values_load(f, p->columns[i], k, &p->streams[i], err);
        p->streams[i].at = 0;
    }
    return rc;
}

static int fill_segment(struct hs_view_file *f, struct plan *p, uint64_t k, char form, void *data, struct hs_err *err)
{
    size_t base = (size_t)(k * HS_SEG_ROWS), rows = hs_view_segment_rows(f, k);
    int rc = load_streams(f, p, k, err);
    if (rc)
        return rc;
    for (size_t i = 0; i < rows; i++) {
        struct value x;
        if (!plan_next(p, f->ev.shape[base + i], &x))
            return hs_view_damaged(f, err, "arguments are missing");
        if ((x.type == HS_V_STR || x.type == HS_V_RAW) && (x.v < 0 || (uint64_t)x.v >= f->base.nsyms))
            return hs_view_damaged(f, err, "an argument is no text");
        put_value(&f->base, &x, form, data, base + i);
    }
    return HS_OK;
}

static int make_array(struct hs_view_file *f, const char *key, int level, char form, void **out, struct hs_err *err)
{
    struct plan p = {0};
    void *data = NULL;
    int rc = hs_file_load_events(f, HS_EV_SHAPE, err);
    if (!rc)
        rc = hs_view_alloc(f, &data, (size_t)f->events, form == 's' ? sizeof(uint32_t) : sizeof(int64_t), err);
    if (!rc) {
        plan_make(&p, f, hs_view_sym(&f->base, key), level);
        for (uint64_t k = 0; !rc && k < f->segments; k++)
            rc = fill_segment(f, &p, k, form, data, err);
        plan_free(&p);
    }
    if (rc)
        free(data);
    else
        *out = data;
    return rc;
}

/* ---- one argument of the events that have it ---- */

#define SPARSE 'p' /* beside the forms i, f and s of whole arrays */

/* The events whose shape is one of `has`, which it takes over. What is asked for together (size, address, device of an
 * allocation) is in the same shapes, so all but the first pass over millions of events are saved. */
static const struct hs_shape_events *events_of(struct hs_view_file *f, uint8_t *has)
{
    struct hs_shape_events *l = &f->of_shapes;
    if (l->has && !memcmp(l->has, has, f->nshapes)) {
        free(has);
        return l;
    }
    size_t n = 0;
    for (size_t i = 0; i < f->ev.n; i++)
        n += has[f->ev.shape[i]];
    f->bytes -= l->n * sizeof *l->event;
    f->bytes += n * sizeof *l->event;
    free(l->has);
    free(l->event);
    *l = (struct hs_shape_events){has, hs_realloc_array(NULL, n + 1, sizeof *l->event), 0};
    for (size_t i = 0; l->n < n; i++)
        if (has[f->ev.shape[i]])
            l->event[l->n++] = (uint32_t)i;
    return l;
}

/* Where every one of the shapes has the argument once, as an integer, in one column: the column's numbers are the values, one
 * an event, and need no looking at shapes (a third off memory-timeline). NULL: not so. */
static struct hs_arg_values *plain_integers(const struct hs_view_file *f, const struct plan *p)
{
    uint32_t slot = UINT32_MAX;
    for (size_t s = 0; s < f->nshapes; s++) {
        uint32_t first = p->first[s];
        if (p->first[s + 1] == first)
            continue;
        if (p->first[s + 1] != first + 1 || p->fields[first]->type != HS_V_INT ||
            (slot != UINT32_MAX && p->slot[first] != slot))
            return NULL;
        slot = p->slot[first];
    }
    return slot == UINT32_MAX ? NULL : &p->streams[slot];
}

/* Appends those of a segment, from the list's place *at on. */
static int sparse_segment(struct hs_view_file *f, struct plan *p, const struct hs_shape_events *l, uint64_t k,
                          size_t *at, uint32_t *event, int64_t *v, size_t *n, struct hs_err *err)
{
    uint64_t end = (k + 1) * HS_SEG_ROWS;
    if (*at == l->n || l->event[*at] >= end)
        return HS_OK;
    int rc = load_streams(f, p, k, err);
    struct hs_arg_values *plain = plain_integers(f, p);
    for (; !rc && plain && *at < l->n && l->event[*at] < end; (*at)++) {
        if (plain->at == plain->n)
            return hs_view_damaged(f, err, "arguments are missing");
        v[*n] = plain->v[plain->at++];
        event[*n] = l->event[*at];
        *n += v[*n] != HS_NO_VALUE;
    }
    for (; !rc && *at < l->n && l->event[*at] < end; (*at)++) {
        struct value x;
        uint32_t e = l->event[*at];
        if (!plan_next(p, f->ev.shape[e], &x))
            return hs_view_damaged(f, err, "arguments are missing");
        if (x.type == HS_V_STR && (x.v < 0 || (uint64_t)x.v >= f->base.nsyms))
            return hs_view_damaged(f, err, "an argument is no text");
        v[*n] = as_i64(&f->base, &x);
        event[*n] = e;
        *n += v[*n] != HS_NO_VALUE;
    }
    return rc;
}

/* One block: the struct, the values, the event numbers. */
static int make_sparse(struct hs_view_file *f, const char *key, int level, void **out, struct hs_err *err)
{
    struct plan p = {0};
    size_t n = 0, at = 0;
    int rc = hs_file_load_events(f, HS_EV_SHAPE, err);
    if (rc)
        return rc;
    plan_make(&p, f, hs_view_sym(&f->base, key), level);
    uint8_t *has = hs_calloc(f->nshapes, 1);
    for (size_t s = 0; s < f->nshapes; s++)
        has[s] = p.first[s] != p.first[s + 1];
    const struct hs_shape_events *l = events_of(f, has);
    void *block = NULL;
    rc = hs_view_alloc(f, &block, sizeof(struct hs_sparse) + l->n * (sizeof(int64_t) + sizeof(uint32_t)), 1, err);
    if (!rc) {
        int64_t *v = (int64_t *)((struct hs_sparse *)block + 1);
        uint32_t *event = (uint32_t *)(v + l->n);
        for (uint64_t k = 0; !rc && k < f->segments; k++)
            rc = sparse_segment(f, &p, l, k, &at, event, v, &n, err);
        *(struct hs_sparse *)block = (struct hs_sparse){n, event, v};
    }
    plan_free(&p);
    if (rc)
        free(block);
    else
        *out = block;
    return rc;
}

static int get_array(struct hs_view *v, const char *key, int level, char form, const void **out, struct hs_err *err)
{
    struct hs_view_file *f = hs_view_file(v);
    int rc = HS_OK;
    pthread_mutex_lock(&f->lock);
    struct hs_arg_array *a = f->args;
    while (a && (a->form != form || a->level != level || strcmp(a->key, key)))
        a = a->next;
    if (!a) {
        void *data = NULL;
        rc = form == SPARSE ? make_sparse(f, key, level, &data, err) : make_array(f, key, level, form, &data, err);
        if (!rc) {
            a = hs_malloc(sizeof *a);
            *a = (struct hs_arg_array){f->args, form, level, hs_strdup(key), data};
            f->args = a;
        }
    }
    if (!rc)
        *out = a->data;
    pthread_mutex_unlock(&f->lock);
    return rc;
}

int hs_file_arg_i64(struct hs_view *v, const char *key, int level, const int64_t **out, struct hs_err *err)
{
    const void *data;
    int rc = get_array(v, key, level, 'i', &data, err);
    if (!rc)
        *out = data;
    return rc;
}

int hs_file_arg_f64(struct hs_view *v, const char *key, int level, const double **out, struct hs_err *err)
{
    const void *data;
    int rc = get_array(v, key, level, 'f', &data, err);
    if (!rc)
        *out = data;
    return rc;
}

int hs_file_arg_sym(struct hs_view *v, const char *key, int level, const uint32_t **out, struct hs_err *err)
{
    const void *data;
    int rc = get_array(v, key, level, 's', &data, err);
    if (!rc)
        *out = data;
    return rc;
}

int hs_file_arg_sparse(struct hs_view *v, const char *key, int level, struct hs_sparse *out, struct hs_err *err)
{
    const void *data;
    int rc = get_array(v, key, level, SPARSE, &data, err);
    if (!rc)
        *out = *(const struct hs_sparse *)data;
    return rc;
}

/* ---- whole events ---- */

int hs_file_event_json(struct hs_view *v, uint32_t event, struct hs_buf *out, struct hs_err *err)
{
    struct hs_view_file *f = hs_view_file(v);
    pthread_mutex_lock(&f->lock);
    if (!f->cursor)
        f->cursor = hs_arg_cursor_new(f);
    int rc = hs_arg_cursor_json_locked(f->cursor, event, false, out, err);
    pthread_mutex_unlock(&f->lock);
    return rc;
}

/* A view's reader is a cursor under the name that trace/view.h knows. */
struct hs_event_reader *hs_file_reader_new(struct hs_view *v)
{
    return (struct hs_event_reader *)hs_arg_cursor_new(hs_view_file(v));
}

int hs_file_reader_json(struct hs_event_reader *r, uint32_t event, struct hs_buf *out, struct hs_err *err)
{
    return hs_arg_cursor_json((struct hs_arg_cursor *)r, event, false, out, err);
}

void hs_file_reader_free(struct hs_event_reader *r)
{
    hs_arg_cursor_free((struct hs_arg_cursor *)r);
}

void hs_file_free_args(struct hs_view_file *f)
{
    for (struct hs_arg_array *a = f->args, *next; a; a = next) {
        next = a->next;
        free(a->key);
        free(a->data);
        free(a);
    }
    free(f->of_shapes.has);
    free(f->of_shapes.event);
    hs_arg_cursor_free(f->cursor);
}
