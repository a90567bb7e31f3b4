#include "http/stream.h"

#include "base/log.h"
#include "http/dispatch.h"
#include "http/server.h"

#include <stdlib.h>
#include <string.h>

struct hs_body_stream {
    struct hs_request *request; /* lives as long as MHD asks for bytes */
    struct hs_body_source source;
    struct hs_buf part;
    size_t sent; /* bytes of the part that MHD has */
    bool done, failed;
};

static int make_part(struct hs_body_stream *s, struct hs_err *err)
{
    s->sent = 0;
    hs_buf_clear(&s->part);
    int rc = HS_OK;
    while (!rc && !s->done && !s->part.n)
        rc = s->source.next(s->source.ctx, &s->part, &s->done, err);
    s->failed = rc != HS_OK;
    return rc;
}

int hs_body_stream_begin(struct hs_request *r, const struct hs_body_source *source, struct hs_err *err)
{
    struct hs_body_stream *s = hs_calloc(1, sizeof *s);
    s->request = r;
    s->source = *source;
    s->part = (struct hs_buf)HS_BUF_INIT(source->ceiling);
    int rc = make_part(s, err);
    if (rc)
        hs_body_stream_free(s);
    else
        r->reply.stream = s;
    return rc;
}

void hs_body_stream_free(struct hs_body_stream *s)
{
    if (!s)
        return;
    s->source.free(s->source.ctx);
    hs_buf_free(&s->part);
    free(s);
}

/* On a worker, the connection suspended. */
static void work(void *arg)
{
    struct hs_body_stream *s = arg;
    struct hs_server *server = s->request->server;
    struct hs_err err = HS_ERR_INIT;
    if (make_part(s, &err)) /* the head is gone: all that can be done is to break the connection off */
        hs_log(HS_LOG_ERROR, "answer broken off", " code=%s", hs_status_code(err.code));
    hs_request_resume(s->request); /* from here on the stream is MHD's again */
    hs_server_job_done(server);
}

static ssize_t read_part(void *cls, uint64_t pos, char *to, size_t max)
{
    struct hs_body_stream *s = cls;
    (void)pos;
    if (s->failed)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (s->sent == s->part.n) {
        if (s->done)
            return MHD_CONTENT_READER_END_OF_STREAM;
        hs_request_suspend(s->request);
        if (!hs_server_submit(s->request->server, s->request->server->workers, work, s)) {
            s->failed = true; /* too much waits already, or the server stops */
            hs_request_resume(s->request);
        }
        return 0;
    }
    size_t n = s->part.n - s->sent < max ? s->part.n - s->sent : max;
    memcpy(to, s->part.p + s->sent, n);
    s->sent += n;
    s->request->bytes_out += n;
    return (ssize_t)n;
}

static void free_stream(void *cls)
{
    hs_body_stream_free(cls);
}

struct MHD_Response *hs_body_stream_response(struct hs_request *r)
{
    enum { BLOCK = 64 * 1024 };
    struct MHD_Response *m =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_part, r->reply.stream, free_stream);
    if (m)
        r->reply.stream = NULL;
    return m;
}
