/* Writer and view: a trace made by hand goes into a file and into memory and comes back; damaged, foreign and newer files
 * are refused. */
#include "store/layout.h"
#include "store/view_args.h"
#include "store/writer.h"
#include "tests/unit/test.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the trace: event i of N; every third is a kernel with args, every 1000th an odd one, the others CPU operators ---- */

#define N (2 * HS_SEG_ROWS + 777)

struct made {
    struct hs_trace t;
    struct hs_links l;
    struct hs_segment *seg[3];
};

enum { LANE_CPU, LANE_GPU };
enum { SHAPE_CPU, SHAPE_KERNEL, SHAPE_ODD };

static uint32_t sym(struct hs_trace *t, const char *s)
{
    return hs_intern_add(&t->syms, s, strlen(s));
}

static void core(struct hs_trace *t, const char *key, enum hs_core c)
{
    struct hs_field f = {sym(t, key), c, 0, HS_V_CORE};
    ck_assert(hs_vec_push(&t->fields, f));
}

static uint32_t field(struct hs_trace *t, const char *key, unsigned level, enum hs_vtype type)
{
    uint32_t k = sym(t, key), c = 0;
    if (type <= HS_V_RAW) {
        while (c < t->columns.n &&
               (t->columns.p[c].key != k || t->columns.p[c].level != level || t->columns.p[c].type != type))
            c++;
        if (c == t->columns.n) {
            struct hs_column col = {k, (uint8_t)level, (uint8_t)type, false};
            ck_assert(hs_vec_push(&t->columns, col));
            col.scale = true;
            if (type == HS_V_DEC)
                ck_assert(hs_vec_push(&t->columns, col));
        }
    }
    struct hs_field f = {k, c, (uint8_t)level, (uint8_t)type};
    ck_assert(hs_vec_push(&t->fields, f));
    return c;
}

static void shape(struct hs_trace *t, size_t first)
{
    struct hs_shape s = {(uint32_t)first, (uint32_t)(t->fields.n - first)};
    ck_assert(hs_vec_push(&t->shapes, s));
}

static uint32_t g_corr, g_occ, g_grid, g_text, g_twice_int, g_twice_str;

static void make_shapes(struct hs_trace *t)
{
    core(t, "ph", HS_CORE_PH);
    core(t, "cat", HS_CORE_CAT);
    core(t, "name", HS_CORE_NAME);
    core(t, "pid", HS_CORE_PID);
    core(t, "tid", HS_CORE_TID);
    core(t, "ts", HS_CORE_TS);
    core(t, "dur", HS_CORE_DUR);
    shape(t, 0);
    size_t at = t->fields.n;
    core(t, "ph", HS_CORE_PH);
    core(t, "name", HS_CORE_NAME);
    core(t, "ts", HS_CORE_TS);
    field(t, "args", 0, HS_V_OBJECT);
    g_corr = field(t, "correlation", 1, HS_V_INT);
    g_occ = field(t, "occupancy", 1, HS_V_DEC);
    g_grid = field(t, "grid", 1, HS_V_RAW);
    field(t, "queued", 1, HS_V_TRUE);
    g_text = field(t, "stream", 1, HS_V_STR);
    core(t, "dur", HS_CORE_DUR);
    shape(t, at);
    at = t->fields.n;
    core(t, "name", HS_CORE_NAME);
    g_twice_int = field(t, "twice", 0, HS_V_INT);
    g_twice_str = field(t, "twice", 0, HS_V_STR);
    field(t, "twice", 0, HS_V_INT);
    field(t, "none", 0, HS_V_NULL);
    shape(t, at);
}

static uint32_t shape_of(size_t i)
{
    return i % 1000 == 0 ? SHAPE_ODD : i % 3 == 0 ? SHAPE_KERNEL : SHAPE_CPU;
}

static int64_t ts_of(size_t i)
{
    return INT64_C(1712195495519689123) + (int64_t)i * 1234 + (int64_t)(i * i % 977);
}

