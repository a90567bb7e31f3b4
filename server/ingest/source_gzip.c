#include "ingest/source_gzip.h"

#include <stdlib.h>
#include <string.h>

/* Input is read in blocks; the last KEEP bytes before it stay in front, for the inflater to step back into and for finding
 * a second writer's header near the place of damage. */
#define BLOCK (256u << 10)
#define KEEP (64u << 10)

enum state { AT_HEADER, IN_BODY, AT_TRAILER, AT_END };

struct hs_gunzip {
    const struct hs_inflate_ops *ops;
    void *z;
    struct hs_pull below;
    const struct hs_budget *budget;
    struct hs_quality *defects;
    enum state state;
    bool whole, eof;
    uint64_t members, out; /* complete headers seen; bytes given */
    uint64_t taken;        /* compressed bytes read before buf */
    uint64_t member_at;    /* where this member's deflate data begin, as `taken` counts */
    uint32_t crc, size;    /* of this member so far */
    size_t pos, n;         /* unused input is buf[pos .. n) */
    unsigned char buf[KEEP + BLOCK];
};

struct hs_gunzip *hs_gunzip_new(const struct hs_inflate_ops *ops, struct hs_pull below, const struct hs_budget *budget,
                                struct hs_quality *defects)
{
    struct hs_gunzip *g = hs_malloc(sizeof *g);
    memset(g, 0, offsetof(struct hs_gunzip, buf));
    g->ops = ops;
    g->z = ops->create();
    g->below = below;
    g->budget = budget;
    g->defects = defects;
    g->whole = true;
    return g;
}

void hs_gunzip_whole(struct hs_gunzip *g, bool whole)
{
    g->whole = whole;
}

void hs_gunzip_free(struct hs_gunzip *g)
{
    if (!g)
        return;
    g->ops->destroy(g->z);
    free(g);
}

/* A header's fixed part: magic, deflate, no reserved flag. The two bytes that follow the time are told by every writer
 * (RFC 1952: extra flags 0, 2 or 4; system 0..13 or 255); where a header must be told from chance they are asked for, too. */
static bool is_header(const unsigned char *p, size_t n, bool strict)
{
    if (n < 4 || p[0] != 0x1f || p[1] != 0x8b || p[2] != 8 || p[3] & 0xe0)
        return false;
    return !strict || (n >= 10 && (p[8] == 0 || p[8] == 2 || p[8] == 4) && (p[9] <= 13 || p[9] == 255));
}

bool hs_is_gzip(const unsigned char *p, size_t n)
{
    return is_header(p, n, false);
}

static void defect(struct hs_gunzip *g, enum hs_quality_kind kind)
{
    hs_quality_add(g->defects, kind, 1, (int64_t)g->out);
}

/* More input behind what is unused. *any = false at the end of input. */
static int refill(struct hs_gunzip *g, bool *any, struct hs_err *err)
{
    if (g->n == sizeof g->buf) {
        size_t keep = g->n - g->pos + KEEP;
        if (keep > g->n)
            keep = g->n;
        size_t drop = g->n - keep;
        memmove(g->buf, g->buf + drop, keep);
        g->taken += drop;
        g->pos -= drop;
        g->n = keep;
    }
    size_t got = 0;
    int rc = g->eof ? HS_OK : g->below.read(g->below.self, g->buf + g->n, sizeof g->buf - g->n, &got, err);
    if (rc)
        return rc;
    g->n += got;
    g->eof = !got;
    *any = got > 0;
    return HS_OK;
}

/* Makes `want` (few) unused bytes available; *have tells how many there are. */
static int need(struct hs_gunzip *g, size_t want, size_t *have, struct hs_err *err)
{
    bool any = true;
    while (any && g->n - g->pos < want) {
        int rc = refill(g, &any, err);
        if (rc)
            return rc;
    }
    *have = g->n - g->pos;
    return HS_OK;
}

/* Skips `n` bytes, or with text a text and its NUL. *whole = false if the input ends inside. */
static int skip(struct hs_gunzip *g, size_t n, bool text, bool *whole, struct hs_err *err)
{
    while (text || n) {
        size_t have = 0;
        int rc = need(g, 1, &have, err);
        if (rc)
            return rc;
        if (!have) {
            *whole = false;
            return HS_OK;
        }
        unsigned char *p = g->buf + g->pos, *nul = text ? memchr(p, 0, have) : NULL;
        size_t k = nul ? (size_t)(nul - p) + 1 : text || have < n ? have : n;
        g->pos += k;
        if (nul)
            break;
        n -= text ? 0 : k;
    }
    return HS_OK;
}

static int skip_header_fields(struct hs_gunzip *g, unsigned flags, bool *whole, struct hs_err *err)
{
    int rc = HS_OK;
    if (flags & 4) { /* FEXTRA: length, bytes */
        size_t have = 0;
        if ((rc = need(g, 2, &have, err)))
            return rc;
        size_t n = have < 2 ? 0 : g->buf[g->pos] | (size_t)g->buf[g->pos + 1] << 8;
        rc = skip(g, n + 2, false, whole, err);
    }
    for (unsigned flag = 8; !rc && *whole && flag <= 16; flag <<= 1) /* FNAME, FCOMMENT */
        if (flags & flag)
            rc = skip(g, 0, true, whole, err);
    if (!rc && *whole && flags & 2) /* FHCRC */
        rc = skip(g, 2, false, whole, err);
    return rc;
}

