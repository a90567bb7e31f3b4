/* SQL over one trace: a small trace written by hand, answers computed by hand; push-down against a plain reading; what is
 * refused, and the limits. */
#include "ingest/import.h"
#include "store/sql.h"
#include "store/sql_budget.h"
#include "tests/unit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Events 0..9. Device work: 3 (launched by 2) and 5 (launched by 4). */
static const char small[] =
    "{\"schemaVersion\": 1, \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 3, \"world_size\": 8}, "
    "\"traceEvents\": [\n"
    "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#5\",\"pid\":10,\"tid\":11,\"ts\":1000,\"dur\":"
    "500},\n"
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":10,\"tid\":11,\"ts\":1010.5,\"dur\":50,"
    "\"args\":{\"External id\":7,\"Input Dims\":[[2,3],[3,4]]}},\n"
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":10,\"tid\":11,\"ts\":1020,\"dur\":10,"
    "\"args\":{\"correlation\":77}},\n"
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"void gemm<float>(int)\",\"pid\":0,\"tid\":7,\"ts\":1040,\"dur\":20.25,"
    "\"args\":{\"device\":0,\"stream\":7,\"correlation\":77,\"x\":42,\"y\":\"42\",\"z\":null,\"w\":42.0,\"t\":true}},\n"
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaMemcpyAsync\",\"pid\":10,\"tid\":11,\"ts\":1032,\"dur\":9,"
    "\"args\":{\"correlation\":78}},\n"
    "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy HtoD (Pageable -> "
    "Device)\",\"pid\":0,\"tid\":7,\"ts\":1070,\"dur\":5,"
    "\"args\":{\"device\":0,\"stream\":7,\"correlation\":78,\"bytes\":4096}},\n"
    "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\",\"pid\":10,\"tid\":11,\"ts\":1015,\"s\":\"t\","
    "\"args\":{\"Device Type\":1,\"Device Id\":0,\"Addr\":140000000000000,\"Bytes\":-512,\"Total Allocated\":1024,"
    "\"Total Reserved\":2048}},\n"
    "{\"ph\":\"C\",\"name\":\"queue\",\"pid\":0,\"tid\":0,\"ts\":1050,\"args\":{\"depth\":3}},\n"
    "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":10,\"tid\":11,\"args\":{\"name\":\"python\"}},\n"
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::add\",\"pid\":10,\"tid\":\"eleven\",\"ts\":1600,\"dur\":1}\n"
    "]}";

static struct hs_view *open_text(const char *json, struct hs_imported **imported)
{
    struct hs_input_bytes t = {json, strlen(json)};
    struct hs_input in = hs_input_of_bytes(&t, "small.json");
    struct hs_import_options o = {.rank = HS_RANK_AUTO};
    struct hs_err err = HS_ERR_INIT;
    size_t n = 0;
    ck_assert_msg(!hs_import(&in, &o, imported, &n, &err), "%s", err.text);
    ck_assert_uint_eq(n, 1);
    return (*imported)[0].view;
}

/* The answer as text: cells by '|', rows by ';'. Text is in single quotes, so that types show. */
static char *ask(struct hs_view *v, const char *sql, const struct hs_sql_limits *limits, int *rc, struct hs_err *err)
{
    struct hs_table t;
    struct hs_buf b = HS_BUF_INIT(1 << 20);
    hs_table_init(&t, NULL, 0);
    hs_buf_puts(&b, "");
    *rc = hs_sql_run(v, sql, limits, &t, err);
    for (size_t r = 0; !*rc && r < t.rows; r++)
        for (size_t c = 0; c < t.ncolumns; c++) {
            const struct hs_cell *x = hs_table_cell(&t, r, c);
            hs_buf_puts(&b, c ? "|" : r ? ";" : "");
            if (x->kind == HS_C_TEXT) {
                hs_buf_putc(&b, '\'');
                hs_buf_put(&b, x->s, x->len);
                hs_buf_putc(&b, '\'');
            } else if (x->kind == HS_C_I64) {
                hs_buf_put_i64(&b, x->i);
            } else if (x->kind == HS_C_F64) {
                hs_buf_printf(&b, "%.15g", x->f);
            } else {
                hs_buf_puts(&b, "null");
            }
        }
    hs_table_free(&t);
    return b.p;
}

