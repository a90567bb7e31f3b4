#include "analysis/gap_causes.h"

#include "analysis/device_walk.h"

#include <stdlib.h>
#include <string.h>

const char *hs_gap_word(enum hs_gap_cause c)
{
    static const char *const words[HS_GAP_CAUSES] = {
        "data_loading",   "synchronize",      "allocation",    "compile",    "garbage_collection",
        "cpu_work",       "launch",           "not_recorded",  "event_wait", "inside_graph",
        "dispatch_delay", "launched_waiting", "launch_unknown"};
    return words[c];
}

bool hs_gap_of_host(enum hs_gap_cause c)
{
    return c <= HS_GAP_NOTHING;
}

/* ---- what names mean: one table, first match ---- */

static const struct {
    const char *part;
    enum hs_gap_cause cause;
} calls[] = {
    /* calls of runtimes and drivers, in CUDA's, HIP's and the driver's spelling */
    {"Synchronize", HS_GAP_SYNC}, {"EventQuery", HS_GAP_CPU},     {"HostAlloc", HS_GAP_ALLOC},
    {"MallocHost", HS_GAP_ALLOC}, {"FreeHost", HS_GAP_ALLOC},     {"HostMalloc", HS_GAP_ALLOC},
    {"HostFree", HS_GAP_ALLOC},   {"HostRegister", HS_GAP_ALLOC}, {"cudaMalloc", HS_GAP_ALLOC},
    {"hipMalloc", HS_GAP_ALLOC},  {"cudaFree", HS_GAP_ALLOC},     {"hipFree", HS_GAP_ALLOC},
    {"cuMem", HS_GAP_ALLOC},      {"hipMem", HS_GAP_SYNC},        {"Memcpy", HS_GAP_SYNC},
    {"Launch", HS_GAP_LAUNCH},    {"MemsetAsync", HS_GAP_LAUNCH},
};
/* What cuMem and hipMem would catch and is no allocation. */
static const char *const copies[] = {"cuMemcpyHtoD", "cuMemcpyDtoH", "cuMemset", "hipMemcpy", "hipMemset"};

static uint8_t call_of(struct hs_str name)
{
    for (size_t i = 0; i < sizeof copies / sizeof copies[0]; i++)
        if (hs_str_starts(name, copies[i]))
            return hs_str_contains(name, "emset") ? HS_GAP_LAUNCH + 1 : HS_GAP_SYNC + 1;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (hs_str_contains(name, calls[i].part))
            return (uint8_t)calls[i].cause + 1;
    return 0;
}

static const char *const compiling[] = {"torch/_dynamo/convert_frame",
                                        "torch/_inductor/compile_fx",
                                        "_inductor/codecache",
                                        "_inductor/async_compile",
                                        "torch/_inductor/graph",
                                        "ast_to_ttir",
                                        "make_ttgir",
                                        "make_cubin",
                                        "make_hsaco",
                                        "CachingAutotuner",
                                        "autotune_select_algorithm",
                                        "do_bench",
                                        "_compile.<locals>",
                                        "backend_compile",
                                        "entire_frame_compile",
                                        "inductor_compile"};
static const char *const collecting[] = {"gc.collect", "built-in method collect", "gc.py"};
static const char *const loading[] = {"DataLoader", "dataloader",          "data_loader",
                                      "data_load",  "_BaseDataLoaderIter", "_MultiProcessingDataLoaderIter",
                                      "fetch_data"};

static bool contains_any(struct hs_str name, const char *const *parts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (hs_str_contains(name, parts[i]))
            return true;
    return false;
}
#define ANY(name, list) contains_any(name, list, sizeof list / sizeof list[0])

/* ---- pieces ---- */

