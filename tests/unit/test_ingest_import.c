/* import: bytes in, finished traces out, and nothing at all where it fails. */
#include "tests/unit/ingest_bytes.h"
#include "tests/unit/test.h"

#include "ingest/import.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>

#define BIG ((size_t)512 << 20)

/* One event; its BLAKE2b-128 by Python's hashlib.blake2b(text, digest_size=16). */
#define ONE \
    "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2}]}"
#define ONE_ID "763ce96b20fb6cb6acb1e95e071ca288"

struct got {
    int rc;
    struct hs_err err;
    struct hs_imported *v;
    size_t n;
};

static struct got import_as(struct hs_str bytes, const char *name, struct hs_import_options o)
{
    struct got g = {.err = HS_ERR_INIT};
    struct test_input in;
    test_input_init(&in, bytes, 0, name);
    g.rc = hs_import(&in.in, &o, &g.v, &g.n, &g.err);
    ck_assert(!g.rc || g.err.text[0]);
    return g;
}

static struct got import_auto(struct hs_str bytes, const char *name, struct hs_store *store, const char *run)
{
    return import_as(
        bytes, name,
        (struct hs_import_options){.rank = HS_RANK_AUTO, .store = store, .run = run, .keep_original = true});
}

static void done(struct got *g)
{
    if (!g->rc)
        hs_imported_free(g->v, g->n);
}

static struct hs_str view(const struct hs_buf *b)
{
    return hs_str(b->p, b->n);
}

/* ---- ranks ---- */

