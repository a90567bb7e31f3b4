#include "ingest/source_text.h"

#include <string.h>

static bool begins_json(unsigned char c)
{
    return c == '{' || c == '[' || c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static int use_up(struct hs_text *t, size_t n, struct hs_err *err)
{
    unsigned char skipped[4];
    struct hs_pull p = hs_peek_pull(t->below);
    size_t got;
    return hs_pull_full(&p, skipped, n, &got, err);
}

int hs_text_init(struct hs_text *t, struct hs_peek *below, struct hs_quality *defects, struct hs_err *err)
{
    t->below = below;
    t->encoding = HS_UTF8;
    t->out = t->high = 0;
    t->pos = t->n = 0;
    const unsigned char *p;
    size_t n;
    int rc = hs_peek_look(below, 4, &p, &n, err);
    if (rc)
        return rc;
    size_t mark = 0;
    if (n >= 3 && !memcmp(p, "\xef\xbb\xbf", 3))
        mark = 3;
    else if (n >= 4 && !memcmp(p, "\xff\xfe\0\0", 4)) /* UTF-32: no one writes it; the reader says what it sees */
        mark = 0;
    else if (n >= 2 && p[0] == 0xff && p[1] == 0xfe)
        mark = 2, t->encoding = HS_UTF16LE;
    else if (n >= 2 && p[0] == 0xfe && p[1] == 0xff)
        mark = 2, t->encoding = HS_UTF16BE;
    else if (n >= 4 && begins_json(p[0]) && !p[1] && p[2] && !p[3])
        t->encoding = HS_UTF16LE;
    else if (n >= 4 && !p[0] && begins_json(p[1]) && !p[2] && p[3])
        t->encoding = HS_UTF16BE;
    if (mark)
        hs_quality_add(defects, HS_Q_BOM, 1, 0);
    if (t->encoding != HS_UTF8)
        hs_quality_add(defects, HS_Q_UTF16, 1, 0);
    return mark ? use_up(t, mark, err) : HS_OK;
}

static unsigned char *put_utf8(unsigned char *o, uint32_t c)
{
    if (c < 0x80) {
        *o++ = (unsigned char)c;
        return o;
    }
    if (c < 0x800) {
        *o++ = (unsigned char)(0xc0 | c >> 6);
    } else {
        if (c < 0x10000) {
            *o++ = (unsigned char)(0xe0 | c >> 12);
        } else {
            *o++ = (unsigned char)(0xf0 | c >> 18);
            *o++ = (unsigned char)(0x80 | (c >> 12 & 0x3f));
        }
        *o++ = (unsigned char)(0x80 | (c >> 6 & 0x3f));
    }
    *o++ = (unsigned char)(0x80 | (c & 0x3f));
    return o;
}

static unsigned char *put_lone(struct hs_text *t, unsigned char *o, struct hs_quality *defects)
{
    hs_quality_add(defects, HS_Q_LONE_SURROGATE, 1, (int64_t)t->out);
    return put_utf8(o, 0xfffd);
}

/* One code unit in, at most 7 bytes out (a lone half before a character). */
static unsigned char *unit(struct hs_text *t, uint32_t c, unsigned char *o, struct hs_quality *defects)
{
    uint32_t high = t->high;
    t->high = 0;
    if (high && c >= 0xdc00 && c < 0xe000)
        return put_utf8(o, 0x10000 + ((high - 0xd800) << 10) + (c - 0xdc00));
    if (high)
        o = put_lone(t, o, defects);
    if (c >= 0xd800 && c < 0xdc00) {
        t->high = c;
        return o;
    }
    return c >= 0xdc00 && c < 0xe000 ? put_lone(t, o, defects) : put_utf8(o, c);
}

static int read_utf16(struct hs_text *t, unsigned char *buf, size_t cap, size_t *got, struct hs_quality *defects,
                      struct hs_err *err)
{
    struct hs_pull p = hs_peek_pull(t->below);
    unsigned char *o = buf;
    size_t high_byte = t->encoding == HS_UTF16LE;
    while (cap - (size_t)(o - buf) >= 8) {
        if (t->n - t->pos < 2) {
            size_t odd = t->n - t->pos, more = 0;
            if (odd)
                t->in[0] = t->in[t->pos];
            int rc = hs_pull_full(&p, t->in + odd, sizeof t->in - odd, &more, err);
            if (rc)
                return rc;
            t->pos = 0;
            t->n = odd + more;
            if (t->n < 2) { /* the end; half a unit or half a pair may be left */
                if (t->n || t->high)
                    o = put_lone(t, o, defects);
                t->n = t->high = 0;
                break;
            }
        }
        const unsigned char *u = t->in + t->pos;
        o = unit(t, (uint32_t)u[high_byte] << 8 | u[!high_byte], o, defects);
        t->pos += 2;
    }
    *got = (size_t)(o - buf);
    return HS_OK;
}

int hs_text_read(struct hs_text *t, void *buf, size_t cap, size_t *got, struct hs_quality *defects, struct hs_err *err)
{
    int rc;
    if (t->encoding == HS_UTF8) {
        struct hs_pull p = hs_peek_pull(t->below);
        rc = hs_pull_full(&p, buf, cap, got, err);
    } else {
        rc = read_utf16(t, buf, cap, got, defects, err);
    }
    if (!rc)
        t->out += *got;
    return rc;
}
