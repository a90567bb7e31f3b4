#include "report/figures_memory.h"

#include "trace/stats.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#define GIB 1073741824.0

/* What the allocator had of one device. */
struct device {
    int64_t number, allocated, reserved_then,
        reserved;   /* at the peak of what was allocated; the most that was reserved */
    uint32_t event; /* of the peak */
};
#define DEVICES 64 /* of one rank; more are passed over */

static struct device *device_of(struct device *list, size_t *n, int64_t number)
{
    for (size_t i = 0; i < *n; i++)
        if (list[i].number == number)
            return &list[i];
    if (*n == DEVICES)
        return NULL;
    list[*n] = (struct device){.number = number, .allocated = -1};
    return &list[(*n)++];
}

static int read_devices(struct hs_view *v, struct device *list, size_t *n, struct hs_err *err)
{
    static const char *const keys[] = {"Total Reserved", "Device Type", "Device Id"};
    struct hs_sparse allocated;
    struct hs_sparse_walk more[3] = {0};
    int rc = v->ops->arg_sparse(v, "Total Allocated", 1, &allocated, err);
    for (size_t i = 0; i < 3 && !rc; i++)
        rc = v->ops->arg_sparse(v, keys[i], 1, &more[i].list, err);
    for (size_t i = 0; i < allocated.n && !rc; i++) {
        uint32_t e = allocated.event[i];
        int64_t reserved = hs_sparse_at(&more[0], e), type = hs_sparse_at(&more[1], e),
                number = hs_sparse_at(&more[2], e);
        struct device *d =
            type > 0 && number >= 0 ? device_of(list, n, number) : NULL; /* c10::DeviceType 0: the host */
        if (!d || reserved < 0)
            continue;
        d->reserved = reserved > d->reserved ? reserved : d->reserved;
        if (allocated.v[i] <= d->allocated)
            continue;
        d->allocated = allocated.v[i];
        d->reserved_then = reserved;
        d->event = e;
    }
    return rc;
}

/* Memory of a device by deviceProperties of the trace's header, [{"id":0,"totalGlobalMem":17071734784}]; 0 where it does not tell. */
static int64_t memory_of(const struct hs_view *v, int64_t device)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < v->nheader && !bytes; i++) {
        struct hs_str text = hs_view_str(v, v->header[i].json);
        if (!hs_str_is(hs_view_str(v, v->header[i].key), "deviceProperties"))
            continue;
        json_t *list = json_loadb(text.p, text.n, 0, NULL);
        for (size_t k = 0; k < json_array_size(list); k++) {
            const json_t *one = json_array_get(list, k), *id = json_object_get(one, "id");
            if (json_is_integer(id) && json_integer_value(id) == device)
                bytes = json_integer_value(json_object_get(one, "totalGlobalMem"));
        }
        json_decref(list);
    }
    return bytes > 0 ? bytes : 0;
}

static void take_device(struct hs_figures *f, const struct hs_run_rank *rank, const struct device *d, int64_t ts)
{
    struct hs_figure_value *full = &f->at[HS_FIG_FULL], *reserved = &f->at[HS_FIG_RESERVED],
                           *unused = &f->at[HS_FIG_UNUSED];
    int64_t memory = memory_of(rank->view, d->number), idle = d->reserved_then - d->allocated;
    char text[200];
    snprintf(text, sizeof text, "Rank %lld, device %lld: at the peak %.2f GiB are allocated, %.2f GiB held",
             (long long)rank->rank, (long long)d->number, (double)d->allocated / GIB, (double)d->reserved_then / GIB);
    f->memory_events = true;
    if (idle > f->unused_bytes && d->reserved_then > 0) {
        f->unused_bytes = idle;
        unused->v = hs_percent(idle, d->reserved_then);
        snprintf(unused->detail, sizeof unused->detail, "%s", text);
    }
    hs_figure_shows(unused, rank, d->event, ts, idle);
    if (!memory)
        return;
    f->device_memory = true;
    double allocated_pct = hs_percent(d->allocated, memory), reserved_pct = hs_percent(d->reserved, memory);
    reserved->v = reserved_pct > reserved->v ? reserved_pct : reserved->v;
    if (allocated_pct > full->v) {
        full->v = allocated_pct;
        snprintf(full->detail, sizeof full->detail, "%s, of %.2f GiB", text, (double)memory / GIB);
    }
    hs_figure_shows(full, rank, d->event, ts, (int64_t)(allocated_pct * 1000));
}

int hs_figures_from_memory(struct hs_figures *f, const struct hs_run_rank *rank, struct hs_err *err)
{
    struct device list[DEVICES];
    struct hs_events ev;
    size_t n = 0;
    if (hs_view_sym(rank->view, "Total Reserved") == HS_NO_SYM || hs_view_is_memory_timeline(rank->view))
        return HS_OK;
    int rc = read_devices(rank->view, list, &n, err);
    if (!rc)
        rc = hs_view_events(rank->view, HS_EV_TS, &ev, err);
    for (size_t i = 0; i < n && !rc; i++)
        if (list[i].allocated >= 0)
            take_device(f, rank, &list[i], ev.ts[list[i].event]);
    return rc;
}
