#include "http/answer.h"
#include "http/resources.h"
#include "http/server.h"
#include "report/overview.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ANSWER_MAX (256u << 20)

/* The ETag of an answer: a hash of all it depends on. `what` says which question it is, with its parameters. */
static int etag_of(struct hs_request *r, const char *run, const char *other, const char *what, int version,
                   const char *format, struct hs_err *err)
{
    char run_hash[33], other_hash[33] = "";
    struct hs_buf b = HS_BUF_INIT(1u << 20);
    int rc = hs_request_prepare(r, run, err);
    if (!rc && other)
        rc = hs_request_prepare(r, other, err);
    if (!rc)
        rc = hs_mounts_hash(r->server->mounts, run, run_hash, err);
    if (!rc && other)
        rc = hs_mounts_hash(r->server->mounts, other, other_hash, err);
    if (!rc) {
        hs_buf_printf(&b, "%s|%s|%s|%d|%s|%s", HS_VERSION, run_hash, other_hash, version, format, what);
        rc = hs_buf_check(&b, "the question", err);
    }
    if (!rc)
        hs_hash_hex(b.p, b.n, r->reply.etag);
    hs_buf_free(&b);
    return rc;
}

/* Answers from the client's own copy or from the cache; false: it has to be computed. */
static bool answered_before(struct hs_request *r, const char *type)
{
    struct hs_reply *y = &r->reply;
    if (hs_request_matches_etag(r, y->etag)) {
        y->status = 304;
        return true;
    }
    if (!hs_cache_get(r->server->cache, y->etag, &y->body, &y->gz))
        return false;
    y->status = 200;
    y->type = type;
    if (!y->gz && r->accepts_gzip && y->body->n > HS_GZIP_FROM && (y->gz = hs_blob_gzip(y->body)))
        hs_cache_put(r->server->cache, y->etag, y->body, y->gz); /* once, not for each client that takes it */
    return true;
}

static void answer_and_keep(struct hs_request *r, const char *type, struct hs_buf *b)
{
    struct hs_reply *y = &r->reply;
    hs_reply_text(y, 200, type, b);
    if (y->status != 200)
        return;
    if (r->accepts_gzip && y->body->n > HS_GZIP_FROM)
        y->gz = hs_blob_gzip(y->body);
    hs_cache_put(r->server->cache, y->etag, y->body, y->gz);
}

struct question {
    const struct hs_analysis *analysis;
    const char *run, *other; /* other: NULL for one that compares nothing */
    struct hs_params *params;
    enum hs_format format;
};

static int ask(struct hs_mounts *m, const struct question *q, struct hs_buf *out, struct hs_err *err)
{
    struct hs_run *run = NULL, *other = NULL;
    int rc = hs_mounts_pin(m, q->run, &run, err);
    if (!rc && q->other)
        rc = hs_mounts_pin(m, q->other, &other, err);
    if (!rc) {
        struct hs_run both = *run;
        both.other = other;
        rc = hs_answer(q->analysis, &both, q->params, q->format, out, err);
    }
    if (other)
        hs_mounts_unpin(m, other);
    if (run)
        hs_mounts_unpin(m, run);
    return rc;
}

static int check_other(const struct question *q, const char *missing, struct hs_err *err)
{
    if (q->analysis->two_runs && (!q->run || !q->other))
        return hs_fail(err, HS_EUSAGE, "%s compares two runs: %s", q->analysis->name, missing);
    if (q->other && !q->analysis->two_runs)
        return hs_fail(err, HS_EUSAGE, "parameter other: %s asks about one run", q->analysis->name);
    return HS_OK;
}

/* `not_theirs`: parameters of the route. */
static void answer_question(struct hs_request *r, struct question *q, const char *const *not_theirs,
                            const char *missing)
{
    struct hs_err err = HS_ERR_INIT;
    struct hs_buf what = HS_BUF_INIT(1u << 20), out = HS_BUF_INIT(ANSWER_MAX);
    int rc = check_other(q, missing, &err);
    if (!rc)
        rc = hs_answer_format(hs_uri_query(&r->uri, "format"), &q->format, &err);
    if (!rc)
        rc = hs_answer_params(q->analysis, r->uri.pairs, r->uri.npairs, not_theirs, &q->params, &err);
    if (rc)
        goto out;
    const char *type = hs_format_content_type(q->format);
    hs_buf_printf(&what, "%s %d?", q->analysis->name, (int)q->format); /* records and columns are of one media type */
    hs_params_canonical(q->params, &what);
    rc = etag_of(r, q->run, q->other, what.p, q->analysis->version, type, &err);
    if (rc || answered_before(r, type))
        goto out;
    rc = ask(r->server->mounts, q, &out, &err);
    if (!rc)
        answer_and_keep(r, type, &out);
out:
    if (rc)
        hs_request_fail(r, &err);
    hs_params_free(q->params);
    hs_buf_free(&what);
    hs_buf_free(&out);
}

static const struct hs_analysis *find_analysis(struct hs_request *r, const char *name)
{
    const struct hs_analysis *a = hs_analysis_find(name);
    struct hs_err err = HS_ERR_INIT;
    if (!a) {
        hs_fail(&err, HS_ENOTFOUND, "there is no analysis '%.60s'; GET /api/v1/analyses lists them", name);
        hs_request_fail(r, &err);
    }
    return a;
}

