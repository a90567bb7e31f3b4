#include "analysis/op_cost.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

const char *const hs_op_kind_names[] = {"matmul", "attention", "elementwise", "norm", "triton"};

/* ---- arguments ---- */

#define TENSORS 16
#define DIMS 8

struct tensor {
    size_t nd;
    double d[DIMS], n; /* n: elements; 0: it is no tensor, or a scalar, or one of a type that is not known */
    double size;       /* bytes of an element */
    enum hs_dtype dtype;
};
struct args {
    struct tensor t[TENSORS];
    size_t n;
    json_t *concrete;
};

static double element_size(const char *type, enum hs_dtype *dtype)
{
    static const struct {
        const char *type;
        double size;
        enum hs_dtype dtype;
    } types[] = {{"float", 4, HS_DTYPE_F32},  {"c10::Half", 2, HS_DTYPE_F16},     {"c10::BFloat16", 2, HS_DTYPE_F16},
                 {"double", 8, HS_DTYPE_F64}, {"long int", 8, HS_DTYPE_OTHER},    {"long", 8, HS_DTYPE_OTHER},
                 {"int", 4, HS_DTYPE_OTHER},  {"short", 2, HS_DTYPE_OTHER},       {"short int", 2, HS_DTYPE_OTHER},
                 {"bool", 1, HS_DTYPE_OTHER}, {"signed char", 1, HS_DTYPE_OTHER}, {"unsigned char", 1, HS_DTYPE_OTHER}};
    *dtype = HS_DTYPE_OTHER;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (!strcmp(type, types[i].type)) {
            *dtype = types[i].dtype;
            return types[i].size;
        }
    if (strncmp(type, "c10::Float8_e", 13))
        return 0;
    *dtype = HS_DTYPE_F8;
    return 1;
}

static void read_tensor(struct tensor *t, json_t *dims, const char *type)
{
    t->size = element_size(type ? type : "", &t->dtype);
    t->nd = json_array_size(dims);
    if (t->nd > DIMS || t->size <= 0)
        t->nd = 0;
    t->n = t->nd ? 1 : 0;
    for (size_t i = 0; i < t->nd; i++) {
        json_t *d = json_array_get(dims, i); /* of a list of tensors it is an array */
        t->d[i] = json_is_integer(d) && json_integer_value(d) > 0 ? (double)json_integer_value(d) : 0;
        t->n *= t->d[i];
    }
}

static bool read_args(struct args *a, struct hs_str dims, struct hs_str types, struct hs_str concrete)
{
    json_t *d = json_loadb(dims.p, dims.n, 0, NULL), *t = json_loadb(types.p, types.n, 0, NULL);
    *a = (struct args){.concrete = concrete.n ? json_loadb(concrete.p, concrete.n, 0, NULL) : NULL};
    bool ok = json_is_array(d) && json_is_array(t);
    for (; ok && a->n < TENSORS && a->n < json_array_size(d); a->n++)
        read_tensor(&a->t[a->n], json_array_get(d, a->n), json_string_value(json_array_get(t, a->n)));
    json_decref(d);
    json_decref(t);
    return ok;
}

static bool concrete_is(const struct args *a, size_t i, const char *text)
{
    const char *s = json_string_value(json_array_get(a->concrete, i));
    return s && !strcmp(s, text);
}

/* ---- matrix products ---- */

struct product {
    const char *name;
    size_t a, b;    /* places of the operands */
    size_t nd;      /* their dimensions */
    double written; /* bytes of an element of the result; 0: that of an operand */
};

static bool product_cost(const struct args *x, const struct product *p, struct hs_op_cost *out)
{
    const struct tensor *a = &x->t[p->a], *b = &x->t[p->b];
    size_t nd = p->nd;
    if (x->n <= p->b || a->nd != nd || b->nd != nd || a->d[nd - 1] != b->d[nd - 2] || a->dtype != b->dtype ||
        (nd == 3 && a->d[0] != b->d[0]))
        return false;
    double batch = nd == 3 ? a->d[0] : 1, m = a->d[nd - 2], k = a->d[nd - 1], n = b->d[nd - 1];
    double added = p->a ? x->t[0].n * x->t[0].size : 0;
    out->kind = HS_OP_MATMUL;
    out->dtype = a->dtype;
    out->flops = 2 * batch * m * n * k;
    out->bytes = a->n * a->size + b->n * b->size + batch * m * n * (p->written > 0 ? p->written : a->size) + added;
    return true;
}

/* ---- attention ---- */

struct attention {
    const char *name;
    size_t length, heads; /* places of these dimensions in [B, ., ., D] */
    size_t causal;        /* place of the argument that tells the mask */
    const char *yes, *also;
    size_t varlen; /* a tensor here means that sequences of several lengths are packed; 0: cannot be */
};

