/* What a report advises: a table of rules, each a figure against a threshold. To add one: a figure (report/figures.h) if there is none
 * yet, and a line in rules.c.
 *
 * A rule applies where its figure is at or above its threshold and its guard's is; it is ok where it was judged and is not;
 * and it cannot be judged where what it needs was not recorded. These are three answers. */
#ifndef HS_REPORT_RULES_H
#define HS_REPORT_RULES_H

#include "report/figures.h"

enum hs_rule_state { HS_RULE_APPLIES, HS_RULE_OK, HS_RULE_CANNOT_ANSWER };
const char *hs_rule_state_word(enum hs_rule_state s); /* "applies", "ok", "cannot_answer" */

struct hs_rule {
    const char *id; /* stable */
    const char *title;
    const char *severity; /* "problem", "hint", "recording" */
    enum hs_figure_id figure;
    double threshold;   /* in the figure's unit; the default */
    const char *source; /* where the threshold comes from */
    enum hs_figure_id guard;
    double guard_min; /* the guard's figure must be at least this */
    const char *advice;
    const char *analysis, *params; /* the evidence: an analysis, and its parameters as of a URL ("by=op") */
    const char *sql;               /* NULL, or a query of one trace that shows the events */
    const char *next;              /* analysis that goes deeper */
};
extern const struct hs_rule hs_rules[];
#define HS_RULES 34

/* The thresholds in force. */
struct hs_thresholds {
    double at[HS_RULES];
};
void hs_thresholds_init(struct hs_thresholds *t); /* the defaults */
/* "data-loading=7.5". HS_EUSAGE: no such rule, or no number from 0 to 1e9. */
int hs_thresholds_set(struct hs_thresholds *t, const char *text, struct hs_err *err);

/* Appends them, for hashing. */
void hs_thresholds_put(const struct hs_thresholds *t, struct hs_buf *out);

struct hs_verdict_of_rule {
    size_t rule; /* in hs_rules */
    enum hs_rule_state state;
    double threshold;
    const struct hs_figure_value *value;
    const char *missing; /* why it cannot be judged: the figure's reason, or the guard's; NULL where it can */
};
/* All rules; those that apply first (problems, hints, recording; of each the most to gain first), then those that cannot be judged, then the rest, as in the table. */
void hs_rules_judge(const struct hs_figures *f, const struct hs_thresholds *t, struct hs_verdict_of_rule out[HS_RULES]);

/* The table itself, for /api/v1/rules and report --rules. */
void hs_rules_table(const struct hs_thresholds *t, struct hs_table *out);

#endif