static void check(struct hs_view *v, const char *sql, const char *want)
{
    struct hs_err err = HS_ERR_INIT;
    int rc;
    char *got = ask(v, sql, NULL, &rc, &err);
    ck_assert_msg(!rc, "%s: %s", sql, err.text);
    ck_assert_msg(!strcmp(got, want), "%s:\n got %s\nwant %s", sql, got, want);
    free(got);
}

START_TEST(tables_answer_as_computed_by_hand)
{
    static const char *const asked[][2] = {
        {"SELECT count(*), min(event), max(event) FROM events", "10|0|9"},
        {"SELECT event, ph, cat, name, pid, tid, ts, dur, ts_ns, dur_ns, end_ns, rank FROM events WHERE event = 1",
         "1|'X'|'cpu_op'|'aten::mm'|10|11|1010.5|50|1010500|50000|1060500|3"},
        {"SELECT event, parent, depth, step FROM events WHERE event IN (0, 1, 2, 9)",
         "0|null|0|5;1|0|1|5;2|1|2|5;9|null|0|null"},
        {"SELECT tid FROM events WHERE name = 'aten::add'", "'eleven'"},
        {"SELECT ts, dur, ts_ns, end_ns FROM events WHERE ph = 'M'", "null|null|null|null"},
        {"SELECT ts_ns, dur_ns FROM events WHERE ph = 'i'", "1015000|null"},
        {"SELECT event, device, stream, correlation, launch, class FROM events WHERE class IS NOT NULL",
         "3|0|7|77|2|'compute';5|0|7|78|4|'memcpy'"},
        {"SELECT event, name, short_name, class, device, stream, dur, correlation, launch, launch_ts_ns, "
         "launch_dur_ns, delay_ns, step "
         "FROM kernels",
         "3|'void gemm<float>(int)'|'gemm'|'compute'|0|7|20.25|77|2|1020000|10000|10000|5"},
        {"SELECT event, class, bytes, delay_ns FROM device_work ORDER BY event",
         "3|'compute'|null|10000;5|'memcpy'|4096|29000"},
        {"SELECT event, name, external_id, depth FROM cpu_ops", "1|'aten::mm'|7|1;9|'aten::add'|null|0"},
        {"SELECT event, name, correlation, kernels, delay_ns FROM launches ORDER BY event",
         "2|'cudaLaunchKernel'|77|1|10000;4|'cudaMemcpyAsync'|78|1|29000"},
        {"SELECT event, bytes, addr, device_type, device, total_allocated, total_reserved, ts FROM memory_events",
         "6|-512|140000000000000|1|0|1024|2048|1015"},
        {"SELECT event, name, args ->> '$.depth' FROM counters", "7|'queue'|3"},
        {"SELECT number, name, event, ts_ns, dur_ns FROM steps", "5|'ProfilerStep#5'|0|1000000|500000"},
        {"SELECT cat, ph, count, dur FROM categories WHERE cat = 'cpu_op'", "'cpu_op'|'X'|2|51"},
        {"SELECT json FROM header WHERE key = 'schemaVersion'", "'1'"},
        {"SELECT process FROM threads WHERE pid = 10 AND tid = 11", "'python'"},
        {"SELECT k.name, o.name FROM kernels k JOIN launches l ON l.event = k.launch JOIN cpu_ops o ON o.event = "
         "l.parent",
         "'void gemm<float>(int)'|'aten::mm'"},
        {"SELECT count(*) FROM events a JOIN events b ON b.correlation = a.correlation", "8"},
        {"SELECT event FROM events WHERE parent = 0", "1"},
        {"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4) SELECT sum(i) FROM n;  -- done",
         "10"},
        {"SELECT x'00ff', 1e999, 0.5, '\"'", "'X'00FF''|null|0.5|'\"'"},
    };
    struct hs_imported *im;
    struct hs_view *v = open_text(small, &im);
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++)
        check(v, asked[i][0], asked[i][1]);
    hs_imported_free(im, 1);
}
END_TEST

