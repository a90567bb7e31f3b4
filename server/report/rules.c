#include "report/rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct hs_rule hs_rules[HS_RULES] = {
    {"data-loading", "The GPU waits for data", "problem", HS_FIG_LOADING, 5,
     "PyTorch TensorBoard plug-in: data loading > 5 %", HS_FIG_NONE, 0,
     "Load ahead of the GPU: DataLoader(num_workers=…, pin_memory=True, prefetch_factor=…, persistent_workers=True), "
     "and move decoding and "
     "augmentation into the workers or onto the GPU.",
     "idle-causes", "by=op", "SELECT name, count(*), sum(dur) FROM events WHERE name LIKE '%DataLoader%' GROUP BY name",
     "idle-causes"},
    {"hidden-syncs", "Operators make the CPU wait for the GPU", "problem", HS_FIG_SYNC, 2,
     "nsys-ai: host synchronisation >= 2 % of the time", HS_FIG_NONE, 0,
     "Take .item(), .cpu(), bool(tensor), nonzero and boolean indexing out of the step, or do them every N steps; copy "
     "with "
     "non_blocking=True into pinned memory. torch.cuda.set_sync_debug_mode(\"warn\") names each of them.",
     "syncs", "by=site", "SELECT name, count(*), sum(dur) FROM launches WHERE name LIKE '%Synchronize%' GROUP BY name",
     "syncs"},
    {"allocations", "Memory is allocated while the GPU waits", "problem", HS_FIG_ALLOC, 1,
     "practice: no cudaMalloc after warm-up; > 1 % of a step is high", HS_FIG_NONE, 0,
     "Keep the caching allocator warm: PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, fixed shapes, no "
     "torch.cuda.empty_cache() "
     "in the step; look for retries after an out-of-memory.",
     "idle-causes", "by=cause",
     "SELECT name, count(*), sum(dur) FROM launches WHERE name LIKE '%Malloc%' OR name LIKE '%Free%' GROUP BY name",
     "memory-timeline"},
    {"compilation", "Kernels are compiled while the GPU waits", "problem", HS_FIG_COMPILE, 1,
     "practice: no compilation after warm-up", HS_FIG_NONE, 0,
     "Warm up before measuring; look for recompilations (TORCH_LOGS=recompiles), mark dynamic dimensions, keep shapes "
     "fixed.",
     "idle-causes", "by=frame", NULL, "idle-causes"},
    {"garbage-collection", "Python collects garbage while the GPU waits", "problem", HS_FIG_COLLECT, 1,
     "Holoscope: as for allocations", HS_FIG_NONE, 0,
     "Call gc.disable() or gc.freeze() before the loop and collect every N steps, on all ranks at once.", "idle-causes",
     "by=cause", NULL, "idle-causes"},
    {"late-launches", "The CPU launches work too late", "problem", HS_FIG_LAUNCHING, 15,
     "TraceLens, nsys-ai: idle > 15 %", HS_FIG_NONE, 0,
     "Launch less, or sooner: CUDA graphs or torch.compile(mode=\"reduce-overhead\"), a larger batch, fused or foreach "
     "optimizers, less "
     "Python in the step.",
     "idle-causes", "by=op", "SELECT name, count(*), sum(dur) FROM cpu_ops GROUP BY name ORDER BY 3 DESC LIMIT 20",
     "op-launch-delays"},
    {"busy-thread", "One CPU thread does all the work", "hint", HS_FIG_THREAD, 90,
     "nsys-ai: a thread > 90 % busy while the GPU is < 80 % busy", HS_FIG_HOST, 20,
     "Take work off it: more of the model in one call (torch.compile, CUDA graphs, foreach optimizers), tokenizers and "
     "augmentation in other processes, the backward pass in the autograd thread.",
     "call-stack", "", "SELECT tid, count(*), sum(dur) FROM cpu_ops GROUP BY tid ORDER BY 3 DESC", "flame"},
    {"small-kernels", "Most kernels are too small", "problem", HS_FIG_SHORT, 50,
     "TraceLens: kernels < 10 µs are short; most of them, while the GPU waits for launches", HS_FIG_HOST, 15,
     "Fuse them: torch.compile and fused operators make fewer, longer kernels; below 10 µs a kernel costs the CPU "
     "about as much as the GPU.",
     "kernels", "", "SELECT name, count(*), sum(dur) FROM kernels WHERE dur < 10 GROUP BY name ORDER BY 2 DESC",
     "launches"},
    {"kernel-wait", "Kernels wait between each other", "hint", HS_FIG_DISPATCH, 5,
     "Holoscope: 5 % of the GPU span in gaps below 30 µs between work that was launched in time", HS_FIG_NONE, 0,
     "Make fewer, longer kernels: fusion (torch.compile, fused optimizers and attention), CUDA graphs, whose kernels "
     "follow each other faster; fewer waits between streams.",
     "idle-causes", "by=cause", NULL, "idle"},
    {"unexplained-idle", "Work was launched in time and still waited", "hint", HS_FIG_UNEXPLAINED, 15,
     "TraceLens, nsys-ai: idle > 15 %", HS_FIG_NONE, 0,
     "Record what streams wait for: "
     "torch.profiler.profile(experimental_config=_ExperimentalConfig(enable_cuda_sync_events=True)).",
     "idle-causes", "by=gap", NULL, "critical-path"},
    {"slow-rank", "One rank holds the others up", "problem", HS_FIG_SLOW_RANK, 50,
     "TraceLens, traceml: last in most collectives; here, half of all waiting and 5 % of the time", HS_FIG_SLOW_LEAD, 5,
     "Balance that rank: its share of the data, its stage of the model, its input pipeline; then its host: clocks, "
     "ECC, network.",
     "stragglers", "", NULL, "stragglers"},
    {"exposed-communication", "Communication is not hidden", "problem", HS_FIG_COMM, 5,
     "TraceLens: exposed communication > 5 % of GPU time", HS_FIG_NONE, 0,
     "Run it beside computation: async_op=True, DDP's bucket_cap_mb and gradient_as_bucket_view, FSDP's forward and "
     "backward prefetch, fewer and larger "
     "messages; if one rank is late, the others' communication is waiting for it.",
     "overlap", "",
     "SELECT name, count(*), sum(dur) FROM kernels WHERE name LIKE '%nccl%' OR name LIKE '%rccl%' GROUP BY name",
     "collectives"},
    {"pipeline-wait", "Pipeline stages wait for each other", "problem", HS_FIG_PIPELINE, 10,
     "Megatron-LM: the bubble of p stages and m micro-batches is (p-1)/(m+p-1), 9 % of 4 and 32", HS_FIG_NONE, 0,
     "Shrink the bubble: more micro-batches, an interleaved schedule, stages that take equally long; overlap sends and "
     "receives with computation.",
     "collectives", "", "SELECT name, count(*), sum(dur) FROM kernels WHERE name LIKE '%SendRecv%' GROUP BY name",
     "collectives"},
    {"unbalanced-ranks", "Ranks compute differently long", "hint", HS_FIG_ODD_RANK, 10,
     "Holoscope: 10 % from the median rank", HS_FIG_NONE, 0,
     "Balance the ranks: where they wait for each other, the slowest sets the pace.", "kernel-types", "", NULL,
     "stragglers"},
    {"exposed-copies", "Copies are not hidden", "problem", HS_FIG_MEMORY, 5, "TraceLens, nsys-ai: copies > 5 %",
     HS_FIG_NONE, 0,
     "Copy less, or beside other work: create tensors on the device, batch small copies, no .cpu() and .cuda() in the "
     "step, in-place "
     "operators, a stream of their own.",
     "temporal", "", "SELECT name, count(*), sum(dur) FROM device_work WHERE name LIKE 'Mem%' GROUP BY name",
     "memory-bandwidth"},
    {"pageable-copies", "Copies use pageable memory", "problem", HS_FIG_PAGEABLE, 1,
     "nsys rule cuda_memcpy_async; 1 % of the time", HS_FIG_NONE, 0,
     "Pin it: DataLoader(pin_memory=True) or tensor.pin_memory(), then .to(device, non_blocking=True): only such "
     "copies run beside kernels.",
     "kernels", "name=Pageable",
     "SELECT name, count(*), sum(dur) FROM device_work WHERE name LIKE '%Pageable%' GROUP BY name", "syncs"},
    {"many-copies", "A large part of all GPU activities are copies and memsets", "hint", HS_FIG_COPIES, 30,
     "Holoscope: TraceLens flags > 10 copies a window", HS_FIG_MEMORY, 1,
     "Make fewer: batch them, allocate once and reuse, fuse zero_grad (set_to_none=True), avoid .contiguous() and "
     ".clone().",
     "kernel-types", "", "SELECT name, count(*), sum(dur) FROM device_work WHERE name LIKE 'Mem%' GROUP BY name",
     "memory-bandwidth"},
    {"one-kernel", "One kernel takes most of the GPU's time", "hint", HS_FIG_KERNEL, 50,
     "nsys-ai: one kernel > 50 % of GPU time", HS_FIG_NONE, 0,
     "Look at it first: its shapes, its data type, how close its operator comes to the device's limits (roofline, "
     "ncu): "
     "at three quarters of them leave it, below nothing else matters as much.",
     "kernels", "", "SELECT name, count(*), sum(dur) FROM kernels GROUP BY name ORDER BY 3 DESC LIMIT 5", "roofline"},
    {"fp32-matrix-kernels", "Matrix kernels run without tensor cores", "hint", HS_FIG_FP32, 10,
     "PyTorch TensorBoard plug-in: tensor cores unused; Holoscope: 10 % of GPU work", HS_FIG_NONE, 0,
     "Use them: torch.autocast with bfloat16, or torch.set_float32_matmul_precision(\"high\") for TF32 (from Ampere "
     "on); dimensions that are multiples of 8.",
     "kernels", "name=^(?!.*(tf32|tensorop|s1688)).*(sgemm|scudnn|_simt_)",
     "SELECT name, count(*), sum(dur) FROM kernels WHERE name LIKE '%sgemm%' GROUP BY name ORDER BY 3 DESC", "kernels"},
    {"layout-kernels", "Layouts are changed back and forth", "hint", HS_FIG_LAYOUT, 10,
     "TraceLens: 10-20 % moderate, > 20 % high", HS_FIG_NONE, 0,
     "Keep one layout: model.to(memory_format=torch.channels_last), inputs too; take permute() and contiguous() out of "
     "the step.",
     "kernels", "name=[nN]chwToNhwc|[nN]hwcToNchw|transpose_readWrite|batch_transpose",
     "SELECT name, count(*), sum(dur) FROM kernels WHERE name LIKE '%hwc%' GROUP BY name", "kernels"},
    {"small-grids", "Kernels do not fill the GPU", "hint", HS_FIG_GRID, 10,
     "PyTorch TensorBoard plug-in: SM efficiency; Holoscope: 10 % of GPU work in kernels with less than one block for "
     "each multiprocessor",
     HS_FIG_NONE, 0,
     "Give them more to do: a larger batch, split-K or stream-K for narrow matrix products, batched or grouped calls, "
     "several streams for what is independent.",
     "kernels", "class=compute",
     "SELECT name, count(*), sum(dur) FROM kernels WHERE args ->> '$.\"blocks per SM\"' < 1 AND name NOT LIKE '%nccl%' "
     "GROUP BY name ORDER BY 3 "
     "DESC",
     "kernels"},
    {"unfused-attention", "Attention is not fused", "hint", HS_FIG_ATTENTION, 5,
     "TraceLens: the math backend in use; Holoscope: 5 % of GPU work", HS_FIG_NONE, 0,
     "Let scaled_dot_product_attention choose a fused kernel: half precision, a head size and a mask that "
     "FlashAttention or cuDNN take, no need_weights; torch.nn.attention.sdpa_kernel says why one is refused.",
     "call-stack", "name=_scaled_dot_product_attention_math",
     "SELECT name, count(*), sum(dur) FROM cpu_ops WHERE name LIKE '%attention_math%' GROUP BY name",
     "op-launch-delays"},
    {"slow-attention", "Fused attention is slow for its length", "hint", HS_FIG_SLOW_ATTENTION, 5,
     "TraceLens: of the peak at least 5 % below 512 positions, 20 % about 1024, 40 % about 2048, 50 % from 3072 on; "
     "Holoscope: 5 % of GPU work",
     HS_FIG_NONE, 0,
     "Try the other backends (torch.nn.attention.sdpa_kernel: FlashAttention, cuDNN, memory-efficient), a head size "
     "of 64 or 128, half precision, is_causal=True instead of a mask.",
     "roofline", "kind=attention",
     "SELECT name, args ->> '$.\"Input Dims\"' AS dims, count(*) FROM cpu_ops WHERE name LIKE '%attention_forward%' "
     "GROUP BY name, dims",
     "roofline"},
    {"slow-memory-bound", "Operators bound by memory are far below its bandwidth", "hint", HS_FIG_STREAMING, 5,
     "TraceLens: element-wise < 50 %, normalisations < 20 % of the memory's bandwidth; Holoscope: Triton < 25 %, 5 % "
     "of GPU work",
     HS_FIG_NONE, 0,
     "Make what they read contiguous (channels_last or .contiguous() once, before it is used often), fuse them "
     "(torch.compile), let no broadcast or transposed copy be made in every step.",
     "roofline", "",
     "SELECT name, args ->> '$.\"Input Dims\"' AS dims, count(*) FROM cpu_ops WHERE name LIKE 'aten::%' "
     "GROUP BY name, dims ORDER BY 3 DESC",
     "roofline"},
    {"device-memory-full", "Device memory is nearly full", "hint", HS_FIG_FULL, 90,
     "PyTorch TensorBoard plug-in: memory > 90 %", HS_FIG_NONE, 0,
     "Fine while it fits. Before it does not: activation checkpointing, sharded optimizer states (FSDP, ZeRO), a "
     "smaller "
     "micro-batch with gradient accumulation.",
     "memory-timeline", "device_type=gpu", NULL, "memory-timeline"},
    {"memory-held-unused", "The allocator holds much memory that nobody uses", "hint", HS_FIG_UNUSED, 20,
     "Holoscope: a fifth of what is held, while 80 % of the device's memory is", HS_FIG_RESERVED, 80,
     "Let blocks be reused: PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, shapes in buckets, no large short-lived "
     "tensors between small ones.",
     "memory-timeline", "device_type=gpu", NULL, "memory-timeline"},
    {"long-gap", "A GPU stands idle for long in one piece", "hint", HS_FIG_GAP, 500, "nsys gpu_gaps: 500 ms",
     HS_FIG_NONE, 0,
     "See what covers it: a checkpoint, an evaluation, compilation, input or output. Move it off the step, or leave it "
     "out of the window.",
     "idle-causes", "by=gap", NULL, "timeline"},
    {"first-step", "The first step is a warm-up", "hint", HS_FIG_FIRST_STEP, 10,
     "nsys-ai: first step >= 10 x the median", HS_FIG_NONE, 0,
     "Leave it out: schedule(wait=1, warmup=1, active=…), or ask with step=.", "steps", "", NULL, "steps"},
    {"profiler-overhead", "The profiler itself takes time", "recording", HS_FIG_OVERHEAD, 5,
     "Holoscope: 5 % of the trace's time", HS_FIG_NONE, 0,
     "Record without with_stack, record_shapes and profile_memory, and compare the step time with an unprofiled one.",
     "categories", "", "SELECT name, count(*), sum(dur) FROM events WHERE cat = 'overhead' GROUP BY name",
     "categories"},
    {"data-parallel", "DataParallel is in use", "problem", HS_FIG_PARALLEL, 1, "PyTorch TensorBoard plug-in",
     HS_FIG_NONE, 0,
     "Use DistributedDataParallel with NCCL, one process a GPU: DataParallel copies the model in every step and runs "
     "in one interpreter.",
     "annotations", "use_gpu_annotation=false", NULL, "annotations"},
    {"above-peak", "Operators would be faster than the GPU can be", "recording", HS_FIG_ABOVE_PEAK, 1,
     "TraceLens: more than 100 % of the peak is an anomaly, no success", HS_FIG_NONE, 0,
     "Trust no efficiency of these: kernels were lost, an operand was expanded (so fewer bytes were read than its "
     "shape "
     "has), or the device is not the one it says.",
     "roofline", "", NULL, "roofline"},
    {"cpu-backend", "Collectives go through the CPU", "problem", HS_FIG_BACKEND, 1,
     "PyTorch TensorBoard plug-in: DistributedDataParallel without NCCL", HS_FIG_NONE, 0,
     "Use NCCL (RCCL on AMD): init_process_group(\"nccl\"), or \"cpu:gloo,cuda:nccl\" where tensors on the CPU are "
     "sent, "
     "too.",
     "call-stack", "name=^gloo:", "SELECT name, count(*), sum(dur) FROM events WHERE name LIKE 'gloo:%' GROUP BY name",
     "collectives"},
    {"no-gpu-activity", "GPU activity was not recorded", "recording", HS_FIG_NO_GPU, 1, "Holoscope", HS_FIG_NONE, 0,
     "Record it: pass ProfilerActivity.CUDA (or XPU, MTIA) to torch.profiler.profile, and make sure that no other "
     "profiler holds the GPU.",
     "quality", "", NULL, "categories"},
    {"no-steps", "Steps are not marked", "recording", HS_FIG_NO_STEPS, 1, "Holoscope", HS_FIG_NONE, 0,
     "Mark them: call prof.step() once per iteration, then every answer can be had per step and warm-up can be left "
     "out.",
     "steps", "", NULL, "quality"},
};

