#include "analysis/registry.h"
#include "base/json.h"
#include "tests/unit/fake_view.h"
#include "tests/unit/test.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const struct hs_param_spec specs[] = {
    {"count", HS_P_INT, "1", "5", 1, 9, NULL, "an integer"},
    {"share", HS_P_REAL, "1", NULL, 0, 1, NULL, "a real"},
    {"flag", HS_P_BOOL, "", "true", 0, 0, NULL, "a switch"},
    {"word", HS_P_TEXT, "", NULL, 0, 0, NULL, "a text"},
    {"pick", HS_P_CHOICE, "", NULL, 0, 0, "red|green", "a choice"},
};
static struct hs_params *p;
static struct hs_err err;

static void setup(void)
{
    hs_err_clear(&err);
    ck_assert_int_eq(hs_params_new(&p, specs, sizeof specs / sizeof specs[0], &err), 0);
}

static void good(const char *name, const char *value)
{
    ck_assert_msg(!hs_params_set(p, name, value, &err), "%s=%s: %s", name, value, err.text);
}

START_TEST(values_come_out_typed)
{
    setup();
    ck_assert_int_eq(hs_param_i64(p, "count"), 5);
    ck_assert(hs_param_has(p, "count") && !hs_param_given(p, "count"));
    ck_assert(!hs_param_has(p, "share"));
    ck_assert_ptr_null(hs_param_text(p, "word"));
    good("count", "9");
    good("share", "2.5e-1");
    good("flag", "no");
    good("word", "a b");
    good("pick", "green");
    good("rank", "7,2,4-6,2");
    good("from", "1712195495519689.123");
    good("to", "-0.5");
    ck_assert_int_eq(hs_param_i64(p, "count"), 9);
    ck_assert(hs_param_given(p, "count"));
    ck_assert_double_eq(hs_param_f64(p, "share"), 0.25);
    ck_assert(!hs_param_bool(p, "flag"));
    ck_assert_str_eq(hs_param_text(p, "word"), "a b");
    ck_assert_str_eq(hs_param_text(p, "pick"), "green");
    ck_assert_int_eq(hs_param_i64(p, "from"), INT64_C(1712195495519689123)); /* a double would lose the last digits */
    ck_assert_int_eq(hs_param_i64(p, "to"), -500);
    size_t n;
    const int64_t *ranks = hs_param_list(p, "rank", &n);
    static const int64_t want[] = {2, 4, 5, 6, 7};
    ck_assert_uint_eq(n, 5);
    ck_assert(!memcmp(ranks, want, sizeof want));
    good("count", ""); /* an empty form field: back to the default */
    ck_assert_int_eq(hs_param_i64(p, "count"), 5);
    ck_assert(!hs_param_given(p, "count"));
    hs_params_free(p);
}
END_TEST

static const struct {
    const char *name, *value, *part;
} bad_values[] = {
    {"count", "10", "outside 1..9"},
    {"count", "x", "not an integer"},
    {"count", "5 ", "not an integer"},
    {"count", "+5", "not an integer"},
    {"count", "99999999999999999999", "not an integer"},
    {"share", "nan", "not a number"},
    {"share", "inf", "not a number"},
    {"share", "0x1p3", "not a number"},
    {"share", "2", "outside 0..1"},
    {"flag", "maybe", "true, false"},
    {"pick", "re", "red|green"},
    {"pick", "red|green", "red|green"},
    {"rank", "1,,2", "integers"},
    {"rank", "1,", "integers"},
    {"rank", "5-4", "integers"},
    {"rank", "0-99999999", "more than"},
    {"from", "1.2345", "microseconds"},
    {"from", "1e6", "microseconds"},
    {"from", ".5", "microseconds"},
    {"from", "1.2.3", "microseconds"},
    {"from", "9999999999999999999", "292 years"},
    {"compat", "htb", "hta"},
    {"colour", "1", "there are count, share, flag, word, pick, rank, step, from, to, compat"},
};

START_TEST(bad_values_are_refused_with_what_is_allowed)
{
    setup();
    int rc = hs_params_set(p, bad_values[_i].name, bad_values[_i].value, &err);
    ck_assert_int_eq(rc, HS_EUSAGE);
    ck_assert_msg(strstr(err.text, bad_values[_i].part) != NULL, "%s", err.text);
    ck_assert_int_eq(hs_param_i64(p, "count"), 5); /* nothing changed */
    hs_params_free(p);
}
END_TEST

START_TEST(two_spellings_of_one_question_are_one)
{
    struct hs_buf a = HS_BUF_INIT(1000), b = HS_BUF_INIT(1000);
    setup();
    good("word", "x&y=z");
    good("from", "1.500");
    good("rank", "3,1,2");
    hs_params_canonical(p, &a);
    hs_params_free(p);
    setup();
    good("rank", "1-3");
    good("from", "1.5");
    good("word", "x&y=z");
    good("count", "5");
    hs_params_canonical(p, &b);
    ck_assert_str_eq(a.p, b.p);
    ck_assert_str_eq(a.p, "count=5&flag=true&from=1.5&rank=1,2,3&word=x%26y%3Dz");
    hs_buf_clear(&a);
    struct hs_json j = HS_JSON_INIT(&a);
    hs_params_json(p, &j);
    ck_assert_str_eq(a.p, "{\"count\":5,\"flag\":true,\"from\":1.5,\"rank\":[1,2,3],\"word\":\"x\\u0026y=z\"}");
    hs_params_free(p);
    hs_buf_free(&a);
    hs_buf_free(&b);
}
END_TEST

