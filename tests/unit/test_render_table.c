/* Tables as text. The expected strings are written by hand from the formats' rules (RFC 8259, RFC 4180, GFM). */
#include "render/render.h"
#include "render/table_text.h"
#include "render/value.h"
#include "tests/unit/test.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

static const struct hs_column_spec columns[] = {
    {"name", HS_T_TEXT, "", "a name"}, {"n", HS_T_INT, "1", "a count"},         {"t_us", HS_T_TIME, "us", "a time"},
    {"x", HS_T_REAL, "1", "a real"},   {"p_pct", HS_T_PCT, "percent", "a pct"}, {"b", HS_T_BOOL, "", "a switch"},
    {"j", HS_T_JSON, "", "some JSON"},
};
static const struct hs_envelope envelope = {"demo", "my run", "{\"px\":5}"};
static struct hs_table t;
static struct hs_buf out;

static void row(struct hs_str name, int64_t n, int64_t ns, double x, double pct, bool b, const char *json)
{
    hs_table_row(&t);
    hs_cell_text(&t, name);
    hs_cell_i64(&t, n);
    hs_cell_ns(&t, ns);
    hs_cell_f64(&t, x);
    hs_cell_f64(&t, pct);
    hs_cell_bool(&t, b);
    hs_cell_cstr(&t, json);
}

static void setup(void)
{
    hs_table_init(&t, columns, 7);
    out = (struct hs_buf)HS_BUF_INIT(1 << 20);
}

static void finish(void)
{
    hs_table_free(&t);
    hs_buf_free(&out);
}

static void render(enum hs_format f)
{
    struct hs_err err = HS_ERR_INIT;
    ck_assert_msg(!hs_render_table(&t, &envelope, f, &out, &err), "%s", err.text);
}

#define COLUMNS                                                                            \
    "\"columns\":[{\"name\":\"name\",\"type\":\"text\",\"unit\":\"\",\"doc\":\"a name\"}," \
    "{\"name\":\"n\",\"type\":\"integer\",\"unit\":\"1\",\"doc\":\"a count\"},"            \
    "{\"name\":\"t_us\",\"type\":\"time\",\"unit\":\"us\",\"doc\":\"a time\"},"            \
    "{\"name\":\"x\",\"type\":\"real\",\"unit\":\"1\",\"doc\":\"a real\"},"                \
    "{\"name\":\"p_pct\",\"type\":\"percent\",\"unit\":\"percent\",\"doc\":\"a pct\"},"    \
    "{\"name\":\"b\",\"type\":\"boolean\",\"unit\":\"\",\"doc\":\"a switch\"},"            \
    "{\"name\":\"j\",\"type\":\"json\",\"unit\":\"\",\"doc\":\"some JSON\"}]"

START_TEST(records)
{
    setup();
    row(HS_STR("k<int>"), 3, 1234567, 0.1, 100.0 / 3, true, "[1,\"<\"]");
    row(HS_STR("\xff"), (1LL << 53) + 1, -5, NAN, INFINITY, false, NULL);
    hs_table_note(&t, "a & b");
    render(HS_F_RECORDS);
    ck_assert_str_eq(out.p, "{\"analysis\":\"demo\",\"run\":\"my run\",\"params\":{\"px\":5}," COLUMNS ",\"rows\":["
                            "{\"name\":\"k\\u003cint\\u003e\",\"n\":3,\"t_us\":1234.567,\"x\":0.1,\"p_pct\":33.3333,"
                            "\"b\":true,\"j\":[1,\"\\u003c\"]},"
                            "{\"name\":\"\xef\xbf\xbd\",\"n\":\"9007199254740993\",\"t_us\":-0.005,\"x\":null,\"p_"
                            "pct\":null,\"b\":false,\"j\":null}],"
                            "\"notes\":[\"a \\u0026 b\"]}\n");
    finish();
}
END_TEST

START_TEST(by_column)
{
    setup();
    row(HS_STR("a"), 1, 1000, 2.5, 50, true, "{}");
    row(HS_STR("b"), 2, 1500, -0.0, -0.00001, false, "3");
    render(HS_F_COLUMNS);
    ck_assert_str_eq(out.p, "{\"analysis\":\"demo\",\"run\":\"my run\",\"params\":{\"px\":5}," COLUMNS ",\"data\":["
                            "[\"a\",\"b\"],[1,2],[1,1.5],[2.5,0],[50,0],[true,false],[{},3]],\"notes\":[]}\n");
    finish();
}
END_TEST

