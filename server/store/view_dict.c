#include "store/view_dict.h"

#include "store/db.h"
#include "store/decode.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* ---- small tables, read at once ---- */

/* All columns of a table, column-major: cell (row, col) is at [col * n + row]. free() it. */
static int read_table(struct hs_view_file *f, enum hs_tbl tbl, unsigned cols, int64_t **out, size_t *n,
                      struct hs_err *err)
{
    int64_t *v = NULL;
    size_t rows = 0;
    int rc = hs_view_rows(f, tbl, &rows, err);
    if (!rc && !(v = calloc(rows * cols + 1, sizeof *v)))
        rc = hs_fail(err, HS_ELIMIT, "not enough memory for a table of %zu rows", rows);
    for (unsigned c = 0; !rc && c < cols; c++)
        for (size_t at = 0, k = 0; !rc && at < rows; at += HS_SEG_ROWS, k++)
            rc = hs_view_segment(f, tbl, c, k, v + c * rows + at, rows - at < HS_SEG_ROWS ? rows - at : HS_SEG_ROWS,
                                 err);
    if (rc) {
        free(v);
        return rc;
    }
    *out = v;
    *n = rows;
    return HS_OK;
}

static bool below(int64_t v, size_t limit)
{
    return v >= 0 && (uint64_t)v < limit;
}

static int read_columns(struct hs_view_file *f, struct hs_err *err)
{
    int64_t *v;
    size_t n;
    int rc = read_table(f, HS_TBL_COLUMNS, 4, &v, &n, err);
    if (rc)
        return rc;
    f->columns = hs_calloc(n, sizeof *f->columns);
    f->ncolumns = n;
    for (size_t i = 0; !rc && i < n; i++) {
        if (!below(v[i], f->base.nsyms) || !below(v[n + i], 2) || !below(v[2 * n + i], HS_V_RAW + 1))
            rc = hs_view_damaged(f, err, "an argument column does not fit");
        f->columns[i] = (struct hs_column){(uint32_t)v[i], (uint8_t)v[n + i], (uint8_t)v[2 * n + i], v[3 * n + i] != 0};
    }
    free(v);
    return rc;
}

static bool field_fits(const struct hs_view_file *f, int64_t key, int64_t column, int64_t level, int64_t type)
{
    if (!below(key, f->base.nsyms) || !below(level, 2) || !below(type, HS_V_CORE + 1))
        return false;
    if (type == HS_V_CORE)
        return level == 0 && below(column, HS_CORE_DUR + 1);
    if (type == HS_V_DEC)
        return below(column, f->ncolumns) && below(column + 1, f->ncolumns);
    return type > HS_V_RAW ? below(column, UINT32_MAX) || column == UINT32_MAX : below(column, f->ncolumns);
}

static int read_shapes(struct hs_view_file *f, struct hs_err *err)
{
    int64_t *v = NULL, *counts = NULL;
    size_t n;
    uint64_t total = 0;
    int rc = read_table(f, HS_TBL_FIELDS, 4, &v, &f->nfields, err);
    if (!rc)
        rc = read_table(f, HS_TBL_SHAPES, 1, &counts, &f->nshapes, err);
    if (rc)
        goto out;
    n = f->nfields;
    f->fields = hs_calloc(n, sizeof *f->fields);
    f->shapes = hs_calloc(f->nshapes, sizeof *f->shapes);
    for (size_t i = 0; !rc && i < n; i++) {
        if (!field_fits(f, v[i], v[n + i], v[2 * n + i], v[3 * n + i]))
            rc = hs_view_damaged(f, err, "a field does not fit");
        f->fields[i] =
            (struct hs_field){(uint32_t)v[i], (uint32_t)v[n + i], (uint8_t)v[2 * n + i], (uint8_t)v[3 * n + i]};
    }
    for (size_t i = 0; !rc && i < f->nshapes; i++) {
        if (!below(counts[i], n - total + 1))
            rc = hs_view_damaged(f, err, "a shape does not fit");
        else
            f->shapes[i] = (struct hs_shape){(uint32_t)total, (uint32_t)counts[i]};
        total += rc ? 0 : (uint64_t)counts[i];
    }
    f->base.fields = f->fields;
    f->base.nfields = f->nfields;
    f->base.shapes = f->shapes;
    f->base.nshapes = f->nshapes;
out:
    free(v);
    free(counts);
    return rc;
}

