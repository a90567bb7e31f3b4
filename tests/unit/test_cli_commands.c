/* The command line as a shell sees it: what comes on stdout, what on stderr, which exit status. */
#include "tests/http/live.h"
#include "tests/unit/test.h"

#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct said {
    int status;
    char out[1 << 20], err[8192];
};
static struct said g;
static char *g_dir;

static void read_file(const char *path, char *to, size_t cap)
{
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(to, 1, cap - 1, f) : 0;
    to[n] = 0;
    if (f)
        fclose(f);
}

/* Runs `holoscope ARGS` through the shell, in the test's folder. */
static int run(const char *args)
{
    char cmd[2048], path[700], bin[600];
    ck_assert_ptr_nonnull(realpath(hs_test_binary(), bin));
    snprintf(cmd, sizeof cmd, "cd '%s' && HOLOSCOPE_DATA='%s/data' '%s' %s >out 2>err", g_dir, g_dir, bin, args);
    int status = system(cmd);
    ck_assert(WIFEXITED(status));
    g.status = WEXITSTATUS(status);
    snprintf(path, sizeof path, "%s/out", g_dir);
    read_file(path, g.out, sizeof g.out);
    snprintf(path, sizeof path, "%s/err", g_dir);
    read_file(path, g.err, sizeof g.err);
    ck_assert_msg(!strstr(g.err, "Sanitizer") && !strstr(g.err, "runtime error"), "%s", g.err);
    return g.status;
}

