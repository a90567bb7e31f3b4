#define PCRE2_CODE_UNIT_WIDTH 8
#include "analysis/name_filter.h"

#include <pcre2.h>
#include <stdlib.h>

#define MATCH_LIMIT 200000 /* steps of one match: a name is some hundred bytes, honest patterns need some thousands */
#define DEPTH_LIMIT 5000
#define HEAP_LIMIT_KIB 4096
#define MAX_PATTERN 1000

struct hs_name_filter {
    pcre2_code *code;
    pcre2_match_data *match;
    pcre2_match_context *limits;
    size_t gave_up;
};

static int compile(struct hs_name_filter *f, const char *pattern, struct hs_err *err)
{
    int code;
    PCRE2_SIZE at;
    size_t n = hs_cstr(pattern).n;
    if (n > MAX_PATTERN)
        return hs_fail(err, HS_EUSAGE, "parameter name: a pattern of more than %d bytes", MAX_PATTERN);
    f->code = pcre2_compile((PCRE2_SPTR)pattern, n, PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C,
                            &code, &at, NULL);
    if (!f->code) {
        PCRE2_UCHAR text[160] = "";
        pcre2_get_error_message(code, text, sizeof text);
        return hs_fail(err, HS_EUSAGE, "parameter name: bad pattern at byte %zu: %s", at, (const char *)text);
    }
    pcre2_jit_compile(f->code, PCRE2_JIT_COMPLETE); /* where it is not there, matching interprets */
    return HS_OK;
}

int hs_name_filter_new(struct hs_name_filter **out, const char *pattern, struct hs_err *err)
{
    struct hs_name_filter *f = pattern ? hs_calloc(1, sizeof *f) : NULL;
    int rc = f ? compile(f, pattern, err) : HS_OK;
    if (f && !rc) {
        f->match = pcre2_match_data_create(1, NULL);
        f->limits = pcre2_match_context_create(NULL);
        if (!f->match || !f->limits)
            rc = hs_fail(err, HS_EINTERNAL, "out of memory for a pattern");
    }
    if (rc) {
        hs_name_filter_free(f);
        return rc;
    }
    if (f) {
        pcre2_set_match_limit(f->limits, MATCH_LIMIT);
        pcre2_set_depth_limit(f->limits, DEPTH_LIMIT);
        pcre2_set_heap_limit(f->limits, HEAP_LIMIT_KIB);
    }
    *out = f;
    return HS_OK;
}

void hs_name_filter_free(struct hs_name_filter *f)
{
    if (!f)
        return;
    pcre2_match_context_free(f->limits);
    pcre2_match_data_free(f->match);
    pcre2_code_free(f->code);
    free(f);
}

bool hs_name_matches(struct hs_name_filter *f, struct hs_str name)
{
    if (!f)
        return true;
    int rc = pcre2_match(f->code, (PCRE2_SPTR)(name.p ? name.p : ""), name.n, 0, 0, f->match, f->limits);
    if (rc < 0 && rc != PCRE2_ERROR_NOMATCH)
        f->gave_up++;
    return rc >= 0;
}

size_t hs_name_filter_gave_up(const struct hs_name_filter *f)
{
    return f ? f->gave_up : 0;
}
