/* source: every container gives the bytes that were put in, or as much of them as is there, and says what was wrong. */
#include "tests/unit/ingest_bytes.h"
#include "tests/unit/test.h"

#include "ingest/source_gzip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define BIG ((size_t)256 << 20)

/* What a source gave: its documents one behind the other. */
struct reading {
    int rc, documents;
    struct hs_err err;
    struct hs_buf text, names, raw; /* raw: what the tee saw; names end in "\n" */
    size_t first_end;               /* where the first document ends in text */
    struct hs_quality q;
    char format[48];
};

static int tee_write(void *ctx, const void *p, size_t n, struct hs_err *err)
{
    (void)err;
    hs_buf_put(ctx, p, n);
    return HS_OK;
}

static struct reading read_limited(struct hs_str bytes, size_t piece, size_t cap, const struct hs_limits *limits)
{
    struct reading r = {
        .err = HS_ERR_INIT, .text = HS_BUF_INIT(BIG), .names = HS_BUF_INIT(BIG), .raw = HS_BUF_INIT(BIG)};
    hs_quality_init(&r.q);
    struct test_input in;
    test_input_init(&in, bytes, piece, "given.json");
    struct hs_tee tee = {tee_write, &r.raw};
    struct hs_source *s;
    ck_assert_int_eq(hs_source_new(&s, &in.in, limits, &tee, &r.err), HS_OK);
    char *block = malloc(cap);
    bool more = false;
    const char *name;
    while (!(r.rc = hs_source_next(s, &more, &name, &r.err)) && more) {
        size_t got = 1;
        hs_buf_puts(&r.names, name);
        hs_buf_putc(&r.names, '\n');
        while (!r.rc && got && !(r.rc = hs_source_read(s, block, cap, &got, &r.q, &r.err)))
            hs_buf_put(&r.text, block, got);
        if (r.rc)
            break;
        if (!r.documents++)
            r.first_end = r.text.n;
    }
    hs_source_defects(s, &r.q);
    if (!r.rc) {
        r.rc = hs_source_drain(s, &r.err);
        ck_assert_uint_eq(hs_source_bytes_in(s), bytes.n);
        ck_assert_uint_eq(r.raw.n, bytes.n);
        if (bytes.n)
            ck_assert_mem_eq(r.raw.p, bytes.p, bytes.n);
    }
    snprintf(r.format, sizeof r.format, "%s", hs_source_format(s));
    free(block);
    hs_source_free(s);
    return r;
}

static struct reading read_all(struct hs_str bytes)
{
    return read_limited(bytes, 0, 1 << 20, &hs_limits_default);
}

static void reading_free(struct reading *r)
{
    hs_buf_free(&r->text);
    hs_buf_free(&r->names);
    hs_buf_free(&r->raw);
}

static struct hs_str view(const struct hs_buf *b)
{
    return hs_str(b->p, b->n);
}

/* Checks text and the counts given as pairs (kind, count), ended by -1; every other kind must be 0. */
static void expect(struct reading *r, struct hs_str text, const int (*defects)[2])
{
    ck_assert_msg(r->rc == HS_OK, "%s", r->err.text);
    ck_assert_uint_eq(r->text.n, text.n);
    if (text.n)
        ck_assert_mem_eq(r->text.p, text.p, text.n);
    for (int k = 0; k < HS_QUALITY_KINDS; k++) {
        int64_t want = 0;
        for (size_t i = 0; defects[i][0] >= 0; i++)
            if (defects[i][0] == k)
                want = defects[i][1];
        ck_assert_msg(r->q.count[k] == want, "%s: %lld, expected %lld", hs_quality_infos[k].name,
                      (long long)r->q.count[k], (long long)want);
    }
    reading_free(r);
}
#define NONE ((const int[][2]){{-1, 0}})
#define ONE(kind) ((const int[][2]){{HS_Q_##kind, 1}, {-1, 0}})

