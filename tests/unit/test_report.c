#include "report/report.h"
#include "report/verdict.h"
#include "tests/unit/fake_view.h"
#include "tests/unit/test.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static struct fake f, two[2];

static void kernel(struct fake *t, int64_t us, int64_t dur_us, const char *name, uint8_t cls, int64_t launch_us)
{
    fake_gpu(t, (struct fake_row){.ts = us * 1000,
                                  .dur = dur_us * 1000,
                                  .stream = cls == HS_CLASS_COMM ? 9 : 7,
                                  .name = name,
                                  .cls = cls,
                                  .launched = launch_us >= 0,
                                  .launch_ts = launch_us * 1000});
}

static char *report(struct hs_run *run, enum hs_report_format format)
{
    struct hs_buf out = HS_BUF_INIT(1 << 20);
    struct hs_err err = HS_ERR_INIT;
    ck_assert_msg(!hs_report(run, &(struct hs_report_options){format, NULL, false}, &out, &err), "%s", err.text);
    return out.p; /* the caller frees */
}

static void has(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part) != NULL, "no \"%s\" in:\n%s", part, text);
}

static void has_not(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part) == NULL, "\"%s\" in:\n%s", part, text);
}

/* Busy [0,300) [600,900) [1000,1100): 700 of 1100 µs; idle 300 launched late (at 550), 100 launched in time but waiting. */
static struct hs_run *cpu_bound(void)
{
    fake_init(&f, 0);
    kernel(&f, 0, 300, "void gemm<float>(int)", HS_CLASS_COMPUTE, 0);
    kernel(&f, 600, 300, "void gemm<float>(int)", HS_CLASS_COMPUTE, 550);
    kernel(&f, 1000, 100, "a_b|c", HS_CLASS_COMPUTE, 10);
    return fake_run(&f, 1);
}

START_TEST(a_cpu_bound_run)
{
    char *md = report(cpu_bound(), HS_REPORT_MD);
    has(md, "# GPU report: fake.json\n\n**Main Finding:** The GPU is idle 36.4 % of the time, mostly waiting for the "
            "CPU to launch work "
            "(27.3 % of the GPU span).\n\n");
    has(md, "| % Time | Calls | Avg (μs) | Kernel |\n| ---: | ---: | ---: | --- |\n| 85.7 | 2 | 300.0 | gemm |\n| 14.3 "
            "| 1 | 100.0 | `a_b\\|c` |\n");
    has(md, "### Bottleneck\n\n**CPU-bound.**");
    has(md, "Busy 63.6 %, idle 36.4 %.");
    has(md, "### Recommendations\n\n1. ");
    has_not(md, "### Data Quality");
    has_not(md, "### Ranks");
    free(md);
}
END_TEST

START_TEST(the_same_as_json)
{
    json_error_t e;
    char *text = report(cpu_bound(), HS_REPORT_JSON);
    json_t *j = json_loads(text, 0, &e);
    ck_assert_msg(j != NULL, "%s", e.text);
    json_t *sum = json_object_get(j, "summary"), *bottleneck = json_object_get(j, "bottleneck"),
           *top = json_object_get(j, "top_kernels");
    has(json_string_value(json_object_get(j, "main_finding")), "idle 36.4 %");
    ck_assert_double_eq(json_number_value(json_object_get(sum, "gpu_span_us")), 1100);
    ck_assert_double_eq(json_number_value(json_object_get(sum, "idle_us")), 400);
    ck_assert_double_eq(json_number_value(json_object_get(sum, "host_wait_us")), 300);
    ck_assert_double_eq(json_number_value(json_object_get(sum, "other_wait_us")), 100);
    ck_assert_double_eq(json_number_value(json_object_get(sum, "idle_pct")), 36.3636);
    ck_assert_str_eq(json_string_value(json_object_get(bottleneck, "verdict")), "CPU-bound");
    ck_assert_uint_eq(json_array_size(json_object_get(bottleneck, "figures")), HS_FIGURES);
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(top, 0), "short_name")), "gemm");
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(json_object_get(j, "recommendations"), 0), "id")),
                     "one-kernel"); /* 600 of 700 µs; of the idle time a fake does not know who launched late */
    json_decref(j);
    free(text);
}
END_TEST

START_TEST(a_communication_bound_run)
{
    /* compute [0,500), comm [400,800), compute [800,1000): 300 of 1000 exposed, nothing idle */
    fake_init(&f, 0);
    kernel(&f, 0, 500, "gemm", HS_CLASS_COMPUTE, 0);
    kernel(&f, 400, 400, "nccl", HS_CLASS_COMM, 0);
    kernel(&f, 800, 200, "gemm", HS_CLASS_COMPUTE, 0);
    char *md = report(fake_run(&f, 1), HS_REPORT_MD);
    has(md, "**Main Finding:** The GPU spends 30.0 % of the time on communication that no computation hides.");
    has(md, "**communication-bound.**");
    has(md, "75 % of all communication time");
    free(md);
}
END_TEST

START_TEST(a_memory_bound_run)
{
    fake_init(&f, 0);
    kernel(&f, 0, 900, "gemm", HS_CLASS_COMPUTE, 0);
    kernel(&f, 900, 100, "Memcpy HtoD (Pageable -> Device)", HS_CLASS_MEMCPY, 0);
    char *md = report(fake_run(&f, 1), HS_REPORT_MD);
    has(md, "**memory-bound.**");
    has(md, "1 copies use pageable memory");
    free(md);
}
END_TEST

