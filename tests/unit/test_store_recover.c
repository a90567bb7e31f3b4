/* Opening a data directory after something went wrong: crashes at every step, a catalogue that is lost, deletions that
 * somebody reads into. */
#include "store/run.h"
#include "store/store.h"
#include "tests/unit/store_dir.h"
#include "tests/unit/test.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

START_TEST(leftovers_are_removed_at_the_next_start)
{
    char *dir = hs_test_tmpdir(), living[64];
    bool existed;
    struct hs_err err = HS_ERR_INIT;
    struct hs_trace_row *rows;
    size_t n;
    struct hs_store *s = dir_open(dir);
    ck_assert(!dir_commit(s, ID_A, "r", "a", 0, true, &existed) && !dir_commit(s, ID_B, "r", "b", 1, true, &existed));
    hs_store_close(s);
    snprintf(living, sizeof living, "%ld-0-12.tmp", (long)getppid()); /* of a process that lives */
    dir_touch(dir, living);
    dir_touch(dir, "999999999-0-00000000deadbeef.db.tmp"); /* of one that does not */
    dir_touch(dir, "999999999-1-00000000deadbeef.orig.tmp");
    dir_touch(dir, "999999999-2-00000000deadbeef-deleted-" ID_C ".db.tmp"); /* deleted, and forgotten */
    dir_touch(dir, "notes.txt");                                            /* not ours */
    dir_forget(dir, ID_B ".db");                                            /* somebody removed it by hand */
    dir_forget(dir, ID_A ".orig");
    s = dir_open(dir);
    /* The original of B is the only copy of it now. */
    char *want = hs_asprintf("%s %s ", living, ID_A ".db " ID_B ".orig notes.txt"), *got = dir_listing(dir);
    ck_assert_msg(!strcmp(got, want), "%s, not %s", got, want);
    free(want);
    ck_assert(!hs_store_traces(s, "r", &rows, &n, &err) && n == 1 && !strcmp(rows[0].id, ID_A) &&
              !rows[0].has_original);
    hs_trace_rows_free(rows, n);
    ck_assert(!dir_commit(s, ID_B, "r", "b", 1, false, &existed) && !existed); /* it can come again */
    hs_store_close(s);
    hs_test_rmdir(dir);
    free(dir);
}
END_TEST

/* ---- a catalogue that knows less than the disk does ---- */

static void lose_catalogue(const char *dir, bool empty)
{
    static const char *const exts[] = {"", "-wal", "-shm"};
    for (int i = 0; i < 3; i++) {
        char *p = hs_asprintf("%s/catalogue.db%s", dir, exts[i]);
        unlink(p);
        if (!i && empty)
            dir_write_text(p, "");
        free(p);
    }
}

static void sql_on_catalogue(const char *dir, const char *sql)
{
    char *p = hs_asprintf("%s/catalogue.db", dir);
    sqlite3 *db;
    ck_assert(!sqlite3_open(p, &db));
    ck_assert_msg(!sqlite3_exec(db, sql, NULL, NULL, NULL), "%s", sqlite3_errmsg(db));
    sqlite3_close(db);
    free(p);
}