/* Text that looks like a trace and is `events` events long; the same for the same number. */
static struct hs_buf sample(unsigned events)
{
    struct hs_buf b = HS_BUF_INIT(BIG);
    uint64_t seed = events + 1;
    hs_buf_puts(&b, "{\"traceEvents\":[");
    for (unsigned i = 0; i < events; i++)
        hs_buf_printf(&b, "%s\n{\"ph\":\"X\",\"name\":\"kernel_%u\",\"ts\":%u.%03u,\"dur\":%u}", i ? "," : "",
                      (unsigned)(test_random(&seed) % 50), i * 7, (unsigned)(test_random(&seed) % 1000),
                      (unsigned)(test_random(&seed) % 100));
    hs_buf_puts(&b, "]}\n");
    return b;
}

START_TEST(plain_bytes_pass_through)
{
    struct hs_buf text = sample(2000);
    for (size_t piece = 0; piece < 3000; piece = piece * 3 + 1) {
        struct reading r = read_limited(view(&text), piece, 4096, &hs_limits_default);
        ck_assert_str_eq(r.format, "json");
        ck_assert_str_eq(r.names.p, "given.json\n");
        expect(&r, view(&text), NONE);
    }
    struct reading r = read_all(HS_STR(""));
    ck_assert_int_eq(r.documents, 1); /* an empty file is a document: the reader says what is wrong with it */
    expect(&r, HS_STR(""), NONE);
    hs_buf_free(&text);
}
END_TEST

START_TEST(gzip_members_and_zeros)
{
    struct hs_buf text = sample(3000), gz = HS_BUF_INIT(BIG), twice = HS_BUF_INIT(BIG);
    size_t third = text.n / 3;
    hs_buf_putc(&gz, 0); /* not at the start: a first zero is plain text */
    hs_buf_clear(&gz);
    test_gzip(&gz, hs_str(text.p, third), 9, Z_DEFAULT_STRATEGY);
    hs_buf_put(&gz, "\0\0\0\0\0", 5);
    test_gzip(&gz, hs_str(text.p + third, third), 0, Z_DEFAULT_STRATEGY);
    test_gzip(&gz, HS_STR(""), 6, Z_DEFAULT_STRATEGY);
    test_gzip(&gz, hs_str(text.p + 2 * third, text.n - 2 * third), 1, Z_FIXED);
    static const char zeros[70000];
    hs_buf_put(&gz, zeros, sizeof zeros);
    for (size_t piece = 0; piece < 5000; piece = piece * 9 + 1) {
        struct reading r = read_limited(view(&gz), piece, 5000, &hs_limits_default);
        ck_assert_str_eq(r.format, "gzip");
        expect(&r, view(&text), NONE);
    }
    test_gzip(&twice, view(&gz), 6, Z_DEFAULT_STRATEGY);
    struct reading r = read_all(view(&twice));
    ck_assert_str_eq(r.format, "gzip in gzip");
    expect(&r, view(&text), NONE);
    struct hs_buf thrice = HS_BUF_INIT(BIG);
    test_gzip(&thrice, view(&twice), 6, Z_DEFAULT_STRATEGY);
    r = read_all(view(&thrice));
    ck_assert_int_eq(r.rc, HS_EINPUT);
    reading_free(&r);
    hs_buf_free(&thrice);
    hs_buf_free(&twice);
    hs_buf_free(&gz);
    hs_buf_free(&text);
}
END_TEST

START_TEST(gzip_header_fields_are_skipped)
{
    struct hs_buf text = sample(5), plain = HS_BUF_INIT(BIG), gz = HS_BUF_INIT(BIG);
    test_gzip(&plain, view(&text), 6, Z_DEFAULT_STRATEGY);
    /* RFC 1952: FHCRC 2, FEXTRA 4, FNAME 8, FCOMMENT 16; in the order extra, name, comment, crc */
    hs_buf_put(&gz, "\x1f\x8b\x08\x1e\0\0\0\0\0\xff", 10);
    hs_buf_put(&gz,
               "\x03\x00"
               "abc",
               5);
    hs_buf_put(&gz, "trace.json\0", 11);
    hs_buf_put(&gz, "a comment\0", 10);
    hs_buf_put(&gz, "\x12\x34", 2);
    hs_buf_put(&gz, plain.p + 10, plain.n - 10);
    for (size_t piece = 0; piece < 3; piece++) {
        struct reading r = read_limited(view(&gz), piece, 4096, &hs_limits_default);
        expect(&r, view(&text), NONE);
    }
    struct reading r = read_all(hs_str(gz.p, 20)); /* cut in the name */
    expect(&r, HS_STR(""), ONE(GZIP_CUT));
    hs_buf_free(&gz);
    hs_buf_free(&plain);
    hs_buf_free(&text);
}
END_TEST

