#include "store/files.h"

#include "base/clock.h"
#include "base/log.h"
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

static const struct hs_file_row *find_row(const struct hs_file_row *rows, size_t n, const char *id)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(rows[i].id, id))
            return &rows[i];
    return NULL;
}

/* A file of a trace that was never committed, or whose deletion did not finish. */
static bool is_leftover(const char *name, const char *path, const struct hs_file_row *rows, size_t n)
{
    char id[33];
    const char *ext;
    if (ends_with(name, ".tmp") || ends_with(name, ".tmp-journal"))
        return !owner_lives(name, path);
    if (!(ext = split_name(name, id)))
        return false; /* not ours */
    const struct hs_file_row *row = find_row(rows, n, id);
    if (!strcmp(ext, ".orig"))
        return !row || row->bytes_original < 0;
    return !row && (!strcmp(ext, ".db") || !strcmp(ext, ".db-journal"));
}

static int remove_leftovers(const char *dir, const struct hs_file_row *rows, size_t n, struct hs_err *err)
{
    char *traces = hs_asprintf("%s/traces", dir);
    DIR *d = opendir(traces);
    int rc = d ? HS_OK : hs_fail_errno(err, HS_EINTERNAL, "%s", traces);
    for (struct dirent *e; d && (e = readdir(d));) {
        char *path = hs_asprintf("%s/%s", traces, e->d_name);
        if (is_leftover(e->d_name, path, rows, n)) {
            hs_log(HS_LOG_WARN, "removing a file that no trace names", " file=\"%s\"", e->d_name);
            unlink(path);
        }
        free(path);
    }
    if (d)
        closedir(d);
    free(traces);
    return rc;
}

static int drop_row(const char *dir, sqlite3 *db, const struct hs_file_row *row, struct hs_err *err)
{
    char *file = hs_files_path(dir, row->id, ".db"), *original = hs_files_path(dir, row->id, ".orig");
    int rc = HS_OK;
    if (hs_files_size(file) < 0) {
        hs_log(HS_LOG_WARN, "forgetting a trace whose file is gone", " trace=%s", row->id);
        rc = hs_catalogue_drop_file(db, row->id, err);
        unlink(original);
    } else if (row->bytes_original >= 0 && hs_files_size(original) < 0) {
        rc = hs_catalogue_set_original(db, row->id, -1, err);
    }
    free(file);
    free(original);
    return rc;
}

int hs_files_recover(const char *dir, sqlite3 *catalogue, struct hs_err *err)
{
    struct hs_file_row *rows = NULL;
    size_t n = 0;
    int rc = hs_catalogue_begin(catalogue, err);
    if (rc)
        return rc;
    rc = hs_catalogue_files(catalogue, &rows, &n, err);
    if (!rc)
        rc = remove_leftovers(dir, rows, n, err);
    for (size_t i = 0; !rc && i < n; i++)
        rc = drop_row(dir, catalogue, &rows[i], err);
    free(rows);
    return hs_catalogue_end(catalogue, rc, err);
}