START_TEST(a_lost_catalogue_costs_no_trace)
{
    for (int empty = 0; empty < 2; empty++) {
        char *dir = hs_test_tmpdir(), *old = hs_asprintf("%s/traces/%s.db", dir, ID_C);
        bool existed;
        struct hs_err err = HS_ERR_INIT;
        struct hs_trace_row *rows;
        struct hs_view *v;
        size_t n;
        struct hs_store *s = dir_open(dir);
        ck_assert(!dir_commit(s, ID_A, "run 1", "x.json", 7, true, &existed));
        ck_assert(!dir_commit(s, ID_B, "run 2", "x.json", 7, false, &existed));
        hs_store_close(s);
        dir_write_trace(old, ID_C, 0, 5); /* one that tells no run */
        lose_catalogue(dir, empty);
        s = dir_open(dir);
        ck_assert_str_eq(dir_listing(dir), ID_A ".db " ID_A ".orig " ID_B ".db " ID_C ".db ");
        ck_assert_msg(!hs_store_traces(s, NULL, &rows, &n, &err), "%s", err.text);
        ck_assert_uint_eq(n, 3);
        ck_assert_str_eq(rows[0].run, "recovered");
        ck_assert(!strcmp(rows[0].id, ID_C) && !rows[0].has_original);
        ck_assert_str_eq(rows[1].run, "run 1");
        ck_assert_str_eq(rows[1].id, ID_A);
        ck_assert_str_eq(rows[1].name, "x.json");
        ck_assert_str_eq(rows[1].quality_json, "{\"bom\":1}");
        ck_assert(rows[1].rank == 7 && rows[1].events == 1 && rows[1].bytes_in == 100 && rows[1].bytes_json == 1000);
        ck_assert(rows[1].bytes_stored > 0 && rows[1].created_ns > 0 && rows[1].has_original);
        ck_assert(!strcmp(rows[2].run, "run 2") && !strcmp(rows[2].id, ID_B) && !rows[2].has_original);
        hs_trace_rows_free(rows, n);
        ck_assert(!hs_store_pin_trace(s, ID_A, &v, &err));
        hs_store_unpin_trace(s, v);
        ck_assert(!dir_commit(s, ID_A, "run 1", "x.json", 7, true, &existed) && existed);
        hs_store_close(s);
        hs_test_rmdir(dir);
        free(old);
        free(dir);
    }
}
END_TEST

/* The moments between the steps of a commit: the file has its name, the original has its name, the catalogue knows. */
START_TEST(a_commit_that_died_before_the_catalogue_is_whole)
{
    char *dir = hs_test_tmpdir();
    bool existed;
    struct hs_err err = HS_ERR_INIT;
    struct hs_trace_row *rows;
    size_t n;
    struct hs_store *s = dir_open(dir);
    ck_assert(!dir_commit(s, ID_A, "r", "a", 0, true, &existed) && !dir_commit(s, ID_B, "r", "b", 1, true, &existed));
    hs_store_close(s);
    sql_on_catalogue(dir, "DELETE FROM traces WHERE file = '" ID_A "'; DELETE FROM files WHERE id = '" ID_A "';"
                          "UPDATE files SET bytes_original = NULL WHERE id = '" ID_B "'");
    s = dir_open(dir);
    ck_assert(!hs_store_traces(s, "r", &rows, &n, &err) && n == 2);
    ck_assert(rows[0].has_original && rows[1].has_original && !strcmp(rows[1].id, ID_A));
    hs_trace_rows_free(rows, n);
    hs_store_close(s);
    hs_test_rmdir(dir);
    free(dir);
}
END_TEST

/* Unnamed and unreadable is no proof of unfinished: a newer program's file looks so, too. */
START_TEST(unnamed_files_that_cannot_be_read_stay)
{
    char *dir = hs_test_tmpdir(), *c = hs_asprintf("%s/traces/%s.db", dir, ID_C),
         *b = hs_asprintf("%s/traces/%s.db", dir, ID_B);
    bool existed;
    struct hs_err err = HS_ERR_INIT;
    struct hs_trace_row *rows;
    size_t n;
    hs_store_close(dir_open(dir));
    dir_touch(dir, ID_A ".db"); /* no database */
    dir_touch(dir, ID_A ".orig");
    dir_write_trace(b, ID_A, 0, 1); /* of another trace */
    dir_write_trace(c, ID_C, 0, 1); /* of a newer program */
    sqlite3 *db;
    ck_assert(!sqlite3_open(c, &db) && !sqlite3_exec(db, "PRAGMA user_version = 99", NULL, NULL, NULL));
    sqlite3_close(db);
    struct hs_store *s = dir_open(dir);
    ck_assert_str_eq(dir_listing(dir), ID_A ".db " ID_A ".orig " ID_B ".db " ID_C ".db ");
    ck_assert(!hs_store_traces(s, NULL, &rows, &n, &err) && n == 0);
    hs_trace_rows_free(rows, n);
    ck_assert(!dir_commit(s, ID_A, "r", "a", 0, false, &existed) && !existed); /* and are in nobody's way */
    ck_assert(!hs_store_traces(s, "r", &rows, &n, &err) && n == 1);
    hs_trace_rows_free(rows, n);
    hs_store_close(s);
    hs_test_rmdir(dir);
    free(b);
    free(c);
    free(dir);
}
END_TEST