START_TEST(args_are_json_with_their_types)
{
    struct hs_imported *im;
    struct hs_view *v = open_text(small, &im);
    check(v, "SELECT args ->> '$.Input Dims' FROM cpu_ops WHERE event = 1", "'[[2,3],[3,4]]'");
    check(v, "SELECT args -> '$.Input Dims[1][0]' FROM cpu_ops WHERE event = 1", "'3'");
    check(v, "SELECT args FROM events WHERE event = 3",
          "'{\"device\":0,\"stream\":7,\"correlation\":77,\"x\":42,\"y\":\"42\",\"z\":null,\"w\":42.0,\"t\":true}'");
    check(v, "SELECT args ->> 'x', args ->> 'y', args ->> 'z', args ->> 'w', args -> 'z' FROM kernels",
          "42|'42'|null|42|'null'");
    check(v,
          "SELECT json_type(args, '$.x'), json_type(args, '$.y'), json_type(args, '$.z'), json_type(args, '$.w') FROM "
          "kernels",
          "'integer'|'text'|'null'|'real'");
    check(v, "SELECT key, value, type FROM args WHERE event = 2", "'correlation'|77|'integer'");
    check(v, "SELECT count(*) FROM args WHERE key = 'correlation'", "4");
    check(v, "SELECT args FROM events WHERE event = 0", "null");
    struct hs_table t;
    struct hs_err err = HS_ERR_INIT;
    hs_table_init(&t, NULL, 0);
    ck_assert(!hs_sql_run(v, "SELECT args, event AS e, dur, name FROM kernels", NULL, &t, &err));
    ck_assert(t.ncolumns == 4 && t.columns[0].type == HS_T_JSON && t.columns[1].type == HS_T_INT);
    ck_assert(t.columns[2].type == HS_T_REAL && t.columns[3].type == HS_T_TEXT && !strcmp(t.columns[1].name, "e"));
    hs_table_free(&t);
    hs_imported_free(im, 1);
}
END_TEST

/* ---- push-down: the same question in a form that cannot be pushed down (+column) has the same answer ---- */

static void check_same(struct hs_view *v, const char *what, const char *table, const char *pushed, const char *plain)
{
    struct hs_err err = HS_ERR_INIT;
    char *a = hs_asprintf("SELECT %s FROM %s WHERE %s", what, table, pushed),
         *b = hs_asprintf("SELECT %s FROM %s WHERE %s", what, table, plain);
    int rc;
    char *want = ask(v, b, NULL, &rc, &err);
    ck_assert_msg(!rc, "%s: %s", b, err.text);
    ck_assert_msg(strcmp(want, "0|null") != 0 || strstr(plain, "NULL") || strstr(plain, "none"), "%s finds nothing", b);
    check(v, a, want);
    free(want);
    free(a);
    free(b);
}

/* 150 000 events, so that there are three segments. */
static char *many_events(void)
{
    struct hs_buf b = HS_BUF_INIT(1 << 26);
    hs_buf_puts(&b, "[\n");
    for (int i = 0; i < 150000; i++) {
        if (i % 50000 == 0)
            hs_buf_printf(&b,
                          "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#%d\",\"pid\":1,\"tid\":2,"
                          "\"ts\":%d,\"dur\":400000},\n",
                          i / 50000 + 8, 1000000 + i * 10);
        else
            hs_buf_printf(&b,
                          "{\"ph\":\"%s\",\"cat\":\"%s\",\"name\":\"op "
                          "%d\",\"pid\":1,\"tid\":2,\"ts\":%d.%d,\"dur\":%d,\"args\":{\"correlation\":%d}}%s\n",
                          i % 7 ? "X" : "i", i % 3 ? "cpu_op" : "cuda_runtime", i % 100, 1000000 + i * 10, i % 10,
                          i % 5, i / 2, i == 149999 ? "]" : ",");
    }
    return b.p;
}

