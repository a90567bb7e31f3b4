/* stragglers: which rank the others wait for, how much, and what it did meanwhile. HTA names the ranks that start their
 * longest ncclKernel last, always as many as asked for; here it is measured over all matched collectives. */
#include "analysis/analyses.h"
#include "analysis/hta.h"
#include "analysis/late.h"
#include "analysis/name_filter.h"
#include "trace/stats.h"

#include <math.h>
#include <stdlib.h>

static const struct hs_param_spec params_spec[] = {
    {"data_load_events", HS_P_TEXT, "", "(?i)data_?loader|data_?load", 0, 0, NULL,
     "regular expression (PCRE2): names of CPU events that load data"},
    {"min_wait_pct", HS_P_REAL, "percent", "1", 0, 100, NULL,
     "below this share of the ranks' time, waiting is no finding and no rank is called chronic or rotating"},
    {"profiler_steps", HS_P_TEXT, "", NULL, 0, 0, NULL,
     "compat=hta: numbers of steps joined by commas, or first; else use step"},
    {"num_candidates", HS_P_INT, "1", "2", -1e9, 1e9, NULL, "compat=hta: ranks to name"},
};

static const struct hs_column_spec columns[] = {
    {"rank", HS_T_INT, "", "rank"},
    {"collectives", HS_T_INT, "1", "collectives in which it was matched with other ranks"},
    {"last", HS_T_INT, "1", "of these, how often it came last, by more than the clocks' residual and 1 us"},
    {"last_pct", HS_T_PCT, "percent", "last of collectives"},
    {"caused_wait_us", HS_T_TIME, "us", "time that the other ranks spent waiting in those, summed over the others"},
    {"caused_pct", HS_T_PCT, "percent", "of all such waiting of the run"},
    {"lead_us", HS_T_TIME, "us",
     "by how much it came after the second last, summed: what would be won at most if it did not"},
    {"own_wait_us", HS_T_TIME, "us", "time that this rank spent waiting for others"},
    {"verdict", HS_T_TEXT, "",
     "chronic: at least half of all waiting is caused by it and it comes last in at least half of the collectives that "
     "had any; rotating: it causes some, without that; none"},
    {"cause", HS_T_TEXT, "",
     "what it did more than the others before it came late: more kernels, longer kernels, data loading, gaps (GPU "
     "idle); "
     "null if it never came last"},
    {"extra_kernels", HS_T_REAL, "1", "kernels more than the mean of the others, per time it came last"},
    {"extra_work_us", HS_T_TIME, "us", "GPU work but communication, more than the mean of the others, per time"},
    {"extra_idle_us", HS_T_TIME, "us",
     "time with neither work nor communication, more than the mean of the others, per time"},
    {"extra_loading_us", HS_T_TIME, "us",
     "part of the idle time during which the CPU loaded data, more than the mean of the others, per time"},
    {"clock_shift_us", HS_T_TIME, "us",
     "added to the rank's clock so that collectives end together; null: not aligned"},
    {"clock_residual_us", HS_T_TIME, "us", "median of what is left of the differences of ends"},
};

struct rank {
    struct hs_activity doing;
    struct hs_doing extra, others; /* sums over the collectives in which it was last */
    int64_t collectives, last, caused, lead, own;
};

struct job {
    struct hs_collectives c;
    struct rank *rank;
    int64_t *before;             /* by call: when the rank came to the collective before it */
    int64_t noise, caused, late; /* late: collectives in which someone was */
};

static int64_t noise_of(const struct hs_collectives *c)
{
    int64_t most = 0;
    for (size_t r = 0; r < c->nranks; r++)
        most = hs_max_i64(most, c->clock[r].residual_ns);
    return hs_add_sat(most, 1000);
}

/* See late.h: from coming to coming, whatever the kinds, for a rank does all its work in between. */
static void find_before(struct job *j)
{
    const struct hs_collectives *c = &j->c;
    int64_t *last = hs_malloc((c->nranks + 1) * sizeof *last);
    for (size_t r = 0; r < c->nranks; r++)
        last[r] = j->rank[r].doing.begin;
    for (size_t i = 0; i < c->list.n; i++)
        for (uint32_t k = 0; k < c->list.p[i].n; k++) {
            size_t call = c->list.p[i].first + k;
            const struct hs_collective_call *x = &c->calls.p[call];
            j->before[call] = last[x->rank];
            last[x->rank] = x->start;
        }
    free(last);
}

