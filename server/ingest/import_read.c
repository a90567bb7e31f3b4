/* The reader thread: source, hash and the copy of the original. */
#include "base/log.h"
#include "ingest/import_in.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ID_BYTES 16

bool hs_import_cancelled(const struct hs_import_options *o)
{
    return o->progress && atomic_load_explicit(&o->progress->cancel, memory_order_relaxed);
}

/* ---- every raw byte, once: hashed, and copied where the original is kept ---- */

struct tee {
    const struct hs_import_options *o;
    crypto_generichash_state hash;
    const char *path;
    int fd; /* -1: no copy */
};

/* Originals are the first to go when the disk is full: older ones, else this one. The trace matters more. */
static void tee_give_up(struct tee *t)
{
    hs_log(HS_LOG_WARN, "no space left: the original is not kept", " file=\"%s\"", t->path);
    close(t->fd);
    t->fd = -1;
    unlink(t->path);
}

static int stopped(struct hs_err *err)
{
    return hs_fail(err, HS_ECANCELLED, "the import was stopped");
}

static int tee_write(void *ctx, const void *p, size_t n, struct hs_err *err)
{
    struct tee *t = ctx;
    bool asked = false;
    if (hs_import_cancelled(t->o)) /* here too: members that are passed over give no blocks */
        return stopped(err);
    crypto_generichash_update(&t->hash, p, n);
    for (size_t done = 0; t->fd >= 0 && done < n;) {
        ssize_t k = write(t->fd, (const char *)p + done, n - done);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0 && (errno == ENOSPC || errno == EDQUOT)) {
            if (asked || hs_store_reclaim(t->o->store, (int64_t)n) <= 0)
                tee_give_up(t);
            asked = true;
            continue;
        }
        if (k < 0)
            return hs_fail_errno(err, HS_EINTERNAL, "cannot keep the original as %s", t->path);
        done += (size_t)k;
    }
    return HS_OK;
}

static int tee_open(struct tee *t, const struct hs_import_options *o, const char *path, struct hs_err *err)
{
    t->o = o;
    crypto_generichash_init(&t->hash, NULL, 0, ID_BYTES);
    t->path = path;
    t->fd = -1;
    if (!path)
        return HS_OK;
    t->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    return t->fd < 0 ? hs_fail_errno(err, HS_EINTERNAL, "cannot create %s", path) : HS_OK;
}

/* Ends the copy: whole and on disk, or (keep = false) gone. */
static int tee_close(struct tee *t, bool keep, struct hs_err *err)
{
    if (t->fd < 0)
        return HS_OK;
    int rc = HS_OK;
    if (keep && fsync(t->fd))
        rc = hs_fail_errno(err, HS_EINTERNAL, "cannot keep the original as %s", t->path);
    close(t->fd);
    t->fd = -1;
    if (!keep)
        unlink(t->path);
    return rc;
}

static void hex(char out[33], crypto_generichash_state *hash)
{
    unsigned char bytes[ID_BYTES];
    crypto_generichash_final(hash, bytes, sizeof bytes);
    sodium_bin2hex(out, 33, bytes, sizeof bytes);
}

/* ---- the loop ---- */

static struct hs_block *block(struct hs_reader *r, enum hs_block_kind kind)
{
    struct hs_block *b = hs_queue_try_get(&r->free);
    if (!b && r->nblocks < HS_BLOCKS) {
        b = hs_malloc(sizeof *b);
        r->nblocks++;
    } else if (!b) {
        b = hs_queue_get(&r->free);
    }
    if (!b)
        return NULL;
    b->kind = kind;
    b->name = NULL;
    b->n = 0;
    b->bytes_in = b->bytes_json = 0;
    b->last = b->archive = false;
    b->id[0] = 0;
    hs_quality_init(&b->quality);
    return b;
}

static bool put(struct hs_reader *r, struct hs_block *b)
{
    if (hs_queue_put(&r->full, b))
        return true;
    free(b->name);
    free(b);
    return false;
}

/* The text of the current document; its hash too where it is not the hash of the raw bytes. */
static int read_document(struct hs_reader *r, struct hs_source *s, crypto_generichash_state *hash, struct hs_quality *q,
                         struct hs_err *err)
{
    struct hs_import_progress *progress = r->o->progress;
    for (size_t got = 1; got;) {
        if (hs_import_cancelled(r->o))
            return stopped(err);
        struct hs_block *b = block(r, HS_BLOCK_TEXT);
        if (!b)
            return stopped(err);
        int rc = hs_source_read(s, b->text, HS_BLOCK_BYTES, &got, q, err);
        if (rc || !got) {
            hs_reader_give(r, b);
            if (rc)
                return rc;
            break;
        }
        b->n = got;
        memset(b->text + got, 0, HS_KINETO_PAD);
        if (hash)
            crypto_generichash_update(hash, (const unsigned char *)b->text, got);
        if (progress) {
            atomic_store_explicit(&progress->bytes_in, hs_source_bytes_in(s), memory_order_relaxed);
            atomic_fetch_add_explicit(&progress->bytes_json, got, memory_order_relaxed);
        }
        if (!put(r, b))
            return stopped(err);
    }
    return HS_OK;
}

