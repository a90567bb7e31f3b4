#include "http/dispatch.h"

#include "base/clock.h"
#include "base/log.h"
#include "http/send.h"
#include "http/server.h"
#include "http/upload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void hs_request_suspend(void *request)
{
    MHD_suspend_connection(((struct hs_request *)request)->conn);
}

void hs_request_resume(void *request)
{
    MHD_resume_connection(((struct hs_request *)request)->conn);
}

void *hs_on_uri(void *cls, const char *uri, struct MHD_Connection *c)
{
    struct hs_request *r = hs_request_new(cls, uri);
    r->conn = c;
    return r;
}

/* ---- the headers ---- */

static char *copy_header(struct hs_request *r, const char *name)
{
    const char *v = MHD_lookup_connection_value(r->conn, MHD_HEADER_KIND, name);
    return v ? hs_strdup(v) : NULL;
}

static bool takes_gzip(const char *accept)
{
    for (const char *p = accept; p && *p; p += strcspn(p, ","), p += *p == ',') {
        p += strspn(p, " \t");
        if (strncasecmp(p, "gzip", 4) || (p[4] && !strchr(" \t;,", p[4])))
            continue;
        const char *q = p + 4 + strspn(p + 4, " \t");
        if (*q != ';')
            return true;
        q += 1 + strspn(q + 1, " \t");
        return strncasecmp(q, "q=", 2) != 0 || strtod(q + 2, NULL) > 0;
    }
    return false;
}

static void copy_headers(struct hs_request *r)
{
    char *accept = copy_header(r, "Accept-Encoding"), *length = copy_header(r, "Content-Length");
    r->accepts_gzip = takes_gzip(accept);
    r->has_length = length != NULL;
    r->content_length = length ? strtoull(length, NULL, 10) : 0;
    r->if_none_match = copy_header(r, "If-None-Match");
    r->range = copy_header(r, "Range");
    r->content_type = copy_header(r, "Content-Type");
    r->origin = copy_header(r, "Origin");
    r->host = copy_header(r, "Host");
    free(accept);
    free(length);
}

/* A page of another site may point its own name at 127.0.0.1 and so talk to us as if we were that site ("DNS
 * rebinding"); its name is then in Host. */
static bool host_allowed(const struct hs_request *r)
{
    static const char *const local[] = {"localhost", "127.0.0.1", "[::1]"};
    const struct hs_http_options *o = &r->server->o;
    if (!r->server->loopback || !r->host)
        return true;
    const char *colon = strrchr(r->host, ':');
    size_t n = colon && !strchr(colon, ']') ? (size_t)(colon - r->host) : strlen(r->host);
    for (size_t i = 0; i < sizeof local / sizeof local[0]; i++)
        if (strlen(local[i]) == n && !strncasecmp(local[i], r->host, n))
            return true;
    for (size_t i = 0; i < o->nhosts; i++)
        if (strlen(o->allowed_hosts[i]) == n && !strncasecmp(o->allowed_hosts[i], r->host, n))
            return true;
    return false;
}

static void check_origin(struct hs_request *r)
{
    const struct hs_http_options *o = &r->server->o;
    for (size_t i = 0; r->origin && i < o->ncors; i++)
        if (!strcmp(o->cors_origins[i], "*") || !strcmp(o->cors_origins[i], r->origin))
            r->origin_allowed = true;
}

/* A form or script of another site can make a browser send us a POST without asking first; its Origin gives it away. */
static bool cross_site_write(const struct hs_request *r)
{
    if (!r->origin || r->origin_allowed || !(r->method & (HS_POST | HS_PUT | HS_DELETE)))
        return false;
    const char *authority = strstr(r->origin, "://");
    return !authority || !r->host || strcasecmp(authority + 3, r->host) != 0;
}

static bool refused(struct hs_request *r)
{
    if (!host_allowed(r))
        hs_reply_problem(&r->reply, 421, "host",
                         "this server listens on loopback only and does not know the name in Host; add it to "
                         "[server] allowed_hosts if it is yours",
                         -1);
    else if (cross_site_write(r))
        hs_reply_problem(&r->reply, 403, "origin",
                         "a page of another origin may not write here; add it to [server] cors_origins if it is yours",
                         -1);
    return r->reply.status != 0;
}

static bool route(struct hs_request *r)
{
    struct hs_err err = HS_ERR_INIT;
    unsigned allowed = 0;
    int rc = strlen(r->target) > HS_URI_MAX ? HS_ELIMIT : hs_uri_parse(&r->uri, r->target, &err);
    if (rc == HS_ELIMIT) {
        hs_reply_problem(&r->reply, 414, "usage", "the URL is longer than 8192 bytes", -1);
        return false;
    }
    if (!rc)
        rc = hs_route_find(hs_routes, &r->uri, r->method, &r->route, r->vars, &allowed, &err);
    if (allowed && (rc || r->method == HS_OPTIONS))
        r->reply.allow = hs_methods_text(allowed);
    if (rc == HS_EUSAGE && allowed)
        hs_reply_problem(&r->reply, 405, "method", err.text, -1);
    else if (rc)
        hs_request_fail(r, &err);
    else if (r->method == HS_OPTIONS)
        r->reply.status = 204;
    return !r->reply.status;
}

