/* What the members beside traceEvents tell of the trace as a whole. */
#include "base/json.h"
#include "ingest/kineto_in.h"

#include <jansson.h>

enum { MAX_TELLING = 8 << 20 }; /* distributedInfo with all its process groups is a few hundred KB at worst */

void hs_kineto_head_member(struct hs_kineto *k, uint32_t key, const char *json, size_t n)
{
    struct hs_trace *t = k->trace;
    if (n > k->limits.string || t->header.n == t->header.max) {
        hs_kineto_defect(k, HS_Q_BAD_HEADER);
        return;
    }
    for (size_t i = 0; i < t->header.n; i++)
        if (t->header.p[i].key == key) {
            hs_kineto_defect(k, HS_Q_DUPLICATE_KEY);
            break;
        }
    if (!hs_vec_push(&t->header, ((struct hs_header){key, hs_kineto_raw(k, json, n)})))
        hs_kineto_defect(k, HS_Q_BAD_HEADER);
    hs_kineto_count_texts(k);
}

/* The last member of that key; NULL if there is none. */
static json_t *member(const struct hs_kineto *k, const char *name)
{
    const struct hs_trace *t = k->trace;
    for (size_t i = t->header.n; i-- > 0;) {
        if (!hs_str_is(hs_intern_str(&t->syms, t->header.p[i].key), name))
            continue;
        struct hs_buf text = HS_BUF_INIT(3 * MAX_TELLING); /* jansson takes no bad UTF-8 */
        struct hs_str json = hs_intern_str(&t->syms, t->header.p[i].json);
        if (json.n <= MAX_TELLING)
            hs_put_utf8(&text, json);
        json_t *v = text.n ? json_loadb(text.p, text.n, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL) : NULL;
        hs_buf_free(&text);
        return v;
    }
    return NULL;
}

/* An integer, or text that holds one. */
static bool integer(const json_t *v, int64_t *out)
{
    if (json_is_integer(v)) {
        *out = json_integer_value(v);
        return true;
    }
    return json_is_string(v) && hs_text_i64(hs_str(json_string_value(v), json_string_length(v)), out);
}

void hs_kineto_head_settle(struct hs_kineto *k)
{
    struct hs_trace *t = k->trace;
    int64_t v;
    json_t *base = member(k, "baseTimeNanoseconds");
    if (integer(base, &v)) {
        t->has_base = true;
        t->base_ns = v;
    }
    json_decref(base);
    json_t *dist = member(k, "distributedInfo");
    if (integer(json_object_get(dist, "rank"), &v) && v >= 0)
        t->rank = v;
    if (integer(json_object_get(dist, "world_size"), &v) && v > 0)
        t->world_size = v;
    json_decref(dist);
}
