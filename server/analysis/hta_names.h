/* What HTA 0.6 reads out of a name or a category, by its regular expressions and lists, worked out once per distinct text.
 * HTA matches patterns at the start of the text, and "." stops at a newline; so do these. */
#ifndef HS_ANALYSIS_HTA_NAMES_H
#define HS_ANALYSIS_HTA_NAMES_H

#include "base/mem.h"

enum hta_class { HTA_OTHER, HTA_COMPUTATION, HTA_COMMUNICATION, HTA_MEMORY };

enum hta_is {
    /* as a name */
    HTA_IS_STEP = 1u << 0,         /* ProfilerStep#<n>...: counts for the filter */
    HTA_IS_STEP_WORD = 1u << 1,    /* starts with ProfilerStep */
    HTA_IS_LAUNCH = 1u << 2,       /* the launch calls of queue length and critical path, whole names */
    HTA_IS_STATS_LAUNCH = 1u << 3, /* those of the launch statistics */
    HTA_IS_STATS_COPY = 1u << 4,   /* and those only with include_memory_events */
    HTA_IS_OP_LAUNCH = 1u << 5,    /* those of the aten operator delays, a pattern */
    HTA_IS_ATEN = 1u << 6,         /* starts with aten:: */
    HTA_IS_SYNC = 1u << 7,         /* Event Sync, Context Sync: device rows whatever their stream */
    HTA_IS_STREAM_WAIT = 1u << 8,  /* Stream Wait Event */
    HTA_IS_MEMORY = 1u << 9,       /* a memory kernel, hip ones too */
    HTA_IS_LOCK = 1u << 10,        /* calls that share the runtime's lock, in the critical path */
    HTA_IS_BLOCKING = 1u << 11,    /* calls during which the CPU waits, in the critical path */
    HTA_IS_NCCL_KERNEL = 1u << 12, /* starts with ncclKernel */
    HTA_IS_CUDA_LAUNCH = 1u << 13, /* starts with cudaLaunchKernel */
    HTA_IS_WAIT_EVENT = 1u << 14,  /* cudaStreamWaitEvent */
    HTA_IS_RECORD = 1u << 15,      /* cudaEventRecord */
    /* as a category */
    HTA_IS_GPU_CAT = 1u << 16,      /* kernel, Kernel, gpu_memset, Memset, gpu_memcpy, Memcpy, mtia_ccp_events */
    HTA_IS_MTIA_GPU_CAT = 1u << 17, /* (kernel)|(gpu_mem.+)|(mtia_ccp_events) */
    HTA_IS_MTIA_CPU_CAT = 1u << 18, /* (cpu_op)|(user_annotation$)|((.+)_runtime) */
    HTA_IS_CPU_OP = 1u << 19,
    HTA_IS_USER_ANNOTATION = 1u << 20,
    HTA_IS_GPU_ANNOTATION = 1u << 21,
    HTA_IS_CUDA_SYNC = 1u << 22,
    HTA_IS_CALL_CAT = 1u << 23,      /* cpu_op, cuda_runtime, cuda_driver: has nodes in the critical path */
    HTA_IS_RUNTIME_CAT = 1u << 24,   /* starts with cuda_runtime */
    HTA_IS_PROFILER_RANGE = 1u << 25 /* cuda_profiler_range */
};

uint32_t hta_name_is(struct hs_str s);
enum hta_class hta_name_class(struct hs_str s);

/* Is the text communication by the first pattern of the table? (Asked of short names, too.) */
bool hta_name_is_comm(struct hs_str s);

/* "Memset", "Memcpy HtoD", ..., "Memcpy Unknown"; points into s or to a constant. */
struct hs_str hta_memory_kind(struct hs_str s);

/* The number of ProfilerStep\s*#\s*(\d+); false if the name is not of this form (HTA then refuses the whole trace). */
bool hta_step_number(struct hs_str s, int64_t *number);

bool hta_contains(struct hs_str s, struct hs_str part);

#endif
