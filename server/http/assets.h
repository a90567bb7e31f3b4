/* assets: the files of the page, embedded at build, so that the one binary runs anywhere. To add a file, add a line in
 * assets.c; tests/lint.sh holds the list equal to what is in web/. */
#ifndef HS_HTTP_ASSETS_H
#define HS_HTTP_ASSETS_H

#include <stddef.h>

struct hs_asset {
    const char *path; /* without the leading slash */
    const char *type;
    const unsigned char *begin, *end;
};
extern const struct hs_asset hs_assets[];
extern const size_t hs_nassets;

/* Media type by a file name's ending, for files served from disk. */
const char *hs_asset_type(const char *path);

#endif
