/* gentrace_model.c - the training program: steps of a transformer under data parallelism.
 *
 * The ranks run in lockstep from one collective to the next, since a collective's end needs the arrival of all.
 * Nothing random decides what is run, only how long it takes: all ranks run the same program. */
#include "gentrace.h"

static void load_batch(struct rank *r)
{
    const struct story *s = r->opt->story;
    frame_open(r, "torch/utils/data/dataloader.py(630): __next__", -1);
    event_open(r, CAT_USER_ANNOTATION, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
    int64_t pieces = 16, each = s->loader_ns * r->opt->layers / pieces;
    for (int64_t i = 0; i < pieces; i++) {
        event_open(r, CAT_CPU_OP, i % 2 ? "aten::stack" : "aten::to");
        rank_tick(r, each);
        event_close(r);
    }
    event_close(r);
    frame_close(r, "torch/utils/data/dataloader.py(630): __next__");
    int64_t copies = s->pageable ? 2 + r->opt->layers * 4 : 2;
    for (int64_t i = 0; i < copies; i++) {
        event_open(r, CAT_CPU_OP, "aten::to");
        event_open(r, CAT_CPU_OP, "aten::_to_copy");
        size_t e = event_open(r, CAT_CPU_OP, "aten::copy_");
        r->events[e].dims = "[[8, 1024], [8, 1024], []]";
        sim_copy(r, 0, s->pageable ? C_H2D_PAGEABLE : C_H2D_PINNED, s->pageable ? 4194304 : 65536);
        event_close(r);
        event_close(r);
        event_close(r);
    }
}

static void zero_gradients(struct rank *r)
{
    event_open(r, CAT_USER_ANNOTATION, "Optimizer.zero_grad#AdamW.zero_grad");
    for (int64_t l = 0; l < r->opt->layers; l++) {
        event_open(r, CAT_CPU_OP, "aten::zero_");
        sim_copy(r, 0, C_MEMSET, 25192448);
        event_close(r);
    }
    event_close(r);
}

static void step_forward(struct rank *r, int64_t step)
{
    r->tid = r->main_tid;
    r->step_gpu = r->optimizer_gpu = (struct span){0, 0};
    size_t e = event_open(r, CAT_USER_ANNOTATION, "ProfilerStep#");
    r->events[e].number = step;
    frame_open(r, "train.py(142): train_step", -1);
    load_batch(r);
    zero_gradients(r);
    frame_open(r, "torch/nn/modules/module.py(1750): _wrapped_call_impl", -1);
    if (r->comm_stream >= 0)
        event_open(r, CAT_USER_ANNOTATION, "DistributedDataParallel.forward");
    frame_open(r, "nn.Module: Transformer_", 0);
    ops_forward(r);
    frame_close(r, "nn.Module: Transformer_");
    if (r->comm_stream >= 0)
        event_close(r);
    frame_close(r, "torch/nn/modules/module.py(1750): _wrapped_call_impl");
}

/* ---- gradients across ranks ---- */

static int64_t reduce_arrival(struct rank *r, int64_t seq, int64_t elements)
{
    size_t e = event_open(r, CAT_CPU_OP, "c10d::allreduce_");
    e = event_open(r, CAT_CPU_OP, "record_param_comms");
    r->events[e].comm_seq = seq;
    r->events[e].comm_elements = elements;
    e = event_open(r, CAT_USER_ANNOTATION, "nccl:all_reduce");
    sim_order(r, 0, r->comm_stream);
    int64_t arrival = sim_comm_launch(r, seq, elements);
    for (int i = 0; i < 3; i++)
        event_close(r);
    return arrival;
}

static void all_reduce(struct rank *ranks, const struct options *opt, struct prng *wire, int64_t elements)
{
    int64_t latest = 0, n = opt->ranks, bytes = elements * (opt->style == STYLE_NS ? 2 : 4);
    int64_t seq = ranks[0].truth.comm_count + 1;
    for (int64_t i = 0; i < n; i++) {
        int64_t arrival = reduce_arrival(&ranks[i], seq, elements);
        latest = arrival > latest ? arrival : latest;
    }
    /* a ring sends each byte 2(n-1)/n times; 120 bytes a nanosecond */
    int64_t ns = prng_jitter(wire, (18000 + bytes * 2 * (n - 1) / (n * 120)) * opt->story->comm_pct / 100, 6);
    int64_t unit = ranks[0].unit;
    for (int64_t i = 0; i < n; i++)
        sim_comm_end(&ranks[i], latest, latest + (ns / unit + 1) * unit);
}

static void reduce_bucket(struct rank *ranks, const struct options *opt, struct prng *wire, int64_t bucket)
{
    if (opt->ranks > 1) /* the first bucket is small so that the wire gets work early */
        all_reduce(ranks, opt, wire, bucket == opt->layers - 1 ? 2049000 : 12596224);
}

/* ---- end of the step ---- */

static void optimizer(struct rank *r)
{
    r->tid = r->main_tid;
    if (r->comm_stream >= 0)
        sim_order(r, r->comm_stream, 0);
    for (int64_t l = 0; l < r->opt->layers && r->comm_stream >= 0; l++) {
        event_open(r, CAT_CPU_OP, "torch.distributed.ddp.reducer::copy_bucket_to_grad");
        event_open(r, CAT_CPU_OP, "aten::copy_");
        sim_copy(r, 0, C_D2D, 25192448);
        event_close(r);
        event_close(r);
    }
    frame_open(r, "torch/optim/adamw.py(220): step", -1);
    event_open(r, CAT_USER_ANNOTATION, "Optimizer.step#AdamW.step");
    r->in_optimizer = true;
    for (int64_t l = 0; l <= r->opt->layers; l++) {
        event_open(r, CAT_CPU_OP, "aten::_fused_adamw_");
        sim_kernel(r, 0, K_ADAM, 1);
        event_close(r);
    }
    r->in_optimizer = false;
    event_close(r);
    frame_close(r, "torch/optim/adamw.py(220): step");
}

static void step_end(struct rank *r, int64_t step)
{
    ops_backward_embedding(r);
    optimizer(r);
    if (step % 4 == 1) /* the loss is logged now and then */
        op_item(r);
    frame_close(r, "train.py(142): train_step");
    const struct cpu_event *e = &r->events[r->open[0]];
    int64_t external = e->external, ts = e->ts;
    event_close(r);
    truth_step(&r->truth, step, ts, r->events[r->open[0]].dur);
    write_gpu_annotation(r, "ProfilerStep#", step, r->step_gpu, external);
    write_gpu_annotation(r, "Optimizer.step#AdamW.step", -1, r->optimizer_gpu, external);
}

void model_step(struct rank *ranks, const struct options *opt, int64_t step, struct prng *wire)
{
    int64_t n = opt->ranks;
    for (int64_t i = 0; i < n; i++) {
        step_forward(&ranks[i], step);
        ops_backward_loss(&ranks[i]);
    }
    for (int64_t l = opt->layers; l-- > 0;) {
        for (int64_t i = 0; i < n; i++)
            ops_backward_layer(&ranks[i]);
        if (!opt->story->exposed)
            reduce_bucket(ranks, opt, wire, l);
    }
    for (int64_t l = opt->layers; l-- > 0 && opt->story->exposed;)
        reduce_bucket(ranks, opt, wire, l);
    for (int64_t i = 0; i < n; i++)
        step_end(&ranks[i], step);
}

/* The profiler stops: it waits for the device, then the next step's first launches still fall into the window. */
void model_end(struct rank *r)
{
    r->tid = r->main_tid;
    sim_sync_device(r);
    event_open(r, CAT_CPU_OP, "aten::embedding");
    event_open(r, CAT_CPU_OP, "aten::index_select");
    for (int i = 0; i < 3; i++)
        sim_lost_launch(r);
    event_close(r);
    event_close(r);
}
