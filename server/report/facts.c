#include "report/facts.h"

#include "analysis/analyses.h"
#include "report/top_ops.h"
#include "trace/display_name.h"
#include "trace/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DISPLAY_MAX 100
#define KERNEL_DELAY_NS 30000 /* the default of idle's consecutive_kernel_delay */

int64_t hs_exposed_comm(const struct hs_rank_time *t)
{
    return hs_add_sat(t->ns[HS_SET_COMM], t->ns[HS_SET_COMM | HS_SET_MEMORY]);
}

int64_t hs_exposed_memory(const struct hs_rank_time *t)
{
    return t->ns[HS_SET_MEMORY];
}

double hs_facts_pct(const struct hs_facts *f, int64_t ns)
{
    return f->time.span_ns > 0 ? hs_percent(ns, f->time.span_ns) : 0;
}

static void count_work(struct hs_facts *f, const struct hs_select *s)
{
    const struct hs_gpu *g = &s->gpu;
    uint8_t *pageable = hs_calloc(s->view->nsyms, 1); /* 1 no, 2 yes */
    for (size_t i = 0; i < g->n; i++) {
        f->work_ns = hs_add_sat(f->work_ns, g->dur[i]);
        if (g->cls[i] == HS_CLASS_COMPUTE || g->cls[i] == HS_CLASS_COMM) {
            f->kernels++;
            f->short_kernels += g->dur[i] < HS_SHORT_KERNEL_NS;
        } else if (g->cls[i] == HS_CLASS_MEMCPY && g->name[i] < s->view->nsyms) {
            uint8_t *p = &pageable[g->name[i]];
            if (!*p)
                *p = hs_str_contains(hs_view_str(s->view, g->name[i]), "Pageable") ? 2 : 1;
            f->pageable_copies += *p == 2;
            f->pageable_ns = hs_add_sat(f->pageable_ns, *p == 2 ? g->dur[i] : 0);
        }
    }
    free(pageable);
}

static void add_rank(struct hs_facts *f, const struct hs_rank_facts *r)
{
    f->time.devices += r->time.devices;
    f->time.rows += r->time.rows;
    f->time.span_ns = hs_add_sat(f->time.span_ns, r->time.span_ns);
    f->time.busy_ns = hs_add_sat(f->time.busy_ns, r->time.busy_ns);
    f->time.idle_ns = hs_add_sat(f->time.idle_ns, r->time.idle_ns);
    for (int k = 0; k < HS_SETS; k++)
        f->time.ns[k] = hs_add_sat(f->time.ns[k], r->time.ns[k]);
    for (int c = 0; c < HS_CAUSES; c++)
        f->idle_ns[c] = hs_add_sat(f->idle_ns[c], r->idle_ns[c]);
    f->gpu_ranks += r->time.rows > 0;
}

static int take_rank(struct hs_facts *f, size_t i, const struct hs_params *p, struct hs_table *notes,
                     struct hs_err *err)
{
    const struct hs_run_rank *rank = &f->run->ranks[i];
    struct hs_rank_facts *r = &f->ranks[i];
    const struct hs_summary *sum = &rank->view->sum;
    struct hs_select s;
    int rc = hs_select_open(&s, rank, p, notes, err);
    if (rc)
        return rc;
    *r = (struct hs_rank_facts){.rank = rank->rank, .trace = rank->view->name};
    rc = hs_rank_time(&s, &r->time, err);
    if (!rc) {
        hs_device_idle(&s, KERNEL_DELAY_NS, r->idle_ns, NULL);
        count_work(f, &s);
        add_rank(f, r);
        f->steps = hs_max_i64(f->steps, sum->steps);
        f->cpu_events = hs_add_sat(f->cpu_events, hs_add_sat(sum->cpu_ops, sum->runtime_calls));
    }
    hs_select_close(&s);
    return rc;
}

/* ---- the top kernels over all ranks ---- */

static size_t column(const struct hs_table *t, const char *name)
{
    size_t c = 0;
    while (strcmp(t->columns[c].name, name)) /* kernels has these columns */
        c++;
    return c;
}

struct kernel_row {
    const struct hs_cell *name, *short_name, *cls;
    int64_t calls, sum;
};

static int by_name(const void *a, const void *b)
{
    const struct kernel_row *x = a, *y = b;
    int c = hs_str_cmp(hs_str(x->name->s, x->name->len), hs_str(y->name->s, y->name->len));
    return c ? c : hs_str_cmp(hs_str(x->cls->s, x->cls->len), hs_str(y->cls->s, y->cls->len));
}

static int by_sum(const void *a, const void *b)
{
    const struct kernel_row *x = a, *y = b;
    if (x->sum != y->sum)
        return x->sum < y->sum ? 1 : -1;
    return by_name(a, b);
}

static const char *class_word(const struct hs_cell *c)
{
    for (unsigned k = HS_CLASS_COMPUTE; k <= HS_CLASS_MEMSET; k++)
        if (hs_str_is(hs_str(c->s, c->len), hs_class_word(k)))
            return hs_class_word(k);
    return "other";
}

