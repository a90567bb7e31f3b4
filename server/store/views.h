/* views: the open traces of a process. Each trace is open once, however many requests look at it; one that nobody looks at
 * stays open, with the columns it has decoded, until the budget of bytes is spent: the longest unused goes first.
 *
 * Thread-safe: one lock protects the list; opening a file happens outside of it, and who wants the same trace meanwhile
 * waits. */
#ifndef HS_STORE_VIEWS_H
#define HS_STORE_VIEWS_H

#include "trace/view.h"

struct hs_views;

/* `budget`: bytes of decoded columns of views that are not pinned. At most `most` of those stay open (file handles). */
struct hs_views *hs_views_new(size_t budget, size_t most);
void hs_views_free(struct hs_views *s); /* none may be pinned any more */

/* The view of a trace, opened from `path` if it is not open yet; hs_views_unpin it. */
int hs_views_pin(struct hs_views *s, const char *id, const char *path, struct hs_view **out, struct hs_err *err);
void hs_views_unpin(struct hs_views *s, struct hs_view *v);

/* The trace is gone: its view is closed now, or when the last pin is. */
void hs_views_forget(struct hs_views *s, const char *id);

struct hs_views_stats {
    size_t open, pinned, bytes; /* bytes: of the unpinned ones */
};
struct hs_views_stats hs_views_stats(struct hs_views *s);

#endif