static enum hs_gap_cause cause_of(struct hs_gap_causes *g, const struct hs_crit_segment *s)
{
    uint32_t name = g->cpu.ev.name[s->event];
    uint8_t call = hs_cpu_kind(&g->cpu, s->event) == HS_CAT_RUNTIME ? g->call[name] : 0;
    if (hs_pick(&g->compile, s->event) != HS_NO_EVENT)
        return HS_GAP_COMPILE;
    if (call == HS_GAP_SYNC + 1 && hs_str_contains(hs_view_str(g->cpu.view, name), "Async") &&
        hs_crit_waited_for(&g->index, s, s->end) == HS_NO_ROW)
        return HS_GAP_LAUNCH; /* a copy that did not block */
    if (call)
        return (enum hs_gap_cause)(call - 1);
    if (s->loads)
        return HS_GAP_LOADING;
    return ANY(hs_view_str(g->cpu.view, name), collecting) ? HS_GAP_COLLECT : HS_GAP_CPU;
}

static void put(struct hs_gap_causes *g, int64_t start, int64_t end, enum hs_gap_cause cause, uint32_t event)
{
    if (start < end)
        g->full |= !hs_vec_push(&g->pieces, ((struct hs_gap_piece){start, end, cause, event}));
}

/* From time t on the lane back to `from`: what ran, and where nothing did, what ran last elsewhere. */
static void walk_back(struct hs_gap_causes *g, uint32_t lane, int64_t t, int64_t from)
{
    const struct hs_crit_index *x = &g->index;
    while (t > from && !g->full) {
        size_t k = hs_crit_segment_before(x, lane, t), latest;
        const struct hs_crit_segment *s = k == HS_NO_SEGMENT ? NULL : &x->seg.p[k], *other = NULL;
        bool covered = s && s->end >= t;
        int64_t low = covered ? s->start : s ? s->end : INT64_MIN;
        if (!covered || !s->active) {
            latest = hs_crit_latest_active(x, t);
            other = latest == HS_NO_SEGMENT ? NULL : &x->seg.p[latest];
        }
        bool jump = other && other->lane != lane && hs_min_i64(other->end, t) > low;
        if (jump)
            low = hs_min_i64(other->end, t);
        low = hs_max_i64(low, from);
        put(g, low, t, covered ? cause_of(g, s) : HS_GAP_NOTHING, covered ? s->event : HS_NO_EVENT);
        t = low;
        if (jump)
            lane = other->lane;
    }
}

/* The one cause of a gap before work that had been launched in time. */
static enum hs_gap_cause in_time(const struct hs_gap_causes *g, size_t row, size_t before, int64_t length)
{
    const struct hs_gpu *gpu = &g->sel->gpu;
    if (gpu->launch[row] == HS_NO_EVENT)
        return HS_GAP_UNLAUNCHED;
    if (gpu->launch[before] == gpu->launch[row])
        return HS_GAP_GRAPH;
    if (length < g->delay)
        return HS_GAP_DISPATCH;
    return g->index.recorded.any && g->index.recorded.row_wait[row] != HS_NO_ROW ? HS_GAP_EVENT : HS_GAP_WAITING;
}

/* A gap of the device before `row`, whole; `before` is the row whose end began it. */
static void tell(struct hs_gap_causes *g, int64_t start, size_t row, size_t before)
{
    const struct hs_gpu *gpu = &g->sel->gpu;
    int64_t end = gpu->ts[row], from = hs_max_i64(start, g->sel->from), to = hs_min_i64(end, g->sel->to);
    if (from >= to || !hs_select_step(g->sel, gpu->step[row]))
        return;
    struct hs_idle_gap gap = {from, to, row, g->pieces.n, 0};
    int64_t call = gpu->launch_ts[row];
    bool late = gpu->launch[row] != HS_NO_EVENT && call != HS_NO_VALUE && call > start;
    if (!late) {
        put(g, from, to, in_time(g, row, before, hs_sub_sat(end, start)), HS_NO_EVENT);
    } else {
        call = hs_min_i64(call, end); /* clamped clocks: a launch after its own work */
        put(g, hs_max_i64(call, from), to, HS_GAP_LAUNCH, gpu->launch[row]);
        walk_back(g, g->cpu.ev.lane[gpu->launch[row]], hs_min_i64(call, to), from);
    }
    gap.npieces = g->pieces.n - gap.piece;
    g->full |= !hs_vec_push(&g->gaps, gap);
}

