#include "analysis/sequences.h"

#include "trace/intervals.h"

#include <stdlib.h>
#include <string.h>

/* One call: places [first, end) of the work. Calls come by start, so the first to add a pattern is its first. */
static int add_call(struct hs_sequences *s, const struct hs_launched_by *work, size_t first, size_t end,
                    size_t shortest, struct hs_err *err)
{
    const struct hs_gpu *g = &s->sel.gpu;
    uint32_t op = work->owner[first];
    int64_t gpu_ns = 0;
    s->symbols.n = 0;
    bool ok = hs_vec_push(&s->symbols, s->cpu.ev.name[op]);
    for (size_t k = first; k < end && ok; k++) {
        ok = hs_vec_push(&s->symbols, g->name[work->row[k]]);
        gpu_ns = hs_add_sat(gpu_ns, g->dur[work->row[k]]);
    }
    s->all_gpu_ns = hs_add_sat(s->all_gpu_ns, gpu_ns);
    if (ok && end - first < shortest) {
        s->too_short++;
        return HS_OK;
    }
    uint32_t pattern = ok ? hs_pattern_add(&s->patterns, s->symbols.p, s->symbols.n) : HS_NO_SYM;
    if (pattern != HS_NO_SYM && pattern > s->list.n)
        ok = hs_vec_push(&s->list, ((struct hs_sequence){.pattern = pattern, .first_event = op}));
    if (!ok || pattern == HS_NO_SYM || !hs_vec_push(&s->calls, ((struct hs_sequence_call){op, pattern})))
        return hs_fail(err, HS_ELIMIT,
                       "the trace has more sequences of kernels than fit: narrow it with step, from, to");
    struct hs_sequence *x = &s->list.p[pattern - 1];
    x->count++;
    x->gpu_ns = hs_add_sat(x->gpu_ns, gpu_ns);
    x->cpu_ns = hs_add_sat(x->cpu_ns, hs_max_i64(0, s->cpu.ev.dur[op]));
    return HS_OK;
}

static int by_count(const void *a, const void *b)
{
    const struct hs_sequence *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    if (x->gpu_ns != y->gpu_ns)
        return x->gpu_ns < y->gpu_ns ? 1 : -1;
    return (x->hash > y->hash) - (x->hash < y->hash);
}

static int by_event(const void *a, const void *b)
{
    const struct hs_sequence_call *x = a, *y = b;
    return (x->event > y->event) - (x->event < y->event);
}

static void put_in_order(struct hs_sequences *s, int64_t top)
{
    for (size_t i = 0; i < s->list.n; i++)
        s->list.p[i].hash = hs_pattern_hash(&s->patterns, s->list.p[i].pattern);
    if (s->list.n)
        qsort(s->list.p, s->list.n, sizeof *s->list.p, by_count);
    if (s->calls.n)
        qsort(s->calls.p, s->calls.n, sizeof *s->calls.p, by_event);
    s->place = hs_realloc_array(NULL, s->list.n + 1, sizeof *s->place);
    for (size_t i = 0; i < s->list.n; i++)
        s->place[s->list.p[i].pattern] = (uint32_t)i;
    s->top = top && (size_t)top < s->list.n ? (size_t)top : s->list.n;
}

static void find_names(struct hs_sequences *s, const char *wanted)
{
    const struct hs_view *v = s->sel.view;
    size_t len = strlen(wanted);
    s->names = hs_calloc(v->nsyms, 1);
    for (size_t i = 0; i < v->nsyms; i++) {
        s->names[i] = v->syms[i].n >= len && memmem(v->syms[i].p, v->syms[i].n, wanted, len);
        s->named = s->named || s->names[i];
    }
}

