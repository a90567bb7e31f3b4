/* idle and idle-intervals: by hand, and against a walk over every nanosecond. */
#include "tests/unit/fake_view.h"
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

static struct fake f;

static void work(int64_t ts, int64_t dur, int64_t launch)
{
    fake_gpu(&f, (struct fake_row){.ts = ts,
                                   .dur = dur,
                                   .stream = 7,
                                   .name = "k",
                                   .cls = HS_CLASS_COMPUTE,
                                   .launched = launch >= 0,
                                   .launch_ts = launch});
}

/* Stream 7, in µs: busy [0,100) [110,200) nested [120,130) [260,300) [400,410) [500,510)
 *   gap 100..110  launched at 50, 10 µs < 30            kernel_wait
 *   gap 200..260  launched at 190, 60 µs                other
 *   gap 300..400  launched at 301                       host_wait
 *   gap 410..500  launch not in the trace               other */
static struct hs_run *small(void)
{
    fake_init(&f, 0);
    work(0, 100000, 0);
    work(110000, 90000, 50000);
    work(120000, 10000, 60000);
    work(260000, 40000, 190000);
    work(400000, 10000, 301000);
    work(500000, 10000, -1);
    return fake_run(&f, 1);
}

static void check_idle(const struct hs_table *t, size_t row, const char *cause, int64_t us, int64_t gaps)
{
    ck_assert_str_eq(table_text(t, row, "cause"), cause);
    ck_assert_int_eq(table_i64(t, row, "idle_us"), us * 1000);
    ck_assert_int_eq(table_i64(t, row, "gaps"), gaps);
}

START_TEST(causes_by_hand)
{
    struct hs_table t = fake_analyze(small(), "idle", "");
    ck_assert_uint_eq(t.rows, 3);
    check_idle(&t, 0, "host_wait", 100, 1);
    check_idle(&t, 1, "kernel_wait", 10, 1);
    check_idle(&t, 2, "other", 150, 2);
    ck_assert_double_eq_tol(table_f64(&t, 0, "share_pct"), 100.0 * 100 / 260, 1e-9);
    hs_table_free(&t);
    t = fake_analyze(small(), "idle", "consecutive_kernel_delay=10"); /* 10 is not shorter than 10 */
    check_idle(&t, 1, "kernel_wait", 0, 0);
    check_idle(&t, 2, "other", 160, 3);
    hs_table_free(&t);
    t = fake_analyze(small(), "idle", "show_idle_interval_stats=true");
    ck_assert_uint_eq(t.rows, 3);
    ck_assert(table_has_note(&t, "idle-intervals"));
    hs_table_free(&t);
}
END_TEST

START_TEST(a_launch_at_the_very_end_of_the_work_before_is_in_time)
{
    fake_init(&f, 0);
    work(0, 100, 0);
    work(110, 10, 100);
    work(130, 10, 121);
    struct hs_table t = fake_analyze(fake_run(&f, 1), "idle", "");
    ck_assert_int_eq(table_i64(&t, 0, "gaps"), 1); /* host_wait: only the second gap */
    ck_assert_int_eq(table_i64(&t, 1, "gaps"), 1);
    hs_table_free(&t);
}
END_TEST

START_TEST(overlapping_work_leaves_no_negative_gap)
{
    /* HTA makes -90 of this: [0,100) [5,10) [120,130). The one gap is 100..120. */
    fake_init(&f, 0);
    work(0, 100, 0);
    work(5, 5, 0);
    work(120, 10, 0);
    struct hs_table t = fake_analyze(fake_run(&f, 1), "idle", "");
    ck_assert_int_eq(table_i64(&t, 1, "idle_us"), 20);
    ck_assert_int_eq(table_i64(&t, 1, "gaps"), 1);
    hs_table_free(&t);
}
END_TEST

START_TEST(a_busy_stream_has_zero_rows_and_no_shares)
{
    fake_init(&f, 0);
    work(0, 100, 0);
    work(100, 10, 0);
    struct hs_table t = fake_analyze(fake_run(&f, 1), "idle", "");
    ck_assert_uint_eq(t.rows, 3);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(table_i64(&t, i, "idle_us"), 0);
        ck_assert(table_null(&t, i, "share_pct"));
    }
    hs_table_free(&t);
}
END_TEST