static int read_header(struct hs_gunzip *g, struct hs_err *err)
{
    size_t have = 0;
    int rc;
    for (;;) { /* zeros may pad the members of tapes and object stores */
        if ((rc = need(g, 10, &have, err)))
            return rc;
        if (!g->members || !have || g->buf[g->pos])
            break;
        while (g->pos < g->n && !g->buf[g->pos])
            g->pos++;
    }
    g->state = AT_END;
    if (!have)
        return HS_OK;
    const unsigned char *p = g->buf + g->pos;
    if (have >= 4 ? !is_header(p, have, false) : p[0] != 0x1f || (have > 1 && p[1] != 0x8b)) {
        defect(g, HS_Q_GZIP_TRAILING);
        return HS_OK;
    }
    bool whole = have >= 10;
    unsigned flags = have >= 4 ? p[3] : 0;
    if (whole) {
        g->pos += 10;
        if ((rc = skip_header_fields(g, flags, &whole, err)))
            return rc;
    }
    if (!whole) {
        defect(g, HS_Q_GZIP_CUT);
        return HS_OK;
    }
    g->members++;
    g->member_at = g->taken + g->pos;
    g->crc = g->size = 0;
    g->ops->reset(g->z);
    g->state = IN_BODY;
    return HS_OK;
}

/* Two writers on one file leave the header of the second inside the data of the first, and those break soon after it. */
static bool second_writer(const struct hs_gunzip *g)
{
    size_t from = g->member_at > g->taken ? (size_t)(g->member_at - g->taken) : 0;
    size_t near = g->pos > KEEP ? g->pos - KEEP : 0;
    if (from < near)
        from = near;
    for (const unsigned char *p = g->buf + from, *end = g->buf + g->n; p < end; p++) {
        p = memchr(p, 0x1f, (size_t)(end - p));
        if (!p)
            return false;
        if (is_header(p, (size_t)(end - p), true))
            return true;
    }
    return false;
}

static int damaged(struct hs_gunzip *g, struct hs_err *err)
{
    size_t have = 0; /* a header may stand at the very end of what was read */
    int rc = need(g, 10, &have, err);
    if (rc)
        return rc;
    defect(g, second_writer(g) ? HS_Q_GZIP_INTERLEAVED : HS_Q_GZIP_DAMAGED);
    g->state = AT_END;
    return HS_OK;
}

static int read_body(struct hs_gunzip *g, unsigned char **out, unsigned char *end, struct hs_err *err)
{
    size_t have = 0;
    int rc = need(g, 1, &have, err);
    if (rc)
        return rc;
    /* Without input it is still asked once: it may hold decoded bytes that did not fit the last time. */
    const unsigned char *in = g->buf + g->pos;
    unsigned char *from = *out;
    enum hs_inflate_status st = g->ops->run(g->z, &in, g->buf + g->n, out, end);
    size_t made = (size_t)(*out - from);
    g->pos = (size_t)(in - g->buf);
    g->crc = g->ops->crc(g->crc, from, made);
    g->size += (uint32_t)made;
    g->out += made;
    if ((rc = hs_budget_check(g->budget, g->out, g->whole, err)))
        return rc;
    if (st == HS_INFLATE_END)
        g->state = AT_TRAILER;
    else if (st == HS_INFLATE_BAD)
        return damaged(g, err);
    else if (!have && !made) {
        defect(g, HS_Q_GZIP_CUT);
        g->state = AT_END;
    }
    return HS_OK;
}

static uint32_t le32(const unsigned char *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static int read_trailer(struct hs_gunzip *g, struct hs_err *err)
{
    size_t have = 0;
    int rc = need(g, 8, &have, err);
    if (rc)
        return rc;
    if (have < 8) {
        defect(g, HS_Q_GZIP_CUT);
        g->state = AT_END;
        return HS_OK;
    }
    const unsigned char *p = g->buf + g->pos;
    if (le32(p) != g->crc || le32(p + 4) != g->size)
        defect(g, HS_Q_GZIP_CHECKSUM);
    g->pos += 8;
    g->state = AT_HEADER;
    return HS_OK;
}

static int gunzip_read(void *self, void *buf, size_t cap, size_t *got, struct hs_err *err)
{
    struct hs_gunzip *g = self;
    unsigned char *out = buf, *end = out + cap;
    int rc = HS_OK;
    while (!rc && out < end && g->state != AT_END) {
        if (g->state == AT_HEADER)
            rc = read_header(g, err);
        else if (g->state == IN_BODY)
            rc = read_body(g, &out, end, err);
        else
            rc = read_trailer(g, err);
    }
    *got = (size_t)(out - (unsigned char *)buf);
    return rc;
}

struct hs_pull hs_gunzip_pull(struct hs_gunzip *g)
{
    return (struct hs_pull){gunzip_read, g};
}
