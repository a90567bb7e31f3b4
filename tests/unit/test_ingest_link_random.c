/* link on random traces, against the truth of how they were made (call trees) and against slow, independent readings of
 * the rules (launches, steps, device time). */
#include "tests/unit/ingest_bytes.h"
#include "tests/unit/link_build.h"
#include "tests/unit/test.h"

#include "ingest/link_sort.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct hs_trace t;
static struct hs_links k;
static uint64_t seed;

static int64_t random_to(int64_t n) /* 0 .. n-1 */
{
    return (int64_t)(test_random(&seed) % (uint64_t)n);
}

/* ---- sorting ---- */

static bool by_value(const void *ctx, uint32_t a, uint32_t b)
{
    const int *v = ctx;
    return v[a] < v[b];
}

START_TEST(sorting_is_stable_and_complete)
{
    enum { N = 3000 };
    int v[N];
    uint32_t order[N], tmp[N];
    seed = (uint64_t)_i + 1;
    for (int round = 0; round < 100; round++) {
        size_t n = (size_t)random_to(N);
        for (size_t i = 0; i < n; i++) {
            int runs = round % 4 == 0 ? 3 : 1;
            v[i] = round % 4 == 1   ? (int)random_to(50) /* many equal */
                   : round % 4 == 2 ? (int)(n - i)       /* falling */
                   : round % 4 == 3 ? (int)random_to(1 << 30)
                                    : (int)(i % (n / (size_t)runs + 1));
            order[i] = (uint32_t)i;
        }
        hs_sort_rows(order, n, tmp, by_value, v);
        for (size_t i = 1; i < n; i++)
            ck_assert(v[order[i - 1]] < v[order[i]] || (v[order[i - 1]] == v[order[i]] && order[i - 1] < order[i]));
        bool seen[N] = {false};
        for (size_t i = 0; i < n; i++)
            seen[order[i]] = true;
        for (size_t i = 0; i < n; i++)
            ck_assert(seen[i]);
    }
}
END_TEST

/* ---- call trees ---- */

struct node {
    int64_t ts, dur;
    int parent, depth, lane;
    uint32_t event;
};
static struct node nodes[5000];
static int nnodes;

/* Fills [from, to) of a lane with spans below `parent`: gaps, neighbours that touch, a last child that ends late, and
 * empty spans at the end of spans without children. `late`: how much the last one may end behind `to`. */
static void grow(int lane, int parent, int64_t from, int64_t to, int depth, int64_t late)
{
    int64_t at = from;
    while (at < to && nnodes < 4000 && random_to(8)) {
        int64_t ts = at + random_to(3) * random_to((to - at) / 4 + 1);
        int64_t dur = 1 + random_to((to - ts) / 2 + 1);
        if (ts + dur > to || ts <= from) { /* not at the parent's start: who contains whom must be certain */
            at = ts + 1;
            continue;
        }
        bool last = late && dur > 4000 && !random_to(3);
        if (last)
            dur = to - ts + random_to(late + 1);
        int me = nnodes++;
        nodes[me] = (struct node){ts, dur, parent, depth, lane, 0};
        int before = nnodes;
        if (depth < 12 && dur > 20)
            grow(lane, me, ts, ts + dur < to ? ts + dur : to, depth + 1, last ? 0 : late);
        if (nnodes == before && !last && !random_to(3))
            nodes[nnodes++] = (struct node){ts + dur, 0, me, depth + 1, lane, 0};
        at = ts + dur;
        if (last)
            return;
    }
}

START_TEST(call_trees_come_back)
{
    seed = (uint64_t)_i * 77 + 1;
    link_trace_init(&t);
    nnodes = 0;
    for (int lane = 0; lane < 4; lane++)
        grow(lane, -1, 0, 1000000 + random_to(100000000), 0, 1000);
    int order[5000];
    for (int i = 0; i < nnodes; i++)
        order[i] = i;
    for (int i = nnodes - 1; i > 0; i--) { /* any order of the file */
        int j = (int)random_to(i + 1), x = order[i];
        order[i] = order[j];
        order[j] = x;
    }
    for (int i = 0; i < nnodes; i++) {
        struct node *n = &nodes[order[i]];
        n->event = link_add(
            &t, (struct ev){.ph = 'X', .cat = "cpu_op", .name = "op", .tid = n->lane, .ts = n->ts, .dur = n->dur});
    }
    link_run(&t, &k);
    for (int i = 0; i < nnodes; i++) {
        const struct node *n = &nodes[i];
        uint32_t want = n->parent < 0 ? HS_NO_EVENT : nodes[n->parent].event;
        ck_assert_msg(k.parent[n->event] == want && k.depth[n->event] == n->depth,
                      "seed %d: [%lld, +%lld) depth %d is at depth %d", _i, (long long)n->ts, (long long)n->dur,
                      n->depth, k.depth[n->event]);
    }
    ck_assert_int_eq((int)t.quality.count[HS_Q_PARTIAL_OVERLAP], 0);
    hs_links_free(&k);
    hs_trace_free(&t);
}
END_TEST

