#include "http/request.h"

#include "base/clock.h"
#include "http/upload.h"

#include <stdlib.h>
#include <string.h>

struct hs_request *hs_request_new(struct hs_server *s, const char *target)
{
    struct hs_request *r = hs_calloc(1, sizeof *r);
    r->server = s;
    r->refs = 1;
    r->state = HS_REQ_NEW;
    r->start_ns = hs_now_ns();
    r->target = hs_strdup(target);
    r->body = (struct hs_buf)HS_BUF_INIT(HS_BODY_MAX);
    hs_reply_init(&r->reply);
    return r;
}

void hs_request_unref(struct hs_request *r)
{
    if (--r->refs)
        return;
    hs_upload_free(r->upload);
    hs_reply_free(&r->reply);
    hs_buf_free(&r->body);
    hs_uri_free(&r->uri);
    free(r->target);
    free(r->if_none_match);
    free(r->range);
    free(r->content_type);
    free(r->origin);
    free(r->host);
    free(r);
}

void hs_request_fail(struct hs_request *r, const struct hs_err *err)
{
    hs_reply_error(&r->reply, err);
}

bool hs_request_matches_etag(const struct hs_request *r, const char *etag)
{
    size_t n = strlen(etag);
    const char *p = r->if_none_match;
    if (!p || !n)
        return false;
    if (!strcmp(p, "*"))
        return true;
    while ((p = strchr(p, '"'))) { /* "…", W/"…", … : the weak comparison is what If-None-Match asks for */
        const char *end = strchr(++p, '"');
        if (!end)
            return false;
        size_t len = (size_t)(end - p);
        if (len >= n && !memcmp(p, etag, n) && (len == n || (len == n + 3 && !memcmp(p + n, "-gz", 3))))
            return true;
        p = end + 1;
    }
    return false;
}

int hs_request_check_query(const struct hs_request *r, struct hs_err *err)
{
    for (size_t i = 0; i < r->uri.npairs; i++) {
        size_t k = 0;
        while (k < r->route->nparams && strcmp(r->route->params[k].name, r->uri.pairs[i].name))
            k++;
        if (k == r->route->nparams)
            return hs_fail(err, HS_EUSAGE, "there is no parameter '%.60s' here", r->uri.pairs[i].name);
    }
    return HS_OK;
}
