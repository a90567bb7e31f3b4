/* The sorts of compat=hta against their models: numpy 1.24's argsort by a second, independent writing of it that was checked
 * against numpy, and CPython's own list.sort, by hashes of the orders they gave for the same keys. */
#include "analysis/hta_paint.h"
#include "analysis/hta_reach.h"
#include "analysis/hta_sort.h"
#include "base/mem.h"
#include "tests/unit/test.h"

#include <stdlib.h>

#define MAX 20000

/* Knuth's 64-bit linear congruential generator, upper bits. */
static uint64_t next(uint64_t *x)
{
    *x = *x * 6364136223846793005u + 1442695040888963407u;
    return *x >> 33;
}

/* FNV-1a over the positions, little endian. */
static uint64_t hash(const uint32_t *t, size_t n)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < 4; k++)
            h = (h ^ ((t[i] >> (8 * k)) & 255)) * 0x100000001b3u;
    return h;
}

static double key[MAX];
static uint32_t order[MAX];

START_TEST(argsort_as_numpy)
{
    static const struct {
        size_t n, distinct;
        uint64_t hash;
    } want[] = {
        {0, 1, 0xcbf29ce484222325u},      {1, 1, 0x4d25767f9dce13f5u},           {16, 3, 0x8e17e1d811501de5u},
        {17, 3, 0xb89ae63a08885ca5u},     {100, 5, 0xdac3129164361135u},         {1000, 10, 0x1434c6b4e49b26a5u},
        {20000, 50, 0x0ee59628da8c541du}, {20000, 1000003, 0x4d9416df4ce776c1u},
    };
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        uint64_t x = want[i].n + want[i].distinct;
        for (size_t k = 0; k < want[i].n; k++)
            key[k] = (double)(next(&x) % want[i].distinct);
        hta_argsort(key, want[i].n, order);
        ck_assert_uint_eq(hash(order, want[i].n), want[i].hash);
    }
}
END_TEST

/* Two sorted runs, one behind the other, drive it into heap sort. */
START_TEST(argsort_of_two_runs)
{
    for (size_t i = 0; i < 5000; i++) {
        key[i] = (double)(i / 3);
        key[5000 + i] = (double)(i / 2);
    }
    hta_argsort(key, 10000, order);
    ck_assert_uint_eq(hash(order, 10000), 0xf765e64a73f79a99u);
}
END_TEST

START_TEST(descending_reverses_twice)
{
    static const double v[] = {1, 2, 2, 3, 1};
    hta_argsort_desc(v, 5, order); /* up to 16 elements the sort is stable, and so is its reverse of the reverse */
    static const uint32_t want[] = {3, 1, 2, 0, 4};
    for (int i = 0; i < 5; i++)
        ck_assert_uint_eq(order[i], want[i]);
}
END_TEST

/* An order that is no order: within four numbers each is less than the next and the last less than the first. */
static int less_in_circles(void *ctx, uint32_t a, uint32_t b)
{
    const uint64_t *v = ctx;
    if (v[a] / 4 != v[b] / 4)
        return v[a] < v[b];
    return (v[a] + 4 - v[b]) % 4 == 3;
}

static uint64_t value[MAX];

/* Positions from..to by value, ascending or descending, equal ones in place. */
static void by_value(uint32_t *out, uint32_t from, uint32_t to, bool down)
{
    for (uint32_t i = from; i < to; i++) {
        size_t k = i - from;
        for (; k > 0 && (down ? value[i] > value[out[k - 1]] : value[i] < value[out[k - 1]]); k--)
            out[k] = out[k - 1];
        out[k] = i;
    }
}

START_TEST(timsort_as_cpython)
{
    static const struct {
        uint32_t n, distinct;
        uint64_t plain, runs;
    } want[] = {
        {10, 7, 0x99f14b2815d93a84u, 0x91c8764471df9144u},    {64, 7, 0x773bdf453d4ffc05u, 0xe4d86202b4b48d15u},
        {65, 9, 0x18abf70eb8ec3df5u, 0x0bd883c31ab73805u},    {1000, 1000, 0x26f6698b6c3a9c31u, 0x7765d046eda81ccdu},
        {5000, 30, 0xea449764556d8b89u, 0x257e109fef5546f9u},
    };
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        uint32_t n = want[i].n;
        uint64_t x = 3 * (uint64_t)n + want[i].distinct;
        for (uint32_t k = 0; k < n; k++) {
            value[k] = next(&x) % want[i].distinct;
            order[k] = k;
        }
        hta_timsort(order, n, less_in_circles, value);
        ck_assert_uint_eq(hash(order, n), want[i].plain);
        by_value(order, 0, n / 2, false);
        by_value(order + n / 2, n / 2, n, true);
        hta_timsort(order, n, less_in_circles, value);
        ck_assert_uint_eq(hash(order, n), want[i].runs);
    }
}
END_TEST

