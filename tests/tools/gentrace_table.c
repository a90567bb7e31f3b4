/* gentrace_table.c - the kernels, copies and stories there are. */
#include "gentrace.h"

#include <string.h>

#define ELEMENTWISE "void at::native::vectorized_elementwise_kernel<4, "

/* Names as the two eras write them, grids and occupancies of the order that real traces show. */
const struct kernel_info kernel_table[K_COUNT] = {
    [K_EMBED] = {{"void at::native::(anonymous namespace)::indexSelectLargeIndex<float, long, unsigned int, 2, 2, -2, "
                  "true>(at::cuda::detail::TensorInfo<float, unsigned int>, long)",
                  "void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, long, unsigned int, 2, "
                  "2, -2, true>(at::cuda::detail::TensorInfo<c10::BFloat16, unsigned int>, long)"},
                 32,
                 0,
                 {1056, 1, 1},
                 {128, 1, 1},
                 62,
                 24000},
    [K_EMBED_BWD] = {{"void at::native::(anonymous namespace)::compute_grad_weight<float, long>(long*, float*, long*, "
                      "long, unsigned long)",
                      "void at::native::(anonymous namespace)::compute_grad_weight<c10::BFloat16, long>(long*, "
                      "c10::BFloat16*, long*, long, unsigned long)"},
                     28,
                     0,
                     {512, 1, 1},
                     {128, 1, 1},
                     44,
                     61000},
    [K_NORM] =
        {{"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int, float, float "
          "const*, float const*, float const*, float*, float*, float*)",
          "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float, false>(int, "
          "float, c10::BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 const*, float*, float*, c10::BFloat16*)"},
         34,
         24,
         {8192, 1, 1},
         {32, 4, 1},
         75,
         38000},
    [K_NORM_BWD] = {{"void at::native::(anonymous namespace)::layer_norm_grad_input_kernel<float, float>(float const*, "
                     "float const*, float const*, float const*, float const*, float*, int)",
                     "void at::native::(anonymous namespace)::layer_norm_grad_input_kernel_vectorized<c10::BFloat16, "
                     "float, false>(c10::BFloat16 const*, c10::BFloat16 const*, float const*, float const*, "
                     "c10::BFloat16 const*, c10::BFloat16*, int)"},
                    40,
                    128,
                    {8192, 1, 1},
                    {128, 1, 1},
                    69,
                    52000},
    [K_NORM_GRAD] = {{"void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernel<float, float>(long, long, "
                      "float const*, float const*, float const*, float const*, float*, float*)",
                      "void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernelTemplate<c10::BFloat16, "
                      "float, 32u, 32u, 256u, false, false, false>(long, long, c10::BFloat16 const*, c10::BFloat16 "
                      "const*, float const*, float const*, c10::BFloat16*, c10::BFloat16*)"},
                     48,
                     8448,
                     {32, 1, 1},
                     {32, 32, 1},
                     12,
                     31000},
    [K_GEMM] = {{"volta_fp16_s884gemm_fp16_128x64_ldg8_f2f_tn", "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_bias_TNT"},
                122,
                12544,
                {256, 4, 1},
                {128, 1, 1},
                25,
                165000},
    [K_GEMM_DX] = {{"volta_fp16_s884gemm_fp16_128x64_ldg8_f2f_nn", "nvjet_tst_256x128_64x4_2x1_v_bz_coopA_NNT"},
                   126,
                   12544,
                   {128, 8, 1},
                   {128, 1, 1},
                   25,
                   172000},
    [K_GEMM_DW] = {{"volta_fp16_s884gemm_fp16_128x64_ldg8_f2f_nt", "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_NTT"},
                   120,
                   12544,
                   {64, 16, 1},
                   {128, 1, 1},
                   25,
                   181000},
    [K_BIAS] = {{"void at::native::reduce_kernel<128, 4, at::native::ReduceOp<float, at::native::func_wrapper_t<float, "
                 "at::native::sum_functor<float, float, float>::operator()(at::TensorIterator&)::{lambda(float, "
                 "float)#1}>, unsigned int, float, 4> >(at::native::ReduceOp<float>)",
                 "void at::native::reduce_kernel<128, 4, at::native::ReduceOp<c10::BFloat16, "
                 "at::native::func_wrapper_t<c10::BFloat16, at::native::sum_functor<c10::BFloat16, float, "
                 "c10::BFloat16>::operator()(at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, "
                 "c10::BFloat16, 4, 4> >(at::native::ReduceOp<c10::BFloat16>)"},
                32,
                16,
                {8, 8, 1},
                {32, 4, 1},
                6,
                17000},
    [K_ATTN] =
        {{"fmha_cutlassF_f32_aligned_64x64_rf_sm70(PyTorchMemEffAttention::AttentionKernel<float, cutlass::arch::Sm70, "
          "true, 64, 64, 64, true, true>::Params)",
          "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, "
          "cutlass::bfloat16_t>, false, true, false, false, true, false, false>(pytorch_flash::Flash_fwd_params)"},
         255,
         49152,
         {8, 128, 1},
         {128, 1, 1},
         12,
         214000},
    [K_ATTN_BWD] = {{"fmha_cutlassB_f32_aligned_64x64_k64_sm70(PyTorchMemEffAttention::AttentionBackwardKernel<cutlass:"
                     ":arch::Sm70, float, true, false, false, 64, 64, 64>::Params)",
                     "void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<64, "
                     "128, 128, 8, 4, 4, 4, false, false, cutlass::bfloat16_t>, false, true, false, false, true, "
                     "false, false>(pytorch_flash::Flash_bwd_params)"},
                    255,
                    147456,
                    {8, 16, 8},
                    {256, 1, 1},
                    12,
                    486000},
    [K_ADD] = {{ELEMENTWISE "at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >(int, "
                            "at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3>)",
                ELEMENTWISE "at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul> >(int, "
                            "at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)"},
               22,
               0,
               {16384, 1, 1},
               {128, 1, 1},
               100,
               29000},
    [K_GELU] = {{ELEMENTWISE
                 "at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, "
                 "at::native::GeluType)::{lambda()#2}::operator()() const::{lambda()#2}::operator()() "
                 "const::{lambda(float)#1}, at::detail::Array<char*, 2> >(int, at::detail::Array<char*, 2>)",
                 ELEMENTWISE "at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, "
                             "at::native::GeluType)::{lambda()#2}::operator()() const::{lambda()#4}::operator()() "
                             "const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> >(int, std::array<char*, 2ul>)"},
                26,
                0,
                {32768, 1, 1},
                {128, 1, 1},
                100,
                47000},
    [K_GELU_BWD] =
        {{ELEMENTWISE
          "at::native::GeluBackwardCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda(float, "
          "float)#1}, at::detail::Array<char*, 3> >(int, at::detail::Array<char*, 3>)",
          ELEMENTWISE "at::native::GeluBackwardCUDAKernelImpl(at::TensorIteratorBase&, "
                      "at::native::GeluType)::{lambda(c10::BFloat16, c10::BFloat16)#1}, std::array<char*, 3ul> >(int, "
                      "std::array<char*, 3ul>)"},
         30,
         0,
         {32768, 1, 1},
         {128, 1, 1},
         94,
         63000},
    [K_DROPOUT] =
        {{"void at::native::(anonymous namespace)::fused_dropout_kernel_vec<float, float, unsigned int, 1, 4, "
          "bool>(at::cuda::detail::TensorInfo<float, unsigned int>, unsigned int, float, at::PhiloxCudaState)",
          "void at::native::(anonymous namespace)::fused_dropout_kernel_vec<c10::BFloat16, float, unsigned int, 1, 8, "
          "bool>(at::cuda::detail::TensorInfo<c10::BFloat16, unsigned int>, unsigned int, float, at::PhiloxCudaState)"},
         36,
         0,
         {1056, 1, 1},
         {256, 1, 1},
         81,
         33000},
    [K_DROPOUT_BWD] =
        {{ELEMENTWISE
          "at::native::(anonymous namespace)::masked_scale_kernel<bool, float, float>(at::Tensor&, "
          "float)::{lambda(float, bool)#1}, at::detail::Array<char*, 3> >(int, at::detail::Array<char*, 3>)",
          ELEMENTWISE "at::native::(anonymous namespace)::masked_scale_kernel<bool, c10::BFloat16, float>(at::Tensor&, "
                      "float)::{lambda(c10::BFloat16, bool)#1}, std::array<char*, 3ul> >(int, std::array<char*, 3ul>)"},
         24,
         0,
         {16384, 1, 1},
         {128, 1, 1},
         100,
         27000},
    [K_RANDOM] = {{"void at::native::(anonymous namespace)::distribution_elementwise_grid_stride_kernel<float, 4>(int, "
                   "at::PhiloxCudaState)",
                   "void at::native::(anonymous namespace)::distribution_elementwise_grid_stride_kernel<float, "
                   "4>(long, at::PhiloxCudaState)"},
                  50,
                  0,
                  {1056, 1, 1},
                  {256, 1, 1},
                  56,
                  90000},
    [K_CAST] = {{"void "
                 "at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&):"
                 ":{lambda(float)#1}, at::detail::Array<char*, 2> >(int, at::detail::Array<char*, 2>)",
                 "void "
                 "at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&):"
                 ":{lambda(float)#1}, std::array<char*, 2ul> >(int, std::array<char*, 2ul>)"},
                20,
                0,
                {24, 1, 1},
                {128, 1, 1},
                2,
                2400},
    [K_SOFTMAX] = {{"void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, true, false>(float*, "
                    "float const*, int, int, int, bool const*, int, bool)",
                    "void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, c10::BFloat16, float, float, "
                    "at::native::(anonymous namespace)::LogSoftMaxForwardEpilogue>(float*, c10::BFloat16 const*, int)"},
                   40,
                   0,
                   {2048, 1, 1},
                   {1024, 1, 1},
                   50,
                   92000},
    [K_SOFTMAX_BWD] = {{"void (anonymous namespace)::softmax_warp_backward<float, float, float, 10, true, "
                        "false>(float*, float const*, float const*, int, int, int, bool const*)",
                        "void at::native::(anonymous namespace)::cunn_SoftMaxBackward<4, c10::BFloat16, float, float, "
                        "at::native::(anonymous namespace)::LogSoftMaxBackwardEpilogue>(c10::BFloat16*, float const*, "
                        "float const*, long)"},
                       38,
                       0,
                       {2048, 1, 1},
                       {1024, 1, 1},
                       50,
                       104000},
    [K_NLL] = {{"void at::native::(anonymous namespace)::nll_loss_forward_reduce_cuda_kernel_2d<float, float, "
                "long>(float*, float*, float*, long*, float*, bool, int, int, long, long)",
                "void at::native::(anonymous namespace)::nll_loss_forward_reduce_cuda_kernel_2d<float, float, "
                "long>(float*, float*, float const*, long const*, float const*, bool, long, long, long, long)"},
               26,
               256,
               {1, 1, 1},
               {32, 1, 1},
               0,
               11000},
    [K_NLL_BWD] = {{"void at::native::(anonymous namespace)::nll_loss_backward_reduce_cuda_kernel_2d<float, "
                    "long>(float*, float*, long*, float*, float*, bool, int, int, long, long)",
                    "void at::native::(anonymous namespace)::nll_loss_backward_reduce_cuda_kernel_2d<float, "
                    "long>(float*, float const*, long const*, float const*, float const*, bool, int, int, long, long)"},
                   18,
                   0,
                   {1, 1, 1},
                   {32, 1, 1},
                   0,
                   6200},
    [K_ADAM] = {{"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
                 "namespace)::TensorListMetadata<4>, at::native::(anonymous namespace)::FusedAdamMathFunctor<float, 4> "
                 ">(at::native::(anonymous namespace)::TensorListMetadata<4>)",
                 "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
                 "namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous "
                 "namespace)::FusedAdamMathFunctor<float, 4, (at::native::ADAM_MODE)1, false> >(at::native::(anonymous "
                 "namespace)::FusedOptimizerTensorListMetadata<4>)"},
                58,
                0,
                {320, 1, 1},
                {512, 1, 1},
                44,
                128000},
    [K_ALLREDUCE] = {{"ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)",
                      "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"},
                     96,
                     41760,
                     {24, 1, 1},
                     {640, 1, 1},
                     9,
                     0},
};

