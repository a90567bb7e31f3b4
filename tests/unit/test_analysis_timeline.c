#include "tests/unit/fake_view.h"
#include "tests/unit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct fake f;

static void work(int64_t ts, int64_t dur, const char *name, uint8_t cls, int64_t launch)
{
    fake_gpu(&f,
             (struct fake_row){
                 .ts = ts, .dur = dur, .stream = 7, .name = name, .cls = cls, .launched = true, .launch_ts = launch});
}

static size_t find_row(const struct hs_table *t, const char *kind, const char *lane, size_t from)
{
    for (size_t i = from; i < t->rows; i++)
        if (!strcmp(table_text(t, i, "kind"), kind) && !strcmp(table_text(t, i, "lane"), lane))
            return i;
    return SIZE_MAX;
}

/* Window [0, 100000) ns at 100 px: a pixel is 1000 ns, whole rows from 3000 ns on.
 *   wide [0,10000); narrow at 20000 and 20500 (400 each, launched in time); tiny comm at 22000 (900)
 *   gap 10000..20000 launched at 15000: host wait, stands whole; gap 22900..100000 before the last, launched at 1 */
static struct hs_run *small(void)
{
    fake_init(&f, 0);
    fake_step(&f, 12, 0, 50000);
    work(0, 10000, "void wide<int>()", HS_CLASS_COMPUTE, 0);
    work(20000, 400, "narrow", HS_CLASS_COMPUTE, 15000);
    work(20500, 400, "narrow", HS_CLASS_COMPUTE, 1);
    work(22000, 900, "comm", HS_CLASS_COMM, 1);
    work(99990, 10, "last", HS_CLASS_COMPUTE, 1);
    return fake_run(&f, 1);
}

START_TEST(wide_events_and_gaps_stand_whole_the_rest_is_binned)
{
    struct hs_table t = fake_analyze(small(), "timeline", "px=100");
    size_t step = find_row(&t, "event", "0/steps", 0);
    ck_assert_str_eq(table_text(&t, step, "name"), "ProfilerStep#12");
    size_t lane = find_row(&t, "lane", "0/gpu/0/7", 0);
    ck_assert_int_eq(table_i64(&t, lane, "count"), 5);
    size_t wide = find_row(&t, "event", "0/gpu/0/7", 0);
    ck_assert_str_eq(table_text(&t, wide, "short_name"), "wide");
    ck_assert_str_eq(table_text(&t, wide, "class"), "compute");
    ck_assert_int_eq(table_i64(&t, wide, "end_us"), 10000);
    size_t idle = find_row(&t, "idle", "0/gpu/0/7", 0);
    ck_assert_int_eq((int64_t)idle, (int64_t)wide + 1);
    ck_assert_int_eq(table_i64(&t, idle, "start_us"), 10000);
    ck_assert_int_eq(table_i64(&t, idle, "end_us"), 20000);
    ck_assert_str_eq(table_text(&t, idle, "cause"), "host_wait");
    ck_assert_str_eq(table_text(&t, idle, "name"), "narrow");
    /* pixel 20 has 800 of 1000 busy and 200 idle: its last event is followed by a gap to 22000, launched in time */
    size_t bin = idle + 1;
    ck_assert_str_eq(table_text(&t, bin, "kind"), "bin");
    ck_assert_int_eq(table_i64(&t, bin, "start_us"), 20000);
    ck_assert_int_eq(table_i64(&t, bin, "end_us"), 21000);
    ck_assert_double_eq_tol(table_f64(&t, bin, "busy_pct"), 80, 1e-9);
    ck_assert_int_eq(table_i64(&t, bin, "count"), 2);
    ck_assert_str_eq(table_text(&t, bin, "cause"), "kernel_wait");
    ck_assert_str_eq(table_text(&t, bin, "name"), "narrow");
    /* pixel 21 is all gap: a bin without events */
    ck_assert_int_eq(table_i64(&t, bin + 1, "count"), 0);
    ck_assert_double_eq(table_f64(&t, bin + 1, "busy_pct"), 0);
    ck_assert(table_null(&t, bin + 1, "name") && table_null(&t, bin + 1, "class"));
    ck_assert_str_eq(table_text(&t, bin + 2, "class"), "communication");
    ck_assert_double_eq_tol(table_f64(&t, bin + 2, "busy_pct"), 90, 1e-9);
    hs_table_free(&t);
}
END_TEST