static bool attention_cost(const struct args *x, const struct attention *p, struct hs_op_cost *out)
{
    const struct tensor *q = &x->t[0], *k = &x->t[1], *v = &x->t[2];
    if (x->n < 3 || q->nd != 4 || k->nd != 4 || v->nd != 4 || (p->varlen && x->n > p->varlen && x->t[p->varlen].nd) ||
        q->d[3] != k->d[3] || q->d[0] != k->d[0] || k->d[p->length] != v->d[p->length])
        return false;
    double sq = q->d[p->length], sk = k->d[p->length], pairs = sq * sk;
    if (sq == sk && (concrete_is(x, p->causal, p->yes) || concrete_is(x, p->causal, p->also)))
        pairs = sq * (sq + 1) / 2;
    out->kind = HS_OP_ATTENTION;
    out->dtype = q->dtype;
    out->flops = 2 * q->d[0] * q->d[p->heads] * pairs * (q->d[3] + v->d[3]);
    out->bytes = q->n * q->size + k->n * k->size + v->n * v->size + q->d[0] * q->d[p->heads] * sq * v->d[3] * q->size;
    out->length = sq == sk ? sq : 0;
    return true;
}

/* ---- operators bound by memory ---- */

/* Elements that the broadcast of the first `n` arguments has. */
static double broadcast(const struct args *x, size_t n, double *size)
{
    double d[DIMS], all = 1;
    size_t nd = 0;
    *size = 0;
    for (size_t i = 0; i < DIMS; i++)
        d[i] = 1;
    for (size_t i = 0; i < n && i < x->n; i++) {
        const struct tensor *t = &x->t[i];
        nd = t->nd > nd ? t->nd : nd;
        *size = t->n > 0 ? fmax(*size, t->size) : *size;
        for (size_t k = 0; k < t->nd; k++)
            d[t->nd - 1 - k] = fmax(d[t->nd - 1 - k], t->d[k]);
    }
    for (size_t i = 0; i < nd; i++)
        all *= d[i];
    return all;
}

struct streaming {
    const char *name; /* without aten:: and the _ of the form in place */
    size_t args;      /* the first so many are read */
    enum hs_op_kind kind;
    enum { WRITES_ALL, WRITES_FIRST, WRITES_BOOL, WRITES_MASK, WRITES_LITTLE } writes;
};

static bool streaming_cost(const struct args *x, const struct streaming *s, bool in_place, struct hs_op_cost *out)
{
    double size, all = broadcast(x, s->args, &size), read = 0;
    for (size_t i = 0; i < s->args && i < x->n; i++)
        read += x->t[i].n * x->t[i].size;
    if (!(read > 0))
        return false;
    double first = x->t[0].n * x->t[0].size;
    out->kind = s->kind;
    out->bytes = read + (s->writes == WRITES_FIRST || s->writes == WRITES_LITTLE ? 0
                         : in_place                                              ? first
                         : s->writes == WRITES_BOOL                              ? all
                                                                                 : all * size);
    if (s->writes == WRITES_MASK)
        out->bytes += all;
    return true;
}

/* Inductor's kernels by element and by reduction; what looks up by index reads other amounts than its arguments have. */
static bool triton_cost(const struct args *x, struct hs_op_cost *out)
{
    for (size_t i = 0; i < x->n; i++)
        out->bytes += x->t[i].n * x->t[i].size;
    out->kind = HS_OP_TRITON;
    return out->bytes > 0;
}

/* ---- by name ---- */

static const struct product g_products[] = {{"aten::mm", 0, 1, 2, 0},        {"aten::addmm", 1, 2, 2, 0},
                                            {"aten::addmm_", 1, 2, 2, 0},    {"aten::_addmm_activation", 1, 2, 2, 0},
                                            {"aten::bmm", 0, 1, 3, 0},       {"aten::baddbmm", 1, 2, 3, 0},
                                            {"aten::_scaled_mm", 0, 1, 2, 2}};

/* Places by native_functions.yaml of PyTorch. */
static const struct attention g_attention[] = {{"aten::_flash_attention_forward", 1, 2, 8, "True", "1", 3},
                                               {"aten::_efficient_attention_forward", 1, 2, 9, "1", "2", 4},
                                               {"aten::_scaled_dot_product_cudnn_attention", 2, 1, 6, "True", "1", 0},
                                               {"aten::_cudnn_attention_forward", 2, 1, 10, "True", "1", 4}};

