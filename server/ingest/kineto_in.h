/* The inside of ingest/kineto, shared by its files and by nobody else.
 *
 *   kineto.c         windows of text: what one leaves over stands before the next
 *   kineto_top.c     the top level: the first bracket, members of the header, what follows the document
 *   kineto_events.c  the array of events, and finding the way back into it
 *   kineto_memory.c  an entry of a memory timeline, which is no event, as one
 *   kineto_dict.c    texts to symbols under the limits, defects to counts
 *   kineto_parse.c   one event, strictly, any order of keys and any whitespace -> items
 *   kineto_shape.c   items -> shape, argument columns, values (a form)
 *   kineto_match.c   one event of a form seen before: compare the text between the values, parse only the values
 *   kineto_row.c     a form and its values -> a row of the segment, and what linking needs
 *   kineto_head.c    what the header tells: rank, world size, base time
 *   kineto_rank.c    the rank as HTA reads it
 *
 * Why forms: a writer prints every event of a kind with the same keys, blanks and line breaks. Once the general parser has
 * read such an event, the text between its values is kept in a tree (alternatives hang side by side), and the next one is
 * matched by comparing 16 bytes at a time; ph and cat, which have few values, are part of that text. Whatever does not
 * match goes to the general parser, which is the only authority on what is valid. */
#ifndef HS_INGEST_KINETO_IN_H
#define HS_INGEST_KINETO_IN_H

#include "ingest/kineto.h"
#include "ingest/number.h"
#include "ingest/repair.h"
#include "ingest/scan.h"
#include "trace/classes.h"

#include <stdlib.h>

enum {
    HS_MAX_ITEMS = 256, /* fields of one event; args with more are kept as one JSON text */
    HS_MAX_VALUES = 2 * HS_MAX_ITEMS,
    HS_MAX_ARG_COLUMNS =
        8192,            /* of members of args; once there are so many, events with new ones keep args as one text */
    HS_SYM_CACHE = 4096, /* entries, a power of two */
    HS_LANE_CACHE = 256,
    HS_RAW_RECENT = 4,
    HS_NO_COLUMN = -1,
};

/* Keys that mean something here; interned first, so that their symbols are small. */
enum hs_known {
    HS_KEY_NONE,
    HS_KEY_PH,
    HS_KEY_CAT,
    HS_KEY_NAME,
    HS_KEY_PID,
    HS_KEY_TID,
    HS_KEY_TS,
    HS_KEY_DUR,
    HS_KEY_ARGS,
    HS_KEY_CORRELATION, /* from here on in args only (name: both) */
    HS_KEY_STREAM,
    HS_KEY_DEVICE,
    HS_KEY_BYTES,
    HS_KEY_SIZE, /* MTIA's word for bytes */
    HS_KEY_GRAPH,
    HS_KEY_LABELS,
    HS_KEY_COLLECTIVE,
    HS_KEY_ID, /* at level 0 */
    HS_KNOWN
};

/* ---- one event in flight ---- */

enum hs_item_kind {
    HS_I_TEXT,
    HS_I_INT,
    HS_I_DEC,
    HS_I_NUMBER,
    HS_I_NESTED,
    HS_I_TRUE,
    HS_I_FALSE,
    HS_I_NULL,
    HS_I_ARGS
};

/* What a value is for. Several uses can meet in one event, so they are bits in a form and numbers in a node. */
enum hs_role {
    HS_ROLE_NONE,
    HS_ROLE_TS, /* TS, DUR, PID, TID: only when the value is not canonical and has a column of its own */
    HS_ROLE_DUR,
    HS_ROLE_CORR,
    HS_ROLE_STREAM,
    HS_ROLE_DEVICE,
    HS_ROLE_BYTES,
    HS_ROLE_SIZE,
    HS_ROLE_GRAPH,
    HS_ROLE_META_NAME,
    HS_ROLE_META_LABELS,
    HS_ROLE_ID
};

/* How the matcher reads a value. */
enum hs_op {
    HS_OP_END,
    HS_OP_NAME,
    HS_OP_PID_INT,
    HS_OP_PID_TEXT,
    HS_OP_TID_INT,
    HS_OP_TID_TEXT,
    HS_OP_TS,
    HS_OP_DUR,
    HS_OP_INT,
    HS_OP_DEC,
    HS_OP_STR,
    HS_OP_RAW,
    HS_OP_FIXED, /* no value: it is part of the text (ph, cat, true, false, null, the brace of args) */
    HS_OP_CANNOT /* the matcher cannot read it: such events always take the general parser */
};

