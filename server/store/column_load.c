#include "store/column_load.h"

#include "store/db.h"
#include "store/decode.h"

#include <stdatomic.h>
#include <stdlib.h>

#define ALONE 8u                     /* fewer segments than this are not worth a thread */
#define BLOB_MAX (HS_SEG_ROWS * 32u) /* no column that was encoded is longer */

static const size_t form_size[] = {
    [HS_FORM_I64] = 8, [HS_FORM_U32] = 4, [HS_FORM_U16] = 2, [HS_FORM_U8] = 1, [HS_FORM_I32] = 4};

/* ---- one segment ---- */

#define NARROW(type)               \
    for (size_t i = 0; i < n; i++) \
    ((type *)out)[at + i] = (type)v[pick ? pick[i] - first : i]

/* To out[at..at + n) the first n numbers of v, or those of the rows that are picked, of which v's first is row `first`. */
static void narrow(enum hs_form form, const int64_t *v, size_t n, void *out, size_t at, const uint32_t *pick,
                   size_t first)
{
    switch (form) {
    case HS_FORM_U32: NARROW(uint32_t); break;
    case HS_FORM_U16: NARROW(uint16_t); break;
    case HS_FORM_U8: NARROW(uint8_t); break;
    case HS_FORM_I32: NARROW(int32_t); break;
    case HS_FORM_I64: NARROW(int64_t); break;
    }
}

static bool within(const int64_t *v, size_t n, int64_t least, int64_t most)
{
    bool bad = false;
    for (size_t i = 0; i < n; i++)
        bad |= (v[i] < least) | (v[i] > most);
    return !bad;
}

/* Distances to event numbers, `from - distance`; false where one is out of range. */
static bool undo_distance(const struct hs_column_load *l, const int64_t *distance, size_t n, size_t at)
{
    uint32_t *out = l->out;
    bool bad = false;
    for (size_t i = 0; i < n; i++) {
        int64_t own = l->from ? l->from[at + i] : (int64_t)(at + i);
        int64_t other = (int64_t)((uint64_t)own - (uint64_t)distance[i]);
        bad |= distance[i] && (other < l->least || other > l->most);
        out[at + i] = distance[i] ? (uint32_t)other : HS_NO_EVENT;
    }
    return !bad;
}

static size_t first_from(const uint32_t *pick, size_t n, size_t row)
{
    size_t lo = 0;
    while (lo < n) {
        size_t mid = lo + (n - lo) / 2;
        if (pick[mid] < row)
            lo = mid + 1;
        else
            n = mid;
    }
    return lo;
}

static int place(struct hs_view_file *f, const struct hs_column_load *l, struct hs_str blob, size_t at, int64_t *tmp,
                 struct hs_err *err)
{
    size_t n = l->n - at < HS_SEG_ROWS ? l->n - at : HS_SEG_ROWS;
    bool in_place = l->form == HS_FORM_I64 && !l->pick;
    int64_t *v = in_place ? (int64_t *)l->out + at : tmp;
    size_t from = l->pick ? first_from(l->pick, l->npick, at) : 0,
           to = l->pick ? first_from(l->pick, l->npick, at + n) : 0;
    if (l->pick && from == to)
        return HS_OK; /* none of this segment */
    int rc = hs_decode(blob.p, blob.n, v, n, err);
    if (rc)
        return rc;
    if (l->distance)
        return undo_distance(l, v, n, at) ? HS_OK : hs_view_damaged(f, err, "an event number is out of range");
    if (!within(v, n, l->least, l->most))
        return hs_view_damaged(f, err, "a number is out of range");
    if (l->pick)
        narrow(l->form, v, to - from, l->out, from, l->pick + from, at);
    else if (!in_place)
        narrow(l->form, v, n, l->out, at, NULL, 0);
    return HS_OK;
}

/* ---- two threads ---- */

struct shared {
    struct hs_view_file *f;
    const struct hs_column_load *loads;
    size_t nloads;
    pthread_mutex_t read; /* protects the database handle and `load`, `segment`, `taken` */
    size_t load, segment; /* the next to be taken */
    size_t taken;
    _Atomic bool stop; /* a thread failed */
};

