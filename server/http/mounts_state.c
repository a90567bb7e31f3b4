#include "http/mounts_in.h"

#include "http/reply.h"
#include "ingest/trace_name.h"
#include "trace/intervals.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* Is what was kept still what the file holds, or was the file there and refused? */
static bool same(const struct hs_mount_file *f, const struct hs_trace_row *rows, size_t n)
{
    char id[33];
    int64_t kept = INT64_MAX;
    for (size_t i = 0; i < n; i++) {
        kept = rows[i].created_ns < kept ? rows[i].created_ns : kept;
        if (strcmp(rows[i].name, f->name) != 0 && !hs_name_is_archive(f->name))
            continue;
        if (hs_name_is_archive(f->name)) /* its members are what was kept */
            return f->mtime_ns <= rows[i].created_ns;
        if (f->mtime_ns <= rows[i].created_ns && f->ctime_ns <= rows[i].created_ns)
            return rows[i].bytes_in == f->size;
        return rows[i].bytes_in == f->size && id_of_file(f->path, id) && !strcmp(id, rows[i].id);
    }
    return f->ctime_ns <= kept;
}

void hs_mount_files_hash(const struct hs_mounted_run *r, char out[33])
{
    struct hs_buf b = HS_BUF_INIT(SIZE_MAX / 4);
    for (size_t i = 0; i < r->n; i++)
        hs_buf_printf(&b, "%s|%lld|%lld|%lld|", r->files[i].path, (long long)r->files[i].size,
                      (long long)r->files[i].mtime_ns, (long long)r->files[i].ctime_ns);
    hs_hash_hex(b.p, b.n, out);
    hs_buf_free(&b);
}

/* What was kept, and when: a refresh keeps an unchanged archive anew, and that settles it. */
static void kept_hash(const struct hs_trace_row *rows, size_t n, char out[33])
{
    struct hs_buf b = HS_BUF_INIT(SIZE_MAX / 4);
    for (size_t i = 0; i < n; i++)
        hs_buf_printf(&b, "%s|%lld|%s|", rows[i].id, (long long)rows[i].created_ns, rows[i].name);
    hs_hash_hex(b.p, b.n, out);
    hs_buf_free(&b);
}

static bool find_out(const struct hs_mounted_run *run, const struct hs_trace_row *rows, size_t n)
{
    for (size_t i = 0; i < run->n; i++)
        if (!same(&run->files[i], rows, n))
            return true;
    return false;
}

enum { MAX_KNOWN = 4096 }; /* runs; beyond that all is found out again */

/* The entry of a run, with the lock; made if there is none. */
static struct hs_mount_known *known_of(struct hs_mounts *m, const char *run)
{
    for (size_t i = 0; i < m->nknown; i++)
        if (!strcmp(m->known[i].run, run))
            return &m->known[i];
    if (m->nknown == MAX_KNOWN)
        while (m->nknown)
            free(m->known[--m->nknown].run);
    m->known = hs_realloc_array(m->known, m->nknown + 1, sizeof *m->known);
    m->known[m->nknown] = (struct hs_mount_known){.run = hs_strdup(run)};
    return &m->known[m->nknown++];
}

enum hs_mount_state hs_mounts_state(struct hs_mounts *m, const struct hs_mounted_run *run)
{
    char kept[33], files[33];
    struct hs_trace_row *rows = NULL;
    size_t n = 0;
    if (hs_store_traces(m->o.store, run->run, &rows, &n, NULL))
        return hs_memory_has(m->memory, run->run) ? HS_MOUNT_IN_MEMORY : HS_MOUNT_NOT_CACHED;
    kept_hash(rows, n, kept);
    hs_mount_files_hash(run, files);
    pthread_mutex_lock(&m->lock);
    struct hs_mount_known *k = known_of(m, run->run);
    bool known = !strcmp(k->files, files) && !strcmp(k->kept, kept), stale = k->stale;
    pthread_mutex_unlock(&m->lock);
    if (!known) {
        stale = find_out(run, rows, n);
        pthread_mutex_lock(&m->lock);
        k = known_of(m, run->run);
        memcpy(k->files, files, sizeof files);
        memcpy(k->kept, kept, sizeof kept);
        k->stale = stale;
        pthread_mutex_unlock(&m->lock);
    }
    hs_trace_rows_free(rows, n);
    return stale ? HS_MOUNT_STALE : HS_MOUNT_CACHED;
}

bool hs_mounts_state_of(struct hs_mounts *m, const char *run, enum hs_mount_state *out)
{
    const struct hs_mount_list *list = NULL;
    const struct hs_mounted_run *r = hs_mounts_find(m, run, &list);
    bool known = r || hs_memory_has(m->memory, run);
    if (known)
        *out = r ? hs_mounts_state(m, r) : HS_MOUNT_IN_MEMORY;
    hs_mount_unlist(list);
    return known;
}

bool hs_mounts_stale(struct hs_mounts *m, const char *run)
{
    enum hs_mount_state state;
    return hs_mounts_state_of(m, run, &state) && state == HS_MOUNT_STALE;
}

const struct hs_mount_list *hs_mounts_list(struct hs_mounts *m, size_t i, struct hs_err *err)
{
    return hs_mount_watch_list(m->watch, i, err);
}

const struct hs_mounted_run *hs_mounts_find(struct hs_mounts *m, const char *run, const struct hs_mount_list **list)
{
    *list = NULL;
    for (size_t i = 0; i < m->o.n; i++) {
        size_t n = strlen(m->o.mounts[i].name);
        if (strncmp(run, m->o.mounts[i].name, n) != 0 || run[n] != ':' || !(*list = hs_mounts_list(m, i, NULL)))
            continue;
        for (size_t k = 0; k < (*list)->n; k++)
            if (!strcmp((*list)->runs[k].run, run))
                return &(*list)->runs[k];
        hs_mount_unlist(*list);
        *list = NULL;
    }
    return NULL;
}

int hs_mounts_refresh(struct hs_mounts *m, const char *run, struct hs_err *err)
{
    const struct hs_mount_list *list;
    const struct hs_mounted_run *r = hs_mounts_find(m, run, &list);
    if (!r)
        return hs_fail(err, HS_ENOTFOUND, "there is no mounted run '%.100s'; GET /api/v1/mounts lists them", run);
    int rc = hs_store_delete_run(m->o.store, run, err);
    if (!rc || rc == HS_ENOTFOUND) /* deleted, or never kept */
        rc = hs_mounts_keep(m, r, err);
    hs_mount_unlist(list);
    return rc;
}

int64_t hs_mounts_estimate(const struct hs_mounted_run *run)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < run->n; i++)
        bytes = hs_add_sat(bytes, hs_estimate_stored(run->files[i].name, run->files[i].size));
    return bytes;
}

int64_t hs_mounts_free_bytes(const struct hs_mounts *m)
{
    struct statvfs v;
    const char *dir = hs_mounts_options(m)->dir;
    if (!dir || statvfs(dir, &v))
        return -1;
    return (int64_t)v.f_bavail * (int64_t)v.f_frsize;
}