static void make_event(struct made *m, size_t i)
{
    struct hs_segment *s = m->seg[i / HS_SEG_ROWS];
    uint32_t r = s->rows++, kind = shape_of(i);
    char text[32];
    s->ts[r] = ts_of(i);
    s->dur[r] = (int64_t)(i % 50) * 10 - 5;
    s->shape[r] = kind;
    s->name[r] = sym(&m->t, i % 2 ? "aten::mm" : "aten::add");
    s->cat[r] = sym(&m->t, kind == SHAPE_KERNEL ? "kernel" : "cpu_op");
    s->lane[r] = kind == SHAPE_KERNEL ? LANE_GPU : LANE_CPU;
    s->ph[r] = 'X';
    s->digits[r] = 0x33;
    if (kind == SHAPE_KERNEL) {
        hs_stream_push(s, g_corr, (int64_t)i + 7);
        hs_stream_push(s, g_occ, (int64_t)i);
        hs_stream_push(s, g_occ + 1, 2);
        hs_stream_push(s, g_grid, sym(&m->t, "[1, 2, 3]"));
        snprintf(text, sizeof text, i % 2 ? "%zu" : "s%zu", i % 5);
        hs_stream_push(s, g_text, sym(&m->t, text));
    } else if (kind == SHAPE_ODD) {
        hs_stream_push(s, g_twice_int, (int64_t)i);
        hs_stream_push(s, g_twice_str, sym(&m->t, "middle"));
        hs_stream_push(s, g_twice_int, -(int64_t)i);
    }
}

static void make_links(struct made *m)
{
    struct hs_links *l = &m->l;
    hs_links_init(l);
    l->n = N;
    l->parent = hs_calloc(N, sizeof *l->parent);
    l->depth = hs_calloc(N, sizeof *l->depth);
    l->step = hs_calloc(N, sizeof *l->step);
    for (size_t i = 0; i < N; i++) {
        l->parent[i] = i % 10 ? (uint32_t)(i - i % 10) : HS_NO_EVENT;
        l->depth[i] = i % 10 != 0;
        l->step[i] = i < 500 ? -1 : i < 70000 ? 0 : 1;
    }
    for (size_t i = 3; i < N; i += 3) {
        struct hs_gpu_row g = {.ts = ts_of(i),
                               .dur = 10,
                               .stream = 7,
                               .corr = (int64_t)i + 7,
                               .bytes = HS_NO_VALUE,
                               .event = (uint32_t)i,
                               .name = sym(&m->t, "aten::mm"),
                               .lane = LANE_GPU,
                               .device = 1,
                               .step = -1,
                               .cls = HS_CLASS_COMPUTE};
        bool alone = i % 9 == 0;
        g.launch = alone ? HS_NO_EVENT : (uint32_t)(i - 1);
        g.launch_ts = alone ? HS_NO_VALUE : g.ts - 5000;
        g.launch_dur = alone ? HS_NO_VALUE : 42;
        ck_assert(hs_vec_push(&l->gpu, g));
    }
    struct hs_launch_row launch = {ts_of(2), 5, 10, 2, sym(&m->t, "aten::add"), LANE_CPU, 3, -1};
    ck_assert(hs_vec_push(&l->launches, launch));
    struct hs_step_row steps[2] = {{ts_of(500), 1000, 17, 500, LANE_CPU}, {ts_of(70000), 2000, 18, 70000, LANE_CPU}};
    struct hs_cat_row cat = {sym(&m->t, "kernel"), 'X', 99, 12345};
    ck_assert(hs_vec_push(&l->steps, steps[0]) && hs_vec_push(&l->steps, steps[1]) && hs_vec_push(&l->cats, cat));
    l->sum.events = N;
    l->sum.busy_ns = 77;
    l->sum.gpu_first_ts = HS_NO_VALUE;
}

