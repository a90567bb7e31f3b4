/* run: several views as one thing to ask (struct hs_run, trace/view.h). */
#ifndef HS_STORE_RUN_H
#define HS_STORE_RUN_H

#include "trace/view.h"

struct hs_run_member {
    struct hs_view *view;
    int64_t rank;     /* in this run; may differ from the view's own */
    const char *name; /* of the file, in this run */
};

/* Sorts by rank, then name, then id; brings all clocks together. The members' views must outlive the run; hs_run_free. */
struct hs_run *hs_run_make(const char *name, const struct hs_run_member *members, size_t n);

#endif
