#include "tests/unit/exported.h"
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

static void import(struct traced *t, struct hs_input *in, const char *what)
{
    struct hs_err err = HS_ERR_INIT;
    struct hs_import_options o = {.rank = HS_RANK_AUTO};
    *t = (struct traced){0};
    int rc = hs_import(in, &o, &t->imported, &t->n, &err);
    ck_assert_msg(!rc, "%s: %s", what, err.text);
    ck_assert_uint_eq(t->n, 1);
    ck_assert(!hs_run_build("test", &t->imported[0].view, 1, &t->run, &err));
}

void traced_text(struct traced *t, const char *text, size_t n)
{
    struct hs_input_bytes x = {text, n};
    struct hs_input in = hs_input_of_bytes(&x, "test.json");
    import(t, &in, "text");
}

void traced_file(struct traced *t, const char *path)
{
    struct hs_input in;
    struct hs_err err = HS_ERR_INIT;
    ck_assert_msg(!hs_input_open_file(&in, path, &err), "%s", err.text);
    import(t, &in, path);
    hs_input_close_file(&in);
}

void traced_end(struct traced *t)
{
    hs_run_free(t->run);
    hs_imported_free(t->imported, t->n);
}

struct hs_params *export_params(const char *text)
{
    struct hs_params *p;
    struct hs_err err = HS_ERR_INIT;
    char *copy = hs_strdup(text), *rest = copy;
    ck_assert(!hs_params_new(&p, hs_chrome_params, hs_chrome_nparams, &err));
    for (char *one; (one = strsep(&rest, "&"));) {
        char *eq = strchr(one, '=');
        if (!eq)
            continue;
        *eq = 0;
        ck_assert_msg(!hs_params_set(p, one, eq + 1, &err), "%s", err.text);
    }
    free(copy);
    return p;
}

struct hs_buf exported_text(const struct hs_run_rank *r, const char *params)
{
    struct hs_params *p = export_params(params);
    struct hs_chrome_trace *t;
    struct hs_err err = HS_ERR_INIT;
    struct hs_buf all = HS_BUF_INIT((size_t)1 << 30), part = HS_BUF_INIT(HS_CHROME_CEILING);
    ck_assert(!hs_params_set(p, "gzip", "false", &err));
    ck_assert_msg(!hs_chrome_open(&t, r, p, &err), "%s", err.text);
    for (bool done = false; !done;) {
        hs_buf_clear(&part);
        ck_assert_msg(!hs_chrome_next(t, &part, &done, &err), "%s", err.text);
        ck_assert_uint_le(part.n, HS_CHROME_PART + (4u << 20)); /* no event of the tests is longer */
        hs_buf_put(&all, part.p, part.n);
    }
    hs_chrome_close(t);
    hs_params_free(p);
    hs_buf_free(&part);
    return all;
}

json_t *exported(const struct hs_run_rank *r, const char *params)
{
    struct hs_buf text = exported_text(r, params);
    json_error_t e;
    json_t *doc = json_loadb(text.p, text.n, 0, &e);
    ck_assert_msg(doc != NULL, "%s at %d: %.*s", e.text, e.position, 200, text.p);
    hs_buf_free(&text);
    return doc;
}

void json_agree(json_t *got, json_t *want, const char *what)
{
    char *a = json_dumps(want, JSON_COMPACT | JSON_ENCODE_ANY), *b = json_dumps(got, JSON_COMPACT | JSON_ENCODE_ANY);
    if (!a || !b || strcmp(a, b) != 0) /* no ck_assert for each event: it would write a line for each */
        ck_abort_msg("%s:\n got %.2000s\nwant %.2000s", what, b ? b : "", a ? a : "");
    free(a);
    free(b);
}

json_t *take_patterns(json_t *event, bool added)
{
    json_t *args = json_object_get(event, "args"), *p = json_incref(json_object_get(args, "Patterns"));
    json_object_del(args, "Patterns");
    if (p && added && !json_object_size(args))
        json_object_del(event, "args");
    return p;
}