int hs_sequences_open(struct hs_sequences *s, const struct hs_run_rank *r, const struct hs_params *p,
                      struct hs_table *out, struct hs_err *err)
{
    static const unsigned kinds =
        1u << HS_CAT_CPU_OP | 1u << HS_CAT_ANNOTATION | 1u << HS_CAT_PYTHON | 1u << HS_CAT_RUNTIME | 1u << HS_CAT_OTHER;
    *s = (struct hs_sequences){
        .list = HS_VEC_INIT(UINT32_MAX - 1), .calls = HS_VEC_INIT(UINT32_MAX), .symbols = HS_VEC_INIT(UINT32_MAX)};
    int rc = hs_select_open(&s->sel, r, p, out, err);
    if (rc || !s->sel.gpu.n)
        return rc;
    rc = hs_cpu_open(&s->cpu, r->view, HS_EV_TS | HS_EV_DUR, err);
    if (rc)
        return rc;
    struct hs_launched_by work;
    find_names(s, hs_param_text(p, "operator_name"));
    hs_patterns_init(&s->patterns, r->view);
    hs_pick_open(&s->pick, &s->cpu, kinds, s->names, true);
    hs_launched_by(&s->sel, &s->pick, true, HS_BY_START, &work);
    for (size_t i = 0, end; i < work.n && !rc; i = end) {
        for (end = i + 1; end < work.n && work.owner[end] == work.owner[i];)
            end++;
        rc = add_call(s, &work, i, end, (size_t)hs_param_i64(p, "min_pattern_len"), err);
    }
    s->nwork = work.n;
    s->orphans = work.orphans;
    hs_launched_by_free(&work);
    if (!rc)
        put_in_order(s, hs_param_i64(p, "top_k"));
    return rc;
}

void hs_sequences_close(struct hs_sequences *s)
{
    if (s->names) { /* else it was not opened so far */
        hs_pick_close(&s->pick);
        hs_patterns_free(&s->patterns);
        free(s->names);
    }
    hs_cpu_close(&s->cpu);
    hs_select_close(&s->sel);
    free(s->place);
    hs_vec_free(&s->list);
    hs_vec_free(&s->calls);
    hs_vec_free(&s->symbols);
    s->names = NULL;
    s->place = NULL;
}

void hs_sequences_note(const struct hs_sequences *s, const struct hs_params *p, struct hs_table *out)
{
    long long rank = (long long)s->sel.rank;
    const char *wanted = hs_param_text(p, "operator_name");
    if (!s->sel.gpu.n)
        return;
    if (!s->named)
        hs_table_note(out, "Rank %lld has no CPU event whose name contains \"%.200s\".", rank, wanted);
    else if (!s->nwork)
        hs_table_note(out, "Rank %lld: no call of \"%.200s\" launched anything in the window.", rank, wanted);
    if (s->too_short)
        hs_table_note(out, "Rank %lld: %lld calls launched fewer than %lld device activities and are left out.", rank,
                      (long long)s->too_short, (long long)hs_param_i64(p, "min_pattern_len"));
    if (s->top < s->list.n)
        hs_table_note(out, "Rank %lld has %zu different sequences; top_k gives more than the first %zu.", rank,
                      s->list.n, s->top);
    if (s->orphans)
        hs_table_note(
            out,
            "Rank %lld: the launches of %lld device activities are not in the trace: no call is known to have them.",
            rank, (long long)s->orphans);
}

size_t hs_sequences_of(struct hs_sequences *s, uint32_t event)
{
    if (!s->top || event >= s->cpu.ev.n)
        return SIZE_MAX;
    enum hs_cat_kind kind = hs_cpu_kind(&s->cpu, event);
    if (hs_cat_is_device(kind))
        event = s->cpu.ev.parent[event]; /* the call that launched it */
    if (event >= s->cpu.ev.n)
        return SIZE_MAX;
    uint32_t owner = hs_pick(&s->pick, event);
    const struct hs_sequence_call *call =
        owner == HS_NO_EVENT
            ? NULL
            : bsearch(&(struct hs_sequence_call){.event = owner}, s->calls.p, s->calls.n, sizeof *s->calls.p, by_event);
    size_t place = call ? s->place[call->pattern] : SIZE_MAX;
    return place < s->top ? place : SIZE_MAX;
}
