#include "analysis/series.h"

#include <math.h>
#include <stdlib.h>

static int by_time(const void *a, const void *b)
{
    const struct hs_change *x = a, *y = b;
    return (x->t > y->t) - (x->t < y->t);
}

void hs_series_sum(struct hs_series *s, struct hs_changes *changes)
{
    bool sorted = true;
    for (size_t i = 1; i < changes->n && sorted; i++)
        sorted = changes->p[i - 1].t <= changes->p[i].t;
    if (!sorted)
        qsort(changes->p, changes->n, sizeof *changes->p, by_time);
    int64_t sum = 0;
    s->n = 0;
    for (size_t i = 0; i < changes->n; i++) {
        sum = hs_add_sat(sum, changes->p[i].by);
        s->end = changes->p[i].t;
        if (s->n && s->p[s->n - 1].t == s->end)
            s->p[s->n - 1].v = sum;
        else
            hs_vec_push(s, ((struct hs_point){s->end, sum}));
    }
}

void hs_series_cut(struct hs_series *s, int64_t from, int64_t to)
{
    size_t k = 0;
    for (size_t i = 0; i < s->n; i++) {
        int64_t end = i + 1 < s->n ? s->p[i + 1].t : s->end;
        struct hs_point x = s->p[i];
        if (x.t >= to || end < from || (end == from && x.t < from))
            continue;
        s->p[k++] = (struct hs_point){hs_max_i64(x.t, from), x.v};
    }
    s->n = k;
    s->end = hs_min_i64(s->end, to);
}

/* ---- statistics ---- */

static int64_t point_end(const struct hs_series *s, size_t i)
{
    return i + 1 < s->n ? s->p[i + 1].t : s->end;
}

void hs_series_weights(const struct hs_series *s, struct hs_weights *out)
{
    for (size_t i = 0; i < s->n; i++) {
        int64_t ns = hs_sub_sat(point_end(s, i), s->p[i].t);
        if (ns > 0)
            hs_vec_push(out, ((struct hs_weight){s->p[i].v, ns}));
    }
}

static int by_value(const void *a, const void *b)
{
    const struct hs_weight *x = a, *y = b;
    return (x->v > y->v) - (x->v < y->v);
}

/* The same as gather where the values lie close together, as lengths of queues do: without sorting. */
static bool gather_close(struct hs_weights *w)
{
    int64_t min = INT64_MAX, max = INT64_MIN;
    for (size_t i = 0; i < w->n; i++) {
        min = hs_min_i64(min, w->p[i].v);
        max = hs_max_i64(max, w->p[i].v);
    }
    uint64_t range = w->n ? (uint64_t)max - (uint64_t)min : UINT64_MAX;
    if (range >= w->n)
        return false;
    int64_t *sum = hs_calloc((size_t)range + 1, sizeof *sum);
    for (size_t i = 0; i < w->n; i++)
        sum[w->p[i].v - min] = hs_add_sat(sum[w->p[i].v - min], w->p[i].w);
    w->n = 0;
    for (size_t k = 0; k <= (size_t)range; k++)
        if (sum[k])
            w->p[w->n++] = (struct hs_weight){min + (int64_t)k, sum[k]};
    free(sum);
    return true;
}

/* Sorted by value and one entry a value: the result is then the same for every order of the input. */
static void gather(struct hs_weights *w)
{
    size_t k = 0;
    if (gather_close(w))
        return;
    qsort(w->p, w->n, sizeof *w->p, by_value);
    for (size_t i = 1; i < w->n; i++) {
        if (w->p[i].v == w->p[k].v)
            w->p[k].w = hs_add_sat(w->p[k].w, w->p[i].w);
        else
            w->p[++k] = w->p[i];
    }
    w->n = w->n ? k + 1 : 0;
}

static int64_t weighted_percentile(const struct hs_weights *w, int64_t total, double q)
{
    int64_t sum = 0;
    for (size_t i = 0; i < w->n; i++) {
        sum = hs_add_sat(sum, w->p[i].w);
        if ((double)sum >= q * (double)total)
            return w->p[i].v;
    }
    return w->p[w->n - 1].v;
}

struct hs_weighted hs_weighted(struct hs_weights *w)
{
    struct hs_weighted x = {.mean = NAN, .std = NAN};
    double sum = 0, squares = 0;
    gather(w);
    if (!w->n)
        return x;
    for (size_t i = 0; i < w->n; i++) {
        x.ns = hs_add_sat(x.ns, w->p[i].w);
        sum += (double)w->p[i].v * (double)w->p[i].w;
    }
    x.mean = sum / (double)x.ns;
    for (size_t i = 0; i < w->n; i++) {
        double d = (double)w->p[i].v - x.mean;
        squares += d * d * (double)w->p[i].w;
    }
    x.std = sqrt(squares / (double)x.ns);
    x.min = w->p[0].v;
    x.max = w->p[w->n - 1].v;
    x.p25 = weighted_percentile(w, x.ns, 0.25);
    x.p50 = weighted_percentile(w, x.ns, 0.5);
    x.p75 = weighted_percentile(w, x.ns, 0.75);
    return x;
}

int64_t hs_weights_at_least(const struct hs_weights *w, int64_t v)
{
    int64_t ns = 0;
    for (size_t i = 0; i < w->n; i++)
        if (w->p[i].v >= v)
            ns = hs_add_sat(ns, w->p[i].w);
    return ns;
}

static void value_cell(struct hs_table *out, const struct hs_weighted *x, double v, int64_t divisor)
{
    if (x->ns)
        hs_cell_f64(out, v / (double)divisor);
    else
        hs_cell_null(out);
}

