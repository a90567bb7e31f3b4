#include "trace/classes.h"

#include <ctype.h>
#include <string.h>

enum match { EXACT, PREFIX, SUFFIX };

/* First match wins. Sources: the activity names of libkineto (ActivityType.cpp), its writer's own categories, and the
 * spellings of the legacy autograd profiler. */
static const struct {
    enum match how;
    const char *text; /* lower case */
    enum hs_cat_kind kind;
} g_cats[] = {
    {EXACT, "cpu_op", HS_CAT_CPU_OP},
    {EXACT, "operator", HS_CAT_CPU_OP},
    {EXACT, "hpu_op", HS_CAT_CPU_OP},
    {EXACT, "user_annotation", HS_CAT_ANNOTATION},
    {EXACT, "python_function", HS_CAT_PYTHON},
    {EXACT, "kernel", HS_CAT_KERNEL},
    {EXACT, "mtia_ccp_events", HS_CAT_KERNEL},
    {EXACT, "concurrent_kernel", HS_CAT_KERNEL},
    {EXACT, "gpu_op", HS_CAT_KERNEL},
    {EXACT, "collective_comm", HS_CAT_KERNEL},
    {EXACT, "gpu_memcpy", HS_CAT_MEMCPY},
    {EXACT, "memcpy", HS_CAT_MEMCPY},
    {EXACT, "gpu_memset", HS_CAT_MEMSET},
    {EXACT, "memset", HS_CAT_MEMSET},
    {EXACT, "cuda_sync", HS_CAT_SYNC},
    {EXACT, "xpu_sync", HS_CAT_SYNC},
    {EXACT, "cuda_event", HS_CAT_SYNC},
    {EXACT, "gpu_user_annotation", HS_CAT_GPU_ANNOTATION},
    {EXACT, "cuda_profiler_range", HS_CAT_DEVICE_OTHER},
    {EXACT, "xpu_scope_profiler", HS_CAT_DEVICE_OTHER},
    {EXACT, "mtia_insight", HS_CAT_DEVICE_OTHER},
    {EXACT, "cpu_instant_event", HS_CAT_MEMORY},
    {EXACT, "memory_timeline", HS_CAT_MEMORY}, /* ours, see trace/view.h */
    {EXACT, "ac2g", HS_CAT_FLOW},
    {EXACT, "fwdbwd", HS_CAT_FLOW},
    {EXACT, "async_cpu_to_gpu", HS_CAT_FLOW},
    {EXACT, "async_gpu", HS_CAT_FLOW},
    {EXACT, "cpu_to_cuda", HS_CAT_FLOW},
    {EXACT, "forward_backward", HS_CAT_FLOW},
    {EXACT, "overhead", HS_CAT_OVERHEAD},
    {EXACT, "trace", HS_CAT_TRACE},
    {EXACT, "runtime", HS_CAT_RUNTIME},
    {PREFIX, "cuda_runtime", HS_CAT_RUNTIME},
    {PREFIX, "cuda_driver", HS_CAT_RUNTIME},
    {PREFIX, "hip", HS_CAT_RUNTIME},
    {SUFFIX, "_runtime", HS_CAT_RUNTIME},
    {SUFFIX, "_driver", HS_CAT_RUNTIME},
};

/* Starts of names in the categories that put all their rows together. First match wins. */
static const struct {
    const char *cat, *start; /* lower case */
    enum hs_cat_kind kind;
} g_named[] = {
    {"mtia_ccp_events", "event_", HS_CAT_SYNC}, /* event_wait, event_record */
    {"mtia_ccp_events", "dma", HS_CAT_MEMCPY},  /* dma_request; HTA takes names that start so for memory, too */
};

/* Lower-case pieces of kernel names. WORD: the piece starts the name or follows something that is no letter or digit,
 * so that a three-letter library name inside another word does not count. */
