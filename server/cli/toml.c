#include "cli/toml.h"

#include "ingest/scan.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAME = 64, MAX_ITEMS = 256, MAX_TEXT = 1 << 20 };

struct reader {
    const char *p, *end, *file;
    int line;
    char table[MAX_NAME];
    struct hs_arena arena; /* texts and items of the value that is being read */
    struct hs_err *err;
};

static int fail(struct reader *r, const char *what)
{
    return hs_fail(r->err, HS_EINPUT, "%s:%d: %s", r->file, r->line, what);
}

const char *hs_toml_type_name(enum hs_toml_type t)
{
    static const char *const names[] = {"a string", "an integer", "a float", "a boolean", "an array"};
    return names[t];
}

static int peek(const struct reader *r)
{
    return r->p < r->end ? (unsigned char)*r->p : -1;
}

static void skip_blanks(struct reader *r)
{
    while (peek(r) == ' ' || peek(r) == '\t')
        r->p++;
}

/* The rest of a line that may hold only a comment; or, within an array, any number of such lines. */
static int skip_line_end(struct reader *r, bool many)
{
    do {
        skip_blanks(r);
        if (peek(r) == '#')
            while (peek(r) >= 0 && peek(r) != '\n')
                r->p++;
        if (peek(r) == '\r' && r->p + 1 < r->end && r->p[1] == '\n')
            r->p++;
        if (peek(r) != '\n')
            break;
        r->p++;
        r->line++;
        if (!many)
            return HS_OK;
    } while (true);
    if (many || peek(r) < 0)
        return HS_OK;
    return fail(r, "something follows the value on its line");
}