START_TEST(ranks_from_names)
{
    static const struct {
        const char *name;
        int rank;
    } t[] = {
        {"rank0.json", 0},
        {"rank-3.json.gz", 3},
        {"trace_rank_12.json", 12},
        {"Rank7.json", 7},
        {"worker3.pt.trace.json.gz", 3},
        {"worker12.1694128201.pt.trace.json", 12},
        {"global_rank=5.json", 5},
        {"dp0_pp0_tp1_ep0_rank9.json", 9}, /* the rank is told; sizes do not matter */
        {"rank1_of_rank8.json", 8},        /* the last one */
        {"1726000000-TP-0-DP-1-.trace.json.gz", 1},
        {"1726000000-TP-3.trace.json.gz", 3},
        {"x-TP-0-DP-0-EP-0.json", 0},
        {"x-TP-1-DP-1.json", -1}, /* depends on how many there are */
        {"pp2tp0.json", 2},
        {"gpu5_trace.json", 5},
        {"host_12345.1623143089861.pt.trace.json.gz", -1}, /* a process and a time */
        {"rank1623143089861.json", -1},                    /* a time */
        {"frank3.json", -1},
        {"traceRank4.json", 4},
        {"ranks.json", -1},
        {"rank.json", -1},
        {"", -1},
        {"run/rank_2/trace.json", 2}, /* the folder */
        {"rank_2/rank_3.json", 3},    /* the file first */
        {"rank_2/a/b.json", -1},      /* not the grandparents */
        {"C:\\traces\\rank6.json", 6},
        {"http/1.json", -1}, /* "tp" inside a word */
        {"step10.json", -1},
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        ck_assert_msg(hs_rank_of_name(t[i].name) == t[i].rank, "%s: %lld", t[i].name,
                      (long long)hs_rank_of_name(t[i].name));
}
END_TEST

static char *ranked(int rank)
{
    return hs_asprintf("{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"ts\":1,\"dur\":2}],"
                       "\"distributedInfo\":{\"rank\":%d,\"world_size\":8}}",
                       rank);
}

START_TEST(rank_by_precedence)
{
    char *text = ranked(4);
    struct got g = import_as(hs_cstr(text), "rank2.json", (struct hs_import_options){.rank = 6});
    ck_assert_int_eq((int)g.v[0].row.rank, 6); /* explicit */
    ck_assert_int_eq((int)g.v[0].view->rank, 6);
    ck_assert_int_eq((int)g.v[0].view->world_size, 8);
    done(&g);
    g = import_auto(hs_cstr(text), "rank2.json", NULL, NULL);
    ck_assert_int_eq((int)g.v[0].row.rank, 4); /* distributedInfo, behind traceEvents */
    done(&g);
    g = import_auto(HS_STR(ONE), "dir/rank2.json", NULL, NULL);
    ck_assert_int_eq((int)g.v[0].row.rank, 2); /* the name */
    ck_assert_str_eq(g.v[0].row.name, "rank2.json");
    done(&g);
    g = import_as(HS_STR(ONE), "trace.json", (struct hs_import_options){.rank = HS_RANK_AUTO, .order = 3});
    ck_assert_int_eq((int)g.v[0].row.rank, 3); /* the order */
    done(&g);
    free(text);
}
END_TEST

/* ---- what comes out ---- */

START_TEST(a_trace_in_memory)
{
    struct hs_import_progress progress = {0};
    struct got g =
        import_as(HS_STR(ONE), "a.json", (struct hs_import_options){.rank = HS_RANK_AUTO, .progress = &progress});
    ck_assert_msg(g.rc == HS_OK, "%s", g.err.text);
    ck_assert_uint_eq(g.n, 1);
    ck_assert_str_eq(g.v[0].row.id, ONE_ID);
    ck_assert_str_eq(g.v[0].view->id, ONE_ID);
    ck_assert_int_eq((int)g.v[0].row.events, 1);
    ck_assert_int_eq((int)g.v[0].row.bytes_in, (int)sizeof ONE - 1);
    ck_assert_int_eq((int)g.v[0].row.bytes_json, (int)sizeof ONE - 1);
    ck_assert_int_eq((int)atomic_load(&progress.events), 1);
    ck_assert_int_eq((int)atomic_load(&progress.bytes_in), (int)sizeof ONE - 1);
    struct hs_events e;
    ck_assert_int_eq(hs_view_events(g.v[0].view, HS_EV_TS | HS_EV_DUR | HS_EV_NAME, &e, &g.err), HS_OK);
    ck_assert_int_eq((int)e.ts[0], 1000);
    ck_assert_int_eq((int)e.dur[0], 2000);
    ck_assert(hs_str_is(hs_view_str(g.v[0].view, e.name[0]), "a"));
    /* no GPU, no steps: said as quality, both in the row and in the view */
    ck_assert_str_eq(g.v[0].row.quality_json, "{\"no-gpu\":1,\"no-steps\":1}");
    ck_assert_int_eq((int)g.v[0].view->quality.count[HS_Q_NO_GPU], 1);
    done(&g);
    struct hs_buf gz = HS_BUF_INIT(BIG);
    test_gzip(&gz, HS_STR(ONE), 9, Z_DEFAULT_STRATEGY);
    g = import_auto(view(&gz), "a.json.gz", NULL, NULL);
    ck_assert_str_ne(g.v[0].row.id, ONE_ID); /* the hash of the raw bytes */
    ck_assert_int_eq((int)g.v[0].row.bytes_in, (int)gz.n);
    ck_assert_int_eq((int)g.v[0].row.bytes_json, (int)sizeof ONE - 1);
    done(&g);
    hs_buf_free(&gz);
}
END_TEST

static struct hs_buf many_events(unsigned n)
{
    struct hs_buf b = HS_BUF_INIT(BIG);
    hs_buf_puts(&b, "{\"traceEvents\":[");
    for (unsigned i = 0; i < n; i++)
        hs_buf_printf(
            &b, "%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op%u\",\"pid\":1,\"tid\":%u,\"ts\":%u.%03u,\"dur\":%u}",
            i ? ",\n" : "", i % 97, i % 3, i, i % 1000, 1 + i % 2);
    hs_buf_puts(&b, "]}");
    return b;
}

START_TEST(many_segments_keep_their_order)
{
    enum { N = 6 * HS_SEG_ROWS + 17 }; /* more segments than the pipeline has */
    struct hs_buf text = many_events(N);
    struct got g = import_auto(view(&text), "big.json", NULL, NULL);
    ck_assert_msg(g.rc == HS_OK, "%s", g.err.text);
    struct hs_events e;
    ck_assert_int_eq(hs_view_events(g.v[0].view, HS_EV_TS | HS_EV_DUR, &e, &g.err), HS_OK);
    ck_assert_uint_eq(e.n, N);
    for (unsigned i = 0; i < N; i++)
        if (e.ts[i] != (int64_t)i * 1000 + i % 1000 || e.dur[i] != (int64_t)(1 + i % 2) * 1000)
            ck_abort_msg("event %u", i);
    ck_assert_int_eq((int)g.v[0].view->sum.threads, 3);
    done(&g);
    hs_buf_free(&text);
}
END_TEST

/* ---- archives ---- */

START_TEST(an_archive_gives_a_trace_each)
{
    struct hs_buf zip = HS_BUF_INIT(BIG);
    char *four = ranked(4);
    const struct test_member m[] = {
        {"run/config.json", HS_STR("{\"batch\": 8}")}, /* looks like one by its name, is none */
        {"run/rank1.json", HS_STR(ONE)},
        {"run/x.json", hs_cstr(four)},
        {"run/notes.txt", HS_STR("hello")},
    };
    test_archive(&zip, TEST_ZIP, m, 4);
    struct got g = import_as(view(&zip), "all.zip", (struct hs_import_options){.rank = HS_RANK_AUTO});
    ck_assert_msg(g.rc == HS_OK, "%s", g.err.text);
    ck_assert_uint_eq(g.n, 2);
    ck_assert_str_eq(g.v[0].row.name, "run/rank1.json");
    ck_assert_int_eq((int)g.v[0].row.rank, 1);
    ck_assert_str_eq(g.v[0].row.id, ONE_ID); /* of its own bytes: the same file alone has the same id */
    ck_assert_int_eq((int)g.v[1].row.rank, 4);
    ck_assert_int_eq((int)g.v[0].view->quality.count[HS_Q_ARCHIVE_IGNORED], 1); /* config.json */
    ck_assert_int_eq((int)g.v[1].view->quality.count[HS_Q_ARCHIVE_IGNORED], 1); /* notes.txt, behind it */
    done(&g);
    hs_buf_clear(&zip);
    test_archive(&zip, TEST_ZIP, m, 1);
    g = import_auto(view(&zip), "all.zip", NULL, NULL);
    ck_assert_int_eq(g.rc, HS_EINPUT);
    hs_buf_clear(&zip);
    test_archive(&zip, TEST_ZIP, m + 3, 1);
    g = import_auto(view(&zip), "all.zip", NULL, NULL);
    ck_assert_int_eq(g.rc, HS_EINPUT);
    ck_assert_ptr_nonnull(strstr(g.err.text, "all.zip"));
    hs_buf_free(&zip);
    free(four);
}
END_TEST

/* ---- with a store ---- */

static char *dir;
static struct hs_store *store;

static void open_store(void)
{
    struct hs_err err = HS_ERR_INIT;
    dir = hs_test_tmpdir();
    struct hs_store_options o = {.dir = dir, .keep_original = true};
    ck_assert_msg(hs_store_open(&store, &o, &err) == HS_OK, "%s", err.text);
}

static void close_store(void)
{
    hs_store_close(store);
    hs_test_rmdir(dir);
    free(dir);
}

/* Files under traces/ whose name ends so. */
static int files(const char *suffix)
{
    char path[700];
    int n = 0;
    snprintf(path, sizeof path, "%s/traces", dir);
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) {
        size_t k = strlen(e->d_name), s = strlen(suffix);
        n += e->d_name[0] != '.' && k >= s && !strcmp(e->d_name + k - s, suffix);
    }
    if (d)
        closedir(d);
    return n;
}

