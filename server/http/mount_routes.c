/* Mounted folders: GET /api/v1/mounts, and a run of them kept anew. */
#include "http/resources.h"
#include "http/server.h"

static void put_run(struct hs_json *j, struct hs_mounts *m, const struct hs_mounted_run *run)
{
    int64_t newest = 0;
    for (size_t i = 0; i < run->n; i++)
        newest = run->files[i].mtime_ns > newest ? run->files[i].mtime_ns : newest;
    hs_json_obj(j);
    hs_json_key(j, "run");
    hs_json_cstr(j, run->run);
    hs_json_key(j, "state");
    hs_json_cstr(j, hs_mount_state_word(hs_mounts_state(m, run)));
    hs_json_key(j, "files");
    hs_json_i64(j, (int64_t)run->n);
    hs_json_key(j, "bytes");
    hs_json_i64(j, run->bytes);
    hs_json_key(j, "stored_bytes_estimate");
    hs_json_i64(j, hs_mounts_estimate(run));
    hs_json_key(j, "modified");
    hs_json_time(j, newest);
    hs_json_end(j);
}

static void put_mount(struct hs_json *j, struct hs_mounts *m, size_t at)
{
    struct hs_err err = HS_ERR_INIT;
    const struct hs_mount_list *list = hs_mounts_list(m, at, &err);
    hs_json_obj(j);
    hs_json_key(j, "mount");
    hs_json_cstr(j, hs_mounts_options(m)->mounts[at].name);
    hs_json_key(j, "error");
    if (!list)
        hs_json_cstr(j, err.text);
    else
        hs_json_null(j);
    hs_json_key(j, "cut");
    hs_json_bool(j, list && list->cut);
    hs_json_key(j, "runs");
    hs_json_arr(j);
    for (size_t i = 0; list && i < list->n; i++)
        put_run(j, m, &list->runs[i]);
    hs_json_end(j);
    hs_json_end(j);
    hs_mount_unlist(list);
}

void hs_get_mounts(struct hs_request *r)
{
    static const char *const policies[] = {"ask", "always", "never"};
    struct hs_err err = HS_ERR_INIT;
    struct hs_mounts *m = r->server->mounts;
    const struct hs_mounts_options *o = hs_mounts_options(m);
    if (hs_request_check_query(r, &err)) {
        hs_request_fail(r, &err);
        return;
    }
    struct hs_buf b = HS_BUF_INIT(64u << 20);
    struct hs_json j = HS_JSON_INIT(&b);
    hs_json_obj(&j);
    hs_json_key(&j, "policy");
    hs_json_cstr(&j, policies[o->policy]);
    hs_json_key(&j, "mounts");
    hs_json_arr(&j);
    for (size_t i = 0; i < o->n; i++)
        put_mount(&j, m, i);
    hs_json_end(&j);
    hs_json_end(&j);
    hs_buf_putc(&b, '\n');
    hs_hash_hex(b.p, b.n, r->reply.etag); /* a page asks again and again, and mostly nothing has changed */
    if (hs_request_matches_etag(r, r->reply.etag)) {
        hs_buf_free(&b);
        r->reply.status = 304;
        return;
    }
    hs_reply_json(&r->reply, 200, &b);
}

void hs_post_refresh(struct hs_request *r)
{
    struct hs_err err = HS_ERR_INIT;
    if (hs_request_check_query(r, &err) || hs_mounts_refresh(r->server->mounts, hs_request_var(r, 0), &err))
        hs_request_fail(r, &err);
    else
        r->reply.status = 204;
}
