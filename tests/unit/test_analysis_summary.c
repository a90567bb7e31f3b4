/* overview, categories, quality: what ingest counted, shown. */
#include "tests/unit/fake_view.h"
#include "tests/unit/test.h"

static struct fake f;

START_TEST(overview_by_hand)
{
    /* two devices: [0,10) and [0,40) compute, comm [20,60) on device 1 beside it: busy 10 + 60 = 70 of 2 * 60 */
    fake_init(&f, 2);
    fake_gpu(&f, (struct fake_row){.ts = 0, .dur = 10, .device = 0, .name = "k", .cls = HS_CLASS_COMPUTE});
    fake_gpu(&f, (struct fake_row){.ts = 0, .dur = 40, .device = 1, .name = "k", .cls = HS_CLASS_COMPUTE});
    fake_gpu(&f, (struct fake_row){.ts = 20, .dur = 40, .device = 1, .stream = 9, .name = "c", .cls = HS_CLASS_COMM});
    struct hs_run *run = fake_run(&f, 1);
    f.view.sum.busy_ns = 70;
    f.view.world_size = 8;
    run->ranks[0].offset_ns = 5;
    struct hs_table t = fake_analyze(run, "overview", "step=3");
    ck_assert_uint_eq(t.rows, 1);
    ck_assert_int_eq(table_i64(&t, 0, "rank"), 2);
    ck_assert_int_eq(table_i64(&t, 0, "kernels"), 3);
    ck_assert_int_eq(table_i64(&t, 0, "kernel_us"), 90);
    ck_assert_int_eq(table_i64(&t, 0, "comm_us"), 40);
    ck_assert_int_eq(table_i64(&t, 0, "span_us"), 60);
    ck_assert_int_eq(table_i64(&t, 0, "idle_us"), 50);
    ck_assert_double_eq_tol(table_f64(&t, 0, "busy_pct"), 100.0 * 70 / 120, 1e-9);
    ck_assert_int_eq(table_i64(&t, 0, "start_us"), 5);
    ck_assert_int_eq(table_i64(&t, 0, "streams"), 3);
    ck_assert_int_eq(table_i64(&t, 0, "world_size"), 8);
    ck_assert(table_has_note(&t, "step does not apply"));
    hs_table_free(&t);
}
END_TEST

START_TEST(overview_without_a_gpu)
{
    fake_init(&f, 0);
    fake_cpu(&f, "cpu_op", "aten::add", 1, 0, 0, 10);
    struct hs_table t = fake_analyze(fake_run(&f, 1), "overview", "");
    ck_assert_int_eq(table_i64(&t, 0, "span_us"), 0);
    ck_assert(table_null(&t, 0, "idle_pct"));
    ck_assert(table_null(&t, 0, "world_size"));
    ck_assert(table_has_note(&t, "no device events"));
    hs_table_free(&t);
}
END_TEST

START_TEST(categories_are_shares_of_all_events)
{
    fake_init(&f, 0);
    for (int i = 0; i < 3; i++)
        fake_cpu(&f, "cpu_op", "aten::add", 1, 0, i, 10);
    fake_cpu(&f, "python_function", "f", 1, 0, 0, 7);
    struct hs_table t = fake_analyze(fake_run(&f, 1), "categories", "");
    ck_assert_uint_eq(t.rows, 2);
    ck_assert_str_eq(table_text(&t, 0, "category"), "cpu_op");
    ck_assert_str_eq(table_text(&t, 0, "phase"), "X");
    ck_assert_int_eq(table_i64(&t, 0, "count"), 3);
    ck_assert_double_eq(table_f64(&t, 0, "share_pct"), 75);
    ck_assert_int_eq(table_i64(&t, 0, "duration_us"), 30);
    hs_table_free(&t);
}
END_TEST

START_TEST(quality_puts_the_worst_first)
{
    fake_init(&f, 1);
    hs_quality_add(&f.view.quality, HS_Q_BOM, 1, 0);
    hs_quality_add(&f.view.quality, HS_Q_TRUNCATED, 1, 777);
    hs_quality_add(&f.view.quality, HS_Q_KERNEL_WITHOUT_LAUNCH, 1, -1);
    fake_gpu(&f, (struct fake_row){.dur = 1, .name = "a", .cls = HS_CLASS_COMPUTE});
    fake_gpu(&f, (struct fake_row){.dur = 1, .name = "b", .cls = HS_CLASS_COMPUTE});
    struct hs_table t = fake_analyze(fake_run(&f, 1), "quality", "");
    ck_assert_uint_eq(t.rows, 3);
    ck_assert_str_eq(table_text(&t, 0, "kind"), "truncated");
    ck_assert_str_eq(table_text(&t, 0, "severity"), "error");
    ck_assert_int_eq(table_i64(&t, 0, "first_offset"), 777);
    ck_assert(table_null(&t, 0, "share_pct"));
    ck_assert_str_eq(table_text(&t, 1, "kind"), "kernel-without-launch");
    ck_assert_double_eq(table_f64(&t, 1, "share_pct"), 50); /* one of two device events */
    ck_assert(table_null(&t, 1, "first_offset"));
    ck_assert_str_eq(table_text(&t, 2, "kind"), "bom");
    hs_table_free(&t);
    t = fake_analyze(fake_run(&f, 1), "quality", "all=true");
    ck_assert_uint_eq(t.rows, HS_QUALITY_KINDS + 3);
    hs_table_free(&t);
}
END_TEST

START_TEST(quality_counts_missing_ranks)
{
    fake_init(&f, 1);
    f.view.world_size = 8;
    struct hs_table t = fake_analyze(fake_run(&f, 1), "quality", "");
    ck_assert_uint_eq(t.rows, 1);
    ck_assert_str_eq(table_text(&t, 0, "kind"), "missing-ranks");
    ck_assert_int_eq(table_i64(&t, 0, "count"), 7);
    hs_table_free(&t);
}
END_TEST

HS_SUITE(analysis_summary)
{
    HS_TEST(overview_by_hand);
    HS_TEST(overview_without_a_gpu);
    HS_TEST(categories_are_shares_of_all_events);
    HS_TEST(quality_puts_the_worst_first);
    HS_TEST(quality_counts_missing_ranks);
}
