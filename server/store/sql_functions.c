#include "store/sql_functions.h"

#include "base/mem.h"

#include <string.h>

bool hs_sql_function_allowed(const char *name)
{
    static const char *const names[] = {"->",
                                        "->>",
                                        "abs",
                                        "acos",
                                        "acosh",
                                        "asin",
                                        "asinh",
                                        "atan",
                                        "atan2",
                                        "atanh",
                                        "avg",
                                        "ceil",
                                        "ceiling",
                                        "char",
                                        "coalesce",
                                        "concat",
                                        "concat_ws",
                                        "cos",
                                        "cosh",
                                        "count",
                                        "cume_dist",
                                        "date",
                                        "datetime",
                                        "degrees",
                                        "dense_rank",
                                        "exp",
                                        "first_value",
                                        "floor",
                                        "format",
                                        "glob",
                                        "group_concat",
                                        "hex",
                                        "ifnull",
                                        "iif",
                                        "instr",
                                        "json",
                                        "json_array",
                                        "json_array_length",
                                        "json_each",
                                        "json_error_position",
                                        "json_extract",
                                        "json_group_array",
                                        "json_group_object",
                                        "json_insert",
                                        "json_object",
                                        "json_quote",
                                        "json_remove",
                                        "json_replace",
                                        "json_set",
                                        "json_tree",
                                        "json_type",
                                        "json_valid",
                                        "julianday",
                                        "lag",
                                        "last_value",
                                        "lead",
                                        "length",
                                        "like",
                                        "likelihood",
                                        "likely",
                                        "ln",
                                        "log",
                                        "log10",
                                        "log2",
                                        "lower",
                                        "ltrim",
                                        "max",
                                        "min",
                                        "mod",
                                        "nth_value",
                                        "ntile",
                                        "nullif",
                                        "octet_length",
                                        "percent_rank",
                                        "pi",
                                        "pow",
                                        "power",
                                        "printf",
                                        "quote",
                                        "radians",
                                        "random",
                                        "randomblob",
                                        "rank",
                                        "replace",
                                        "round",
                                        "row_number",
                                        "rtrim",
                                        "sign",
                                        "sin",
                                        "sinh",
                                        "sqrt",
                                        "strftime",
                                        "string_agg",
                                        "substr",
                                        "substring",
                                        "sum",
                                        "tan",
                                        "tanh",
                                        "time",
                                        "timediff",
                                        "total",
                                        "trim",
                                        "trunc",
                                        "typeof",
                                        "unhex",
                                        "unicode",
                                        "unixepoch",
                                        "unlikely",
                                        "upper",
                                        "zeroblob"};
    for (size_t i = 0; name && i < sizeof names / sizeof names[0]; i++)
        if (!sqlite3_stricmp(names[i], name))
            return true;
    return false;
}

/* ---- texts ---- */

struct text {
    const unsigned char *p, *end;
};

static struct text text_of(sqlite3_value *v)
{
    const unsigned char *p = sqlite3_value_text(v);
    return (struct text){p, p ? p + sqlite3_value_bytes(v) : p};
}

/* Bytes of the character at p, as SQLite reads it: a lead byte and what continues it. */
static size_t char_bytes(const unsigned char *p, const unsigned char *end)
{
    size_t n = 1;
    if (*p >= 0xc0)
        while (p + n < end && (p[n] & 0xc0) == 0x80)
            n++;
    return n;
}

static bool any_null(int n, sqlite3_value **v)
{
    for (int i = 0; i < n; i++)
        if (sqlite3_value_type(v[i]) == SQLITE_NULL)
            return true;
    return false;
}

static bool same(struct text a, struct text b)
{
    return a.end - a.p == b.end - b.p && !memcmp(a.p, b.p, (size_t)(a.end - a.p));
}

static struct text take(struct text *t)
{
    struct text c = {t->p, t->p + char_bytes(t->p, t->end)};
    t->p = c.end;
    return c;
}

/* ---- like, glob: back to the last star only, which is all that a star ever needs ---- */

struct pattern {
    bool glob;
    struct text escape; /* p NULL: none */
    struct hs_sql_clock *clock;
};

static uint32_t code_of(struct text c)
{
    uint32_t v = *c.p;
    if (v >= 0xc0)
        v &= c.end - c.p == 2 ? 0x1fu : c.end - c.p == 3 ? 0x0fu : 0x07u;
    for (const unsigned char *p = c.p + 1; p < c.end; p++)
        v = v << 6 | (*p & 0x3fu);
    return v;
}

