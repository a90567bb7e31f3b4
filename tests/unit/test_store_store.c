/* The data directory: commit, catalogue, deletion, shared views, runs. Recovery: test_store_recover.c. */
#include "store/run.h"
#include "store/store.h"
#include "store/views.h"
#include "tests/unit/store_dir.h"
#include "tests/unit/test.h"

#include <dirent.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

START_TEST(committed_traces_are_found)
{
    char *dir = hs_test_tmpdir(), hash[33], again[33];
    struct hs_err err = HS_ERR_INIT;
    bool existed = true;
    struct hs_trace_row *rows, one;
    struct hs_run_row *runs;
    size_t n;
    int64_t rank;
    struct hs_store *s = dir_open(dir);
    ck_assert_int_eq(dir_commit(s, ID_A, "run 1", "a.json", 3, true, &existed), HS_OK);
    ck_assert(!existed);
    ck_assert(!hs_store_run_hash(s, "run 1", hash, &err));
    ck_assert_int_eq(dir_commit(s, ID_B, "run 1", "b.json", 0, false, &existed), HS_OK);
    ck_assert(!hs_store_run_hash(s, "run 1", again, &err) && strlen(again) == 32 && strcmp(hash, again));
    ck_assert_str_eq(dir_listing(dir), ID_A ".db " ID_A ".orig " ID_B ".db ");
    ck_assert(!hs_store_traces(s, "run 1", &rows, &n, &err) && n == 2);
    ck_assert(rows[0].rank == 0 && rows[1].rank == 3 && !strcmp(rows[1].id, ID_A) && rows[1].has_original &&
              !rows[0].has_original);
    ck_assert(rows[0].bytes_stored > 0 && rows[0].created_ns > 0 && !strcmp(rows[0].quality_json, "{\"bom\": 1}"));
    hs_trace_rows_free(rows, n);
    ck_assert(!hs_store_runs(s, &runs, &n, &err) && n == 1 && runs[0].traces == 2 && runs[0].ranks == 2 &&
              runs[0].bytes_in == 200);
    hs_run_rows_free(runs, n);
    ck_assert(!hs_store_next_rank(s, "run 1", &rank, &err) && rank == 1);
    ck_assert(!hs_store_next_rank(s, "other", &rank, &err) && rank == 0);
    ck_assert(!hs_store_find(s, "aaaaaaa", &one, &err) && !strcmp(one.name, "a.json"));
    hs_trace_rows_free(memcpy(hs_malloc(sizeof one), &one, sizeof one), 1);
    ck_assert_int_eq(hs_store_find(s, "aaaaaa", &one, &err), HS_EUSAGE); /* both begin so */
    ck_assert_int_eq(hs_store_find(s, "aaaaa", &one, &err), HS_ENOTFOUND);
    ck_assert_int_eq(hs_store_find(s, "dddddd", &one, &err), HS_ENOTFOUND);
    ck_assert_int_eq(hs_store_find(s, "aaaaaa%", &one, &err), HS_ENOTFOUND);
    char *orig = hs_store_original_path(s, ID_A);
    ck_assert(orig && !hs_store_original_path(s, ID_B) && !hs_store_original_path(s, ID_C));
    free(orig);
    ck_assert_int_eq(hs_store_traces(s, "nothing", &rows, &n, &err), HS_ENOTFOUND);
    hs_store_close(s);
    hs_test_rmdir(dir);
    free(dir);
}
END_TEST

START_TEST(the_same_trace_is_stored_once)
{
    char *dir = hs_test_tmpdir();
    struct hs_err err = HS_ERR_INIT;
    bool existed;
    struct hs_trace_row *rows;
    size_t n;
    struct hs_store *s = dir_open(dir);
    ck_assert(!dir_commit(s, ID_A, "one", "a.json", 0, false, &existed) && !existed);
    ck_assert(!dir_commit(s, ID_A, "one", "a.json", 5, false, &existed) && existed);
    ck_assert(!dir_commit(s, ID_A, "two", "renamed.json", 1, true, &existed) && !existed);
    ck_assert(!dir_commit(s, ID_B, "two", "same rank.json", 1, false, &existed) && !existed);
    ck_assert_str_eq(dir_listing(dir), ID_A ".db " ID_A ".orig " ID_B ".db ");
    ck_assert(!hs_store_traces(s, NULL, &rows, &n, &err) && n == 3);
    ck_assert(!strcmp(rows[0].run, "one") && rows[0].rank == 0 && rows[1].rank == 1 && rows[2].rank == 1);
    ck_assert(!strcmp(rows[1].name, "renamed.json") && !strcmp(rows[2].name, "same rank.json"));
    hs_trace_rows_free(rows, n);
    ck_assert_int_eq(hs_store_delete_trace(s, "two", ID_C, &err), HS_ENOTFOUND);
    ck_assert_int_eq(hs_store_delete_run(s, "three", &err), HS_ENOTFOUND);
    ck_assert(!hs_store_delete_run(s, "two", &err));
    ck_assert_str_eq(dir_listing(dir), ID_A ".db " ID_A ".orig "); /* run "one" still names it */
    ck_assert(!hs_store_delete_trace(s, "one", ID_A, &err));
    ck_assert_str_eq(dir_listing(dir), "");
    ck_assert(!hs_store_traces(s, NULL, &rows, &n, &err) && n == 0);
    hs_trace_rows_free(rows, n);
    hs_store_close(s);
    hs_test_rmdir(dir);
    free(dir);
}
END_TEST

