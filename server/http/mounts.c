#include "http/mounts_in.h"

#include "base/log.h"
#include "http/reply.h"
#include "ingest/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct hs_mounts *hs_mounts_new(const struct hs_mounts_options *o)
{
    struct hs_mounts *m = hs_calloc(1, sizeof *m);
    m->o = *o;
    m->watch = hs_mount_watch_new(o->mounts, o->n);
    m->memory = hs_memory_runs_new(o->memory_bytes, o->idle_s);
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->changed, NULL);
    return m;
}

void hs_mounts_free(struct hs_mounts *m)
{
    if (!m)
        return;
    hs_memory_runs_free(m->memory);
    hs_mount_watch_free(m->watch);
    for (size_t i = 0; i < m->nknown; i++)
        free(m->known[i].run);
    free(m->known);
    free(m->importing);
    pthread_cond_destroy(&m->changed);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

const struct hs_mounts_options *hs_mounts_options(const struct hs_mounts *m)
{
    return &m->o;
}

static bool in_store(struct hs_mounts *m, const char *run, struct hs_err *err)
{
    char hash[33];
    return !hs_store_run_hash(m->o.store, run, hash, err);
}

/* ---- importing ---- */

static int import_file(struct hs_mounts *m, const char *run, const struct hs_mount_file *f, bool keep, int64_t order,
                       struct hs_imported **out, size_t *n, struct hs_err *err)
{
    struct hs_input in;
    struct hs_import_options o = {.limits = m->o.limits,
                                  .store = keep ? m->o.store : NULL,
                                  .run = keep ? run : NULL,
                                  .rank = HS_RANK_AUTO,
                                  .order = order};
    char *root = hs_strndup(f->path, f->below);
    int rc = hs_input_open_below(&in, root, f->path + f->below, err);
    free(root);
    if (rc)
        return rc;
    rc = hs_import(&in, &o, out, n, err);
    hs_input_close_file(&in);
    return rc;
}

/* All files of the run into the store; files that are no traces are passed over as long as one is. What was kept before a failure goes. */
static int import_kept(struct hs_mounts *m, const struct hs_mounted_run *r, struct hs_err *err)
{
    struct hs_err last = HS_ERR_INIT;
    size_t kept = 0;
    for (size_t i = 0; i < r->n; i++) {
        struct hs_imported *list = NULL;
        size_t n = 0;
        int rc = import_file(m, r->run, &r->files[i], true, (int64_t)i, &list, &n, &last);
        if (!rc) {
            kept += n;
            hs_imported_free(list, n);
        } else if (rc != HS_EINPUT) {
            hs_store_delete_run(m->o.store, r->run, NULL);
            if (err)
                *err = last;
            return rc;
        }
    }
    if (!kept && err)
        *err = last;
    return kept ? HS_OK : HS_EINPUT;
}

/* The same into memory; the views are the caller's, also after a failure. */
static int import_views(struct hs_mounts *m, const struct hs_mounted_run *r, struct hs_view ***views, size_t *nviews,
                        struct hs_err *err)
{
    struct hs_err last = HS_ERR_INIT;
    int rc = HS_OK;
    for (size_t i = 0; i < r->n && (!rc || rc == HS_EINPUT); i++) {
        struct hs_imported *list = NULL;
        size_t n = 0;
        rc = import_file(m, NULL, &r->files[i], false, (int64_t)i, &list, &n, &last);
        if (rc)
            continue;
        *views = hs_realloc_array(*views, *nviews + n, sizeof(struct hs_view *));
        for (size_t k = 0; k < n; k++) {
            (*views)[(*nviews)++] = list[k].view;
            list[k].view = NULL;
        }
        hs_imported_free(list, n);
    }
    if (*nviews && rc == HS_EINPUT)
        rc = HS_OK;
    if (rc && err)
        *err = last;
    return rc;
}

static bool is_importing(const struct hs_mounts *m, const char *run)
{
    for (size_t i = 0; i < m->nimporting; i++)
        if (!strcmp(m->importing[i], run))
            return true;
    return false;
}

/* Waits until nobody imports the run into the store; true if somebody did. With the lock. */
static bool wait_for_import(struct hs_mounts *m, const char *run)
{
    bool other = false;
    while (is_importing(m, run)) {
        other = true;
        pthread_cond_wait(&m->changed, &m->lock);
    }
    return other;
}

/* Imports it into the store; who comes second waits, and finds it there. */
int hs_mounts_keep(struct hs_mounts *m, const struct hs_mounted_run *r, struct hs_err *err)
{
    pthread_mutex_lock(&m->lock);
    while (wait_for_import(m, r->run)) {
        pthread_mutex_unlock(&m->lock);
        if (in_store(m, r->run, NULL))
            return HS_OK;
        pthread_mutex_lock(&m->lock);
    }
    m->importing = hs_realloc_array(m->importing, m->nimporting + 1, sizeof *m->importing);
    m->importing[m->nimporting++] = r->run;
    pthread_mutex_unlock(&m->lock);
    int rc = import_kept(m, r, err);
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < m->nimporting; i++)
        if (m->importing[i] == r->run)
            m->importing[i] = m->importing[--m->nimporting];
    pthread_cond_broadcast(&m->changed);
    pthread_mutex_unlock(&m->lock);
    return rc;
}

