#include "http/mounts_in.h"

#include "base/log.h"
#include "ingest/import.h"

#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A run in memory. */
struct held {
    struct held *next;
    char *name, hash[33];
    char *note;          /* why it is not in the store though it should be; NULL */
    struct hs_run *run;  /* NULL while it is being imported */
    struct hs_run **old; /* what it was before more traces came: somebody may have it open */
    size_t nold;
    struct hs_view **views;
    size_t nviews;
    int64_t bytes; /* of its files */
    unsigned users;
    time_t last; /* question, by the monotonic clock */
};

struct hs_mounts {
    struct hs_mounts_options o;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* an import ended, or the end has come */
    struct held *held;      /* and all below */
    int64_t bytes;
    char **importing; /* runs that are being imported into the store */
    size_t nimporting;
    bool stop;
    pthread_t sweeper;
    bool sweeps;
};

static time_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

/* ---- what is in memory ---- */

static void free_held(struct held *h)
{
    if (h->run)
        hs_run_free(h->run);
    for (size_t i = 0; i < h->nold; i++)
        hs_run_free(h->old[i]);
    free(h->old);
    for (size_t i = 0; i < h->nviews; i++)
        hs_view_close(h->views[i]);
    free(h->views);
    free(h->note);
    free(h->name);
    free(h);
}

static struct held *find_held(struct hs_mounts *m, const char *name)
{
    struct held *h = m->held;
    while (h && strcmp(h->name, name) != 0)
        h = h->next;
    return h;
}

/* Takes it off the list; the caller frees it, without the lock. */
static void unlink_held(struct hs_mounts *m, struct held *h)
{
    struct held **p = &m->held;
    while (*p != h)
        p = &(*p)->next;
    *p = h->next;
    m->bytes -= h->bytes;
}

/* The list entry of this name, made if there is none; with the lock. */
static struct held *held_of(struct hs_mounts *m, const char *name)
{
    struct held *h = find_held(m, name);
    if (h)
        return h;
    h = hs_calloc(1, sizeof *h);
    h->name = hs_strdup(name);
    h->next = m->held;
    m->held = h;
    return h;
}

/* One that nobody uses and nobody has asked for lately; NULL. */
static struct held *idle_held(struct hs_mounts *m)
{
    time_t t = now();
    for (struct held *h = m->held; h; h = h->next)
        if (h->run && !h->users && t - h->last >= m->o.idle_s) {
            unlink_held(m, h);
            return h;
        }
    return NULL;
}

static void *sweep(void *arg)
{
    struct hs_mounts *m = arg;
    pthread_mutex_lock(&m->lock);
    while (!m->stop) {
        struct held *h = idle_held(m);
        if (h) {
            pthread_mutex_unlock(&m->lock);
            hs_log(HS_LOG_INFO, "a run in memory was dropped", " run=\"%.100s\"", h->name);
            free_held(h);
            pthread_mutex_lock(&m->lock);
            continue;
        }
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        t.tv_sec += 1;
        pthread_cond_timedwait(&m->changed, &m->lock, &t);
    }
    pthread_mutex_unlock(&m->lock);
    return NULL;
}

struct hs_mounts *hs_mounts_new(const struct hs_mounts_options *o)
{
    struct hs_mounts *m = hs_calloc(1, sizeof *m);
    m->o = *o;
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->changed, NULL);
    m->sweeps = !pthread_create(&m->sweeper, NULL, sweep, m);
    return m;
}

