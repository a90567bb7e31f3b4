/* What figures take from the shapes of operators (analysis/op_groups.h): how near those bound by memory, and fused attention, come to
 * what the device can. */
#ifndef HS_REPORT_FIGURES_OPERATORS_H
#define HS_REPORT_FIGURES_OPERATORS_H

#include "analysis/cpu_side.h"
#include "report/figures.h"

/* Adds to HS_FIG_STREAMING, HS_FIG_SLOW_ATTENTION and HS_FIG_ABOVE_PEAK; the shares are the caller's to take. `cpu` is open over the
 * view of `sel`, which is open with its device table. */
int hs_figures_from_operators(struct hs_figures *f, const struct hs_run_rank *rank, const struct hs_select *sel,
                              const struct hs_cpu *cpu, struct hs_err *err);

#endif
