#include "http/request.h"

#include "base/clock.h"
#include "http/mounts.h"
#include "http/server.h"
#include "http/upload.h"

#include <stdio.h>
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
    free(r->asked);
    free(r);
}

/* The same question with an answer to the choice. */
static void put_way(struct hs_json *j, const struct hs_request *r, const char *choice)
{
    char *url = hs_asprintf("%s%ccache=%s", r->target, strchr(r->target, '?') ? '&' : '?', choice);
    hs_json_key(j, choice);
    hs_json_cstr(j, url);
    free(url);
}

static void reply_ask(struct hs_request *r, const struct hs_err *err)
{
    struct hs_mounts *m = r->server->mounts;
    const struct hs_mount_list *list;
    const struct hs_mounted_run *run;
    struct hs_buf b = HS_BUF_INIT(256u << 10);
    struct hs_json j = HS_JSON_INIT(&b);
    const char *texts[][2] = {
        {"type", "about:blank"}, {"title", "Choice needed"}, {"detail", err->text}, {"code", "choose"}};
    hs_json_obj(&j);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        hs_json_key(&j, texts[i][0]);
        hs_json_cstr(&j, texts[i][1]);
    }
    hs_json_key(&j, "status");
    hs_json_i64(&j, 428);
    hs_json_key(&j, "run");
    hs_json_cstr(&j, r->asked);
    hs_json_key(&j, "cache");
    hs_json_obj(&j);
    put_way(&j, r, "true");
    put_way(&j, r, "false");
    hs_json_end(&j);
    if ((run = hs_mounts_find(m, r->asked, &list))) {
        int64_t room = hs_mounts_free_bytes(m);
        hs_json_key(&j, "bytes");
        hs_json_i64(&j, run->bytes);
        hs_json_key(&j, "stored_bytes_estimate");
        hs_json_i64(&j, hs_mounts_estimate(run));
        hs_json_key(&j, "free_bytes");
        if (room < 0)
            hs_json_null(&j);
        else
            hs_json_i64(&j, room);
        hs_mount_unlist(list);
    }
    hs_json_end(&j);
    hs_buf_putc(&b, '\n');
    hs_reply_text(&r->reply, 428, "application/problem+json", &b);
    snprintf(r->reply.code, sizeof r->reply.code, "choose");
}

void hs_request_fail(struct hs_request *r, const struct hs_err *err)
{
    if (err->code == HS_EASK && r->asked)
        reply_ask(r, err);
    else
        hs_reply_error(&r->reply, err);
}

int hs_request_prepare(struct hs_request *r, const char *run, struct hs_err *err)
{
    const char *text = hs_uri_query(&r->uri, "cache");
    int choice = !text                                          ? -1
                 : !strcmp(text, "true") || !strcmp(text, "1")  ? 1
                 : !strcmp(text, "false") || !strcmp(text, "0") ? 0
                                                                : -2;
    if (choice == -2)
        return hs_fail(err, HS_EUSAGE, "parameter cache: '%.20s' should be true or false", text);
    int rc = hs_mounts_prepare(r->server->mounts, run, choice, err);
    if (rc == HS_EASK) {
        free(r->asked);
        r->asked = hs_strdup(run);
    }
    return rc;
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
