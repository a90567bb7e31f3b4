#include "tests/unit/rebuilt.h"

#include "tests/unit/test.h"

struct rebuilt rebuilt_read(const char *text)
{
    struct rebuilt r;
    rebuild(&r, text, strlen(text), NULL, NULL, NULL);
    return r;
}

struct rebuilt rebuilt_read_ok(const char *text)
{
    struct rebuilt r = rebuilt_read(text);
    ck_assert_msg(r.rc == HS_OK, "%s: %s", text, r.err.text);
    return r;
}

int64_t rebuilt_count(const struct rebuilt *r, enum hs_quality_kind kind)
{
    return r->trace.quality.count[kind];
}

void rebuilt_only(const struct rebuilt *r, enum hs_quality_kind kind, int64_t n)
{
    for (int i = 0; i < HS_QUALITY_KINDS; i++)
        ck_assert_msg(r->trace.quality.count[i] == (i == (int)kind ? n : 0), "%s: %lld", hs_quality_infos[i].name,
                      (long long)r->trace.quality.count[i]);
}

void rebuilt_event_is(const struct rebuilt *r, size_t i, const char *want)
{
    ck_assert_uint_gt(r->at.n, i);
    struct hs_str s = rebuilt_event(r, i);
    ck_assert_msg(hs_str_is(s, want), "%.*s, not %s", (int)s.n, s.p, want);
}

struct hs_str rebuilt_sym(const struct rebuilt *r, uint32_t id)
{
    return hs_intern_str(&r->trace.syms, id);
}
