/* kernel-annotations: the innermost user annotation of each piece of device work. HTA's
 * get_gpu_kernels_with_user_annotations, by containment on the own stream, with the CPU's annotations where the GPU has none. */
#include "analysis/analyses.h"
#include "analysis/annotated.h"
#include "analysis/hta.h"
#include "analysis/order.h"
#include "analysis/page.h"
#include "trace/names.h"

#include <stdlib.h>

static const struct hs_param_spec params_spec[] = {
    {"shorten_names", HS_P_BOOL, "", "true", 0, 0, NULL, "give names without return type, template and arguments"},
    HS_PARAM_PAGE,
};

static const struct hs_column_spec columns[] = {
    {"rank", HS_T_INT, "", "rank of the trace"},
    {"event", HS_T_INT, "", "event number of the kernel, copy or memset"},
    {"ts_us", HS_T_TIME, "us", "its start, on the run's clock"},
    {"dur_us", HS_T_TIME, "us", "its duration"},
    {"device", HS_T_INT, "", "device number; -1 where the trace does not tell"},
    {"stream", HS_T_INT, "", "stream number; -1 where the trace does not tell"},
    {"name", HS_T_TEXT, "", "its name, shortened unless shorten_names=false"},
    {"class", HS_T_TEXT, "", "compute, communication, memcpy or memset"},
    {"annotation", HS_T_TEXT, "", "the innermost annotation; null without one"},
    {"source", HS_T_TEXT, "",
     "gpu: an annotation of its stream in which it starts; cpu: the annotation around its launch call; null"},
    {"annotation_event", HS_T_INT, "", "event number of the annotation"},
};

struct job {
    struct hs_select sel;
    struct hs_cpu cpu;
    struct hs_pick around_launch;
    uint32_t *on_stream; /* by device row: GPU annotation, HS_NO_EVENT */
    int64_t without;
    struct hs_buf scratch;
    bool shorten;
};

/* GPU annotations of a lane by start, the longer ones first; then by event, for want of anything else. */
static uint32_t *gpu_annotations(const struct hs_cpu *c, size_t *n, size_t **first)
{
    const struct hs_events *ev = &c->ev;
    size_t lanes = c->view->nlanes, k = 0;
    uint32_t *list, *scratch;
    *first = hs_calloc(lanes + 1, sizeof **first);
    for (size_t e = 0; e < ev->n; e++)
        k += hs_cpu_kind(c, (uint32_t)e) == HS_CAT_GPU_ANNOTATION;
    list = hs_realloc_array(NULL, 2 * k + 1, sizeof *list);
    scratch = list + k;
    int64_t *key = hs_realloc_array(NULL, k ? ev->n : 1, sizeof *key);
    *n = 0;
    for (size_t e = 0; e < ev->n && k; e++) {
        if (hs_cpu_kind(c, (uint32_t)e) != HS_CAT_GPU_ANNOTATION || ev->lane[e] >= lanes)
            continue;
        list[(*n)++] = (uint32_t)e;
        key[e] = -hs_max_i64(0, ev->dur[e]);
    }
    hs_order_i64(list, scratch, *n, key);
    hs_order_i64(list, scratch, *n, ev->ts);
    for (size_t i = 0; i < *n; i++)
        key[list[i]] = ev->lane[list[i]];
    hs_order_i64(list, scratch, *n, key);
    free(key);
    for (size_t i = 0, l = 0; l <= lanes; l++) {
        (*first)[l] = i;
        while (i < *n && ev->lane[list[i]] == l)
            i++;
    }
    return list;
}

/* One pass over a lane's rows and annotations. Those that ended are taken off the top of the stack; one below that ended
 * earlier is met there later: the top is always the latest start that still lasts. */
static void assign_lane(struct job *j, const uint32_t *row, size_t nrows, const uint32_t *ann, size_t nann,
                        uint32_t *stack)
{
    const struct hs_events *ev = &j->cpu.ev;
    size_t depth = 0, a = 0;
    for (size_t i = 0; i < nrows; i++) {
        int64_t t = j->sel.gpu.ts[row[i]];
        while (a < nann && ev->ts[ann[a]] <= t)
            stack[depth++] = ann[a++];
        while (depth && hs_end_ns(ev->ts[stack[depth - 1]], ev->dur[stack[depth - 1]]) <= t)
            depth--;
        j->on_stream[row[i]] = depth ? stack[depth - 1] : HS_NO_EVENT;
    }
}

static void assign(struct job *j, bool any)
{
    struct hs_by_lane by;
    size_t n, *first;
    j->on_stream = hs_realloc_array(NULL, j->sel.gpu.n + 1, sizeof *j->on_stream);
    for (size_t i = 0; i < j->sel.gpu.n; i++)
        j->on_stream[i] = HS_NO_EVENT;
    if (!any)
        return;
    uint32_t *ann = gpu_annotations(&j->cpu, &n, &first);
    uint32_t *stack = hs_realloc_array(NULL, n + 1, sizeof *stack);
    hs_by_lane(&j->sel, &by);
    for (size_t l = 0; l < j->sel.view->nlanes; l++)
        assign_lane(j, by.row + by.first[l], by.first[l + 1] - by.first[l], ann + first[l], first[l + 1] - first[l],
                    stack);
    hs_by_lane_free(&by);
    free(ann);
    free(first);
    free(stack);
}

