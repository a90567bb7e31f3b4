/* The rows HTA 0.6 (HolisticTraceAnalysis) would have in memory after loading a run: rounded, linked, aligned and filtered
 * as it does, in its order. Every compat=hta answer starts here; nothing else in the project knows HTA's way with events.
 *
 *   kept      events with a duration and a category other than "Trace", of any phase
 *   times     µs. If any ts of the file is fractional or missing: ts = ceil(ts), end = floor(ts + dur), dur = end - ts in
 *             doubles, so that short events get -1; else as written (dur may be fractional)
 *   icorr     number of the partner event by correlation, the last one in the file; 0 unknown, negative none
 *   iter      number of the last ProfilerStep in file order around the event (CPU), or of its launch (device)
 *   aligned   ts minus the smallest ts of all ranks; `end` stays absolute
 *   filtered  with two steps or more, over all ranks: everything from the last step's start on is dropped; device rows
 *             come first, by correlation, once for every CPU row that has it; then CPU rows
 *
 * Not repeated: the overflow of 8-bit times (all ts and dur below 128), unreachable in real traces. */
#ifndef HS_ANALYSIS_HTA_ROWS_H
#define HS_ANALYSIS_HTA_ROWS_H

#include "analysis/hta_map.h"
#include "analysis/hta_names.h"
#include "base/intern.h"
#include "trace/table.h"
#include "trace/view.h"

#define HTA_NO_ITER INT64_MIN /* stream 0: HTA leaves the iteration empty */

struct hta_row {
    int64_t ts;          /* µs, aligned */
    double dur, end;     /* µs; end is absolute */
    int64_t stream;      /* -1 none */
    int64_t corr, icorr; /* see above */
    int64_t iter;        /* -1 outside all steps */
    uint32_t index;      /* number of the event in its file */
    uint32_t name, cat;  /* hta_trace.syms */
    uint32_t lane;       /* view->lanes */
    int32_t rest;        /* what `dur` lost of a whole number beyond 2^53; else 0 */
    bool gpu;            /* HTA's is_gpu: stream and correlation, or a sync event by name */
};

static inline double hta_end(const struct hta_row *r)
{
    return (double)r->ts + r->dur;
} /* on the aligned clock */
static inline bool hta_on_stream(const struct hta_row *r)
{
    return r->stream != -1;
}

struct hta_sym {
    uint32_t is;  /* hta_is */
    uint32_t cls; /* hta_class */
};

struct hta_rank {
    int64_t rank;         /* as HTA reads it */
    struct hs_view *view; /* pinned by the run */
    size_t n;
    struct hta_row *rows; /* in HTA's order; a device row may stand there several times */
    size_t nevents;
    uint32_t *pos; /* by event number: its (last) row, HTA_NONE */
};

struct hta_trace {
    struct hs_intern syms; /* names and categories of all ranks */
    struct {
        HS_VEC(struct hta_sym);
    } info;
    uint32_t *by_text; /* rank of each symbol in the order of texts; hta_text_order makes it */
    size_t n;
    struct hta_rank *ranks; /* ascending; ranks without a row are left out */
    int64_t min_ts;
    bool mtia;
    int steps; /* distinct names ProfilerStep#n */
};

enum hta_load { HTA_LOAD, HTA_PARSE_ONLY /* neither aligned nor filtered, as TraceDiff has it */ };

/* Notes about what HTA would have refused go into `out`. HS_ELIMIT: the filter's repeats grew beyond all measure. */
int hta_load(struct hta_trace **out, struct hs_run *run, enum hta_load how, struct hs_table *notes, struct hs_err *err);
void hta_free(struct hta_trace *t);

static inline const struct hta_sym *hta_info(const struct hta_trace *t, uint32_t sym)
{
    return &t->info.p[sym];
}
static inline struct hs_str hta_text(const struct hta_trace *t, uint32_t sym)
{
    return hs_intern_str(&t->syms, sym);
}
static inline bool hta_name_has(const struct hta_trace *t, const struct hta_row *r, uint32_t is)
{
    return (t->info.p[r->name].is & is) != 0;
}
static inline bool hta_cat_has(const struct hta_trace *t, const struct hta_row *r, uint32_t is)
{
    return (t->info.p[r->cat].is & is) != 0;
}

/* The row an event number labels, NULL if it was filtered out or never was one. */
static inline const struct hta_row *hta_at(const struct hta_rank *r, int64_t index)
{
    if (index < 0 || (uint64_t)index >= r->nevents || r->pos[index] == HTA_NONE)
        return NULL;
    return &r->rows[r->pos[index]];
}

bool hta_has_symbol(const struct hta_trace *t, const char *text); /* HTA's symbol table: names and categories */
bool hta_any_symbol_contains(const struct hta_trace *t, struct hs_str part);
const uint32_t *hta_text_order(struct hta_trace *t); /* by symbol; equal to comparing texts */
const struct hta_rank *hta_rank_find(const struct hta_trace *t, int64_t rank);

/* ---- its parts, for hta_rows.c and tests ---- */

/* The double that reading the decimal text of `ns` nanoseconds as µs gives (nearest, ties to even). */
double hta_us_of_ns(int64_t ns);
/* Events of one view into rows: kept, rounded, with stream and correlation. Fills rank->rows, nevents. */
int hta_read_rows(struct hta_trace *t, struct hta_rank *rank, struct hs_table *notes, struct hs_err *err);
void hta_link(struct hta_rank *rank);                                                          /* icorr */
void hta_iterations(const struct hta_trace *t, struct hta_rank *rank, struct hs_table *notes); /* iter */
int hta_filter(const struct hta_trace *t, struct hta_rank *rank, struct hs_err *err);
void hta_index(struct hta_rank *rank); /* pos */

#endif
