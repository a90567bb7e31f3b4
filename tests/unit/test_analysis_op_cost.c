/* What operators must at least do, and what devices can: by hand. */
#include "analysis/op_cost.h"

#include "tests/unit/test.h"

#include <string.h>

static struct hs_op_cost cost;

static bool ask(const char *name, const char *dims, const char *types, const char *concrete)
{
    return hs_op_cost(hs_cstr(name), hs_cstr(dims), hs_cstr(types), hs_cstr(concrete), &cost);
}

#define BF3 "[\"c10::BFloat16\",\"c10::BFloat16\",\"c10::BFloat16\",\"Scalar\",\"Scalar\"]"
#define F3 "[\"float\",\"float\",\"float\",\"Scalar\"]"

START_TEST(products)
{
    ck_assert(ask("aten::mm", "[[3, 5], [5, 7]]", F3, ""));
    ck_assert_int_eq(cost.kind, HS_OP_MATMUL);
    ck_assert_int_eq(cost.dtype, HS_DTYPE_F32);
    ck_assert_double_eq(cost.flops, 2 * 3 * 5 * 7);
    ck_assert_double_eq(cost.bytes, 4 * (15 + 35 + 21));
    ck_assert(ask("aten::addmm", "[[7], [3, 5], [5, 7], [], []]", BF3, ""));
    ck_assert_int_eq(cost.dtype, HS_DTYPE_F16);
    ck_assert_double_eq(cost.flops, 210);
    ck_assert_double_eq(cost.bytes, 2 * (7 + 15 + 35 + 21));
    ck_assert(ask("aten::bmm", "[[2, 3, 5], [2, 5, 7]]", BF3, ""));
    ck_assert_double_eq(cost.flops, 420);
    ck_assert_double_eq(cost.bytes, 2 * 2 * (15 + 35 + 21));
    ck_assert(ask("aten::_scaled_mm", "[[3,5],[5,7],[],[]]",
                  "[\"c10::Float8_e4m3fn\",\"c10::Float8_e4m3fn\",\"\",\"\"]", ""));
    ck_assert_int_eq(cost.dtype, HS_DTYPE_F8);
    ck_assert_double_eq(cost.bytes, 15 + 35 + 2 * 21);
    ck_assert(!ask("aten::mm", "[[3, 5], [6, 7]]", F3, "")); /* shapes that do not fit */
    ck_assert(!ask("aten::mm", "[[3, 5], [5, 7]]", "[\"float\",\"c10::Half\"]", ""));
    ck_assert(!ask("aten::mm", "[[3, 5]]", F3, ""));
    ck_assert(!ask("aten::bmm", "[[2, 3, 5], [3, 5, 7]]", BF3, ""));
    ck_assert(!ask("aten::mmm", "[[3, 5], [5, 7]]", F3, ""));
}
END_TEST

