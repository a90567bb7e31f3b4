/* request: one HTTP request from its first line to its last byte. MHD calls in from its own threads (server.c), a
 * handler may run on a worker while the connection is suspended; the two never touch the request at the same time.
 *
 * What a handler may use: uri, vars, the copied headers, body, server, reply. It must fill `reply`, nothing else. */
#ifndef HS_HTTP_REQUEST_H
#define HS_HTTP_REQUEST_H

#include "http/reply.h"
#include "http/router.h"

struct MHD_Connection;
struct hs_server;
struct hs_upload;

enum hs_request_state {
    HS_REQ_NEW,     /* the headers are there */
    HS_REQ_BODY,    /* the body arrives */
    HS_REQ_WORKING, /* a worker has it, the connection is suspended */
    HS_REQ_READY,   /* the reply is complete */
    HS_REQ_SENT     /* MHD has the reply */
};

struct hs_request {
    struct hs_server *server;
    struct MHD_Connection *conn;
    _Atomic unsigned refs; /* MHD's, and one of each import that still runs */
    _Atomic int state;
    int64_t start_ns;
    char *target; /* as sent */
    struct hs_uri uri;
    unsigned method; /* 0: one we do not know */
    const struct hs_route *route;
    const char *vars[HS_ROUTE_VARS];
    uint64_t content_length; /* 0 when not told */
    bool has_length, accepts_gzip;
    char *if_none_match, *range, *content_type, *origin, *host; /* copies of headers; NULL if absent */
    bool origin_allowed;                                        /* by [server] cors_origins */
    struct hs_buf body;
    uint64_t bytes_body; /* how many came, also of what is dropped */
    struct hs_upload *upload;
    struct hs_request *next_upload; /* both of watch.h */
    int fd;
    struct hs_reply reply;
    uint64_t bytes_out; /* of the body, for the log */
    char *asked;        /* the mounted run that the caller has to choose about; NULL */
};

struct hs_request *hs_request_new(struct hs_server *s, const char *target);
void hs_request_unref(struct hs_request *r);

/* The value of a variable of the route's path, in order of appearance. */
static inline const char *hs_request_var(const struct hs_request *r, size_t i)
{
    return r->vars[i];
}

/* A problem document; of HS_EASK with both ways, the size it would take and the room there is. */
void hs_request_fail(struct hs_request *r, const struct hs_err *err);

/* Makes a run answerable that may be mounted: its parameter cache=true|false says what to do with it (http/mounts.h). */
int hs_request_prepare(struct hs_request *r, const char *run, struct hs_err *err);

/* If-None-Match against the reply's ETag, in both of its forms (plain and gzip): true means 304. */
bool hs_request_matches_etag(const struct hs_request *r, const char *etag);

/* Refuses query parameters that the route does not know: a misspelt one must not be ignored in silence. */
int hs_request_check_query(const struct hs_request *r, struct hs_err *err);

#endif
