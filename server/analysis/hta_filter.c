/* HTA's filter: what it drops, repeats and reorders when a trace has two profiler steps or more. */
#include "analysis/hta_rows.h"

#include "analysis/hta_paint.h"
#include "trace/intervals.h"
#include "trace/stats.h"

#include <math.h>

/* A correlation that many CPU rows share repeats its kernels as often: a hostile file could ask for the product. */
#define MAX_REPEATED(n) ((n)*8 + ((size_t)4 << 20))

/* Rows of the last step's start and later go, also the step's own row. */
static int64_t last_step_start(const struct hta_trace *t, const struct hta_rank *r)
{
    int64_t last = INT64_MIN, first = INT64_MAX;
    bool any = false;
    for (size_t i = 0; i < r->n; i++) {
        const struct hta_row *x = &r->rows[i];
        if (x->gpu)
            continue;
        first = x->ts < first ? x->ts : first;
        if (hta_name_has(t, x, HTA_IS_STEP)) {
            any = true;
            last = x->ts > last ? x->ts : last;
        }
    }
    return any ? last : first;
}

/* Device rows grouped by correlation in order of first appearance, each as often as kept CPU rows have its correlation. */
static int join_device_rows(const struct hta_rank *r, const struct hta_map *kept, struct hta_row *gpu, size_t ngpu,
                            struct hta_row **out, size_t *n, size_t room, struct hs_err *err)
{
    struct hta_map group;
    size_t total = 0, *at = NULL;
    uint32_t *order = hs_malloc((ngpu + 1) * sizeof *order), *of = hs_malloc((ngpu + 1) * sizeof *of);
    uint32_t *times = hs_malloc((ngpu + 1) * sizeof *times); /* by group */
    int rc = 0;
    hta_map_init(&group);
    for (size_t i = 0; i < ngpu; i++) {
        uint32_t *g = hta_map_at(&group, gpu[i].corr);
        if (*g == HTA_NONE) {
            uint32_t c = hta_map_get(kept, gpu[i].corr);
            *g = (uint32_t)group.n - 1;
            times[*g] = c == HTA_NONE ? 0 : c;
        }
        of[i] = *g;
        total += times[*g];
        if (total > MAX_REPEATED(r->n)) {
            rc = hs_fail(err, HS_ELIMIT,
                         "rank %lld: HTA would repeat device events beyond all measure, because many CPU events share "
                         "their correlation",
                         (long long)r->rank);
            goto out;
        }
    }
    at = hs_calloc(group.n + 1, sizeof *at);
    for (size_t i = 0; i < ngpu; i++)
        at[of[i] + 1]++;
    for (size_t g = 0; g < group.n; g++)
        at[g + 1] += at[g];
    for (size_t i = 0; i < ngpu; i++)
        order[at[of[i]]++] = (uint32_t)i;
    *out = hs_malloc((total + room + 1) * sizeof **out);
    for (size_t i = 0; i < ngpu; i++)
        for (uint32_t k = 0; k < times[of[order[i]]]; k++)
            (*out)[(*n)++] = gpu[order[i]];
out:
    hta_map_free(&group);
    hs_free_array((void **)&at);
    hs_free_array((void **)&order);
    hs_free_array((void **)&of);
    hs_free_array((void **)&times);
    return rc;
}

static int filter_gpu(const struct hta_trace *t, struct hta_rank *r, struct hs_err *err)
{
    struct hta_map kept;
    struct hta_row *gpu = hs_malloc((r->n + 1) * sizeof *gpu), *rows = NULL;
    size_t ngpu = 0, ncpu = 0, n = 0;
    int64_t start = last_step_start(t, r);
    int rc = 0;
    hta_map_init(&kept);
    for (size_t i = 0; i < r->n; i++) {
        if (r->rows[i].gpu) {
            gpu[ngpu++] = r->rows[i];
        } else if (r->rows[i].ts < start) {
            uint32_t *c = hta_map_at(&kept, r->rows[i].corr);
            *c = *c == HTA_NONE ? 1 : *c + 1;
            ncpu++;
        }
    }
    if (ngpu == r->n) /* nothing tells what to keep */
        goto out;
    rc = join_device_rows(r, &kept, gpu, ngpu, &rows, &n, ncpu, err);
    if (rc)
        goto out;
    for (size_t i = 0; i < r->n; i++)
        if (!r->rows[i].gpu && r->rows[i].ts < start)
            rows[n++] = r->rows[i];
    hs_free_array((void **)&r->rows);
    r->rows = rows;
    r->n = n;
out:
    hta_map_free(&kept);
    hs_free_array((void **)&gpu);
    return rc;
}

