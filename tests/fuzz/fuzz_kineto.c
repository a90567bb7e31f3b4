/* Any bytes through the reader, whole and in cuts that the input's last bytes choose. What must hold:
 *   - it ends, with success or a clear refusal;
 *   - the cuts change nothing: the same events, the same defects;
 *   - every event can be given back as JSON that jansson accepts. */
#include "ingest/scan.h"
#include "tests/unit/rebuild.h"

#include <jansson.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static _Noreturn void broken(const char *what, struct hs_str s)
{
    fprintf(stderr, "broken: %s: %.*s\n", what, (int)(s.n < 2000 ? s.n : 2000), s.p ? s.p : "");
    abort();
}

static size_t by_bytes(void *ctx, size_t left, size_t number)
{
    const uint8_t *data = ctx;
    (void)left;
    return 1 + data[number % 16];
}

/* Valid JSON that jansson cannot hold: numbers beyond a double, NUL in a key. */
static bool beyond_jansson(const json_error_t *e)
{
    enum json_error_code code = json_error_code(e);
    return code == json_error_numeric_overflow || code == json_error_null_byte_in_key;
}

static void check_events(const struct rebuilt *r)
{
    if (r->trace.events != r->at.n || r->trace.rows.n != r->at.n)
        broken("counts differ", hs_str("", 0));
    for (size_t i = 0; i < r->at.n; i++) {
        struct hs_str s = rebuilt_event(r, i);
        json_error_t e;
        json_t *v = json_loadb(s.p, s.n, JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, &e);
        if (!v && !beyond_jansson(&e))
            broken(e.text, s);
        json_decref(v);
    }
}

static void check_header(const struct rebuilt *r)
{
    for (size_t i = 0; i < r->trace.header.n; i++) {
        struct hs_str s = hs_intern_str(&r->trace.syms, r->trace.header.p[i].json);
        json_error_t e;
        json_t *v = json_loadb(s.p, s.n, JSON_ALLOW_NUL | JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, &e);
        if (!v && !beyond_jansson(&e) && hs_utf8_valid(s.p, s.n))
            broken(e.text, s);
        json_decref(v);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rebuilt whole, cut;
    struct hs_limits limits = hs_limits_default;
    if (size < 16)
        return 0;
    if (data[size - 2] & 1) { /* small limits, so that they are met */
        limits.string = 40;
        limits.depth = 3;
        limits.events = 50;
        limits.names = 120;
    }
    const char *text = (const char *)data;
    rebuild(&whole, text, size, &limits, NULL, NULL);
    rebuild(&cut, text, size, &limits, by_bytes, (void *)(uintptr_t)(data + size - 16));
    if (whole.rc != cut.rc)
        broken("cuts change the verdict", hs_cstr(whole.rc ? whole.err.text : cut.err.text));
    if (!whole.rc) {
        check_events(&whole);
        check_header(&whole);
        if (whole.json.n != cut.json.n || (cut.json.n && memcmp(whole.json.p, cut.json.p, cut.json.n)))
            broken("cuts change the events", hs_str(text, size));
        for (int q = 0; q < HS_QUALITY_KINDS; q++)
            if (whole.trace.quality.count[q] != cut.trace.quality.count[q])
                broken(hs_quality_infos[q].name, hs_str(text, size));
    }
    rebuilt_free(&whole);
    rebuilt_free(&cut);
    return 0;
}