START_TEST(a_window_shows_what_reaches_into_it)
{
    struct hs_table t = fake_analyze(small(), "timeline", "from=5&to=15&px=10");
    size_t wide = find_row(&t, "event", "0/gpu/0/7", 0);
    ck_assert_int_eq(table_i64(&t, wide, "start_us"), 0); /* its own start, before the window */
    ck_assert_int_eq(table_i64(&t, wide, "end_us"), 10000);
    size_t idle = find_row(&t, "idle", "0/gpu/0/7", 0);
    ck_assert_int_eq(table_i64(&t, idle, "end_us"), 20000); /* and its own end, after it */
    ck_assert_uint_eq(find_row(&t, "event", "0/gpu/0/7", wide + 1), SIZE_MAX);
    hs_table_free(&t);
    t = fake_analyze(small(), "timeline", "step=12&px=50"); /* the step's own window: 1000 ns a pixel */
    ck_assert_uint_ne(find_row(&t, "bin", "0/gpu/0/7", 0), SIZE_MAX);
    hs_table_free(&t);
    t = fake_analyze(small(), "timeline", "step=99");
    ck_assert_uint_eq(t.rows, 0);
    ck_assert(table_has_note(&t, "no timed events"));
    hs_table_free(&t);
}
END_TEST

START_TEST(neighbours_that_look_alike_are_one_row)
{
    fake_init(&f, 0);
    for (int i = 0; i < 1000; i++)
        work(i * 100, 50, "k", HS_CLASS_COMPUTE, 0);
    work(100000, 1, "end", HS_CLASS_COMPUTE, 0);
    struct hs_table t = fake_analyze(fake_run(&f, 1), "timeline", "px=100&from=0&to=100");
    ck_assert_uint_eq(t.rows, 2); /* the lane and one bin row: every pixel is half busy */
    ck_assert_double_eq_tol(table_f64(&t, 1, "busy_pct"), 50, 1e-9);
    ck_assert_int_eq(table_i64(&t, 1, "count"), 1000);
    ck_assert_int_eq(table_i64(&t, 1, "start_us"), 0);
    ck_assert_int_eq(table_i64(&t, 1, "end_us"), 100000);
    hs_table_free(&t);
}
END_TEST

START_TEST(threads_on_request_by_depth)
{
    fake_init(&f, 0);
    work(0, 100000, "k", HS_CLASS_COMPUTE, 0);
    fake_cpu(&f, "cpu_op", "inner", 55, 1, 10000, 20000);
    fake_cpu(&f, "cuda_runtime", "launch", 55, 2, 12000, 100);
    fake_cpu(&f, "cpu_op", "outer", 55, 0, 0, 50000);
    fake_cpu(&f, "kernel", "k", 7, 3, 0, 50000); /* a device's event is on no CPU lane */
    f.view.sum.last_end = 100000;
    struct hs_run *run = fake_run(&f, 1);
    struct hs_table t = fake_analyze(run, "timeline", "px=100");
    ck_assert_uint_eq(find_row(&t, "lane", "0/cpu/1/55", 0), SIZE_MAX);
    hs_table_free(&t);
    t = fake_analyze(run, "timeline", "px=100&lanes=all");
    size_t lane = find_row(&t, "lane", "0/cpu/1/55", 0);
    ck_assert_int_eq(table_i64(&t, lane, "count"), 3);
    ck_assert_str_eq(table_text(&t, lane + 1, "name"), "outer");
    ck_assert_int_eq(table_i64(&t, lane + 1, "depth"), 0);
    ck_assert_str_eq(table_text(&t, lane + 1, "class"), "op");
    ck_assert_str_eq(table_text(&t, lane + 2, "name"), "inner");
    ck_assert_int_eq(table_i64(&t, lane + 2, "depth"), 1);
    ck_assert_str_eq(table_text(&t, lane + 3, "kind"), "bin");
    ck_assert_str_eq(table_text(&t, lane + 3, "class"), "runtime");
    ck_assert_double_eq_tol(table_f64(&t, lane + 3, "busy_pct"), 10, 1e-9);
    ck_assert_uint_eq(find_row(&t, "lane", "0/cpu/1/7", 0), SIZE_MAX);
    hs_table_free(&t);
    t = fake_analyze(run, "timeline", "lanes=cpu&max_depth=1&lane=0/cpu/1/55");
    ck_assert_uint_eq(find_row(&t, "lane", "0/gpu/0/7", 0), SIZE_MAX);
    ck_assert(table_has_note(&t, "2 CPU events deeper"));
    hs_table_free(&t);
}
END_TEST

