/* source: gzip and plain bytes give what was put in, or as much of it as is there, and say what was wrong. */
#include "tests/unit/ingest_bytes.h"
#include "tests/unit/source_reading.h"
#include "tests/unit/test.h"

#include "ingest/source_gzip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

START_TEST(plain_bytes_pass_through)
{
    struct hs_buf text = sample_text(2000);
    for (size_t piece = 0; piece < 3000; piece = piece * 3 + 1) {
        struct reading r = read_limited(buf_str(&text), piece, 4096, &hs_limits_default);
        ck_assert_str_eq(r.format, "json");
        ck_assert_str_eq(r.names.p, "given.json\n");
        reading_expect(&r, buf_str(&text), DEFECTS_NONE);
    }
    struct reading r = read_all(HS_STR(""));
    ck_assert_int_eq(r.documents, 1); /* an empty file is a document: the reader says what is wrong with it */
    reading_expect(&r, HS_STR(""), DEFECTS_NONE);
    hs_buf_free(&text);
}
END_TEST

START_TEST(gzip_members_and_zeros)
{
    struct hs_buf text = sample_text(3000), gz = HS_BUF_INIT(READING_BIG), twice = HS_BUF_INIT(READING_BIG);
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
        struct reading r = read_limited(buf_str(&gz), piece, 5000, &hs_limits_default);
        ck_assert_str_eq(r.format, "gzip");
        reading_expect(&r, buf_str(&text), DEFECTS_NONE);
    }
    test_gzip(&twice, buf_str(&gz), 6, Z_DEFAULT_STRATEGY);
    struct reading r = read_all(buf_str(&twice));
    ck_assert_str_eq(r.format, "gzip in gzip");
    reading_expect(&r, buf_str(&text), DEFECTS_NONE);
    struct hs_buf thrice = HS_BUF_INIT(READING_BIG);
    test_gzip(&thrice, buf_str(&twice), 6, Z_DEFAULT_STRATEGY);
    r = read_all(buf_str(&thrice));
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
    struct hs_buf text = sample_text(5), plain = HS_BUF_INIT(READING_BIG), gz = HS_BUF_INIT(READING_BIG);
    test_gzip(&plain, buf_str(&text), 6, Z_DEFAULT_STRATEGY);
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
        struct reading r = read_limited(buf_str(&gz), piece, 4096, &hs_limits_default);
        reading_expect(&r, buf_str(&text), DEFECTS_NONE);
    }
    struct reading r = read_all(hs_str(gz.p, 20)); /* cut in the name */
    reading_expect(&r, HS_STR(""), DEFECTS_ONE(GZIP_CUT));
    hs_buf_free(&gz);
    hs_buf_free(&plain);
    hs_buf_free(&text);
}
END_TEST

START_TEST(gzip_cut_anywhere_keeps_a_prefix)
{
    struct hs_buf text = sample_text(40), gz = HS_BUF_INIT(READING_BIG);
    test_gzip(&gz, buf_str(&text), 6, Z_DEFAULT_STRATEGY);
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
    struct hs_buf text = sample_text(300), gz = HS_BUF_INIT(READING_BIG);
    test_gzip(&gz, buf_str(&text), 6, Z_DEFAULT_STRATEGY);
    size_t n = gz.n;
    for (size_t i = n - 8; i < n; i += 4) { /* the CRC, then the length */
        gz.p[i] ^= 1;
        struct reading r = read_all(buf_str(&gz));
        reading_expect(&r, buf_str(&text), DEFECTS_ONE(GZIP_CHECKSUM));
        gz.p[i] ^= 1;
    }
    gz.p[n - 8] ^= 1; /* the next member is read all the same */
    test_gzip(&gz, HS_STR("[]"), 6, Z_DEFAULT_STRATEGY);
    hs_buf_puts(&text, "[]");
    struct reading r = read_all(buf_str(&gz));
    reading_expect(&r, buf_str(&text), DEFECTS_ONE(GZIP_CHECKSUM));
    gz.p[n - 8] ^= 1;
    hs_buf_puts(&gz, "not gzip at all");
    r = read_all(buf_str(&gz));
    reading_expect(&r, buf_str(&text), DEFECTS_ONE(GZIP_TRAILING));
    hs_buf_free(&gz);
    hs_buf_free(&text);
}
END_TEST