static bool id_fits(const struct hs_view_file *f, int64_t kind, int64_t v)
{
    return below(kind, HS_ID_TEXT + 1) && (kind != HS_ID_TEXT || below(v, f->base.nsyms));
}

static int read_lanes(struct hs_view_file *f, struct hs_err *err)
{
    int64_t *v;
    size_t n, syms = f->base.nsyms;
    int rc = read_table(f, HS_TBL_LANES, 7, &v, &n, err);
    if (rc)
        return rc;
    struct hs_lane_info *lanes = hs_calloc(n, sizeof *lanes);
    f->base.lanes = lanes;
    f->base.nlanes = n;
    for (size_t i = 0; !rc && i < n; i++) {
        const int64_t *c = v + i;
        if (!id_fits(f, c[0], c[n]) || !id_fits(f, c[2 * n], c[3 * n]) || !below(c[4 * n], syms) ||
            !below(c[5 * n], syms) || !below(c[6 * n], syms))
            rc = hs_view_damaged(f, err, "a lane does not fit");
        lanes[i] = (struct hs_lane_info){{c[n], (uint8_t)c[0]},
                                         {c[3 * n], (uint8_t)c[2 * n]},
                                         (uint32_t)c[4 * n],
                                         (uint32_t)c[5 * n],
                                         (uint32_t)c[6 * n]};
    }
    free(v);
    return rc;
}

static int read_steps(struct hs_view_file *f, struct hs_err *err)
{
    int64_t *v;
    size_t n;
    int rc = read_table(f, HS_TBL_STEPS, 5, &v, &n, err);
    if (rc)
        return rc;
    struct hs_step_row *steps = hs_calloc(n, sizeof *steps);
    f->base.steps = steps;
    f->base.nsteps = n;
    for (size_t i = 0; !rc && i < n; i++) {
        if (n > INT32_MAX || !below(v[3 * n + i], f->events) || !below(v[4 * n + i], f->base.nlanes))
            rc = hs_view_damaged(f, err, "a step does not fit");
        steps[i] = (struct hs_step_row){v[i], v[n + i], v[2 * n + i], (uint32_t)v[3 * n + i], (uint32_t)v[4 * n + i]};
    }
    free(v);
    return rc;
}

static int read_ended(struct hs_view_file *f, struct hs_err *err)
{
    int64_t *v;
    size_t n;
    int rc = read_table(f, HS_TBL_ENDED, 2, &v, &n, err);
    if (rc)
        return rc;
    f->ended = hs_calloc(n, sizeof *f->ended);
    f->nended = n;
    f->bytes += n * sizeof *f->ended;
    for (size_t i = 0; !rc && i < n; i++) {
        if (!below(v[i], f->events) || (i && v[i] <= v[i - 1]))
            rc = hs_view_damaged(f, err, "the end of an event does not fit");
        f->ended[i] = (struct hs_ended){(uint32_t)v[i], v[n + i]};
    }
    free(v);
    return rc;
}

static int read_cats(struct hs_view_file *f, struct hs_err *err)
{
    int64_t *v;
    size_t n;
    int rc = read_table(f, HS_TBL_CATS, 4, &v, &n, err);
    if (rc)
        return rc;
    struct hs_cat_row *cats = hs_calloc(n, sizeof *cats);
    f->base.cats = cats;
    f->base.ncats = n;
    for (size_t i = 0; !rc && i < n; i++) {
        if (!below(v[i], f->base.nsyms) || !below(v[n + i], 256))
            rc = hs_view_damaged(f, err, "a category does not fit");
        cats[i] = (struct hs_cat_row){(uint32_t)v[i], (uint8_t)v[n + i], v[2 * n + i], v[3 * n + i]};
    }
    free(v);
    return rc;
}

static int read_header(struct hs_view_file *f, struct hs_err *err)
{
    int64_t *v;
    size_t n;
    int rc = read_table(f, HS_TBL_HEADER, 2, &v, &n, err);
    if (rc)
        return rc;
    struct hs_header *h = hs_calloc(n, sizeof *h);
    f->base.header = h;
    f->base.nheader = n;
    for (size_t i = 0; !rc && i < n; i++) {
        if (!below(v[i], f->base.nsyms) || !below(v[n + i], f->base.nsyms))
            rc = hs_view_damaged(f, err, "a header field does not fit");
        h[i] = (struct hs_header){(uint32_t)v[i], (uint32_t)v[n + i]};
    }
    free(v);
    return rc;
}

