#include "analysis/collective.h"
#include "analysis/collective_read.h"
#include "trace/stats.h"

#include <stdlib.h>

#define CMP(f)        \
    if (x->f != y->f) \
    return x->f < y->f ? -1 : 1

static int by_rank_key_start(const void *a, const void *b)
{
    const struct hs_collective_call *x = a, *y = b;
    CMP(rank);
    CMP(key);
    CMP(seq);
    CMP(start);
    CMP(end);
    CMP(kind);
    return 0;
}

static int by_key_nth_rank(const void *a, const void *b)
{
    const struct hs_collective_call *x = a, *y = b;
    CMP(key);
    CMP(seq);
    CMP(nth);
    CMP(rank);
    return 0;
}

static void number_calls(struct hs_collectives *c)
{
    if (!c->calls.n)
        return;
    qsort(c->calls.p, c->calls.n, sizeof *c->calls.p, by_rank_key_start);
    for (size_t i = 1; i < c->calls.n; i++) {
        struct hs_collective_call *x = &c->calls.p[i], *y = x - 1;
        x->nth = x->rank == y->rank && x->key == y->key && x->seq == y->seq ? y->nth + 1 : 0;
    }
    qsort(c->calls.p, c->calls.n, sizeof *c->calls.p, by_key_nth_rank);
}

static bool same_operation(const struct hs_collective_call *x, const struct hs_collective_call *y)
{
    return x->key == y->key && x->seq == y->seq && x->nth == y->nth;
}

static enum hs_collective_type type_of(const struct hs_collectives *c, size_t call)
{
    return c->kinds.p[c->calls.p[call].kind].type;
}

static bool match(struct hs_collectives *c)
{
    for (size_t i = 0, end; i < c->calls.n; i = end) {
        for (end = i + 1; end < c->calls.n && same_operation(&c->calls.p[i], &c->calls.p[end]);)
            end++;
        struct hs_collective x = {i, (uint32_t)(end - i)};
        if (x.n > 1 && !hs_collective_is_p2p(type_of(c, i)) && !hs_vec_push(&c->list, x))
            return false;
    }
    return true;
}

/* ---- clocks ---- */

struct ends {
    HS_VEC(int64_t);
};

static int64_t median(struct ends *e)
{
    int64_t *scratch = hs_malloc((e->n + 1) * sizeof *scratch);
    hs_sort_i64(e->p, scratch, e->n);
    free(scratch);
    return e->n ? e->p[e->n / 2] : 0;
}

/* Mean end of the ranks of one collective that are aligned already; false if there is none. */
static bool aligned_end(const struct hs_collectives *c, const struct hs_collective *x, uint32_t but, int64_t *out)
{
    __int128 sum = 0;
    int64_t n = 0;
    for (uint32_t k = 0; k < x->n; k++) {
        const struct hs_collective_call *call = &c->calls.p[x->first + k];
        if (call->rank == but || !c->clock[call->rank].aligned)
            continue;
        sum += hs_add_sat(call->end, c->clock[call->rank].shift_ns);
        n++;
    }
    if (n)
        *out = (int64_t)(sum / n);
    return n > 0;
}

/* Differences of one rank's ends to those of the aligned ranks, into `e`. */
static void differences(const struct hs_collectives *c, uint32_t rank, struct ends *e)
{
    e->n = 0;
    for (size_t i = 0; i < c->list.n; i++) {
        const struct hs_collective *x = &c->list.p[i];
        int64_t end;
        if (!hs_collective_is_full(type_of(c, x->first)))
            continue;
        for (uint32_t k = 0; k < x->n; k++)
            if (c->calls.p[x->first + k].rank == rank && aligned_end(c, x, rank, &end))
                hs_vec_push(e, hs_sub_sat(end, c->calls.p[x->first + k].end));
    }
}

/* Number of collectives that each rank shares with the aligned ones, in one pass. */
static void count_shared(const struct hs_collectives *c, int64_t *shared)
{
    for (size_t r = 0; r < c->nranks; r++)
        shared[r] = 0;
    for (size_t i = 0; i < c->list.n; i++) {
        const struct hs_collective *x = &c->list.p[i];
        bool any = false;
        for (uint32_t k = 0; k < x->n && hs_collective_is_full(type_of(c, x->first)); k++)
            any |= c->clock[c->calls.p[x->first + k].rank].aligned;
        for (uint32_t k = 0; k < x->n && any; k++)
            shared[c->calls.p[x->first + k].rank]++;
    }
}

static void align_rank(struct hs_collectives *c, uint32_t rank, struct ends *e)
{
    struct hs_rank_clock *k = &c->clock[rank];
    differences(c, rank, e);
    k->shared = (int64_t)e->n;
    k->shift_ns = median(e);
    for (size_t i = 0; i < e->n; i++) {
        int64_t left = hs_sub_sat(e->p[i], k->shift_ns);
        e->p[i] = left < 0 ? hs_sub_sat(0, left) : left;
    }
    k->residual_ns = median(e);
}

