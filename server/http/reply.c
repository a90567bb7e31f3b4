#include "http/reply.h"

#include "http/stream.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>
#include <zlib.h>

struct hs_blob *hs_blob_new(const void *p, size_t n)
{
    struct hs_blob *b = hs_malloc(sizeof *b + n);
    b->refs = 1;
    b->n = n;
    if (n)
        memcpy(b->p, p, n);
    return b;
}

struct hs_blob *hs_blob_ref(struct hs_blob *b)
{
    if (b)
        b->refs++;
    return b;
}

void hs_blob_unref(struct hs_blob *b)
{
    if (b && --b->refs == 0)
        free(b);
}

struct hs_blob *hs_blob_gzip(const struct hs_blob *b)
{
    if (b->n > UINT32_MAX / 2)
        return NULL;
    z_stream z = {0};
    if (deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return NULL;
    struct hs_blob *out = hs_malloc(sizeof *out + b->n);
    out->refs = 1;
    z.next_in = (Bytef *)(uintptr_t)b->p;
    z.avail_in = (uInt)b->n;
    z.next_out = (Bytef *)out->p;
    z.avail_out = (uInt)b->n; /* no room for more: then it is not worth it */
    int rc = deflate(&z, Z_FINISH);
    out->n = z.total_out;
    deflateEnd(&z);
    if (rc == Z_STREAM_END)
        return out;
    hs_blob_unref(out);
    return NULL;
}

void hs_reply_init(struct hs_reply *r)
{
    *r = (struct hs_reply){.fd = -1};
}

void hs_reply_free(struct hs_reply *r)
{
    hs_blob_unref(r->body);
    hs_blob_unref(r->gz);
    free(r->location);
    free(r->allow);
    free(r->content_range);
    free(r->disposition);
    hs_body_stream_free(r->stream);
    if (r->fd >= 0)
        close(r->fd);
    hs_reply_init(r);
}

void hs_reply_text(struct hs_reply *r, unsigned status, const char *type, struct hs_buf *b)
{
    struct hs_err err = HS_ERR_INIT;
    if (hs_buf_check(b, "the answer", &err)) {
        hs_reply_error(r, &err);
    } else {
        r->status = status;
        r->type = type;
        hs_blob_unref(r->body);
        r->body = hs_blob_new(b->p, b->n);
    }
    hs_buf_free(b);
}

void hs_reply_json(struct hs_reply *r, unsigned status, struct hs_buf *b)
{
    hs_reply_text(r, status, "application/json; charset=utf-8", b);
}

static const struct {
    const char *code;
    unsigned http;
} statuses[] = {
    [HS_OK] = {"ok", 200},
    [HS_EINPUT] = {"input", 422},
    [HS_EUSAGE] = {"usage", 400},
    [HS_EINTERNAL] = {"internal", 500},
    [HS_ENOTFOUND] = {"not-found", 404},
    [HS_ELIMIT] = {"limit", 413},
    [HS_ECANCELLED] = {"cancelled", 503},
    [HS_ECONFLICT] = {"conflict", 409},
    [HS_ENOSPACE] = {"no-space", 507},
    [HS_EUNDECIDED] = {"internal", 500},
    [HS_EASK] = {"choose", 428},
};

static size_t known(int code)
{
    return code >= 0 && (size_t)code < sizeof statuses / sizeof statuses[0] ? (size_t)code : (size_t)HS_EINTERNAL;
}

const char *hs_status_code(int code)
{
    return statuses[known(code)].code;
}

unsigned hs_status_http(int code)
{
    return statuses[known(code)].http;
}

static const char *title(unsigned status)
{
    switch (status) {
    case 400: return "Bad request";
    case 403: return "Forbidden";
    case 404: return "Not found";
    case 405: return "Method not allowed";
    case 409: return "Conflict";
    case 413: return "Too large";
    case 414: return "URL too long";
    case 416: return "Range not satisfiable";
    case 421: return "Wrong host";
    case 422: return "No usable trace";
    case 428: return "Choice needed";
    case 503: return "Not now";
    case 507: return "No space left";
    default: return "Internal error";
    }
}

void hs_reply_problem(struct hs_reply *r, unsigned status, const char *code, const char *detail, int64_t offset)
{
    struct hs_buf b = HS_BUF_INIT(64 * 1024);
    struct hs_json j = HS_JSON_INIT(&b);
    hs_json_obj(&j);
    hs_json_key(&j, "type");
    hs_json_cstr(&j, "about:blank");
    hs_json_key(&j, "title");
    hs_json_cstr(&j, title(status));
    hs_json_key(&j, "status");
    hs_json_i64(&j, status);
    hs_json_key(&j, "detail");
    hs_json_cstr(&j, detail);
    hs_json_key(&j, "code");
    hs_json_cstr(&j, code);
    if (offset >= 0) {
        hs_json_key(&j, "offset");
        hs_json_i64(&j, offset);
    }
    hs_json_end(&j);
    hs_buf_putc(&b, '\n');
    hs_reply_text(r, status, "application/problem+json", &b);
    strncpy(r->code, code, sizeof r->code - 1);
    r->etag[0] = 0;
}

void hs_reply_error(struct hs_reply *r, const struct hs_err *err)
{
    hs_reply_problem(r, hs_status_http(err->code), hs_status_code(err->code), err->text, err->offset);
}

void hs_hash_hex(const void *p, size_t n, char out[33])
{
    static const char hex[] = "0123456789abcdef";
    XXH128_canonical_t c;
    XXH128_canonicalFromHash(&c, XXH3_128bits(p, n));
    for (size_t i = 0; i < 16; i++) {
        out[2 * i] = hex[c.digest[i] >> 4];
        out[2 * i + 1] = hex[c.digest[i] & 15];
    }
    out[32] = 0;
}