/* ---- launches, steps, device time: everything at random on a small clock, so that all collide ---- */

enum { MANY = 1500 };
static struct ev evs[MANY];

static void random_events(void)
{
    static const char *const cats[] = {"cpu_op",          "cuda_runtime", "kernel",
                                       "user_annotation", "gpu_memcpy",   "cuda_driver"};
    static const char *const names[] = {"cudaLaunchKernel", "ProfilerStep#1", "ProfilerStep#2", "k", "ncclKernel", "x"};
    for (int i = 0; i < MANY; i++) {
        const char *cat = cats[random_to(6)];
        bool device = cat[0] == 'k' || cat[0] == 'g', step = cat[0] == 'u' && !random_to(8);
        evs[i] =
            (struct ev){.ph = 'X',
                        .cat = cat,
                        .name = cat[0] == 'u' ? names[step ? 1 + random_to(2) : 3] : names[random_to(6) % 3 ? 3 : 4],
                        .pid = device          ? "0"
                               : random_to(10) ? "77"
                                               : "78",
                        .tid = random_to(3),
                        .ts = random_to(2000),
                        .dur = random_to(step ? 600 : 40),
                        .corr = device || cat[0] == 'c' ? random_to(300) : 0,
                        .device = random_to(2),
                        .stream = random_to(3),
                        .bytes = HS_NO_VALUE};
        if (!strcmp(evs[i].pid, "78") && evs[i].corr)
            evs[i].corr += 1000; /* processes do not share correlations here */
    }
}

static bool is_device(const struct ev *e)
{
    return e->cat[0] == 'k' || e->cat[0] == 'g';
}

static int runtime(const struct ev *e)
{
    return !strcmp(e->cat, "cuda_runtime") || !strcmp(e->cat, "cuda_driver");
}

/* The rule, read aloud: runtime calls before others; among those the last start at or before, else the first start. */
static int slow_launch(const struct ev *d)
{
    int best = -1;
    for (int pass = 0; pass < 2 && best < 0; pass++)
        for (int i = 0; i < MANY; i++) {
            const struct ev *c = &evs[i];
            if (is_device(c) || !d->corr || c->corr != d->corr || (!pass && !runtime(c)))
                continue;
            if (best < 0) {
                best = i;
                continue;
            }
            const struct ev *b = &evs[best];
            bool before = c->ts <= d->ts, best_before = b->ts <= d->ts;
            if (before != best_before ? before : before ? c->ts >= b->ts : c->ts < b->ts)
                best = i;
        }
    return best;
}

static int slow_step(const struct ev *e) /* event number of the step that contains e's start */
{
    int best = -1;
    for (int i = 0; i < MANY; i++) {
        const struct ev *s = &evs[i];
        if (strncmp(s->name, "ProfilerStep", 12) || strcmp(s->pid, e->pid) || e->ts < s->ts || e->ts >= s->ts + s->dur)
            continue;
        if (best < 0 || s->ts >= evs[best].ts)
            best = i;
    }
    return best;
}

static bool repeats(const struct ev *a, const struct ev *b)
{
    return !strcmp(a->name, b->name) && a->ts == b->ts && a->dur == b->dur && a->tid == b->tid && a->corr == b->corr &&
           a->device == b->device && a->stream == b->stream;
}

