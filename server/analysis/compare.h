/* Two runs side by side, by name or by place in the call tree: what diff, diff-ops and the command `diff` share.
 *
 * What is counted: CPU events with a duration (operators, annotations, python, runtime calls, the profiler's overhead) and
 * device work, of the chosen ranks and steps. A CPU event's time is its self time (its duration without that of the
 * events right under it), a device row's is its duration; so the times of one side add up to all the time that its threads
 * had events, or to all device work, and the differences add up to the difference of those sums. ProfilerStep#N is one
 * name whatever N is. */
#ifndef HS_ANALYSIS_COMPARE_H
#define HS_ANALYSIS_COMPARE_H

#include "analysis/registry.h"
#include "base/intern.h"

enum hs_compare_by { HS_BY_NAME, HS_BY_SHORT_NAME, HS_BY_POSITION };

struct hs_compare_side {
    int64_t count, ns, whole_ns; /* whole_ns: with what is nested, so nested events of one name count twice */
};
struct hs_compare_row {
    uint32_t key; /* name; by position: node */
    bool gpu;
    struct hs_compare_side of[2]; /* base, test */
};

/* Step time of one run: a step's is the longest of its ranks'. On a rank it lasts from the first device work that it
 * launched to the first that the next step did (the last one: to the end of its work), for the CPU runs ahead and its own
 * steps tell little; of a step without device work, from its start to its end on the CPU. Standard deviation of the sample,
 * NaN below two. */
struct hs_step_time {
    size_t n;
    double mean_ns, std_ns;
};

struct hs_compare {
    struct hs_intern names; /* of both runs */
    struct hs_intern nodes; /* by position: (node of the parent, name), as bytes */
    struct {
        HS_VEC(struct hs_compare_row);
    } rows;              /* in no order of meaning */
    uint32_t *row_of[2]; /* by gpu, key: number of the row + 1 */
    size_t row_cap[2];
    enum hs_compare_by by;
    int64_t per[2]; /* (rank, step) pairs that were counted, or ranks where a run has no steps; at least 1 */
    bool stepped[2];
    struct hs_step_time step[2];
    int64_t outside[2]; /* device rows in no step, left out */
};

/* Parameters of both analyses; the names are HTA's (TraceDiff). */

#define HS_COMPARE_NPARAMS 7
extern const struct hs_param_spec hs_compare_params[HS_COMPARE_NPARAMS];

/* Fills *c from run and run->other; notes on `out` what makes them hard to compare. Free it in any case. */
int hs_compare_open(struct hs_compare *c, struct hs_run *run, const struct hs_params *p, struct hs_table *out,
                    struct hs_err *err);
void hs_compare_free(struct hs_compare *c);
/* The name of a row, by position the path from the top of its thread; valid until scratch changes. */
struct hs_str hs_compare_name(const struct hs_compare *c, const struct hs_compare_row *r, struct hs_buf *scratch);
/* "added", "deleted", "increased", "decreased", "unchanged": by number of events a step. */
const char *hs_compare_change(const struct hs_compare *c, const struct hs_compare_row *r);

/* Which ranks and steps of a side (0 base, 1 test) are asked for. */
bool hs_compare_rank_on(const struct hs_params *p, int side, const struct hs_run *run, size_t i);
/* By step of the view, 1 if chosen; free() it. NULL: the view has no steps. */
uint8_t *hs_compare_steps_on(const struct hs_params *p, int side, const struct hs_view *v);
int hs_compare_step_time(struct hs_run *run, const struct hs_params *p, int side, struct hs_step_time *out,
                         struct hs_err *err);

/* Is the test slower than the base by more than `limit` (0.05: 5 %)? Welch's t test on the steps, one-sided, 95 %: over if
 * even the lower bound of the change is above the limit, within if even the upper bound is not, else undecided. */
enum hs_verdict { HS_WITHIN, HS_OVER, HS_UNDECIDED };
struct hs_judgement {
    enum hs_verdict verdict;
    double change, low, high; /* of the mean step time, as a share of the base's; NaN where unknown */
};
struct hs_judgement hs_compare_judge(const struct hs_step_time *base, const struct hs_step_time *test, double limit);

#endif
