/* memory_runs: runs that are analysed in memory and kept nowhere: mounted ones that are not to be kept, and uploads that are to
 * be forgotten. A run goes when nobody has it open and nobody has asked for it for idle_s. Together they have a ceiling, in bytes
 * of their files.
 *
 * Thread-safe. `lock` protects the list and its members; nothing is read from disk under it. A pinned run stays valid and unchanged:
 * traces that come later make a new run beside it. */
#ifndef HS_HTTP_MEMORY_RUNS_H
#define HS_HTTP_MEMORY_RUNS_H

#include "trace/view.h"

struct hs_memory_runs;
struct hs_memory_runs *hs_memory_runs_new(int64_t max_bytes, int64_t idle_s);
void hs_memory_runs_free(struct hs_memory_runs *m); /* nobody has a run open any more */

/* Who wants the run first is to read it: *mine, and its `bytes` are taken. Who comes second waits until it is there, or gone
 * again and theirs to read. HS_ELIMIT: no room. */
int hs_memory_begin(struct hs_memory_runs *m, const char *run, int64_t bytes, bool *mine, struct hs_err *err);
/* What was read: the views, taken over also on failure (none: it could not be read, and the run goes). `hash`: of all that answers
 * depend on. `note`: to be said with every answer; copied; NULL. */
int hs_memory_end(struct hs_memory_runs *m, const char *run, struct hs_view **views, size_t n, const char hash[33],
                  const char *note, struct hs_err *err);

/* Views that become part of the run (a new one, or what came before them); the caller's still on failure. HS_ELIMIT. */
int hs_memory_add(struct hs_memory_runs *m, const char *run, struct hs_view *const *views, size_t n, int64_t bytes,
                  struct hs_err *err);

bool hs_memory_has(struct hs_memory_runs *m, const char *run);
/* False: there is none. A question: it stays for another idle_s. */
bool hs_memory_hash(struct hs_memory_runs *m, const char *run, char out[33]);
struct hs_run *hs_memory_pin(struct hs_memory_runs *m, const char *run);  /* NULL: there is none */
bool hs_memory_unpin(struct hs_memory_runs *m, const struct hs_run *run); /* false: it is not one of these */
bool hs_memory_holds(struct hs_memory_runs *m, const struct hs_run *run); /* a pinned run is one of these */

#endif
