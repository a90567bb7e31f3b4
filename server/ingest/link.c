/* The order of the work. Categories, lanes and B/E pairs come first, on one thread; then the call stacks, flows and counts on
 * one thread and steps, launches and the table of device work on another: they only read the rows, and write different
 * events' parents and depths, different columns and different members of the summary. */
#include "ingest/link_in.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void merge_quality(struct hs_quality *into, const struct hs_quality *from)
{
    for (int k = 0; k < HS_QUALITY_KINDS; k++)
        if (from->count[k])
            hs_quality_add(into, (enum hs_quality_kind)k, from->count[k], from->first[k]);
}

/* Counts and the range of time over all events. */
static void summarise(const struct hs_linking *l)
{
    const struct hs_rows *r = l->r;
    struct hs_summary *s = &l->out->sum;
    bool any = false;
    s->events = (int64_t)r->n;
    for (size_t e = 0; e < r->n; e++) {
        enum hs_cat_kind k = hs_row_kind(l, e);
        uint8_t ph = r->ph[e];
        s->memory_events += k == HS_CAT_MEMORY;
        s->counters += ph == 'C';
        s->flows += ph == 's' || ph == 't' || ph == 'f';
        if (hs_row_side(l, e) == HS_SIDE_NONE)
            continue;
        s->cpu_ops += k == HS_CAT_CPU_OP;
        s->annotations += k == HS_CAT_ANNOTATION;
        s->python += k == HS_CAT_PYTHON;
        s->runtime_calls += k == HS_CAT_RUNTIME;
        int64_t end = hs_row_end(r, e);
        if (!any || r->ts[e] < s->first_ts)
            s->first_ts = r->ts[e];
        if (!any || end > s->last_end)
            s->last_end = end;
        any = true;
    }
}

/* A memory timeline has only instants, which no other analysis takes part in: its time is theirs. */
static void summarise_memory(const struct hs_rows *r, struct hs_summary *s)
{
    bool any = false;
    for (size_t e = 0; e < r->n; e++) {
        if (r->ts[e] < 0)
            continue;
        s->first_ts = !any || r->ts[e] < s->first_ts ? r->ts[e] : s->first_ts;
        s->last_end = !any || r->ts[e] > s->last_end ? r->ts[e] : s->last_end;
        any = true;
    }
}

struct stacks_job {
    const struct hs_linking *l;
    struct hs_quality q;
};

static void *run_stacks(void *arg)
{
    struct stacks_job *j = arg;
    if (!hs_link_cancelled(j->l))
        hs_link_stacks(j->l, &j->q);
    if (!hs_link_cancelled(j->l))
        hs_link_flows(j->l, &j->q);
    if (!hs_link_cancelled(j->l))
        hs_link_categories(j->l);
    if (!hs_link_cancelled(j->l))
        summarise(j->l);
    if (j->l->t->memory_timeline)
        summarise_memory(j->l->r, &j->l->out->sum);
    return NULL;
}

/* What the two threads do. */
static void link_all(const struct hs_linking *l)
{
    struct stacks_job job = {.l = l};
    hs_quality_init(&job.q);
    pthread_t thread;
    bool threaded = l->r->n > HS_SEG_ROWS && !pthread_create(&thread, NULL, run_stacks, &job);
    struct hs_quality *q = &l->t->quality;
    hs_link_steps(l);
    if (!hs_link_cancelled(l))
        hs_link_gpu(l, q);
    if (threaded)
        pthread_join(thread, NULL);
    else
        run_stacks(&job);
    merge_quality(q, &job.q);
}

/* A device event stands one below the call that launched it. */
static void device_depths(const struct hs_linking *l)
{
    struct hs_links *out = l->out;
    for (size_t i = 0; i < l->t->device_rows.n; i++) {
        uint32_t e = l->t->device_rows.p[i].event, launch = out->parent[e];
        if (launch != HS_NO_EVENT && hs_row_side(l, e) == HS_SIDE_DEVICE)
            out->depth[e] = out->depth[launch] < UINT16_MAX ? (uint16_t)(out->depth[launch] + 1) : UINT16_MAX;
    }
}

/* PyTorch puts what it knows of a collective on the kernel, or only on the operator record_param_comms around its launch. */
static bool tells_collective(const struct hs_linking *l, uint32_t op, uint32_t record)
{
    return l->r->name[op] == record || l->r->flags[op] & HS_ROW_COLLECTIVE;
}

/* Kernels that are no communication by their own metadata and names, but are launched by such an operator itself. What an operator
 * within it launches (copies into a flat buffer) is its own; the search for NaN before a collective (TORCH_NCCL_NAN_CHECK) is none. */
static void inherit_communication(const struct hs_linking *l)
{
    struct hs_links *out = l->out;
    uint32_t record = hs_intern_find(&l->t->syms, "record_param_comms", strlen("record_param_comms"));
    if (record == HS_NO_SYM)
        return;
    for (size_t i = 0; i < out->gpu.n; i++) {
        struct hs_gpu_row *g = &out->gpu.p[i];
        uint32_t e = g->launch;
        if (g->cls != HS_CLASS_COMPUTE)
            continue;
        while (e != HS_NO_EVENT && hs_row_kind(l, e) != HS_CAT_CPU_OP)
            e = out->parent[e];
        if (e == HS_NO_EVENT || !tells_collective(l, e, record) ||
            hs_str_contains(hs_intern_str(&l->t->syms, g->name), "checkForNaN"))
            continue;
        g->cls = HS_CLASS_COMM;
        out->sum.comm_ns = hs_add_sat(out->sum.comm_ns, g->dur);
    }
}

int hs_link(struct hs_trace *trace, struct hs_links *out, struct hs_err *err)
{
    return hs_link_stoppable(trace, out, NULL, err);
}

int hs_link_stoppable(struct hs_trace *trace, struct hs_links *out, const _Atomic bool *cancel, struct hs_err *err)
{
    size_t n = trace->rows.n;
    if (n > HS_MAX_EVENTS)
        return hs_fail(err, HS_ELIMIT, "more than %u events in one trace", HS_MAX_EVENTS);
    struct hs_linking *l = hs_calloc(1, sizeof *l);
    l->t = trace;
    l->r = &trace->rows;
    l->out = out;
    l->cancel = cancel;
    out->n = n;
    out->parent = hs_malloc(n * sizeof *out->parent);
    out->depth = hs_calloc(n, sizeof *out->depth);
    out->step = hs_malloc(n * sizeof *out->step);
    static_assert(HS_NO_EVENT == UINT32_MAX, "memset writes it");
    memset(out->parent, UINT8_MAX, n * sizeof *out->parent);
    hs_link_lanes(l);
    if (!hs_link_cancelled(l))
        hs_link_pairs(l);
    if (!hs_link_cancelled(l)) {
        hs_link_normalise(l);
        link_all(l);
    }
    bool stopped = hs_link_cancelled(l); /* once true it stays so */
    if (!stopped) {
        device_depths(l);
        inherit_communication(l);
    }
    if (n && !out->steps.n)
        hs_count(&trace->quality, HS_Q_NO_STEPS, 1);
    if (n == 1000000)
        hs_count(&trace->quality, HS_Q_ROUND_CAP, 1);
    hs_link_forget(l);
    free(l);
    hs_rows_free(&trace->rows);
    hs_vec_free(&trace->device_rows);
    return stopped ? hs_fail(err, HS_ECANCELLED, "the import was stopped") : HS_OK;
}
