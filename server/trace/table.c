#include "trace/table.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* Ceilings: a table that reaches one is refused whole (HS_ELIMIT), never answered in part without a word. */
#define MAX_CELLS ((size_t)32 << 20)
#define MAX_TEXT ((size_t)512 << 20)
#define MAX_NOTES 1000

const char *hs_type_name(enum hs_type type)
{
    switch (type) {
    case HS_T_TEXT: return "text";
    case HS_T_INT: return "integer";
    case HS_T_TIME: return "time";
    case HS_T_REAL: return "real";
    case HS_T_PCT: return "percent";
    case HS_T_BOOL: return "boolean";
    case HS_T_JSON: return "json";
    }
    return "text";
}

void hs_table_init(struct hs_table *t, const struct hs_column_spec *columns, size_t ncolumns)
{
    *t = (struct hs_table){.columns = columns,
                           .ncolumns = ncolumns,
                           .cells = HS_VEC_INIT(MAX_CELLS),
                           .notes = HS_VEC_INIT(MAX_NOTES),
                           .text = HS_ARENA_INIT(MAX_TEXT)};
}

void hs_table_free(struct hs_table *t)
{
    for (size_t i = 0; i < t->notes.n; i++)
        hs_free_array((void **)&t->notes.p[i]);
    hs_vec_free(&t->notes);
    hs_vec_free(&t->cells);
    hs_arena_free(&t->text);
    t->rows = 0;
}

void hs_table_row(struct hs_table *t)
{
    assert(t->full || t->cells.n == t->rows * t->ncolumns);
    if (!t->full)
        t->rows++;
}

static void cell(struct hs_table *t, struct hs_cell c)
{
    if (t->full)
        return;
    assert(t->cells.n < t->rows * t->ncolumns);
    if (!hs_vec_push(&t->cells, c))
        t->full = true;
}

void hs_cell_text(struct hs_table *t, struct hs_str s)
{
    if (t->full)
        return;
    char *copy = s.n < UINT32_MAX ? hs_arena_dup(&t->text, s.p, s.n) : NULL;
    if (!copy)
        t->full = true;
    else
        cell(t, (struct hs_cell){.s = copy, .len = (uint32_t)s.n, .kind = HS_C_TEXT});
}

void hs_cell_cstr(struct hs_table *t, const char *s)
{
    if (s)
        hs_cell_text(t, hs_cstr(s));
    else
        hs_cell_null(t);
}

void hs_cell_i64(struct hs_table *t, int64_t v)
{
    cell(t, (struct hs_cell){.i = v, .kind = HS_C_I64});
}

void hs_cell_ns(struct hs_table *t, int64_t ns)
{
    hs_cell_i64(t, ns);
}

void hs_cell_f64(struct hs_table *t, double v)
{
    if (isfinite(v))
        cell(t, (struct hs_cell){.f = v, .kind = HS_C_F64});
    else
        hs_cell_null(t);
}

void hs_cell_bool(struct hs_table *t, bool v)
{
    cell(t, (struct hs_cell){.i = v, .kind = HS_C_BOOL});
}

void hs_cell_null(struct hs_table *t)
{
    cell(t, (struct hs_cell){.i = 0, .kind = HS_C_NULL});
}

void hs_table_note(struct hs_table *t, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    char *copy = hs_strdup(text);
    if (!hs_vec_push(&t->notes, copy)) /* a thousand notes say enough: the rest is dropped, the answer stands */
        hs_free_array((void **)&copy);
}

int hs_table_check(const struct hs_table *t, struct hs_err *err)
{
    if (!t->full)
        return HS_OK;
    return hs_fail(
        err, HS_ELIMIT,
        "the answer is larger than %zu cells or %zu MiB of text: narrow it with rank, step, from, to or a filter",
        MAX_CELLS, MAX_TEXT >> 20);
}

const struct hs_cell *hs_table_cell(const struct hs_table *t, size_t row, size_t column)
{
    assert(row < t->rows && column < t->ncolumns);
    return &t->cells.p[row * t->ncolumns + column];
}
