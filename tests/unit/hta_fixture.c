#include "tests/unit/hta_fixture.h"
#include "store/store.h"
#include "tests/unit/ingest_bytes.h"
#include "tests/unit/test.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void hta_open(struct hta_fixture *f, size_t n, ...)
{
    struct hs_err err = HS_ERR_INIT;
    struct hs_view *views[8];
    va_list texts;
    *f = (struct hta_fixture){.n = n};
    va_start(texts, n);
    for (size_t i = 0; i < n; i++) {
        struct test_input in;
        char name[32];
        size_t got;
        struct hs_import_options o = {.rank = HS_RANK_AUTO, .order = (int64_t)i};
        snprintf(name, sizeof name, "rank%zu.json", i);
        test_input_init(&in, hs_cstr(va_arg(texts, const char *)), 0, name);
        ck_assert_msg(!hs_import(&in.in, &o, &f->traces[i], &got, &err), "%s", err.text);
        ck_assert_uint_eq(got, 1);
        views[i] = f->traces[i][0].view;
    }
    va_end(texts);
    ck_assert_int_eq(hs_run_build("test", views, n, &f->run, &err), 0);
}

void hta_close(struct hta_fixture *f)
{
    hs_run_free(f->run);
    for (size_t i = 0; i < f->n; i++)
        hs_imported_free(f->traces[i], 1);
}

struct hs_table hta_ask(struct hta_fixture *f, const char *analysis, const char *params)
{
    const struct hta_entry *e = hta_entry_find(analysis);
    struct hs_err err = HS_ERR_INIT;
    struct hs_params *p;
    struct hs_table t;
    char *copy = strdup(params), *save = NULL;
    ck_assert_ptr_nonnull(e);
    ck_assert_int_eq(hs_params_new(&p, e->params, e->nparams, &err), 0);
    for (char *pair = strtok_r(copy, "&", &save); pair; pair = strtok_r(NULL, "&", &save)) {
        char *value = strchr(pair, '=');
        ck_assert_ptr_nonnull(value);
        *value++ = 0;
        ck_assert_msg(!hs_params_set(p, pair, value, &err), "%s", err.text);
    }
    f->run->other = f->other;
    hs_table_init(&t, NULL, 0);
    int rc = e->run(f->run, p, &t, &err);
    ck_assert_msg(!rc, "%s %s: %s", analysis, params, err.text);
    hs_params_free(p);
    free(copy);
    return t;
}

static const struct hs_cell *cell(const struct hs_table *t, size_t row, const char *column)
{
    for (size_t c = 0; c < t->ncolumns; c++)
        if (!strcmp(t->columns[c].name, column))
            return hs_table_cell(t, row, c);
    ck_abort_msg("no column %s", column);
    return NULL;
}

void expect(const struct hs_table *t, const char *column, size_t n, ...)
{
    va_list want;
    ck_assert_msg(t->rows == n, "%zu rows, not %zu", t->rows, n);
    va_start(want, n);
    for (size_t i = 0; i < n; i++) {
        const struct hs_cell *c = cell(t, i, column);
        double w = va_arg(want, double), v = c->kind == HS_C_I64 ? (double)c->i : c->kind == HS_C_F64 ? c->f : NAN;
        bool same = isnan(w) ? c->kind == HS_C_NULL : fabs(v - w) <= 1e-9 * fmax(1, fabs(w));
        ck_assert_msg(same, "row %zu, %s: %.17g, not %.17g", i, column, v, w);
    }
    va_end(want);
}

void expect_text(const struct hs_table *t, const char *column, size_t n, ...)
{
    va_list want;
    ck_assert_msg(t->rows == n, "%zu rows, not %zu", t->rows, n);
    va_start(want, n);
    for (size_t i = 0; i < n; i++) {
        const struct hs_cell *c = cell(t, i, column);
        const char *w = va_arg(want, const char *);
        const char *v = c->kind == HS_C_TEXT ? c->s : "(null)";
        ck_assert_msg(w ? c->kind == HS_C_TEXT && !strcmp(v, w) : c->kind == HS_C_NULL, "row %zu, %s: %s, not %s", i,
                      column, v, w ? w : "null");
    }
    va_end(want);
}

bool hta_noted(const struct hs_table *t, const char *part)
{
    for (size_t i = 0; i < t->notes.n; i++)
        if (strstr(t->notes.p[i], part))
            return true;
    return false;
}
