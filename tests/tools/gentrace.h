/* gentrace.h - what the parts of the trace generator share.
 *
 * gentrace writes Kineto traces of a made-up training job and the true answers beside them. The job is
 * simulated, not sampled: a CPU clock runs through the ops of a step, launches put work on GPU streams, streams
 * and collectives decide when it runs. Since every number is known when it is made, the truth needs no parsing.
 *
 *   gentrace.c        options, the loop over steps
 *   gentrace_model.c  the training program: loader, forward, backward, gradients across ranks, optimiser
 *   gentrace_ops.c    the ops of a layer, forward and backward, and what the stories do to them
 *   gentrace_sim.c    one rank: CPU clock, call stack, launches, streams
 *   gentrace_table.c  the kernels, copies and stories there are
 *   gentrace_write.c  Kineto's text of an event
 *   gentrace_out.c    the files it goes to
 *   gentrace_meta.c   head and tail of a file
 *   gentrace_truth.c  sums of what was made, truth.json
 *
 * All times are int64 nanoseconds. No floating point anywhere, so a seed gives the same bytes on every machine. */
#ifndef GENTRACE_H
#define GENTRACE_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_RANKS = 1024, MAX_STREAMS = 16, QUEUE_DEPTH = 1024, MAX_DEPTH = 32, GPUS_PER_NODE = 8 };

enum style { STYLE_US, STYLE_NS };

/* One line of the story table: how the job differs from a healthy one. Percentages of the healthy value. */
struct story {
    const char *name, *cause;
    int ranks;         /* ranks unless told otherwise */
    int compute_pct;   /* length of kernels */
    int dominant_pct;  /* length of attention's backward kernel, on top */
    int straggler_pct; /* length of kernels on the one slow rank */
    int comm_pct;      /* time on the wire */
    int64_t loader_ns; /* data loading on the main thread, per layer so that it scales with the step */
    int tiny_kernels;  /* further small kernels per op */
    bool exposed, sync, pageable, mallocs, graph;
};

struct options {
    const char *dir, *prefix;
    const struct story *story;
    uint64_t seed;
    int64_t ranks, steps, streams, layers, events;
    enum style style;
    bool gzip, stacks, memory;
};

struct prng {
    uint64_t state;
};
uint64_t prng_next(struct prng *p);
int64_t prng_below(struct prng *p, int64_t n);
int64_t prng_jitter(struct prng *p, int64_t value, int64_t percent);

/* ---- tables ---- */
enum kernel_id {
    K_EMBED,
    K_EMBED_BWD,
    K_NORM,
    K_NORM_BWD,
    K_NORM_GRAD,
    K_GEMM,
    K_GEMM_DX,
    K_GEMM_DW,
    K_BIAS,
    K_ATTN,
    K_ATTN_BWD,
    K_ADD,
    K_GELU,
    K_GELU_BWD,
    K_DROPOUT,
    K_DROPOUT_BWD,
    K_RANDOM,
    K_CAST,
    K_SOFTMAX,
    K_SOFTMAX_BWD,
    K_NLL,
    K_NLL_BWD,
    K_ADAM,
    K_ALLREDUCE,
    K_COUNT,
    K_NONE = -1
};
struct kernel_info {
    const char *name[2]; /* by style: the two eras call the same work differently */
    int registers, shared;
    int grid[3], block[3];
    int occupancy;
    int64_t ns;
};
extern const struct kernel_info kernel_table[K_COUNT];

enum copy_id { C_H2D_PINNED, C_H2D_PAGEABLE, C_D2H, C_D2D, C_MEMSET, C_COUNT };
struct copy_info {
    const char *name;
    int64_t bytes_per_us;
};
extern const struct copy_info copy_table[C_COUNT];

extern const struct story story_table[];
const struct story *story_find(const char *name);

