#include "http/mount_watch.h"

#include <errno.h>
#include <linux/magic.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif
#define ZFS_SUPER_MAGIC 0x2fc12fc1

/* A listing that is given out, shared by all who use it. */
struct listing {
    struct hs_mount_list list; /* first: what is given out is its address */
    _Atomic unsigned users;
};

struct watched {
    const struct hs_mount *mount;
    pthread_mutex_t lock;
    struct listing *listing; /* of the last time it was read; NULL: none that can be trusted */
    int queue;               /* of inotify, for what changes after that; -1: changes are not told */
    bool told;               /* while it is read: every folder so far is watched */
    unsigned reads;
};

struct hs_mount_watch {
    size_t n;
    struct watched mounts[];
};

struct hs_mount_watch *hs_mount_watch_new(const struct hs_mount *mounts, size_t n)
{
    struct hs_mount_watch *w = hs_calloc(1, sizeof *w + n * sizeof w->mounts[0]);
    w->n = n;
    for (size_t i = 0; i < n; i++) {
        w->mounts[i] = (struct watched){.mount = &mounts[i], .queue = -1};
        pthread_mutex_init(&w->mounts[i].lock, NULL);
    }
    return w;
}

void hs_mount_unlist(const struct hs_mount_list *list)
{
    struct listing *l = (struct listing *)(uintptr_t)list;
    if (!l || atomic_fetch_sub(&l->users, 1u) != 1)
        return;
    hs_mount_list_free(&l->list);
    free(l);
}

static void forget(struct watched *m)
{
    if (m->listing)
        hs_mount_unlist(&m->listing->list);
    m->listing = NULL;
    if (m->queue >= 0)
        close(m->queue);
    m->queue = -1;
}

void hs_mount_watch_free(struct hs_mount_watch *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < w->n; i++) {
        forget(&w->mounts[i]);
        pthread_mutex_destroy(&w->mounts[i].lock);
    }
    free(w);
}

/* File systems whose every change goes through this kernel. Of one that others write to as well (NFS, CIFS, FUSE, Lustre, …) it
 * would tell only our own. */
static bool is_local(const char *dir)
{
    static const unsigned long local[] = {EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC,  BTRFS_SUPER_MAGIC,     TMPFS_MAGIC,
                                          RAMFS_MAGIC,      F2FS_SUPER_MAGIC, OVERLAYFS_SUPER_MAGIC, ZFS_SUPER_MAGIC};
    struct statfs s;
    if (statfs(dir, &s))
        return false;
    for (size_t i = 0; i < sizeof local / sizeof local[0]; i++)
        if ((unsigned long)s.f_type == local[i])
            return true;
    return false;
}

static void enter(void *ctx, const char *dir)
{
    const uint32_t what = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE |
                          IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_ONLYDIR;
    struct watched *m = ctx;
    uint32_t link =
        dir == m->mount->path ? 0 : IN_DONT_FOLLOW; /* the mount itself may be a link, by its owner's will */
    m->told = m->told && is_local(dir) && inotify_add_watch(m->queue, dir, what | link) >= 0;
}

/* Reads the folder anew. A new queue each time: the old one has watches of folders that may be gone. */
static int read_folder(struct watched *m, struct hs_err *err)
{
    struct listing *l = hs_calloc(1, sizeof *l);
    forget(m);
    l->users = 1;
    m->queue = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    m->told = m->queue >= 0;
    m->reads++;
    int rc = hs_mount_scan(m->mount, enter, m, &l->list, err);
    m->listing = l;
    if (rc)
        forget(m);
    if (!m->told && m->queue >= 0) {
        close(m->queue);
        m->queue = -1;
    }
    return rc;
}

/* Nothing has changed since it was read. Any event at all, and the queue having run over is one, means that something has. */
static bool still_true(const struct watched *m)
{
    char event[sizeof(struct inotify_event) + 256];
    return m->listing && m->queue >= 0 && read(m->queue, event, sizeof event) < 0 && errno == EAGAIN;
}

const struct hs_mount_list *hs_mount_watch_list(struct hs_mount_watch *w, size_t i, struct hs_err *err)
{
    struct watched *m = &w->mounts[i];
    const struct hs_mount_list *list = NULL;
    pthread_mutex_lock(&m->lock);
    if (still_true(m) || !read_folder(m, err)) {
        atomic_fetch_add(&m->listing->users, 1u);
        list = &m->listing->list;
    }
    pthread_mutex_unlock(&m->lock);
    return list;
}

unsigned hs_mount_watch_reads(struct hs_mount_watch *w, size_t i)
{
    pthread_mutex_lock(&w->mounts[i].lock);
    unsigned n = w->mounts[i].reads;
    pthread_mutex_unlock(&w->mounts[i].lock);
    return n;
}
