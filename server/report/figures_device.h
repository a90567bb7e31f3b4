/* What figures take from the device work of a rank beyond its time: how kernels were launched, which attention they are of. */
#ifndef HS_REPORT_FIGURES_DEVICE_H
#define HS_REPORT_FIGURES_DEVICE_H

#include "report/figures.h"

/* Adds to HS_FIG_GRID and HS_FIG_ATTENTION (gain and the event that shows most; the share is the caller's to take). `cpu` is open
 * over the view of `sel`, which is open with its device table. */
int hs_figures_from_device(struct hs_figures *f, const struct hs_run_rank *rank, const struct hs_select *sel,
                           const struct hs_cpu *cpu, struct hs_err *err);

#endif