START_TEST(joins_agree_with_a_slow_reading)
{
    seed = (uint64_t)_i * 991 + 3;
    link_trace_init(&t);
    random_events();
    for (int i = 0; i < MANY; i++)
        link_add(&t, evs[i]);
    link_run(&t, &k);
    int kernels[MANY] = {0}, rows = 0, duplicates = 0, orphans = 0, early = 0, launches = 0;
    char busy[2][3000] = {{0}};
    for (int i = 0; i < MANY; i++) {
        const struct ev *e = &evs[i];
        int step = slow_step(e), launch = -1;
        if (is_device(e)) {
            launch = slow_launch(e);
            ck_assert_msg(k.parent[i] == (launch < 0 ? HS_NO_EVENT : (uint32_t)launch), "seed %d: event %d: %u not %d",
                          _i, i, k.parent[i], launch);
            step = launch < 0 ? -1 : slow_step(&evs[launch]);
            bool again = false;
            for (int j = 0; j < i; j++)
                again |= is_device(&evs[j]) && repeats(&evs[j], e);
            duplicates += again;
            if (!again) {
                rows++;
                orphans += launch < 0;
                early += launch >= 0 && evs[launch].ts > e->ts;
                if (launch >= 0)
                    kernels[launch]++;
                memset(&busy[e->device][e->ts], 1, (size_t)e->dur);
            }
        }
        uint32_t got = k.step[i] < 0 ? HS_NO_EVENT : k.steps.p[k.step[i]].event;
        ck_assert_uint_eq(got, step < 0 ? HS_NO_EVENT : (uint32_t)step);
    }
    ck_assert_int_eq((int)k.gpu.n, rows);
    ck_assert_int_eq((int)t.quality.count[HS_Q_DUPLICATE_EVENT], duplicates);
    ck_assert_int_eq((int)t.quality.count[HS_Q_KERNEL_WITHOUT_LAUNCH], orphans);
    ck_assert_int_eq((int)t.quality.count[HS_Q_EARLY_KERNEL], early);
    int busy_ns = 0;
    for (int i = 0; i < 6000; i++)
        busy_ns += busy[i / 3000][i % 3000];
    ck_assert_int_eq((int)k.sum.busy_ns, busy_ns);
    for (int i = 0; i < MANY; i++)
        launches += !is_device(&evs[i]) && evs[i].corr && (runtime(&evs[i]) || kernels[i]);
    ck_assert_int_eq((int)k.launches.n, launches);
    for (size_t i = 0; i < k.launches.n; i++) {
        ck_assert_int_eq((int)k.launches.p[i].kernels, kernels[k.launches.p[i].event]);
        if (i)
            ck_assert(
                k.launches.p[i - 1].ts < k.launches.p[i].ts ||
                (k.launches.p[i - 1].ts == k.launches.p[i].ts && k.launches.p[i - 1].event < k.launches.p[i].event));
    }
    hs_links_free(&k);
    hs_trace_free(&t);
}
END_TEST

/* ---- hostile: what would be quadratic ends soon, and deep stacks do not recurse ---- */

START_TEST(hostile_shapes_end)
{
    enum { N = 200000 };
    link_trace_init(&t);
    for (int i = 0; i < N; i++) {
        /* a tower of spans, each within the one before; all calls and kernels on one correlation; a step each */
        link_add(&t, (struct ev){.ph = 'X',
                                 .cat = i % 2 ? "user_annotation" : "cuda_runtime",
                                 .name = "ProfilerStep#1",
                                 .ts = i,
                                 .dur = 4 * N - 2 * i,
                                 .corr = i % 2 ? 0 : 5});
        link_add(&t, (struct ev){.ph = i % 3 ? 'B' : 'E',
                                 .cat = "cpu_op",
                                 .name = i % 2 ? "b" : "c",
                                 .tid = 2,
                                 .ts = i,
                                 .dur = HS_NO_VALUE});
        link_add(
            &t, (struct ev){.ph = 'X', .cat = "kernel", .name = "k", .pid = "0", .ts = 0, .dur = 1 + i % 7, .corr = 5});
    }
    link_run(&t, &k);
    ck_assert_int_eq(k.depth[3 * (N - 1)], UINT16_MAX); /* saturated */
    ck_assert_uint_eq(k.parent[3 * (N - 1)], 3 * (N - 2));
    hs_links_free(&k);
    hs_trace_free(&t);
}
END_TEST

HS_SUITE(ingest_link_random)
{
    HS_LOOP_TEST(sorting_is_stable_and_complete, 0, 4);
    HS_LOOP_TEST(call_trees_come_back, 0, 60);
    HS_LOOP_TEST(joins_agree_with_a_slow_reading, 0, 30);
    HS_TEST(hostile_shapes_end);
}
