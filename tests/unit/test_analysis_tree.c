/* call-stack, op-launch-delays, kernel-sequences, flame: by hand, then on random trees against plain walks over the tree as it
 * was made. */
#include "tests/unit/fake_view.h"
#include "tests/unit/sim_tree.h"
#include "tests/unit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct json_trace t;
static struct hs_table a;
static struct sim_tree s;

/* A thread with linear > addmm > two launches, and copy_ > one; a graph's launch under nothing. */
static struct hs_run *small(void)
{
    json_trace_begin(&t, 0);
    trace_cpu(&t, "cpu_op", "aten::linear", 1, 100, 100); /* event 1 */
    trace_cpu(&t, "cpu_op", "aten::addmm", 1, 110, 80);   /* 2 */
    trace_launch(&t, "cudaLaunchKernel", 1, 120, 10, 1);  /* 3 */
    trace_launch(&t, "cudaLaunchKernel", 1, 140, 10, 2);  /* 4 */
    trace_cpu(&t, "cpu_op", "aten::copy_", 1, 300, 50);   /* 5 */
    trace_launch(&t, "cudaMemcpyAsync", 1, 310, 10, 3);   /* 6 */
    trace_launch(&t, "cudaGraphLaunch", 1, 400, 10, 4);   /* 7 */
    trace_kernel(&t, "splitk", 0, 7, 500, 20, 1);
    trace_kernel(&t, "gemm", 0, 7, 520, 30, 2);
    trace_copy(&t, "Memcpy DtoD (Device -> Device)", 0, 7, 560, 5, 3, 100);
    trace_kernel(&t, "gemm", 0, 7, 570, 7, 4);
    trace_kernel(&t, "norm", 0, 8, 570, 9, 4);
    return json_trace_load(&t, 1);
}

START_TEST(call_stack_by_hand)
{
    static const struct {
        const char *name;
        int64_t event, depth, height, kernels, ns;
    } want[] = {{"aten::linear", 1, 0, 3, 2, 50},     {"aten::addmm", 2, 1, 2, 2, 50},
                {"cudaLaunchKernel", 3, 2, 1, 1, 20}, {"cudaLaunchKernel", 4, 2, 1, 1, 30},
                {"aten::copy_", 5, 0, 2, 1, 5},       {"cudaMemcpyAsync", 6, 1, 1, 1, 5},
                {"cudaGraphLaunch", 7, 0, 1, 2, 16}};
    struct hs_run *run = small();
    a = fake_analyze(run, "call-stack", "thread=1");
    ck_assert_uint_eq(a.rows, 7);
    for (size_t i = 0; i < 7; i++) {
        ck_assert_str_eq(table_text(&a, i, "name"), want[i].name);
        ck_assert_int_eq(table_i64(&a, i, "event"), want[i].event);
        ck_assert_int_eq(table_i64(&a, i, "depth"), want[i].depth);
        ck_assert_int_eq(table_i64(&a, i, "height"), want[i].height);
        ck_assert_int_eq(table_i64(&a, i, "num_kernels"), want[i].kernels);
        ck_assert_int_eq(table_i64(&a, i, "kernel_dur_sum_us"), want[i].ns);
    }
    ck_assert_int_eq(table_i64(&a, 3, "parent"), 2);
    ck_assert(table_null(&a, 0, "parent"));
    hs_table_free(&a);
    a = fake_analyze(run, "call-stack", "parent=2");
    ck_assert_uint_eq(a.rows, 2);
    hs_table_free(&a);
    a = fake_analyze(run, "call-stack", "parent=-1&with_kernels=1");
    ck_assert_uint_eq(a.rows, 3);
    hs_table_free(&a);
    a = fake_analyze(run, "call-stack", "thread=1/1&name=^aten::[ac]");
    ck_assert_uint_eq(a.rows, 2);
    hs_table_free(&a);
    a = fake_analyze(run, "call-stack", "thread=17");
    ck_assert(!a.rows && table_has_note(&a, "no such thread"));
    hs_table_free(&a);
    json_trace_end(&t, 1);
}
END_TEST

