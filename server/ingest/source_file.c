/* hs_input from a file, from standard input or from memory. */
#include "ingest/source.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct file {
    int fd;
    char *name;
};

static int file_read(void *ctx, void *buf, size_t cap, size_t *got, struct hs_err *err)
{
    struct file *f = ctx;
    ssize_t n;
    do
        n = read(f->fd, buf, cap > (1u << 30) ? 1u << 30 : cap);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return hs_fail_errno(err, HS_EINTERNAL, "reading %s failed", f->name);
    *got = (size_t)n;
    return HS_OK;
}

/* Takes the descriptor and the name. */
static void give(struct hs_input *in, int fd, char *name, int64_t size)
{
    struct file *f = hs_calloc(1, sizeof *f);
    posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    f->fd = fd;
    f->name = name;
    *in = (struct hs_input){file_read, f, f->name, size};
}

int hs_input_open_file(struct hs_input *in, const char *path, struct hs_err *err)
{
    bool std = !strcmp(path, "-");
    int fd = std ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return hs_fail_errno(err, errno == ENOENT ? HS_ENOTFOUND : HS_EINPUT, "cannot open %s", path);
    struct stat st;
    if (fstat(fd, &st) || S_ISDIR(st.st_mode)) {
        close(fd);
        return hs_fail(err, HS_EINPUT, "%s is a folder, not a trace file", path);
    }
    give(in, fd, hs_strdup(std ? "standard input" : path), S_ISREG(st.st_mode) ? (int64_t)st.st_size : -1);
    return HS_OK;
}

/* Without a wait for the other end of what turns out to be a pipe. Kernels before 5.6, and sandboxes that do not know the call,
 * at least follow no link at the end of the path. */
static int open_below(int root, const char *below)
{
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
    int fd = (int)syscall(SYS_openat2, root, below, &how, sizeof how);
    if (fd < 0 && (errno == ENOSYS || errno == EPERM))
        fd = openat(root, below, (int)how.flags | O_NOFOLLOW);
    return fd;
}

int hs_input_open_below(struct hs_input *in, const char *root, const char *below, struct hs_err *err)
{
    struct stat st;
    int dir = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd = dir < 0 ? -1 : open_below(dir, below);
    int rc = fd < 0 ? hs_fail_errno(err, errno == ENOENT ? HS_ENOTFOUND : HS_EINPUT, "cannot open %s/%s", root, below)
                    : HS_OK;
    if (dir >= 0)
        close(dir);
    if (!rc && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
        close(fd);
        rc = hs_fail(err, HS_EINPUT, "%s/%s is no regular file", root, below);
    }
    if (!rc)
        give(in, fd, hs_asprintf("%s/%s", root, below), (int64_t)st.st_size);
    return rc;
}

void hs_input_close_file(struct hs_input *in)
{
    struct file *f = in->ctx;
    if (!f)
        return;
    close(f->fd);
    free(f->name);
    free(f);
    in->ctx = NULL;
}

static int bytes_read(void *ctx, void *buf, size_t cap, size_t *got, struct hs_err *err)
{
    struct hs_input_bytes *b = ctx;
    (void)err;
    *got = cap < b->n ? cap : b->n;
    if (*got)
        memcpy(buf, b->p, *got);
    b->p += *got;
    b->n -= *got;
    return HS_OK;
}

struct hs_input hs_input_of_bytes(struct hs_input_bytes *b, const char *name)
{
    return (struct hs_input){bytes_read, b, name, (int64_t)b->n};
}
