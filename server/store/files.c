#include "store/files.h"

#include "base/clock.h"
#include "base/log.h"
#include "store/adopt.h"
#include "store/catalogue.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static int io_status(void)
{
    return errno == ENOSPC || errno == EDQUOT ? HS_ENOSPACE : HS_EINTERNAL;
}

static int make_dir(const char *path, struct hs_err *err)
{
    if (!mkdir(path, 0777) || errno == EEXIST)
        return HS_OK;
    return hs_fail_errno(err, io_status(), "%s", path);
}

int hs_files_make_dirs(const char *dir, struct hs_err *err)
{
    char *p = hs_strdup(dir), *traces = hs_asprintf("%s/traces", dir);
    int rc = HS_OK;
    for (char *s = p + 1; *p && !rc && *s; s++)
        if (*s == '/') {
            *s = 0;
            rc = make_dir(p, err);
            *s = '/';
        }
    if (!rc)
        rc = make_dir(dir, err);
    if (!rc)
        rc = make_dir(traces, err);
    free(p);
    free(traces);
    return rc;
}

char *hs_files_path(const char *dir, const char *id, const char *ext)
{
    return hs_asprintf("%s/traces/%s%s", dir, id, ext);
}

char *hs_files_temp(const char *dir, const char *suffix)
{
    static _Atomic unsigned count;
    uint64_t r = 0;
    if (getrandom(&r, sizeof r, GRND_NONBLOCK) != (ssize_t)sizeof r)
        r = (uint64_t)hs_unix_ns();
    return hs_asprintf("%s/traces/%ld-%u-%016llx%s.tmp", dir, (long)getpid(), atomic_fetch_add(&count, 1u),
                       (unsigned long long)r, suffix ? suffix : "");
}

bool hs_files_id_ok(const char *id)
{
    return strlen(id) == 32 && strspn(id, "0123456789abcdef") == 32;
}

int64_t hs_files_size(const char *path)
{
    struct stat st;
    return stat(path, &st) ? -1 : (int64_t)st.st_size;
}

int hs_files_sync(const char *path, struct hs_err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), rc = HS_OK;
    if (fd < 0 || fsync(fd))
        rc = hs_fail_errno(err, io_status(), "%s", path);
    if (fd >= 0)
        close(fd);
    return rc;
}

int hs_files_rename(const char *from, const char *to, struct hs_err *err)
{
    return rename(from, to) ? hs_fail_errno(err, io_status(), "renaming %s to %s", from, to) : HS_OK;
}

/* ---- the lock ---- */

static int take_lock(int fd, int how)
{
    int rc;
    do
        rc = flock(fd, how);
    while (rc && errno == EINTR);
    return rc;
}

int hs_files_lock(const char *dir, int *fd, bool *alone, struct hs_err *err)
{
    char *path = hs_asprintf("%s/lock", dir);
    int rc = HS_OK, f = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    *alone = false;
    if (f < 0)
        rc = hs_fail_errno(err, io_status(), "%s", path);
    else if (!take_lock(f, LOCK_EX | LOCK_NB))
        *alone = true;
    else if (take_lock(f, LOCK_SH)) /* waits only while another process recovers */
        rc = hs_fail_errno(err, HS_EINTERNAL, "locking %s", path);
    if (rc && f >= 0)
        close(f);
    if (!rc)
        *fd = f;
    free(path);
    return rc;
}

int hs_files_share(int fd, struct hs_err *err)
{
    return take_lock(fd, LOCK_SH) ? hs_fail_errno(err, HS_EINTERNAL, "locking the store") : HS_OK;
}

/* ---- recovery ---- */

/* Second guard, for file systems where flock does not reach other machines' or containers' processes: a fresh file of a
 * living process stays. Our own number does not count: in a container every start has the same one. */
static bool owner_lives(const char *name, const char *path)
{
    struct stat st;
    char *end;
    long pid = strtol(name, &end, 10);
    if (end == name || *end != '-' || pid <= 0 || pid == (long)getpid())
        return false;
    bool fresh = !stat(path, &st) && (int64_t)st.st_mtime > hs_unix_ns() / 1000000000 - 86400;
    return fresh && (!kill((pid_t)pid, 0) || errno == EPERM);
}

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && !strcmp(s + n - m, end);
}

/* "<id>.db" or "<id>.orig": the extension, NULL for other names; the id is copied. */
static const char *split_name(const char *name, char id[33])
{
    if (strlen(name) < 33 || name[32] != '.')
        return NULL;
    memcpy(id, name, 32);
    id[32] = 0;
    return hs_files_id_ok(id) ? name + 32 : NULL;
}

char *hs_files_deleted(const char *dir, const char *id, const char *ext)
{
    char *suffix = hs_asprintf("-deleted-%s%s", id, ext), *path = hs_files_temp(dir, suffix);
    free(suffix);
    return path;
}

/* A name that hs_files_deleted made: the id and the extension that the file had. */
static bool was_deleted(const char *name, char id[33], char ext[8])
{
    const char *at = strstr(name, "-deleted-"), *tail = at ? split_name(at + 9, id) : NULL;
    size_t n = tail ? strlen(tail) : 0;
    if (n < 5 || n >= 12 || strcmp(tail + n - 4, ".tmp") != 0)
        return false;
    memcpy(ext, tail, n - 4);
    ext[n - 4] = 0;
    return true;
}

