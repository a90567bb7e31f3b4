#include "cli/paths.h"

#include "ingest/trace_name.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { MAX_PATHS = 1 << 20 };

/* What the profiler has not finished ends in .tmp after that; in a folder that one names, it is meant too. */
static bool may_be_trace(const char *name)
{
    size_t n = strlen(name);
    char *stem = hs_strndup(name, n > 4 && !strcasecmp(name + n - 4, ".tmp") ? n - 4 : n);
    bool yes = hs_name_may_be_trace(stem);
    free(stem);
    return yes;
}

static void add(struct hs_paths *out, char *path, bool named, int64_t size)
{
    out->p = hs_realloc_array(out->p, out->n + 1, sizeof *out->p);
    out->p[out->n++] = (struct hs_path){path, named, size};
}

static int visible(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

static int add_folder(const char *dir, struct hs_paths *out, struct hs_err *err)
{
    struct dirent **list = NULL;
    int n = scandir(dir, &list, visible, alphasort), found = 0, passed = 0;
    if (n < 0)
        return hs_fail_errno(err, HS_EINPUT, "the folder '%s' cannot be read", dir);
    for (int i = 0; i < n; i++) {
        struct stat st;
        char *path = hs_asprintf("%s%s%s", dir, dir[strlen(dir) - 1] == '/' ? "" : "/", list[i]->d_name);
        bool file = !stat(path, &st) && S_ISREG(st.st_mode);
        if (file && may_be_trace(list[i]->d_name) && out->n < MAX_PATHS) {
            add(out, path, false, st.st_size);
            found++;
        } else {
            passed += file;
            free(path);
        }
        free(list[i]);
    }
    free(list);
    if (!found)
        return hs_fail(err, HS_EINPUT,
                       "the folder '%s' has no file that may be a trace (.json, .json.gz, .zip, .tar, .zst)", dir);
    if (passed)
        fprintf(stderr, "holoscope: note: %d other file%s in '%s' ignored\n", passed, passed == 1 ? "" : "s", dir);
    return HS_OK;
}

int hs_paths_expand(char *const *args, int n, struct hs_paths *out, struct hs_err *err)
{
    *out = (struct hs_paths){0};
    int rc = n > 0 ? HS_OK : hs_fail(err, HS_EUSAGE, "a PATH is missing: a trace, a folder of traces, or - for stdin");
    for (int i = 0; i < n && !rc; i++) {
        struct stat st;
        if (!strcmp(args[i], "-"))
            add(out, hs_strdup("-"), true, -1);
        else if (!*args[i] || stat(args[i], &st))
            rc = hs_fail_errno(err, HS_EINPUT, "'%s' cannot be read", args[i]);
        else if (S_ISDIR(st.st_mode))
            rc = add_folder(args[i], out, err);
        else
            add(out, hs_strdup(args[i]), true, S_ISREG(st.st_mode) ? st.st_size : -1);
    }
    if (rc)
        hs_paths_free(out);
    return rc;
}

void hs_paths_free(struct hs_paths *p)
{
    for (size_t i = 0; i < p->n; i++)
        free(p->p[i].path);
    free(p->p);
    *p = (struct hs_paths){0};
}
