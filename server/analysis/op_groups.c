#include "analysis/op_groups.h"

#include "analysis/hta_map.h"
#include "trace/stats.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

/* ---- what device it is ---- */

/* The first device of the header's deviceProperties that has work, by its id; where only one is told, that. */
static void find_device(struct hs_op_groups *g, const struct hs_view *v, int32_t device)
{
    for (size_t i = 0; i < v->nheader && !g->name; i++) {
        struct hs_str text = hs_view_str(v, v->header[i].json);
        if (!hs_str_is(hs_view_str(v, v->header[i].key), "deviceProperties"))
            continue;
        json_t *list = json_loadb(text.p, text.n, 0, NULL);
        for (size_t k = 0; k < json_array_size(list) && !g->name; k++) {
            const json_t *one = json_array_get(list, k), *id = json_object_get(one, "id");
            const char *name = json_string_value(json_object_get(one, "name"));
            if (!name || !(json_array_size(list) == 1 || (json_is_integer(id) && json_integer_value(id) == device)))
                continue;
            g->name = hs_strdup(name);
            g->peaks = hs_peaks_of(hs_cstr(name), json_integer_value(json_object_get(one, "numSms")));
        }
        json_decref(list);
    }
    g->device = hs_cstr(g->name ? g->name : "");
}

/* ---- device time of each operator ---- */

enum { OTHER_WORK = 1, PLAIN = 2, TENSOR_CORES = 4, ASKED = 8 };

struct owned {
    int64_t *ns;    /* [events] */
    uint8_t *flags; /* [events] */
    struct {
        HS_VEC(uint32_t);
    } list; /* events that have any, each once */
};

/* What a kernel's name tells of its units; found out once a name. */
static uint8_t units_of(const struct hs_view *v, uint32_t name, uint8_t *known)
{
    if (!known[name]) {
        struct hs_str s = hs_view_str(v, name);
        bool tensor = hs_str_contains(s, "tf32") || hs_str_contains(s, "s1688") || hs_str_contains(s, "tensorop");
        known[name] = (uint8_t)(ASKED | (tensor ? TENSOR_CORES : hs_is_fp32_matrix(s) ? PLAIN : 0));
    }
    return known[name] & (TENSOR_CORES | PLAIN);
}

static int take_work(struct hs_op_groups *g, const struct hs_select *s, const struct hs_cpu *cpu, struct owned *o,
                     struct hs_err *err)
{
    const struct hs_gpu *gpu = &s->gpu;
    uint8_t *known = hs_calloc(s->view->nsyms + 1, 1);
    struct hs_pick pick;
    bool ok = true;
    hs_pick_open(&pick, cpu, 1u << HS_CAT_CPU_OP, NULL, false);
    for (size_t i = 0; i < gpu->n && ok; i++) {
        if (!hs_select_starts(s, i))
            continue;
        g->work_ns = hs_add_sat(g->work_ns, gpu->dur[i]);
        uint32_t e = gpu->launch[i] < cpu->ev.n ? hs_pick(&pick, gpu->launch[i]) : HS_NO_EVENT;
        if (e == HS_NO_EVENT)
            continue;
        if (!o->ns[e] && !o->flags[e])
            ok = hs_vec_push(&o->list, e);
        o->flags[e] |= ASKED;
        o->ns[e] = hs_add_sat(o->ns[e], gpu->dur[i]);
        if (gpu->cls[i] == HS_CLASS_COMM || gpu->cls[i] == HS_CLASS_MEMCPY)
            o->flags[e] |= OTHER_WORK;
        else if (gpu->cls[i] == HS_CLASS_COMPUTE && gpu->name[i] < s->view->nsyms)
            o->flags[e] |= units_of(s->view, gpu->name[i], known);
    }
    hs_pick_close(&pick);
    free(known);
    return ok ? HS_OK : hs_fail(err, HS_ELIMIT, "more operators than there may be");
}

/* ---- groups ---- */

struct shapes {
    const uint32_t *dims, *types, *concrete; /* by event; concrete may be NULL */
};

static int read_shapes(struct hs_view *v, struct shapes *s, struct hs_err *err)
{
    int rc = v->ops->arg_json(v, "Input Dims", 1, &s->dims, err);
    if (!rc)
        rc = v->ops->arg_json(v, "Input type", 1, &s->types, err);
    if (!rc && hs_view_sym(v, "Concrete Inputs") != HS_NO_SYM)
        rc = v->ops->arg_json(v, "Concrete Inputs", 1, &s->concrete, err);
    return rc;
}

/* Float products run on tensor cores where their kernels' names say so, and where they are too fast for anything else. */
static void settle_dtype(struct hs_op_group *x)
{
    double fp32 = x->peaks->tflops[HS_DTYPE_F32], tf32 = x->peaks->tflops[HS_DTYPE_TF32];
    if (x->cost.dtype == HS_DTYPE_F32 && tf32 > 0 && !x->plain && (x->tensor_cores || hs_op_tflops(x) > fp32))
        x->cost.dtype = HS_DTYPE_TF32;
}

static void judge(struct hs_op_groups *g, struct hs_op_group *x)
{
    x->compute_pct = x->bandwidth_pct = NAN;
    x->peaks = g->peaks;
    if (!x->told || x->gpu_ns <= 0)
        return;
    g->told_ns = hs_add_sat(g->told_ns, x->gpu_ns);
    if (!x->peaks)
        return;
    settle_dtype(x);
    double peak = x->peaks->tflops[x->cost.dtype];
    if (x->cost.flops > 0 && peak > 0)
        x->compute_pct = 100 * hs_op_tflops(x) / peak;
    x->bandwidth_pct = 100 * hs_op_gbps(x) / x->peaks->gbps;
    x->cached = x->cost.bytes <= x->peaks->cache_bytes;
}

