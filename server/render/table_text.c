#include "render/table_text.h"
#include "base/json.h"
#include "render/value.h"

#include <string.h>

/* ---- CSV ---- */

static void csv_text(struct hs_buf *out, struct hs_str s, bool guard)
{
    bool formula = guard && s.n && memchr("=+-@\t\r", s.p[0], 6), quoted = false;
    for (size_t i = 0; i < s.n && !quoted; i++)
        quoted = s.p[i] == '"' || s.p[i] == ',' || s.p[i] == '\r' || s.p[i] == '\n';
    if (quoted)
        hs_buf_putc(out, '"');
    if (formula)
        hs_buf_putc(out, '\'');
    size_t run = 0;
    for (size_t i = 0; i <= s.n; i++) {
        if (i < s.n && s.p[i] != '"')
            continue;
        hs_put_utf8(out, hs_str(s.p + run, i - run));
        if (i < s.n)
            hs_buf_puts(out, "\"\"");
        run = i + 1;
    }
    if (quoted)
        hs_buf_putc(out, '"');
}

void hs_table_csv(const struct hs_table *t, struct hs_buf *out)
{
    for (size_t c = 0; c < t->ncolumns; c++) {
        hs_buf_puts(out, c ? "," : "");
        csv_text(out, hs_cstr(t->columns[c].name), true);
    }
    hs_buf_puts(out, "\r\n");
    for (size_t r = 0; r < t->rows && !out->full; r++) {
        for (size_t c = 0; c < t->ncolumns; c++) {
            const struct hs_cell *x = hs_table_cell(t, r, c);
            if (c)
                hs_buf_putc(out, ',');
            if (x->kind == HS_C_TEXT)
                csv_text(out, hs_str(x->s, x->len), t->columns[c].type != HS_T_JSON);
            else if (x->kind == HS_C_BOOL)
                hs_buf_puts(out, x->i ? "true" : "false");
            else if (x->kind != HS_C_NULL)
                hs_put_number(out, x, t->columns[c].type);
        }
        hs_buf_puts(out, "\r\n");
    }
}

/* ---- Markdown ---- */

static bool is_markup(char c)
{
    return c && strchr("<>&*_[]`\\~#|!", c);
}

void hs_put_md_text(struct hs_buf *out, struct hs_str s)
{
    bool code = false;
    for (size_t i = 0; i < s.n && !code; i++)
        code = is_markup(s.p[i]);
    if (code)
        hs_buf_putc(out, '`');
    size_t run = 0;
    for (size_t i = 0; i <= s.n; i++) {
        char c = i < s.n ? s.p[i] : 0;
        if (i < s.n && c != '|' && c != '`' && (unsigned char)c >= 0x20 && c != 0x7f)
            continue;
        hs_put_utf8(out, hs_str(s.p + run, i - run));
        if (i < s.n)
            hs_buf_puts(out, c == '|' ? "\\|" : c == '`' ? "'" : " ");
        run = i + 1;
    }
    if (code)
        hs_buf_putc(out, '`');
}

static void md_row_cells(const struct hs_table *t, size_t row, struct hs_buf *out)
{
    for (size_t c = 0; c < t->ncolumns; c++) {
        const struct hs_cell *x = hs_table_cell(t, row, c);
        hs_buf_puts(out, c ? " | " : "| ");
        if (x->kind == HS_C_TEXT)
            hs_put_md_text(out, hs_str(x->s, x->len));
        else if (x->kind == HS_C_BOOL)
            hs_buf_puts(out, x->i ? "true" : "false");
        else if (x->kind != HS_C_NULL)
            hs_put_number(out, x, t->columns[c].type);
    }
    hs_buf_puts(out, " |\n");
}

void hs_table_md(const struct hs_table *t, struct hs_buf *out)
{
    for (size_t c = 0; c < t->ncolumns; c++)
        hs_buf_printf(out, "%s%s", c ? " | " : "| ", t->columns[c].name);
    hs_buf_puts(out, " |\n");
    for (size_t c = 0; c < t->ncolumns; c++) {
        bool left = t->columns[c].type == HS_T_TEXT || t->columns[c].type == HS_T_JSON;
        hs_buf_printf(out, "%s%s", c ? " | " : "| ", left ? "---" : "---:");
    }
    hs_buf_puts(out, " |\n");
    for (size_t r = 0; r < t->rows && !out->full; r++)
        md_row_cells(t, r, out);
    if (t->notes.n)
        hs_buf_putc(out, '\n');
    for (size_t i = 0; i < t->notes.n; i++) {
        hs_buf_puts(out, "- ");
        hs_put_utf8(out, hs_cstr(t->notes.p[i]));
        hs_buf_putc(out, '\n');
    }
}
