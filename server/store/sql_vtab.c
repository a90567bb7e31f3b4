#include "store/sql_vtab.h"

#include "store/arg_cursor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct module {
    struct hs_sql_data *d;
    const struct hs_sql_table *t;
};

struct table {
    sqlite3_vtab base;
    struct hs_sql_data *d;
    const struct hs_sql_table *t;
};

struct cursor {
    sqlite3_vtab_cursor base;
    size_t row, end;        /* of a scan, or positions in `rows` */
    const uint64_t *rows;   /* of a lookup; NULL: a scan */
    const uint8_t *keep;    /* [rows of the source]; NULL: all */
    int64_t ts_from, ts_to; /* inclusive */
    bool by_ts, by_step, looked_up;
    struct hs_sql_array ts, name, cat;
    uint32_t want_name, want_cat;
    int want_ph; /* -1: any */
    int64_t want_step;
    const struct hs_sql_zone *zones;
    struct hs_arg_cursor *args;
};

static int failed(sqlite3_vtab *t, const struct hs_sql_data *d)
{
    sqlite3_free(t->zErrMsg);
    t->zErrMsg = sqlite3_mprintf("%s", d->err.text);
    return SQLITE_ERROR;
}

/* ---- the table ---- */

static int connect_table(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out, char **message)
{
    (void)argc, (void)argv, (void)message;
    const struct module *m = aux;
    struct hs_buf ddl = HS_BUF_INIT(65536);
    hs_buf_puts(&ddl, "CREATE TABLE x(");
    for (int i = 0; i < m->t->ncolumns; i++)
        hs_buf_printf(&ddl, "%s%s %s", i ? ", " : "", m->t->columns[i].name, m->t->columns[i].type);
    hs_buf_putc(&ddl, ')');
    int rc = sqlite3_declare_vtab(db, ddl.p);
    hs_buf_free(&ddl);
    struct table *t = rc == SQLITE_OK ? sqlite3_malloc(sizeof *t) : NULL;
    if (!t)
        return rc == SQLITE_OK ? SQLITE_NOMEM : rc;
    memset(t, 0, sizeof *t);
    t->d = m->d;
    t->t = m->t;
    sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
    *out = &t->base;
    return SQLITE_OK;
}

static int disconnect_table(sqlite3_vtab *t)
{
    sqlite3_free(t);
    return SQLITE_OK;
}

/* ---- the plan: one letter a constraint, in the order of xFilter's arguments ---- */

/* 'e' 'c' 'l' 'x' 'p': a lookup. 'n' 'g' 'h' 's' '>' '<': compared in the scan. 0: left to SQLite. */
static char letter_of(const struct hs_sql_table *t, enum hs_sql_what what, unsigned op)
{
    enum hs_sql_source s = t->source;
    bool table = s == HS_SQL_EVENTS || s == HS_SQL_GPU || s == HS_SQL_LAUNCHES || s == HS_SQL_STEPS;
    bool eq = op == SQLITE_INDEX_CONSTRAINT_EQ;
    if (!table)
        return 0;
    if (what == W_TS_NS)
        return op == SQLITE_INDEX_CONSTRAINT_GE || op == SQLITE_INDEX_CONSTRAINT_GT   ? '>'
               : op == SQLITE_INDEX_CONSTRAINT_LE || op == SQLITE_INDEX_CONSTRAINT_LT ? '<'
               : eq                                                                   ? '='
                                                                                      : 0;
    if (!eq)
        return 0;
    switch (what) {
    case W_EVENT: return 'e';
    case W_CORRELATION: return s == HS_SQL_STEPS ? 0 : 'c';
    case W_LAUNCH: return s == HS_SQL_GPU ? 'l' : 0;
    case W_EXTERNAL_ID: return s == HS_SQL_EVENTS ? 'x' : 0;
    case W_PARENT: return s == HS_SQL_EVENTS ? 'p' : 0;
    case W_NAME: return s == HS_SQL_STEPS ? 0 : 'n';
    case W_CAT: return s == HS_SQL_EVENTS ? 'g' : 0;
    case W_PH: return s == HS_SQL_EVENTS ? 'h' : 0;
    case W_STEP: return s == HS_SQL_EVENTS ? 's' : 0;
    default: return 0;
    }
}

