#include "render/flame.h"

#include "base/intern.h"
#include "base/json.h"

#include <stdio.h>
#include <string.h>

struct columns {
    size_t rank, stack, weight;
};

static bool find(const struct hs_table *t, const char *name, size_t *out)
{
    for (size_t c = 0; c < t->ncolumns; c++) {
        if (!strcmp(t->columns[c].name, name)) {
            *out = c;
            return true;
        }
    }
    return false;
}

static int find_columns(const struct hs_table *t, struct columns *c, struct hs_err *err)
{
    if (find(t, "rank", &c->rank) && find(t, "stack", &c->stack) && find(t, "weight_us", &c->weight))
        return HS_OK;
    return hs_fail(err, HS_EUSAGE,
                   "this answer has no stacks: only the analysis flame can be written as folded or speedscope");
}

static int64_t number(const struct hs_table *t, size_t row, size_t column)
{
    const struct hs_cell *c = hs_table_cell(t, row, column);
    return c->kind == HS_C_I64 ? c->i : 0;
}

static struct hs_str text(const struct hs_table *t, size_t row, size_t column)
{
    const struct hs_cell *c = hs_table_cell(t, row, column);
    return c->kind == HS_C_TEXT ? hs_str(c->s, c->len) : hs_str("", 0);
}

int hs_render_folded(const struct hs_table *t, struct hs_buf *out, struct hs_err *err)
{
    struct columns c;
    bool ranks = false;
    int rc = find_columns(t, &c, err);
    if (rc)
        return rc;
    for (size_t i = 1; i < t->rows && !ranks; i++)
        ranks = number(t, i, c.rank) != number(t, 0, c.rank);
    for (size_t i = 0; i < t->rows; i++) {
        if (ranks)
            hs_buf_printf(out, "rank %lld;", (long long)number(t, i, c.rank));
        hs_put_utf8(out, text(t, i, c.stack));
        hs_buf_putc(out, ' ');
        hs_buf_put_i64(out, number(t, i, c.weight));
        hs_buf_putc(out, '\n');
    }
    return hs_buf_check(out, "the folded stacks", err);
}

/* ---- speedscope ---- */

/* Calls for each frame of a stack, outermost first. */
static bool next_frame(struct hs_str *rest, struct hs_str *frame)
{
    if (!rest->p)
        return false;
    const char *semicolon = rest->n ? memchr(rest->p, ';', rest->n) : NULL;
    *frame = hs_str(rest->p, semicolon ? (size_t)(semicolon - rest->p) : rest->n);
    *rest = semicolon ? hs_str(semicolon + 1, rest->n - frame->n - 1) : hs_str(NULL, 0);
    return true;
}

static bool intern_frames(const struct hs_table *t, const struct columns *c, struct hs_intern *frames)
{
    for (size_t i = 0; i < t->rows; i++) {
        struct hs_str rest = text(t, i, c->stack), frame;
        while (next_frame(&rest, &frame))
            if (hs_intern_add(frames, frame.p, frame.n) == HS_NO_SYM)
                return false;
    }
    return true;
}

/* Rows [first, end) are one rank. */
static void put_profile(const struct hs_table *t, const struct columns *c, const struct hs_intern *frames, size_t first,
                        size_t end, struct hs_json *j)
{
    char name[32];
    int64_t sum = 0;
    snprintf(name, sizeof name, "rank %lld", (long long)number(t, first, c->rank));
    for (size_t i = first; i < end; i++)
        if (__builtin_add_overflow(sum, number(t, i, c->weight), &sum))
            sum = INT64_MAX;
    hs_json_obj(j);
    hs_json_key(j, "type");
    hs_json_cstr(j, "sampled");
    hs_json_key(j, "name");
    hs_json_cstr(j, name);
    hs_json_key(j, "unit");
    hs_json_cstr(j, "nanoseconds");
    hs_json_key(j, "startValue");
    hs_json_i64(j, 0);
    hs_json_key(j, "endValue");
    hs_json_f64(j, (double)sum); /* a number whatever its size: the reader is JavaScript */
    hs_json_key(j, "samples");
    hs_json_arr(j);
    for (size_t i = first; i < end; i++) {
        struct hs_str rest = text(t, i, c->stack), frame;
        hs_json_arr(j);
        while (next_frame(&rest, &frame))
            hs_json_i64(j, hs_intern_find(frames, frame.p, frame.n));
        hs_json_end(j);
    }
    hs_json_end(j);
    hs_json_key(j, "weights");
    hs_json_arr(j);
    for (size_t i = first; i < end; i++)
        hs_json_f64(j, (double)number(t, i, c->weight));
    hs_json_end(j);
    hs_json_end(j);
}

static void put_file(const struct hs_table *t, const struct columns *c, const struct hs_intern *frames,
                     const char *name, struct hs_json *j)
{
    hs_json_obj(j);
    hs_json_key(j, "$schema");
    hs_json_cstr(j, "https://www.speedscope.app/file-format-schema.json");
    hs_json_key(j, "name");
    hs_json_cstr(j, name);
    hs_json_key(j, "exporter");
    hs_json_cstr(j, "holoscope");
    hs_json_key(j, "activeProfileIndex");
    hs_json_i64(j, 0);
    hs_json_key(j, "shared");
    hs_json_obj(j);
    hs_json_key(j, "frames");
    hs_json_arr(j);
    for (uint32_t i = 0; i < frames->n; i++) { /* number 0 is "", which no stack needs and the numbering does */
        hs_json_obj(j);
        hs_json_key(j, "name");
        hs_json_str(j, hs_intern_str(frames, i));
        hs_json_end(j);
    }
    hs_json_end(j);
    hs_json_end(j);
    hs_json_key(j, "profiles");
    hs_json_arr(j);
    for (size_t i = 0, end; i < t->rows; i = end) {
        for (end = i + 1; end < t->rows && number(t, end, c->rank) == number(t, i, c->rank);)
            end++;
        put_profile(t, c, frames, i, end, j);
    }
    hs_json_end(j);
    hs_json_end(j);
}

int hs_render_speedscope(const struct hs_table *t, const char *name, struct hs_buf *out, struct hs_err *err)
{
    struct columns c;
    struct hs_intern frames;
    int rc = find_columns(t, &c, err);
    if (rc)
        return rc;
    hs_intern_init(&frames, (size_t)1 << 26, (size_t)1 << 31);
    if (intern_frames(t, &c, &frames)) {
        struct hs_json j = HS_JSON_INIT(out);
        put_file(t, &c, &frames, name, &j);
        rc = hs_buf_check(out, "the flame graph", err);
    } else {
        rc = hs_fail(err, HS_ELIMIT, "the flame graph has more names than fit: ask for fewer stacks (limit)");
    }
    hs_intern_free(&frames);
    return rc;
}
