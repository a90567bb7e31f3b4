/* The part of a report that is there at once: counts of ingest, over all ranks; the expected numbers by hand. */
#include "report/overview.h"
#include "tests/unit/fake_view.h"
#include "tests/unit/test.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static struct fake two[2];

static void kernel(struct fake *t, int64_t us, int64_t dur_us, const char *name, uint8_t cls)
{
    fake_gpu(t, (struct fake_row){.ts = us * 1000, .dur = dur_us * 1000, .stream = 7, .name = name, .cls = cls});
}

/* Rank 0: gemm [0,100) [150,250), a copy [250,300): busy 250 of 300 us. Rank 1: gemm [0,50), nccl [50,100): all of 100. */
static struct hs_run *run(void)
{
    for (int r = 0; r < 2; r++) {
        fake_init(&two[r], r);
        two[r].view.cats = two[r].cats;
        two[r].view.ncats = 2;
        two[r].cats[0] = (struct hs_cat_row){fake_sym(&two[r], "kernel"), 'X', 2, (r ? 100 : 200) * 1000};
        two[r].cats[1] = (struct hs_cat_row){fake_sym(&two[r], "cpu_op"), 'X', 5, 0};
    }
    kernel(&two[0], 0, 100, "gemm", HS_CLASS_COMPUTE);
    kernel(&two[0], 150, 100, "gemm", HS_CLASS_COMPUTE);
    kernel(&two[0], 250, 50, "Memcpy HtoD", HS_CLASS_MEMCPY);
    kernel(&two[1], 0, 50, "gemm", HS_CLASS_COMPUTE);
    kernel(&two[1], 50, 50, "nccl", HS_CLASS_COMM);
    struct hs_run *r = fake_run(two, 2);
    two[0].view.sum.busy_ns = 250000;
    two[1].view.sum.busy_ns = 100000;
    return r;
}

static char *overview(struct hs_run *r, enum hs_report_format format)
{
    struct hs_buf out = HS_BUF_INIT(1 << 20);
    struct hs_err err = HS_ERR_INIT;
    ck_assert_msg(!hs_report_overview(r, format, &out, &err), "%s", err.text);
    return out.p;
}

static double us(json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}

START_TEST(counts_are_summed_over_ranks)
{
    char *text = overview(run(), HS_REPORT_JSON);
    json_t *j = json_loads(text, 0, NULL), *sum = json_object_get(j, "summary"),
           *top = json_object_get(j, "top_kernels"), *cats = json_object_get(j, "categories");
    ck_assert_str_eq(json_string_value(json_object_get(j, "part")), "overview");
    ck_assert_double_eq(us(sum, "ranks"), 2);
    ck_assert_double_eq(us(sum, "kernels"), 4);
    ck_assert_double_eq(us(sum, "memory_ops"), 1);
    ck_assert_double_eq(us(sum, "gpu_span_us"), 400);
    ck_assert_double_eq(us(sum, "busy_us"), 350);
    ck_assert_double_eq(us(sum, "gpu_work_us"), 350);
    ck_assert_double_eq(us(sum, "communication_us"), 50);
    ck_assert_double_eq(us(sum, "memory_us"), 50);
    ck_assert_uint_eq(json_array_size(top), 3);
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(top, 0), "name")), "gemm");
    ck_assert_double_eq(us(json_array_get(top, 0), "calls"), 3);
    ck_assert_double_eq(us(json_array_get(top, 0), "share_pct"), 71.4286); /* 250 of 350 */
    ck_assert_uint_eq(json_array_size(cats), 2);
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(cats, 0), "category")), "cpu_op");
    ck_assert_double_eq(us(json_array_get(cats, 0), "events"), 10);
    ck_assert_double_eq(us(json_array_get(cats, 1), "sum_us"), 300);
    json_decref(j);
    free(text);
}
END_TEST

START_TEST(in_words_and_what_was_lost)
{
    struct hs_run *r = run();
    hs_quality_add(&two[1].view.quality, HS_Q_LAUNCH_WITHOUT_KERNEL, 3, -1);
    char *md = overview(r, HS_REPORT_MD);
    const char *parts[] = {"GPU work in 87.5 % of the GPU span (0.400 ms over 2 GPUs, summed).",
                           "3 launches have no device work in the trace.", "| 71.4 | 3 | 83.3 | gemm |",
                           "| kernel | 4 | 0.300 |"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        ck_assert_msg(strstr(md, parts[i]) != NULL, "no \"%s\" in\n%s", parts[i], md);
    free(md);
}
END_TEST

START_TEST(an_empty_run_has_one_too)
{
    struct hs_run none = {.name = "none"};
    struct hs_buf out = HS_BUF_INIT(1 << 16);
    struct hs_err err = HS_ERR_INIT;
    char *md = overview(&none, HS_REPORT_MD);
    ck_assert_ptr_nonnull(strstr(md, "0 events of 0 ranks"));
    ck_assert_ptr_null(strstr(md, "GPU span"));
    free(md);
    ck_assert_int_eq(hs_report_overview(&none, HS_REPORT_HTML, &out, &err), HS_EUSAGE);
    hs_buf_free(&out);
}
END_TEST

HS_SUITE(report_overview)
{
    HS_TEST(counts_are_summed_over_ranks);
    HS_TEST(in_words_and_what_was_lost);
    HS_TEST(an_empty_run_has_one_too);
}
