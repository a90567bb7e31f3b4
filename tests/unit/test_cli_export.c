/* holoscope export as a shell sees it: what is written where, which exit status, what is left behind. */
#include "tests/http/live.h"
#include "tests/unit/test.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *g_dir, g_err[4096];

static char *in_dir(const char *name)
{
    static char path[700];
    snprintf(path, sizeof path, "%s/%s", g_dir, name);
    return path;
}

/* Runs `holoscope ARGS` through the shell, in the test's folder: the exit status; g_err has what it said. */
static int run(const char *args)
{
    char cmd[2048], bin[600];
    ck_assert_ptr_nonnull(realpath(hs_test_binary(), bin));
    snprintf(cmd, sizeof cmd, "cd '%s' && HOLOSCOPE_DATA='%s/data' '%s' %s 2>err", g_dir, g_dir, bin, args);
    int status = system(cmd);
    ck_assert(WIFEXITED(status));
    FILE *f = fopen(in_dir("err"), "r");
    ck_assert_ptr_nonnull(f);
    g_err[fread(g_err, 1, sizeof g_err - 1, f)] = 0;
    fclose(f);
    ck_assert_msg(!strstr(g_err, "Sanitizer") && !strstr(g_err, "runtime error"), "%s", g_err);
    return WEXITSTATUS(status);
}

static void setup(void)
{
    char cmd[800];
    g_dir = hs_test_tmpdir();
    for (int rank = 0; rank < 2; rank++) {
        char *t = small_trace(rank, 9 + rank), name[32];
        snprintf(cmd, sizeof cmd, "mkdir -p '%s/ranks'", g_dir);
        ck_assert_int_eq(system(cmd), 0);
        snprintf(name, sizeof name, "ranks/r%d.json", rank);
        FILE *f = fopen(in_dir(name), "w");
        ck_assert_ptr_nonnull(f);
        fputs(t, f);
        fclose(f);
        free(t);
    }
}

static void teardown(void)
{
    hs_test_rmdir(g_dir);
    free(g_dir);
}

static size_t events_of(const char *name)
{
    json_error_t e;
    json_t *doc = json_load_file(in_dir(name), 0, &e);
    ck_assert_msg(doc != NULL, "%s: %s", name, e.text);
    size_t n = json_array_size(json_object_get(doc, "traceEvents"));
    json_decref(doc);
    return n;
}

START_TEST(a_file_named_json_is_plain_and_others_are_compressed)
{
    ck_assert_int_eq(run("export ranks/r0.json -o out.json"), 0);
    ck_assert_str_eq(g_err, "");
    ck_assert_uint_eq(events_of("out.json"), 27);
    ck_assert_int_eq(run("export ranks/r0.json --output out.json.gz && gunzip out.json.gz -c >plain"), 0);
    ck_assert_uint_eq(events_of("plain"), 27);
    ck_assert_int_eq(run("export ranks/r0.json | gunzip >plain"), 0);
    ck_assert_uint_eq(events_of("plain"), 27);
    ck_assert_int_eq(run("export ranks/r0.json --plain >plain"), 0);
    ck_assert_uint_eq(events_of("plain"), 27);
    ck_assert_int_eq(run("export ranks/r0.json --gzip -o odd.json && gunzip <odd.json >plain"), 0);
    ck_assert_uint_eq(events_of("plain"), 27);
    ck_assert_int_eq(run("export ranks/r0.json --plain | head -c 10 >plain"), 0);
    ck_assert_uint_eq(files_in(g_dir, ".tmp"), 0);
}
END_TEST

START_TEST(overlays_windows_and_ranks)
{
    ck_assert_int_eq(run("export ranks -o out.json"), 2);
    ck_assert_msg(strstr(g_err, "rank") != NULL, "%s", g_err);
    ck_assert_int_eq(run("export ranks --rank 1 -o out.json"), 0);
    ck_assert_uint_eq(events_of("out.json"), 30);
    ck_assert_int_eq(run("export ranks --rank 1 --overlay queue-length -o out.json"), 0);
    ck_assert_uint_eq(events_of("out.json"), 30 + 20);
    ck_assert_int_eq(run("export ranks --rank 1 --from 0 --to 100 -o out.json"), 0);
    ck_assert_uint_eq(events_of("out.json"), 3);
    ck_assert_int_eq(
        run("export ranks --rank 1 --overlay kernel-sequences --operator op0 --min-pattern-len 1 --top-k 1 "
            "-o out.json && grep -c Patterns out.json >count"),
        0);
    FILE *f = fopen(in_dir("count"), "r");
    int n = 0;
    ck_assert_int_eq(fscanf(f, "%d", &n), 1);
    fclose(f);
    ck_assert_int_eq(n, 12); /* op0 of ten calls: four, each an operator, a launch and a kernel */
    ck_assert_int_eq(
        run("export ranks --rank 1 --overlay kernel-sequences --operator op0 --min-pattern-len 1 --top-k 1 "
            "--compress-others true -o out.json && test $(grep -c '\"args\"' out.json) = $(grep -c Patterns out.json)"),
        0);
}
END_TEST

START_TEST(a_stored_run_is_exported)
{
    ck_assert_int_eq(run("import ranks --run two >/dev/null"), 0);
    ck_assert_int_eq(run("export --run two --rank 0 -o out.json"), 0);
    ck_assert_uint_eq(events_of("out.json"), 27);
    ck_assert_int_eq(run("export --run two --rank 3 -o none.json"), 1);
    ck_assert_int_eq(run("export --run nobody -o none.json"), 1);
    ck_assert_int_ne(access(in_dir("none.json"), F_OK), 0);
}
END_TEST

START_TEST(wrong_calls_and_bad_places_leave_nothing)
{
    static const struct {
        const char *args, *part;
        int status;
    } cases[] = {{"export", "PATH", 2},
                 {"export ranks/r0.json --overlay x", "no overlay 'x'", 2},
                 {"export ranks/r0.json --overlay kernel-sequences", "operator", 2},
                 {"export ranks/r0.json --from 5 --to 5", "less than", 2},
                 {"export ranks/r0.json --from soon", "from", 2},
                 {"export ranks/r0.json -x", "no option -x", 2},
                 {"export ranks/r0.json -o", "needs a value", 2},
                 {"export ranks/r0.json -o ranks", "folder", 2},
                 {"export ranks/r0.json -o no/such/place.json", "cannot be written", 1},
                 {"report ranks/r0.json -o x", "no option -o", 2},
                 {"export missing.json -o x.json", "missing.json", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ck_assert_msg(run(cases[i].args) == cases[i].status, "%s: %s", cases[i].args, g_err);
        ck_assert_msg(strstr(g_err, cases[i].part) != NULL, "%s: %s", cases[i].args, g_err);
    }
    ck_assert_int_ne(access(in_dir("x.json"), F_OK), 0);
    ck_assert_int_eq(run("export ranks/r0.json --plain >/dev/full"), 3);
    ck_assert_int_eq(run("export --help >out"), 0);
}
END_TEST

HS_SUITE(cli_export)
{
    tcase_add_checked_fixture(tc, setup, teardown);
    HS_TEST(a_file_named_json_is_plain_and_others_are_compressed);
    HS_TEST(overlays_windows_and_ranks);
    HS_TEST(a_stored_run_is_exported);
    HS_TEST(wrong_calls_and_bad_places_leave_nothing);
}