/* Of two rows that start together, the one launched first ends the gap. */
static bool launched_first(const struct hs_gpu *gpu, size_t a, size_t b)
{
    return gpu->launch_ts[a] != HS_NO_VALUE &&
           (gpu->launch_ts[b] == HS_NO_VALUE || gpu->launch_ts[a] < gpu->launch_ts[b]);
}

static void walk_device(struct hs_gap_causes *g, struct hs_device_walk *w)
{
    const struct hs_gpu *gpu = &g->sel->gpu;
    size_t last = SIZE_MAX, row,
           next = SIZE_MAX; /* last: the row that ends last so far; next: what ends the open gap */
    int64_t idle_since = 0;
    size_t before = SIZE_MAX;
    while (hs_device_row(w, &row)) {
        if (next != SIZE_MAX && gpu->ts[row] != gpu->ts[next]) {
            tell(g, idle_since, next, before);
            next = SIZE_MAX;
        }
        if (next != SIZE_MAX) {
            if (launched_first(gpu, row, next))
                next = row;
        } else if (last != SIZE_MAX && gpu->ts[row] > g->index.end_of[last]) {
            idle_since = g->index.end_of[last];
            before = last;
            next = row;
        }
        if (last == SIZE_MAX || g->index.end_of[row] > g->index.end_of[last])
            last = row;
    }
    if (next != SIZE_MAX)
        tell(g, idle_since, next, before);
}

/* ---- open, close ---- */

static void read_names(struct hs_gap_causes *g, uint8_t *loads, uint8_t *compiles)
{
    const struct hs_view *v = g->cpu.view;
    for (size_t i = 0; i < v->nsyms; i++) {
        g->call[i] = call_of(v->syms[i]);
        loads[i] = ANY(v->syms[i], loading);
        compiles[i] = ANY(v->syms[i], compiling);
    }
}

int hs_gap_causes_open(struct hs_gap_causes *g, const struct hs_select *sel, int64_t delay, struct hs_err *err)
{
    struct hs_view *v = sel->view;
    *g = (struct hs_gap_causes){
        .sel = sel, .delay = delay, .gaps = HS_VEC_INIT(HS_MAX_EVENTS), .pieces = HS_VEC_INIT((size_t)1 << 33)};
    uint8_t *loads = hs_calloc(v->nsyms + 1, 1), *compiles = hs_calloc(v->nsyms + 1, 1);
    int rc = hs_cpu_open(&g->cpu, v, HS_EV_TS | HS_EV_DUR | HS_EV_LANE | HS_EV_PH, err);
    if (rc)
        goto out;
    g->call = hs_calloc(v->nsyms + 1, 1);
    read_names(g, loads, compiles);
    rc = hs_crit_index_open(&g->index, &g->cpu, &sel->gpu, loads, err);
    if (rc)
        goto out;
    struct hs_device_walk w;
    hs_pick_open(&g->compile, &g->cpu,
                 1u << HS_CAT_CPU_OP | 1u << HS_CAT_ANNOTATION | 1u << HS_CAT_PYTHON | 1u << HS_CAT_OVERHEAD, compiles,
                 false);
    hs_device_walk_init(&w, &sel->gpu);
    while (hs_device_next(&w))
        walk_device(g, &w);
    hs_device_walk_free(&w);
    hs_pick_close(&g->compile);
    if (g->full)
        rc = hs_fail(err, HS_ELIMIT, "the trace has too many gaps: ask for a shorter window");
out:
    free(loads);
    free(compiles);
    return rc;
}

void hs_gap_causes_close(struct hs_gap_causes *g)
{
    hs_crit_index_close(&g->index);
    hs_cpu_close(&g->cpu);
    hs_vec_free(&g->gaps);
    hs_vec_free(&g->pieces);
    free(g->call);
    g->call = NULL;
}

bool hs_gap_is_sync(const struct hs_gap_causes *g, uint32_t event)
{
    return hs_cpu_kind(&g->cpu, event) == HS_CAT_RUNTIME && g->call[g->cpu.ev.name[event]] == HS_GAP_SYNC + 1;
}