void hs_get_analysis(struct hs_request *r)
{
    static const char *const not_theirs[] = {"format", "other", "cache", NULL};
    struct question q = {.analysis = find_analysis(r, hs_request_var(r, 1)),
                         .run = hs_request_var(r, 0),
                         .other = hs_uri_query(&r->uri, "other")};
    if (q.analysis)
        answer_question(r, &q, not_theirs, "add other=RUN");
}

void hs_get_compare(struct hs_request *r)
{
    static const char *const not_theirs[] = {"format", "base", "test", "analysis", "cache", NULL};
    const char *name = hs_uri_query(&r->uri, "analysis");
    struct question q = {.analysis = find_analysis(r, name && *name ? name : "diff"),
                         .run = hs_uri_query(&r->uri, "base"),
                         .other = hs_uri_query(&r->uri, "test")};
    if (q.analysis)
        answer_question(r, &q, not_theirs, "the query is ?base=RUN&test=RUN");
}

void hs_get_report(struct hs_request *r)
{
    const char *run_name = hs_request_var(r, 0), *format = hs_uri_query(&r->uri, "format");
    struct hs_err err = HS_ERR_INIT;
    struct hs_run *run = NULL;
    struct hs_buf out = HS_BUF_INIT(ANSWER_MAX);
    struct hs_buf what = HS_BUF_INIT(1u << 16);
    int f = hs_report_format_parse(format ? format : "json");
    const char *type = hs_report_content_type(f < 0 ? HS_REPORT_JSON : (enum hs_report_format)f);
    const char *part = hs_uri_query(&r->uri, "part");
    bool overview = part && !strcmp(part, "overview");
    hs_buf_puts(&what, overview ? "overview;" : "report;");
    hs_thresholds_put(&r->server->o.thresholds, &what);
    int rc = hs_request_check_query(r, &err);
    if (!rc && part && *part && !overview)
        rc = hs_fail(&err, HS_EUSAGE, "there is no part '%.40s' of the report; there is overview, or all of it", part);
    if (!rc && f < 0)
        rc = hs_fail(&err, HS_EUSAGE, "there is no format '%.40s' of the report; there are json, md and html", format);
    if (!rc)
        rc = etag_of(r, run_name, NULL, what.p, 2, type, &err);
    if (rc || answered_before(r, type))
        goto out;
    rc = hs_mounts_pin(r->server->mounts, run_name, &run, &err);
    if (!rc)
        rc = overview
                 ? hs_report_overview(run, (enum hs_report_format)f, &out, &err)
                 : hs_report(run, &(struct hs_report_options){(enum hs_report_format)f, &r->server->o.thresholds, true},
                             &out, &err);
    if (run)
        hs_mounts_unpin(r->server->mounts, run);
    if (!rc)
        answer_and_keep(r, type, &out);
out:
    if (rc)
        hs_request_fail(r, &err);
    hs_buf_free(&what);
    hs_buf_free(&out);
}

/* The query in the body: {"query": "…"} as JSON, else the body itself is the query. */
static int sql_text(const struct hs_request *r, char **out, struct hs_err *err)
{
    const char *body = r->body.p ? r->body.p : "";
    bool json = r->content_type && !strncasecmp(r->content_type, "application/json", 16);
    if (!json && r->content_type && strncasecmp(r->content_type, "text/plain", 10) != 0 &&
        strncasecmp(r->content_type, "application/sql", 15) != 0)
        json = body[strspn(body, " \t\r\n")] == '{'; /* curl --data says it is a form */
    if (!json) {
        *out = hs_strdup(body);
    } else {
        json_error_t e;
        json_t *j = json_loadb(body, r->body.n, JSON_REJECT_DUPLICATES, &e);
        const char *q = json_string_value(json_object_get(j, "query"));
        if (!q) {
            json_decref(j);
            return hs_fail(err, HS_EUSAGE, "the body is not {\"query\": \"SELECT …\"}%s%s", j ? "" : ": ",
                           j ? "" : e.text);
        }
        *out = hs_strdup(q);
        json_decref(j);
    }
    if (memchr(body, 0, r->body.n) || !(*out)[strspn(*out, " \t\r\n;")]) {
        free(*out);
        return hs_fail(err, HS_EUSAGE,
                       "the body holds no query; send {\"query\": \"SELECT …\"}, or the query as text/plain");
    }
    return HS_OK;
}

void hs_post_sql(struct hs_request *r)
{
    struct hs_store *s = r->server->o.store;
    struct hs_err err = HS_ERR_INIT;
    struct hs_view *v = NULL;
    struct hs_buf out = HS_BUF_INIT(ANSWER_MAX);
    char *query = NULL;
    enum hs_format f = HS_F_RECORDS;
    struct hs_sql_limits limits = r->server->o.sql;
    limits.cancel = &r->server->stop_sql;
    int rc = hs_request_check_query(r, &err);
    if (!rc)
        rc = hs_answer_format(hs_uri_query(&r->uri, "format"), &f, &err);
    if (!rc)
        rc = sql_text(r, &query, &err);
    if (rc)
        goto out;
    rc = hs_store_pin_trace(s, hs_request_var(r, 0), &v, &err);
    if (!rc)
        rc = hs_answer_sql(v, query, &limits, f, &out, &err);
    if (v)
        hs_store_unpin_trace(s, v);
    free(query);
    if (!rc)
        hs_reply_text(&r->reply, 200, hs_format_content_type(f), &out);
out:
    if (rc)
        hs_request_fail(r, &err);
    hs_buf_free(&out);
}