START_TEST(a_compute_bound_and_a_balanced_run)
{
    fake_init(&f, 0);
    kernel(&f, 0, 900, "gemm", HS_CLASS_COMPUTE, 0);
    kernel(&f, 920, 80, "gemm", HS_CLASS_COMPUTE, 0);
    char *md = report(fake_run(&f, 1), HS_REPORT_MD);
    has(md, "**compute-bound.**");
    has(md, "busy 98.0 % of the time, 98.0 % with computation; the largest kernel takes 100.0 % of GPU work");
    free(md);
    fake_init(&f, 0); /* 76 % compute, 4 % copy, 9 % comm, 11 % idle: all below their thresholds */
    kernel(&f, 0, 760, "gemm", HS_CLASS_COMPUTE, 0);
    kernel(&f, 760, 40, "Memcpy", HS_CLASS_MEMCPY, 0);
    kernel(&f, 800, 90, "nccl", HS_CLASS_COMM, 0);
    kernel(&f, 1000, 0, "end", HS_CLASS_COMPUTE, 0);
    md = report(fake_run(&f, 1), HS_REPORT_MD);
    has(md, "**balanced.** No figure reaches its threshold.");
    free(md);
}
END_TEST

START_TEST(idle_for_other_reasons_is_no_verdict)
{
    fake_init(&f, 0);
    kernel(&f, 0, 100, "gemm", HS_CLASS_COMPUTE, 0);
    kernel(&f, 500, 100, "gemm", HS_CLASS_COMPUTE, 50); /* launched in time, waited 400 µs */
    char *md = report(fake_run(&f, 1), HS_REPORT_MD);
    has(md, "**cannot tell.**");
    has(md, "idle 66.7 % of the time, mostly for other reasons than late launches");
    free(md);
}
END_TEST

START_TEST(a_cpu_only_trace_says_so)
{
    fake_init(&f, 0);
    fake_cpu(&f, "cpu_op", "aten::add", 1, 0, 0, 100);
    f.view.sum.cpu_ops = 1;
    char *md = report(fake_run(&f, 1), HS_REPORT_MD);
    has(md, "**Main Finding:** There is no GPU work in this trace: it is a CPU-only trace");
    has(md, "**cannot tell.**");
    has(md, "ProfilerActivity.CUDA");
    has(md, "| % Time | Calls | Avg (μs) | Operator |\n| ---: | ---: | ---: | --- |\n| 100.0 | 1 | 0.1 | aten::add |");
    free(md);
    char *json = report(fake_run(&f, 1), HS_REPORT_JSON);
    json_t *j = json_loads(json, 0, NULL);
    ck_assert_ptr_nonnull(j);
    json_decref(j);
    free(json);
}
END_TEST

START_TEST(the_rank_that_differs_is_named)
{
    fake_init(&two[0], 0);
    fake_init(&two[1], 1);
    kernel(&two[0], 0, 100, "gemm", HS_CLASS_COMPUTE, 0);
    kernel(&two[0], 100, 100, "nccl", HS_CLASS_COMM, 0);
    kernel(&two[1], 0, 200, "gemm", HS_CLASS_COMPUTE, 0);
    char *md = report(fake_run(two, 2), HS_REPORT_MD);
    has(md, "### Ranks\n");
    has(md, "| 0 | 0.200 | 100.0 | 50.0 | 50.0 | 0.0 | -33.3 |"); /* median of 100 and 200 is 150 */
    has(md, "| 1 | 0.200 | 100.0 | 100.0 | 0.0 | 0.0 | +33.3 |");
    has(md, "computes 33 %");
    has(md, "| 75.0 | 2 | 150.0 | gemm |"); /* over both ranks: 300 of 400 */
    free(md);
}
END_TEST

START_TEST(what_is_wrong_is_said)
{
    struct hs_run *run = cpu_bound();
    hs_quality_add(&f.view.quality, HS_Q_TRUNCATED, 1, 5);
    hs_quality_add(&f.view.quality, HS_Q_BOM, 1, 0); /* information only: not worth a line */
    char *md = report(run, HS_REPORT_MD);
    has(md, "### Data Quality\n\n- error, rank 0: 1 × the file ends in the middle");
    has_not(md, "byte order mark");
    free(md);
}
END_TEST

START_TEST(an_empty_run_and_a_hostile_name)
{
    struct hs_run none = {.name = "<b>*x*"};
    char *md = report(&none, HS_REPORT_MD);
    has(md, "# GPU report: `<b>*x*`\n");
    has(md, "The run has no traces.");
    free(md);
    char *json = report(&none, HS_REPORT_JSON);
    has_not(json, "<");
    free(json);
}
END_TEST

HS_SUITE(report)
{
    HS_TEST(a_cpu_bound_run);
    HS_TEST(the_same_as_json);
    HS_TEST(a_communication_bound_run);
    HS_TEST(a_memory_bound_run);
    HS_TEST(a_compute_bound_and_a_balanced_run);
    HS_TEST(idle_for_other_reasons_is_no_verdict);
    HS_TEST(a_cpu_only_trace_says_so);
    HS_TEST(the_rank_that_differs_is_named);
    HS_TEST(what_is_wrong_is_said);
    HS_TEST(an_empty_run_and_a_hostile_name);
}