START_TEST(every_entry_is_complete_and_describes_itself)
{
    for (size_t i = 0; hs_analyses[i]; i++) {
        const struct hs_analysis *a = hs_analyses[i];
        struct hs_buf out = HS_BUF_INIT(1 << 20);
        struct hs_json j = HS_JSON_INIT(&out);
        json_error_t e;
        ck_assert_ptr_eq(hs_analysis_find(a->name), a);
        ck_assert(a->name && a->summary && a->doc && a->version > 0 && a->ncolumns && a->run);
        ck_assert_uint_eq(strspn(a->name, "abcdefghijklmnopqrstuvwxyz-0123456789"), strlen(a->name));
        hs_analysis_describe(a, &j);
        json_t *d = json_loads(out.p, 0, &e);
        ck_assert_msg(d != NULL, "%s: %s", a->name, e.text);
        ck_assert_str_eq(json_string_value(json_object_get(d, "name")), a->name);
        ck_assert_uint_eq(json_array_size(json_object_get(d, "columns")), a->ncolumns);
        ck_assert_uint_eq(json_array_size(json_object_get(d, "params")), a->nparams + hs_common_nparams);
        for (size_t c = 0; c < a->ncolumns; c++) {
            const char *name = a->columns[c].name, *end = name + strlen(name);
            ck_assert_msg(*a->columns[c].doc, "%s.%s has no doc", a->name, name);
            ck_assert_int_eq(a->columns[c].type == HS_T_TIME, strlen(name) > 3 && !strcmp(end - 3, "_us"));
            ck_assert_int_eq(a->columns[c].type == HS_T_PCT, strlen(name) > 4 && !strcmp(end - 4, "_pct"));
        }
        json_decref(d);
        hs_buf_free(&out);
    }
    ck_assert_ptr_null(hs_analysis_find("no-such"));
}
END_TEST

static struct fake f;

START_TEST(usage_errors_of_a_run)
{
    fake_init(&f, 0);
    struct hs_run *run = fake_run(&f, 1);
    ck_assert_int_eq(fake_analyze_fails(run, "quality", "compat=hta", &err), HS_EUSAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "not there for quality"));
    ck_assert_int_eq(fake_analyze_fails(run, "temporal", "from=5&to=5", &err), HS_EUSAGE);
    ck_assert_int_eq(fake_analyze_fails(run, "temporal", "px=5", &err), HS_EUSAGE);
}
END_TEST

START_TEST(every_analysis_answers_an_empty_run_and_an_empty_trace)
{
    struct hs_run none = {.name = "none"}, other = {.name = "other"};
    for (size_t i = 0; hs_analyses[i]; i++) {
        none.other = hs_analyses[i]->two_runs ? &other : NULL; /* nothing compared with nothing */
        struct hs_table t = fake_analyze(&none, hs_analyses[i]->name, "");
        ck_assert_msg(!t.rows && t.notes.n, "%s", hs_analyses[i]->name);
        hs_table_free(&t);
        fake_init(&f, 0);
        struct hs_run *one = fake_run(&f, 1), both = *one;
        both.other = hs_analyses[i]->two_runs ? one : NULL;
        t = fake_analyze(&both, hs_analyses[i]->name, "");
        ck_assert_msg(t.rows || t.notes.n, "%s", hs_analyses[i]->name);
        hs_table_free(&t);
    }
}
END_TEST

START_TEST(two_traces_of_one_rank_are_told)
{
    static struct fake two[2];
    fake_init(&two[0], 4);
    fake_init(&two[1], 4);
    struct hs_table t = fake_analyze(fake_run(two, 2), "overview", "");
    ck_assert_uint_eq(t.rows, 2);
    ck_assert(table_has_note(&t, "Rank 4 stands in more than one trace"));
    hs_table_free(&t);
    t = fake_analyze(fake_run(two, 2), "quality", "");
    ck_assert_str_eq(table_text(&t, t.rows - 1, "kind"), "clocks-not-aligned");
    ck_assert_str_eq(table_text(&t, t.rows - 2, "kind"), "repeated-rank");
    ck_assert_int_eq(table_i64(&t, t.rows - 2, "count"), 1);
    ck_assert(table_null(&t, t.rows - 2, "rank"));
    hs_table_free(&t);
}
END_TEST

HS_SUITE(analysis_registry)
{
    HS_TEST(values_come_out_typed);
    HS_LOOP_TEST(bad_values_are_refused_with_what_is_allowed, 0, (int)(sizeof bad_values / sizeof bad_values[0]));
    HS_TEST(two_spellings_of_one_question_are_one);
    HS_TEST(every_entry_is_complete_and_describes_itself);
    HS_TEST(usage_errors_of_a_run);
    HS_TEST(every_analysis_answers_an_empty_run_and_an_empty_trace);
    HS_TEST(two_traces_of_one_rank_are_told);
}
