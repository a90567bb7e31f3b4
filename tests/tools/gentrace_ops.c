/* gentrace_ops.c - the layers of the model: which ops they are made of, forward and backward. */
#include "gentrace.h"

#include <stdlib.h>

struct op {
    const char *outer, *middle, *inner;
    const char *dims; /* letters for what depends on the device: gentrace_write.c */
    int kernel;
    const char *backward, *gradient[2];
    int back_kernel[2];
    int scale, parameters;
    int64_t output; /* bytes it allocates */
    const char *frame, *builtin;
};

#define LINEAR_FRAME "torch/nn/modules/linear.py(114): forward"
#define NORM_FRAME "torch/nn/modules/normalization.py(201): forward"
#define BLOCK_FRAME "model.py(87): forward"
#define NORM_OP                                                                                                      \
    {                                                                                                                \
        "aten::layer_norm", NULL, "aten::native_layer_norm", "[[T, 1024], [], [1024], [1024], []]", K_NORM,          \
            "NativeLayerNormBackward0", {"aten::native_layer_norm_backward", NULL}, {K_NORM_BWD, K_NORM_GRAD}, 1, 2, \
            16777216, NORM_FRAME, "<built-in function layer_norm>"                                                   \
    }
#define LINEAR_OP(scale, dims, bytes)                                                                  \
    {                                                                                                  \
        "aten::linear", NULL, "aten::addmm", dims, K_GEMM, "AddmmBackward0", {"aten::mm", "aten::mm"}, \
            {K_GEMM_DX, K_GEMM_DW}, scale, 2, bytes, LINEAR_FRAME, "<built-in function linear>"        \
    }
#define ADD_OP                                                                                                  \
    {                                                                                                           \
        NULL, NULL, "aten::add", "[[B, 1024, 1024], [B, 1024, 1024], []]", K_ADD, "AddBackward0", {NULL, NULL}, \
            {K_NONE, K_NONE}, 1, 0, 16777216, BLOCK_FRAME, NULL                                                 \
    }

static const struct op layer_ops[] = {
    NORM_OP,
    LINEAR_OP(3, "[[3072], [T, 1024], [1024, 3072], [], []]", 50331648),
    {"aten::scaled_dot_product_attention",
     "aten::_scaled_dot_product_flash_attention",
     "aten::_flash_attention_forward",
     "[[B, 1024, 16, 64], [B, 1024, 16, 64], [B, 1024, 16, 64], [], [], []]",
     K_ATTN,
     "ScaledDotProductFlashAttentionBackward0",
     {"aten::_flash_attention_backward", NULL},
     {K_ATTN_BWD, K_NONE},
     1,
     0,
     16777216,
     "model.py(52): forward",
     "<built-in function scaled_dot_product_attention>"},
    LINEAR_OP(1, "[[1024], [T, 1024], [1024, 1024], [], []]", 16777216),
    {"aten::dropout",
     NULL,
     "aten::native_dropout",
     "[[B, 1024, 1024], [], []]",
     K_DROPOUT,
     "NativeDropoutBackward0",
     {"aten::native_dropout_backward", NULL},
     {K_DROPOUT_BWD, K_NONE},
     1,
     0,
     25165824,
     "torch/nn/modules/dropout.py(58): forward",
     "<built-in function dropout>"},
    ADD_OP,
    NORM_OP,
    LINEAR_OP(4, "[[4096], [T, 1024], [1024, 4096], [], []]", 67108864),
    {NULL,
     NULL,
     "aten::gelu",
     "[[B, 1024, 4096]]",
     K_GELU,
     "GeluBackward0",
     {"aten::gelu_backward", NULL},
     {K_GELU_BWD, K_NONE},
     1,
     0,
     67108864,
     "torch/nn/modules/activation.py(704): forward",
     "<built-in function gelu>"},
    LINEAR_OP(4, "[[1024], [T, 4096], [4096, 1024], [], []]", 16777216),
    ADD_OP,
};
enum { LAYER_OPS = sizeof layer_ops / sizeof *layer_ops, JOIN_BEFORE = 4 };

static const struct op embedding = {"aten::embedding",
                                    NULL,
                                    "aten::index_select",
                                    "[[50304, 1024], [], [T]]",
                                    K_EMBED,
                                    "EmbeddingBackward0",
                                    {"aten::embedding_dense_backward", NULL},
                                    {K_EMBED_BWD, K_NONE},
                                    1,
                                    1,
                                    16777216,
                                    "torch/nn/modules/sparse.py(163): forward",
                                    "<built-in method embedding>"};
