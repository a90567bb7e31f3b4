#include "base/thread.h"

#include "base/mem.h"

#include <stdlib.h>

void hs_queue_init(struct hs_queue *q, size_t depth)
{
    *q = (struct hs_queue){.depth = depth < 1 ? 1 : depth > HS_QUEUE_MAX ? HS_QUEUE_MAX : depth};
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->not_empty, NULL);
    pthread_cond_init(&q->not_full, NULL);
}

void hs_queue_destroy(struct hs_queue *q)
{
    pthread_cond_destroy(&q->not_full);
    pthread_cond_destroy(&q->not_empty);
    pthread_mutex_destroy(&q->lock);
}

bool hs_queue_put(struct hs_queue *q, void *item)
{
    pthread_mutex_lock(&q->lock);
    while (q->count == q->depth && !q->aborted)
        pthread_cond_wait(&q->not_full, &q->lock);
    bool ok = !q->aborted && !q->closed;
    if (ok) {
        q->items[(q->head + q->count++) % HS_QUEUE_MAX] = item;
        pthread_cond_signal(&q->not_empty);
    }
    pthread_mutex_unlock(&q->lock);
    return ok;
}

static void *take(struct hs_queue *q)
{
    void *item = q->items[q->head];
    q->head = (q->head + 1) % HS_QUEUE_MAX;
    q->count--;
    pthread_cond_signal(&q->not_full);
    return item;
}

void *hs_queue_get(struct hs_queue *q)
{
    pthread_mutex_lock(&q->lock);
    while (!q->count && !q->closed && !q->aborted)
        pthread_cond_wait(&q->not_empty, &q->lock);
    void *item = q->count && !q->aborted ? take(q) : NULL;
    pthread_mutex_unlock(&q->lock);
    return item;
}

void *hs_queue_try_get(struct hs_queue *q)
{
    pthread_mutex_lock(&q->lock);
    void *item = q->count ? take(q) : NULL;
    pthread_mutex_unlock(&q->lock);
    return item;
}

static void raise_flag(struct hs_queue *q, bool *flag)
{
    pthread_mutex_lock(&q->lock);
    *flag = true;
    pthread_cond_broadcast(&q->not_empty);
    pthread_cond_broadcast(&q->not_full);
    pthread_mutex_unlock(&q->lock);
}

void hs_queue_close(struct hs_queue *q)
{
    raise_flag(q, &q->closed);
}

void hs_queue_abort(struct hs_queue *q)
{
    raise_flag(q, &q->aborted);
}

/* ---- pool ---- */

struct waiting {
    struct waiting *next;
    hs_job *fn;
    void *arg;
};

struct hs_pool {
    pthread_mutex_t lock; /* protects all below */
    pthread_cond_t work;
    struct waiting *first, **last;
    size_t nwaiting, max_waiting;
    bool stopping;
    unsigned n;
    pthread_t threads[];
};

static void *worker(void *arg)
{
    struct hs_pool *p = arg;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (!p->first && !p->stopping)
            pthread_cond_wait(&p->work, &p->lock);
        struct waiting *w = p->first;
        if (!w)
            break;
        if (!(p->first = w->next))
            p->last = &p->first;
        p->nwaiting--;
        pthread_mutex_unlock(&p->lock);
        w->fn(w->arg);
        free(w);
        pthread_mutex_lock(&p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

struct hs_pool *hs_pool_new(unsigned workers, size_t max_waiting)
{
    if (!workers)
        workers = 1;
    struct hs_pool *p = hs_calloc(1, sizeof *p + workers * sizeof p->threads[0]);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    p->last = &p->first;
    p->max_waiting = max_waiting;
    for (; p->n < workers; p->n++)
        if (pthread_create(&p->threads[p->n], NULL, worker, p))
            break;
    if (!p->n) {
        hs_pool_free(p);
        return NULL;
    }
    return p;
}

bool hs_pool_submit(struct hs_pool *p, hs_job *fn, void *arg)
{
    struct waiting *w = hs_malloc(sizeof *w);
    *w = (struct waiting){NULL, fn, arg};
    pthread_mutex_lock(&p->lock);
    bool ok = !p->stopping && p->nwaiting < p->max_waiting;
    if (ok) {
        *p->last = w;
        p->last = &w->next;
        p->nwaiting++;
        pthread_cond_signal(&p->work);
    }
    pthread_mutex_unlock(&p->lock);
    if (!ok)
        free(w);
    return ok;
}

void hs_pool_free(struct hs_pool *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->stopping = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (unsigned i = 0; i < p->n; i++)
        pthread_join(p->threads[i], NULL);
    pthread_cond_destroy(&p->work);
    pthread_mutex_destroy(&p->lock);
    free(p);
}