struct hs_item {
    const char *key_text; /* between the quotes; symbols are made only of events that are whole */
    uint32_t key_n;
    bool key_escaped;
    const char *v, *vend; /* the value; of a text what is between the quotes */
    struct hs_number num; /* HS_I_INT, HS_I_DEC */
    uint32_t key;         /* symbol, set by kineto_shape */
    uint8_t level, kind;
    bool escaped;
    bool dropped;     /* a later member has the same key */
    uint8_t op, role; /* set by kineto_shape */
};

struct hs_items {
    struct hs_item p[HS_MAX_ITEMS];
    uint32_t n;
    bool duplicate; /* some key stands twice */
    bool args_raw;  /* args were kept as one JSON text */
};

/* What all events of one layout have in common. */
struct hs_form {
    uint32_t shape, cat;
    uint8_t ph;
    uint8_t need;  /* HS_ROW_HAS_*: without these the event is a defect */
    bool nameless; /* has no name and should */
    bool special;  /* any of the following */
    bool duplicate, bad_args, no_ph;
    bool linked;     /* a flow or async event: its id is what links it */
    bool collective; /* args has "Collective name" */
    bool device;     /* a device row */
    bool device_cat;
    bool meta; /* ph M with args.name or args.labels */
    uint32_t nvalues;
    int32_t *columns;         /* [nvalues] argument column of each value; HS_NO_COLUMN: dropped (its key comes again) */
    struct hs_node *guess[2]; /* kineto_match: what events of this form were followed by */
};

/* The values of one event. */
struct hs_values {
    int64_t ts, dur;
    struct hs_id pid, tid;
    uint32_t name;
    uint8_t digits;       /* as hs_segment.digits */
    uint8_t has;          /* HS_ROW_HAS_* */
    uint8_t text_numbers; /* times and ids that were read from text */
    uint8_t texts;        /* HS_TEXT_*: defects of its texts, counted when the event is taken */
    int64_t id;           /* of flows and async events; see hs_rows.corr */
    int64_t corr, stream, device, bytes, size, graph; /* HS_NO_VALUE */
    uint32_t meta_name, meta_labels;
    int64_t v[HS_MAX_VALUES];
    uint32_t n;
};

/* ---- the matcher's tree ---- */

struct hs_raw_seen {
    const char *p; /* in the interner */
    uint32_t n, sym;
};

struct hs_node {
    const char *text; /* what stands before the value, [n] bytes, padded */
    uint32_t n;
    uint8_t op, role;
    uint8_t nchildren;
    uint8_t turn;
    struct hs_node *hot, *children, *next;
    struct hs_form *form;                     /* HS_OP_END */
    struct hs_raw_seen recent[HS_RAW_RECENT]; /* HS_OP_RAW */
    int64_t column;                           /* with op it tells siblings apart */
};

/* ---- the reader ---- */

enum hs_state {
    HS_ST_START,  /* before the first bracket */
    HS_ST_KEY,    /* in the object, before a key, comma or the closing brace */
    HS_ST_EVENTS, /* in the array of events */
    HS_ST_RESYNC, /* in it, looking for the next whole event */
    HS_ST_SEEK,   /* the header is broken: looking for "traceEvents" */
    HS_ST_SKIP,   /* over a header value too large to keep */
    HS_ST_DONE,   /* behind the document */
    HS_ST_IGNORE  /* a second document, or no trace at all */
};

/* What the items of the array are. The first that is either decides; what is of the other kind then is a bad event. */
enum hs_content { HS_CONTENT_UNKNOWN, HS_CONTENT_EVENTS, HS_CONTENT_MEMORY };

struct hs_sym_slot {
    const char *p;
    uint32_t n, sym;
};

struct hs_lane_slot {
    struct hs_id pid, tid;
    uint32_t lane; /* + 1; 0 free */
};

struct hs_kineto {
    struct hs_trace *trace;
    struct hs_limits limits;
    struct hs_segment *seg;
    hs_emit_segment *emit;
    void *ctx;

