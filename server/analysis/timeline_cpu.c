#include "analysis/timeline_cpu.h"
#include "analysis/threads.h"
#include "trace/classes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define NO_CLASS 0xff
#define MAX_LANES 4096 /* rows of calls on one screen; more is no picture */

/* Events are not in order of time in the file, and a thread's are spread over it. One pass counts the events of the window
 * per (lane, depth), a second puts their numbers together (a counting sort), then each lane is drawn by itself. */
struct job {
    const struct hs_run_rank *r;
    struct hs_events ev;
    int64_t from, to; /* file time */
    int max_depth;
    uint8_t *class_of;     /* by category symbol: hs_item_class, NO_CLASS for what is no CPU work */
    uint32_t *count;       /* by lane * max_depth + depth */
    int64_t *first, *last; /* by lane: extent of its events, in the window or not */
    int64_t *all;          /* by lane: its events */
    uint32_t *order;
    int64_t deeper;
};

static uint8_t item_class(struct hs_str cat)
{
    switch (hs_cat_kind(cat)) {
    case HS_CAT_CPU_OP: return HS_ITEM_OP;
    case HS_CAT_RUNTIME: return HS_ITEM_RUNTIME;
    case HS_CAT_ANNOTATION: return HS_ITEM_ANNOTATION;
    case HS_CAT_PYTHON: return HS_ITEM_PYTHON;
    case HS_CAT_OTHER:
    case HS_CAT_OVERHEAD: return HS_ITEM_CPU_OTHER;
    default: return NO_CLASS;
    }
}

static void classify(struct job *j)
{
    const struct hs_view *v = j->r->view;
    j->class_of = hs_malloc(v->nsyms);
    for (size_t i = 0; i < v->nsyms; i++)
        j->class_of[i] = NO_CLASS;
    for (size_t i = 0; i < v->ncats; i++)
        if (v->cats[i].cat < v->nsyms)
            j->class_of[v->cats[i].cat] = item_class(v->syms[v->cats[i].cat]);
}

/* Whether event i is drawn at all, whatever the window. */
static bool is_call(const struct job *j, size_t i)
{
    static const int64_t week = INT64_C(7) * 86400 * 1000000000; /* quality.def: longer ones are no analysis' */
    const struct hs_view *v = j->r->view;
    return (j->ev.ph[i] == 'X' || j->ev.ph[i] == 'B') && j->ev.cat[i] < v->nsyms &&
           j->class_of[j->ev.cat[i]] != NO_CLASS && j->ev.lane[i] < v->nlanes && j->ev.dur[i] <= week;
}

static bool in_window(const struct job *j, size_t i)
{
    int64_t ts = j->ev.ts[i], end = hs_end_ns(ts, j->ev.dur[i]);
    return ts < j->to && (end > j->from || ts >= j->from);
}

static size_t slot(const struct job *j, size_t i)
{
    return (size_t)j->ev.lane[i] * (size_t)j->max_depth + j->ev.depth[i];
}

static void count_events(struct job *j)
{
    for (size_t i = 0; i < j->ev.n; i++) {
        if (!is_call(j, i))
            continue;
        uint32_t lane = j->ev.lane[i];
        j->all[lane]++;
        j->first[lane] = hs_min_i64(j->first[lane], j->ev.ts[i]);
        j->last[lane] = hs_max_i64(j->last[lane], hs_end_ns(j->ev.ts[i], j->ev.dur[i]));
        if (!in_window(j, i))
            continue;
        if (j->ev.depth[i] < j->max_depth)
            j->count[slot(j, i)]++;
        else
            j->deeper++;
    }
}

/* Turns counts into ends of ranges and fills `order`: afterwards count[k] is where range k starts. */
static void sort_events(struct job *j, size_t slots)
{
    size_t total = 0;
    for (size_t k = 0; k < slots; k++) {
        total += j->count[k];
        j->count[k] = (uint32_t)total;
    }
    j->order = hs_realloc_array(NULL, total, sizeof *j->order);
    for (size_t i = j->ev.n; i-- > 0;)
        if (is_call(j, i) && in_window(j, i) && j->ev.depth[i] < j->max_depth)
            j->order[--j->count[slot(j, i)]] = (uint32_t)i;
    j->count[slots] = (uint32_t)total;
}

static void put_id(char *out, size_t cap, const struct hs_view *v, struct hs_id id)
{
    struct hs_str text = id.kind == HS_ID_TEXT ? hs_view_str(v, (uint32_t)id.v) : hs_str("-", 1);
    if (id.kind == HS_ID_INT)
        snprintf(out, cap, "%" PRId64, id.v);
    else
        snprintf(out, cap, "%.*s", (int)(text.n < 64 ? text.n : 64), text.p ? text.p : "");
}

struct names {
    char id[200], text[300];
};

