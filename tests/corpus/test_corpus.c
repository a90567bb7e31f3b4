/* The corpus of odd inputs, entry by entry, and the entries that are made at run time: containers, and what is too large
 * to keep. */
#include "tests/corpus/corpus.h"
#include "tests/unit/ingest_bytes.h"
#include "tests/unit/test.h"

#include "store/store.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define BIG ((size_t)512 << 20)
#define CPU "\"no-gpu\":1,\"no-steps\":1}"
#define EVENT "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2}"

START_TEST(documents)
{
    corpus_check_file(&corpus_documents[_i]);
}
END_TEST

START_TEST(texts)
{
    corpus_check_file(&corpus_texts[_i]);
}
END_TEST

START_TEST(numbers)
{
    corpus_check_file(&corpus_numbers[_i]);
}
END_TEST

START_TEST(events)
{
    corpus_check_file(&corpus_events[_i]);
}
END_TEST

static int entries_of(const char *file)
{
    const struct {
        const struct corpus_entry *p;
        size_t n;
    } all[] = {{corpus_documents, corpus_ndocuments},
               {corpus_texts, corpus_ntexts},
               {corpus_numbers, corpus_nnumbers},
               {corpus_events, corpus_nevents}};
    int n = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (size_t k = 0; k < all[i].n; k++)
            n += !strcmp(all[i].p[k].file, file);
    return n;
}

START_TEST(every_file_has_one_entry)
{
    char *dir = corpus_path("");
    DIR *d = opendir(dir);
    ck_assert_ptr_nonnull(d);
    size_t files = 0;
    for (struct dirent *e; (e = readdir(d));) {
        if (e->d_name[0] == '.')
            continue;
        files++;
        ck_assert_msg(entries_of(e->d_name) == 1, "%s has %d entries", e->d_name, entries_of(e->d_name));
    }
    ck_assert_uint_eq(files, corpus_ndocuments + corpus_ntexts + corpus_nnumbers + corpus_nevents);
    closedir(d);
    free(dir);
}
END_TEST

START_TEST(a_long_name_is_whole)
{
    struct hs_view *v = corpus_view("long_name.json");
    struct hs_events e;
    struct hs_err err = HS_ERR_INIT;
    ck_assert_int_eq(hs_view_events(v, HS_EV_NAME, &e, &err), HS_OK);
    ck_assert_uint_eq(hs_view_str(v, e.name[0]).n, 29 + 60000 + 3); /* void at::native::elementwise< … >() */
    hs_view_close(v);
}
END_TEST

/* Two ranks whose bases differ by 5 µs; rank 0's event is 5 µs after its base, rank 1's at its base: the same moment. */
START_TEST(two_bases_meet_on_one_clock)
{
    struct hs_view *v[2] = {corpus_view("two_bases_1.json"), corpus_view("two_bases_0.json")};
    struct hs_run *run;
    struct hs_err err = HS_ERR_INIT;
    ck_assert_int_eq(hs_run_build("r", v, 2, &run, &err), HS_OK);
    ck_assert_int_eq((int)run->ranks[0].rank, 0);
    ck_assert_int_eq(run->ranks[0].offset_ns + 5000 == run->ranks[1].offset_ns + 0, 1);
    hs_run_free(run);
    hs_view_close(v[0]);
    hs_view_close(v[1]);
}
END_TEST

/* schedule(repeat=2) writes two files of one rank: two traces of the run, neither replaces the other. */
START_TEST(one_rank_twice_is_two_traces)
{
    char *dir = hs_test_tmpdir();
    struct hs_store *store;
    struct hs_err err = HS_ERR_INIT;
    struct hs_store_options o = {.dir = dir};
    ck_assert_msg(hs_store_open(&store, &o, &err) == HS_OK, "%s", err.text);
    const char *const files[] = {"repeat2_first.json", "repeat2_second.json"};
    for (int i = 0; i < 2; i++) {
        struct hs_buf b = corpus_read(files[i]);
        struct test_input in;
        test_input_init(&in, hs_str(b.p, b.n), 0, files[i]);
        struct hs_import_options io = {.rank = HS_RANK_AUTO, .store = store, .run = "twice"};
        struct hs_imported *got;
        size_t n;
        ck_assert_msg(hs_import(&in.in, &io, &got, &n, &err) == HS_OK, "%s", err.text);
        hs_imported_free(got, n);
        hs_buf_free(&b);
    }
    struct hs_trace_row *rows;
    size_t n;
    ck_assert_int_eq(hs_store_traces(store, "twice", &rows, &n, &err), HS_OK);
    ck_assert_uint_eq(n, 2);
    ck_assert(rows[0].rank == 0 && rows[1].rank == 0 && strcmp(rows[0].id, rows[1].id));
    hs_trace_rows_free(rows, n);
    hs_store_close(store);
    hs_test_rmdir(dir);
    free(dir);
}
END_TEST

