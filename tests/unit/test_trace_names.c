#include "tests/unit/test.h"
#include "trace/names.h"

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

HS_SUITE(trace_names)
{
    HS_LOOP_TEST(short_names_by_hand, 0, (int)(sizeof cases / sizeof cases[0]));
    HS_TEST(a_name_beyond_the_scratch_stays_whole);
}
