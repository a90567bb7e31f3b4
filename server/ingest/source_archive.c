#include "ingest/source_archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct hs_archive {
    struct archive *ar;
    enum hs_archive_kind kind;
    struct hs_pull below;
    const struct hs_budget *budget;
    struct hs_quality *defects;
    const char *input_name;
    char *name;        /* of the current member */
    bool open, broken; /* a member is being read; nothing more can be read */
    bool below_ended;
    uint64_t out, members; /* bytes of all members; headers seen */
    const char *block;     /* unused data of the current member, libarchive's */
    size_t nblock;
    int64_t at;   /* of the member: where its next byte belongs (sparse files have holes) */
    int64_t hole; /* zeros due before block */
    int below_rc; /* what stopped the layer below, with its message */
    struct hs_err below_err;
    unsigned char in[256u << 10];
};

enum hs_archive_kind hs_archive_sniff(const unsigned char *p, size_t n)
{
    if (n >= 4 && p[0] == 'P' && p[1] == 'K' && ((p[2] == 3 && p[3] == 4) || (p[2] == 5 && p[3] == 6)))
        return HS_ARCHIVE_ZIP;
    if (n >= 4 && !memcmp(p, "\x28\xb5\x2f\xfd", 4))
        return HS_ARCHIVE_ZSTD;
    if (n >= 262 && !memcmp(p + 257, "ustar", 5))
        return HS_ARCHIVE_TAR;
    return HS_ARCHIVE_NONE;
}

const char *hs_archive_kind_name(enum hs_archive_kind kind)
{
    static const char *const names[] = {"", "zip", "tar", "zstd"};
    return names[kind];
}

/* libarchive's read callback. An error of ours is kept aside, because libarchive only passes on that there was one. */
static la_ssize_t on_read(struct archive *ar, void *self, const void **buf)
{
    struct hs_archive *a = self;
    size_t got = 0;
    *buf = a->in;
    if (!a->below_rc && !a->below_ended)
        a->below_rc = a->below.read(a->below.self, a->in, sizeof a->in, &got, &a->below_err);
    if (a->below_rc) {
        archive_set_error(ar, EIO, "%s", a->below_err.text);
        return ARCHIVE_FATAL;
    }
    a->below_ended = !got;
    return (la_ssize_t)got;
}

int hs_archive_new(struct hs_archive **out, enum hs_archive_kind kind, struct hs_pull below,
                   const struct hs_budget *budget, struct hs_quality *defects, const char *name, struct hs_err *err)
{
    struct hs_archive *a = hs_malloc(sizeof *a);
    memset(a, 0, offsetof(struct hs_archive, in));
    a->kind = kind;
    a->below = below;
    a->budget = budget;
    a->defects = defects;
    a->input_name = name;
    hs_err_clear(&a->below_err);
    a->ar = archive_read_new();
    if (!a->ar)
        abort(); /* without memory only */
    /* Only what was sniffed: libarchive's other filters may start programs. */
    if (kind == HS_ARCHIVE_ZIP)
        archive_read_support_format_zip_streamable(a->ar);
    if (kind == HS_ARCHIVE_ZSTD) {
        archive_read_support_filter_zstd(a->ar);
        archive_read_support_format_raw(a->ar);
    }
    if (kind != HS_ARCHIVE_ZIP)
        archive_read_support_format_tar(a->ar);
    if (archive_read_open(a->ar, a, NULL, on_read, NULL) != ARCHIVE_OK) {
        int rc = a->below_rc;
        if (rc && err)
            *err = a->below_err;
        else if (!rc)
            rc = hs_fail(err, HS_EINPUT, "%s looks like a %s archive but cannot be read as one: %s", name,
                         hs_archive_kind_name(kind), archive_error_string(a->ar));
        hs_archive_free(a);
        return rc;
    }
    *out = a;
    return HS_OK;
}

void hs_archive_free(struct hs_archive *a)
{
    if (!a)
        return;
    archive_read_free(a->ar);
    free(a->name);
    free(a);
}

/* The archive cannot be read further: an error only if that is the layer below's. */
static int broken(struct hs_archive *a, struct hs_err *err)
{
    a->broken = true;
    a->open = false;
    if (a->below_rc) {
        if (err)
            *err = a->below_err;
        return a->below_rc;
    }
    hs_quality_add(a->defects, a->below_ended ? HS_Q_GZIP_CUT : HS_Q_GZIP_DAMAGED, 1, (int64_t)a->out);
    return HS_OK;
}

