#include "store/arg_cursor.h"

#include "store/view_columns.h"
#include "trace/event_json.h"

#include <stdlib.h>
#include <string.h>

int hs_arg_values_load(struct hs_view_file *f, uint32_t column, uint64_t segment, struct hs_arg_values *s,
                       struct hs_err *err)
{
    size_t n, cap = 0;
    s->n = 0;
    for (uint32_t part = 0; part < HS_ARG_PARTS; part++) {
        int rc = hs_view_segment_any(f, HS_TBL_ARGS, column, hs_arg_segment(segment, part), f->tmp, &n, err);
        if (rc)
            return rc;
        if (!n)
            break;
        if (s->n + n > cap) {
            cap = s->n + n;
            s->v = hs_realloc_array(s->v, cap, sizeof *s->v);
        }
        memcpy(s->v + s->n, f->tmp, n * sizeof *s->v);
        s->n += n;
        if (n < HS_SEG_ROWS)
            break;
    }
    s->loaded = true;
    return HS_OK;
}

struct hs_arg_cursor {
    struct hs_view_file *f;
    uint64_t segment;              /* UINT64_MAX: none yet */
    size_t row;                    /* the next event; `at` of every column stands before its values */
    struct hs_arg_values *columns; /* [ncolumns] */
    struct hs_events ev;
    struct {
        HS_VEC(int64_t);
    } values;
    struct {
        HS_VEC(struct hs_field);
    } fields;
};

struct hs_arg_cursor *hs_arg_cursor_new(struct hs_view_file *f)
{
    struct hs_arg_cursor *c = hs_calloc(1, sizeof *c);
    c->f = f;
    c->segment = UINT64_MAX;
    c->columns = hs_calloc(f->ncolumns, sizeof *c->columns);
    c->values.max = c->fields.max = SIZE_MAX / 64;
    return c;
}

void hs_arg_cursor_free(struct hs_arg_cursor *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->f->ncolumns; i++)
        free(c->columns[i].v);
    free(c->columns);
    hs_vec_free(&c->values);
    hs_vec_free(&c->fields);
    free(c);
}

static const unsigned json_columns =
    HS_EV_TS | HS_EV_DUR | HS_EV_NAME | HS_EV_CAT | HS_EV_LANE | HS_EV_PH | HS_EV_SHAPE | HS_EV_DIGITS;

/* Columns are loaded when a value is wanted, so skipping an event only counts. */
static void seek(struct hs_arg_cursor *c, uint32_t event)
{
    const struct hs_view_file *f = c->f;
    uint64_t segment = event / HS_SEG_ROWS;
    size_t row = event % HS_SEG_ROWS;
    if (segment != c->segment)
        for (size_t i = 0; i < f->ncolumns; i++)
            c->columns[i].loaded = false;
    if (segment != c->segment || row < c->row) {
        for (size_t i = 0; i < f->ncolumns; i++)
            c->columns[i].at = 0;
        c->segment = segment;
        c->row = 0;
    }
    for (; c->row < row; c->row++) {
        struct hs_shape s = f->shapes[c->ev.shape[segment * HS_SEG_ROWS + c->row]];
        for (uint32_t i = 0; i < s.count; i++) {
            const struct hs_field *fd = &f->fields[s.first + i];
            if (hs_field_has_values(fd)) {
                c->columns[fd->column].at++;
                c->columns[fd->column + (fd->type == HS_V_DEC)].at += fd->type == HS_V_DEC;
            }
        }
    }
}

/* The next value of a column goes to c->values. */
static int take(struct hs_arg_cursor *c, uint32_t column, struct hs_err *err)
{
    struct hs_arg_values *s = &c->columns[column];
    int rc = s->loaded ? HS_OK : hs_arg_values_load(c->f, column, c->segment, s, err);
    if (rc)
        return rc;
    if (s->at >= s->n)
        return hs_view_damaged(c->f, err, "arguments are missing");
    if (!hs_vec_push(&c->values, s->v[s->at]))
        return hs_fail(err, HS_ELIMIT, "an event has too many arguments");
    s->at++;
    return HS_OK;
}

/* Values of the event in front of the cursor, which moves behind it; those of its args begin at *args. */
static int take_event(struct hs_arg_cursor *c, struct hs_shape s, size_t *args, struct hs_err *err)
{
    c->values.n = 0;
    *args = 0;
    for (uint32_t i = 0; i < s.count; i++) {
        const struct hs_field *fd = &c->f->fields[s.first + i];
        int rc = HS_OK;
        if (fd->type == HS_V_OBJECT)
            *args = c->values.n;
        if (hs_field_has_values(fd))
            rc = take(c, fd->column, err);
        if (!rc && fd->type == HS_V_DEC)
            rc = take(c, fd->column + 1, err);
        if (rc) {
            c->segment = UINT64_MAX; /* its place is lost */
            return rc;
        }
    }
    c->row++;
    return HS_OK;
}

/* The members of args, as members of an object of their own: false where args is no object. A shape of a damaged file may
 * have several: as in take_event, the last one counts. */
static bool args_fields(struct hs_arg_cursor *c, struct hs_shape s)
{
    const struct hs_field *fd = c->f->fields + s.first;
    uint32_t i = s.count;
    while (i && fd[i - 1].type != HS_V_OBJECT)
        i--;
    c->fields.n = 0;
    for (uint32_t k = i; i && k < s.count && fd[k].level == 1 && hs_vec_push(&c->fields, fd[k]); k++)
        c->fields.p[c->fields.n - 1].level = 0;
    return i > 0;
}

int hs_arg_cursor_json_locked(struct hs_arg_cursor *c, uint32_t event, bool args, struct hs_buf *out,
                              struct hs_err *err)
{
    struct hs_view_file *f = c->f;
    size_t first;
    if (event >= f->events)
        return hs_fail(err, HS_ENOTFOUND, "there is no event %u (the trace has %llu)", event,
                       (unsigned long long)f->events);
    int rc = hs_file_load_events(f, json_columns, err);
    if (rc)
        return rc;
    c->ev = f->ev;
    seek(c, event);
    struct hs_shape s = f->shapes[f->ev.shape[event]];
    rc = take_event(c, s, &first, err);
    if (rc)
        return rc;
    struct hs_lane_info lane = f->base.lanes[f->ev.lane[event]];
    struct hs_event_core core = {f->ev.ts[event],   f->ev.dur[event], lane.pid,        lane.tid,
                                 f->ev.name[event], f->ev.cat[event], f->ev.ph[event], f->ev.digits[event]};
    if (!args)
        hs_event_json(out, &core, f->fields + s.first, s.count, c->values.p, f->base.syms, f->base.nsyms);
    else if (args_fields(c, s))
        hs_event_json(out, &core, c->fields.p, c->fields.n, c->values.p + first, f->base.syms, f->base.nsyms);
    return HS_OK;
}

int hs_arg_cursor_json(struct hs_arg_cursor *c, uint32_t event, bool args, struct hs_buf *out, struct hs_err *err)
{
    pthread_mutex_lock(&c->f->lock);
    int rc = hs_arg_cursor_json_locked(c, event, args, out, err);
    pthread_mutex_unlock(&c->f->lock);
    return rc;
}