START_TEST(the_same_stream_number_on_two_devices_is_two_streams)
{
    fake_init(&f, 0);
    fake_gpu(&f, (struct fake_row){.ts = 0, .dur = 10, .device = 0, .stream = 7, .name = "k", .cls = HS_CLASS_COMPUTE});
    fake_gpu(&f,
             (struct fake_row){.ts = 50, .dur = 10, .device = 1, .stream = 7, .name = "k", .cls = HS_CLASS_COMPUTE});
    struct hs_table t = fake_analyze(fake_run(&f, 1), "idle", "");
    ck_assert_uint_eq(t.rows, 6);
    for (size_t i = 0; i < 6; i++)
        ck_assert_int_eq(table_i64(&t, i, "gaps"), 0);
    hs_table_free(&t);
}
END_TEST

START_TEST(a_window_cuts_gaps_but_not_their_cause)
{
    /* [105, 350) µs: 105..110 kernel wait (of a gap of 10), 200..260 other, 300..350 host wait */
    struct hs_table t = fake_analyze(small(), "idle", "from=105&to=350");
    check_idle(&t, 0, "host_wait", 50, 1);
    check_idle(&t, 1, "kernel_wait", 5, 1);
    check_idle(&t, 2, "other", 60, 1);
    hs_table_free(&t);
}
END_TEST

START_TEST(interval_statistics_by_hand)
{
    struct hs_table t = fake_analyze(small(), "idle-intervals", "");
    ck_assert_uint_eq(t.rows, 3);
    ck_assert_str_eq(table_text(&t, 0, "cause"), "host_wait");
    ck_assert_int_eq(table_i64(&t, 0, "count"), 1);
    ck_assert(table_null(&t, 0, "std_us"));
    ck_assert_str_eq(table_text(&t, 2, "cause"), "other"); /* 60 and 90 µs */
    ck_assert_int_eq(table_i64(&t, 2, "mean_us"), 75000);
    ck_assert_int_eq(table_i64(&t, 2, "std_us"), 21213); /* 30 / root 2 */
    ck_assert_int_eq(table_i64(&t, 2, "min_us"), 60000);
    ck_assert_int_eq(table_i64(&t, 2, "p25_us"), 67500);
    ck_assert_int_eq(table_i64(&t, 2, "p50_us"), 75000);
    ck_assert_int_eq(table_i64(&t, 2, "p75_us"), 82500);
    ck_assert_int_eq(table_i64(&t, 2, "max_us"), 90000);
    hs_table_free(&t);
}
END_TEST

START_TEST(the_gaps_themselves)
{
    struct hs_run *run = small();
    run->ranks[0].offset_ns = 1000;
    struct hs_table t = fake_analyze(run, "idle-intervals", "list=true");
    ck_assert_uint_eq(t.rows, 4);
    ck_assert_int_eq(table_i64(&t, 0, "start_us"), 101000);
    ck_assert_int_eq(table_i64(&t, 0, "end_us"), 111000);
    ck_assert_str_eq(table_text(&t, 2, "cause"), "host_wait");
    ck_assert_str_eq(table_text(&t, 2, "kernel"), "k");
    hs_table_free(&t);
    t = fake_analyze(run, "idle-intervals", "list=true&longest=2");
    ck_assert_uint_eq(t.rows, 2);
    ck_assert_int_eq(table_i64(&t, 0, "idle_us"), 100000);
    ck_assert_int_eq(table_i64(&t, 1, "idle_us"), 90000);
    hs_table_free(&t);
    t = fake_analyze(run, "idle-intervals", "list=true&cause=other&min_idle=80");
    ck_assert_uint_eq(t.rows, 1);
    ck_assert_int_eq(table_i64(&t, 0, "idle_us"), 90000);
    hs_table_free(&t);
}
END_TEST