START_TEST(push_down_changes_no_answer)
{
    static const char *const asked[][3] = {
        {"events", "event = 70000", "+event = 70000"},
        {"events", "event = '70000'", "+event = 70000"},
        {"events", "event = 70000.0", "+event = 70000"},
        {"events", "event = 7.5", "+event = 7.5 /* none */"},
        {"events", "event = NULL", "+event = NULL"},
        {"events", "event IN (1, 149999, 150000, -1)", "+event IN (1, 149999)"},
        {"events", "ts_ns > 2000000000", "+ts_ns > 2000000000"},
        {"events", "ts_ns >= 1700000000 AND ts_ns < 1900000000", "+ts_ns >= 1700000000 AND +ts_ns < 1900000000"},
        {"events", "ts_ns BETWEEN 1700000000.5 AND 1700100000.25", "+ts_ns BETWEEN 1700000000.5 AND 1700100000.25"},
        {"events", "ts_ns = 1000010100", "+ts_ns = 1000010100"},
        {"events", "ts_ns < '1000100000'", "+ts_ns < 1000100000"},
        {"events", "name = 'op 7'", "+name = 'op 7'"},
        {"events", "name = 'OP 7' COLLATE NOCASE", "lower(name) = 'op 7'"},
        {"events", "name = 'no such op'", "+name = 'none'"},
        {"events", "name IN ('op 7', 'op 8') AND cat = 'cpu_op'", "+name IN ('op 7', 'op 8') AND +cat = 'cpu_op'"},
        {"events", "ph = 'i' AND step = 9", "+ph = 'i' AND +step = 9"},
        {"events", "step = 10 AND name = 'op 50'", "+step = 10 AND +name = 'op 50'"},
        {"events", "correlation = 1234", "+correlation = 1234"},
        {"events", "correlation = 1234 AND event = 2469", "+correlation = 1234 AND +event = 2469"},
        {"events", "correlation IS NULL", "+correlation IS NULL"},
        {"cpu_ops", "name = 'op 7' AND ts_ns < 1100000000", "+name = 'op 7' AND +ts_ns < 1100000000"},
        {"cpu_ops", "event = 70001", "+event = 70001"},
        {"launches", "correlation = 600", "+correlation = 600"},
        {"launches", "event = 1203 OR name = 'op 9'", "+event = 1203 OR +name = 'op 9'"},
        {"launches", "ts_ns > 2400000000", "+ts_ns > 2400000000"},
    };
    struct hs_imported *im;
    char *json = many_events();
    struct hs_view *v = open_text(json, &im);
    free(json);
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++)
        check_same(v, "count(*), sum(event * 3 + 1)", asked[i][0], asked[i][1], asked[i][2]);
    /* Grouped rows: sums of sums, and the same by a column that cannot be grouped so. */
    check(v,
          "SELECT count(*), sum(n), sum(s) = (SELECT sum(event) FROM cpu_ops) FROM (SELECT name, count(*) n, "
          "sum(event) s "
          "FROM cpu_ops GROUP BY name)",
          "100|85712|1");
    check(v,
          "SELECT count(*) FROM (SELECT name, count(*), sum(event) FROM events WHERE ts_ns > 1500000000 AND ph = 'X' "
          "GROUP BY name "
          "EXCEPT SELECT name, count(*), sum(event) FROM events WHERE ts_ns > 1500000000 AND ph = 'X' GROUP BY +name)",
          "0");
    check(v, "SELECT DISTINCT cat FROM events ORDER BY cat", "'cpu_op';'cuda_runtime';'user_annotation'");
    check(v, "SELECT DISTINCT name FROM events WHERE step IS NOT NULL AND cat = 'user_annotation' ORDER BY name",
          "'ProfilerStep#10';'ProfilerStep#8';'ProfilerStep#9'");
    check(v, "SELECT name FROM events WHERE cat = 'user_annotation' ORDER BY name",
          "'ProfilerStep#10';'ProfilerStep#8';'ProfilerStep#9'");
    check(v, "SELECT name FROM events WHERE cat = 'user_annotation' GROUP BY name ORDER BY name",
          "'ProfilerStep#10';'ProfilerStep#8';'ProfilerStep#9'");
    check(v, "SELECT cat, count(DISTINCT name) FROM events GROUP BY cat ORDER BY cat",
          "'cpu_op'|100;'cuda_runtime'|100;'user_annotation'|3");
    check(v, "SELECT name FROM events WHERE cat = 'user_annotation' GROUP BY name ORDER BY name DESC",
          "'ProfilerStep#9';'ProfilerStep#8';'ProfilerStep#10'");
    check(v, "SELECT event FROM events WHERE name = 'op 7' ORDER BY event LIMIT 3", "7;107;207");
    check(v, "SELECT event FROM events ORDER BY event DESC LIMIT 2", "149999;149998");
    check(v, "SELECT event FROM events WHERE correlation = 500 ORDER BY event", "1000;1001");
    hs_imported_free(im, 1);
}
END_TEST

