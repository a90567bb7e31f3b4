#include "report/figures_device.h"

#include "trace/display_name.h"

#include <math.h>
#include <stdio.h>

#define NAME_MAX_SHOWN 120

static void shows(struct hs_figure_value *x, const struct hs_run_rank *rank, uint32_t event, int64_t ts)
{
    x->has_event = true;
    x->rank = rank->rank;
    x->event = event;
    x->ts_ns = hs_add_sat(ts, rank->offset_ns);
}

/* Kernels with fewer blocks than the device has multiprocessors leave the others without work. */
static int take_grids(struct hs_figures *f, const struct hs_run_rank *rank, const struct hs_select *sel,
                      struct hs_err *err)
{
    const struct hs_gpu *g = &sel->gpu;
    const double *blocks = NULL;
    struct hs_figure_value *x = &f->at[HS_FIG_GRID];
    int64_t most = x->has_event ? f->longest_small_grid : 0;
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
        if (g->dur[i] <= most)
            continue;
        most = f->longest_small_grid = g->dur[i];
        struct hs_buf name = HS_BUF_INIT(4 * NAME_MAX_SHOWN);
        hs_put_display_name(&name, hs_view_str(sel->view, g->name[i]), NAME_MAX_SHOWN);
        snprintf(x->detail, sizeof x->detail, "Longest: %.200s, %.3g blocks for each multiprocessor, %.1f µs",
                 name.p ? name.p : "", b, (double)g->dur[i] / 1e3);
        hs_buf_free(&name);
        shows(x, rank, g->event[i], g->ts[i]);
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
        if (!x->has_event)
            shows(x, rank, e, cpu->ev.ts[e]);
    }
    hs_beneath_free(&b);
}

int hs_figures_from_device(struct hs_figures *f, const struct hs_run_rank *rank, const struct hs_select *sel,
                           const struct hs_cpu *cpu, struct hs_err *err)
{
    take_attention(f, rank, sel, cpu);
    return take_grids(f, rank, sel, err);
}