const char *hs_rule_state_word(enum hs_rule_state s)
{
    static const char *const words[] = {"applies", "ok", "cannot_answer"};
    return words[s];
}

/* ---- thresholds ---- */

void hs_thresholds_init(struct hs_thresholds *t)
{
    for (size_t i = 0; i < HS_RULES; i++)
        t->at[i] = hs_rules[i].threshold;
}

int hs_thresholds_set(struct hs_thresholds *t, const char *text, struct hs_err *err)
{
    const char *eq = strchr(text, '=');
    char *end;
    for (size_t i = 0; eq && i < HS_RULES; i++) {
        size_t n = strlen(hs_rules[i].id);
        if ((size_t)(eq - text) != n || memcmp(text, hs_rules[i].id, n) != 0)
            continue;
        double v = strtod(eq + 1, &end);
        if (end == eq + 1 || *end || !isfinite(v) || v < 0 || v > 1e9)
            return hs_fail(err, HS_EUSAGE, "threshold of %s: '%.40s' is no number from 0 to 1e9", hs_rules[i].id,
                           eq + 1);
        t->at[i] = v;
        return HS_OK;
    }
    return hs_fail(err, HS_EUSAGE, "'%.80s' should be RULE=NUMBER, with a rule of /api/v1/rules", text);
}

