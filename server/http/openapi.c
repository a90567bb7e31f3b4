#include "http/openapi.h"

#include "analysis/registry.h"
#include "base/json.h"
#include "http/router.h"
#include "http/server.h"

#include <ctype.h>
#include <string.h>

static void pair(struct hs_json *j, const char *key, const char *value)
{
    hs_json_key(j, key);
    hs_json_cstr(j, value);
}

static void parameter(struct hs_json *j, const char *where, struct hs_str name, const char *type, const char *doc)
{
    hs_json_obj(j);
    hs_json_key(j, "name");
    hs_json_str(j, name);
    pair(j, "in", where);
    if (!strcmp(where, "path")) {
        hs_json_key(j, "required");
        hs_json_bool(j, true);
    }
    if (doc)
        pair(j, "description", doc);
    hs_json_key(j, "schema");
    hs_json_obj(j);
    pair(j, "type", type);
    hs_json_end(j);
    hs_json_end(j);
}

/* The variables of a path; where it names an analysis, {analysis} is none any more. */
static void path_parameters(struct hs_json *j, const char *path)
{
    for (const char *p = path; (p = strchr(p, '{')); p++) {
        size_t n = strcspn(p + 1, "}*");
        parameter(j, "path", hs_str(p + 1, n), "string", NULL);
    }
}

static const char *schema_type(enum hs_param_type t)
{
    switch (t) {
    case HS_P_INT: return "integer";
    case HS_P_REAL:
    case HS_P_TIME: return "number";
    case HS_P_BOOL: return "boolean";
    case HS_P_TEXT:
    case HS_P_CHOICE:
    case HS_P_INT_LIST: return "string";
    }
    return "string";
}

static void analysis_parameter(struct hs_json *j, const struct hs_param_spec *s)
{
    hs_json_obj(j);
    pair(j, "name", s->name);
    pair(j, "in", "query");
    pair(j, "description", s->doc);
    hs_json_key(j, "schema");
    hs_json_obj(j);
    pair(j, "type", schema_type(s->type));
    if (s->def)
        pair(j, "default", s->def);
    if (s->min < s->max) {
        hs_json_key(j, "minimum");
        hs_json_f64(j, s->min);
        hs_json_key(j, "maximum");
        hs_json_f64(j, s->max);
    }
    if (s->choices) {
        hs_json_key(j, "enum");
        hs_json_arr(j);
        for (const char *p = s->choices; p;) {
            size_t n = strcspn(p, "|");
            hs_json_str(j, hs_str(p, n));
            p = p[n] ? p + n + 1 : NULL;
        }
        hs_json_end(j);
    }
    hs_json_end(j);
    hs_json_end(j);
}

static void media(struct hs_json *j, const char *type)
{
    hs_json_key(j, "content");
    hs_json_obj(j);
    for (const char *p = type; p;) {
        size_t n = strcspn(p, " ");
        hs_json_key_n(j, hs_str(p, n));
        hs_json_obj(j);
        hs_json_end(j);
        p = p[n] ? p + n + 1 : NULL;
    }
    hs_json_end(j);
}

static void answers(struct hs_json *j, const struct hs_route *r)
{
    hs_json_key(j, "responses");
    hs_json_obj(j);
    hs_json_key(j, r->method == HS_DELETE ? "204" : "200");
    hs_json_obj(j);
    pair(j, "description", r->method == HS_DELETE ? "Done" : "The answer");
    if (r->answers)
        media(j, r->answers);
    hs_json_end(j);
    if (r->work == HS_WORK_UPLOAD) {
        hs_json_key(j, "201");
        hs_json_obj(j);
        pair(j, "description", "At least one trace is new; Location names it, or its run");
        media(j, r->answers);
        hs_json_end(j);
    }
    hs_json_key(j, "default");
    hs_json_obj(j);
    pair(j, "description", "RFC 9457: type, title, status, detail, code");
    media(j, "application/problem+json");
    hs_json_end(j);
    hs_json_end(j);
}

