/* What holds the run up: the figures that decide it, each against its threshold, and one sentence. */
#ifndef HS_REPORT_VERDICT_H
#define HS_REPORT_VERDICT_H

#include "report/figures.h"

enum hs_verdict { HS_CPU_BOUND, HS_COMM_BOUND, HS_MEMORY_BOUND, HS_COMPUTE_BOUND, HS_BALANCED, HS_CANNOT_TELL };
const char *hs_verdict_word(enum hs_verdict v); /* "CPU-bound", ..., "cannot tell" */

struct hs_figure {
    const char *name;      /* stable */
    const char *text;      /* what it is, with its whole */
    double pct, threshold; /* at or above the threshold it speaks for `points_to` */
    const char *source;    /* where the threshold comes from */
    enum hs_verdict points_to;
    const char *analysis; /* the evidence: its rows hold the parts of the figure */
};
#define HS_FIGURES 4

struct hs_judgement {
    enum hs_verdict verdict;
    struct hs_figure figures[HS_FIGURES];
    bool
        idle_unknown; /* so much GPU activity was lost that what looks idle may have been busy: no form tells of idle time */
    char reason[400];  /* one sentence: why this verdict */
    char finding[500]; /* one sentence: the main finding, with the number */
};
void hs_judge(const struct hs_facts *f, const struct hs_figures *more, struct hs_judgement *j);

#endif
