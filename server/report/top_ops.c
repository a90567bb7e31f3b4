#include "report/top_ops.h"

#include "analysis/cpu_side.h"
#include "trace/display_name.h"
#include "trace/stats.h"

#include <math.h>
#include <stdlib.h>

#define DISPLAY_MAX 100

struct op {
    struct hs_str name; /* of a view, which the run holds */
    int64_t calls, ns;
};
struct ops {
    HS_VEC(struct op);
};

static int by_name(const void *a, const void *b)
{
    const struct op *x = a, *y = b;
    return hs_str_cmp(x->name, y->name);
}

static int by_time(const void *a, const void *b)
{
    const struct op *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    return by_name(a, b);
}

/* One rank's operators by symbol, appended to the list. */
static int take_rank(struct ops *ops, struct hs_view *v, struct hs_err *err)
{
    struct hs_cpu c;
    int rc = hs_cpu_open(&c, v, HS_EV_DUR | HS_EV_PH, err);
    if (rc)
        return rc;
    struct op *by_sym = hs_calloc(v->nsyms + 1, sizeof *by_sym);
    for (uint32_t e = 0; e < c.ev.n; e++) {
        if (!hs_cpu_is_span(&c, e) || hs_cpu_kind(&c, e) != HS_CAT_CPU_OP)
            continue;
        struct op *own = &by_sym[c.ev.name[e]];
        int64_t dur = hs_max_i64(0, c.ev.dur[e]);
        own->calls++;
        own->ns = hs_add_sat(own->ns, dur);
        uint32_t parent = c.ev.parent ? c.ev.parent[e] : HS_NO_EVENT;
        if (parent < c.ev.n && hs_cpu_kind(&c, parent) == HS_CAT_CPU_OP)
            by_sym[c.ev.name[parent]].ns = hs_sub_sat(by_sym[c.ev.name[parent]].ns, dur);
    }
    for (size_t i = 0; i < v->nsyms && !rc; i++) {
        by_sym[i].name = hs_view_str(v, (uint32_t)i);
        if (by_sym[i].calls && !hs_vec_push(ops, by_sym[i]))
            rc = hs_fail(err, HS_ELIMIT, "more operators than there may be");
    }
    free(by_sym);
    hs_cpu_close(&c);
    return rc;
}

static void keep_top(struct hs_facts *f, struct ops *ops)
{
    size_t n = 0;
    if (ops->n)
        qsort(ops->p, ops->n, sizeof *ops->p, by_name);
    for (size_t i = 0; i < ops->n; i++) {
        f->work_ns = hs_add_sat(f->work_ns, hs_max_i64(0, ops->p[i].ns));
        if (n && !by_name(&ops->p[n - 1], &ops->p[i])) {
            ops->p[n - 1].calls = hs_add_sat(ops->p[n - 1].calls, ops->p[i].calls);
            ops->p[n - 1].ns = hs_add_sat(ops->p[n - 1].ns, ops->p[i].ns);
        } else {
            ops->p[n++] = ops->p[i];
        }
    }
    if (n)
        qsort(ops->p, n, sizeof *ops->p, by_time);
    for (f->ntop = 0; f->ntop < n && f->ntop < HS_TOP_KERNELS; f->ntop++) {
        const struct op *o = &ops->p[f->ntop];
        double share = f->work_ns > 0 ? hs_percent(o->ns, f->work_ns) : 0;
        struct hs_buf display = HS_BUF_INIT(4 * DISPLAY_MAX);
        hs_put_display_name(&display, o->name, DISPLAY_MAX);
        f->top[f->ntop] = (struct hs_top_kernel){.name = hs_strndup(o->name.p, o->name.n),
                                                 .short_name = hs_strndup(o->name.p, o->name.n),
                                                 .display = hs_strndup(display.p ? display.p : "", display.n),
                                                 .cls = "operator",
                                                 .calls = o->calls,
                                                 .sum_ns = o->ns,
                                                 .share_pct = isfinite(share) ? share : 0};
        hs_buf_free(&display);
    }
}

int hs_top_ops(struct hs_facts *f, struct hs_err *err)
{
    struct ops ops = HS_VEC_INIT(1u << 26);
    int rc = HS_OK;
    for (size_t i = 0; i < f->run->n && !rc; i++)
        rc = take_rank(&ops, f->run->ranks[i].view, err);
    if (!rc)
        keep_top(f, &ops);
    hs_vec_free(&ops);
    return rc;
}
