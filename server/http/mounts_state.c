#include "http/mounts_in.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/statvfs.h>

const char *hs_mount_state_word(enum hs_mount_state s)
{
    static const char *const words[] = {"not_cached", "cached", "stale", "in_memory"};
    return words[s];
}

/* The id that the file would have as a trace: BLAKE2b-128 of its bytes. */
static bool id_of_file(const char *path, char out[33])
{
    crypto_generichash_state s;
    unsigned char sum[16], *buf = hs_malloc(1 << 20);
    FILE *f = fopen(path, "rb");
    crypto_generichash_init(&s, NULL, 0, sizeof sum);
    size_t n;
    while (f && (n = fread(buf, 1, 1 << 20, f)) > 0)
        crypto_generichash_update(&s, buf, n);
    bool ok = f && !ferror(f);
    if (f)
        fclose(f);
    free(buf);
    crypto_generichash_final(&s, sum, sizeof sum);
    sodium_bin2hex(out, 33, sum, sizeof sum);
    return ok;
}

static bool is_archive(const char *name)
{
    static const char *const endings[] = {".zip", ".tar", ".tgz", ".tar.gz"};
    size_t n = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t e = strlen(endings[i]);
        if (n > e && !strcasecmp(name + n - e, endings[i]))
            return true;
    }
    return false;
}

/* Is what was kept still what the file holds, or was the file there and refused? */
static bool same(const struct hs_mount_file *f, const struct hs_trace_row *rows, size_t n)
{
    char id[33];
    int64_t kept = INT64_MAX;
    for (size_t i = 0; i < n; i++) {
        kept = rows[i].created_ns < kept ? rows[i].created_ns : kept;
        if (strcmp(rows[i].name, f->name) != 0 && !is_archive(f->name))
            continue;
        if (f->mtime_ns <= rows[i].created_ns)
            return is_archive(f->name) || rows[i].bytes_in == f->size;
        if (is_archive(f->name))
            return false;
        return rows[i].bytes_in == f->size && id_of_file(f->path, id) && !strcmp(id, rows[i].id);
    }
    return f->ctime_ns <= kept;
}

enum hs_mount_state hs_mounts_state(struct hs_mounts *m, const struct hs_mounted_run *run)
{
    struct hs_trace_row *rows = NULL;
    size_t n = 0, fit = 0;
    if (hs_store_traces(hs_mounts_options(m)->store, run->run, &rows, &n, NULL)) {
        return hs_mounts_in_memory(m, run->run) ? HS_MOUNT_IN_MEMORY : HS_MOUNT_NOT_CACHED;
    }
    for (size_t i = 0; i < run->n; i++)
        fit += same(&run->files[i], rows, n);
    hs_trace_rows_free(rows, n);
    return fit == run->n ? HS_MOUNT_CACHED : HS_MOUNT_STALE;
}

int hs_mounts_refresh(struct hs_mounts *m, const char *run, struct hs_err *err)
{
    struct hs_mount_list list;
    const struct hs_mounted_run *r;
    if (!hs_mounts_find(m, run, &list, &r))
        return hs_fail(err, HS_ENOTFOUND, "there is no mounted run '%.100s'; GET /api/v1/mounts lists them", run);
    const struct hs_mounts_options *o = hs_mounts_options(m);
    int rc = hs_store_delete_run(o->store, run, err);
    if (!rc || rc == HS_ENOTFOUND) /* deleted, or never kept */
        rc = hs_mounts_keep(m, r, err);
    hs_mount_list_free(&list);
    return rc;
}

int64_t hs_mounts_estimate(const struct hs_mounted_run *run)
{
    double bytes = 0;
    for (size_t i = 0; i < run->n; i++) {
        size_t n = strlen(run->files[i].name);
        bool plain = n > 5 && !strcasecmp(run->files[i].name + n - 5, ".json");
        bytes += (double)run->files[i].size * (plain ? 0.05 : 0.6);
    }
    return (int64_t)bytes;
}

int64_t hs_mounts_free_bytes(const struct hs_mounts *m)
{
    struct statvfs v;
    const char *dir = hs_mounts_options(m)->dir;
    if (!dir || statvfs(dir, &v))
        return -1;
    return (int64_t)v.f_bavail * (int64_t)v.f_frsize;
}
