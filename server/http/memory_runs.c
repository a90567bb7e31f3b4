#include "http/memory_runs.h"

#include "http/reply.h"

#include "base/log.h"
#include "store/store.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct held {
    struct held *next;
    char *name, hash[33];
    char *note;
    struct hs_run *run;  /* NULL while it is being read */
    struct hs_run **old; /* what it was before more traces came: somebody may have it open */
    size_t nold;
    struct hs_view **views;
    size_t nviews;
    int64_t bytes; /* of its files */
    unsigned users;
    time_t last; /* question, by the monotonic clock */
};

struct hs_memory_runs {
    int64_t max_bytes, idle_s;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a run was read, or the end has come */
    struct held *held;      /* and all below */
    int64_t bytes;
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

/* ---- the list; with the lock ---- */

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

static struct held *find(struct hs_memory_runs *m, const char *name)
{
    struct held *h = m->held;
    while (h && strcmp(h->name, name) != 0)
        h = h->next;
    return h;
}

/* Waits while the run is being read. */
static struct held *find_read(struct hs_memory_runs *m, const char *name)
{
    struct held *h;
    while ((h = find(m, name)) && !h->run)
        pthread_cond_wait(&m->changed, &m->lock);
    return h;
}

/* Takes it off the list; the caller frees it, without the lock. */
static void unlink_held(struct hs_memory_runs *m, struct held *h)
{
    struct held **p = &m->held;
    while (*p != h)
        p = &(*p)->next;
    *p = h->next;
    m->bytes -= h->bytes;
}

static struct held *add_held(struct hs_memory_runs *m, const char *name)
{
    struct held *h = hs_calloc(1, sizeof *h);
    h->name = hs_strdup(name);
    h->next = m->held;
    m->held = h;
    return h;
}

static int check_room(const struct hs_memory_runs *m, int64_t bytes, struct hs_err *err)
{
    if (bytes <= m->max_bytes - m->bytes)
        return HS_OK;
    return hs_fail(
        err, HS_ELIMIT,
        "%lld bytes of files, and %lld of [cache] memory_bytes are free: keep them in the store (cache=true, of "
        "an upload keep=true), or ask again when others have gone",
        (long long)bytes, (long long)(m->max_bytes - m->bytes));
}

/* ---- what nobody asks for goes ---- */

/* One that nobody uses and nobody has asked for lately; NULL. */
static struct held *take_idle(struct hs_memory_runs *m)
{
    time_t t = now();
    for (struct held *h = m->held; h; h = h->next)
        if (h->run && !h->users && t - h->last >= m->idle_s) {
            unlink_held(m, h);
            return h;
        }
    return NULL;
}

static void *sweep(void *arg)
{
    struct hs_memory_runs *m = arg;
    pthread_mutex_lock(&m->lock);
    while (!m->stop) {
        struct held *h = take_idle(m);
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

struct hs_memory_runs *hs_memory_runs_new(int64_t max_bytes, int64_t idle_s)
{
    struct hs_memory_runs *m = hs_calloc(1, sizeof *m);
    m->max_bytes = max_bytes;
    m->idle_s = idle_s;
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->changed, NULL);
    m->sweeps = !pthread_create(&m->sweeper, NULL, sweep, m);
    return m;
}

void hs_memory_runs_free(struct hs_memory_runs *m)
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
    pthread_cond_destroy(&m->changed);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

/* ---- filling it ---- */

int hs_memory_begin(struct hs_memory_runs *m, const char *run, int64_t bytes, bool *mine, struct hs_err *err)
{
    int rc = HS_OK;
    pthread_mutex_lock(&m->lock);
    *mine = !find_read(m, run);
    if (*mine)
        rc = check_room(m, bytes, err);
    if (*mine && !rc) {
        add_held(m, run)->bytes = bytes;
        m->bytes += bytes;
    }
    pthread_mutex_unlock(&m->lock);
    return rc;
}

int hs_memory_end(struct hs_memory_runs *m, const char *run, struct hs_view **views, size_t n, const char hash[33],
                  const char *note, struct hs_err *err)
{
    struct hs_run *made = NULL;
    int rc = n ? hs_run_build(run, views, n, &made, err) : HS_EINPUT;
    pthread_mutex_lock(&m->lock);
    struct held *h = find(m, run); /* there since begin: only what was read is taken away */
    h->views = views;
    h->nviews = n;
    h->run = made;
    h->last = now();
    memcpy(h->hash, hash, sizeof h->hash);
    if (made && note)
        made->note = h->note = hs_strdup(note);
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
    struct hs_buf b = HS_BUF_INIT(SIZE_MAX / 4);
    hs_buf_put(&b, h->hash, sizeof h->hash);
    for (size_t i = 0; i < n; i++)
        hs_buf_printf(&b, "|%s|%lld|%lld|%p", views[i]->id, (long long)views[i]->rank, (long long)views[i]->sum.events,
                      (const void *)views[i]);
    hs_hash_hex(b.p, b.n, h->hash);
    hs_buf_free(&b);
}

int hs_memory_add(struct hs_memory_runs *m, const char *run, struct hs_view *const *views, size_t n, int64_t bytes,
                  struct hs_err *err)
{
    struct hs_run *made = NULL;
    pthread_mutex_lock(&m->lock);
    struct held *h = find_read(m, run); /* somebody may be reading a mounted run of this name */
    size_t before = h ? h->nviews : 0;
    struct hs_view **all = hs_realloc_array(NULL, before + n, sizeof(struct hs_view *));
    if (before)
        memcpy(all, h->views, before * sizeof(struct hs_view *));
    memcpy(all + before, views, n * sizeof(struct hs_view *));
    int rc = check_room(m, bytes, err);
    if (!rc)
        rc = hs_run_build(run, all, before + n, &made, err);
    if (!rc) {
        if (!h)
            h = add_held(m, run);
        if (h->run) {
            h->old = hs_realloc_array(h->old, h->nold + 1, sizeof(struct hs_run *));
            h->old[h->nold++] = h->run;
        }
        free(h->views);
        h->views = all;
        h->nviews += n;
        h->run = made;
        made->note = h->note;
        h->bytes += bytes;
        m->bytes += bytes;
        h->last = now();
        hash_more(h, views, n);
    } else {
        free(all);
    }
    pthread_mutex_unlock(&m->lock);
    return rc;
}

/* ---- asking ---- */

/* The entry that a pinned run is of, as it is now or was. With the lock. */
static struct held *held_with(const struct hs_memory_runs *m, const struct hs_run *run)
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

bool hs_memory_has(struct hs_memory_runs *m, const char *run)
{
    pthread_mutex_lock(&m->lock);
    struct held *h = find(m, run);
    bool has = h && h->run;
    pthread_mutex_unlock(&m->lock);
    return has;
}

bool hs_memory_hash(struct hs_memory_runs *m, const char *run, char out[33])
{
    pthread_mutex_lock(&m->lock);
    struct held *h = find(m, run);
    bool has = h && h->run;
    if (has) {
        memcpy(out, h->hash, sizeof h->hash);
        h->last = now();
    }
    pthread_mutex_unlock(&m->lock);
    return has;
}

struct hs_run *hs_memory_pin(struct hs_memory_runs *m, const char *run)
{
    pthread_mutex_lock(&m->lock);
    struct held *h = find(m, run);
    struct hs_run *found = h ? h->run : NULL;
    if (found)
        h->users++;
    pthread_mutex_unlock(&m->lock);
    return found;
}

bool hs_memory_unpin(struct hs_memory_runs *m, const struct hs_run *run)
{
    pthread_mutex_lock(&m->lock);
    struct held *h = held_with(m, run);
    if (h) {
        h->users--;
        h->last = now();
    }
    pthread_mutex_unlock(&m->lock);
    return h != NULL;
}

bool hs_memory_holds(struct hs_memory_runs *m, const struct hs_run *run)
{
    pthread_mutex_lock(&m->lock);
    bool holds = held_with(m, run) != NULL;
    pthread_mutex_unlock(&m->lock);
    return holds;
}
