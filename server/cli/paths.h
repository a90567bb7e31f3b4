/* paths: what PATH arguments mean. A PATH is a file, a folder whose traces are the ranks of one run, or "-" for stdin. */
#ifndef HS_CLI_PATHS_H
#define HS_CLI_PATHS_H

#include "base/mem.h"

struct hs_path {
    char *path;
    bool named;   /* the user named it; a file found in a folder may turn out to be no trace */
    int64_t size; /* bytes, -1 unknown */
};
struct hs_paths {
    struct hs_path *p;
    size_t n;
};

/* Folders are read one level deep, in order of names, and give what may be a trace by its ending (.json, .gz, .zip, .zst,
 * .tar, .tgz, also with .tmp behind it, as an interrupted profiler leaves it); how many files were passed over is said
 * on stderr. HS_EINPUT: a path that is not there, a folder without a trace. */
int hs_paths_expand(char *const *args, int n, struct hs_paths *out, struct hs_err *err);
void hs_paths_free(struct hs_paths *p);

#endif
