#include "cli/keep.h"

#include "http/uri.h"
#include "ingest/trace_name.h"
#include "trace/intervals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int64_t estimate(const struct hs_paths *paths)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < paths->n; i++)
        bytes = hs_add_sat(bytes, hs_estimate_stored(paths->p[i].path, paths->p[i].size));
    return bytes;
}

static bool says_yes(void)
{
    char line[16];
    return fgets(line, sizeof line, stdin) && (line[0] == 'y' || line[0] == 'Y');
}

int hs_cli_ask_cache(const char *choice, char *const *args, int n, bool *keep, struct hs_err *err)
{
    struct hs_paths paths;
    *keep = choice && !strcmp(choice, "yes");
    if (choice && !*keep && strcmp(choice, "no") != 0)
        return hs_fail(err, HS_EUSAGE, "--cache is yes or no, not '%.40s'; by itself it asks", choice);
    if (choice)
        return HS_OK;
    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
        return hs_fail(err, HS_EUSAGE,
                       "--cache asks, and there is no terminal to ask on: say --cache=yes or --cache=no");
    int rc = hs_paths_expand(args, n, &paths, err);
    if (rc)
        return rc;
    fprintf(stderr, "Keep %zu file%s in the store (about %.1f MB)? [y/N] ", paths.n, paths.n == 1 ? "" : "s",
            (double)estimate(&paths) / 1e6);
    *keep = says_yes();
    hs_paths_free(&paths);
    return HS_OK;
}

int hs_subject_keep(struct hs_subject *s, char *const *args, int n, const char *run, const char *data,
                    struct hs_err *err)
{
    if (n < 1)
        return hs_fail(err, HS_EUSAGE, "--cache needs a PATH to keep");
    char *name = run ? hs_strdup(run) : hs_run_name_of(args[0]);
    struct hs_loaded l;
    int rc = hs_load_into_store(args, n, name, data, &l, err);
    hs_loaded_free(&l);
    if (!rc) {
        rc = hs_subject_open(s, NULL, 0, name, data, err);
    } else if (rc == HS_EINTERNAL || rc == HS_ENOSPACE) {
        fprintf(stderr, "holoscope: note: not kept: %s\n", err ? err->text : "the store cannot be written");
        hs_err_clear(err);
        rc = hs_subject_open(s, args, n, NULL, NULL, err);
    }
    free(name);
    return rc;
}