START_TEST(the_same_bytes_are_stored_once)
{
    struct got g = import_auto(HS_STR(ONE), "rank3.json", store, "r");
    ck_assert_msg(g.rc == HS_OK, "%s", g.err.text);
    ck_assert(!g.v[0].existed);
    ck_assert_ptr_null(g.v[0].view);
    ck_assert_int_gt((int)g.v[0].row.bytes_stored, 0);
    done(&g);
    ck_assert_int_eq(files(""), 2); /* the trace and its original */
    g = import_auto(HS_STR(ONE), "other.json", store, "r");
    ck_assert_int_eq(g.rc, HS_OK);
    ck_assert(g.v[0].existed);
    ck_assert_str_eq(g.v[0].row.id, ONE_ID);
    ck_assert_str_eq(g.v[0].row.name, "rank3.json"); /* as it is known */
    ck_assert_int_eq((int)g.v[0].row.rank, 3);
    done(&g);
    ck_assert_int_eq(files(""), 2);
    char *path = hs_store_original_path(store, ONE_ID);
    ck_assert_ptr_nonnull(path);
    char back[sizeof ONE] = {0};
    FILE *f = fopen(path, "rb");
    ck_assert_uint_eq(fread(back, 1, sizeof back, f), sizeof ONE - 1);
    ck_assert_str_eq(back, ONE);
    fclose(f);
    free(path);
    struct hs_view *v;
    ck_assert_int_eq(hs_store_pin_trace(store, ONE_ID, &v, &g.err), HS_OK);
    ck_assert_int_eq((int)v->sum.cpu_ops, 1);
    hs_store_unpin_trace(store, v);
}
END_TEST

