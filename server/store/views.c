#include "store/views.h"

#include "store/writer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    struct entry *next; /* most recently used first */
    char id[33];
    struct hs_view *view; /* NULL while it is being opened */
    size_t pins;          /* of users, and of those who wait for it to open */
    size_t bytes;         /* when it was last unpinned */
    bool gone;            /* forgotten: not to be found again */
    bool failed;          /* it could not be opened */
};

struct hs_views {
    pthread_mutex_t lock; /* all below, and the entries */
    pthread_cond_t opened;
    struct entry *first;
    size_t budget, most;
};

struct hs_views *hs_views_new(size_t budget, size_t most)
{
    struct hs_views *s = hs_calloc(1, sizeof *s);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->opened, NULL);
    s->budget = budget;
    s->most = most;
    return s;
}

void hs_views_free(struct hs_views *s)
{
    if (!s)
        return;
    for (struct entry *e = s->first, *next; e; e = next) {
        next = e->next;
        hs_view_close(e->view);
        free(e);
    }
    pthread_cond_destroy(&s->opened);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static void unlink_entry(struct hs_views *s, const struct entry *e)
{
    for (struct entry **p = &s->first; *p; p = &(*p)->next)
        if (*p == e) {
            *p = e->next;
            return;
        }
}

static void push_front(struct hs_views *s, struct entry *e)
{
    e->next = s->first;
    s->first = e;
}

/* Takes the entries that have to go out of the list; the caller closes them without the lock. */
static struct entry *evict(struct hs_views *s)
{
    struct entry *out = NULL, *next;
    size_t bytes = 0, open = 0;
    for (struct entry *e = s->first; e; e = next) {
        next = e->next;
        if (e->pins)
            continue;
        bytes += e->bytes;
        open++;
        if (e->gone || e->failed || bytes > s->budget || open > s->most) {
            bytes -= e->bytes;
            open--;
            unlink_entry(s, e);
            e->next = out;
            out = e;
        }
    }
    return out;
}

static void close_all(struct entry *e)
{
    for (struct entry *next; e; e = next) {
        next = e->next;
        hs_view_close(e->view);
        free(e);
    }
}

static void release(struct hs_views *s, struct entry *e)
{
    if (--e->pins == 0) {
        e->bytes = e->view ? hs_view_bytes(e->view) : 0;
        unlink_entry(s, e);
        push_front(s, e);
    }
}

static struct entry *find(struct hs_views *s, const char *id)
{
    struct entry *e = s->first;
    while (e && (e->gone || e->failed || strcmp(e->id, id)))
        e = e->next;
    return e;
}

/* Waits for another thread that opens the same trace. NULL: it failed there. The lock is held. */
static struct entry *wait_open(struct hs_views *s, struct entry *e)
{
    e->pins++;
    while (!e->view && !e->failed)
        pthread_cond_wait(&s->opened, &s->lock);
    if (e->view)
        return e;
    release(s, e);
    return NULL;
}

int hs_views_pin(struct hs_views *s, const char *id, const char *path, struct hs_view **out, struct hs_err *err)
{
    struct entry *e, *old;
    pthread_mutex_lock(&s->lock);
    e = find(s, id);
    if (e && (e = wait_open(s, e))) {
        *out = e->view;
        pthread_mutex_unlock(&s->lock);
        return HS_OK;
    }
    e = hs_calloc(1, sizeof *e);
    memcpy(e->id, id, strnlen(id, sizeof e->id - 1));
    e->pins = 1;
    push_front(s, e);
    pthread_mutex_unlock(&s->lock);

    struct hs_view *v = NULL;
    int rc = hs_view_open(path, &v, err);

    pthread_mutex_lock(&s->lock);
    e->view = v;
    e->failed = rc != HS_OK;
    if (rc)
        release(s, e);
    else
        *out = v;
    old = evict(s);
    pthread_cond_broadcast(&s->opened);
    pthread_mutex_unlock(&s->lock);
    close_all(old);
    return rc;
}

void hs_views_unpin(struct hs_views *s, struct hs_view *v)
{
    if (!v)
        return;
    pthread_mutex_lock(&s->lock);
    struct entry *e = s->first, *old;
    while (e && e->view != v)
        e = e->next;
    if (e)
        release(s, e);
    old = evict(s);
    pthread_mutex_unlock(&s->lock);
    close_all(old);
}

void hs_views_forget(struct hs_views *s, const char *id)
{
    pthread_mutex_lock(&s->lock);
    struct entry *e = find(s, id), *old;
    if (e)
        e->gone = true;
    old = evict(s);
    pthread_mutex_unlock(&s->lock);
    close_all(old);
}

struct hs_views_stats hs_views_stats(struct hs_views *s)
{
    struct hs_views_stats st = {0, 0, 0};
    pthread_mutex_lock(&s->lock);
    for (const struct entry *e = s->first; e; e = e->next) {
        st.open++;
        st.pinned += e->pins > 0;
        st.bytes += e->pins ? 0 : e->bytes;
    }
    pthread_mutex_unlock(&s->lock);
    return st;
}
