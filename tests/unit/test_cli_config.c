/* The configuration: the example file against the defaults, the reader's errors with their lines. */
#include "cli/config.h"
#include "cli/toml.h"

#include "tests/unit/test.h"

#include <stdio.h>
#include <string.h>

static void same_list(const struct hs_config_list *a, const struct hs_config_list *b)
{
    ck_assert_uint_eq(a->n, b->n);
    for (size_t i = 0; i < a->n; i++)
        ck_assert_str_eq(a->p[i], b->p[i]);
}

START_TEST(the_example_holds_the_defaults)
{
    struct hs_config def, got;
    struct hs_err err = HS_ERR_INIT;
    hs_config_init(&def);
    hs_config_init(&got);
    /* so that a key the example forgets is seen: it would keep these */
    memset(&got.server, 0, sizeof got.server);
    memset(&got.store, 0, sizeof got.store);
    memset(&got.ingest, 0, sizeof got.ingest);
    memset(&got.sql, 0, sizeof got.sql);
    got.server.listen = got.server.web_dir = got.store.dir = got.log.level = "unset";
    got.server.threads = got.server.workers = -1;
    got.server.cors_origins.n = got.server.allowed_hosts.n = got.ingest.communication.n = 99;
    ck_assert_msg(!hs_config_read(&got, "config.example.toml", &err), "%s", err.text);
    ck_assert_str_eq(got.server.listen, def.server.listen);
    ck_assert_str_eq(got.server.web_dir, def.server.web_dir);
    ck_assert_int_eq(got.server.threads, def.server.threads);
    ck_assert_int_eq(got.server.workers, def.server.workers);
    ck_assert_int_eq(got.server.uploads, def.server.uploads);
    ck_assert_int_eq(got.server.max_connections, def.server.max_connections);
    ck_assert_int_eq(got.server.max_upload, def.server.max_upload);
    ck_assert_int_eq(got.server.idle_timeout_s, def.server.idle_timeout_s);
    ck_assert_int_eq(got.server.grace_s, def.server.grace_s);
    ck_assert_int_eq(got.server.cache_bytes, def.server.cache_bytes);
    same_list(&got.server.cors_origins, &def.server.cors_origins);
    same_list(&got.server.allowed_hosts, &def.server.allowed_hosts);
    ck_assert_str_eq(got.store.dir, def.store.dir);
    ck_assert_int_eq(got.store.keep_original, def.store.keep_original);
    ck_assert_int_eq(got.store.view_bytes, def.store.view_bytes);
    ck_assert_int_eq(got.ingest.bytes_in, def.ingest.bytes_in);
    ck_assert_int_eq(got.ingest.bytes_json, def.ingest.bytes_json);
    ck_assert_int_eq(got.ingest.ratio, def.ingest.ratio);
    ck_assert_int_eq(got.ingest.events, def.ingest.events);
    ck_assert_int_eq(got.ingest.depth, def.ingest.depth);
    ck_assert_int_eq(got.ingest.string, def.ingest.string);
    ck_assert_int_eq(got.ingest.names, def.ingest.names);
    ck_assert_int_eq(got.ingest.name_bytes, def.ingest.name_bytes);
    ck_assert_int_eq(got.ingest.members, def.ingest.members);
    same_list(&got.ingest.communication, &def.ingest.communication);
    ck_assert_int_eq(got.sql.rows, def.sql.rows);
    ck_assert_int_eq(got.sql.bytes, def.sql.bytes);
    ck_assert_int_eq(got.sql.time_ms, def.sql.time_ms);
    ck_assert_str_eq(got.log.level, def.log.level);
    hs_config_free(&got);
    hs_config_free(&def);
}
END_TEST

START_TEST(settings_of_every_kind_are_read)
{
    static const char text[] = "# a comment\r\n"
                               "[server] # another\n"
                               "listen='[::1]:0'\n"
                               "\tmax_upload = 1_000 # bytes\n"
                               "cors_origins = [\n  \"https://a\", # one\n\n  'https://b\\',\n]\n"
                               "[store]\nkeep_original = false\ndir = \"a\\\"b\\\\c\\td\"\n"
                               "[log]\nlevel = \"warn\"";
    struct hs_config c;
    struct hs_err err = HS_ERR_INIT;
    hs_config_init(&c);
    ck_assert_msg(!hs_config_parse(&c, text, sizeof text - 1, "t", &err), "%s", err.text);
    ck_assert_str_eq(c.server.listen, "[::1]:0");
    ck_assert_int_eq(c.server.max_upload, 1000);
    ck_assert_uint_eq(c.server.cors_origins.n, 2);
    ck_assert_str_eq(c.server.cors_origins.p[0], "https://a");
    ck_assert_str_eq(c.server.cors_origins.p[1], "https://b\\"); /* a literal string has no escapes */
    ck_assert_int_eq(c.store.keep_original, false);
    ck_assert_str_eq(c.store.dir, "a\"b\\c\td");
    ck_assert_int_eq(hs_config_log_level(&c), HS_LOG_WARN);
    hs_config_free(&c);
}
END_TEST

