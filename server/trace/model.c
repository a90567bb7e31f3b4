#include "trace/model.h"

#include <stdlib.h>
#include <string.h>

const struct hs_limits hs_limits_default = {
    .bytes_in = 16ull << 30,
    .bytes_json = 128ull << 30,
    .ratio = 300, /* pretty-printed traces reach 60; deflate's own ceiling is 1032 */
    .events = 200000000,
    .depth = 64,
    .string = 16u << 20,
    .names = 8000000,
    .name_bytes = 2ull << 30,
    .members = 4096,
};

/* Ceilings of the dictionaries. They are far above what any writer produces; text that would pass them is kept in
 * another form (ingest keeps such an event's args as one JSON text), so they bound memory and lose nothing. */
enum {
    MAX_FIELDS = 1 << 22,
    MAX_SHAPES = 1 << 18,
    MAX_COLUMNS = 1 << 14,
    MAX_LANES = 1 << 22,
    MAX_HEADER = 1 << 12,
};

static size_t at_most_size(uint64_t v)
{
    return v > SIZE_MAX / 2 ? SIZE_MAX / 2 : (size_t)v;
}

void hs_trace_init(struct hs_trace *t, const struct hs_limits *limits)
{
    const struct hs_limits *l = limits ? limits : &hs_limits_default;
    *t = (struct hs_trace){
        .fields = HS_VEC_INIT(MAX_FIELDS),
        .shapes = HS_VEC_INIT(MAX_SHAPES),
        .columns = HS_VEC_INIT(MAX_COLUMNS),
        .lanes = HS_VEC_INIT(MAX_LANES),
        .header = HS_VEC_INIT(MAX_HEADER),
        .lane_names = HS_VEC_INIT(MAX_LANES),
        .device_rows = HS_VEC_INIT(HS_MAX_EVENTS),
        .communication = l->communication,
        .rank = -1,
        .world_size = -1,
        .hta_rank = -1,
    };
    hs_intern_init(&t->syms, at_most_size(l->names), at_most_size(l->name_bytes));
    hs_quality_init(&t->quality);
}

void hs_trace_free(struct hs_trace *t)
{
    hs_intern_free(&t->syms);
    hs_vec_free(&t->fields);
    hs_vec_free(&t->shapes);
    hs_vec_free(&t->columns);
    hs_vec_free(&t->lanes);
    hs_vec_free(&t->header);
    hs_vec_free(&t->lane_names);
    hs_vec_free(&t->device_rows);
    hs_rows_free(&t->rows);
}

/* ---- rows ---- */

#define GROW(r, cap, field) (r)->field = hs_realloc_array((r)->field, (cap), sizeof *(r)->field)

bool hs_rows_reserve(struct hs_rows *r, size_t more, size_t max)
{
    if (more > max || r->n > max - more)
        return false;
    if (r->n + more <= r->cap)
        return true;
    size_t cap = r->cap + r->cap / 2 + HS_SEG_ROWS;
    if (cap < r->n + more)
        cap = r->n + more;
    if (cap > max)
        cap = max;
    GROW(r, cap, ts);
    GROW(r, cap, dur);
    GROW(r, cap, corr);
    GROW(r, cap, name);
    GROW(r, cap, lane);
    GROW(r, cap, cat);
    GROW(r, cap, ph);
    GROW(r, cap, flags);
    r->cap = cap;
    return true;
}

void hs_rows_free(struct hs_rows *r)
{
    free(r->ts);
    free(r->dur);
    free(r->corr);
    free(r->name);
    free(r->lane);
    free(r->cat);
    free(r->ph);
    free(r->flags);
    *r = (struct hs_rows){0};
}

/* ---- segments ---- */

struct hs_segment *hs_segment_new(void)
{
    struct hs_segment *s = hs_malloc(sizeof *s); /* the columns are written before they are read */
    s->first = 0;
    s->rows = 0;
    s->args = NULL;
    s->nargs = 0;
    return s;
}

void hs_segment_reset(struct hs_segment *s, uint64_t first)
{
    s->first = first;
    s->rows = 0;
    for (uint32_t i = 0; i < s->nargs; i++)
        s->args[i].n = 0;
}

void hs_segment_free(struct hs_segment *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; i < s->nargs; i++)
        free(s->args[i].v);
    free(s->args);
    free(s);
}

static void grow_args(struct hs_segment *s, uint32_t column)
{
    uint32_t n = column + 1 + s->nargs / 2;
    s->args = hs_realloc_array(s->args, n, sizeof *s->args);
    memset(s->args + s->nargs, 0, (n - s->nargs) * sizeof *s->args);
    s->nargs = n;
}

void hs_stream_push(struct hs_segment *s, uint32_t column, int64_t v)
{
    if (column >= s->nargs)
        grow_args(s, column);
    struct hs_stream *st = &s->args[column];
    if (st->n == st->cap) {
        st->cap = st->cap ? st->cap * 2 : 16;
        st->v = hs_realloc_array(st->v, st->cap, sizeof *st->v);
    }
    st->v[st->n++] = v;
}
