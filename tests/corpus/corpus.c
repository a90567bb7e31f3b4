#include "tests/corpus/corpus.h"

#include "tests/unit/ingest_bytes.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

char *corpus_path(const char *file)
{
    const char *here = __FILE__, *slash = strrchr(here, '/'); /* relative to where the build runs, as tests do */
    return hs_asprintf("%.*s/files/%s", (int)(slash - here), here, file);
}

struct hs_buf corpus_read(const char *file)
{
    struct hs_buf b = HS_BUF_INIT(1 << 24);
    char *path = corpus_path(file), block[4096];
    FILE *f = fopen(path, "rb");
    ck_assert_msg(f != NULL, "%s is missing", path);
    for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;)
        hs_buf_put(&b, block, n);
    fclose(f);
    free(path);
    return b;
}

static int import(struct hs_str bytes, size_t piece, const char *name, struct hs_imported **v, size_t *n,
                  struct hs_err *err)
{
    struct test_input in;
    test_input_init(&in, bytes, piece, name);
    struct hs_import_options o = {.rank = HS_RANK_AUTO};
    return hs_import(&in.in, &o, v, n, err);
}

struct hs_view *corpus_view(const char *file)
{
    struct hs_buf b = corpus_read(file);
    struct hs_imported *v;
    size_t n;
    struct hs_err err = HS_ERR_INIT;
    ck_assert_msg(import(hs_str(b.p, b.n), 0, file, &v, &n, &err) == HS_OK, "%s: %s", file, err.text);
    struct hs_view *view = v[0].view;
    v[0].view = NULL;
    hs_imported_free(v, n);
    hs_buf_free(&b);
    return view;
}

/* ---- facts ---- */

struct seen { /* columns of the view, fetched once */
    struct hs_view *v;
    struct hs_events e;
    struct hs_gpu gpu;
    const struct hs_launch_row *launches;
    size_t nlaunches;
};

static int64_t kernels_of(const struct seen *s, uint32_t event)
{
    for (size_t i = 0; i < s->nlaunches; i++)
        if (s->launches[i].event == event)
            return s->launches[i].kernels;
    return -1;
}

/* The number a fact is about; INT64_MIN where the file has no such event or row. */
static int64_t number(const struct seen *s, const struct corpus_fact *f)
{
    const struct hs_summary *sum = &s->v->sum;
    size_t i = (size_t)f->i;
    bool row = f->kind == FACT_STREAM || f->kind == FACT_DEVICE || f->kind == FACT_CLASS || f->kind == FACT_GPU_DUR;
    if (i >= (row ? s->gpu.n : s->e.n) && i)
        return INT64_MIN;
    const struct hs_lane_info *lane = s->e.n ? &s->v->lanes[s->e.lane[row ? 0 : i]] : NULL;
    switch (f->kind) {
    case FACT_TS: return s->e.ts[i];
    case FACT_DUR: return s->e.dur[i];
    case FACT_PARENT: return s->e.parent[i] == HS_NO_EVENT ? -1 : (int64_t)s->e.parent[i];
    case FACT_STEP: return s->e.step[i] < 0 ? -1 : s->v->steps[s->e.step[i]].number;
    case FACT_KERNELS: return kernels_of(s, (uint32_t)i);
    case FACT_GPU: return (int64_t)s->gpu.n;
    case FACT_STREAM: return s->gpu.stream[i];
    case FACT_DEVICE: return s->gpu.device[i];
    case FACT_CLASS: return s->gpu.cls[i];
    case FACT_GPU_DUR: return s->gpu.dur[i];
    case FACT_BUSY: return sum->busy_ns;
    case FACT_COMM: return sum->comm_ns;
    case FACT_OPS: return sum->cpu_ops;
    case FACT_STEPS: return sum->steps;
    case FACT_END_AT: return sum->last_end;
    case FACT_BASE: return s->v->has_base ? s->v->base_ns : INT64_MIN;
    case FACT_PID: return lane->pid.kind == HS_ID_INT ? lane->pid.v : INT64_MIN;
    case FACT_TID: return lane->tid.kind == HS_ID_INT ? lane->tid.v : INT64_MIN;
    case FACT_WORLD: return s->v->world_size;
    default: return INT64_MIN;
    }
}