/* Batch 2, 3 heads, 8 positions, size 4: 64 pairs, 36 under the causal mask, 2 (4 + 4) operations a pair. */
START_TEST(attention)
{
    const char *bshd = "[[2,8,3,4],[2,8,3,4],[2,8,3,4],[],[],[],[],[],[],[]]",
               *bhsd = "[[2,3,8,4],[2,3,8,4],[2,3,8,4],[],[],[],[]]";
    ck_assert(ask("aten::_flash_attention_forward", bshd, BF3,
                  "[\"\",\"\",\"\",\"\",\"\",\"8\",\"8\",\"0.\",\"False\",\"False\"]"));
    ck_assert_int_eq(cost.kind, HS_OP_ATTENTION);
    ck_assert_double_eq(cost.flops, 2 * 3 * 64 * 2 * 8);
    ck_assert_double_eq(cost.bytes, 2 * 4 * (2 * 8 * 3 * 4));
    ck_assert_double_eq(cost.length, 8);
    ck_assert(ask("aten::_flash_attention_forward", bshd, BF3,
                  "[\"\",\"\",\"\",\"\",\"\",\"8\",\"8\",\"0.\",\"True\",\"False\"]"));
    ck_assert_double_eq(cost.flops, 2 * 3 * 36 * 2 * 8);
    ck_assert(ask("aten::_flash_attention_forward", bshd, BF3, "")); /* the mask is not told: all pairs */
    ck_assert_double_eq(cost.flops, 2 * 3 * 64 * 2 * 8);
    ck_assert(
        ask("aten::_scaled_dot_product_cudnn_attention", bhsd, BF3, "[\"\",\"\",\"\",\"\",\"False\",\"0.\",\"True\"]"));
    ck_assert_double_eq(cost.flops, 2 * 3 * 36 * 2 * 8);
    /* one query over 100 keys: no length, all pairs even under a mask */
    ck_assert(ask("aten::_flash_attention_forward", "[[1,1,3,4],[1,100,3,4],[1,100,3,4],[],[],[],[],[],[]]", BF3,
                  "[\"\",\"\",\"\",\"\",\"\",\"1\",\"100\",\"0.\",\"True\"]"));
    ck_assert_double_eq(cost.flops, 3 * 100 * 2 * 8);
    ck_assert_double_eq(cost.length, 0);
    /* sequences packed behind each other: their lengths are not in the shapes */
    ck_assert(!ask("aten::_flash_attention_forward", "[[16,3,4],[16,3,4],[16,3,4],[5],[5]]",
                   "[\"c10::Half\",\"c10::Half\",\"c10::Half\",\"int\",\"int\"]", ""));
    ck_assert(!ask("aten::_flash_attention_forward", "[[1,16,3,4],[1,16,3,4],[1,16,3,4],[5],[5]]",
                   "[\"c10::Half\",\"c10::Half\",\"c10::Half\",\"int\",\"int\"]", ""));
}
END_TEST

static void streams(const char *name, const char *dims, const char *types, double bytes)
{
    ck_assert_msg(ask(name, dims, types, ""), "%s", name);
    ck_assert_msg(cost.bytes == bytes && cost.flops == 0, "%s: %f", name, cost.bytes);
}

START_TEST(bound_by_memory)
{
    streams("aten::add", "[[10, 20], [10, 20], []]", F3, 4 * 600);
    streams("aten::add_", "[[10, 20], [10, 20], []]", F3, 4 * 600);           /* reads both, writes the first */
    streams("aten::mul", "[[10, 1], [1, 20]]", F3, 4 * (10 + 20 + 200));      /* broadcast */
    streams("aten::mul", "[[10], [10], [10]]", F3, 4 * 30);                   /* out=: counts once */
    streams("aten::mul", "[[10], []]", "[\"c10::Half\",\"double\"]", 2 * 20); /* by a number */
    streams("aten::eq", "[[10, 20], [10, 20]]", F3, 4 * 400 + 200);           /* writes bools */
    streams("aten::copy_", "[[10], [10], []]", "[\"c10::Half\",\"float\",\"Scalar\"]", 20 + 40);
    streams("aten::fill_", "[[10], []]", F3, 40);
    streams("aten::neg_", "[[10]]", F3, 80);
    streams("aten::native_dropout", "[[10], [], []]", F3, 40 + 40 + 10);
    ck_assert_int_eq(cost.kind, HS_OP_ELEMENTWISE);
    streams("aten::native_layer_norm", "[[4, 8], [], [8], [8], []]", BF3, 2 * 64);
    ck_assert_int_eq(cost.kind, HS_OP_NORM);
    streams("aten::native_layer_norm_backward", "[[4, 8], [4, 8], [], [4, 1]]", BF3, 2 * 96);
    streams("aten::sum", "[[10, 20], [], []]", F3, 800);
    streams("triton_poi_fused_add_0", "[[10], [10], [10], []]", F3, 120);
    ck_assert_int_eq(cost.kind, HS_OP_TRITON);
    ck_assert(!ask("aten::add", "[[], [], []]", F3, ""));
    ck_assert(!ask("aten::add", "[[10], [10]]", "[\"\",\"\"]", ""));
    ck_assert(!ask("aten::cat", "[[[10], [10]], []]", "[\"TensorList\",\"Scalar\"]", ""));
    ck_assert(!ask("aten::cumsum", "[[10], []]", F3, "")); /* not in the table */
}
END_TEST