static void make(struct made *m)
{
    memset(m, 0, sizeof *m);
    hs_trace_init(&m->t, NULL);
    make_shapes(&m->t);
    struct hs_lane lanes[2] = {{{4242, HS_ID_INT}, {-1, HS_ID_INT}},
                               {{sym(&m->t, "Spans"), HS_ID_TEXT}, {0, HS_ID_NONE}}};
    struct hs_lane_name name = {LANE_CPU, sym(&m->t, "python"), 0, sym(&m->t, "main")};
    struct hs_header header = {sym(&m->t, "schemaVersion"), sym(&m->t, "1")};
    ck_assert(hs_vec_push(&m->t.lanes, lanes[0]) && hs_vec_push(&m->t.lanes, lanes[1]));
    ck_assert(hs_vec_push(&m->t.lane_names, name) && hs_vec_push(&m->t.header, header));
    hs_intern_add(&m->t.syms, "nul\0 and \xff", 10);
    for (size_t k = 0; k < 3; k++) {
        m->seg[k] = hs_segment_new();
        hs_segment_reset(m->seg[k], k * HS_SEG_ROWS);
    }
    for (size_t i = 0; i < N; i++)
        make_event(m, i);
    make_links(m);
    m->t.events = N;
    m->t.has_base = true;
    m->t.base_ns = 1600000000000000000;
    m->t.world_size = 8;
    hs_quality_add(&m->t.quality, HS_Q_BARE_QUOTE, 3, 99);
}

static void unmake(struct made *m)
{
    for (size_t k = 0; k < 3; k++)
        hs_segment_free(m->seg[k]);
    hs_links_free(&m->l);
    hs_trace_free(&m->t);
}

static const struct hs_trace_info g_info = {"0123456789abcdef0123456789abcdef", "rank5.json", 5, NULL};

static struct hs_writer *write_made(const struct made *m, const char *path)
{
    struct hs_writer *w;
    struct hs_err err = HS_ERR_INIT;
    ck_assert_msg(!hs_writer_new(&w, path, &err), "%s", err.text);
    for (size_t k = 0; k < 3; k++)
        ck_assert_msg(!hs_writer_segment(w, m->seg[k], &err), "%s", err.text);
    ck_assert_msg(!hs_writer_finish(w, &m->t, &m->l, &g_info, &err), "%s", err.text);
    return w;
}

/* A trace file in a fresh directory; its path. */
static char *write_file(char **dir)
{
    struct made m;
    *dir = hs_test_tmpdir();
    char *path = hs_asprintf("%s/t.db", *dir);
    make(&m);
    hs_writer_free(write_made(&m, path));
    unmake(&m);
    return path;
}

/* ---- what comes back ---- */

static void check_meta(const struct hs_view *v, const struct made *m)
{
    ck_assert_str_eq(v->id, g_info.id);
    ck_assert_str_eq(v->name, "rank5.json");
    ck_assert_int_eq(v->rank, 5);
    ck_assert_int_eq(v->world_size, 8);
    ck_assert(v->has_base && v->base_ns == 1600000000000000000);
    ck_assert_int_eq(v->sum.events, N);
    ck_assert_int_eq(v->sum.busy_ns, 77);
    ck_assert(v->sum.gpu_first_ts == HS_NO_VALUE);
    ck_assert_int_eq(v->quality.count[HS_Q_BARE_QUOTE], 3);
    ck_assert_int_eq(v->quality.first[HS_Q_BARE_QUOTE], 99);
    ck_assert_int_eq(v->quality.count[HS_Q_BAD_EVENT], 0);
    ck_assert_uint_eq(v->nsyms, m->t.syms.n);
    for (size_t i = 0; i < v->nsyms; i++)
        ck_assert(hs_str_eq(v->syms[i], m->t.syms.p[i]));
    ck_assert_uint_eq(v->nlanes, 2);
    ck_assert(v->lanes[0].pid.kind == HS_ID_INT && v->lanes[0].pid.v == 4242 && v->lanes[0].tid.v == -1);
    ck_assert(v->lanes[1].pid.kind == HS_ID_TEXT && v->lanes[1].tid.kind == HS_ID_NONE);
    ck_assert(hs_str_is(hs_view_str(v, (uint32_t)v->lanes[1].pid.v), "Spans"));
    ck_assert(hs_str_is(hs_view_str(v, v->lanes[0].process), "python") &&
              hs_str_is(hs_view_str(v, v->lanes[0].thread), "main"));
    ck_assert(v->nheader == 1 && hs_str_is(hs_view_str(v, v->header[0].json), "1"));
    ck_assert(v->nsteps == 2 && !memcmp(v->steps, m->l.steps.p, sizeof v->steps[0].ts * 3) &&
              v->steps[1].event == 70000);
    ck_assert(v->ncats == 1 && v->cats[0].count == 99 && v->cats[0].dur == 12345 && v->cats[0].ph == 'X');
}

