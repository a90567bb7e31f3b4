/* Which call launched a device event: the CPU call with the same correlation, in the same process where the file holds
 * several. Of several such calls a runtime or driver call is preferred, and among those the last one that starts at or
 * before the device event (ROCm writes two records a launch; ids are reused after a wrap). A correlation of 0, -1 or
 * 2^32-1 (-1 as unsigned) means none. */
#include "ingest/link_in.h"
#include "ingest/link_sort.h"

#define MAX_PARTS 256u /* devices whose part of a merged file is learnt, and parts tried for a device that has none */

static bool joins(int64_t corr)
{
    return corr > 0 && corr != UINT32_MAX && corr != INT64_MAX;
}

static bool is_runtime(const struct hs_linking *l, uint32_t e)
{
    return hs_row_kind(l, e) == HS_CAT_RUNTIME;
}

static bool by_correlation(const void *ctx, uint32_t a, uint32_t b)
{
    const struct hs_linking *l = ctx;
    const struct hs_rows *r = l->r;
    if (r->corr[a] != r->corr[b])
        return r->corr[a] < r->corr[b];
    uint32_t pa = l->part[r->lane[a]], pb = l->part[r->lane[b]];
    if (pa != pb)
        return pa < pb;
    bool ra = is_runtime(l, a), rb = is_runtime(l, b);
    if (ra != rb)
        return rb;
    return r->ts[a] != r->ts[b] ? r->ts[a] < r->ts[b] : a < b;
}

static bool by_start(const void *ctx, uint32_t a, uint32_t b)
{
    const struct hs_rows *r = ctx;
    return r->ts[a] != r->ts[b] ? r->ts[a] < r->ts[b] : a < b;
}

/* Correlations that several calls share, and whether calls of several parts do. */
static void count_shared(struct hs_launcher *c, const struct hs_linking *l, struct hs_quality *q)
{
    const struct hs_rows *r = l->r;
    int64_t shared = 0;
    for (size_t i = 0, k; i < c->n; i = k) {
        bool parts = false;
        for (k = i + 1; k < c->n && r->corr[c->v[k]] == r->corr[c->v[i]]; k++)
            parts |= l->part[r->lane[c->v[k]]] != l->part[r->lane[c->v[i]]];
        c->merged |= parts;
        shared += k - i > 1 && !parts;
    }
    hs_count(q, HS_Q_SHARED_CORRELATION, shared);
}

static void count_merged(const struct hs_launcher *c, const struct hs_linking *l, struct hs_quality *q)
{
    bool *seen = hs_calloc(l->nparts + 1, sizeof *seen), brackets = false;
    int64_t n = 0;
    for (size_t i = 0; i < c->n; i++) {
        uint32_t lane = l->r->lane[c->v[i]];
        brackets |= (l->lane_flags[lane] & HS_LANE_PART) != 0;
        n += !seen[l->part[lane]];
        seen[l->part[lane]] = true;
    }
    free(seen);
    if (n > 1 && (c->merged || brackets))
        hs_count(q, HS_Q_MERGED_RANKS, n);
}

void hs_launcher_init(struct hs_launcher *c, const struct hs_linking *l, struct hs_quality *q)
{
    const struct hs_rows *r = l->r;
    size_t n = 0;
    *c = (struct hs_launcher){.parts = HS_VEC_INIT(MAX_PARTS)};
    for (size_t e = 0; e < r->n; e++)
        n += hs_row_side(l, e) == HS_SIDE_CPU && joins(r->corr[e]);
    c->v = hs_malloc(n * sizeof *c->v);
    c->kernels = hs_calloc(n, sizeof *c->kernels);
    for (size_t e = 0; e < r->n; e++)
        if (hs_row_side(l, e) == HS_SIDE_CPU && joins(r->corr[e]))
            c->v[c->n++] = (uint32_t)e;
    uint32_t *tmp = hs_malloc(n * sizeof *tmp);
    hs_sort_rows(c->v, n, tmp, by_correlation, l);
    free(tmp);
    count_shared(c, l, q);
    count_merged(c, l, q);
}

void hs_launcher_free(struct hs_launcher *c)
{
    free(c->v);
    free(c->kernels);
    hs_vec_free(&c->parts);
}

