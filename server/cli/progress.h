/* progress: waits for a number of jobs and, when stderr is a terminal and the work takes over a second, draws a bar:
 *
 *     reading 42 %  1.3 GB of 3.1 GB  5.2 M events  0.9 GB/s
 *
 * `lock` protects done; what has been read so far is asked of the caller. */
#ifndef HS_CLI_PROGRESS_H
#define HS_CLI_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Adds up what the jobs have read so far. Called from hs_progress_wait, while jobs run. */
typedef void hs_progress_sum(void *ctx, uint64_t *bytes, uint64_t *events);

struct hs_progress {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t done;
    int64_t total, start_ns; /* bytes in all, -1 unknown */
    bool terminal, drawn;
    hs_progress_sum *sum;
    void *ctx;
};

void hs_progress_init(struct hs_progress *p, int64_t total_bytes, hs_progress_sum *sum, void *ctx);
void hs_progress_done(struct hs_progress *p);              /* one job ended; from any thread */
void hs_progress_wait(struct hs_progress *p, size_t jobs); /* until that many ended */
void hs_progress_free(struct hs_progress *p);

#endif
