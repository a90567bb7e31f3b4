#include "http/uri.h"

#include "base/json.h"
#include "ingest/scan.h"
#include "store/store.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* Decodes p[0..n) in place (the result is never longer) and terminates it; p[n] must be writable. */
static int decode(char *p, size_t n, bool query, size_t *len, struct hs_err *err)
{
    size_t o = 0;
    for (size_t i = 0; i < n; i++) {
        char c = p[i];
        if (c == '%') {
            int hi = i + 2 < n ? hex_digit(p[i + 1]) : -1;
            int lo = i + 2 < n ? hex_digit(p[i + 2]) : -1;
            if (hi < 0 || lo < 0)
                return hs_fail(err, HS_EUSAGE, "the URL has a %% that two hexadecimal digits do not follow");
            c = (char)(hi << 4 | lo);
            i += 2;
            if (c == '/' && !query)
                return hs_fail(err, HS_EUSAGE, "the URL has an encoded slash in a path segment; names have no slash");
        } else if (c == '+' && query) {
            c = ' ';
        }
        if (!c || (!query && ((unsigned char)c < 0x20 || c == 0x7f)))
            return hs_fail(err, HS_EUSAGE, "the URL has an encoded control byte");
        p[o++] = c;
    }
    p[o] = 0;
    *len = o;
    if (!hs_utf8_valid(p, o))
        return hs_fail(err, HS_EUSAGE, "the URL is not UTF-8 after decoding");
    return HS_OK;
}

static int parse_path(struct hs_uri *u, char *p, struct hs_err *err)
{
    /* decode() terminates a segment where its slash was, so the next slash is found first. */
    if (*p != '/')
        return hs_fail(err, HS_EUSAGE, "the request's target is not a path; it has to start with a slash");
    if (!p[1])
        return HS_OK;
    for (char *next; p; p = next) {
        char *seg = p + 1;
        next = strchr(seg, '/');
        size_t n = next ? (size_t)(next - seg) : strlen(seg), len;
        if (u->nsegs == HS_URI_SEGMENTS)
            return hs_fail(err, HS_ENOTFOUND, "no path here has more than %u segments", HS_URI_SEGMENTS);
        int rc = decode(seg, n, false, &len, err);
        if (rc)
            return rc;
        if (!len || !strcmp(seg, ".") || !strcmp(seg, ".."))
            return hs_fail(err, HS_EUSAGE, "the URL's path has an empty, '.' or '..' segment");
        u->segs[u->nsegs++] = seg;
    }
    return HS_OK;
}

static int parse_query(struct hs_uri *u, char *p, struct hs_err *err)
{
    for (char *next; p && *p; p = next) {
        next = strchr(p, '&');
        if (next)
            *next++ = 0;
        if (!*p)
            continue;
        if (u->npairs == HS_URI_PAIRS)
            return hs_fail(err, HS_EUSAGE, "the URL has more than %u parameters", HS_URI_PAIRS);
        char *eq = strchr(p, '=');
        char *value = eq ? eq + 1 : p + strlen(p);
        size_t name_len = eq ? (size_t)(eq - p) : strlen(p), len;
        int rc = decode(value, strlen(value), true, &len, err);
        if (!rc)
            rc = decode(p, name_len, true, &len, err);
        if (rc)
            return rc;
        u->pairs[u->npairs++] = (struct hs_pair){p, value};
    }
    return HS_OK;
}

int hs_uri_parse(struct hs_uri *u, const char *target, struct hs_err *err)
{
    *u = (struct hs_uri){0};
    size_t n = strlen(target);
    if (n > HS_URI_MAX)
        return hs_fail(err, HS_EUSAGE, "the URL is longer than %u bytes", HS_URI_MAX);
    u->text = hs_strndup(target, n);
    char *query = strchr(u->text, '?');
    if (query)
        *query++ = 0;
    int rc = parse_path(u, u->text, err);
    return rc ? rc : parse_query(u, query, err);
}

void hs_uri_free(struct hs_uri *u)
{
    free(u->text);
    *u = (struct hs_uri){0};
}

const char *hs_uri_query(const struct hs_uri *u, const char *name)
{
    for (size_t i = 0; i < u->npairs; i++)
        if (!strcmp(u->pairs[i].name, name))
            return u->pairs[i].value;
    return NULL;
}

char *hs_run_name_of(const char *path)
{
    static const char *const endings[] = {".json", ".gz", ".zip", ".zst", ".tar", ".tgz", ".tmp", ".trace", ".pt"};
    size_t end = strlen(path);
    while (end && path[end - 1] == '/')
        end--;
    size_t from = end;
    while (from && path[from - 1] != '/' && path[from - 1] != '\\')
        from--;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t n = strlen(endings[i]);
        if (end - from > n && !strncasecmp(path + end - n, endings[i], n)) {
            end -= n;
            i = SIZE_MAX; /* once more from the first: they stack */
        }
    }
    struct hs_buf b = HS_BUF_INIT(1024);
    hs_put_utf8(&b, hs_str(path + from, end - from < 60 ? end - from : 60)); /* a bad byte becomes three */
    for (size_t i = 0; i < b.n; i++)
        if ((unsigned char)b.p[i] < 0x20 || b.p[i] == 0x7f)
            b.p[i] = '_';
    if (b.p && !hs_run_name_check(b.p, NULL))
        return b.p;
    hs_buf_free(&b);
    return hs_strdup("trace");
}

void hs_uri_encode(struct hs_buf *out, const char *s)
{
    static const char hex[] = "0123456789ABCDEF";
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("-._~", c);
        if (plain) {
            hs_buf_putc(out, (char)c);
        } else {
            hs_buf_putc(out, '%');
            hs_buf_putc(out, hex[c >> 4]);
            hs_buf_putc(out, hex[c & 15]);
        }
    }
}
