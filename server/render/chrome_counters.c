#include "render/chrome_counters.h"

#include "base/json.h"

#include <stdlib.h>

/* ---- whose counters they are ---- */

static struct hs_id pid_of(const struct hs_chrome_counters *c, uint32_t lane)
{
    const struct hs_view *v = c->sel.view;
    return lane < v->nlanes ? v->lanes[lane].pid : (struct hs_id){0};
}

static int by_pid(const void *a, const void *b)
{
    const struct hs_id *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return (x->v > y->v) - (x->v < y->v);
}

/* Rows stand by device. */
static void find_devices(struct hs_chrome_counters *c)
{
    const struct hs_gpu *g = &c->sel.gpu;
    for (size_t i = 0; i < g->n; i++)
        if (!i || g->device[i] != g->device[i - 1])
            hs_vec_push(&c->devices, ((struct hs_chrome_device){g->device[i], g->lane[i]}));
    struct hs_id *pids = hs_calloc(c->devices.n + 1, sizeof *pids);
    for (size_t i = 0; i < c->devices.n; i++)
        pids[i] = pid_of(c, c->devices.p[i].lane);
    qsort(pids, c->devices.n, sizeof *pids, by_pid);
    for (size_t i = 1; i < c->devices.n; i++)
        c->shared_pid |= !by_pid(&pids[i - 1], &pids[i]);
    free(pids);
}

static int by_device(const void *a, const void *b)
{
    const struct hs_chrome_device *x = a, *y = b;
    return (x->device > y->device) - (x->device < y->device);
}

static void put_pid(const struct hs_chrome_counters *c, int32_t device, struct hs_buf *out)
{
    struct hs_chrome_device key = {.device = device};
    const struct hs_chrome_device *d =
        c->devices.n ? bsearch(&key, c->devices.p, c->devices.n, sizeof key, by_device) : NULL;
    struct hs_id pid = d ? pid_of(c, d->lane) : (struct hs_id){0};
    if (pid.kind == HS_ID_INT) {
        hs_buf_puts(out, ",\"pid\":");
        hs_buf_put_i64(out, pid.v);
    } else if (pid.kind == HS_ID_TEXT) {
        hs_buf_puts(out, ",\"pid\":");
        hs_json_quote(out, hs_view_str(c->sel.view, (uint32_t)pid.v));
    }
}

/* ---- events ---- */

static void put_queue(const struct hs_chrome_counters *c, struct hs_point x, struct hs_buf *out)
{
    hs_buf_puts(out, "{\"ph\":\"C\",\"name\":\"Queue Length\"");
    put_pid(c, c->q.device, out);
    if (c->shared_pid)
        hs_buf_printf(out, ",\"id\":\"%d:%lld\"", (int)c->q.device, (long long)c->q.stream);
    else
        hs_buf_printf(out, ",\"id\":%lld", (long long)c->q.stream);
    hs_buf_puts(out, ",\"ts\":");
    hs_put_us(out, x.t);
    hs_buf_puts(out, ",\"args\":{\"Queue Length\":");
    hs_buf_put_i64(out, x.v);
    hs_buf_puts(out, "}}");
}

static void put_bandwidth(const struct hs_chrome_counters *c, struct hs_point x, struct hs_buf *out)
{
    hs_buf_puts(out, "{\"ph\":\"C\",\"name\":");
    hs_json_quote(out, c->b.kind);
    put_pid(c, c->b.device, out);
    if (c->shared_pid)
        hs_buf_printf(out, ",\"id\":%d", (int)c->b.device);
    hs_buf_puts(out, ",\"ts\":");
    hs_put_us(out, x.t);
    hs_buf_puts(out, ",\"args\":{\"Memcpy BW\":");
    hs_put_f64(out, (double)x.v / 1e9);
    hs_buf_puts(out, "}}");
}

/* ---- series after series ---- */

int hs_chrome_counters_open(struct hs_chrome_counters *c, const struct hs_run_rank *r, const struct hs_params *p,
                            bool queue, bool bandwidth, struct hs_table *notes, struct hs_err *err)
{
    *c = (struct hs_chrome_counters){.notes = notes, .devices = HS_VEC_INIT(HS_MAX_EVENTS)};
    if (!queue && !bandwidth)
        return HS_OK;
    int rc = hs_select_open(&c->sel, r, p, notes, err);
    if (rc)
        return rc;
    c->queue = queue;
    c->bandwidth = bandwidth;
    find_devices(c);
    return HS_OK;
}

static void end_walks(struct hs_chrome_counters *c)
{
    if (c->in_queue)
        hs_queue_end(&c->queues, c->notes);
    if (c->in_bandwidth)
        hs_bandwidth_end(&c->copies, c->notes);
    c->in_queue = c->in_bandwidth = false;
    c->series = NULL;
}

/* The next series with a point becomes c->series; NULL: there is no more. */
static int next_series(struct hs_chrome_counters *c, struct hs_err *err)
{
    c->i = 0;
    for (;;) {
        if (c->in_queue && hs_queue_next(&c->queues, &c->q)) {
            c->series = &c->q.length;
            return HS_OK;
        }
        while (c->in_bandwidth && hs_bandwidth_next(&c->copies, &c->b)) {
            c->series = &c->b.series;
            if (c->series->n)
                return HS_OK;
        }
        end_walks(c);
        if (c->queue) {
            c->queue = false;
            c->in_queue = true;
            hs_queue_walk(&c->queues, &c->sel);
        } else if (c->bandwidth) {
            c->bandwidth = false;
            c->in_bandwidth = true;
            int rc = hs_bandwidth_open(&c->copies, &c->sel, err);
            if (rc)
                return rc;
        } else {
            return HS_OK;
        }
    }
}

int hs_chrome_counters_next(struct hs_chrome_counters *c, struct hs_buf *out, bool *more, struct hs_err *err)
{
    int rc = c->series && c->i < c->series->n ? HS_OK : next_series(c, err);
    *more = !rc && c->series;
    if (!*more)
        return rc;
    struct hs_point x = c->series->p[c->i++];
    if (c->in_queue)
        put_queue(c, x, out);
    else
        put_bandwidth(c, x, out);
    return HS_OK;
}

void hs_chrome_counters_close(struct hs_chrome_counters *c)
{
    end_walks(c);
    hs_select_close(&c->sel);
    hs_vec_free(&c->devices);
}
