/* The report on real traces: the main finding and what must be among its advice, argued from the files themselves. */
#include "report/report.h"
#include "tests/unit/exported.h"
#include "tests/unit/test.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Idle shares: by a few lines of Python over the raw files, the union of all X events of the categories kernel, gpu_memcpy,
 * gpu_memset (and mtia_ccp_events but event_*) of each device, from its first start to its last end. */
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
    /* busy: 1.58, 0.24, 4.74, 0 and 0 % idle */
    {"resnet_ns/rank0.json.gz", "compute-bound", "busy 98.4 %", NULL, NULL},
    {"vllm_cudagraph/rank0.json.gz", "compute-bound", "busy 99.8 %", "no-steps", NULL},
    /* event_wait and event_record are no work; merge is 257.9 of 459.5 ms of it */
    {"mtia_inference/rank0.json.gz", "compute-bound", "busy 95.3 % of the time, 93.5 % with", "one-kernel", "no-steps"},
    /* attention over 4096 positions: 4 x 8 x 16 x 4096^2 x 128 operations in 3.68 ms are 298 TFLOP/s, 23 % of an MI300X */
    {"torch_compile/rank0.json.gz", "compute-bound", "busy 100.0 %", "slow-attention", "no-steps"},
    {"triton/rank0.json.gz", "compute-bound", "busy 100.0 %", NULL, NULL},
    /* cudaFree and cudaMalloc, which make the context, take 8.5 s of 12.9 s */
    {"critical_path_alexnet/rank0.json.gz", "CPU-bound",
     "idle 99.5 % of the time, mostly waiting for the CPU to allocate memory", "allocations", "long-gap"},
    {"cpu_only/rank34.json.gz", "cannot tell", "no GPU work", "no-gpu-activity", NULL},
    /* the same start of a context; cudaFree takes 8.3 s, and the GPU works 0.05 s of 16 */
    {"critical_path_simple_add/rank0.json.gz", "CPU-bound",
     "idle 99.7 % of the time, mostly waiting for the CPU to allocate memory", "allocations", "long-gap"},
    /* 51 us of work in 263, with an event, a stream and a device synchronised in between */
    {"critical_path_cuda_event_sync/rank0.json.gz", "CPU-bound", "idle 80.6 %", "late-launches", "hidden-syncs"},
    /* one matrix product without tensor cores is 369 of 372 us; cudaMalloc takes 692 us, 408 of them in gaps */
    {"critical_path_cuda_event_sync_multi_stream/rank0.json.gz", "CPU-bound", "idle 98.1 %", "late-launches",
     "fp32-matrix-kernels"},
    /* idle 16.36, exposed communication 18.92, exposed copies 4.16 % of 464.6 ms */
    {"diff/control/control.json.gz", "communication-bound", "18.9 % of the time on communication",
     "exposed-communication", NULL},
    /* idle 3.66, exposed communication 9.84, exposed copies 12.95 % of 745.2 ms; 5756 of 15632 activities are copies */
    {"diff/test/test.json.gz", "memory-bound", "12.9 % of the time on copies", "exposed-copies", "many-copies"},
    /* 18 activities of 1.7 ms in 274 ms, whose launches are not in the trace: nobody knows what they waited for */
    {"diff_small/base/base.json.gz", "cannot tell", "idle 99.4 % of the time, mostly for other reasons",
     "unexplained-idle", "one-kernel"},
    {"diff_small/test/test.json.gz", "cannot tell", "idle 99.4 % of the time, mostly for other reasons",
     "unexplained-idle", "one-kernel"},
    /* four kernels of 16 us in all, one at a time, from Python */
    {"execution_trace/rank0.json.gz", "CPU-bound", "idle 100.0 %", "late-launches", "small-kernels"},
    /* one kernel */
    {"backward_thread/rank0.json", "compute-bound", "busy 100.0 %", NULL, NULL},
    /* CUPTI's profiler held the GPU: 103 launches and copies, and no GPU activity */
    {"cupti/rank0.json.gz", "cannot tell", "although 103 calls launched some", "no-gpu-activity", NULL},
    {"distributed_info_unavailable/distributed_info_not_found.json.gz", "cannot tell", "no GPU work", "no-gpu-activity",
     NULL},
    {"rank_non_gpu/rank_non_gpu.json.gz", "cannot tell", "no GPU work", "no-gpu-activity", NULL},
    {"rank_unavailable/rank_not_found.json.gz", "cannot tell", "no GPU work", "no-gpu-activity", NULL},
    {"memory_timeline/memory_timeline.raw.gz", "cannot tell", "This is a memory timeline", NULL, NULL},
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

/* Eight ranks of one job, idle 52.34 % of their spans. The all-to-alls that exchange embeddings take 66 % of GPU work and are
 * no pipeline's, though their kernels are called SendRecv. By a few lines of Python (calls matched by order, clocks by the median
 * of their ends) rank 7 comes last in five of the eight collectives and causes 35.6 of 46.9 ms of waiting: 75.9 %. */
START_TEST(eight_ranks_of_one_job)
{
    enum { RANKS = 8 };
    struct traced t[RANKS];
    struct hs_view *views[RANKS];
    struct hs_run *run;
    struct hs_buf out = HS_BUF_INIT(1 << 22);
    struct hs_err err = HS_ERR_INIT;
    if (!hs_test_traces())
        return;
    for (int i = 0; i < RANKS; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/dlrm_8rank/worker%d.pt.trace.json.gz", hs_test_traces(), i);
        traced_file(&t[i], path);
        views[i] = t[i].imported[0].view;
    }
    ck_assert(!hs_run_build("dlrm", views, RANKS, &run, &err));
    ck_assert_msg(!hs_report(run, &(struct hs_report_options){HS_REPORT_JSON, NULL, false}, &out, &err), "%s",
                  err.text);
    json_t *j = json_loads(out.p, 0, NULL), *list = json_object_get(j, "recommendations");
    const char *found = json_string_value(json_object_get(j, "main_finding"));
    ck_assert_msg(strstr(found, "idle 52.3 % of the time, mostly waiting for the CPU to launch work") != NULL, "%s",
                  found);
    ck_assert(has(list, "late-launches") && has(list, "slow-rank") && has(list, "exposed-communication"));
    ck_assert(!has(list, "pipeline-wait"));
    json_t *slow = NULL, *x;
    size_t k;
    json_array_foreach(list, k, x)
    {
        if (!strcmp(json_string_value(json_object_get(x, "id")), "slow-rank"))
            slow = x;
    }
    ck_assert_double_eq_tol(json_number_value(json_object_get(slow, "value")), 75.9, 0.05);
    ck_assert_uint_eq(json_array_size(json_object_get(slow, "events")), 3);
    ck_assert_ptr_nonnull(
        strstr(json_string_value(json_object_get(slow, "detail")), "Rank 7 comes last in 5 of 8 collectives"));
    json_decref(j);
    hs_buf_free(&out);
    hs_run_free(run);
    for (int i = 0; i < RANKS; i++)
        traced_end(&t[i]);
}
END_TEST

HS_SUITE(report_real)
{
    HS_TEST(eight_ranks_of_one_job);
    HS_LOOP_TEST(real_traces_have_the_findings_they_should, 0, (int)(sizeof cases / sizeof cases[0]));
}
