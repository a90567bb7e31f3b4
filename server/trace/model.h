/* The model of one trace while it is read: dictionaries (symbols, shapes, argument columns, lanes), segments of
 * event columns, and the rows that linking needs. `ingest` fills it, `store` encodes it; both know only this header.
 *
 * Nothing is lost: every event of the file can be given back, value for value, from its row (see hs_event_json in
 * trace/event_json.h). How:
 *
 *   event   = a row of core columns (ts, dur, ph, name, cat, lane, digits) + its shape + its argument values
 *   shape   = the ordered list of the event's fields (key, level, type); few distinct ones a file (tens)
 *   column  = all values of one (key, level, type), dense: the k-th event whose shape has the column owns value k
 *
 * A value's type is part of the shape, so 42, "42", 42.0 and null stay apart and cost nothing per event.
 *
 * Units: all times are int64 nanoseconds as written in the file (relative to baseTimeNanoseconds where the file has
 * one; never adjusted here). Events are numbered from 0 in the order of the file; that number is the event's identity. */
#ifndef HS_TRACE_MODEL_H
#define HS_TRACE_MODEL_H

#include "base/intern.h"
#include "base/mem.h"
#include "trace/classes.h"
#include "trace/quality.h"

#define HS_SEG_ROWS 65536u        /* events in a segment (the last one may have fewer) */
#define HS_NO_EVENT UINT32_MAX    /* "no event" in columns of event numbers */
#define HS_NO_VALUE INT64_MIN     /* "no value" in int64 columns of optional numbers */
#define HS_MAX_EVENTS 0xfffffff0u /* event numbers are 32 bit; the configured cap is lower */

/* ---- fields and shapes ---- */

enum hs_vtype {
    HS_V_INT,  /* integer within int64, written canonically (no +, no leading zeros, no -0)      stream: the value */
    HS_V_DEC,  /* plain decimal d.ddd, mantissa within int64, 1..18 fraction digits      streams: mantissa; digits */
    HS_V_STR,  /* text                                                                       stream: symbol (bytes) */
    HS_V_RAW,  /* any other JSON text, valid, verbatim: arrays, objects, 1e5, 1.50e3, big integers  stream: symbol */
    HS_V_TRUE, /* no stream for these */
    HS_V_FALSE,
    HS_V_NULL,
    HS_V_OBJECT, /* only for key "args" at level 0: the fields of level 1 that follow are its members */
    HS_V_CORE    /* only at level 0 for ph cat name pid tid ts dur: the value stands in the core columns */
};

/* Which core column an HS_V_CORE field stands for (hs_field.column then holds one of these). */
enum hs_core { HS_CORE_PH, HS_CORE_CAT, HS_CORE_NAME, HS_CORE_PID, HS_CORE_TID, HS_CORE_TS, HS_CORE_DUR };

struct hs_field {
    uint32_t key;    /* symbol */
    uint32_t column; /* argument column (index into hs_trace.columns), or an hs_core */
    uint8_t level;   /* 0: member of the event, 1: member of its args */
    uint8_t type;    /* hs_vtype */
};

/* When a core value is not in the canonical form (ts "12" as text, 1e9, a fourth fraction digit, ph of two letters,
 * pid 1.5, name 7) the field is not HS_V_CORE but of its own type with an argument column, so that it can be given
 * back; the core column still has the best reading of it (0 / "" / no lane where there is none). */
struct hs_shape {
    uint32_t first, count; /* fields hs_trace.fields.p[first .. first+count) */
};

/* An argument column: its value stream has the same number. HS_V_DEC owns two numbers: n the mantissas, n+1 the counts
 * of fraction digits (columns.p[n+1] has type HS_V_DEC too and `scale` set). */
struct hs_column {
    uint32_t key;  /* symbol */
    uint8_t level; /* as hs_field */
    uint8_t type;  /* HS_V_INT, HS_V_DEC, HS_V_STR or HS_V_RAW */
    bool scale;
};

/* ---- lanes: distinct (pid, tid) ---- */

enum hs_id_kind { HS_ID_NONE, HS_ID_INT, HS_ID_TEXT };
struct hs_id {
    int64_t v; /* the integer, or the symbol of the text */
    uint8_t kind;
};
struct hs_lane {
    struct hs_id pid, tid;
};

/* ---- segments ---- */

struct hs_stream {
    int64_t *v;
    uint32_t n, cap;
};

/* Columns of up to HS_SEG_ROWS consecutive events. One allocation, reused; owned by whoever holds it in the pipeline. */
struct hs_segment {
    uint64_t first; /* number of its first event */
    uint32_t rows;
    int64_t ts[HS_SEG_ROWS];  /* ns; 0 where absent or unreadable */
    int64_t dur[HS_SEG_ROWS]; /* ns, as written (may be negative); 0 where absent */
    uint32_t shape[HS_SEG_ROWS];
    uint32_t name[HS_SEG_ROWS]; /* symbol */
    uint32_t cat[HS_SEG_ROWS];  /* symbol */
    uint32_t lane[HS_SEG_ROWS];
    uint8_t ph[HS_SEG_ROWS];     /* the letter; 0 where absent or odd */
    uint8_t digits[HS_SEG_ROWS]; /* fraction digits written: ts | dur << 4; each 0..3 */
    struct hs_stream *args;      /* [nargs], by argument column */
    uint32_t nargs;
};

