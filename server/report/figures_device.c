#include "report/figures_device.h"

#include "analysis/collective_read.h"
#include "trace/display_name.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define NAME_MAX_SHOWN 120

/* Kernels with fewer blocks than the device has multiprocessors leave the others without work. */
static int take_grids(struct hs_figures *f, const struct hs_run_rank *rank, const struct hs_select *sel,
                      struct hs_err *err)
{
    const struct hs_gpu *g = &sel->gpu;
    const double *blocks = NULL;
    struct hs_figure_value *x = &f->at[HS_FIG_GRID];
    if (hs_view_sym(sel->view, "blocks per SM") == HS_NO_SYM)
        return HS_OK;
    int rc = sel->view->ops->arg_f64(sel->view, "blocks per SM", 1, &blocks, err);
    if (rc)
        return rc;
    for (size_t i = 0; i < g->n; i++) {
        double b = blocks[g->event[i]];
        if (g->cls[i] != HS_CLASS_COMPUTE || !isfinite(b) || b < 0)
            continue;
        f->launch_shapes = true;
        if (b >= 1)
            continue;
        f->small_grid_ns = hs_add_sat(f->small_grid_ns, g->dur[i]);
        x->gain_ns = hs_add_sat(x->gain_ns, (int64_t)((double)g->dur[i] * (1 - b)));
        if (!hs_figure_shows(x, rank, g->event[i], g->ts[i], g->dur[i]))
            continue;
        struct hs_buf name = HS_BUF_INIT(4 * NAME_MAX_SHOWN);
        hs_put_display_name(&name, hs_view_str(sel->view, g->name[i]), NAME_MAX_SHOWN);
        snprintf(x->detail, sizeof x->detail, "Longest: %.200s, %.3g blocks for each multiprocessor, %.1f µs",
                 name.p ? name.p : "", b, (double)g->dur[i] / 1e3);
        hs_buf_free(&name);
    }
    return HS_OK;
}

/* The attention that PyTorch composes of matrix products and a softmax, where no fused one fits. */
static void take_attention(struct hs_figures *f, const struct hs_run_rank *rank, const struct hs_select *sel,
                           const struct hs_cpu *cpu)
{
    uint32_t math = hs_view_sym(sel->view, "aten::_scaled_dot_product_attention_math");
    struct hs_figure_value *x = &f->at[HS_FIG_ATTENTION];
    struct hs_beneath b;
    if (math == HS_NO_SYM)
        return;
    hs_cpu_beneath(cpu, sel, &b);
    for (uint32_t e = 0; e < cpu->ev.n; e++) {
        if (cpu->ev.name[e] != math || !hs_cpu_is_span(cpu, e) || b.ns[e] <= 0)
            continue;
        x->gain_ns = hs_add_sat(x->gain_ns, b.ns[e]);
        hs_figure_shows(x, rank, e, cpu->ev.ts[e], b.ns[e]);
    }
    hs_beneath_free(&b);
}

/* Pipeline stages wait for each other in sends and receives: those of one device that no computation hides. */
static void take_pipeline_of(struct hs_figures *f, const struct hs_run_rank *rank, const struct hs_gpu *g,
                             const uint8_t *types, int32_t device)
{
    struct hs_figure_value *x = &f->at[HS_FIG_PIPELINE];
    struct hs_spans waits = HS_SPANS_INIT, compute = HS_SPANS_INIT;
    for (size_t i = 0; i < g->n; i++) {
        if (g->device[i] != device)
            continue;
        if (g->cls[i] == HS_CLASS_COMPUTE)
            hs_spans_push(&compute, g->ts[i], hs_end_ns(g->ts[i], g->dur[i]));
        if (types[i] != HS_COLL_SEND && types[i] != HS_COLL_RECV)
            continue;
        hs_spans_push(&waits, g->ts[i], hs_end_ns(g->ts[i], g->dur[i]));
        hs_figure_shows(x, rank, g->event[i], g->ts[i], g->dur[i]);
    }
    hs_spans_normalise(&waits);
    hs_spans_normalise(&compute);
    x->gain_ns = hs_add_sat(x->gain_ns, hs_spans_length(&waits) - hs_spans_overlap(&waits, &compute));
    hs_vec_free(&waits);
    hs_vec_free(&compute);
}

static int take_pipeline(struct hs_figures *f, const struct hs_run_rank *rank, const struct hs_select *sel,
                         struct hs_err *err)
{
    const struct hs_gpu *g = &sel->gpu;
    uint8_t *types;
    struct {
        HS_VEC(int32_t);
    } devices = HS_VEC_INIT(4096); /* that send or receive */
    int rc = hs_collective_types(sel, &types, err);
    for (size_t i = 0; i < g->n && !rc; i++) {
        size_t d = 0;
        f->sendrecv_untold |= types[i] == HS_COLL_SENDRECV;
        if (types[i] != HS_COLL_SEND && types[i] != HS_COLL_RECV)
            continue;
        while (d < devices.n && devices.p[d] != g->device[i])
            d++;
        if (d == devices.n)
            hs_vec_push(&devices, g->device[i]);
    }
    for (size_t d = 0; d < devices.n; d++)
        take_pipeline_of(f, rank, g, types, devices.p[d]);
    hs_vec_free(&devices);
    free(types);
    return rc;
}

int hs_figures_from_device(struct hs_figures *f, const struct hs_run_rank *rank, const struct hs_select *sel,
                           const struct hs_cpu *cpu, struct hs_err *err)
{
    take_attention(f, rank, sel, cpu);
    int rc = take_pipeline(f, rank, sel, err);
    return rc ? rc : take_grids(f, rank, sel, err);
}