static const struct {
    const char *text;
    int line;
    const char *says;
} bad[] = {
    {"[server]\n\nlisten = \"x\"\nport = 1\n", 4, "unknown key server.port"},
    {"threads = 1\n", 1, "unknown key threads"},
    {"[nosuch]\nx = 1\n", 2, "unknown key nosuch.x"},
    {"[server]\nthreads = \"2\"\n", 2, "must be an integer"},
    {"[server]\nthreads = 2.0\n", 2, "must be an integer"},
    {"[server]\nthreads = -1\n", 2, "must be from 0 to 256"},
    {"[server]\nthreads = 99999999999999999999\n", 2, "out of range"},
    {"[server]\nthreads = 1_\n", 2, "between two digits"},
    {"[server]\nthreads = _1\n", 2, "between two digits"},
    {"[server]\nthreads = 01\n", 2, "no value"},
    {"[server]\nthreads = \n", 2, "no value"},
    {"[server]\nthreads = 1 2\n", 2, "follows the value"},
    {"[server]\nthreads 1\n", 2, "= is expected"},
    {"[server]\nthreads = 1\nthreads = 1\n", 3, "set twice"},
    {"[server]\nlisten = \"a\n\"\n", 2, "does not end on its line"},
    {"[server]\nlisten = \"a\\q\"\n", 2, "escape"},
    {"[server]\nlisten = \"\xff\"\n", 2, "not UTF-8"},
    {"[server]\nlisten = \"\"\"a\"\"\"\n", 2, "multi-line"},
    {"[server]\nlisten = true\n", 2, "must be a string"},
    {"[server]\ncors_origins = \"x\"\n", 2, "an array of strings"},
    {"[server]\ncors_origins = [1, 2]\n", 2, "an array of strings"},
    {"[server]\ncors_origins = [\"a\", 2]\n", 2, "of one type"},
    {"[server]\ncors_origins = [\n\"a\"\n\"b\"]\n", 4, "comma"},
    {"[server]\ncors_origins = [[]]\n", 2, "arrays in arrays"},
    {"[server]\nx = {a = 1}\n", 2, "inline tables"},
    {"[server\nx = 1\n", 1, "] is expected"},
    {"[[server]]\n", 1, "there is [[mount]]"},
    {"[[mount]\n", 1, "]] is expected"},
    {"[mount]\nname = \"a\"\n", 2, "[[mount]]"},
    {"[[mount]]\nname = \"a:b\"\n", 2, "without colons"},
    {"[[mount]]\nname = \"a\"\npath = \"/x\"\n[[mount]]\nname = \"a\"\n", 5, "two mounts"},
    {"[[mount]]\nplace = \"a\"\n", 2, "unknown key mount.place"},
    {"a.b = 1\n", 1, "dotted"},
    {"[store]\nkeep_original = 1\n", 2, "true or false"},
    {"[log]\nlevel = \"loud\"\n", 2, "one of debug|info|warn|error"},
    {"= 1\n", 1, "a key"},
    {"\"a\" = 1\n", 1, "a key"},
};

START_TEST(mistakes_are_told_with_their_line)
{
    struct hs_config c;
    struct hs_err err = HS_ERR_INIT;
    char place[32];
    hs_config_init(&c);
    ck_assert_int_eq(hs_config_parse(&c, bad[_i].text, strlen(bad[_i].text), "config.toml", &err), HS_EINPUT);
    snprintf(place, sizeof place, "config.toml:%d: ", bad[_i].line);
    ck_assert_msg(!strncmp(err.text, place, strlen(place)), "'%s' does not begin with '%s'", err.text, place);
    ck_assert_msg(strstr(err.text, bad[_i].says) != NULL, "'%s' does not say '%s'", err.text, bad[_i].says);
    hs_config_free(&c);
}
END_TEST

START_TEST(random_text_never_harms)
{
    static const char alphabet[] = "[]=\"'\\_-+.0123456789eabtruefls#\n\r\t ,servlit{}";
    unsigned seed = 99;
    char text[200];
    for (int round = 0; round < 5000; round++) {
        struct hs_config c;
        hs_config_init(&c);
        for (size_t i = 0; i < sizeof text; i++) {
            seed = seed * 1103515245u + 12345u;
            text[i] = alphabet[(seed >> 16) % (sizeof alphabet - 1)];
        }
        hs_config_parse(&c, text, sizeof text, "t", NULL);
        hs_config_free(&c);
    }
}
END_TEST

HS_SUITE(cli_config)
{
    HS_TEST(the_example_holds_the_defaults);
    HS_TEST(settings_of_every_kind_are_read);
    HS_LOOP_TEST(mistakes_are_told_with_their_line, 0, (int)(sizeof bad / sizeof bad[0]));
    HS_TEST(random_text_never_harms);
}