struct hs_segment *hs_segment_new(void);
void hs_segment_reset(struct hs_segment *s, uint64_t first); /* keeps the memory of its streams */
void hs_segment_free(struct hs_segment *s);
void hs_stream_push(struct hs_segment *s, uint32_t column, int64_t v); /* grows args and the stream as needed */

/* ---- what linking needs of every event, kept for the whole trace (about 40 bytes an event) ---- */

struct hs_rows {
    int64_t *ts, *dur;
    int64_t *corr; /* args.correlation, HS_NO_VALUE where there is none (0 and -1 included). Of flow and async events
                    * (ph s t f b e n): their level 0 `id` instead, the integer, or INT64_MIN + 1 + symbol for a text */
    uint32_t *name, *lane;
    uint16_t *cat; /* symbol of the category; UINT16_MAX when the symbol is larger (never seen) */
    uint8_t *ph;
    uint8_t *flags; /* HS_ROW_* */
    size_t n, cap;
};
#define HS_ROW_HAS_TS 1u
#define HS_ROW_HAS_DUR 2u
#define HS_ROW_COLLECTIVE 4u /* args has "Collective name": the kernel is communication, whatever its name is */

/* Events with args.stream or args.device, or of a device category (hs_cat_is_device): what the device told of them. */
struct hs_device_row {
    uint32_t event;
    int32_t
        device; /* args.device; else the pid where the pid is a small integer and the category a device one; -1 unknown */
    int64_t
        stream; /* args.stream, also from text ("7", "0x0" is -1); else, of a device category, an integer tid; -1 unknown */
    int64_t bytes;    /* args.bytes, HS_NO_VALUE */
    int64_t graph_id; /* args["graph id"], HS_NO_VALUE */
};

/* Names given by metadata events (ph M), by lane: process_name, process_labels, thread_name; the last one wins. */
struct hs_lane_name {
    uint32_t lane;
    uint32_t process, labels, thread; /* symbols, 0 where not told */
};

struct hs_header { /* a top-level member other than traceEvents, in order */
    uint32_t key;  /* symbol */
    uint32_t json; /* symbol of its value's JSON text, valid JSON, verbatim */
};

struct hs_trace {
    struct hs_intern syms; /* every name, category, key, text and raw JSON value */
    struct {
        HS_VEC(struct hs_field);
    } fields;
    struct {
        HS_VEC(struct hs_shape);
    } shapes;
    struct {
        HS_VEC(struct hs_column);
    } columns;
    struct {
        HS_VEC(struct hs_lane);
    } lanes;
    struct {
        HS_VEC(struct hs_header);
    } header;
    struct {
        HS_VEC(struct hs_lane_name);
    } lane_names;
    struct {
        HS_VEC(struct hs_device_row);
    } device_rows;
    struct hs_rows rows;
    struct hs_comm_names communication; /* of the limits */
    struct hs_quality quality;
    uint64_t events;
    uint64_t bytes_in, bytes_json; /* raw and decompressed */
    bool bare_array;               /* the document is an array of events, not an object */
    bool has_events_key;           /* an object with traceEvents, or a bare array */
    bool memory_timeline; /* no trace: the raw list of export_memory_timeline, see HS_MEMORY_TIMELINE in view.h */
    bool has_base;
    int64_t base_ns;          /* baseTimeNanoseconds */
    int64_t rank, world_size; /* of distributedInfo; -1 where it does not say */
    /* HTA's idea of the rank, for compat=hta: the number of the first member called "rank", at any depth of any part of
     * the document, that is written with white space after the colon and a digit after that; -1 where there is none. */
    int64_t hta_rank;
};

/* The limits of ingest; config.example.toml documents them. */
struct hs_limits {
    uint64_t bytes_in;   /* raw bytes of one file */
    uint64_t bytes_json; /* bytes after inflating */
    uint32_t ratio;      /* bytes_json / bytes_in, once more than 64 MiB came out */
    uint64_t events;
    uint32_t depth;                     /* nesting inside an event's args or the header */
    uint32_t string;                    /* bytes of one text */
    uint64_t names;                     /* distinct texts */
    uint64_t name_bytes;                /* bytes of all distinct texts together */
    uint32_t members;                   /* traces in one archive */
    struct hs_comm_names communication; /* no limit, but set beside them: a site's names of communication kernels */
};
extern const struct hs_limits hs_limits_default;

void hs_trace_init(struct hs_trace *t, const struct hs_limits *limits);
void hs_trace_free(struct hs_trace *t);
bool hs_rows_reserve(struct hs_rows *r, size_t more, size_t max); /* false: over the ceiling of events */
void hs_rows_free(struct hs_rows *r);

#endif
