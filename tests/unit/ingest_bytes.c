#include "tests/unit/ingest_bytes.h"

#include <archive.h>
#include <archive_entry.h>
#include <check.h>
#include <string.h>
#include <zlib.h>

static int input_read(void *ctx, void *buf, size_t cap, size_t *got, struct hs_err *err)
{
    struct test_input *t = ctx;
    size_t n = t->bytes.n - t->pos;
    if (t->fail_at && t->pos >= t->fail_at)
        return hs_fail(err, HS_EINTERNAL, "the test's input breaks here");
    if (n > cap)
        n = cap;
    if (t->piece && n > t->piece)
        n = t->piece;
    if (n)
        memcpy(buf, t->bytes.p + t->pos, n);
    t->pos += n;
    *got = n;
    return HS_OK;
}

void test_input_init(struct test_input *t, struct hs_str bytes, size_t piece, const char *name)
{
    *t = (struct test_input){.bytes = bytes, .piece = piece};
    t->in = (struct hs_input){input_read, t, name, (int64_t)bytes.n};
}

void test_gzip(struct hs_buf *out, struct hs_str text, int level, int strategy)
{
    z_stream z = {0};
    ck_assert_int_eq(deflateInit2(&z, level, Z_DEFLATED, 31, 8, strategy), Z_OK);
    size_t bound = deflateBound(&z, text.n);
    ck_assert(hs_buf_reserve(out, bound));
    z.next_in = (Bytef *)(uintptr_t)text.p;
    z.avail_in = (uInt)text.n;
    z.next_out = (Bytef *)out->p + out->n;
    z.avail_out = (uInt)bound;
    ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
    out->n += z.total_out;
    deflateEnd(&z);
}

static la_ssize_t on_write(struct archive *a, void *ctx, const void *p, size_t n)
{
    (void)a;
    hs_buf_put(ctx, p, n);
    return (la_ssize_t)n;
}

void test_archive(struct hs_buf *out, enum test_archive kind, const struct test_member *members, size_t n)
{
    struct archive *a = archive_write_new();
    bool zip = kind == TEST_ZIP || kind == TEST_ZIP_ENCRYPTED;
    ck_assert_int_eq(zip ? archive_write_set_format_zip(a) : archive_write_set_format_ustar(a), ARCHIVE_OK);
    if (kind == TEST_ZIP_ENCRYPTED) {
        ck_assert_int_eq(archive_write_set_options(a, "zip:encryption=zipcrypt"), ARCHIVE_OK);
        ck_assert_int_eq(archive_write_set_passphrase(a, "secret"), ARCHIVE_OK);
    }
    if (kind == TEST_TAR_ZSTD)
        ck_assert_int_eq(archive_write_add_filter_zstd(a), ARCHIVE_OK);
    archive_write_set_bytes_in_last_block(a, 1); /* no padding */
    ck_assert_int_eq(archive_write_open(a, out, NULL, on_write, NULL), ARCHIVE_OK);
    for (size_t i = 0; i < n; i++) {
        struct archive_entry *e = archive_entry_new();
        size_t k = strlen(members[i].name);
        bool folder = k && members[i].name[k - 1] == '/';
        archive_entry_set_pathname(e, members[i].name);
        archive_entry_set_filetype(e, folder ? AE_IFDIR : AE_IFREG);
        archive_entry_set_perm(e, 0644);
        archive_entry_set_size(e, (la_int64_t)members[i].bytes.n);
        ck_assert_int_eq(archive_write_header(a, e), ARCHIVE_OK);
        if (!folder)
            ck_assert_int_eq(archive_write_data(a, members[i].bytes.p, members[i].bytes.n),
                             (la_ssize_t)members[i].bytes.n);
        archive_entry_free(e);
    }
    ck_assert_int_eq(archive_write_close(a), ARCHIVE_OK);
    archive_write_free(a);
}

void test_zstd(struct hs_buf *out, struct hs_str text)
{
    struct archive *a = archive_write_new();
    ck_assert_int_eq(archive_write_set_format_raw(a), ARCHIVE_OK);
    ck_assert_int_eq(archive_write_add_filter_zstd(a), ARCHIVE_OK);
    archive_write_set_bytes_in_last_block(a, 1); /* no padding */
    ck_assert_int_eq(archive_write_open(a, out, NULL, on_write, NULL), ARCHIVE_OK);
    struct archive_entry *e = archive_entry_new();
    archive_entry_set_filetype(e, AE_IFREG);
    archive_entry_set_pathname(e, "x");
    ck_assert_int_eq(archive_write_header(a, e), ARCHIVE_OK);
    ck_assert_int_eq(archive_write_data(a, text.p, text.n), (la_ssize_t)text.n);
    archive_entry_free(e);
    ck_assert_int_eq(archive_write_close(a), ARCHIVE_OK);
    archive_write_free(a);
}

uint64_t test_random(uint64_t *state)
{
    uint64_t x = *state ? *state : 0x9e3779b97f4a7c15u;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * 2685821657736338717u;
}
