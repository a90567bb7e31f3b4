#include "tests/unit/test.h"

#include "trace/display_name.h"
#include "trace/names.h"
#include <stdlib.h>

/* Expected values follow from the rule by hand: "->" away, balanced brackets away, the part after the last blank. */
static const struct {
    const char *name, *hta, *ours;
} cases[] = {
    {"volta_sgemm_128x64_nn", "volta_sgemm_128x64_nn", "volta_sgemm_128x64_nn"},
    {"void at::native::(anonymous namespace)::k<int>(float)", "at::native::::k", "at::native::::k"},
    {"void k<a<b, c>, d>(e (*)(f))", "k", "k"},
    {"Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Pageable -> Device)"},
    {"hipMemsetAsync(x)", "hipMemsetAsync(x)", "hipMemsetAsync(x)"},
    {"dma(1)", "dma(1)", "dma(1)"},
    {"f(a->b)", "f", "f"},
    {"a>b<c", "b<c", "b<c"},    /* ">" with no "<" before it takes everything */
    {"k<int> ", "", "k<int> "}, /* ends in a blank */
    {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long)", "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
     "ncclDevKernel_AllReduce_Sum_f32_RING_LL"},
    {"std::enable_if<!T7, void>::type internal::gemvx::kernel<int, int>(args)", "internal::gemvx::kernel",
     "internal::gemvx::kernel"},
    {"x<y", "x<y", "x<y"},
    {"operator->(x)", "operator", "operator"},
    {"", "", ""},
};

START_TEST(short_names_by_hand)
{
    struct hs_buf scratch = HS_BUF_INIT(1 << 16);
    struct hs_str name = hs_cstr(cases[_i].name);
    struct hs_str hta = hs_shorten_hta(name, &scratch);
    ck_assert_msg(hs_str_is(hta, cases[_i].hta), "%s: %.*s", cases[_i].name, (int)hta.n, hta.p);
    ck_assert(hs_str_is(hs_short_name(name, &scratch), cases[_i].ours));
    hs_buf_free(&scratch);
}
END_TEST

START_TEST(a_name_beyond_the_scratch_stays_whole)
{
    struct hs_buf scratch = HS_BUF_INIT(4);
    ck_assert(hs_str_is(hs_shorten_hta(HS_STR("void k<int>()"), &scratch), "void k<int>()"));
    hs_buf_free(&scratch);
}
END_TEST

/* What a reader would call it: the short name, and the functor that its template applies. */
static const struct {
    const char *name, *display;
} displays[] = {
    {"volta_sgemm_128x64_nn", "volta_sgemm_128x64_nn"},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, "
     "3> >(int, "
     "at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3>)",
     "at::native::vectorized_elementwise_kernel<CUDAFunctor_add>"},
    {"void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl<at::native::BinaryFunctor<float, float, "
     "float, "
     "at::native::binary_internal::MulFunctor<float> > >(at::TensorIteratorBase&)::{lambda(int)#1}>(int)",
     "at::native::elementwise_kernel<MulFunctor>"},
    {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::func_wrapper_t<float, "
     "at::native::sum_functor<float, "
     "float, float>::operator()(at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, float, 4> >(int)",
     "at::native::reduce_kernel<sum_functor>"},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous "
     "namespace)::launch_clamp_scalar(at::TensorIteratorBase&, "
     "c10::Scalar)::{lambda()#1}::operator()() const::{lambda(float)#1}, at::detail::Array<char*, 2> >(int)",
     "at::native::vectorized_elementwise_kernel<launch_clamp_scalar>"},
    {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int)",
     "at::native::vectorized_layer_norm_kernel"},
    {"void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm>(T::Params)",
     "cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm>"},
    {"void k<4, float>(x)", "k"},
    {"Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Pageable -> Device)"},
    {"k<", "k<"},
    {"k<>", "k"},
    {"", ""},
    {"01234567890123456789012345678901234567890123456789012345678901234567890123456789"
     "01234567890123456789012345678901234567890123456789012345678901234567890123456789",
     "01234567890123456789012345678901234567890123456789012345678901234567890123456789…"
     "0123456789012345678901234567890123456789"},
};

START_TEST(display_names_by_hand)
{
    struct hs_buf out = HS_BUF_INIT(1 << 16);
    hs_buf_puts(&out, "");
    hs_put_display_name(&out, hs_cstr(displays[_i].name), 120);
    ck_assert_str_eq(out.p ? out.p : "", displays[_i].display);
    hs_buf_free(&out);
}
END_TEST

START_TEST(any_bytes_make_a_display_name)
{
    static const char alphabet[] = "<>(){}[]:, -a_4\xc3\xa9";
    unsigned seed = (unsigned)_i;
    char name[60];
    struct hs_buf out = HS_BUF_INIT(1 << 16);
    for (size_t i = 0; i < sizeof name; i++)
        name[i] = alphabet[(size_t)rand_r(&seed) % (sizeof alphabet)]; /* the NUL, too */
    hs_put_display_name(&out, hs_str(name, sizeof name), 20);
    ck_assert_uint_le(out.n, 20 + 3 + 3); /* the ellipsis, and a character is not cut */
    ;
    hs_buf_free(&out);
}
END_TEST

HS_SUITE(trace_names)
{
    HS_LOOP_TEST(short_names_by_hand, 0, (int)(sizeof cases / sizeof cases[0]));
    HS_LOOP_TEST(display_names_by_hand, 0, (int)(sizeof displays / sizeof displays[0]));
    HS_LOOP_TEST(any_bytes_make_a_display_name, 0, 500);
    HS_TEST(a_name_beyond_the_scratch_stays_whole);
}