static int read_all(struct hs_reader *r, struct hs_source *s, struct tee *tee, struct hs_err *err)
{
    bool more = false;
    const char *name;
    uint64_t told = 0;
    int rc = hs_source_next(s, &more, &name, err);
    bool archive = !rc && hs_source_is_archive(s);
    if (!rc && archive)
        rc = tee_close(tee, false, err);
    if (!rc && !more)
        return hs_fail(err, HS_EINPUT, "%s holds no file that looks like a trace (.json, .json.gz)", r->in->name);
    while (!rc && more) {
        struct hs_block *b = block(r, HS_BLOCK_BEGIN);
        if (!b)
            return stopped(err);
        b->name = hs_strdup(name);
        b->archive = archive;
        if (!put(r, b))
            return stopped(err);
        crypto_generichash_state hash;
        struct hs_quality q;
        hs_quality_init(&q);
        crypto_generichash_init(&hash, NULL, 0, ID_BYTES);
        if ((rc = read_document(r, s, archive ? &hash : NULL, &q, err)))
            break;
        uint64_t json = hs_source_bytes_out(s);
        if ((rc = hs_source_next(s, &more, &name, err)) || (!more && (rc = hs_source_drain(s, err))))
            break;
        hs_source_defects(s, &q);
        if (!more && (rc = tee_close(tee, true, err)))
            break;
        if (!(b = block(r, HS_BLOCK_END)))
            return stopped(err);
        hex(b->id, archive ? &hash : &tee->hash);
        b->quality = q;
        b->bytes_json = json;
        b->bytes_in = hs_source_bytes_in(s) - told;
        b->archive = archive;
        b->last = !more;
        told += b->bytes_in;
        if (r->o->progress)
            atomic_store_explicit(&r->o->progress->bytes_in, hs_source_bytes_in(s), memory_order_relaxed);
        if (!put(r, b))
            return stopped(err);
    }
    return rc;
}

static void *run(void *arg)
{
    struct hs_reader *r = arg;
    struct hs_err err = HS_ERR_INIT;
    struct hs_source *s = NULL;
    struct hs_tee tee;
    struct tee t;
    int rc = tee_open(&t, r->o, r->original, &err);
    tee = (struct hs_tee){tee_write, &t};
    if (!rc)
        rc = hs_source_new(&s, r->in, r->limits, &tee, &err);
    if (!rc)
        rc = read_all(r, s, &t, &err);
    hs_source_free(s);
    struct hs_err ignored = HS_ERR_INIT;
    tee_close(&t, false, &ignored); /* nothing to do where it was closed whole */
    if (rc) {
        hs_first_error_set(r->error, rc, &err);
        hs_queue_abort(&r->full);
    } else {
        hs_queue_close(&r->full);
    }
    return NULL;
}

int hs_reader_start(struct hs_reader *r, struct hs_err *err)
{
    hs_queue_init(&r->full, HS_BLOCKS);
    hs_queue_init(&r->free, HS_BLOCKS);
    r->nblocks = 0;
    if (sodium_init() < 0)
        return hs_fail(err, HS_EINTERNAL, "libsodium does not start");
    if (pthread_create(&r->thread, NULL, run, r))
        return hs_fail(err, HS_EINTERNAL, "cannot start a thread to read %s", r->in->name);
    r->running = true;
    return HS_OK;
}

struct hs_block *hs_reader_take(struct hs_reader *r)
{
    return hs_queue_get(&r->full);
}

void hs_reader_give(struct hs_reader *r, struct hs_block *b)
{
    free(b->name);
    b->name = NULL;
    if (!hs_queue_put(&r->free, b))
        free(b);
}

void hs_reader_trim(struct hs_reader *r)
{
    for (struct hs_block *b; (b = hs_queue_try_get(&r->free));)
        free(b);
}

void hs_reader_stop(struct hs_reader *r)
{
    hs_queue_abort(&r->full);
    hs_queue_abort(&r->free);
    if (r->running)
        pthread_join(r->thread, NULL);
    for (struct hs_block *b; (b = hs_queue_try_get(&r->full)) || (b = hs_queue_try_get(&r->free));) {
        free(b->name);
        free(b);
    }
    if (r->original)
        unlink(r->original);
    hs_queue_destroy(&r->full);
    hs_queue_destroy(&r->free);
}
