/* queue-full: how long the queue of each stream was full. HTA's get_time_spent_blocked_on_full_queue, for all streams, and
 * with the time that the CPU was really blocked. */
#include "analysis/analyses.h"
#include "analysis/hta.h"
#include "analysis/queue.h"
#include "trace/stats.h"

static const struct hs_param_spec params_spec[] = {
    {"max_queue_length", HS_P_INT, "1", "1024", 1, 1e9, NULL, "a queue of so many activities is full"},
};

static const struct hs_column_spec columns[] = {
    {"rank", HS_T_INT, "", "rank of the trace"},
    {"device", HS_T_INT, "", "device number; -1 where the trace does not tell"},
    {"stream", HS_T_INT, "", "stream number; -1 where the trace does not tell"},
    {"max", HS_T_INT, "1", "longest that the queue was for any time"},
    {"full_us", HS_T_TIME, "us", "time with max_queue_length or more activities in the queue"},
    {"full_pct", HS_T_PCT, "percent",
     "full_us of the rank's time: from its first to its last event, cut at from and to"},
    {"blocked_us", HS_T_TIME, "us", "part of full_us during which a call that launches onto this stream was running"},
};

/* When the queue had its limit. */
static void full_times(const struct hs_queue *q, int64_t limit, struct hs_spans *full)
{
    full->n = 0;
    for (size_t i = 0; i < q->length.n; i++) {
        int64_t end = i + 1 < q->length.n ? q->length.p[i + 1].t : q->length.end;
        if (q->length.p[i].v >= limit)
            hs_spans_push(full, q->length.p[i].t, end);
    }
}

/* When a call onto the stream was running. */
static void call_times(const struct hs_queue_walk *w, struct hs_spans *calls)
{
    const struct hs_gpu *g = &w->s->gpu;
    calls->n = 0;
    for (size_t i = w->rows.first; i < w->rows.end; i++)
        if (g->launch_ts[i] != HS_NO_VALUE && hs_select_step(w->s, g->step[i]))
            hs_spans_push(calls, g->launch_ts[i], hs_end_ns(g->launch_ts[i], g->launch_dur[i]));
    hs_spans_normalise(calls);
}

static int64_t longest(const struct hs_queue *q)
{
    int64_t max = 0;
    for (size_t i = 0; i < q->length.n; i++)
        if ((i + 1 < q->length.n ? q->length.p[i + 1].t : q->length.end) > q->length.p[i].t)
            max = hs_max_i64(max, q->length.p[i].v);
    return max;
}

struct job {
    int64_t limit;
    struct hs_spans full, calls;
};

static void row(struct job *j, const struct hs_queue_walk *w, const struct hs_queue *q, struct hs_table *out)
{
    const struct hs_select *s = w->s;
    int64_t first = hs_max_i64(s->view->sum.first_ts, s->from), last = hs_min_i64(s->view->sum.last_end, s->to);
    full_times(q, j->limit, &j->full);
    int64_t full = hs_spans_length(&j->full), blocked = 0;
    if (full) {
        call_times(w, &j->calls);
        blocked = hs_spans_overlap(&j->full, &j->calls);
    }
    hs_table_row(out);
    hs_cell_i64(out, s->rank);
    hs_cell_i64(out, q->device);
    hs_cell_i64(out, q->stream);
    hs_cell_i64(out, longest(q));
    hs_cell_ns(out, full);
    hs_cell_f64(out, hs_percent(full, hs_sub_sat(last, first)));
    hs_cell_ns(out, blocked);
}

static int run(struct hs_run *r, const struct hs_params *p, struct hs_table *out, struct hs_err *err)
{
    struct job j = {hs_param_i64(p, "max_queue_length"), HS_SPANS_INIT, HS_SPANS_INIT};
    int rc = HS_OK;
    for (size_t i = 0; i < r->n && !rc; i++) {
        struct hs_select s;
        struct hs_queue_walk w;
        struct hs_queue q;
        rc = hs_select_open(&s, &r->ranks[i], p, out, err);
        if (rc)
            break;
        for (hs_queue_walk(&w, &s); hs_queue_next(&w, &q);)
            row(&j, &w, &q, out);
        hs_queue_end(&w, out);
        hs_select_close(&s);
    }
    hs_vec_free(&j.full);
    hs_vec_free(&j.calls);
    hs_note_excluded(r, out);
    return rc;
}

const struct hs_analysis hs_analysis_queue_full = {
    .name = "queue-full",
    .summary = "How long each stream's launch queue was full, and how long the CPU waited for room",
    .doc = "The queue of `queue-length` counts as full while it holds max_queue_length activities or more (1024 is "
           "CUDA's limit of "
           "pending launches). `full_us` is that time; it is no loss by itself. `blocked_us` is the part of it during "
           "which a "
           "call that launches onto this stream was running, that is, waiting for room: CPU time lost. Every stream "
           "with a "
           "queue has a row, also where it was never full.",
    .version = 1,
    .params = params_spec,
    .nparams = sizeof params_spec / sizeof params_spec[0],
    .columns = columns,
    .ncolumns = sizeof columns / sizeof columns[0],
    .run = run,
    .run_hta = hta_queue_full,
};
