/* stream: a body that is made while it is sent, for answers that are too large to be held. A worker makes one part at a
 * time; while it does, the connection is suspended, and while the client takes a part, no worker is held: a slow client
 * costs a part of memory and nothing else. A client that goes away ends it at the next part.
 *
 * There is no lock: a stream is with a worker exactly while its connection is suspended, else with MHD. */
#ifndef HS_HTTP_STREAM_H
#define HS_HTTP_STREAM_H

#include "http/request.h"

#include <microhttpd.h>

struct hs_body_stream;

struct hs_body_source {
    /* Appends the next part, not empty before the end; *done with the last. */
    int (*next)(void *ctx, struct hs_buf *out, bool *done, struct hs_err *err);
    void (*free)(void *ctx);
    void *ctx;
    size_t ceiling; /* bytes of a part */
};

/* On a worker: makes the first part, so that what is wrong from the start is an error document, and puts the stream into the
 * request's reply. On failure the source is freed. */
int hs_body_stream_begin(struct hs_request *r, const struct hs_body_source *source, struct hs_err *err);
void hs_body_stream_free(struct hs_body_stream *s); /* NULL is fine */

/* MHD's response, which owns the reply's stream from then on. NULL: no memory, and the stream is still the reply's. */
struct MHD_Response *hs_body_stream_response(struct hs_request *r);

#endif
