/* A trace of a run given back: GET /api/v1/runs/{run}/export. */
#include "http/resources.h"
#include "http/server.h"
#include "http/stream.h"
#include "render/chrome_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a download holds until its last byte, or until the client goes away. */
struct download {
    struct hs_store *store;
    struct hs_mounts *mounts;
    struct hs_view *view; /* this one alone: a slow client must not keep the other ranks in memory */
    struct hs_run *held;  /* unless it is one of a run that is only in memory: all of that */
    struct hs_params *params;
    struct hs_chrome_trace *trace;
};

static int next_part(void *ctx, struct hs_buf *out, bool *done, struct hs_err *err)
{
    struct download *d = ctx;
    return hs_chrome_next(d->trace, out, done, err);
}

static void free_download(void *ctx)
{
    struct download *d = ctx;
    hs_chrome_close(d->trace);
    if (d->held)
        hs_mounts_unpin(d->mounts, d->held);
    else if (d->view)
        hs_store_unpin_trace(d->store, d->view);
    hs_params_free(d->params);
    free(d);
}

static int read_params(struct hs_request *r, struct hs_params **out, struct hs_err *err)
{
    int rc = hs_request_check_query(r, err);
    if (!rc)
        rc = hs_params_new(out, hs_chrome_params, hs_chrome_nparams, err);
    for (size_t i = 0; i < r->uri.npairs && !rc; i++)
        if (strcmp(r->uri.pairs[i].name, "cache") != 0)
            rc = hs_params_set(*out, r->uri.pairs[i].name, r->uri.pairs[i].value, err);
    return rc ? rc : hs_chrome_check(*out, err);
}

static int set_etag(struct hs_request *r, const struct hs_params *p, struct hs_err *err)
{
    char hash[33];
    struct hs_buf b = HS_BUF_INIT(1u << 20);
    int rc = hs_request_prepare(r, hs_request_var(r, 0), err);
    if (!rc)
        rc = hs_mounts_hash(r->server->mounts, hs_request_var(r, 0), hash, err);
    hs_buf_printf(&b, "%s|%s|export?", HS_VERSION, rc ? "" : hash);
    hs_params_canonical(p, &b);
    if (!rc)
        rc = hs_buf_check(&b, "the question", err);
    if (!rc)
        hs_hash_hex(b.p, b.n, r->reply.etag);
    hs_buf_free(&b);
    return rc;
}

/* The trace's own name without its ending, and what was done to it. */
static char *disposition(const struct hs_view *v, const struct hs_params *p)
{
    struct hs_buf b = HS_BUF_INIT(8192);
    char *stem = hs_run_name_of(v->name && *v->name ? v->name : "trace");
    hs_buf_puts(&b, "attachment; filename*=UTF-8''");
    hs_uri_encode(&b, stem);
    hs_buf_puts(&b, hs_param_has(p, "from") || hs_param_has(p, "to") ? "_window" : "");
    hs_buf_puts(&b, hs_param_has(p, "overlay") ? "_with_overlays" : "");
    hs_buf_puts(&b, hs_param_bool(p, "gzip") ? ".json.gz" : ".json");
    free(stem);
    return b.p;
}

/* Which trace of the run it is, on the run's clock, pinned. */
static int pin_rank(struct hs_request *r, struct download *d, struct hs_run_rank *rank, struct hs_err *err)
{
    struct hs_run *run = NULL;
    const struct hs_run_rank *one = NULL;
    int rc = hs_mounts_pin(d->mounts, hs_request_var(r, 0), &run, err);
    if (rc)
        return rc;
    rc = hs_chrome_rank(run, d->params, &one, err);
    if (!rc && hs_mounts_holds(d->mounts, run)) {
        *rank = *one;
        d->view = one->view;
        d->held = run;
        return HS_OK;
    }
    if (!rc)
        rc = hs_store_pin_trace(d->store, one->view->id, &d->view, err);
    if (!rc)
        *rank = (struct hs_run_rank){one->rank, one->offset_ns, d->view};
    hs_mounts_unpin(d->mounts, run);
    return rc;
}

void hs_get_export(struct hs_request *r)
{
    struct hs_reply *y = &r->reply;
    struct hs_err err = HS_ERR_INIT;
    struct download *d = hs_calloc(1, sizeof *d);
    struct hs_run_rank rank;
    d->store = r->server->o.store;
    d->mounts = r->server->mounts;
    int rc = read_params(r, &d->params, &err);
    if (!rc)
        rc = set_etag(r, d->params, &err);
    if (!rc && hs_request_matches_etag(r, y->etag)) {
        y->status = 304;
        free_download(d);
        return;
    }
    if (!rc)
        rc = pin_rank(r, d, &rank, &err);
    if (!rc)
        rc = hs_chrome_open(&d->trace, &rank, d->params, &err);
    if (rc) {
        free_download(d);
        hs_request_fail(r, &err);
        return;
    }
    y->disposition = disposition(d->view, d->params);
    y->type = hs_param_bool(d->params, "gzip") ? "application/gzip" : "application/json; charset=utf-8";
    y->status = 200;
    struct hs_body_source source = {next_part, free_download, d, HS_CHROME_CEILING};
    if (hs_body_stream_begin(r, &source, &err))
        hs_request_fail(r, &err);
}
