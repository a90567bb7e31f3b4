/* HTA's classes, kinds and lists of names; each line by reading its patterns (classes: ^nccl ^hip ^hccl .*ncclKernel, then
 * ^(hip)?Memcpy ^(hip)?Memset ^dma, then what is no computation). */
#include "analysis/hta_names.h"
#include "tests/unit/test.h"

START_TEST(classes)
{
    static const struct {
        const char *name;
        enum hta_class cls;
    } want[] = {
        {"ncclDevKernel_AllReduce", HTA_COMMUNICATION},
        {"void ncclDevKernel_AllReduce", HTA_COMPUTATION},
        {"void ncclKernel_AllReduce", HTA_COMMUNICATION},
        {"first\nncclKernel", HTA_COMPUTATION},
        {"hipMemcpyAsync", HTA_COMMUNICATION},
        {"hccl_x", HTA_COMMUNICATION},
        {"Memcpy HtoD (Pageable -> Device)", HTA_MEMORY},
        {"Memset (Device)", HTA_MEMORY},
        {"dma_copy", HTA_MEMORY},
        {"copyMemcpyLike", HTA_OTHER},
        {"void foo<DeviceSync>()", HTA_OTHER},
        {"AsyncCopy", HTA_COMPUTATION},
        {"xdma", HTA_OTHER},
        {"Stream Wait Event", HTA_OTHER},
        {"cudaLaunchKernel", HTA_OTHER},
        {"cudaXLaunchKernelY", HTA_OTHER},
        {"cuLaunchKernel", HTA_COMPUTATION},
        {"packet 1", HTA_OTHER},
        {"", HTA_COMPUTATION},
        {"at::native::k", HTA_COMPUTATION},
    };
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++)
        ck_assert_msg(hta_name_class(hs_cstr(want[i].name)) == want[i].cls, "%s", want[i].name);
}
END_TEST

START_TEST(kinds_of_copies)
{
    ck_assert(hs_str_is(hta_memory_kind(hs_cstr("Memcpy HtoD (Pinned -> Device)")), "Memcpy HtoD"));
    ck_assert(hs_str_is(hta_memory_kind(hs_cstr("Memset (Device)")), "Memset"));
    ck_assert(hs_str_is(hta_memory_kind(hs_cstr("Memcpy")), "Memcpy"));
    ck_assert(hs_str_is(hta_memory_kind(hs_cstr("dma x")), "Memcpy Unknown"));
}
END_TEST

START_TEST(steps)
{
    int64_t n = 0;
    ck_assert(hta_step_number(hs_cstr("ProfilerStep#12"), &n) && n == 12);
    ck_assert(hta_step_number(hs_cstr("ProfilerStep # 7x"), &n) && n == 7);
    ck_assert(!hta_step_number(hs_cstr("ProfilerStep*"), &n));
    ck_assert(!hta_step_number(hs_cstr("ProfilerStep#"), &n));
    ck_assert(!hta_step_number(hs_cstr("xProfilerStep#1"), &n));
    ck_assert(hta_step_number(hs_cstr("ProfilerStep#99999999999999999999"), &n) && n == INT64_MAX);
    ck_assert(hta_name_is(hs_cstr("ProfilerStep#1")) & HTA_IS_STEP);
    ck_assert(!(hta_name_is(hs_cstr("ProfilerStep #1")) & HTA_IS_STEP));
    ck_assert(hta_name_is(hs_cstr("ProfilerStep #1")) & HTA_IS_STEP_WORD);
}
END_TEST

START_TEST(lists)
{
    ck_assert(hta_name_is(hs_cstr("cuLaunchKernelEx")) & HTA_IS_LAUNCH);
    ck_assert(!(hta_name_is(hs_cstr("cudaGraphLaunch")) & HTA_IS_LAUNCH));
    ck_assert(!(hta_name_is(hs_cstr("cuLaunchKernel")) & HTA_IS_STATS_LAUNCH));
    ck_assert(!(hta_name_is(hs_cstr("cudaLaunchCooperativeKernel")) & HTA_IS_OP_LAUNCH));
    ck_assert(hta_name_is(hs_cstr("cudaLaunchKernelExC")) & HTA_IS_OP_LAUNCH);
    ck_assert(hta_name_is(hs_cstr("mtia_runtime")) & HTA_IS_MTIA_CPU_CAT);
    ck_assert(!(hta_name_is(hs_cstr("_runtime")) & HTA_IS_MTIA_CPU_CAT));
    ck_assert(hta_name_is(hs_cstr("user_annotation")) & HTA_IS_MTIA_CPU_CAT);
    ck_assert(!(hta_name_is(hs_cstr("gpu_user_annotation")) & HTA_IS_MTIA_CPU_CAT));
    ck_assert(!(hta_name_is(hs_cstr("gpu_mem")) & HTA_IS_MTIA_GPU_CAT));
    ck_assert(hta_name_is(hs_cstr("gpu_memset")) & HTA_IS_MTIA_GPU_CAT);
}
END_TEST

HS_SUITE(hta_names)
{
    HS_TEST(classes);
    HS_TEST(kinds_of_copies);
    HS_TEST(steps);
    HS_TEST(lists);
}