void hs_thresholds_put(const struct hs_thresholds *t, struct hs_buf *out)
{
    for (size_t i = 0; i < HS_RULES; i++)
        hs_buf_printf(out, "%s=%.17g;", hs_rules[i].id, t->at[i]);
}

/* ---- judging ---- */

/* Problems before hints, and what is about the recording last: it has nothing to gain on the GPU. */
static int group(const struct hs_verdict_of_rule *x)
{
    const char *severity = hs_rules[x->rule].severity;
    if (x->state == HS_RULE_APPLIES)
        return !strcmp(severity, "problem") ? 0 : !strcmp(severity, "hint") ? 1 : 2;
    return x->state == HS_RULE_CANNOT_ANSWER ? 3 : 4;
}

static int by_gain(const void *a, const void *b)
{
    const struct hs_verdict_of_rule *x = a, *y = b;
    if (group(x) != group(y))
        return group(x) < group(y) ? -1 : 1;
    if (group(x) <= 2 && x->value->gain_ns != y->value->gain_ns)
        return x->value->gain_ns < y->value->gain_ns ? 1 : -1;
    return x->rule < y->rule ? -1 : x->rule > y->rule;
}

void hs_rules_judge(const struct hs_figures *f, const struct hs_thresholds *t, struct hs_verdict_of_rule out[HS_RULES])
{
    for (size_t i = 0; i < HS_RULES; i++) {
        const struct hs_rule *r = &hs_rules[i];
        const struct hs_figure_value *x = &f->at[r->figure], *guard = &f->at[r->guard];
        bool over = x->v >= t->at[i] && x->v > 0 && (!r->guard || guard->v >= r->guard_min);
        const char *missing = x->missing ? x->missing : r->guard ? guard->missing : NULL;
        enum hs_rule_state state = missing ? HS_RULE_CANNOT_ANSWER : over ? HS_RULE_APPLIES : HS_RULE_OK;
        out[i] = (struct hs_verdict_of_rule){i, state, t->at[i], x, missing};
    }
    qsort(out, HS_RULES, sizeof *out, by_gain);
}