START_TEST(gzip_cut_anywhere_keeps_a_prefix)
{
    struct hs_buf text = sample(40), gz = HS_BUF_INIT(BIG);
    test_gzip(&gz, view(&text), 6, Z_DEFAULT_STRATEGY);
    size_t longest = 0;
    for (size_t cut = 4; cut < gz.n; cut++) { /* fewer than four bytes are not known to be gzip */
        struct reading r = read_all(hs_str(gz.p, cut));
        ck_assert_int_eq(r.rc, HS_OK);
        ck_assert_int_eq((int)r.q.count[HS_Q_GZIP_CUT], 1);
        ck_assert_uint_ge(r.text.n, longest); /* more input never gives less */
        ck_assert_uint_le(r.text.n, text.n);
        if (r.text.n)
            ck_assert_mem_eq(r.text.p, text.p, r.text.n);
        longest = r.text.n;
        reading_free(&r);
    }
    ck_assert_uint_eq(longest, text.n); /* only the trailer was missing at last */
    hs_buf_free(&gz);
    hs_buf_free(&text);
}
END_TEST

START_TEST(gzip_checksum_and_junk_keep_the_data)
{
    struct hs_buf text = sample(300), gz = HS_BUF_INIT(BIG);
    test_gzip(&gz, view(&text), 6, Z_DEFAULT_STRATEGY);
    size_t n = gz.n;
    for (size_t i = n - 8; i < n; i += 4) { /* the CRC, then the length */
        gz.p[i] ^= 1;
        struct reading r = read_all(view(&gz));
        expect(&r, view(&text), ONE(GZIP_CHECKSUM));
        gz.p[i] ^= 1;
    }
    gz.p[n - 8] ^= 1; /* the next member is read all the same */
    test_gzip(&gz, HS_STR("[]"), 6, Z_DEFAULT_STRATEGY);
    hs_buf_puts(&text, "[]");
    struct reading r = read_all(view(&gz));
    expect(&r, view(&text), ONE(GZIP_CHECKSUM));
    gz.p[n - 8] ^= 1;
    hs_buf_puts(&gz, "not gzip at all");
    r = read_all(view(&gz));
    expect(&r, view(&text), ONE(GZIP_TRAILING));
    hs_buf_free(&gz);
    hs_buf_free(&text);
}
END_TEST

START_TEST(two_writers_on_one_file)
{
    struct hs_buf a = sample(20000), b = sample(15000), za = HS_BUF_INIT(BIG), zb = HS_BUF_INIT(BIG),
                  mix = HS_BUF_INIT(BIG);
    test_gzip(&za, view(&a), 6, Z_DEFAULT_STRATEGY);
    test_gzip(&zb, view(&b), 6, Z_DEFAULT_STRATEGY);
    size_t step = 32768;
    ck_assert_uint_gt(za.n, 2 * step);
    for (size_t i = 0; i < za.n || i < zb.n; i += step) {
        if (i < za.n)
            hs_buf_put(&mix, za.p + i, za.n - i < step ? za.n - i : step);
        if (i < zb.n)
            hs_buf_put(&mix, zb.p + i, zb.n - i < step ? zb.n - i : step);
    }
    struct reading r = read_all(view(&mix));
    ck_assert_int_eq(r.rc, HS_OK);
    ck_assert_int_eq((int)r.q.count[HS_Q_GZIP_INTERLEAVED], 1);
    ck_assert_int_eq((int)r.q.count[HS_Q_GZIP_DAMAGED], 0);
    /* what 32 KiB of the first writer's stream hold is there: as much as zlib gives for them alone */
    struct reading alone = read_all(hs_str(za.p, step));
    ck_assert_uint_gt(alone.text.n, 100000);
    ck_assert_uint_ge(r.text.n, alone.text.n - 8);
    ck_assert_mem_eq(r.text.p, a.p, alone.text.n - 8);
    reading_free(&alone);
    reading_free(&r);
    hs_buf_free(&a), hs_buf_free(&b), hs_buf_free(&za), hs_buf_free(&zb), hs_buf_free(&mix);
}
END_TEST

