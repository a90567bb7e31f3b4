/* What figures take from the answers of analyses: the operators and frames behind idle time, hidden synchronisations, the rank that
 * the others wait for. */
#ifndef HS_REPORT_FIGURES_TABLES_H
#define HS_REPORT_FIGURES_TABLES_H

#include "report/figures.h"

enum hs_figure_id hs_figure_of_cause(enum hs_gap_cause c); /* HS_FIG_NONE: it speaks for none */

/* Asks idle-causes, syncs and stragglers about the run and fills in what they tell. f->facts is set. */
int hs_figures_from_tables(struct hs_figures *f, struct hs_run *run, struct hs_err *err);

#endif
