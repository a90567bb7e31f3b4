/* Events into rows: which HTA keeps, what it reads out of their args, and how it rounds their times. */
#include "analysis/hta_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a shape says about its events. */
struct shape {
    bool has_dur, has_cat;
    bool ts_core, dur_core;
    bool ts_float; /* no ts at all, or one that JSON readers take for a float */
    bool ts_value; /* something is there */
};

/* One argument in the forms it occurs in; arrays by event, NULL where no event has that form. */
struct arg {
    const int64_t *i;
    const double *f;
    const uint32_t *s;
};

struct reader {
    struct hs_view *v;
    struct hs_events ev;
    struct shape *shapes;
    struct arg stream, corr;
    const double *ts_f, *dur_f; /* by event, for those whose core value does not tell all */
    const int64_t *dur_i;
    bool rounding;
    size_t lost; /* kept by HTA's rule, but without a time */
};

double hta_us_of_ns(int64_t ns)
{
    /* Up to 2^53 both operands are exact and the division rounds once, as reading the text does. */
    if (ns <= ((int64_t)1 << 53) && ns >= -((int64_t)1 << 53))
        return (double)ns / 1000.0;
    /* Beyond: the 53 leading bits of ns / 1000, rounded half to even. */
    uint64_t a = ns < 0 ? (uint64_t)0 - (uint64_t)ns : (uint64_t)ns, by = 1000;
    int shift = 52 - (63 - __builtin_clzll(a / 1000));
    unsigned __int128 num = (unsigned __int128)a << (shift > 0 ? shift : 0);
    by <<= shift < 0 ? -shift : 0;
    uint64_t m = (uint64_t)(num / by), rest = (uint64_t)(num % by);
    if (rest > by / 2 || (rest == by / 2 && (m & 1)))
        m++;
    double v = ldexp((double)m, -shift);
    return ns < 0 ? -v : v;
}

static int64_t to_i64(double v)
{
    if (!(v > -9.2e18))
        return isnan(v) ? 0 : -((int64_t)1 << 62);
    return v < 9.2e18 ? (int64_t)v : (int64_t)1 << 62;
}

static struct shape shape_of(const struct hs_view *v, const struct hs_shape *s)
{
    struct shape k = {.ts_float = true};
    for (uint32_t i = 0; i < s->count; i++) {
        const struct hs_field *f = &v->fields[s->first + i];
        if (f->level)
            continue;
        struct hs_str key = hs_view_str(v, f->key);
        bool core = f->type == HS_V_CORE, null = f->type == HS_V_NULL;
        if (core ? f->column == HS_CORE_TS : hs_str_is(key, "ts")) {
            k.ts_core = core;
            k.ts_value = !null;
            k.ts_float = !core && f->type != HS_V_INT;
        } else if (core ? f->column == HS_CORE_DUR : hs_str_is(key, "dur")) {
            k.dur_core = core;
            k.has_dur = !null;
        } else if (core ? f->column == HS_CORE_CAT : hs_str_is(key, "cat")) {
            k.has_cat = !null;
        }
    }
    return k;
}

/* The forms in which `key` occurs among the args. */
static int find_arg(struct hs_view *v, const char *key, struct arg *out, struct hs_err *err)
{
    unsigned types = 0;
    int rc = 0;
    for (size_t i = 0; i < v->nfields; i++)
        if (v->fields[i].level == 1 && hs_str_is(hs_view_str(v, v->fields[i].key), key))
            types |= 1u << v->fields[i].type;
    if (types & (1u << HS_V_INT | 1u << HS_V_STR))
        rc = v->ops->arg_i64(v, key, 1, &out->i, err);
    if (!rc && types & 1u << HS_V_DEC)
        rc = v->ops->arg_f64(v, key, 1, &out->f, err);
    if (!rc && types & 1u << HS_V_STR)
        rc = v->ops->arg_sym(v, key, 1, &out->s, err);
    return rc;
}