/* ---- the twins ---- */

static void gunzip_with(const struct hs_inflate_ops *ops, struct hs_str bytes, size_t piece, size_t cap,
                        struct hs_buf *out, struct hs_quality *q)
{
    struct test_input in;
    test_input_init(&in, bytes, piece, "twin");
    struct hs_budget budget = {.limits = &hs_limits_default, .bytes_in = bytes.n, .name = "twin"};
    struct hs_pull below = {in.in.read, in.in.ctx};
    struct hs_gunzip *g = hs_gunzip_new(ops, below, &budget, q);
    struct hs_pull p = hs_gunzip_pull(g);
    char *block = malloc(cap);
    struct hs_err err = HS_ERR_INIT;
    size_t got = 1;
    while (got) {
        ck_assert_int_eq(p.read(p.self, block, cap, &got, &err), HS_OK);
        hs_buf_put(out, block, got);
    }
    free(block);
    hs_gunzip_free(g);
}

static int64_t defects(const struct hs_quality *q)
{
    int64_t n = 0;
    for (int k = 0; k < HS_QUALITY_KINDS; k++)
        n += q->count[k];
    return n;
}

static void same_from_both(struct hs_str gz, bool hurt, size_t piece, size_t cap)
{
    struct hs_buf a = HS_BUF_INIT(BIG), b = HS_BUF_INIT(BIG);
    struct hs_quality qa, qb;
    hs_quality_init(&qa);
    hs_quality_init(&qb);
    gunzip_with(&hs_inflate_zlib, gz, piece, cap, &a, &qa);
    gunzip_with(hs_inflate_best, gz, piece, cap, &b, &qb);
    size_t n = a.n < b.n ? a.n : b.n, more = a.n + b.n - 2 * n;
    if (n)
        ck_assert_mem_eq(a.p, b.p, n);
    if (!hurt) {
        ck_assert_uint_le(more, qa.count[HS_Q_GZIP_CUT] ? 258 : 0); /* at a cut one match more or less */
        ck_assert_mem_eq(qa.count, qb.count, sizeof qa.count);
    } else { /* they disagree on a few malformed codes, so one may stop where the other goes on, but neither unnoticed */
        ck_assert_int_eq(defects(&qa) > 0, defects(&qb) > 0);
    }
    hs_buf_free(&a);
    hs_buf_free(&b);
}

START_TEST(twins_agree_on_sound_and_damaged_input)
{
    struct hs_buf text = sample(3000);
    uint64_t seed = 7;
    static const int strategies[] = {Z_DEFAULT_STRATEGY, Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE};
    for (int round = 0; round < 400; round++) {
        struct hs_buf gz = HS_BUF_INIT(BIG);
        size_t n = test_random(&seed) % text.n;
        test_gzip(&gz, hs_str(text.p, n), (int)(test_random(&seed) % 10), strategies[round % 4]);
        if (round % 3 == 0)
            test_gzip(&gz, hs_str(text.p, n / 2), 6, Z_DEFAULT_STRATEGY);
        size_t piece = round % 5 ? 0 : 1 + test_random(&seed) % 700, cap = 1 + test_random(&seed) % 100000;
        same_from_both(view(&gz), false, piece, cap);
        same_from_both(hs_str(gz.p, 10 + test_random(&seed) % (gz.n - 10)), false, piece, cap);
        for (int hit = 0; hit < 4; hit++) {
            size_t at = 10 + test_random(&seed) % (gz.n - 10); /* a bit, then runs of bytes */
            gz.p[at] = (char)(gz.p[at] ^ (char)(1u << test_random(&seed) % 8));
            for (size_t k = 0; k < (size_t)hit * 100 && at + k < gz.n; k++)
                gz.p[at + k] = (char)test_random(&seed);
            same_from_both(view(&gz), true, piece, cap);
        }
        hs_buf_free(&gz);
    }
    hs_buf_free(&text);
}
END_TEST

