/* uri: a request target, taken apart and decoded with care. MHD's own decoding is switched off: it would turn %2F into
 * a path separator and drop bad escapes in silence.
 *
 * Refused (HS_EUSAGE): a target longer than HS_URI_MAX, too many segments or parameters, a percent sign without two
 * hexadecimal digits, an encoded slash or NUL, "." and ".." segments in any spelling, empty segments, text that is not
 * UTF-8, control bytes in the path. */
#ifndef HS_HTTP_URI_H
#define HS_HTTP_URI_H

#include "base/mem.h"

#define HS_URI_MAX 8192u
#define HS_URI_SEGMENTS 8u
#define HS_URI_PAIRS 64u

struct hs_pair {
    const char *name, *value; /* decoded, terminated, UTF-8 without NUL */
};

struct hs_uri {
    char *text;   /* what the pointers below point into */
    size_t nsegs; /* 0 for "/" */
    const char *segs[HS_URI_SEGMENTS];
    size_t npairs; /* the query, in order; "a" alone has the value "" */
    struct hs_pair pairs[HS_URI_PAIRS];
};

int hs_uri_parse(struct hs_uri *u, const char *target, struct hs_err *err);
void hs_uri_free(struct hs_uri *u);
const char *hs_uri_query(const struct hs_uri *u, const char *name); /* the first of that name, or NULL */

/* A run's name for a file or folder that came without one: its last part without .json, .gz and the like, always good
 * for hs_run_name_check (store/store.h). free() it. */
char *hs_run_name_of(const char *path);

/* Appends `s` percent-encoded so that it can stand as one path segment or query value. */
void hs_uri_encode(struct hs_buf *out, const char *s);

#endif
