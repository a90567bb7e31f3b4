#include "analysis/timeline_lane.h"
#include "trace/intervals.h"
#include "trace/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLASSES 5 /* of one lane kind */

static const char *const class_words[] = {"compute", "communication", "memcpy",     "memset", "other",
                                          "op",      "runtime",       "annotation", "python", "other"};
static const char *const lane_words[] = {"steps", "gpu", "cpu"};

struct bin {
    int64_t busy[CLASSES], idle[HS_CAUSES];
    int64_t longest; /* length of the event below, the first of those; -1 none */
    int64_t start;   /* its start */
    uint32_t name, event;
    uint32_t count;
    bool used;
};

enum row_kind { ROW_EVENT, ROW_IDLE, ROW_BIN };
struct row {
    int64_t start, end, busy; /* busy: ns */
    uint32_t name, event, count;
    int cls, cause; /* -1 none */
    enum row_kind kind;
    size_t order;
};

struct hs_lane_bins {
    int64_t from, to;
    size_t px;
    double per_ns; /* pixels a nanosecond */
    int64_t min_ns;
    int64_t *edges;   /* [px + 1]; pixel k is [edges[k], edges[k + 1]) */
    struct bin *bins; /* [px] */
    bool *taken;      /* [px]: an event that stands whole starts here */
    size_t lo, hi;    /* bins in use lie in [lo, hi) */
    struct {
        HS_VEC(struct row);
    } rows;
    struct hs_table *out;
    struct hs_buf scratch;
};

static const struct bin empty_bin = {.longest = -1, .event = HS_NO_EVENT};

static void clear_bins(struct hs_lane_bins *b, size_t from, size_t to)
{
    for (size_t k = from; k < to; k++)
        b->bins[k] = empty_bin;
}

struct hs_lane_bins *hs_lane_bins_new(int64_t from, int64_t to, size_t px, double min_px, struct hs_table *out)
{
    struct hs_lane_bins *b = hs_calloc(1, sizeof *b);
    uint64_t span = (uint64_t)to - (uint64_t)from;
    if (px > span)
        px = (size_t)span; /* no pixel narrower than a nanosecond */
    *b = (struct hs_lane_bins){.from = from,
                               .to = to,
                               .px = px,
                               .rows = HS_VEC_INIT((size_t)1 << 24),
                               .out = out,
                               .scratch = HS_BUF_INIT(1 << 24)};
    b->per_ns = (double)px / (double)span;
    double min_ns = min_px / b->per_ns;
    b->min_ns = min_ns < 1 ? 1 : min_ns < 0x1p62 ? (int64_t)min_ns : INT64_MAX;
    b->edges = hs_calloc(px + 1, sizeof *b->edges);
    b->bins = hs_calloc(px, sizeof *b->bins);
    b->taken = hs_calloc(px, sizeof *b->taken);
    for (size_t k = 0; k <= px; k++) /* whole part and remainder apart, so that nothing overflows */
        b->edges[k] = (int64_t)((uint64_t)from + span / px * k + span % px * k / px);
    clear_bins(b, 0, px);
    b->lo = px;
    return b;
}

void hs_lane_bins_free(struct hs_lane_bins *b)
{
    if (!b)
        return;
    free(b->edges);
    free(b->bins);
    free(b->taken);
    hs_vec_free(&b->rows);
    hs_buf_free(&b->scratch);
    free(b);
}

/* The pixel of a time within [from, to): the division guessed in floating point, then put right. */
static size_t pixel(const struct hs_lane_bins *b, int64_t t)
{
    double guess = (double)((uint64_t)t - (uint64_t)b->from) * b->per_ns;
    size_t k = guess >= (double)b->px ? b->px - 1 : (size_t)guess;
    while (k && b->edges[k] > t)
        k--;
    while (k + 1 < b->px && b->edges[k + 1] <= t)
        k++;
    return k;
}

static struct bin *use(struct hs_lane_bins *b, size_t k)
{
    b->lo = k < b->lo ? k : b->lo;
    b->hi = k >= b->hi ? k + 1 : b->hi;
    b->bins[k].used = true;
    return &b->bins[k];
}

