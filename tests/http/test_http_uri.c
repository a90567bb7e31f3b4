/* Request targets: what is decoded, what is refused. */
#include "http/uri.h"
#include "store/store.h"

#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

static int parse(struct hs_uri *u, const char *target)
{
    struct hs_err err = HS_ERR_INIT;
    int rc = hs_uri_parse(u, target, &err);
    ck_assert_msg((rc == 0) == (err.text[0] == 0), "%s: status %d, text '%s'", target, rc, err.text);
    return rc;
}

START_TEST(path_and_query_are_decoded_apart)
{
    struct hs_uri u;
    ck_assert_int_eq(parse(&u, "/api/v1/runs/caf%C3%A9%20%26%20co?rank=0%2C1&name=a+b%2Fc&flag&empty="), HS_OK);
    ck_assert_uint_eq(u.nsegs, 4);
    ck_assert_str_eq(u.segs[2], "runs");
    ck_assert_str_eq(u.segs[3], "caf\xc3\xa9 & co");
    ck_assert_str_eq(hs_uri_query(&u, "rank"), "0,1");
    ck_assert_str_eq(hs_uri_query(&u, "name"), "a b/c"); /* a slash is a path's business only */
    ck_assert_str_eq(hs_uri_query(&u, "flag"), "");
    ck_assert_str_eq(hs_uri_query(&u, "empty"), "");
    ck_assert_ptr_null(hs_uri_query(&u, "other"));
    hs_uri_free(&u);
}
END_TEST

START_TEST(a_plus_in_a_path_is_a_plus)
{
    struct hs_uri u;
    ck_assert_int_eq(parse(&u, "/a+b"), HS_OK);
    ck_assert_str_eq(u.segs[0], "a+b");
    hs_uri_free(&u);
    ck_assert_int_eq(parse(&u, "/"), HS_OK);
    ck_assert_uint_eq(u.nsegs, 0);
    hs_uri_free(&u);
}
END_TEST

static const char *const bad_targets[] = {
    "",          "*",       "http://x/",       "//",      "/a//b",  "/a/",        "/.",    "/..",    "/a/../b",
    "/%2e%2e/b", "/%2E/b",  "/a%2fb",          "/a%2Fb",  "/a%00b", "/a%0ab",     "/a%7f", "/a%",    "/a%4",
    "/a%zz",     "/a%g1",   "/a%1g",           "/%ff%fe", "/%c3",   "/%ed%a0%80", "/?a=%", "/?a=%0", "/?%zz=1",
    "/?a=%ff",   "/?a=%00", "/%c0%ae%c0%ae/x",
};

START_TEST(bad_targets_are_refused)
{
    struct hs_uri u;
    ck_assert_msg(parse(&u, bad_targets[_i]) != HS_OK, "accepted: %s", bad_targets[_i]);
    hs_uri_free(&u);
}
END_TEST

START_TEST(limits_of_a_target_hold)
{
    struct hs_uri u;
    char *t = malloc(HS_URI_MAX + 2);
    memset(t, 'a', HS_URI_MAX + 1);
    t[0] = '/';
    t[HS_URI_MAX + 1] = 0;
    ck_assert_int_ne(parse(&u, t), HS_OK);
    hs_uri_free(&u);
    t[HS_URI_MAX] = 0;
    ck_assert_int_eq(parse(&u, t), HS_OK);
    hs_uri_free(&u);
    free(t);
    ck_assert_int_ne(parse(&u, "/1/2/3/4/5/6/7/8/9"), HS_OK);
    hs_uri_free(&u);
    char q[4 * HS_URI_PAIRS + 8] = "/?";
    for (unsigned i = 0; i < HS_URI_PAIRS; i++)
        strcat(q, "a=1&");
    ck_assert_int_eq(parse(&u, q), HS_OK);
    ck_assert_uint_eq(u.npairs, HS_URI_PAIRS);
    hs_uri_free(&u);
    strcat(q, "b");
    ck_assert_int_ne(parse(&u, q), HS_OK);
    hs_uri_free(&u);
}
END_TEST

START_TEST(run_names_have_rules)
{
    char longest[202];
    memset(longest, 'x', sizeof longest);
    longest[200] = 0;
    ck_assert_int_eq(hs_run_name_check(longest, NULL), HS_OK);
    longest[200] = 'x';
    longest[201] = 0;
    ck_assert_int_ne(hs_run_name_check(longest, NULL), HS_OK);
    ck_assert_int_eq(hs_run_name_check("Lauf \xe2\x84\x96 7: a & b?", NULL), HS_OK);
    ck_assert_int_ne(hs_run_name_check("", NULL), HS_OK);
    ck_assert_int_ne(hs_run_name_check("a/b", NULL), HS_OK);
    ck_assert_int_ne(hs_run_name_check("..", NULL), HS_OK);
    ck_assert_int_ne(hs_run_name_check("a\nb", NULL), HS_OK);
    ck_assert_int_ne(hs_run_name_check("\xff", NULL), HS_OK);
}
END_TEST

static const struct {
    const char *path, *name;
} named[] = {
    {"/data/runs/monday/", "monday"},
    {"trace.json.gz", "trace"},
    {"a/b/rank0.pt.trace.json.gz", "rank0"},
    {"x.json.gz.tmp", "x"},
    {".json", ".json"},
    {"-", "-"},
    {"/", "trace"},
    {"", "trace"},
    {"..", "trace"},
    {"C:\\traces\\w.JSON", "w"},
    {"a\nb.json", "a_b"},
    {"\xff.json", "\xef\xbf\xbd"},
};

START_TEST(files_and_folders_name_runs)
{
    char *name = hs_run_name_of(named[_i].path);
    ck_assert_str_eq(name, named[_i].name);
    ck_assert_int_eq(hs_run_name_check(name, NULL), HS_OK);
    free(name);
}
END_TEST

START_TEST(encoding_and_decoding_are_inverse)
{
    const char *text = "a b/c%d?e&f=\xc3\xa9\x7f~";
    struct hs_buf b = HS_BUF_INIT(256);
    hs_buf_puts(&b, "/?q=");
    hs_uri_encode(&b, text);
    ck_assert_str_eq(b.p, "/?q=a%20b%2Fc%25d%3Fe%26f%3D%C3%A9%7F~");
    struct hs_uri u;
    ck_assert_int_eq(parse(&u, b.p), HS_OK);
    ck_assert_str_eq(hs_uri_query(&u, "q"), text);
    hs_uri_free(&u);
    hs_buf_free(&b);
}
END_TEST

HS_SUITE(http_uri)
{
    HS_TEST(path_and_query_are_decoded_apart);
    HS_TEST(a_plus_in_a_path_is_a_plus);
    HS_LOOP_TEST(bad_targets_are_refused, 0, (int)(sizeof bad_targets / sizeof bad_targets[0]));
    HS_TEST(limits_of_a_target_hold);
    HS_TEST(run_names_have_rules);
    HS_LOOP_TEST(files_and_folders_name_runs, 0, (int)(sizeof named / sizeof named[0]));
    HS_TEST(encoding_and_decoding_are_inverse);
}
