/* temporal and kernel-types: by hand, and against painting every nanosecond of small random traces. */
#include "tests/unit/fake_view.h"
#include "tests/unit/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct fake f;

/* One device, two streams:
 *   stream 7   compute [0,10)  [30,50)
 *   stream 9   comm    [5,15)  memcpy [40,60)
 * span [0,60): busy [0,15) [30,60) = 45, idle 15; compute 30; comm 10, of it exposed 5; copies 20, exposed 10. */
static struct hs_run *small(void)
{
    fake_init(&f, 0);
    fake_gpu(&f, (struct fake_row){.ts = 30, .dur = 20, .stream = 7, .name = "k", .cls = HS_CLASS_COMPUTE});
    fake_gpu(&f, (struct fake_row){.ts = 0, .dur = 10, .stream = 7, .name = "k", .cls = HS_CLASS_COMPUTE});
    fake_gpu(&f, (struct fake_row){.ts = 5, .dur = 10, .stream = 9, .name = "c", .cls = HS_CLASS_COMM});
    fake_gpu(&f, (struct fake_row){.ts = 40, .dur = 20, .stream = 9, .name = "m", .cls = HS_CLASS_MEMCPY});
    return fake_run(&f, 1);
}

START_TEST(temporal_by_hand)
{
    struct hs_table t = fake_analyze(small(), "temporal", "");
    ck_assert_uint_eq(t.rows, 1);
    ck_assert_int_eq(table_i64(&t, 0, "kernel_time_us"), 60);
    ck_assert_int_eq(table_i64(&t, 0, "idle_us"), 15);
    ck_assert_int_eq(table_i64(&t, 0, "busy_us"), 45);
    ck_assert_int_eq(table_i64(&t, 0, "compute_us"), 30);
    ck_assert_int_eq(table_i64(&t, 0, "non_compute_us"), 15);
    ck_assert_int_eq(table_i64(&t, 0, "communication_us"), 10);
    ck_assert_int_eq(table_i64(&t, 0, "exposed_communication_us"), 5);
    ck_assert_int_eq(table_i64(&t, 0, "memory_us"), 20);
    ck_assert_int_eq(table_i64(&t, 0, "exposed_memory_us"), 10);
    ck_assert_double_eq(table_f64(&t, 0, "idle_pct"), 25);
    ck_assert_double_eq(table_f64(&t, 0, "compute_pct"), 50);
    hs_table_free(&t);
}
END_TEST

START_TEST(a_window_cuts_intervals)
{
    /* [8, 45): compute [8,10) [30,45), comm [8,15), copy [40,45): first start 8, last end 45 */
    struct hs_table t = fake_analyze(small(), "temporal", "from=0.008&to=0.045");
    ck_assert_int_eq(table_i64(&t, 0, "kernel_time_us"), 37);
    ck_assert_int_eq(table_i64(&t, 0, "busy_us"), 22);
    ck_assert_int_eq(table_i64(&t, 0, "compute_us"), 17);
    ck_assert_int_eq(table_i64(&t, 0, "idle_us"), 15);
    hs_table_free(&t);
}
END_TEST

START_TEST(devices_are_told_apart)
{
    /* device 0 busy [0,10), device 1 busy [0,40) on a stream of the same number: 2 * 40 of span, 50 busy, 30 idle */
    fake_init(&f, 0);
    fake_gpu(&f, (struct fake_row){.ts = 0, .dur = 10, .device = 0, .stream = 7, .name = "k", .cls = HS_CLASS_COMPUTE});
    fake_gpu(&f, (struct fake_row){.ts = 0, .dur = 40, .device = 1, .stream = 7, .name = "k", .cls = HS_CLASS_COMPUTE});
    struct hs_table t = fake_analyze(fake_run(&f, 1), "temporal", "");
    ck_assert_int_eq(table_i64(&t, 0, "devices"), 2);
    ck_assert_int_eq(table_i64(&t, 0, "kernel_time_us"), 80);
    ck_assert_int_eq(table_i64(&t, 0, "busy_us"), 50);
    ck_assert_int_eq(table_i64(&t, 0, "idle_us"), 30);
    hs_table_free(&t);
}
END_TEST

START_TEST(work_of_no_length_spans_but_is_not_busy)
{
    fake_init(&f, 0);
    fake_gpu(&f, (struct fake_row){.ts = 100, .dur = 0, .name = "k", .cls = HS_CLASS_COMPUTE});
    struct hs_table t = fake_analyze(fake_run(&f, 1), "temporal", "");
    ck_assert_uint_eq(t.rows, 1);
    ck_assert_int_eq(table_i64(&t, 0, "kernel_time_us"), 0);
    ck_assert(table_null(&t, 0, "idle_pct")); /* 0 of 0 */
    hs_table_free(&t);
}
END_TEST

