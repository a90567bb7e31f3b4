#include "render/table_json.h"
#include "base/json.h"
#include "render/value.h"

/* JavaScript reads numbers as doubles: what those cannot hold goes as text. Times are µs; their whole part must fit. */
static bool beyond_double(const struct hs_cell *c, enum hs_type type)
{
    const int64_t safe = (int64_t)1 << 53;
    int64_t v = type == HS_T_TIME ? c->i / 1000 : c->i;
    return c->kind == HS_C_I64 && (v > safe || v < -safe);
}

/* JSON from a trace, made safe inside HTML and valid UTF-8. "<", ">" and "&" stand only inside strings there. */
static void put_raw(struct hs_buf *out, struct hs_str s)
{
    size_t run = 0;
    for (size_t i = 0; i <= s.n; i++) {
        if (i < s.n && s.p[i] != '<' && s.p[i] != '>' && s.p[i] != '&')
            continue;
        hs_put_utf8(out, hs_str(s.p + run, i - run));
        if (i < s.n)
            hs_buf_printf(out, "\\u%04x", (unsigned char)s.p[i]);
        run = i + 1;
    }
}

static void put_cell(struct hs_json *j, const struct hs_cell *c, enum hs_type type)
{
    bool quoted = beyond_double(c, type);
    switch ((enum hs_cell_kind)c->kind) {
    case HS_C_NULL: hs_json_null(j); break;
    case HS_C_BOOL: hs_json_bool(j, c->i != 0); break;
    case HS_C_TEXT:
        if (type != HS_T_JSON) {
            hs_json_str(j, hs_str(c->s, c->len));
        } else if (!c->len) {
            hs_json_null(j);
        } else {
            hs_json_raw(j, HS_STR("")); /* the separator */
            put_raw(j->out, hs_str(c->s, c->len));
        }
        break;
    case HS_C_I64:
    case HS_C_F64:
        hs_json_raw(j, quoted ? HS_STR("\"") : HS_STR(""));
        hs_put_number(j->out, c, type);
        if (quoted)
            hs_buf_putc(j->out, '"');
    }
}

static void put_columns(struct hs_json *j, const struct hs_table *t)
{
    hs_json_key(j, "columns");
    hs_json_arr(j);
    for (size_t c = 0; c < t->ncolumns; c++) {
        hs_json_obj(j);
        hs_json_key(j, "name");
        hs_json_cstr(j, t->columns[c].name);
        hs_json_key(j, "type");
        hs_json_cstr(j, hs_type_name(t->columns[c].type));
        hs_json_key(j, "unit");
        hs_json_cstr(j, t->columns[c].unit ? t->columns[c].unit : "");
        hs_json_key(j, "doc");
        hs_json_cstr(j, t->columns[c].doc ? t->columns[c].doc : "");
        hs_json_end(j);
    }
    hs_json_end(j);
}

static void put_records(struct hs_json *j, const struct hs_table *t)
{
    hs_json_key(j, "rows");
    hs_json_arr(j);
    for (size_t r = 0; r < t->rows && !j->out->full; r++) {
        hs_json_obj(j);
        for (size_t c = 0; c < t->ncolumns; c++) {
            hs_json_key(j, t->columns[c].name);
            put_cell(j, hs_table_cell(t, r, c), t->columns[c].type);
        }
        hs_json_end(j);
    }
    hs_json_end(j);
}

static void put_data(struct hs_json *j, const struct hs_table *t)
{
    hs_json_key(j, "data");
    hs_json_arr(j);
    for (size_t c = 0; c < t->ncolumns; c++) {
        hs_json_arr(j);
        for (size_t r = 0; r < t->rows && !j->out->full; r++)
            put_cell(j, hs_table_cell(t, r, c), t->columns[c].type);
        hs_json_end(j);
    }
    hs_json_end(j);
}

void hs_table_json(const struct hs_table *t, const struct hs_envelope *e, bool by_column, struct hs_buf *out)
{
    struct hs_json j = HS_JSON_INIT(out);
    hs_json_obj(&j);
    hs_json_key(&j, "analysis");
    hs_json_cstr(&j, e->analysis);
    hs_json_key(&j, "run");
    hs_json_cstr(&j, e->run);
    hs_json_key(&j, "params");
    hs_json_raw(&j, e->params_json ? hs_cstr(e->params_json) : HS_STR("{}"));
    put_columns(&j, t);
    if (by_column)
        put_data(&j, t);
    else
        put_records(&j, t);
    hs_json_key(&j, "notes");
    hs_json_arr(&j);
    for (size_t i = 0; i < t->notes.n; i++)
        hs_json_cstr(&j, t->notes.p[i]);
    hs_json_end(&j);
    hs_json_end(&j);
    hs_buf_putc(out, '\n');
}
