/* Trace files that are not what they should be: newer, foreign and damaged ones are refused or answer something, and do no
 * harm. Sanitizers watch. */
#include "tests/unit/made_trace.h"
#include "tests/unit/test.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void alter(const char *path, const char *sql)
{
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

START_TEST(newer_and_foreign_files_are_refused)
{
    char *dir, *path = made_file(&dir), *other = hs_asprintf("%s/other.db", dir);
    struct hs_view *v;
    struct hs_err err = HS_ERR_INIT;
    alter(path, "PRAGMA user_version = 7");
    ck_assert_int_eq(hs_view_open(path, &v, &err), HS_EINPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "newer Holoscope (schema 7, this program knows 1): update the program"));
    alter(path, "PRAGMA user_version = 1; PRAGMA application_id = 5");
    ck_assert_int_eq(hs_view_open(path, &v, &err), HS_EINPUT);
    alter(other, "CREATE TABLE t(x)");
    ck_assert_int_eq(hs_view_open(other, &v, &err), HS_EINPUT);
    FILE *f = fopen(other, "w");
    fputs("this is no database at all, just text that is long enough to be read as a header of one, or so it seems", f);
    fclose(f);
    ck_assert_int_eq(hs_view_open(other, &v, &err), HS_EINPUT);
    unlink(other);
    ck_assert_int_eq(hs_view_open(other, &v, &err), HS_ENOTFOUND);
    hs_test_rmdir(dir);
    free(other);
    free(path);
    free(dir);
}
END_TEST

/* Asks a view for everything; what it answers does not matter. */
static void ask_all(struct hs_view *v)
{
    static const char *const keys[] = {"correlation", "occupancy", "grid", "stream", "twice", "queued"};
    struct hs_events e;
    struct hs_gpu g;
    struct hs_err err = HS_ERR_INIT;
    struct hs_buf b = HS_BUF_INIT(1 << 20);
    const struct hs_launch_row *l;
    struct hs_sparse few;
    const int64_t *i;
    const double *d;
    const uint32_t *s;
    size_t n;
    for (unsigned c = 0; c < HS_EVENT_COLS; c++) {
        hs_view_events(v, 1u << c, &e, &err);
        v->ops->events_at(v, 1u << c, (const uint32_t[]){5, HS_SEG_ROWS, MADE_EVENTS - 1}, 3, &e, &err);
        hs_events_free(&e);
    }
    for (unsigned c = 0; c < HS_GPU_COLS; c++)
        hs_view_gpu_columns(v, 1u << c, &g, &err);
    hs_view_gpu(v, &g, &err);
    v->ops->launches(v, &l, &n, &err);
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
        v->ops->arg_i64(v, keys[k], (int)(k == 4 ? 0 : 1), &i, &err);
        v->ops->arg_sparse(v, keys[k], (int)(k == 4 ? 0 : 1), &few, &err);
        v->ops->arg_f64(v, keys[k], 1, &d, &err);
        v->ops->arg_sym(v, keys[k], 1, &s, &err);
    }
    for (uint32_t k = 0; k < MADE_EVENTS; k += 9973)
        v->ops->event_json(v, k, &b, &err);
    hs_buf_free(&b);
}

static uint64_t g_seed = 88172645463325252u;

static uint64_t next_random(void)
{
    g_seed ^= g_seed << 13;
    g_seed ^= g_seed >> 7;
    g_seed ^= g_seed << 17;
    return g_seed;
}

