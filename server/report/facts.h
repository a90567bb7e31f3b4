/* The figures that a report is written from: taken once from the analyses, then read by verdict, advice and the writers. */
#ifndef HS_REPORT_FACTS_H
#define HS_REPORT_FACTS_H

#include "analysis/device_idle.h"
#include "analysis/device_time.h"

#define HS_TOP_KERNELS 5
#define HS_SHORT_KERNEL_NS 10000 /* TraceLens' limit of a short kernel */

struct hs_top_kernel {
    char *name, *short_name; /* owned */
    char *display;           /* owned; trace/display_name.h */
    const char *cls;         /* static */
    int64_t calls, sum_ns;
    double share_pct; /* of facts.work_ns */
};

struct hs_rank_facts {
    int64_t rank;
    const char *trace; /* file name, the view's */
    struct hs_rank_time time;
    int64_t idle_ns[HS_CAUSES]; /* of time.idle_ns, as far as it lies between work of one device */
    double odd_pct;             /* its compute time against the median of the ranks; 0 for one rank */
};

struct hs_facts {
    const struct hs_run *run;
    const struct hs_run *whole;  /* the same with the files that are no traces but memory timelines; the caller's */
    struct hs_rank_facts *ranks; /* [run->n] */
    /* sums over ranks */
    struct hs_rank_time time; /* first, last: 0 */
    int64_t idle_ns[HS_CAUSES];
    int64_t work_ns; /* sum of the durations of all device work */
    int64_t kernels, short_kernels;
    int64_t pageable_copies, pageable_ns; /* copies whose name says Pageable */
    int64_t steps, cpu_events;
    size_t gpu_ranks;                         /* with device work */
    size_t odd;                               /* the rank with the largest |odd_pct| */
    struct hs_top_kernel top[HS_TOP_KERNELS]; /* operators where there is no GPU activity (report/top_ops.h) */
    size_t ntop;
};

int hs_facts_take(struct hs_facts *f, struct hs_run *run, struct hs_err *err);
/* Only the kernels with most time over all ranks, by f->work_ns; hs_facts_take does it too. */
int hs_facts_take_top(struct hs_facts *f, struct hs_run *run, struct hs_err *err);
void hs_facts_free(struct hs_facts *f);

/* Percent of the GPU span (devices * first start to last end, over all ranks); 0 where there is no span. */
double hs_facts_pct(const struct hs_facts *f, int64_t ns);
int64_t hs_exposed_comm(const struct hs_rank_time *t); /* communication without compute beside it */
int64_t
hs_exposed_memory(const struct hs_rank_time *t); /* copies and memsets without compute or communication beside them */

#endif