/* Wave by wave: all ranks that share a collective with an aligned one are aligned on those, then count themselves. */
static void align(struct hs_collectives *c)
{
    struct ends e = HS_VEC_INIT(HS_MAX_EVENTS);
    int64_t *shared = hs_calloc(c->nranks, sizeof *shared);
    if (c->nranks)
        c->clock[0].aligned = true;
    for (bool more = true; more;) {
        more = false;
        count_shared(c, shared);
        for (uint32_t r = 0; r < c->nranks; r++)
            if (!c->clock[r].aligned && shared[r])
                align_rank(c, r, &e);
        for (uint32_t r = 0; r < c->nranks; r++)
            if (!c->clock[r].aligned && shared[r])
                more = c->clock[r].aligned = true;
    }
    for (size_t i = 0; i < c->calls.n; i++) {
        struct hs_collective_call *x = &c->calls.p[i];
        x->start = hs_add_sat(x->start, c->clock[x->rank].shift_ns);
        x->end = hs_add_sat(x->end, c->clock[x->rank].shift_ns);
    }
    free(shared);
    hs_vec_free(&e);
}

/* ---- findings ---- */

/* Ranks of one key whose numbers of calls differ: calls [first, end) are sorted so that each rank's are counted in `n`. */
static void note_counts(const struct hs_collectives *c, const struct hs_run *run, size_t first, size_t end, int64_t *n,
                        struct hs_table *out)
{
    int64_t most = 0, least = INT64_MAX;
    size_t rich = 0, poor = 0;
    for (size_t r = 0; r < c->nranks; r++)
        n[r] = 0;
    for (size_t i = first; i < end; i++)
        n[c->calls.p[i].rank]++;
    for (size_t r = 0; r < c->nranks; r++) {
        if (n[r] > most)
            most = n[rich = r];
        if (n[r] && n[r] < least)
            least = n[poor = r];
    }
    if (most == least || hs_collective_is_p2p(type_of(c, first)))
        return;
    struct hs_str group = c->texts.p[c->kinds.p[c->calls.p[first].kind].group];
    hs_table_note(
        out,
        "Unequal counts: of %s%s%.*s rank %lld has %lld, rank %lld has %lld; those without a counterpart were "
        "not compared.",
        hs_collective_word(type_of(c, first)), group.n ? " in group " : "", (int)(group.n < 120 ? group.n : 120),
        group.p, (long long)run->ranks[rich].rank, (long long)most, (long long)run->ranks[poor].rank, (long long)least);
}

static void note_findings(const struct hs_collectives *c, const struct hs_run *run, struct hs_table *out)
{
    int64_t *n = hs_calloc(c->nranks, sizeof *n);
    size_t by_order = 0;
    for (size_t i = 0, end; i < c->calls.n; i = end) {
        for (end = i; end < c->calls.n && c->calls.p[end].key == c->calls.p[i].key;)
            end++;
        note_counts(c, run, i, end, n, out);
    }
    for (size_t i = 0; i < c->list.n; i++) {
        const struct hs_collective_call *x = &c->calls.p[c->list.p[i].first];
        struct hs_str key = c->texts.p[x->key];
        by_order += key.n && key.p[key.n - 1] == '0'; /* collective_read.c: the last digit tells whether it is by Seq */
    }
    if (by_order)
        hs_table_note(out,
                      "%zu collectives have no sequence number in the trace: they were matched by their order within "
                      "kind, group and step.",
                      by_order);
    for (size_t r = 0; r < c->nranks && c->nranks > 1 && c->list.n; r++)
        if (!c->clock[r].aligned)
            hs_table_note(out, "Rank %lld shares no collective with the others: its clock is taken as it is.",
                          (long long)run->ranks[r].rank);
    free(n);
}

static int by_first_call(const void *a, const void *b, void *calls)
{
    const struct hs_collective_call *c = calls;
    const struct hs_collective *x = a, *y = b;
    if (c[x->first].start != c[y->first].start)
        return c[x->first].start < c[y->first].start ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

int hs_collectives_open(struct hs_collectives *c, const struct hs_run *run, const struct hs_params *p,
                        struct hs_table *out, struct hs_err *err)
{
    *c = (struct hs_collectives){.nranks = run->n,
                                 .kinds = HS_VEC_INIT(HS_MAX_EVENTS),
                                 .calls = HS_VEC_INIT((size_t)1 << 31),
                                 .list = HS_VEC_INIT((size_t)1 << 31),
                                 .clock = hs_calloc(run->n, sizeof *c->clock)};
    bool stepped = run->n > 0;
    int rc = HS_OK;
    hs_intern_init(&c->texts, HS_MAX_EVENTS, (size_t)2 << 30);
    hs_intern_init(&c->kind_bytes, HS_MAX_EVENTS, (size_t)2 << 30);
    for (size_t i = 0; i < run->n; i++)
        stepped &= run->ranks[i].view->nsteps > 0;
    for (size_t i = 0; i < run->n && !rc; i++)
        rc = hs_collective_read(c, run, i, stepped, p, out, err);
    if (rc)
        return rc;
    number_calls(c);
    if (!match(c))
        return hs_fail(err, HS_ELIMIT, "the run has too many collectives to match");
    align(c);
    note_findings(c, run, out);
    if (c->list.n)
        qsort_r(c->list.p, c->list.n, sizeof *c->list.p, by_first_call, c->calls.p);
    return HS_OK;
}

void hs_collectives_free(struct hs_collectives *c)
{
    hs_intern_free(&c->texts);
    hs_intern_free(&c->kind_bytes);
    hs_vec_free(&c->kinds);
    hs_vec_free(&c->calls);
    hs_vec_free(&c->list);
    free(c->clock);
    c->clock = NULL;
}
