/* memory-bandwidth, memory-bandwidth-series, steps: by hand, then against computations nanosecond by nanosecond. */
#include "tests/unit/fake_view.h"
#include "tests/unit/sim_device.h"
#include "tests/unit/test.h"

#include "analysis/bandwidth.h"

#include <stdio.h>
#include <string.h>

static struct json_trace t;
static struct hs_table a;
static struct sim sim;

START_TEST(bandwidth_by_hand)
{
    json_trace_begin(&t, 0);
    trace_copy(&t, "Memcpy HtoD (Pageable -> Device)", 0, 7, 100, 100, 1, 1000); /* 10 GB/s in [100, 200) */
    trace_copy(&t, "Memcpy HtoD (Pinned -> Device)", 0, 8, 150, 100, 2, 3000);   /* 30 GB/s in [150, 250) */
    trace_copy(&t, "Memcpy HtoD (Pinned -> Device)", 0, 8, 300, 10, 3, 50);      /* 5 GB/s in [300, 310) */
    trace_copy(&t, "Memcpy HtoD (Pinned -> Device)", 0, 8, 400, 0, 4, 50);       /* takes no time: left out */
    trace_copy(&t, "Memset (Device)", 0, 7, 120, 10, 5, 20);
    struct hs_run *run = json_trace_load(&t, 1);
    a = fake_analyze(run, "memory-bandwidth-series", "");
    static const double want[][2] = {{100, 10}, {150, 40}, {200, 30}, {250, 0}, {300, 5}, {310, 0}};
    ck_assert_uint_eq(a.rows, 8);
    for (size_t i = 0; i < 6; i++) {
        ck_assert_str_eq(table_text(&a, i, "name"), "Memcpy HtoD");
        ck_assert_int_eq(table_i64(&a, i, "ts_us"), (int64_t)want[i][0]);
        ck_assert_double_eq(table_f64(&a, i, "memory_bw_gbps"), want[i][1]);
    }
    ck_assert_str_eq(table_text(&a, 6, "name"), "Memset");
    ck_assert_double_eq(table_f64(&a, 6, "memory_bw_gbps"), 2);
    ck_assert(table_has_note(&a, "1 copies of no duration"));
    hs_table_free(&a);
    /* 50 ns of 10, 50 of 40, 50 of 30, 10 of 5: (500 + 2000 + 1500 + 50) / 160 */
    a = fake_analyze(run, "memory-bandwidth", "");
    ck_assert_uint_eq(a.rows, 2);
    ck_assert_int_eq(table_i64(&a, 0, "count"), 3);
    ck_assert_int_eq(table_i64(&a, 0, "bytes"), 4050);
    ck_assert_int_eq(table_i64(&a, 0, "time_us"), 160);
    ck_assert_double_eq_tol(table_f64(&a, 0, "mean"), 4050.0 / 160, 1e-9);
    ck_assert_double_eq(table_f64(&a, 0, "min"), 5);
    ck_assert_double_eq(table_f64(&a, 0, "p50"), 30); /* 5 and 10 for 60 ns, 30 up to 110 of 160 */
    ck_assert_double_eq(table_f64(&a, 0, "max"), 40);
    hs_table_free(&a);
    json_trace_end(&t, 1);
}
END_TEST

/* Old writers tell the bandwidth and no bytes: 3 GB/s for 100 ns are 300 bytes. */
START_TEST(bytes_from_the_bandwidth)
{
    char us[40];
    json_trace_begin(&t, 0);
    trace_event(&t,
                "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy DtoH (Device -> "
                "Pinned)\",\"pid\":0,\"tid\":7,\"ts\":%s,\"dur\":0.1,"
                "\"args\":{\"device\":0,\"stream\":7,\"correlation\":1,\"memory bandwidth (GB/s)\":3.0}}",
                trace_us(us, 100));
    a = fake_analyze(json_trace_load(&t, 1), "memory-bandwidth", "");
    ck_assert_int_eq(table_i64(&a, 0, "bytes"), 300);
    ck_assert_double_eq(table_f64(&a, 0, "mean"), 3);
    ck_assert(table_has_note(&a, "taken from the bandwidth"));
    hs_table_free(&a);
    json_trace_end(&t, 1);
}
END_TEST

/* MTIA has one category for all its rows and says "size": 4 us of work, 2 us of copying beside and after it, a wait that is
 * no work. In ns: work [1000, 5000), copy [4000, 6000), wait [0, 9000). */
