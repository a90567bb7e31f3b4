#include "tests/unit/sim_tree.h"
#include "tests/unit/test.h"

struct maker {
    struct sim_tree *s;
    struct json_trace *t;
    uint32_t r;
};

static int add(struct maker *m, int parent, int tid, const char *cat, const char *name, int64_t ts, int64_t dur)
{
    struct sim_tree *s = m->s;
    ck_assert_int_lt(s->nodes, 600);
    s->node[s->nodes] = (struct sim_node){parent, tid, 0, ts, dur, name, cat, (uint32_t)m->t->events.n};
    return s->nodes++;
}

static void add_launch(struct maker *m, int parent, int tid, int64_t ts, int64_t dur)
{
    static const char *const names[] = {"gemm", "add", "norm"};
    int n = add(m, parent, tid, "cuda_runtime", "cudaLaunchKernel", ts, dur);
    m->s->node[n].corr = n + 1;
    trace_launch(m->t, "cudaLaunchKernel", tid, ts, dur, n + 1);
    for (uint32_t k = draw_below(&m->r, 4); k > 0; k--) {
        struct sim_kernel x = {n, (int)(7 + draw_below(&m->r, 2)), ts + draw_below(&m->r, 500),
                               1 + draw_below(&m->r, 50), names[draw_below(&m->r, 3)]};
        ck_assert_int_lt(m->s->kernels, 600);
        m->s->kernel[m->s->kernels++] = x;
        trace_kernel(m->t, x.name, 0, x.stream, x.ts, x.dur, n + 1);
    }
}

static void fill(struct maker *m, int parent, int tid, int64_t from, int64_t to, int depth)
{
    static const char *const names[] = {"aten::linear", "aten::addmm", "aten::relu", "my_op"};
    static const char *const cats[] = {"cpu_op", "cpu_op", "cpu_op", "cpu_op", "user_annotation", "python_function"};
    for (int64_t at = from + 1; to - at > 30;) {
        int64_t dur = 10 + draw_below(&m->r, (uint32_t)(to - at - 20));
        if (depth == 5 || dur < 40) {
            if (draw_below(&m->r, 2))
                add_launch(m, parent, tid, at, dur);
        } else {
            const char *cat = cats[draw_below(&m->r, 6)];
            const char *name = cat[0] == 'c'   ? names[draw_below(&m->r, 4)]
                               : cat[0] == 'u' ? "phase aten::"
                                               : "f.py(3): g";
            int n = add(m, parent, tid, cat, name, at, dur);
            trace_cpu(m->t, cat, name, tid, at, dur);
            fill(m, n, tid, at, at + dur, depth + 1);
        }
        at += dur + 1 + draw_below(&m->r, 20);
    }
}

void sim_tree_fill(struct sim_tree *s, struct json_trace *t, uint32_t seed)
{
    struct maker m = {s, t, seed * 2654435761u + 7};
    s->nodes = s->kernels = 0;
    fill(&m, -1, 1, 10, 2500, 0);
    fill(&m, -1, 2, 400, 2000, 0);
}

bool sim_above(const struct sim_tree *s, int a, int b)
{
    for (; a >= 0; a = s->node[a].parent)
        if (a == b)
            return true;
    return false;
}
