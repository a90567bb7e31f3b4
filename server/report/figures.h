/* The figures that rules judge: each a number with its unit, what could be gained at most, and an event that shows it. Taken once,
 * from facts and from the analyses idle-causes, syncs and stragglers. */
#ifndef HS_REPORT_FIGURES_H
#define HS_REPORT_FIGURES_H

#include "analysis/gap_causes.h"
#include "report/facts.h"

enum hs_figure_id {
    HS_FIG_NONE,
    HS_FIG_LOADING,        /* idle time of GPUs while the CPU loaded data, of the GPU span */
    HS_FIG_SYNC,           /* idle time that follows from hidden synchronisations, of the GPU span */
    HS_FIG_ALLOC,          /* idle time during cudaMalloc and the like, of the GPU span */
    HS_FIG_COMPILE,        /* idle time while kernels were compiled, of the GPU span */
    HS_FIG_COLLECT,        /* idle time during Python's garbage collection, of the GPU span */
    HS_FIG_LAUNCHING,      /* idle time while the CPU ran operators and launches, of the GPU span */
    HS_FIG_DISPATCH,       /* idle time between kernels that were launched in time, of the GPU span */
    HS_FIG_UNEXPLAINED,    /* idle time before work that was launched in time or without a launch, of the GPU span */
    HS_FIG_HOST,           /* idle time of GPUs that waited for the CPU, of the GPU span */
    HS_FIG_SHORT,          /* kernels shorter than 10 us, of all kernels */
    HS_FIG_COMM,           /* communication without computation beside it, of the GPU span */
    HS_FIG_MEMORY,         /* copies and memsets with nothing beside them, of the GPU span */
    HS_FIG_PAGEABLE,       /* copies of pageable memory, of the GPU span */
    HS_FIG_COPIES,         /* copies and memsets, of all device activities */
    HS_FIG_KERNEL,         /* the kernel with most time, of all GPU work */
    HS_FIG_FP32,           /* matrix kernels in single precision without tensor cores, of all GPU work */
    HS_FIG_LAYOUT,         /* kernels that change layouts, of all GPU work */
    HS_FIG_GRID,           /* kernels with fewer blocks than multiprocessors, of all GPU work */
    HS_FIG_ATTENTION,      /* work of attention that is not fused, of all GPU work */
    HS_FIG_STREAMING,      /* work bound by memory far below the memory's bandwidth, of all GPU work */
    HS_FIG_SLOW_ATTENTION, /* fused attention below what its length allows, of all GPU work */
    HS_FIG_ABOVE_PEAK,     /* operators that would have been faster than the device can be */
    HS_FIG_SLOW_RANK,      /* waiting caused by the rank that causes most, of all waiting in collectives */
    HS_FIG_SLOW_LEAD,      /* what all ranks would win if that rank did not come last, of the GPU span */
    HS_FIG_ODD_RANK,       /* computation of the rank that differs most, against the median */
    HS_FIG_GAP,            /* the longest gap of a GPU, ms */
    HS_FIG_FIRST_STEP,     /* the first step's duration in medians of the others */
    HS_FIG_OVERHEAD,       /* the profiler's own overhead, of the trace's time */
    HS_FIG_PARALLEL,       /* calls of DataParallel.forward */
    HS_FIG_BACKEND,        /* ranks with a GPU that communicate through the CPU */
    HS_FIG_PIPELINE,       /* sends and receives without computation beside them, of the GPU span */
    HS_FIG_THREAD,         /* the busiest CPU thread: operators and calls that do not wait, of the trace's time */
    HS_FIG_FULL,           /* allocated at the peak, of the device's memory */
    HS_FIG_RESERVED,       /* the most that the allocator held, of the device's memory */
    HS_FIG_UNUSED,         /* held but not allocated at the peak, of what was held */
    HS_FIG_NO_GPU,         /* traces without GPU activity */
    HS_FIG_NO_STEPS,       /* traces with GPU activity but without steps */
    HS_FIGURE_IDS
};

/* An event that shows a figure. */
struct hs_example {
    const struct hs_run_rank *of; /* of the run that was asked about */
    uint32_t event;
    int64_t ts_ns;  /* on the run's clock */
    int64_t weight; /* how much it shows; its unit is the figure's own matter */
};
#define HS_EXAMPLES 3

struct hs_figure_value {
    double v;
    int64_t gain_ns;                         /* at most; 0 where nothing can be said */
    const char *missing;                     /* why it cannot be told, with what would tell it; NULL: it can */
    char detail[300];                        /* more about it: which operator, frame, kernel, rank; "" none */
    struct hs_example examples[HS_EXAMPLES]; /* those that show most, the most first */
    size_t nexamples;
};

/* Takes the event among the figure's examples if it shows more than one of them, or there is room. True: it shows most of all. `ts` in
 * the file's time. */
bool hs_figure_shows(struct hs_figure_value *x, const struct hs_run_rank *rank, uint32_t event, int64_t ts,
                     int64_t weight);

struct hs_figures {
    const struct hs_facts *facts;
    struct hs_figure_value at[HS_FIGURE_IDS];
    int64_t gap_ns[HS_GAP_CAUSES];      /* idle time of all devices by cause */
    int64_t slow_rank;                  /* of HS_FIG_SLOW_RANK */
    int64_t small_grid_ns;              /* kernels with less than one block for each multiprocessor */
    bool launch_shapes;                 /* the trace tells how kernels were launched */
    bool memory_events, device_memory;  /* it tells what was allocated on devices; how much memory one has */
    bool sendrecv_untold;               /* kernels that send and receive, and nothing tells for which operation */
    bool shapes, peaks;                 /* shapes of operators were recorded; what the devices can do is known */
    char no_shapes[200];                /* why they were not */
    char no_peaks[200];                 /* of which device it is not known */
    int64_t streaming_ns, attention_ns; /* kernels of HS_FIG_STREAMING, HS_FIG_SLOW_ATTENTION */
    int64_t unused_bytes;               /* of HS_FIG_UNUSED, on the device where it is most */
    int64_t lost;                       /* launches whose device work is not in the trace */
    bool lost_graphs;                   /* some of them of CUDA graphs: nobody knows how much work each was */
    bool loses; /* so many that idle time means nothing: graphs, or a fifth of the idle time at the mean
                                    * duration of what is there */
};

struct hs_figure_doc {
    const char *name, *unit, *of; /* "data_loading_pct", "percent", "of the GPU span" */
};
extern const struct hs_figure_doc hs_figure_docs[HS_FIGURE_IDS];

#define HS_NO_GPU "there is no GPU activity: record with ProfilerActivity.CUDA (or XPU, MTIA)"
#define HS_NO_LAUNCHES "no launches were recorded: record with ProfilerActivity.CPU"

/* Shares and what could be gained, from what the ranks and tables gave; then what cannot be told, and why. */
void hs_figures_share(struct hs_figures *f);

/* `run`: the facts' traces. Takes seconds on traces of many million events. */
int hs_figures_take(struct hs_figures *f, const struct hs_facts *facts, struct hs_run *run, struct hs_err *err);

#endif