static const struct op loss_ops[] = {
    {"aten::log_softmax",
     NULL,
     "aten::_log_softmax",
     "[[R, 50304], [], []]",
     K_SOFTMAX,
     "LogSoftmaxBackward0",
     {"aten::_log_softmax_backward_data", NULL},
     {K_SOFTMAX_BWD, K_NONE},
     1,
     0,
     824180736,
     "torch/nn/functional.py(3014): cross_entropy",
     "<built-in function cross_entropy_loss>"},
    {"aten::nll_loss_nd",
     "aten::nll_loss",
     "aten::nll_loss_forward",
     "[[R, 50304], [R], [], [], []]",
     K_NLL,
     "NllLossBackward0",
     {"aten::nll_loss_backward", NULL},
     {K_NLL_BWD, K_NONE},
     1,
     0,
     512,
     "torch/nn/functional.py(3014): cross_entropy",
     NULL},
};
enum { LOSS_OPS = sizeof loss_ops / sizeof *loss_ops };

/* Frames are recorded only with --stacks; the number names a module instance. */
void frame_open(struct rank *r, const char *name, int64_t number)
{
    if (r->opt->stacks && name) {
        size_t i = event_open(r, CAT_PYTHON, name);
        r->events[i].number = number;
    }
}

void frame_close(struct rank *r, const char *name)
{
    if (r->opt->stacks && name)
        event_close(r);
}

static void leaf(struct rank *r, const char *name)
{
    event_open(r, CAT_CPU_OP, name);
    event_close(r);
}

/* ---- forward ---- */

static void remember(struct rank *r, size_t event, const struct op *op)
{
    r->forwards = grow(r->forwards, &r->cap_forwards, r->n_forwards + 1, sizeof *r->forwards);
    struct forward *f = &r->forwards[r->n_forwards++];
    *f = (struct forward){.sequence = r->sequence++, .flow = ++r->flow, .bytes = op->output};
    f->addr = 139926520725504 + prng_below(&r->rng, 1 << 24) * 512;
    r->events[event].sequence = f->sequence;
    r->events[event].flow = f->flow;
    if (r->opt->memory)
        memory_event(r, f->addr, f->bytes);
}

static void tiny_kernels(struct rank *r)
{
    for (int i = 0; i < r->opt->story->tiny_kernels; i++) {
        event_open(r, CAT_CPU_OP, "aten::to");
        event_open(r, CAT_CPU_OP, "aten::copy_");
        sim_kernel(r, 0, K_CAST, 1);
        event_close(r);
        event_close(r);
    }
}

static void forward_op(struct rank *r, const struct op *op)
{
    frame_open(r, op->frame, -1);
    frame_open(r, op->builtin, -1);
    if (op->outer)
        event_open(r, CAT_CPU_OP, op->outer);
    if (op->kernel == K_GEMM)
        leaf(r, "aten::t");
    if (op->middle)
        event_open(r, CAT_CPU_OP, op->middle);
    size_t inner = event_open(r, CAT_CPU_OP, op->inner);
    r->events[inner].dims = op->dims;
    remember(r, inner, op);
    leaf(r, "aten::empty");
    sim_kernel(r, 0, op->kernel, op->scale);
    event_close(r);
    if (op->middle)
        event_close(r);
    if (op->outer)
        event_close(r);
    frame_close(r, op->builtin);
    frame_close(r, op->frame);
    tiny_kernels(r);
}

/* The value goes to the CPU, so the CPU waits for all that the stream has to do before. */
void op_item(struct rank *r)
{
    event_open(r, CAT_CPU_OP, "aten::item");
    event_open(r, CAT_CPU_OP, "aten::_local_scalar_dense");
    sim_copy(r, 0, C_D2H, 4);
    event_close(r);
    event_close(r);
}

/* Random masks come from a side stream while the layer starts, so that compute overlaps compute. */
static void side_work(struct rank *r, int64_t layer, bool start)
{
    int sides = (int)r->opt->streams - 1;
    if (sides < 1)
        return;
    int side = 1 + (int)(layer % sides);
    sim_order(r, start ? 0 : side, start ? side : 0);
    for (int i = 0; start && i < 3; i++) {
        event_open(r, CAT_CPU_OP, "aten::bernoulli_");
        sim_kernel(r, side, K_RANDOM, 1);
        event_close(r);
    }
}

