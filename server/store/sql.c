#include "store/sql.h"

#include "base/clock.h"
#include "store/sql_budget.h"
#include "store/sql_functions.h"
#include "store/sql_vtab.h"
#include "store/view_columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct hs_sql_limits hs_sql_limits_default = {.rows = 10000, .bytes = 256 << 20, .time_ms = 10000};

struct query {
    sqlite3 *db;
    sqlite3_stmt *st;
    struct hs_sql_data *data;
    const struct hs_sql_limits *limits;
    struct hs_sql_clock clock;
    bool denied;
    int calls;         /* of functions, in the statement's text */
    char function[64]; /* the one that is not allowed */
    struct hs_sql_budget budget;
    struct hs_err *err;
};

/* ---- what a statement may do, and for how long ---- */

enum { CALLS = 1000 }; /* SQLite looks at the clock between rows, not between the calls of one row */

/* Reading, and functions of the list. */
static int authorize(void *ctx, int action, const char *a, const char *b, const char *c, const char *d)
{
    struct query *q = ctx;
    (void)a, (void)c, (void)d;
    if (action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_RECURSIVE)
        return SQLITE_OK;
    if (action == SQLITE_FUNCTION) {
        if (hs_sql_function_allowed(b))
            return ++q->calls > CALLS ? SQLITE_DENY : SQLITE_OK;
        snprintf(q->function, sizeof q->function, "%s", b ? b : "");
        return SQLITE_DENY;
    }
    q->denied = true;
    return SQLITE_DENY;
}

static int tick(void *ctx)
{
    struct query *q = ctx;
    return hs_sql_clock_up(&q->clock);
}

/* One text or blob is at most 1 MiB, since a function works on it in one go; a statement is short and makes a program of bounded size; nothing is attached. */
static void set_limits(sqlite3 *db)
{
    static const int limits[][2] = {{SQLITE_LIMIT_LENGTH, HS_SQL_TEXT},
                                    {SQLITE_LIMIT_SQL_LENGTH, 64 << 10},
                                    {SQLITE_LIMIT_COLUMN, 500},
                                    {SQLITE_LIMIT_EXPR_DEPTH, 200},
                                    {SQLITE_LIMIT_COMPOUND_SELECT, 100},
                                    {SQLITE_LIMIT_VDBE_OP, 1 << 20},
                                    {SQLITE_LIMIT_FUNCTION_ARG, 100},
                                    {SQLITE_LIMIT_ATTACHED, 0},
                                    {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000},
                                    {SQLITE_LIMIT_TRIGGER_DEPTH, 0},
                                    {SQLITE_LIMIT_WORKER_THREADS, 0}};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        sqlite3_limit(db, limits[i][0], limits[i][1]);
}

/* The sentence for a failure of SQLite. */
/* It is time: was it the clock, or somebody who does not want the answer any more? */
static int fail_late(struct query *q)
{
    if (q->clock.cancel && atomic_load(q->clock.cancel))
        return hs_fail(q->err, HS_ECANCELLED, "the query was stopped");
    return hs_fail(q->err, HS_ELIMIT, "the query took longer than %lld ms and was stopped",
                   (long long)q->limits->time_ms);
}

static int fail(struct query *q)
{
    int code = sqlite3_errcode(q->db) & 0xff;
    if (q->clock.up)
        return fail_late(q);
    if (q->function[0])
        return hs_fail(q->err, HS_EUSAGE, "SQL: the function %s is not available here", q->function);
    if (q->calls > CALLS)
        return hs_fail(q->err, HS_ELIMIT, "SQL: the statement calls more than %d functions", CALLS);
    if (q->budget.refused || code == SQLITE_NOMEM)
        return hs_fail(q->err, HS_ELIMIT, "the query needs more than %lld MiB of memory",
                       (long long)(q->limits->bytes >> 20));
    if (q->denied)
        return hs_fail(q->err, HS_EUSAGE, "only reading is allowed here: SELECT, WITH and EXPLAIN QUERY PLAN");
    if (q->data->err.code) /* the trace itself could not be read */
        return hs_fail(q->err, q->data->err.code, "%s", q->data->err.text);
    if (code == SQLITE_TOOBIG)
        return hs_fail(q->err, HS_ELIMIT, "SQL: a text or the statement is too large: %s", sqlite3_errmsg(q->db));
    const char *message = sqlite3_errmsg(q->db);
    if (strncmp(message, "no such table", 13) != 0)
        return hs_fail(q->err, HS_EUSAGE, "SQL: %s", message);
    struct hs_buf names = HS_BUF_INIT(1000);
    for (size_t i = 0; i < hs_sql_ntables; i++)
        hs_buf_printf(&names, "%s%s", i ? ", " : "", hs_sql_tables[i].name);
    int rc = hs_fail(q->err, HS_EUSAGE, "SQL: %s; there are %s, args", message, names.p);
    hs_buf_free(&names);
    return rc;
}

