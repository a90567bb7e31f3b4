/* memory-timeline from the raw list of export_memory_timeline: what is allocated in each category, sample by sample or
 * pixel by pixel. A sample is all that changes at one time. */
#include "analysis/memory_raw.h"
#include "analysis/order.h"
#include "analysis/select.h"
#include "trace/stats.h"

#include <stdlib.h>

static const char *const names[HS_MEMORY_CATEGORIES] = {"parameters",  "optimizer state", "inputs",   "temporaries",
                                                        "activations", "gradients",       "autograd", "unknown"};

int hs_memory_raw_read(struct hs_view *v, struct hs_memory_raw *out, struct hs_err *err)
{
    struct hs_events ev;
    const int64_t *bytes, *category;
    out->n = 0;
    int rc = hs_view_events(v, HS_EV_TS, &ev, err);
    if (!rc)
        rc = v->ops->arg_i64(v, "Bytes", 1, &bytes, err);
    if (!rc)
        rc = v->ops->arg_i64(v, "Category", 1, &category, err);
    if (!rc && !hs_vec_reserve(out, ev.n))
        rc = hs_fail(err, HS_ELIMIT, "more memory events than there may be");
    for (size_t e = 0; !rc && e < ev.n; e++)
        if (bytes[e] != HS_NO_VALUE && category[e] != HS_NO_VALUE)
            out->p[out->n++] = (struct hs_memory_entry){ev.ts[e], bytes[e], category[e], (uint32_t)e};
    return rc;
}

/* ---- entries in order of time ---- */

struct sums {
    int64_t of[HS_MEMORY_CATEGORIES], total;
};

struct job {
    struct hs_select sel;
    struct hs_memory_raw raw;
    struct hs_series_writer *writer;
    int64_t start;   /* the first time of the recording; what was before stands there, for no time */
    int64_t unknown; /* entries of a category that has no name here */
    struct hs_table *out;
};

static int64_t sort_key(const struct hs_memory_entry *x)
{
    return x->ts < 0 ? -1 : x->ts;
}

static void sort(struct hs_memory_raw *raw)
{
    size_t n = raw->n;
    struct hs_memory_entry *to = hs_realloc_array(NULL, n + 1, sizeof *to);
    uint32_t *order = hs_realloc_array(NULL, 2 * n + 1, sizeof *order);
    int64_t *key = hs_realloc_array(NULL, n + 1, sizeof *key);
    hs_order_iota(order, n);
    for (size_t i = 0; i < n; i++)
        key[i] = sort_key(&raw->p[i]);
    hs_order_i64(order, order + n, n, key);
    for (size_t i = 0; i < n; i++)
        to[i] = raw->p[order[i]];
    free(order);
    free(key);
    free(raw->p);
    raw->p = to;
    raw->cap = n + 1;
}

static void find_start(struct job *j)
{
    size_t i = 0;
    while (i < j->raw.n && j->raw.p[i].ts < 0)
        i++;
    j->start = i < j->raw.n ? j->raw.p[i].ts : 0;
}

static int64_t time_of(const struct job *j, size_t i)
{
    return j->raw.p[i].ts < 0 ? j->start : j->raw.p[i].ts;
}

/* Adds the sample that begins at entry i to the sums; the entry behind it. *change: what all of it allocated and freed. */
static size_t sample(struct job *j, size_t i, struct sums *sums, int64_t *change)
{
    const struct hs_memory_entry *x = j->raw.p;
    int64_t key = sort_key(&x[i]);
    *change = 0;
    for (; i < j->raw.n && sort_key(&x[i]) == key; i++) {
        bool known = x[i].category >= 0 && x[i].category < HS_MEMORY_CATEGORIES;
        size_t c = known ? (size_t)x[i].category : HS_MEMORY_CATEGORIES - 1;
        j->unknown += !known;
        sums->of[c] = hs_add_sat(sums->of[c], x[i].bytes);
        sums->total = hs_add_sat(sums->total, x[i].bytes);
        *change = hs_add_sat(*change, x[i].bytes);
    }
    return i;
}

/* ---- rows ---- */

static void head_cells(const struct job *j, int64_t t, int64_t end)
{
    hs_table_row(j->out);
    hs_cell_i64(j->out, j->sel.rank);
    hs_cell_null(j->out); /* the file tells of no device */
    hs_cell_null(j->out);
    hs_cell_ns(j->out, t);
    hs_cell_ns(j->out, hs_sub_sat(end, t));
}

static void sample_row(const struct job *j, int64_t t, int64_t end, const struct sums *s, int64_t change,
                       uint32_t event)
{
    head_cells(j, hs_add_sat(t, j->sel.offset), hs_add_sat(end, j->sel.offset));
    hs_cell_i64(j->out, change);
    for (int k = 0; k < 3; k++) /* allocated, its minimum and its maximum */
        hs_cell_i64(j->out, s->total);
    hs_cell_null(j->out);
    hs_cell_null(j->out);
    hs_cell_i64(j->out, event);
    for (int c = 0; c < HS_MEMORY_CATEGORIES; c++)
        hs_cell_i64(j->out, s->of[c]);
}

