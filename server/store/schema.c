#include "store/schema.h"

#include "store/db.h"

/* Paths are relative to the root of the repository, where the compiler is started (Makefile). To add a migration, add the
 * file, an EMBED line and its line in the list below. */
#define EMBED(symbol, path)                       \
    __asm__(".pushsection .rodata\n"              \
            ".global " #symbol "\n" #symbol ":\n" \
            ".incbin \"" path "\"\n"              \
            ".byte 0\n"                           \
            ".popsection\n");                     \
    extern const char symbol[]

EMBED(hs_schema_trace_1, "schema/trace/0001_trace.sql");
EMBED(hs_schema_catalogue_1, "schema/catalogue/0001_catalogue.sql");

static const char *const trace_migrations[] = {hs_schema_trace_1};
static const char *const catalogue_migrations[] = {hs_schema_catalogue_1};

static const struct {
    const char *const *sql;
    int n;
    const char *what;
} schemas[] = {
    [HS_SCHEMA_TRACE] = {trace_migrations, sizeof trace_migrations / sizeof *trace_migrations, "trace file"},
    [HS_SCHEMA_CATALOGUE] = {catalogue_migrations, sizeof catalogue_migrations / sizeof *catalogue_migrations,
                             "catalogue"},
};

int hs_schema_version(enum hs_schema s)
{
    return schemas[s].n;
}

int hs_schema_check(sqlite3 *db, enum hs_schema s, int *old, struct hs_err *err)
{
    int64_t version;
    int rc = hs_db_int(db, "PRAGMA user_version", &version, err);
    if (rc)
        return rc;
    if (version < 0 || version > schemas[s].n)
        return hs_fail(
            err, HS_EINPUT,
            "the %s was written by a newer Holoscope (schema %lld, this program knows %d): update the program",
            schemas[s].what, (long long)version, schemas[s].n);
    *old = version < schemas[s].n;
    return HS_OK;
}

static int apply(sqlite3 *db, enum hs_schema s, int version, struct hs_err *err)
{
    char set[64];
    sqlite3_snprintf(sizeof set, set, "PRAGMA user_version = %d", version + 1);
    int rc = hs_db_exec(db, schemas[s].sql[version], err);
    if (!rc)
        rc = hs_db_exec(db, set, err);
    return rc;
}

int hs_schema_migrate(sqlite3 *db, enum hs_schema s, struct hs_err *err)
{
    for (;;) {
        int64_t version;
        int old, rc = hs_schema_check(db, s, &old, err);
        if (rc || !old)
            return rc;
        /* The lock first, then the version again: another process may have migrated in between. */
        rc = hs_db_exec(db, "BEGIN IMMEDIATE", err);
        if (rc)
            return rc;
        rc = hs_db_int(db, "PRAGMA user_version", &version, err);
        if (!rc && version < schemas[s].n)
            rc = apply(db, s, (int)version, err);
        if (!rc)
            rc = hs_db_exec(db, "COMMIT", err);
        if (rc) {
            hs_db_exec(db, "ROLLBACK", NULL);
            return rc;
        }
    }
}
