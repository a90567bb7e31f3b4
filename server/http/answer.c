#include "http/answer.h"

#include "analysis/execution_trace.h"
#include "base/json.h"
#include "store/sql.h"

#include <stdlib.h>
#include <string.h>

int hs_answer_format(const char *name, enum hs_format *out, struct hs_err *err)
{
    int f = !name || !strcmp(name, "json") ? (int)HS_F_RECORDS : hs_format_parse(name);
    if (f < 0)
        return hs_fail(
            err, HS_EUSAGE,
            "there is no format '%.40s'; there are records, columns, csv, md, and for flame folded and speedscope",
            name);
    *out = (enum hs_format)f;
    return HS_OK;
}

int hs_answer_params(const struct hs_analysis *a, const struct hs_pair *kv, size_t n, const char *const *skip,
                     struct hs_params **out, struct hs_err *err)
{
    struct hs_params *p = NULL;
    int rc = hs_params_new(&p, a->params, a->nparams, err);
    for (size_t i = 0; i < n && !rc; i++) {
        const char *const *s = skip;
        while (s && *s && strcmp(*s, kv[i].name) != 0)
            s++;
        if (!s || !*s)
            rc = hs_params_set(p, kv[i].name, kv[i].value, err);
    }
    if (rc)
        hs_params_free(p);
    else
        *out = p;
    return rc;
}

int hs_answer(const struct hs_analysis *a, struct hs_run *run, const struct hs_params *p, enum hs_format f,
              struct hs_buf *out, struct hs_err *err)
{
    struct hs_table t;
    int rc = hs_analysis_run(a, run, p, &t, err);
    if (rc)
        return rc;
    if (run->note)
        hs_table_note(&t, "%s", run->note);
    struct hs_buf params = HS_BUF_INIT(1u << 20);
    struct hs_json j = HS_JSON_INIT(&params);
    hs_params_json(p, &j);
    struct hs_envelope e = {.analysis = a->name, .run = run->name, .params_json = params.p};
    rc = hs_render_table(&t, &e, f, out, err);
    if (!rc)
        rc = hs_buf_check(out, "the answer", err);
    hs_table_free(&t);
    hs_buf_free(&params);
    return rc;
}

int hs_answer_sql(struct hs_view *v, const char *query, const struct hs_sql_limits *limits, enum hs_format f,
                  struct hs_buf *out, struct hs_err *err)
{
    struct hs_table t;
    struct hs_buf params = HS_BUF_INIT(4u << 20);
    struct hs_json j = HS_JSON_INIT(&params);
    hs_table_init(&t, NULL, 0);
    hs_json_obj(&j);
    hs_json_key(&j, "query");
    hs_json_cstr(&j, query);
    hs_json_end(&j);
    int rc = hs_sql_run(v, query, limits, &t, err);
    if (!rc)
        rc = hs_table_check(&t, err);
    struct hs_envelope e = {.analysis = "sql", .run = v->name, .params_json = params.p};
    if (!rc)
        rc = hs_render_table(&t, &e, f, out, err);
    if (!rc)
        rc = hs_buf_check(out, "the answer", err);
    hs_table_free(&t);
    hs_buf_free(&params);
    return rc;
}

int hs_answer_execution_trace(const struct hs_et *et, struct hs_run *run, const int64_t *rank, enum hs_format f,
                              struct hs_buf *out, struct hs_err *err)
{
    struct hs_table t;
    int rc = hs_et_join(et, run, rank, &t, err);
    struct hs_envelope e = {.analysis = "execution-trace", .run = run->name, .params_json = "{}"};
    if (!rc)
        rc = hs_render_table(&t, &e, f, out, err);
    if (!rc)
        rc = hs_buf_check(out, "the answer", err);
    hs_table_free(&t);
    return rc;
}