/* Nothing of it crashes or gives a number that is none. */
START_TEST(hostile_shapes)
{
    static const char *const dims[] = {
        "",
        "[",
        "{}",
        "null",
        "[1,2]",
        "[[-1,5],[5,7]]",
        "[[1.5,5],[5,7]]",
        "[[\"a\",5],[5,7]]",
        "[[9223372036854775807,9223372036854775807],[9223372036854775807,9223372036854775807]]",
        "[[1,1,1,1,1,1,1,1,1,1,1],[5,7]]"};
    char many[4000] = "[";
    for (int i = 0; i < 400; i++)
        strcat(many, i ? ",[2,3]" : "[2,3]");
    strcat(many, "]");
    for (size_t i = 0; i < sizeof dims / sizeof dims[0]; i++)
        if (ask("aten::mm", dims[i], F3, "[[[]]]") || ask("aten::add", dims[i], F3, "{"))
            ck_assert(cost.bytes > 0 && cost.bytes < 1e300 && cost.flops >= 0 && cost.flops < 1e300);
    ck_assert(!ask("aten::mm", many, F3, ""));
    ck_assert(!ask("aten::mm", "[[3,5],[5,7]]", "", ""));
}
END_TEST

START_TEST(peaks_by_name)
{
    static const struct {
        const char *name;
        int64_t sms;
        double gbps; /* 0: not known */
    } c[] = {{"NVIDIA H100 80GB HBM3", 132, 3352},
             {"NVIDIA H100 PCIe", 114, 2039},
             {"NVIDIA H100 80GB HBM3 MIG 1g.10gb", 16, 0}, /* a seventh of one */
             {"NVIDIA B200", 148, 8000},
             {"NVIDIA A100-SXM4-80GB", 108, 2039},
             {"NVIDIA A100-SXM4-40GB", 0, 1555},
             {"Tesla V100-SXM2-16GB", 80, 900},
             {"NVIDIA A10", 72, 600},
             {"NVIDIA A10G", 80, 0}, /* another chip */
             {"NVIDIA L40S", 142, 864},
             {"AMD Instinct MI300X VF", 304, 5300},
             {"AMD Instinct MI300X VF", 38, 0}, /* a partition */
             {"AMD Radeon Graphics", 104, 0},
             {"", 0, 0}};
    for (size_t i = 0; i < sizeof c / sizeof c[0]; i++) {
        const struct hs_peaks *p = hs_peaks_of(hs_cstr(c[i].name), c[i].sms);
        ck_assert_msg((p ? p->gbps : 0) == c[i].gbps, "%s", c[i].name);
    }
    ck_assert_double_eq(hs_peaks_of(HS_STR("AMD Instinct MI250X / MI250"), 110)->tflops[HS_DTYPE_F16], 191.5);
    ck_assert_double_eq(hs_peaks_of(HS_STR("AMD Instinct MI250X / MI250"), 104)->tflops[HS_DTYPE_F16], 181);
    ck_assert_double_eq(hs_peaks_of(HS_STR("NVIDIA H100 80GB HBM3"), 132)->tflops[HS_DTYPE_F16], 989.4);
}
END_TEST

HS_SUITE(analysis_op_cost)
{
    HS_TEST(products);
    HS_TEST(attention);
    HS_TEST(bound_by_memory);
    HS_TEST(hostile_shapes);
    HS_TEST(peaks_by_name);
}