static void check_events(struct hs_view *v, const struct made *m)
{
    struct hs_events e;
    struct hs_err err = HS_ERR_INIT;
    ck_assert_msg(!hs_view_events(v, HS_EV_TS | HS_EV_NAME, &e, &err), "%s", err.text);
    ck_assert(e.ts && e.name && !e.dur && !e.parent);
    ck_assert_msg(!hs_view_events(v, (1u << HS_EVENT_COLS) - 1, &e, &err), "%s", err.text);
    ck_assert_uint_eq(e.n, N);
    for (size_t i = 0; i < N; i++) {
        const struct hs_segment *s = m->seg[i / HS_SEG_ROWS];
        size_t r = i % HS_SEG_ROWS;
        ck_assert(e.ts[i] == s->ts[r] && e.dur[i] == s->dur[r] && e.name[i] == s->name[r] && e.cat[i] == s->cat[r]);
        ck_assert(e.lane[i] == s->lane[r] && e.ph[i] == s->ph[r] && e.shape[i] == s->shape[r] &&
                  e.digits[i] == s->digits[r]);
        ck_assert(e.parent[i] == m->l.parent[i] && e.depth[i] == m->l.depth[i] && e.step[i] == m->l.step[i]);
    }
}

static void check_tables(struct hs_view *v, const struct made *m)
{
    struct hs_gpu g;
    struct hs_err err = HS_ERR_INIT;
    const struct hs_launch_row *launches;
    size_t n;
    ck_assert_msg(!hs_view_gpu(v, &g, &err), "%s", err.text);
    ck_assert_uint_eq(g.n, m->l.gpu.n);
    for (size_t i = 0; i < g.n; i++) {
        struct hs_gpu_row w = m->l.gpu.p[i];
        ck_assert(g.ts[i] == w.ts && g.dur[i] == w.dur && g.stream[i] == w.stream && g.corr[i] == w.corr &&
                  g.bytes[i] == w.bytes);
        ck_assert(g.launch_ts[i] == w.launch_ts && g.launch_dur[i] == w.launch_dur && g.event[i] == w.event);
        ck_assert(g.launch[i] == w.launch && g.name[i] == w.name && g.lane[i] == w.lane && g.device[i] == w.device);
        ck_assert(g.step[i] == w.step && g.cls[i] == w.cls);
    }
    ck_assert(!v->ops->launches(v, &launches, &n, &err));
    ck_assert(n == 1 && launches[0].ts == ts_of(2) && launches[0].kernels == 3 && launches[0].step == -1 &&
              launches[0].corr == 10);
}

static void check_args(struct hs_view *v)
{
    struct hs_err err = HS_ERR_INIT;
    const int64_t *corr, *twice, *absent, *stream;
    const double *occ;
    const uint32_t *text;
    ck_assert(!v->ops->arg_i64(v, "correlation", 1, &corr, &err) && !v->ops->arg_i64(v, "twice", 0, &twice, &err));
    ck_assert(!v->ops->arg_i64(v, "no such key", 1, &absent, &err) && !v->ops->arg_i64(v, "stream", 1, &stream, &err));
    ck_assert(!v->ops->arg_f64(v, "occupancy", 1, &occ, &err) && !v->ops->arg_sym(v, "stream", 1, &text, &err));
    for (size_t i = 0; i < N; i++) {
        bool kernel = shape_of(i) == SHAPE_KERNEL;
        char want[32];
        ck_assert(corr[i] == (kernel ? (int64_t)i + 7 : HS_NO_VALUE));
        ck_assert(twice[i] == (shape_of(i) == SHAPE_ODD ? -(int64_t)i : HS_NO_VALUE));
        ck_assert(absent[i] == HS_NO_VALUE);
        ck_assert(kernel ? occ[i] == (double)i / 100 : isnan(occ[i]));
        snprintf(want, sizeof want, i % 2 ? "%zu" : "s%zu", i % 5);
        ck_assert(kernel ? hs_str_is(hs_view_str(v, text[i]), want) : text[i] == HS_NO_SYM);
        ck_assert(stream[i] == (kernel && i % 2 ? (int64_t)(i % 5) : HS_NO_VALUE));
    }
    const int64_t *again;
    ck_assert(!v->ops->arg_i64(v, "correlation", 1, &again, &err) && again == corr);
}

