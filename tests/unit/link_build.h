/* For tests of link: a trace put together event by event, as ingest/kineto would leave it. */
#ifndef HS_TESTS_LINK_BUILD_H
#define HS_TESTS_LINK_BUILD_H

#include "trace/links.h"

#define NONE_I64 HS_NO_VALUE

struct ev {
    char ph;
    const char *cat, *name;
    const char *pid;               /* digits: a number, else a text */
    int64_t tid, ts, dur;          /* ns; dur NONE_I64: absent */
    int64_t corr;                  /* 0: none; the id of flows and async events */
    int64_t device, stream, bytes; /* of device events; 0 is 0, -1 is unknown */
    bool collective;
};

void link_trace_init(struct hs_trace *t);
uint32_t link_add(struct hs_trace *t, struct ev e); /* its number */
void link_run(struct hs_trace *t, struct hs_links *out);

/* A trace and its links for one test (tcase_add_checked_fixture with link_setup, link_teardown), and short words to build it. */
extern struct hs_trace link_t;
extern struct hs_links link_k;
void link_setup(void);
void link_teardown(void);
uint32_t link_op(const char *name, int64_t ts, int64_t dur);
uint32_t link_call(const char *name, int64_t ts, int64_t dur, int64_t corr);
uint32_t link_kernel(const char *name, int64_t ts, int64_t dur, int64_t corr); /* device 0, stream 7 */
int link_count(enum hs_quality_kind kind);

#endif
