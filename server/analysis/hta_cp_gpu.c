/* Edges to, between and from device events: launches, streams, recorded events, synchronisation. */
#include "analysis/hta_cp.h"

#include "analysis/hta_queue.h"
#include "analysis/hta_sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NEIGHBOURS_US 1500 /* a kernel waits for the one before it on its stream if that ended less than this before */
#define NO_LENGTH INT64_MIN

/* A launch, seen from its kernel. `id` is HTA's number of it: position by time, launches of one kernel side by side. */
struct launch {
    int64_t ts, stream;
    struct hs_id key_pid, key_tid; /* what it is looked up by: device's pid, or the caller's pid and tid */
    uint32_t id, row;
    uint32_t best; /* over those before (by_device) or after (by_caller) it in its group: the launch to take */
};
struct launches {
    HS_VEC(struct launch);
};

struct gpu {
    struct hta_cp *c;
    const struct hta_cp_options *o;
    struct hs_table *notes;
    int64_t *length;                        /* by event: queue length at that launch or kernel */
    struct launches by_device;              /* sorted by (pid of device, stream, ts): the last launch before a record */
    struct launches by_caller;              /* sorted by (pid, tid, stream, ts): the next launch after a stream wait */
    const int64_t *wait_stream, *wait_corr; /* args by event, NULL */
    struct hta_map recorded; /* correlation of a cudaEventRecord -> row of the last launch before it, or none known */
    struct hta_map sync_of;  /* kernel's event -> row of the device event it has to wait for */
    struct {
        HS_VEC(uint32_t);
    } last; /* end node of the last kernel of each stream, in order of first kernel */
    struct hta_map stream_at;
    size_t unlaunched;
};

/* ---- launches ---- */

static struct hs_id id_of(const struct gpu *g, const struct hta_row *x, bool tid)
{
    struct hs_id none = {0, HS_ID_NONE};
    const struct hs_view *v = g->c->r->view;
    return x->lane >= v->nlanes ? none : tid ? v->lanes[x->lane].tid : v->lanes[x->lane].pid;
}

static int compare_id(struct hs_id a, struct hs_id b)
{
    if (a.kind != b.kind)
        return a.kind < b.kind ? -1 : 1;
    return (a.v > b.v) - (a.v < b.v);
}

static int compare_group(const struct launch *x, const struct launch *y)
{
    int c = compare_id(x->key_pid, y->key_pid);
    c = c ? c : compare_id(x->key_tid, y->key_tid);
    return c ? c : (x->stream > y->stream) - (x->stream < y->stream);
}

