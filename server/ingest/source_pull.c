#include "ingest/source_pull.h"

#include <string.h>

int hs_pull_full(const struct hs_pull *p, void *buf, size_t cap, size_t *got, struct hs_err *err)
{
    size_t n = 0;
    while (n < cap) {
        size_t k = 0;
        int rc = p->read(p->self, (char *)buf + n, cap - n, &k, err);
        if (rc)
            return rc;
        if (!k)
            break;
        n += k;
    }
    *got = n;
    return HS_OK;
}

int hs_budget_check(const struct hs_budget *b, uint64_t out, bool whole, struct hs_err *err)
{
    if (whole && out > b->limits->bytes_json)
        return hs_fail(err, HS_ELIMIT, "%s holds more than %llu bytes after inflating, the configured limit", b->name,
                       (unsigned long long)b->limits->bytes_json);
    uint64_t in = atomic_load_explicit(&b->bytes_in, memory_order_relaxed);
    if (out > HS_RATIO_FROM && out / (in ? in : 1) >= b->limits->ratio)
        return hs_fail(err, HS_ELIMIT, "%s inflates to more than %u times its size, the configured limit", b->name,
                       b->limits->ratio);
    return HS_OK;
}

void hs_peek_init(struct hs_peek *p, struct hs_pull below)
{
    p->below = below;
    p->pos = p->n = 0;
}

int hs_peek_look(struct hs_peek *p, size_t want, const unsigned char **bytes, size_t *n, struct hs_err *err)
{
    if (want > HS_PEEK_MAX)
        want = HS_PEEK_MAX;
    if (p->pos && p->n - p->pos < want) {
        memmove(p->buf, p->buf + p->pos, p->n - p->pos);
        p->n -= p->pos;
        p->pos = 0;
    }
    if (p->n - p->pos < want) {
        size_t got = 0;
        int rc = hs_pull_full(&p->below, p->buf + p->n, want - p->n, &got, err);
        if (rc)
            return rc;
        p->n += got;
    }
    *bytes = p->buf + p->pos;
    *n = p->n - p->pos;
    return HS_OK;
}

static int peek_read(void *self, void *buf, size_t cap, size_t *got, struct hs_err *err)
{
    struct hs_peek *p = self;
    size_t n = p->n - p->pos;
    if (!n)
        return p->below.read(p->below.self, buf, cap, got, err);
    if (n > cap)
        n = cap;
    memcpy(buf, p->buf + p->pos, n);
    p->pos += n;
    *got = n;
    return HS_OK;
}

struct hs_pull hs_peek_pull(struct hs_peek *p)
{
    return (struct hs_pull){peek_read, p};
}