/* Flips bits anywhere in the file, opens it, asks for everything. Sanitizers watch. */
START_TEST(damaged_files_do_no_harm)
{
    char *dir, *path = made_file(&dir), *copy = hs_asprintf("%s/copy.db", dir);
    static char bytes[16 << 20];
    FILE *f = fopen(path, "rb");
    size_t n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    ck_assert(n && n < sizeof bytes);
    g_seed += (uint64_t)_i;
    int opened = 0;
    for (int pass = 0; pass < 60; pass++) {
        struct hs_view *v;
        struct hs_err err = HS_ERR_INIT;
        size_t flips = 1 + next_random() % 6, cut = pass % 10 ? n : next_random() % n, at[8];
        uint8_t bit[8];
        for (size_t i = 0; i < flips; i++) {
            at[i] = next_random() % (pass % 2 ? n : 40000);
            bit[i] = (uint8_t)(1u << next_random() % 8);
            bytes[at[i]] ^= (char)bit[i];
        }
        f = fopen(copy, "wb");
        ck_assert_uint_eq(fwrite(bytes, 1, cut, f), cut);
        fclose(f);
        for (size_t i = 0; i < flips; i++)
            bytes[at[i]] ^= (char)bit[i];
        if (hs_view_open(copy, &v, &err) == HS_OK) {
            opened++;
            ask_all(v);
            hs_view_close(v);
        } else {
            ck_assert(err.text[0]);
        }
    }
    ck_assert_int_gt(opened, 0);
    hs_test_rmdir(dir);
    free(copy);
    free(path);
    free(dir);
}
END_TEST

/* Every column in turn is replaced by another one, and cut: the indices in it then point anywhere. */
START_TEST(swapped_columns_do_no_harm)
{
    char *dir, *path = made_file(&dir), sql[256];
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    for (int k = 0; k < 80; k++) {
        struct hs_view *v;
        struct hs_err err = HS_ERR_INIT;
        ck_assert(!sqlite3_exec(db, "SAVEPOINT s", NULL, NULL, NULL));
        snprintf(sql, sizeof sql,
                 "UPDATE segments SET data = (SELECT data FROM segments ORDER BY key LIMIT 1 OFFSET %d) "
                 "WHERE key = (SELECT key FROM segments ORDER BY key LIMIT 1 OFFSET %d)",
                 (int)(next_random() % 90), k + (int)(next_random() % 20));
        ck_assert(!sqlite3_exec(db, sql, NULL, NULL, NULL) && !sqlite3_exec(db, "RELEASE s", NULL, NULL, NULL));
        if (hs_view_open(path, &v, &err) == HS_OK) {
            ask_all(v);
            hs_view_close(v);
        }
        if (k % 20 == 19) {
            free(path);
            sqlite3_close(db);
            hs_test_rmdir(dir);
            free(dir);
            path = made_file(&dir);
            ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
        }
    }
    sqlite3_close(db);
    hs_test_rmdir(dir);
    free(path);
    free(dir);
}
END_TEST

START_TEST(a_ring_of_parents_is_refused)
{
    struct made_trace m;
    struct hs_view *v;
    struct hs_events e;
    struct hs_err err = HS_ERR_INIT;
    made_make(&m);
    m.l.parent[100] = 200; /* 100 -> 200 -> 205 -> 100 */
    m.l.parent[200] = 205;
    m.l.parent[205] = 100;
    struct hs_writer *w = made_write(&m, NULL);
    ck_assert(!hs_writer_view(w, &v, &err));
    hs_writer_free(w);
    ck_assert_int_eq(hs_view_events(v, HS_EV_PARENT, &e, &err), HS_EINPUT);
    hs_view_close(v);
    m.l.parent[205] = HS_NO_EVENT; /* no ring, although the depths do not tell so */
    w = made_write(&m, NULL);
    ck_assert(!hs_writer_view(w, &v, &err));
    hs_writer_free(w);
    ck_assert_int_eq(hs_view_events(v, HS_EV_PARENT, &e, &err), HS_OK);
    hs_view_close(v);
    made_free(&m);
}
END_TEST

HS_SUITE(store_damage)
{
    HS_TEST(newer_and_foreign_files_are_refused);
    HS_LOOP_TEST(damaged_files_do_no_harm, 0, 3);
    HS_TEST(swapped_columns_do_no_harm);
    HS_TEST(a_ring_of_parents_is_refused);
}