/* [a-z], [^a-z], behind the '['; a ']' in front is a member. False where it does not end, too. */
static bool in_set(struct text *pat, struct text c)
{
    uint32_t v = code_of(c), before = 0;
    bool in = false, negated = pat->p < pat->end && *pat->p == '^';
    pat->p += negated;
    for (bool first = true, ranged = false; pat->p < pat->end; first = false) {
        struct text m = take(pat);
        if (*m.p == ']' && !first)
            return in != negated;
        if (*m.p == '-' && ranged && pat->p < pat->end && *pat->p != ']') {
            uint32_t last = code_of(take(pat));
            in |= v >= before && v <= last;
            ranged = false;
        } else {
            before = code_of(m);
            in |= v == before;
            ranged = true;
        }
    }
    return false;
}

static unsigned char fold(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? (unsigned char)(c + 32) : c;
}

/* One character against the next item of the pattern, which is no star; moves the pattern on. */
static bool one(const struct pattern *k, struct text *pat, struct text c)
{
    struct text m = take(pat);
    if (k->escape.p && same(m, k->escape)) {
        if (pat->p == pat->end)
            return false;
        m = take(pat);
    } else if (*m.p == (k->glob ? '?' : '_')) {
        return true;
    } else if (k->glob && *m.p == '[') {
        return in_set(pat, c);
    }
    if (!k->glob && m.end - m.p == 1 && c.end - c.p == 1)
        return fold(*m.p) == fold(*c.p);
    return same(m, c);
}

static bool is_star(const struct pattern *k, struct text pat)
{
    return pat.p < pat.end && *pat.p == (k->glob ? '*' : '%') && !(k->escape.p && *k->escape.p == *pat.p);
}

static bool match(const struct pattern *k, struct text pat, struct text s)
{
    struct text star = {NULL, NULL}, from = s;
    for (unsigned steps = 1;; steps++) {
        if (steps % 65536 == 0 && hs_sql_clock_up(k->clock))
            return false;
        if (is_star(k, pat)) {
            pat.p++;
            star = pat;
            from = s;
            continue;
        }
        if (s.p == s.end) /* every item but a star wants a character */
            return pat.p == pat.end;
        if (pat.p < pat.end && one(k, &pat, take(&s)))
            continue;
        if (!star.p || from.p == from.end)
            return false;
        take(&from);
        s = from;
        pat = star;
    }
}

static void answer_match(sqlite3_context *out, int n, sqlite3_value **v, bool glob)
{
    struct pattern k = {.glob = glob, .clock = sqlite3_user_data(out)};
    if (any_null(n, v))
        return;
    if (n == 3) {
        k.escape = text_of(v[2]);
        if (!k.escape.p || k.escape.p == k.escape.end ||
            k.escape.p + char_bytes(k.escape.p, k.escape.end) != k.escape.end) {
            sqlite3_result_error(out, "ESCAPE expression must be a single character", -1);
            return;
        }
    }
    struct text pat = text_of(v[0]), s = text_of(v[1]);
    if (!pat.p || !s.p)
        sqlite3_result_error_nomem(out);
    else
        sqlite3_result_int(out, match(&k, pat, s));
    if (k.clock->up)
        sqlite3_result_error_code(out, SQLITE_INTERRUPT);
}

static void fn_like(sqlite3_context *out, int n, sqlite3_value **v)
{
    answer_match(out, n, v, false);
}

static void fn_glob(sqlite3_context *out, int n, sqlite3_value **v)
{
    answer_match(out, n, v, true);
}

/* ---- instr, replace: memmem takes linear time ---- */

static void fn_instr(sqlite3_context *out, int n, sqlite3_value **v)
{
    if (any_null(n, v))
        return;
    bool blobs = sqlite3_value_type(v[0]) == SQLITE_BLOB && sqlite3_value_type(v[1]) == SQLITE_BLOB;
    const unsigned char *a = blobs ? sqlite3_value_blob(v[0]) : sqlite3_value_text(v[0]);
    const unsigned char *b = blobs ? sqlite3_value_blob(v[1]) : sqlite3_value_text(v[1]);
    size_t na = (size_t)sqlite3_value_bytes(v[0]), nb = (size_t)sqlite3_value_bytes(v[1]), at = 1;
    const unsigned char *hit = !nb ? a : na ? memmem(a, na, b, nb) : NULL;
    if (nb && !hit) {
        sqlite3_result_int(out, 0);
        return;
    }
    for (const unsigned char *p = a; p < hit; at++)
        p += blobs ? 1 : char_bytes(p, a + na);
    sqlite3_result_int64(out, (sqlite3_int64)at);
}