#define E HS_OP_ELEMENTWISE
#define N HS_OP_NORM
static const struct streaming g_streaming[] = {
    {"add", 2, E, WRITES_ALL},
    {"sub", 2, E, WRITES_ALL},
    {"mul", 2, E, WRITES_ALL},
    {"div", 2, E, WRITES_ALL},
    {"rsub", 2, E, WRITES_ALL},
    {"pow", 2, E, WRITES_ALL},
    {"maximum", 2, E, WRITES_ALL},
    {"minimum", 2, E, WRITES_ALL},
    {"neg", 1, E, WRITES_ALL},
    {"abs", 1, E, WRITES_ALL},
    {"exp", 1, E, WRITES_ALL},
    {"log", 1, E, WRITES_ALL},
    {"sqrt", 1, E, WRITES_ALL},
    {"rsqrt", 1, E, WRITES_ALL},
    {"reciprocal", 1, E, WRITES_ALL},
    {"sin", 1, E, WRITES_ALL},
    {"cos", 1, E, WRITES_ALL},
    {"relu", 1, E, WRITES_ALL},
    {"gelu", 1, E, WRITES_ALL},
    {"silu", 1, E, WRITES_ALL},
    {"sigmoid", 1, E, WRITES_ALL},
    {"tanh", 1, E, WRITES_ALL},
    {"leaky_relu", 1, E, WRITES_ALL},
    {"hardtanh", 1, E, WRITES_ALL},
    {"clamp", 1, E, WRITES_ALL},
    {"clamp_min", 1, E, WRITES_ALL},
    {"clamp_max", 1, E, WRITES_ALL},
    {"threshold_backward", 2, E, WRITES_ALL},
    {"gelu_backward", 2, E, WRITES_ALL},
    {"silu_backward", 2, E, WRITES_ALL},
    {"sigmoid_backward", 2, E, WRITES_ALL},
    {"tanh_backward", 2, E, WRITES_ALL},
    {"addcmul", 3, E, WRITES_ALL},
    {"addcdiv", 3, E, WRITES_ALL},
    {"lerp", 2, E, WRITES_ALL},
    {"native_dropout", 1, E, WRITES_MASK},
    {"eq", 2, E, WRITES_BOOL},
    {"ne", 2, E, WRITES_BOOL},
    {"lt", 2, E, WRITES_BOOL},
    {"le", 2, E, WRITES_BOOL},
    {"gt", 2, E, WRITES_BOOL},
    {"ge", 2, E, WRITES_BOOL},
    {"copy_", 2, E, WRITES_FIRST}, /* the destination is the first of the two */
    {"fill_", 1, E, WRITES_FIRST},
    {"zero_", 1, E, WRITES_FIRST},
    {"native_layer_norm", 1, N, WRITES_ALL},
    {"native_layer_norm_backward", 2, N, WRITES_ALL},
    {"native_group_norm", 1, N, WRITES_ALL},
    {"native_batch_norm", 1, N, WRITES_ALL},
    {"cudnn_batch_norm", 1, N, WRITES_ALL},
    {"miopen_batch_norm", 1, N, WRITES_ALL},
    {"_softmax", 1, N, WRITES_ALL},
    {"_log_softmax", 1, N, WRITES_ALL},
    {"_softmax_backward_data", 2, N, WRITES_ALL},
    {"_log_softmax_backward_data", 2, N, WRITES_ALL},
    {"sum", 1, N, WRITES_LITTLE},
    {"mean", 1, N, WRITES_LITTLE},
};
#undef E
#undef N

/* aten::add, aten::add_ -> add. */
static const struct streaming *streaming_of(struct hs_str name, bool *in_place)
{
    if (!hs_str_starts(name, "aten::"))
        return NULL;
    struct hs_str rest = hs_str(name.p + 6, name.n - 6), bare = rest;
    if (rest.n > 1 && rest.p[rest.n - 1] == '_')
        bare.n--;
    for (size_t i = 0; i < sizeof g_streaming / sizeof g_streaming[0]; i++) {
        bool exact = hs_str_is(rest, g_streaming[i].name);
        if (exact || hs_str_is(bare, g_streaming[i].name)) {
            *in_place = !exact;
            return &g_streaming[i];
        }
    }
    return NULL;
}

/* What to do for an operator: one of these; none is told by its shapes. */
struct recipe {
    const struct product *product;
    const struct attention *attention;
    const struct streaming *streaming;
    bool in_place, triton;
};

static bool find_recipe(struct hs_str name, struct recipe *r)
{
    *r = (struct recipe){0};
    for (size_t i = 0; i < sizeof g_products / sizeof g_products[0]; i++)
        if (hs_str_is(name, g_products[i].name))
            r->product = &g_products[i];
    for (size_t i = 0; i < sizeof g_attention / sizeof g_attention[0]; i++)
        if (hs_str_is(name, g_attention[i].name))
            r->attention = &g_attention[i];
    r->triton =
        hs_str_starts(name, "triton_poi_") || hs_str_starts(name, "triton_red_") || hs_str_starts(name, "triton_per_");
    r->streaming = streaming_of(name, &r->in_place);
    return r->product || r->attention || r->triton || r->streaming;
}

static bool cost_of(const struct recipe *r, const struct args *a, struct hs_op_cost *out)
{
    return r->product     ? product_cost(a, r->product, out)
           : r->attention ? attention_cost(a, r->attention, out)
           : r->triton    ? triton_cost(a, out)
                          : streaming_cost(a, r->streaming, r->in_place, out);
}

/* The name first: most operators of a trace are not told, and reading their lists would cost more than all the rest. */
bool hs_op_cost(struct hs_str name, struct hs_str dims, struct hs_str types, struct hs_str concrete,
                struct hs_op_cost *out)
{
    struct recipe r;
    struct args a;
    *out = (struct hs_op_cost){.kind = HS_OP_ELEMENTWISE};
    if (!find_recipe(name, &r))
        return false;
    bool ok = read_args(&a, dims, types, concrete) && cost_of(&r, &a, out);
    json_decref(a.concrete);
    return ok && isfinite(out->flops) && isfinite(out->bytes) && out->bytes > 0;
}