START_TEST(op_launch_delays_by_hand)
{
    struct hs_run *run = small();
    a = fake_analyze(run, "op-launch-delays", "");
    ck_assert_uint_eq(a.rows, 2);
    ck_assert_str_eq(table_text(&a, 0, "operator"), "aten::addmm"); /* the innermost; 50 ns of GPU time go before 5 */
    ck_assert_str_eq(table_text(&a, 0, "sequence"), "splitk -> gemm");
    ck_assert_int_eq(table_i64(&a, 0, "avg_aten_op_launch_delay_us"), 10);
    ck_assert_int_eq(table_i64(&a, 0, "avg_runtime_delay_us"), 380);
    ck_assert_int_eq(table_i64(&a, 0, "gpu_us"), 50);
    ck_assert_int_eq(table_i64(&a, 0, "cpu_us"), 80);
    ck_assert_str_eq(table_text(&a, 1, "operator"), "aten::copy_");
    ck_assert(table_has_note(&a, "2 device activities are left out, as no such operator"));
    hs_table_free(&a);
    a = fake_analyze(run, "op-launch-delays", "include_memory_events=0&sort_by=avg_runtime_delay,occurrence_count");
    ck_assert_uint_eq(a.rows, 1);
    hs_table_free(&a);
    struct hs_err err = HS_ERR_INIT;
    ck_assert_int_eq(fake_analyze_fails(run, "op-launch-delays", "sort_by=size", &err), HS_EUSAGE);
    json_trace_end(&t, 1);
}
END_TEST

START_TEST(kernel_sequences_by_hand)
{
    struct hs_run *run = small();
    a = fake_analyze(run, "kernel-sequences", "operator_name=aten::&min_pattern_len=1");
    ck_assert_uint_eq(a.rows, 2); /* linear, not addmm within it; copy_ */
    ck_assert_str_eq(table_text(&a, 0, "operator"), "aten::linear");
    ck_assert_int_eq(table_i64(&a, 0, "kernels"), 2);
    ck_assert_int_eq(table_i64(&a, 0, "cpu_us"), 100);
    ck_assert_int_eq(table_i64(&a, 0, "first_event"), 1);
    ck_assert_uint_eq(strlen(table_text(&a, 0, "pattern_id")), 16);
    hs_table_free(&a);
    a = fake_analyze(run, "kernel-sequences", "operator_name=aten::");
    ck_assert(!a.rows && table_has_note(&a, "2 calls launched fewer than 3"));
    hs_table_free(&a);
    a = fake_analyze(run, "kernel-sequences", "operator_name=nothing");
    ck_assert(!a.rows && table_has_note(&a, "no CPU event whose name contains"));
    hs_table_free(&a);
    a = fake_analyze(run, "kernel-sequences", "");
    ck_assert(!a.rows && table_has_note(&a, "operator_name"));
    hs_table_free(&a);
    json_trace_end(&t, 1);
}
END_TEST

START_TEST(flame_by_hand)
{
    struct hs_run *run = small();
    a = fake_analyze(run, "flame", "");
    ck_assert_uint_eq(a.rows, 5);
    ck_assert_str_eq(table_text(&a, 0, "stack"), "thread 1;aten::linear;aten::addmm;cudaLaunchKernel;gemm");
    ck_assert_int_eq(table_i64(&a, 0, "weight_us"), 30);
    ck_assert_str_eq(table_text(&a, 2, "stack"), "thread 1;cudaGraphLaunch;norm");
    hs_table_free(&a);
    /* self: linear 20, addmm 60, launches 10 + 10 as one stack, copy_ 40, memcpy 10, graph 10, the origin 1 */
    a = fake_analyze(run, "flame", "weight=cpu");
    ck_assert_uint_eq(a.rows, 7);
    ck_assert_str_eq(table_text(&a, 0, "stack"), "thread 1;aten::linear;aten::addmm");
    ck_assert_int_eq(table_i64(&a, 0, "weight_us"), 60);
    hs_table_free(&a);
    a = fake_analyze(run, "flame", "weight=cpu&from=0.15&to=0.31"); /* addmm 40, copy_ 10, linear 10 */
    ck_assert_uint_eq(a.rows, 3);
    ck_assert_int_eq(table_i64(&a, 0, "weight_us"), 40);
    hs_table_free(&a);
    a = fake_analyze(run, "flame", "limit=1");
    ck_assert(a.rows == 1 && table_has_note(&a, "lightest 4 of 5"));
    hs_table_free(&a);
    json_trace_end(&t, 1);
}
END_TEST

