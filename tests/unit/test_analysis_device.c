/* What analyses of whole devices share: rows of all streams in order, and why the device was idle. */
#include "analysis/device_idle.h"
#include "analysis/device_walk.h"
#include "tests/unit/fake_view.h"
#include "tests/unit/test.h"

#include <stdlib.h>

static struct fake f;

static void work(int32_t device, int64_t stream, int64_t ts, int64_t dur, int64_t launch)
{
    fake_gpu(&f, (struct fake_row){.ts = ts,
                                   .dur = dur,
                                   .device = device,
                                   .stream = stream,
                                   .name = "k",
                                   .cls = HS_CLASS_COMPUTE,
                                   .launched = launch >= 0,
                                   .launch_ts = launch});
}

static struct hs_select open_all(struct hs_run *run)
{
    struct hs_select s = {.view = run->ranks[0].view, .from = INT64_MIN, .to = INT64_MAX};
    ck_assert_int_eq(hs_view_gpu(s.view, &s.gpu, NULL), 0);
    return s;
}

START_TEST(the_walk_gives_every_row_once_in_order)
{
    unsigned seed = (unsigned)_i * 31u + 7;
    int n = rand_r(&seed) % 200, seen = 0;
    fake_init(&f, 0);
    for (int i = 0; i < n; i++)
        work(rand_r(&seed) % 3, rand_r(&seed) % (1 + _i % 9), rand_r(&seed) % 50, 1, -1);
    struct hs_select s = open_all(fake_run(&f, 1));
    struct hs_device_walk w;
    bool taken[256] = {false};
    hs_device_walk_init(&w, &s.gpu);
    while (hs_device_next(&w)) {
        int64_t last = INT64_MIN;
        for (size_t i; hs_device_row(&w, &i); seen++) {
            ck_assert_int_eq(s.gpu.device[i], w.device);
            ck_assert_int_ge(s.gpu.ts[i], last);
            ck_assert(!taken[i]);
            taken[i] = true;
            last = s.gpu.ts[i];
        }
    }
    ck_assert_int_eq(seen, n);
    hs_device_walk_free(&w);
}
END_TEST

START_TEST(a_device_is_idle_only_when_all_its_streams_are)
{
    /* stream 7 [0,10) [50,60); stream 9 [5,20) [50,55) [90,100): the device idles [20,50) and [60,90).
     * At 50 two start: launched at 40 and at 15; the one launched at 15 was there in time: no host wait.
     * 30 < 40: kernel wait. At 90: launched at 70, after 60: host wait. Device 1 idles [5,8), its launch unknown. */
    fake_init(&f, 0);
    work(0, 7, 0, 10, 0);
    work(0, 7, 50, 10, 40);
    work(0, 9, 5, 15, 0);
    work(0, 9, 50, 5, 15);
    work(0, 9, 90, 10, 70);
    work(1, 7, 0, 5, -1);
    work(1, 7, 8, 5, -1);
    struct hs_select s = open_all(fake_run(&f, 1));
    int64_t ns[HS_CAUSES] = {0};
    struct hs_device_gap longest = {{0, 0}, HS_OTHER_WAIT, -1};
    hs_device_idle(&s, 40, ns, &longest);
    ck_assert_int_eq(ns[HS_HOST_WAIT], 30);
    ck_assert_int_eq(ns[HS_KERNEL_WAIT], 30);
    ck_assert_int_eq(ns[HS_OTHER_WAIT], 3);
    ck_assert_int_eq(longest.at.start, 20);
    ck_assert_int_eq(longest.device, 0);
}
END_TEST

START_TEST(idle_of_devices_is_what_the_union_leaves)
{
    unsigned seed = (unsigned)_i * 65537u + 1;
    enum { LINE = 300 };
    int n = 1 + rand_r(&seed) % 40;
    bool paint[LINE] = {false};
    int64_t first = LINE, last = 0, idle = 0, ns[HS_CAUSES] = {0};
    fake_init(&f, 0);
    for (int i = 0; i < n; i++) {
        int64_t ts = rand_r(&seed) % (LINE - 20), dur = 1 + rand_r(&seed) % 15;
        work(0, rand_r(&seed) % 4, ts, dur, rand_r(&seed) % LINE);
        first = ts < first ? ts : first;
        last = ts + dur > last ? ts + dur : last;
        for (int64_t t = ts; t < ts + dur; t++)
            paint[t] = true;
    }
    for (int64_t t = first; t < last; t++)
        idle += !paint[t];
    struct hs_select s = open_all(fake_run(&f, 1));
    hs_device_idle(&s, 20, ns, NULL);
    ck_assert_int_eq(ns[0] + ns[1] + ns[2], idle);
}
END_TEST

HS_SUITE(analysis_device)
{
    HS_LOOP_TEST(the_walk_gives_every_row_once_in_order, 0, 100);
    HS_TEST(a_device_is_idle_only_when_all_its_streams_are);
    HS_LOOP_TEST(idle_of_devices_is_what_the_union_leaves, 0, 100);
}
