#include "store/view_args.h"

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

/* ---- values of one argument column in one segment ---- */

struct values {
    int64_t *v;
    size_t n, at; /* read so far */
    bool loaded;
};

static int load_values(struct hs_view_file *f, uint32_t column, uint64_t segment, struct values *s, struct hs_err *err)
{
    size_t n, cap = 0;
    s->n = 0;
    for (uint32_t part = 0; part < HS_ARG_PARTS; part++) {
        int rc = hs_view_segment_any(f, HS_TBL_ARGS, column, hs_arg_segment(segment, part), f->tmp, &n, err);
        if (rc)
            return rc;
        if (!n)
            break;
        if (s->n + n > cap) {
            cap = s->n + n;
            s->v = hs_realloc_array(s->v, cap, sizeof *s->v);
        }
        memcpy(s->v + s->n, f->tmp, n * sizeof *s->v);
        s->n += n;
        if (n < HS_SEG_ROWS)
            break;
    }
    s->loaded = true;
    return HS_OK;
}

static bool has_values(const struct hs_field *fd)
{
    return fd->type <= HS_V_RAW;
}

/* ---- one argument of all events ---- */

/* What each shape says about one (key, level): the fields that match, in their order. Several only where an event has
 * the key twice; the last one counts. */
struct plan {
    uint32_t *first; /* [nshapes + 1] into fields */
    const struct hs_field **fields;
    uint32_t *slot;         /* of each field: index into streams; UINT32_MAX for those without values */
    struct values *streams; /* mantissas at slot, digits at slot + 1 */
    uint32_t *columns;      /* of each stream */
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
            p->slot[n] = has_values(fd) ? plan_slot(p, fd->column, fd->type == HS_V_DEC ? 2 : 1) : UINT32_MAX;
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
        struct values *s = &p->streams[p->slot[i]];
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

static int fill_segment(struct hs_view_file *f, struct plan *p, uint64_t k, char form, void *data, struct hs_err *err)
{
    size_t base = (size_t)(k * HS_SEG_ROWS), rows = hs_view_segment_rows(f, k);
    for (size_t i = 0; i < p->nstreams; i++) {
        int rc = load_values(f, p->columns[i], k, &p->streams[i], err);
        if (rc)
            return rc;
        p->streams[i].at = 0;
    }
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
        rc = make_array(f, key, level, form, &data, err);
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

/* ---- whole events ---- */

struct hs_arg_cursor {
    struct hs_view_file *f;
    uint64_t segment;       /* UINT64_MAX: none yet */
    size_t row;             /* the next event; `at` of every column stands before its values */
    struct values *columns; /* [ncolumns] */
    struct hs_events ev;
    struct {
        HS_VEC(int64_t);
    } values;
    struct {
        HS_VEC(struct hs_field);
    } fields;
};

struct hs_arg_cursor *hs_arg_cursor_new(struct hs_view_file *f)
{
    struct hs_arg_cursor *c = hs_calloc(1, sizeof *c);
    c->f = f;
    c->segment = UINT64_MAX;
    c->columns = hs_calloc(f->ncolumns, sizeof *c->columns);
    c->values.max = c->fields.max = SIZE_MAX / 64;
    return c;
}

void hs_arg_cursor_free(struct hs_arg_cursor *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->f->ncolumns; i++)
        free(c->columns[i].v);
    free(c->columns);
    hs_vec_free(&c->values);
    hs_vec_free(&c->fields);
    free(c);
}

static const unsigned json_columns =
    HS_EV_TS | HS_EV_DUR | HS_EV_NAME | HS_EV_CAT | HS_EV_LANE | HS_EV_PH | HS_EV_SHAPE | HS_EV_DIGITS;

/* Columns are loaded when a value is wanted, so skipping an event only counts. */
static void seek(struct hs_arg_cursor *c, uint32_t event)
{
    const struct hs_view_file *f = c->f;
    uint64_t segment = event / HS_SEG_ROWS;
    size_t row = event % HS_SEG_ROWS;
    if (segment != c->segment)
        for (size_t i = 0; i < f->ncolumns; i++)
            c->columns[i].loaded = false;
    if (segment != c->segment || row < c->row) {
        for (size_t i = 0; i < f->ncolumns; i++)
            c->columns[i].at = 0;
        c->segment = segment;
        c->row = 0;
    }
    for (; c->row < row; c->row++) {
        struct hs_shape s = f->shapes[c->ev.shape[segment * HS_SEG_ROWS + c->row]];
        for (uint32_t i = 0; i < s.count; i++) {
            const struct hs_field *fd = &f->fields[s.first + i];
            if (has_values(fd)) {
                c->columns[fd->column].at++;
                c->columns[fd->column + (fd->type == HS_V_DEC)].at += fd->type == HS_V_DEC;
            }
        }
    }
}

/* The next value of a column goes to c->values. */
static int take(struct hs_arg_cursor *c, uint32_t column, struct hs_err *err)
{
    struct values *s = &c->columns[column];
    int rc = s->loaded ? HS_OK : load_values(c->f, column, c->segment, s, err);
    if (rc)
        return rc;
    if (s->at >= s->n)
        return hs_view_damaged(c->f, err, "arguments are missing");
    if (!hs_vec_push(&c->values, s->v[s->at]))
        return hs_fail(err, HS_ELIMIT, "an event has too many arguments");
    s->at++;
    return HS_OK;
}

/* Values of the event in front of the cursor, which moves behind it; those of its args begin at *args. */
static int take_event(struct hs_arg_cursor *c, struct hs_shape s, size_t *args, struct hs_err *err)
{
    c->values.n = 0;
    *args = 0;
    for (uint32_t i = 0; i < s.count; i++) {
        const struct hs_field *fd = &c->f->fields[s.first + i];
        int rc = HS_OK;
        if (fd->type == HS_V_OBJECT)
            *args = c->values.n;
        if (has_values(fd))
            rc = take(c, fd->column, err);
        if (!rc && fd->type == HS_V_DEC)
            rc = take(c, fd->column + 1, err);
        if (rc) {
            c->segment = UINT64_MAX; /* its place is lost */
            return rc;
        }
    }
    c->row++;
    return HS_OK;
}

/* The members of args, as members of an object of their own: false where args is no object. A shape of a damaged file may
 * have several: as in take_event, the last one counts. */
static bool args_fields(struct hs_arg_cursor *c, struct hs_shape s)
{
    const struct hs_field *fd = c->f->fields + s.first;
    uint32_t i = s.count;
    while (i && fd[i - 1].type != HS_V_OBJECT)
        i--;
    c->fields.n = 0;
    for (uint32_t k = i; i && k < s.count && fd[k].level == 1 && hs_vec_push(&c->fields, fd[k]); k++)
        c->fields.p[c->fields.n - 1].level = 0;
    return i > 0;
}

static int cursor_json(struct hs_arg_cursor *c, uint32_t event, bool args, struct hs_buf *out, struct hs_err *err)
{
    struct hs_view_file *f = c->f;
    size_t first;
    if (event >= f->events)
        return hs_fail(err, HS_ENOTFOUND, "there is no event %u (the trace has %llu)", event,
                       (unsigned long long)f->events);
    int rc = hs_file_load_events(f, json_columns, err);
    if (rc)
        return rc;
    c->ev = f->ev;
    seek(c, event);
    struct hs_shape s = f->shapes[f->ev.shape[event]];
    rc = take_event(c, s, &first, err);
    if (rc)
        return rc;
    struct hs_lane_info lane = f->base.lanes[f->ev.lane[event]];
    struct hs_event_core core = {f->ev.ts[event],   f->ev.dur[event], lane.pid,        lane.tid,
                                 f->ev.name[event], f->ev.cat[event], f->ev.ph[event], f->ev.digits[event]};
    if (!args)
        hs_event_json(out, &core, f->fields + s.first, s.count, c->values.p, f->base.syms, f->base.nsyms);
    else if (args_fields(c, s))
        hs_event_json(out, &core, c->fields.p, c->fields.n, c->values.p + first, f->base.syms, f->base.nsyms);
    return HS_OK;
}

int hs_arg_cursor_json(struct hs_arg_cursor *c, uint32_t event, bool args, struct hs_buf *out, struct hs_err *err)
{
    pthread_mutex_lock(&c->f->lock);
    int rc = cursor_json(c, event, args, out, err);
    pthread_mutex_unlock(&c->f->lock);
    return rc;
}

int hs_file_event_json(struct hs_view *v, uint32_t event, struct hs_buf *out, struct hs_err *err)
{
    struct hs_view_file *f = hs_view_file(v);
    pthread_mutex_lock(&f->lock);
    if (!f->cursor)
        f->cursor = hs_arg_cursor_new(f);
    int rc = cursor_json(f->cursor, event, false, out, err);
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
    hs_arg_cursor_free(f->cursor);
}
