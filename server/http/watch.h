/* watch: notices clients that went away in the middle of an upload.
 *
 * libmicrohttpd 0.9.75 waits with edge-triggered epoll and takes a short read for all there is. When a client's FIN came
 * together with its last bytes there is no further edge, and the connection would sit there, its import with it, until
 * the idle timeout. So a thread looks at the sockets of running uploads a few times a second: where the other side has
 * closed, shutdown(SHUT_RD) makes a new edge, and libmicrohttpd reads the end. It changes nothing else: what the client
 * has sent can still be read, and a client that closed its half after a whole request still gets its answer.
 *
 * The thread sleeps while there is no upload. `lock` protects everything here. */
#ifndef HS_HTTP_WATCH_H
#define HS_HTTP_WATCH_H

#include "base/err.h"

#include <pthread.h>
#include <stdbool.h>

struct hs_request;

struct hs_watch {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    struct hs_request *first; /* linked by next_upload */
    bool started, stop;
};

int hs_watch_start(struct hs_watch *w, struct hs_err *err);
void hs_watch_stop(struct hs_watch *w);

/* On MHD's thread, while the connection lives. */
void hs_watch_add(struct hs_watch *w, struct hs_request *r);
void hs_watch_remove(struct hs_watch *w, struct hs_request *r); /* of one that is not there: nothing */

void hs_watch_abort_all(struct hs_watch *w); /* cancels every running upload */

#endif
