/* Parameters of analyses: from text to checked values and back to one canonical text. */
#include "analysis/registry.h"
#include "base/json.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LIST_MAX 65536
#define TEXT_MAX 4096

const struct hs_param_spec hs_common_params[] = {
    {"rank", HS_P_INT_LIST, "", NULL, 0, 0, NULL,
     "ranks to answer for, joined by commas, ranges as 4-7; absent: all of the run"},
    {"step", HS_P_INT_LIST, "", NULL, 0, 0, NULL,
     "numbers N of ProfilerStep#N; device work belongs to the step that launched it; absent: everything, in steps or "
     "not"},
    {"from", HS_P_TIME, "us", NULL, 0, 0, NULL, "start of the window on the run's clock; absent: the beginning"},
    {"to", HS_P_TIME, "us", NULL, 0, 0, NULL, "end of the window (exclusive) on the run's clock; absent: the end"},
    {"compat", HS_P_CHOICE, "", NULL, 0, 0, "hta",
     "hta: the figures of HolisticTraceAnalysis 0.6, with its rounding and its quirks"},
};
const size_t hs_common_nparams = sizeof hs_common_params / sizeof hs_common_params[0];

struct value {
    const struct hs_param_spec *spec;
    bool given, has;
    int64_t i;
    double f;
    char *text; /* of TEXT and CHOICE */
    int64_t *list;
    size_t n;
};

struct hs_params {
    size_t n;
    struct value v[];
};

/* ---- reading ---- */

static int bad(const struct hs_param_spec *s, const char *value, struct hs_err *err, const char *wanted)
{
    return hs_fail(err, HS_EUSAGE, "parameter %s: \"%.80s\" is not %s", s->name, value, wanted);
}

static bool read_i64(const char *p, const char **end, int64_t *out)
{
    if (!(*p == '-' ? p[1] >= '0' && p[1] <= '9' : *p >= '0' && *p <= '9'))
        return false; /* strtoll would take blanks and "+" */
    errno = 0;
    char *e;
    *out = strtoll(p, &e, 10);
    *end = e;
    return !errno;
}

static int in_range(const struct hs_param_spec *s, double x, const char *value, struct hs_err *err)
{
    bool ranged = s->min < s->max || s->max < 0;
    if (!ranged || (x >= s->min && x <= s->max))
        return HS_OK;
    return hs_fail(err, HS_EUSAGE, "parameter %s: %.80s is outside %.15g..%.15g", s->name, value, s->min, s->max);
}

static int set_int(struct value *v, const char *value, struct hs_err *err)
{
    const char *end;
    int64_t x;
    if (!read_i64(value, &end, &x) || *end)
        return bad(v->spec, value, err, "an integer");
    int rc = in_range(v->spec, (double)x, value, err);
    if (!rc)
        v->i = x;
    return rc;
}

static int set_real(struct value *v, const char *value, struct hs_err *err)
{
    char *end;
    double x = strtod(value, &end);
    bool plain = strspn(value, "+-.0123456789eE") == strlen(value); /* no hex, inf, nan, blanks */
    if (!plain || end == value || *end || !isfinite(x))
        return bad(v->spec, value, err, "a number");
    int rc = in_range(v->spec, x, value, err);
    if (!rc)
        v->f = x;
    return rc;
}

static int set_bool(struct value *v, const char *value, struct hs_err *err)
{
    static const char *const yes[] = {"true", "1", "yes"}, *const no[] = {"false", "0", "no"};
    for (size_t i = 0; i < 3; i++) {
        if (!strcmp(value, yes[i]) || !strcmp(value, no[i])) {
            v->i = !strcmp(value, yes[i]);
            return HS_OK;
        }
    }
    return bad(v->spec, value, err, "one of true, false");
}

/* Decimal microseconds to nanoseconds, digit by digit. */
static int set_time(struct value *v, const char *value, struct hs_err *err)
{
    static const char wanted[] = "a time in microseconds, such as 1500 or 12.25 (three decimals are a nanosecond)";
    const char *p = value;
    bool negative = *p == '-';
    p += negative;
    if (*p < '0' || *p > '9')
        return bad(v->spec, value, err, wanted);
    int64_t ns = 0;
    int decimals = -1;
    for (; *p; p++) {
        if (*p == '.' && decimals < 0) {
            decimals = 0;
            continue;
        }
        if (*p < '0' || *p > '9' || (decimals >= 3 && *p != '0'))
            return bad(v->spec, value, err, wanted);
        if (decimals >= 3)
            continue;
        if (__builtin_mul_overflow(ns, 10, &ns) || __builtin_add_overflow(ns, *p - '0', &ns))
            return bad(v->spec, value, err, "within 292 years");
        decimals += decimals >= 0;
    }
    for (int i = decimals < 0 ? 0 : decimals; i < 3; i++)
        if (__builtin_mul_overflow(ns, 10, &ns))
            return bad(v->spec, value, err, "within 292 years");
    v->i = negative ? -ns : ns;
    return HS_OK;
}

