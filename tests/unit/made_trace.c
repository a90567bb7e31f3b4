#include "tests/unit/made_trace.h"

#include "tests/unit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANE_CPU, LANE_GPU };

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

static uint32_t g_corr, g_occ, g_grid, g_text, g_device, g_twice_int, g_twice_str;

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
    g_device = field(t, "device", 1, HS_V_INT);
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

uint32_t made_shape(size_t i)
{
    return i % 1000 == 0 ? MADE_ODD : i % 3 == 0 ? MADE_KERNEL : MADE_CPU;
}

int64_t made_ts(size_t i)
{
    return INT64_C(1712195495519689123) + (int64_t)i * 1234 + (int64_t)(i * i % 977);
}

static void make_event(struct made_trace *m, size_t i)
{
    struct hs_segment *s = m->seg[i / HS_SEG_ROWS];
    uint32_t r = s->rows++, kind = made_shape(i);
    char text[32];
    s->ts[r] = made_ts(i);
    s->dur[r] = (int64_t)(i % 50) * 10 - 5;
    s->shape[r] = kind;
    s->name[r] = sym(&m->t, i % 2 ? "aten::mm" : "aten::add");
    s->cat[r] = sym(&m->t, kind == MADE_KERNEL ? "kernel" : "cpu_op");
    s->lane[r] = kind == MADE_KERNEL ? LANE_GPU : LANE_CPU;
    s->ph[r] = 'X';
    s->digits[r] = 0x33;
    if (kind == MADE_KERNEL) {
        hs_stream_push(s, g_corr, (int64_t)i + 7);
        hs_stream_push(s, g_occ, (int64_t)i);
        hs_stream_push(s, g_occ + 1, 2);
        hs_stream_push(s, g_grid, sym(&m->t, "[1, 2, 3]"));
        snprintf(text, sizeof text, i % 2 ? "%zu" : "s%zu", i % 5);
        hs_stream_push(s, g_text, sym(&m->t, text));
        hs_stream_push(s, g_device, -(int64_t)i);
    } else if (kind == MADE_ODD) {
        hs_stream_push(s, g_twice_int, (int64_t)i);
        hs_stream_push(s, g_twice_str, sym(&m->t, "middle"));
        hs_stream_push(s, g_twice_int, -(int64_t)i);
    }
}

static void make_links(struct made_trace *m)
{
    struct hs_links *l = &m->l;
    hs_links_init(l);
    l->n = MADE_EVENTS;
    l->parent = hs_calloc(MADE_EVENTS, sizeof *l->parent);
    l->depth = hs_calloc(MADE_EVENTS, sizeof *l->depth);
    l->step = hs_calloc(MADE_EVENTS, sizeof *l->step);
    for (size_t i = 0; i < MADE_EVENTS; i++) {
        l->parent[i] = i % 10 ? (uint32_t)(i - i % 10) : HS_NO_EVENT;
        l->depth[i] = i % 10 != 0;
        l->step[i] = i < 500 ? -1 : i < 70000 ? 0 : 1;
    }
    ck_assert(hs_vec_push(&l->ended, ((struct hs_ended){MADE_ENDED, MADE_ENDED_NS})));
    for (size_t i = 3; i < MADE_EVENTS; i += 3) {
        struct hs_gpu_row g = {.ts = made_ts(i),
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
    struct hs_launch_row launch = {made_ts(2), 5, 10, 2, sym(&m->t, "aten::add"), LANE_CPU, 3, -1};
    ck_assert(hs_vec_push(&l->launches, launch));
    struct hs_step_row steps[2] = {{made_ts(500), 1000, 17, 500, LANE_CPU},
                                   {made_ts(70000), 2000, 18, 70000, LANE_CPU}};
    struct hs_cat_row cat = {sym(&m->t, "kernel"), 'X', 99, 12345};
    ck_assert(hs_vec_push(&l->steps, steps[0]) && hs_vec_push(&l->steps, steps[1]) && hs_vec_push(&l->cats, cat));
    l->sum.events = MADE_EVENTS;
    l->sum.busy_ns = 77;
    l->sum.gpu_first_ts = HS_NO_VALUE;
}

void made_make(struct made_trace *m)
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
    for (size_t i = 0; i < MADE_EVENTS; i++)
        make_event(m, i);
    make_links(m);
    m->t.events = MADE_EVENTS;
    m->t.has_base = true;
    m->t.base_ns = 1600000000000000000;
    m->t.world_size = 8;
    hs_quality_add(&m->t.quality, HS_Q_BARE_QUOTE, 3, 99);
}

void made_free(struct made_trace *m)
{
    for (size_t k = 0; k < 3; k++)
        hs_segment_free(m->seg[k]);
    hs_links_free(&m->l);
    hs_trace_free(&m->t);
}

const struct hs_trace_info made_info = {"0123456789abcdef0123456789abcdef", "rank5.json", 5, NULL};

struct hs_writer *made_write(const struct made_trace *m, const char *path)
{
    struct hs_writer *w;
    struct hs_err err = HS_ERR_INIT;
    ck_assert_msg(!hs_writer_new(&w, path, &err), "%s", err.text);
    for (size_t k = 0; k < 3; k++)
        ck_assert_msg(!hs_writer_segment(w, m->seg[k], &err), "%s", err.text);
    ck_assert_msg(!hs_writer_finish(w, &m->t, &m->l, &made_info, &err), "%s", err.text);
    return w;
}

/* A trace file in a fresh directory; its path. */
char *made_file(char **dir)
{
    struct made_trace m;
    *dir = hs_test_tmpdir();
    char *path = hs_asprintf("%s/t.db", *dir);
    made_make(&m);
    hs_writer_free(made_write(&m, path));
    made_free(&m);
    return path;
}
