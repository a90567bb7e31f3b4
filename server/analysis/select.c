#include "analysis/select.h"

#include <stdlib.h>
#include <string.h>

const char *hs_class_word(unsigned cls)
{
    switch (cls) {
    case HS_CLASS_COMPUTE: return "compute";
    case HS_CLASS_COMM: return "communication";
    case HS_CLASS_MEMCPY: return "memcpy";
    case HS_CLASS_MEMSET: return "memset";
    }
    return "other";
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Marks the chosen steps. The list is ascending (analysis/params.c). */
static size_t mark_steps(struct hs_select *s, const int64_t *steps, size_t n)
{
    size_t found = 0;
    s->step_on = hs_calloc(s->view->nsteps, 1);
    for (size_t i = 0; i < s->view->nsteps; i++) {
        s->step_on[i] = n && bsearch(&s->view->steps[i].number, steps, n, sizeof *steps, by_value);
        found += s->step_on[i];
    }
    return found;
}

void hs_select_window(struct hs_select *s, const struct hs_run_rank *r, const struct hs_params *p, struct hs_table *out)
{
    *s = (struct hs_select){
        .view = r->view, .rank = r->rank, .offset = r->offset_ns, .from = INT64_MIN, .to = INT64_MAX};
    if (hs_param_has(p, "from"))
        s->from = hs_sub_sat(hs_param_i64(p, "from"), r->offset_ns);
    if (hs_param_has(p, "to"))
        s->to = hs_sub_sat(hs_param_i64(p, "to"), r->offset_ns);
    size_t n;
    const int64_t *steps = hs_param_list(p, "step", &n);
    if (hs_param_has(p, "step") && !mark_steps(s, steps, n))
        hs_table_note(out, "Rank %lld has none of the steps asked for.", (long long)r->rank);
}

int hs_select_open(struct hs_select *s, const struct hs_run_rank *r, const struct hs_params *p, struct hs_table *out,
                   struct hs_err *err)
{
    struct hs_gpu gpu;
    int rc = hs_view_gpu(r->view, &gpu, err);
    if (rc)
        return rc;
    hs_select_window(s, r, p, out);
    s->gpu = gpu;
    if (!s->gpu.n)
        hs_table_note(
            out,
            "Rank %lld has no device events (a CPU-only trace, or the profiler recorded no GPU activity): it cannot "
            "answer this.",
            (long long)r->rank);
    return HS_OK;
}

void hs_select_close(struct hs_select *s)
{
    free(s->step_on);
    s->step_on = NULL;
}

bool hs_select_after(const struct hs_select *s, uint32_t a, uint32_t b)
{
    const struct hs_gpu *g = &s->gpu;
    if (g->dur[a] != g->dur[b])
        return g->dur[a] > g->dur[b];
    int c =
        g->name[a] == g->name[b] ? 0 : hs_str_cmp(hs_view_str(s->view, g->name[a]), hs_view_str(s->view, g->name[b]));
    return c ? c > 0 : g->corr[a] > g->corr[b];
}

/* An insertion sort of the few that tie; of very many, which only a made-up trace has, the first are enough. */
void hs_select_settle(const struct hs_select *s, uint32_t *rows, size_t n)
{
    enum { MANY = 64 };
    const struct hs_gpu *g = &s->gpu;
    for (size_t i = 1; i < n; i++) {
        uint32_t x = rows[i];
        size_t k = i;
        for (; k && i - k < MANY && g->ts[rows[k - 1]] == g->ts[x] && g->stream[rows[k - 1]] == g->stream[x] &&
               g->device[rows[k - 1]] == g->device[x] && hs_select_after(s, rows[k - 1], x);
             k--)
            rows[k] = rows[k - 1];
        rows[k] = x;
    }
}

struct hs_run hs_run_traces(const struct hs_run *run, struct hs_table *out)
{
    struct hs_run part = *run;
    part.ranks = hs_malloc((run->n ? run->n : 1) * sizeof *part.ranks);
    part.n = 0;
    for (size_t i = 0; i < run->n; i++) {
        const struct hs_run_rank *r = &run->ranks[i];
        if (!hs_view_is_memory_timeline(r->view))
            part.ranks[part.n++] = *r;
        else if (out)
            hs_table_note(
                out,
                "%s (rank %lld) is a memory timeline (export_memory_timeline), no trace: only memory-timeline "
                "answers from it.",
                r->view->name ? r->view->name : "A file", (long long)r->rank);
    }
    if (!part.n && run->n) {
        memcpy(part.ranks, run->ranks, run->n * sizeof *part.ranks);
        part.n = run->n;
    }
    return part;
}

void hs_note_unapplied_of(const struct hs_params *p, struct hs_table *out, const char *const *names)
{
    for (; *names; names++)
        if (hs_param_given(p, *names))
            hs_table_note(out, "Parameter %s does not apply here: the answer is for everything.", *names);
}

void hs_note_excluded(const struct hs_run *run, struct hs_table *out)
{
    static const struct {
        enum hs_quality_kind kind;
        const char *text;
    } kinds[] = {
        {HS_Q_DUPLICATE_EVENT, "device events that stand in the file twice were counted once"},
        {HS_Q_TS_ZERO, "device events at time 0 were left out"},
        {HS_Q_HUGE_DUR, "events with a duration beyond seven days were left out"},
        {HS_Q_MISSING_DUR, "events without a readable duration were left out"},
        {HS_Q_NEGATIVE_DUR, "negative durations were taken as 0"},
        {HS_Q_TRUNCATED, "the file is cut: what followed is missing"},
    };
    for (size_t i = 0; i < run->n; i++) {
        const struct hs_quality *q = &run->ranks[i].view->quality;
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
            if (q->count[kinds[k].kind])
                hs_table_note(out, "Rank %lld: %s (%lld).", (long long)run->ranks[i].rank, kinds[k].text,
                              (long long)q->count[kinds[k].kind]);
    }
}
