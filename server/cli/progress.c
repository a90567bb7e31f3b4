#include "cli/progress.h"

#include "base/clock.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

void hs_progress_init(struct hs_progress *p, int64_t total_bytes, hs_progress_sum *sum, void *ctx)
{
    *p = (struct hs_progress){
        .total = total_bytes, .start_ns = hs_now_ns(), .terminal = isatty(STDERR_FILENO), .sum = sum, .ctx = ctx};
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, &attr);
    pthread_condattr_destroy(&attr);
}

void hs_progress_free(struct hs_progress *p)
{
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
}

void hs_progress_done(struct hs_progress *p)
{
    pthread_mutex_lock(&p->lock);
    p->done++;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

static void draw(struct hs_progress *p)
{
    uint64_t bytes = 0, events = 0;
    double seconds = (double)(hs_now_ns() - p->start_ns) / 1e9;
    if (!p->terminal || seconds < 1)
        return;
    p->sum(p->ctx, &bytes, &events);
    double mb = (double)bytes / 1e6;
    fputs("\r\033[Kreading ", stderr);
    if (p->total > 0)
        fprintf(stderr, "%3.0f %%  %.0f MB of %.0f MB", 1e8 * mb / (double)p->total, mb, (double)p->total / 1e6);
    else
        fprintf(stderr, "%.0f MB", mb);
    fprintf(stderr, "  %.1f M events  %.0f MB/s", (double)events / 1e6, mb / seconds);
    p->drawn = true;
}

void hs_progress_wait(struct hs_progress *p, size_t jobs)
{
    pthread_mutex_lock(&p->lock);
    while (p->done < jobs) {
        int64_t at = hs_now_ns() + 100000000;
        struct timespec t = {.tv_sec = at / 1000000000, .tv_nsec = at % 1000000000};
        pthread_cond_timedwait(&p->changed, &p->lock, &t);
        draw(p);
    }
    pthread_mutex_unlock(&p->lock);
    if (p->drawn)
        fputs("\r\033[K", stderr);
}