/* ---- what is refused ---- */

START_TEST(only_reading_is_allowed)
{
    static const char *const refused[] = {
        "CREATE TABLE t(x)",
        "INSERT INTO events VALUES (1)",
        "DELETE FROM events",
        "UPDATE events SET name = 'x'",
        "DROP VIEW args",
        "ATTACH '/etc/passwd' AS p",
        "PRAGMA user_version",
        "PRAGMA journal_mode = WAL",
        "SELECT * FROM pragma_database_list",
        "VACUUM INTO '/tmp/holoscope-test-vacuum'",
        "BEGIN",
        "SAVEPOINT s",
        "ANALYZE",
        "REINDEX",
        "CREATE VIRTUAL TABLE f USING fts5(x)",
        "CREATE TEMP TRIGGER t AFTER INSERT ON x BEGIN SELECT 1; END",
        "SELECT load_extension('x')",
        "SELECT 1; SELECT 2",
        "SELECT 1; DROP VIEW args",
        "",
        " -- nothing",
        "SELEC 1",
        "SELECT nope FROM events",
        "SELECT * FROM nope",
        "SELECT count(*) FROM events('x')",
    };
    struct hs_imported *im;
    struct hs_view *v = open_text(small, &im);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct hs_err err = HS_ERR_INIT;
        int rc;
        free(ask(v, refused[i], NULL, &rc, &err));
        ck_assert_msg(rc == HS_EUSAGE, "%s: %d %s", refused[i], rc, err.text);
        ck_assert_msg(err.text[0], "%s", refused[i]);
    }
    struct hs_err err = HS_ERR_INIT;
    int rc;
    free(ask(v, "SELECT * FROM kernel", NULL, &rc, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "no such table: kernel; there are events, kernels"));
    free(ask(v, "EXPLAIN QUERY PLAN SELECT name FROM kernels", NULL, &rc, &err));
    ck_assert_int_eq(rc, HS_OK);
    check(v, "SELECT count(*) FROM events", "10"); /* and it still works */
    hs_imported_free(im, 1);
}
END_TEST

