/* The table of device work, and the launch of each device event. */
#include "ingest/link_in.h"
#include "ingest/link_sort.h"

#define NO_LAUNCH SIZE_MAX

/* ---- in order: by (device, stream), then by time ---- */

static bool by_time(const void *ctx, uint32_t a, uint32_t b)
{
    const struct hs_linking *l = ctx;
    uint32_t x = l->t->device_rows.p[a].event, y = l->t->device_rows.p[b].event;
    return l->r->ts[x] != l->r->ts[y] ? l->r->ts[x] < l->r->ts[y] : x < y;
}

struct stream {
    int32_t device;
    int64_t stream;
    uint32_t id, n; /* as met; its rows */
};

static int compare_streams(const void *a, const void *b)
{
    const struct stream *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return (x->stream > y->stream) - (x->stream < y->stream);
}

/* Which stream each of the rows v[0..n) is of, numbered as met. */
static struct stream *find_streams(const struct hs_linking *l, const uint32_t *v, size_t n, uint32_t *id,
                                   size_t *streams)
{
    struct hs_intern keys;
    hs_intern_init(&keys, n + 2, SIZE_MAX / 4);
    struct stream *s = NULL;
    size_t cap = 0;
    const struct hs_device_row *last = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct hs_device_row *d = &l->t->device_rows.p[v[i]];
        if (last && last->device == d->device && last->stream == d->stream) {
            id[i] = id[i - 1];
        } else {
            char key[sizeof d->device + sizeof d->stream];
            memcpy(key, &d->device, sizeof d->device);
            memcpy(key + sizeof d->device, &d->stream, sizeof d->stream);
            id[i] = hs_intern_add(&keys, key, sizeof key) - 1; /* 0 is the empty text */
        }
        last = d;
        if (id[i] == cap)
            s = hs_realloc_array(s, cap = cap * 2 + 8, sizeof *s);
        if (id[i] == *streams)
            s[(*streams)++] = (struct stream){d->device, d->stream, id[i], 0};
        s[id[i]].n++;
    }
    hs_intern_free(&keys);
    return s;
}

/* A file mixes its streams, but keeps the order within one: dealing the rows out by stream first leaves long runs. */
static void sort_rows(const struct hs_linking *l, uint32_t *v, size_t n)
{
    uint32_t *id = hs_malloc(n * sizeof *id), *tmp = hs_malloc(n * sizeof *tmp);
    size_t streams = 0;
    struct stream *s = find_streams(l, v, n, id, &streams);
    size_t *at = hs_malloc(streams * sizeof *at), from = 0;
    if (streams)
        qsort(s, streams, sizeof *s, compare_streams);
    for (size_t i = 0; i < streams; i++) {
        at[s[i].id] = from;
        from += s[i].n;
    }
    for (size_t i = 0; i < n; i++)
        tmp[at[id[i]]++] = v[i];
    memcpy(v, tmp, n * sizeof *v);
    from = 0;
    for (size_t i = 0; i < streams; i++) {
        hs_sort_rows(v + from, s[i].n, tmp, by_time, l);
        from += s[i].n;
    }
    free(at);
    free(s);
    free(tmp);
    free(id);
}

/* The legacy profiler tells no stream, and the device by the lane. */
static void add_old_rows(const struct hs_linking *l)
{
    const struct hs_rows *r = l->r;
    for (size_t e = 0; l->old_profiler && e < r->n; e++) {
        if (r->cat[e] || !(l->lane_flags[r->lane[e]] & HS_LANE_OLD_GPU) || hs_row_side(l, e) != HS_SIDE_DEVICE)
            continue;
        struct hs_id tid = l->t->lanes.p[r->lane[e]].tid;
        struct hs_device_row row = {(uint32_t)e, -1, -1, HS_NO_VALUE, HS_NO_VALUE};
        if (tid.kind == HS_ID_INT && tid.v >= 0 && tid.v <= INT32_MAX)
            row.device = (int32_t)tid.v;
        (void)hs_vec_push(&l->t->device_rows, row);
    }
}

