#include "analysis/hta_names.h"

#include "trace/names.h"

#include <string.h>

/* What "." can reach from the start: the first line. */
static struct hs_str first_line(struct hs_str s)
{
    const char *nl = s.n ? memchr(s.p, '\n', s.n) : NULL;
    return nl ? hs_str(s.p, (size_t)(nl - s.p)) : s;
}

bool hta_contains(struct hs_str s, struct hs_str part)
{
    return !part.n || (s.n >= part.n && memmem(s.p, s.n, part.p, part.n));
}

static bool starts_with_any(struct hs_str s, const char *const *list)
{
    for (; *list; list++)
        if (hs_str_starts(s, *list))
            return true;
    return false;
}

static bool is_any(struct hs_str s, const char *const *list)
{
    for (; *list; list++)
        if (hs_str_is(s, *list))
            return true;
    return false;
}

bool hta_name_is_comm(struct hs_str s)
{
    static const char *const heads[] = {"nccl", "hip", "hccl", NULL};
    return starts_with_any(s, heads) || hs_str_contains(first_line(s), "ncclKernel");
}

/* head.*tail */
static bool head_then(struct hs_str s, const char *head, const char *tail)
{
    size_t n = strlen(head);
    struct hs_str line = first_line(s);
    return hs_str_starts(line, head) && hs_str_contains(hs_str(line.p + n, line.n - n), tail);
}

enum hta_class hta_name_class(struct hs_str s)
{
    static const char *const heads[] = {"Stream Wait Event",
                                        "runFunction",
                                        "job_exe",
                                        "packet",
                                        "pe_exe",
                                        "cpum_exe_subgraph",
                                        "collective_subgraph_execution",
                                        NULL};
    static const char *const anywhere[] = {"Memcpy", "Memset", "dma", "Sync", NULL};
    if (hta_name_is_comm(s))
        return HTA_COMMUNICATION;
    if (hs_name_is_memory_hta(s))
        return HTA_MEMORY;
    if (starts_with_any(s, heads) || head_then(s, "cuda", "LaunchKernel"))
        return HTA_OTHER;
    struct hs_str line = first_line(s);
    for (const char *const *w = anywhere; *w; w++)
        if (hs_str_contains(line, *w))
            return HTA_OTHER;
    return HTA_COMPUTATION;
}

struct hs_str hta_memory_kind(struct hs_str s)
{
    if (hs_str_starts(s, "Memset"))
        return hs_str(s.p, 6);
    if (hs_str_starts(s, "Memcpy"))
        return hs_str(s.p, s.n < 11 ? s.n : 11);
    return HS_STR("Memcpy Unknown");
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f);
}

bool hta_step_number(struct hs_str s, int64_t *number)
{
    size_t i = strlen("ProfilerStep");
    int64_t v = 0;
    if (!hs_str_starts(s, "ProfilerStep"))
        return false;
    while (i < s.n && is_space(s.p[i]))
        i++;
    if (i == s.n || s.p[i++] != '#')
        return false;
    while (i < s.n && is_space(s.p[i]))
        i++;
    if (i == s.n || s.p[i] < '0' || s.p[i] > '9')
        return false;
    for (; i < s.n && s.p[i] >= '0' && s.p[i] <= '9'; i++)
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, s.p[i] - '0', &v))
            v = INT64_MAX;
    *number = v;
    return true;
}

static uint32_t launch_bits(struct hs_str s)
{
    static const char *const queue[] = {"cudaLaunchKernel",
                                        "cudaLaunchKernelExC",
                                        "cuLaunchKernel",
                                        "cuLaunchKernelEx",
                                        "cudaMemcpyAsync",
                                        "cudaMemsetAsync",
                                        "runFunction - job_prep_and_submit_for_execution",
                                        "hipLaunchKernel",
                                        "hipExtModuleLaunchKernel",
                                        "hipMemsetAsync",
                                        "hipMemcpyAsync",
                                        "hipMemcpyWithStream",
                                        NULL};
    static const char *const stats[] = {"cudaLaunchKernel", "cudaLaunchKernelExC",
                                        "runFunction - job_prep_and_submit_for_execution", NULL};
    static const char *const copies[] = {"cudaMemcpyAsync", "cudaMemsetAsync", NULL};
    uint32_t is = 0;
    if (is_any(s, queue))
        is |= HTA_IS_LAUNCH;
    if (is_any(s, stats))
        is |= HTA_IS_STATS_LAUNCH;
    if (is_any(s, copies))
        is |= HTA_IS_STATS_COPY;
    if (head_then(s, "cuda", "LaunchKernel") || hs_str_starts(s, "cuLaunchKernel") || hs_str_starts(s, "runFunction"))
        is |= HTA_IS_OP_LAUNCH;
    if (hs_str_starts(s, "cudaLaunchKernel"))
        is |= HTA_IS_CUDA_LAUNCH;
    return is;
}