/* The same as the array of all events without those that lack the argument. */
static void check_sparse(struct hs_view *v, const char *key, int level)
{
    struct hs_err err = HS_ERR_INIT;
    struct hs_sparse few, again;
    const int64_t *all;
    size_t k = 0;
    ck_assert(!v->ops->arg_i64(v, key, level, &all, &err) && !v->ops->arg_sparse(v, key, level, &few, &err));
    for (size_t i = 0; i < N; i++) {
        if (all[i] == HS_NO_VALUE)
            continue;
        ck_assert(k < few.n && few.event[k] == i && few.v[k] == all[i]);
        k++;
    }
    ck_assert_uint_eq(k, few.n);
    ck_assert(!v->ops->arg_sparse(v, key, level, &again, &err) && again.v == few.v && again.event == few.event);
}

static void check_json(struct hs_view *v, uint32_t event, const char *want)
{
    struct hs_buf b = HS_BUF_INIT(10000);
    struct hs_err err = HS_ERR_INIT;
    ck_assert_msg(!v->ops->event_json(v, event, &b, &err), "%s", err.text);
    ck_assert_str_eq(b.p, want);
    hs_buf_free(&b);
}

/* Times by hand: 1712195495519689123 + 3 * 1234 + 9 = …692834; dur (3 % 50) * 10 - 5 = 25 ns. */
static void check_whole_events(struct hs_view *v)
{
    struct hs_err err = HS_ERR_INIT;
    struct hs_buf b = HS_BUF_INIT(100);
    check_json(v, 3,
               "{\"ph\":\"X\",\"name\":\"aten::mm\",\"ts\":1712195495519692.834,\"args\":{\"correlation\":10,"
               "\"occupancy\":0.03,\"grid\":[1, 2, 3],\"queued\":true,\"stream\":\"3\"},\"dur\":0.025}");
    check_json(v, 1,
               "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":4242,\"tid\":-1,"
               "\"ts\":1712195495519690.358,\"dur\":0.005}");
    check_json(v, 131000,
               "{\"name\":\"aten::add\",\"twice\":131000,\"twice\":\"middle\",\"twice\":-131000,\"none\":null}");
    check_json(v, 1000, "{\"name\":\"aten::add\",\"twice\":1000,\"twice\":\"middle\",\"twice\":-1000,\"none\":null}");
    check_json(v, 0, "{\"name\":\"aten::add\",\"twice\":0,\"twice\":\"middle\",\"twice\":0,\"none\":null}");
    ck_assert_int_eq(v->ops->event_json(v, N, &b, &err), HS_ENOTFOUND);
}

static void check_view(struct hs_view *v, const struct made *m)
{
    check_meta(v, m);
    check_events(v, m);
    check_tables(v, m);
    check_args(v);
    check_sparse(v, "correlation", 1);
    check_sparse(v, "stream", 1);
    check_sparse(v, "twice", 0);
    check_sparse(v, "no such key", 1);
    check_whole_events(v);
    ck_assert_uint_gt(hs_view_bytes(v), (size_t)N * 40);
    ck_assert_uint_eq(hs_view_sym(v, "aten::mm"), hs_intern_find(&m->t.syms, "aten::mm", 8));
    ck_assert_uint_eq(hs_view_sym(v, "not there"), HS_NO_SYM);
}

START_TEST(a_trace_comes_back_from_memory)
{
    struct made m;
    struct hs_view *v;
    struct hs_err err = HS_ERR_INIT;
    make(&m);
    struct hs_writer *w = write_made(&m, NULL);
    ck_assert_msg(!hs_writer_view(w, &v, &err), "%s", err.text);
    hs_writer_free(w);
    check_view(v, &m);
    hs_view_close(v);
    unmake(&m);
}
END_TEST