static void fn_replace(sqlite3_context *out, int n, sqlite3_value **v)
{
    if (any_null(n, v))
        return;
    struct text s = text_of(v[0]), what = text_of(v[1]), by = text_of(v[2]);
    size_t nwhat = (size_t)(what.end - what.p);
    if (!nwhat || s.p == s.end) {
        sqlite3_result_value(out, v[0]);
        return;
    }
    struct hs_buf b = HS_BUF_INIT(HS_SQL_TEXT + 1);
    hs_buf_puts(&b, "");
    for (const unsigned char *hit; s.p < s.end && (hit = memmem(s.p, (size_t)(s.end - s.p), what.p, nwhat));) {
        hs_buf_put(&b, s.p, (size_t)(hit - s.p));
        hs_buf_put(&b, by.p, (size_t)(by.end - by.p));
        s.p = hit + nwhat;
    }
    hs_buf_put(&b, s.p, (size_t)(s.end - s.p));
    if (hs_buf_check(&b, "the text", NULL))
        sqlite3_result_error_toobig(out);
    else
        sqlite3_result_text64(out, b.p, b.n, SQLITE_TRANSIENT, SQLITE_UTF8);
    hs_buf_free(&b);
}

/* ---- trim: of few characters ---- */

enum { TRIM_CHARS = 64 };

static size_t end_hit(struct text s, const struct text *set, size_t n, bool left)
{
    for (size_t i = 0; i < n; i++) {
        size_t m = (size_t)(set[i].end - set[i].p);
        if (m <= (size_t)(s.end - s.p) && !memcmp(left ? s.p : s.end - m, set[i].p, m))
            return m;
    }
    return 0;
}

static void trim(sqlite3_context *out, int n, sqlite3_value **v, bool left, bool right)
{
    static const unsigned char blank[] = " ";
    struct text set[TRIM_CHARS] = {{blank, blank + 1}};
    size_t count = 1;
    if (any_null(n, v))
        return;
    struct text s = text_of(v[0]);
    if (n == 2) {
        struct text chars = text_of(v[1]);
        for (count = 0; chars.p < chars.end && count < TRIM_CHARS;)
            set[count++] = take(&chars);
        if (chars.p < chars.end) {
            sqlite3_result_error(out, "trim takes at most 64 characters", -1);
            return;
        }
    }
    for (size_t m; left && (m = end_hit(s, set, count, true));)
        s.p += m;
    for (size_t m; right && (m = end_hit(s, set, count, false));)
        s.end -= m;
    sqlite3_result_text64(out, s.p ? (const char *)s.p : "", (sqlite3_uint64)(s.end - s.p), SQLITE_TRANSIENT,
                          SQLITE_UTF8);
}

static void fn_trim(sqlite3_context *out, int n, sqlite3_value **v)
{
    trim(out, n, v, true, true);
}

static void fn_ltrim(sqlite3_context *out, int n, sqlite3_value **v)
{
    trim(out, n, v, true, false);
}

static void fn_rtrim(sqlite3_context *out, int n, sqlite3_value **v)
{
    trim(out, n, v, false, true);
}

int hs_sql_functions_register(sqlite3 *db, struct hs_sql_clock *clock)
{
    static const struct {
        const char *name;
        int args;
        void (*fn)(sqlite3_context *, int, sqlite3_value **);
    } ours[] = {{"like", 2, fn_like},       {"like", 3, fn_like},   {"glob", 2, fn_glob},  {"instr", 2, fn_instr},
                {"replace", 3, fn_replace}, {"trim", 1, fn_trim},   {"trim", 2, fn_trim},  {"ltrim", 1, fn_ltrim},
                {"ltrim", 2, fn_ltrim},     {"rtrim", 1, fn_rtrim}, {"rtrim", 2, fn_rtrim}};
    int rc = SQLITE_OK;
    for (size_t i = 0; rc == SQLITE_OK && i < sizeof ours / sizeof ours[0]; i++)
        rc = sqlite3_create_function_v2(db, ours[i].name, ours[i].args,
                                        SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, clock, ours[i].fn, NULL,
                                        NULL, NULL);
    return rc;
}