static int read_name(struct reader *r, char out[MAX_NAME])
{
    size_t n = 0;
    for (int c; c = peek(r),
                (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
         r->p++) {
        if (n == MAX_NAME - 1)
            return fail(r, "the name is too long");
        out[n++] = (char)c;
    }
    out[n] = 0;
    return n ? HS_OK : fail(r, "a key (letters, digits, _ and -) or a [table] is expected here");
}

static int escape(struct reader *r, struct hs_buf *b)
{
    int c = peek(r);
    const char *from = "btnfr\"\\", *to = "\b\t\n\f\r\"\\", *at = c > 0 ? strchr(from, c) : NULL;
    if (!at)
        return fail(r, "the string has an escape that is not known here (\\b \\t \\n \\f \\r \\\" \\\\)");
    hs_buf_putc(b, to[at - from]);
    r->p++;
    return HS_OK;
}

static int read_string(struct reader *r, struct hs_toml_value *v)
{
    char quote = *r->p++;
    struct hs_buf b = HS_BUF_INIT(MAX_TEXT);
    int rc = HS_OK, c = 0;
    while (!rc && (c = peek(r)) != quote) {
        if (c < 0 || c == '\n')
            rc = fail(r, "the string does not end on its line");
        else if ((c < 0x20 && c != '\t') || c == 0x7f)
            rc = fail(r, "the string has a control byte");
        else if (c == '\\' && quote == '"')
            r->p++, rc = escape(r, &b);
        else
            hs_buf_putc(&b, *r->p++);
    }
    if (!rc) {
        r->p++;
        if (!b.n && peek(r) == quote)
            rc = fail(r, "multi-line strings are not known here");
        else if (b.n && !hs_utf8_valid(b.p, b.n))
            rc = fail(r, "the string is not UTF-8");
    }
    *v = (struct hs_toml_value){.type = HS_TOML_STRING, .s = rc ? NULL : hs_arena_dup(&r->arena, b.p, b.n)};
    hs_buf_free(&b);
    return !rc && !v->s ? fail(r, "the value is too long") : rc;
}

/* Digits with _ between digits only, copied without them. */
static int copy_number(struct reader *r, char out[MAX_NAME], bool *is_float)
{
    size_t n = 0;
    *is_float = false;
    for (int c, before = 0; c = peek(r), c > 0 && strchr("0123456789_+-.eE", c); before = c, r->p++) {
        bool next_digit = r->p + 1 < r->end && r->p[1] >= '0' && r->p[1] <= '9';
        if (c == '_') {
            if (before < '0' || before > '9' || !next_digit)
                return fail(r, "a _ in a number stands between two digits");
            continue;
        }
        if (c == '.' && (before < '0' || before > '9' || !next_digit))
            return fail(r, "a decimal point in a number stands between two digits");
        *is_float |= c == '.' || c == 'e' || c == 'E';
        if (n == MAX_NAME - 1)
            return fail(r, "the number is too long");
        out[n++] = (char)c;
    }
    out[n] = 0;
    return HS_OK;
}

static int read_number(struct reader *r, struct hs_toml_value *v)
{
    char text[MAX_NAME], *end;
    bool is_float;
    int rc = copy_number(r, text, &is_float);
    if (rc)
        return rc;
    const char *digits = text + strspn(text, "+-");
    if (digits - text > 1 || *digits < '0' || *digits > '9' ||
        (digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9'))
        return fail(r, "this is no value: a string in quotes, a number, true, false or an array is expected");
    errno = 0;
    if (is_float)
        *v = (struct hs_toml_value){.type = HS_TOML_FLOAT, .f = strtod(text, &end)};
    else
        *v = (struct hs_toml_value){.type = HS_TOML_INT, .i = strtoll(text, &end, 10)};
    if (*end || (errno && !is_float) || (is_float && !isfinite(v->f)))
        return fail(r, "the number is malformed or out of range");
    return HS_OK;
}

static int read_scalar(struct reader *r, struct hs_toml_value *v)
{
    int c = peek(r);
    if (c == '"' || c == '\'')
        return read_string(r, v);
    for (int b = 0; b < 2; b++) {
        const char *word = b ? "true" : "false";
        size_t n = strlen(word);
        if ((size_t)(r->end - r->p) >= n && !memcmp(r->p, word, n)) {
            r->p += n;
            *v = (struct hs_toml_value){.type = HS_TOML_BOOL, .b = b};
            return HS_OK;
        }
    }
    return read_number(r, v);
}

static int read_array(struct reader *r, struct hs_toml_value *v)
{
    struct hs_toml_value *items = hs_arena_alloc(&r->arena, MAX_ITEMS * sizeof *items);
    size_t n = 0;
    if (!items)
        return fail(r, "the value is too long");
    r->p++;
    for (;;) {
        int rc = skip_line_end(r, true);
        if (rc)
            return rc;
        if (peek(r) == ']')
            break;
        if (n == MAX_ITEMS)
            return fail(r, "the array is too long");
        rc = peek(r) == '[' ? fail(r, "arrays in arrays are not known here") : read_scalar(r, &items[n]);
        if (rc)
            return rc;
        if (n && items[n].type != items[0].type)
            return fail(r, "the values of an array are of one type");
        n++;
        skip_line_end(r, true);
        if (peek(r) == ',')
            r->p++;
        else if (peek(r) != ']')
            return fail(r, "a comma or the closing ] of the array is expected");
    }
    r->p++;
    *v = (struct hs_toml_value){.type = HS_TOML_ARRAY, .items = items, .n = n};
    return HS_OK;
}

static int read_pair(struct reader *r, hs_toml_key *on_key, void *ctx)
{
    char key[MAX_NAME];
    struct hs_toml_value v;
    int rc = read_name(r, key);
    if (rc)
        return rc;
    skip_blanks(r);
    if (peek(r) == '.')
        return fail(r, "dotted keys are not known here; use a [table]");
    if (peek(r) != '=')
        return fail(r, "a = is expected after the key");
    r->p++;
    skip_blanks(r);
    int line = r->line;
    rc = peek(r) == '['   ? read_array(r, &v)
         : peek(r) == '{' ? fail(r, "inline tables are not known here")
                          : read_scalar(r, &v);
    if (!rc)
        rc = skip_line_end(r, false);
    if (!rc && (rc = on_key(ctx, r->table, key, &v, r->err)) != HS_OK)
        hs_err_prefix(r->err, "%s:%d", r->file, line);
    hs_arena_free(&r->arena);
    return rc;
}

static int read_table(struct reader *r, hs_toml_key *on_key, void *ctx)
{
    r->p++;
    bool array = peek(r) == '[';
    r->p += array;
    int rc = read_name(r, r->table);
    if (!rc && (peek(r) != ']' || (array && (r->end - r->p < 2 || r->p[1] != ']'))))
        rc = fail(r, array ? "]] is expected after the name of the array of tables"
                           : "a ] is expected after the table's name");
    if (rc)
        return rc;
    r->p += 1 + array;
    if (array && (rc = on_key(ctx, r->table, NULL, NULL, r->err)) != HS_OK) {
        hs_err_prefix(r->err, "%s:%d", r->file, r->line);
        return rc;
    }
    return skip_line_end(r, false);
}

int hs_toml_parse(const char *text, size_t n, const char *file, hs_toml_key *on_key, void *ctx, struct hs_err *err)
{
    struct reader r = {
        .p = text, .end = text + n, .file = file, .line = 1, .arena = HS_ARENA_INIT(4 << 20), .err = err};
    int rc = HS_OK;
    while (!rc) {
        skip_line_end(&r, true);
        if (peek(&r) < 0)
            break;
        rc = peek(&r) == '[' ? read_table(&r, on_key, ctx) : read_pair(&r, on_key, ctx);
    }
    hs_arena_free(&r.arena);
    return rc;
}
