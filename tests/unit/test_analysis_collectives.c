/* collectives and stragglers: two ranks whose every figure can be checked by hand, and the generator's truth. */
#include "analysis/collective.h"
#include "tests/unit/fake_view.h"
#include "tests/unit/json_trace.h"
#include "tests/unit/test.h"

#include <stdio.h>

static struct json_trace t[2];
static struct hs_run *run;

static void begin(void)
{
    json_trace_begin(&t[0], 0);
    json_trace_begin(&t[1], 1);
}

static void end(void)
{
    json_trace_end(t, 2);
}

/* An allreduce of 1000 floats in a group of two. seq 0: the trace tells nothing but the kernel's name. */
static void allreduce(int rank, int64_t ts, int64_t dur, int seq)
{
    char a[40], more[400] = "";
    if (seq)
        snprintf(more, sizeof more,
                 ",\"Collective name\":\"allreduce\",\"In msg nelems\":1000,\"Out msg nelems\":1000,\"Group size\":2,"
                 "\"dtype\":\"Float\",\"Process Group Name\":\"0\",\"Process Group Ranks\":\"[0, 1]\",\"Seq\":%d",
                 seq);
    trace_event(&t[rank],
                "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_AllReduce_Sum_f32_RING_LL(args)\","
                "\"pid\":0,\"tid\":16,\"ts\":%s,\"dur\":%lld.%03lld,\"args\":{\"device\":0,\"stream\":16%s}}",
                trace_us(a, ts), (long long)(dur / 1000), (long long)(dur % 1000), more);
}

static void kernel(int rank, int64_t ts, int64_t dur)
{
    trace_kernel(&t[rank], "k", 0, 7, ts, dur, (int)(ts / 1000) + 1);
}

/* Every 20 us an allreduce that ends at 10; rank 0 computes from 1 to 3, rank 1 from 1 to 9. Rank 1's clock is 5 ms ahead. */
static void skewed(int with_seq, int ranks1)
{
    begin();
    for (int i = 0; i < 3; i++) {
        int64_t at = i * 20000;
        kernel(0, at + 1000, 2000);
        allreduce(0, at + 3000, 7000, with_seq ? i + 1 : 0);
        kernel(1, at + 1000, 8000);
        if (i < ranks1)
            allreduce(1, at + 9000, 1000, with_seq ? i + 1 : 0);
    }
    run = json_trace_load(t, 2);
    run->ranks[1].offset_ns += 5000000;
}

START_TEST(skew_comes_back)
{
    skewed(_i, 3);
    struct hs_table x = fake_analyze(run, "stragglers", "");
    ck_assert_uint_eq(x.rows, 2);
    ck_assert_int_eq(table_i64(&x, 0, "rank"), 1);
    ck_assert_int_eq(table_i64(&x, 0, "clock_shift_us"), -5000000);
    ck_assert_int_eq(table_i64(&x, 0, "clock_residual_us"), 0);
    ck_assert_int_eq(table_i64(&x, 0, "collectives"), 3);
    ck_assert_int_eq(table_i64(&x, 0, "last"), 3);
    ck_assert_int_eq(table_i64(&x, 0, "caused_wait_us"), 18000);
    ck_assert_int_eq(table_i64(&x, 0, "lead_us"), 18000);
    ck_assert_int_eq(table_i64(&x, 0, "own_wait_us"), 0);
    ck_assert_str_eq(table_text(&x, 0, "verdict"), "chronic");
    ck_assert_str_eq(table_text(&x, 0, "cause"), "longer kernels");
    ck_assert_double_eq_tol(table_f64(&x, 0, "extra_kernels"), 0, 1e-9);
    ck_assert_int_eq(table_i64(&x, 0, "extra_work_us"), 6000);
    ck_assert_int_eq(table_i64(&x, 0, "extra_idle_us"), 0);
    ck_assert_int_eq(table_i64(&x, 1, "rank"), 0);
    ck_assert_int_eq(table_i64(&x, 1, "own_wait_us"), 18000);
    ck_assert_int_eq(table_i64(&x, 1, "clock_shift_us"), 0);
    ck_assert(table_null(&x, 1, "cause"));
    ck_assert_str_eq(table_text(&x, 1, "verdict"), "none");
    hs_table_free(&x);
    end();
}
END_TEST

