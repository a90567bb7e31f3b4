/* Between the two files of http/mounts.h: mounts.c opens runs, mounts_state.c tells what they are. */
#ifndef HS_HTTP_MOUNTS_IN_H
#define HS_HTTP_MOUNTS_IN_H

#include "http/memory_runs.h"
#include "http/mounts.h"

#include <pthread.h>

/* What was found out about a mounted run that the store has. */
struct hs_mount_known {
    char *run, files[33], kept[33]; /* hashes of the files' names, sizes and times, and of what the store has */
    bool stale;
};

struct hs_mounts {
    struct hs_mounts_options o;
    struct hs_mount_watch *watch;
    struct hs_memory_runs *memory;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* an import into the store ended */
    char **importing;       /* runs that are being imported into the store; and all below */
    size_t nimporting;
    struct hs_mount_known *known;
    size_t nknown;
};

/* Imports the mounted run into the store; who comes second waits, and finds it there. */
int hs_mounts_keep(struct hs_mounts *m, const struct hs_mounted_run *r, struct hs_err *err);

/* Names, sizes and times of the files. */
void hs_mount_files_hash(const struct hs_mounted_run *r, char out[33]);

/* The run is kept, mounted, and its files have changed since. */
bool hs_mounts_stale(struct hs_mounts *m, const char *run);

#endif
