/* What figures take from the device work of a rank beyond its time: how kernels were launched, which attention they are of,
 * what stages of a pipeline wait for. */
#ifndef HS_REPORT_FIGURES_DEVICE_H
#define HS_REPORT_FIGURES_DEVICE_H

#include "report/figures.h"

/* Adds to HS_FIG_GRID, HS_FIG_ATTENTION and HS_FIG_PIPELINE (gain and the event that shows most; the share is the caller's to take). `cpu` is open
 * over the view of `sel`, which is open with its device table. */
int hs_figures_from_device(struct hs_figures *f, const struct hs_run_rank *rank, const struct hs_select *sel,
                           const struct hs_cpu *cpu, struct hs_err *err);

#endif