START_TEST(forward_and_backward_are_linked)
{
    char us[40];
    json_trace_begin(&t, 0);
    trace_cpu(&t, "cpu_op", "aten::linear", 1, 100, 100);  /* 1 */
    trace_cpu(&t, "cpu_op", "aten::addmm", 1, 100, 50);    /* 2: starts with it; the inner one has the flow */
    trace_cpu(&t, "cpu_op", "AddmmBackward0", 2, 500, 40); /* 3 */
    trace_cpu(&t, "cpu_op", "aten::relu", 1, 300, 10);     /* 4: no flow */
    trace_event(&t, "{\"ph\":\"s\",\"id\":9,\"cat\":\"fwdbwd\",\"name\":\"fwdbwd\",\"pid\":1,\"tid\":1,\"ts\":%s}",
                trace_us(us, 100));
    trace_event(
        &t, "{\"ph\":\"f\",\"id\":9,\"cat\":\"fwdbwd\",\"name\":\"fwdbwd\",\"bp\":\"e\",\"pid\":1,\"tid\":2,\"ts\":%s}",
        trace_us(us, 500));
    a = fake_analyze(json_trace_load(&t, 1), "call-stack", "");
    for (size_t r = 0; r < a.rows; r++) {
        int64_t e = table_i64(&a, r, "event");
        if (e == 2 || e == 3)
            ck_assert_int_eq(table_i64(&a, r, "fwdbwd_event"), 5 - e);
        else
            ck_assert(table_null(&a, r, "fwdbwd_event"));
    }
    hs_table_free(&a);
    json_trace_end(&t, 1);
}
END_TEST

/* ---- random trees ---- */

static int height(int n)
{
    int h = 1;
    for (int i = 0; i < s.nodes; i++)
        if (s.node[i].parent == n && height(i) + 1 > h)
            h = height(i) + 1;
    return h;
}

START_TEST(call_stack_of_random_trees)
{
    json_trace_begin(&t, 0);
    sim_tree_fill(&s, &t, (uint32_t)_i);
    a = fake_analyze(json_trace_load(&t, 1), "call-stack", "");
    ck_assert_uint_eq(a.rows, (size_t)s.nodes + 1);
    for (size_t r = 0; r < a.rows; r++) {
        int64_t event = table_i64(&a, r, "event"), ns = 0, kernels = 0, depth = -1;
        int n = 0;
        if (!event)
            continue;
        while (s.node[n].event != event)
            n++;
        for (int k = 0; k < s.kernels; k++) {
            bool in = sim_above(&s, s.kernel[k].launch, n);
            kernels += in;
            ns += in ? s.kernel[k].dur : 0;
        }
        for (int p = n; p >= 0; p = s.node[p].parent)
            depth++;
        ck_assert_int_eq(table_i64(&a, r, "num_kernels"), kernels);
        ck_assert_int_eq(table_i64(&a, r, "kernel_dur_sum_us"), ns);
        ck_assert_int_eq(table_i64(&a, r, "depth"), depth);
        ck_assert_int_eq(table_i64(&a, r, "height"), height(n));
        if (s.node[n].parent < 0)
            ck_assert(table_null(&a, r, "parent"));
        else
            ck_assert_int_eq(table_i64(&a, r, "parent"), s.node[s.node[n].parent].event);
    }
    hs_table_free(&a);
    json_trace_end(&t, 1);
}
END_TEST