static int by_group_ts(const void *a, const void *b)
{
    const struct launch *x = a, *y = b;
    int c = compare_group(x, y);
    if (c)
        return c;
    if (x->ts != y->ts)
        return x->ts < y->ts ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* The device row a launch brought on a stream; NULL if it is none. */
static const struct hta_row *kernel_of(const struct gpu *g, const struct hta_row *x)
{
    const struct hta_row *k = x->icorr > 0 ? hta_at(g->c->r, x->icorr) : NULL;
    return k && hta_on_stream(k) && k->icorr > 0 ? k : NULL;
}

/* Rows of launches that have a kernel, in HTA's order of ids. */
static uint32_t *launch_order(const struct gpu *g, size_t *n)
{
    const struct hta_rank *r = g->c->r;
    uint32_t *rows = hs_malloc((r->n + 1) * sizeof *rows), *order = hs_malloc((r->n + 1) * sizeof *order);
    double *key = hs_malloc((r->n + 1) * sizeof *key);
    struct hta_map group;
    size_t all = 0;
    hta_map_init(&group);
    for (uint32_t i = 0; i < r->n; i++)
        if (hta_is_launch(g->c->t, &r->rows[i])) {
            key[all] = (double)r->rows[i].ts;
            rows[all++] = i;
        }
    hta_argsort(key, all, order);
    *n = 0;
    for (size_t i = 0; i < all; i++)
        if (kernel_of(g, &r->rows[rows[order[i]]]))
            order[(*n)++] = rows[order[i]];
    for (size_t i = 0; i < *n; i++) { /* side by side, in order of first appearance of their kernel */
        uint32_t *at = hta_map_at(&group, r->rows[order[i]].icorr);
        if (*at == HTA_NONE)
            *at = (uint32_t)group.n - 1;
        rows[i] = order[i];
        key[i] = *at;
    }
    uint32_t *place = hs_malloc((*n + 1) * sizeof *place);
    hta_argsort_stable(key, *n, place);
    for (size_t i = 0; i < *n; i++)
        order[i] = rows[place[i]];
    hs_free_array((void **)&place);
    hs_free_array((void **)&rows);
    hs_free_array((void **)&key);
    hta_map_free(&group);
    return order;
}

static void find_launches(struct gpu *g)
{
    size_t n;
    uint32_t *order = launch_order(g, &n);
    for (uint32_t i = 0; i < n; i++) {
        const struct hta_row *x = &g->c->r->rows[order[i]], *k = kernel_of(g, x);
        struct launch d = {.ts = x->ts, .stream = k->stream, .key_pid = id_of(g, k, false), .id = i, .row = order[i]},
                      c = d;
        c.key_pid = id_of(g, x, false);
        c.key_tid = id_of(g, x, true);
        if (!hs_vec_push(&g->by_device, d) || !hs_vec_push(&g->by_caller, c))
            break;
    }
    struct launches *d = &g->by_device, *c = &g->by_caller;
    if (n) {
        qsort(d->p, d->n, sizeof *d->p, by_group_ts);
        qsort(c->p, c->n, sizeof *c->p, by_group_ts);
    }
    for (uint32_t i = 0; i < d->n; i++) { /* the largest id so far */
        uint32_t before = i && !compare_group(&d->p[i], &d->p[i - 1]) ? d->p[i - 1].best : i;
        d->p[i].best = d->p[before].id > d->p[i].id ? before : i;
    }
    for (uint32_t i = (uint32_t)c->n; i-- > 0;) { /* the smallest id from here on */
        uint32_t after = i + 1 < c->n && !compare_group(&c->p[i], &c->p[i + 1]) ? c->p[i + 1].best : i;
        c->p[i].best = c->p[after].id < c->p[i].id ? after : i;
    }
    hs_free_array((void **)&order);
}

/* First of the sorted launches that is not before `key`. */
static size_t lower_bound(const struct launches *l, const struct launch *key)
{
    size_t lo = 0, hi = l->n;
    while (lo < hi) {
        size_t m = lo + (hi - lo) / 2;
        if (by_group_ts(&l->p[m], key) < 0)
            lo = m + 1;
        else
            hi = m;
    }
    return lo;
}

/* Row of the last launch onto the device's stream at or before ts; HTA_NONE. */
static uint32_t launch_before(const struct gpu *g, struct hs_id device, int64_t stream, int64_t ts)
{
    struct launch key = {.ts = ts, .stream = stream, .key_pid = device, .id = UINT32_MAX};
    size_t i = lower_bound(&g->by_device, &key);
    if (!i || compare_group(&g->by_device.p[i - 1], &key))
        return HTA_NONE;
    return g->by_device.p[g->by_device.p[i - 1].best].row;
}

/* Row of the next launch by the same thread onto the stream of the waiting device row; HTA_NONE. */
static uint32_t launch_after(const struct gpu *g, const struct hta_row *wait, int64_t stream)
{
    struct launch key = {
        .ts = wait->ts, .stream = stream, .key_pid = id_of(g, wait, false), .key_tid = id_of(g, wait, true)};
    size_t i = lower_bound(&g->by_caller, &key);
    if (i == g->by_caller.n || compare_group(&g->by_caller.p[i], &key))
        return HTA_NONE;
    return g->by_caller.p[g->by_caller.p[i].best].row;
}

/* ---- recorded events ---- */

static int load_waits(struct gpu *g, struct hs_err *err)
{
    static const char *const key[] = {"wait_on_stream", "wait_on_cuda_event_record_corr_id"};
    const int64_t **out[] = {&g->wait_stream, &g->wait_corr};
    struct hs_view *v = g->c->r->view;
    int rc = 0;
    for (size_t k = 0; k < 2 && !rc; k++)
        for (size_t i = 0; i < v->nfields; i++)
            if (v->fields[i].level == 1 && hs_str_is(hs_view_str(v, v->fields[i].key), key[k])) {
                rc = v->ops->arg_i64(v, key[k], 1, out[k], err);
                break;
            }
    return rc;
}

static int64_t wait_value(const int64_t *arg, const struct hta_row *x)
{
    return arg && arg[x->index] != HS_NO_VALUE ? arg[x->index] : -1;
}

/* Which stream of which device a record is on is only told by those that wait for it. */
static void find_records(struct gpu *g)
{
    const struct hta_rank *r = g->c->r;
    struct hta_map waiter; /* correlation of the record -> row of the first that waits for it */
    bool twice = false;
    hta_map_init(&waiter);
    for (uint32_t i = 0; i < r->n; i++) {
        const struct hta_row *x = &r->rows[i];
        if (wait_value(g->wait_stream, x) <= -1)
            continue;
        uint32_t *at = hta_map_at(&waiter, wait_value(g->wait_corr, x));
        if (*at == HTA_NONE) {
            *at = i;
            continue;
        }
        const struct hta_row *y = &r->rows[*at];
        twice |= wait_value(g->wait_stream, x) != wait_value(g->wait_stream, y) ||
                 compare_id(id_of(g, x, false), id_of(g, y, false));
    }
    for (size_t i = 0; i < r->n; i++) {
        const struct hta_row *x = &r->rows[i];
        uint32_t w = hta_name_has(g->c->t, x, HTA_IS_RECORD) ? hta_map_get(&waiter, x->corr) : HTA_NONE;
        if (w == HTA_NONE)
            continue;
        const struct hta_row *y = &r->rows[w];
        *hta_map_at(&g->recorded, x->corr) = launch_before(g, id_of(g, y, false), wait_value(g->wait_stream, y), x->ts);
    }
    if (twice && hta_has_symbol(g->c->t, "cudaEventRecord"))
        hs_table_note(g->notes, "a recorded event is awaited on two streams or devices; HTA stops here");
    hta_map_free(&waiter);
}

static void find_lengths(struct gpu *g)
{
    const struct hta_rank *r = g->c->r;
    struct hta_queue q;
    g->length = hs_malloc((r->nevents + 1) * sizeof *g->length);
    for (size_t i = 0; i < r->nevents; i++)
        g->length[i] = NO_LENGTH;
    hta_queue_points(g->c->t, r, &q);
    for (size_t i = 0; i < q.n; i++)
        g->length[r->rows[q.p[i].row].index] = q.p[i].length;
    if (!q.n)
        hs_table_note(g->notes, "rank %lld has no kernel launches; HTA stops here", (long long)r->rank);
    hs_vec_free(&q);
}

/* ---- edges ---- */

static uint32_t node_of(const struct gpu *g, const uint32_t *by_row, int64_t index)
{
    const struct hta_row *x = hta_at(g->c->r, index);
    return x ? by_row[x - g->c->r->rows] : HTA_NONE;
}

static void sync_edge(struct gpu *g, uint32_t from, uint32_t to)
{
    if (from != HTA_NONE && to != HTA_NONE)
        hta_cp_add(g->c, from, to, HTA_CP_SYNC, false);
}

/* Someone waits for a recorded event: for the kernel of the last launch before the record. */
static void event_wait(struct gpu *g, const struct hta_row *x)
{
    uint32_t row = hta_map_get(&g->recorded, wait_value(g->wait_corr, x));
    const struct hta_row *source = row == HTA_NONE ? NULL : hta_at(g->c->r, g->c->r->rows[row].icorr), *call;
    if (!source)
        return;
    if (!hta_name_has(g->c->t, x, HTA_IS_STREAM_WAIT)) {
        sync_edge(g, g->c->end[source - g->c->r->rows], node_of(g, g->c->end, x->icorr));
        return;
    }
    call = hta_at(g->c->r, x->icorr);
    const struct hta_row *back = call && hta_name_has(g->c->t, call, HTA_IS_WAIT_EVENT) ? kernel_of(g, call) : NULL;
    uint32_t next = back ? launch_after(g, call, back->stream) : HTA_NONE;
    if (next != HTA_NONE)
        *hta_map_at(&g->sync_of, g->c->r->rows[next].icorr) = (uint32_t)(source - g->c->r->rows);
}

static void sync_event(struct gpu *g, const struct hta_row *x)
{
    struct hs_str name = hta_text(g->c->t, x->name);
    uint32_t call = node_of(g, g->c->end, x->icorr);
    if (hs_str_is(name, "Stream Wait Event") || hs_str_is(name, "Event Sync")) {
        event_wait(g, x);
    } else if (hs_str_is(name, "Context Sync")) {
        for (size_t i = 0; i < g->last.n && !g->c->full; i++)
            sync_edge(g, g->last.p[i], call);
    } else {
        uint32_t at = hta_map_get(&g->stream_at, x->stream);
        if (at != HTA_NONE)
            sync_edge(g, g->last.p[at], call);
    }
}

/* The edge into a kernel's start: from its launch if its stream was empty, else from the kernel before it. */
static void kernel_start(struct gpu *g, const struct hta_row *x, uint32_t start, uint32_t last, uint32_t sync)
{
    const struct hta_row *call = hta_at(g->c->r, x->icorr);
    const struct hta_cp_node *node = g->c->nodes.p;
    uint32_t from = call ? g->c->start[call - g->c->r->rows] : HTA_NONE;
    double launched = call ? (double)call->ts : NAN;
    bool done = false;
    g->unlaunched += !call;
    if (call && g->length[call->index] == 1 && g->length[x->index] == 0 &&
        (last == HTA_NONE || node[last].ts < launched) && (sync == HTA_NONE || node[sync].ts < launched)) {
        if (from != HTA_NONE)
            hta_cp_add(g->c, from, start, HTA_CP_LAUNCH, false);
        done = true;
    } else if (last != HTA_NONE && node[start].ts - node[last].ts < NEIGHBOURS_US &&
               (sync == HTA_NONE || node[sync].ts < node[last].ts)) {
        hta_cp_charge(g->c, hta_cp_add(g->c, last, start, HTA_CP_KERNEL_KERNEL, false), HTA_NONE);
    }
    if (g->o->zero_weight_launches && !done && from != HTA_NONE)
        hta_cp_add(g->c, from, start, HTA_CP_LAUNCH, true);
}

static void kernel(struct gpu *g, const struct hta_row *x)
{
    uint32_t row = (uint32_t)(x - g->c->r->rows), start = g->c->start[row], end = g->c->end[row], sync = HTA_NONE;
    if (start == HTA_NONE)
        return;
    hta_cp_charge(g->c, hta_cp_add(g->c, start, end, HTA_CP_OPERATOR, false), HTA_NONE);
    uint32_t source = hta_map_get(&g->sync_of, x->index);
    if (source != HTA_NONE) {
        sync = g->c->end[source];
        sync_edge(g, sync, start);
        *hta_map_at(&g->sync_of, x->index) = HTA_NONE;
    }
    uint32_t *at = hta_map_at(&g->stream_at, x->stream);
    kernel_start(g, x, start, *at == HTA_NONE ? HTA_NONE : g->last.p[*at], sync);
    if (*at == HTA_NONE) {
        *at = (uint32_t)g->last.n;
        if (!hs_vec_push(&g->last, end))
            *at = HTA_NONE;
    } else {
        g->last.p[*at] = end;
    }
}

/* Device events in order of their start, synchronisation in order of its end. */
static void walk(struct gpu *g)
{
    struct hta_cp *c = g->c;
    double *key = hs_malloc((c->clip.n + 1) * sizeof *key);
    uint32_t *rows = hs_malloc((c->clip.n + 1) * sizeof *rows), *order = hs_malloc((c->clip.n + 1) * sizeof *order);
    size_t n = 0;
    for (size_t i = 0; i < c->clip.n; i++) {
        const struct hta_row *x = &c->r->rows[c->clip.p[i]];
        if ((!hta_on_stream(x) && !hta_name_has(c->t, x, HTA_IS_SYNC)) || x->icorr < 0)
            continue;
        key[n] = hta_cat_has(c->t, x, HTA_IS_CUDA_SYNC) ? hta_end(x) : (double)x->ts;
        rows[n++] = c->clip.p[i];
    }
    hta_argsort(key, n, order);
    for (size_t i = 0; i < n; i++) {
        const struct hta_row *x = &c->r->rows[rows[order[i]]];
        if (hta_cat_has(c->t, x, HTA_IS_CUDA_SYNC))
            sync_event(g, x);
        else
            kernel(g, x);
    }
    hs_free_array((void **)&key);
    hs_free_array((void **)&rows);
    hs_free_array((void **)&order);
}

int hta_cp_gpu(struct hta_cp *c, const struct hta_cp_options *o, struct hs_table *notes, struct hs_err *err)
{
    struct gpu g = {.c = c, .o = o, .notes = notes};
    g.by_device.max = g.by_caller.max = g.last.max = HS_MAX_EVENTS;
    hta_map_init(&g.recorded);
    hta_map_init(&g.sync_of);
    hta_map_init(&g.stream_at);
    int rc = load_waits(&g, err);
    if (!rc) {
        find_lengths(&g);
        find_launches(&g);
        find_records(&g);
        walk(&g);
    }
    if (!rc && c->full)
        rc = hs_fail(err, HS_ELIMIT,
                     "rank %lld: the graph of the critical path grew beyond all measure (every Context Sync waits for "
                     "every stream)",
                     (long long)c->r->rank);
    if (g.unlaunched)
        hs_table_note(notes, "%zu kernels have no launch among the rows HTA keeps; it stops here", g.unlaunched);
    hta_map_free(&g.recorded);
    hta_map_free(&g.sync_of);
    hta_map_free(&g.stream_at);
    hs_vec_free(&g.by_device);
    hs_vec_free(&g.by_caller);
    hs_vec_free(&g.last);
    hs_free_array((void **)&g.length);
    return rc;
}
