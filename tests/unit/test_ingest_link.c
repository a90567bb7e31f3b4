/* link, the CPU side: call trees, pairs, flows; every expected value is argued where it stands. */
#include "tests/unit/link_build.h"
#include "tests/unit/test.h"

#define US 1000ll

/* ---- stacks ---- */

START_TEST(children_nest_in_what_contains_them)
{
    /* the file has children first and another thread between: only times count */
    uint32_t leaf = link_op("leaf", 20, 10), mid = link_op("mid", 10, 40);
    uint32_t other =
        link_add(&link_t, (struct ev){.ph = 'X', .cat = "cpu_op", .name = "o", .tid = 9, .ts = 15, .dur = 30});
    uint32_t top = link_op("top", 0, 100), next = link_op("next", 50, 50),
             call_ = link_call("cudaLaunchKernel", 60, 10, 5);
    link_run(&link_t, &link_k);
    ck_assert_uint_eq(link_k.parent[top], HS_NO_EVENT);
    ck_assert_uint_eq(link_k.parent[mid], top);
    ck_assert_uint_eq(link_k.parent[leaf], mid);
    ck_assert_uint_eq(link_k.parent[next], top); /* starts where mid ends: half-open */
    ck_assert_uint_eq(link_k.parent[call_], next);
    ck_assert_uint_eq(link_k.parent[other], HS_NO_EVENT);
    ck_assert_int_eq(link_k.depth[leaf], 2);
    ck_assert_int_eq(link_k.depth[call_], 2);
    ck_assert_int_eq(link_k.depth[top], 0);
    ck_assert_int_eq((int)link_k.sum.threads, 2);
    ck_assert_int_eq((int)link_k.sum.processes, 1);
}
END_TEST

START_TEST(equal_spans_nest_in_file_order)
{
    uint32_t a = link_op("a", 10, 10), b = link_op("b", 10, 10), c = link_op("c", 10, 30);
    link_run(&link_t, &link_k);
    ck_assert_uint_eq(link_k.parent[c], HS_NO_EVENT); /* longest first */
    ck_assert_uint_eq(link_k.parent[a], c);
    ck_assert_uint_eq(link_k.parent[b], a);
}
END_TEST

START_TEST(overrun_up_to_a_microsecond_nests)
{
    uint32_t p = link_op("p", 0, 10 * US), in = link_op("in", 5 * US, 6 * US); /* ends 1 µs after p */
    uint32_t after = link_op("after", 10 * US, US); /* p has ended; `in` counts as ended with it */
    uint32_t q = link_op("q", 20 * US, 10 * US), out = link_op("out", 25 * US, 6 * US + 1); /* 1.001 µs after q */
    uint32_t below = link_op("below", 26 * US, US);
    link_run(&link_t, &link_k);
    ck_assert_uint_eq(link_k.parent[in], p);
    ck_assert_uint_eq(link_k.parent[after], HS_NO_EVENT);
    ck_assert_uint_eq(link_k.parent[out], HS_NO_EVENT);
    ck_assert_uint_eq(link_k.parent[q], HS_NO_EVENT);
    ck_assert_uint_eq(link_k.parent[below], out); /* of the two that contain it the one that started last */
    ck_assert_int_eq(link_count(HS_Q_CHILD_OVERRUN), 1);
    ck_assert_int_eq(link_count(HS_Q_PARTIAL_OVERLAP), 1);
}
END_TEST

START_TEST(empty_spans_stand_in_the_closing_one)
{
    /* SEMANTICS Q40: A = [10,11], Z = [11,11], B = [11,12]: Z in A, whatever the order in the file */
    uint32_t b = link_op("B", 11, 4), z = link_op("Z", 11, 0), a = link_op("A", 10, 1);
    link_op("in B", 11, 2);
    uint32_t p = link_op("P", 20, 10), at_start = link_op("s", 20, 0), inside = link_op("i", 25, 0),
             at_end = link_op("e", 30, 0);
    uint32_t lone = link_op("lone", 40, 0);
    link_run(&link_t, &link_k);
    ck_assert_uint_eq(link_k.parent[z], a);
    ck_assert_uint_eq(link_k.parent[b], HS_NO_EVENT);
    ck_assert_uint_eq(link_k.parent[at_start], p);
    ck_assert_uint_eq(link_k.parent[inside], p);
    ck_assert_uint_eq(link_k.parent[at_end], p);
    ck_assert_uint_eq(link_k.parent[lone], HS_NO_EVENT);
}
END_TEST

START_TEST(synthetic_rows_and_device_rows_have_no_stack)
{
    uint32_t span = link_add(
        &link_t,
        (struct ev){.ph = 'X', .cat = "Trace", .name = "PyTorch Profiler (0)", .pid = "Spans", .ts = 0, .dur = 1000});
    uint32_t spans =
        link_add(&link_t, (struct ev){.ph = 'X', .cat = "cpu_op", .name = "x", .pid = "Traces", .ts = 0, .dur = 9});
    uint32_t a = link_op("a", 10, 10);
    uint32_t g = link_add(&link_t, (struct ev){.ph = 'X',
                                               .cat = "gpu_user_annotation",
                                               .name = "fw",
                                               .pid = "0",
                                               .tid = 7,
                                               .ts = 5,
                                               .dur = 90,
                                               .stream = 7});
    uint32_t s = link_add(&link_t, (struct ev){.ph = 'X',
                                               .cat = "cuda_sync",
                                               .name = "Stream Sync",
                                               .pid = "0",
                                               .tid = 1000007,
                                               .ts = 12,
                                               .dur = 2,
                                               .stream = 7});
    link_run(&link_t, &link_k);
    ck_assert_uint_eq(link_k.parent[span], HS_NO_EVENT);
    ck_assert_uint_eq(link_k.parent[spans], HS_NO_EVENT);
    ck_assert_uint_eq(link_k.parent[a], HS_NO_EVENT);
    ck_assert_uint_eq(link_k.parent[g], HS_NO_EVENT);
    ck_assert_uint_eq(link_k.parent[s], HS_NO_EVENT);
    ck_assert_uint_eq(link_k.gpu.n, 0); /* neither an annotation nor a wait is work */
    ck_assert_int_eq((int)link_k.sum.syncs, 1);
    ck_assert_int_eq((int)link_k.sum.threads, 1);
    ck_assert_int_eq((int)link_k.sum.first_ts, 5); /* of what analyses use: not the writer's span */
    ck_assert_int_eq((int)link_k.sum.last_end, 95);
    ck_assert_int_eq(link_count(HS_Q_NO_GPU), 1);
}
END_TEST

