/* annotations, kernel-annotations: by hand, then against scans over all pairs. */
#include "tests/unit/fake_view.h"
#include "tests/unit/sim_tree.h"
#include "tests/unit/test.h"

#include <stdio.h>
#include <string.h>

static struct json_trace t;
static struct hs_table a;
static struct sim_tree s;

static void gpu_annotation(const char *name, int stream, int64_t ts, int64_t dur)
{
    char us[40];
    trace_event(&t,
                "{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":\"%s\",\"pid\":0,\"tid\":%d,\"ts\":%s,\"dur\":%"
                "lld.%03lld,\"args\":{}}",
                name, stream, trace_us(us, ts), (long long)dur / 1000, (long long)dur % 1000);
}

/* Stream 7: outer [100, 300) around inner [150, 200) and again outer [310, 320); stream 8: inner [100, 400). */
static struct hs_run *small(void)
{
    json_trace_begin(&t, 0);
    gpu_annotation("outer", 7, 100, 200);
    gpu_annotation("inner", 7, 150, 50);
    gpu_annotation("outer", 7, 310, 10);
    gpu_annotation("inner", 8, 100, 300);
    trace_kernel(&t, "a", 0, 7, 100, 10, 11);  /* outer */
    trace_kernel(&t, "b", 0, 7, 190, 100, 12); /* starts in inner */
    trace_kernel(&t, "c", 0, 7, 200, 5, 13);   /* inner is over: outer */
    trace_kernel(&t, "d", 0, 7, 300, 5, 14);   /* in none; launched under cpu_phase */
    trace_kernel(&t, "e", 0, 8, 399, 50, 15);  /* inner, of stream 8 */
    trace_kernel(&t, "f", 0, 9, 150, 5, 16);   /* a stream without annotations, and no launch */
    trace_cpu(&t, "user_annotation", "cpu_phase", 1, 50, 100);
    trace_cpu(&t, "user_annotation", "cpu_phase", 1, 60, 50); /* nested, of the same name */
    trace_launch(&t, "cudaLaunchKernel", 1, 70, 5, 14);
    trace_launch(&t, "cudaLaunchKernel", 1, 120, 5, 15);
    return json_trace_load(&t, 1);
}

START_TEST(kernels_find_their_annotation)
{
    static const struct {
        const char *kernel, *annotation, *source;
    } want[] = {{"a", "outer", "gpu"},     {"b", "inner", "gpu"}, {"c", "outer", "gpu"},
                {"d", "cpu_phase", "cpu"}, {"e", "inner", "gpu"}, {"f", "", ""}};
    a = fake_analyze(small(), "kernel-annotations", "");
    ck_assert_uint_eq(a.rows, 6);
    for (size_t i = 0; i < 6; i++) {
        ck_assert_str_eq(table_text(&a, i, "name"), want[i].kernel);
        ck_assert_str_eq(table_text(&a, i, "annotation"), want[i].annotation);
        ck_assert_str_eq(table_text(&a, i, "source"), want[i].source);
    }
    ck_assert(table_has_note(&a, "1 of 6 device activities have no annotation"));
    hs_table_free(&a);
    json_trace_end(&t, 1);
}
END_TEST

START_TEST(annotations_by_hand)
{
    struct hs_run *run = small();
    a = fake_analyze(run, "annotations", "");
    ck_assert_uint_eq(a.rows, 2);
    ck_assert_str_eq(table_text(&a, 0, "name"), "inner"); /* 50 + 300 */
    ck_assert_int_eq(table_i64(&a, 0, "sum_us"), 350);
    ck_assert_int_eq(table_i64(&a, 0, "calls"), 2);
    ck_assert_int_eq(table_i64(&a, 0, "kernels"), 2); /* b, e */
    ck_assert_int_eq(table_i64(&a, 0, "gpu_us"), 150);
    ck_assert_int_eq(table_i64(&a, 1, "sum_us"), 210);
    ck_assert_int_eq(table_i64(&a, 1, "kernels"), 3); /* a, b, c */
    ck_assert_int_eq(table_i64(&a, 1, "min_us"), 10);
    ck_assert_int_eq(table_i64(&a, 1, "p50_us"), 105);
    ck_assert_double_eq_tol(table_f64(&a, 1, "gpu_pct"), 100.0 * 115 / 175, 1e-9);
    hs_table_free(&a);
    a = fake_analyze(run, "annotations", "use_gpu_annotation=false");
    ck_assert_uint_eq(a.rows, 1);
    ck_assert_int_eq(table_i64(&a, 0, "calls"), 2);
    ck_assert_int_eq(table_i64(&a, 0, "kernels"), 2); /* d and e, once each */
    ck_assert_int_eq(table_i64(&a, 0, "gpu_us"), 55);
    hs_table_free(&a);
    json_trace_end(&t, 1);
}
END_TEST