/* ---- symbols ---- */

/* One chunk: its texts unpacked, `syms[first..first+count)` pointed into them. */
static int read_chunk(struct hs_view_file *f, sqlite3_stmt *st, struct hs_str *syms, size_t *have, struct hs_err *err)
{
    int64_t first = sqlite3_column_int64(st, 0), count = sqlite3_column_int64(st, 1),
            bytes = sqlite3_column_int64(st, 2);
    struct hs_str lengths = hs_db_str(st, 3), zip = hs_db_str(st, 4);
    uint64_t at = 0;
    /* Deflate cannot do better than 1 : 1032, so a chunk can claim no more memory than the file's size warrants. */
    if (first != (int64_t)*have || count < 1 || count > HS_SEG_ROWS || !below(count, f->base.nsyms - *have + 1) ||
        bytes < 0 || (uint64_t)bytes > (uint64_t)zip.n * 1032 + 64)
        return hs_view_damaged(f, err, "a chunk of names does not fit");
    int rc = hs_decode(lengths.p, lengths.n, f->tmp, (size_t)count, err);
    if (rc)
        return rc;
    uLongf got = (uLongf)bytes;
    char *text = f->chunks[f->nchunks++] = hs_malloc((size_t)bytes + 1);
    f->bytes += (size_t)bytes;
    if (uncompress((Bytef *)text, &got, (const Bytef *)zip.p, zip.n) != Z_OK || got != (uLongf)bytes)
        return hs_view_damaged(f, err, "a chunk of names cannot be inflated");
    text[bytes] = 0;
    for (size_t i = 0; i < (size_t)count; i++) {
        if (!below(f->tmp[i], (uint64_t)bytes - at + 1))
            return hs_view_damaged(f, err, "a name does not fit");
        syms[*have + i] = hs_str(text + at, (size_t)f->tmp[i]);
        at += (uint64_t)f->tmp[i];
    }
    *have += (size_t)count;
    return HS_OK;
}

static int read_symbols(struct hs_view_file *f, struct hs_err *err)
{
    sqlite3_stmt *st;
    bool row;
    int64_t chunks = 0, total = 0;
    size_t have = 0;
    int rc = hs_db_int(f->db, "SELECT count(*) FROM symbols", &chunks, err);
    if (!rc)
        rc = hs_db_int(f->db, "SELECT coalesce(sum(count), 0) FROM symbols WHERE count BETWEEN 1 AND 65536", &total,
                       err);
    if (!rc && (total < 1 || total >= HS_NO_SYM))
        rc = hs_view_damaged(f, err, "there are no names");
    if (!rc)
        rc = hs_db_prepare(f->db, &st, "SELECT first, count, bytes, lengths, text FROM symbols ORDER BY first", err);
    if (rc)
        return rc;
    struct hs_str *syms = calloc((size_t)total, sizeof *syms); /* may fail: the number comes from the file */
    if (!syms) {
        sqlite3_finalize(st);
        return hs_fail(err, HS_ELIMIT, "not enough memory for %lld names", (long long)total);
    }
    f->chunks = hs_calloc((size_t)chunks, sizeof *f->chunks);
    f->base.syms = syms;
    f->base.nsyms = (size_t)total;
    f->bytes += (size_t)total * sizeof *syms;
    while (!(rc = hs_db_step(st, &row, err)) && row) {
        if ((int64_t)f->nchunks == chunks)
            rc = hs_view_damaged(f, err, "too many chunks of names");
        else
            rc = read_chunk(f, st, syms, &have, err);
        if (rc)
            break;
    }
    if (!rc && (have != f->base.nsyms || syms[0].n))
        rc = hs_view_damaged(f, err, "names are missing");
    sqlite3_finalize(st);
    return rc;
}

/* ---- meta ---- */

