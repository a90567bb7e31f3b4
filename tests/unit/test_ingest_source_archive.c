/* source: archives give their traces, encodings become UTF-8. */
#include "tests/unit/ingest_bytes.h"
#include "tests/unit/source_reading.h"
#include "tests/unit/test.h"

#include <string.h>
#include <zlib.h>

/* ---- archives ---- */

static void archive_of_two_ranks(enum test_archive kind, const char *format, bool zipped_again)
{
    struct hs_buf a = sample_text(100), b = sample_text(200), gz = HS_BUF_INIT(READING_BIG),
                  ar = HS_BUF_INIT(READING_BIG), outer = HS_BUF_INIT(READING_BIG);
    test_gzip(&gz, buf_str(&b), 6, Z_DEFAULT_STRATEGY);
    const struct test_member members[] = {
        {"run/", HS_STR("")},
        {"run/notes.txt", HS_STR("not a trace")},
        {"run/rank0.json", buf_str(&a)},
        {"__MACOSX/run/._rank0.json", HS_STR("\0\5\x16\7 litter")},
        {"run/rank1.json.gz", buf_str(&gz)},
        {"run/picture.png", HS_STR("\x89PNG\r\n\x1a\n{}")},
        {"run/no_suffix", HS_STR(" [ ]")},
    };
    test_archive(&ar, kind, members, sizeof members / sizeof *members);
    if (zipped_again)
        test_gzip(&outer, buf_str(&ar), 6, Z_DEFAULT_STRATEGY);
    for (size_t piece = 0; piece < 2000; piece = piece * 40 + 1) {
        struct reading r = read_limited(buf_str(zipped_again ? &outer : &ar), piece, 7000, &hs_limits_default);
        ck_assert_msg(r.rc == HS_OK, "%s", r.err.text);
        ck_assert_int_eq(r.documents, 3);
        ck_assert_str_eq(r.format, format);
        ck_assert_str_eq(r.names.p, "run/rank0.json\nrun/rank1.json.gz\nrun/no_suffix\n");
        ck_assert_uint_eq(r.first_end, a.n);
        struct hs_buf all = HS_BUF_INIT(READING_BIG);
        hs_buf_put(&all, a.p, a.n);
        hs_buf_put(&all, b.p, b.n);
        hs_buf_puts(&all, " [ ]");
        reading_expect(&r, buf_str(&all),
                       (const int[][2]){{HS_Q_ARCHIVE_IGNORED, 3}, {-1, 0}}); /* notes, litter, picture */
        hs_buf_free(&all);
    }
    hs_buf_free(&a), hs_buf_free(&b), hs_buf_free(&gz), hs_buf_free(&ar), hs_buf_free(&outer);
}

START_TEST(archives_give_their_traces)
{
    archive_of_two_ranks(TEST_ZIP, "zip", false);
    archive_of_two_ranks(TEST_TAR, "tar", false);
    archive_of_two_ranks(TEST_TAR, "tar in gzip", true);
    archive_of_two_ranks(TEST_TAR_ZSTD, "zstd", false);
}
END_TEST

START_TEST(zstd_of_one_document)
{
    struct hs_buf text = sample_text(5000), z = HS_BUF_INIT(READING_BIG);
    test_zstd(&z, buf_str(&text));
    struct reading r = read_all(buf_str(&z));
    ck_assert_str_eq(r.names.p, "given.json\n");
    reading_expect(&r, buf_str(&text), DEFECTS_NONE);
    r = read_all(hs_str(z.p, z.n / 2));
    ck_assert_int_eq(r.rc, HS_OK);
    ck_assert_int_eq((int)r.q.count[HS_Q_GZIP_CUT], 1);
    ck_assert_uint_lt(r.text.n, text.n);
    reading_free(&r);
    hs_buf_free(&z);
    hs_buf_free(&text);
}
END_TEST

START_TEST(cut_archives_keep_the_earlier_members)
{
    struct hs_buf a = sample_text(100), b = sample_text(3000), ar = HS_BUF_INIT(READING_BIG);
    const struct test_member members[] = {{"a.json", buf_str(&a)}, {"b.json", buf_str(&b)}};
    for (int kind = TEST_ZIP; kind <= TEST_TAR; kind++) {
        hs_buf_clear(&ar);
        test_archive(&ar, (enum test_archive)kind, members, 2);
        struct reading r = read_all(hs_str(ar.p, ar.n / 2)); /* b is much longer than a and all headers */
        ck_assert_msg(r.rc == HS_OK, "%s", r.err.text);
        ck_assert_int_eq(r.documents, 2);
        ck_assert_uint_eq(r.first_end, a.n);
        ck_assert_int_eq((int)r.q.count[HS_Q_GZIP_CUT], 1);
        ck_assert_uint_gt(r.text.n, a.n);
        ck_assert_mem_eq(r.text.p + a.n, b.p, r.text.n - a.n);
        reading_free(&r);
    }
    hs_buf_free(&a), hs_buf_free(&b), hs_buf_free(&ar);
}
END_TEST

