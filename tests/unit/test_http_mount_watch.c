/* The listing of a mounted folder: read once while nothing changes, and right after each kind of change. */
#include "http/mount_watch.h"
#include "tests/unit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *g_dir;
static struct hs_mount g_mount;
static struct hs_mount_watch *g_watch;

static void shell(const char *command)
{
    char text[700];
    snprintf(text, sizeof text, "cd '%s' && %s", g_dir, command);
    ck_assert_int_eq(system(text), 0);
}

static void open_folder(void)
{
    g_dir = hs_test_tmpdir();
    g_mount = (struct hs_mount){"m", g_dir};
    shell("mkdir -p a/b && echo 1 > a/r0.json && echo 22 > a/b/r1.json.gz && echo 3 > a/notes.txt");
    g_watch = hs_mount_watch_new(&g_mount, 1);
}

static void close_folder(void)
{
    hs_mount_watch_free(g_watch);
    hs_test_rmdir(g_dir);
    free(g_dir);
}

/* "run=files:bytes run=…" of what is listed. Static memory. */
static const char *listed(void)
{
    static char text[500];
    size_t at = 0;
    const struct hs_mount_list *l = hs_mount_watch_list(g_watch, 0, NULL);
    ck_assert_ptr_nonnull(l);
    text[0] = 0;
    for (size_t i = 0; i < l->n; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s=%zu:%lld", i ? " " : "", l->runs[i].run, l->runs[i].n,
                               (long long)l->runs[i].bytes);
    hs_mount_unlist(l);
    return text;
}

START_TEST(every_change_is_seen)
{
    static const struct {
        const char *command, *want;
    } steps[] = {
        {"true", "m:a:b=1:3 m:a=1:2"},
        {"echo 333 > a/r0.json", "m:a:b=1:3 m:a=1:4"},                          /* other bytes */
        {"echo 4444 >> a/b/r1.json.gz", "m:a:b=1:8 m:a=1:4"},                   /* grown, two folders down */
        {"cp a/r0.json a/r2.json", "m:a:b=1:8 m:a=2:8"},                        /* a file more */
        {"mkdir -p c/d && echo 1 > c/d/x.json", "m:a:b=1:8 m:a=2:8 m:c:d=1:2"}, /* in folders that are new */
        {"echo 1 > c/d/y.json", "m:a:b=1:8 m:a=2:8 m:c:d=2:4"},                 /* which are watched, too */
        {"mv c/d c/e", "m:a:b=1:8 m:a=2:8 m:c:e=2:4"},
        {"mv a/r2.json c/e/", "m:a:b=1:8 m:a=1:4 m:c:e=3:8"},
        {"rm -r a/b", "m:a=1:4 m:c:e=3:8"},
        {"mv c .. && rm -r ../c", "m:a=1:4"},
        {"rm a/r0.json", ""},
    };
    open_folder();
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        shell(steps[i].command);
        ck_assert_msg(!strcmp(listed(), steps[i].want), "%s: %s, not %s", steps[i].command, listed(), steps[i].want);
    }
    close_folder();
}
END_TEST

START_TEST(read_once_while_nothing_changes)
{
    open_folder();
    for (int i = 0; i < 5; i++)
        listed();
    unsigned reads = hs_mount_watch_reads(g_watch, 0);
    ck_assert(reads == 1 || reads == 5); /* 5: the kernel does not tell of changes to this folder */
    shell("touch a/r0.json");
    listed();
    ck_assert_uint_eq(hs_mount_watch_reads(g_watch, 0), reads + 1);
    close_folder();
}
END_TEST

/* The mount may be a link to where the traces are; what is in it may not lead out. */
START_TEST(a_mount_that_is_a_link)
{
    open_folder();
    char *link = hs_asprintf("%s.link", g_dir);
    ck_assert_int_eq(symlink(g_dir, link), 0);
    g_mount.path = link;
    ck_assert_str_eq(listed(), "m:a:b=1:3 m:a=1:2");
    unsigned reads = hs_mount_watch_reads(g_watch, 0);
    shell("ln -s a/b c && ln -s ../a/r0.json a/b/link.json");
    ck_assert_str_eq(listed(), "m:a:b=1:3 m:a=1:2");
    ck_assert_uint_eq(hs_mount_watch_reads(g_watch, 0), reads + 1);
    shell("rm c a/b/link.json");
    unlink(link);
    free(link);
    close_folder();
}
END_TEST

/* A listing in use stays as it was while another one is read. */
START_TEST(a_listing_outlives_the_next)
{
    open_folder();
    const struct hs_mount_list *first = hs_mount_watch_list(g_watch, 0, NULL);
    shell("rm -r a/b");
    ck_assert_str_eq(listed(), "m:a=1:2");
    ck_assert(first->n == 2 && !strcmp(first->runs[0].run, "m:a:b"));
    hs_mount_unlist(first);
    close_folder();
}
END_TEST

START_TEST(a_folder_that_is_gone_and_comes_back)
{
    struct hs_err err = HS_ERR_INIT;
    open_folder();
    listed();
    char *away = hs_asprintf("mv '%s' '%s.away'", g_dir, g_dir), *back = hs_asprintf("mv '%s.away' '%s'", g_dir, g_dir);
    ck_assert_int_eq(system(away), 0);
    ck_assert_ptr_null(hs_mount_watch_list(g_watch, 0, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "cannot be read"));
    ck_assert_int_eq(system(back), 0);
    ck_assert_str_eq(listed(), "m:a:b=1:3 m:a=1:2");
    free(away);
    free(back);
    close_folder();
}
END_TEST

HS_SUITE(http_mount_watch)
{
    HS_TEST(every_change_is_seen);
    HS_TEST(read_once_while_nothing_changes);
    HS_TEST(a_mount_that_is_a_link);
    HS_TEST(a_listing_outlives_the_next);
    HS_TEST(a_folder_that_is_gone_and_comes_back);
}