static struct hs_str text(const struct seen *s, const struct corpus_fact *f, struct hs_buf *scratch)
{
    struct hs_err err = HS_ERR_INIT;
    size_t i = (size_t)f->i;
    if (f->kind == FACT_HEADER)
        return i < s->v->nheader ? hs_view_str(s->v, s->v->header[i].json) : HS_STR("(no such member)");
    if (i >= s->e.n)
        return HS_STR("(no such event)");
    const struct hs_lane_info *lane = &s->v->lanes[s->e.lane[i]];
    switch (f->kind) {
    case FACT_NAME: return hs_view_str(s->v, s->e.name[i]);
    case FACT_PID_TEXT:
        return lane->pid.kind == HS_ID_TEXT ? hs_view_str(s->v, (uint32_t)lane->pid.v) : HS_STR("(not text)");
    case FACT_TID_TEXT:
        return lane->tid.kind == HS_ID_TEXT ? hs_view_str(s->v, (uint32_t)lane->tid.v) : HS_STR("(not text)");
    case FACT_THREAD: return hs_view_str(s->v, lane->thread);
    case FACT_JSON:
        hs_buf_clear(scratch);
        ck_assert_msg(s->v->ops->event_json(s->v, (uint32_t)i, scratch, &err) == HS_OK, "%s", err.text);
        return hs_str(scratch->p, scratch->n);
    default: return HS_STR("");
    }
}

static void check_facts(const struct corpus_entry *e, struct hs_view *v)
{
    struct hs_err err = HS_ERR_INIT;
    struct seen s = {.v = v};
    unsigned all = HS_EV_TS | HS_EV_DUR | HS_EV_NAME | HS_EV_LANE | HS_EV_PARENT | HS_EV_STEP;
    ck_assert_msg(hs_view_events(v, all, &s.e, &err) == HS_OK, "%s: %s", e->file, err.text);
    ck_assert_msg(hs_view_gpu(v, &s.gpu, &err) == HS_OK, "%s: %s", e->file, err.text);
    ck_assert_msg(v->ops->launches(v, &s.launches, &s.nlaunches, &err) == HS_OK, "%s: %s", e->file, err.text);
    struct hs_buf scratch = HS_BUF_INIT(1 << 24);
    for (const struct corpus_fact *f = e->facts; f->kind; f++) {
        int nth = (int)(f - e->facts);
        if (f->s.p) {
            struct hs_str got = text(&s, f, &scratch);
            ck_assert_msg(hs_str_eq(got, f->s), "%s, fact %d: \"%.*s\", expected \"%.*s\"", e->file, nth, (int)got.n,
                          got.p, (int)f->s.n, f->s.p);
        } else {
            int64_t got = number(&s, f);
            ck_assert_msg(got == f->v, "%s, fact %d: %lld, expected %lld", e->file, nth, (long long)got,
                          (long long)f->v);
        }
    }
    hs_buf_free(&scratch);
}

/* ---- an entry ---- */

static void check_once(const struct corpus_entry *e, struct hs_str bytes, size_t piece)
{
    struct hs_imported *v = NULL;
    size_t n = 0;
    struct hs_err err = HS_ERR_INIT;
    int rc = import(bytes, piece, e->file, &v, &n, &err);
    ck_assert_msg(rc == e->rc, "%s: status %d (%s), expected %d", e->file, rc, err.text, e->rc);
    if (rc) {
        ck_assert_msg(strstr(err.text, e->says) != NULL, "%s: \"%s\" does not say \"%s\"", e->file, err.text, e->says);
        return;
    }
    ck_assert_msg(n == 1, "%s: %zu traces", e->file, n);
    const struct hs_trace_row *row = &v[0].row;
    ck_assert_msg(row->events == e->events, "%s: %lld events, expected %d", e->file, (long long)row->events, e->events);
    ck_assert_msg(!strcmp(row->quality_json, e->quality), "%s: %s, expected %s", e->file, row->quality_json,
                  e->quality);
    ck_assert_msg(row->rank == e->rank, "%s: rank %lld, expected %d", e->file, (long long)row->rank, e->rank);
    check_facts(e, v[0].view);
    hs_imported_free(v, n);
}

void corpus_check(const struct corpus_entry *e, struct hs_str bytes)
{
    check_once(e, bytes, 0);
    check_once(e, bytes, 7);
}

void corpus_check_file(const struct corpus_entry *e)
{
    struct hs_buf b = corpus_read(e->file), gz = HS_BUF_INIT(1 << 24);
    corpus_check(e, hs_str(b.p, b.n));
    test_gzip(&gz, hs_str(b.p, b.n), 6, Z_DEFAULT_STRATEGY); /* the same from a container */
    check_once(e, hs_str(gz.p, gz.n), 0);
    hs_buf_free(&gz);
    hs_buf_free(&b);
}