START_TEST(limits_hold)
{
    static const char endless[] = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) ";
    struct hs_sql_limits l = {.rows = 3, .bytes = 8 << 20, .time_ms = 60000};
    struct hs_imported *im;
    struct hs_view *v = open_text(small, &im);
    struct hs_err err = HS_ERR_INIT;
    struct hs_table t;
    int rc;
    hs_table_init(&t, NULL, 0);
    ck_assert(!hs_sql_run(v, "SELECT event FROM events", &l, &t, &err));
    ck_assert(t.rows == 3 && t.notes.n == 1 && strstr(t.notes.p[0], "cut at 3 rows"));
    hs_table_free(&t);
    /* Rows pile up in an order-by, in a set, in one text. */
    ck_assert(hs_sql_budget_works());
    char *sql = hs_asprintf("%s SELECT i, hex(randomblob(1000)) FROM n ORDER BY 2", endless);
    free(ask(v, sql, &l, &rc, &err));
    ck_assert_msg(rc == HS_ELIMIT && strstr(err.text, "8 MiB"), "%d %s", rc, err.text);
    free(sql);
    sql = hs_asprintf("%s SELECT count(DISTINCT hex(i) || 'padding to make it longer') FROM n", endless);
    free(ask(v, sql, &l, &rc, &err));
    ck_assert_msg(rc == HS_ELIMIT, "%d %s", rc, err.text);
    free(sql);
    l.time_ms = 1000; /* SQLite tells of a text that is too long when its group ends, which this one does not */
    sql = hs_asprintf("%s SELECT length(group_concat(i)) FROM n", endless);
    free(ask(v, sql, &l, &rc, &err));
    ck_assert_msg(rc == HS_ELIMIT, "%d %s", rc, err.text);
    free(sql);
    free(ask(v, "SELECT length(hex(zeroblob(100000000)))", NULL, &rc, &err));
    ck_assert_msg(rc == HS_ELIMIT, "%d %s", rc, err.text);
    l.time_ms = 30;
    sql = hs_asprintf("%s SELECT count(*) FROM n", endless);
    free(ask(v, sql, &l, &rc, &err));
    ck_assert_msg(rc == HS_ELIMIT && strstr(err.text, "30 ms"), "%d %s", rc, err.text);
    free(sql);
    check(v, "SELECT count(*) FROM events", "10"); /* a greedy query fails alone */
    hs_imported_free(im, 1);
}
END_TEST

/* Our functions in place of SQLite's: what SQLite documents, worked out by hand. */
START_TEST(own_functions_mean_what_sqlite_says)
{
    static const char *const asked[][2] = {
        {"SELECT 'abc' LIKE 'A%', 'abc' LIKE 'a_c', 'abc' LIKE 'a_', 'abc' LIKE '%', '' LIKE '%', '' LIKE '_'",
         "1|1|0|1|1|0"},
        {"SELECT 'aXbXc' LIKE '%x%c', 'aab' LIKE '%ab', 'aab' LIKE '%aa', 'mississippi' LIKE '%iss%pi'", "1|1|0|1"},
        {"SELECT 'ä' LIKE '_', 'ä' LIKE 'Ä', 'x€y' LIKE 'x_y', NULL LIKE 'a', 12 LIKE '1%'", "1|0|1|null|1"},
        {"SELECT 'a%b' LIKE 'a#%b' ESCAPE '#', 'axb' LIKE 'a#%b' ESCAPE '#', 'a' LIKE 'a#' ESCAPE '#'", "1|0|0"},
        {"SELECT 'abc' GLOB 'a*', 'abc' GLOB 'A*', 'abc' GLOB 'a?c', 'abc' GLOB '*[b-d]', 'abc' GLOB 'a[^b]c'",
         "1|0|1|1|0"},
        {"SELECT 'a]c' GLOB 'a[]]c', 'a-c' GLOB 'a[x-]c', 'abc' GLOB 'a[b', 'aéc' GLOB 'a[à-ê]c'", "1|1|0|1"},
        {"SELECT instr('abcabc', 'ca'), instr('abc', 'x'), instr('abc', ''), instr('a€b', 'b'), instr(x'00ff', x'ff')",
         "3|0|1|3|2"},
        {"SELECT instr(NULL, 'a'), instr('', 'a'), instr(12345, 34)", "null|0|3"},
        {"SELECT replace('aaa', 'aa', 'b'), replace('abc', '', 'x'), replace('abab', 'ab', ''), replace('a', 'b', 'c')",
         "'ba'|'abc'|''|'a'"},
        {"SELECT trim('  a b '), ltrim('xxaxx', 'x'), rtrim('xxaxx', 'x'), trim('€äa€', 'ä€'), trim('', 'x')",
         "'a b'|'axx'|'xxa'|'a'|''"},
        {"SELECT trim(NULL), trim('aaa', 'a'), trim('a', '')", "null|''|'a'"},
    };
    struct hs_imported *im;
    struct hs_view *v = open_text(small, &im);
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++)
        check(v, asked[i][0], asked[i][1]);
    hs_imported_free(im, 1);
}
END_TEST