static enum hs_cat_kind kind_of(const struct hs_linking *l, uint32_t e)
{
    if (l->r->cat[e] != l->mixed)
        return hs_row_kind(l, e);
    return hs_cat_kind_named(hs_intern_str(&l->t->syms, l->mixed), hs_intern_str(&l->t->syms, l->r->name[e]));
}

static uint8_t class_of(const struct hs_linking *l, uint32_t e, uint8_t *comm)
{
    enum hs_cat_kind k = kind_of(l, e);
    if (k == HS_CAT_MEMCPY || k == HS_CAT_MEMSET)
        return k == HS_CAT_MEMCPY ? HS_CLASS_MEMCPY : HS_CLASS_MEMSET;
    if (l->r->flags[e] & HS_ROW_COLLECTIVE)
        return HS_CLASS_COMM;
    uint8_t *known = &comm[l->r->name[e]]; /* by name: 0 not looked at */
    if (!*known)
        *known = hs_is_comm_name(hs_intern_str(&l->t->syms, l->r->name[e]), &l->t->communication) ? HS_CLASS_COMM
                                                                                                  : HS_CLASS_COMPUTE;
    return *known;
}

/* Is the row a repeat of one that has the same device, stream and time? Those rows are the last `same` of the table. */
static bool is_repeat(const struct hs_links *out, size_t same, const struct hs_gpu_row *row)
{
    for (size_t i = 0; i < same; i++) {
        const struct hs_gpu_row *p = &out->gpu.p[out->gpu.n - 1 - i];
        if (p->name == row->name && p->dur == row->dur && p->lane == row->lane && p->corr == row->corr)
            return true;
    }
    return false;
}

/* What is counted on the way. */
struct tally {
    int64_t repeats, overlaps, early, without;
    int64_t end; /* latest end of the stream so far */
    size_t same; /* rows at the end of the table with the current device, stream, time */
    uint8_t *comm;
};

static void add_row(const struct hs_linking *l, struct hs_launcher *c, const struct hs_device_row *d, size_t launch,
                    struct tally *t)
{
    const struct hs_rows *r = l->r;
    struct hs_links *out = l->out;
    uint32_t e = d->event, call = launch == NO_LAUNCH ? HS_NO_EVENT : c->v[launch];
    struct hs_gpu_row row = {.ts = r->ts[e],
                             .dur = r->dur[e],
                             .stream = d->stream,
                             .corr = r->corr[e],
                             .bytes = d->bytes,
                             .launch_ts = launch == NO_LAUNCH ? HS_NO_VALUE : r->ts[call],
                             .launch_dur = launch == NO_LAUNCH ? HS_NO_VALUE : r->dur[call],
                             .event = e,
                             .launch = call,
                             .name = r->name[e],
                             .lane = r->lane[e],
                             .device = d->device,
                             .step = out->step[e],
                             .cls = class_of(l, e, t->comm)};
    const struct hs_gpu_row *last = out->gpu.n ? &out->gpu.p[out->gpu.n - 1] : NULL;
    bool same_stream = last && last->device == row.device && last->stream == row.stream;
    if (!same_stream || last->ts != row.ts)
        t->same = 0;
    /* A long run of rows at one time is no repeat worth finding at quadratic cost. */
    if (is_repeat(out, t->same < 64 ? t->same : 64, &row)) {
        t->repeats++;
        return;
    }
    t->overlaps += same_stream && row.stream >= 0 && row.ts < t->end;
    int64_t end = row.ts + row.dur;
    t->end = same_stream && t->end > end ? t->end : end;
    t->same++;
    (void)hs_vec_push(&out->gpu, row);
    if (launch == NO_LAUNCH) {
        t->without++;
    } else {
        c->kernels[launch]++;
        t->early += row.ts < row.launch_ts;
    }
}

/* ---- its part of the summary ---- */

static bool by_device_time(const void *ctx, uint32_t a, uint32_t b)
{
    const struct hs_gpu_row *g = ctx;
    if (g[a].device != g[b].device)
        return g[a].device < g[b].device;
    return g[a].ts != g[b].ts ? g[a].ts < g[b].ts : a < b;
}

