#include "tests/unit/test.h"
#include "trace/table.h"

#include <math.h>
#include <string.h>

static const struct hs_column_spec columns[] = {{"name", HS_T_TEXT, "", ""}, {"x", HS_T_REAL, "1", ""}};

START_TEST(cells_keep_what_they_were_given)
{
    struct hs_table t;
    struct hs_err err = HS_ERR_INIT;
    char text[] = "a\0b";
    hs_table_init(&t, columns, 2);
    hs_table_row(&t);
    hs_cell_text(&t, hs_str(text, 3));
    hs_cell_f64(&t, 1.5);
    text[0] = 'z'; /* the table has its own copy */
    hs_table_row(&t);
    hs_cell_cstr(&t, NULL);
    hs_cell_f64(&t, INFINITY);
    ck_assert_uint_eq(t.rows, 2);
    ck_assert_uint_eq(hs_table_cell(&t, 0, 0)->len, 3);
    ck_assert(!memcmp(hs_table_cell(&t, 0, 0)->s, "a\0b", 3));
    ck_assert_double_eq(hs_table_cell(&t, 0, 1)->f, 1.5);
    ck_assert_uint_eq(hs_table_cell(&t, 1, 0)->kind, HS_C_NULL);
    ck_assert_uint_eq(hs_table_cell(&t, 1, 1)->kind, HS_C_NULL);
    ck_assert_int_eq(hs_table_check(&t, &err), HS_OK);
    hs_table_free(&t);
}
END_TEST

START_TEST(a_full_table_says_so_and_keeps_quiet)
{
    struct hs_table t;
    struct hs_err err = HS_ERR_INIT;
    hs_table_init(&t, columns, 2);
    t.cells.max = 3;
    for (int i = 0; i < 5; i++) {
        hs_table_row(&t);
        hs_cell_cstr(&t, "x");
        hs_cell_f64(&t, i);
    }
    ck_assert_int_eq(hs_table_check(&t, &err), HS_ELIMIT);
    ck_assert_uint_le(t.cells.n, 3);
    hs_table_free(&t);
    hs_table_init(&t, columns, 2);
    t.text.max = 8;
    hs_table_row(&t);
    hs_cell_cstr(&t, "longer than eight bytes");
    hs_cell_f64(&t, 1);
    ck_assert_int_eq(hs_table_check(&t, &err), HS_ELIMIT);
    hs_table_free(&t);
}
END_TEST

START_TEST(notes_are_capped)
{
    struct hs_table t;
    hs_table_init(&t, columns, 2);
    for (int i = 0; i < 3000; i++)
        hs_table_note(&t, "note %d", i);
    ck_assert_uint_eq(t.notes.n, t.notes.max);
    ck_assert_str_eq(t.notes.p[7], "note 7");
    hs_table_free(&t);
}
END_TEST

HS_SUITE(trace_table)
{
    HS_TEST(cells_keep_what_they_were_given);
    HS_TEST(a_full_table_says_so_and_keeps_quiet);
    HS_TEST(notes_are_capped);
}