/* ---- output: a buffered file, plain or gzip ---- */
struct out;
struct out *out_open(const char *path, bool gzip);
void out_text(struct out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void out_bytes(struct out *o, const char *bytes, size_t n);
void out_close(struct out *o);
_Noreturn void die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void *grow(void *array, size_t *capacity, size_t needed, size_t element);

/* ---- what happens on the CPU ---- */
enum category {
    CAT_NONE,
    CAT_CPU_OP,
    CAT_USER_ANNOTATION,
    CAT_PYTHON,
    CAT_INSTANT,
    CAT_RUNTIME,
    CAT_KERNEL,
    CAT_MEMCPY,
    CAT_MEMSET,
    CAT_GPU_ANNOTATION,
    CAT_AC2G,
    CAT_FWDBWD,
    CAT_OVERHEAD,
    CAT_TRACE,
    CAT_COUNT
};
extern const char *const category_name[CAT_COUNT];

/* An event of the CPU. Kept until its step ends, for a parent stands before its children in the file and its
 * length is known only after them. The name is prefix + name + number, each of which may be absent. */
struct cpu_event {
    enum category cat;
    const char *prefix, *name, *dims;
    int64_t number; /* -1: none */
    int64_t tid, ts, dur;
    int64_t external, index; /* "External id", "Ev Idx" */
    int64_t sequence;        /* -1: none */
    int64_t flow;            /* forward-backward arrow that touches the event, 0: none */
    bool backward;
    int64_t py_id, py_parent; /* -1: no parent */
    int64_t comm_seq, comm_elements;
    int64_t addr, bytes, allocated, reserved;
};

/* ---- what happens on the GPU ---- */
struct activity {
    enum category cat; /* CAT_KERNEL, CAT_MEMCPY, CAT_MEMSET */
    int id;            /* kernel_id or copy_id */
    int stream;        /* index into rank.streams */
    int scale;         /* of the grid */
    int64_t ts, end, launch_ts, launch_end;
    int64_t correlation, external, bytes;
    int64_t comm_seq, comm_elements;
    int64_t graph_node; /* 0: launched alone */
};

/* ---- truth ---- */
struct sum {
    int64_t n, total, min, max;
};
struct span {
    int64_t ts, end;
};
struct cover {
    int64_t total, end;
    bool any;
}; /* length of a union of intervals met in order of start */
enum { COVER_ALL, COVER_COMPUTE, COVER_COMM, COVER_MEMORY, COVER_COMPUTE_OR_COMM, COVER_COUNT };
enum { IDLE_HOST, IDLE_KERNEL, IDLE_OTHER, IDLE_COUNT };
struct stream_truth {
    int64_t activities, busy, first, last;
    struct sum idle[IDLE_COUNT];
};
struct step_truth {
    int64_t number, ts, dur;
};
struct pending {
    struct span at;
    enum category cat;
    bool comm;
};

struct truth {
    int64_t categories[CAT_COUNT], phases[128], events;
    struct sum kernels[K_COUNT], copies[C_COUNT], delay;
    struct cover cover[COVER_COUNT];
    struct stream_truth streams[MAX_STREAMS];
    int64_t first, last, negative_delays, launches, empty_launches, comm_count, comm_wait, comm_transfer,
        peak_allocated;
    struct pending *pending; /* activities that later ones may still precede */
    size_t n_pending, cap_pending;
    struct step_truth *steps;
    size_t n_steps, cap_steps;
};
void truth_activity(struct truth *t, const struct activity *a);
void truth_settle(struct truth *t, int64_t until);
void truth_step(struct truth *t, int64_t number, int64_t ts, int64_t dur);

/* ---- one rank ---- */
struct stream {
    int64_t number;   /* as CUDA numbers it */
    int64_t tail;     /* end of the last work on it */
    int64_t wait_for; /* an event that the next work waits for */
    int64_t n, ends[QUEUE_DEPTH];
};
struct forward {
    int64_t sequence, flow, addr, bytes;
};

struct rank {
    const struct options *opt;
    struct prng rng;
    int64_t number, device, pid, main_tid, autograd_tid, tid;
    int64_t unit; /* grid of all times: 1 ns, or 1000 in the microsecond style */
    int64_t base, origin, now;
    int compute_pct;
    struct stream streams[MAX_STREAMS];
    int n_streams, comm_stream; /* comm_stream -1: a job of one rank */
    struct out *file, *spill;   /* Kineto writes CPU ops first, so launches and GPU work wait in a file of their own */
    char path[4096], spill_path[4096];
    struct cpu_event *events;
    size_t n_events, cap_events;
    size_t open[MAX_DEPTH];
    int depth;
    int64_t py_open[MAX_DEPTH];
    int py_depth;
    int64_t external, index, correlation, sequence, flow, py_id, node, allocated, reserved;
    struct forward *forwards; /* ops that backward will meet in reverse */
    size_t n_forwards, cap_forwards;
    struct activity comm;                /* the collective whose end the other ranks decide */
    struct span step_gpu, optimizer_gpu; /* of the compute stream, for the GPU's copy of the annotations */
    bool in_optimizer;
    struct truth truth;
};

/* gentrace_sim.c */
void rank_tick(struct rank *r, int64_t ns);
size_t event_open(struct rank *r, enum category cat, const char *name);
void event_close(struct rank *r);
void memory_event(struct rank *r, int64_t addr, int64_t bytes);
void sim_call(struct rank *r, const char *name, int cbid, int64_t ns, int64_t not_before);
void sim_kernel(struct rank *r, int stream, int kernel, int scale);
void sim_graph(struct rank *r, int stream, const int *kernels, size_t n);
void sim_copy(struct rank *r, int stream, enum copy_id copy, int64_t bytes);
void sim_order(struct rank *r, int before, int after);
void sim_sync_stream(struct rank *r, int stream);
void sim_sync_device(struct rank *r);
void sim_lost_launch(struct rank *r);
int64_t sim_comm_launch(struct rank *r, int64_t seq, int64_t elements);
void sim_comm_end(struct rank *r, int64_t latest, int64_t end);

/* gentrace_ops.c */
void frame_open(struct rank *r, const char *name, int64_t number);
void frame_close(struct rank *r, const char *name);
void op_item(struct rank *r);
void ops_forward(struct rank *r);
void ops_backward_loss(struct rank *r);
void ops_backward_layer(struct rank *r);
void ops_backward_embedding(struct rank *r);

/* gentrace_model.c */
void model_step(struct rank *ranks, const struct options *opt, int64_t step, struct prng *wire);
void model_end(struct rank *r);

/* gentrace_write.c */
const char *time_text(const struct rank *r, int64_t ns);
const char *stamp_text(const struct rank *r, int64_t ns);
const char *ratio_text(const struct rank *r, int64_t part, int64_t whole);
void count(struct rank *r, char phase, enum category cat);
void write_cpu_event(struct rank *r, const struct cpu_event *e);
void write_call(struct rank *r, const char *name, int cbid, const struct activity *a, bool launches);
void write_activity(struct rank *r, const struct activity *a);
void write_gpu_annotation(struct rank *r, const char *name, int64_t number, struct span at, int64_t external);

/* gentrace_meta.c */
int64_t sm_count(enum style style);
void write_head(struct rank *r);
void write_tail(struct rank *r);

void truth_write(const struct options *opt, const struct rank *ranks, int64_t straggler, int64_t steps);

#endif