START_TEST(csv)
{
    setup();
    row(HS_STR("=cmd|' /C calc'!A0"), -3, -1500, 1e300, 12.5, true, "[1,2]");
    row(HS_STR("say \"hi\", you"), 1, 0, 0, 0, false, NULL);
    row(HS_STR("-a\nb"), 1, 1, 0, 0, false, "-5");
    render(HS_F_CSV);
    ck_assert_str_eq(out.p, "name,n,t_us,x,p_pct,b,j\r\n"
                            "'=cmd|' /C calc'!A0,-3,-1.5,1e+300,12.5,true,\"[1,2]\"\r\n"
                            "\"say \"\"hi\"\", you\",1,0,0,0,false,\r\n"
                            "\"'-a\nb\",1,0.001,0,0,false,-5\r\n");
    finish();
}
END_TEST

START_TEST(markdown)
{
    setup();
    row(HS_STR("plain name"), 1, 1000, 1, 50, true, NULL);
    row(HS_STR("k<a|b>`c`\n"), 1, 1000, 1, 50, true, NULL);
    hs_table_note(&t, "something is missing");
    render(HS_F_MD);
    ck_assert_str_eq(out.p, "| name | n | t_us | x | p_pct | b | j |\n"
                            "| --- | ---: | ---: | ---: | ---: | ---: | --- |\n"
                            "| plain name | 1 | 1 | 1 | 50 | true |  |\n"
                            "| `k<a\\|b>'c' ` | 1 | 1 | 1 | 50 | true |  |\n"
                            "\n- something is missing\n");
    finish();
}
END_TEST

START_TEST(hostile_text_is_valid_json_and_no_html)
{
    setup();
    char all[256];
    for (int i = 0; i < 256; i++)
        all[i] = (char)i;
    row(hs_str(all, sizeof all), INT64_MIN, INT64_MIN, 1e308, 1e308, true, "\"</script>\xc3\x28\"");
    render(HS_F_RECORDS);
    json_error_t e;
    json_t *j = json_loadb(out.p, out.n, JSON_ALLOW_NUL, &e);
    ck_assert_msg(j != NULL, "%s", e.text);
    ck_assert_ptr_null(strchr(out.p, '<'));
    json_t *first = json_array_get(json_object_get(j, "rows"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(first, "n")), "-9223372036854775808");
    ck_assert_str_eq(json_string_value(json_object_get(first, "t_us")), "-9223372036854775.808");
    json_decref(j);
    finish();
}
END_TEST

START_TEST(an_answer_over_the_ceiling_is_an_error)
{
    struct hs_err err = HS_ERR_INIT;
    setup();
    for (int i = 0; i < 100; i++)
        row(HS_STR("x"), 1, 1, 1, 1, true, NULL);
    for (int f = HS_F_RECORDS; f <= HS_F_MD; f++) {
        struct hs_buf small = HS_BUF_INIT(100);
        ck_assert_int_eq(hs_render_table(&t, &envelope, (enum hs_format)f, &small, &err), HS_ELIMIT);
        hs_buf_free(&small);
    }
    finish();
}
END_TEST

START_TEST(formats_have_names)
{
    ck_assert_int_eq(hs_format_parse("records"), HS_F_RECORDS);
    ck_assert_int_eq(hs_format_parse("columns"), HS_F_COLUMNS);
    ck_assert_int_eq(hs_format_parse("csv"), HS_F_CSV);
    ck_assert_int_eq(hs_format_parse("md"), HS_F_MD);
    ck_assert_int_eq(hs_format_parse("xml"), -1);
    ck_assert_int_eq(hs_format_parse(NULL), -1);
    ck_assert_str_eq(hs_format_content_type(HS_F_RECORDS), "application/json");
}
END_TEST

static const struct {
    double v;
    const char *text;
} percentages[] = {{0, "0"},       {100, "100"},      {33.33333, "33.3333"}, {12.50004, "12.5"},
                   {0.00004, "0"}, {99.99999, "100"}, {120, "120"}};

START_TEST(percentages_have_up_to_four_decimals)
{
    struct hs_buf b = HS_BUF_INIT(400);
    hs_put_pct(&b, percentages[_i].v);
    ck_assert_str_eq(b.p, percentages[_i].text);
    hs_buf_free(&b);
}
END_TEST

HS_SUITE(render_table)
{
    HS_TEST(records);
    HS_TEST(by_column);
    HS_TEST(csv);
    HS_TEST(markdown);
    HS_TEST(hostile_text_is_valid_json_and_no_html);
    HS_TEST(an_answer_over_the_ceiling_is_an_error);
    HS_TEST(formats_have_names);
    HS_LOOP_TEST(percentages_have_up_to_four_decimals, 0, (int)(sizeof percentages / sizeof percentages[0]));
}