START_TEST(kernel_types_by_hand)
{
    /* exact sets: compute [0,5) [30,40) = 15; both with comm [5,10) = 5; comm [10,15) = 5; compute with copy [40,50) = 10; copy 10 */
    struct hs_table t = fake_analyze(small(), "kernel-types", "");
    static const struct {
        const char *type;
        int64_t ns;
    } want[] = {{"compute", 15},
                {"memory", 10},
                {"compute overlapping memory", 10},
                {"communication", 5},
                {"compute overlapping communication", 5}};
    ck_assert_uint_eq(t.rows, 5);
    for (size_t i = 0; i < 5; i++) {
        ck_assert_str_eq(table_text(&t, i, "kernel_type"), want[i].type);
        ck_assert_int_eq(table_i64(&t, i, "time_us"), want[i].ns);
        ck_assert_double_eq_tol(table_f64(&t, i, "share_pct"), 100.0 * (double)want[i].ns / 45, 1e-9);
    }
    hs_table_free(&t);
    t = fake_analyze(small(), "kernel-types", "include_memory_kernels=false&per_rank=false");
    ck_assert_uint_eq(t.rows, 3);
    ck_assert(table_null(&t, 0, "rank"));
    ck_assert_int_eq(table_i64(&t, 0, "time_us"), 25); /* compute, beside copies or not */
    ck_assert_double_eq_tol(table_f64(&t, 0, "share_pct"), 100.0 * 25 / 35, 1e-9);
    hs_table_free(&t);
}
END_TEST

/* ---- painting ---- */

enum { LINE = 200, DEVICES = 2, STREAMS = 3 };

static void random_trace(unsigned *seed)
{
    static const uint8_t classes[] = {HS_CLASS_COMPUTE, HS_CLASS_COMM, HS_CLASS_MEMCPY, HS_CLASS_MEMSET};
    int n = 1 + rand_r(seed) % 40;
    fake_init(&f, 0);
    for (int i = 0; i < n; i++)
        fake_gpu(&f, (struct fake_row){.ts = rand_r(seed) % (LINE - 20),
                                       .dur = rand_r(seed) % 20,
                                       .device = rand_r(seed) % DEVICES,
                                       .stream = rand_r(seed) % STREAMS,
                                       .name = "k",
                                       .cls = classes[rand_r(seed) % 4]});
}

static const char *const set_names[8] = {"",
                                         "compute",
                                         "communication",
                                         "compute overlapping communication",
                                         "memory",
                                         "compute overlapping memory",
                                         "communication overlapping memory",
                                         "compute overlapping communication overlapping memory"};

START_TEST(random_traces_agree_with_painting)
{
    unsigned seed = (unsigned)_i * 104729u + 3;
    random_trace(&seed);
    struct hs_run *run = fake_run(&f, 1);
    int64_t from = _i % 3 ? INT64_MIN : 50, to = _i % 3 ? INT64_MAX : 120;
    const char *params = _i % 3 ? "" : "from=0.05&to=0.12";
    static unsigned char paint[DEVICES][LINE];
    int64_t sets[8] = {0}, first = INT64_MAX, last = INT64_MIN, devices = 0;
    bool seen[DEVICES] = {false};
    memset(paint, 0, sizeof paint);
    for (size_t i = 0; i < f.ngpu; i++) {
        int64_t a = f.ts[i] > from ? f.ts[i] : from, b = f.ts[i] + f.dur[i] < to ? f.ts[i] + f.dur[i] : to;
        if (f.ts[i] >= to || f.ts[i] + f.dur[i] < from || (f.ts[i] + f.dur[i] == from && f.dur[i]))
            continue;
        first = a < first ? a : first;
        last = b > last ? b : last;
        devices += !seen[f.device[i]];
        seen[f.device[i]] = true;
        for (int64_t t = a; t < b; t++)
            paint[f.device[i]][t] |= f.cls[i] == HS_CLASS_COMPUTE ? 1 : f.cls[i] == HS_CLASS_COMM ? 2 : 4;
    }
    for (int d = 0; d < DEVICES; d++)
        for (int t = 0; t < LINE; t++)
            sets[paint[d][t]]++;
    int64_t busy = 0, compute = 0;
    for (int s = 1; s < 8; s++) {
        busy += sets[s];
        compute += s & 1 ? sets[s] : 0;
    }
    struct hs_table t = fake_analyze(run, "temporal", params);
    ck_assert_uint_eq(t.rows, devices ? 1 : 0);
    if (devices) {
        ck_assert_int_eq(table_i64(&t, 0, "devices"), devices);
        ck_assert_int_eq(table_i64(&t, 0, "kernel_time_us"), devices * (last - first));
        ck_assert_int_eq(table_i64(&t, 0, "busy_us"), busy);
        ck_assert_int_eq(table_i64(&t, 0, "compute_us"), compute);
        ck_assert_int_eq(table_i64(&t, 0, "idle_us"), devices * (last - first) - busy);
    }
    hs_table_free(&t);
    t = fake_analyze(run, "kernel-types", params);
    int64_t rows = 0;
    for (int s = 1; s < 8; s++)
        rows += sets[s] > 0;
    ck_assert_int_eq((int64_t)t.rows, rows);
    for (size_t i = 0; i < t.rows; i++) {
        int s = 1;
        while (s < 8 && strcmp(set_names[s], table_text(&t, i, "kernel_type")))
            s++;
        ck_assert_int_lt(s, 8);
        ck_assert_int_eq(table_i64(&t, i, "time_us"), sets[s]);
    }
    hs_table_free(&t);
}
END_TEST

HS_SUITE(analysis_time)
{
    HS_TEST(temporal_by_hand);
    HS_TEST(a_window_cuts_intervals);
    HS_TEST(devices_are_told_apart);
    HS_TEST(work_of_no_length_spans_but_is_not_busy);
    HS_TEST(kernel_types_by_hand);
    HS_LOOP_TEST(random_traces_agree_with_painting, 0, 300);
}