static void put_file(const char *name, const char *text)
{
    char path[700];
    snprintf(path, sizeof path, "%s/%s", g_dir, name);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

static void put_small(const char *name, int rank, int kernels)
{
    char *t = small_trace(rank, kernels);
    put_file(name, t);
    free(t);
}

static void put_dir(const char *name)
{
    char path[700];
    snprintf(path, sizeof path, "%s/%s", g_dir, name);
    ck_assert_int_eq(mkdir(path, 0700), 0);
}

static void setup(void)
{
    g_dir = hs_test_tmpdir();
    put_small("t.json", 3, 9);
}

static void teardown(void)
{
    hs_test_rmdir(g_dir);
    free(g_dir);
}

static void check_one_line(void)
{
    size_t n = strlen(g.err);
    ck_assert_msg(n > 0 && strchr(g.err, '\n') == g.err + n - 1, "not one line: '%s'", g.err);
    ck_assert_msg(!strncmp(g.err, "holoscope: ", 11), "'%s'", g.err);
    ck_assert_str_eq(g.out, "");
}

static json_t *rows_of(void)
{
    static json_t *doc;
    json_decref(doc);
    doc = json_loads(g.out, 0, NULL);
    ck_assert_msg(doc != NULL, "no JSON: %.200s", g.out);
    return json_object_get(doc, "rows");
}

START_TEST(help_is_everywhere)
{
    static const char *const commands[] = {"serve", "report", "analyze", "sql", "import"};
    char args[64];
    setup();
    ck_assert_int_eq(run("--help"), 0);
    for (size_t i = 0; i < 5; i++) {
        ck_assert_ptr_nonnull(strstr(g.out, commands[i]));
    }
    for (size_t i = 0; i < 5; i++) {
        snprintf(args, sizeof args, "%s --help", commands[i]);
        ck_assert_int_eq(run(args), 0);
        snprintf(args, sizeof args, "usage: holoscope %s", commands[i]);
        ck_assert_msg(!strncmp(g.out, args, strlen(args)), "%s", g.out);
        ck_assert_ptr_nonnull(strstr(g.out, "examples:\n"));
        ck_assert_str_eq(g.err, "");
    }
    ck_assert_int_eq(run("--version"), 0);
    ck_assert_msg(!strncmp(g.out, "holoscope ", 10), "%s", g.out);
    teardown();
}
END_TEST

static const struct {
    const char *args;
    int status;
    const char *says;
} wrong[] = {
    {"frobnicate", 2, "no command 'frobnicate'"},
    {"report", 2, "PATH"},
    {"report --frob t.json", 2, "no option --frob"},
    {"report --format", 2, "--format needs a value"},
    {"report --format xml t.json", 2, "no format 'xml'"},
    {"report nosuch.json", 1, "nosuch.json"},
    {"analyze", 2, "missing"},
    {"analyze kernels", 2, "PATH"},
    {"analyze nosuch t.json", 2, "no analysis 'nosuch'"},
    {"analyze --describe nosuch", 2, "no analysis 'nosuch'"},
    {"analyze kernels t.json --set", 2, "--set needs a value"},
    {"analyze kernels t.json --set rank", 2, "key=value"},
    {"analyze kernels t.json --set nosuch=1", 2, "nosuch"},
    {"analyze kernels t.json --set rank=x", 2, "rank"},
    {"analyze kernels t.json --format xml", 2, "no format 'xml'"},
    {"analyze kernels t.json --compat tb", 2, "compat"},
    {"analyze kernels t.json --run r", 2, "exclude"},
    {"analyze kernels --run nosuch", 1, "holds no store"},
    {"analyze kernels t.json --data x", 2, "--run"},
    {"sql", 2, "QUERY"},
    {"sql 'SELECT 1'", 2, "PATH or --trace"},
    {"sql 'SELECT 1' t.json --trace abcdef", 2, "one of them"},
    {"sql 'DELETE FROM events' t.json", 2, "events may not be modified"},
    {"sql 'SELECT nosuch FROM kernels' t.json", 2, "nosuch"},
    {"import", 2, "PATH"},
    {"import t.json --run a/b", 2, "name of a run"},
    {"serve --listen nonsense", 2, "nonsense"},
    {"serve --config nosuch.toml", 1, "nosuch.toml"},
    {"serve t.json", 2, "t.json"},
};

START_TEST(mistakes_are_one_line_and_the_right_status)
{
    setup();
    run(wrong[_i].args);
    ck_assert_msg(g.status == wrong[_i].status, "%s: status %d: %s", wrong[_i].args, g.status, g.err);
    ck_assert_msg(strstr(g.err, wrong[_i].says) != NULL, "%s: '%s' does not say '%s'", wrong[_i].args, g.err,
                  wrong[_i].says);
    check_one_line();
    teardown();
}
END_TEST

START_TEST(what_is_no_trace_names_its_file)
{
    setup();
    put_file("page.json", "<html></html>");
    put_file("empty.json", "");
    ck_assert_int_eq(run("report page.json"), 1);
    check_one_line();
    ck_assert_ptr_nonnull(strstr(g.err, "page.json"));
    ck_assert_ptr_nonnull(strstr(g.err, "HTML"));
    ck_assert_int_eq(run("analyze kernels t.json empty.json"), 1); /* both were named, so both must be traces */
    check_one_line();
    ck_assert_ptr_nonnull(strstr(g.err, "empty.json"));
    teardown();
}
END_TEST

START_TEST(an_analysis_answers_from_file_stdin_and_store)
{
    setup();
    char first[65536];
    ck_assert_int_eq(run("analyze kernels t.json --format csv --set rank=3"), 0);
    ck_assert_str_eq(g.err, "");
    ck_assert_ptr_nonnull(strstr(g.out, "k2"));
    strcpy(first, g.out);
    ck_assert_int_eq(run("analyze kernels --format csv --set rank=3 - <t.json"), 0);
    ck_assert_str_eq(g.out, first);
    ck_assert_int_eq(run("import t.json --run mine"), 0);
    ck_assert_int_eq(run("analyze kernels --run mine --format csv --set rank=3"), 0);
    ck_assert_str_eq(g.out, first);
    ck_assert_int_eq(run("import t.json"), 0); /* named after the file */
    ck_assert_int_eq(run("analyze kernels --run t --format csv"), 0);
    ck_assert_str_eq(g.out, first);
    teardown();
}
END_TEST

START_TEST(nothing_is_kept_by_report_and_analyze)
{
    char path[700];
    setup();
    ck_assert_int_eq(run("report t.json"), 0);
    ck_assert_int_eq(run("analyze overview t.json"), 0);
    ck_assert_int_eq(run("sql 'SELECT count(*) FROM events' t.json"), 0);
    snprintf(path, sizeof path, "%s/data", g_dir);
    ck_assert_int_ne(access(path, F_OK), 0);
    teardown();
}
END_TEST

/* `report --cache` on a terminal of its own, which answers; what it asked. Static memory. */
static const char *asked(const char *answer)
{
    static char text[1000];
    char bin[600], data[700];
    int fd, status;
    size_t n = 0;
    ck_assert_ptr_nonnull(realpath(hs_test_binary(), bin));
    snprintf(data, sizeof data, "%s/data", g_dir);
    pid_t pid = forkpty(&fd, NULL, NULL, NULL);
    if (!pid) {
        if (chdir(g_dir) || !freopen("out", "w", stdout))
            _exit(99);
        execl(bin, bin, "report", "--cache", "--data", data, "t.json", (char *)NULL);
        _exit(98);
    }
    ck_assert_int_gt(pid, 0);
    while (n + 1 < sizeof text && !memchr(text, '?', n)) {
        ssize_t got = read(fd, text + n, sizeof text - 1 - n);
        ck_assert_int_gt(got, 0);
        n += (size_t)got;
    }
    text[n] = 0;
    ck_assert_int_eq(write(fd, answer, strlen(answer)), (ssize_t)strlen(answer));
    for (char drain[256]; read(fd, drain, sizeof drain) > 0;)
        ;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    close(fd);
    return text;
}

START_TEST(cache_asks_and_refuses_without_a_terminal)
{
    setup();
    ck_assert_int_eq(run("report --cache t.json </dev/null"), 2);
    check_one_line();
    ck_assert_ptr_nonnull(strstr(g.err, "--cache=yes or --cache=no"));
    ck_assert_int_eq(run("report --cache=perhaps t.json"), 2);
    ck_assert_int_eq(run("report --cache=no t.json"), 0);
    ck_assert_int_ne(run("report --run t"), 0); /* nothing was kept */
    ck_assert_ptr_nonnull(strstr(asked("n\n"), "Keep 1 file in the store (about 0.0 MB)?"));
    ck_assert_int_ne(run("report --run t"), 0);
    asked("y\n");
    ck_assert_int_eq(run("report --run t"), 0);
    ck_assert_int_eq(run("report --cache=yes --run named t.json"), 0);
    ck_assert_int_eq(run("analyze overview --run named"), 0);
    put_file("blocked", "");
    ck_assert_int_eq(run("report --cache=yes --data blocked t.json"), 0); /* answered all the same, and said so */
    ck_assert_ptr_nonnull(strstr(g.err, "not kept"));
    ck_assert_ptr_nonnull(strstr(g.out, "Main Finding"));
    teardown();
}
END_TEST

START_TEST(a_folder_is_the_ranks_of_one_run)
{
    setup();
    put_dir("ranks");
    put_dir("ranks/deeper.json");
    put_small("ranks/a.json", 0, 9);
    put_small("ranks/b.json.tmp", 1, 12);
    put_small("ranks/.hidden.json", 2, 9);
    put_small("ranks/deeper.json/c.json", 5, 9);
    put_file("ranks/notes.txt", "hello");
    put_file("ranks/et.json", "{\"schema\": \"1.0.1\", \"nodes\": []}");
    put_file("ranks/memory.json", "[[1, \"create\", 2, 3]]");
    ck_assert_int_eq(run("analyze overview ranks"), 0);
    json_t *rows = rows_of();
    ck_assert_uint_eq(json_array_size(rows), 2);
    ck_assert_int_eq(json_integer_value(json_object_get(json_array_get(rows, 0), "events")), 27);
    ck_assert_int_eq(json_integer_value(json_object_get(json_array_get(rows, 1), "events")), 36);
    ck_assert_int_eq(json_integer_value(json_object_get(json_array_get(rows, 1), "rank")), 1);
    ck_assert_ptr_nonnull(strstr(g.err, "note: 1 other file in 'ranks' ignored"));
    ck_assert_ptr_nonnull(strstr(g.err, "warning: ranks/et.json"));
    ck_assert_ptr_nonnull(strstr(g.err, "warning: ranks/memory.json"));
    put_dir("none");
    put_file("none/et.json", "{\"schema\": \"1.0.1\", \"nodes\": []}");
    ck_assert_int_eq(run("analyze overview none"), 1);
    check_one_line();
    put_dir("empty");
    ck_assert_int_eq(run("report empty"), 1);
    check_one_line();
    teardown();
}
END_TEST

START_TEST(the_registry_can_be_asked)
{
    setup();
    ck_assert_int_eq(run("analyze --list"), 0);
    ck_assert_ptr_nonnull(strstr(g.out, "kernels "));
    ck_assert_ptr_nonnull(strstr(g.out, "idle-intervals"));
    ck_assert_int_eq(run("analyze --list --format json"), 0);
    json_t *list = json_loads(g.out, 0, NULL);
    ck_assert_uint_ge(json_array_size(list), 9);
    json_decref(list);
    ck_assert_int_eq(run("analyze --describe kernels"), 0);
    ck_assert_ptr_nonnull(strstr(g.out, "--set rank="));
    ck_assert_ptr_nonnull(strstr(g.out, "sum_us"));
    teardown();
}
END_TEST

START_TEST(sql_asks_files_and_stored_traces)
{
    setup();
    ck_assert_int_eq(run("sql 'SELECT name, count(*) AS n FROM kernels GROUP BY name ORDER BY name' t.json"), 0);
    json_t *rows = rows_of();
    ck_assert_uint_eq(json_array_size(rows), 3);
    ck_assert_int_eq(json_integer_value(json_object_get(json_array_get(rows, 0), "n")), 3);
    ck_assert_int_eq(run("import t.json"), 0);
    char args[256];
    snprintf(args, sizeof args, "sql 'SELECT count(*) AS n FROM events' --format csv --trace %.8s", g.out);
    ck_assert_int_eq(run(args), 0);
    ck_assert_str_eq(g.out, "n\r\n27\r\n");
    put_dir("two");
    put_small("two/a.json", 0, 3);
    put_small("two/b.json", 1, 3);
    ck_assert_int_eq(run("sql 'SELECT 1' two"), 2);
    check_one_line();
    teardown();
}
END_TEST

START_TEST(a_full_disk_is_no_success)
{
    if (access("/dev/full", W_OK))
        return;
    setup();
    char cmd[1500], bin[600];
    ck_assert_ptr_nonnull(realpath(hs_test_binary(), bin));
    snprintf(cmd, sizeof cmd, "cd '%s' && '%s' analyze kernels t.json >/dev/full 2>err", g_dir, bin);
    int status = system(cmd);
    ck_assert_int_eq(WEXITSTATUS(status), 3);
    teardown();
}
END_TEST

/* Four steps of `step` us each, on the CPU alone. */
static void put_steps(const char *name, const int *step)
{
    char text[2000];
    size_t n = (size_t)snprintf(text, sizeof text, "{\"traceEvents\": [");
    for (int i = 0, at = 1000; i < 4; at += step[i++] + 10)
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "%s{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#%d\", "
                              "\"pid\": 1, \"tid\": 1, \"ts\": %d, \"dur\": %d, \"args\": {}}",
                              i ? "," : "", i, at, step[i]);
    snprintf(text + n, sizeof text - n, "]}");
    put_file(name, text);
}

