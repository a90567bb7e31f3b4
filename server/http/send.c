#include "http/send.h"

#include "http/server.h"
#include "http/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void unref_blob(void *blob)
{
    hs_blob_unref(blob);
}

static struct MHD_Response *response_of_blob(struct hs_blob *b)
{
    struct MHD_Response *m =
        MHD_create_response_from_buffer_with_free_callback_cls(b->n, b->p, unref_blob, hs_blob_ref(b));
    if (!m)
        hs_blob_unref(b);
    return m;
}

static void add(struct MHD_Response *m, const char *name, const char *value)
{
    if (value)
        MHD_add_response_header(m, name, value); /* refuses CR and LF in values by itself */
}

static void add_cors(struct MHD_Response *m, const struct hs_request *r)
{
    if (r->server->o.ncors)
        add(m, "Vary", "Origin");
    if (!r->origin_allowed)
        return;
    add(m, "Access-Control-Allow-Origin", r->origin);
    add(m, "Access-Control-Expose-Headers", "ETag, Location, Content-Disposition");
    if (r->method == HS_OPTIONS) {
        add(m, "Access-Control-Allow-Methods", r->reply.allow);
        add(m, "Access-Control-Allow-Headers", "Content-Type, If-None-Match, Range");
        add(m, "Access-Control-Max-Age", "600");
    }
}

static void add_etag(struct MHD_Response *m, const struct hs_reply *y, bool gzip)
{
    char tag[HS_ETAG_SIZE + 8];
    if (!y->etag[0])
        return;
    snprintf(tag, sizeof tag, "\"%s%s\"", y->etag, gzip ? "-gz" : "");
    add(m, "ETag", tag);
}

enum MHD_Result hs_send_reply(struct hs_request *r)
{
    /* No script, style, image or connection but our own; data: images are the favicon and the table's glyphs. The page
     * opens Perfetto's UI in a window of its own and talks to it, so there is no Cross-Origin-Opener-Policy. */
    static const char csp[] = "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
                              "frame-ancestors 'none'; form-action 'self'";
    static char none[1];
    struct hs_reply *y = &r->reply;
    bool gzip = y->gz && r->accepts_gzip && y->status != 304;
    bool ranges = y->fd >= 0;
    struct MHD_Response *m;
    if (y->fd >= 0) {
        m = MHD_create_response_from_fd_at_offset64(y->fd_size, y->fd, y->fd_offset);
        if (m)
            y->fd = -1; /* MHD closes it */
        r->bytes_out = y->fd_size;
    } else if (y->stream) {
        m = hs_body_stream_response(r);
    } else if (y->body && y->status != 304) {
        m = response_of_blob(gzip ? y->gz : y->body);
        r->bytes_out = gzip ? y->gz->n : y->body->n;
    } else {
        m = MHD_create_response_from_buffer(0, none, MHD_RESPMEM_PERSISTENT);
    }
    if (!m)
        return MHD_NO;
    if (y->type && y->status != 304 && y->status != 204)
        add(m, "Content-Type", y->type);
    if (gzip)
        add(m, "Content-Encoding", "gzip");
    if (y->body)
        add(m, "Vary", "Accept-Encoding");
    add_etag(m, y, gzip);
    /* Answers belong to whoever may ask for them, and a run may change: keep a copy, but ask again with its ETag. */
    add(m, "Cache-Control", y->etag[0] ? "private, no-cache" : "no-store");
    add(m, "X-Content-Type-Options", "nosniff");
    add(m, "Referrer-Policy", "same-origin");
    add(m, "Content-Security-Policy", csp);
    add(m, "Location", y->location);
    add(m, "Allow", y->allow);
    add(m, "Retry-After", y->retry_after);
    add(m, "Content-Range", y->content_range);
    add(m, "Content-Disposition", y->disposition);
    add(m, "Accept-Ranges", ranges ? "bytes" : NULL);
    add_cors(m, r);
    enum MHD_Result ok = MHD_queue_response(r->conn, y->status, m);
    MHD_destroy_response(m);
    return ok;
}