/* ---- archives ---- */

static void archive_of_two_ranks(enum test_archive kind, const char *format, bool zipped_again)
{
    struct hs_buf a = sample(100), b = sample(200), gz = HS_BUF_INIT(BIG), ar = HS_BUF_INIT(BIG),
                  outer = HS_BUF_INIT(BIG);
    test_gzip(&gz, view(&b), 6, Z_DEFAULT_STRATEGY);
    const struct test_member members[] = {
        {"run/", HS_STR("")},
        {"run/notes.txt", HS_STR("not a trace")},
        {"run/rank0.json", view(&a)},
        {"__MACOSX/run/._rank0.json", HS_STR("\0\5\x16\7 litter")},
        {"run/rank1.json.gz", view(&gz)},
        {"run/picture.png", HS_STR("\x89PNG\r\n\x1a\n{}")},
        {"run/no_suffix", HS_STR(" [ ]")},
    };
    test_archive(&ar, kind, members, sizeof members / sizeof *members);
    if (zipped_again)
        test_gzip(&outer, view(&ar), 6, Z_DEFAULT_STRATEGY);
    for (size_t piece = 0; piece < 2000; piece = piece * 40 + 1) {
        struct reading r = read_limited(view(zipped_again ? &outer : &ar), piece, 7000, &hs_limits_default);
        ck_assert_msg(r.rc == HS_OK, "%s", r.err.text);
        ck_assert_int_eq(r.documents, 3);
        ck_assert_str_eq(r.format, format);
        ck_assert_str_eq(r.names.p, "run/rank0.json\nrun/rank1.json.gz\nrun/no_suffix\n");
        ck_assert_uint_eq(r.first_end, a.n);
        struct hs_buf all = HS_BUF_INIT(BIG);
        hs_buf_put(&all, a.p, a.n);
        hs_buf_put(&all, b.p, b.n);
        hs_buf_puts(&all, " [ ]");
        expect(&r, view(&all), (const int[][2]){{HS_Q_ARCHIVE_IGNORED, 3}, {-1, 0}}); /* notes, litter, picture */
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
    struct hs_buf text = sample(5000), z = HS_BUF_INIT(BIG);
    test_zstd(&z, view(&text));
    struct reading r = read_all(view(&z));
    ck_assert_str_eq(r.names.p, "given.json\n");
    expect(&r, view(&text), NONE);
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
    struct hs_buf a = sample(100), b = sample(3000), ar = HS_BUF_INIT(BIG);
    const struct test_member members[] = {{"a.json", view(&a)}, {"b.json", view(&b)}};
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
    struct hs_buf ar = HS_BUF_INIT(BIG);
    const struct test_member members[] = {{"readme.txt", HS_STR("hello")}};
    test_archive(&ar, TEST_ZIP, members, 1);
    struct reading r = read_all(view(&ar));
    ck_assert_int_eq(r.documents, 0);
    expect(&r, HS_STR(""), ONE(ARCHIVE_IGNORED));
    r = read_all(HS_STR("PK\3\4 and then nothing that makes sense"));
    ck_assert_int_eq(r.rc, HS_EINPUT);
    reading_free(&r);
    hs_buf_clear(&ar);
    test_archive(&ar, TEST_ZIP_ENCRYPTED, (const struct test_member[]){{"a.json", HS_STR("[]")}}, 1);
    r = read_all(view(&ar));
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
    expect(&r, HS_STR("[]"), ONE(BOM));
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
            expect(&r, HS_STR(WIDE_UTF8), marked);
            r = read_limited(HS_STR("\xfe\xff" WIDE_BE), piece, cap, &hs_limits_default);
            expect(&r, HS_STR(WIDE_UTF8), marked);
            r = read_limited(HS_STR(WIDE_LE), piece, cap, &hs_limits_default);
            expect(&r, HS_STR(WIDE_UTF8), marked + 1);
            r = read_limited(HS_STR(WIDE_BE), piece, cap, &hs_limits_default);
            expect(&r, HS_STR(WIDE_UTF8), marked + 1);
        }
    /* half a unit at the end, and a first half that never gets its second */
    struct reading r = read_all(HS_STR("\xff\xfe[\0]\0x"));
    expect(&r, HS_STR("[]\xef\xbf\xbd"), marked);
    r = read_all(HS_STR("\xff\xfe[\0\x3d\xd8]\0"));
    expect(&r, HS_STR("[\xef\xbf\xbd]"), marked);
}
END_TEST