/* One operation; `a` is the analysis whose path it is, or NULL. */
static void operation(struct hs_json *j, const struct hs_route *r, const char *path, const struct hs_analysis *a)
{
    char method[16] = {0};
    const char *name = hs_method_name(r->method);
    for (size_t i = 0; i < sizeof method - 1 && name[i]; i++)
        method[i] = (char)tolower((unsigned char)name[i]);
    hs_json_key(j, method);
    hs_json_obj(j);
    pair(j, "operationId", a ? a->name : r->id);
    pair(j, "summary", a ? a->summary : r->summary);
    if (a)
        pair(j, "description", a->doc);
    hs_json_key(j, "parameters");
    hs_json_arr(j);
    path_parameters(j, path);
    for (size_t i = 0; i < r->nparams; i++)
        if (!a || a->two_runs || strcmp(r->params[i].name, "other") != 0) /* the second run, of those that compare */
            parameter(j, "query", hs_cstr(r->params[i].name), r->params[i].type, r->params[i].doc);
    for (size_t i = 0; a && i < a->nparams; i++)
        analysis_parameter(j, &a->params[i]);
    for (size_t i = 0; a && i < hs_common_nparams; i++)
        analysis_parameter(j, &hs_common_params[i]);
    hs_json_end(j);
    if (r->body) {
        hs_json_key(j, "requestBody");
        hs_json_obj(j);
        hs_json_key(j, "required");
        hs_json_bool(j, true);
        media(j, r->body);
        hs_json_end(j);
    }
    answers(j, r);
    hs_json_end(j);
}

/* All methods of one path; `first` is its first route in the table. */
static void path_item(struct hs_json *j, const struct hs_route *first, const char *path, const struct hs_analysis *a)
{
    hs_json_key(j, path);
    hs_json_obj(j);
    for (const struct hs_route *r = first; r->path; r++)
        if (!strcmp(r->path, first->path))
            operation(j, r, path, a);
    hs_json_end(j);
}

static bool seen_before(const struct hs_route *r)
{
    for (const struct hs_route *q = hs_routes; q < r; q++)
        if (!strcmp(q->path, r->path))
            return true;
    return false;
}

void hs_openapi_write(struct hs_buf *out)
{
    static const char variable[] = "{analysis}";
    struct hs_json j = HS_JSON_INIT(out);
    hs_json_obj(&j);
    pair(&j, "openapi", "3.1.0");
    hs_json_key(&j, "info");
    hs_json_obj(&j);
    pair(&j, "title", "Holoscope");
    pair(&j, "version", HS_VERSION);
    pair(&j, "description", "PyTorch (Kineto) traces in, answers out: where GPU time goes, and why it is idle.");
    hs_json_end(&j);
    hs_json_key(&j, "paths");
    hs_json_obj(&j);
    for (const struct hs_route *r = hs_routes; r->path; r++) {
        const char *at = strstr(r->path, variable);
        if (seen_before(r) || strchr(r->path, '*'))
            continue;
        if (!at || strstr(r->path, "/analyses/")) {
            path_item(&j, r, r->path, NULL);
            continue;
        }
        for (size_t i = 0; hs_analyses[i]; i++) {
            char *path = hs_asprintf("%.*s%s", (int)(at - r->path), r->path, hs_analyses[i]->name);
            path_item(&j, r, path, hs_analyses[i]);
            hs_free_array((void **)&path);
        }
    }
    hs_json_end(&j);
    hs_json_end(&j);
    hs_buf_putc(out, '\n');
}

void hs_openapi_build(struct hs_server *s)
{
    struct hs_buf b = HS_BUF_INIT(64u << 20);
    hs_openapi_write(&b);
    s->openapi = hs_blob_new(b.p, b.n);
    hs_hash_hex(b.p, b.n, s->openapi_etag);
    hs_buf_free(&b);
}
