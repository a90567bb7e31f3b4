#include "http/watch.h"

#include "base/clock.h"
#include "http/upload.h"

#include <microhttpd.h>
#include <sys/socket.h>
#include <time.h>

enum { LOOK_EVERY_NS = 250000000 };

/* Under the lock, so that the sockets live: hs_watch_remove comes before MHD closes one. */
static void look(const struct hs_watch *w)
{
    for (const struct hs_request *r = w->first; r; r = r->next_upload) {
        char byte;
        if (recv(r->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
            shutdown(r->fd, SHUT_RD);
    }
}

static void *run(void *arg)
{
    struct hs_watch *w = arg;
    pthread_mutex_lock(&w->lock);
    while (!w->stop) {
        if (!w->first) {
            pthread_cond_wait(&w->changed, &w->lock);
            continue;
        }
        int64_t at = hs_now_ns() + LOOK_EVERY_NS;
        struct timespec t = {.tv_sec = at / 1000000000, .tv_nsec = at % 1000000000};
        pthread_cond_timedwait(&w->changed, &w->lock, &t);
        look(w);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

int hs_watch_start(struct hs_watch *w, struct hs_err *err)
{
    pthread_condattr_t attr;
    *w = (struct hs_watch){.stop = false};
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&w->changed, &attr);
    pthread_condattr_destroy(&attr);
    if (pthread_create(&w->thread, NULL, run, w))
        return hs_fail(err, HS_EINTERNAL, "no threads could be started");
    w->started = true;
    return HS_OK;
}

void hs_watch_stop(struct hs_watch *w)
{
    if (!w->started)
        return;
    pthread_mutex_lock(&w->lock);
    w->stop = true;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    w->started = false;
}

void hs_watch_add(struct hs_watch *w, struct hs_request *r)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(r->conn, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (!info)
        return;
    r->fd = info->connect_fd;
    pthread_mutex_lock(&w->lock);
    r->next_upload = w->first;
    w->first = r;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

void hs_watch_remove(struct hs_watch *w, struct hs_request *r)
{
    pthread_mutex_lock(&w->lock);
    for (struct hs_request **p = &w->first; *p; p = &(*p)->next_upload)
        if (*p == r) {
            *p = r->next_upload;
            break;
        }
    pthread_mutex_unlock(&w->lock);
}

void hs_watch_abort_all(struct hs_watch *w)
{
    pthread_mutex_lock(&w->lock);
    for (struct hs_request *r = w->first; r; r = r->next_upload)
        hs_upload_abort(r->upload, true);
    pthread_mutex_unlock(&w->lock);
}