static bool body_refused(struct hs_request *r)
{
    uint64_t max = r->route->work == HS_WORK_UPLOAD ? r->server->o.max_upload : HS_BODY_MAX;
    struct hs_err err = HS_ERR_INIT;
    if (r->content_length > max) {
        hs_fail(&err, HS_ELIMIT, "the request's body has %llu bytes; the limit here is %llu",
                (unsigned long long)r->content_length, (unsigned long long)max);
        hs_request_fail(r, &err);
    } else if (r->route->work == HS_WORK_UPLOAD && hs_upload_begin(r, &err)) {
        hs_request_fail(r, &err);
    }
    return r->reply.status != 0;
}

/* ---- the work ---- */

static void handle(struct hs_request *r)
{
    r->route->handle(r);
    struct hs_reply *y = &r->reply;
    if (!y->status)
        hs_reply_problem(y, 500, "internal", "the handler gave no answer", -1);
    if (y->body && !y->gz && y->body->n > HS_GZIP_FROM && r->accepts_gzip)
        y->gz = hs_blob_gzip(y->body);
}

static void work(void *arg)
{
    struct hs_request *r = arg;
    struct hs_server *s = r->server;
    handle(r);
    r->state = HS_REQ_READY;
    hs_request_resume(r); /* from here on the request is MHD's again */
    hs_server_job_done(s);
}

static enum MHD_Result answer(struct hs_request *r)
{
    r->state = HS_REQ_SENT;
    return hs_send_reply(r);
}

/* All of the request is here. */
static enum MHD_Result start_work(struct hs_request *r)
{
    if (r->route->work == HS_WORK_INLINE) {
        handle(r);
        return answer(r);
    }
    r->state = HS_REQ_WORKING;
    hs_request_suspend(r);
    if (!hs_server_submit(r->server, r->server->workers, work, r)) {
        hs_reply_problem(&r->reply, 503, "busy", "too much work is waiting already; try again in a moment", -1);
        r->reply.retry_after = "2";
        r->state = HS_REQ_READY;
        hs_request_resume(r);
    }
    return MHD_YES;
}

static enum MHD_Result on_headers(struct hs_request *r, const char *method)
{
    copy_headers(r);
    r->method = hs_method_parse(method);
    check_origin(r);
    if (!hs_server_enter(r->server)) {
        hs_reply_problem(&r->reply, 503, "stopping", "the server is shutting down", -1);
        r->reply.retry_after = "5";
    }
    if (r->reply.status || refused(r) || !route(r) || body_refused(r))
        return answer(r);
    if (r->route->work == HS_WORK_UPLOAD || r->route->work == HS_WORK_BODY || r->content_length || !r->has_length) {
        /* Without a length there may still be a chunked body: the next call tells. */
        r->state = HS_REQ_BODY;
        return MHD_YES;
    }
    return start_work(r);
}

static enum MHD_Result on_body(struct hs_request *r, const char *data, size_t *n)
{
    if (r->route->work == HS_WORK_UPLOAD) {
        if (*n)
            return hs_upload_data(r, data, n) ? MHD_YES : MHD_NO;
        if (hs_upload_end(r))
            return MHD_YES;
        handle(r);
        return answer(r);
    }
    if (*n) { /* beyond the ceiling nothing is stored; the end of the body then answers with 413,
                  unless it does not end at all */
        hs_buf_put(&r->body, data, *n);
        r->bytes_body += *n;
        *n = 0;
        return r->bytes_body <= 16 * (uint64_t)HS_BODY_MAX ? MHD_YES : MHD_NO;
    }
    struct hs_err err = HS_ERR_INIT;
    if (hs_buf_check(&r->body, "the request's body", &err)) {
        hs_request_fail(r, &err);
        return answer(r);
    }
    return start_work(r);
}

enum MHD_Result hs_on_access(void *cls, struct MHD_Connection *c, const char *url, const char *method,
                             const char *version, const char *data, size_t *n, void **con_cls)
{
    (void)cls, (void)c, (void)url, (void)version;
    struct hs_request *r = *con_cls;
    if (!r)
        return MHD_NO;
    switch ((enum hs_request_state)r->state) {
    case HS_REQ_NEW: return on_headers(r, method);
    case HS_REQ_BODY: return on_body(r, data, n);
    case HS_REQ_READY: return answer(r);
    case HS_REQ_WORKING: return MHD_YES;
    case HS_REQ_SENT: *n = 0; return MHD_YES;
    }
    return MHD_NO;
}

/* ---- the end ---- */

static void log_request(const struct hs_request *r, enum MHD_RequestTerminationCode why)
{
    char target[301];
    size_t n = strlen(r->target);
    n = n < sizeof target - 1 ? n : sizeof target - 1;
    for (size_t i = 0; i < n; i++)
        target[i] = strchr("\"\\", r->target[i]) ? '?' : r->target[i];
    target[n] = 0;
    hs_log(HS_LOG_INFO, "request", " method=%s target=\"%s\" status=%u bytes=%llu ms=%.1f%s%s%s",
           hs_method_name(r->method), target, r->reply.status, (unsigned long long)r->bytes_out,
           (double)(hs_now_ns() - r->start_ns) / 1e6, r->reply.code[0] ? " code=" : "", r->reply.code,
           why == MHD_REQUEST_TERMINATED_COMPLETED_OK ? "" : " end=aborted");
}

void hs_on_completed(void *cls, struct MHD_Connection *c, void **con_cls, enum MHD_RequestTerminationCode why)
{
    (void)c;
    struct hs_request *r = *con_cls;
    if (!r)
        return;
    *con_cls = NULL;
    if (r->upload) {
        hs_watch_remove(&r->server->watch, r);
        hs_upload_abort(r->upload, false);
    }
    log_request(r, why);
    if (r->state != HS_REQ_NEW)
        hs_server_leave(cls);
    hs_request_unref(r);
}