static void peak_note(const struct job *j, int64_t t, const struct sums *s, uint32_t event)
{
    struct hs_buf b = HS_BUF_INIT(1024);
    for (int c = 0; c < HS_MEMORY_CATEGORIES; c++)
        if (s->of[c])
            hs_buf_printf(&b, "%s%s %lld", b.n ? ", " : "", names[c], (long long)s->of[c]);
    hs_table_note(j->out, "Rank %lld: the peak is %lld bytes at %.3f us, event %u: %s.", (long long)j->sel.rank,
                  (long long)s->total, (double)hs_add_sat(t, j->sel.offset) / 1000.0, event, b.p ? b.p : "nothing");
    hs_buf_free(&b);
}

/* Every sample: those in the window are rows, unless pixels are asked for; the largest of them is noted. */
static void walk(struct job *j)
{
    struct sums now = {{0}, 0}, peak = now;
    int64_t change, peak_at = 0;
    size_t peak_entry = SIZE_MAX, begin = 0, next;
    for (; begin < j->raw.n; begin = next) {
        int64_t t = time_of(j, begin);
        next = sample(j, begin, &now, &change);
        if (t < j->sel.from || t >= j->sel.to)
            continue;
        if (peak_entry == SIZE_MAX || now.total > peak.total) {
            peak = now;
            peak_at = t;
            peak_entry = begin;
        }
        int64_t end = next < j->raw.n ? time_of(j, next) : t;
        if (!j->writer->px && hs_page_take(&j->writer->page))
            sample_row(j, t, hs_max_i64(t, hs_min_i64(end, j->sel.to)), &now, change, j->raw.p[begin].event);
    }
    if (peak_entry != SIZE_MAX)
        peak_note(j, peak_at, &peak, j->raw.p[peak_entry].event);
}

/* The series of a category, or of all together, pixel by pixel. */
static void pixels_of(struct job *j, int category, struct hs_series *s, struct hs_pieces *out)
{
    struct sums now = {{0}, 0};
    int64_t change;
    s->n = 0;
    for (size_t i = 0, next; i < j->raw.n; i = next) {
        next = sample(j, i, &now, &change);
        hs_vec_push(s, ((struct hs_point){time_of(j, i), category < 0 ? now.total : now.of[category]}));
        s->end = time_of(j, i);
    }
    hs_series_cut(s, j->sel.from, j->sel.to);
    hs_series_pixels(j->writer, s, j->sel.offset, out);
}

/* All series change at the same instants, so they have the same pixels. */
static void pixel_rows(struct job *j)
{
    struct hs_series s = HS_SERIES_INIT;
    struct hs_pieces all = HS_PIECES_INIT, of[HS_MEMORY_CATEGORIES];
    pixels_of(j, -1, &s, &all);
    for (int c = 0; c < HS_MEMORY_CATEGORIES; c++) {
        of[c] = (struct hs_pieces)HS_PIECES_INIT;
        pixels_of(j, c, &s, &of[c]);
    }
    for (size_t k = 0; k < all.n; k++) {
        if (!hs_page_take(&j->writer->page))
            continue;
        head_cells(j, all.p[k].t, all.p[k].end);
        hs_cell_null(j->out);
        hs_cell_i64(j->out, hs_trunc_i64(all.p[k].mean));
        hs_cell_i64(j->out, all.p[k].min);
        hs_cell_i64(j->out, all.p[k].max);
        for (int i = 0; i < 3; i++)
            hs_cell_null(j->out);
        for (int c = 0; c < HS_MEMORY_CATEGORIES; c++)
            if (k < of[c].n)
                hs_cell_i64(j->out, hs_trunc_i64(of[c].p[k].mean));
            else
                hs_cell_null(j->out);
    }
    for (int c = 0; c < HS_MEMORY_CATEGORIES; c++)
        hs_vec_free(&of[c]);
    hs_vec_free(&all);
    hs_vec_free(&s);
}

int hs_memory_raw_rows(const struct hs_run_rank *r, const struct hs_params *p, struct hs_series_writer *w,
                       struct hs_table *out, struct hs_err *err)
{
    struct job j = {.raw = HS_MEMORY_RAW_INIT, .writer = w, .out = out};
    hs_select_window(&j.sel, r, p, out);
    int rc = hs_memory_raw_read(r->view, &j.raw, err);
    if (!rc) {
        sort(&j.raw);
        find_start(&j);
        walk(&j);
        if (j.unknown)
            hs_table_note(out, "Rank %lld: %lld entries of categories beyond 0 to 7 count as unknown.",
                          (long long)r->rank, (long long)j.unknown);
        if (w->px)
            pixel_rows(&j);
        if (hs_param_has(p, "device_type"))
            hs_table_note(out, "Rank %lld is a memory timeline, which tells of no device: device_type does not apply.",
                          (long long)r->rank);
    }
    hs_vec_free(&j.raw);
    hs_select_close(&j.sel);
    return rc;
}