/* Whatever the trace: rows are bounded by pixels, and busy time of bins and events adds up to the painted union. */
START_TEST(random_streams_add_up_and_stay_small)
{
    unsigned seed = (unsigned)_i * 7907u + 5;
    enum { LINE = 2000 };
    int n = 1 + rand_r(&seed) % 300, px = 1 + rand_r(&seed) % 120;
    bool paint[LINE + 1] = {false};
    char params[80];
    fake_init(&f, 0);
    for (int i = 0; i < n; i++) {
        int64_t ts = rand_r(&seed) % (LINE - 100), dur = rand_r(&seed) % (_i % 2 ? 5 : 100);
        work(ts, dur, "k", HS_CLASS_COMPUTE, 0);
        for (int64_t x = ts; x < ts + dur; x++)
            paint[x] = true;
    }
    work(0, 1, "k", HS_CLASS_COMPUTE, 0);
    paint[0] = true;
    snprintf(params, sizeof params, "px=%d&min_px=1000&from=0&to=2", px); /* nothing stands whole */
    struct hs_table t = fake_analyze(fake_run(&f, 1), "timeline", params);
    ck_assert_uint_le(t.rows, (size_t)px + 1);
    double busy = 0;
    int64_t painted = 0, count = 0, last = 0;
    for (int x = 0; x < LINE; x++)
        painted += paint[x];
    for (size_t i = 1; i < t.rows; i++) {
        int64_t a = table_i64(&t, i, "start_us"), b = table_i64(&t, i, "end_us");
        ck_assert_str_eq(table_text(&t, i, "kind"), "bin");
        ck_assert_int_ge(a, last);
        ck_assert_int_lt(a, b);
        last = b;
        busy += table_f64(&t, i, "busy_pct") / 100 * (double)(b - a);
        count += table_i64(&t, i, "count");
    }
    ck_assert_double_eq_tol(busy, (double)painted, 1e-6);
    ck_assert_int_eq(count, n + 1);
    hs_table_free(&t);
}
END_TEST

START_TEST(events_upon_events_do_not_grow_the_answer)
{
    fake_init(&f, 0);
    for (int i = 0; i < 3000; i++) /* all as wide as the window */
        work(i % 7, 100000, "k", HS_CLASS_COMPUTE, 0);
    struct hs_table t = fake_analyze(fake_run(&f, 1), "timeline", "px=50");
    ck_assert_uint_le(t.rows, 60);
    hs_table_free(&t);
}
END_TEST

HS_SUITE(analysis_timeline)
{
    HS_TEST(wide_events_and_gaps_stand_whole_the_rest_is_binned);
    HS_TEST(a_window_shows_what_reaches_into_it);
    HS_TEST(neighbours_that_look_alike_are_one_row);
    HS_TEST(threads_on_request_by_depth);
    HS_LOOP_TEST(random_streams_add_up_and_stay_small, 0, 100);
    HS_TEST(events_upon_events_do_not_grow_the_answer);
}
