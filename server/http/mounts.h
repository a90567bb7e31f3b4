/* mounts: runs in mounted folders, opened as one asks for them, beside those of the store. The store is a cache that belongs to the
 * user, so what is mounted is not kept unasked: [cache] policy says whether to ask first ("ask"), keep ("always") or never keep.
 *
 * A run that is asked for is, in this order:
 *   in the store          uploaded, or kept before: just answered
 *   analysed in memory    (memory_runs.h), until nobody has asked for it for idle_s
 *   in a mounted folder   opened by the policy, or by cache=true|false of the request; under "ask" without that: HS_EASK
 * If keeping it fails (full disk, read-only store), it is analysed in memory all the same. Of a run that was kept and whose
 * files have changed since, every answer says so in a note.
 *
 * Two who ask for one at once wait for one import. Imports run on the caller's thread, which must be a worker. `lock` protects
 * the list of what is being kept and what is known of states; nothing is read from disk under it. */
#ifndef HS_HTTP_MOUNTS_H
#define HS_HTTP_MOUNTS_H

#include "http/mount_watch.h"
#include "store/store.h"

enum hs_cache_policy { HS_CACHE_ASK, HS_CACHE_ALWAYS, HS_CACHE_NEVER };

struct hs_mounts_options { /* borrowed texts and store: they outlive the mounts */
    const struct hs_mount *mounts;
    size_t n;
    enum hs_cache_policy policy;
    int64_t idle_s;       /* what is in memory goes after so long without a question */
    int64_t memory_bytes; /* of files whose traces are in memory at once; more is refused */
    const struct hs_limits *limits;
    const char *dir; /* of the store, for the room that is left; NULL: not told */
    struct hs_store *store;
};
struct hs_mounts;
struct hs_mounts *hs_mounts_new(const struct hs_mounts_options *o);
void hs_mounts_free(struct hs_mounts *m); /* nobody has a run open any more */

/* Makes the run answerable. `choice`: 1 keep it, 0 do not, -1 as the policy says; it is about mounted runs, others are answered from
 * where they are. HS_EASK: the caller has to choose; HS_ENOTFOUND: neither in the store nor in memory nor mounted. */
int hs_mounts_prepare(struct hs_mounts *m, const char *run, int choice, struct hs_err *err);

/* An upload that is to be forgotten: its views, taken over, become part of the run in memory (a new one, or what came before them).
 * HS_ECONFLICT: the store has a run of this name; HS_ELIMIT: no room in memory. The views are the caller's then. */
int hs_mounts_adopt(struct hs_mounts *m, const char *run, struct hs_view *const *views, size_t n, int64_t bytes,
                    struct hs_err *err);

/* As hs_store_run_hash, hs_store_pin_run and hs_store_unpin_run, of the store's runs and those in memory. The hash of a stale run
 * is another than that of the same run before its files changed, as its answers have a note more. */
int hs_mounts_hash(struct hs_mounts *m, const char *run, char out[33], struct hs_err *err);
int hs_mounts_pin(struct hs_mounts *m, const char *run, struct hs_run **out, struct hs_err *err);
void hs_mounts_unpin(struct hs_mounts *m, struct hs_run *run);
bool hs_mounts_holds(struct hs_mounts *m, const struct hs_run *run); /* a pinned run is one in memory */

enum hs_mount_state { HS_MOUNT_NOT_CACHED, HS_MOUNT_CACHED, HS_MOUNT_STALE, HS_MOUNT_IN_MEMORY };
const char *hs_mount_state_word(enum hs_mount_state s); /* "not_cached", "cached", "stale", "in_memory" */
/* Stale: a file of the folder came after the run was kept (what was there and is not in the run is no trace), has another size, or
 * was written or replaced since (mtime, ctime) and has other bytes, told by its content id; of an archive by mtime alone. Found out
 * once for files of these sizes and times. */
enum hs_mount_state hs_mounts_state(struct hs_mounts *m, const struct hs_mounted_run *run);

/* Of a run by its name; false: it is neither mounted nor in memory. */
bool hs_mounts_state_of(struct hs_mounts *m, const char *run, enum hs_mount_state *out);

/* The listing of mount i of the options; as hs_mount_watch_list. */
const struct hs_mount_list *hs_mounts_list(struct hs_mounts *m, size_t i, struct hs_err *err);
/* The mounted run of this name, in *list, which is given back with hs_mount_unlist; NULL: there is none. */
const struct hs_mounted_run *hs_mounts_find(struct hs_mounts *m, const char *run, const struct hs_mount_list **list);

/* Forgets what was kept of a mounted run, and keeps it anew. HS_ENOTFOUND: not mounted. */
int hs_mounts_refresh(struct hs_mounts *m, const char *run, struct hs_err *err);

/* About what the store would need for these files, and what is free where it is (-1: not known). */
int64_t hs_mounts_estimate(const struct hs_mounted_run *run);
int64_t hs_mounts_free_bytes(const struct hs_mounts *m);

const struct hs_mounts_options *hs_mounts_options(const struct hs_mounts *m);

#endif
