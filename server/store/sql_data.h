/* sql_data: one query's sight of a view. Columns are fetched when a statement first asks for them, indexes made when it first
 * looks something up; all of it goes with the query, except what the view itself keeps. One thread. */
#ifndef HS_STORE_SQL_DATA_H
#define HS_STORE_SQL_DATA_H

#include "store/view_file.h"

#include <sqlite3.h>

/* What the rows of a table are rows of. */
enum hs_sql_source {
    HS_SQL_EVENTS,
    HS_SQL_GPU,
    HS_SQL_LAUNCHES,
    HS_SQL_STEPS,
    HS_SQL_CATS,
    HS_SQL_QUALITY,
    HS_SQL_HEADER,
    HS_SQL_LANES
};

enum hs_sql_what {
    W_EVENT,
    W_PH,
    W_CAT,
    W_NAME,
    W_SHORT_NAME,
    W_PID,
    W_TID,
    W_TS,
    W_DUR,
    W_TS_NS,
    W_DUR_NS,
    W_END_NS,
    W_PARENT,
    W_DEPTH,
    W_STEP,
    W_DEVICE,
    W_STREAM,
    W_CORRELATION,
    W_EXTERNAL_ID,
    W_BYTES,
    W_LAUNCH,
    W_LAUNCH_TS_NS,
    W_LAUNCH_DUR_NS,
    W_DELAY_NS,
    W_CLASS,
    W_KERNELS,
    W_NUMBER,
    W_RANK,
    W_ARGS,
    W_ADDR,
    W_DEVICE_TYPE,
    W_ALLOCATED,
    W_RESERVED,
    W_COUNT,
    W_KIND,
    W_SEVERITY,
    W_FIRST_BYTE,
    W_MEANING,
    W_JSON,
    W_PROCESS,
    W_LABELS,
    W_THREAD
};

enum hs_sql_filter { HS_SQL_ALL, HS_SQL_CPU_OPS, HS_SQL_MEMORY, HS_SQL_COUNTERS, HS_SQL_KERNELS };

struct hs_sql_index; /* rows sorted by the value of a column */

/* Times of the events of a segment. */
struct hs_sql_zone {
    int64_t min, max;
};

struct hs_sql_data {
    struct hs_view *v;
    struct hs_view_file *f;
    struct hs_err err;
    struct hs_events ev;
    unsigned have;
    struct hs_gpu gpu;
    bool has_gpu;
    const struct hs_launch_row *launches;
    size_t nlaunches;
    bool has_launches;
    int64_t *launch_column[3]; /* ts, correlation, first kernel's start */
    uint32_t *launch_event, *launch_name, *step_event;
    int64_t *step_ts;
    uint8_t *cls;   /* class of each event */
    uint8_t *times; /* of each shape: bit 0 it has a ts, bit 1 a dur */
    uint8_t *keep[HS_SQL_KERNELS + 1];
    struct hs_buf text; /* scratch of cells */
    uint64_t too_long;  /* JSON texts that were left out: longer than a query may hold */
    struct hs_sql_index *indexes;
    struct hs_sql_zone *zones; /* [segments] */
};

struct hs_sql_data *hs_sql_data_new(struct hs_view_file *f);
void hs_sql_data_free(struct hs_sql_data *d);

/* Each of the following leaves its message in d->err when it fails. */
int hs_sql_need_events(struct hs_sql_data *d, unsigned columns /* hs_event_column */);
int hs_sql_need_gpu(struct hs_sql_data *d);
int hs_sql_need_launches(struct hs_sql_data *d);

/* Rows of a source. */
int hs_sql_rows(struct hs_sql_data *d, enum hs_sql_source source, size_t *n);

/* Which rows belong to a table. */
int hs_sql_keeps(struct hs_sql_data *d, enum hs_sql_source source, enum hs_sql_filter filter,
                 const uint8_t **keep /* [rows], or NULL: all */);

/* A column that is an array of whole numbers: fetched, and given as what a filter can compare. NULL: this one is not.
 * HS_NO_VALUE is SQL's NULL. */
struct hs_sql_array {
    const int64_t *i64;
    const uint32_t *u32;
};
int hs_sql_array(struct hs_sql_data *d, enum hs_sql_source source, enum hs_sql_what what, struct hs_sql_array *out);

/* Rows with array[row] == v, through an index that is made at the first call: rows[0..*n), ascending. */
int hs_sql_lookup(struct hs_sql_data *d, enum hs_sql_source source, enum hs_sql_what what, int64_t v,
                  const uint64_t **rows, size_t *n);

/* All rows by the text of a column of symbols, for GROUP BY and ORDER BY. */
int hs_sql_by_text(struct hs_sql_data *d, enum hs_sql_source source, enum hs_sql_what what, const uint64_t **rows,
                   size_t *n);

/* Times of each segment, as the file tells them. */
int hs_sql_zones(struct hs_sql_data *d, const struct hs_sql_zone **out);

/* Whether an event has this phase (-1: any) and, with by_step, belongs to a step of this number; after hs_sql_need_ph_step. */
int hs_sql_need_ph_step(struct hs_sql_data *d);
bool hs_sql_event_is(const struct hs_sql_data *d, size_t event, int ph, bool by_step, int64_t step);

#endif