START_TEST(two_writers_on_one_file)
{
    struct hs_buf a = sample_text(20000), b = sample_text(15000), za = HS_BUF_INIT(READING_BIG),
                  zb = HS_BUF_INIT(READING_BIG), mix = HS_BUF_INIT(READING_BIG);
    test_gzip(&za, buf_str(&a), 6, Z_DEFAULT_STRATEGY);
    test_gzip(&zb, buf_str(&b), 6, Z_DEFAULT_STRATEGY);
    size_t step = 32768;
    ck_assert_uint_gt(za.n, 2 * step);
    for (size_t i = 0; i < za.n || i < zb.n; i += step) {
        if (i < za.n)
            hs_buf_put(&mix, za.p + i, za.n - i < step ? za.n - i : step);
        if (i < zb.n)
            hs_buf_put(&mix, zb.p + i, zb.n - i < step ? zb.n - i : step);
    }
    struct reading r = read_all(buf_str(&mix));
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
    struct hs_buf a = HS_BUF_INIT(READING_BIG), b = HS_BUF_INIT(READING_BIG);
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
    struct hs_buf text = sample_text(3000);
    uint64_t seed = 7;
    static const int strategies[] = {Z_DEFAULT_STRATEGY, Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE};
    for (int round = 0; round < 400; round++) {
        struct hs_buf gz = HS_BUF_INIT(READING_BIG);
        size_t n = test_random(&seed) % text.n;
        test_gzip(&gz, hs_str(text.p, n), (int)(test_random(&seed) % 10), strategies[round % 4]);
        if (round % 3 == 0)
            test_gzip(&gz, hs_str(text.p, n / 2), 6, Z_DEFAULT_STRATEGY);
        size_t piece = round % 5 ? 0 : 1 + test_random(&seed) % 700, cap = 1 + test_random(&seed) % 100000;
        same_from_both(buf_str(&gz), false, piece, cap);
        same_from_both(hs_str(gz.p, 10 + test_random(&seed) % (gz.n - 10)), false, piece, cap);
        for (int hit = 0; hit < 4; hit++) {
            size_t at = 10 + test_random(&seed) % (gz.n - 10); /* a bit, then runs of bytes */
            gz.p[at] = (char)(gz.p[at] ^ (char)(1u << test_random(&seed) % 8));
            for (size_t k = 0; k < (size_t)hit * 100 && at + k < gz.n; k++)
                gz.p[at + k] = (char)test_random(&seed);
            same_from_both(buf_str(&gz), true, piece, cap);
        }
        hs_buf_free(&gz);
    }
    hs_buf_free(&text);
}
END_TEST

/* ---- limits and errors ---- */

START_TEST(limits_end_it)
{
    struct hs_buf zeros = HS_BUF_INIT(READING_BIG), gz = HS_BUF_INIT(READING_BIG), gzgz = HS_BUF_INIT(READING_BIG),
                  zip = HS_BUF_INIT(READING_BIG);
    hs_buf_reserve(&zeros, 80 << 20);
    memset(zeros.p, '[', zeros.n = 80 << 20);
    test_gzip(&gz, buf_str(&zeros), 1, Z_DEFAULT_STRATEGY);
    test_gzip(&gzgz, buf_str(&gz), 6, Z_DEFAULT_STRATEGY);
    test_archive(&zip, TEST_ZIP, (const struct test_member[]){{"skipped.bin", hs_str(zeros.p + 1, 79 << 20)}}, 1);
    struct hs_limits l = hs_limits_default;
    l.ratio = 100;
    const struct hs_buf *const bombs[] = {&gz, &gzgz};
    for (size_t i = 0; i < 2; i++) {
        struct reading r = read_limited(buf_str(bombs[i]), 0, 1 << 20, &l);
        ck_assert_int_eq(r.rc, HS_ELIMIT);
        ck_assert_ptr_nonnull(strstr(r.err.text, "100 times"));
        ck_assert_uint_le(r.text.n, (64 << 20) + (2 << 20)); /* stopped where the ratio begins to count */
        reading_free(&r);
    }
    struct reading r = read_limited(buf_str(&zip), 0, 1 << 20, &l);
    ck_assert_int_eq(r.rc, HS_ELIMIT);
    reading_free(&r);
    l = hs_limits_default;
    l.bytes_json = 1 << 20;
    l.ratio = 100000;
    r = read_limited(buf_str(&gz), 0, 1 << 16, &l);
    ck_assert_int_eq(r.rc, HS_ELIMIT);
    ck_assert_uint_le(r.text.n, (1 << 20) + (1 << 16));
    reading_free(&r);
    r = read_limited(buf_str(&zeros), 0, 1 << 16, &l);
    ck_assert_int_eq(r.rc, HS_ELIMIT);
    reading_free(&r);
    l.bytes_in = 1000;
    r = read_limited(buf_str(&gz), 100, 1 << 16, &l);
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
    struct hs_buf ar = HS_BUF_INIT(READING_BIG);
    test_archive(&ar, TEST_TAR, members, 20);
    struct hs_limits l = hs_limits_default;
    l.members = 19;
    struct reading r = read_limited(buf_str(&ar), 0, 4096, &l);
    ck_assert_int_eq(r.rc, HS_ELIMIT);
    ck_assert_int_eq(r.documents, 19);
    reading_free(&r);
    hs_buf_free(&ar);
}
END_TEST