START_TEST(utf16_of_any_length)
{
    struct hs_buf text = sample(4000), wide = HS_BUF_INIT(BIG), gz = HS_BUF_INIT(BIG);
    hs_buf_put(&wide, "\xff\xfe", 2);
    for (size_t i = 0; i < text.n; i++) {
        hs_buf_putc(&wide, text.p[i]);
        hs_buf_putc(&wide, 0);
    }
    test_gzip(&gz, view(&wide), 6, Z_DEFAULT_STRATEGY);
    struct reading r = read_limited(view(&gz), 999, 1001, &hs_limits_default);
    expect(&r, view(&text), (const int[][2]){{HS_Q_BOM, 1}, {HS_Q_UTF16, 1}, {-1, 0}});
    hs_buf_free(&gz), hs_buf_free(&wide), hs_buf_free(&text);
}
END_TEST

/* ---- limits and errors ---- */

START_TEST(limits_end_it)
{
    struct hs_buf zeros = HS_BUF_INIT(BIG), gz = HS_BUF_INIT(BIG), gzgz = HS_BUF_INIT(BIG), zip = HS_BUF_INIT(BIG);
    hs_buf_reserve(&zeros, 80 << 20);
    memset(zeros.p, '[', zeros.n = 80 << 20);
    test_gzip(&gz, view(&zeros), 1, Z_DEFAULT_STRATEGY);
    test_gzip(&gzgz, view(&gz), 6, Z_DEFAULT_STRATEGY);
    test_archive(&zip, TEST_ZIP, (const struct test_member[]){{"skipped.bin", hs_str(zeros.p + 1, 79 << 20)}}, 1);
    struct hs_limits l = hs_limits_default;
    l.ratio = 100;
    const struct hs_buf *const bombs[] = {&gz, &gzgz};
    for (size_t i = 0; i < 2; i++) {
        struct reading r = read_limited(view(bombs[i]), 0, 1 << 20, &l);
        ck_assert_int_eq(r.rc, HS_ELIMIT);
        ck_assert_ptr_nonnull(strstr(r.err.text, "100 times"));
        ck_assert_uint_le(r.text.n, (64 << 20) + (2 << 20)); /* stopped where the ratio begins to count */
        reading_free(&r);
    }
    struct reading r = read_limited(view(&zip), 0, 1 << 20, &l);
    ck_assert_int_eq(r.rc, HS_ELIMIT);
    reading_free(&r);
    l = hs_limits_default;
    l.bytes_json = 1 << 20;
    l.ratio = 100000;
    r = read_limited(view(&gz), 0, 1 << 16, &l);
    ck_assert_int_eq(r.rc, HS_ELIMIT);
    ck_assert_uint_le(r.text.n, (1 << 20) + (1 << 16));
    reading_free(&r);
    r = read_limited(view(&zeros), 0, 1 << 16, &l);
    ck_assert_int_eq(r.rc, HS_ELIMIT);
    reading_free(&r);
    l.bytes_in = 1000;
    r = read_limited(view(&gz), 100, 1 << 16, &l);
    ck_assert_int_eq(r.rc, HS_ELIMIT);
    ck_assert_uint_le(r.raw.n, 1000);
    reading_free(&r);
    hs_buf_free(&zeros), hs_buf_free(&gz), hs_buf_free(&gzgz), hs_buf_free(&zip);
}
END_TEST

