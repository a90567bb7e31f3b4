/* An event written from columns made by hand. */
#include "trace/event_json.h"

#include "tests/unit/test.h"

static void decimal(int64_t m, unsigned digits, const char *want)
{
    struct hs_buf b = HS_BUF_INIT(100);
    hs_put_decimal(&b, m, digits);
    ck_assert_str_eq(b.p, want);
    hs_buf_free(&b);
}

START_TEST(decimals)
{
    decimal(0, 0, "0");
    decimal(0, 3, "0.000");
    decimal(-5, 1, "-0.5");
    decimal(1500, 3, "1.500");
    decimal(5, 18, "0.000000000000000005");
    decimal(INT64_MIN, 0, "-9223372036854775808");
    decimal(INT64_MIN, 18, "-9.223372036854775808");
    decimal(INT64_MAX, 1, "922337203685477580.7");
}
END_TEST

START_TEST(all_types_in_order)
{
    const struct hs_str syms[] = {HS_STR(""),      HS_STR("ph"),     HS_STR("ts"),  HS_STR("args"),
                                  HS_STR("a"),     HS_STR("b"),      HS_STR("dur"), HS_STR("name"),
                                  HS_STR("x\"\n"), HS_STR("[1, 2]"), HS_STR("pid"), HS_STR("tid")};
    const struct hs_field fields[] = {{1, HS_CORE_PH, 0, HS_V_CORE},
                                      {3, 0, 0, HS_V_OBJECT},
                                      {4, 0, 1, HS_V_INT},
                                      {5, 0, 1, HS_V_DEC},
                                      {0, 0, 1, HS_V_STR},
                                      {9, 0, 1, HS_V_RAW},
                                      {8, 0, 1, HS_V_NULL},
                                      {2, HS_CORE_TS, 0, HS_V_CORE},
                                      {6, HS_CORE_DUR, 0, HS_V_CORE},
                                      {7, HS_CORE_NAME, 0, HS_V_CORE},
                                      {10, HS_CORE_PID, 0, HS_V_CORE},
                                      {11, HS_CORE_TID, 0, HS_V_CORE},
                                      {4, 0, 0, HS_V_TRUE}};
    const int64_t values[] = {-7, 1250, 2, 8, 9};
    const struct hs_event_core core = {.ts = 1712195495519689120,
                                       .dur = -3000,
                                       .pid = {-1, HS_ID_INT},
                                       .tid = {7, HS_ID_TEXT},
                                       .name = 8,
                                       .ph = 'X',
                                       .digits = 2};
    struct hs_buf b = HS_BUF_INIT(1000);
    ck_assert_uint_eq(hs_event_values(fields, 13), 5);
    hs_event_json(&b, &core, fields, 13, values, syms, 12);
    ck_assert_str_eq(
        b.p, "{\"ph\":\"X\",\"args\":{\"a\":-7,\"b\":12.50,\"\":\"x\\\"\\n\",\"[1, 2]\":[1, 2],\"x\\\"\\n\":null},"
             "\"ts\":1712195495519689.12,\"dur\":-3,\"name\":\"x\\\"\\n\",\"pid\":-1,\"tid\":\"name\",\"a\":true}");
    hs_buf_free(&b);
}
END_TEST

START_TEST(empty_ones)
{
    const struct hs_str syms[] = {HS_STR(""), HS_STR("args")};
    const struct hs_field args = {1, 0, 0, HS_V_OBJECT};
    const struct hs_event_core core = {0};
    struct hs_buf b = HS_BUF_INIT(100);
    hs_event_json(&b, &core, NULL, 0, NULL, syms, 2);
    hs_event_json(&b, &core, &args, 1, NULL, syms, 2);
    ck_assert_str_eq(b.p, "{}{\"args\":{}}");
    hs_buf_free(&b);
}
END_TEST

HS_SUITE(trace_event_json)
{
    HS_TEST(decimals);
    HS_TEST(all_types_in_order);
    HS_TEST(empty_ones);
}
