/* Call stacks of the CPU lanes.
 *
 * A lane's spans are taken by (start, longest first, file order), so that a parent always comes before its children, and
 * kept on a stack of what is open. A span that ends up to 1 µs after the innermost open one still nests in it (clocks of the
 * profiler's parts differ by that much) but counts as ended with it; one that ends later than that closes it and becomes
 * its sibling. A span of no length stands inside the span that ends at its time (half-open intervals would put it
 * behind): A = [10,11), Z = 11, B = [11,12) gives A > Z, B, whatever the order in the file. */
#include "ingest/link_in.h"
#include "ingest/link_sort.h"

struct frame {
    int64_t end;
    uint32_t event;
    uint32_t depth;
};

struct stack {
    HS_VEC(struct frame);
};

static bool by_time(const void *ctx, uint32_t a, uint32_t b)
{
    const struct hs_rows *r = ctx;
    if (r->ts[a] != r->ts[b])
        return r->ts[a] < r->ts[b];
    return r->dur[a] != r->dur[b] ? r->dur[a] > r->dur[b] : a < b;
}

static void set(struct hs_links *out, uint32_t e, const struct frame *parent)
{
    uint32_t depth = parent ? parent->depth + 1 : 0;
    out->parent[e] = parent ? parent->event : HS_NO_EVENT;
    out->depth[e] = depth < UINT16_MAX ? (uint16_t)depth : UINT16_MAX;
}

static void nest_lane(const struct hs_linking *l, const uint32_t *v, size_t n, struct stack *s, int64_t *overruns,
                      int64_t *overlaps)
{
    const struct hs_rows *r = l->r;
    struct frame closed = {INT64_MIN, HS_NO_EVENT, 0}; /* the innermost span that ended where the last one begins */
    s->n = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t e = v[i];
        int64_t ts = r->ts[e], end = hs_row_end(r, e);
        if (end == ts) {
            while (s->n && s->p[s->n - 1].end < ts)
                s->n--;
            bool after = closed.event != HS_NO_EVENT && closed.end == ts;
            set(l->out, e, after ? &closed : s->n ? &s->p[s->n - 1] : NULL);
            continue;
        }
        if (closed.end != ts)
            closed.event = HS_NO_EVENT;
        for (; s->n && s->p[s->n - 1].end <= ts; s->n--)
            if (s->p[s->n - 1].end == ts && (closed.event == HS_NO_EVENT || closed.end != ts))
                closed = s->p[s->n - 1];
        bool overlap = false;
        for (; s->n && end - s->p[s->n - 1].end > HS_OVERRUN; s->n--)
            overlap = true;
        *overlaps += overlap;
        const struct frame *parent = s->n ? &s->p[s->n - 1] : NULL;
        if (parent && end > parent->end) {
            end = parent->end;
            ++*overruns;
        }
        set(l->out, e, parent);
        struct frame f = {end, e, parent ? parent->depth + 1 : 0};
        (void)hs_vec_push(s, f); /* its ceiling is the number of events */
    }
}

/* All CPU spans, lane by lane: first[lane] .. first[lane + 1] in *order. */
static uint32_t *group_by_lane(const struct hs_linking *l, uint32_t *first, size_t *total)
{
    const struct hs_rows *r = l->r;
    size_t lanes = l->t->lanes.n, n = 0;
    for (size_t e = 0; e < r->n; e++)
        if (hs_row_side(l, e) == HS_SIDE_CPU) {
            first[r->lane[e] + 1]++;
            n++;
        }
    for (size_t i = 0; i < lanes; i++)
        first[i + 1] += first[i];
    uint32_t *order = hs_malloc(n * sizeof *order);
    for (size_t e = 0; e < r->n; e++)
        if (hs_row_side(l, e) == HS_SIDE_CPU)
            order[first[r->lane[e]]++] = (uint32_t)e;
    memmove(first + 1, first, lanes * sizeof *first); /* each stands at its end now, where the next begins */
    first[0] = 0;
    *total = n;
    return order;
}

void hs_link_stacks(const struct hs_linking *l, struct hs_quality *q)
{
    size_t lanes = l->t->lanes.n, n = 0, widest = 0;
    uint32_t *first = hs_calloc(lanes + 1, sizeof *first);
    uint32_t *order = group_by_lane(l, first, &n);
    bool *seen = hs_calloc(l->nprocesses + 1, sizeof *seen);
    struct hs_summary *sum = &l->out->sum;
    for (size_t i = 0; i < lanes; i++) {
        size_t k = first[i + 1] - first[i];
        widest = k > widest ? k : widest;
        sum->threads += k > 0;
        sum->processes += k && !seen[l->process[i]];
        seen[l->process[i]] |= k > 0;
    }
    uint32_t *tmp = hs_malloc(widest * sizeof *tmp);
    struct stack s = HS_VEC_INIT(l->r->n + 1);
    int64_t overruns = 0, overlaps = 0;
    for (size_t i = 0; i < lanes; i++) {
        uint32_t *v = order + first[i];
        size_t k = first[i + 1] - first[i];
        if (!k)
            continue;
        hs_sort_rows(v, k, tmp, by_time, l->r);
        nest_lane(l, v, k, &s, &overruns, &overlaps);
    }
    hs_count(q, HS_Q_CHILD_OVERRUN, overruns);
    hs_count(q, HS_Q_PARTIAL_OVERLAP, overlaps);
    if (!n && l->r->n)
        hs_count(q, HS_Q_NO_CPU, 1);
    hs_vec_free(&s);
    free(tmp);
    free(seen);
    free(order);
    free(first);
}