START_TEST(names_of_runs_are_data)
{
    static const char *const good[] = {
        "a", "run 1; DROP TABLE runs", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "..a", "%20", "'\"<b>"};
    static const char *const bad[] = {"",     ".",        "..",   "a/b",      "a\nb",
                                      "\x7f", "\xc2\x85", "\xff", "\xc0\xaf", "\xed\xa0\x80"};
    char *dir = hs_test_tmpdir(), *lng = hs_malloc(202);
    bool existed;
    struct hs_run_row *runs;
    size_t n;
    struct hs_err err = HS_ERR_INIT;
    struct hs_store *s = dir_open(dir);
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        ck_assert_int_eq(dir_commit(s, ID_A, good[i], "n", 0, false, &existed), HS_OK);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ck_assert_int_eq(dir_commit(s, ID_A, bad[i], "n", 0, false, &existed), HS_EUSAGE);
    memset(lng, 'x', 201);
    lng[201] = 0;
    ck_assert_int_eq(dir_commit(s, ID_A, lng, "n", 0, false, &existed), HS_EUSAGE);
    lng[200] = 0;
    ck_assert_int_eq(dir_commit(s, ID_A, lng, "n", 0, false, &existed), HS_OK);
    ck_assert(!hs_store_runs(s, &runs, &n, &err) && n == 7);
    hs_run_rows_free(runs, n);
    hs_store_close(s);
    hs_test_rmdir(dir);
    free(lng);
    free(dir);
}
END_TEST

START_TEST(a_second_opener_spares_unfinished_files)
{
    char *dir = hs_test_tmpdir();
    struct hs_store *a = dir_open(dir), *b;
    char *temp = hs_store_temp_path(a, ".db");
    dir_write_text(temp, "half");
    b = dir_open(dir); /* another opener: no recovery while `a` lives */
    ck_assert(!access(temp, F_OK));
    hs_store_close(a);
    hs_store_close(b);
    a = dir_open(dir);
    ck_assert(access(temp, F_OK));
    hs_store_close(a);
    hs_test_rmdir(dir);
    free(temp);
    free(dir);
}
END_TEST

START_TEST(two_openers_see_each_other)
{
    char *dir = hs_test_tmpdir();
    bool existed;
    struct hs_err err = HS_ERR_INIT;
    struct hs_view *v;
    struct hs_store *a = dir_open(dir), *b = dir_open(dir), *ro = NULL;
    struct hs_store_options o = {.dir = dir, .read_only = true};
    ck_assert(!dir_commit(a, ID_A, "r", "a", 0, false, &existed));
    ck_assert(!hs_store_pin_trace(b, ID_A, &v, &err));
    ck_assert_msg(!hs_store_open(&ro, &o, &err), "%s", err.text);
    ck_assert_int_eq(dir_commit(ro, ID_B, "r", "b", 0, false, &existed), HS_EINTERNAL);
    ck_assert(!hs_store_delete_run(a, "r", &err));
    ck_assert_int_eq(v->sum.events, 1); /* still readable for who has it */
    hs_store_unpin_trace(b, v);
    hs_store_close(a);
    hs_store_close(b);
    hs_store_close(ro);
    hs_test_rmdir(dir);
    o.dir = dir;
    ck_assert_int_eq(hs_store_open(&ro, &o, &err), HS_ENOTFOUND);
    ck_assert(access(dir, F_OK)); /* nothing was created */
    free(dir);
}
END_TEST