/* ---- containers ---- */

static struct hs_str view(const struct hs_buf *b)
{
    return hs_str(b->p, b->n);
}

static struct hs_buf many(unsigned n, const char *separator)
{
    struct hs_buf b = HS_BUF_INIT(BIG);
    hs_buf_puts(&b, "{\"traceEvents\":[");
    for (unsigned i = 0; i < n; i++)
        hs_buf_printf(&b,
                      "%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op%u\",\"pid\":1,\"tid\":1,\"ts\":%u,\"dur\":2}",
                      i ? separator : "", i % 1000, 10 * i);
    hs_buf_puts(&b, "]}");
    return b;
}

START_TEST(gzip_containers)
{
    struct hs_str text = HS_STR("{\"traceEvents\":[" EVENT "]}");
    const struct corpus_fact fact[] = {S_(NAME, 0, "a"), N_(TS, 0, 1000)};
    struct corpus_entry e = {.events = 1, .quality = "{" CPU, .facts = {fact[0], fact[1]}};
    struct hs_buf gz = HS_BUF_INIT(BIG), twice = HS_BUF_INIT(BIG);
    size_t half = text.n / 2;

    e.file = "multi_member.gz"; /* three members, one of them empty */
    test_gzip(&gz, hs_str(text.p, half), 9, Z_DEFAULT_STRATEGY);
    test_gzip(&gz, HS_STR(""), 9, Z_DEFAULT_STRATEGY);
    test_gzip(&gz, hs_str(text.p + half, text.n - half), 1, Z_DEFAULT_STRATEGY);
    corpus_check(&e, view(&gz));

    e.file = "double.gz";
    test_gzip(&twice, view(&gz), 6, Z_DEFAULT_STRATEGY);
    corpus_check(&e, view(&twice));

    e.file = "zero_pad.gz";
    hs_buf_put(&gz, "\0\0\0\0\0\0\0", 7);
    corpus_check(&e, view(&gz));

    e.file = "junk_after.gz";
    e.quality = "{\"gzip-trailing\":1," CPU;
    hs_buf_puts(&gz, "junk");
    corpus_check(&e, view(&gz));

    e.file = "bad_crc.gz";
    e.quality = "{\"gzip-checksum\":1," CPU;
    hs_buf_clear(&gz);
    test_gzip(&gz, text, 6, Z_DEFAULT_STRATEGY);
    gz.p[gz.n - 6] ^= 0x10;
    corpus_check(&e, view(&gz));

    e.file = "cut_trailer.gz"; /* all data, no checksum: the document is whole */
    e.quality = "{\"gzip-cut\":1," CPU;
    corpus_check(&e, hs_str(gz.p, gz.n - 8));
    hs_buf_free(&gz);
    hs_buf_free(&twice);
}
END_TEST

/* The events that are whole within the first n bytes of many()'s text: each ends with its brace. */
static int whole_events(const struct hs_buf *text, size_t n)
{
    int count = 0;
    for (size_t i = 16; i < n; i++) /* not the document's own brace */
        count += text->p[i] == '}';
    return count;
}

START_TEST(cut_gzip_keeps_what_inflates)
{
    struct hs_buf text = many(5000, ","), gz = HS_BUF_INIT(BIG);
    test_gzip(&gz, view(&text), 6, Z_DEFAULT_STRATEGY);
    struct hs_str cut = hs_str(gz.p, gz.n * 2 / 3);
    z_stream z = {0}; /* how much of it there is to keep: zlib's answer */
    char *out = malloc(text.n);
    ck_assert_int_eq(inflateInit2(&z, 31), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)cut.p;
    z.avail_in = (uInt)cut.n;
    z.next_out = (Bytef *)out;
    z.avail_out = (uInt)text.n;
    inflate(&z, Z_SYNC_FLUSH);
    int whole = whole_events(&text, z.total_out);
    ck_assert_int_gt(whole, 1000);
    struct test_input in;
    test_input_init(&in, cut, 0, "cut.gz");
    struct hs_import_options o = {.rank = HS_RANK_AUTO};
    struct hs_imported *v;
    size_t n;
    struct hs_err err = HS_ERR_INIT;
    ck_assert_msg(hs_import(&in.in, &o, &v, &n, &err) == HS_OK, "%s", err.text);
    int got = (int)v[0].row.events;
    ck_assert_msg(got >= whole - 4 && got <= whole, "%d of %d", got,
                  whole); /* ISA-L may stop one match (258 bytes) earlier */
    ck_assert_str_eq(v[0].row.quality_json, "{\"truncated\":1,\"gzip-cut\":1," CPU);
    hs_imported_free(v, n);
    inflateEnd(&z);
    free(out);
    hs_buf_free(&gz);
    hs_buf_free(&text);
}
END_TEST