struct worker {
    struct shared *s;
    int64_t *tmp;       /* HS_SEG_ROWS */
    struct hs_buf blob; /* its own copy: the database's lives only until the next is read */
    int rc;
    size_t job; /* that failed */
    struct hs_err err;
};

/* Takes the next segment and reads its bytes; false when none is left or reading failed. */
static bool take(struct worker *w, const struct hs_column_load **load, size_t *at)
{
    struct shared *s = w->s;
    bool row = false;
    pthread_mutex_lock(&s->read);
    while (s->load < s->nloads && s->segment * HS_SEG_ROWS >= s->loads[s->load].n) {
        s->load++;
        s->segment = 0;
    }
    bool more = s->load < s->nloads && !atomic_load(&s->stop);
    if (more) {
        *load = &s->loads[s->load];
        *at = s->segment * HS_SEG_ROWS;
        w->job = s->taken++;
        sqlite3_bind_int64(s->f->get, 1, hs_segment_key((*load)->tbl, (*load)->col, s->segment++));
        w->rc = hs_db_step(s->f->get, &row, &w->err);
        if (!w->rc && !row)
            w->rc = hs_view_damaged(s->f, &w->err, "a column is missing");
        if (!w->rc) {
            struct hs_str blob = hs_db_str(s->f->get, 0);
            hs_buf_clear(&w->blob);
            hs_buf_put(&w->blob, blob.p, blob.n);
            if (w->blob.full)
                w->rc = hs_view_damaged(s->f, &w->err, "a column is too long");
        }
        sqlite3_reset(s->f->get);
    }
    pthread_mutex_unlock(&s->read);
    return more && !w->rc;
}

static void *work(void *arg)
{
    struct worker *w = arg;
    const struct hs_column_load *load;
    size_t at;
    while (take(w, &load, &at) && !(w->rc = place(w->s->f, load, hs_str(w->blob.p, w->blob.n), at, w->tmp, &w->err)))
        ;
    if (w->rc)
        atomic_store(&w->s->stop, true);
    return NULL;
}

static int run(struct shared *s, size_t segments, struct hs_err *err)
{
    struct worker w[2];
    pthread_t helper;
    for (int i = 0; i < 2; i++)
        w[i] = (struct worker){.s = s, .blob = HS_BUF_INIT(BLOB_MAX)};
    w[0].tmp = s->f->tmp;
    if (segments >= ALONE)
        w[1].tmp = calloc(HS_SEG_ROWS, sizeof *w[1].tmp);
    pthread_mutex_init(&s->read, NULL);
    bool helped = w[1].tmp && !pthread_create(&helper, NULL, work, &w[1]);
    work(&w[0]); /* without a helper, all of it */
    if (helped)
        pthread_join(helper, NULL);
    pthread_mutex_destroy(&s->read);
    /* Segments are taken in order, so the first that is bad was seen, whichever thread had it: the message is always its. */
    const struct worker *bad = w[1].rc && (!w[0].rc || w[1].job < w[0].job) ? &w[1] : &w[0];
    int rc = bad->rc;
    if (rc && err)
        *err = bad->err;
    free(w[1].tmp);
    hs_buf_free(&w[0].blob);
    hs_buf_free(&w[1].blob);
    return rc;
}

/* What is picked is not the view's, so it does not count as its memory. */
static int make_room(struct hs_view_file *f, struct hs_column_load *l, struct hs_err *err)
{
    if (!l->pick)
        return hs_view_alloc(f, &l->out, l->n, form_size[l->form], err);
    l->out = hs_calloc(l->npick, form_size[l->form]);
    return HS_OK;
}

int hs_load_columns(struct hs_view_file *f, struct hs_column_load *loads, size_t n, struct hs_err *err)
{
    struct shared s = {.f = f, .loads = loads, .nloads = n};
    size_t segments = 0;
    int rc = HS_OK;
    for (size_t i = 0; i < n; i++)
        loads[i].out = NULL;
    for (size_t i = 0; i < n && !rc; i++) {
        rc = make_room(f, &loads[i], err);
        segments += (loads[i].n + HS_SEG_ROWS - 1) / HS_SEG_ROWS;
    }
    if (!rc)
        rc = run(&s, segments, err);
    for (size_t i = 0; i < n && rc; i++) {
        free(loads[i].out);
        loads[i].out = NULL;
    }
    return rc;
}