static void plus(struct hs_doing *sum, const struct hs_doing *d, double times)
{
    sum->kernels += times * d->kernels;
    sum->work_ns += times * d->work_ns;
    sum->idle_ns += times * d->idle_ns;
    sum->loading_ns += times * d->loading_ns;
}

static struct hs_doing doing_before(const struct job *j, size_t call)
{
    const struct hs_collective_call *x = &j->c.calls.p[call];
    return hs_activity_between(&j->rank[x->rank].doing, j->before[call], x->start);
}

static void explain(struct job *j, const struct hs_collective *x, size_t last)
{
    struct rank *r = &j->rank[j->c.calls.p[last].rank];
    struct hs_doing mine = doing_before(j, last);
    plus(&r->extra, &mine, 1);
    for (size_t i = x->first; i < x->first + x->n; i++)
        if (i != last) {
            struct hs_doing other = doing_before(j, i);
            plus(&r->extra, &other, -1.0 / (double)(x->n - 1));
            plus(&r->others, &other, 1.0 / (double)(x->n - 1));
        }
}

static void judge(struct job *j, const struct hs_collective *x)
{
    const struct hs_collective_call *calls = j->c.calls.p;
    size_t last = x->first;
    int64_t second = INT64_MIN, caused = 0;
    for (size_t i = x->first + 1; i < x->first + x->n; i++)
        if (calls[i].start > calls[last].start)
            last = i;
    for (size_t i = x->first; i < x->first + x->n; i++) {
        struct rank *r = &j->rank[calls[i].rank];
        int64_t wait =
            hs_min_i64(hs_sub_sat(calls[last].start, calls[i].start), hs_sub_sat(calls[i].end, calls[i].start));
        r->collectives++;
        r->own = hs_add_sat(r->own, wait);
        caused = hs_add_sat(caused, wait);
        if (i != last)
            second = hs_max_i64(second, calls[i].start);
    }
    int64_t lead = hs_sub_sat(calls[last].start, second);
    if (lead <= j->noise)
        return;
    struct rank *r = &j->rank[calls[last].rank];
    r->last++;
    r->lead = hs_add_sat(r->lead, lead);
    r->caused = hs_add_sat(r->caused, caused);
    j->caused = hs_add_sat(j->caused, caused);
    j->late++;
    explain(j, x, last);
}

static int measure(struct job *j, struct hs_run *r, const struct hs_params *p, struct hs_err *err)
{
    struct hs_name_filter *loading = NULL;
    int rc = hs_name_filter_new(&loading, hs_param_text(p, "data_load_events"), err);
    for (size_t i = 0; i < r->n && !rc; i++)
        rc = hs_activity_open(&j->rank[i].doing, &r->ranks[i], j->c.clock[i].shift_ns, loading, err);
    hs_name_filter_free(loading);
    if (rc)
        return rc;
    j->before = hs_malloc((j->c.calls.n + 1) * sizeof *j->before);
    j->noise = noise_of(&j->c);
    find_before(j);
    for (size_t i = 0; i < j->c.list.n; i++)
        judge(j, &j->c.list.p[i]);
    free(j->before);
    return HS_OK;
}

/* Time of all ranks from their first matched collective's start to their last's end. */
static int64_t span_of(const struct hs_collectives *c)
{
    int64_t first = INT64_MAX, last = INT64_MIN, all;
    for (size_t i = 0; i < c->list.n; i++)
        for (uint32_t k = 0; k < c->list.p[i].n; k++) {
            first = hs_min_i64(first, c->calls.p[c->list.p[i].first + k].start);
            last = hs_max_i64(last, c->calls.p[c->list.p[i].first + k].end);
        }
    if (first >= last)
        return 0;
    return __builtin_mul_overflow(hs_sub_sat(last, first), (int64_t)c->nranks, &all) ? INT64_MAX : all;
}

static const char *verdict(const struct job *j, const struct rank *r, bool matters)
{
    if (!matters || !r->last)
        return "none";
    return r->caused >= j->caused - r->caused && 2 * r->last >= j->late ? "chronic" : "rotating";
}

static int64_t mean_ns(double sum, int64_t n)
{
    return hs_round_i64(sum / (double)n);
}