START_TEST(a_trace_comes_back_from_a_file)
{
    struct made m;
    struct hs_view *v;
    struct hs_err err = HS_ERR_INIT;
    char *dir, *path = write_file(&dir);
    make(&m);
    ck_assert_msg(!hs_view_open(path, &v, &err), "%s", err.text);
    check_view(v, &m);
    hs_view_close(v);
    unmake(&m);
    hs_test_rmdir(dir);
    free(path);
    free(dir);
}
END_TEST

START_TEST(an_unfinished_file_is_removed)
{
    char *dir = hs_test_tmpdir(), *path = hs_asprintf("%s/t.db", dir);
    struct hs_writer *w;
    struct hs_err err = HS_ERR_INIT;
    ck_assert(!hs_writer_new(&w, path, &err));
    ck_assert(!access(path, F_OK));
    hs_writer_free(w);
    ck_assert(access(path, F_OK));
    hs_test_rmdir(dir);
    free(path);
    free(dir);
}
END_TEST

START_TEST(an_empty_trace_can_be_viewed)
{
    struct hs_trace t;
    struct hs_links l;
    struct hs_writer *w;
    struct hs_view *v;
    struct hs_events e;
    struct hs_gpu g;
    const int64_t *none;
    struct hs_err err = HS_ERR_INIT;
    hs_trace_init(&t, NULL);
    hs_links_init(&l);
    ck_assert(!hs_writer_new(&w, NULL, &err));
    ck_assert_msg(!hs_writer_finish(w, &t, &l, &g_info, &err), "%s", err.text);
    ck_assert_msg(!hs_writer_view(w, &v, &err), "%s", err.text);
    hs_writer_free(w);
    ck_assert_msg(!hs_view_events(v, HS_EV_TS | HS_EV_PARENT, &e, &err), "%s", err.text);
    ck_assert_msg(!hs_view_gpu(v, &g, &err), "%s", err.text);
    ck_assert(e.n == 0 && g.n == 0 && v->nsyms == 1);
    ck_assert(!v->ops->arg_i64(v, "x", 1, &none, &err));
    hs_view_close(v);
    hs_links_free(&l);
    hs_trace_free(&t);
}
END_TEST

/* ---- files that are not what they should be ---- */

static void alter(const char *path, const char *sql)
{
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

START_TEST(newer_and_foreign_files_are_refused)
{
    char *dir, *path = write_file(&dir), *other = hs_asprintf("%s/other.db", dir);
    struct hs_view *v;
    struct hs_err err = HS_ERR_INIT;
    alter(path, "PRAGMA user_version = 7");
    ck_assert_int_eq(hs_view_open(path, &v, &err), HS_EINPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "newer Holoscope (schema 7, this program knows 1): update the program"));
    alter(path, "PRAGMA user_version = 1; PRAGMA application_id = 5");
    ck_assert_int_eq(hs_view_open(path, &v, &err), HS_EINPUT);
    alter(other, "CREATE TABLE t(x)");
    ck_assert_int_eq(hs_view_open(other, &v, &err), HS_EINPUT);
    FILE *f = fopen(other, "w");
    fputs("this is no database at all, just text that is long enough to be read as a header of one, or so it seems", f);
    fclose(f);
    ck_assert_int_eq(hs_view_open(other, &v, &err), HS_EINPUT);
    unlink(other);
    ck_assert_int_eq(hs_view_open(other, &v, &err), HS_ENOTFOUND);
    hs_test_rmdir(dir);
    free(other);
    free(path);
    free(dir);
}
END_TEST

/* Asks a view for everything; what it answers does not matter. */
static void ask_all(struct hs_view *v)
{
    static const char *const keys[] = {"correlation", "occupancy", "grid", "stream", "twice", "queued"};
    struct hs_events e;
    struct hs_gpu g;
    struct hs_err err = HS_ERR_INIT;
    struct hs_buf b = HS_BUF_INIT(1 << 20);
    const struct hs_launch_row *l;
    const int64_t *i;
    const double *d;
    const uint32_t *s;
    size_t n;
    for (unsigned c = 0; c < HS_EVENT_COLS; c++)
        hs_view_events(v, 1u << c, &e, &err);
    hs_view_gpu(v, &g, &err);
    v->ops->launches(v, &l, &n, &err);
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
        v->ops->arg_i64(v, keys[k], (int)(k == 4 ? 0 : 1), &i, &err);
        v->ops->arg_f64(v, keys[k], 1, &d, &err);
        v->ops->arg_sym(v, keys[k], 1, &s, &err);
    }
    for (uint32_t k = 0; k < N; k += 9973)
        v->ops->event_json(v, k, &b, &err);
    hs_buf_free(&b);
}

