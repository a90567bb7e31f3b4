/* A form and its values become a row of the segment, a row for linking, and what else the event tells. */
#include "ingest/kineto_in.h"

/* ---- lanes ---- */

static bool same_id(struct hs_id a, struct hs_id b)
{
    return a.v == b.v && a.kind == b.kind;
}

static uint64_t lane_hash(struct hs_id pid, struct hs_id tid)
{
    uint64_t h = ((uint64_t)pid.v ^ ((uint64_t)tid.v << 21 | (uint64_t)tid.v >> 43)) + pid.kind * 3u + tid.kind * 11u;
    h *= 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

static void lane_rehash(struct hs_kineto *k)
{
    const struct hs_trace *t = k->trace;
    free(k->lane_table);
    k->lane_slots = k->lane_slots ? k->lane_slots * 2 : 256;
    k->lane_table = hs_calloc(k->lane_slots, sizeof *k->lane_table);
    for (uint32_t i = 0; i < t->lanes.n; i++) {
        size_t s = lane_hash(t->lanes.p[i].pid, t->lanes.p[i].tid) & (k->lane_slots - 1);
        while (k->lane_table[s])
            s = (s + 1) & (k->lane_slots - 1);
        k->lane_table[s] = i + 1;
    }
}

/* HS_NO_SYM when there is no room for one more lane. */
static uint32_t lane_slow(struct hs_kineto *k, struct hs_id pid, struct hs_id tid, uint64_t hash)
{
    struct hs_trace *t = k->trace;
    if (t->lanes.n * 2 >= k->lane_slots)
        lane_rehash(k);
    size_t s = hash & (k->lane_slots - 1);
    for (; k->lane_table[s]; s = (s + 1) & (k->lane_slots - 1)) {
        const struct hs_lane *l = &t->lanes.p[k->lane_table[s] - 1];
        if (same_id(l->pid, pid) && same_id(l->tid, tid))
            return k->lane_table[s] - 1;
    }
    struct hs_lane fresh;
    memset(&fresh, 0, sizeof fresh);
    fresh.pid = pid;
    fresh.tid = tid;
    if (!hs_vec_push(&t->lanes, fresh))
        return HS_NO_SYM;
    k->lane_table[s] = (uint32_t)t->lanes.n;
    return (uint32_t)t->lanes.n - 1;
}

static inline uint32_t lane_of(struct hs_kineto *k, struct hs_id pid, struct hs_id tid)
{
    uint64_t hash = lane_hash(pid, tid);
    struct hs_lane_slot *s = &k->lanes[hash % HS_LANE_CACHE];
    if (s->lane && same_id(s->pid, pid) && same_id(s->tid, tid))
        return s->lane - 1;
    uint32_t lane = lane_slow(k, pid, tid, hash);
    if (lane != HS_NO_SYM)
        *s = (struct hs_lane_slot){pid, tid, lane + 1};
    return lane;
}

/* ---- what else the event tells ---- */

static void device_row(struct hs_kineto *k, const struct hs_form *f, uint32_t event)
{
    const struct hs_values *v = &k->values;
    int64_t bytes = v->bytes != HS_NO_VALUE ? v->bytes : v->size;
    struct hs_device_row row = {.event = event, .device = -1, .stream = -1, .bytes = bytes, .graph_id = v->graph};
    int64_t device = v->device;
    if (device == HS_NO_VALUE && f->device_cat && v->pid.kind == HS_ID_INT)
        device = v->pid.v;
    if (device >= 0 && device < 65536)
        row.device = (int32_t)device;
    if (v->stream != HS_NO_VALUE)
        row.stream = v->stream;
    else if (f->device_cat && v->tid.kind == HS_ID_INT)
        row.stream = v->tid.v;
    hs_vec_push(&k->trace->device_rows, row); /* its ceiling is that of events */
}

static struct hs_lane_name *lane_name(struct hs_kineto *k, uint32_t lane)
{
    struct hs_trace *t = k->trace;
    while (k->meta.n <= lane)
        if (!hs_vec_push(&k->meta, 0))
            return NULL;
    if (!k->meta.p[lane]) {
        if (!hs_vec_push(&t->lane_names, ((struct hs_lane_name){.lane = lane})))
            return NULL;
        k->meta.p[lane] = (uint32_t)t->lane_names.n;
    }
    return &t->lane_names.p[k->meta.p[lane] - 1];
}

static void meta(struct hs_kineto *k, uint32_t lane)
{
    const struct hs_values *v = &k->values;
    bool process = v->name == k->process_name, labels = v->name == k->process_labels;
    struct hs_lane_name *n = process || labels || v->name == k->thread_name ? lane_name(k, lane) : NULL;
    if (!n)
        return;
    if (process)
        n->process = v->meta_name;
    else if (labels)
        n->labels = v->meta_labels;
    else
        n->thread = v->meta_name;
}

static void special(struct hs_kineto *k, const struct hs_form *f, uint32_t event, uint32_t lane)
{
    if (f->no_ph)
        hs_kineto_defect(k, HS_Q_MISSING_PH);
    if (f->nameless)
        hs_kineto_defect(k, HS_Q_MISSING_NAME);
    if (f->duplicate)
        hs_kineto_defect(k, HS_Q_DUPLICATE_KEY);
    if (f->bad_args)
        hs_kineto_defect(k, HS_Q_BAD_ARGS);
    if (f->device)
        device_row(k, f, event);
    if (f->meta)
        meta(k, lane);
}

/* Texts that read inf or nan are kept as texts, but they are numbers that have no value. */
static void non_finite(struct hs_kineto *k, const struct hs_form *f)
{
    const struct hs_values *v = &k->values;
    for (uint32_t i = 0; i < f->nvalues; i++) {
        if (f->columns[i] < 0 || k->trace->columns.p[f->columns[i]].type != HS_V_STR)
            continue;
        for (size_t j = 0; j < k->odd_texts.n; j++)
            if (k->odd_texts.p[j] == (uint32_t)v->v[i])
                hs_kineto_defect(k, HS_Q_NON_FINITE);
    }
}

static void count_times(struct hs_kineto *k, const struct hs_form *f)
{
    const struct hs_values *v = &k->values;
    uint8_t missing = f->need & (uint8_t)~v->has;
    if (missing & HS_ROW_HAS_TS)
        hs_kineto_defect(k, HS_Q_MISSING_TS);
    if (missing & HS_ROW_HAS_DUR)
        hs_kineto_defect(k, HS_Q_MISSING_DUR);
    if (v->dur < 0)
        hs_kineto_defect(k, HS_Q_NEGATIVE_DUR);
    if (v->text_numbers)
        hs_kineto_defect(k, HS_Q_TEXT_NUMBER);
}

/* ---- rows ---- */

static void link_row(struct hs_kineto *k, const struct hs_form *f, uint32_t lane)
{
    const struct hs_values *v = &k->values;
    struct hs_rows *r = &k->trace->rows;
    size_t i = r->n++;
    r->ts[i] = v->ts;
    r->dur[i] = v->dur;
    r->corr[i] = f->linked ? v->id : v->corr == 0 || v->corr == -1 ? HS_NO_VALUE : v->corr;
    r->name[i] = v->name;
    r->lane[i] = lane;
    r->cat[i] = (uint16_t)(f->cat < UINT16_MAX ? f->cat : UINT16_MAX);
    r->ph[i] = f->ph;
    r->flags[i] = (uint8_t)(v->has | (f->collective ? HS_ROW_COLLECTIVE : 0));
}

static inline void push(struct hs_segment *s, uint32_t column, int64_t v)
{
    if (column < s->nargs && s->args[column].n < s->args[column].cap)
        s->args[column].v[s->args[column].n++] = v;
    else
        hs_stream_push(s, column, v);
}

int hs_kineto_flush(struct hs_kineto *k, struct hs_err *err)
{
    struct hs_segment *full = k->seg, *next = NULL;
    uint64_t first = full->first + full->rows;
    k->seg = NULL; /* taken over whatever comes of it */
    int rc = k->emit(k->ctx, full, &next, err);
    if (rc)
        return rc;
    k->seg = next;
    if (k->seg)
        hs_segment_reset(k->seg, first);
    return HS_OK;
}

static int room(struct hs_kineto *k, struct hs_err *err)
{
    struct hs_trace *t = k->trace;
    uint64_t most = k->limits.events < HS_MAX_EVENTS ? k->limits.events : HS_MAX_EVENTS;
    if (t->events >= most) {
        hs_fail(err, HS_ELIMIT, "more than %llu events: raise the limit on events to read this trace",
                (unsigned long long)most);
        if (err)
            err->offset = hs_kineto_offset(k, k->item);
        return HS_ELIMIT;
    }
    if (k->seg->rows == HS_SEG_ROWS) {
        int rc = hs_kineto_flush(k, err);
        if (rc || !k->seg)
            return rc ? rc : hs_fail(err, HS_EINTERNAL, "no segment to go on with");
    }
    if (!hs_rows_reserve(&t->rows, 1, HS_MAX_EVENTS))
        return hs_fail(err, HS_ELIMIT, "too many events");
    return HS_OK;
}

int hs_kineto_row(struct hs_kineto *k, const struct hs_form *f, struct hs_err *err)
{
    struct hs_trace *t = k->trace;
    struct hs_values *v = &k->values;
    struct hs_segment *s = k->seg;
    if (s->rows == HS_SEG_ROWS || t->rows.n == t->rows.cap || t->events >= k->limits.events) {
        int rc = room(k, err);
        if (rc)
            return rc;
        s = k->seg;
    }
    uint32_t lane = lane_of(k, v->pid, v->tid);
    if (lane == HS_NO_SYM)
        return hs_fail(err, HS_ELIMIT, "more than %zu pairs of process and thread: this is no trace of one program",
                       t->lanes.max);
    uint32_t i = s->rows++;
    s->ts[i] = v->ts;
    s->dur[i] = v->dur;
    s->shape[i] = f->shape;
    s->name[i] = v->name;
    s->cat[i] = f->cat;
    s->lane[i] = lane;
    s->ph[i] = f->ph;
    s->digits[i] = v->digits;
    for (uint32_t j = 0; j < f->nvalues; j++)
        if (f->columns[j] >= 0)
            push(s, (uint32_t)f->columns[j], v->v[j]);
    link_row(k, f, lane);
    if (f->special)
        special(k, f, (uint32_t)t->events, lane);
    if ((f->need & ~v->has) || v->dur < 0 || v->text_numbers)
        count_times(k, f);
    if (v->texts)
        hs_kineto_count_texts(k);
    if (k->odd_texts.n)
        non_finite(k, f);
    k->with_ph += !f->no_ph;
    t->events++;
    return HS_OK;
}