static void meta_row(struct hs_view_file *f, struct hs_str key, sqlite3_stmt *st)
{
    int64_t i = sqlite3_column_int64(st, 1);
    struct hs_view *v = &f->base;
    if (hs_str_is(key, "id") && sqlite3_column_bytes(st, 1) < (int)sizeof v->id) {
        struct hs_str id = hs_db_str(st, 1);
        memcpy(v->id, id.p, id.n);
        v->id[id.n] = 0;
    } else if (hs_str_is(key, "name") && !f->name) {
        struct hs_str name = hs_db_str(st, 1);
        v->name = f->name = hs_strndup(name.p, name.n);
    } else if (hs_str_is(key, "rank")) {
        v->rank = i;
    } else if (hs_str_is(key, "world_size")) {
        v->world_size = i;
    } else if (hs_str_is(key, "hta_rank")) {
        v->hta_rank = i;
    } else if (hs_str_is(key, "has_base")) {
        v->has_base = i != 0;
    } else if (hs_str_is(key, "base_ns")) {
        v->base_ns = i;
    } else if (hs_str_is(key, "bare_array")) {
        f->bare_array = i != 0;
    } else if (hs_str_is(key, "has_events_key")) {
        f->has_events_key = i != 0;
    } else if (hs_str_is(key, "events")) {
        f->events = i < 0 || i > (int64_t)HS_MAX_EVENTS ? UINT64_MAX : (uint64_t)i;
    }
}

static void summary_row(struct hs_view_file *f, struct hs_str key, sqlite3_stmt *st)
{
#define ROW(member)              \
    if (hs_str_is(key, #member)) \
        f->base.sum.member = sqlite3_column_int64(st, 1);
    HS_SUMMARY_MEMBERS(ROW)
#undef ROW
}

static void quality_row(struct hs_view_file *f, struct hs_str key, sqlite3_stmt *st)
{
    for (int i = 0; i < HS_QUALITY_KINDS; i++)
        if (hs_str_is(key, hs_quality_infos[i].name)) {
            f->base.quality.count[i] = sqlite3_column_int64(st, 1);
            f->base.quality.first[i] = sqlite3_column_int64(st, 2);
        }
}

static int read_pairs(struct hs_view_file *f, const char *sql,
                      void (*row_fn)(struct hs_view_file *, struct hs_str, sqlite3_stmt *), struct hs_err *err)
{
    sqlite3_stmt *st;
    bool row;
    int rc = hs_db_prepare(f->db, &st, sql, err);
    if (rc)
        return rc;
    while (!(rc = hs_db_step(st, &row, err)) && row)
        row_fn(f, hs_db_str(st, 0), st);
    sqlite3_finalize(st);
    return rc;
}

static int read_meta(struct hs_view_file *f, struct hs_err *err)
{
    int64_t others;
    size_t rows = 0;
    f->events = UINT64_MAX;
    f->base.hta_rank = -1;
    /* Only plain tables: a view, a trigger or a virtual table of the same name could run anything. */
    int rc = hs_db_int(f->db, "SELECT count(*) FROM sqlite_schema WHERE type <> 'table' OR rootpage < 1", &others, err);
    if (!rc && others)
        rc = hs_view_damaged(f, err, "it holds more than tables");
    if (!rc)
        rc = read_pairs(f, "SELECT key, value FROM meta", meta_row, err);
    if (!rc)
        rc = read_pairs(f, "SELECT key, value FROM summary", summary_row, err);
    if (!rc)
        rc = read_pairs(f, "SELECT kind, count, first FROM quality", quality_row, err);
    if (!rc)
        rc = hs_view_rows(f, HS_TBL_EVENTS, &rows, err);
    if (!rc && rows != f->events)
        rc = hs_view_damaged(f, err, "it does not hold as many events as it says");
    if (rc)
        return rc;
    f->segments = (f->events + HS_SEG_ROWS - 1) / HS_SEG_ROWS;
    f->ev.n = rows;
    return HS_OK;
}

/* ---- all of it ---- */

int hs_view_read_dict(struct hs_view_file *f, struct hs_err *err)
{
    /* In this order: each is checked against those before it. */
    static int (*const parts[])(struct hs_view_file *, struct hs_err *) = {
        read_meta, read_symbols, read_columns, read_shapes, read_lanes, read_steps, read_ended, read_cats, read_header};
    int rc = HS_OK;
    for (size_t i = 0; !rc && i < sizeof parts / sizeof parts[0]; i++)
        rc = parts[i](f, err);
    return rc;
}

void hs_view_free_dict(struct hs_view_file *f)
{
    for (size_t i = 0; i < f->nchunks; i++)
        free(f->chunks[i]);
    free(f->chunks);
    free((void *)(uintptr_t)f->base.syms);
    free((void *)(uintptr_t)f->base.lanes);
    free((void *)(uintptr_t)f->base.steps);
    free(f->ended);
    free((void *)(uintptr_t)f->base.cats);
    free((void *)(uintptr_t)f->base.header);
    free(f->shapes);
    free(f->fields);
    free(f->columns);
}