/* Per device the time in which any of its streams works. */
static int64_t busy(const struct hs_links *out)
{
    size_t n = out->gpu.n;
    const struct hs_gpu_row *g = out->gpu.p;
    uint32_t *v = hs_malloc(n * sizeof *v), *tmp = hs_malloc(n * sizeof *tmp);
    for (size_t i = 0; i < n; i++)
        v[i] = (uint32_t)i;
    hs_sort_rows(v, n, tmp, by_device_time, g);
    free(tmp);
    int64_t total = 0, end = 0;
    for (size_t i = 0; i < n; i++) {
        const struct hs_gpu_row *x = &g[v[i]];
        int64_t from = x->ts, to = x->ts + x->dur;
        if (i && g[v[i - 1]].device == x->device && from < end)
            from = end;
        if (to > from)
            total = hs_add_sat(total, to - from);
        if (!i || g[v[i - 1]].device != x->device || to > end)
            end = to;
    }
    free(v);
    return total;
}

static void summarise(struct hs_links *out)
{
    struct hs_summary *s = &out->sum;
    for (size_t i = 0; i < out->gpu.n; i++) {
        const struct hs_gpu_row *x = &out->gpu.p[i];
        bool kernel = x->cls == HS_CLASS_COMPUTE || x->cls == HS_CLASS_COMM;
        bool new_device = !i || x[-1].device != x->device;
        int64_t end = x->ts + x->dur, *sum = kernel ? &s->kernel_ns : &s->memory_ns;
        s->kernels += kernel;
        s->memcpys += x->cls == HS_CLASS_MEMCPY;
        s->memsets += x->cls == HS_CLASS_MEMSET;
        s->devices += new_device;
        s->streams += new_device || x[-1].stream != x->stream;
        *sum = hs_add_sat(*sum, x->dur);
        if (x->cls == HS_CLASS_COMM)
            s->comm_ns = hs_add_sat(s->comm_ns, x->dur);
        if (!i || x->ts < s->gpu_first_ts)
            s->gpu_first_ts = x->ts;
        if (!i || end > s->gpu_last_end)
            s->gpu_last_end = end;
    }
    s->busy_ns = busy(out);
}

void hs_link_gpu(const struct hs_linking *l, struct hs_quality *q)
{
    add_old_rows(l);
    struct hs_links *out = l->out;
    const struct hs_device_row *rows = l->t->device_rows.p;
    size_t n = 0;
    uint32_t *v = hs_malloc(l->t->device_rows.n * sizeof *v);
    for (size_t i = 0; i < l->t->device_rows.n; i++)
        if (hs_row_side(l, rows[i].event) == HS_SIDE_DEVICE)
            v[n++] = (uint32_t)i;
    sort_rows(l, v, n);
    struct hs_launcher c;
    hs_launcher_init(&c, l, q);
    for (size_t i = 0; c.merged && i < n; i++) /* learn first whose the devices are */
        (void)hs_launcher_find(&c, l, rows[v[i]].event, rows[v[i]].device);
    struct tally t = {.comm = hs_calloc(l->t->syms.n + 1, 1)};
    (void)hs_vec_reserve(&out->gpu, n);
    for (size_t i = 0; i < n; i++) {
        const struct hs_device_row *d = &rows[v[i]];
        size_t launch = hs_launcher_find(&c, l, d->event, d->device);
        if (launch != NO_LAUNCH) {
            out->parent[d->event] = c.v[launch];
            out->step[d->event] = out->step[c.v[launch]];
        }
        enum hs_cat_kind k = kind_of(l, d->event);
        if (hs_cat_is_device_work(k))
            add_row(l, &c, d, launch, &t);
        out->sum.syncs += k == HS_CAT_SYNC;
    }
    hs_launcher_table(&c, l, q);
    hs_launcher_free(&c);
    free(t.comm);
    free(v);
    hs_count(q, HS_Q_DUPLICATE_EVENT, t.repeats);
    hs_count(q, HS_Q_STREAM_OVERLAP, t.overlaps);
    hs_count(q, HS_Q_EARLY_KERNEL, t.early);
    hs_count(q, HS_Q_KERNEL_WITHOUT_LAUNCH, t.without);
    if (!out->gpu.n && l->r->n)
        hs_count(q, HS_Q_NO_GPU, 1);
    summarise(out);
}