START_TEST(stable_keeps_equals_in_place)
{
    uint64_t x = 5;
    for (size_t i = 0; i < 3000; i++)
        key[i] = (double)(next(&x) % 20);
    hta_argsort_stable(key, 3000, order);
    for (size_t i = 1; i < 3000; i++)
        ck_assert(key[order[i - 1]] < key[order[i]] || (key[order[i - 1]] == key[order[i]] && order[i - 1] < order[i]));
}
END_TEST

START_TEST(paint_against_asking_all)
{
    uint64_t x = 1;
    for (int round = 0; round < 200; round++) {
        struct hta_span s[20];
        struct hta_paint p;
        size_t n = next(&x) % 20;
        for (size_t i = 0; i < n; i++) {
            s[i].start = (int64_t)(next(&x) % 40);
            s[i].end = s[i].start + (int64_t)(next(&x) % 15) - 2; /* some are empty or turned round */
        }
        hta_paint_build(&p, s, n);
        for (int64_t t = -2; t < 60; t++) {
            uint32_t who = HTA_NONE;
            for (size_t i = n; i-- > 0;)
                if (s[i].start <= t && t < s[i].end)
                    who = (uint32_t)i;
            ck_assert_uint_eq(hta_paint_at(&p, t), who);
        }
        hta_paint_free(&p);
    }
}
END_TEST

START_TEST(reach_against_asking_all)
{
    uint64_t x = 2;
    for (int round = 0; round < 200; round++) {
        double end[30];
        struct hta_reach r;
        size_t n = next(&x) % 30;
        for (size_t i = 0; i < n; i++)
            end[i] = (double)(next(&x) % 20);
        hta_reach_build(&r, end, n);
        for (int ask = 0; ask < 50; ask++) {
            size_t from = next(&x) % 31, to = next(&x) % 31, first = HTA_REACH_NONE, last = HTA_REACH_NONE;
            double limit = (double)(next(&x) % 22);
            for (size_t i = from; i < to && i < n; i++) {
                first = first == HTA_REACH_NONE && end[i] > limit ? i : first;
                last = end[i] >= limit ? i : last;
            }
            ck_assert_uint_eq(hta_reach_first_above(&r, from, to, limit), first);
            ck_assert_uint_eq(hta_reach_last_from(&r, from, to, limit), last);
            if (n && !(next(&x) % 4)) {
                size_t gone = next(&x) % n;
                hta_reach_remove(&r, gone);
                end[gone] = -1;
            }
        }
        hta_reach_free(&r);
    }
}
END_TEST

START_TEST(map_against_a_list)
{
    uint64_t x = 9;
    struct hta_map m;
    static int64_t keys[2000];
    hta_map_init(&m);
    for (uint32_t i = 0; i < 2000; i++) {
        keys[i] = (int64_t)(next(&x) % 900) - 400;
        *hta_map_at(&m, keys[i]) = i;
    }
    for (int64_t k = -500; k < 600; k++) {
        uint32_t last = HTA_NONE;
        for (uint32_t i = 0; i < 2000; i++)
            last = keys[i] == k ? i : last;
        ck_assert_uint_eq(hta_map_get(&m, k), last);
    }
    hta_map_free(&m);
}
END_TEST

HS_SUITE(hta_sort)
{
    HS_TEST(argsort_as_numpy);
    HS_TEST(argsort_of_two_runs);
    HS_TEST(descending_reverses_twice);
    HS_TEST(timsort_as_cpython);
    HS_TEST(stable_keeps_equals_in_place);
    HS_TEST(paint_against_asking_all);
    HS_TEST(reach_against_asking_all);
    HS_TEST(map_against_a_list);
}