START_TEST(too_many_members)
{
    struct test_member members[20];
    for (int i = 0; i < 20; i++)
        members[i] = (struct test_member){"x.json", HS_STR("[]")};
    struct hs_buf ar = HS_BUF_INIT(BIG);
    test_archive(&ar, TEST_TAR, members, 20);
    struct hs_limits l = hs_limits_default;
    l.members = 19;
    struct reading r = read_limited(view(&ar), 0, 4096, &l);
    ck_assert_int_eq(r.rc, HS_ELIMIT);
    ck_assert_int_eq(r.documents, 19);
    reading_free(&r);
    hs_buf_free(&ar);
}
END_TEST

START_TEST(an_input_that_breaks_says_so)
{
    struct hs_buf text = sample(3000), gz = HS_BUF_INIT(BIG), ar = HS_BUF_INIT(BIG);
    test_gzip(&gz, view(&text), 6, Z_DEFAULT_STRATEGY);
    test_archive(&ar, TEST_ZIP, (const struct test_member[]){{"a.json", view(&text)}}, 1);
    const struct hs_buf *const all[] = {&text, &gz, &ar};
    for (size_t i = 0; i < 3; i++) {
        struct test_input in;
        test_input_init(&in, view(all[i]), 1000, "breaking");
        in.fail_at = 3000;
        struct hs_source *s;
        struct hs_err err = HS_ERR_INIT;
        struct hs_quality q;
        hs_quality_init(&q);
        hs_source_new(&s, &in.in, &hs_limits_default, NULL, &err);
        bool more;
        const char *name;
        int rc = hs_source_next(s, &more, &name, &err);
        char block[512];
        size_t got = 1;
        while (!rc && got)
            rc = hs_source_read(s, block, sizeof block, &got, &q, &err);
        ck_assert_int_eq(rc, HS_EINTERNAL);
        ck_assert_ptr_nonnull(strstr(err.text, "breaks here"));
        hs_source_free(s);
    }
    hs_buf_free(&text), hs_buf_free(&gz), hs_buf_free(&ar);
}
END_TEST

START_TEST(files_are_opened_or_refused)
{
    char *dir = hs_test_tmpdir(), path[600];
    struct hs_input in;
    struct hs_err err = HS_ERR_INIT;
    ck_assert_int_eq(hs_input_open_file(&in, dir, &err), HS_EINPUT);
    snprintf(path, sizeof path, "%s/t.json", dir);
    ck_assert_int_eq(hs_input_open_file(&in, path, &err), HS_ENOTFOUND);
    FILE *f = fopen(path, "w");
    fputs("[1]", f);
    fclose(f);
    ck_assert_int_eq(hs_input_open_file(&in, path, &err), HS_OK);
    ck_assert_int_eq((int)in.size, 3);
    char b[8];
    size_t got;
    ck_assert_int_eq(in.read(in.ctx, b, sizeof b, &got, &err), HS_OK);
    ck_assert_uint_eq(got, 3);
    ck_assert_int_eq(in.read(in.ctx, b, sizeof b, &got, &err), HS_OK);
    ck_assert_uint_eq(got, 0);
    hs_input_close_file(&in);
    hs_test_rmdir(dir);
    free(dir);
}
END_TEST

HS_SUITE(ingest_source)
{
    HS_TEST(plain_bytes_pass_through);
    HS_TEST(gzip_members_and_zeros);
    HS_TEST(gzip_header_fields_are_skipped);
    HS_TEST(gzip_cut_anywhere_keeps_a_prefix);
    HS_TEST(gzip_checksum_and_junk_keep_the_data);
    HS_TEST(two_writers_on_one_file);
    HS_TEST(twins_agree_on_sound_and_damaged_input);
    HS_TEST(archives_give_their_traces);
    HS_TEST(zstd_of_one_document);
    HS_TEST(cut_archives_keep_the_earlier_members);
    HS_TEST(no_traces_in_an_archive);
    HS_TEST(byte_order_mark_is_skipped);
    HS_TEST(utf16_is_transcoded);
    HS_TEST(utf16_of_any_length);
    HS_TEST(limits_end_it);
    HS_TEST(too_many_members);
    HS_TEST(an_input_that_breaks_says_so);
    HS_TEST(files_are_opened_or_refused);
}