/* Analyses it in memory; who comes second waits for the first. `why`: it could not be kept; NULL. */
static int hold(struct hs_mounts *m, const struct hs_mounted_run *r, const char *why, struct hs_err *err)
{
    struct hs_view **views = NULL;
    size_t n = 0;
    bool mine;
    int rc = hs_memory_begin(m->memory, r->run, r->bytes, &mine, err);
    if (rc || !mine)
        return rc;
    char hash[33],
        *note =
            !why ? NULL : hs_asprintf("The run could not be kept in the store, so it was analysed in memory: %s.", why);
    hs_mount_files_hash(r, hash);
    rc = import_views(m, r, &views, &n, err);
    for (size_t i = 0; i < n && rc; i++) /* half of a run is none */
        hs_view_close(views[i]);
    int ended = hs_memory_end(m->memory, r->run, views, rc ? 0 : n, hash, note, err);
    free(note);
    return rc ? rc : ended;
}

/* ---- opening ---- */

static int open_mounted(struct hs_mounts *m, const struct hs_mounted_run *r, int choice, struct hs_err *err)
{
    enum hs_cache_policy policy = m->o.policy;
    if (choice < 0 && policy == HS_CACHE_ASK)
        return hs_fail(err, HS_EASK,
                       "the run '%.100s' is mounted and not kept: ask again with cache=true to keep it in the store "
                       "(about %lld bytes), or "
                       "with cache=false to analyse and forget it",
                       r->run, (long long)hs_mounts_estimate(r));
    struct hs_err why = HS_ERR_INIT;
    if (choice == 1 || (choice < 0 && policy == HS_CACHE_ALWAYS)) {
        int rc = hs_mounts_keep(m, r, &why);
        if (!rc || rc == HS_EINPUT) {
            if (rc && err)
                *err = why;
            return rc;
        }
        hs_log(HS_LOG_WARN, "a mounted run could not be kept; it is analysed in memory",
               " run=\"%.100s\" why=\"%.200s\"", r->run, why.text);
    }
    return hold(m, r, why.code ? why.text : NULL, err);
}

int hs_mounts_prepare(struct hs_mounts *m, const char *run, int choice, struct hs_err *err)
{
    const struct hs_mount_list *list = NULL;
    pthread_mutex_lock(&m->lock);
    wait_for_import(m, run); /* half of a run is no answer */
    pthread_mutex_unlock(&m->lock);
    bool in_memory = hs_memory_has(m->memory, run);
    if ((in_memory && choice != 1) || in_store(m, run, err))
        return HS_OK;
    const struct hs_mounted_run *r = hs_mounts_find(m, run, &list);
    int rc = in_memory ? HS_OK : HS_ENOTFOUND; /* the store's sentence stands in err */
    if (r || in_memory)
        hs_err_clear(err);
    if (r)
        rc = open_mounted(m, r, choice, err);
    hs_mount_unlist(list);
    return rc;
}

/* ---- runs of the store and in memory, as one ---- */

int hs_mounts_adopt(struct hs_mounts *m, const char *run, struct hs_view *const *views, size_t n, int64_t bytes,
                    struct hs_err *err)
{
    if (in_store(m, run, NULL))
        return hs_fail(err, HS_ECONFLICT, "the store has a run '%.100s': name another, or keep the traces", run);
    return hs_memory_add(m->memory, run, views, n, bytes, err);
}

int hs_mounts_hash(struct hs_mounts *m, const char *run, char out[33], struct hs_err *err)
{
    int rc = hs_store_run_hash(m->o.store, run, out, err);
    if (rc == HS_ENOTFOUND)
        return hs_memory_hash(m->memory, run, out) ? HS_OK : rc;
    if (!rc && hs_mounts_stale(m, run)) {
        char text[48];
        int n = snprintf(text, sizeof text, "%s stale", out);
        hs_hash_hex(text, (size_t)n, out);
    }
    return rc;
}

int hs_mounts_pin(struct hs_mounts *m, const char *run, struct hs_run **out, struct hs_err *err)
{
    int rc = hs_store_pin_run(m->o.store, run, out, err);
    if (rc == HS_ENOTFOUND && (*out = hs_memory_pin(m->memory, run)))
        return HS_OK;
    if (!rc && hs_mounts_stale(m, run))
        (*out)->note =
            "The files of this run have changed in the mounted folder since it was kept; this is about what was "
            "kept. POST /api/v1/runs/{run}/refresh reads them again.";
    return rc;
}

void hs_mounts_unpin(struct hs_mounts *m, struct hs_run *run)
{
    if (!hs_memory_unpin(m->memory, run))
        hs_store_unpin_run(m->o.store, run);
}

bool hs_mounts_holds(struct hs_mounts *m, const struct hs_run *run)
{
    return hs_memory_holds(m->memory, run);
}
