/* Sets of time on one clock: half-open intervals [start, end) of int64 nanoseconds, and what analyses ask of them. A
 * nanosecond is in a set or not, so lengths of a normal set count each nanosecond once, however often it was pushed.
 *
 * Normal form: sorted by start, disjoint, not touching, none empty. hs_spans_normalise makes it; the other functions
 * ask for it. Arithmetic saturates: a trace may hold any time. */
#ifndef HS_TRACE_INTERVALS_H
#define HS_TRACE_INTERVALS_H

#include "base/mem.h"

static inline int64_t hs_add_sat(int64_t a, int64_t b)
{
    int64_t r;
    return !__builtin_add_overflow(a, b, &r) ? r : a < 0 ? INT64_MIN : INT64_MAX;
}
static inline int64_t hs_sub_sat(int64_t a, int64_t b)
{
    int64_t r;
    return !__builtin_sub_overflow(a, b, &r) ? r : a < 0 ? INT64_MIN : INT64_MAX;
}
static inline int64_t hs_min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
static inline int64_t hs_max_i64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}
/* End of an event; a negative duration counts as 0. */
static inline int64_t hs_end_ns(int64_t ts, int64_t dur)
{
    return dur > 0 ? hs_add_sat(ts, dur) : ts;
}

struct hs_span {
    int64_t start, end;
};
struct hs_spans {
    HS_VEC(struct hs_span);
};
#define HS_SPANS_MAX ((size_t)1 << 33) /* more than there are event numbers */
#define HS_SPANS_INIT HS_VEC_INIT(HS_SPANS_MAX)

/* Adds [start, end), in any order; empty ones are ignored. One that starts within the last one pushed, or where that
 * ends, is joined to it at once. */
void hs_spans_push(struct hs_spans *s, int64_t start, int64_t end);

/* Into normal form. Stable merge of the ascending runs it finds: linear for sorted input, n log(runs) else. */
void hs_spans_normalise(struct hs_spans *s);

int64_t hs_spans_length(const struct hs_spans *s);

/* Length of what two normal sets share. */
int64_t hs_spans_overlap(const struct hs_spans *a, const struct hs_spans *b);

/* *out (initialised by the caller, emptied first, neither input) = the union, the intersection, a without b; normal. */
void hs_spans_union(const struct hs_spans *a, const struct hs_spans *b, struct hs_spans *out);
void hs_spans_intersect(const struct hs_spans *a, const struct hs_spans *b, struct hs_spans *out);
void hs_spans_subtract(const struct hs_spans *a, const struct hs_spans *b, struct hs_spans *out);

/* n <= HS_SWEEP_MAX normal sets at once: ns[mask] grows by the time during which exactly the sets of `mask` (bit k: set k)
 * hold; ns has 2^n entries, ns[0] is not touched. */
#define HS_SWEEP_MAX 6
void hs_spans_sweep(const struct hs_spans *sets, size_t n, int64_t *ns);

#endif
