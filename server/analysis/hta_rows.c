#include "analysis/hta_rows.h"

#include "analysis/hta_paint.h"
#include "trace/stats.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SYMS ((size_t)1 << 24)
#define MAX_SYM_BYTES ((size_t)2 << 30)

void hta_index(struct hta_rank *r)
{
    if (!r->pos)
        r->pos = hs_malloc((r->nevents + 1) * sizeof *r->pos);
    memset(r->pos, 0xff, (r->nevents + 1) * sizeof *r->pos);
    for (size_t i = 0; i < r->n; i++)
        r->pos[r->rows[i].index] = (uint32_t)i;
}

void hta_link(struct hta_rank *r)
{
    struct hta_map last_cpu, last_gpu;
    hta_map_init(&last_cpu);
    hta_map_init(&last_gpu);
    for (size_t i = 0; i < r->n; i++)
        if (r->rows[i].corr != -1)
            *hta_map_at(r->rows[i].gpu ? &last_gpu : &last_cpu, r->rows[i].corr) = r->rows[i].index;
    for (size_t i = 0; i < r->n; i++) {
        struct hta_row *x = &r->rows[i];
        uint32_t partner = x->corr == -1 ? HTA_NONE : hta_map_get(x->gpu ? &last_cpu : &last_gpu, x->corr);
        x->icorr = partner != HTA_NONE ? (int64_t)partner : x->corr < 0 ? x->corr : 0;
    }
    hta_map_free(&last_cpu);
    hta_map_free(&last_gpu);
}

void hta_iterations(const struct hta_trace *t, struct hta_rank *r, struct hs_table *notes)
{
    struct {
        HS_VEC(struct hta_span);
    } spans = HS_VEC_INIT(HS_MAX_EVENTS);
    struct {
        HS_VEC(int64_t);
    } numbers = HS_VEC_INIT(HS_MAX_EVENTS);
    struct hta_paint paint;
    size_t odd = 0;
    for (size_t i = r->n; i-- > 0;) { /* the last step in the file wins */
        const struct hta_row *x = &r->rows[i];
        int64_t number;
        if (!hta_name_has(t, x, HTA_IS_STEP_WORD))
            continue;
        if (!hta_step_number(hta_text(t, x->name), &number)) {
            odd++;
            continue;
        }
        struct hta_span s = {x->ts, hs_round_i64(ceil(hta_end(x)))};
        if (!hs_vec_push(&spans, s) || !hs_vec_push(&numbers, number))
            break;
    }
    if (odd)
        hs_table_note(notes, "%zu events are named ProfilerStep without a number; HTA refuses such a trace", odd);
    hta_paint_build(&paint, spans.p, spans.n);
    for (size_t i = 0; i < r->n; i++) {
        struct hta_row *x = &r->rows[i];
        if (x->stream < 0 || (x->stream == 0 && hta_cat_has(t, x, HTA_IS_CPU_OP))) {
            uint32_t k = hta_paint_at(&paint, x->ts);
            x->iter = k == HTA_NONE ? -1 : numbers.p[k];
        }
    }
    for (size_t i = 0; i < r->n; i++) {
        struct hta_row *x = &r->rows[i];
        if (x->stream > 0)
            x->iter = x->icorr > 0 && hta_at(r, x->icorr) ? hta_at(r, x->icorr)->iter : -1;
    }
    hta_paint_free(&paint);
    hs_vec_free(&spans);
    hs_vec_free(&numbers);
}

/* distributedInfo.backend has "mtia:hccl" in it. */
static bool backend_is_mtia(const struct hs_view *v)
{
    bool found = false;
    for (size_t i = 0; i < v->nheader && !found; i++) {
        if (!hs_str_is(hs_view_str(v, v->header[i].key), "distributedInfo"))
            continue;
        struct hs_str s = hs_view_str(v, v->header[i].json);
        json_t *o = json_loadb(s.p, s.n, 0, NULL);
        const char *backend = json_string_value(json_object_get(o, "backend"));
        found = backend && strstr(backend, "mtia:hccl");
        json_decref(o);
    }
    return found;
}

/* Is the rank an MTIA device to HTA? Decided by its own names, in this order. */
static bool rank_is_mtia(const struct hta_trace *t, const struct hta_rank *r)
{
    bool nvidia = false, amd = false, mtia = false;
    if (backend_is_mtia(r->view))
        return true;
    for (size_t i = 0; i < r->n; i++) {
        struct hs_str s = hta_text(t, r->rows[i].name);
        if (!(hta_info(t, r->rows[i].name)->is & HTA_IS_LAUNCH))
            continue;
        nvidia |= hs_str_is(s, "cudaLaunchKernel");
        amd |= hs_str_is(s, "hipLaunchKernel");
        mtia |= hs_str_starts(s, "runFunction");
    }
    return mtia && !nvidia && !amd;
}

static int by_rank(const void *a, const void *b)
{
    int64_t x = ((const struct hta_rank *)a)->rank, y = ((const struct hta_rank *)b)->rank;
    return (x > y) - (x < y);
}