const struct copy_info copy_table[C_COUNT] = {
    [C_H2D_PINNED] = {"Memcpy HtoD (Pinned -> Device)", 24000},
    [C_H2D_PAGEABLE] = {"Memcpy HtoD (Pageable -> Device)", 5600},
    [C_D2H] = {"Memcpy DtoH (Device -> Pageable)", 3000},
    [C_D2D] = {"Memcpy DtoD (Device -> Device)", 640000},
    [C_MEMSET] = {"Memset (Device)", 900000},
};

/* In per cent of healthy, loader time per layer; the last columns: exposed, sync, pageable, mallocs, graph. */
const struct story story_table[] = {
    /* name, cause, ranks, compute, dominant, straggler, comm, loader ns, tiny kernels */
    {"healthy", "", 2, 100, 100, 100, 100, 60000, 0, false, false, false, false, false},
    {"straggler", "straggler", 4, 100, 100, 140, 100, 60000, 0, false, false, false, false, false},
    {"slow-loader", "data_loading", 2, 100, 100, 100, 100, 14000000, 0, false, false, false, false, false},
    {"poor-overlap", "exposed_communication", 2, 100, 100, 100, 900, 60000, 0, true, false, false, false, false},
    {"launch-bound", "launch_overhead", 2, 2, 100, 100, 10, 60000, 3, false, false, false, false, false},
    {"sync", "host_synchronisation", 2, 8, 100, 100, 10, 60000, 0, false, true, false, false, false},
    {"pageable-copies", "pageable_copies", 2, 100, 100, 100, 100, 60000, 0, false, false, true, false, false},
    {"malloc", "device_allocation", 2, 40, 100, 100, 40, 60000, 0, false, false, false, true, false},
    {"compute-bound", "dominant_kernel", 2, 100, 3000, 100, 100, 60000, 0, false, false, false, false, false},
    {"cuda-graph", "", 2, 100, 100, 100, 100, 60000, 0, false, false, false, false, true},
    {"sample", "straggler,data_loading,exposed_communication", 4, 100, 100, 130, 600, 8500000, 0, true, false, false,
     false, false},
    {NULL, NULL, 0, 0, 0, 0, 0, 0, 0, false, false, false, false, false},
};

const struct story *story_find(const char *name)
{
    for (const struct story *s = story_table; s->name; s++)
        if (!strcmp(s->name, name))
            return s;
    return NULL;
}
