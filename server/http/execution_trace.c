/* POST /api/v1/runs/{run}/execution-trace: the body is the execution trace, the answer its nodes beside the rank's events. */
#include "analysis/execution_trace.h"

#include "http/answer.h"
#include "http/resources.h"
#include "http/server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_MAX (256u << 20)

static int read_rank(const struct hs_request *r, int64_t *rank, bool *has, struct hs_err *err)
{
    const char *text = hs_uri_query(&r->uri, "rank");
    char *end;
    *has = text != NULL;
    if (!text)
        return HS_OK;
    errno = 0;
    *rank = strtoll(text, &end, 10);
    return end == text || *end || errno ? hs_fail(err, HS_EUSAGE, "parameter rank: '%.40s' is no number", text) : HS_OK;
}

void hs_post_execution_trace(struct hs_request *r)
{
    struct hs_mounts *m = r->server->mounts;
    struct hs_err err = HS_ERR_INIT;
    struct hs_input_bytes body = {r->body.p, r->body.n};
    struct hs_input in = hs_input_of_bytes(&body, "the body");
    struct hs_buf out = HS_BUF_INIT(ANSWER_MAX);
    struct hs_run *run = NULL;
    struct hs_et et = {0};
    enum hs_format f = HS_F_RECORDS;
    int64_t rank = 0;
    bool has_rank = false;
    int rc = hs_request_check_query(r, &err);
    if (!rc)
        rc = hs_answer_format(hs_uri_query(&r->uri, "format"), &f, &err);
    if (!rc)
        rc = read_rank(r, &rank, &has_rank, &err);
    if (!rc)
        rc = hs_request_prepare(r, hs_request_var(r, 0), &err);
    if (!rc)
        rc = hs_mounts_pin(m, hs_request_var(r, 0), &run, &err);
    if (!rc)
        rc = hs_et_read(&et, &in, &hs_limits_default, &err);
    if (!rc)
        rc = hs_answer_execution_trace(&et, run, has_rank ? &rank : NULL, f, &out, &err);
    if (!rc)
        hs_reply_text(&r->reply, 200, hs_format_content_type(f), &out);
    else
        hs_request_fail(r, &err);
    if (run)
        hs_mounts_unpin(m, run);
    hs_et_free(&et);
    hs_buf_free(&out);
}
