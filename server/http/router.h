/* router: routes are data. From the one table in routes.c come dispatch, 405 with Allow, OPTIONS and
 * /api/v1/openapi.json; to add a route is to add a handler and an entry. */
#ifndef HS_HTTP_ROUTER_H
#define HS_HTTP_ROUTER_H

#include "http/uri.h"

struct hs_request;

enum hs_method { /* bits, so that a set of them is a number; HEAD is GET without the body */
                 HS_GET = 1,
                 HS_POST = 2,
                 HS_PUT = 4,
                 HS_DELETE = 8,
                 HS_HEAD = 16,
                 HS_OPTIONS = 32
};

/* Where a handler runs. Nothing that touches the store, a file or more than microseconds runs on the listener. */
enum hs_work {
    HS_WORK_INLINE, /* on the listener's thread */
    HS_WORK_POOL,   /* on a worker, the connection suspended; a body is refused */
    HS_WORK_BODY,   /* the same, after a body of at most HS_BODY_MAX was collected */
    HS_WORK_UPLOAD  /* the body streams into the importer (upload.h); the handler writes the answer afterwards */
};
#define HS_BODY_MAX (1u << 20)

struct hs_route_param {
    const char *name;
    const char *type; /* of JSON schema: string, integer, boolean */
    const char *doc;
};

#define HS_ROUTE_VARS 3u
struct hs_route {
    unsigned method;  /* one hs_method */
    const char *path; /* "/api/v1/runs/{run}"; a last segment "{name*}" takes all that is left */
    enum hs_work work;
    void (*handle)(struct hs_request *r);
    const char *id;                      /* operationId */
    const char *summary;                 /* one line */
    const struct hs_route_param *params; /* of the query */
    size_t nparams;
    const char *body;    /* media type of the request's body, NULL for none */
    const char *answers; /* media type of the answer */
};

extern const struct hs_route hs_routes[]; /* ends with a NULL path; the first pattern that matches counts */

/* The route for a path and method, with the values of its variables in order. HS_ENOTFOUND: no such path.
 * HS_EUSAGE: not with this method. *allowed is then, and on success, the set of methods the path takes. */
int hs_route_find(const struct hs_route *routes, const struct hs_uri *u, unsigned method, const struct hs_route **out,
                  const char *vars[HS_ROUTE_VARS], unsigned *allowed, struct hs_err *err);

unsigned hs_method_parse(const char *name); /* 0: unknown */
char *hs_methods_text(unsigned set);        /* "GET, HEAD, OPTIONS"; free() it */
const char *hs_method_name(unsigned method);

#endif