static void take_top(struct hs_facts *f, const struct hs_table *t)
{
    size_t name = column(t, "name"), shorter = column(t, "short_name"), cls = column(t, "class"),
           calls = column(t, "calls"), sum = column(t, "sum_us"), n = 0;
    struct kernel_row *rows = hs_calloc(t->rows, sizeof *rows);
    for (size_t i = 0; i < t->rows; i++)
        rows[i] = (struct kernel_row){hs_table_cell(t, i, name), hs_table_cell(t, i, shorter), hs_table_cell(t, i, cls),
                                      hs_table_cell(t, i, calls)->i, hs_table_cell(t, i, sum)->i};
    qsort(rows, t->rows, sizeof *rows, by_name);
    for (size_t i = 0; i < t->rows; i++) {
        if (n && !by_name(&rows[n - 1], &rows[i])) {
            rows[n - 1].calls = hs_add_sat(rows[n - 1].calls, rows[i].calls);
            rows[n - 1].sum = hs_add_sat(rows[n - 1].sum, rows[i].sum);
        } else {
            rows[n++] = rows[i];
        }
    }
    qsort(rows, n, sizeof *rows, by_sum);
    for (f->ntop = 0; f->ntop < n && f->ntop < HS_TOP_KERNELS; f->ntop++) {
        const struct kernel_row *r = &rows[f->ntop];
        double share = hs_percent(r->sum, f->work_ns);
        struct hs_buf display = HS_BUF_INIT(4 * DISPLAY_MAX);
        hs_put_display_name(&display, hs_str(r->name->s, r->name->len), DISPLAY_MAX);
        f->top[f->ntop] = (struct hs_top_kernel){.name = hs_strndup(r->name->s, r->name->len),
                                                 .short_name = hs_strndup(r->short_name->s, r->short_name->len),
                                                 .display = hs_strndup(display.p ? display.p : "", display.n),
                                                 .cls = class_word(r->cls),
                                                 .calls = r->calls,
                                                 .sum_ns = r->sum,
                                                 .share_pct = isfinite(share) ? share : 0};
        hs_buf_free(&display);
    }
    free(rows);
}

int hs_facts_take_top(struct hs_facts *f, struct hs_run *run, struct hs_err *err)
{
    struct hs_params *p;
    struct hs_table t;
    int rc = hs_params_new(&p, hs_analysis_kernels.params, hs_analysis_kernels.nparams, err);
    if (rc)
        return rc;
    rc = hs_analysis_run(&hs_analysis_kernels, run, p, &t, err);
    if (!rc) {
        take_top(f, &t);
        hs_table_free(&t);
    }
    hs_params_free(p);
    return rc;
}

/* ---- which rank differs ---- */

static void compare_ranks(struct hs_facts *f)
{
    size_t n = 0;
    int64_t *compute = hs_calloc(2 * f->run->n, sizeof *compute);
    for (size_t i = 0; i < f->run->n; i++)
        if (f->ranks[i].time.rows)
            compute[n++] = hs_time_of(f->ranks[i].time.ns, HS_SET_COMPUTE);
    hs_sort_i64(compute, compute + f->run->n, n);
    double median = hs_percentile_i64(compute, n, 0.5);
    for (size_t i = 0; i < f->run->n && n > 1 && median > 0; i++) {
        struct hs_rank_facts *r = &f->ranks[i];
        if (!r->time.rows)
            continue;
        r->odd_pct = 100 * ((double)hs_time_of(r->time.ns, HS_SET_COMPUTE) - median) / median;
        if (fabs(r->odd_pct) > fabs(f->ranks[f->odd].odd_pct))
            f->odd = i;
    }
    free(compute);
}

int hs_facts_take(struct hs_facts *f, struct hs_run *run, struct hs_err *err)
{
    struct hs_params *p = NULL;
    struct hs_table notes;
    *f = (struct hs_facts){.run = run, .ranks = hs_calloc(run->n, sizeof *f->ranks)};
    hs_table_init(&notes, NULL, 0);
    int rc = hs_params_new(&p, NULL, 0, err);
    for (size_t i = 0; i < run->n && !rc; i++)
        rc = take_rank(f, i, p, &notes, err);
    if (!rc)
        rc = hs_facts_take_top(f, run, err);
    if (!rc && !f->time.rows)
        rc = hs_top_ops(f, err);
    if (!rc)
        compare_ranks(f);
    hs_params_free(p);
    hs_table_free(&notes);
    if (rc)
        hs_facts_free(f);
    return rc;
}

void hs_facts_free(struct hs_facts *f)
{
    for (size_t i = 0; i < f->ntop; i++) {
        free(f->top[i].name);
        free(f->top[i].short_name);
        free(f->top[i].display);
    }
    free(f->ranks);
    f->ranks = NULL;
    f->ntop = 0;
}