double hs_op_tflops(const struct hs_op_group *g)
{
    return g->cost.flops * (double)g->calls / (double)g->gpu_ns / 1e3;
}

double hs_op_gbps(const struct hs_op_group *g)
{
    return g->cost.bytes * (double)g->calls / (double)g->gpu_ns;
}

struct grouping {
    struct hta_map by_shape, by_name, by_mask; /* pairs of pairs, as a group has four names */
};

static uint32_t pair_of(struct hta_map *m, uint32_t a, uint32_t b, uint32_t fresh)
{
    uint32_t *at = hta_map_at(m, hta_pair(a, b));
    if (*at == HTA_NONE)
        *at = fresh;
    return *at;
}

static bool add_call(struct hs_op_groups *g, struct grouping *by, const struct shapes *s, const struct hs_cpu *cpu,
                     const struct owned *o, uint32_t e)
{
    const struct hs_view *v = cpu->view;
    uint32_t name = cpu->ev.name[e], dims = s->dims[e], types = s->types[e],
             concrete = s->concrete && hs_str_contains(hs_view_str(v, name), "attention") ? s->concrete[e] : HS_NO_SYM;
    if (dims == HS_NO_SYM || types == HS_NO_SYM || o->flags[e] & OTHER_WORK)
        return true;
    g->no_shapes = NULL;
    uint32_t fresh = (uint32_t)g->n;
    uint32_t at =
        pair_of(&by->by_mask, pair_of(&by->by_name, pair_of(&by->by_shape, dims, types, e), name, e), concrete, fresh);
    if (at == fresh) {
        struct hs_op_group x = {.name = name, .dims = dims, .types = types, .concrete = concrete, .longest_ns = -1};
        x.told = hs_op_cost(hs_view_str(v, name), hs_view_str(v, dims), hs_view_str(v, types), hs_view_str(v, concrete),
                            &x.cost);
        if (!hs_vec_push(g, x))
            return false;
    }
    struct hs_op_group *x = &g->p[at];
    x->calls++;
    x->gpu_ns = hs_add_sat(x->gpu_ns, o->ns[e]);
    x->plain |= (o->flags[e] & PLAIN) != 0;
    x->tensor_cores |= (o->flags[e] & TENSOR_CORES) != 0;
    if (o->ns[e] > x->longest_ns) {
        x->longest_ns = o->ns[e];
        x->event = e;
        x->ts = cpu->ev.ts[e];
    }
    return true;
}

static int by_time(const void *a, const void *b, void *view)
{
    const struct hs_op_group *x = a, *y = b;
    const struct hs_view *v = view;
    if (x->gpu_ns != y->gpu_ns)
        return x->gpu_ns < y->gpu_ns ? 1 : -1;
    int c = hs_str_cmp(hs_view_str(v, x->name), hs_view_str(v, y->name));
    c = c ? c : hs_str_cmp(hs_view_str(v, x->dims), hs_view_str(v, y->dims));
    c = c ? c : hs_str_cmp(hs_view_str(v, x->types), hs_view_str(v, y->types));
    return c ? c : hs_str_cmp(hs_view_str(v, x->concrete), hs_view_str(v, y->concrete));
}

static int group_calls(struct hs_op_groups *g, const struct hs_cpu *cpu, const struct owned *o, struct hs_err *err)
{
    struct shapes s = {0};
    struct grouping by = {0};
    int rc = read_shapes(cpu->view, &s, err);
    hta_map_init(&by.by_shape);
    hta_map_init(&by.by_name);
    hta_map_init(&by.by_mask);
    for (size_t i = 0; i < o->list.n && !rc; i++)
        if (!add_call(g, &by, &s, cpu, o, o->list.p[i]))
            rc = hs_fail(err, HS_ELIMIT, "more operators than there may be");
    hta_map_free(&by.by_shape);
    hta_map_free(&by.by_name);
    hta_map_free(&by.by_mask);
    for (size_t i = 0; i < g->n; i++)
        judge(g, &g->p[i]);
    if (g->n)
        qsort_r(g->p, g->n, sizeof *g->p, by_time, cpu->view);
    return rc;
}

int hs_op_groups_open(struct hs_op_groups *g, const struct hs_select *s, const struct hs_cpu *cpu, struct hs_err *err)
{
    *g = (struct hs_op_groups){
        .max = HS_MAX_EVENTS, .no_shapes = "the shapes of operators were not recorded: record with record_shapes=True"};
    find_device(g, s->view, s->gpu.n ? s->gpu.device[0] : -1);
    if (hs_view_sym(s->view, "Input Dims") == HS_NO_SYM || hs_view_sym(s->view, "Input type") == HS_NO_SYM)
        return HS_OK;
    g->no_shapes =
        "no kernel was launched within an operator that tells its shapes (CUDA graphs, launches from other code)";
    struct owned o = {hs_calloc(cpu->ev.n + 1, sizeof *o.ns), hs_calloc(cpu->ev.n + 1, 1), HS_VEC_INIT(HS_MAX_EVENTS)};
    int rc = take_work(g, s, cpu, &o, err);
    if (!rc)
        rc = group_calls(g, cpu, &o, err);
    free(o.ns);
    free(o.flags);
    hs_vec_free(&o.list);
    return rc;
}

void hs_op_groups_close(struct hs_op_groups *g)
{
    hs_vec_free(g);
    free(g->name);
    g->name = NULL;
}
