/* What a rank did before it came to a collective: measured in the time since it came to the one before. From coming to coming,
 * not from end to coming: while a rank waits, work that it has launched already goes on, so the others have done much of the
 * same work by the time the last one comes, and that must count for them.
 *
 * All ranks have the same time from one collective to the next in the long run: work, idle time and waiting in the
 * collective. Who waits less has more of the other two, and that difference is why it comes late. */
#ifndef HS_ANALYSIS_LATE_H
#define HS_ANALYSIS_LATE_H

#include "analysis/collective.h"

struct hs_name_filter;

/* Of one rank, on the run's clock with the collectives' shift: device work but communication, and data loading. */
struct hs_activity {
    struct hs_spans work, busy, loading; /* normal; busy: work and communication; loading: without busy */
    int64_t *work_before, *busy_before, *loading_before; /* by span: total length of the spans before it */
    int64_t *starts;                                     /* of kernels but communication, ascending */
    size_t nstarts;
    int64_t begin; /* first event */
};
int hs_activity_open(struct hs_activity *a, const struct hs_run_rank *r, int64_t shift_ns,
                     struct hs_name_filter *loading, struct hs_err *err);
void hs_activity_free(struct hs_activity *a);

struct hs_doing {
    double kernels, work_ns, idle_ns,
        loading_ns; /* idle: neither work nor communication; loading: part of idle during which a CPU thread
                                                  * loaded data */
};
/* In [from, to); by bisection. */
struct hs_doing hs_activity_between(const struct hs_activity *a, int64_t from, int64_t to);

enum hs_late_cause { HS_LATE_UNKNOWN, HS_LATE_MORE_KERNELS, HS_LATE_LONGER_KERNELS, HS_LATE_LOADING, HS_LATE_GAPS };
const char *hs_late_word(enum hs_late_cause c);
/* `extra`: what a rank did more than the mean of the others, `others`: that mean. Work explains it if it is the larger part: by
 * number if the additional kernels at the others' mean length are at least half of it. Else data loading, if that is at
 * least half of the additional idle time, else gaps. */
enum hs_late_cause hs_late_cause_of(const struct hs_doing *extra, const struct hs_doing *others);

#endif