static void row(struct job *j, size_t i, struct hs_table *out)
{
    const struct hs_select *s = &j->sel;
    struct hs_str name = hs_view_str(s->view, s->gpu.name[i]);
    uint32_t ann = j->on_stream[i];
    bool gpu_side = ann != HS_NO_EVENT;
    if (!gpu_side)
        ann = hs_pick(&j->around_launch, s->gpu.launch[i]);
    hs_table_row(out);
    hs_cell_i64(out, s->rank);
    hs_cell_i64(out, s->gpu.event[i]);
    hs_cell_ns(out, hs_add_sat(s->gpu.ts[i], s->offset));
    hs_cell_ns(out, s->gpu.dur[i]);
    hs_cell_i64(out, s->gpu.device[i]);
    hs_cell_i64(out, s->gpu.stream[i]);
    hs_cell_text(out, j->shorten ? hs_short_name(name, &j->scratch) : name);
    hs_cell_cstr(out, hs_class_word(s->gpu.cls[i]));
    if (ann == HS_NO_EVENT) {
        hs_cell_null(out);
        hs_cell_null(out);
        hs_cell_null(out);
        return;
    }
    hs_cell_text(out, hs_view_str(s->view, j->cpu.ev.name[ann]));
    hs_cell_cstr(out, gpu_side ? "gpu" : "cpu");
    hs_cell_i64(out, ann);
}

/* Rows by device, stream and start, as the device table has them. */
static int one_rank(struct job *j, const struct hs_run_rank *r, const struct hs_params *p, struct hs_page *page,
                    struct hs_table *out, struct hs_err *err)
{
    int rc = hs_select_open(&j->sel, r, p, out, err);
    if (rc || !j->sel.gpu.n)
        return rc;
    rc = hs_cpu_open(&j->cpu, r->view,
                     hs_view_has_kind(r->view, HS_CAT_GPU_ANNOTATION) ? HS_EV_TS | HS_EV_DUR | HS_EV_LANE : 0, err);
    if (rc)
        goto out;
    hs_pick_open(&j->around_launch, &j->cpu, 1u << HS_CAT_ANNOTATION, NULL, false);
    assign(j, hs_view_has_kind(r->view, HS_CAT_GPU_ANNOTATION));
    int64_t annotated = 0;
    uint32_t *rows = hs_realloc_array(NULL, j->sel.gpu.n, sizeof *rows);
    size_t n = 0;
    for (size_t i = 0; i < j->sel.gpu.n; i++)
        if (hs_select_starts(&j->sel, i))
            rows[n++] = (uint32_t)i;
    hs_select_settle(&j->sel, rows, n);
    for (size_t k = 0; k < n; k++) {
        uint32_t i = rows[k];
        if (j->on_stream[i] != HS_NO_EVENT || hs_pick(&j->around_launch, j->sel.gpu.launch[i]) != HS_NO_EVENT)
            annotated++;
        else
            j->without++;
        if (hs_page_take(page))
            row(j, i, out);
    }
    if (j->without)
        hs_table_note(out, "Rank %lld: %lld of %lld device activities have no annotation.", (long long)r->rank,
                      (long long)j->without, (long long)(annotated + j->without));
    free(rows);
    free(j->on_stream);
    hs_pick_close(&j->around_launch);
    hs_cpu_close(&j->cpu);
out:
    hs_select_close(&j->sel);
    return rc;
}

static int run(struct hs_run *r, const struct hs_params *p, struct hs_table *out, struct hs_err *err)
{
    struct job j = {.scratch = HS_BUF_INIT(1 << 24), .shorten = hs_param_bool(p, "shorten_names")};
    struct hs_page page = hs_page_of(p);
    int rc = HS_OK;
    for (size_t i = 0; i < r->n && !rc; i++) {
        j.without = 0;
        rc = one_rank(&j, &r->ranks[i], p, &page, out, err);
    }
    hs_page_note(&page, out, "device activities");
    hs_note_excluded(r, out);
    hs_buf_free(&j.scratch);
    return rc;
}

const struct hs_analysis hs_analysis_kernel_annotations = {
    .name = "kernel-annotations",
    .summary = "The innermost user annotation of every kernel, copy and memset",
    .doc = "One row per device activity, by rank, device, stream and start. Its annotation is the gpu_user_annotation "
           "on its own stream "
           "in which it starts, of several the one that started last; where there is none, the innermost "
           "user_annotation that "
           "encloses its launch call on the CPU (`source` tells which). Profiler steps are annotations too.",
    .version = 1,
    .params = params_spec,
    .nparams = sizeof params_spec / sizeof params_spec[0],
    .columns = columns,
    .ncolumns = sizeof columns / sizeof columns[0],
    .run = run,
    .run_hta = hta_kernel_annotations,
};