START_TEST(the_longest_of_very_many)
{
    /* gap k (0 ..= 3999) is 1 + (k * 7) % 1000 ns long: each length four times, the longest are the first 1000s */
    fake_init(&f, 0);
    int64_t t = 0;
    for (int k = 0; k < 4000; k++) {
        work(t, 1, 0);
        t += 2 + k * 7 % 1000;
    }
    work(t, 1, 0);
    struct hs_table list = fake_analyze(fake_run(&f, 1), "idle-intervals", "list=true&longest=10");
    ck_assert_uint_eq(list.rows, 10);
    for (size_t i = 0; i < 10; i++) {
        ck_assert_int_eq(table_i64(&list, i, "idle_us"), 1000 - (int64_t)i / 4);
        if (i % 4)
            ck_assert_int_gt(table_i64(&list, i, "start_us"), table_i64(&list, i - 1, "start_us"));
    }
    hs_table_free(&list);
}
END_TEST

/* ---- an oracle that knows no sorting and no running maximum ---- */

enum { LINE = 300, STREAMS = 2 };

START_TEST(random_streams_agree_with_painting)
{
    unsigned seed = (unsigned)_i * 15485863u + 11;
    int n = 1 + rand_r(&seed) % 25;
    fake_init(&f, 0);
    for (int i = 0; i < n; i++)
        fake_gpu(&f, (struct fake_row){.ts = rand_r(&seed) % (LINE - 20),
                                       .dur = 1 + rand_r(&seed) % 19,
                                       .stream = rand_r(&seed) % STREAMS,
                                       .name = "k",
                                       .cls = HS_CLASS_COMPUTE,
                                       .launched = rand_r(&seed) % 5 > 0,
                                       .launch_ts = rand_r(&seed) % LINE});
    struct hs_table t = fake_analyze(fake_run(&f, 1), "idle", "consecutive_kernel_delay=0.015");
    size_t row = 0;
    for (int s = 0; s < STREAMS; s++) {
        bool paint[LINE] = {false};
        int64_t first = LINE, last = 0, ns[3] = {0}, gaps[3] = {0};
        for (size_t i = 0; i < f.ngpu; i++) {
            if (f.stream[i] != s)
                continue;
            first = f.ts[i] < first ? f.ts[i] : first;
            last = f.ts[i] + f.dur[i] > last ? f.ts[i] + f.dur[i] : last;
            for (int64_t x = f.ts[i]; x < f.ts[i] + f.dur[i]; x++)
                paint[x] = true;
        }
        if (first == LINE)
            continue;
        for (int64_t a = first; a < last; a++) {
            if (paint[a])
                continue;
            int64_t b = a;
            while (!paint[b])
                b++;
            int64_t launch = INT64_MAX; /* of what starts at b on this stream, the first launch ended the gap */
            for (size_t k = 0; k < f.ngpu; k++)
                if (f.stream[k] == s && f.ts[k] == b && f.launch_ts[k] != HS_NO_VALUE)
                    launch = f.launch_ts[k] < launch ? f.launch_ts[k] : launch;
            int cause = launch == INT64_MAX ? 2 : launch > a ? 0 : b - a < 15 ? 1 : 2;
            ns[cause] += b - a;
            gaps[cause]++;
            a = b;
        }
        for (int c = 0; c < 3; c++, row++) {
            ck_assert_int_eq(table_i64(&t, row, "stream"), s);
            ck_assert_int_eq(table_i64(&t, row, "idle_us"), ns[c]);
            ck_assert_int_eq(table_i64(&t, row, "gaps"), gaps[c]);
        }
    }
    ck_assert_uint_eq(t.rows, row);
    hs_table_free(&t);
}
END_TEST

HS_SUITE(analysis_idle)
{
    HS_TEST(causes_by_hand);
    HS_TEST(a_launch_at_the_very_end_of_the_work_before_is_in_time);
    HS_TEST(overlapping_work_leaves_no_negative_gap);
    HS_TEST(a_busy_stream_has_zero_rows_and_no_shares);
    HS_TEST(the_same_stream_number_on_two_devices_is_two_streams);
    HS_TEST(a_window_cuts_gaps_but_not_their_cause);
    HS_TEST(interval_statistics_by_hand);
    HS_TEST(the_gaps_themselves);
    HS_TEST(the_longest_of_very_many);
    HS_LOOP_TEST(random_streams_agree_with_painting, 0, 300);
}
