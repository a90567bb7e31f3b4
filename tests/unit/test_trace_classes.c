/* Categories and communication kernels, by the names that real traces and the libraries' sources have. */
#include "trace/classes.h"

#include "tests/unit/test.h"

START_TEST(categories)
{
    static const struct {
        const char *cat;
        enum hs_cat_kind kind;
    } c[] = {{"cpu_op", HS_CAT_CPU_OP},
             {"Operator", HS_CAT_CPU_OP},
             {"user_annotation", HS_CAT_ANNOTATION},
             {"gpu_user_annotation", HS_CAT_GPU_ANNOTATION},
             {"python_function", HS_CAT_PYTHON},
             {"cuda_runtime", HS_CAT_RUNTIME},
             {"cuda_driver", HS_CAT_RUNTIME},
             {"Runtime", HS_CAT_RUNTIME},
             {"mtia_runtime", HS_CAT_RUNTIME},
             {"privateuse1_driver", HS_CAT_RUNTIME},
             {"kernel", HS_CAT_KERNEL},
             {"Kernel", HS_CAT_KERNEL},
             {"mtia_ccp_events", HS_CAT_KERNEL},
             {"gpu_memcpy", HS_CAT_MEMCPY},
             {"Memcpy", HS_CAT_MEMCPY},
             {"Memset", HS_CAT_MEMSET},
             {"cuda_sync", HS_CAT_SYNC},
             {"cpu_instant_event", HS_CAT_MEMORY},
             {"ac2g", HS_CAT_FLOW},
             {"Trace", HS_CAT_TRACE},
             {"overhead", HS_CAT_OVERHEAD},
             {"", HS_CAT_OTHER},
             {"kernels", HS_CAT_OTHER},
             {"cpu_op2", HS_CAT_OTHER}};
    for (size_t i = 0; i < sizeof c / sizeof c[0]; i++)
        ck_assert_msg(hs_cat_kind(hs_cstr(c[i].cat)) == c[i].kind, "%s", c[i].cat);
    ck_assert(hs_cat_is_device_work(HS_CAT_MEMSET) && !hs_cat_is_device_work(HS_CAT_SYNC));
    ck_assert(hs_cat_is_device(HS_CAT_SYNC) && hs_cat_is_device(HS_CAT_GPU_ANNOTATION) &&
              !hs_cat_is_device(HS_CAT_RUNTIME));
}
END_TEST

/* MTIA's firmware puts all its rows into one category. */
START_TEST(mixed_category)
{
    struct hs_str mtia = HS_STR("mtia_ccp_events"), cuda = HS_STR("kernel");
    ck_assert(hs_cat_is_mixed(mtia) && !hs_cat_is_mixed(cuda) && !hs_cat_is_mixed(HS_STR("")));
    ck_assert_int_eq(hs_cat_kind_named(mtia, HS_STR("event_wait")), HS_CAT_SYNC);
    ck_assert_int_eq(hs_cat_kind_named(mtia, HS_STR("event_record")), HS_CAT_SYNC);
    ck_assert_int_eq(hs_cat_kind_named(mtia, HS_STR("dma_request")), HS_CAT_MEMCPY);
    ck_assert_int_eq(hs_cat_kind_named(mtia, HS_STR("pe_exe")), HS_CAT_KERNEL);
    ck_assert_int_eq(hs_cat_kind_named(mtia, HS_STR("even")), HS_CAT_KERNEL);
    ck_assert_int_eq(hs_cat_kind_named(cuda, HS_STR("event_wait")), HS_CAT_KERNEL);
    ck_assert_int_eq(hs_cat_kind_named(cuda, HS_STR("dma_request")), HS_CAT_KERNEL);
}
END_TEST

START_TEST(communication)
{
    static const char *const yes[] = {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)",
                                      "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)",
                                      "void ncclDevKernel_SendRecv(x)",
                                      "NCCLDEVKERNEL_ReduceScatter",
                                      "hccl::AllReduce",
                                      "rccl_main_kernel",
                                      "void vllm::cross_device_reduce_2stage<__half, 8>(x)",
                                      "multimem_all_reduce_kernel<float>",
                                      "void one_shot_all_reduce_kernel<c10::BFloat16>(x)",
                                      "deep_ep::intranode::dispatch<8, 768>",
                                      "nvshmemi_transfer_rma"};
    static const char *const no[] = {"void at::native::reduce_kernel<512, 1>(x)",
                                     "ampere_sgemm_128x64_tn",
                                     "triton_poi_fused_all_reduce_nccl_add_0",
                                     "hipMemcpyKernel",
                                     "accland",
                                     "xrccl", /* inside a word */
                                     ""};
    struct hs_comm_names none = {NULL, 0}, own = {(const char *const[]){"Fabric_sum", "wire"}, 2};
    ck_assert(hs_is_comm_name(HS_STR("acme::fabric_SUM<float>"), &own));
    ck_assert(hs_is_comm_name(HS_STR("triton_poi_rewired"), &own)); /* who names it means it */
    ck_assert(hs_is_comm_name(HS_STR("ncclDevKernel_SendRecv"), &own));
    ck_assert(!hs_is_comm_name(HS_STR("acme::fabric_su"), &own));
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++)
        ck_assert_msg(hs_is_comm_name(hs_cstr(yes[i]), &none), "%s", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++)
        ck_assert_msg(!hs_is_comm_name(hs_cstr(no[i]), &none), "%s", no[i]);
}
END_TEST

HS_SUITE(trace_classes)
{
    HS_TEST(categories);
    HS_TEST(mixed_category);
    HS_TEST(communication);
}
