#include "tests/unit/fake_view.h"
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

/* ---- the view ---- */

static int fake_events(struct hs_view *v, unsigned columns, struct hs_events *out, struct hs_err *err)
{
    struct fake *f = (struct fake *)v;
    (void)columns;
    (void)err;
    *out = (struct hs_events){.n = f->nevents,
                              .ts = f->ev_ts,
                              .dur = f->ev_dur,
                              .name = f->ev_name,
                              .cat = f->ev_cat,
                              .lane = f->ev_lane,
                              .depth = f->ev_depth,
                              .ph = f->ev_ph};
    return 0;
}

static int fake_events_at(struct hs_view *v, unsigned columns, const uint32_t *event, size_t n, struct hs_events *out,
                          struct hs_err *err)
{
    struct fake *f = (struct fake *)v;
    int64_t *ts = hs_calloc(n + 1, sizeof *ts), *dur = hs_calloc(n + 1, sizeof *dur);
    uint32_t *lane = hs_calloc(n + 1, sizeof *lane);
    (void)columns;
    (void)err;
    for (size_t i = 0; i < n; i++) {
        ts[i] = f->ev_ts[event[i]];
        dur[i] = f->ev_dur[event[i]];
        lane[i] = f->ev_lane[event[i]];
    }
    *out = (struct hs_events){.n = n, .ts = ts, .dur = dur, .lane = lane};
    return 0;
}

static int fake_gpu_columns(struct hs_view *v, unsigned columns, struct hs_gpu *out, struct hs_err *err)
{
    struct fake *f = (struct fake *)v;
    (void)columns;
    (void)err;
    *out = (struct hs_gpu){.n = f->ngpu,
                           .ts = f->ts,
                           .dur = f->dur,
                           .stream = f->stream,
                           .corr = f->none,
                           .bytes = f->none,
                           .launch_ts = f->launch_ts,
                           .launch_dur = f->none,
                           .event = f->event,
                           .launch = f->launch,
                           .name = f->name,
                           .lane = f->lane,
                           .device = f->device,
                           .step = f->step,
                           .cls = f->cls};
    return 0;
}

static const struct hs_view_ops fake_ops = {
    .events = fake_events, .events_at = fake_events_at, .gpu = fake_gpu_columns};

uint32_t fake_sym(struct fake *f, const char *text)
{
    for (size_t i = 0; i < f->view.nsyms; i++)
        if (hs_str_is(f->syms[i], text))
            return (uint32_t)i;
    ck_assert_uint_lt(f->view.nsyms, FAKE_MAX);
    f->syms[f->view.nsyms] = hs_cstr(text);
    return (uint32_t)f->view.nsyms++;
}

void fake_init(struct fake *f, int64_t rank)
{
    memset(f, 0, sizeof *f);
    f->view = (struct hs_view){.name = "fake.json", .rank = rank, .world_size = -1, .ops = &fake_ops};
    f->view.syms = f->syms;
    f->view.lanes = f->lanes;
    f->view.steps = f->steps;
    f->view.cats = f->cats;
    f->view.sum.gpu_first_ts = f->view.sum.gpu_last_end = HS_NO_VALUE;
    hs_quality_init(&f->view.quality);
    fake_sym(f, "");
}

void fake_gpu(struct fake *f, struct fake_row row)
{
    ck_assert_uint_lt(f->ngpu, FAKE_MAX);
    f->gpu[f->ngpu++] = row;
}

void fake_step(struct fake *f, int64_t number, int64_t ts, int64_t dur)
{
    ck_assert_uint_lt(f->view.nsteps, 16);
    f->steps[f->view.nsteps++] = (struct hs_step_row){.ts = ts, .dur = dur, .number = number};
    f->view.sum.steps++;
}

void fake_cpu(struct fake *f, const char *cat, const char *name, int64_t tid, int depth, int64_t ts, int64_t dur)
{
    size_t i = f->nevents++, lane = 0, c = 0;
    ck_assert_uint_lt(i, FAKE_MAX);
    while (lane < f->view.nlanes && f->lanes[lane].tid.v != tid)
        lane++;
    if (lane == f->view.nlanes) {
        ck_assert_uint_lt(lane, 64);
        f->lanes[f->view.nlanes++] = (struct hs_lane_info){.pid = {1, HS_ID_INT}, .tid = {tid, HS_ID_INT}};
    }
    f->ev_ts[i] = ts;
    f->ev_dur[i] = dur;
    f->ev_name[i] = fake_sym(f, name);
    f->ev_cat[i] = fake_sym(f, cat);
    f->ev_lane[i] = (uint32_t)lane;
    f->ev_depth[i] = (uint16_t)depth;
    f->ev_ph[i] = 'X';
    while (c < f->view.ncats && f->cats[c].cat != f->ev_cat[i])
        c++;
    if (c == f->view.ncats) {
        ck_assert_uint_lt(c, 16);
        f->cats[f->view.ncats++] = (struct hs_cat_row){.cat = f->ev_cat[i], .ph = 'X'};
    }
    f->cats[c].count++;
    f->cats[c].dur += dur;
}

static int by_stream_and_time(const void *a, const void *b)
{
    const struct fake_row *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    if (x->ts != y->ts)
        return x->ts < y->ts ? -1 : 1;
    return x < y ? -1 : 1;
}