/* ---- the statement ---- */

/* args as rows, for those who do not like JSON paths. */
static const char views[] =
    "CREATE VIEW args AS SELECT e.event, j.key, j.value, j.type FROM events e, json_each(e.args) j;"
    "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384;";

/* A table is declared by a CREATE TABLE of its own when a statement first names it, which the authorizer could not tell
 * from a real one: so each is named once before the authorizer stands guard. */
static int connect_tables(sqlite3 *db)
{
    int rc = SQLITE_OK;
    for (size_t i = 0; rc == SQLITE_OK && i < hs_sql_ntables; i++) {
        sqlite3_stmt *st = NULL;
        char *sql = hs_asprintf("SELECT 1 FROM %s, json_each('1'), json_tree('1')", hs_sql_tables[i].name);
        rc = sqlite3_prepare_v2(db, sql, -1, &st, NULL);
        sqlite3_finalize(st);
        free(sql);
    }
    return rc;
}

/* Nothing that a query could reach runs code it was not meant to. */
static int harden(sqlite3 *db)
{
    static const int off[] = {SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION,
                              SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_TRIGGER};
    int rc = sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    for (size_t i = 0; rc == SQLITE_OK && i < sizeof off / sizeof off[0]; i++)
        rc = sqlite3_db_config(db, off[i], 0, NULL);
    return rc;
}