    /* the text */
    struct hs_buf pending; /* what the last window left over */
    size_t retry_at;       /* do not try pending again before it has this many bytes */
    const char *win;       /* start of the text in hand */
    uint64_t win_off;      /* its place in the document */
    bool final;            /* nothing follows */
    enum hs_state state;
    enum hs_content content;
    bool comma_due;                         /* an item was read and no comma since */
    bool comma_last;                        /* the last thing read was a comma */
    bool no_json;                           /* it starts with neither brace nor bracket */
    char before;                            /* RESYNC: last byte before the text in hand that is no blank */
    const char *item;                       /* start of the event in hand, for offsets */
    struct hs_buf head;                     /* first bytes of the document, for sniffing */
    uint64_t with_ph, objects, non_objects; /* events with a phase; objects that were parsed; other things */
    uint64_t debt, skipped;                 /* bytes that given-up events and header members had cost; bytes skipped */
    uint64_t check_at;                      /* repair.cancel is asked again when repair.work has come so far */
    struct {
        unsigned depth;
        bool text, slash;
    } skip;

    /* dictionaries */
    uint32_t key[HS_KNOWN];
    uint8_t known[64];                 /* by symbol: hs_known */
    uint32_t many, many_raw, long_raw; /* bucket symbols */
    uint32_t process_name, process_labels, thread_name;
    struct hs_sym_slot *syms;   /* [HS_SYM_CACHE] */
    struct hs_lane_slot *lanes; /* [HS_LANE_CACHE] */
    uint32_t *lane_table;       /* lane + 1 */
    size_t lane_slots;
    uint32_t *shape_table; /* shape + 1 */
    size_t shape_slots;
    uint32_t *column_table; /* column + 1 */
    size_t column_slots;
    struct {
        HS_VEC(uint32_t);
    } meta; /* lane_names entry + 1, by lane */
    struct {
        HS_VEC(uint32_t);
    } odd_texts; /* symbols that read inf or nan; few */

    /* forms */
    struct hs_arena arena;
    struct hs_node root;
    struct hs_form *last;
    uint32_t nodes;

    /* scratch */
    struct hs_items items;
    struct hs_values values;
    struct hs_field fields[HS_MAX_ITEMS];
    int32_t columns[HS_MAX_VALUES];
    struct hs_buf text;
    struct hs_repair repair;
};

static inline int64_t hs_kineto_offset(const struct hs_kineto *k, const char *p)
{
    return (int64_t)(k->win_off + (uint64_t)(p - k->win));
}

enum { HS_TEXT_LONE = 1, HS_TEXT_LONG = 2, HS_TEXT_MANY = 4 };

/* Bytes were looked at that matching did not take at once. */
static inline void hs_kineto_looked(struct hs_kineto *k, const char *from, const char *to)
{
    k->repair.work += (uint64_t)(to - from) + 1;
}

/* kineto.c: HS_ECANCELLED if the import is to stop; asked once for every MiB of such work. */
int hs_kineto_ask(struct hs_kineto *k, struct hs_err *err);
static inline int hs_kineto_stopped(struct hs_kineto *k, struct hs_err *err)
{
    return k->repair.work < k->check_at ? HS_OK : hs_kineto_ask(k, err);
}

/* Counts those of k->values. */
void hs_kineto_count_texts(struct hs_kineto *k);

/* Counts one defect at the event in hand. */
void hs_kineto_defect(struct hs_kineto *k, enum hs_quality_kind kind);

/* Symbol of a text (padded as scan wants it); over a limit that of the bucket, noted in k->values.texts. */
uint32_t hs_kineto_sym_slow(struct hs_kineto *k, const char *p, size_t n);
uint32_t hs_kineto_raw(struct hs_kineto *k, const char *p, size_t n);
/* Symbol of the inside of a string with escapes. */
uint32_t hs_kineto_sym_escaped(struct hs_kineto *k, const char *p, size_t n);

static inline uint32_t hs_kineto_sym(struct hs_kineto *k, const char *p, size_t n)
{
    uint64_t a, b;
    memcpy(&a, p, 8);
    if (n >= 8) {
        memcpy(&b, p + n - 8, 8);
    } else {
        if (!n)
            return 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        a &= ~(uint64_t)0 >> (64 - 8 * n);
#else
        a &= ~(uint64_t)0 << (64 - 8 * n);
#endif
        b = 0;
    }
    uint64_t h = (a ^ (b << 29 | b >> 35) ^ n) * 0x9e3779b97f4a7c15u;
    struct hs_sym_slot *s = &k->syms[h >> 52];
    if (s->n == n && hs_same_padded(s->p, p, n))
        return s->sym;
    uint32_t sym = hs_kineto_sym_slow(k, p, n);
    struct hs_str kept = hs_intern_str(&k->trace->syms, sym);
    if (kept.n == n)
        *s = (struct hs_sym_slot){kept.p, (uint32_t)n, sym};
    return sym;
}