START_TEST(an_interrupted_deletion_leaves_the_trace)
{
    char *dir = hs_test_tmpdir();
    bool existed;
    struct hs_err err = HS_ERR_INIT;
    struct hs_view *v;
    struct hs_store *s = dir_open(dir);
    ck_assert(!dir_commit(s, ID_A, "r", "a", 0, true, &existed));
    hs_store_close(s);
    static const char *const exts[] = {".db", ".orig"};
    for (int i = 0; i < 2; i++) {
        char *from = hs_asprintf("%s/traces/%s%s", dir, ID_A, exts[i]),
             *to = hs_asprintf("%s/traces/999999999-%d-00deadbeef-deleted-%s%s.tmp", dir, i, ID_A, exts[i]);
        ck_assert(!rename(from, to));
        free(from);
        free(to);
    }
    s = dir_open(dir);
    ck_assert_str_eq(dir_listing(dir), ID_A ".db " ID_A ".orig ");
    ck_assert_msg(!hs_store_pin_trace(s, ID_A, &v, &err), "%s", err.text);
    hs_store_unpin_trace(s, v);
    hs_store_close(s);
    hs_test_rmdir(dir);
    free(dir);
}
END_TEST

/* ---- reading while another deletes: the file goes between the look into the catalogue and the opening ---- */

static struct hs_store *g_deletes;
static const char *g_deletes_run, *g_deletes_id;
static int (*g_plain_open)(sqlite3_vfs *, const char *, sqlite3_file *, int, int *);

static int open_after_deletion(sqlite3_vfs *v, const char *name, sqlite3_file *f, int flags, int *out)
{
    const char *id = g_deletes_id;
    if (id && name && strstr(name, id)) {
        struct hs_err err = HS_ERR_INIT;
        g_deletes_id = NULL;
        ck_assert_msg(!hs_store_delete_trace(g_deletes, g_deletes_run, id, &err), "%s", err.text);
    }
    return g_plain_open(v, name, f, flags, out);
}

START_TEST(a_trace_deleted_under_a_reader_is_not_found)
{
    char *dir = hs_test_tmpdir();
    bool existed;
    struct hs_err err = HS_ERR_INIT;
    struct hs_view *view;
    struct hs_run *run;
    sqlite3_vfs *v = sqlite3_vfs_find(NULL);
    struct hs_store *s = dir_open(dir);
    ck_assert(!dir_commit(s, ID_A, "r", "a", 0, false, &existed) && !dir_commit(s, ID_B, "r", "b", 1, false, &existed));
    g_plain_open = v->xOpen;
    v->xOpen = open_after_deletion;
    g_deletes = s;
    g_deletes_run = "r";
    g_deletes_id = ID_A;
    int rc = hs_store_pin_run(s, "r", &run, &err); /* the run is what is left of it */
    ck_assert_msg(!rc, "%s", err.text);
    ck_assert(run->n == 1 && run->ranks[0].rank == 1);
    hs_store_unpin_run(s, run);
    ck_assert(!dir_commit(s, ID_C, "r", "c", 0, false, &existed));
    g_deletes_id = ID_C;
    rc = hs_store_pin_trace(s, ID_C, &view, &err);
    ck_assert_msg(rc == HS_ENOTFOUND, "%d %s", rc, err.text);
    v->xOpen = g_plain_open;
    hs_store_close(s);
    hs_test_rmdir(dir);
    free(dir);
}
END_TEST

HS_SUITE(store_recover)
{
    HS_TEST(leftovers_are_removed_at_the_next_start);
    HS_TEST(a_lost_catalogue_costs_no_trace);
    HS_TEST(a_commit_that_died_before_the_catalogue_is_whole);
    HS_TEST(unnamed_files_that_cannot_be_read_stay);
    HS_TEST(an_interrupted_deletion_leaves_the_trace);
    HS_TEST(a_trace_deleted_under_a_reader_is_not_found);
}