/* ---- pairs ---- */

static uint32_t phase(char ph, const char *name, int64_t ts)
{
    return link_add(&link_t, (struct ev){.ph = ph, .cat = "cpu_op", .name = name, .ts = ts, .dur = NONE_I64});
}

START_TEST(begin_and_end_make_spans)
{
    uint32_t a = phase('B', "a", 0), b = phase('B', "b", 10), x = link_op("x", 12, 3);
    phase('E', NULL, 20); /* without a name: the innermost */
    uint32_t c = phase('B', "c", 30);
    phase('E', "a", 40);                                              /* c was never ended; it ends with a */
    phase('E', "zz", 50);                                             /* no begin */
    uint32_t d = phase('B', "d", 60), last = link_op("last", 65, 35); /* d ends with its lane: 100 */
    link_run(&link_t, &link_k);
    ck_assert_uint_eq(link_k.parent[b], a);
    ck_assert_uint_eq(link_k.parent[x], b);
    ck_assert_uint_eq(link_k.parent[c], a);
    ck_assert_uint_eq(link_k.parent[last], d);
    ck_assert_int_eq(link_count(HS_Q_UNMATCHED_BEGIN), 2);
    ck_assert_int_eq(link_count(HS_Q_UNMATCHED_END), 1);
    /* durations of the begins: 40, 10, 10, 40 */
    int64_t dur = 0, n = 0;
    for (size_t i = 0; i < link_k.cats.n; i++)
        if (link_k.cats.p[i].ph == 'B') {
            dur = link_k.cats.p[i].dur;
            n = link_k.cats.p[i].count;
        }
    ck_assert_int_eq((int)n, 4);
    ck_assert_int_eq((int)dur, 100);
    ck_assert_int_eq((int)link_k.sum.cpu_ops, 6);
}
END_TEST

static uint32_t async(char ph, const char *name, int64_t id, int64_t ts)
{
    return link_add(&link_t,
                    (struct ev){.ph = ph, .cat = "async", .name = name, .ts = ts, .dur = NONE_I64, .corr = id});
}

START_TEST(async_events_pair_by_id)
{
    async('b', "x", 1, 0);
    async('b', "y", 2, 1);
    async('n', "y", 2, 2);
    async('e', "x", 1, 10); /* x: 10 */
    async('e', "y", 2, 21); /* y: 20 */
    async('b', "z", 3, 30); /* never ends */
    async('e', "w", 4, 31); /* never began */
    link_run(&link_t, &link_k);
    ck_assert_int_eq(link_count(HS_Q_UNMATCHED_BEGIN), 1);
    ck_assert_int_eq(link_count(HS_Q_UNMATCHED_END), 1);
    for (size_t i = 0; i < link_k.cats.n; i++)
        if (link_k.cats.p[i].ph == 'b')
            ck_assert_int_eq((int)link_k.cats.p[i].dur, 30);
}
END_TEST

START_TEST(flow_ends_without_start_are_counted)
{
    const struct {
        char ph;
        int id;
    } flows[] = {{'f', 1}, {'s', 1}, {'f', 1}, {'f', 2}, {'t', 2}, {'s', 3}, {'f', 4}};
    for (size_t i = 0; i < sizeof flows / sizeof *flows; i++)
        link_add(&link_t,
                 (struct ev){
                     .ph = flows[i].ph, .cat = "ac2g", .name = "ac2g", .ts = 5, .dur = NONE_I64, .corr = flows[i].id});
    link_add(&link_t, (struct ev){.ph = 's', .cat = "fwdbwd", .name = "fwdbwd", .ts = 5, .dur = NONE_I64, .corr = 4});
    link_run(&link_t, &link_k);
    ck_assert_int_eq(link_count(HS_Q_ORPHAN_FLOW), 3); /* both of 2; 4, which starts in another category only */
    ck_assert_int_eq((int)link_k.sum.flows, 8);
}
END_TEST

HS_SUITE(ingest_link)
{
    tcase_add_checked_fixture(tc, link_setup, link_teardown);
    HS_TEST(children_nest_in_what_contains_them);
    HS_TEST(equal_spans_nest_in_file_order);
    HS_TEST(overrun_up_to_a_microsecond_nests);
    HS_TEST(empty_spans_stand_in_the_closing_one);
    HS_TEST(synthetic_rows_and_device_rows_have_no_stack);
    HS_TEST(begin_and_end_make_spans);
    HS_TEST(async_events_pair_by_id);
    HS_TEST(flow_ends_without_start_are_counted);
}