START_TEST(only_listed_functions_can_be_called)
{
    static const char *const refused[] = {"SELECT hex(fts3_tokenizer('simple'))",
                                          "SELECT fts3_tokenizer('x', x'0000000000000000')",
                                          "SELECT rtreenode(2, zeroblob(3))",
                                          "SELECT rtreecheck('main', 'events')",
                                          "SELECT geopoly_area(randomblob(1000))",
                                          "SELECT json_patch('{}', '{}')",
                                          "SELECT sqlite_version()",
                                          "SELECT load_extension('x')",
                                          "SELECT changes()"};
    struct hs_imported *im;
    struct hs_view *v = open_text(small, &im);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct hs_err err = HS_ERR_INIT;
        int rc;
        free(ask(v, refused[i], NULL, &rc, &err));
        ck_assert_msg(rc == HS_EUSAGE, "%s: %d %s", refused[i], rc, err.text);
    }
    check(v, "SELECT upper('a'), json_extract('[4]', '$[0]'), round(1.25, 1), sum(1) OVER () FROM steps",
          "'A'|4|1.3|1");
    hs_imported_free(im, 1);
}
END_TEST

/* SQLite cannot stop inside of a function. What its own instr and replace need minutes for must be answered long before the
 * limit; what takes long in any case, like and glob, must look at the clock itself. */
START_TEST(no_single_operation_outlives_the_limit)
{
#define SIXTY                                                                             \
    " FROM (SELECT printf('%.*c', 600000, 'a') AS t, printf('%.*c', 300000, 'a') AS p), " \
    "(WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 60) SELECT n FROM r)"
    static const char *const asked[][2] = {
        {"SELECT sum(instr(t, p || char(256 + n)))" SIXTY, "0"},
        {"SELECT sum(length(replace(t, p || char(256 + n), 'x')))" SIXTY, "36000000"},
        {"SELECT printf('%.*c', 9000, 'a') || 'b' LIKE '%' || printf('%.*c', 2000, 'a') || 'b'", "1"},
        {"SELECT printf('%.*c', 9000, 'a') || 'b' GLOB '*' || printf('%.*c', 2000, 'a') || '[b]'", "1"},
    };
#undef SIXTY
    static const char *const slow[] = {
        "SELECT printf('%.*c', 1000000, 'a') LIKE '%' || printf('%.*c', 400000, 'a') || 'b%'",
        "SELECT printf('%.*c', 1000000, 'a') GLOB '*' || printf('%.*c', 400000, 'a') || 'b*'",
    };
    struct hs_sql_limits minute = {.rows = 10, .bytes = 64 << 20, .time_ms = 60000}, moment = minute;
    struct hs_imported *im;
    struct hs_view *v = open_text(small, &im);
    struct hs_err err = HS_ERR_INIT;
    int rc;
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        char *got = ask(v, asked[i][0], &minute, &rc, &err);
        ck_assert_msg(!rc && !strcmp(got, asked[i][1]), "%s: %d %s", asked[i][0], rc, err.text);
        free(got);
    }
    moment.time_ms = 200;
    for (size_t i = 0; i < 2; i++) {
        free(ask(v, slow[i], &moment, &rc, &err));
        ck_assert_msg(rc == HS_ELIMIT && strstr(err.text, "200 ms"), "%s: %d %s", slow[i], rc, err.text);
    }
    free(ask(v, "SELECT rtrim('a', printf('%.*c', 1000000, 'b'))", NULL, &rc, &err));
    ck_assert_msg(rc == HS_EUSAGE && strstr(err.text, "64 characters"), "%d %s", rc, err.text);
    free(ask(v, "SELECT length(zeroblob(2000000))", NULL, &rc, &err));
    ck_assert_msg(rc == HS_ELIMIT, "%d %s", rc, err.text);
    struct hs_buf many = HS_BUF_INIT(1 << 20);
    hs_buf_puts(&many, "SELECT max(0");
    for (int i = 0; i < 1001; i++)
        hs_buf_puts(&many, i % 90 ? ",abs(1)" : "), max(0,abs(1)");
    hs_buf_puts(&many, ")");
    free(ask(v, many.p, NULL, &rc, &err));
    ck_assert_msg(rc == HS_ELIMIT && strstr(err.text, "1000 functions"), "%d %s", rc, err.text);
    hs_buf_free(&many);
    hs_imported_free(im, 1);
}
END_TEST

