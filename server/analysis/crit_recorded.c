#include "analysis/crit_recorded.h"

#include <stdlib.h>
#include <string.h>

/* ---- arguments of the activities ---- */

enum { CORRELATION, STREAM, DEVICE, WAIT_STREAM, WAIT_CORRELATION, ARGS };

static int read_args(struct hs_view *v, struct hs_sparse_walk args[ARGS], struct hs_err *err)
{
    static const char *const keys[ARGS] = {"correlation", "stream", "device", "wait_on_stream",
                                           "wait_on_cuda_event_record_corr_id"};
    int rc = HS_OK;
    for (size_t i = 0; i < ARGS && !rc; i++) {
        args[i].at = 0;
        rc = v->ops->arg_sparse(v, keys[i], 1, &args[i].list, err);
    }
    return rc;
}

/* ---- calls by correlation ---- */

struct by_corr {
    int64_t corr;
    size_t at; /* in the view's launches */
};

static int compare_corr(const void *a, const void *b)
{
    const struct by_corr *x = a, *y = b;
    if (x->corr != y->corr)
        return x->corr < y->corr ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

struct job {
    struct hs_crit_recorded *r;
    const struct hs_gpu *gpu;
    const int64_t *end_of;
    const struct hs_launch_row *launches;
    struct by_corr *list;
    size_t n;
};

static const struct hs_launch_row *call_of(const struct job *j, int64_t corr)
{
    struct by_corr key = {corr, 0};
    size_t lo = 0, hi = j->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (compare_corr(&j->list[mid], &key) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return corr != HS_NO_VALUE && lo < j->n && j->list[lo].corr == corr ? &j->launches[j->list[lo].at] : NULL;
}

/* ---- rows of a stream ---- */

static bool row_before(const struct hs_gpu *g, size_t row, int32_t device, int64_t stream, bool or_in)
{
    if (g->device[row] != device)
        return g->device[row] < device;
    return g->stream[row] < stream || (or_in && g->stream[row] == stream);
}

void hs_crit_stream_rows(const struct hs_gpu *g, int32_t device, int64_t stream, size_t *first, size_t *end)
{
    for (int after = 0; after < 2; after++) {
        size_t lo = 0, hi = g->n;
        while (lo < hi) {
            size_t mid = lo + (hi - lo) / 2;
            if (row_before(g, mid, device, stream, after))
                lo = mid + 1;
            else
                hi = mid;
        }
        *(after ? end : first) = lo;
    }
}

/* Number of the stream's rows [first, end) that were launched before t, or at it with `or_at`: a stream is a queue, so they
 * run in the order of their launches. */
static size_t launched_before(const struct hs_gpu *g, size_t first, size_t end, int64_t t, bool or_at)
{
    size_t lo = first, hi = end;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        int64_t at = g->launch_ts[mid] == HS_NO_VALUE ? g->ts[mid] : g->launch_ts[mid];
        if (at < t || (or_at && at == t))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* The work that an event stands for: the last that was launched on its stream before it was recorded. */
static size_t recorded_row(const struct job *j, int32_t device, int64_t stream, int64_t record)
{
    const struct hs_launch_row *call = call_of(j, record);
    size_t first, end;
    if (!call || stream < 0)
        return SIZE_MAX;
    hs_crit_stream_rows(j->gpu, device, stream, &first, &end);
    size_t k = launched_before(j->gpu, first, end, call->ts, true);
    return k > first ? k - 1 : SIZE_MAX;
}

/* The first work on the stream that was launched after the wait; of several waits before it the last to be over counts. */
static void stream_waits(struct job *j, int32_t device, int64_t stream, const struct hs_launch_row *call, size_t source)
{
    size_t first, end;
    hs_crit_stream_rows(j->gpu, device, stream, &first, &end);
    size_t row = launched_before(j->gpu, first, end, call->ts, false);
    if (row == end || source == SIZE_MAX || source == row)
        return;
    size_t *wait = &j->r->row_wait[row];
    if (*wait == SIZE_MAX || j->end_of[source] > j->end_of[*wait])
        *wait = source;
}

static void add(struct job *j, struct hs_str name, const int64_t v[ARGS])
{
    const struct hs_launch_row *call = call_of(j, v[CORRELATION]);
    int32_t device = v[DEVICE] >= 0 && v[DEVICE] <= INT32_MAX ? (int32_t)v[DEVICE] : -1;
    struct hs_crit_call x = {.device = device, .stream = HS_NO_VALUE, .row = SIZE_MAX};
    if (!call) {
        j->r->unknown++;
        return;
    }
    x.event = call->event;
    if (hs_str_is(name, "Stream Wait Event") || hs_str_is(name, "Event Sync")) {
        x.row = recorded_row(j, device, v[WAIT_STREAM], v[WAIT_CORRELATION]);
        x.is_event = true;
        j->r->unknown += x.row == SIZE_MAX;
        if (!hs_str_is(name, "Event Sync")) {
            stream_waits(j, device, v[STREAM], call, x.row);
            return;
        }
    } else if (hs_str_is(name, "Stream Sync")) {
        x.stream = v[STREAM];
    }
    hs_vec_push(&j->r->calls, x);
}

static int by_event(const void *a, const void *b)
{
    const struct hs_crit_call *x = a, *y = b;
    return (x->event > y->event) - (x->event < y->event);
}

static int read_all(struct job *j, const struct hs_cpu *cpu, struct hs_err *err)
{
    struct hs_sparse_walk args[ARGS];
    size_t n;
    int rc = cpu->view->ops->launches(cpu->view, &j->launches, &n, err);
    if (!rc)
        rc = read_args(cpu->view, args, err);
    if (rc)
        return rc;
    j->n = n;
    j->list = hs_realloc_array(NULL, n + 1, sizeof *j->list);
    for (size_t i = 0; i < n; i++)
        j->list[i] = (struct by_corr){j->launches[i].corr, i};
    if (n)
        qsort(j->list, n, sizeof *j->list, compare_corr);
    for (uint32_t e = 0; e < cpu->ev.n; e++) {
        int64_t v[ARGS];
        if (hs_cpu_kind(cpu, e) != HS_CAT_SYNC || cpu->ev.ph[e] != 'X')
            continue;
        for (size_t i = 0; i < ARGS; i++)
            v[i] = hs_sparse_at(&args[i], e);
        add(j, hs_view_str(cpu->view, cpu->ev.name[e]), v);
    }
    free(j->list);
    if (j->r->calls.n)
        qsort(j->r->calls.p, j->r->calls.n, sizeof *j->r->calls.p, by_event);
    return HS_OK;
}

int hs_crit_recorded_open(struct hs_crit_recorded *r, const struct hs_cpu *cpu, const struct hs_gpu *gpu,
                          const int64_t *end_of, struct hs_err *err)
{
    struct job j = {.r = r, .gpu = gpu, .end_of = end_of};
    *r = (struct hs_crit_recorded){.calls = HS_VEC_INIT(HS_MAX_EVENTS)};
    r->any = hs_view_sym(cpu->view, "cuda_sync") != HS_NO_SYM && hs_view_has_kind(cpu->view, HS_CAT_SYNC);
    if (!r->any)
        return HS_OK;
    r->row_wait = hs_malloc((gpu->n + 1) * sizeof *r->row_wait);
    for (size_t i = 0; i < gpu->n; i++)
        r->row_wait[i] = SIZE_MAX;
    return read_all(&j, cpu, err);
}

void hs_crit_recorded_close(struct hs_crit_recorded *r)
{
    free(r->row_wait);
    r->row_wait = NULL;
    hs_vec_free(&r->calls);
}

const struct hs_crit_call *hs_crit_recorded_call(const struct hs_crit_recorded *r, uint32_t event)
{
    struct hs_crit_call key = {.event = event};
    return r->calls.n ? bsearch(&key, r->calls.p, r->calls.n, sizeof key, by_event) : NULL;
}
