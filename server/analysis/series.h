/* A quantity over time that changes in steps (length of a queue, bandwidth, bytes allocated): built from its changes, cut
 * at a window, summed up with each value weighing as long as it held, and written as rows, point by point or pixel by pixel.
 *
 * Values are integers (bytes per second, not GB/s), so sums of what begins and ends are exact: a quantity that is back
 * at zero is zero, and the order of changes at one instant does not matter. */
#ifndef HS_ANALYSIS_SERIES_H
#define HS_ANALYSIS_SERIES_H

#include "analysis/page.h"
#include "trace/intervals.h"

struct hs_change {
    int64_t t, by; /* from t on, the value is `by` more */
};
struct hs_changes {
    HS_VEC(struct hs_change);
};
#define HS_CHANGES_INIT HS_VEC_INIT((size_t)1 << 33)

struct hs_point {
    int64_t t, v; /* the value from t until the next point's t */
};
struct hs_series {
    HS_VEC(struct hs_point);
    int64_t end; /* until when the last point's value holds; no point: meaningless */
};
#define HS_SERIES_INIT                 \
    {                                  \
        NULL, 0, 0, (size_t)1 << 33, 0 \
    }

/* *s (initialised, emptied first) = the running sum from 0. Changes may be in any order and are sorted in place; those
 * of one instant are one. Every instant at which something changed is a point, also where the sum comes out the same.
 * The series ends with the last of them. */
void hs_series_sum(struct hs_series *s, struct hs_changes *changes);

/* Keeps what lies in [from, to). */
void hs_series_cut(struct hs_series *s, int64_t from, int64_t to);

/* ---- statistics, each value weighing as long as it held ---- */
struct hs_weight {
    int64_t v, w; /* value, ns */
};
struct hs_weights {
    HS_VEC(struct hs_weight);
};
#define HS_WEIGHTS_INIT HS_VEC_INIT((size_t)1 << 33)

struct hs_weighted {
    int64_t ns; /* sum of the weights; 0: there is nothing to say, the rest is NaN or 0 */
    int64_t min, max;
    double mean, std;      /* std: population, sqrt(sum w (v - mean)^2 / sum w) */
    int64_t p25, p50, p75; /* the smallest value that held, or less, for this share of the time: no interpolation */
};
void hs_series_weights(const struct hs_series *s, struct hs_weights *out); /* appends */
struct hs_weighted hs_weighted(struct hs_weights *w);                      /* sorts it */
int64_t hs_weights_at_least(const struct hs_weights *w, int64_t v);        /* ns with a value >= v */

/* ---- rows ---- */

/* The parameters of an analysis that writes series: offset, limit, px. */
#define HS_PARAM_SERIES                                                                                                \
    HS_PARAM_PAGE,                                                                                                     \
    {                                                                                                                  \
        "px", HS_P_INT, "1", "0", 0, 65536, NULL,                                                                      \
            "divide the time from `from` to `to` (else of the whole run) into so many parts and give one row a part: " \
            "time-weighted mean, minimum and maximum; 0: one row a change"                                             \
    }

/* The last five columns of its table; `value` has the name of the quantity. */
#define HS_SERIES_COLUMNS(value, unit, what)                                                        \
    {"ts_us", HS_T_TIME, "us", "from when on, on the run's clock"},                                 \
        {"dur_us", HS_T_TIME, "us",                                                                 \
         "how long: until the next row of the series; with px, the part of the pixel that it has"}, \
        {value, HS_T_REAL, unit, what "; with px, its time-weighted mean"},                         \
        {"min", HS_T_REAL, unit, "smallest value in the row's time"},                               \
    {                                                                                               \
        "max", HS_T_REAL, unit, "largest value in the row's time"                                   \
    }

struct hs_series_writer {
    struct hs_table *out;
    struct hs_page page;
    int64_t px;
    int64_t from, to; /* of the pixels, run clock */
    int64_t divisor;  /* value in the column's unit = v / divisor */
};
struct hs_series_writer hs_series_writer(const struct hs_run *run, const struct hs_params *p, struct hs_table *out,
                                         int64_t divisor);

/* Writes one series (file time + offset = run clock). `key` writes the cells before HS_SERIES_COLUMNS. */
void hs_series_write(struct hs_series_writer *w, const struct hs_series *s, int64_t offset,
                     void (*key)(const void *arg, struct hs_table *out), const void *arg);

/* The part of one pixel that a series has: for tables of other columns. */
struct hs_piece {
    int64_t t, end; /* run clock; t < end */
    double mean;
    int64_t min, max;
};
struct hs_pieces {
    HS_VEC(struct hs_piece);
};
#define HS_PIECES_INIT HS_VEC_INIT(1 << 20)
/* *out (initialised, emptied first) = the pixels that the series reaches, in order; w->px > 0. */
void hs_series_pixels(const struct hs_series_writer *w, const struct hs_series *s, int64_t offset,
                      struct hs_pieces *out);

/* Cells mean, std, min, p25, p50, p75, max; nulls if there was no time. */
void hs_weighted_cells(const struct hs_weighted *x, int64_t divisor, struct hs_table *out);
#define HS_WEIGHTED_COLUMNS(unit)                                                                             \
    {"mean", HS_T_REAL, unit, "time-weighted mean"},                                                          \
        {"std", HS_T_REAL, unit, "time-weighted population standard deviation"},                              \
        {"min", HS_T_REAL, unit, "smallest value that held for any time"},                                    \
        {"p25", HS_T_REAL, unit, "smallest value v so that the quantity was at most v for 25 % of the time"}, \
        {"p50", HS_T_REAL, unit, "the same for 50 %"}, {"p75", HS_T_REAL, unit, "the same for 75 %"},         \
    {                                                                                                         \
        "max", HS_T_REAL, unit, "largest value that held for any time"                                        \
    }

#endif