START_TEST(a_query_can_be_cancelled)
{
    atomic_bool cancel = true;
    struct hs_sql_limits l = hs_sql_limits_default;
    struct hs_imported *im;
    struct hs_view *v = open_text(small, &im);
    struct hs_err err = HS_ERR_INIT;
    int rc;
    l.cancel = &cancel;
    l.time_ms = 1000000;
    free(ask(v, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n", &l, &rc,
             &err));
    ck_assert_msg(rc == HS_ECANCELLED, "%d %s", rc, err.text);
    hs_imported_free(im, 1);
}
END_TEST

START_TEST(names_of_columns_are_unique)
{
    struct hs_imported *im;
    struct hs_view *v = open_text(small, &im);
    struct hs_err err = HS_ERR_INIT;
    struct hs_table t;
    static const char *const want[] = {"a", "a_2", "a_2_2", "a_3", "b"};
    hs_table_init(&t, NULL, 0);
    ck_assert(!hs_sql_run(v, "SELECT 1 AS a, 2 AS a, 3 AS a_2, 4 AS a, 5 AS b", NULL, &t, &err));
    ck_assert_uint_eq(t.ncolumns, 5);
    for (size_t i = 0; i < 5; i++)
        ck_assert_str_eq(t.columns[i].name, want[i]);
    hs_table_free(&t);
    hs_imported_free(im, 1);
}
END_TEST

/* An argument of 1.5 MiB beside a short one. */
START_TEST(longer_args_are_null_with_a_note)
{
    struct hs_buf b = HS_BUF_INIT(1 << 22);
    struct hs_imported *im;
    struct hs_err err = HS_ERR_INIT;
    struct hs_table t;
    hs_buf_puts(&b, "[{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,\"args\":{\"k\":\"");
    for (int i = 0; i < 3 << 19; i++)
        hs_buf_putc(&b, 'x');
    hs_buf_puts(&b, "\"}},{\"ph\":\"X\",\"name\":\"b\",\"pid\":1,\"tid\":1,\"ts\":2,\"dur\":1,\"args\":{\"k\":1}}]");
    struct hs_view *v = open_text(b.p, &im);
    hs_table_init(&t, NULL, 0);
    ck_assert_msg(!hs_sql_run(v, "SELECT name, args FROM events ORDER BY event", NULL, &t, &err), "%s", err.text);
    ck_assert(t.rows == 2 && hs_table_cell(&t, 0, 1)->kind == HS_C_NULL && hs_table_cell(&t, 1, 1)->len == 7);
    ck_assert(t.notes.n == 1 && strstr(t.notes.p[0], "1 JSON texts are longer"));
    hs_table_free(&t);
    hs_imported_free(im, 1);
    hs_buf_free(&b);
}
END_TEST

HS_SUITE(store_sql)
{
    HS_TEST(tables_answer_as_computed_by_hand);
    HS_TEST(args_are_json_with_their_types);
    HS_TEST(push_down_changes_no_answer);
    HS_TEST(only_reading_is_allowed);
    HS_TEST(limits_hold);
    HS_TEST(own_functions_mean_what_sqlite_says);
    HS_TEST(only_listed_functions_can_be_called);
    HS_TEST(no_single_operation_outlives_the_limit);
    HS_TEST(a_query_can_be_cancelled);
    HS_TEST(names_of_columns_are_unique);
    HS_TEST(longer_args_are_null_with_a_note);
}
