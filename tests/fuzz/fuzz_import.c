/* Any bytes through the whole import, containers included, in memory and under small limits. What must hold of a trace that
 * comes out:
 *   - a CPU event's parent is of its lane, starts no later, one level higher, and contains its start;
 *   - device rows are sorted, and every launch launched as many of them as it says;
 *   - steps and events that are referred to exist. */
#include "ingest/import.h"
#include "trace/classes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct bytes {
    const uint8_t *p;
    size_t n, piece;
};

static int read_bytes(void *ctx, void *buf, size_t cap, size_t *got, struct hs_err *err)
{
    struct bytes *b = ctx;
    (void)err;
    size_t n = b->n < b->piece ? b->n : b->piece;
    n = n < cap ? n : cap;
    if (n)
        memcpy(buf, b->p, n);
    b->p += n;
    b->n -= n;
    *got = n;
    return HS_OK;
}

static void must(bool holds, const char *what, size_t at)
{
    if (holds)
        return;
    fprintf(stderr, "broken: %s, at %zu\n", what, at);
    abort();
}

static void check_stacks(struct hs_view *v, const struct hs_events *e, const struct hs_gpu *g)
{
    bool *device = calloc(e->n + 1, 1); /* by category, for some are kept as events and are no rows: exact duplicates */
    for (size_t i = 0; i < e->n; i++)
        device[i] = hs_cat_is_device(hs_cat_kind(hs_view_str(v, e->cat[i])));
    for (size_t i = 0; i < g->n; i++)
        device[g->event[i]] = true;
    for (size_t i = 0; i < e->n; i++) {
        uint32_t p = e->parent[i];
        must(e->step[i] >= -1 && e->step[i] < (int64_t)v->nsteps, "step", i);
        if (p == HS_NO_EVENT || device[i])
            continue;
        must(p < e->n && p != i, "parent", i);
        if (e->lane[p] != e->lane[i])
            continue; /* a device event that is no work, below the call it belongs to */
        must(e->ts[p] <= e->ts[i], "a parent that starts later", i);
        must(e->ph[p] != 'X' || e->ts[i] <= e->ts[p] + e->dur[p], "a parent that has ended", i);
        must(e->depth[i] == UINT16_MAX || e->depth[i] == e->depth[p] + 1, "depth", i);
    }
    free(device);
}

static void check_device(struct hs_view *v, const struct hs_events *e, const struct hs_gpu *g)
{
    const struct hs_launch_row *l;
    size_t n;
    struct hs_err err = HS_ERR_INIT;
    must(!v->ops->launches(v, &l, &n, &err), err.text, 0);
    uint32_t *kernels = calloc(e->n + 1, sizeof *kernels);
    for (size_t i = 0; i < g->n; i++) {
        bool later =
            !i || g->device[i - 1] < g->device[i] ||
            (g->device[i - 1] == g->device[i] &&
             (g->stream[i - 1] < g->stream[i] || (g->stream[i - 1] == g->stream[i] && g->ts[i - 1] <= g->ts[i])));
        must(later, "order of device rows", i);
        must(g->dur[i] >= 0 && g->event[i] < e->n, "device row", i);
        if (g->launch[i] != HS_NO_EVENT)
            kernels[g->launch[i]]++;
    }
    for (size_t i = 0; i < n; i++)
        must(l[i].kernels == kernels[l[i].event], "kernels of a launch", i);
    free(kernels);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hs_limits limits = hs_limits_default;
    limits.bytes_json = 4 << 20;
    limits.events = 50000;
    limits.members = 8;
    struct bytes b = {data, size, size ? 1u + data[size - 1] * 16u : 1};
    struct hs_input in = {read_bytes, &b, "fuzz.json", -1};
    struct hs_import_options o = {.limits = &limits, .rank = HS_RANK_AUTO};
    struct hs_imported *out = NULL;
    size_t n = 0;
    struct hs_err err = HS_ERR_INIT;
    int rc = hs_import(&in, &o, &out, &n, &err);
    must(!rc || err.text[0], "an error without a sentence", 0);
    must(rc == HS_OK || rc == HS_EINPUT || rc == HS_ELIMIT, err.text, (size_t)rc);
    for (size_t i = 0; !rc && i < n; i++) {
        struct hs_events e;
        struct hs_gpu g;
        unsigned all =
            HS_EV_TS | HS_EV_DUR | HS_EV_CAT | HS_EV_LANE | HS_EV_PH | HS_EV_PARENT | HS_EV_DEPTH | HS_EV_STEP;
        must(!hs_view_events(out[i].view, all, &e, &err) && !hs_view_gpu(out[i].view, &g, &err), err.text, i);
        check_stacks(out[i].view, &e, &g);
        check_device(out[i].view, &e, &g);
    }
    if (!rc)
        hs_imported_free(out, n);
    return 0;
}
