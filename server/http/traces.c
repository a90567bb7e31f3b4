#include "http/answer.h"
#include "http/resources.h"
#include "http/server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

void hs_json_time(struct hs_json *j, int64_t unix_ns)
{
    char text[40];
    time_t s = (time_t)(unix_ns / 1000000000);
    struct tm tm;
    if (!gmtime_r(&s, &tm) || !strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm))
        hs_json_null(j);
    else
        hs_json_cstr(j, text);
}

void hs_json_trace_members(struct hs_json *j, const struct hs_trace_row *t)
{
    const struct {
        const char *name;
        int64_t v;
    } numbers[] = {{"rank", t->rank},
                   {"events", t->events},
                   {"bytes_in", t->bytes_in},
                   {"bytes_json", t->bytes_json},
                   {"bytes_stored", t->bytes_stored}};
    hs_json_key(j, "id");
    hs_json_cstr(j, t->id);
    hs_json_key(j, "run");
    hs_json_cstr(j, t->run);
    hs_json_key(j, "name");
    hs_json_cstr(j, t->name);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        hs_json_key(j, numbers[i].name);
        hs_json_i64(j, numbers[i].v);
    }
    hs_json_key(j, "created");
    hs_json_time(j, t->created_ns);
    hs_json_key(j, "has_original");
    hs_json_bool(j, t->has_original);
    hs_json_key(j, "quality");
    hs_json_raw(j, t->quality_json && *t->quality_json ? hs_cstr(t->quality_json) : HS_STR("{}"));
}

void hs_get_traces(struct hs_request *r)
{
    struct hs_err err = HS_ERR_INIT;
    struct hs_trace_row *rows = NULL;
    size_t n = 0;
    if (hs_request_check_query(r, &err) || hs_store_traces(r->server->o.store, NULL, &rows, &n, &err)) {
        hs_request_fail(r, &err);
        return;
    }
    struct hs_buf b = HS_BUF_INIT(256u << 20);
    struct hs_json j = HS_JSON_INIT(&b);
    hs_json_obj(&j);
    hs_json_key(&j, "traces");
    hs_json_arr(&j);
    for (size_t i = 0; i < n; i++) {
        hs_json_obj(&j);
        hs_json_trace_members(&j, &rows[i]);
        hs_json_end(&j);
    }
    hs_json_end(&j);
    hs_json_end(&j);
    hs_buf_putc(&b, '\n');
    hs_trace_rows_free(rows, n);
    hs_reply_json(&r->reply, 200, &b);
}

void hs_get_trace(struct hs_request *r)
{
    struct hs_err err = HS_ERR_INIT;
    struct hs_trace_row row = {0};
    if (hs_request_check_query(r, &err) || hs_store_find(r->server->o.store, hs_request_var(r, 0), &row, &err)) {
        hs_request_fail(r, &err);
        return;
    }
    struct hs_buf b = HS_BUF_INIT(1u << 20);
    struct hs_json j = HS_JSON_INIT(&b);
    hs_json_obj(&j);
    hs_json_trace_members(&j, &row);
    hs_json_end(&j);
    hs_buf_putc(&b, '\n');
    hs_trace_row_clear(&row);
    hs_reply_json(&r->reply, 200, &b);
}

/* Out of the run that ?run= names, or out of all that have it. */
void hs_delete_trace(struct hs_request *r)
{
    struct hs_store *s = r->server->o.store;
    const char *only = hs_uri_query(&r->uri, "run");
    struct hs_err err = HS_ERR_INIT;
    struct hs_trace_row row = {0}, *all = NULL;
    size_t n = 0, hits = 0;
    int rc = hs_request_check_query(r, &err);
    if (!rc)
        rc = hs_store_find(s, hs_request_var(r, 0), &row, &err);
    if (!rc)
        rc = hs_store_traces(s, only, &all, &n, &err);
    for (size_t i = 0; i < n && !rc; i++)
        if (!strcmp(all[i].id, row.id)) {
            rc = hs_store_delete_trace(s, all[i].run, row.id, &err);
            hits++;
        }
    if (!rc && !hits)
        rc = hs_fail(&err, HS_ENOTFOUND, "run '%.200s' has no trace %s", only ? only : "", row.id);
    if (rc)
        hs_request_fail(r, &err);
    else
        r->reply.status = 204;
    hs_trace_rows_free(all, n);
    hs_trace_row_clear(&row);
}

/* ---- the original bytes ---- */