START_TEST(an_input_that_breaks_says_so)
{
    struct hs_buf text = sample_text(3000), gz = HS_BUF_INIT(READING_BIG), ar = HS_BUF_INIT(READING_BIG);
    test_gzip(&gz, buf_str(&text), 6, Z_DEFAULT_STRATEGY);
    test_archive(&ar, TEST_ZIP, (const struct test_member[]){{"a.json", buf_str(&text)}}, 1);
    const struct hs_buf *const all[] = {&text, &gz, &ar};
    for (size_t i = 0; i < 3; i++) {
        struct test_input in;
        test_input_init(&in, buf_str(all[i]), 1000, "breaking");
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

/* Nothing outside of the folder can be reached by a link that somebody puts where a file or folder was, and no pipe holds the
 * caller up. */
START_TEST(files_below_a_folder)
{
    static const struct {
        const char *below;
        int rc;
    } c[] = {{"in/t.json", HS_OK},          {"in/link.json", HS_EINPUT}, {"out/t.json", HS_EINPUT},
             {"../secret.json", HS_EINPUT}, {"in/pipe.json", HS_EINPUT}, {"in", HS_EINPUT},
             {"in/none.json", HS_ENOTFOUND}};
    char *dir = hs_test_tmpdir(), cmd[2000], root[600];
    snprintf(
        cmd, sizeof cmd,
        "cd '%s' && mkdir -p real/in secret && echo '[]' >real/in/t.json && echo '[]' >secret/t.json && "
        "cp secret/t.json secret.json && ln -s ../../secret/t.json real/in/link.json && ln -s ../secret real/out && "
        "mkfifo real/in/pipe.json && ln -s real mount",
        dir);
    ck_assert_int_eq(system(cmd), 0);
    snprintf(root, sizeof root, "%s/mount", dir); /* a link itself */
    for (size_t i = 0; i < sizeof c / sizeof c[0]; i++) {
        struct hs_input in = {0};
        struct hs_err err = HS_ERR_INIT;
        int rc = hs_input_open_below(&in, root, c[i].below, &err);
        ck_assert_msg(rc == c[i].rc, "%s: %d, %s", c[i].below, rc, err.text);
        if (!rc) {
            char text[10];
            size_t got;
            ck_assert_int_eq(in.read(in.ctx, text, sizeof text, &got, &err), HS_OK);
            ck_assert(got == 3 && in.size == 3 && !memcmp(text, "[]\n", 3));
            hs_input_close_file(&in);
        }
    }
    hs_test_rmdir(dir);
    free(dir);
}
END_TEST

HS_SUITE(ingest_source)
{
    HS_TEST(files_below_a_folder);
    HS_TEST(plain_bytes_pass_through);
    HS_TEST(gzip_members_and_zeros);
    HS_TEST(gzip_header_fields_are_skipped);
    HS_TEST(gzip_cut_anywhere_keeps_a_prefix);
    HS_TEST(gzip_checksum_and_junk_keep_the_data);
    HS_TEST(two_writers_on_one_file);
    HS_TEST(twins_agree_on_sound_and_damaged_input);
    HS_TEST(limits_end_it);
    HS_TEST(too_many_members);
    HS_TEST(an_input_that_breaks_says_so);
    HS_TEST(files_are_opened_or_refused);
}