START_TEST(interleaved_writers_keep_the_leading_part)
{
    struct hs_buf a = many(40000, ",\n"), b = many(39999, ", "), za = HS_BUF_INIT(BIG), zb = HS_BUF_INIT(BIG),
                  mix = HS_BUF_INIT(BIG);
    test_gzip(&za, view(&a), 6, Z_DEFAULT_STRATEGY);
    test_gzip(&zb, view(&b), 6, Z_DEFAULT_STRATEGY);
    const size_t step = 65536;
    ck_assert_uint_gt(za.n, 2 * step);
    for (size_t i = 0; i < za.n || i < zb.n; i += step) {
        hs_buf_put(&mix, za.p + (i < za.n ? i : za.n), i < za.n ? (za.n - i < step ? za.n - i : step) : 0);
        hs_buf_put(&mix, zb.p + (i < zb.n ? i : zb.n), i < zb.n ? (zb.n - i < step ? zb.n - i : step) : 0);
    }
    struct test_input in;
    test_input_init(&in, view(&mix), 0, "interleaved.gz");
    struct hs_import_options o = {.rank = HS_RANK_AUTO};
    struct hs_imported *v;
    size_t n;
    struct hs_err err = HS_ERR_INIT;
    ck_assert_msg(hs_import(&in.in, &o, &v, &n, &err) == HS_OK, "%s", err.text);
    ck_assert_int_eq((int)v[0].view->quality.count[HS_Q_GZIP_INTERLEAVED], 1);
    ck_assert_int_eq((int)v[0].view->quality.count[HS_Q_TRUNCATED], 1);
    struct hs_events e;
    ck_assert_int_eq(hs_view_events(v[0].view, HS_EV_TS, &e, &err), HS_OK);
    ck_assert_uint_gt(e.n, 10000); /* a step of compressed text is far more than that */
    for (size_t i = 0; i < 10000; i++)
        ck_assert(e.ts[i] == (int64_t)i * 10000);
    hs_imported_free(v, n);
    hs_buf_free(&a), hs_buf_free(&b), hs_buf_free(&za), hs_buf_free(&zb), hs_buf_free(&mix);
}
END_TEST

START_TEST(zip_of_two_ranks)
{
    struct hs_buf zip = HS_BUF_INIT(BIG), one = corpus_read("edge_collectives_1.json"),
                  zero = corpus_read("edge_collectives_0.json"), gz = HS_BUF_INIT(BIG);
    test_gzip(&gz, view(&zero), 6, Z_DEFAULT_STRATEGY);
    const struct test_member m[] = {{"job/", HS_STR("")}, {"job/b.json", view(&one)}, {"job/a.json.gz", view(&gz)}};
    test_archive(&zip, TEST_ZIP, m, 3);
    struct test_input in;
    test_input_init(&in, view(&zip), 0, "zip_two_ranks.zip");
    struct hs_import_options o = {.rank = HS_RANK_AUTO};
    struct hs_imported *v;
    size_t n;
    struct hs_err err = HS_ERR_INIT;
    ck_assert_msg(hs_import(&in.in, &o, &v, &n, &err) == HS_OK, "%s", err.text);
    ck_assert_uint_eq(n, 2);
    ck_assert(v[0].row.rank == 1 && v[0].row.events == 2);
    ck_assert(v[1].row.rank == 0 && v[1].row.events == 3);
    hs_imported_free(v, n);
    hs_buf_free(&zip), hs_buf_free(&one), hs_buf_free(&zero), hs_buf_free(&gz);
}
END_TEST

/* ---- size ---- */

/* 200 MiB of blanks in 0.2 MiB: a ratio of about 1030, deflate's ceiling; no trace reaches a third of it. */
START_TEST(a_bomb_ends)
{
    struct hs_buf blank = HS_BUF_INIT(BIG), gz = HS_BUF_INIT(BIG);
    hs_buf_reserve(&blank, 200 << 20);
    memset(blank.p, ' ', blank.n = 200 << 20);
    test_gzip(&gz, view(&blank), 9, Z_DEFAULT_STRATEGY);
    hs_buf_free(&blank);
    struct corpus_entry e = {.file = "bomb.gz", .rc = HS_ELIMIT, .says = "times its size"};
    corpus_check(&e, view(&gz));
    hs_buf_free(&gz);
}
END_TEST