static void free_rank(struct hta_rank *r)
{
    hs_free_array((void **)&r->rows);
    hs_free_array((void **)&r->pos);
}

static int read_ranks(struct hta_trace *t, struct hs_run *run, struct hs_table *notes, struct hs_err *err)
{
    t->ranks = hs_calloc(run->n + 1, sizeof *t->ranks);
    for (size_t i = 0; i < run->n; i++) {
        struct hs_view *v = run->ranks[i].view;
        struct hta_rank *r = &t->ranks[t->n];
        *r = (struct hta_rank){.rank = v->hta_rank >= 0 ? v->hta_rank : 0, .view = v};
        if (hta_rank_find(t, r->rank)) {
            hs_table_note(notes, "HTA takes %s for rank %lld, too, and keeps only one file of a rank; it is left out",
                          v->name ? v->name : "a file", (long long)r->rank);
            continue;
        }
        int rc = hta_read_rows(t, r, notes, err);
        if (rc)
            return rc;
        if (!r->n) {
            hs_table_note(notes, "rank %lld has no event with a duration and a category", (long long)r->rank);
            free_rank(r);
            continue;
        }
        t->n++;
        hta_index(r);
        hta_link(r);
        hta_iterations(t, r, notes);
    }
    qsort(t->ranks, t->n, sizeof *t->ranks, by_rank);
    return 0;
}

static void align(struct hta_trace *t)
{
    t->min_ts = INT64_MAX;
    for (size_t k = 0; k < t->n; k++)
        for (size_t i = 0; i < t->ranks[k].n; i++)
            if (t->ranks[k].rows[i].ts < t->min_ts)
                t->min_ts = t->ranks[k].rows[i].ts;
    for (size_t k = 0; k < t->n; k++)
        for (size_t i = 0; i < t->ranks[k].n; i++) {
            struct hta_row *x = &t->ranks[k].rows[i];
            if (__builtin_sub_overflow(x->ts, t->min_ts, &x->ts))
                x->ts = INT64_MAX;
        }
}

int hta_load(struct hta_trace **out, struct hs_run *run, enum hta_load how, struct hs_table *notes, struct hs_err *err)
{
    struct hta_trace *t = hs_calloc(1, sizeof *t);
    hs_intern_init(&t->syms, MAX_SYMS, MAX_SYM_BYTES);
    t->info.max = MAX_SYMS;
    struct hta_sym none = {0, HTA_OTHER};
    int rc = hs_vec_push(&t->info, none) ? read_ranks(t, run, notes, err) : HS_EINTERNAL;
    if (rc)
        goto out;
    for (size_t i = 0; i < t->info.n; i++)
        t->steps += (t->info.p[i].is & HTA_IS_STEP) != 0;
    if (how == HTA_LOAD && t->n) {
        align(t);
        t->mtia = rank_is_mtia(t, &t->ranks[0]);
        for (size_t k = 0; k < t->n && !rc && t->steps >= 2; k++) {
            rc = hta_filter(t, &t->ranks[k], err);
            hta_index(&t->ranks[k]);
        }
    }
    if (rc)
        goto out;
    *out = t;
    t = NULL;
out:
    hta_free(t);
    return rc;
}

void hta_free(struct hta_trace *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->n; i++)
        free_rank(&t->ranks[i]);
    hs_free_array((void **)&t->ranks);
    hs_free_array((void **)&t->by_text);
    hs_vec_free(&t->info);
    hs_intern_free(&t->syms);
    hs_free_array((void **)&t);
}

bool hta_has_symbol(const struct hta_trace *t, const char *text)
{
    return hs_intern_find(&t->syms, text, strlen(text)) != HS_NO_SYM;
}

bool hta_any_symbol_contains(const struct hta_trace *t, struct hs_str part)
{
    for (size_t i = 1; i < t->syms.n; i++)
        if (hta_contains(t->syms.p[i], part))
            return true;
    return false;
}

static int by_text(const void *a, const void *b, void *ctx)
{
    const struct hs_intern *in = ctx;
    return hs_str_cmp(in->p[*(const uint32_t *)a], in->p[*(const uint32_t *)b]);
}

const uint32_t *hta_text_order(struct hta_trace *t)
{
    if (t->by_text)
        return t->by_text;
    size_t n = t->syms.n;
    uint32_t *ids = hs_malloc((n + 1) * sizeof *ids);
    t->by_text = hs_malloc((n + 1) * sizeof *t->by_text);
    for (uint32_t i = 0; i < n; i++)
        ids[i] = i;
    qsort_r(ids, n, sizeof *ids, by_text, &t->syms);
    for (uint32_t i = 0; i < n; i++)
        t->by_text[ids[i]] = i;
    hs_free_array((void **)&ids);
    return t->by_text;
}

const struct hta_rank *hta_rank_find(const struct hta_trace *t, int64_t rank)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->ranks[i].rank == rank)
            return &t->ranks[i];
    return NULL;
}
