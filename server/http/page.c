/* The page: built in, or from [server] web_dir while someone works on it. */
#include "http/assets.h"
#include "http/resources.h"
#include "http/server.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void serve_bytes(struct hs_request *r, const char *type, const void *p, size_t n)
{
    struct hs_reply *y = &r->reply;
    y->type = type;
    hs_hash_hex(p, n, y->etag);
    if (hs_request_matches_etag(r, y->etag)) {
        y->status = 304;
        return;
    }
    if (hs_cache_get(r->server->cache, y->etag, &y->body, &y->gz)) {
        y->status = 200;
        return;
    }
    y->status = 200;
    y->body = hs_blob_new(p, n);
    y->gz = hs_blob_gzip(y->body);
    hs_cache_put(r->server->cache, y->etag, y->body, y->gz);
}

static void not_found(struct hs_request *r)
{
    hs_reply_problem(&r->reply, 404, "not-found", "the page has no such file", -1);
}

/* The URI parser has refused ".." already; links out of the directory are refused here. */
static void serve_from_disk(struct hs_request *r, const char *path)
{
    enum { MAX = 32 << 20 };
    char *full = hs_asprintf("%s/%s", r->server->o.web_dir, path);
    int fd = open(full, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat st;
    free(full);
    if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > MAX) {
        not_found(r);
    } else {
        char *p = hs_malloc((size_t)st.st_size);
        ssize_t n = read(fd, p, (size_t)st.st_size);
        if (n < 0)
            not_found(r);
        else
            serve_bytes(r, hs_asset_type(path), p, (size_t)n);
        free(p);
    }
    if (fd >= 0)
        close(fd);
}

void hs_get_page(struct hs_request *r)
{
    struct hs_buf b = HS_BUF_INIT(HS_URI_MAX);
    for (size_t i = 0; i < r->uri.nsegs; i++) {
        hs_buf_puts(&b, i ? "/" : "");
        hs_buf_puts(&b, r->uri.segs[i]);
    }
    const char *path = b.n ? b.p : "index.html";
    size_t i = 0;
    while (i < hs_nassets && strcmp(hs_assets[i].path, path) != 0)
        i++;
    if (r->server->o.web_dir)
        serve_from_disk(r, path);
    else if (i < hs_nassets)
        serve_bytes(r, hs_assets[i].type, hs_assets[i].begin, (size_t)(hs_assets[i].end - hs_assets[i].begin));
    else
        not_found(r);
    hs_buf_free(&b);
}