/* Pages are found without sorting everything; put together they are the whole. */
START_TEST(pages_of_a_call_stack)
{
    static const size_t sizes[] = {1, 7, 50, 1000};
    json_trace_begin(&t, 0);
    sim_tree_fill(&s, &t, 9);
    struct hs_run *run = json_trace_load(&t, 1);
    a = fake_analyze(run, "call-stack", "limit=0");
    for (size_t k = 0; k < 4; k++) {
        for (size_t at = 0; at < a.rows; at += sizes[k]) {
            char params[64];
            snprintf(params, sizeof params, "offset=%zu&limit=%zu", at, sizes[k]);
            struct hs_table page = fake_analyze(run, "call-stack", params);
            ck_assert_uint_eq(page.rows, at + sizes[k] < a.rows ? sizes[k] : a.rows - at);
            for (size_t r = 0; r < page.rows; r++)
                ck_assert_int_eq(table_i64(&page, r, "event"), table_i64(&a, at + r, "event"));
            hs_table_free(&page);
        }
    }
    for (size_t r = 1; r < a.rows; r++) {
        bool same = !strcmp(table_text(&a, r, "tid"), table_text(&a, r - 1, "tid"));
        ck_assert(!same || table_i64(&a, r, "ts_us") >= table_i64(&a, r - 1, "ts_us"));
    }
    hs_table_free(&a);
    json_trace_end(&t, 1);
}
END_TEST

/* What each operator call launched, as "name|kernel|kernel", with its figures; equal ones together. */
struct group {
    char text[4096];
    int64_t count, gpu, cpu, launch_delay, runtime_delay;
};
static struct group groups[600];
static size_t ngroups;

static void add_group(const char *text, int64_t gpu, int64_t cpu, int64_t launch_delay, int64_t runtime_delay)
{
    size_t g = 0;
    while (g < ngroups && strcmp(groups[g].text, text) != 0)
        g++;
    if (g == ngroups) {
        groups[ngroups] = (struct group){.count = 0};
        snprintf(groups[ngroups++].text, sizeof groups[0].text, "%s", text);
    }
    groups[g].count++;
    groups[g].gpu += gpu;
    groups[g].cpu += cpu;
    groups[g].launch_delay += launch_delay;
    groups[g].runtime_delay += runtime_delay;
}

static bool by_launch;

static int by_order(const void *x, const void *y)
{
    const struct sim_kernel *p = *(struct sim_kernel *const *)x, *q = *(struct sim_kernel *const *)y;
    int64_t u = s.node[p->launch].ts, v = s.node[q->launch].ts;
    if (by_launch && u != v)
        return u < v ? -1 : 1;
    if (p->ts != q->ts)
        return p->ts < q->ts ? -1 : 1;
    if (p->stream != q->stream)
        return p->stream - q->stream;
    return p->dur != q->dur ? (p->dur < q->dur ? -1 : 1) : strcmp(p->name, q->name);
}

/* The operator that a kernel belongs to: innermost aten:: operator, or topmost event with the text in its name. */
static int owner(int k, bool topmost)
{
    int found = -1;
    for (int n = s.kernel[k].launch; n >= 0; n = s.node[n].parent) {
        bool is = topmost ? strstr(s.node[n].name, "aten::") != NULL
                          : !strcmp(s.node[n].cat, "cpu_op") && !strncmp(s.node[n].name, "aten::", 6);
        if (is && (topmost || found < 0))
            found = n;
    }
    return found;
}

static void make_groups(bool topmost, size_t shortest)
{
    ngroups = 0;
    by_launch = !topmost;
    for (int n = 0; n < s.nodes; n++) {
        const struct sim_kernel *mine[600];
        char text[4096];
        size_t m = 0;
        int64_t gpu = 0;
        for (int k = 0; k < s.kernels; k++)
            if (owner(k, topmost) == n)
                mine[m++] = &s.kernel[k];
        if (m < shortest)
            continue;
        qsort(mine, m, sizeof *mine, by_order);
        size_t at = (size_t)snprintf(text, sizeof text, "%s", s.node[n].name);
        for (size_t k = 0; k < m; k++) {
            at += (size_t)snprintf(text + at, sizeof text - at, "|%s", mine[k]->name);
            gpu += mine[k]->dur;
        }
        int64_t launch = s.node[mine[0]->launch].ts;
        add_group(text, gpu, s.node[n].dur, launch - s.node[n].ts, mine[0]->ts - launch);
    }
}