static void device_memory(struct rank *r, bool allocate)
{
    event_open(r, CAT_CPU_OP, "aten::empty");
    if (allocate) {
        sim_call(r, "cudaMalloc", 20, 620000, 0);
        sim_call(r, "cudaMalloc", 20, 540000, 0);
    } else { /* cudaFree waits for the whole device */
        int64_t tail = r->streams[0].tail;
        sim_call(r, "cudaFree", 22, 380000, tail > r->now ? tail + 180000 : 0);
    }
    event_close(r);
}

static void forward_layer(struct rank *r, int64_t layer)
{
    const struct story *s = r->opt->story;
    frame_open(r, "nn.Module: Block_", layer);
    if (s->mallocs)
        device_memory(r, true);
    side_work(r, layer, true);
    for (size_t i = 0; i < LAYER_OPS; i++) {
        if (i == JOIN_BEFORE)
            side_work(r, layer, false);
        forward_op(r, &layer_ops[i]);
        if (s->sync && i % 4 == 3) /* a check for NaN, a mask's sum: innocent lines that each drain the queue */
            op_item(r);
    }
    if (s->mallocs)
        device_memory(r, false);
    frame_close(r, "nn.Module: Block_");
}

/* A captured graph runs without ops; it holds the kernels of `layers` layers in the order of a replay. */
static void run_graph(struct rank *r, int64_t layers, bool backward)
{
    int *list = NULL;
    size_t n = 0, cap = 0;
    for (int64_t l = 0; l < layers; l++)
        for (size_t i = 0; i < LAYER_OPS; i++) {
            const struct op *op = &layer_ops[backward ? LAYER_OPS - 1 - i : i];
            list = grow(list, &cap, n + 2, sizeof *list);
            for (int k = 0; k < 2; k++) {
                int kernel = backward ? op->back_kernel[k] : k ? K_NONE : op->kernel;
                if (kernel != K_NONE)
                    list[n++] = kernel;
            }
        }
    sim_graph(r, 0, list, n);
    free(list);
}

void ops_forward(struct rank *r)
{
    forward_op(r, &embedding);
    if (r->opt->story->graph)
        run_graph(r, r->opt->layers, false);
    for (int64_t l = 0; l < r->opt->layers && !r->opt->story->graph; l++)
        forward_layer(r, l);
    for (size_t i = 0; i < LOSS_OPS; i++)
        forward_op(r, &loss_ops[i]);
}

/* ---- backward: the autograd thread meets the ops in reverse ---- */

static void engine_open(struct rank *r, const char *name, const struct forward *f)
{
    for (int half = 0; half < 2; half++) {
        size_t i = event_open(r, CAT_CPU_OP, name);
        struct cpu_event *e = &r->events[i];
        e->prefix = half ? NULL : "autograd::engine::evaluate_function: ";
        if (f) {
            e->sequence = f->sequence;
            e->backward = true;
            e->flow = half ? f->flow : 0;
        }
    }
}

static void engine_close(struct rank *r)
{
    event_close(r);
    event_close(r);
}

static void backward_op(struct rank *r, const struct op *op)
{
    struct forward f = r->forwards[--r->n_forwards];
    engine_open(r, op->backward, &f);
    for (int k = 0; k < 2; k++) {
        if (op->gradient[k]) /* one op may launch both kernels */
            event_open(r, CAT_CPU_OP, op->gradient[k]);
        if (op->back_kernel[k] != K_NONE)
            sim_kernel(r, 0, op->back_kernel[k], op->scale);
        if (op->gradient[k])
            event_close(r);
    }
    engine_close(r);
    if (op->kernel == K_GEMM) {
        event_open(r, CAT_CPU_OP, "aten::sum");
        sim_kernel(r, 0, K_BIAS, op->scale);
        event_close(r);
    }
    for (int p = 0; p < op->parameters; p++) {
        engine_open(r, "torch::autograd::AccumulateGrad", NULL);
        leaf(r, "aten::detach");
        engine_close(r);
    }
    if (r->opt->memory)
        memory_event(r, f.addr, -f.bytes);
    tiny_kernels(r);
}

void ops_backward_layer(struct rank *r)
{
    r->tid = r->autograd_tid;
    if (r->opt->story->graph)
        run_graph(r, 1, true);
    for (size_t i = LAYER_OPS; i-- > 0 && !r->opt->story->graph;)
        backward_op(r, &layer_ops[i]);
}

void ops_backward_loss(struct rank *r)
{
    r->tid = r->autograd_tid;
    for (size_t i = LOSS_OPS; i-- > 0;)
        backward_op(r, &loss_ops[i]);
}

void ops_backward_embedding(struct rank *r)
{
    backward_op(r, &embedding);
}
