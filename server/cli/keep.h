/* keep: whether a command that reads traces also keeps them in the store: --cache asks, --cache=yes and --cache=no do not. */
#ifndef HS_CLI_KEEP_H
#define HS_CLI_KEEP_H

#include "cli/load.h"

/* `choice`: NULL for --cache by itself, else its value. On a terminal the question names the size that keeping takes (about);
 * without one HS_EUSAGE, for nothing is kept unasked. */
int hs_cli_ask_cache(const char *choice, char *const *args, int n, bool *keep, struct hs_err *err);

/* Imports the paths and opens the run that they are now. Where they cannot be kept (full disk, read-only store) that is said on stderr
 * and they are opened in memory. `run`, `data`: NULL for the defaults of `import`. */
int hs_subject_keep(struct hs_subject *s, char *const *args, int n, const char *run, const char *data,
                    struct hs_err *err);

#endif
