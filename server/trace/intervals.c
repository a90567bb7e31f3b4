#include "trace/intervals.h"

#include <assert.h>
#include <string.h>

void hs_spans_push(struct hs_spans *s, int64_t start, int64_t end)
{
    if (end <= start)
        return;
    struct hs_span *last = s->n ? &s->p[s->n - 1] : NULL;
    if (last && start >= last->start && start <= last->end) {
        last->end = hs_max_i64(last->end, end);
        return;
    }
    hs_vec_push(s, ((struct hs_span){start, end}));
}

/* First index after `from` where the ascending run that starts there ends. */
static size_t run_end(const struct hs_span *p, size_t n, size_t from)
{
    size_t i = from + 1;
    while (i < n && p[i - 1].start <= p[i].start)
        i++;
    return i;
}

static void merge(const struct hs_span *a, size_t na, const struct hs_span *b, size_t nb, struct hs_span *out)
{
    size_t i = 0, j = 0, k = 0;
    while (i < na && j < nb)
        out[k++] = a[i].start <= b[j].start ? a[i++] : b[j++];
    if (i < na)
        memcpy(out + k, a + i, (na - i) * sizeof *a);
    else if (j < nb)
        memcpy(out + k, b + j, (nb - j) * sizeof *b);
}

/* Natural merge sort: device rows come as one ascending run a stream, so this is one or two passes. */
static void sort_runs(struct hs_spans *s)
{
    if (run_end(s->p, s->n, 0) == s->n)
        return;
    struct hs_span *from = s->p, *to = hs_malloc(s->n * sizeof *to);
    size_t runs;
    do {
        runs = 0;
        for (size_t a = 0; a < s->n; runs++) {
            size_t b = run_end(from, s->n, a);
            size_t c = b < s->n ? run_end(from, s->n, b) : b;
            merge(from + a, b - a, from + b, c - b, to + a);
            a = c;
        }
        struct hs_span *swap = from;
        from = to;
        to = swap;
    } while (runs > 1);
    if (from != s->p)
        memcpy(s->p, from, s->n * sizeof *from);
    hs_free_array((void **)(from != s->p ? &from : &to));
}

void hs_spans_normalise(struct hs_spans *s)
{
    if (s->n < 2)
        return;
    sort_runs(s);
    size_t k = 0;
    for (size_t i = 1; i < s->n; i++) {
        if (s->p[i].start <= s->p[k].end)
            s->p[k].end = hs_max_i64(s->p[k].end, s->p[i].end);
        else
            s->p[++k] = s->p[i];
    }
    s->n = k + 1;
}

int64_t hs_spans_length(const struct hs_spans *s)
{
    int64_t sum = 0;
    for (size_t i = 0; i < s->n; i++)
        sum = hs_add_sat(sum, hs_sub_sat(s->p[i].end, s->p[i].start));
    return sum;
}

/* Walks the pieces that two normal sets share, in order. */
struct common {
    const struct hs_spans *a, *b;
    size_t i, j;
};

static bool next_common(struct common *c, struct hs_span *out)
{
    while (c->i < c->a->n && c->j < c->b->n) {
        struct hs_span x = c->a->p[c->i], y = c->b->p[c->j];
        *out = (struct hs_span){hs_max_i64(x.start, y.start), hs_min_i64(x.end, y.end)};
        if (x.end <= y.end)
            c->i++;
        else
            c->j++;
        if (out->start < out->end)
            return true;
    }
    return false;
}

int64_t hs_spans_overlap(const struct hs_spans *a, const struct hs_spans *b)
{
    struct common c = {a, b, 0, 0};
    struct hs_span piece;
    int64_t sum = 0;
    while (next_common(&c, &piece))
        sum = hs_add_sat(sum, hs_sub_sat(piece.end, piece.start));
    return sum;
}

void hs_spans_union(const struct hs_spans *a, const struct hs_spans *b, struct hs_spans *out)
{
    size_t i = 0, j = 0;
    out->n = 0;
    while (i < a->n || j < b->n) {
        bool take_a = j == b->n || (i < a->n && a->p[i].start <= b->p[j].start);
        struct hs_span x = take_a ? a->p[i++] : b->p[j++];
        hs_spans_push(out, x.start, x.end);
    }
}

void hs_spans_intersect(const struct hs_spans *a, const struct hs_spans *b, struct hs_spans *out)
{
    struct common c = {a, b, 0, 0};
    struct hs_span piece;
    out->n = 0;
    while (next_common(&c, &piece))
        hs_spans_push(out, piece.start, piece.end);
}

void hs_spans_subtract(const struct hs_spans *a, const struct hs_spans *b, struct hs_spans *out)
{
    size_t j = 0;
    out->n = 0;
    for (size_t i = 0; i < a->n; i++) {
        int64_t at = a->p[i].start, end = a->p[i].end;
        while (j < b->n && b->p[j].end <= at)
            j++;
        for (size_t k = j; k < b->n && b->p[k].start < end; k++) {
            hs_spans_push(out, at, b->p[k].start);
            at = hs_max_i64(at, b->p[k].end);
        }
        hs_spans_push(out, at, end);
    }
}

void hs_spans_sweep(const struct hs_spans *sets, size_t n, int64_t *ns)
{
    size_t at_span[HS_SWEEP_MAX] = {0};
    int64_t now = INT64_MIN;
    assert(n <= HS_SWEEP_MAX);
    for (;;) {
        unsigned mask = 0;
        int64_t next = INT64_MAX;
        bool more = false;
        for (size_t k = 0; k < n; k++) {
            if (at_span[k] == sets[k].n)
                continue;
            struct hs_span x = sets[k].p[at_span[k]];
            more = true;
            if (x.start <= now)
                mask |= 1u << k;
            next = hs_min_i64(next, x.start <= now ? x.end : x.start);
        }
        if (!more)
            return;
        if (mask)
            ns[mask] = hs_add_sat(ns[mask], hs_sub_sat(next, now));
        now = next;
        for (size_t k = 0; k < n; k++)
            if (at_span[k] < sets[k].n && sets[k].p[at_span[k]].end <= now)
                at_span[k]++;
    }
}
