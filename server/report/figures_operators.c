#include "report/figures_operators.h"

#include "analysis/op_groups.h"

#include <math.h>
#include <stdio.h>

/* Below this a call is bound by its launch and its ramp, whatever its bytes. */
#define SHORTEST_CALL_NS 10000

/* Percent of the memory's bandwidth that work bound by it should reach (TraceLens; of Triton's kernels half of what it says for element-wise
 * ones, as each of their arguments may be both read and written but counts once). */
static double floor_of(enum hs_op_kind kind)
{
    return kind == HS_OP_ELEMENTWISE ? 50 : kind == HS_OP_NORM ? 20 : kind == HS_OP_TRITON ? 25 : 0;
}

/* Percent of the peak that attention over so many positions should reach: the lower ends of TraceLens's bands. */
static double attention_floor(double length)
{
    return length < 512 ? 5 : length < 1536 ? 20 : length < 3072 ? 40 : 50;
}

/* Does the device have enough to do that it could reach the floor? One call at the floor must take longer than a ramp. */
static bool attention_is_slow(const struct hs_op_group *g)
{
    double floor = attention_floor(g->cost.length),
           at_floor_ns = (double)g->gpu_ns / (double)g->calls * g->compute_pct / floor;
    return g->cost.length > 0 && g->compute_pct < floor && at_floor_ns >= SHORTEST_CALL_NS;
}

static void tell(struct hs_figure_value *x, const struct hs_run_rank *rank, const struct hs_op_group *g, double pct,
                 const char *of)
{
    struct hs_str name = hs_view_str(rank->view, g->name);
    snprintf(x->detail, sizeof x->detail, "Most in %.*s, %lld calls, %.3g ms: %.0f %% of %s (rank %lld)",
             (int)(name.n < 120 ? name.n : 120), name.p, (long long)g->calls, (double)g->gpu_ns / 1e6, pct, of,
             (long long)rank->rank);
}

static void take_slow(struct hs_figure_value *x, int64_t *sum, const struct hs_run_rank *rank,
                      const struct hs_op_group *g, double pct, const char *of)
{
    *sum = hs_add_sat(*sum, g->gpu_ns);
    x->gain_ns = hs_add_sat(x->gain_ns, (int64_t)((double)g->gpu_ns * (1 - pct / 100)));
    if (hs_figure_shows(x, rank, g->event, g->ts, g->gpu_ns))
        tell(x, rank, g, pct, of);
}

/* Bandwidth above the peak may be a cache's: only where much more was touched than one holds. */
static bool above_peak(const struct hs_op_group *g)
{
    return g->compute_pct > 100 || (g->bandwidth_pct > 100 && g->cost.bytes > 4 * g->peaks->cache_bytes);
}

static void take_group(struct hs_figures *f, const struct hs_run_rank *rank, const struct hs_op_group *g)
{
    bool long_enough = g->gpu_ns / SHORTEST_CALL_NS >= g->calls;
    struct hs_figure_value *above = &f->at[HS_FIG_ABOVE_PEAK];
    if (above_peak(g)) {
        above->v++;
        if (hs_figure_shows(above, rank, g->event, g->ts, g->gpu_ns))
            tell(above, rank, g, fmax(g->compute_pct, g->bandwidth_pct), "the peak");
    } else if (g->cost.kind == HS_OP_ATTENTION) {
        if (attention_is_slow(g))
            take_slow(&f->at[HS_FIG_SLOW_ATTENTION], &f->attention_ns, rank, g, g->compute_pct, "the peak");
    } else if (long_enough && !g->cached && g->bandwidth_pct < floor_of(g->cost.kind)) {
        take_slow(&f->at[HS_FIG_STREAMING], &f->streaming_ns, rank, g, g->bandwidth_pct, "the memory's bandwidth");
    }
}

int hs_figures_from_operators(struct hs_figures *f, const struct hs_run_rank *rank, const struct hs_select *sel,
                              const struct hs_cpu *cpu, struct hs_err *err)
{
    struct hs_op_groups groups;
    int rc = hs_op_groups_open(&groups, sel, cpu, err);
    f->shapes |= !groups.no_shapes;
    if (groups.no_shapes)
        snprintf(f->no_shapes, sizeof f->no_shapes, "%s", groups.no_shapes);
    f->peaks |= groups.peaks != NULL;
    if (!groups.no_shapes && !groups.peaks)
        snprintf(f->no_peaks, sizeof f->no_peaks,
                 "what the device can do at best is not known (%.80s): it is not in the table of devices, or a part of "
                 "one (MIG)",
                 groups.device.n ? groups.name : "the trace does not tell its name");
    for (size_t i = 0; i < groups.n && !rc; i++)
        if (groups.p[i].told && groups.p[i].peaks && groups.p[i].gpu_ns > 0)
            take_group(f, rank, &groups.p[i]);
    hs_op_groups_close(&groups);
    return rc;
}