static uint32_t call_bits(struct hs_str s)
{
    static const char *const blocking[] = {"cudaDeviceSynchronize",
                                           "cudaStreamSynchronize",
                                           "cudaEventQuery",
                                           "cudaEventSynchronize",
                                           "cudaMemcpy",
                                           "cudaMemcpyAsync",
                                           NULL};
    static const char *const lock[] = {"cudaHostAlloc", "cudaLaunchKernel", "cudaMemcpyAsync", NULL};
    static const char *const sync[] = {"Event Sync", "Context Sync", NULL};
    uint32_t is = 0;
    if (is_any(s, blocking))
        is |= HTA_IS_BLOCKING;
    if (is_any(s, lock))
        is |= HTA_IS_LOCK;
    if (is_any(s, sync))
        is |= HTA_IS_SYNC;
    if (hs_str_is(s, "Stream Wait Event"))
        is |= HTA_IS_STREAM_WAIT;
    if (hs_str_is(s, "cudaStreamWaitEvent"))
        is |= HTA_IS_WAIT_EVENT;
    if (hs_str_is(s, "cudaEventRecord"))
        is |= HTA_IS_RECORD;
    return is;
}

static uint32_t category_bits(struct hs_str s)
{
    static const char *const gpu[] = {"kernel",     "Kernel", "gpu_memset",      "Memset",
                                      "gpu_memcpy", "Memcpy", "mtia_ccp_events", NULL};
    static const char *const call[] = {"cpu_op", "cuda_runtime", "cuda_driver", NULL};
    struct hs_str line = first_line(s);
    uint32_t is = 0;
    if (is_any(s, gpu))
        is |= HTA_IS_GPU_CAT;
    if (hs_str_starts(s, "kernel") || hs_str_starts(s, "mtia_ccp_events") ||
        (hs_str_starts(line, "gpu_mem") && line.n > strlen("gpu_mem")))
        is |= HTA_IS_MTIA_GPU_CAT;
    if (hs_str_starts(s, "cpu_op") || hs_str_is(s, "user_annotation") ||
        (line.n > 1 && hs_str_contains(hs_str(line.p + 1, line.n - 1), "_runtime")))
        is |= HTA_IS_MTIA_CPU_CAT;
    if (hs_str_is(s, "cpu_op"))
        is |= HTA_IS_CPU_OP;
    if (is_any(s, call))
        is |= HTA_IS_CALL_CAT;
    if (hs_str_is(s, "user_annotation"))
        is |= HTA_IS_USER_ANNOTATION;
    if (hs_str_is(s, "gpu_user_annotation"))
        is |= HTA_IS_GPU_ANNOTATION;
    if (hs_str_is(s, "cuda_sync"))
        is |= HTA_IS_CUDA_SYNC;
    if (hs_str_starts(s, "cuda_runtime"))
        is |= HTA_IS_RUNTIME_CAT;
    if (hs_str_is(s, "cuda_profiler_range"))
        is |= HTA_IS_PROFILER_RANGE;
    return is;
}

uint32_t hta_name_is(struct hs_str s)
{
    uint32_t is = launch_bits(s) | call_bits(s) | category_bits(s);
    if (hs_str_starts(s, "ProfilerStep"))
        is |= HTA_IS_STEP_WORD;
    if (hs_str_starts(s, "ProfilerStep#") && s.n > 13 && s.p[13] >= '0' && s.p[13] <= '9')
        is |= HTA_IS_STEP;
    if (hs_str_starts(s, "aten::"))
        is |= HTA_IS_ATEN;
    if (hs_name_is_memory_hta(s))
        is |= HTA_IS_MEMORY;
    if (hs_str_starts(s, "ncclKernel"))
        is |= HTA_IS_NCCL_KERNEL;
    return is;
}