/* Spreads [start, end), cut at the window, over the pixels as busy or idle time of the kind `which`. */
static void spread(struct hs_lane_bins *b, int64_t start, int64_t end, bool busy, int which)
{
    start = hs_max_i64(start, b->from);
    end = hs_min_i64(end, b->to);
    if (start >= end)
        return;
    for (size_t k = pixel(b, start); k < b->px && b->edges[k] < end; k++) {
        struct bin *x = use(b, k);
        int64_t part = hs_sub_sat(hs_min_i64(end, b->edges[k + 1]), hs_max_i64(start, b->edges[k]));
        if (busy)
            x->busy[which] = hs_add_sat(x->busy[which], part);
        else
            x->idle[which] = hs_add_sat(x->idle[which], part);
    }
}

static int64_t visible(const struct hs_lane_bins *b, int64_t start, int64_t end)
{
    return hs_sub_sat(hs_min_i64(end, b->to), hs_max_i64(start, b->from));
}

void hs_lane_item(struct hs_lane_bins *b, const struct hs_item *item, int64_t busy_from)
{
    size_t k = pixel(b, hs_min_i64(hs_max_i64(item->start, b->from), b->to - 1));
    bool wide = visible(b, item->start, item->end) >= b->min_ns;
    if (wide && !b->taken[k]) {
        struct row r = {item->start, item->end,      0,  item->name, item->event,
                        1,           (int)item->cls, -1, ROW_EVENT,  b->rows.n};
        b->taken[k] = hs_vec_push(&b->rows, r);
        if (b->taken[k])
            return;
    }
    /* A second wide item in one pixel overlaps the first. Where the caller does not know by how much, it adds no time. */
    if (!wide || busy_from > item->start)
        spread(b, hs_max_i64(item->start, busy_from), item->end, true, (int)item->cls % CLASSES);
    struct bin *x = use(b, k);
    int64_t length = hs_sub_sat(item->end, item->start);
    x->count++;
    if (length > x->longest || (length == x->longest && item->start < x->start)) {
        x->longest = length;
        x->start = item->start;
        x->name = item->name;
        x->event = item->event;
    }
}

void hs_lane_gap(struct hs_lane_bins *b, struct hs_span at, enum hs_cause cause, uint32_t next_name,
                 uint32_t next_event)
{
    struct row r = {at.start, at.end, 0, next_name, next_event, 0, -1, (int)cause, ROW_IDLE, b->rows.n};
    if (visible(b, at.start, at.end) < b->min_ns || !hs_vec_push(&b->rows, r))
        spread(b, at.start, at.end, false, (int)cause);
}

/* ---- writing ---- */

static int largest(const int64_t *v, int n)
{
    int best = -1;
    int64_t most = 0;
    for (int i = 0; i < n; i++) {
        if (v[i] > most) {
            most = v[i];
            best = i;
        }
    }
    return best;
}

static int64_t sum(const int64_t *v, int n)
{
    int64_t s = 0;
    for (int i = 0; i < n; i++)
        s = hs_add_sat(s, v[i]);
    return s;
}

/* What makes two neighbouring bins look different: class, cause, busy share in eighths. */
static unsigned look(const struct hs_lane_bins *b, size_t k)
{
    const struct bin *x = &b->bins[k];
    double share = (double)sum(x->busy, CLASSES) / (double)hs_sub_sat(b->edges[k + 1], b->edges[k]);
    unsigned eighths = share >= 1 ? 8 : (unsigned)(share * 8);
    return (unsigned)(largest(x->busy, CLASSES) + 1) | (unsigned)(largest(x->idle, HS_CAUSES) + 1) << 4 | eighths << 8;
}

/* Bins [first, end) look alike: one row. */
static void bin_row(struct hs_lane_bins *b, size_t first, size_t end, int class_base)
{
    struct bin all = empty_bin;
    for (size_t k = first; k < end; k++) {
        const struct bin *x = &b->bins[k];
        for (int c = 0; c < CLASSES; c++)
            all.busy[c] = hs_add_sat(all.busy[c], x->busy[c]);
        for (int c = 0; c < HS_CAUSES; c++)
            all.idle[c] = hs_add_sat(all.idle[c], x->idle[c]);
        all.count += x->count;
        if (x->longest > all.longest || (x->longest == all.longest && x->start < all.start)) {
            all.longest = x->longest;
            all.start = x->start;
            all.name = x->name;
            all.event = x->event;
        }
    }
    int cls = largest(all.busy, CLASSES);
    struct row r = {b->edges[first], b->edges[end], sum(all.busy, CLASSES),          all.name,
                    all.event,       all.count,     cls < 0 ? -1 : cls + class_base, largest(all.idle, HS_CAUSES),
                    ROW_BIN,         b->rows.n};
    if (!hs_vec_push(&b->rows, r))
        b->out->full = true;
}

