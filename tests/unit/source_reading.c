#include "tests/unit/source_reading.h"

#include "tests/unit/ingest_bytes.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static int tee_write(void *ctx, const void *p, size_t n, struct hs_err *err)
{
    (void)err;
    hs_buf_put(ctx, p, n);
    return HS_OK;
}

struct reading read_limited(struct hs_str bytes, size_t piece, size_t cap, const struct hs_limits *limits)
{
    struct reading r = {.err = HS_ERR_INIT,
                        .text = HS_BUF_INIT(READING_BIG),
                        .names = HS_BUF_INIT(READING_BIG),
                        .raw = HS_BUF_INIT(READING_BIG)};
    hs_quality_init(&r.q);
    struct test_input in;
    test_input_init(&in, bytes, piece, "given.json");
    struct hs_tee tee = {tee_write, &r.raw};
    struct hs_source *s;
    ck_assert_int_eq(hs_source_new(&s, &in.in, limits, &tee, &r.err), HS_OK);
    char *block = malloc(cap);
    bool more = false;
    const char *name;
    while (!(r.rc = hs_source_next(s, &more, &name, &r.err)) && more) {
        size_t got = 1;
        hs_buf_puts(&r.names, name);
        hs_buf_putc(&r.names, '\n');
        while (!r.rc && got && !(r.rc = hs_source_read(s, block, cap, &got, &r.q, &r.err)))
            hs_buf_put(&r.text, block, got);
        if (r.rc)
            break;
        if (!r.documents++)
            r.first_end = r.text.n;
    }
    hs_source_defects(s, &r.q);
    if (!r.rc) {
        r.rc = hs_source_drain(s, &r.err);
        ck_assert_uint_eq(hs_source_bytes_in(s), bytes.n);
        ck_assert_uint_eq(r.raw.n, bytes.n);
        if (bytes.n)
            ck_assert_mem_eq(r.raw.p, bytes.p, bytes.n);
    }
    snprintf(r.format, sizeof r.format, "%s", hs_source_format(s));
    free(block);
    hs_source_free(s);
    return r;
}

struct reading read_all(struct hs_str bytes)
{
    return read_limited(bytes, 0, 1 << 20, &hs_limits_default);
}

void reading_free(struct reading *r)
{
    hs_buf_free(&r->text);
    hs_buf_free(&r->names);
    hs_buf_free(&r->raw);
}

struct hs_str buf_str(const struct hs_buf *b)
{
    return hs_str(b->p, b->n);
}

void reading_expect(struct reading *r, struct hs_str text, const int (*defects)[2])
{
    ck_assert_msg(r->rc == HS_OK, "%s", r->err.text);
    ck_assert_uint_eq(r->text.n, text.n);
    if (text.n)
        ck_assert_mem_eq(r->text.p, text.p, text.n);
    for (int k = 0; k < HS_QUALITY_KINDS; k++) {
        int64_t want = 0;
        for (size_t i = 0; defects[i][0] >= 0; i++)
            if (defects[i][0] == k)
                want = defects[i][1];
        ck_assert_msg(r->q.count[k] == want, "%s: %lld, expected %lld", hs_quality_infos[k].name,
                      (long long)r->q.count[k], (long long)want);
    }
    reading_free(r);
}

struct hs_buf sample_text(unsigned events)
{
    struct hs_buf b = HS_BUF_INIT(READING_BIG);
    uint64_t seed = events + 1;
    hs_buf_puts(&b, "{\"traceEvents\":[");
    for (unsigned i = 0; i < events; i++)
        hs_buf_printf(&b, "%s\n{\"ph\":\"X\",\"name\":\"kernel_%u\",\"ts\":%u.%03u,\"dur\":%u}", i ? "," : "",
                      (unsigned)(test_random(&seed) % 50), i * 7, (unsigned)(test_random(&seed) % 1000),
                      (unsigned)(test_random(&seed) % 100));
    hs_buf_puts(&b, "]}\n");
    return b;
}