/* Undoes what the sequence column does: "a -> b (x2)" of operator op is "op|a|b|b". */
static void expand(const struct hs_table *x, size_t row, char *out, size_t cap)
{
    size_t at = (size_t)snprintf(out, cap, "%s", table_text(x, row, "operator"));
    char copy[4096], *p = copy;
    snprintf(copy, sizeof copy, "%s", table_text(x, row, "sequence"));
    while (p) {
        char *next = strstr(p, " -> "), *times = NULL;
        int n = 1;
        if (next)
            *next = 0;
        if ((times = strstr(p, " (x"))) {
            n = atoi(times + 3);
            *times = 0;
        }
        while (n-- > 0)
            at += (size_t)snprintf(out + at, cap - at, "|%s", p);
        p = next ? next + 4 : NULL;
    }
}

static const struct group *group_of(size_t row)
{
    char text[4096];
    expand(&a, row, text, sizeof text);
    for (size_t g = 0; g < ngroups; g++)
        if (!strcmp(groups[g].text, text))
            return &groups[g];
    ck_abort_msg("no call launched \"%s\"", text);
    return NULL;
}

START_TEST(op_launch_delays_of_random_trees)
{
    json_trace_begin(&t, 0);
    sim_tree_fill(&s, &t, (uint32_t)_i);
    make_groups(false, 1);
    ck_assert_uint_gt(ngroups, 5);
    a = fake_analyze(json_trace_load(&t, 1), "op-launch-delays", "");
    ck_assert_uint_eq(a.rows, ngroups);
    for (size_t r = 0; r < a.rows; r++) {
        const struct group *g = group_of(r);
        ck_assert_int_eq(table_i64(&a, r, "occurrence_count"), g->count);
        ck_assert_int_eq(table_i64(&a, r, "gpu_us"), g->gpu);
        ck_assert_int_eq(table_i64(&a, r, "cpu_us"), g->cpu);
        ck_assert_int_le(llabs(table_i64(&a, r, "avg_aten_op_launch_delay_us") * g->count - g->launch_delay), g->count);
        ck_assert_int_le(llabs(table_i64(&a, r, "avg_runtime_delay_us") * g->count - g->runtime_delay), g->count);
        if (r)
            ck_assert_int_ge(table_i64(&a, r - 1, "occurrence_count"), g->count);
    }
    hs_table_free(&a);
    json_trace_end(&t, 1);
}
END_TEST

START_TEST(kernel_sequences_of_random_trees)
{
    json_trace_begin(&t, 0);
    sim_tree_fill(&s, &t, (uint32_t)_i);
    make_groups(true, 2);
    ck_assert_uint_gt(ngroups, 1);
    a = fake_analyze(json_trace_load(&t, 1), "kernel-sequences", "operator_name=aten::&min_pattern_len=2&top_k=0");
    ck_assert_uint_eq(a.rows, ngroups);
    for (size_t r = 0; r < a.rows; r++) {
        const struct group *g = group_of(r);
        ck_assert_int_eq(table_i64(&a, r, "count"), g->count);
        ck_assert_int_eq(table_i64(&a, r, "gpu_us"), g->gpu);
        ck_assert_int_eq(table_i64(&a, r, "cpu_us"), g->cpu);
    }
    hs_table_free(&a);
    json_trace_end(&t, 1);
}
END_TEST

static void put_path(int n, char *out, size_t cap)
{
    size_t at = 0;
    if (s.node[n].parent >= 0) {
        put_path(s.node[n].parent, out, cap);
        at = strlen(out);
    } else {
        at = (size_t)snprintf(out, cap, "thread %d", s.node[n].tid);
    }
    snprintf(out + at, cap - at, ";%s", s.node[n].name);
}

