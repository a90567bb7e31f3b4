#include "tests/unit/json_trace.h"
#include "tests/unit/test.h"

#include "trace/table.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ORIGIN_NS 1700000000000000000 /* where the run's clock begins */

/* ---- writing ---- */

void json_trace_begin(struct json_trace *t, int rank)
{
    *t = (struct json_trace){.rank = rank, .events = HS_VEC_INIT(1 << 20)};
    trace_cpu(t, "cpu_op", "origin", 999, 0, 1);
}

void trace_event(struct json_trace *t, const char *fmt, ...)
{
    char *text;
    va_list ap;
    va_start(ap, fmt);
    ck_assert_int_gt(vasprintf(&text, fmt, ap), 0);
    va_end(ap);
    ck_assert(hs_vec_push(&t->events, text));
}

const char *trace_us(char buf[40], int64_t ns)
{
    int64_t t = ORIGIN_NS + ns;
    snprintf(buf, 40, "%" PRId64 ".%03" PRId64, t / 1000, t % 1000);
    return buf;
}

static const char *dur_us(char buf[40], int64_t ns)
{
    snprintf(buf, 40, "%" PRId64 ".%03" PRId64, ns / 1000, ns % 1000);
    return buf;
}

void trace_cpu(struct json_trace *t, const char *cat, const char *name, int tid, int64_t ts, int64_t dur)
{
    char a[40], b[40];
    trace_event(t,
                "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":1,\"tid\":%d,\"ts\":%s,\"dur\":%s,\"args\":{}}",
                cat, name, tid, trace_us(a, ts), dur_us(b, dur));
}

void trace_launch(struct json_trace *t, const char *name, int tid, int64_t ts, int64_t dur, int corr)
{
    char a[40], b[40];
    trace_event(t,
                "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"%s\",\"pid\":1,\"tid\":%d,\"ts\":%s,\"dur\":%s,"
                "\"args\":{\"correlation\":%d}}",
                name, tid, trace_us(a, ts), dur_us(b, dur), corr);
}

static void device_event(struct json_trace *t, const char *cat, const char *name, int device, int stream, int64_t ts,
                         int64_t dur, int corr, int64_t bytes)
{
    char a[40], b[40], more[64] = "";
    if (bytes >= 0)
        snprintf(more, sizeof more, ",\"bytes\":%" PRId64, bytes);
    trace_event(t,
                "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":%s,\"dur\":%s,"
                "\"args\":{\"device\":%d,\"stream\":%d,\"correlation\":%d%s}}",
                cat, name, device, stream, trace_us(a, ts), dur_us(b, dur), device, stream, corr, more);
}

void trace_kernel(struct json_trace *t, const char *name, int device, int stream, int64_t ts, int64_t dur, int corr)
{
    device_event(t, "kernel", name, device, stream, ts, dur, corr, -1);
}

void trace_copy(struct json_trace *t, const char *name, int device, int stream, int64_t ts, int64_t dur, int corr,
                int64_t bytes)
{
    device_event(t, strstr(name, "Memset") ? "gpu_memset" : "gpu_memcpy", name, device, stream, ts, dur, corr, bytes);
}

uint32_t draw_below(uint32_t *state, uint32_t below)
{
    *state = *state * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)*state * below) >> 32);
}

void json_trace_shuffle(struct json_trace *t, uint32_t seed)
{
    for (size_t i = t->events.n; i > 1; i--) {
        size_t k = draw_below(&seed, (uint32_t)i);
        char *swap = t->events.p[i - 1];
        t->events.p[i - 1] = t->events.p[k];
        t->events.p[k] = swap;
    }
}

/* ---- reading ---- */

static void import_one(struct json_trace *t)
{
    struct hs_buf text = HS_BUF_INIT(1 << 26);
    struct hs_err err = HS_ERR_INIT;
    struct hs_import_options o = {.rank = t->rank};
    hs_buf_printf(&text, "{%s\"traceEvents\":[", t->header ? t->header : "");
    for (size_t i = 0; i < t->events.n; i++)
        hs_buf_printf(&text, "%s%s", i ? ",\n" : "", t->events.p[i]);
    hs_buf_puts(&text, "]}");
    struct hs_input_bytes x = {text.p, text.n};
    struct hs_input in = hs_input_of_bytes(&x, "test.json");
    int rc = hs_import(&in, &o, &t->imported, &t->nimported, &err);
    ck_assert_msg(!rc, "%s", err.text);
    ck_assert_uint_eq(t->nimported, 1);
    hs_buf_free(&text);
}

static void unload(struct json_trace *t, size_t n)
{
    if (t[0].run)
        hs_run_free(t[0].run);
    t[0].run = NULL;
    for (size_t i = 0; i < n; i++) {
        hs_imported_free(t[i].imported, t[i].nimported);
        t[i].imported = NULL;
        t[i].nimported = 0;
    }
}

struct hs_run *json_trace_load(struct json_trace *t, size_t n)
{
    struct hs_view *views[8];
    struct hs_err err = HS_ERR_INIT;
    ck_assert_uint_le(n, 8);
    unload(t, n);
    for (size_t i = 0; i < n; i++) {
        import_one(&t[i]);
        views[i] = t[i].imported[0].view;
    }
    ck_assert_msg(!hs_run_build("test", views, n, &t[0].run, &err), "%s", err.text);
    return t[0].run;
}

void json_trace_end(struct json_trace *t, size_t n)
{
    unload(t, n);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < t[i].events.n; k++)
            free(t[i].events.p[k]);
        hs_vec_free(&t[i].events);
    }
}

/* ---- comparing ---- */

static bool is_number_of_event(const char *column)
{
    size_t n = strlen(column);
    return !strcmp(column, "parent") || (n >= 5 && !strcmp(column + n - 5, "event"));
}

static bool same_cell(const struct hs_cell *a, const struct hs_cell *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case HS_C_TEXT: return a->len == b->len && !memcmp(a->s, b->s, a->len);
    case HS_C_F64: return a->f == b->f;
    case HS_C_NULL: return true;
    default: return a->i == b->i;
    }
}

void tables_agree(const struct hs_table *a, const struct hs_table *b, const char *what)
{
    ck_assert_msg(a->rows == b->rows, "%s: %zu rows and %zu", what, a->rows, b->rows);
    ck_assert_uint_eq(a->ncolumns, b->ncolumns);
    for (size_t r = 0; r < a->rows; r++)
        for (size_t c = 0; c < a->ncolumns; c++)
            ck_assert_msg(is_number_of_event(a->columns[c].name) ||
                              same_cell(hs_table_cell(a, r, c), hs_table_cell(b, r, c)),
                          "%s: row %zu, column %s", what, r, a->columns[c].name);
}
