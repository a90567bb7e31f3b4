#include "store/room.h"

#include "base/mem.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_MIN (16 << 20) /* ask for this much at once, not for every page again */
#define REAL_FILE_MAX 1024  /* bytes of the real VFS's file object; unix needs about 120 */

/* ---- who may give up something ---- */

struct store {
    struct store *next;
    const char *dir;
    hs_room_fn *fn;
    void *ctx;
};

static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
static struct store *g_stores;

void hs_room_add(const char *dir, hs_room_fn *fn, void *ctx)
{
    struct store *s = hs_malloc(sizeof *s);
    pthread_mutex_lock(&g_lock);
    *s = (struct store){g_stores, dir, fn, ctx};
    g_stores = s;
    pthread_mutex_unlock(&g_lock);
}

void hs_room_remove(void *ctx)
{
    pthread_mutex_lock(&g_lock);
    for (struct store **p = &g_stores; *p;) {
        struct store *s = *p;
        if (s->ctx == ctx) {
            *p = s->next;
            free(s);
        } else {
            p = &s->next;
        }
    }
    pthread_mutex_unlock(&g_lock);
}

static bool make_room(const char *path, int64_t bytes)
{
    int64_t freed = 0;
    pthread_mutex_lock(&g_lock);
    for (const struct store *s = g_stores; s && !freed; s = s->next)
        if (path && !strncmp(path, s->dir, strlen(s->dir)))
            freed = s->fn(s->ctx, bytes);
    pthread_mutex_unlock(&g_lock);
    return freed > 0;
}

/* ---- the file: everything goes through, writes are watched ---- */

struct file {
    sqlite3_file base;
    const char *path;                 /* SQLite keeps it until the file is closed */
    uint64_t real[REAL_FILE_MAX / 8]; /* aligned to 8, as SQLite aligns this struct */
};

static sqlite3_file *real_file(sqlite3_file *f)
{
    return (sqlite3_file *)(void *)((struct file *)f)->real;
}

static int file_close(sqlite3_file *f)
{
    return real_file(f)->pMethods->xClose(real_file(f));
}

static int file_read(sqlite3_file *f, void *p, int n, sqlite3_int64 at)
{
    return real_file(f)->pMethods->xRead(real_file(f), p, n, at);
}

static int file_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at)
{
    sqlite3_file *r = real_file(f);
    int rc = r->pMethods->xWrite(r, p, n, at);
    if (rc == SQLITE_FULL && make_room(((struct file *)f)->path, n > ROOM_MIN ? n : ROOM_MIN))
        rc = r->pMethods->xWrite(r, p, n, at);
    return rc;
}

static int file_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    return real_file(f)->pMethods->xTruncate(real_file(f), size);
}

static int file_sync(sqlite3_file *f, int flags)
{
    return real_file(f)->pMethods->xSync(real_file(f), flags);
}

static int file_size(sqlite3_file *f, sqlite3_int64 *size)
{
    return real_file(f)->pMethods->xFileSize(real_file(f), size);
}

static int file_lock(sqlite3_file *f, int how)
{
    return real_file(f)->pMethods->xLock(real_file(f), how);
}

static int file_unlock(sqlite3_file *f, int how)
{
    return real_file(f)->pMethods->xUnlock(real_file(f), how);
}

static int file_reserved(sqlite3_file *f, int *out)
{
    return real_file(f)->pMethods->xCheckReservedLock(real_file(f), out);
}

static int file_control(sqlite3_file *f, int op, void *arg)
{
    return real_file(f)->pMethods->xFileControl(real_file(f), op, arg);
}

static int file_sector(sqlite3_file *f)
{
    return real_file(f)->pMethods->xSectorSize(real_file(f));
}

static int file_traits(sqlite3_file *f)
{
    return real_file(f)->pMethods->xDeviceCharacteristics(real_file(f));
}

static const sqlite3_io_methods file_methods = {.iVersion = 1, /* without shared memory: the writer uses no WAL */
                                                .xClose = file_close,
                                                .xRead = file_read,
                                                .xWrite = file_write,
                                                .xTruncate = file_truncate,
                                                .xSync = file_sync,
                                                .xFileSize = file_size,
                                                .xLock = file_lock,
                                                .xUnlock = file_unlock,
                                                .xCheckReservedLock = file_reserved,
                                                .xFileControl = file_control,
                                                .xSectorSize = file_sector,
                                                .xDeviceCharacteristics = file_traits};

/* ---- the VFS: the default one's, apart from opening ---- */

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *out, int flags, int *out_flags)
{
    struct file *f = (struct file *)out;
    sqlite3_vfs *real = sqlite3_vfs_find(NULL);
    (void)vfs;
    out->pMethods = NULL;
    if (!real || real->szOsFile > REAL_FILE_MAX)
        return SQLITE_CANTOPEN;
    memset(f->real, 0, sizeof f->real);
    int rc = real->xOpen(real, name, real_file(out), flags, out_flags);
    f->path = name;
    if (real_file(out)->pMethods) /* then it wants to be closed, even after a failure */
        out->pMethods = &file_methods;
    return rc;
}

static sqlite3_vfs g_vfs;
static bool g_registered;

static void register_vfs(void)
{
    const sqlite3_vfs *real = sqlite3_vfs_find(NULL);
    if (!real)
        return;
    g_vfs = *real;
    g_vfs.iVersion = 1;
    g_vfs.szOsFile = sizeof(struct file);
    g_vfs.pNext = NULL;
    g_vfs.zName = "holoscope";
    g_vfs.xOpen = vfs_open;
    g_registered = sqlite3_vfs_register(&g_vfs, 0) == SQLITE_OK;
}

const char *hs_room_vfs(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_vfs);
    return g_registered ? g_vfs.zName : NULL;
}
