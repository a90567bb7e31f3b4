#include "trace/event_json.h"

#include "base/json.h"

size_t hs_event_values(const struct hs_field *fields, size_t nfields)
{
    size_t n = 0;
    for (size_t i = 0; i < nfields; i++)
        n += fields[i].type == HS_V_DEC ? 2 : fields[i].type <= HS_V_RAW ? 1 : 0;
    return n;
}

void hs_put_decimal(struct hs_buf *out, int64_t mantissa, unsigned digits)
{
    char t[48];
    char *e = t + sizeof t, *p = e;
    uint64_t u = mantissa < 0 ? 0 - (uint64_t)mantissa : (uint64_t)mantissa;
    if (digits > 18)
        digits = 18;
    for (unsigned i = 0; i < digits; i++, u /= 10)
        *--p = (char)('0' + u % 10);
    if (digits)
        *--p = '.';
    do
        *--p = (char)('0' + u % 10);
    while (u /= 10);
    if (mantissa < 0)
        *--p = '-';
    hs_buf_put(out, p, (size_t)(e - p));
}

/* Core times are kept in ns; `digits` of µs were written. */
static void put_time(struct hs_buf *out, int64_t ns, unsigned digits)
{
    static const int64_t scale[4] = {1000, 100, 10, 1};
    digits = digits > 3 ? 3 : digits;
    hs_put_decimal(out, ns / scale[digits], digits);
}

struct writer {
    struct hs_buf *out;
    const struct hs_event_core *core;
    const struct hs_str *syms;
    size_t nsyms;
    const int64_t *v;
};

static struct hs_str sym(const struct writer *w, int64_t id)
{
    return id >= 0 && (uint64_t)id < w->nsyms ? w->syms[id] : hs_str("", 0);
}

static void put_id(const struct writer *w, struct hs_id id)
{
    if (id.kind == HS_ID_INT)
        hs_buf_put_i64(w->out, id.v);
    else
        hs_json_quote(w->out, sym(w, id.kind == HS_ID_TEXT ? id.v : 0));
}

static void put_core(const struct writer *w, uint32_t which)
{
    const struct hs_event_core *c = w->core;
    char ph = (char)c->ph;
    switch ((enum hs_core)which) {
    case HS_CORE_PH: hs_json_quote(w->out, hs_str(&ph, 1)); break;
    case HS_CORE_CAT: hs_json_quote(w->out, sym(w, c->cat)); break;
    case HS_CORE_NAME: hs_json_quote(w->out, sym(w, c->name)); break;
    case HS_CORE_PID: put_id(w, c->pid); break;
    case HS_CORE_TID: put_id(w, c->tid); break;
    case HS_CORE_TS: put_time(w->out, c->ts, c->digits & 15u); break;
    case HS_CORE_DUR: put_time(w->out, c->dur, c->digits >> 4); break;
    }
}

static void put_value(struct writer *w, const struct hs_field *f)
{
    switch ((enum hs_vtype)f->type) {
    case HS_V_INT: hs_buf_put_i64(w->out, *w->v++); break;
    case HS_V_DEC:
        hs_put_decimal(w->out, w->v[0], (unsigned)w->v[1]);
        w->v += 2;
        break;
    case HS_V_STR: hs_json_quote(w->out, sym(w, *w->v++)); break;
    case HS_V_RAW: hs_put_utf8(w->out, sym(w, *w->v++)); break;
    case HS_V_TRUE: hs_buf_puts(w->out, "true"); break;
    case HS_V_FALSE: hs_buf_puts(w->out, "false"); break;
    case HS_V_NULL: hs_buf_puts(w->out, "null"); break;
    case HS_V_OBJECT: hs_buf_putc(w->out, '{'); break;
    case HS_V_CORE: put_core(w, f->column); break;
    }
}

void hs_event_json(struct hs_buf *out, const struct hs_event_core *core, const struct hs_field *fields, size_t nfields,
                   const int64_t *values, const struct hs_str *syms, size_t nsyms)
{
    struct writer w = {out, core, syms, nsyms, values};
    bool in_args = false, comma = false;
    hs_buf_putc(out, '{');
    for (size_t i = 0; i < nfields; i++) {
        const struct hs_field *f = &fields[i];
        if (in_args && f->level == 0) {
            hs_buf_putc(out, '}');
            in_args = false;
            comma = true;
        }
        if (comma)
            hs_buf_putc(out, ',');
        hs_json_quote(out, sym(&w, f->key));
        hs_buf_putc(out, ':');
        put_value(&w, f);
        comma = f->type != HS_V_OBJECT;
        if (f->type == HS_V_OBJECT)
            in_args = true;
    }
    if (in_args)
        hs_buf_putc(out, '}');
    hs_buf_putc(out, '}');
}
