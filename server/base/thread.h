/* Threads: a bounded queue of pointers between one stage and the next, and a pool of workers for long jobs. */
#ifndef HS_BASE_THREAD_H
#define HS_BASE_THREAD_H

#include "base/err.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define HS_QUEUE_MAX 64

/* A bounded first-in first-out queue, any number of threads at each end. `lock` protects all of it. */
struct hs_queue {
    pthread_mutex_t lock;
    pthread_cond_t not_empty, not_full;
    void *items[HS_QUEUE_MAX];
    size_t head, count, depth;
    bool closed, aborted;
};

void hs_queue_init(struct hs_queue *q, size_t depth); /* depth in 1..HS_QUEUE_MAX: how far ahead a producer may run */
void hs_queue_destroy(struct hs_queue *q);            /* drops what is left: free the items first */
bool hs_queue_put(struct hs_queue *q, void *item); /* waits for room; false: aborted, the item is still the caller's */
void *hs_queue_get(struct hs_queue *q);            /* waits; NULL: closed and empty, or aborted */
void *hs_queue_try_get(struct hs_queue *q);        /* never waits, works after an abort too: for cleaning up */
void hs_queue_close(struct hs_queue *q);           /* the producer's last word: no more items */
void hs_queue_abort(struct hs_queue *q);           /* either side's: wakes all, everything stops */

/* A fixed pool of workers. Jobs run in order of submission; a job must not wait for another job of the same pool. */
struct hs_pool;
typedef void hs_job(void *arg);
struct hs_pool *hs_pool_new(unsigned workers, size_t max_waiting);
bool hs_pool_submit(struct hs_pool *p, hs_job *fn,
                    void *arg);       /* false: max_waiting jobs are waiting, or it is stopping */
void hs_pool_free(struct hs_pool *p); /* lets every submitted job finish, then joins */

#endif
