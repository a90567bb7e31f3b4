/* Every real trace through the store: imported into a data directory, opened again, given back event by event and compared
 * with jansson's reading of the source: values, types and order of keys; and counts by category through SQL. Does nothing
 * where the traces are not there. */
#include "ingest/import.h"
#include "store/sql.h"
#include "tests/unit/test.h"

#include <ftw.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static struct hs_store *g_store;
static int g_files;
static char *g_dir;

static json_t *read_source(const char *path)
{
    struct hs_buf b = HS_BUF_INIT((size_t)1 << 30);
    char part[1 << 16];
    json_error_t e;
    gzFile f = gzopen(path, "rb"); /* reads plain files, too */
    ck_assert_ptr_nonnull(f);
    for (int n; (n = gzread(f, part, sizeof part)) > 0;)
        hs_buf_put(&b, part, (size_t)n);
    gzclose(f);
    json_t *doc = json_loadb(b.p, b.n, 0, &e);
    hs_buf_free(&b);
    return doc; /* NULL: not for jansson (cut, nan); those are the corpus' business */
}

/* Texts of both in the order of their keys; whole numbers and reals look different. */
static void compare(const char *path, size_t i, json_t *want, struct hs_str got_text)
{
    json_error_t e;
    json_t *got = json_loadb(got_text.p, got_text.n, 0, &e);
    ck_assert_msg(got != NULL, "%s, event %zu: %s in %.*s", path, i, e.text, (int)got_text.n, got_text.p);
    char *a = json_dumps(want, JSON_COMPACT), *b = json_dumps(got, JSON_COMPACT);
    ck_assert_msg(!strcmp(a, b), "%s, event %zu:\n got %s\nwant %s", path, i, b, a);
    free(a);
    free(b);
    json_decref(got);
}

static void compare_events(const char *path, json_t *events, struct hs_view *v)
{
    struct hs_buf b = HS_BUF_INIT(64 << 20);
    struct hs_err err = HS_ERR_INIT;
    size_t n = json_array_size(events);
    ck_assert_int_eq(v->sum.events, (int64_t)n);
    for (size_t i = 0; i < n; i++) {
        hs_buf_clear(&b);
        ck_assert_msg(!v->ops->event_json(v, (uint32_t)i, &b, &err), "%s: %s", path, err.text);
        compare(path, i, json_array_get(events, i), hs_str(b.p, b.n));
    }
    for (size_t k = 0; k < 50 && n; k++) { /* and in no order */
        size_t i = k * 7919 % n;
        hs_buf_clear(&b);
        ck_assert(!v->ops->event_json(v, (uint32_t)i, &b, &err));
        compare(path, i, json_array_get(events, i), hs_str(b.p, b.n));
    }
    hs_buf_free(&b);
}

/* {"cat/ph": count} of the source against the same by SQL. */
static void compare_counts(const char *path, json_t *events, struct hs_view *v)
{
    struct hs_table t;
    struct hs_err err = HS_ERR_INIT;
    json_t *counts = json_object(), *ev;
    size_t i;
    json_array_foreach(events, i, ev)
    {
        const char *cat = json_string_value(json_object_get(ev, "cat")),
                   *ph = json_string_value(json_object_get(ev, "ph"));
        char *key = hs_asprintf("%s/%s", cat ? cat : "", ph ? ph : "");
        json_object_set_new(counts, key, json_integer(1 + json_integer_value(json_object_get(counts, key))));
        free(key);
    }
    hs_table_init(&t, NULL, 0);
    ck_assert_msg(
        !hs_sql_run(v, "SELECT cat || '/' || coalesce(ph, ''), count(*) FROM events GROUP BY 1", NULL, &t, &err), "%s",
        err.text);
    ck_assert_uint_eq(t.rows, json_object_size(counts));
    for (size_t r = 0; r < t.rows; r++) {
        const struct hs_cell *key = hs_table_cell(&t, r, 0);
        char *text = hs_strndup(key->s, key->len);
        ck_assert_msg(json_integer_value(json_object_get(counts, text)) == hs_table_cell(&t, r, 1)->i, "%s: %s", path,
                      text);
        free(text);
    }
    hs_table_free(&t);
    json_decref(counts);
}

static int one_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    struct hs_err err = HS_ERR_INIT;
    struct hs_input in;
    struct hs_import_options o = {.store = g_store, .run = "real", .rank = HS_RANK_AUTO};
    struct hs_imported *im = NULL;
    struct hs_view *v;
    size_t n = 0;
    (void)st, (void)ftw;
    if (type != FTW_F || !strstr(path, ".json") || strstr(path, "/et.json"))
        return 0;
    json_t *doc = read_source(path), *events = json_is_array(doc) ? doc : json_object_get(doc, "traceEvents");
    if (!json_is_array(events)) {
        json_decref(doc);
        return 0;
    }
    ck_assert(!hs_input_open_file(&in, path, &err));
    int rc = hs_import(&in, &o, &im, &n, &err);
    hs_input_close_file(&in);
    ck_assert_msg(!rc, "%s: %s", path, err.text);
    ck_assert_msg(!hs_store_pin_trace(g_store, im[0].row.id, &v, &err), "%s: %s", path, err.text);
    compare_events(path, events, v);
    compare_counts(path, events, v);
    hs_store_unpin_trace(g_store, v);
    hs_imported_free(im, n);
    json_decref(doc);
    g_files++;
    return 0;
}

START_TEST(real_traces_come_back_from_the_store)
{
    const char *traces = hs_test_traces();
    struct hs_err err = HS_ERR_INIT;
    if (!traces)
        return;
    g_dir = hs_test_tmpdir();
    struct hs_store_options o = {.dir = g_dir};
    ck_assert(!hs_store_open(&g_store, &o, &err));
    ck_assert_int_eq(nftw(traces, one_file, 16, FTW_PHYS), 0);
    ck_assert_int_gt(g_files, 20);
    hs_store_close(g_store);
    hs_test_rmdir(g_dir);
    free(g_dir);
}
END_TEST

HS_SUITE(store_real)
{
    HS_TEST(real_traces_come_back_from_the_store);
}
