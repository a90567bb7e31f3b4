/* What a category and a kernel's name tell of an event: one table each, kept here and nowhere else, so that a new
 * accelerator or a new collective library is one line (classes.c).
 *
 * Both compare without regard to case: writers of 2021 said "Kernel", "Memcpy", "Runtime", "Operator".
 * They are called once per distinct text, never per event. */
#ifndef HS_TRACE_CLASSES_H
#define HS_TRACE_CLASSES_H

#include "base/mem.h"

enum hs_cat_kind {
    HS_CAT_OTHER,          /* none of the below, and events without a category */
    HS_CAT_CPU_OP,         /* operators on the CPU: cpu_op, Operator, hpu_op */
    HS_CAT_ANNOTATION,     /* user_annotation: record_function, ProfilerStep#N */
    HS_CAT_PYTHON,         /* python_function */
    HS_CAT_RUNTIME,        /* calls of a runtime or driver API: cuda_runtime, cuda_driver, hip_*, mtia_runtime, xpu_* */
    HS_CAT_KERNEL,         /* device work that computes or communicates: kernel, mtia_ccp_events */
    HS_CAT_MEMCPY,         /* gpu_memcpy */
    HS_CAT_MEMSET,         /* gpu_memset */
    HS_CAT_SYNC,           /* device rows that only wait: cuda_sync, xpu_sync, cuda_event, MTIA's event_wait; no work */
    HS_CAT_GPU_ANNOTATION, /* gpu_user_annotation: covers kernels, is none */
    HS_CAT_DEVICE_OTHER,   /* other rows of device lanes: counters ranges, mtia_insight; no work */
    HS_CAT_MEMORY,         /* cpu_instant_event, memory_timeline: allocations and frees */
    HS_CAT_FLOW,           /* ac2g, async_cpu_to_gpu, async_gpu, fwdbwd, cpu_to_cuda */
    HS_CAT_OVERHEAD,       /* the profiler's own cost */
    HS_CAT_TRACE           /* the writer's own spans: Trace */
};
enum hs_cat_kind hs_cat_kind(struct hs_str cat);

/* MTIA's firmware writes its work, its copies and its waiting in one category; there the row's name tells which.
 * hs_cat_is_mixed says for which categories hs_cat_kind_named can say something else than hs_cat_kind. */
bool hs_cat_is_mixed(struct hs_str cat);
enum hs_cat_kind hs_cat_kind_named(struct hs_str cat, struct hs_str name);

/* Kernel, copy or memset: what counts as busy time of a device. */
static inline bool hs_cat_is_device_work(enum hs_cat_kind k)
{
    return k == HS_CAT_KERNEL || k == HS_CAT_MEMCPY || k == HS_CAT_MEMSET;
}

/* Any row that stands on a device's lane, work or not: its stream and device are told by its args. */
static inline bool hs_cat_is_device(enum hs_cat_kind k)
{
    return k >= HS_CAT_KERNEL && k <= HS_CAT_DEVICE_OTHER;
}

/* Pieces of names that a site has for its own communication kernels, beside the table's. The texts are someone else's. */
struct hs_comm_names {
    const char *const *p;
    size_t n;
};

/* Is a kernel of this name communication? A guess by pattern, for kernels whose args do not name a collective: the
 * libraries' kernels (NCCL, RCCL, HCCL, MCCL, oneCCL, NVSHMEM, DeepEP) and the known custom collectives; then those of `own`, found
 * anywhere in the name. Names of copies and memsets ("Memcpy PtoP") are not meant for it. */
bool hs_is_comm_name(struct hs_str kernel_name, const struct hs_comm_names *own);

/* A matrix kernel of cuBLAS or CUTLASS in single precision that does not use tensor cores. */
bool hs_is_fp32_matrix(struct hs_str kernel_name);

#endif