static void fill_gpu(struct fake *f)
{
    struct hs_summary *s = &f->view.sum;
    qsort(f->gpu, f->ngpu, sizeof *f->gpu, by_stream_and_time);
    for (size_t i = 0; i < f->ngpu; i++) {
        const struct fake_row *r = &f->gpu[i];
        f->ts[i] = r->ts;
        f->dur[i] = r->dur;
        f->stream[i] = r->stream;
        f->device[i] = r->device;
        f->cls[i] = r->cls;
        f->step[i] = r->in_step ? r->step : -1;
        f->launch_ts[i] = r->launched ? r->launch_ts : HS_NO_VALUE;
        f->launch[i] = HS_NO_EVENT; /* a fake's launches have a time but are no events */
        f->none[i] = HS_NO_VALUE;
        f->name[i] = fake_sym(f, r->name);
        f->event[i] = (uint32_t)(1000 + i);
        s->gpu_first_ts = s->gpu_first_ts == HS_NO_VALUE || r->ts < s->gpu_first_ts ? r->ts : s->gpu_first_ts;
        s->gpu_last_end = r->ts + r->dur > s->gpu_last_end ? r->ts + r->dur : s->gpu_last_end;
        bool memory = r->cls == HS_CLASS_MEMCPY || r->cls == HS_CLASS_MEMSET;
        s->kernels += !memory;
        s->memcpys += r->cls == HS_CLASS_MEMCPY;
        s->memsets += r->cls == HS_CLASS_MEMSET;
        *(memory ? &s->memory_ns : &s->kernel_ns) += r->dur;
        s->comm_ns += r->cls == HS_CLASS_COMM ? r->dur : 0;
        s->devices += !i || f->device[i] != f->device[i - 1];
        s->streams += !i || f->device[i] != f->device[i - 1] || f->stream[i] != f->stream[i - 1];
    }
    if (f->ngpu) {
        s->first_ts = s->gpu_first_ts;
        s->last_end = s->gpu_last_end;
    }
    s->events = (int64_t)(f->ngpu + f->nevents);
}

struct hs_run *fake_run(struct fake *fakes, size_t n)
{
    struct hs_run *run = &fakes[0].run;
    ck_assert_uint_le(n, 8);
    *run = (struct hs_run){.name = "fake", .n = n, .ranks = fakes[0].ranks};
    for (size_t i = 0; i < n; i++) {
        fill_gpu(&fakes[i]);
        run->ranks[i] = (struct hs_run_rank){.rank = fakes[i].view.rank, .offset_ns = 0, .view = &fakes[i].view};
    }
    return run;
}

/* ---- asking ---- */

static int set_all(struct hs_params *p, const char *text, struct hs_err *err)
{
    char copy[512], *save = NULL;
    int rc = 0;
    ck_assert_uint_lt(strlen(text), sizeof copy);
    strcpy(copy, text);
    for (char *pair = strtok_r(copy, "&", &save); pair && !rc; pair = strtok_r(NULL, "&", &save)) {
        char *value = strchr(pair, '=');
        ck_assert_ptr_nonnull(value);
        *value++ = 0;
        rc = hs_params_set(p, pair, value, err);
    }
    return rc;
}

static int analyze(struct hs_run *run, const char *name, const char *params, struct hs_table *out, struct hs_err *err)
{
    const struct hs_analysis *a = hs_analysis_find(name);
    struct hs_params *p;
    ck_assert_ptr_nonnull(a);
    int rc = hs_params_new(&p, a->params, a->nparams, err);
    ck_assert_int_eq(rc, 0);
    rc = set_all(p, params, err);
    if (!rc)
        rc = hs_analysis_run(a, run, p, out, err);
    hs_params_free(p);
    return rc;
}

struct hs_table fake_analyze(struct hs_run *run, const char *analysis, const char *params)
{
    struct hs_err err = HS_ERR_INIT;
    struct hs_table t;
    int rc = analyze(run, analysis, params, &t, &err);
    ck_assert_msg(!rc, "%s %s: %s", analysis, params, err.text);
    return t;
}

int fake_analyze_fails(struct hs_run *run, const char *analysis, const char *params, struct hs_err *err)
{
    struct hs_table t;
    int rc = analyze(run, analysis, params, &t, err);
    ck_assert_msg(rc, "%s %s should have failed", analysis, params);
    return rc;
}

size_t table_column(const struct hs_table *t, const char *name)
{
    for (size_t c = 0; c < t->ncolumns; c++)
        if (!strcmp(t->columns[c].name, name))
            return c;
    ck_abort_msg("no column %s", name);
    return 0;
}

static const struct hs_cell *cell(const struct hs_table *t, size_t row, const char *column)
{
    ck_assert_uint_lt(row, t->rows);
    return hs_table_cell(t, row, table_column(t, column));
}

int64_t table_i64(const struct hs_table *t, size_t row, const char *column)
{
    const struct hs_cell *c = cell(t, row, column);
    ck_assert_msg(c->kind == HS_C_I64, "row %zu column %s is no integer", row, column);
    return c->i;
}

double table_f64(const struct hs_table *t, size_t row, const char *column)
{
    const struct hs_cell *c = cell(t, row, column);
    ck_assert_msg(c->kind == HS_C_F64, "row %zu column %s is no real", row, column);
    return c->f;
}

const char *table_text(const struct hs_table *t, size_t row, const char *column)
{
    const struct hs_cell *c = cell(t, row, column);
    if (c->kind == HS_C_NULL)
        return "";
    ck_assert_msg(c->kind == HS_C_TEXT, "row %zu column %s is no text", row, column);
    return c->s;
}

bool table_null(const struct hs_table *t, size_t row, const char *column)
{
    return cell(t, row, column)->kind == HS_C_NULL;
}

bool table_has_note(const struct hs_table *t, const char *part)
{
    for (size_t i = 0; i < t->notes.n; i++)
        if (strstr(t->notes.p[i], part))
            return true;
    return false;
}
