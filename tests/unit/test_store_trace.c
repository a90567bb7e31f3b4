/* Writer and view: a trace made by hand goes into a file and into memory and comes back. */
#include "store/view_args.h"
#include "tests/unit/made_trace.h"
#include "tests/unit/test.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check_meta(const struct hs_view *v, const struct made_trace *m)
{
    ck_assert_str_eq(v->id, made_info.id);
    ck_assert_str_eq(v->name, "rank5.json");
    ck_assert_int_eq(v->rank, 5);
    ck_assert_int_eq(v->world_size, 8);
    ck_assert(v->has_base && v->base_ns == 1600000000000000000);
    ck_assert_int_eq(v->sum.events, MADE_EVENTS);
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

static void check_events(struct hs_view *v, const struct made_trace *m)
{
    struct hs_events e;
    struct hs_err err = HS_ERR_INIT;
    ck_assert_msg(!hs_view_events(v, HS_EV_TS | HS_EV_NAME, &e, &err), "%s", err.text);
    ck_assert(e.ts && e.name && !e.dur && !e.parent);
    ck_assert_msg(!hs_view_events(v, (1u << HS_EVENT_COLS) - 1, &e, &err), "%s", err.text);
    ck_assert_uint_eq(e.n, MADE_EVENTS);
    for (size_t i = 0; i < MADE_EVENTS; i++) {
        const struct hs_segment *s = m->seg[i / HS_SEG_ROWS];
        size_t r = i % HS_SEG_ROWS;
        ck_assert(e.ts[i] == s->ts[r] && e.dur[i] == (i == MADE_ENDED ? MADE_ENDED_NS : s->dur[r]) &&
                  e.name[i] == s->name[r] && e.cat[i] == s->cat[r]);
        ck_assert(e.lane[i] == s->lane[r] && e.ph[i] == s->ph[r] && e.shape[i] == s->shape[r] &&
                  e.digits[i] == s->digits[r]);
        ck_assert(e.parent[i] == m->l.parent[i] && e.depth[i] == m->l.depth[i] && e.step[i] == m->l.step[i]);
    }
}

/* Those of some events only, a segment without any among them, and again when they are in memory. */
static void check_events_at(struct hs_view *v, const struct made_trace *m)
{
    static const uint32_t at[] = {0, 1, 999, MADE_ENDED, HS_SEG_ROWS - 1, 2 * HS_SEG_ROWS, MADE_EVENTS - 1};
    const unsigned all = ((1u << HS_EVENT_COLS) - 1) & ~(unsigned)HS_EV_PARENT;
    enum { FEW = sizeof at / sizeof at[0] };
    struct hs_events e;
    struct hs_err err = HS_ERR_INIT;
    ck_assert_msg(!v->ops->events_at(v, all, at, FEW, &e, &err), "%s", err.text);
    ck_assert(e.n == FEW && !e.parent);
    for (size_t i = 0; i < FEW; i++) {
        const struct hs_segment *s = m->seg[at[i] / HS_SEG_ROWS];
        size_t r = at[i] % HS_SEG_ROWS;
        ck_assert(e.ts[i] == s->ts[r] && e.dur[i] == (at[i] == MADE_ENDED ? MADE_ENDED_NS : s->dur[r]));
        ck_assert(e.name[i] == s->name[r] && e.cat[i] == s->cat[r]);
        ck_assert(e.lane[i] == s->lane[r] && e.ph[i] == s->ph[r] && e.shape[i] == s->shape[r] &&
                  e.digits[i] == s->digits[r]);
        ck_assert(e.depth[i] == m->l.depth[at[i]] && e.step[i] == m->l.step[at[i]]);
    }
    hs_events_free(&e);
    ck_assert(!v->ops->events_at(v, HS_EV_TS, NULL, 0, &e, &err) && e.n == 0);
    hs_events_free(&e);
}

/* Columns of the device table one by one; those that stand on others bring them along. */
static void check_gpu_columns(struct hs_view *v, const struct made_trace *m)
{
    struct hs_gpu g;
    struct hs_err err = HS_ERR_INIT;
    ck_assert_msg(!hs_view_gpu_columns(v, HS_DEV_LAUNCH, &g, &err), "%s", err.text);
    ck_assert(g.n == m->l.gpu.n && g.launch && !g.ts && !g.launch_ts && !g.name);
    ck_assert_msg(!hs_view_gpu_columns(v, HS_DEV_LAUNCH_TS, &g, &err), "%s", err.text);
    ck_assert(g.launch_ts && !g.name);
    for (size_t i = 0; i < g.n; i++)
        ck_assert(g.launch[i] == m->l.gpu.p[i].launch && g.launch_ts[i] == m->l.gpu.p[i].launch_ts);
}

static void check_tables(struct hs_view *v, const struct made_trace *m)
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
    ck_assert(n == 1 && launches[0].ts == made_ts(2) && launches[0].kernels == 3 && launches[0].step == -1 &&
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
    for (size_t i = 0; i < MADE_EVENTS; i++) {
        bool kernel = made_shape(i) == MADE_KERNEL;
        char want[32];
        ck_assert(corr[i] == (kernel ? (int64_t)i + 7 : HS_NO_VALUE));
        ck_assert(twice[i] == (made_shape(i) == MADE_ODD ? -(int64_t)i : HS_NO_VALUE));
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
    for (size_t i = 0; i < MADE_EVENTS; i++) {
        if (all[i] == HS_NO_VALUE)
            continue;
        ck_assert(k < few.n && few.event[k] == i && few.v[k] == all[i]);
        k++;
    }
    ck_assert_uint_eq(k, few.n);
    ck_assert(!v->ops->arg_sparse(v, key, level, &again, &err) && again.v == few.v && again.event == few.event);
}

/* Arguments that every event of a kind has run in step; one that some of them lack does not. */
static void check_families(struct hs_view *v)
{
    struct hs_err err = HS_ERR_INIT;
    struct hs_sparse corr, device, stream;
    ck_assert(!v->ops->arg_sparse(v, "correlation", 1, &corr, &err) &&
              !v->ops->arg_sparse(v, "device", 1, &device, &err) && !v->ops->arg_sparse(v, "stream", 1, &stream, &err));
    ck_assert(corr.n == device.n && corr.event == device.event);
    ck_assert(stream.n < corr.n && stream.event != corr.event);
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
               "\"occupancy\":0.03,\"grid\":[1, 2, 3],\"queued\":true,\"stream\":\"3\",\"device\":-3},\"dur\":0.025}");
    check_json(v, 1,
               "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":4242,\"tid\":-1,"
               "\"ts\":1712195495519690.358,\"dur\":0.005}");
    check_json(v, 131000,
               "{\"name\":\"aten::add\",\"twice\":131000,\"twice\":\"middle\",\"twice\":-131000,\"none\":null}");
    check_json(v, 1000, "{\"name\":\"aten::add\",\"twice\":1000,\"twice\":\"middle\",\"twice\":-1000,\"none\":null}");
    check_json(v, 0, "{\"name\":\"aten::add\",\"twice\":0,\"twice\":\"middle\",\"twice\":0,\"none\":null}");
    ck_assert_int_eq(v->ops->event_json(v, MADE_EVENTS, &b, &err), HS_ENOTFOUND);
}

static void check_view(struct hs_view *v, const struct made_trace *m)
{
    check_meta(v, m);
    check_events_at(v, m);
    check_events(v, m);
    check_events_at(v, m);
    check_gpu_columns(v, m);
    check_tables(v, m);
    check_args(v);
    check_sparse(v, "correlation", 1);
    check_sparse(v, "stream", 1);
    check_sparse(v, "twice", 0);
    check_sparse(v, "no such key", 1);
    check_families(v);
    check_whole_events(v);
    ck_assert_uint_gt(hs_view_bytes(v), (size_t)MADE_EVENTS * 40);
    ck_assert_uint_eq(hs_view_sym(v, "aten::mm"), hs_intern_find(&m->t.syms, "aten::mm", 8));
    ck_assert_uint_eq(hs_view_sym(v, "not there"), HS_NO_SYM);
}

START_TEST(a_trace_comes_back_from_memory)
{
    struct made_trace m;
    struct hs_view *v;
    struct hs_err err = HS_ERR_INIT;
    made_make(&m);
    struct hs_writer *w = made_write(&m, NULL);
    ck_assert_msg(!hs_writer_view(w, &v, &err), "%s", err.text);
    hs_writer_free(w);
    check_view(v, &m);
    hs_view_close(v);
    made_free(&m);
}
END_TEST

START_TEST(a_trace_comes_back_from_a_file)
{
    struct made_trace m;
    struct hs_view *v;
    struct hs_err err = HS_ERR_INIT;
    char *dir, *path = made_file(&dir);
    made_make(&m);
    ck_assert_msg(!hs_view_open(path, &v, &err), "%s", err.text);
    check_view(v, &m);
    hs_view_close(v);
    made_free(&m);
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
    ck_assert_msg(!hs_writer_finish(w, &t, &l, &made_info, &err), "%s", err.text);
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
    char *dir, *path = made_file(&dir);
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
    HS_TEST(numbers_are_read_from_text);
}