START_TEST(ranks_without_any_name_follow_the_order)
{
    for (int i = 0; i < 3; i++) {
        char *text = hs_asprintf("[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"ts\":%d,\"dur\":2}]", i);
        struct got g = import_auto(hs_cstr(text), "trace.json", store, "r");
        ck_assert_msg(g.rc == HS_OK, "%s", g.err.text);
        ck_assert_int_eq((int)g.v[0].row.rank, i);
        done(&g);
        free(text);
    }
}
END_TEST

/* Takes the copy of the original away while the input is read, as the reader itself does when the disk is full. */
static int read_without_copy(void *ctx, void *buf, size_t cap, size_t *got, struct hs_err *err)
{
    char traces[700];
    snprintf(traces, sizeof traces, "%s/traces", dir);
    DIR *d = opendir(traces);
    for (struct dirent *e; d && (e = readdir(d));)
        if (strstr(e->d_name, ".orig.tmp"))
            unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
    struct test_input *t = ctx;
    return t->in.read(t, buf, cap, got, err);
}

START_TEST(an_original_given_up_is_not_claimed)
{
    struct test_input t;
    test_input_init(&t, HS_STR(ONE), 100, "rank0.json");
    struct hs_input in = {read_without_copy, &t, "rank0.json", -1};
    struct hs_import_options o = {.rank = HS_RANK_AUTO, .store = store, .run = "r", .keep_original = true};
    struct got g = {.err = HS_ERR_INIT};
    ck_assert_int_eq(hs_import(&in, &o, &g.v, &g.n, &g.err), HS_OK);
    ck_assert_int_eq(files(".orig"), 0);
    ck_assert(!g.v[0].row.has_original);
    done(&g);
    g = import_auto(HS_STR(ONE), "rank0.json", store, "q");
    ck_assert(g.rc == HS_OK && g.v[0].row.has_original);
    done(&g);
}
END_TEST

