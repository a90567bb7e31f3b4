/* For tests of exported traces: a text goes through the real import, is given back, and is read by jansson. */
#ifndef HS_TESTS_EXPORTED_H
#define HS_TESTS_EXPORTED_H

#include "ingest/import.h"
#include "render/chrome_trace.h"

#include <jansson.h>

struct traced { /* a run of one trace in memory */
    struct hs_imported *imported;
    size_t n;
    struct hs_run *run;
};
void traced_text(struct traced *t, const char *text, size_t n);
void traced_file(struct traced *t, const char *path);
void traced_end(struct traced *t);

/* Parameters "a=1&b=2"; free with hs_params_free. Fails the test if one is refused. */
struct hs_params *export_params(const char *text);

/* All of the exported file of a rank, uncompressed; also holds each part to its bound. Free the buffer. */
struct hs_buf exported_text(const struct hs_run_rank *r, const char *params);
json_t *exported(const struct hs_run_rank *r, const char *params); /* read: fails the test if it is no JSON */

/* The same value, keys in the same order, whole numbers and reals apart. */
void json_agree(json_t *got, json_t *want, const char *what);

/* args.Patterns of an event, which is taken out of it (and args, if it was all they had and `added`); NULL: none. */
json_t *take_patterns(json_t *event, bool added);

#endif