/* One range, "bytes=a-b", "bytes=a-" or "bytes=-n"; anything else is ignored, as RFC 9110 allows. False: outside the file. */
static bool parse_range(const char *text, uint64_t size, uint64_t *from, uint64_t *count)
{
    *from = 0;
    *count = size;
    if (!text || strncmp(text, "bytes=", 6) != 0 || strchr(text, ','))
        return true;
    const char *p = text + 6, *dash = strchr(p, '-');
    if (!dash || strspn(p, "0123456789") != (size_t)(dash - p) || dash[1 + strspn(dash + 1, "0123456789")] ||
        strlen(p) > 38)
        return true;
    uint64_t a = strtoull(p, NULL, 10), b = dash[1] ? strtoull(dash + 1, NULL, 10) : UINT64_MAX;
    if (dash == p) { /* the last n bytes */
        if (!dash[1])
            return true;
        *from = b < size ? size - b : 0;
        *count = size - *from;
        return b > 0 && size > 0;
    }
    if (b < a)
        return true;
    if (a >= size)
        return false;
    *from = a;
    *count = (b < size ? b + 1 : size) - a;
    return true;
}

static void serve_file(struct hs_request *r, const char *path, const struct hs_trace_row *row)
{
    struct hs_reply *y = &r->reply;
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st)) {
        hs_reply_problem(y, 404, "not-found", "the original of this trace is not kept", -1);
        if (fd >= 0)
            close(fd);
        return;
    }
    uint64_t size = (uint64_t)st.st_size;
    y->fd = fd;
    if (!parse_range(r->range, size, &y->fd_offset, &y->fd_size)) {
        close(fd);
        y->fd = -1;
        hs_reply_problem(y, 416, "range", "the range lies outside the file", -1);
        y->content_range = hs_asprintf("bytes */%llu", (unsigned long long)size);
        return;
    }
    y->status = y->fd_size == size ? 200 : 206;
    y->type = "application/octet-stream";
    snprintf(y->etag, sizeof y->etag, "%s", row->id);
    if (y->status == 206)
        y->content_range = hs_asprintf("bytes %llu-%llu/%llu", (unsigned long long)y->fd_offset,
                                       (unsigned long long)(y->fd_offset + y->fd_size - 1), (unsigned long long)size);
    struct hs_buf b = HS_BUF_INIT(4096);
    hs_buf_puts(&b, "attachment; filename*=UTF-8''");
    hs_uri_encode(&b, row->name);
    y->disposition = b.p;
}

void hs_get_original(struct hs_request *r)
{
    struct hs_err err = HS_ERR_INIT;
    struct hs_trace_row row = {0};
    if (hs_request_check_query(r, &err) || hs_store_find(r->server->o.store, hs_request_var(r, 0), &row, &err)) {
        hs_request_fail(r, &err);
        return;
    }
    if (hs_request_matches_etag(r, row.id)) {
        r->reply.status = 304;
        snprintf(r->reply.etag, sizeof r->reply.etag, "%s", row.id);
    } else {
        char *path = hs_store_original_path(r->server->o.store, row.id);
        if (path)
            serve_file(r, path, &row);
        else
            hs_reply_problem(&r->reply, 404, "not-found",
                             "the original of this trace is not kept; [store] keep_original keeps those of uploads",
                             -1);
        free(path);
    }
    hs_trace_row_clear(&row);
}

/* ---- one event ---- */

void hs_get_event(struct hs_request *r)
{
    struct hs_store *s = r->server->o.store;
    const char *text = hs_request_var(r, 1);
    struct hs_err err = HS_ERR_INIT;
    struct hs_view *v = NULL;
    struct hs_buf raw = HS_BUF_INIT(64u << 20), b = HS_BUF_INIT(64u << 20);
    int rc = hs_request_check_query(r, &err);
    if (!rc && (!*text || strlen(text) > 10 || text[strspn(text, "0123456789")]))
        rc = hs_fail(&err, HS_EUSAGE, "'%.40s' is no event number; events are numbered from 0 in the order of the file",
                     text);
    if (!rc)
        rc = hs_store_pin_trace(s, hs_request_var(r, 0), &v, &err);
    uint64_t n = rc ? 0 : strtoull(text, NULL, 10);
    if (!rc && n >= (uint64_t)v->sum.events)
        rc = hs_fail(&err, HS_ENOTFOUND, "there is no event %llu; the trace has %lld", (unsigned long long)n,
                     (long long)v->sum.events);
    if (!rc)
        rc = v->ops->event_json(v, (uint32_t)n, &raw, &err);
    if (v)
        hs_store_unpin_trace(s, v);
    if (rc) {
        hs_request_fail(r, &err);
    } else {
        hs_put_utf8(&b, hs_str(raw.p, raw.n)); /* a trace's text may be no UTF-8, an answer's is */
        hs_buf_putc(&b, '\n');
        hs_reply_json(&r->reply, 200, &b);
    }
    hs_buf_free(&raw);
}
