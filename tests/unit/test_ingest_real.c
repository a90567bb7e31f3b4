/* link on the real traces (where they are): launches, device time and call trees against a slow reading of the stored
 * columns, which another test holds equal to the files. */
#include "tests/unit/test.h"

#include "ingest/import.h"
#include "trace/classes.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int g_checked;

struct whole {
    const char *path;
    struct hs_view *v;
    struct hs_events e;
    const int64_t *corr, *device;
    enum hs_cat_kind *kind; /* by event; HS_CAT_OTHER for what is no X with both times */
};

static enum hs_cat_kind kind_of(const struct whole *w, size_t i)
{
    struct hs_str cat = hs_view_str(w->v, w->e.cat[i]), name = hs_view_str(w->v, w->e.name[i]);
    if (w->e.ph[i] != 'X')
        return HS_CAT_OTHER;
    bool waits = hs_str_eq(name, HS_STR("event_wait")) || hs_str_eq(name, HS_STR("event_record"));
    return hs_str_eq(cat, HS_STR("mtia_ccp_events")) && waits ? HS_CAT_SYNC : hs_cat_kind(cat);
}

static bool on_cpu(enum hs_cat_kind k)
{
    return k == HS_CAT_CPU_OP || k == HS_CAT_ANNOTATION || k == HS_CAT_PYTHON || k == HS_CAT_RUNTIME ||
           k == HS_CAT_OVERHEAD;
}

/* ---- launches: every correlation that a CPU call has, as a set ---- */

static int compare_i64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void check_launches(const struct whole *w)
{
    int64_t *calls = malloc((w->e.n + 1) * sizeof *calls), lonely = 0, work = 0;
    size_t n = 0;
    for (size_t i = 0; i < w->e.n; i++)
        if (on_cpu(w->kind[i]) && w->corr[i] > 0)
            calls[n++] = w->corr[i];
    qsort(calls, n, sizeof *calls, compare_i64);
    for (size_t i = 0; i < w->e.n; i++) {
        if (!hs_cat_is_device_work(w->kind[i]))
            continue;
        work++;
        bool found = w->corr[i] > 0 && bsearch(&w->corr[i], calls, n, sizeof *calls, compare_i64);
        lonely += !found;
        ck_assert_msg(found == (w->e.parent[i] != HS_NO_EVENT), "%s: event %zu", w->path, i);
        if (found)
            ck_assert_msg(w->corr[w->e.parent[i]] == w->corr[i] && on_cpu(w->kind[w->e.parent[i]]), "%s: event %zu",
                          w->path, i);
    }
    free(calls);
    const struct hs_summary *s = &w->v->sum;
    ck_assert_msg(s->kernels + s->memcpys + s->memsets == work, "%s: %lld rows", w->path, (long long)work);
    ck_assert_msg(w->v->quality.count[HS_Q_KERNEL_WITHOUT_LAUNCH] == lonely, "%s: %lld without", w->path,
                  (long long)lonely);
}

/* ---- device time: starts and ends in one list per device, counted up and down ---- */

struct edge {
    int64_t device, at;
    int step;
};