static void name_lane(const struct job *j, size_t lane, struct names *n)
{
    const struct hs_view *v = j->r->view;
    const struct hs_lane_info *l = &v->lanes[lane];
    char pid[80], tid[80];
    struct hs_str thread = hs_view_str(v, l->thread);
    put_id(pid, sizeof pid, v, l->pid);
    put_id(tid, sizeof tid, v, l->tid);
    snprintf(n->id, sizeof n->id, "%" PRId64 "/cpu/%s/%s", j->r->rank, pid, tid);
    if (thread.n)
        snprintf(n->text, sizeof n->text, "%.*s", (int)(thread.n < 200 ? thread.n : 200), thread.p);
    else
        snprintf(n->text, sizeof n->text, "thread %s of %s", tid, pid);
}

static void draw(struct job *j, size_t begin, size_t end, const struct hs_lane_label *label, struct hs_lane_bins *bins)
{
    int64_t offset = j->r->offset_ns;
    for (size_t k = begin; k < end; k++) {
        uint32_t i = j->order[k];
        int64_t ts = hs_add_sat(j->ev.ts[i], offset);
        struct hs_item item = {ts, hs_end_ns(ts, j->ev.dur[i]), j->ev.name[i], i,
                               (enum hs_item_class)j->class_of[j->ev.cat[i]]};
        hs_lane_item(bins, &item, ts); /* calls of one thread and depth follow each other */
    }
    hs_lane_write(bins, label, j->r->view);
}

/* Lanes by process and thread, whatever the order of the file. */
static size_t *lane_order(const struct hs_view *v)
{
    struct hs_threads threads;
    size_t *order = hs_calloc(v->nlanes, sizeof *order);
    hs_threads_open(&threads, v, NULL);
    for (size_t i = 0; i < v->nlanes; i++)
        order[threads.place[i]] = i;
    hs_threads_close(&threads);
    return order;
}

static void draw_all(struct job *j, const size_t *order, const char *only, struct hs_lane_bins *bins,
                     struct hs_table *out)
{
    size_t drawn = 0;
    for (size_t at = 0; at < j->r->view->nlanes && !out->full; at++) {
        size_t lane = order[at];
        struct names n;
        if (!j->all[lane])
            continue;
        name_lane(j, lane, &n);
        if (only && !hs_str_is(hs_cstr(only), n.id))
            continue;
        struct hs_lane_label label = {j->r->rank, HS_LANE_CPU, n.id, n.text, -1};
        hs_lane_announce(bins, &label, hs_add_sat(j->first[lane], j->r->offset_ns),
                         hs_add_sat(j->last[lane], j->r->offset_ns), j->all[lane]);
        for (label.depth = 0; label.depth < j->max_depth; label.depth++) {
            size_t k = lane * (size_t)j->max_depth + (size_t)label.depth;
            if (j->count[k] == j->count[k + 1])
                continue;
            if (drawn++ == MAX_LANES) {
                hs_table_note(out,
                              "Rank %" PRId64
                              ": more than %d CPU lanes; the rest is left out, ask for single ones with lane.",
                              j->r->rank, MAX_LANES);
                return;
            }
            draw(j, j->count[k], j->count[k + 1], &label, bins);
        }
    }
}

int hs_timeline_cpu(const struct hs_run_rank *r, int64_t from, int64_t to, int max_depth, const char *lane,
                    struct hs_lane_bins *bins, struct hs_table *out, int64_t *deeper, struct hs_err *err)
{
    struct job j = {
        .r = r, .from = hs_sub_sat(from, r->offset_ns), .to = hs_sub_sat(to, r->offset_ns), .max_depth = max_depth};
    unsigned columns = HS_EV_TS | HS_EV_DUR | HS_EV_NAME | HS_EV_CAT | HS_EV_LANE | HS_EV_PH | HS_EV_DEPTH;
    size_t lanes = r->view->nlanes, slots = lanes * (size_t)max_depth;
    int rc = hs_view_events(r->view, columns, &j.ev, err);
    if (rc || !j.ev.n)
        return rc;
    classify(&j);
    j.count = hs_calloc(slots + 1, sizeof *j.count);
    j.first = hs_calloc(lanes, sizeof *j.first);
    j.last = hs_calloc(lanes, sizeof *j.last);
    j.all = hs_calloc(lanes, sizeof *j.all);
    for (size_t i = 0; i < lanes; i++) {
        j.first[i] = INT64_MAX;
        j.last[i] = INT64_MIN;
    }
    count_events(&j);
    sort_events(&j, slots);
    size_t *order = lane_order(r->view);
    draw_all(&j, order, lane, bins, out);
    free(order);
    *deeper += j.deeper;
    free(j.class_of);
    free(j.count);
    free(j.first);
    free(j.last);
    free(j.all);
    free(j.order);
    return HS_OK;
}
