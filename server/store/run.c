#include "store/run.h"

#include "store/store.h"

#include <stdlib.h>
#include <string.h>

static int by_rank(const void *a, const void *b)
{
    const struct hs_run_member *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    int c = strcmp(x->name, y->name);
    return c ? c : strcmp(x->view->id, y->view->id);
}

static bool has_times(const struct hs_view *v)
{
    return v->sum.first_ts || v->sum.last_end;
}

static int64_t add(int64_t a, int64_t b)
{
    int64_t r;
    if (__builtin_add_overflow(a, b, &r))
        return a < 0 ? INT64_MIN : INT64_MAX;
    return r;
}

/* A memory timeline beside traces takes their clock; it has no say in what that is. */
static bool has_say(const struct hs_run_member *m, bool traces)
{
    return !traces || !hs_view_is_memory_timeline(m->view);
}

static bool any_trace(const struct hs_run_member *m, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!hs_view_is_memory_timeline(m[i].view))
            return true;
    return false;
}

/* Times count from baseTimeNanoseconds if every rank has one. Old traces have none and their times are unix time; then
 * there is nothing to add. Ranks with and without one cannot be brought together, each is taken as it stands. */
static bool all_have_base(const struct hs_run_member *m, size_t n, bool traces)
{
    for (size_t i = 0; i < n; i++)
        if (!m[i].view->has_base && has_say(&m[i], traces))
            return false;
    return n > 0;
}

static void align(struct hs_run *run, const struct hs_run_member *m, size_t n)
{
    bool traces = any_trace(m, n), based = all_have_base(m, n, traces), none = true, some = false;
    int64_t origin = 0;
    for (size_t i = 0; i < n; i++) {
        const struct hs_view *v = m[i].view;
        int64_t start = add(based ? v->base_ns : 0, v->sum.first_ts);
        bool say = has_say(&m[i], traces);
        some |= v->has_base && say;
        if (say && has_times(v) && (none || start < origin)) {
            origin = start;
            none = false;
        }
    }
    for (size_t i = 0; i < n; i++)
        run->ranks[i] = (struct hs_run_rank){
            m[i].rank, add(based ? m[i].view->base_ns : 0, origin == INT64_MIN ? INT64_MAX : -origin), m[i].view};
    /* Unix time in ns since 2001; what is smaller counts from the boot of some machine. */
    bool unix_time = !none && origin > INT64_C(1000000000000000000) && (based || !some);
    run->origin_ns = unix_time ? origin : 0;
}

struct hs_run *hs_run_make(const char *name, const struct hs_run_member *members, size_t n)
{
    struct hs_run *run = hs_calloc(1, sizeof *run);
    struct hs_run_member *m = hs_calloc(n, sizeof *m);
    if (n) {
        memcpy(m, members, n * sizeof *m);
        qsort(m, n, sizeof *m, by_rank);
    }
    run->name = hs_strdup(name);
    run->n = n;
    run->ranks = hs_calloc(n, sizeof *run->ranks);
    align(run, m, n);
    free(m);
    return run;
}

int hs_run_build(const char *name, struct hs_view **views, size_t n, struct hs_run **out, struct hs_err *err)
{
    (void)err; /* nothing here can fail today; the signature leaves room for it */
    struct hs_run_member *m = hs_calloc(n, sizeof *m);
    for (size_t i = 0; i < n; i++)
        m[i] = (struct hs_run_member){views[i], views[i]->rank, views[i]->name ? views[i]->name : ""};
    *out = hs_run_make(name, m, n);
    free(m);
    return HS_OK;
}

void hs_run_free(struct hs_run *run)
{
    if (!run)
        return;
    free((void *)(uintptr_t)run->name);
    free(run->ranks);
    free(run);
}