static void row(const struct job *j, const struct hs_run *run, size_t i, bool matters, struct hs_table *out)
{
    const struct rank *r = &j->rank[i];
    const struct hs_rank_clock *k = &j->c.clock[i];
    hs_table_row(out);
    hs_cell_i64(out, run->ranks[i].rank);
    hs_cell_i64(out, r->collectives);
    hs_cell_i64(out, r->last);
    hs_cell_f64(out, hs_percent(r->last, r->collectives));
    hs_cell_ns(out, r->caused);
    hs_cell_f64(out, hs_percent(r->caused, j->caused));
    hs_cell_ns(out, r->lead);
    hs_cell_ns(out, r->own);
    hs_cell_cstr(out, verdict(j, r, matters));
    if (r->last) {
        hs_cell_cstr(out, hs_late_word(hs_late_cause_of(&r->extra, &r->others)));
        hs_cell_f64(out, r->extra.kernels / (double)r->last);
        hs_cell_ns(out, mean_ns(r->extra.work_ns, r->last));
        hs_cell_ns(out, mean_ns(r->extra.idle_ns, r->last));
        hs_cell_ns(out, mean_ns(r->extra.loading_ns, r->last));
    } else {
        for (int k5 = 0; k5 < 5; k5++)
            hs_cell_null(out);
    }
    if (k->aligned) {
        hs_cell_ns(out, k->shift_ns);
        hs_cell_ns(out, k->residual_ns);
    } else {
        hs_cell_null(out);
        hs_cell_null(out);
    }
}

/* The ranks that others wait for most, first. */
static void write_rows(const struct job *j, const struct hs_run *run, double min_pct, struct hs_table *out)
{
    int64_t span = span_of(&j->c);
    bool matters = span > 0 && 100 * (double)j->caused / (double)span >= min_pct;
    uint8_t *done = hs_calloc(run->n, 1);
    for (size_t k = 0; k < run->n; k++) {
        size_t best = run->n;
        for (size_t i = 0; i < run->n; i++)
            if (!done[i] && (best == run->n || j->rank[i].caused > j->rank[best].caused))
                best = i;
        done[best] = 1;
        if (j->rank[best].collectives)
            row(j, run, best, matters, out);
    }
    free(done);
    hs_table_note(
        out,
        "%zu collectives were matched; in %lld of them a rank came last by more than %.3f us. Waiting so caused is "
        "%.2f %% of the ranks' time%s.",
        j->c.list.n, (long long)j->late, (double)j->noise / 1e3,
        span > 0 ? 100 * (double)j->caused / (double)span : 0.0, matters ? "" : ": no rank is a straggler");
}

static int run(struct hs_run *r, const struct hs_params *p, struct hs_table *out, struct hs_err *err)
{
    struct job j = {.rank = hs_calloc(r->n, sizeof *j.rank)};
    int rc = hs_collectives_open(&j.c, r, p, out, err);
    hs_note_unapplied(p, out, "profiler_steps", "num_candidates", NULL);
    if (!rc && r->n < 2)
        hs_table_note(out, "Stragglers can be told only among several ranks: the run has %zu.", r->n);
    else if (!rc && !j.c.list.n)
        hs_table_note(out, "No collective was found on two ranks: nothing tells whether a rank came late.");
    else if (!rc)
        rc = measure(&j, r, p, err);
    if (!rc && j.c.list.n)
        write_rows(&j, r, hs_param_f64(p, "min_wait_pct"), out);
    for (size_t i = 0; i < r->n; i++)
        hs_activity_free(&j.rank[i].doing);
    hs_collectives_free(&j.c);
    free(j.rank);
    return rc;
}

const struct hs_analysis hs_analysis_stragglers = {
    .name = "stragglers",
    .summary =
        "Which rank the others wait for in collectives, how much, whether always the same, and what it did meanwhile",
    .doc =
        "Collectives are matched across ranks by process group and sequence number, else by their order, and the "
        "ranks' "
        "clocks are aligned on their ends (median; the residual is told). In each, the others wait for the rank that "
        "starts last. What that rank did more than the mean of the others since it came to its collective before is "
        "the cause: more or longer kernels, data loading, or gaps in which its GPU had nothing to do. Waiting is cut "
        "at the length "
        "of the waiting rank's own call. Lateness below the residual + 1 us is not counted. Point-to-point calls are "
        "not "
        "judged. One rank, or ranks without common collectives, give no rows.",
    .version = 1,
    .params = params_spec,
    .nparams = sizeof params_spec / sizeof params_spec[0],
    .columns = columns,
    .ncolumns = sizeof columns / sizeof columns[0],
    .run = run,
    .run_hta = hta_stragglers,
};