START_TEST(waiting_transfer_and_bandwidth)
{
    skewed(1, 3);
    struct hs_table x = fake_analyze(run, "collectives", "");
    ck_assert_uint_eq(x.rows, 1);
    ck_assert_str_eq(table_text(&x, 0, "collective"), "allreduce");
    ck_assert_str_eq(table_text(&x, 0, "group"), "0 [0, 1]");
    ck_assert_int_eq(table_i64(&x, 0, "bytes"), 4000);
    ck_assert_int_eq(table_i64(&x, 0, "count"), 3);
    ck_assert_int_eq(table_i64(&x, 0, "calls"), 6);
    ck_assert_int_eq(table_i64(&x, 0, "matched"), 3);
    ck_assert_int_eq(table_i64(&x, 0, "dur_us"), 24000);
    ck_assert_int_eq(table_i64(&x, 0, "wait_us"), 18000);
    ck_assert_double_eq_tol(table_f64(&x, 0, "wait_pct"), 75, 1e-9);
    ck_assert_int_eq(table_i64(&x, 0, "transfer_us"), 3000);
    ck_assert_double_eq_tol(table_f64(&x, 0, "alg_gbps"), 4, 1e-9); /* 4000 bytes in 1000 ns */
    ck_assert_double_eq_tol(table_f64(&x, 0, "bus_gbps"), 4, 1e-9); /* 2 (n - 1) / n = 1 for two ranks */
    hs_table_free(&x);
    end();
}
END_TEST

START_TEST(without_metadata_the_size_is_unknown)
{
    skewed(0, 3);
    struct hs_table x = fake_analyze(run, "collectives", "");
    ck_assert_uint_eq(x.rows, 1);
    ck_assert(table_null(&x, 0, "bytes"));
    ck_assert(table_null(&x, 0, "group"));
    ck_assert(table_null(&x, 0, "bus_gbps"));
    ck_assert_int_eq(table_i64(&x, 0, "wait_us"), 18000);
    ck_assert(table_has_note(&x, "Size unknown"));
    ck_assert(table_has_note(&x, "3 collectives have no sequence number"));
    hs_table_free(&x);
    end();
}
END_TEST

START_TEST(unequal_counts_are_a_finding)
{
    skewed(1, 2);
    struct hs_table x = fake_analyze(run, "collectives", "");
    ck_assert_int_eq(table_i64(&x, 0, "count"), 3);
    ck_assert_int_eq(table_i64(&x, 0, "matched"), 2);
    ck_assert_int_eq(table_i64(&x, 0, "wait_us"), 12000);
    ck_assert(table_has_note(&x, "Unequal counts: of allreduce in group 0 [0, 1] rank 0 has 3, rank 1 has 2"));
    hs_table_free(&x);
    end();
}
END_TEST

/* Rank 1 comes 6 us late for another reason each time. */
START_TEST(causes)
{
    static const char *const words[] = {"more kernels", "data loading", "gaps"};
    begin();
    kernel(0, 1000, 2000);
    allreduce(0, 3000, 7000, 1);
    if (_i == 0)
        for (int k = 0; k < 4; k++)
            kernel(1, 1000 + 2000 * k, 2000);
    else
        kernel(1, 7000, 2000);
    if (_i == 1)
        trace_cpu(&t[1], "user_annotation", "enumerate(DataLoader)#_Iter.__next__", 1, 1000, 6000);
    allreduce(1, 9000, 1000, 1);
    run = json_trace_load(t, 2);
    struct hs_table x = fake_analyze(run, "stragglers", "");
    ck_assert_int_eq(table_i64(&x, 0, "rank"), 1);
    ck_assert_str_eq(table_text(&x, 0, "cause"), words[_i]);
    ck_assert_double_eq_tol(table_f64(&x, 0, "extra_kernels"), _i == 0 ? 3 : 0, 1e-9);
    ck_assert_int_eq(table_i64(&x, 0, "extra_idle_us"), _i == 0 ? 0 : 6000);
    ck_assert_int_eq(table_i64(&x, 0, "extra_loading_us"), _i == 1 ? 6000 : 0);
    hs_table_free(&x);
    end();
}
END_TEST

