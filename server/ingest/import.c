#include "ingest/import_in.h"

#include "base/clock.h"
#include "ingest/link.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One import. The caller's thread owns all of it. */
struct import {
    const struct hs_import_options *o;
    const struct hs_limits *limits;
    struct hs_reader reader;
    struct hs_first_error error;
    struct {
        HS_VEC(struct hs_imported);
    } out;
    uint64_t events; /* of the traces before this one, for progress */
    int64_t refused; /* archive members that were no traces */
    int refused_rc;  /* what was said of the first of them */
    struct hs_err refused_err;
};

/* One trace on its way. */
struct passage {
    char *full_name;  /* with the path: the folder may tell the rank */
    const char *name; /* what it is called: within an archive the path there, else the file's name */
    char *path;       /* temporary file, NULL in memory */
    struct hs_trace trace;
    struct hs_links links;
    struct hs_writer *writer;
    struct hs_segments segments;
    bool writing; /* segments was started */
    struct hs_kineto *kineto;
};

static const _Atomic bool *cancel_flag(const struct import *im)
{
    return im->o->progress ? &im->o->progress->cancel : NULL;
}

static int passage_begin(struct import *im, struct passage *p, struct hs_block *b, struct hs_err *err)
{
    memset(p, 0, sizeof *p);
    p->full_name = b->name;
    b->name = NULL;
    const char *base = strrchr(p->full_name, '/');
    p->name = base && base[1] && !b->archive ? base + 1 : p->full_name;
    hs_trace_init(&p->trace, im->limits);
    hs_links_init(&p->links);
    if (im->o->store)
        p->path = hs_store_temp_path(im->o->store, ".db");
    int rc = hs_writer_new(&p->writer, p->path, err);
    if (rc || (rc = hs_segments_start(&p->segments, p->writer, &im->error, err)))
        return rc;
    p->writing = true;
    rc = hs_kineto_new(&p->kineto, &p->trace, im->limits, hs_segments_first(&p->segments), hs_segments_emit,
                       &p->segments, err);
    if (!rc)
        hs_kineto_cancel(p->kineto, cancel_flag(im));
    return rc;
}

static void passage_end(struct passage *p)
{
    hs_kineto_free(p->kineto);
    if (p->writing)
        hs_segments_finish(&p->segments, true);
    hs_writer_free(p->writer);
    hs_links_free(&p->links);
    hs_trace_free(&p->trace);
    if (p->path)
        unlink(p->path); /* gone already where it was committed */
    free(p->path);
    free(p->full_name);
    memset(p, 0, sizeof *p);
}

static int resolve_rank(struct import *im, const struct passage *p, int64_t *rank, struct hs_err *err)
{
    const struct hs_import_options *o = im->o;
    if (o->rank != HS_RANK_AUTO && !im->out.n) {
        *rank = o->rank;
        return HS_OK;
    }
    if (p->trace.rank >= 0) {
        *rank = p->trace.rank;
        return HS_OK;
    }
    *rank = hs_rank_of_name(p->full_name);
    if (*rank >= 0)
        return HS_OK;
    if (o->store)
        return hs_store_next_rank(o->store, o->run ? o->run : "default", rank, err);
    *rank = o->order + (int64_t)im->out.n;
    return HS_OK;
}

static void merge_quality(struct hs_quality *into, const struct hs_quality *from)
{
    for (int k = 0; k < HS_QUALITY_KINDS; k++)
        if (from->count[k])
            hs_quality_add(into, (enum hs_quality_kind)k, from->count[k], from->first[k]);
}

/* The same bytes were there already: tell what the store calls them. */
static void tell_existing(struct hs_store *s, struct hs_trace_row *row)
{
    struct hs_trace_row *rows = NULL;
    size_t n = 0;
    struct hs_err ignored = HS_ERR_INIT;
    if (hs_store_traces(s, row->run, &rows, &n, &ignored))
        return;
    for (size_t i = 0; i < n; i++)
        if (!strcmp(rows[i].id, row->id)) {
            row->rank = rows[i].rank;
            free(row->name);
            row->name = hs_strdup(rows[i].name);
        }
    hs_trace_rows_free(rows, n);
}

static int keep(struct import *im, struct passage *p, const struct hs_block *end, struct hs_imported *got,
                struct hs_err *err)
{
    struct hs_store *store = im->o->store;
    if (!store)
        return hs_writer_view(p->writer, &got->view, err);
    struct stat st;
    if (!stat(p->path, &st))
        got->row.bytes_stored = (int64_t)st.st_size;
    char *original = end->archive ? NULL : im->reader.original;
    int rc = hs_store_commit(store, &got->row, p->path, original, &got->existed, err);
    if (!rc && got->existed)
        tell_existing(store, &got->row);
    /* Asked of the store: the copy may have been given up for want of room, or be there from before. */
    char *kept = rc ? NULL : hs_store_original_path(store, got->row.id);
    got->row.has_original = kept != NULL;
    free(kept);
    return rc;
}