static void check_flame(const char *params)
{
    a = fake_analyze(t.run, "flame", params);
    size_t origin = strstr(params, "cpu") != NULL;
    ck_assert_uint_eq(a.rows, ngroups + origin);
    for (size_t r = 0; r < a.rows; r++) {
        size_t g = 0;
        while (g < ngroups && strcmp(groups[g].text, table_text(&a, r, "stack")) != 0)
            g++;
        if (g == ngroups) {
            ck_assert_str_eq(table_text(&a, r, "stack"), "thread 999;origin");
            continue;
        }
        ck_assert_int_eq(table_i64(&a, r, "weight_us"), groups[g].gpu);
        ck_assert_int_eq(table_i64(&a, r, "count"), groups[g].count);
    }
    hs_table_free(&a);
}

START_TEST(flames_of_random_trees)
{
    char path[4096];
    json_trace_begin(&t, 0);
    sim_tree_fill(&s, &t, (uint32_t)_i);
    json_trace_load(&t, 1);
    ngroups = 0;
    for (int k = 0; k < s.kernels; k++) {
        put_path(s.kernel[k].launch, path, sizeof path);
        strncat(path, ";", 2);
        strncat(path, s.kernel[k].name, 64);
        add_group(path, s.kernel[k].dur, 0, 0, 0);
    }
    check_flame("");
    ngroups = 0;
    for (int n = 0; n < s.nodes; n++) {
        int64_t self = s.node[n].dur;
        for (int i = 0; i < s.nodes; i++)
            self -= s.node[i].parent == n ? s.node[i].dur : 0;
        put_path(n, path, sizeof path);
        if (self > 0)
            add_group(path, self, 0, 0, 0);
    }
    check_flame("weight=cpu");
    json_trace_end(&t, 1);
}
END_TEST

START_TEST(order_of_the_file_does_not_matter)
{
    static const char *const names[][2] = {{"call-stack", ""},
                                           {"op-launch-delays", ""},
                                           {"kernel-sequences", "operator_name=aten&top_k=0"},
                                           {"flame", ""},
                                           {"flame", "weight=cpu"},
                                           {"annotations", "use_gpu_annotation=0"},
                                           {"kernel-annotations", ""},
                                           {"symbols", ""},
                                           {"timeline", "lanes=all&px=50"},
                                           {"timeline", "lanes=all"},
                                           {"idle-intervals", "list=true"},
                                           {"kernels", ""},
                                           {"steps", ""},
                                           {"temporal", ""}};
    enum { N = sizeof names / sizeof names[0] };
    static struct hs_table first[N];
    json_trace_begin(&t, 0);
    sim_tree_fill(&s, &t, 40 + (uint32_t)_i);
    for (uint32_t round = 0; round < 3; round++) {
        struct hs_run *run = json_trace_load(&t, 1);
        for (size_t k = 0; k < N; k++) {
            struct hs_table x = fake_analyze(run, names[k][0], names[k][1]);
            if (!round) {
                first[k] = x;
                continue;
            }
            tables_agree(&first[k], &x, names[k][0]);
            hs_table_free(&x);
        }
        json_trace_shuffle(&t, round + 5 * (uint32_t)_i);
    }
    for (size_t k = 0; k < N; k++)
        hs_table_free(&first[k]);
    json_trace_end(&t, 1);
}
END_TEST

HS_SUITE(analysis_tree)
{
    HS_TEST(call_stack_by_hand);
    HS_TEST(op_launch_delays_by_hand);
    HS_TEST(kernel_sequences_by_hand);
    HS_TEST(flame_by_hand);
    HS_TEST(forward_and_backward_are_linked);
    HS_LOOP_TEST(call_stack_of_random_trees, 0, 6);
    HS_TEST(pages_of_a_call_stack);
    HS_LOOP_TEST(op_launch_delays_of_random_trees, 0, 8);
    HS_LOOP_TEST(kernel_sequences_of_random_trees, 0, 8);
    HS_LOOP_TEST(flames_of_random_trees, 0, 6);
    HS_LOOP_TEST(order_of_the_file_does_not_matter, 0, 4);
}
