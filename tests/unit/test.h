/* Check, with suites that register themselves: a new tests/{unit,http,fault,corpus}/test_*.c needs no list anywhere.
 *
 *     START_TEST(adds) { ck_assert_int_eq(1 + 1, 2); } END_TEST
 *     HS_SUITE(arithmetic) { HS_TEST(adds); }
 */
#ifndef HS_TESTS_TEST_H
#define HS_TESTS_TEST_H

#include <check.h>

void hs_test_register(const char *name, void (*fill)(TCase *tc));

#define HS_SUITE(name)                                                \
    static void hs_fill_##name(TCase *tc);                            \
    __attribute__((constructor)) static void hs_register_##name(void) \
    {                                                                 \
        hs_test_register(#name, hs_fill_##name);                      \
    }                                                                 \
    static void hs_fill_##name(TCase *tc)
#define HS_TEST(fn) tcase_add_test(tc, fn)
#define HS_LOOP_TEST(fn, from, to) tcase_add_loop_test(tc, fn, from, to)

/* Directory of the real traces (HOLOSCOPE_TRACES, else ../shared/traces), or NULL where there are none: tests that
 * use them then pass without doing anything, as the repository must be testable without them. */
const char *hs_test_traces(void);
const char *hs_test_binary(void);   /* the program under test, HOLOSCOPE_BIN */
const char *hs_test_gentrace(void); /* the generator, HOLOSCOPE_GENTRACE */
char *hs_test_tmpdir(void);         /* a fresh directory under $TMPDIR; removed by hs_test_rmdir; free() it */
void hs_test_rmdir(const char *dir);

#endif