static int compare_edges(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static void check_busy(const struct whole *w)
{
    struct edge *v = malloc((2 * w->e.n + 1) * sizeof *v);
    size_t n = 0;
    int64_t busy = 0;
    for (size_t i = 0; i < w->e.n; i++) {
        if (!hs_cat_is_device_work(w->kind[i]))
            continue;
        struct hs_id pid = w->v->lanes[w->e.lane[i]].pid;
        int64_t device = w->device[i] != HS_NO_VALUE ? w->device[i] : pid.kind == HS_ID_INT ? pid.v : -1;
        v[n++] = (struct edge){device, w->e.ts[i], 1};
        v[n++] = (struct edge){device, w->e.ts[i] + w->e.dur[i], -1};
    }
    qsort(v, n, sizeof *v, compare_edges);
    for (size_t i = 0, open = 0; i + 1 < n; i++) {
        open += (size_t)v[i].step; /* -1 wraps as it should */
        if (open)
            busy += v[i + 1].at - v[i].at;
    }
    free(v);
    ck_assert_msg(w->v->sum.busy_ns == busy, "%s: busy %lld, expected %lld", w->path, (long long)w->v->sum.busy_ns,
                  (long long)busy);
}

/* ---- call trees: a parent holds its child, and nothing stands between them ---- */

static bool holds(const struct hs_events *e, size_t outer, size_t inner)
{
    return e->ts[outer] <= e->ts[inner] && e->ts[outer] + e->dur[outer] >= e->ts[inner] + e->dur[inner] &&
           e->dur[outer] > e->dur[inner];
}

/* v: room for all events. Lanes of more than a thousand spans are left to the tests on random trees: this is quadratic. */
static void check_lane(const struct whole *w, uint32_t lane, size_t *v)
{
    const struct hs_events *e = &w->e;
    size_t n = 0;
    for (size_t i = 0; i < e->n; i++)
        if (e->lane[i] == lane && on_cpu(w->kind[i]))
            v[n++] = i;
    for (size_t i = 0; i < n && n <= 1000; i++) {
        uint32_t p = e->parent[v[i]];
        int64_t start = e->ts[v[i]], end = start + e->dur[v[i]];
        if (p != HS_NO_EVENT) {
            ck_assert_msg(e->lane[p] == lane && e->ts[p] <= start && end - (e->ts[p] + e->dur[p]) <= 1000,
                          "%s: event %zu", w->path, v[i]);
            ck_assert_int_eq(e->depth[v[i]], e->depth[p] + 1);
        }
        if (w->v->quality.count[HS_Q_PARTIAL_OVERLAP] + w->v->quality.count[HS_Q_CHILD_OVERRUN])
            continue; /* where spans cross, what is between is a matter of the rule, not of containment */
        for (size_t k = 0; k < n; k++) {
            bool between = holds(e, v[k], v[i]) && e->ts[v[k]] < start && (p == HS_NO_EVENT || holds(e, p, v[k]));
            ck_assert_msg(!between, "%s: event %zu stands between %zu and its parent", w->path, v[k], v[i]);
        }
    }
}

/* ---- all files ---- */

static void check_view(const char *path, struct hs_view *v)
{
    struct hs_err err = HS_ERR_INIT;
    struct whole w = {.path = path, .v = v};
    unsigned all = HS_EV_TS | HS_EV_DUR | HS_EV_CAT | HS_EV_LANE | HS_EV_PH | HS_EV_PARENT | HS_EV_DEPTH | HS_EV_NAME;
    ck_assert_msg(hs_view_events(v, all, &w.e, &err) == HS_OK, "%s", err.text);
    ck_assert_msg(v->ops->arg_i64(v, "correlation", 1, &w.corr, &err) == HS_OK, "%s", err.text);
    ck_assert_msg(v->ops->arg_i64(v, "device", 1, &w.device, &err) == HS_OK, "%s", err.text);
    if (v->quality.count[HS_Q_DUPLICATE_EVENT] + v->quality.count[HS_Q_HUGE_DUR] + v->quality.count[HS_Q_TS_ZERO] +
        v->quality.count[HS_Q_MISSING_DUR] + v->quality.count[HS_Q_NEGATIVE_DUR])
        return; /* made for those defects; other tests know them */
    w.kind = malloc((w.e.n + 1) * sizeof *w.kind);
    for (size_t i = 0; i < w.e.n; i++)
        w.kind[i] = kind_of(&w, i);
    check_launches(&w);
    check_busy(&w);
    size_t *room = malloc((w.e.n + 1) * sizeof *room);
    for (uint32_t lane = 0; lane < v->nlanes; lane++)
        check_lane(&w, lane, room);
    free(room);
    free(w.kind);
    g_checked++;
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st, (void)at;
    struct hs_err err = HS_ERR_INIT;
    struct hs_input in;
    if (type != FTW_F || !strstr(path, ".json") || hs_input_open_file(&in, path, &err))
        return 0;
    struct hs_import_options o = {.rank = HS_RANK_AUTO};
    struct hs_imported *v;
    size_t n;
    int rc = hs_import(&in, &o, &v, &n, &err);
    ck_assert_msg(rc == HS_OK || rc == HS_EINPUT, "%s: %s", path, err.text);
    for (size_t i = 0; !rc && i < n; i++)
        check_view(path, v[i].view);
    if (!rc)
        hs_imported_free(v, n);
    hs_input_close_file(&in);
    return 0;
}

START_TEST(real_traces_link_as_a_slow_reading_does)
{
    const char *dir = hs_test_traces();
    if (!dir)
        return;
    ck_assert_int_eq(nftw(dir, visit, 16, FTW_PHYS), 0);
    ck_assert_int_gt(g_checked, 0);
}
END_TEST

HS_SUITE(ingest_real)
{
    HS_TEST(real_traces_link_as_a_slow_reading_does);
}