START_TEST(even_ranks_have_no_straggler)
{
    begin();
    for (int r = 0; r < 2; r++)
        for (int i = 0; i < 4; i++)
            allreduce(r, i * 10000 + 1000, 5000, i + 1);
    run = json_trace_load(t, 2);
    struct hs_table x = fake_analyze(run, "stragglers", "");
    ck_assert_uint_eq(x.rows, 2);
    for (size_t i = 0; i < 2; i++) {
        ck_assert_int_eq(table_i64(&x, i, "last"), 0);
        ck_assert_str_eq(table_text(&x, i, "verdict"), "none");
    }
    hs_table_free(&x);
    end();
}
END_TEST

START_TEST(one_rank_says_why_not)
{
    json_trace_begin(&t[0], 0);
    allreduce(0, 1000, 5000, 1);
    struct hs_table x = fake_analyze(json_trace_load(t, 1), "stragglers", "");
    ck_assert_uint_eq(x.rows, 0);
    ck_assert(table_has_note(&x, "among several ranks"));
    hs_table_free(&x);
    json_trace_end(t, 1);
}
END_TEST

START_TEST(no_collectives_at_all)
{
    begin();
    for (int r = 0; r < 2; r++)
        kernel(r, 1000, 2000);
    run = json_trace_load(t, 2);
    struct hs_table x = fake_analyze(run, "stragglers", "");
    ck_assert_uint_eq(x.rows, 0);
    ck_assert(table_has_note(&x, "No collective was found on two ranks"));
    hs_table_free(&x);
    x = fake_analyze(run, "collectives", "");
    ck_assert_uint_eq(x.rows, 0);
    ck_assert(table_has_note(&x, "no communication kernels"));
    hs_table_free(&x);
    end();
}
END_TEST

START_TEST(names_and_formulas)
{
    static const struct {
        const char *name;
        enum hs_collective_type type;
    } names[] = {
        {"allreduce", HS_COLL_ALLREDUCE},
        {"_allgather_base", HS_COLL_ALLGATHER},
        {"reduce_scatter_tensor_coalesced", HS_COLL_REDUCESCATTER},
        {"nccl:all_to_all", HS_COLL_ALLTOALL},
        {"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*)", HS_COLL_SENDRECV},
        {"ncclDevKernel_Broadcast_RING_LL(ncclReduce)", HS_COLL_BROADCAST},
        {"reduce", HS_COLL_REDUCE},
        {"ncclKernel_Generic_4", HS_COLL_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        ck_assert_int_eq(hs_collective_type_of(hs_cstr(names[i].name)), names[i].type);
    ck_assert_double_eq(hs_collective_bus_factor(HS_COLL_ALLREDUCE, 8), 1.75); /* 2 * 7 / 8 */
    ck_assert_double_eq(hs_collective_bus_factor(HS_COLL_ALLGATHER, 8), 0.875);
    ck_assert_double_eq(hs_collective_bus_factor(HS_COLL_BROADCAST, 8), 1);
    ck_assert_double_eq(hs_collective_bus_factor(HS_COLL_ALLREDUCE, 1), 0);
    ck_assert_int_eq(hs_dtype_bytes(hs_cstr("BFloat16")), 2);
    ck_assert_int_eq(hs_dtype_bytes(hs_cstr("quux")), 0);
}
END_TEST

HS_SUITE(analysis_collectives)
{
    HS_LOOP_TEST(skew_comes_back, 0, 2);
    HS_TEST(waiting_transfer_and_bandwidth);
    HS_TEST(without_metadata_the_size_is_unknown);
    HS_TEST(unequal_counts_are_a_finding);
    HS_LOOP_TEST(causes, 0, 3);
    HS_TEST(even_ranks_have_no_straggler);
    HS_TEST(one_rank_says_why_not);
    HS_TEST(no_collectives_at_all);
    HS_TEST(names_and_formulas);
}