/* 'N', 'G': rows by the text of name, of category; takes no argument. 0: not by this column. */
static char group_letter(const struct hs_sql_table *t, int col)
{
    if (col < 0 || t->source > HS_SQL_LAUNCHES)
        return 0;
    return t->columns[col].what == W_NAME ? 'N' : t->columns[col].what == W_CAT && t->source == HS_SQL_EVENTS ? 'G' : 0;
}

static double rows_of(const struct table *t)
{
    const struct hs_summary *s = &t->d->v->sum;
    double n = t->t->source == HS_SQL_EVENTS     ? (double)s->events
               : t->t->source == HS_SQL_GPU      ? (double)(s->kernels + s->memcpys + s->memsets)
               : t->t->source == HS_SQL_LAUNCHES ? (double)s->runtime_calls
                                                 : 100;
    return n < 10 ? 10 : n;
}

static int best_index(sqlite3_vtab *vt, sqlite3_index_info *info)
{
    struct table *t = (struct table *)vt;
    double n = rows_of(t), cost = n;
    char plan[64], group;
    int args = 0;
    bool lookup = false;
    for (int i = 0; i < info->nConstraint && args < (int)sizeof plan - 1; i++) {
        int col = info->aConstraint[i].iColumn;
        if (!info->aConstraint[i].usable || col < 0)
            continue;
        char c = letter_of(t->t, t->t->columns[col].what, info->aConstraint[i].op);
        if (!c || (strchr("ngh", c) && strcmp(sqlite3_vtab_collation(info, i), "BINARY") != 0))
            continue;
        /* SQLite checks every row again (omit stays 0), so a plan may let through too much, never too little. */
        plan[args++] = c;
        info->aConstraintUsage[i].argvIndex = args;
        lookup |= strchr("eclxp", c) != NULL;
        n /= strchr("eclxp", c) ? n / 2 : c == 'n' ? 20 : 4;
    }
    plan[args] = 0;
    info->estimatedRows = n < 1 ? 1 : (sqlite3_int64)n;
    info->estimatedCost = lookup ? 20 : cost / 8 + n;
    /* GROUP BY, DISTINCT and ORDER BY of names and categories: rows come in the order of the texts, so that nothing is
     * sorted. (Grouped without order would do for GROUP BY, but SQLite 3.40 then takes it for ordered as well.) */
    if (!lookup && info->nOrderBy == 1 && !info->aOrderBy[0].desc && args < (int)sizeof plan - 1 &&
        (group = group_letter(t->t, info->aOrderBy[0].iColumn))) {
        plan[args] = group;
        plan[args + 1] = 0;
        info->orderByConsumed = 1;
    }
    if (t->t->source == HS_SQL_EVENTS && info->nOrderBy == 1 && !info->aOrderBy[0].desc &&
        info->aOrderBy[0].iColumn >= 0 && t->t->columns[info->aOrderBy[0].iColumn].what == W_EVENT)
        info->orderByConsumed = 1;
    info->idxStr = sqlite3_mprintf("%s", plan);
    info->needToFreeIdxStr = 1;
    return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* ---- filtering ---- */

/* A whole number that a value is equal to. 0: there is none, so no row matches. -1: not to be told here. */
static int whole(sqlite3_value *v, int64_t *out)
{
    double d;
    switch (sqlite3_value_type(v)) {
    case SQLITE_INTEGER: *out = sqlite3_value_int64(v); return 1;
    case SQLITE_FLOAT:
        d = sqlite3_value_double(v);
        if (d != floor(d) || d < -9.2e18 || d > 9.2e18)
            return 0;
        *out = (int64_t)d;
        return 1;
    case SQLITE_NULL: return 0;
    default: return -1;
    }
}

/* A bound that lets through at least what the value does. */
static void bound(struct cursor *c, sqlite3_value *v, char which)
{
    int type = sqlite3_value_type(v);
    int64_t lo, hi;
    if (type == SQLITE_INTEGER) {
        lo = hi = sqlite3_value_int64(v);
    } else if (type == SQLITE_FLOAT) {
        double d = sqlite3_value_double(v);
        lo = d < -9.2e18 ? INT64_MIN : d > 9.2e18 ? INT64_MAX - 4096 : (int64_t)floor(d) - 1024;
        hi = d > 9.2e18 ? INT64_MAX : d < -9.2e18 ? INT64_MIN + 4096 : (int64_t)ceil(d) + 1024;
    } else {
        return;
    }
    if (which != '<' && lo > c->ts_from)
        c->ts_from = lo;
    if (which != '>' && hi < c->ts_to)
        c->ts_to = hi;
    c->by_ts = true;
}

static uint32_t symbol(const struct hs_view *v, sqlite3_value *value)
{
    struct hs_str want = hs_str((const char *)sqlite3_value_text(value), (size_t)sqlite3_value_bytes(value));
    for (size_t i = 0; i < v->nsyms; i++)
        if (hs_str_eq(v->syms[i], want))
            return (uint32_t)i;
    return HS_NO_SYM;
}

static enum hs_sql_what lookup_column(char letter)
{
    return letter == 'c'   ? W_CORRELATION
           : letter == 'l' ? W_LAUNCH
           : letter == 'x' ? W_EXTERNAL_ID
           : letter == 'p' ? W_PARENT
                           : W_EVENT;
}

/* Sets the cursor on the rows of a lookup. */
static int look_up(struct table *t, struct cursor *c, char letter, sqlite3_value *value)
{
    int64_t v = 0;
    int is = whole(value, &v);
    size_t n = 0;
    if (is < 0 || (c->looked_up && is)) /* one lookup is enough; SQLite checks the others */
        return HS_OK;
    c->looked_up = true;
    if (is == 0) {
        c->end = 0;
    } else if (letter == 'e' && t->t->source == HS_SQL_EVENTS) {
        c->row = v >= 0 && (uint64_t)v < c->end ? (size_t)v : c->end;
        c->end = c->row < c->end ? c->row + 1 : c->end;
    } else {
        static const uint64_t none;
        bool empty = !c->end; /* another constraint has told that already */
        int rc = hs_sql_lookup(t->d, t->t->source, lookup_column(letter), v, &c->rows, &n);
        if (rc)
            return rc;
        c->rows = n ? c->rows : &none;
        c->row = 0;
        c->end = empty ? 0 : n;
    }
    return HS_OK;
}

static int constrain(struct table *t, struct cursor *c, char letter, sqlite3_value *v)
{
    const struct hs_view *view = t->d->v;
    int type = sqlite3_value_type(v), is;
    if (type == SQLITE_NULL) {
        c->end = 0;
        return HS_OK;
    }
    switch (letter) {
    case '<':
    case '>':
    case '=': bound(c, v, letter); return HS_OK;
    case 'n':
        if (type != SQLITE_TEXT)
            return HS_OK;
        c->want_name = symbol(view, v);
        c->end = c->want_name == HS_NO_SYM ? 0 : c->end;
        return hs_sql_array(t->d, t->t->source, W_NAME, &c->name);
    case 'g':
        if (type != SQLITE_TEXT)
            return HS_OK;
        c->want_cat = symbol(view, v);
        c->end = c->want_cat == HS_NO_SYM ? 0 : c->end;
        return hs_sql_array(t->d, t->t->source, W_CAT, &c->cat);
    case 'h':
        if (type == SQLITE_TEXT)
            c->want_ph = sqlite3_value_bytes(v) == 1 ? sqlite3_value_text(v)[0] : 0;
        return HS_OK;
    case 's':
        is = whole(v, &c->want_step);
        c->by_step = is > 0;
        c->end = is == 0 ? 0 : c->end;
        return HS_OK;
    default: return look_up(t, c, letter, v);
    }
}

/* Whether the row under the cursor may match. */
static bool matches(struct table *t, const struct cursor *c, size_t row)
{
    if (c->keep && !c->keep[row])
        return false;
    if (c->looked_up)
        return true;
    if (c->by_ts && c->ts.i64 && (c->ts.i64[row] < c->ts_from || c->ts.i64[row] > c->ts_to))
        return false;
    if ((c->name.u32 && c->name.u32[row] != c->want_name) || (c->cat.u32 && c->cat.u32[row] != c->want_cat))
        return false;
    return (c->want_ph < 0 && !c->by_step) || hs_sql_event_is(t->d, row, c->want_ph, c->by_step, c->want_step);
}

/* Moves on to the next row that may match, from where the cursor stands. */
static void settle(struct table *t, struct cursor *c)
{
    for (; c->row < c->end; c->row++) {
        if (c->zones && c->row % HS_SEG_ROWS == 0) {
            const struct hs_sql_zone *z = &c->zones[c->row / HS_SEG_ROWS];
            if (z->max < c->ts_from || z->min > c->ts_to) {
                c->row += HS_SEG_ROWS - 1;
                continue;
            }
        }
        if (matches(t, c, c->rows ? (size_t)c->rows[c->row] : c->row))
            return;
    }
}

static int filter(sqlite3_vtab_cursor *vc, int number, const char *plan, int argc, sqlite3_value **argv)
{
    (void)number;
    struct cursor *c = (struct cursor *)vc;
    struct table *t = (struct table *)vc->pVtab;
    struct hs_arg_cursor *args = c->args;
    *c = (struct cursor){.base = c->base, .args = args, .ts_from = INT64_MIN, .ts_to = INT64_MAX, .want_ph = -1};
    int rc = hs_sql_rows(t->d, t->t->source, &c->end);
    if (!rc)
        rc = hs_sql_keeps(t->d, t->t->source, t->t->filter, &c->keep);
    for (int i = 0; !rc && i < argc && plan && plan[i]; i++)
        rc = constrain(t, c, plan[i], argv[i]);
    if (!rc && plan && argc < (int)strlen(plan) && c->end) /* the last letter: 'N' or 'G' */
        rc = hs_sql_by_text(t->d, t->t->source, plan[argc] == 'N' ? W_NAME : W_CAT, &c->rows, &c->end);
    if (!rc && c->by_ts)
        rc = hs_sql_array(t->d, t->t->source, W_TS_NS, &c->ts);
    if (!rc && c->by_ts && !c->rows && t->t->source == HS_SQL_EVENTS)
        rc = hs_sql_zones(t->d, &c->zones);
    if (!rc && (c->want_ph >= 0 || c->by_step))
        rc = hs_sql_need_ph_step(t->d);
    if (rc)
        return failed(vc->pVtab, t->d);
    settle(t, c);
    return SQLITE_OK;
}

/* ---- the cursor ---- */

static int open_cursor(sqlite3_vtab *t, sqlite3_vtab_cursor **out)
{
    (void)t;
    struct cursor *c = sqlite3_malloc(sizeof *c);
    if (!c)
        return SQLITE_NOMEM;
    memset(c, 0, sizeof *c);
    *out = &c->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *vc)
{
    hs_arg_cursor_free(((struct cursor *)vc)->args);
    sqlite3_free(vc);
    return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *vc)
{
    struct cursor *c = (struct cursor *)vc;
    c->row++;
    settle((struct table *)vc->pVtab, c);
    return SQLITE_OK;
}

static int eof(sqlite3_vtab_cursor *vc)
{
    const struct cursor *c = (const struct cursor *)vc;
    return c->row >= c->end;
}

static int column(sqlite3_vtab_cursor *vc, sqlite3_context *out, int col)
{
    struct cursor *c = (struct cursor *)vc;
    struct table *t = (struct table *)vc->pVtab;
    size_t row = c->rows ? (size_t)c->rows[c->row] : c->row;
    return hs_sql_cell(t->d, t->t, col, row, &c->args, out) ? failed(vc->pVtab, t->d) : SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *vc, sqlite3_int64 *out)
{
    const struct cursor *c = (const struct cursor *)vc;
    *out = (sqlite3_int64)(c->rows ? c->rows[c->row] : c->row);
    return SQLITE_OK;
}

/* Without xCreate the tables are there by themselves, under their module's name. */
static const sqlite3_module methods = {
    .iVersion = 1,
    .xConnect = connect_table,
    .xBestIndex = best_index,
    .xDisconnect = disconnect_table,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter,
    .xNext = next,
    .xEof = eof,
    .xColumn = column,
    .xRowid = rowid,
};

int hs_sql_register(sqlite3 *db, struct hs_sql_data *d)
{
    for (size_t i = 0; i < hs_sql_ntables; i++) {
        struct module *m = hs_malloc(sizeof *m);
        *m = (struct module){d, &hs_sql_tables[i]};
        int rc = sqlite3_create_module_v2(db, hs_sql_tables[i].name, &methods, m, free); /* frees m on failure, too */
        if (rc != SQLITE_OK)
            return rc;
    }
    return SQLITE_OK;
}