START_TEST(few_names_are_kept)
{
    json_trace_begin(&t, 0);
    for (int i = 1; i <= 5; i++) {
        char name[8];
        snprintf(name, sizeof name, "n%d", i);
        trace_cpu(&t, "user_annotation", name, 1, 100 * i, 10 * i); /* 10 to 50 ns: 150 */
    }
    struct hs_run *run = json_trace_load(&t, 1);
    a = fake_analyze(run, "annotations", "use_gpu_annotation=0&num_kernels=2&allowlist_patterns=x,n1");
    ck_assert_uint_eq(a.rows, 4); /* n5, n4, n1, others */
    ck_assert_str_eq(table_text(&a, 2, "name"), "n1");
    ck_assert_str_eq(table_text(&a, 3, "name"), "others");
    ck_assert_int_eq(table_i64(&a, 3, "sum_us"), 50);
    ck_assert_int_eq(table_i64(&a, 3, "names"), 2);
    hs_table_free(&a);
    a = fake_analyze(run, "annotations", "use_gpu_annotation=0&duration_ratio=0.5"); /* 50 + 40 >= 75 */
    ck_assert_uint_eq(a.rows, 3);
    hs_table_free(&a);
    a = fake_analyze(run, "annotations", "use_gpu_annotation=0&name=[24]");
    ck_assert_uint_eq(a.rows, 2);
    hs_table_free(&a);
    a = fake_analyze(run, "annotations", "");
    ck_assert(!a.rows && table_has_note(&a, "has no gpu_user_annotation"));
    hs_table_free(&a);
    json_trace_end(&t, 1);
}
END_TEST

/* ---- against scans ---- */

struct ann {
    int stream;
    int64_t ts, dur;
    char name[8];
};
static struct ann anns[60];

/* Annotations of random places, partly overlapping; no two of a stream start together, so the latest start is one. */
static void random_annotations(uint32_t *r, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool again;
        do {
            again = false;
            anns[i].stream = (int)(7 + draw_below(r, 2));
            anns[i].ts = 10 + draw_below(r, 2500);
            for (size_t k = 0; k < i; k++)
                again = again || (anns[k].stream == anns[i].stream && anns[k].ts == anns[i].ts);
        } while (again);
        anns[i].dur = 1 + draw_below(r, 400);
        snprintf(anns[i].name, sizeof anns[i].name, "a%u", draw_below(r, 5));
        gpu_annotation(anns[i].name, anns[i].stream, anns[i].ts, anns[i].dur);
    }
}

static const struct ann *innermost(const struct sim_kernel *k, size_t n)
{
    const struct ann *best = NULL;
    for (size_t i = 0; i < n; i++)
        if (anns[i].stream == k->stream && anns[i].ts <= k->ts && k->ts < anns[i].ts + anns[i].dur &&
            (!best || anns[i].ts > best->ts))
            best = &anns[i];
    return best;
}

static int phase_of(const struct sim_kernel *k)
{
    int n = k->launch;
    while (n >= 0 && strcmp(s.node[n].cat, "user_annotation") != 0)
        n = s.node[n].parent;
    return n;
}

START_TEST(random_annotations_of_kernels)
{
    uint32_t r = (uint32_t)_i * 977 + 3;
    json_trace_begin(&t, 0);
    sim_tree_fill(&s, &t, 70 + (uint32_t)_i);
    random_annotations(&r, 40);
    struct hs_run *run = json_trace_load(&t, 1);
    size_t counts[3] = {0, 0, 0}, got[3] = {0, 0, 0};
    int64_t weights = 0, told = 0; /* sum of start * hash of the annotation: pairs rows up without an order */
    for (int k = 0; k < s.kernels; k++) {
        const struct ann *x = innermost(&s.kernel[k], 40);
        int phase = x ? -1 : phase_of(&s.kernel[k]);
        counts[x ? 0 : phase >= 0 ? 1 : 2]++;
        weights += s.kernel[k].ts * (x ? x->name[1] : phase >= 0 ? 7 : 1);
    }
    a = fake_analyze(run, "kernel-annotations", "");
    for (size_t i = 0; i < a.rows; i++) {
        const char *source = table_text(&a, i, "source"), *name = table_text(&a, i, "annotation");
        got[*source == 'g' ? 0 : *source == 'c' ? 1 : 2]++;
        told += table_i64(&a, i, "ts_us") * (*source == 'g' ? name[1] : *source == 'c' ? 7 : 1);
    }
    ck_assert_mem_eq(counts, got, sizeof got);
    ck_assert_int_eq(told, weights);
    hs_table_free(&a);
    /* by name: kernels that start in any annotation of the name, each once */
    a = fake_analyze(run, "annotations", "");
    for (size_t i = 0; i < a.rows; i++) {
        int64_t kernels = 0, gpu = 0, sum = 0;
        for (int k = 0; k < s.kernels; k++) {
            bool in = false;
            for (size_t x = 0; x < 40; x++)
                in = in || (!strcmp(anns[x].name, table_text(&a, i, "name")) && anns[x].stream == s.kernel[k].stream &&
                            anns[x].ts <= s.kernel[k].ts && s.kernel[k].ts < anns[x].ts + anns[x].dur);
            kernels += in;
            gpu += in ? s.kernel[k].dur : 0;
        }
        for (size_t x = 0; x < 40; x++)
            sum += !strcmp(anns[x].name, table_text(&a, i, "name")) ? anns[x].dur : 0;
        ck_assert_int_eq(table_i64(&a, i, "kernels"), kernels);
        ck_assert_int_eq(table_i64(&a, i, "gpu_us"), gpu);
        ck_assert_int_eq(table_i64(&a, i, "sum_us"), sum);
    }
    hs_table_free(&a);
    json_trace_end(&t, 1);
}
END_TEST

HS_SUITE(analysis_annotations)
{
    HS_TEST(kernels_find_their_annotation);
    HS_TEST(annotations_by_hand);
    HS_TEST(few_names_are_kept);
    HS_LOOP_TEST(random_annotations_of_kernels, 0, 10);
}
