#include "http/pipe.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void hs_pipe_init(struct hs_pipe *p, size_t cap, void (*suspend)(void *), void (*resume)(void *), void *ctx)
{
    *p = (struct hs_pipe){.ring = hs_malloc(cap), .cap = cap, .suspend = suspend, .resume = resume, .ctx = ctx};
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->readable, NULL);
}

void hs_pipe_destroy(struct hs_pipe *p)
{
    pthread_cond_destroy(&p->readable);
    pthread_mutex_destroy(&p->lock);
    free(p->ring);
}

/* Under the lock. */
static size_t room(const struct hs_pipe *p)
{
    return p->reader_gone ? SIZE_MAX : p->cap - p->count;
}

/* Under the lock. */
static void unpause(struct hs_pipe *p)
{
    if (!p->paused)
        return;
    p->paused = false;
    p->resume(p->ctx);
}

size_t hs_pipe_room(struct hs_pipe *p)
{
    pthread_mutex_lock(&p->lock);
    size_t n = room(p);
    pthread_mutex_unlock(&p->lock);
    return n;
}

void hs_pipe_write(struct hs_pipe *p, const void *b, size_t n)
{
    pthread_mutex_lock(&p->lock);
    if (!p->reader_gone && n) {
        size_t at = (p->head + p->count) % p->cap, first = p->cap - at < n ? p->cap - at : n;
        memcpy(p->ring + at, b, first);
        memcpy(p->ring, (const char *)b + first, n - first);
        p->count += n;
        pthread_cond_signal(&p->readable);
    }
    pthread_mutex_unlock(&p->lock);
}

bool hs_pipe_pause(struct hs_pipe *p, size_t want)
{
    pthread_mutex_lock(&p->lock);
    bool pause = room(p) < want;
    if (pause) {
        p->paused = true;
        p->suspend(p->ctx);
    }
    pthread_mutex_unlock(&p->lock);
    return pause;
}

void hs_pipe_end(struct hs_pipe *p)
{
    pthread_mutex_lock(&p->lock);
    p->eof = true;
    pthread_cond_signal(&p->readable);
    pthread_mutex_unlock(&p->lock);
}

bool hs_pipe_break(struct hs_pipe *p)
{
    pthread_mutex_lock(&p->lock);
    bool whole = p->eof;
    if (!whole) {
        p->broken = true;
        pthread_cond_signal(&p->readable);
        unpause(p);
    }
    pthread_mutex_unlock(&p->lock);
    return !whole;
}

int hs_pipe_read(void *pipe, void *buf, size_t cap, size_t *got, struct hs_err *err)
{
    struct hs_pipe *p = pipe;
    pthread_mutex_lock(&p->lock);
    while (!p->count && !p->eof && !p->broken)
        pthread_cond_wait(&p->readable, &p->lock);
    int rc = HS_OK;
    if (p->broken) {
        rc = hs_fail(err, HS_ECANCELLED, "the upload stopped before its end; nothing of it is kept");
    } else {
        size_t n = p->count < cap ? p->count : cap, first = p->cap - p->head < n ? p->cap - p->head : n;
        memcpy(buf, p->ring + p->head, first);
        memcpy((char *)buf + first, p->ring, n - first);
        p->head = (p->head + n) % p->cap;
        p->count -= n;
        *got = n;
        if (p->count <= p->cap / 2) /* not at once: a connection that sleeps and wakes for every block is slow */
            unpause(p);
    }
    pthread_mutex_unlock(&p->lock);
    return rc;
}

void hs_pipe_leave(struct hs_pipe *p)
{
    pthread_mutex_lock(&p->lock);
    p->reader_gone = true;
    p->count = 0;
    unpause(p);
    pthread_mutex_unlock(&p->lock);
}
