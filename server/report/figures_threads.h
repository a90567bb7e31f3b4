/* How busy the threads of the CPU are. */
#ifndef HS_REPORT_FIGURES_THREADS_H
#define HS_REPORT_FIGURES_THREADS_H

#include "report/figures.h"

/* Adds to HS_FIG_THREAD, share included: the busiest thread of all ranks. A thread is busy in operators and in calls of the GPU's
 * runtime, but for those that wait for the device. Time in Python between them does not count: nothing tells it from waiting. */
void hs_figures_from_threads(struct hs_figures *f, const struct hs_run_rank *rank, const struct hs_gap_causes *g);

#endif