/* Nothing is in the catalogue, no file is left. */
static void nothing_stayed(void)
{
    struct hs_run_row *runs = NULL;
    size_t n = 0;
    struct hs_err err = HS_ERR_INIT;
    ck_assert_int_eq(hs_store_runs(store, &runs, &n, &err), HS_OK);
    ck_assert_uint_eq(n, 0);
    hs_run_rows_free(runs, n);
    ck_assert_int_eq(files(""), 0);
}

START_TEST(refused_input_leaves_nothing)
{
    struct got g = import_auto(HS_STR(""), "empty.json", store, "r");
    ck_assert_int_eq(g.rc, HS_EINPUT);
    g = import_auto(HS_STR("<!DOCTYPE html><html>not found</html>"), "page.json", store, "r");
    ck_assert_int_eq(g.rc, HS_EINPUT);
    nothing_stayed();
}
END_TEST

START_TEST(limits_leave_nothing)
{
    struct hs_buf text = many_events(200000), gz = HS_BUF_INIT(BIG);
    test_gzip(&gz, view(&text), 1, Z_DEFAULT_STRATEGY);
    for (int i = 0; i < 3; i++) {
        struct hs_limits l = hs_limits_default;
        if (i == 0)
            l.events = 150000;
        else if (i == 1)
            l.bytes_json = text.n - 1;
        else
            l.bytes_in = gz.n - 1;
        struct got g = import_as(
            view(&gz), "rank0.json.gz",
            (struct hs_import_options){.rank = HS_RANK_AUTO, .store = store, .limits = &l, .keep_original = true});
        ck_assert_int_eq(g.rc, HS_ELIMIT);
        nothing_stayed();
    }
    hs_buf_free(&gz);
    hs_buf_free(&text);
}
END_TEST

START_TEST(a_broken_input_leaves_nothing)
{
    struct hs_buf text = many_events(200000);
    struct test_input in;
    test_input_init(&in, view(&text), 1000, "rank0.json");
    in.fail_at = text.n - 5000;
    struct hs_import_options o = {.rank = HS_RANK_AUTO, .store = store, .keep_original = true};
    struct got g = {.err = HS_ERR_INIT};
    ck_assert_int_eq(hs_import(&in.in, &o, &g.v, &g.n, &g.err), HS_EINTERNAL);
    ck_assert_ptr_nonnull(strstr(g.err.text, "breaks here"));
    nothing_stayed();
    hs_buf_free(&text);
}
END_TEST

/* An input that asks to cancel when it has given `after` bytes: always at the same place. */
struct cancelling {
    struct test_input in;
    struct hs_import_progress *progress;
    size_t after;
};

static int cancelling_read(void *ctx, void *buf, size_t cap, size_t *got, struct hs_err *err)
{
    struct cancelling *c = ctx;
    if (c->in.pos >= c->after)
        atomic_store(&c->progress->cancel, true);
    return c->in.in.read(&c->in, buf, cap, got, err);
}

START_TEST(cancelling_leaves_nothing)
{
    struct hs_buf text = many_events(300000);
    for (int i = 0; i < 6; i++) {
        struct hs_import_progress progress = {0};
        struct cancelling c = {.progress = &progress, .after = text.n / 5 * (size_t)i};
        test_input_init(&c.in, view(&text), 100000, "rank0.json");
        struct hs_input in = {cancelling_read, &c, "rank0.json", -1};
        struct hs_import_options o = {
            .rank = HS_RANK_AUTO, .store = store, .progress = &progress, .keep_original = true};
        struct got g = {.err = HS_ERR_INIT};
        ck_assert_int_eq(hs_import(&in, &o, &g.v, &g.n, &g.err), HS_ECANCELLED);
        nothing_stayed();
    }
    hs_buf_free(&text);
}
END_TEST