START_TEST(no_traces_in_an_archive)
{
    struct hs_buf ar = HS_BUF_INIT(READING_BIG);
    const struct test_member members[] = {{"readme.txt", HS_STR("hello")}};
    test_archive(&ar, TEST_ZIP, members, 1);
    struct reading r = read_all(buf_str(&ar));
    ck_assert_int_eq(r.documents, 0);
    reading_expect(&r, HS_STR(""), DEFECTS_ONE(ARCHIVE_IGNORED));
    r = read_all(HS_STR("PK\3\4 and then nothing that makes sense"));
    ck_assert_int_eq(r.rc, HS_EINPUT);
    reading_free(&r);
    hs_buf_clear(&ar);
    test_archive(&ar, TEST_ZIP_ENCRYPTED, (const struct test_member[]){{"a.json", HS_STR("[]")}}, 1);
    r = read_all(buf_str(&ar));
    ck_assert_int_eq(r.rc, HS_EINPUT);
    ck_assert_ptr_nonnull(strstr(r.err.text, "encrypted"));
    reading_free(&r);
    hs_buf_free(&ar);
}
END_TEST

/* ---- encodings ---- */

START_TEST(byte_order_mark_is_skipped)
{
    struct reading r = read_all(HS_STR("\xef\xbb\xbf[]"));
    reading_expect(&r, HS_STR("[]"), DEFECTS_ONE(BOM));
}
END_TEST

/* U+0041, U+00E9, U+20AC, U+1F680 and a lone low half, by hand: Unicode's own bit layout */
#define WIDE_LE "{\0A\0\xe9\0\xac\x20\x3d\xd8\x80\xde\x80\xde"
#define WIDE_BE "\0{\0A\0\xe9\x20\xac\xd8\x3d\xde\x80\xde\x80"
#define WIDE_UTF8 "{A\xc3\xa9\xe2\x82\xac\xf0\x9f\x9a\x80\xef\xbf\xbd"

START_TEST(utf16_is_transcoded)
{
    const int marked[][2] = {{HS_Q_BOM, 1}, {HS_Q_UTF16, 1}, {HS_Q_LONE_SURROGATE, 1}, {-1, 0}};
    for (size_t piece = 0; piece < 4; piece++)
        for (size_t cap = 8; cap < 40; cap += 13) {
            struct reading r = read_limited(HS_STR("\xff\xfe" WIDE_LE), piece, cap, &hs_limits_default);
            reading_expect(&r, HS_STR(WIDE_UTF8), marked);
            r = read_limited(HS_STR("\xfe\xff" WIDE_BE), piece, cap, &hs_limits_default);
            reading_expect(&r, HS_STR(WIDE_UTF8), marked);
            r = read_limited(HS_STR(WIDE_LE), piece, cap, &hs_limits_default);
            reading_expect(&r, HS_STR(WIDE_UTF8), marked + 1);
            r = read_limited(HS_STR(WIDE_BE), piece, cap, &hs_limits_default);
            reading_expect(&r, HS_STR(WIDE_UTF8), marked + 1);
        }
    /* half a unit at the end, and a first half that never gets its second */
    struct reading r = read_all(HS_STR("\xff\xfe[\0]\0x"));
    reading_expect(&r, HS_STR("[]\xef\xbf\xbd"), marked);
    r = read_all(HS_STR("\xff\xfe[\0\x3d\xd8]\0"));
    reading_expect(&r, HS_STR("[\xef\xbf\xbd]"), marked);
}
END_TEST

START_TEST(utf16_of_any_length)
{
    struct hs_buf text = sample_text(4000), wide = HS_BUF_INIT(READING_BIG), gz = HS_BUF_INIT(READING_BIG);
    hs_buf_put(&wide, "\xff\xfe", 2);
    for (size_t i = 0; i < text.n; i++) {
        hs_buf_putc(&wide, text.p[i]);
        hs_buf_putc(&wide, 0);
    }
    test_gzip(&gz, buf_str(&wide), 6, Z_DEFAULT_STRATEGY);
    struct reading r = read_limited(buf_str(&gz), 999, 1001, &hs_limits_default);
    reading_expect(&r, buf_str(&text), (const int[][2]){{HS_Q_BOM, 1}, {HS_Q_UTF16, 1}, {-1, 0}});
    hs_buf_free(&gz), hs_buf_free(&wide), hs_buf_free(&text);
}
END_TEST

HS_SUITE(ingest_source_archive)
{
    HS_TEST(archives_give_their_traces);
    HS_TEST(zstd_of_one_document);
    HS_TEST(cut_archives_keep_the_earlier_members);
    HS_TEST(no_traces_in_an_archive);
    HS_TEST(byte_order_mark_is_skipped);
    HS_TEST(utf16_is_transcoded);
    HS_TEST(utf16_of_any_length);
}