enum where { ANYWHERE, WORD };
static const struct {
    enum where where;
    const char *text;
} g_comm[] = {
    {ANYWHERE, "nccl"}, /* ncclKernel_*, ncclDevKernel_*, ncclx; RCCL keeps these names too */
    {WORD, "rccl"},
    {WORD, "hccl"},
    {WORD, "mccl"},
    {ANYWHERE, "oneccl"},
    {ANYWHERE, "nvshmem"},
    {ANYWHERE, "rocshmem"},
    {ANYWHERE, "deep_ep"}, /* deep_ep::intranode::dispatch, deep_ep::internode_ll::combine */
    {ANYWHERE, "deepep"},
    {ANYWHERE, "cross_device_reduce"},
    {ANYWHERE, "multimem_"}, /* multimem_all_reduce, multimem_one_shot_all_reduce, multimem_all_gather */
    {ANYWHERE, "one_shot_all_reduce"},
    {ANYWHERE, "two_shot_all_reduce"},
    {ANYWHERE, "oneshotallreduce"},
    {ANYWHERE, "twoshotallreduce"},
    {ANYWHERE, "allreduce_fusion"}, /* FlashInfer, TensorRT-LLM */
    {ANYWHERE, "vllm::all_reduce"},
    {ANYWHERE, "lamport_all_reduce"},
};

static bool starts_nocase(const char *p, size_t n, const char *start)
{
    size_t i = 0;
    for (; start[i]; i++)
        if (i == n || tolower((unsigned char)p[i]) != tolower((unsigned char)start[i]))
            return false;
    return true;
}

static bool matches(struct hs_str s, enum match how, const char *lower)
{
    size_t n = strlen(lower);
    if (s.n < n || (how == EXACT && s.n != n))
        return false;
    return starts_nocase(how == SUFFIX ? s.p + (s.n - n) : s.p, n, lower);
}

enum hs_cat_kind hs_cat_kind(struct hs_str cat)
{
    for (size_t i = 0; i < sizeof g_cats / sizeof g_cats[0]; i++)
        if (matches(cat, g_cats[i].how, g_cats[i].text))
            return g_cats[i].kind;
    return HS_CAT_OTHER;
}

bool hs_cat_is_mixed(struct hs_str cat)
{
    for (size_t i = 0; i < sizeof g_named / sizeof g_named[0]; i++)
        if (matches(cat, EXACT, g_named[i].cat))
            return true;
    return false;
}

enum hs_cat_kind hs_cat_kind_named(struct hs_str cat, struct hs_str name)
{
    for (size_t i = 0; i < sizeof g_named / sizeof g_named[0]; i++)
        if (matches(cat, EXACT, g_named[i].cat) && matches(name, PREFIX, g_named[i].start))
            return g_named[i].kind;
    return hs_cat_kind(cat);
}

static bool contains_nocase(struct hs_str s, const char *part, enum where where)
{
    for (size_t i = 0; i < s.n; i++) {
        if (where == WORD && i && isalnum((unsigned char)s.p[i - 1]))
            continue;
        if (starts_nocase(s.p + i, s.n - i, part))
            return true;
    }
    return false;
}

bool hs_is_comm_name(struct hs_str kernel_name, const struct hs_comm_names *own)
{
    for (size_t i = 0; i < own->n; i++)
        if (contains_nocase(kernel_name, own->p[i], ANYWHERE))
            return true;
    /* Inductor names a fused Triton kernel after every operator it fuses, collectives' neighbours among them. */
    if (starts_nocase(kernel_name.p, kernel_name.n, "triton_"))
        return false;
    for (size_t i = 0; i < sizeof g_comm / sizeof g_comm[0]; i++)
        if (contains_nocase(kernel_name, g_comm[i].text, g_comm[i].where))
            return true;
    return false;
}

bool hs_is_fp32_matrix(struct hs_str name)
{
    bool plain = hs_str_contains(name, "sgemm") || hs_str_contains(name, "scudnn") || hs_str_contains(name, "_simt_");
    return plain && !hs_str_contains(name, "tf32") && !hs_str_contains(name, "tensorop") &&
           !hs_str_contains(name, "s1688");
}