/* Python's float() of a plain number, then int(); false for all else ("0x7", "default", "nan"). */
static bool text_number(struct hs_str s, int64_t *out)
{
    char buf[64];
    size_t n = 0;
    while (s.n && (s.p[0] == ' ' || (s.p[0] >= '\t' && s.p[0] <= '\r')))
        s = hs_str(s.p + 1, s.n - 1);
    while (s.n && (s.p[s.n - 1] == ' ' || (s.p[s.n - 1] >= '\t' && s.p[s.n - 1] <= '\r')))
        s.n--;
    if (!s.n || s.n >= sizeof buf)
        return false;
    for (; n < s.n; n++) {
        char c = s.p[n];
        if (!((c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+' || ((c == 'e' || c == 'E') && n)))
            return false;
        buf[n] = c;
    }
    buf[n] = 0;
    char *end;
    double v = strtod(buf, &end);
    if (*end || !isfinite(v))
        return false;
    *out = to_i64(v);
    return true;
}

static int64_t stream_of(const struct reader *r, uint32_t e)
{
    int64_t v;
    if (r->stream.s && r->stream.s[e] != HS_NO_SYM)
        return text_number(hs_view_str(r->v, r->stream.s[e]), &v) ? v : -1;
    if (r->stream.i && r->stream.i[e] != HS_NO_VALUE)
        return r->stream.i[e];
    return r->stream.f && !isnan(r->stream.f[e]) ? to_i64(r->stream.f[e]) : -1;
}

static int64_t corr_of(const struct reader *r, uint32_t e)
{
    if (r->corr.i && r->corr.i[e] != HS_NO_VALUE)
        return r->corr.i[e];
    return r->corr.f && !isnan(r->corr.f[e]) ? to_i64(r->corr.f[e]) : -1;
}

/* ts and dur as the doubles that a JSON reader makes of them. */
static double ts_of(const struct reader *r, const struct shape *k, uint32_t e)
{
    if (!k->ts_core && r->ts_f && !isnan(r->ts_f[e]))
        return r->ts_f[e];
    return hta_us_of_ns(r->ev.ts[e]);
}

static double dur_of(const struct reader *r, const struct shape *k, uint32_t e)
{
    if (k->dur_core)
        return hta_us_of_ns(r->ev.dur[e]);
    return r->dur_f ? r->dur_f[e] : NAN;
}

static bool read_times(struct reader *r, const struct shape *k, uint32_t e, struct hta_row *row)
{
    double dur = dur_of(r, k, e);
    if (!k->ts_value || isnan(dur)) {
        r->lost++;
        return false;
    }
    double ts = ts_of(r, k, e);
    row->ts = to_i64(r->rounding ? ceil(ts) : ts);
    row->end = r->rounding ? floor(ts + dur) : (double)row->ts + dur;
    row->dur = r->rounding ? row->end - (double)row->ts : dur;
    if (!r->rounding && !k->dur_core && r->dur_i[e] != HS_NO_VALUE && fabs(dur) < 9e18)
        row->rest = (int32_t)(r->dur_i[e] - (int64_t)dur);
    return true;
}

static int open_reader(struct reader *r, struct hs_err *err)
{
    struct hs_view *v = r->v;
    bool odd_ts = false, odd_dur = false;
    int rc = hs_view_events(v, HS_EV_TS | HS_EV_DUR | HS_EV_NAME | HS_EV_CAT | HS_EV_LANE | HS_EV_SHAPE | HS_EV_DIGITS,
                            &r->ev, err);
    if (rc)
        return rc;
    r->shapes = hs_calloc(v->nshapes + 1, sizeof *r->shapes);
    for (size_t i = 0; i < v->nshapes; i++) {
        r->shapes[i] = shape_of(v, &v->shapes[i]);
        odd_ts |= r->shapes[i].ts_value && !r->shapes[i].ts_core;
        odd_dur |= r->shapes[i].has_dur && !r->shapes[i].dur_core;
    }
    if (odd_ts)
        rc = v->ops->arg_f64(v, "ts", 0, &r->ts_f, err);
    if (!rc && odd_dur)
        rc = v->ops->arg_f64(v, "dur", 0, &r->dur_f, err);
    if (!rc && odd_dur)
        rc = v->ops->arg_i64(v, "dur", 0, &r->dur_i, err);
    if (!rc)
        rc = find_arg(v, "stream", &r->stream, err);
    if (!rc)
        rc = find_arg(v, "correlation", &r->corr, err);
    for (size_t e = 0; !rc && e < r->ev.n && !r->rounding; e++) {
        const struct shape *k = &r->shapes[r->ev.shape[e] < v->nshapes ? r->ev.shape[e] : v->nshapes];
        r->rounding = k->ts_float || (k->ts_core && (r->ev.digits[e] & 15));
    }
    return rc;
}

/* The view's symbol as one of all ranks; `map` remembers. HTA_NONE over the ceiling. */
static uint32_t symbol(struct hta_trace *t, const struct hs_view *v, uint32_t *map, uint32_t sym)
{
    if (sym >= v->nsyms)
        return 0;
    if (map[sym] != HTA_NONE)
        return map[sym];
    struct hs_str s = v->syms[sym];
    uint32_t id = hs_intern_add(&t->syms, s.p, s.n);
    if (id == HS_NO_SYM)
        return HTA_NONE;
    if (id >= t->info.n) {
        struct hta_sym info = {hta_name_is(s), hta_name_class(s)};
        if (!hs_vec_push(&t->info, info))
            return HTA_NONE;
    }
    return map[sym] = id;
}

int hta_read_rows(struct hta_trace *t, struct hta_rank *rank, struct hs_table *notes, struct hs_err *err)
{
    struct reader r = {.v = rank->view};
    struct {
        HS_VEC(struct hta_row);
    } rows = HS_VEC_INIT(HS_MAX_EVENTS);
    uint32_t *map = NULL;
    int rc = open_reader(&r, err);
    if (rc)
        goto out;
    map = hs_malloc((r.v->nsyms + 1) * sizeof *map);
    memset(map, 0xff, (r.v->nsyms + 1) * sizeof *map);
    uint32_t trace = hs_view_sym(r.v, "Trace");
    for (uint32_t e = 0; e < r.ev.n; e++) {
        if (r.ev.shape[e] >= r.v->nshapes || r.ev.cat[e] == trace)
            continue;
        const struct shape *k = &r.shapes[r.ev.shape[e]];
        struct hta_row row = {.index = e, .lane = r.ev.lane[e], .iter = HTA_NO_ITER};
        if (!k->has_dur || !k->has_cat || !read_times(&r, k, e, &row))
            continue;
        row.name = symbol(t, r.v, map, r.ev.name[e]);
        row.cat = symbol(t, r.v, map, r.ev.cat[e]);
        row.stream = stream_of(&r, e);
        row.corr = corr_of(&r, e);
        if (row.name == HTA_NONE || row.cat == HTA_NONE || !hs_vec_push(&rows, row)) {
            rc = hs_fail(err, HS_ELIMIT, "%s: too many distinct names for compat=hta", r.v->name ? r.v->name : "trace");
            goto out;
        }
        struct hta_row *kept = &rows.p[rows.n - 1];
        kept->gpu = (row.stream >= 0 && row.corr >= 0) || hta_name_has(t, kept, HTA_IS_SYNC);
    }
    if (r.lost)
        hs_table_note(notes, "%zu events without a readable time were left out; HTA refuses such a trace", r.lost);
    rank->nevents = r.ev.n;
    rank->rows = rows.p;
    rank->n = rows.n;
    rows.p = NULL;
out:
    hs_free_array((void **)&map);
    hs_free_array((void **)&rows.p);
    hs_free_array((void **)&r.shapes);
    return rc;
}
