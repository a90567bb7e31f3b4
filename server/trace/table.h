/* The typed table that every analysis returns and `render` writes. Rows are appended cell by cell in column order.
 *
 *     hs_table_row(t); hs_cell_text(t, name); hs_cell_i64(t, calls); hs_cell_ns(t, sum);
 *
 * Text is copied into the table. Column types are told by the analysis' registry entry; a null cell fits any. */
#ifndef HS_TRACE_TABLE_H
#define HS_TRACE_TABLE_H

#include "base/mem.h"

enum hs_type {
    HS_T_TEXT,
    HS_T_INT,  /* int64; beyond 2^53 a string in JSON */
    HS_T_TIME, /* int64 ns inside; written as µs with up to three decimals, exact; column names end in _us */
    HS_T_REAL, /* double; null if not finite */
    HS_T_PCT,  /* double 0..100; column names end in _pct; written with up to four decimals */
    HS_T_BOOL,
    HS_T_JSON /* text that is JSON already (args, lists) */
};

struct hs_column_spec {
    const char *name; /* lower_snake_case with its unit: sum_us, share_pct */
    enum hs_type type;
    const char *unit; /* "us", "percent", "bytes", "GB/s", "1"; "" for text */
    const char *doc;  /* one sentence: what it is, of what denominator */
};

enum hs_cell_kind { HS_C_NULL, HS_C_TEXT, HS_C_I64, HS_C_F64, HS_C_BOOL };
struct hs_cell {
    union {
        int64_t i;
        double f;
        const char *s;
    };
    uint32_t len; /* of text */
    uint32_t kind;
};

struct hs_table {
    const struct hs_column_spec *columns; /* not owned; static in most analyses */
    size_t ncolumns;
    struct {
        HS_VEC(struct hs_cell);
    } cells; /* row-major; a multiple of ncolumns when complete */
    struct {
        HS_VEC(char *);
    } notes; /* sentences; owned */
    struct hs_arena text;
    size_t rows;
    bool full; /* a ceiling was reached: HS_ELIMIT by hs_table_check */
};

const char *hs_type_name(enum hs_type type); /* "text", "integer", "time", "real", "percent", "boolean", "json" */

void hs_table_init(struct hs_table *t, const struct hs_column_spec *columns, size_t ncolumns);
void hs_table_free(struct hs_table *t);
void hs_table_row(struct hs_table *t); /* begins a row: a programming error (assert) if the last one is incomplete */
void hs_cell_text(struct hs_table *t, struct hs_str s);
void hs_cell_cstr(struct hs_table *t, const char *s); /* NULL: a null cell */
void hs_cell_i64(struct hs_table *t, int64_t v);
void hs_cell_ns(struct hs_table *t, int64_t ns);
void hs_cell_f64(struct hs_table *t, double v); /* not finite: a null cell */
void hs_cell_bool(struct hs_table *t, bool v);
void hs_cell_null(struct hs_table *t);
void hs_table_note(struct hs_table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int hs_table_check(const struct hs_table *t, struct hs_err *err); /* HS_ELIMIT if anything did not fit */
const struct hs_cell *hs_table_cell(const struct hs_table *t, size_t row, size_t column);

#endif
