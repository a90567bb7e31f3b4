#include "analysis/registry.h"
#include "http/answer.h"
#include "http/openapi.h"
#include "http/resources.h"
#include "http/server.h"

#include <stdio.h>

void hs_get_analyses(struct hs_request *r)
{
    struct hs_err err = HS_ERR_INIT;
    if (hs_request_check_query(r, &err)) {
        hs_request_fail(r, &err);
        return;
    }
    struct hs_buf b = HS_BUF_INIT(16u << 20);
    struct hs_json j = HS_JSON_INIT(&b);
    hs_json_obj(&j);
    hs_json_key(&j, "analyses");
    hs_json_arr(&j);
    for (size_t i = 0; hs_analyses[i]; i++)
        hs_analysis_describe(hs_analyses[i], &j);
    hs_json_end(&j);
    hs_json_end(&j);
    hs_buf_putc(&b, '\n');
    hs_reply_json(&r->reply, 200, &b);
}

void hs_get_analysis_entry(struct hs_request *r)
{
    const struct hs_analysis *a = hs_analysis_find(hs_request_var(r, 0));
    struct hs_err err = HS_ERR_INIT;
    int rc = hs_request_check_query(r, &err);
    if (!rc && !a)
        rc = hs_fail(&err, HS_ENOTFOUND, "there is no analysis '%.60s'; GET /api/v1/analyses lists them",
                     hs_request_var(r, 0));
    if (rc) {
        hs_request_fail(r, &err);
        return;
    }
    struct hs_buf b = HS_BUF_INIT(1u << 20);
    struct hs_json j = HS_JSON_INIT(&b);
    hs_analysis_describe(a, &j);
    hs_buf_putc(&b, '\n');
    hs_reply_json(&r->reply, 200, &b);
}

void hs_get_rules(struct hs_request *r)
{
    struct hs_err err = HS_ERR_INIT;
    struct hs_buf out = HS_BUF_INIT(1u << 20);
    enum hs_format f = HS_F_RECORDS;
    struct hs_table t;
    int rc = hs_request_check_query(r, &err);
    if (!rc)
        rc = hs_answer_format(hs_uri_query(&r->uri, "format"), &f, &err);
    if (rc) {
        hs_request_fail(r, &err);
        return;
    }
    struct hs_envelope e = {.analysis = "rules", .run = "", .params_json = "{}"};
    hs_rules_table(&r->server->o.thresholds, &t);
    rc = hs_render_table(&t, &e, f, &out, &err);
    hs_table_free(&t);
    if (rc)
        hs_request_fail(r, &err);
    else
        hs_reply_text(&r->reply, 200, hs_format_content_type(f), &out);
    hs_buf_free(&out);
}

void hs_get_openapi(struct hs_request *r)
{
    struct hs_reply *y = &r->reply;
    snprintf(y->etag, sizeof y->etag, "%s", r->server->openapi_etag);
    y->type = "application/json; charset=utf-8";
    y->status = hs_request_matches_etag(r, y->etag) ? 304 : 200;
    y->body = hs_blob_ref(r->server->openapi);
}

/* The process lives and its listener answers. */
void hs_get_healthz(struct hs_request *r)
{
    struct hs_buf b = HS_BUF_INIT(64);
    hs_buf_puts(&b, "ok\n");
    hs_reply_text(&r->reply, 200, "text/plain; charset=utf-8", &b);
}

/* It can do its work: a worker is free and the catalogue answers. */
void hs_get_readyz(struct hs_request *r)
{
    struct hs_err err = HS_ERR_INIT;
    struct hs_run_row *rows = NULL;
    size_t n = 0;
    if (hs_store_runs(r->server->o.store, &rows, &n, &err)) {
        hs_reply_problem(&r->reply, 503, "not-ready", err.text, -1);
        return;
    }
    hs_run_rows_free(rows, n);
    hs_get_healthz(r);
}

void hs_get_version(struct hs_request *r)
{
    struct hs_buf b = HS_BUF_INIT(1024);
    struct hs_json j = HS_JSON_INIT(&b);
    hs_json_obj(&j);
    hs_json_key(&j, "name");
    hs_json_cstr(&j, "holoscope");
    hs_json_key(&j, "version");
    hs_json_cstr(&j, HS_VERSION);
    hs_json_end(&j);
    hs_buf_putc(&b, '\n');
    hs_reply_json(&r->reply, 200, &b);
}
