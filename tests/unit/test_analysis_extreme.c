/* Times at the ends of what 64 bits hold: every analysis answers, in both modes. What they answer is bounded by no rule;
 * that nothing overflows on the way is the sanitizers' to say, which run this too. */
#include "analysis/registry.h"
#include "tests/unit/fake_view.h"
#include "tests/unit/json_trace.h"
#include "tests/unit/test.h"

#include <stdio.h>
#include <string.h>

static const char *const ends[] = {"9223372036854775.807",
                                   "-9223372036854775.807",
                                   "-9223372036854775.808",
                                   "4611686018427387.904",
                                   "9e18",
                                   "-9e18",
                                   "9223372036854775807",
                                   "-9223372036854775808",
                                   "9.2e18",
                                   "-0.001",
                                   "0"};
static const char *const lengths[] = {
    "0", "1", "9223372036854775.807", "604800000000", "604799999999.999", "-1", "9e18", "9.2e18", "1e19"};
static const char *const cats[] = {"kernel",       "gpu_memcpy",      "gpu_memset",          "cpu_op",
                                   "cuda_runtime", "user_annotation", "gpu_user_annotation", "python_function"};

static void span(struct json_trace *t, const char *cat, const char *ts, const char *dur, int n)
{
    char name[40];
    bool gpu = !strncmp(cat, "gpu", 3) || !strcmp(cat, "kernel");
    if (!strcmp(cat, "user_annotation"))
        snprintf(name, sizeof name, "ProfilerStep#%d", n % 3);
    else
        snprintf(name, sizeof name, "%s", n % 5 ? "name" : "ncclDevKernel_AllReduce");
    trace_event(t,
                "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":1,\"tid\":%d,\"ts\":%s,\"dur\":%s,\"args\":{%s"
                "\"correlation\":%d,\"External id\":%d,\"bytes\":9223372036854775807,"
                "\"memory bandwidth (GB/s)\":1e300,\"Sequence number\":%d}}",
                cat, strcmp(cat, "cuda_runtime") ? name : "cudaLaunchKernel", gpu ? 7 : 1, ts, dur,
                gpu ? "\"stream\":7,\"device\":0," : "", n, n, n);
}

static void instants(struct json_trace *t, const char *ts)
{
    trace_event(t,
                "{\"ph\":\"i\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":%s,\"args\":{\"Total "
                "Reserved\":9223372036854775807,\"Total Allocated\":-9223372036854775808,\"Bytes\":9223372036854775807,"
                "\"Addr\":1,\"Device Id\":0,\"Device Type\":1}}",
                ts);
    for (const char *ph = "sf"; *ph; ph++)
        trace_event(t,
                    "{\"ph\":\"%c\",\"cat\":\"fwdbwd\",\"id\":5,\"name\":\"fwdbwd\",\"pid\":1,\"tid\":1,\"ts\":%s,"
                    "\"bp\":\"e\"}",
                    *ph, ts);
}

static void everything(struct json_trace *t)
{
    int n = 0;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++, n++)
            for (size_t c = 0; c < sizeof cats / sizeof cats[0]; c++)
                span(t, cats[c], ends[i], lengths[k], n);
        instants(t, ends[i]);
    }
}

/* A kernel longer than half of all time on a stream; a step that ends beyond it. */
static void half_of_time(struct json_trace *t)
{
    span(t, "kernel", "9223372036854775.807", "5", 1);
    span(t, "kernel", "-5", "1", 2);
    span(t, "cpu_op", "-5", "1", 3);
}

static void a_step_too_long(struct json_trace *t)
{
    span(t, "user_annotation", "9e18", "9e18", 1);
    span(t, "kernel", "0", "1", 2);
}

/* Whole µs, no fraction: HTA's times are as written. */
static void far_apart(struct json_trace *t)
{
    span(t, "gpu_memset", "-0", "0", 1);
    span(t, "gpu_memset", "-9223372036854775.808", "-9223372036854775.808", 2);
    span(t, "kernel", "9223372036854775", "1", 3);
}

static void (*const makers[])(struct json_trace *) = {everything, half_of_time, a_step_too_long, far_apart};

START_TEST(every_analysis_survives)
{
    struct json_trace t = {.rank = 0, .events = HS_VEC_INIT(1 << 20)};
    makers[_i](&t);
    struct hs_run *run = json_trace_load(&t, 1);
    for (size_t i = 0; hs_analyses[i]; i++) {
        const struct hs_analysis *a = hs_analyses[i];
        for (int hta = 0; hta < 2; hta++) {
            struct hs_err err = HS_ERR_INIT;
            struct hs_params *p;
            struct hs_table out;
            ck_assert_int_eq(hs_params_new(&p, a->params, a->nparams, &err), HS_OK);
            if (hta)
                ck_assert_int_eq(hs_params_set(p, "compat", "hta", &err), HS_OK);
            run->other = a->two_runs ? run : NULL;
            int rc = hs_analysis_run(a, run, p, &out, &err);
            /* a question that must be asked with more parameters, or a mode that there is not */
            ck_assert_msg(rc == HS_OK || rc == HS_EUSAGE || rc == HS_ELIMIT || rc == HS_EINPUT, "%s: %s", a->name,
                          err.text);
            ck_assert_msg(rc || out.rows || out.notes.n, "%s says nothing", a->name);
            if (!rc)
                hs_table_free(&out);
            hs_params_free(p);
        }
    }
    run->other = NULL;
    json_trace_end(&t, 1);
}
END_TEST

HS_SUITE(analysis_extreme)
{
    HS_LOOP_TEST(every_analysis_survives, 0, (int)(sizeof makers / sizeof makers[0]));
}