START_TEST(mtia_rows_by_their_names)
{
    static const struct {
        const char *name, *args;
        int ts, dur;
    } rows[] = {{"event_wait", "\"wait_on_stream\":104", 0, 9},
                {"pe_exe", "\"row\":\"0\"", 1, 4},
                {"dma_request", "\"direction\":\"DEVICE_TO_HOST\",\"size\":4000", 4, 2},
                {"event_record", "\"seq_num\":3", 9, 1}};
    json_trace_begin(&t, 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        trace_event(
            &t,
            "{\"ph\":\"X\",\"cat\":\"mtia_ccp_events\",\"name\":\"%s\",\"pid\":17,\"tid\":%d,\"ts\":%d,\"dur\":%d,"
            "\"args\":{\"stream\":%d,%s}}",
            rows[i].name, (int)i, rows[i].ts, rows[i].dur, (int)i, rows[i].args);
    struct hs_run *run = json_trace_load(&t, 1);
    a = fake_analyze(run, "memory-bandwidth", "");
    ck_assert_uint_eq(a.rows, 1);
    ck_assert_str_eq(table_text(&a, 0, "name"), "Memcpy DtoH");
    ck_assert_int_eq(table_i64(&a, 0, "bytes"), 4000);
    ck_assert_double_eq(table_f64(&a, 0, "mean"), 2);
    hs_table_free(&a);
    a = fake_analyze(run, "temporal", "");
    ck_assert_int_eq(table_i64(&a, 0, "kernel_time_us"), 5000);
    ck_assert_int_eq(table_i64(&a, 0, "busy_us"), 5000);
    ck_assert_int_eq(table_i64(&a, 0, "compute_us"), 4000);
    ck_assert_int_eq(table_i64(&a, 0, "exposed_memory_us"), 1000);
    hs_table_free(&a);
    json_trace_end(&t, 1);
}
END_TEST

START_TEST(kinds_of_copies)
{
    static const struct {
        const char *name;
        unsigned cls;
        const char *kind;
    } cases[] = {
        {"Memcpy HtoD (Pageable -> Device)", HS_CLASS_MEMCPY, "Memcpy HtoD"},
        {"Memcpy PtoP (Device -> Device)", HS_CLASS_MEMCPY, "Memcpy PtoP"},
        {"Memcpy DtoD", HS_CLASS_MEMCPY, "Memcpy DtoD"},
        {"CopyHostToDevice", HS_CLASS_MEMCPY, "Memcpy HtoD"},
        {"hipMemcpyDtoH", HS_CLASS_MEMCPY, "Memcpy DtoH"},
        {"FillBuffer", HS_CLASS_MEMSET, "Memset"},
        {"Memcpy", HS_CLASS_MEMCPY, "Memcpy Unknown"},
        {"", HS_CLASS_MEMCPY, "Memcpy Unknown"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        ck_assert_msg(hs_str_is(hs_memory_kind(hs_cstr(cases[i].name), cases[i].cls), cases[i].kind), "%s",
                      cases[i].name);
}
END_TEST

/* Bytes per second at one nanosecond, each copy's rounded as the header says. */
static double rate_at(int device, int64_t x)
{
    int64_t sum = 0;
    for (size_t i = 0; i < sim.n; i++) {
        const struct sim_work *w = &sim.w[i];
        if (w->copy && w->dur && w->device == device && x >= w->ts && x < w->ts + w->dur)
            sum += (w->bytes * 1000000000 + w->dur / 2) / w->dur;
    }
    return (double)sum / 1e9;
}

START_TEST(series_against_counting)
{
    json_trace_begin(&t, 0);
    sim_fill(&sim, &t, 500 + (uint32_t)_i, 100);
    struct hs_run *run = json_trace_load(&t, 1);
    a = fake_analyze(run, "memory-bandwidth-series", "");
    double told[2] = {0, 0}, counted[2] = {0, 0};
    for (size_t r = 0; r < a.rows; r++) {
        int device = (int)table_i64(&a, r, "device");
        int64_t at = table_i64(&a, r, "ts_us"), end = at + table_i64(&a, r, "dur_us");
        ck_assert_double_eq(table_f64(&a, r, "memory_bw_gbps"), rate_at(device, at));
        if (end > at)
            ck_assert_double_eq(table_f64(&a, r, "memory_bw_gbps"), rate_at(device, end - 1));
        told[device] += table_f64(&a, r, "memory_bw_gbps") * (double)(end - at);
    }
    for (int64_t x = 0; x < 2 * SIM_END; x++)
        for (int d = 0; d < 2; d++)
            counted[d] += rate_at(d, x);
    ck_assert_double_eq_tol(told[0], counted[0], 1e-6);
    ck_assert_double_eq_tol(told[1], counted[1], 1e-6);
    hs_table_free(&a);
    /* pixels of 7 ns: mean, minimum and maximum over their nanoseconds */
    a = fake_analyze(run, "memory-bandwidth-series", "px=100&from=0&to=0.7");
    for (size_t r = 0; r < a.rows; r++) {
        int device = (int)table_i64(&a, r, "device");
        int64_t at = table_i64(&a, r, "ts_us"), end = at + table_i64(&a, r, "dur_us");
        double sum = 0, min = 1e300, max = 0;
        for (int64_t x = at; x < end; x++) {
            double v = rate_at(device, x);
            sum += v;
            min = v < min ? v : min;
            max = v > max ? v : max;
        }
        ck_assert_int_le(end - at, 7);
        ck_assert_int_eq(at / 7, (end - 1) / 7);
        ck_assert_double_eq_tol(table_f64(&a, r, "memory_bw_gbps"), sum / (double)(end - at), 1e-9);
        ck_assert_double_eq(table_f64(&a, r, "min"), min);
        ck_assert_double_eq(table_f64(&a, r, "max"), max);
    }
    hs_table_free(&a);
    json_trace_end(&t, 1);
}
END_TEST

/* ---- steps ---- */

START_TEST(steps_by_hand)
{
    json_trace_begin(&t, 2);
    trace_cpu(&t, "user_annotation", "ProfilerStep#5", 1, 100, 100);
    trace_cpu(&t, "user_annotation", "ProfilerStep#6", 1, 200, 100);
    trace_launch(&t, "cudaLaunchKernel", 1, 110, 5, 1);
    trace_kernel(&t, "gemm", 0, 7, 190, 30, 1); /* of step 5, 10 ns of it in step 5's time */
    trace_launch(&t, "cudaLaunchKernel", 1, 210, 5, 2);
    trace_kernel(&t, "ncclDevKernel_AllReduce", 0, 8, 215, 40, 2); /* of step 6, [215, 255) */
    trace_launch(&t, "cudaMemcpyAsync", 1, 220, 5, 3);
    trace_copy(&t, "Memcpy HtoD (Pinned -> Device)", 0, 7, 300, 7, 3, 10); /* of step 6, after it */
    struct hs_run *run = json_trace_load(&t, 1);
    a = fake_analyze(run, "steps", "");
    ck_assert_uint_eq(a.rows, 2);
    ck_assert_int_eq(table_i64(&a, 0, "step"), 5);
    ck_assert_int_eq(table_i64(&a, 0, "busy_us"), 10);
    ck_assert_int_eq(table_i64(&a, 0, "idle_us"), 90);
    ck_assert_int_eq(table_i64(&a, 0, "kernels"), 1);
    ck_assert_int_eq(table_i64(&a, 0, "gpu_end_us"), 220);
    ck_assert_int_eq(table_i64(&a, 1, "busy_us"), 55); /* [200, 255) */
    ck_assert_int_eq(table_i64(&a, 1, "idle_us"), 45);
    ck_assert_int_eq(table_i64(&a, 1, "kernels"), 1);
    ck_assert_int_eq(table_i64(&a, 1, "memory_ops"), 1);
    ck_assert_int_eq(table_i64(&a, 1, "communication_us"), 40);
    ck_assert_int_eq(table_i64(&a, 1, "memory_us"), 7);
    ck_assert_int_eq(table_i64(&a, 1, "gpu_ts_us"), 215);
    ck_assert_int_eq(table_i64(&a, 1, "gpu_end_us"), 307);
    hs_table_free(&a);
    a = fake_analyze(run, "steps", "step=6");
    ck_assert_uint_eq(a.rows, 1);
    hs_table_free(&a);
    json_trace_end(&t, 1);
}
END_TEST

START_TEST(steps_against_painting)
{
    json_trace_begin(&t, 0);
    for (int k = 0; k < 6; k++) {
        char name[32];
        snprintf(name, sizeof name, "ProfilerStep#%d", k);
        trace_cpu(&t, "user_annotation", name, 1, 20 + 80 * k, 80);
    }
    sim_fill(&sim, &t, 600 + (uint32_t)_i, 70);
    a = fake_analyze(json_trace_load(&t, 1), "steps", "");
    ck_assert_uint_eq(a.rows, 6);
    for (size_t r = 0; r < 6; r++) {
        int64_t from = table_i64(&a, r, "ts_us"), to = from + table_i64(&a, r, "dur_us"), busy = 0;
        for (int64_t x = from; x < to; x++) {
            bool on[2] = {false, false};
            for (size_t i = 0; i < sim.n; i++)
                if (x >= sim.w[i].ts && x < sim.w[i].ts + sim.w[i].dur)
                    on[sim.w[i].device] = true;
            busy += on[0] + on[1];
        }
        ck_assert_int_eq(table_i64(&a, r, "busy_us"), busy);
        ck_assert_int_eq(table_i64(&a, r, "idle_us"), 2 * (to - from) - busy);
    }
    hs_table_free(&a);
    json_trace_end(&t, 1);
}
END_TEST

HS_SUITE(analysis_bandwidth)
{
    HS_TEST(bandwidth_by_hand);
    HS_TEST(bytes_from_the_bandwidth);
    HS_TEST(mtia_rows_by_their_names);
    HS_TEST(kinds_of_copies);
    HS_LOOP_TEST(series_against_counting, 0, 8);
    HS_TEST(steps_by_hand);
    HS_LOOP_TEST(steps_against_painting, 0, 6);
}