/* ---- the table ---- */

static const struct hs_column_spec columns[] = {
    {"id", HS_T_TEXT, "", "stable name of the rule"},
    {"title", HS_T_TEXT, "", "what is wrong where it applies"},
    {"severity", HS_T_TEXT, "", "problem, hint, or recording (about the trace itself)"},
    {"figure", HS_T_TEXT, "", "what is judged"},
    {"unit", HS_T_TEXT, "", "its unit"},
    {"of", HS_T_TEXT, "", "what it is a share of"},
    {"threshold", HS_T_REAL, "", "the rule applies from here on"},
    {"default_threshold", HS_T_REAL, "", "where the configuration sets none"},
    {"source", HS_T_TEXT, "", "where the default comes from"},
    {"guard", HS_T_TEXT, "", "a second figure that has to be reached; null: none"},
    {"guard_min", HS_T_REAL, "", "what it has to reach"},
    {"advice", HS_T_TEXT, "", "what to change"},
    {"analysis", HS_T_TEXT, "", "the evidence: an analysis"},
    {"params", HS_T_TEXT, "", "and its parameters"},
    {"sql", HS_T_TEXT, "", "a query of one trace that shows the events; null: none"},
    {"next", HS_T_TEXT, "", "the analysis that goes deeper"},
};

void hs_rules_table(const struct hs_thresholds *t, struct hs_table *out)
{
    hs_table_init(out, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < HS_RULES; i++) {
        const struct hs_rule *r = &hs_rules[i];
        const struct hs_figure_doc *d = &hs_figure_docs[r->figure];
        const char *texts[] = {r->id, r->title, r->severity, d->name, d->unit, d->of};
        hs_table_row(out);
        for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++)
            hs_cell_cstr(out, texts[k]);
        hs_cell_f64(out, t->at[i]);
        hs_cell_f64(out, r->threshold);
        hs_cell_cstr(out, r->source);
        if (r->guard)
            hs_cell_cstr(out, hs_figure_docs[r->guard].name);
        else
            hs_cell_null(out);
        if (r->guard)
            hs_cell_f64(out, r->guard_min);
        else
            hs_cell_null(out);
        hs_cell_cstr(out, r->advice);
        hs_cell_cstr(out, r->analysis);
        hs_cell_cstr(out, r->params);
        if (r->sql)
            hs_cell_cstr(out, r->sql);
        else
            hs_cell_null(out);
        hs_cell_cstr(out, r->next);
    }
}
