/* A trace made by hand, field by field, for the tests of writer and view: MADE_EVENTS events over three segments; every
 * third is a kernel with arguments, every 1000th an odd one (a key three times), the others are CPU operators. */
#ifndef HS_TESTS_MADE_TRACE_H
#define HS_TESTS_MADE_TRACE_H

#include "store/layout.h"
#include "store/writer.h"

#define MADE_EVENTS (2 * HS_SEG_ROWS + 777)
#define MADE_ENDED 1000 /* an odd event, without a duration of its own: its end tells this one */
#define MADE_ENDED_NS 12345

struct made_trace {
    struct hs_trace t;
    struct hs_links l;
    struct hs_segment *seg[3];
};

enum { MADE_CPU, MADE_KERNEL, MADE_ODD };

uint32_t made_shape(size_t i); /* of event i */
int64_t made_ts(size_t i);

extern const struct hs_trace_info made_info;
void made_make(struct made_trace *m);
void made_free(struct made_trace *m);
/* Written to a file, or to memory (path NULL). */
struct hs_writer *made_write(const struct made_trace *m, const char *path);
/* A file of it in a fresh directory; its path. Free both, hs_test_rmdir the directory. */
char *made_file(char **dir);

#endif
