#include "store/adopt.h"

#include "store/db.h"
#include "store/files.h"
#include "store/view_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A value of meta: text into *text (NULL if there is none), else a number into *i. */
static int meta(sqlite3 *db, const char *key, char **text, int64_t *i, struct hs_err *err)
{
    sqlite3_stmt *st;
    bool row = false;
    int rc = hs_db_prepare(db, &st, "SELECT value FROM meta WHERE key = ?", err);
    if (rc)
        return rc;
    sqlite3_bind_text(st, 1, key, -1, SQLITE_STATIC);
    rc = hs_db_step(st, &row, err);
    if (!rc && row && text) {
        struct hs_str s = hs_db_str(st, 0);
        *text = hs_strndup(s.p, s.n);
    } else if (!rc && row) {
        *i = sqlite3_column_int64(st, 0);
    }
    sqlite3_finalize(st);
    return rc;
}

/* Files of before the run was written into them, or by somebody else's hand, go to a run of their own. */
static int read_run(sqlite3 *db, char **run, struct hs_err *err)
{
    int rc = meta(db, "run", run, NULL, err);
    if (!rc && hs_run_name_check(*run, NULL)) {
        free(*run);
        *run = hs_strdup("recovered");
    }
    return rc;
}

static int fill(struct hs_view *v, const char *path, struct hs_trace_row *row, struct hs_err *err)
{
    sqlite3 *db = hs_view_file(v)->db;
    struct stat st;
    int rc = read_run(db, &row->run, err);
    if (!rc)
        rc = meta(db, "bytes_in", NULL, &row->bytes_in, err);
    if (!rc)
        rc = meta(db, "bytes_json", NULL, &row->bytes_json, err);
    if (rc)
        return rc;
    row->name = hs_strdup(v->name);
    row->rank = v->rank;
    row->events = (int64_t)hs_view_file(v)->events;
    row->quality_json = hs_store_quality_json(&v->quality);
    row->bytes_stored = hs_files_size(path);
    row->created_ns = stat(path, &st) ? 0 : (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    return HS_OK;
}

int hs_adopt_row(const char *path, const char *id, struct hs_trace_row *row, struct hs_err *err)
{
    struct hs_view *v = NULL;
    struct hs_trace_row r = {.rank = 0};
    int rc = hs_view_open(path, &v, err);
    if (rc)
        return rc;
    memcpy(r.id, id, 33);
    if (strcmp(v->id, id) != 0)
        rc = hs_fail(err, HS_EINPUT, "%s: it says that it is the trace %s", path, v->id[0] ? v->id : "of no id");
    if (!rc)
        rc = fill(v, path, &r, err);
    hs_view_close(v);
    if (rc)
        hs_trace_row_clear(&r);
    else
        *row = r;
    return rc;
}