static uint64_t g_seed = 88172645463325252u;

static uint64_t next_random(void)
{
    g_seed ^= g_seed << 13;
    g_seed ^= g_seed >> 7;
    g_seed ^= g_seed << 17;
    return g_seed;
}

/* Flips bits anywhere in the file, opens it, asks for everything. Sanitizers watch. */
START_TEST(damaged_files_do_no_harm)
{
    char *dir, *path = write_file(&dir), *copy = hs_asprintf("%s/copy.db", dir);
    static char bytes[16 << 20];
    FILE *f = fopen(path, "rb");
    size_t n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    ck_assert(n && n < sizeof bytes);
    g_seed += (uint64_t)_i;
    int opened = 0;
    for (int pass = 0; pass < 60; pass++) {
        struct hs_view *v;
        struct hs_err err = HS_ERR_INIT;
        size_t flips = 1 + next_random() % 6, cut = pass % 10 ? n : next_random() % n, at[8];
        uint8_t bit[8];
        for (size_t i = 0; i < flips; i++) {
            at[i] = next_random() % (pass % 2 ? n : 40000);
            bit[i] = (uint8_t)(1u << next_random() % 8);
            bytes[at[i]] ^= (char)bit[i];
        }
        f = fopen(copy, "wb");
        ck_assert_uint_eq(fwrite(bytes, 1, cut, f), cut);
        fclose(f);
        for (size_t i = 0; i < flips; i++)
            bytes[at[i]] ^= (char)bit[i];
        if (hs_view_open(copy, &v, &err) == HS_OK) {
            opened++;
            ask_all(v);
            hs_view_close(v);
        } else {
            ck_assert(err.text[0]);
        }
    }
    ck_assert_int_gt(opened, 0);
    hs_test_rmdir(dir);
    free(copy);
    free(path);
    free(dir);
}
END_TEST

/* Every column in turn is replaced by another one, and cut: the indices in it then point anywhere. */
START_TEST(swapped_columns_do_no_harm)
{
    char *dir, *path = write_file(&dir), sql[256];
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    for (int k = 0; k < 80; k++) {
        struct hs_view *v;
        struct hs_err err = HS_ERR_INIT;
        ck_assert(!sqlite3_exec(db, "SAVEPOINT s", NULL, NULL, NULL));
        snprintf(sql, sizeof sql,
                 "UPDATE segments SET data = (SELECT data FROM segments ORDER BY key LIMIT 1 OFFSET %d) "
                 "WHERE key = (SELECT key FROM segments ORDER BY key LIMIT 1 OFFSET %d)",
                 (int)(next_random() % 90), k + (int)(next_random() % 20));
        ck_assert(!sqlite3_exec(db, sql, NULL, NULL, NULL) && !sqlite3_exec(db, "RELEASE s", NULL, NULL, NULL));
        if (hs_view_open(path, &v, &err) == HS_OK) {
            ask_all(v);
            hs_view_close(v);
        }
        if (k % 20 == 19) {
            free(path);
            sqlite3_close(db);
            hs_test_rmdir(dir);
            free(dir);
            path = write_file(&dir);
            ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
        }
    }
    sqlite3_close(db);
    hs_test_rmdir(dir);
    free(path);
    free(dir);
}
END_TEST

