/* Between the two files of http/mounts.h: mounts.c opens runs, mounts_state.c tells what they are. */
#ifndef HS_HTTP_MOUNTS_IN_H
#define HS_HTTP_MOUNTS_IN_H

#include "http/mounts.h"

/* Imports the mounted run into the store; who comes second waits, and finds it there. */
int hs_mounts_keep(struct hs_mounts *m, const struct hs_mounted_run *r, struct hs_err *err);

bool hs_mounts_in_memory(struct hs_mounts *m, const char *run);

#endif