static int set_choice(struct value *v, const char *value, struct hs_err *err)
{
    size_t n = strlen(value);
    for (const char *p = v->spec->choices; p;) {
        size_t len = strcspn(p, "|");
        if (len == n && !memcmp(p, value, n)) {
            v->text = hs_strdup(value);
            return HS_OK;
        }
        p = p[len] ? p + len + 1 : NULL;
    }
    char wanted[256] = "one of ";
    strncat(wanted, v->spec->choices, sizeof wanted - 16);
    return bad(v->spec, value, err, wanted);
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* "3", "0,2", "4-7": ascending, without repeats, so that two spellings of one question are one question. */
static int set_list(struct value *v, const char *value, struct hs_err *err)
{
    struct {
        HS_VEC(int64_t);
    } list = HS_VEC_INIT(LIST_MAX);
    static const char wanted[] = "integers joined by commas, such as 0,2,4-7";
    int rc = HS_OK;
    for (const char *p = value; !rc;) {
        int64_t a, b;
        if (!read_i64(p, &p, &a)) {
            rc = bad(v->spec, value, err, wanted);
            break;
        }
        b = a;
        if (*p == '-' && (!read_i64(p + 1, &p, &b) || b < a))
            rc = bad(v->spec, value, err, wanted);
        for (int64_t x = a; !rc; x++) {
            if (!hs_vec_push(&list, x))
                rc = hs_fail(err, HS_EUSAGE, "parameter %s: more than %d numbers", v->spec->name, LIST_MAX);
            if (x == b)
                break;
        }
        if (rc || !*p)
            break;
        if (*p++ != ',')
            rc = bad(v->spec, value, err, wanted);
    }
    if (rc) {
        hs_vec_free(&list);
        return rc;
    }
    qsort(list.p, list.n, sizeof *list.p, by_value);
    size_t k = 0;
    for (size_t i = 0; i < list.n; i++)
        if (!k || list.p[k - 1] != list.p[i])
            list.p[k++] = list.p[i];
    v->list = list.p;
    v->n = k;
    return HS_OK;
}

static int set_text(struct value *v, const char *value, struct hs_err *err)
{
    if (strlen(value) > TEXT_MAX)
        return hs_fail(err, HS_EUSAGE, "parameter %s: longer than %d bytes", v->spec->name, TEXT_MAX);
    v->text = hs_strdup(value);
    return HS_OK;
}

static int set_value(struct value *v, const char *value, struct hs_err *err)
{
    switch (v->spec->type) {
    case HS_P_INT: return set_int(v, value, err);
    case HS_P_REAL: return set_real(v, value, err);
    case HS_P_BOOL: return set_bool(v, value, err);
    case HS_P_TEXT: return set_text(v, value, err);
    case HS_P_CHOICE: return set_choice(v, value, err);
    case HS_P_INT_LIST: return set_list(v, value, err);
    case HS_P_TIME: return set_time(v, value, err);
    }
    return hs_fail(err, HS_EINTERNAL, "parameter %s: type %d", v->spec->name, (int)v->spec->type);
}

static void drop(struct value *v)
{
    free(v->text);
    free(v->list);
    *v = (struct value){.spec = v->spec};
}

/* Replaces the value if the text is good; else leaves it as it was. */
static int assign(struct value *v, const char *value, bool given, struct hs_err *err)
{
    struct value fresh = {.spec = v->spec, .given = given, .has = true};
    int rc = set_value(&fresh, value, err);
    if (rc)
        return rc;
    drop(v);
    *v = fresh;
    return HS_OK;
}

/* ---- the set ---- */

int hs_params_new(struct hs_params **out, const struct hs_param_spec *specs, size_t n, struct hs_err *err)
{
    size_t total = n + hs_common_nparams;
    struct hs_params *p = hs_calloc(1, sizeof *p + total * sizeof p->v[0]);
    p->n = total;
    for (size_t i = 0; i < total; i++) {
        p->v[i].spec = i < n ? &specs[i] : &hs_common_params[i - n];
        int rc = p->v[i].spec->def ? assign(&p->v[i], p->v[i].spec->def, false, err) : HS_OK;
        if (rc) {
            hs_params_free(p);
            return rc;
        }
    }
    *out = p;
    return HS_OK;
}

void hs_params_free(struct hs_params *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->n; i++)
        if (p->v[i].spec)
            drop(&p->v[i]);
    free(p);
}

static const struct value *find(const struct hs_params *p, const char *name)
{
    for (size_t i = 0; i < p->n; i++)
        if (!strcmp(p->v[i].spec->name, name))
            return &p->v[i];
    return NULL;
}

