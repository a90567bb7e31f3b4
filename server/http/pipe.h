/* pipe: bytes from a socket to an importer, bounded, so that a fast client waits for a slow import instead of filling
 * memory. The writer is MHD's thread and never blocks: when there is too little room it suspends its connection, and
 * the reader resumes it once half of the pipe is free. The reader is an import thread and blocks.
 *
 * `lock` protects every field; suspend and resume are called under it, so that a resume can never overtake its suspend. */
#ifndef HS_HTTP_PIPE_H
#define HS_HTTP_PIPE_H

#include "base/err.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct hs_pipe {
    pthread_mutex_t lock;
    pthread_cond_t readable;
    char *ring;
    size_t cap, head, count;
    bool eof;         /* the writer is done */
    bool broken;      /* the writer went away: what came so far is no whole file */
    bool reader_gone; /* nobody reads any more: writes succeed and are dropped */
    bool paused;      /* the writer's connection is suspended */
    void (*suspend)(void *ctx);
    void (*resume)(void *ctx);
    void *ctx;
};

void hs_pipe_init(struct hs_pipe *p, size_t cap, void (*suspend)(void *), void (*resume)(void *), void *ctx);
void hs_pipe_destroy(struct hs_pipe *p);

/* The writer's side. */
size_t hs_pipe_room(struct hs_pipe *p);                         /* bytes that fit now; SIZE_MAX when nobody reads */
void hs_pipe_write(struct hs_pipe *p, const void *b, size_t n); /* n <= hs_pipe_room */
bool hs_pipe_pause(struct hs_pipe *p, size_t want);             /* true: suspended; false: `want` bytes fit by now */
void hs_pipe_end(struct hs_pipe *p);
bool hs_pipe_break(struct hs_pipe *p); /* false, and nothing happens: all of the file had come already */

/* The reader's side; the signature is that of hs_input.read. HS_ECANCELLED once the pipe is broken. */
int hs_pipe_read(void *pipe, void *buf, size_t cap, size_t *got, struct hs_err *err);
void hs_pipe_leave(struct hs_pipe *p);

#endif