void hs_weighted_cells(const struct hs_weighted *x, int64_t divisor, struct hs_table *out)
{
    value_cell(out, x, x->mean, divisor);
    value_cell(out, x, x->std, divisor);
    value_cell(out, x, (double)x->min, divisor);
    value_cell(out, x, (double)x->p25, divisor);
    value_cell(out, x, (double)x->p50, divisor);
    value_cell(out, x, (double)x->p75, divisor);
    value_cell(out, x, (double)x->max, divisor);
}

/* ---- rows ---- */

struct hs_series_writer hs_series_writer(const struct hs_run *run, const struct hs_params *p, struct hs_table *out,
                                         int64_t divisor)
{
    struct hs_series_writer w = {.out = out,
                                 .page = hs_page_of(p),
                                 .px = hs_param_i64(p, "px"),
                                 .from = INT64_MAX,
                                 .to = INT64_MIN,
                                 .divisor = divisor};
    for (size_t i = 0; i < run->n; i++) {
        const struct hs_summary *sum = &run->ranks[i].view->sum;
        w.from = hs_min_i64(w.from, hs_add_sat(sum->first_ts, run->ranks[i].offset_ns));
        w.to = hs_max_i64(w.to, hs_add_sat(sum->last_end, run->ranks[i].offset_ns));
    }
    if (hs_param_has(p, "from"))
        w.from = hs_param_i64(p, "from");
    if (hs_param_has(p, "to"))
        w.to = hs_param_i64(p, "to");
    return w;
}

static void write_piece(struct hs_series_writer *w, const struct hs_piece *x,
                        void (*key)(const void *arg, struct hs_table *out), const void *arg)
{
    if (!hs_page_take(&w->page))
        return;
    hs_table_row(w->out);
    key(arg, w->out);
    hs_cell_ns(w->out, x->t);
    hs_cell_ns(w->out, hs_sub_sat(x->end, x->t));
    hs_cell_f64(w->out, x->mean / (double)w->divisor);
    hs_cell_f64(w->out, (double)x->min / (double)w->divisor);
    hs_cell_f64(w->out, (double)x->max / (double)w->divisor);
}

/* Start of pixel k of the writer's px. */
static int64_t edge(const struct hs_series_writer *w, int64_t k)
{
    __int128 span = (__int128)w->to - w->from;
    return (int64_t)(w->from + span * k / w->px);
}

/* The first pixel that ends after t; t lies in [from, to). */
static int64_t pixel_of(const struct hs_series_writer *w, int64_t t)
{
    __int128 span = (__int128)w->to - w->from;
    int64_t k = (int64_t)(((__int128)t - w->from) * w->px / span);
    while (k > 0 && edge(w, k) > t)
        k--;
    while (k + 1 < w->px && edge(w, k + 1) <= t)
        k++;
    return k;
}

/* One pixel from point *i on; *i is left at the point that reaches beyond it. */
static struct hs_piece pixel(const struct hs_series *s, size_t *i, int64_t start, int64_t end, int64_t offset)
{
    struct hs_piece x = {.t = INT64_MAX, .end = INT64_MIN, .min = INT64_MAX, .max = INT64_MIN};
    double sum = 0;
    for (;; (*i)++) {
        int64_t a = hs_max_i64(hs_add_sat(s->p[*i].t, offset), start);
        int64_t b = hs_min_i64(hs_add_sat(point_end(s, *i), offset), end);
        if (b > a) {
            sum += (double)s->p[*i].v * (double)hs_sub_sat(b, a);
            x.t = hs_min_i64(x.t, a);
            x.end = b;
            x.min = hs_min_i64(x.min, s->p[*i].v);
            x.max = hs_max_i64(x.max, s->p[*i].v);
        }
        if (*i + 1 == s->n || hs_add_sat(point_end(s, *i), offset) > end)
            break;
    }
    x.mean = x.end > x.t ? sum / (double)hs_sub_sat(x.end, x.t) : 0;
    return x;
}

void hs_series_pixels(const struct hs_series_writer *w, const struct hs_series *s, int64_t offset,
                      struct hs_pieces *out)
{
    out->n = 0;
    if (!s->n)
        return;
    int64_t first = hs_max_i64(hs_add_sat(s->p[0].t, offset), w->from);
    int64_t last = hs_min_i64(hs_add_sat(s->end, offset), w->to);
    size_t i = 0;
    if (first >= last)
        return;
    for (int64_t k = pixel_of(w, first); k < w->px && edge(w, k) < last; k++) {
        struct hs_piece x = pixel(s, &i, edge(w, k), edge(w, k + 1), offset);
        if (x.end > x.t)
            hs_vec_push(out, x);
    }
}

void hs_series_write(struct hs_series_writer *w, const struct hs_series *s, int64_t offset,
                     void (*key)(const void *arg, struct hs_table *out), const void *arg)
{
    for (size_t i = 0; !w->px && i < s->n; i++) {
        int64_t v = s->p[i].v, t = hs_add_sat(s->p[i].t, offset);
        write_piece(w, &(struct hs_piece){t, hs_add_sat(point_end(s, i), offset), (double)v, v, v}, key, arg);
    }
    if (!w->px)
        return;
    struct hs_pieces pieces = HS_PIECES_INIT;
    hs_series_pixels(w, s, offset, &pieces);
    for (size_t i = 0; i < pieces.n; i++)
        write_piece(w, &pieces.p[i], key, arg);
    hs_vec_free(&pieces);
}