/* The first call whose (corr, part) is not less. */
static size_t lower_bound(const struct hs_launcher *c, const struct hs_linking *l, size_t lo, size_t hi, int64_t corr,
                          uint32_t part)
{
    const struct hs_rows *r = l->r;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        uint32_t e = c->v[mid];
        if (r->corr[e] < corr || (r->corr[e] == corr && l->part[r->lane[e]] < part))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Like lower_bound, but device events mostly come in the order of their correlations: look near the last one first. */
static size_t find_corr(struct hs_launcher *c, const struct hs_linking *l, int64_t corr)
{
    const struct hs_rows *r = l->r;
    size_t at = c->at;
    for (size_t i = 0; i < 4 && at < c->n; i++, at++)
        if (r->corr[c->v[at]] >= corr) {
            if (at && r->corr[c->v[at - 1]] >= corr)
                break;
            return c->at = at;
        }
    return c->at = lower_bound(c, l, 0, c->n, corr, 0);
}

/* Of the calls [lo, hi) of one correlation and part: the last runtime call (any call where there is none) that starts at or
 * before ts, else the first one. */
static size_t last_before(const struct hs_launcher *c, const struct hs_linking *l, size_t lo, size_t hi, int64_t ts)
{
    const struct hs_rows *r = l->r;
    if (hi - lo == 1)
        return lo;
    if (is_runtime(l, c->v[hi - 1])) { /* they stand last */
        size_t a = lo, b = hi - 1;
        while (a < b) {
            size_t mid = a + (b - a) / 2;
            if (is_runtime(l, c->v[mid]))
                b = mid;
            else
                a = mid + 1;
        }
        lo = a;
    }
    size_t a = lo, b = hi; /* the first that starts later */
    while (a < b) {
        size_t mid = a + (b - a) / 2;
        if (r->ts[c->v[mid]] <= ts)
            a = mid + 1;
        else
            b = mid;
    }
    return a > lo ? a - 1 : lo;
}

static struct hs_device_part *device_part(struct hs_launcher *c, int32_t device)
{
    for (size_t i = 0; i < c->parts.n; i++)
        if (c->parts.p[i].device == device)
            return &c->parts.p[i];
    return NULL;
}

/* A majority vote (Boyer and Moore): what one part only can have launched tells whose the device is. */
static void vote(struct hs_launcher *c, int32_t device, uint32_t part)
{
    struct hs_device_part *p = device_part(c, device);
    if (!p)
        (void)hs_vec_push(&c->parts, ((struct hs_device_part){device, part, 1}));
    else if (p->part == part)
        p->votes++;
    else if (--p->votes < 0)
        *p = (struct hs_device_part){device, part, 1};
}

/* Several parts have the correlation and nothing says whose the device is: the nearest call before the event. */
static size_t nearest(const struct hs_launcher *c, const struct hs_linking *l, size_t lo, size_t hi, int64_t ts)
{
    const struct hs_rows *r = l->r;
    size_t best = SIZE_MAX;
    for (unsigned tries = 0; lo < hi && tries < MAX_PARTS; tries++) {
        size_t end = lower_bound(c, l, lo, hi, r->corr[c->v[lo]], l->part[r->lane[c->v[lo]]] + 1);
        size_t k = last_before(c, l, lo, end, ts);
        int64_t t = r->ts[c->v[k]];
        if (best == SIZE_MAX || (t <= ts && (r->ts[c->v[best]] > ts || t > r->ts[c->v[best]])))
            best = k;
        lo = end;
    }
    return best;
}

size_t hs_launcher_find(struct hs_launcher *c, const struct hs_linking *l, uint32_t d, int32_t device)
{
    const struct hs_rows *r = l->r;
    int64_t corr = r->corr[d];
    if (!joins(corr) || !c->n)
        return SIZE_MAX;
    size_t lo = find_corr(c, l, corr);
    if (lo == c->n || r->corr[c->v[lo]] != corr)
        return SIZE_MAX;
    size_t hi = lo + 1;
    if (hi < c->n && r->corr[c->v[hi]] == corr)
        hi = lower_bound(c, l, hi, c->n, corr + 1, 0);
    uint32_t lane = r->lane[d], first = l->part[r->lane[c->v[lo]]], last = l->part[r->lane[c->v[hi - 1]]], part = first;
    bool own = (l->lane_flags[lane] & HS_LANE_PART) != 0; /* the device's lane says whose it is */
    if (own) {
        part = l->part[lane];
    } else if (first != last) {
        const struct hs_device_part *p = device_part(c, device);
        if (!p)
            return nearest(c, l, lo, hi, r->ts[d]);
        part = p->part;
    } else if (c->merged) {
        vote(c, device, part);
    }
    size_t from = first == last && part == first ? lo : lower_bound(c, l, lo, hi, corr, part);
    size_t to = first == last && part == first ? hi : lower_bound(c, l, from, hi, corr, part + 1);
    if (from == to)
        return own ? SIZE_MAX : nearest(c, l, lo, hi, r->ts[d]);
    return last_before(c, l, from, to, r->ts[d]);
}

/* ---- the table ---- */

static bool contains(struct hs_str s, const char *a, const char *b)
{
    return hs_str_contains(s, a) && hs_str_contains(s, b);
}

/* Calls that put work on a device, which a trace of that device must show: kernels, graphs, asynchronous copies and fills.
 * cudaLaunchHostFunc runs on the CPU; blocking copies may be done without the device. */
static bool launches_work(struct hs_str name)
{
    return contains(name, "Launch", "Kernel") || contains(name, "Launch", "Graph") ||
           contains(name, "Memcpy", "Async") || contains(name, "Memset", "Async") || hs_str_is(name, "cuLaunch") ||
           hs_str_is(name, "cuLaunchGrid");
}

struct launch_order {
    const struct hs_linking *l;
    const uint32_t *v;
};

static bool index_by_start(const void *ctx, uint32_t a, uint32_t b)
{
    const struct launch_order *o = ctx;
    return by_start(o->l->r, o->v[a], o->v[b]);
}

/* What the names of calls say, looked at once each. */
struct names {
    const struct hs_intern *syms;
    uint8_t *known; /* by symbol: 0 not looked at, 1 no work, 2 work */
};

static bool name_launches(struct names *n, uint32_t name)
{
    if (!n->known[name])
        n->known[name] = launches_work(hs_intern_str(n->syms, name)) ? 2 : 1;
    return n->known[name] == 2;
}

/* Correlations that only calls have: ROCm writes two calls a launch, and one of them always stays without a kernel. */
static int64_t count_without(const struct hs_launcher *c, const struct hs_linking *l)
{
    const struct hs_rows *r = l->r;
    struct names names = {&l->t->syms, hs_calloc(l->t->syms.n + 1, 1)};
    int64_t without = 0;
    for (size_t i = 0; i < c->n;) {
        uint32_t first = c->v[i];
        bool work = false, kernels = false;
        for (; i < c->n && r->corr[c->v[i]] == r->corr[first] && l->part[r->lane[c->v[i]]] == l->part[r->lane[first]];
             i++) {
            work |= is_runtime(l, c->v[i]) && name_launches(&names, r->name[c->v[i]]);
            kernels |= c->kernels[i] > 0;
        }
        without += work && !kernels;
    }
    free(names.known);
    return without;
}

void hs_launcher_table(struct hs_launcher *c, const struct hs_linking *l, struct hs_quality *q)
{
    const struct hs_rows *r = l->r;
    uint32_t *order = hs_malloc(c->n * sizeof *order), *tmp = hs_malloc(c->n * sizeof *tmp);
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        if (is_runtime(l, c->v[i]) || c->kernels[i])
            order[n++] = (uint32_t)i;
    hs_sort_rows(order, n, tmp, index_by_start, &(struct launch_order){l, c->v});
    free(tmp);
    (void)hs_vec_reserve(&l->out->launches, n);
    int64_t graphs = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t e = c->v[order[i]], kernels = c->kernels[order[i]];
        graphs += kernels > 1;
        struct hs_launch_row row = {r->ts[e],   r->dur[e],  r->corr[e], e,
                                    r->name[e], r->lane[e], kernels,    l->out->step[e]};
        (void)hs_vec_push(&l->out->launches, row);
    }
    hs_count(q, HS_Q_LAUNCH_WITHOUT_KERNEL, count_without(c, l));
    hs_count(q, HS_Q_GRAPH_LAUNCH, graphs);
    free(order);
}