START_TEST(a_full_disk_leaves_nothing)
{
    struct hs_buf text = many_events(300000);
    struct rlimit old, small;
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN); /* writes fail with EFBIG, as they would with ENOSPC */
    small = old;
    small.rlim_cur = 60000;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    for (int keep = 0; keep < 2; keep++) {
        struct got g =
            import_as(view(&text), "rank0.json",
                      (struct hs_import_options){.rank = HS_RANK_AUTO, .store = store, .keep_original = keep});
        ck_assert_int_eq(hs_exit_status(g.rc), 3);
        ck_assert_int_eq(files(""), 0);
    }
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, handler);
    nothing_stayed();
    hs_buf_free(&text);
}
END_TEST

START_TEST(an_archive_keeps_what_succeeded)
{
    struct hs_buf tar = HS_BUF_INIT(BIG), big = many_events(5000);
    const struct test_member m[] = {{"rank0.json", HS_STR(ONE)}, {"rank1.json", view(&big)}};
    test_archive(&tar, TEST_TAR, m, 2);
    struct hs_limits l = hs_limits_default;
    l.events = 4999;
    struct got g =
        import_as(view(&tar), "t.tar",
                  (struct hs_import_options){
                      .rank = HS_RANK_AUTO, .store = store, .run = "r", .limits = &l, .keep_original = true});
    ck_assert_int_eq(g.rc, HS_ELIMIT);
    struct hs_trace_row *rows;
    size_t n;
    ck_assert_int_eq(hs_store_traces(store, "r", &rows, &n, &g.err), HS_OK);
    ck_assert_uint_eq(n, 1);
    ck_assert_str_eq(rows[0].id, ONE_ID);
    ck_assert(!rows[0].has_original);
    hs_trace_rows_free(rows, n);
    ck_assert_int_eq(files(""), 1);
    hs_buf_free(&tar);
    hs_buf_free(&big);
}
END_TEST

struct uploader {
    pthread_t thread;
    int number, rc;
};

static void *upload(void *arg)
{
    struct uploader *u = arg;
    struct hs_buf text = many_events(3000 + (unsigned)u->number);
    struct got g = import_auto(view(&text), "trace.json", store, "parallel");
    u->rc = g.rc;
    done(&g);
    hs_buf_free(&text);
    return NULL;
}

START_TEST(imports_run_side_by_side)
{
    struct uploader u[6];
    for (int i = 0; i < 6; i++) {
        u[i].number = i;
        ck_assert_int_eq(pthread_create(&u[i].thread, NULL, upload, &u[i]), 0);
    }
    for (int i = 0; i < 6; i++) {
        pthread_join(u[i].thread, NULL);
        ck_assert_int_eq(u[i].rc, HS_OK);
    }
    struct hs_trace_row *rows;
    size_t n;
    struct hs_err err = HS_ERR_INIT;
    ck_assert_int_eq(hs_store_traces(store, "parallel", &rows, &n, &err), HS_OK);
    ck_assert_uint_eq(n, 6);
    hs_trace_rows_free(rows, n);
    ck_assert_int_eq(files(".tmp"), 0);
}
END_TEST

HS_SUITE(ingest_import)
{
    HS_TEST(ranks_from_names);
    HS_TEST(rank_by_precedence);
    HS_TEST(a_trace_in_memory);
    HS_TEST(many_segments_keep_their_order);
    HS_TEST(an_archive_gives_a_trace_each);
}

HS_SUITE(ingest_import_store)
{
    tcase_add_checked_fixture(tc, open_store, close_store);
    HS_TEST(the_same_bytes_are_stored_once);
    HS_TEST(an_original_given_up_is_not_claimed);
    HS_TEST(ranks_without_any_name_follow_the_order);
    HS_TEST(refused_input_leaves_nothing);
    HS_TEST(limits_leave_nothing);
    HS_TEST(a_broken_input_leaves_nothing);
    HS_TEST(cancelling_leaves_nothing);
    HS_TEST(a_full_disk_leaves_nothing);
    HS_TEST(an_archive_keeps_what_succeeded);
    HS_TEST(imports_run_side_by_side);
}
