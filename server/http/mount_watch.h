/* mount_watch: the listing of each mounted folder, kept until the kernel says that something in it changed (inotify), so
 * that asking whether a run's files are still those that were kept costs one read of an empty queue instead of a walk
 * through the folder.
 *
 * What is told is always what is there: every folder is watched before it is read, and the queue is looked at before a listing is
 * given out. Where the kernel does not tell of all changes (a network file system, no watches left), the folder is read each
 * time. Thread-safe; a mount's `lock` protects its listing, and who comes while it is read waits. */
#ifndef HS_HTTP_MOUNT_WATCH_H
#define HS_HTTP_MOUNT_WATCH_H

#include "http/mount_scan.h"

struct hs_mount_watch;
/* The mounts are borrowed. */
struct hs_mount_watch *hs_mount_watch_new(const struct hs_mount *mounts, size_t n);
void hs_mount_watch_free(struct hs_mount_watch *w); /* no listing is in use any more */

/* The listing of mount i as it is now, to be given back with hs_mount_unlist; NULL: the folder cannot be read. */
const struct hs_mount_list *hs_mount_watch_list(struct hs_mount_watch *w, size_t i, struct hs_err *err);
void hs_mount_unlist(const struct hs_mount_list *list); /* NULL is fine */

/* How often mount i's folder was read, for tests. */
unsigned hs_mount_watch_reads(struct hs_mount_watch *w, size_t i);

#endif
