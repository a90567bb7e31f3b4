#include "analysis/crit_window.h"

#include <stdlib.h>
#include <string.h>

struct numbers {
    HS_VEC(uint32_t);
};

/* Annotations of the CPU whose names contain the text, by start. */
static void find_instances(const struct hs_cpu *cpu, const char *text, struct numbers *out)
{
    const struct hs_view *v = cpu->view;
    uint8_t *fits = hs_calloc(v->nsyms + 1, 1);
    for (size_t i = 0; i < v->nsyms; i++)
        fits[i] = memmem(v->syms[i].p, v->syms[i].n, text, strlen(text)) != NULL;
    for (uint32_t e = 0; e < cpu->ev.n; e++)
        if (hs_cpu_is_span(cpu, e) && hs_cpu_kind(cpu, e) == HS_CAT_ANNOTATION && fits[cpu->ev.name[e]])
            hs_vec_push(out, e);
    free(fits);
}

static int by_start(const void *a, const void *b, void *ts)
{
    const int64_t *t = ts;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return t[x] != t[y] ? (t[x] < t[y] ? -1 : 1) : (x > y) - (x < y);
}

/* False with a note: there is no such instance. */
static bool annotation_window(const struct hs_cpu *cpu, const struct hs_params *p, int64_t rank, struct hs_span *w,
                              struct hs_table *out)
{
    size_t n;
    const int64_t *id = hs_param_list(p, "instance_id", &n);
    struct numbers found = HS_VEC_INIT(HS_MAX_EVENTS);
    int64_t first = n ? id[0] : 0, last = n ? id[n - 1] : 0;
    find_instances(cpu, hs_param_text(p, "annotation"), &found);
    bool ok = first >= 0 && last >= first && (uint64_t)last < found.n;
    if (ok) {
        qsort_r(found.p, found.n, sizeof *found.p, by_start, (void *)(uintptr_t)cpu->ev.ts);
        *w = (struct hs_span){INT64_MAX, INT64_MIN};
        for (int64_t i = first; i <= last; i++) {
            uint32_t e = found.p[i];
            w->start = hs_min_i64(w->start, cpu->ev.ts[e]);
            w->end = hs_max_i64(w->end, hs_end_ns(cpu->ev.ts[e], cpu->ev.dur[e]));
        }
    } else {
        hs_table_note(out, "Rank %lld has %zu annotations with \"%.80s\" in their names: there is no instance %lld.",
                      (long long)rank, found.n, hs_param_text(p, "annotation"), (long long)last);
    }
    hs_vec_free(&found);
    return ok;
}

/* From the first chosen step's start to the last one's end, within from and to. */
static struct hs_span step_window(const struct hs_select *s)
{
    struct hs_span w = {s->from, s->to}, steps = {INT64_MAX, INT64_MIN};
    if (!s->step_on)
        return w;
    for (size_t k = 0; k < s->view->nsteps; k++)
        if (s->step_on[k]) {
            steps.start = hs_min_i64(steps.start, s->view->steps[k].ts);
            steps.end = hs_max_i64(steps.end, hs_end_ns(s->view->steps[k].ts, s->view->steps[k].dur));
        }
    return (struct hs_span){hs_max_i64(w.start, steps.start), hs_min_i64(w.end, steps.end)};
}

int hs_crit_loading(struct hs_name_filter **out, const struct hs_params *p, struct hs_err *err)
{
    const char *pattern = hs_param_text(p, "data_load_events");
    return hs_name_filter_new(out, pattern ? pattern : "(?i)data_?loader|data_?load", err);
}

static void note_waits(const struct hs_crit_rank *c, struct hs_table *out)
{
    const struct hs_crit_recorded *r = &c->index.recorded;
    if (!c->sel.gpu.n)
        return;
    if (!r->any)
        hs_table_note(out,
                      "Rank %lld: waits between streams are inferred from times: the trace has no synchronisation "
                      "activities (torch.profiler's experimental_config with enable_cuda_sync_events=True records "
                      "them).",
                      (long long)c->sel.rank);
    else if (r->unknown)
        hs_table_note(out,
                      "Rank %lld: %zu recorded waits are for events or by calls that are not in the trace; they are "
                      "left out.",
                      (long long)c->sel.rank, r->unknown);
}

static int open_index(struct hs_crit_rank *c, struct hs_name_filter *loading, struct hs_err *err)
{
    const struct hs_view *v = c->sel.view;
    uint8_t *loads = hs_calloc(v->nsyms + 1, 1);
    for (size_t i = 0; i < v->nsyms; i++)
        loads[i] = hs_name_matches(loading, v->syms[i]);
    int rc = hs_crit_index_open(&c->index, &c->cpu, &c->sel.gpu, loads, err);
    free(loads);
    return rc;
}

int hs_crit_rank_open(struct hs_crit_rank *c, const struct hs_run_rank *r, const struct hs_params *p,
                      struct hs_name_filter *loading, struct hs_table *out, struct hs_err *err)
{
    *c = (struct hs_crit_rank){0};
    hs_select_window(&c->sel, r, p, out);
    int rc = hs_view_gpu(r->view, &c->sel.gpu, err);
    if (!rc)
        rc = hs_cpu_open(&c->cpu, r->view, HS_EV_TS | HS_EV_DUR | HS_EV_LANE | HS_EV_PH, err);
    if (rc)
        return rc;
    c->window = step_window(&c->sel);
    c->asked = !hs_param_has(p, "annotation") || annotation_window(&c->cpu, p, c->sel.rank, &c->window, out);
    if (c->asked) {
        rc = open_index(c, loading, err);
        note_waits(c, out);
    }
    return rc;
}

void hs_crit_rank_close(struct hs_crit_rank *c)
{
    hs_crit_index_close(&c->index);
    hs_cpu_close(&c->cpu);
    hs_select_close(&c->sel);
}