START_TEST(a_newer_catalogue_is_refused)
{
    char *dir = hs_test_tmpdir(), *path = hs_asprintf("%s/catalogue.db", dir);
    struct hs_store *s = dir_open(dir);
    struct hs_store_options o = {.dir = dir};
    struct hs_err err = HS_ERR_INIT;
    sqlite3 *db;
    hs_store_close(s);
    ck_assert(!sqlite3_open(path, &db) && !sqlite3_exec(db, "PRAGMA user_version = 99", NULL, NULL, NULL));
    sqlite3_close(db);
    ck_assert_int_eq(hs_store_open(&s, &o, &err), HS_EINPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "newer Holoscope (schema 99"));
    hs_test_rmdir(dir);
    free(path);
    free(dir);
}
END_TEST

START_TEST(originals_go_first_when_there_is_no_room)
{
    char *dir = hs_test_tmpdir();
    bool existed;
    struct hs_store *s = dir_open(dir);
    ck_assert(!dir_commit(s, ID_A, "r", "a", 0, true, &existed) && !dir_commit(s, ID_B, "r", "b", 1, true, &existed));
    ck_assert_int_eq(hs_store_reclaim(s, 1), (int64_t)strlen("original bytes"));
    ck_assert_str_eq(dir_listing(dir), ID_A ".db " ID_B ".db " ID_B ".orig "); /* the oldest went */
    ck_assert_ptr_null(hs_store_original_path(s, ID_A));
    ck_assert_int_gt(hs_store_reclaim(s, 1 << 20), 0);
    ck_assert_int_eq(hs_store_reclaim(s, 1 << 20), 0);
    hs_store_close(s);
    hs_test_rmdir(dir);
    free(dir);
}
END_TEST

/* ---- a disk that is full: a VFS under the store's own that refuses to write now and then ---- */

static int (*g_write)(sqlite3_file *, const void *, int, sqlite3_int64);
static int g_refusals;       /* writes to refuse from now on; -1: all */
static char g_original[512]; /* as long as this file is there, all are refused */

static int faulty_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at)
{
    if (g_refusals || (g_original[0] && !access(g_original, F_OK))) {
        g_refusals -= g_refusals > 0;
        return SQLITE_FULL;
    }
    return g_write(f, p, n, at);
}

static int (*g_open)(sqlite3_vfs *, const char *, sqlite3_file *, int, int *);
static sqlite3_io_methods g_methods;

static int faulty_open(sqlite3_vfs *v, const char *name, sqlite3_file *f, int flags, int *out)
{
    int rc = g_open(v, name, f, flags, out);
    if (rc == SQLITE_OK && name && strstr(name, ".tmp")) {
        g_methods = *f->pMethods;
        g_write = g_methods.xWrite;
        g_methods.xWrite = faulty_write;
        f->pMethods = &g_methods;
    }
    return rc;
}

START_TEST(a_full_disk_costs_originals_not_traces)
{
    char *dir = hs_test_tmpdir();
    struct hs_err err = HS_ERR_INIT;
    bool existed;
    sqlite3_vfs *v = sqlite3_vfs_find(NULL);
    struct hs_store *s = dir_open(dir);
    g_open = v->xOpen;
    v->xOpen = faulty_open;
    ck_assert(!dir_commit(s, ID_A, "r", "a", 0, true, &existed));
    char *orig = hs_store_original_path(s, ID_A);
    snprintf(g_original, sizeof g_original, "%s", orig);
    ck_assert_int_eq(dir_commit(s, ID_B, "r", "b", 1, false, &existed), HS_OK); /* after ID_A's original went */
    ck_assert(access(orig, F_OK));
    ck_assert_str_eq(dir_listing(dir), ID_A ".db " ID_B ".db ");
    /* Nothing is left to give up: the sentence, and nothing half. */
    struct hs_writer *w = NULL;
    char *temp = hs_store_temp_path(s, ".db");
    g_refusals = -1;
    int rc = hs_writer_new(&w, temp, &err);
    ck_assert_msg(rc == HS_ENOSPACE && strstr(err.text, "no space left"), "%d %s", rc, err.text);
    g_refusals = 0;
    ck_assert_str_eq(dir_listing(dir), ID_A ".db " ID_B ".db ");
    v->xOpen = g_open;
    hs_store_close(s);
    hs_test_rmdir(dir);
    free(temp);
    free(orig);
    free(dir);
}
END_TEST

/* ---- runs ---- */