START_TEST(diff_judges)
{
    setup();
    put_steps("base.json", (int[]){100, 101, 100, 101});
    put_steps("slow.json", (int[]){120, 121, 120, 121});
    put_steps("noisy.json", (int[]){20, 200, 30, 170});
    ck_assert_int_eq(run("diff base.json base.json --fail-over 5%"), 0);
    ck_assert_ptr_nonnull(strstr(g.out, "ProfilerStep#*"));
    ck_assert_int_eq(run("diff base.json slow.json --fail-over 5%"), 1);
    ck_assert_ptr_nonnull(strstr(g.err, "slower: the step time rose by 19.90 %")); /* 120.5 / 100.5 */
    ck_assert_int_eq(run("diff base.json slow.json --fail-over 25"), 0);
    ck_assert_int_eq(run("diff base.json slow.json"), 0);
    ck_assert_int_eq(run("diff base.json noisy.json --fail-over 5%"), 4);
    ck_assert_ptr_nonnull(strstr(g.err, "inconclusive"));
    ck_assert_int_eq(run("diff base.json"), 2);
    ck_assert_int_eq(run("diff base.json slow.json --fail-over fast"), 2);
    ck_assert_int_eq(run("analyze diff base.json"), 2);
    ck_assert_int_eq(run("analyze diff base.json slow.json"), 0);
    teardown();
}
END_TEST

