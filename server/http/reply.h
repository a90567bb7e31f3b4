/* reply: what a handler answers, before libmicrohttpd sees it. Bodies are blobs: immutable, reference counted, shared
 * between the cache and the connections that are still sending them. */
#ifndef HS_HTTP_REPLY_H
#define HS_HTTP_REPLY_H

#include "base/json.h"
#include "base/mem.h"

struct hs_blob {
    _Atomic unsigned refs;
    size_t n;
    char p[];
};
struct hs_blob *hs_blob_new(const void *p, size_t n); /* one reference, the caller's */
struct hs_blob *hs_blob_ref(struct hs_blob *b);       /* NULL stays NULL */
void hs_blob_unref(struct hs_blob *b);
struct hs_blob *hs_blob_gzip(const struct hs_blob *b); /* zlib level 1; NULL where it would not get smaller */

struct hs_body_stream;

#define HS_ETAG_SIZE 40u
#define HS_GZIP_FROM 1024u /* bytes of a body from which compressing it is worth the header */

struct hs_reply {
    unsigned status;           /* 0: nothing answered yet */
    const char *type;          /* static text */
    struct hs_blob *body, *gz; /* references of its own; gz: the same body, compressed, if there is one */
    char etag[HS_ETAG_SIZE];   /* without quotes; "" none */
    bool is_static;            /* a file of the page */
    char *location;
    char *allow;             /* of 405 and OPTIONS */
    const char *retry_after; /* of 503; static */
    int fd;                  /* body from this file instead, fd >= 0: the reply owns it */
    uint64_t fd_offset, fd_size;
    struct hs_body_stream *stream; /* body made while it is sent instead (http/stream.h): the reply owns it */
    char *content_range;
    char *disposition; /* Content-Disposition */
    char code[32];     /* of a problem, for the log */
};
void hs_reply_init(struct hs_reply *r);
void hs_reply_free(struct hs_reply *r);

/* The buffer's bytes become the body; the buffer is freed. HS_ELIMIT becomes the problem it is. */
void hs_reply_json(struct hs_reply *r, unsigned status, struct hs_buf *b);
void hs_reply_text(struct hs_reply *r, unsigned status, const char *type, struct hs_buf *b);

/* An error as application/problem+json (RFC 9457): type, title, status, detail, code, and offset where one is known. */
void hs_reply_error(struct hs_reply *r, const struct hs_err *err);
void hs_reply_problem(struct hs_reply *r, unsigned status, const char *code, const char *detail, int64_t offset);

const char *hs_status_code(int code); /* the stable word of an hs_status: "input", "usage", … */
unsigned hs_status_http(int code);

/* 32 hex digits of a 128 bit hash (XXH3) of the bytes. */
void hs_hash_hex(const void *p, size_t n, char out[33]);

#endif