/* The next block of the current member; nblock = 0 and open = false at its end. */
static int next_block(struct hs_archive *a, struct hs_err *err)
{
    const void *p;
    size_t n = 0;
    la_int64_t offset = 0;
    int st = archive_read_data_block(a->ar, &p, &n, &offset);
    if (st == ARCHIVE_EOF) {
        a->open = false;
        return HS_OK;
    }
    if (st < ARCHIVE_WARN) /* FAILED and FATAL */
        return broken(a, err);
    if (st == ARCHIVE_WARN) /* a checksum that does not match: data are there */
        hs_quality_add(a->defects, HS_Q_GZIP_CHECKSUM, 1, (int64_t)a->out);
    a->block = p;
    a->nblock = n;
    a->hole = offset > a->at ? offset - a->at : 0;
    a->at = offset + (la_int64_t)n;
    uint64_t inflated = (uint64_t)archive_filter_bytes(a->ar, 0), out = a->out + n + (uint64_t)a->hole;
    a->out = out;
    return hs_budget_check(a->budget, inflated > out ? inflated : out, false, err);
}

static int archive_read_member(void *self, void *buf, size_t cap, size_t *got, struct hs_err *err)
{
    struct hs_archive *a = self;
    while (a->open && !a->nblock && !a->hole) {
        int rc = next_block(a, err);
        if (rc)
            return rc;
    }
    size_t n = 0;
    if (a->hole > 0) {
        n = (uint64_t)a->hole < cap ? (size_t)a->hole : cap;
        memset(buf, 0, n);
        a->hole -= (int64_t)n;
    } else if (a->nblock) {
        n = a->nblock < cap ? a->nblock : cap;
        memcpy(buf, a->block, n);
        a->block += n;
        a->nblock -= n;
    }
    *got = n;
    return HS_OK;
}

struct hs_pull hs_archive_pull(struct hs_archive *a)
{
    return (struct hs_pull){archive_read_member, a};
}

static bool is_litter(const char *path)
{
    const char *base = strrchr(path, '/');
    base = base ? base + 1 : path;
    return strstr(path, "__MACOSX/") || !strncmp(base, "._", 2) || !strcmp(base, ".DS_Store");
}

bool hs_archive_has_names(const struct hs_archive *a)
{
    return a->kind != HS_ARCHIVE_ZSTD || archive_format(a->ar) != ARCHIVE_FORMAT_RAW;
}

static char *document_name(const struct hs_archive *a, struct archive_entry *e)
{
    const char *path = archive_entry_pathname_utf8(e);
    if (!path)
        path = archive_entry_pathname(e);
    if (!hs_archive_has_names(a) || !path || !*path) {
        size_t n = strlen(a->input_name);
        return hs_strndup(a->input_name, n > 4 && !strcasecmp(a->input_name + n - 4, ".zst") ? n - 4 : n);
    }
    return hs_strdup(path);
}

int hs_archive_next(struct hs_archive *a, bool *more, const char **name, struct hs_err *err)
{
    *more = false;
    for (;;) {
        while (a->open) { /* read over the rest ourselves: libarchive's own skipping knows no limits */
            int rc = next_block(a, err);
            if (rc)
                return rc;
        }
        a->nblock = 0;
        a->hole = a->at = 0;
        if (a->broken)
            return HS_OK;
        struct archive_entry *e;
        int st = archive_read_next_header(a->ar, &e);
        if (st == ARCHIVE_EOF)
            return HS_OK;
        if (st < ARCHIVE_WARN) {
            if (!a->members && !a->below_rc)
                return hs_fail(err, HS_EINPUT, "%s looks like a %s archive but cannot be read as one: %s",
                               a->input_name, hs_archive_kind_name(a->kind), archive_error_string(a->ar));
            return broken(a, err);
        }
        a->members++;
        a->open = true;
        int rc = hs_budget_check(a->budget, (uint64_t)archive_filter_bytes(a->ar, 0), false, err);
        if (rc)
            return rc;
        free(a->name);
        a->name = document_name(a, e);
        bool file = archive_entry_filetype(e) == AE_IFREG || archive_entry_filetype(e) == 0;
        if (archive_entry_is_data_encrypted(e))
            return hs_fail(err, HS_EINPUT, "%s in %s is encrypted; unpack it first", a->name, a->input_name);
        if (file && !archive_entry_hardlink(e) && !is_litter(a->name)) {
            *more = true;
            *name = a->name;
            return HS_OK;
        }
        if (file)
            hs_quality_add(a->defects, HS_Q_ARCHIVE_IGNORED, 1, -1);
    }
}