/* $HOLOSCOPE_CONFIG: the names of a site's own communication kernels, thresholds, the store's place; and its mistakes. */
START_TEST(settings_by_the_environment)
{
    setup();
    put_file("own.json",
             "{\"traceEvents\":["
             "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"acme::Fabric_Sum<float>\",\"pid\":0,\"tid\":7,\"ts\":1,"
             "\"dur\":5,\"args\":{\"device\":0,\"stream\":7}},"
             "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":10,\"dur\":15,"
             "\"args\":{\"device\":0,\"stream\":7}}]}");
    put_file("c.toml", "[ingest]\ncommunication = [\"fabric_\"]\n[report]\nthresholds = [\"long-gap=123\"]\n"
                       "[store]\ndir = \"elsewhere\"\n");
    ck_assert_int_eq(run("analyze kernels own.json --format csv"), 0);
    ck_assert_ptr_null(strstr(g.out, "communication"));
    ck_assert_int_eq(setenv("HOLOSCOPE_CONFIG", "c.toml", 1), 0);
    ck_assert_int_eq(run("analyze kernels own.json --format csv"), 0);
    ck_assert_ptr_nonnull(strstr(g.out, "acme::Fabric_Sum<float>,acme::Fabric_Sum,communication"));
    ck_assert_ptr_nonnull(strstr(g.out, "gemm,gemm,compute"));
    ck_assert_int_eq(run("report --rules --format csv"), 0);
    ck_assert_ptr_nonnull(strstr(g.out, "123"));
    ck_assert_int_eq(run("import own.json --run r"), 0);
    ck_assert_int_eq(run("analyze kernels --run r --data elsewhere --format csv"), 0);
    ck_assert_ptr_nonnull(strstr(g.out, "Fabric_Sum,communication"));
    put_file("c.toml", "[ingest]\ncommunication = [\"\"]\n");
    ck_assert_int_eq(run("analyze kernels own.json"), 1);
    check_one_line();
    ck_assert_ptr_nonnull(strstr(g.err, "c.toml:2: ingest.communication has an empty text"));
    ck_assert_int_eq(run("report --help"), 0); /* help needs no settings */
    ck_assert_int_eq(unsetenv("HOLOSCOPE_CONFIG"), 0);
    teardown();
}
END_TEST

HS_SUITE(cli_commands)
{
    HS_TEST(settings_by_the_environment);
    HS_TEST(diff_judges);
    HS_TEST(help_is_everywhere);
    HS_LOOP_TEST(mistakes_are_one_line_and_the_right_status, 0, (int)(sizeof wrong / sizeof wrong[0]));
    HS_TEST(what_is_no_trace_names_its_file);
    HS_TEST(an_analysis_answers_from_file_stdin_and_store);
    HS_TEST(nothing_is_kept_by_report_and_analyze);
    HS_TEST(cache_asks_and_refuses_without_a_terminal);
    HS_TEST(a_folder_is_the_ranks_of_one_run);
    HS_TEST(the_registry_can_be_asked);
    HS_TEST(sql_asks_files_and_stored_traces);
    HS_TEST(a_full_disk_is_no_success);
}