START_TEST(clocks_of_a_run_are_brought_together)
{
    char *dir = hs_test_tmpdir();
    struct hs_err err = HS_ERR_INIT;
    struct hs_view *v[3];
    struct hs_run *run;
    static const int64_t base[3] = {1700000000000000000, 1700000000000500000, 0},
                         ts[3] = {7000, 1000, 1700000000000000000};
    for (int i = 0; i < 3; i++) {
        char *p = hs_asprintf("%s/%d.db", dir, i);
        dir_write_trace(p, i == 0 ? ID_A : i == 1 ? ID_B : ID_C, base[i], ts[i]);
        ck_assert(!hs_view_open(p, &v[i], &err));
        v[i]->rank = 2 - i;
        free(p);
    }
    ck_assert(!hs_run_build("r", v, 2, &run, &err)); /* both have a base; the first event of all is that of view 0 */
    ck_assert(run->n == 2 && run->ranks[0].rank == 1 && run->ranks[0].view == v[1] && run->ranks[1].view == v[0]);
    ck_assert_int_eq(run->origin_ns, 1700000000000007000);
    ck_assert_int_eq(run->ranks[1].offset_ns + 7000, 0);
    ck_assert_int_eq(run->ranks[0].offset_ns + 1000, 500000 + 1000 - 7000);
    hs_run_free(run);
    ck_assert(!hs_run_build("r", v + 2, 1, &run, &err)); /* no base, times are unix time */
    ck_assert_int_eq(run->origin_ns, 1700000000000000000);
    ck_assert_int_eq(run->ranks[0].offset_ns, -1700000000000000000);
    hs_run_free(run);
    ck_assert(!hs_run_build("r", v, 3, &run, &err)); /* mixed: as they stand */
    ck_assert_int_eq(run->origin_ns, 0);
    ck_assert_int_eq(run->ranks[2].offset_ns, -1000);
    hs_run_free(run);
    ck_assert(!hs_run_build("none", NULL, 0, &run, &err) && run->n == 0);
    hs_run_free(run);
    for (int i = 0; i < 3; i++)
        hs_view_close(v[i]);
    hs_test_rmdir(dir);
    free(dir);
}
END_TEST

START_TEST(a_pinned_run_has_the_ranks_of_the_catalogue)
{
    char *dir = hs_test_tmpdir();
    struct hs_err err = HS_ERR_INIT;
    bool existed;
    struct hs_run *run, *other;
    struct hs_store *s = dir_open(dir);
    ck_assert(!dir_commit(s, ID_A, "r", "a", 9, false, &existed) && !dir_commit(s, ID_B, "r", "b", 4, false, &existed));
    ck_assert(!dir_commit(s, ID_A, "q", "a", 1, false, &existed));
    ck_assert(!hs_store_pin_run(s, "r", &run, &err) && !hs_store_pin_run(s, "q", &other, &err));
    ck_assert(run->n == 2 && run->ranks[0].rank == 4 && run->ranks[1].rank == 9);
    ck_assert(other->ranks[0].rank == 1 && other->ranks[0].view == run->ranks[1].view); /* open once */
    hs_store_unpin_run(s, run);
    hs_store_unpin_run(s, other);
    ck_assert_int_eq(hs_store_pin_run(s, "none", &run, &err), HS_ENOTFOUND);
    char *p = hs_asprintf("%s/traces/%s.db", dir, ID_B);
    dir_write_text(p, "damaged");
    hs_store_close(s);
    s = dir_open(dir);
    ck_assert_int_eq(hs_store_pin_run(s, "r", &run, &err), HS_EINPUT);
    ck_assert_ptr_nonnull(strstr(err.text, ID_B));
    ck_assert(!hs_store_pin_run(s, "q", &run, &err)); /* harms no other */
    hs_store_unpin_run(s, run);
    hs_store_close(s);
    hs_test_rmdir(dir);
    free(p);
    free(dir);
}
END_TEST

/* ---- views ---- */