static int unknown(const struct hs_params *p, const char *name, struct hs_err *err)
{
    struct hs_buf names = HS_BUF_INIT(384);
    for (size_t i = 0; i < p->n; i++)
        hs_buf_printf(&names, "%s%s", i ? ", " : "", p->v[i].spec->name);
    int rc = hs_fail(err, HS_EUSAGE, "unknown parameter \"%.60s\"; there are %s", name, names.n ? names.p : "none");
    hs_buf_free(&names);
    return rc;
}

int hs_params_set(struct hs_params *p, const char *name, const char *value, struct hs_err *err)
{
    struct value *v = (struct value *)find(p, name);
    if (!v)
        return unknown(p, name, err);
    if (*value)
        return assign(v, value, true, err);
    drop(v);
    return v->spec->def ? assign(v, v->spec->def, false, err) : HS_OK;
}

static const struct value *must(const struct hs_params *p, const char *name)
{
    const struct value *v = find(p, name);
    assert(v); /* an analysis asks only for what its entry declares */
    return v;
}

bool hs_param_declared(const struct hs_params *p, const char *name)
{
    return find(p, name) != NULL;
}

bool hs_param_given(const struct hs_params *p, const char *name)
{
    return must(p, name)->given;
}

bool hs_param_has(const struct hs_params *p, const char *name)
{
    return must(p, name)->has;
}

int64_t hs_param_i64(const struct hs_params *p, const char *name)
{
    return must(p, name)->i;
}

double hs_param_f64(const struct hs_params *p, const char *name)
{
    const struct value *v = must(p, name);
    return v->spec->type == HS_P_REAL ? v->f : (double)v->i;
}

bool hs_param_bool(const struct hs_params *p, const char *name)
{
    return must(p, name)->i != 0;
}

const char *hs_param_text(const struct hs_params *p, const char *name)
{
    return must(p, name)->text;
}

const int64_t *hs_param_list(const struct hs_params *p, const char *name, size_t *n)
{
    const struct value *v = must(p, name);
    *n = v->n;
    return v->list;
}

/* ---- writing ---- */

/* Text is percent-encoded where it would blur the borders of the canonical form. */
static void put_text(struct hs_buf *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c <= ' ' || c >= 0x7f || strchr("&=%#+\"<>", c))
            hs_buf_printf(out, "%%%02X", c);
        else
            hs_buf_putc(out, (char)c);
    }
}

static void put_value(const struct value *v, struct hs_buf *out)
{
    switch (v->spec->type) {
    case HS_P_INT: hs_buf_put_i64(out, v->i); break;
    case HS_P_REAL: hs_put_f64(out, v->f); break;
    case HS_P_BOOL: hs_buf_puts(out, v->i ? "true" : "false"); break;
    case HS_P_TIME: hs_put_us(out, v->i); break;
    case HS_P_TEXT:
    case HS_P_CHOICE: put_text(out, v->text); break;
    case HS_P_INT_LIST:
        for (size_t i = 0; i < v->n; i++) {
            if (i)
                hs_buf_putc(out, ',');
            hs_buf_put_i64(out, v->list[i]);
        }
    }
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const struct value *const *)a)->spec->name, (*(const struct value *const *)b)->spec->name);
}

/* Those that are set or have a default, by name; free() it. */
static const struct value **sorted(const struct hs_params *p, size_t *n)
{
    const struct value **v = hs_malloc(p->n * sizeof *v);
    *n = 0;
    for (size_t i = 0; i < p->n; i++)
        if (p->v[i].has)
            v[(*n)++] = &p->v[i];
    qsort(v, *n, sizeof *v, by_name);
    return v;
}

void hs_params_canonical(const struct hs_params *p, struct hs_buf *out)
{
    size_t n;
    const struct value **v = sorted(p, &n);
    for (size_t i = 0; i < n; i++) {
        hs_buf_printf(out, "%s%s=", i ? "&" : "", v[i]->spec->name);
        put_value(v[i], out);
    }
    free(v);
}

void hs_params_json(const struct hs_params *p, struct hs_json *j)
{
    size_t n;
    const struct value **v = sorted(p, &n);
    hs_json_obj(j);
    for (size_t i = 0; i < n; i++) {
        hs_json_key(j, v[i]->spec->name);
        switch (v[i]->spec->type) {
        case HS_P_INT: hs_json_i64(j, v[i]->i); break;
        case HS_P_REAL: hs_json_f64(j, v[i]->f); break;
        case HS_P_BOOL: hs_json_bool(j, v[i]->i != 0); break;
        case HS_P_TIME: hs_json_us(j, v[i]->i); break;
        case HS_P_TEXT:
        case HS_P_CHOICE: hs_json_cstr(j, v[i]->text); break;
        case HS_P_INT_LIST:
            hs_json_arr(j);
            for (size_t k = 0; k < v[i]->n; k++)
                hs_json_i64(j, v[i]->list[k]);
            hs_json_end(j);
        }
    }
    hs_json_end(j);
    free(v);
}