struct recovery {
    const char *dir;
    sqlite3 *catalogue;
    const struct hs_file_row *rows; /* as they stood at the start */
    size_t n;
    struct hs_err *err;
};

static const struct hs_file_row *find_row(const struct recovery *r, const char *id)
{
    for (size_t i = 0; i < r->n; i++)
        if (!strcmp(r->rows[i].id, id))
            return &r->rows[i];
    return NULL;
}

/* A file on its way out whose trace the catalogue still names was not deleted: it goes back. (Nobody is at it: who deletes
 * holds the catalogue, and so do we.) Every other .tmp was never finished, or is a deletion's rest. */
static void settle_temp(const struct recovery *r, const char *name, const char *path)
{
    char id[33], ext[8];
    char *home = was_deleted(name, id, ext) && find_row(r, id) ? hs_files_path(r->dir, id, ext) : NULL;
    if (home && hs_files_size(home) < 0) {
        hs_log(HS_LOG_WARN, "a deletion was interrupted: the trace stays", " trace=%s file=%s%s", id, id, ext);
        rename(path, home);
    } else if (!owner_lives(name, path)) {
        hs_log(HS_LOG_WARN, "removing an unfinished file", " file=\"%s\"", name);
        unlink(path);
    }
    free(home);
}

/* First pass: names ending in .tmp, the only ones that are ever removed. */
static int settle_temps(const struct recovery *r, const char *name, const char *path)
{
    if (ends_with(name, ".tmp"))
        settle_temp(r, name, path);
    else if (ends_with(name, ".tmp-journal") && !owner_lives(name, path))
        unlink(path);
    return HS_OK;
}

/* Second pass: a trace file that the catalogue does not name. It was whole and on the disk before it got its name: the
 * program died before the catalogue was written, or the catalogue was lost. */
static int settle_trace(const struct recovery *r, const char *name, const char *path)
{
    char id[33];
    const char *ext = split_name(name, id);
    if (!ext || strcmp(ext, ".db") != 0 || find_row(r, id))
        return HS_OK;
    struct hs_trace_row row;
    struct hs_err why = HS_ERR_INIT;
    if (hs_adopt_row(path, id, &row, &why)) {
        hs_log(HS_LOG_WARN, "a trace file that the catalogue does not name cannot be read; it is left alone",
               " file=\"%s\" reason=\"%s\"", name, why.text);
        return HS_OK;
    }
    char *original = hs_files_path(r->dir, id, ".orig");
    int rc = hs_catalogue_add_file(r->catalogue, &row, hs_files_size(original), r->err);
    if (!rc)
        rc = hs_catalogue_add_trace(r->catalogue, &row, r->err);
    if (!rc)
        hs_log(HS_LOG_WARN, "a trace file that the catalogue did not name is named again", " trace=%s run=\"%s\"", id,
               row.run);
    hs_trace_row_clear(&row);
    free(original);
    return rc;
}

static int each_file(const struct recovery *r, int (*fn)(const struct recovery *, const char *, const char *))
{
    char *traces = hs_asprintf("%s/traces", r->dir);
    DIR *d = opendir(traces);
    int rc = d ? HS_OK : hs_fail_errno(r->err, HS_EINTERNAL, "%s", traces);
    for (struct dirent *e; !rc && d && (e = readdir(d));) {
        char *path = hs_asprintf("%s/%s", traces, e->d_name);
        rc = fn(r, e->d_name, path);
        free(path);
    }
    if (d)
        closedir(d);
    free(traces);
    return rc;
}

/* Brings a row to what is on the disk. An original without its trace stays: it may be the only copy there is. */
static int settle_row(const struct recovery *r, const struct hs_file_row *row)
{
    char *file = hs_files_path(r->dir, row->id, ".db"), *original = hs_files_path(r->dir, row->id, ".orig");
    int64_t bytes = hs_files_size(original);
    int rc = HS_OK;
    if (hs_files_size(file) < 0) {
        hs_log(HS_LOG_WARN, "forgetting a trace whose file is gone", " trace=%s", row->id);
        if (bytes >= 0)
            hs_log(HS_LOG_WARN, "its original is still there and can be imported again", " file=\"%s\"", original);
        rc = hs_catalogue_drop_file(r->catalogue, row->id, r->err);
    } else if (bytes != row->bytes_original && (bytes >= 0 || row->bytes_original >= 0)) {
        rc = hs_catalogue_set_original(r->catalogue, row->id, bytes, r->err);
    }
    free(file);
    free(original);
    return rc;
}

int hs_files_recover(const char *dir, sqlite3 *catalogue, struct hs_err *err)
{
    struct hs_file_row *rows = NULL;
    struct recovery r = {.dir = dir, .catalogue = catalogue, .err = err};
    int rc = hs_catalogue_begin(catalogue, err);
    if (rc)
        return rc;
    rc = hs_catalogue_files(catalogue, &rows, &r.n, err);
    r.rows = rows;
    if (!rc)
        rc = each_file(&r, settle_temps);
    if (!rc)
        rc = each_file(&r, settle_trace);
    for (size_t i = 0; !rc && i < r.n; i++)
        rc = settle_row(&r, &rows[i]);
    free(rows);
    return hs_catalogue_end(catalogue, rc, err);
}