/* The document has ended: link it, finish its file, name it. */
static int passage_arrive(struct import *im, struct passage *p, const struct hs_block *end, struct hs_err *err)
{
    int rc = hs_kineto_finish(p->kineto, err);
    hs_kineto_free(p->kineto);
    p->kineto = NULL;
    hs_segments_finish(&p->segments, rc != HS_OK);
    p->writing = false;
    if (rc || (rc = hs_first_error_get(&im->error, err)))
        return rc;
    if (end->last)
        hs_reader_trim(&im->reader);
    p->trace.bytes_in = end->bytes_in;
    p->trace.bytes_json = end->bytes_json;
    merge_quality(&p->trace.quality, &end->quality);
    if (im->refused) {
        hs_quality_add(&p->trace.quality, HS_Q_ARCHIVE_IGNORED, im->refused, -1);
        im->refused = 0;
    }
    if ((rc = hs_link_stoppable(&p->trace, &p->links, cancel_flag(im), err)))
        return rc;
    if (hs_import_cancelled(im->o))
        return hs_fail(err, HS_ECANCELLED, "the import was stopped");
    struct hs_trace_info info = {.name = p->name, .run = im->o->store ? im->o->run ? im->o->run : "default" : NULL};
    memcpy(info.id, end->id, sizeof info.id);
    if ((rc = resolve_rank(im, p, &info.rank, err)) ||
        (rc = hs_writer_finish(p->writer, &p->trace, &p->links, &info, err)))
        return rc;
    if (hs_import_cancelled(im->o))
        return hs_fail(err, HS_ECANCELLED, "the import was stopped");
    struct hs_imported got = {.row = {.run = hs_strdup(im->o->run ? im->o->run : "default"),
                                      .name = hs_strdup(p->name),
                                      .rank = info.rank,
                                      .bytes_in = (int64_t)p->trace.bytes_in,
                                      .bytes_json = (int64_t)p->trace.bytes_json,
                                      .events = (int64_t)p->trace.events,
                                      .created_ns = hs_unix_ns(),
                                      .quality_json = hs_store_quality_json(&p->trace.quality)}};
    memcpy(got.row.id, info.id, sizeof got.row.id);
    rc = keep(im, p, end, &got, err);
    if (rc || !hs_vec_push(&im->out, got))
        hs_trace_row_clear(&got.row);
    return rc;
}

/* What a trace's failure means for the whole import: a member of an archive that is no trace is passed over. */
static int judge(struct import *im, int rc, bool archive, struct hs_err *err)
{
    if (rc != HS_EINPUT || !archive)
        return rc;
    if (!im->refused_rc) {
        im->refused_rc = rc;
        im->refused_err = *err;
    }
    im->refused++;
    hs_err_clear(err);
    return HS_OK;
}

static void tell_progress(const struct import *im, const struct passage *p)
{
    if (im->o->progress)
        atomic_store_explicit(&im->o->progress->events, im->events + p->trace.events, memory_order_relaxed);
}

static int import_all(struct import *im, struct hs_err *err)
{
    struct passage p = {0};
    bool under_way = false;
    int rc = HS_OK;
    struct hs_block *b;
    while (!rc && (b = hs_reader_take(&im->reader))) {
        if (hs_import_cancelled(im->o)) {
            rc = hs_fail(err, HS_ECANCELLED, "the import was stopped");
        } else if (b->kind == HS_BLOCK_BEGIN) {
            rc = passage_begin(im, &p, b, err);
            under_way = true;
        } else if (b->kind == HS_BLOCK_TEXT) {
            rc = hs_kineto_feed(p.kineto, b->text, b->n, err);
            tell_progress(im, &p);
        } else {
            rc = judge(im, passage_arrive(im, &p, b, err), b->archive, err);
            tell_progress(im, &p);
            im->events += p.trace.events;
            passage_end(&p);
            under_way = false;
        }
        hs_reader_give(&im->reader, b);
    }
    if (under_way)
        passage_end(&p);
    if (!rc)
        rc = hs_first_error_get(&im->error, err);
    if (!rc && !im->out.n) {
        rc = im->refused_rc;
        if (err)
            *err = im->refused_err;
    }
    return rc;
}

int hs_import(struct hs_input *in, const struct hs_import_options *o, struct hs_imported **out, size_t *n,
              struct hs_err *err)
{
    struct hs_err local = HS_ERR_INIT;
    if (!err)
        err = &local;
    struct import im = {
        .o = o, .limits = o->limits ? o->limits : &hs_limits_default, .out = HS_VEC_INIT(SIZE_MAX / 4096)};
    hs_first_error_init(&im.error);
    im.reader = (struct hs_reader){.in = in, .o = o, .limits = im.limits, .error = &im.error};
    if (o->store && o->keep_original)
        im.reader.original = hs_store_temp_path(o->store, ".orig");
    int rc = hs_reader_start(&im.reader, err);
    if (!rc)
        rc = import_all(&im, err);
    hs_reader_stop(&im.reader);
    free(im.reader.original);
    hs_first_error_destroy(&im.error);
    if (rc) {
        hs_imported_free(im.out.p, im.out.n);
        return rc;
    }
    *out = im.out.p;
    *n = im.out.n;
    return HS_OK;
}

void hs_imported_free(struct hs_imported *i, size_t n)
{
    for (size_t k = 0; i && k < n; k++) {
        hs_trace_row_clear(&i[k].row);
        hs_view_close(i[k].view);
    }
    free(i);
}
