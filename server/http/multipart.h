/* multipart: multipart/form-data (RFC 7578), parsed as it streams by. MHD's post processor cannot be told to wait, so
 * uploads could not push back through it; this one takes any cut of the body and hands out parts piece by piece.
 *
 * Bytes handed out by one call are at most the bytes fed plus HS_MULTIPART_HELD (a delimiter that turned out to be
 * data), so a sink with that much room never has to refuse. One thread. */
#ifndef HS_HTTP_MULTIPART_H
#define HS_HTTP_MULTIPART_H

#include "base/mem.h"

#define HS_MULTIPART_HELD 80u /* CR LF -- and a boundary of up to 70 bytes, rounded up */

struct hs_multipart_sink {
    /* A part begins. `field` and `file` are from its Content-Disposition; file is NULL where it has no file name. */
    int (*begin)(void *ctx, const char *field, const char *file, struct hs_err *err);
    int (*data)(void *ctx, const char *p, size_t n, struct hs_err *err);
    int (*end)(void *ctx, struct hs_err *err);
    void *ctx;
};

struct hs_multipart {
    const struct hs_multipart_sink *sink;
    char delim[HS_MULTIPART_HELD]; /* CR LF -- boundary */
    size_t ndelim;
    size_t matched; /* bytes of the delimiter seen so far */
    int state;
    struct hs_buf line; /* the header line that is being read */
    unsigned nheaders;
    char *field, *file;
};

/* From the request's Content-Type. HS_EUSAGE if that is no multipart/form-data with a good boundary. */
int hs_multipart_init(struct hs_multipart *m, const char *content_type, const struct hs_multipart_sink *sink,
                      struct hs_err *err);
int hs_multipart_feed(struct hs_multipart *m, const char *p, size_t n, struct hs_err *err);
int hs_multipart_finish(struct hs_multipart *m, struct hs_err *err); /* HS_EINPUT if the closing delimiter is missing */
void hs_multipart_free(struct hs_multipart *m);

bool hs_is_multipart(const char *content_type);

#endif