START_TEST(the_longest_unused_view_goes_first)
{
    char *dir = hs_test_tmpdir(), *path[3];
    const char *id[3] = {ID_A, ID_B, ID_C};
    struct hs_err err = HS_ERR_INIT;
    struct hs_view *v[3];
    struct hs_views *s = hs_views_new(SIZE_MAX, 2);
    for (int i = 0; i < 3; i++) {
        path[i] = hs_asprintf("%s/%d.db", dir, i);
        dir_write_trace(path[i], id[i], 0, i);
        ck_assert(!hs_views_pin(s, id[i], path[i], &v[i], &err));
    }
    ck_assert_uint_eq(hs_views_stats(s).pinned, 3);
    for (int i = 0; i < 3; i++) {
        unlink(path[i]); /* from here on, only what is still open can be pinned */
        hs_views_unpin(s, v[i]);
    }
    ck_assert_uint_eq(hs_views_stats(s).open, 2);
    ck_assert_int_eq(hs_views_pin(s, ID_A, path[0], &v[0], &err), HS_ENOTFOUND);
    ck_assert(!hs_views_pin(s, ID_B, path[1], &v[0], &err) && v[0] == v[1]);
    hs_views_forget(s, ID_B); /* pinned: it stays for who has it */
    ck_assert_int_eq(v[1]->sum.events, 1);
    ck_assert_int_eq(hs_views_pin(s, ID_B, path[1], &v[2], &err), HS_ENOTFOUND);
    hs_views_unpin(s, v[1]);
    ck_assert_uint_eq(hs_views_stats(s).open, 1);
    hs_views_forget(s, ID_C);
    ck_assert_uint_eq(hs_views_stats(s).open, 0);
    hs_views_free(s);
    for (int i = 0; i < 3; i++)
        free(path[i]);
    hs_test_rmdir(dir);
    free(dir);
}
END_TEST

START_TEST(decoded_bytes_count_against_the_budget)
{
    char *dir = hs_test_tmpdir(), *path = hs_asprintf("%s/0.db", dir);
    struct hs_err err = HS_ERR_INIT;
    struct hs_view *v;
    struct hs_events e;
    struct hs_views *s = hs_views_new(1, 10);
    dir_write_trace(path, ID_A, 0, 1);
    ck_assert(!hs_views_pin(s, ID_A, path, &v, &err) && !hs_view_events(v, HS_EV_TS, &e, &err));
    hs_views_unpin(s, v);
    ck_assert_uint_eq(hs_views_stats(s).open, 0);
    hs_views_free(s);
    hs_test_rmdir(dir);
    free(path);
    free(dir);
}
END_TEST

struct pinner {
    struct hs_views *s;
    char *path[3];
};

static void *pin_many(void *arg)
{
    static const char *const id[3] = {ID_A, ID_B, ID_C};
    struct pinner *p = arg;
    struct hs_err err = HS_ERR_INIT;
    for (int i = 0; i < 200; i++) {
        struct hs_view *v;
        struct hs_events e;
        if (hs_views_pin(p->s, id[i % 3], p->path[i % 3], &v, &err) ||
            hs_view_events(v, HS_EV_TS | HS_EV_PARENT, &e, &err) || e.n != 1)
            return p;
        hs_views_unpin(p->s, v);
        if (i % 50 == 7)
            hs_views_forget(p->s, id[i % 3]);
    }
    return NULL;
}

START_TEST(many_threads_share_views)
{
    char *dir = hs_test_tmpdir();
    struct pinner p = {hs_views_new(1, 1), {NULL, NULL, NULL}};
    pthread_t t[4];
    for (int i = 0; i < 3; i++) {
        p.path[i] = hs_asprintf("%s/%d.db", dir, i);
        dir_write_trace(p.path[i], ID_A, 0, i);
    }
    for (int i = 0; i < 4; i++)
        ck_assert(!pthread_create(&t[i], NULL, pin_many, &p));
    for (int i = 0; i < 4; i++) {
        void *failed;
        pthread_join(t[i], &failed);
        ck_assert_ptr_null(failed);
    }
    hs_views_free(p.s);
    for (int i = 0; i < 3; i++)
        free(p.path[i]);
    hs_test_rmdir(dir);
    free(dir);
}
END_TEST

HS_SUITE(store_store)
{
    HS_TEST(committed_traces_are_found);
    HS_TEST(the_same_trace_is_stored_once);
    HS_TEST(names_of_runs_are_data);
    HS_TEST(a_second_opener_spares_unfinished_files);
    HS_TEST(two_openers_see_each_other);
    HS_TEST(a_newer_catalogue_is_refused);
    HS_TEST(originals_go_first_when_there_is_no_room);
    HS_TEST(a_full_disk_costs_originals_not_traces);
    HS_TEST(clocks_of_a_run_are_brought_together);
    HS_TEST(a_pinned_run_has_the_ranks_of_the_catalogue);
    HS_TEST(the_longest_unused_view_goes_first);
    HS_TEST(decoded_bytes_count_against_the_budget);
    HS_TEST(many_threads_share_views);
}