START_TEST(a_ring_of_parents_is_refused)
{
    struct made m;
    struct hs_view *v;
    struct hs_events e;
    struct hs_err err = HS_ERR_INIT;
    make(&m);
    m.l.parent[100] = 200; /* 100 -> 200 -> 205 -> 100 */
    m.l.parent[200] = 205;
    m.l.parent[205] = 100;
    struct hs_writer *w = write_made(&m, NULL);
    ck_assert(!hs_writer_view(w, &v, &err));
    hs_writer_free(w);
    ck_assert_int_eq(hs_view_events(v, HS_EV_PARENT, &e, &err), HS_EINPUT);
    hs_view_close(v);
    m.l.parent[205] = HS_NO_EVENT; /* no ring, although the depths do not tell so */
    w = write_made(&m, NULL);
    ck_assert(!hs_writer_view(w, &v, &err));
    hs_writer_free(w);
    ck_assert_int_eq(hs_view_events(v, HS_EV_PARENT, &e, &err), HS_OK);
    hs_view_close(v);
    unmake(&m);
}
END_TEST

START_TEST(numbers_are_read_from_text)
{
    int64_t i;
    double d;
    ck_assert(hs_parse_i64(HS_STR(" -9223372036854775808 "), &i) && i == INT64_MIN);
    ck_assert(hs_parse_i64(HS_STR("9223372036854775807"), &i) && i == INT64_MAX);
    ck_assert(!hs_parse_i64(HS_STR("9223372036854775808"), &i));
    ck_assert(!hs_parse_i64(HS_STR(""), &i) && !hs_parse_i64(HS_STR("-"), &i) && !hs_parse_i64(HS_STR("0x7"), &i));
    ck_assert(!hs_parse_i64(HS_STR("7.0"), &i) && hs_parse_i64(HS_STR("+7"), &i) && i == 7);
    ck_assert(hs_parse_f64(HS_STR("1.5e3"), &d) && d == 1500);
    ck_assert(!hs_parse_f64(HS_STR("inf"), &d) && !hs_parse_f64(HS_STR("0x10"), &d) &&
              !hs_parse_f64(HS_STR("1e999"), &d));
    ck_assert(!hs_parse_f64(HS_STR("7 MB"), &d) && !hs_parse_f64(HS_STR("1\0002"), &d));
}
END_TEST

static int64_t count_of(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *st;
    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &st, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
    ck_assert_int_eq(sqlite3_step(st), SQLITE_ROW);
    int64_t n = sqlite3_column_int64(st, 0);
    sqlite3_finalize(st);
    return n;
}

/* The file says of itself what its numbers mean. */
START_TEST(every_column_of_a_file_is_documented_in_it)
{
    char *dir, *path = write_file(&dir);
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(
        count_of(db, "SELECT count(*) FROM segments WHERE key >> 48 <> 2 AND (key >> 48, key >> 24 & 0xffffff) "
                     "NOT IN (SELECT tbl, col FROM layout)"),
        0);
    ck_assert_int_eq(count_of(db, "SELECT count(*) FROM layout WHERE (tbl, col) NOT IN (SELECT key >> 48, key >> 24 & "
                                  "0xffffff FROM segments)"),
                     0);
    ck_assert_int_eq(count_of(db, "SELECT count(*) FROM layout WHERE tbl_name = 'events'"), HS_EVENT_COLS);
    ck_assert_int_eq(count_of(db, "SELECT count(*) FROM layout WHERE tbl_name = 'gpu'"), HS_GPU_COLS);
    ck_assert_int_eq(count_of(db, "SELECT count(*) FROM layout WHERE tbl_name = 'launches'"), HS_LAUNCH_COLS);
    ck_assert_int_eq(count_of(db, "SELECT min = -5 AND max = 485 FROM segments WHERE key = (1 << 48) + (1 << 24)"), 1);
    sqlite3_close(db);
    hs_test_rmdir(dir);
    free(path);
    free(dir);
}
END_TEST

HS_SUITE(store_trace)
{
    HS_TEST(every_column_of_a_file_is_documented_in_it);
    HS_TEST(a_trace_comes_back_from_memory);
    HS_TEST(a_trace_comes_back_from_a_file);
    HS_TEST(an_unfinished_file_is_removed);
    HS_TEST(an_empty_trace_can_be_viewed);
    HS_TEST(newer_and_foreign_files_are_refused);
    HS_LOOP_TEST(damaged_files_do_no_harm, 0, 3);
    HS_TEST(swapped_columns_do_no_harm);
    HS_TEST(a_ring_of_parents_is_refused);
    HS_TEST(numbers_are_read_from_text);
}