START_TEST(one_line_of_50_MB)
{
    struct hs_buf text = many(700000, ",");
    ck_assert_uint_gt(text.n, 50000000);
    const struct corpus_fact last = N_(TS, 699999, 6999990000);
    struct corpus_entry e = {.file = "one_line_50MB.json", .events = 700000, .quality = "{" CPU, .facts = {last}};
    struct test_input in;
    test_input_init(&in, view(&text), 65536, e.file);
    struct hs_import_options o = {.rank = HS_RANK_AUTO};
    struct hs_imported *v;
    size_t n;
    struct hs_err err = HS_ERR_INIT;
    ck_assert_msg(hs_import(&in.in, &o, &v, &n, &err) == HS_OK, "%s", err.text);
    ck_assert_int_eq((int)v[0].row.events, e.events);
    ck_assert_str_eq(v[0].row.quality_json, e.quality);
    struct hs_events ev;
    ck_assert_int_eq(hs_view_events(v[0].view, HS_EV_TS, &ev, &err), HS_OK);
    ck_assert(ev.ts[699999] == 6999990000);
    hs_imported_free(v, n);
    hs_buf_free(&text);
}
END_TEST

START_TEST(exactly_a_million_events)
{
    for (unsigned n = 1000000; n <= 1000001; n++) {
        struct hs_buf text = HS_BUF_INIT(BIG);
        hs_buf_puts(&text, "[");
        for (unsigned i = 0; i < n; i++)
            hs_buf_puts(&text,
                        i ? ",{\"ph\":\"i\",\"name\":\"x\",\"ts\":1}" : "{\"ph\":\"i\",\"name\":\"x\",\"ts\":1}");
        hs_buf_puts(&text, "]");
        struct test_input in;
        test_input_init(&in, view(&text), 0, "cap_1e6.json");
        struct hs_import_options o = {.rank = HS_RANK_AUTO};
        struct hs_imported *v;
        size_t k;
        struct hs_err err = HS_ERR_INIT;
        ck_assert_msg(hs_import(&in.in, &o, &v, &k, &err) == HS_OK, "%s", err.text);
        ck_assert_int_eq((int)v[0].row.events, (int)n);
        ck_assert_int_eq((int)v[0].view->quality.count[HS_Q_ROUND_CAP], n == 1000000);
        hs_imported_free(v, k);
        hs_buf_free(&text);
    }
}
END_TEST

/* Names from freed memory: a different one per event. The dictionary's limit puts the rest under one name. */
START_TEST(names_without_end)
{
    struct hs_buf text = HS_BUF_INIT(BIG);
    hs_buf_puts(&text, "[");
    for (unsigned i = 0; i < 5000; i++)
        hs_buf_printf(&text,
                      "%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"junk%u\",\"pid\":1,\"tid\":1,\"ts\":%u,\"dur\":1}",
                      i ? "," : "", i * 7919, i);
    hs_buf_puts(&text, "]");
    struct hs_limits l = hs_limits_default;
    l.names = 1000;
    struct test_input in;
    test_input_init(&in, view(&text), 0, "garbage_names.json");
    struct hs_import_options o = {.rank = HS_RANK_AUTO, .limits = &l};
    struct hs_imported *v;
    size_t n;
    struct hs_err err = HS_ERR_INIT;
    ck_assert_msg(hs_import(&in.in, &o, &v, &n, &err) == HS_OK, "%s", err.text);
    ck_assert_int_eq((int)v[0].row.events, 5000);
    ck_assert_uint_le(v[0].view->nsyms, 1000);
    ck_assert_int_gt((int)v[0].view->quality.count[HS_Q_MANY_NAMES], 3900);
    hs_imported_free(v, n);
    hs_buf_free(&text);
}
END_TEST

HS_SUITE(corpus)
{
    HS_LOOP_TEST(documents, 0, (int)corpus_ndocuments);
    HS_LOOP_TEST(texts, 0, (int)corpus_ntexts);
    HS_LOOP_TEST(numbers, 0, (int)corpus_nnumbers);
    HS_LOOP_TEST(events, 0, (int)corpus_nevents);
    HS_TEST(every_file_has_one_entry);
    HS_TEST(a_long_name_is_whole);
    HS_TEST(two_bases_meet_on_one_clock);
    HS_TEST(one_rank_twice_is_two_traces);
    HS_TEST(gzip_containers);
    HS_TEST(cut_gzip_keeps_what_inflates);
    HS_TEST(interleaved_writers_keep_the_leading_part);
    HS_TEST(zip_of_two_ranks);
    HS_TEST(a_bomb_ends);
    HS_TEST(one_line_of_50_MB);
    HS_TEST(exactly_a_million_events);
    HS_TEST(names_without_end);
}
