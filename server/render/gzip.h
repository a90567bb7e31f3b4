/* gzip: bytes into one gzip member, a part at a time. */
#ifndef HS_RENDER_GZIP_H
#define HS_RENDER_GZIP_H

#include "base/mem.h"

struct hs_gzip;

struct hs_gzip *hs_gzip_new(void); /* zlib level 1 */
void hs_gzip_free(struct hs_gzip *g);

/* Appends what comes out for n bytes more, which may be nothing yet; with `last` the end of the member, too. */
int hs_gzip_put(struct hs_gzip *g, const char *p, size_t n, bool last, struct hs_buf *out, struct hs_err *err);

#endif
