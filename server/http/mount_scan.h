/* mount_scan: the traces in a mounted folder, as runs: each folder that holds files which may be traces is a run, its files the
 * ranks.
 *
 * A run's name is the mount's, a colon, and the folder within the mount with colons for slashes ("nightly:2026-11-30:job7");
 * no upload has such a name by accident. Links are not followed: nothing outside the folder can be reached. */
#ifndef HS_HTTP_MOUNT_SCAN_H
#define HS_HTTP_MOUNT_SCAN_H

#include "base/mem.h"

#define HS_MOUNT_DEPTH 8
#define HS_MOUNT_FILES 10000 /* of one mount; more are left out, and `cut` says so */

struct hs_mount {
    const char *name, *path;
};

struct hs_mount_file {
    char *path, *name; /* name: without folders */
    size_t below;      /* where in `path` the part below the mount's folder begins */
    int64_t size, mtime_ns;
    int64_t ctime_ns; /* when it came here or was changed: a copy may keep the time of its original */
};
struct hs_mounted_run {
    char *run;
    struct hs_mount_file *files; /* by name */
    size_t n;
    int64_t bytes;
};
struct hs_mount_list {
    struct hs_mounted_run *runs; /* by folder */
    size_t n, files;
    bool cut;
};

/* Is told each folder before it is read; NULL: nobody is. */
typedef void hs_mount_enter(void *ctx, const char *dir);

/* HS_EINPUT: the folder cannot be read. Free the list in either case. */
int hs_mount_scan(const struct hs_mount *mount, hs_mount_enter *enter, void *ctx, struct hs_mount_list *out,
                  struct hs_err *err);
void hs_mount_list_free(struct hs_mount_list *l);

#endif