static int open_query(struct query *q)
{
    if (sqlite3_open_v2(":memory:", &q->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        return hs_sql_clock_up(&q->clock)
                   ? fail_late(q)
                   : hs_fail(q->err, HS_EINTERNAL, "SQL: %s", q->db ? sqlite3_errmsg(q->db) : "out of memory");
    if (harden(q->db) != SQLITE_OK || hs_sql_functions_register(q->db, &q->clock) != SQLITE_OK ||
        hs_sql_register(q->db, q->data) != SQLITE_OK || connect_tables(q->db) != SQLITE_OK ||
        sqlite3_exec(q->db, views, NULL, NULL, NULL) != SQLITE_OK)
        return fail(q);
    set_limits(q->db);
    sqlite3_set_authorizer(q->db, authorize, q);
    sqlite3_progress_handler(q->db, 100, tick, q);
    return HS_OK;
}

/* Nothing but blanks, semicolons and comments may follow the statement. */
static bool is_rest_empty(struct query *q, const char *rest)
{
    sqlite3_stmt *more = NULL;
    while (*rest) {
        const char *tail;
        if (sqlite3_prepare_v2(q->db, rest, -1, &more, &tail) != SQLITE_OK || more || tail == rest) {
            sqlite3_finalize(more);
            return false;
        }
        rest = tail;
    }
    return true;
}

static int prepare(struct query *q, const char *sql)
{
    const char *rest;
    if (sqlite3_prepare_v2(q->db, sql, -1, &q->st, &rest) != SQLITE_OK)
        return fail(q);
    if (!q->st)
        return hs_fail(q->err, HS_EUSAGE, "SQL: there is no statement");
    if (!is_rest_empty(q, rest))
        return hs_fail(q->err, HS_EUSAGE, "SQL: one statement at a time");
    if (!sqlite3_stmt_readonly(q->st) || !sqlite3_column_count(q->st))
        return hs_fail(q->err, HS_EUSAGE, "only reading is allowed here: SELECT, WITH and EXPLAIN QUERY PLAN");
    return HS_OK;
}

/* ---- the answer ---- */

static bool is_taken(const struct hs_column_spec *specs, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(specs[i].name, name))
            return true;
    return false;
}

/* Records are keyed by name: a second column of a name becomes name_2. */
static const char *unique_name(struct hs_table *out, const struct hs_column_spec *specs, int n, const char *name)
{
    char *own = hs_strdup(name ? name : "");
    for (int k = 2; is_taken(specs, n, own); k++) {
        free(own);
        own = hs_asprintf("%s_%d", name ? name : "", k);
    }
    const char *copy = hs_arena_dup(&out->text, own, strlen(own));
    free(own);
    return copy ? copy : "";
}

static int set_columns(struct query *q, struct hs_table *out)
{
    int n = sqlite3_column_count(q->st);
    struct hs_column_spec *specs = hs_arena_alloc(&out->text, (size_t)n * sizeof *specs);
    for (int i = 0; specs && i < n; i++) {
        const char *name = sqlite3_column_name(q->st, i), *type = sqlite3_column_decltype(q->st, i);
        specs[i] = (struct hs_column_spec){unique_name(out, specs, i, name),
                                           type && !strcmp(type, "JSON") ? HS_T_JSON : HS_T_TEXT, "", ""};
    }
    out->columns = specs;
    out->ncolumns = specs ? (size_t)n : 0;
    return specs ? HS_OK : hs_fail(q->err, HS_ELIMIT, "the answer has too many columns");
}

/* A column's type is that of its numbers; text anywhere in it makes it text. */
static void settle_types(struct hs_table *t)
{
    for (size_t c = 0; c < t->ncolumns; c++) {
        struct hs_column_spec *spec = (struct hs_column_spec *)(uintptr_t)&t->columns[c];
        bool text = false, real = false, whole = false;
        for (size_t r = 0; r < t->rows; r++) {
            uint32_t kind = hs_table_cell(t, r, c)->kind;
            text |= kind == HS_C_TEXT;
            real |= kind == HS_C_F64;
            whole |= kind == HS_C_I64;
        }
        if (spec->type != HS_T_JSON && !text && (real || whole))
            spec->type = real ? HS_T_REAL : HS_T_INT;
    }
}

/* Blobs have no place in JSON or CSV: they are shown as SQLite writes them, X'…'. */
static void put_blob(struct hs_table *out, const uint8_t *p, size_t n)
{
    static const char digits[] = "0123456789ABCDEF";
    struct hs_buf b = HS_BUF_INIT(64u << 20);
    hs_buf_puts(&b, "X'");
    for (size_t i = 0; i < n; i++) {
        hs_buf_putc(&b, digits[p[i] >> 4]);
        hs_buf_putc(&b, digits[p[i] & 15]);
    }
    hs_buf_putc(&b, '\'');
    hs_cell_text(out, hs_str(b.p, b.n));
    hs_buf_free(&b);
}

static void put_cell(sqlite3_stmt *st, int c, struct hs_table *out)
{
    const void *p;
    switch (sqlite3_column_type(st, c)) {
    case SQLITE_INTEGER: hs_cell_i64(out, sqlite3_column_int64(st, c)); break;
    case SQLITE_FLOAT: hs_cell_f64(out, sqlite3_column_double(st, c)); break;
    case SQLITE_TEXT:
        p = sqlite3_column_text(st, c);
        hs_cell_text(out, p ? hs_str(p, (size_t)sqlite3_column_bytes(st, c)) : hs_str("", 0));
        break;
    case SQLITE_BLOB:
        p = sqlite3_column_blob(st, c);
        put_blob(out, p, p ? (size_t)sqlite3_column_bytes(st, c) : 0);
        break;
    default: hs_cell_null(out); break;
    }
}

static int fetch(struct query *q, struct hs_table *out)
{
    int rc, n = sqlite3_column_count(q->st);
    while ((rc = sqlite3_step(q->st)) == SQLITE_ROW) {
        if ((int64_t)out->rows >= q->limits->rows) {
            hs_table_note(out, "The answer was cut at %lld rows; there are more.", (long long)q->limits->rows);
            return HS_OK;
        }
        if ((int64_t)out->text.used > q->limits->bytes)
            return hs_fail(q->err, HS_ELIMIT, "the answer has more than %lld MiB of text",
                           (long long)(q->limits->bytes >> 20));
        hs_table_row(out);
        for (int c = 0; c < n; c++) {
            if (hs_sql_clock_up(&q->clock))
                return fail_late(q);
            put_cell(q->st, c, out);
        }
    }
    return rc == SQLITE_DONE ? HS_OK : fail(q);
}

int hs_sql_run(struct hs_view *v, const char *query, const struct hs_sql_limits *limits, struct hs_table *out,
               struct hs_err *err)
{
    if (v->ops->events != hs_file_events)
        return hs_fail(err, HS_EINTERNAL, "SQL needs a trace of the store");
    const struct hs_sql_limits *l = limits ? limits : &hs_sql_limits_default;
    struct query q = {.limits = l, .err = err, .budget = {.limit = l->bytes}};
    q.clock = (struct hs_sql_clock){.deadline_ns = hs_now_ns() + l->time_ms * 1000000, .cancel = l->cancel};
    q.budget.clock = &q.clock;
    q.data = hs_sql_data_new(hs_view_file(v));
    struct hs_sql_budget *before = hs_sql_budget_set(&q.budget);
    int rc = open_query(&q);
    if (!rc)
        rc = prepare(&q, query);
    if (!rc)
        rc = set_columns(&q, out);
    if (!rc)
        rc = fetch(&q, out);
    sqlite3_finalize(q.st);
    sqlite3_close(q.db);
    hs_sql_budget_set(before);
    uint64_t too_long = q.data->too_long;
    hs_sql_data_free(q.data);
    if (!rc && too_long)
        hs_table_note(out, "%llu JSON texts are longer than 1 MiB: they are null here.", (unsigned long long)too_long);
    if (!rc)
        settle_types(out);
    return rc;
}
