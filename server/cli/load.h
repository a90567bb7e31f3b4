/* load: PATHs imported side by side, into a store or into memory, with a progress bar where someone watches. What
 * `report`, `analyze`, `sql` and `import` have in common. */
#ifndef HS_CLI_LOAD_H
#define HS_CLI_LOAD_H

#include "cli/config.h"
#include "cli/paths.h"
#include "ingest/import.h"

struct hs_loaded {
    struct hs_imported *traces; /* of all files, in their order */
    size_t n;
    size_t refused; /* files of folders that are no traces; each was warned about */
};

/* store NULL: in memory. `run` may be NULL without a store. Files of a folder that are no traces (an execution trace or
 * a memory timeline beside it) are warnings as long as others are traces; a file that the user named must be one. */
int hs_load(const struct hs_paths *paths, const struct hs_config *c, struct hs_store *store, const char *run,
            struct hs_loaded *out, struct hs_err *err);
void hs_loaded_free(struct hs_loaded *l);
/* PATHs into the store of --data (NULL: the default place), as the run of this name. */
int hs_load_into_store(char *const *args, int n, const char *run, const char *data, struct hs_loaded *out,
                       struct hs_err *err);

/* What `report` and `analyze` ask about: PATHs in memory, or --run NAME of the store in --data. */
struct hs_subject {
    struct hs_loaded loaded;
    struct hs_run *run;
    struct hs_store *store; /* set with --run */
};
int hs_subject_open(struct hs_subject *s, char *const *paths, int n, const char *run, const char *data,
                    struct hs_err *err);
void hs_subject_close(struct hs_subject *s);

/* Opens the store of --data (NULL: the default place). */
int hs_open_store(const char *data, const struct hs_config *c, bool read_only, struct hs_store **out,
                  struct hs_err *err);

#endif