static void join_bins(struct hs_lane_bins *b, int class_base)
{
    for (size_t k = b->lo, end; k < b->hi; k = end) {
        end = k + 1;
        if (!b->bins[k].used)
            continue;
        for (unsigned l = look(b, k); end < b->hi && b->bins[end].used && look(b, end) == l;)
            end++;
        bin_row(b, k, end, class_base);
    }
}

static int by_start(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static void label_cells(struct hs_table *t, const struct hs_lane_label *l, const char *kind)
{
    hs_table_row(t);
    hs_cell_i64(t, l->rank);
    hs_cell_cstr(t, l->id);
    hs_cell_cstr(t, lane_words[l->kind]);
    hs_cell_cstr(t, l->text);
    if (l->depth >= 0)
        hs_cell_i64(t, l->depth);
    else
        hs_cell_null(t);
    hs_cell_cstr(t, kind);
}

void hs_lane_announce(struct hs_lane_bins *b, const struct hs_lane_label *l, int64_t start, int64_t end, int64_t count)
{
    label_cells(b->out, l, "lane");
    hs_cell_ns(b->out, start);
    hs_cell_ns(b->out, end);
    for (int i = 0; i < 5; i++)
        hs_cell_null(b->out);
    hs_cell_i64(b->out, count);
    hs_cell_null(b->out);
}

static void name_cells(struct hs_lane_bins *b, enum hs_lane_kind kind, const struct hs_view *v, uint32_t name)
{
    char step[40];
    struct hs_str full = hs_view_str(v, name);
    if (kind == HS_LANE_STEPS) {
        snprintf(step, sizeof step, "ProfilerStep#%lld", name < v->nsteps ? (long long)v->steps[name].number : -1);
        full = hs_cstr(step);
    }
    hs_cell_text(b->out, full);
    hs_cell_text(b->out, hs_short_name(full, &b->scratch));
}

static void write_row(struct hs_lane_bins *b, const struct row *r, const struct hs_lane_label *l,
                      const struct hs_view *v)
{
    static const char *const kinds[] = {"event", "idle", "bin"};
    struct hs_table *t = b->out;
    label_cells(t, l, kinds[r->kind]);
    hs_cell_ns(t, r->start);
    hs_cell_ns(t, r->end);
    if (r->event == HS_NO_EVENT) {
        hs_cell_null(t);
        hs_cell_null(t);
    } else {
        name_cells(b, l->kind, v, r->name);
    }
    hs_cell_cstr(t, r->cls < 0 || l->kind == HS_LANE_STEPS ? NULL : class_words[r->cls]);
    double share = 100.0 * (double)r->busy / (double)hs_sub_sat(r->end, r->start);
    hs_cell_f64(t, r->kind == ROW_EVENT ? 100 : r->kind == ROW_IDLE ? 0 : share > 100 ? 100 : share);
    hs_cell_cstr(t, r->cause < 0 ? NULL : hs_cause_word((enum hs_cause)r->cause));
    hs_cell_i64(t, r->count);
    if (r->event == HS_NO_EVENT)
        hs_cell_null(t);
    else
        hs_cell_i64(t, r->event);
}

void hs_lane_write(struct hs_lane_bins *b, const struct hs_lane_label *l, const struct hs_view *v)
{
    join_bins(b, l->kind == HS_LANE_CPU ? CLASSES : 0);
    if (b->rows.n)
        qsort(b->rows.p, b->rows.n, sizeof *b->rows.p, by_start);
    for (size_t i = 0; i < b->rows.n && !b->out->full; i++)
        write_row(b, &b->rows.p[i], l, v);
    b->rows.n = 0;
    if (b->lo < b->hi)
        clear_bins(b, b->lo, b->hi);
    memset(b->taken, 0, b->px * sizeof *b->taken);
    b->lo = b->px;
    b->hi = 0;
}
