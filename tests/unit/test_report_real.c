/* The report on real traces: the main finding and what must be among its advice, argued from the files themselves. */
#include "report/report.h"
#include "tests/unit/exported.h"
#include "tests/unit/test.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Idle shares: by a few lines of Python over the raw files, the union of all X events of the categories kernel, gpu_memcpy,
 * gpu_memset (and mtia_ccp_events) of each device, from its first start to its last end. */
static const struct {
    const char *file, *verdict;
    const char *finding; /* a part of it */
    const char *first;   /* the first recommendation, NULL: none */
    const char *also;    /* another that must be there; NULL */
} cases[] = {
    /* idle 42.26 %; 9954 of 19370 kernels below 10 us; sgemm kernels take 40 % of GPU work, NCCL stands alone */
    {"v100_train/rank1.json.gz", "CPU-bound", "idle 42.3 % of the time, mostly waiting for the CPU to launch",
     "late-launches", "exposed-communication"},
    {"v100_train/rank1.json.gz", "CPU-bound", "idle 42.3 %", "late-launches", "fp32-matrix-kernels"},
    /* one forward pass of BERT from Python: idle 92.08 %, one aten::is_nonzero in the middle that synchronises */
    {"h100_bert/rank0.json.gz", "CPU-bound", "idle 92.1 % of the time, mostly waiting for the CPU to launch",
     "late-launches", "hidden-syncs"},
    {"mi300_bert/rank0.json.gz", "CPU-bound", "idle 88.8 %", "late-launches", "hidden-syncs"},
    {"b200_eager/rank0.json.gz", "CPU-bound", "idle 86.3 %", "late-launches", "small-kernels"},
    {"mi250_toy/rank0.json.gz", "CPU-bound", "idle 98.3 %", "late-launches", "small-kernels"},
    /* busy: 1.58, 0.24, 4.30, 0 and 0 % idle */
    {"resnet_ns/rank0.json.gz", "compute-bound", "busy 98.4 %", NULL, NULL},
    {"vllm_cudagraph/rank0.json.gz", "compute-bound", "busy 99.8 %", "no-steps", NULL},
    {"mtia_inference/rank0.json.gz", "compute-bound", "busy 95.7 %", "no-steps", NULL},
    {"torch_compile/rank0.json.gz", "compute-bound", "busy 100.0 %", "no-steps", NULL},
    {"triton/rank0.json.gz", "compute-bound", "busy 100.0 %", NULL, NULL},
    /* cudaFree and cudaMalloc, which make the context, take 8.5 s of 12.9 s */
    {"critical_path_alexnet/rank0.json.gz", "CPU-bound",
     "idle 99.5 % of the time, mostly waiting for the CPU to allocate memory", "allocations", "long-gap"},
    {"cpu_only/rank34.json.gz", "cannot tell", "no GPU work", "no-gpu-activity", NULL},
};

static bool has(json_t *list, const char *id)
{
    json_t *x;
    size_t i;
    json_array_foreach(list, i, x)
    {
        if (!strcmp(json_string_value(json_object_get(x, "id")), id))
            return true;
    }
    return false;
}

static void check(const char *path, int k)
{
    struct traced t;
    struct hs_buf out = HS_BUF_INIT(1 << 22);
    struct hs_err err = HS_ERR_INIT;
    traced_file(&t, path);
    ck_assert_msg(!hs_report(t.run, &(struct hs_report_options){HS_REPORT_JSON, NULL, false}, &out, &err), "%s",
                  err.text);
    json_t *j = json_loads(out.p, 0, NULL), *list = json_object_get(j, "recommendations");
    const char *found = json_string_value(json_object_get(j, "main_finding"));
    ck_assert_msg(strstr(found, cases[k].finding) != NULL, "%s: %s", path, found);
    ck_assert_str_eq(json_string_value(json_object_get(json_object_get(j, "bottleneck"), "verdict")), cases[k].verdict);
    if (cases[k].first)
        ck_assert_str_eq(json_string_value(json_object_get(json_array_get(list, 0), "id")), cases[k].first);
    if (cases[k].also)
        ck_assert_msg(has(list, cases[k].also), "%s: no %s", path, cases[k].also);
    json_decref(j);
    hs_buf_free(&out);
    traced_end(&t);
}

START_TEST(real_traces_have_the_findings_they_should)
{
    const char *dir = hs_test_traces();
    char path[4096];
    if (!dir)
        return;
    snprintf(path, sizeof path, "%s/%s", dir, cases[_i].file);
    check(path, _i);
}
END_TEST

HS_SUITE(report_real)
{
    HS_LOOP_TEST(real_traces_have_the_findings_they_should, 0, (int)(sizeof cases / sizeof cases[0]));
}
