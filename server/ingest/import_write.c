#include "ingest/import_in.h"

void hs_first_error_init(struct hs_first_error *f)
{
    pthread_mutex_init(&f->lock, NULL);
    f->rc = HS_OK;
    hs_err_clear(&f->err);
}

void hs_first_error_set(struct hs_first_error *f, int rc, const struct hs_err *err)
{
    pthread_mutex_lock(&f->lock);
    if (!f->rc) {
        f->rc = rc;
        f->err = *err;
    }
    pthread_mutex_unlock(&f->lock);
}

int hs_first_error_get(struct hs_first_error *f, struct hs_err *err)
{
    pthread_mutex_lock(&f->lock);
    int rc = f->rc;
    if (rc && err)
        *err = f->err;
    pthread_mutex_unlock(&f->lock);
    return rc;
}

void hs_first_error_destroy(struct hs_first_error *f)
{
    pthread_mutex_destroy(&f->lock);
}

static void *run(void *arg)
{
    struct hs_segments *s = arg;
    struct hs_segment *seg;
    while ((seg = hs_queue_get(&s->full))) {
        struct hs_err err = HS_ERR_INIT;
        int rc = hs_writer_segment(s->writer, seg, &err);
        if (rc) {
            hs_first_error_set(s->error, rc, &err);
            hs_queue_abort(&s->full);
            hs_queue_abort(&s->free);
        }
        if (rc || !hs_queue_put(&s->free, seg))
            hs_segment_free(seg);
    }
    return NULL;
}

int hs_segments_start(struct hs_segments *s, struct hs_writer *w, struct hs_first_error *error, struct hs_err *err)
{
    *s = (struct hs_segments){.writer = w, .error = error};
    hs_queue_init(&s->full, HS_SEGMENTS);
    hs_queue_init(&s->free, HS_SEGMENTS);
    if (pthread_create(&s->thread, NULL, run, s))
        return hs_fail(err, HS_EINTERNAL, "cannot start a thread to write the trace");
    s->running = true;
    return HS_OK;
}

struct hs_segment *hs_segments_first(struct hs_segments *s)
{
    s->made = 1;
    return hs_segment_new();
}

int hs_segments_emit(void *ctx, struct hs_segment *full, struct hs_segment **next, struct hs_err *err)
{
    struct hs_segments *s = ctx;
    if (!hs_queue_put(&s->full, full)) {
        hs_segment_free(full);
        int rc = hs_first_error_get(s->error, err);
        return rc ? rc : hs_fail(err, HS_ECANCELLED, "the import was stopped");
    }
    struct hs_segment *seg = hs_queue_try_get(&s->free);
    if (!seg && s->made < HS_SEGMENTS) {
        s->made++;
        seg = hs_segment_new();
    }
    if (!seg)
        seg = hs_queue_get(&s->free);
    if (!seg) {
        int rc = hs_first_error_get(s->error, err);
        return rc ? rc : hs_fail(err, HS_ECANCELLED, "the import was stopped");
    }
    *next = seg;
    return HS_OK;
}

void hs_segments_finish(struct hs_segments *s, bool cancel)
{
    if (cancel)
        hs_queue_abort(&s->full);
    else
        hs_queue_close(&s->full);
    if (s->running)
        pthread_join(s->thread, NULL);
    struct hs_segment *seg;
    while ((seg = hs_queue_try_get(&s->full)) || (seg = hs_queue_try_get(&s->free)))
        hs_segment_free(seg);
    hs_queue_destroy(&s->full);
    hs_queue_destroy(&s->free);
}
