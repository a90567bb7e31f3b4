/* room: what happens when the disk is full while a trace is written. A thin VFS of SQLite under the writer's file: a write
 * that fails for want of space asks the store that owns the directory for room (it gives up originals, oldest first) and
 * is tried once more. SQLite sees nothing of it, so a trace of a million events need not begin again.
 *
 * Thread-safe; `lock` in room.c protects the list of stores, and is held while one makes room. */
#ifndef HS_STORE_ROOM_H
#define HS_STORE_ROOM_H

#include <stdint.h>

/* Frees at least `bytes` if it can; returns how many it did. */
typedef int64_t hs_room_fn(void *ctx, int64_t bytes);

/* Files whose path begins with `dir` (which must stay valid) are ctx's. */
void hs_room_add(const char *dir, hs_room_fn *fn, void *ctx);
void hs_room_remove(void *ctx);

/* The name of the VFS, for sqlite3_open_v2; registered at the first call. NULL: SQLite refused it, use the default. */
const char *hs_room_vfs(void);

#endif