/* ---- MTIA: everything within the steps, the last one included ---- */

static bool cpu_within(const struct hta_trace *t, const struct hta_row *x, int64_t a, double b)
{
    return hta_cat_has(t, x, HTA_IS_MTIA_CPU_CAT) && x->ts >= a && x->end <= b;
}

static int64_t tid_of(const struct hta_rank *r, const struct hta_row *x)
{
    return x->lane < r->view->nlanes && r->view->lanes[x->lane].tid.kind == HS_ID_INT ? r->view->lanes[x->lane].tid.v
                                                                                      : -1;
}

/* Memory work that starts within a step belongs to it, launch or not. */
static void adopt_memory(const struct hta_trace *t, struct hta_rank *r, bool *keep)
{
    struct {
        HS_VEC(struct hta_span);
    } spans = HS_VEC_INIT(HS_MAX_EVENTS);
    struct {
        HS_VEC(int64_t);
    } iters = HS_VEC_INIT(HS_MAX_EVENTS);
    struct hta_paint paint;
    for (size_t i = 0; i < r->n; i++) {
        const struct hta_row *x = &r->rows[i];
        struct hta_span s = {x->ts, hs_add_sat(hs_round_i64(floor(hta_end(x))), 1)}; /* HTA counts the end in */
        if (hta_name_has(t, x, HTA_IS_STEP) && hs_vec_push(&spans, s) && !hs_vec_push(&iters, x->iter))
            break;
    }
    hta_paint_build(&paint, spans.p, spans.n);
    for (size_t i = 0; i < r->n; i++) {
        struct hta_row *x = &r->rows[i];
        uint32_t k = hta_name_has(t, x, HTA_IS_MEMORY) ? hta_paint_at(&paint, x->ts) : HTA_NONE;
        if (k == HTA_NONE)
            continue;
        keep[i] = true;
        if (x->iter == -1)
            x->iter = iters.p[k];
        if (x->stream == -1)
            x->stream = tid_of(r, x);
    }
    hta_paint_free(&paint);
    hs_vec_free(&spans);
    hs_vec_free(&iters);
}

static void filter_mtia(const struct hta_trace *t, struct hta_rank *r)
{
    struct hta_map kept;
    bool *keep = hs_calloc(r->n + 1, sizeof *keep), any = false;
    int64_t a = INT64_MAX;
    double b = -INFINITY;
    size_t n = 0;
    hta_map_init(&kept);
    for (size_t i = 0; i < r->n; i++) {
        const struct hta_row *x = &r->rows[i];
        if (!hta_cat_has(t, x, HTA_IS_MTIA_CPU_CAT) || !hta_name_has(t, x, HTA_IS_STEP))
            continue;
        any = true;
        a = x->ts < a ? x->ts : a;
        b = x->end > b ? x->end : b;
    }
    for (size_t i = 0; i < r->n && any; i++) {
        keep[i] = cpu_within(t, &r->rows[i], a, b);
        if (keep[i] && r->rows[i].corr != -1)
            *hta_map_at(&kept, r->rows[i].corr) = 1;
    }
    for (size_t i = 0; i < r->n; i++)
        if (hta_cat_has(t, &r->rows[i], HTA_IS_MTIA_GPU_CAT) && hta_map_get(&kept, r->rows[i].corr) != HTA_NONE)
            keep[i] = true;
    adopt_memory(t, r, keep);
    for (size_t i = 0; i < r->n; i++)
        if (keep[i])
            r->rows[n++] = r->rows[i];
    r->n = n;
    hta_map_free(&kept);
    hs_free_array((void **)&keep);
}

int hta_filter(const struct hta_trace *t, struct hta_rank *r, struct hs_err *err)
{
    if (!t->mtia)
        return filter_gpu(t, r, err);
    filter_mtia(t, r);
    return 0;
}
