#include "http/mount_scan.h"

#include "ingest/trace_name.h"
#include "store/store.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int visible(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

static int64_t nanoseconds(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void add_file(struct hs_mounted_run *run, char *path, size_t below, const char *name, const struct stat *st)
{
    run->files = hs_realloc_array(run->files, run->n + 1, sizeof *run->files);
    run->files[run->n++] = (struct hs_mount_file){path,        hs_strdup(name),          below,
                                                  st->st_size, nanoseconds(st->st_mtim), nanoseconds(st->st_ctim)};
    if (__builtin_add_overflow(run->bytes, st->st_size, &run->bytes))
        run->bytes = INT64_MAX;
}

static void add_run(struct hs_mount_list *out, struct hs_mounted_run run)
{
    out->runs = hs_realloc_array(out->runs, out->n + 1, sizeof *out->runs);
    out->runs[out->n++] = run;
}

static void free_run(struct hs_mounted_run *run)
{
    for (size_t i = 0; i < run->n; i++) {
        free(run->files[i].path);
        free(run->files[i].name);
    }
    free(run->files);
    free(run->run);
}

struct scan {
    size_t below; /* length of the mount's path, and its slash */
    hs_mount_enter *enter;
    void *ctx;
    struct hs_mount_list *out;
};

/* `run_name` is the name that the folder's traces have as a run. */
static int scan_folder(const struct scan *s, const char *dir, const char *run_name, int depth, struct hs_err *err)
{
    struct hs_mount_list *out = s->out;
    struct dirent **list = NULL;
    struct hs_mounted_run run = {.run = hs_strdup(run_name)};
    if (s->enter)
        s->enter(s->ctx, dir);
    int n = scandir(dir, &list, visible, alphasort);
    if (n < 0) {
        free_run(&run);
        return depth ? HS_OK : hs_fail_errno(err, HS_EINPUT, "the mounted folder '%s' cannot be read", dir);
    }
    for (int i = 0; i < n; i++) {
        struct stat st;
        const char *name = list[i]->d_name;
        char *path = hs_asprintf("%s/%s", dir, name);
        if (lstat(path, &st)) {
            /* gone again */
        } else if (S_ISDIR(st.st_mode) && depth + 1 < HS_MOUNT_DEPTH) {
            bool top = run_name[strlen(run_name) - 1] == ':';
            char *below = hs_asprintf("%s%s%s", run_name, top ? "" : ":", name);
            scan_folder(s, path, below, depth + 1, err);
            free(below);
        } else if (S_ISREG(st.st_mode) && hs_name_may_be_trace(name)) {
            out->cut |= out->files >= HS_MOUNT_FILES;
            if (out->files < HS_MOUNT_FILES) {
                out->files++;
                add_file(&run, path, s->below, name, &st);
                path = NULL;
            }
        }
        free(path);
        free(list[i]);
    }
    free(list);
    if (run.n && !hs_run_name_check(run.run, NULL))
        add_run(out, run);
    else
        free_run(&run);
    return HS_OK;
}

int hs_mount_scan(const struct hs_mount *mount, hs_mount_enter *enter, void *ctx, struct hs_mount_list *out,
                  struct hs_err *err)
{
    const struct scan s = {strlen(mount->path) + 1, enter, ctx, out};
    *out = (struct hs_mount_list){0};
    char *top = hs_asprintf("%s:", mount->name);
    int rc = scan_folder(&s, mount->path, top, 0, err);
    free(top);
    return rc;
}

void hs_mount_list_free(struct hs_mount_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        free_run(&l->runs[i]);
    free(l->runs);
    *l = (struct hs_mount_list){0};
}