/* kineto_dict.c */
void hs_kineto_intern_known(struct hs_kineto *k);
/* The largest event or header member: a text of the limit's length, all of it escapes, and then some. */
static inline size_t hs_kineto_item_max(const struct hs_kineto *k)
{
    return (size_t)k->limits.string * 2 + (64u << 20);
}

/* Steps of the document: each consumes from *p on, or says HS_SCAN_MORE and leaves *p at what it could not consume. */
enum hs_scan hs_kineto_start(struct hs_kineto *k, const char **p, const char *end);
enum hs_scan hs_kineto_top(struct hs_kineto *k, const char **p, const char *end);
enum hs_scan hs_kineto_done(struct hs_kineto *k, const char **p, const char *end);
enum hs_scan hs_kineto_seek(struct hs_kineto *k, const char **p, const char *end);
enum hs_scan hs_kineto_skip(struct hs_kineto *k, const char **p, const char *end);
enum hs_scan hs_kineto_events(struct hs_kineto *k, const char **p, const char *end, int *rc, struct hs_err *err);
enum hs_scan hs_kineto_resync(struct hs_kineto *k, const char **p, const char *end);

/* kineto_events.c: commas between members of the array or the object, counted where they are missing or too many. */
void hs_kineto_comma(struct hs_kineto *k, const char *p);
void hs_kineto_item_begins(struct hs_kineto *k, const char *p);
void hs_kineto_level_ends(struct hs_kineto *k, const char *p);
/* Where looking for the next item starts when the one at `from` is given up that was looked at up to `looked`. */
const char *hs_kineto_way_back(struct hs_kineto *k, const char *from, const char *looked);
/* What k->repair met counts at the event in hand. */
void hs_kineto_count_repairs(struct hs_kineto *k);

/* kineto_memory.c: the list at p, valid JSON that ends before `end`, if it is [time_ns, action, bytes, category] in integers:
 * the event that stands for it (trace/view.h), NUL-terminated and padded. */
#define HS_MEMORY_EVENT 320
bool hs_kineto_memory_event(const char *p, const char *end, char text[HS_MEMORY_EVENT], size_t *n);

/* kineto_parse.c: the event whose brace is at *p, into k->items. args_raw: keep args as one JSON text. */
enum hs_scan hs_kineto_parse(struct hs_kineto *k, const char **p, const char *end, bool args_raw);

/* kineto_shape.c: k->items into *form (its columns are k->columns) and k->values. false: a dictionary is full. */
bool hs_kineto_resolve(struct hs_kineto *k, struct hs_form *form);
/* What a value of a text or number means for a role; used for columns that are read again. */
void hs_kineto_role_int(struct hs_kineto *k, enum hs_role role, int64_t v);
void hs_kineto_role_dec(struct hs_kineto *k, enum hs_role role, int64_t m, unsigned digits);
void hs_kineto_role_text(struct hs_kineto *k, enum hs_role role, uint32_t sym);
void hs_kineto_values_reset(struct hs_values *v);

/* kineto_match.c */
/* The event at p by the tree: the byte behind it and its form, values in k->values; NULL: not of a form known. */
const char *hs_kineto_match(struct hs_kineto *k, const char *p, const char *end, struct hs_form **form);
/* Adds the event that was just parsed, [text, end), to the tree, if there is room. Returns its form there, or NULL. */
struct hs_form *hs_kineto_learn(struct hs_kineto *k, const struct hs_form *form, const char *text, const char *end);

/* kineto_row.c: appends the row. */
int hs_kineto_row(struct hs_kineto *k, const struct hs_form *form, struct hs_err *err);
int hs_kineto_flush(struct hs_kineto *k, struct hs_err *err);

/* kineto_head.c */
void hs_kineto_head_member(struct hs_kineto *k, uint32_t key, const char *json, size_t n);
void hs_kineto_head_settle(struct hs_kineto *k);

/* kineto_rank.c: looks for the rank as HTA reads it, until it was found. */
void hs_kineto_hta_rank(struct hs_kineto *k, const char *p, size_t n);

#endif