void hs_mounts_free(struct hs_mounts *m)
{
    if (!m)
        return;
    pthread_mutex_lock(&m->lock);
    m->stop = true;
    pthread_cond_broadcast(&m->changed);
    pthread_mutex_unlock(&m->lock);
    if (m->sweeps)
        pthread_join(m->sweeper, NULL);
    for (struct held *h = m->held, *next; h; h = next) {
        next = h->next;
        free_held(h);
    }
    free(m->importing);
    pthread_cond_destroy(&m->changed);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

const struct hs_mounts_options *hs_mounts_options(const struct hs_mounts *m)
{
    return &m->o;
}

/* ---- finding ---- */

bool hs_mounts_find(struct hs_mounts *m, const char *run, struct hs_mount_list *list, const struct hs_mounted_run **out)
{
    for (size_t i = 0; i < m->o.n; i++) {
        size_t n = strlen(m->o.mounts[i].name);
        if (strncmp(run, m->o.mounts[i].name, n) != 0 || run[n] != ':' ||
            hs_mount_scan(m->o.mounts[i].name, m->o.mounts[i].path, list, NULL))
            continue;
        for (size_t k = 0; k < list->n; k++)
            if (!strcmp(list->runs[k].run, run)) {
                *out = &list->runs[k];
                return true;
            }
        hs_mount_list_free(list);
    }
    return false;
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
    int rc = hs_input_open_file(&in, f->path, err);
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

static int import_held(struct hs_mounts *m, const struct hs_mounted_run *r, struct held *h, struct hs_err *err)
{
    struct hs_err last = HS_ERR_INIT;
    for (size_t i = 0; i < r->n; i++) {
        struct hs_imported *list = NULL;
        size_t n = 0;
        int rc = import_file(m, NULL, &r->files[i], false, (int64_t)i, &list, &n, &last);
        if (rc && rc != HS_EINPUT) {
            if (err)
                *err = last;
            return rc;
        }
        if (rc)
            continue;
        h->views = hs_realloc_array(h->views, h->nviews + n, sizeof(struct hs_view *));
        for (size_t k = 0; k < n; k++) {
            h->views[h->nviews++] = list[k].view;
            list[k].view = NULL;
        }
        hs_imported_free(list, n);
    }
    if (!h->nviews) {
        if (err)
            *err = last;
        return HS_EINPUT;
    }
    return hs_run_build(r->run, h->views, h->nviews, &h->run, err);
}

/* Names, sizes and times of the files: what an answer about a run in memory depends on. */
static void hash_files(const struct hs_mounted_run *r, char out[33])
{
    crypto_generichash_state s;
    unsigned char sum[16];
    crypto_generichash_init(&s, NULL, 0, sizeof sum);
    for (size_t i = 0; i < r->n; i++) {
        char line[100];
        int n =
            snprintf(line, sizeof line, "|%lld|%lld|", (long long)r->files[i].size, (long long)r->files[i].mtime_ns);
        crypto_generichash_update(&s, (const unsigned char *)r->files[i].path, strlen(r->files[i].path));
        crypto_generichash_update(&s, (const unsigned char *)line, (unsigned long long)n);
    }
    crypto_generichash_final(&s, sum, sizeof sum);
    sodium_bin2hex(out, 33, sum, sizeof sum);
}

/* Analyses it in memory; who comes second waits for the first. `why`: it could not be kept; NULL. */
static int hold(struct hs_mounts *m, const struct hs_mounted_run *r, const char *why, struct hs_err *err)
{
    pthread_mutex_lock(&m->lock);
    struct held *h = find_held(m, r->run);
    while (h && !h->run) {
        pthread_cond_wait(&m->changed, &m->lock);
        h = find_held(m, r->run);
    }
    if (h) {
        pthread_mutex_unlock(&m->lock);
        return HS_OK;
    }
    if (r->bytes > m->o.memory_bytes - m->bytes) {
        pthread_mutex_unlock(&m->lock);
        return hs_fail(
            err, HS_ELIMIT,
            "the run has %lld bytes of files, and %lld of [cache] memory_bytes are free: keep it (cache=true), or ask "
            "again when others have gone",
            (long long)r->bytes, (long long)(m->o.memory_bytes - m->bytes));
    }
    h = held_of(m, r->run);
    h->bytes = r->bytes;
    m->bytes += h->bytes;
    pthread_mutex_unlock(&m->lock);
    struct held done = {0};
    int rc = import_held(m, r, &done, err);
    pthread_mutex_lock(&m->lock);
    hash_files(r, h->hash);
    h->views = done.views;
    h->nviews = done.nviews;
    h->run = done.run;
    h->last = now();
    if (why && h->run)
        h->run->note = h->note =
            hs_asprintf("The run could not be kept in the store, so it was analysed in memory: %s.", why);
    if (rc)
        unlink_held(m, h);
    pthread_cond_broadcast(&m->changed);
    pthread_mutex_unlock(&m->lock);
    if (rc)
        free_held(h);
    return rc;
}

/* What an answer depends on: all that is in it, in the order in which it came. */
static void hash_more(struct held *h, struct hs_view *const *views, size_t n)
{
    crypto_generichash_state s;
    unsigned char sum[16];
    crypto_generichash_init(&s, NULL, 0, sizeof sum);
    crypto_generichash_update(&s, (const unsigned char *)h->hash, sizeof h->hash);
    for (size_t i = 0; i < n; i++) {
        char line[120];
        int len = snprintf(line, sizeof line, "|%s|%lld|%lld|%p", views[i]->id, (long long)views[i]->rank,
                           (long long)views[i]->sum.events, (const void *)views[i]);
        crypto_generichash_update(&s, (const unsigned char *)line, (unsigned long long)len);
    }
    crypto_generichash_final(&s, sum, sizeof sum);
    sodium_bin2hex(h->hash, sizeof h->hash, sum, sizeof sum);
}

int hs_mounts_adopt(struct hs_mounts *m, const char *run, struct hs_view *const *views, size_t n, int64_t bytes,
                    struct hs_err *err)
{
    struct hs_run *made = NULL;
    if (in_store(m, run, NULL))
        return hs_fail(err, HS_ECONFLICT, "the store has a run '%.100s': name another, or keep the traces", run);
    pthread_mutex_lock(&m->lock);
    for (struct held *h = find_held(m, run); h && !h->run; h = find_held(m, run))
        pthread_cond_wait(&m->changed, &m->lock); /* somebody reads a mounted run of this name */
    if (bytes > m->o.memory_bytes - m->bytes) {
        int64_t room = m->o.memory_bytes - m->bytes;
        pthread_mutex_unlock(&m->lock);
        return hs_fail(err, HS_ELIMIT,
                       "%lld bytes, and %lld of [cache] memory_bytes are free: keep them, or try again later",
                       (long long)bytes, (long long)room);
    }
    struct held *h = held_of(m, run);
    h->views = hs_realloc_array(h->views, h->nviews + n, sizeof(struct hs_view *));
    memcpy(h->views + h->nviews, views, n * sizeof(struct hs_view *));
    int rc = hs_run_build(run, h->views, h->nviews + n, &made, err);
    if (!rc) {
        if (h->run) {
            h->old = hs_realloc_array(h->old, h->nold + 1, sizeof(struct hs_run *));
            h->old[h->nold++] = h->run;
        }
        h->run = made;
        h->nviews += n;
        h->bytes += bytes;
        m->bytes += bytes;
        h->last = now();
        hash_more(h, views, n);
    } else if (!h->run) {
        unlink_held(m, h);
        free_held(h);
    }
    pthread_mutex_unlock(&m->lock);
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
    struct hs_mount_list list;
    const struct hs_mounted_run *r;
    pthread_mutex_lock(&m->lock);
    wait_for_import(m, run); /* half of a run is no answer */
    struct held *h = find_held(m, run);
    bool ready = h && h->run && choice != 1;
    pthread_mutex_unlock(&m->lock);
    if (ready || in_store(m, run, err))
        return HS_OK;
    if (!m->o.n || !hs_mounts_find(m, run, &list, &r))
        return HS_ENOTFOUND; /* the store's sentence stands in err */
    hs_err_clear(err);
    int rc = open_mounted(m, r, choice, err);
    hs_mount_list_free(&list);
    return rc;
}

int hs_mounts_hash(struct hs_mounts *m, const char *run, char out[33], struct hs_err *err)
{
    int rc = hs_store_run_hash(m->o.store, run, out, err);
    if (rc != HS_ENOTFOUND)
        return rc;
    pthread_mutex_lock(&m->lock);
    struct held *h = find_held(m, run);
    if (h && h->run) {
        memcpy(out, h->hash, sizeof h->hash);
        h->last = now();
        rc = HS_OK;
    }
    pthread_mutex_unlock(&m->lock);
    return rc;
}

int hs_mounts_pin(struct hs_mounts *m, const char *run, struct hs_run **out, struct hs_err *err)
{
    int rc = hs_store_pin_run(m->o.store, run, out, err);
    if (rc != HS_ENOTFOUND)
        return rc;
    pthread_mutex_lock(&m->lock);
    struct held *h = find_held(m, run);
    if (h && h->run) {
        h->users++;
        *out = h->run;
        rc = HS_OK;
    }
    pthread_mutex_unlock(&m->lock);
    return rc;
}

/* The entry that a pinned run is of, as it is now or was; NULL: it is the store's. With the lock. */
static struct held *held_with(const struct hs_mounts *m, const struct hs_run *run)
{
    for (struct held *h = m->held; h; h = h->next) {
        if (h->run == run)
            return h;
        for (size_t i = 0; i < h->nold; i++)
            if (h->old[i] == run)
                return h;
    }
    return NULL;
}

void hs_mounts_unpin(struct hs_mounts *m, struct hs_run *run)
{
    pthread_mutex_lock(&m->lock);
    struct held *h = held_with(m, run);
    if (h) {
        h->users--;
        h->last = now();
    }
    pthread_mutex_unlock(&m->lock);
    if (!h)
        hs_store_unpin_run(m->o.store, run);
}

bool hs_mounts_holds(struct hs_mounts *m, const struct hs_run *run)
{
    pthread_mutex_lock(&m->lock);
    bool holds = held_with(m, run) != NULL;
    pthread_mutex_unlock(&m->lock);
    return holds;
}

bool hs_mounts_in_memory(struct hs_mounts *m, const char *run)
{
    pthread_mutex_lock(&m->lock);
    struct held *h = find_held(m, run);
    bool ready = h && h->run;
    pthread_mutex_unlock(&m->lock);
    return ready;
}
