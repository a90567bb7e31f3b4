#include "store/view_args.h"

#include "store/arg_cursor.h"
#include "store/arg_plan.h"
#include "store/view_columns.h"
#include "store/view_sparse.h"
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

static double as_f64(const struct hs_view *v, const struct hs_arg_value *x)
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

static void put_value(const struct hs_view *v, const struct hs_arg_value *x, char form, void *data, size_t event)
{
    if (form == 'i')
        ((int64_t *)data)[event] = hs_arg_as_i64(v, x);
    else if (form == 'f')
        ((double *)data)[event] = as_f64(v, x);
    else
        ((uint32_t *)data)[event] = x->type == (form == 's' ? HS_V_STR : HS_V_RAW) ? (uint32_t)x->v : HS_NO_SYM;
}

static int fill_segment(struct hs_view_file *f, struct hs_arg_plan *p, uint64_t k, char form, void *data,
                        struct hs_err *err)
{
    size_t base = (size_t)(k * HS_SEG_ROWS), rows = hs_view_segment_rows(f, k);
    int rc = hs_arg_plan_load(f, p, k, err);
    if (rc)
        return rc;
    for (size_t i = 0; i < rows; i++) {
        struct hs_arg_value x;
        if (!hs_arg_plan_next(p, f->ev.shape[base + i], &x))
            return hs_view_damaged(f, err, "arguments are missing");
        if ((x.type == HS_V_STR || x.type == HS_V_RAW) && (x.v < 0 || (uint64_t)x.v >= f->base.nsyms))
            return hs_view_damaged(f, err, "an argument is no text");
        put_value(&f->base, &x, form, data, base + i);
    }
    return HS_OK;
}

static int make_array(struct hs_view_file *f, const char *key, int level, char form, void **out, struct hs_err *err)
{
    struct hs_arg_plan p = {0};
    void *data = NULL;
    int rc = hs_file_load_events(f, HS_EV_SHAPE, err);
    if (!rc)
        rc = hs_view_alloc(f, &data, (size_t)f->events, form == 's' || form == 'j' ? sizeof(uint32_t) : sizeof(int64_t),
                           err);
    if (!rc) {
        hs_arg_plan_make(&p, f, hs_view_sym(&f->base, key), level);
        for (uint64_t k = 0; !rc && k < f->segments; k++)
            rc = fill_segment(f, &p, k, form, data, err);
        hs_arg_plan_free(&p);
    }
    if (rc)
        free(data);
    else
        *out = data;
    return rc;
}

#define SPARSE 'p' /* beside the forms i, f, s and j of whole arrays */

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
        rc = form == SPARSE ? hs_make_sparse(f, key, level, &data, err) : make_array(f, key, level, form, &data, err);
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

int hs_file_arg_json(struct hs_view *v, const char *key, int level, const uint32_t **out, struct hs_err *err)
{
    const void *data;
    int rc = get_array(v, key, level, 'j', &data, err);
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
        if (a->form == SPARSE)
            hs_sparse_free(a->data);
        else
            free(a->data);
        free(a);
    }
    hs_shape_events_free(f->of_shapes);
    hs_arg_cursor_free(f->cursor);
}
