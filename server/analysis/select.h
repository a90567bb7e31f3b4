/* What the common parameters leave of one rank: the window in the file's own time and the steps. Shared by the analyses
 * of device work.
 *
 * Two readings of a window, and every analysis says which it takes: a whole event belongs to the window in which it
 * starts (counts, percentiles), or time is cut at the window's borders (busy and idle time). */
#ifndef HS_ANALYSIS_SELECT_H
#define HS_ANALYSIS_SELECT_H

#include "analysis/registry.h"
#include "trace/intervals.h"

struct hs_select {
    struct hs_view *view;
    int64_t rank, offset; /* run clock = file time + offset */
    int64_t from, to;     /* file time; INT64_MIN, INT64_MAX where open */
    uint8_t *step_on;     /* by index into view->steps; NULL: everything */
    struct hs_gpu gpu;
};

/* Fills *s for one rank, with its device table. Notes once what the rank cannot give (no device events, none of the steps). */
int hs_select_open(struct hs_select *s, const struct hs_run_rank *r, const struct hs_params *p, struct hs_table *out,
                   struct hs_err *err);
/* The same without the device table (s->gpu stays empty) and its note, for analyses of the CPU side, which work without
 * a GPU. */
void hs_select_window(struct hs_select *s, const struct hs_run_rank *r, const struct hs_params *p,
                      struct hs_table *out);
void hs_select_close(struct hs_select *s);

static inline bool hs_select_step(const struct hs_select *s, int32_t step)
{
    return !s->step_on || (step >= 0 && (size_t)step < s->view->nsteps && s->step_on[step]);
}

/* Something of this step that begins at this time (file time) is asked for. */
static inline bool hs_select_has(const struct hs_select *s, int64_t ts, int32_t step)
{
    return ts >= s->from && ts < s->to && hs_select_step(s, step);
}

/* Device row i is of a chosen step and starts in the window. */
static inline bool hs_select_starts(const struct hs_select *s, size_t i)
{
    return hs_select_has(s, s->gpu.ts[i], s->gpu.step[i]);
}

/* Device row i is of a chosen step and touches the window: *span is what lies inside (empty for a row of no length). */
static inline bool hs_select_span(const struct hs_select *s, size_t i, struct hs_span *span)
{
    int64_t start = s->gpu.ts[i], end = hs_end_ns(start, s->gpu.dur[i]);
    if (start >= s->to || end < s->from || (end == s->from && start < end) || !hs_select_step(s, s->gpu.step[i]))
        return false;
    *span = (struct hs_span){hs_max_i64(start, s->from), hs_min_i64(end, s->to)};
    return true;
}

/* Does device row a go after row b, which starts with it? By duration, name, correlation: not by the file's order. */
bool hs_select_after(const struct hs_select *s, uint32_t a, uint32_t b);

/* `rows` are numbers of device rows in the table's order. Puts those of one stream that start at the same time into an order
 * that does not depend on the file's: by duration, name, correlation. */
void hs_select_settle(const struct hs_select *s, uint32_t *rows, size_t n);

/* The run without its memory timelines (trace/view.h), unless it has nothing else, and for `out` (NULL: none) a note of
 * each. A shallow copy: free() its `ranks`. */
struct hs_run hs_run_traces(const struct hs_run *run, struct hs_table *out);

/* Notes that of the named common parameters (up to a NULL) those that were given did not apply. */
void hs_note_unapplied_of(const struct hs_params *p, struct hs_table *out, const char *const *names);
#define hs_note_unapplied(p, out, ...) hs_note_unapplied_of(p, out, (const char *const[]){__VA_ARGS__})

/* Notes about device rows that no analysis sees: duplicates, times of 0, unreadable durations. Rank by rank. */
void hs_note_excluded(const struct hs_run *run, struct hs_table *out);

const char *hs_class_word(unsigned cls); /* of an hs_class: "compute", "communication", "memcpy", "memset" */

#endif
