/* Runs every registered suite, or those whose name an argument is part of. Ends with Check's closing line. */
#include "tests/unit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    const char *name;
    void (*fill)(TCase *);
} g_suites[256];
static int g_n;

void hs_test_register(const char *name, void (*fill)(TCase *tc))
{
    if (g_n == (int)(sizeof g_suites / sizeof g_suites[0])) { /* never leave one out in silence */
        fprintf(stderr, "more suites than main.c has room for: %s\n", name);
        abort();
    }
    g_suites[g_n].name = name;
    g_suites[g_n++].fill = fill;
}

const char *hs_test_traces(void)
{
    const char *dir = getenv("HOLOSCOPE_TRACES");
    if (!dir)
        dir = "../shared/traces";
    return access(dir, R_OK) ? NULL : dir;
}

const char *hs_test_binary(void)
{
    const char *bin = getenv("HOLOSCOPE_BIN");
    return bin ? bin : "build/release/holoscope";
}

const char *hs_test_gentrace(void)
{
    const char *bin = getenv("HOLOSCOPE_GENTRACE");
    return bin ? bin : "build/release/gentrace";
}

char *hs_test_tmpdir(void)
{
    const char *base = getenv("TMPDIR");
    char *dir = malloc(512);
    snprintf(dir, 512, "%s/holoscope-test-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(dir))
        abort();
    return dir;
}

void hs_test_rmdir(const char *dir)
{
    char cmd[600];
    if (!strstr(dir, "holoscope-test-"))
        return;
    snprintf(cmd, sizeof cmd, "rm -rf '%s'", dir);
    if (system(cmd))
        fprintf(stderr, "could not remove %s\n", dir);
}

static int wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strstr(name, argv[i]))
            return 1;
    return argc == 1;
}

int main(int argc, char **argv)
{
    SRunner *runner = srunner_create(NULL);
    for (int i = 0; i < g_n; i++) {
        if (!wanted(g_suites[i].name, argc, argv))
            continue;
        Suite *s = suite_create(g_suites[i].name);
        TCase *tc = tcase_create(g_suites[i].name);
        tcase_set_timeout(tc, 240); /* generous: sanitizers on a shared machine; no test asserts a time */
        g_suites[i].fill(tc);
        suite_add_tcase(s, tc);
        srunner_add_suite(runner, s);
    }
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
