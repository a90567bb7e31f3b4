/* The document: windows of text, the top level, header members, the array of events, finding the way again.
 *
 * Every step works on text that is in memory whole: it consumes an item (an event, a header member, a comma), or says
 * MORE, and what it did not consume stands before the next window. An item that does not fit a window is put together in
 * `pending`, and tried again only when that has doubled, so that the work stays linear. */
#include "ingest/kineto_in.h"
#include "ingest/sniff.h"

#include <stdlib.h>

enum {
    HEAD_BYTES = 4096,          /* of the document, kept for sniffing */
    TRY_AGAIN_ALWAYS = 1 << 18, /* leftovers below this are tried with every window */
    LOOK_AHEAD = 1024,          /* bytes that finding the next event may want to see at once */
    MAX_RESYNC_DEBT = 1 << 20
};

/* The largest event or header member: a text of the limit's length in which everything is an escape, and then some. */
static size_t item_max(const struct hs_kineto *k)
{
    return (size_t)k->limits.string * 2 + (64u << 20);
}

/* ---- dictionaries ---- */

void hs_kineto_defect(struct hs_kineto *k, enum hs_quality_kind kind)
{
    hs_quality_add(&k->trace->quality, kind, 1, hs_kineto_offset(k, k->item));
}

static bool could_be_non_finite(struct hs_str s)
{
    return s.n >= 3 && s.n <= 9 && hs_text_non_finite(s);
}

/* A text cut to the limit, not inside a UTF-8 sequence. */
static size_t cut_length(const char *p, size_t max)
{
    size_t n = max;
    while (n && max - n < 4 && ((unsigned char)p[n] & 0xc0) == 0x80)
        n--;
    return max - n < 4 ? n : max;
}

static uint32_t intern(struct hs_kineto *k, const char *p, size_t n, uint32_t bucket)
{
    struct hs_trace *t = k->trace;
    size_t before = t->syms.n;
    uint32_t sym = hs_intern_add(&t->syms, p, n);
    if (sym == HS_NO_SYM) {
        hs_kineto_defect(k, HS_Q_MANY_NAMES);
        return bucket;
    }
    if (t->syms.n > before) {
        if (!hs_utf8_valid(p, n))
            hs_kineto_defect(k, HS_Q_BAD_UTF8);
        if (could_be_non_finite(hs_str(p, n)))
            hs_vec_push(&k->odd_texts, sym);
    }
    return sym;
}

uint32_t hs_kineto_sym_slow(struct hs_kineto *k, const char *p, size_t n)
{
    if (n > k->limits.string) {
        hs_kineto_defect(k, HS_Q_LONG_STRING);
        n = cut_length(p, k->limits.string);
    }
    return intern(k, p, n, k->many);
}

uint32_t hs_kineto_raw(struct hs_kineto *k, const char *p, size_t n)
{
    if (n > k->limits.string) {
        hs_kineto_defect(k, HS_Q_LONG_STRING);
        return k->long_raw;
    }
    return intern(k, p, n, k->many_raw);
}

uint32_t hs_kineto_sym_escaped(struct hs_kineto *k, const char *p, size_t n)
{
    bool lone = false;
    hs_buf_clear(&k->text);
    hs_scan_decode(&k->text, p, n, &lone);
    if (lone)
        hs_kineto_defect(k, HS_Q_LONE_SURROGATE);
    return hs_kineto_sym_slow(k, k->text.n ? k->text.p : "", k->text.n);
}

/* ---- birth and death ---- */

/* Categories are kept as 16-bit symbols in the rows, so the usual ones are named before a hundred thousand Python
 * functions can be; keys, too, so that `known` can be small. */
static void intern_known(struct hs_kineto *k)
{
    static const char *const keys[HS_KNOWN] = {[HS_KEY_NONE] = "",         [HS_KEY_PH] = "ph",
                                               [HS_KEY_CAT] = "cat",       [HS_KEY_NAME] = "name",
                                               [HS_KEY_PID] = "pid",       [HS_KEY_TID] = "tid",
                                               [HS_KEY_TS] = "ts",         [HS_KEY_DUR] = "dur",
                                               [HS_KEY_ARGS] = "args",     [HS_KEY_CORRELATION] = "correlation",
                                               [HS_KEY_STREAM] = "stream", [HS_KEY_DEVICE] = "device",
                                               [HS_KEY_BYTES] = "bytes",   [HS_KEY_GRAPH] = "graph id",
                                               [HS_KEY_LABELS] = "labels"};
    static const char *const cats[] = {"cpu_op",
                                       "user_annotation",
                                       "gpu_user_annotation",
                                       "gpu_memcpy",
                                       "gpu_memset",
                                       "kernel",
                                       "cuda_runtime",
                                       "cuda_driver",
                                       "cpu_instant_event",
                                       "python_function",
                                       "overhead",
                                       "mtia_runtime",
                                       "mtia_ccp_events",
                                       "mtia_insight",
                                       "cuda_sync",
                                       "cuda_event",
                                       "mtia_counters",
                                       "cuda_profiler_range",
                                       "hpu_op",
                                       "xpu_runtime",
                                       "xpu_driver",
                                       "collective_comm",
                                       "privateuse1_runtime",
                                       "privateuse1_driver",
                                       "xpu_scope_profiler",
                                       "xpu_sync",
                                       "hardware_counters",
                                       "Trace",
                                       "ac2g",
                                       "fwdbwd",
                                       "async_cpu_to_gpu",
                                       "Kernel",
                                       "Memcpy",
                                       "Memset",
                                       "Runtime",
                                       "Operator"};
    struct hs_intern *in = &k->trace->syms;
    for (uint32_t i = 1; i < HS_KNOWN; i++) {
        k->key[i] = hs_intern_add(in, keys[i], strlen(keys[i]));
        if (k->key[i] < sizeof k->known)
            k->known[k->key[i]] = (uint8_t)i;
    }
    k->many = hs_intern_add(in, "(too many names)", 16);
    k->many_raw = hs_intern_add(in, "\"(too many names)\"", 18);
    k->long_raw = hs_intern_add(in, "\"(too long)\"", 12);
    k->process_name = hs_intern_add(in, "process_name", 12);
    k->process_labels = hs_intern_add(in, "process_labels", 14);
    k->thread_name = hs_intern_add(in, "thread_name", 11);
    for (size_t i = 0; i < sizeof cats / sizeof cats[0]; i++)
        hs_intern_add(in, cats[i], strlen(cats[i]));
}

int hs_kineto_new(struct hs_kineto **out, struct hs_trace *trace, const struct hs_limits *limits,
                  struct hs_segment *first, hs_emit_segment *emit, void *ctx, struct hs_err *err)
{
    (void)err;
    struct hs_kineto *k = hs_calloc(1, sizeof *k);
    k->trace = trace;
    k->limits = limits ? *limits : hs_limits_default;
    k->seg = first;
    k->emit = emit;
    k->ctx = ctx;
    k->pending = (struct hs_buf)HS_BUF_INIT(SIZE_MAX / 4); /* its ceiling is item_max and one window: see keep() */
    k->head = (struct hs_buf)HS_BUF_INIT(HEAD_BYTES);
    k->text = (struct hs_buf)HS_BUF_INIT(item_max(k));
    k->arena = (struct hs_arena)HS_ARENA_INIT(64u << 20);
    k->odd_texts.max = 64;
    k->meta.max = SIZE_MAX / 8;
    k->syms = hs_calloc(HS_SYM_CACHE, sizeof *k->syms);
    k->lanes = hs_calloc(HS_LANE_CACHE, sizeof *k->lanes);
    static const char nothing[16];
    for (size_t i = 0; i < HS_SYM_CACHE; i++)
        k->syms[i] = (struct hs_sym_slot){nothing, 0, 0};
    hs_repair_init(&k->repair, item_max(k) * 2);
    hs_segment_reset(first, trace->events);
    intern_known(k);
    *out = k;
    return HS_OK;
}

void hs_kineto_free(struct hs_kineto *k)
{
    if (!k)
        return;
    hs_segment_free(k->seg);
    hs_buf_free(&k->pending);
    hs_buf_free(&k->head);
    hs_buf_free(&k->text);
    hs_repair_free(&k->repair);
    hs_arena_free(&k->arena);
    hs_vec_free(&k->meta);
    hs_vec_free(&k->odd_texts);
    free(k->syms);
    free(k->lanes);
    free(k->lane_table);
    free(k->shape_table);
    free(k->column_table);
    free(k);
}

/* ---- events ---- */

static void count_repairs(struct hs_kineto *k)
{
    int64_t at = hs_kineto_offset(k, k->item);
    for (int i = 0; i < HS_QUALITY_KINDS; i++) {
        uint32_t n = k->repair.count[i];
        bool places = i == HS_Q_NON_FINITE || i == HS_Q_BARE_WORD || i == HS_Q_ODD_NUMBER || i == HS_Q_STRAY_COMMA;
        if (n)
            hs_quality_add(&k->trace->quality, (enum hs_quality_kind)i, places ? n : 1, at);
    }
}

/* The event in k->items becomes a row. *kept false: it does not fit the dictionaries. */
static int take(struct hs_kineto *k, const char *text, const char *end, bool learn, bool *kept, struct hs_err *err)
{
    struct hs_form form;
    *kept = hs_kineto_resolve(k, &form);
    if (!*kept && !k->items.args_raw) {
        const char *p = text;
        if (hs_kineto_parse(k, &p, end, true) == HS_SCAN_OK)
            *kept = hs_kineto_resolve(k, &form);
    }
    if (!*kept)
        return HS_OK;
    if (!k->items.n) {
        hs_kineto_defect(k, HS_Q_EMPTY_EVENT);
        return HS_OK;
    }
    struct hs_form *known = learn ? hs_kineto_learn(k, &form, text, end) : NULL;
    k->last = known;
    return hs_kineto_row(k, known ? known : &form, err);
}

/* An event that is not JSON. On HS_SCAN_ODD *p is how far repairing it looked. */
static enum hs_scan repaired(struct hs_kineto *k, const char **p, const char *end, int *rc, struct hs_err *err)
{
    bool kept;
    enum hs_scan r = hs_repair_value(&k->repair, p, end, k->final, k->limits.depth + 2, HS_REPAIR_EVENT);
    if (r)
        return r;
    const char *text = k->repair.out.p, *q = text;
    if (hs_kineto_parse(k, &q, text + k->repair.out.n + 1, false)) /* + 1: the NUL behind it ends nothing */
        return HS_SCAN_ODD;
    *rc = take(k, text, q, false, &kept, err);
    if (kept)
        count_repairs(k);
    return kept ? HS_SCAN_OK : HS_SCAN_ODD;
}

/* Gives the item at `from` up; looking for the next event starts right behind its brace, or, when failures have cost more
 * than they skipped, where this one was given up. */
static const char *give_up(struct hs_kineto *k, const char *from, const char *looked)
{
    int64_t at = hs_kineto_offset(k, from);
    hs_quality_add(&k->trace->quality, HS_Q_BAD_EVENT, 1, at);
    k->debt += (uint64_t)(looked - from);
    const char *next = k->debt > MAX_RESYNC_DEBT + 16 * k->skipped ? looked : from;
    if (next <= from)
        next = from + 1;
    hs_quality_add(&k->trace->quality, HS_Q_SKIPPED_BYTES, next - from, at);
    k->skipped += (uint64_t)(next - from);
    k->before = ',';
    k->state = HS_ST_RESYNC;
    return next;
}

static enum hs_scan event(struct hs_kineto *k, const char **p, const char *end, int *rc, struct hs_err *err)
{
    struct hs_form *form;
    const char *start = *p, *q = hs_kineto_match(k, start, end, &form);
    k->item = start;
    if (__builtin_expect(q != NULL, 1)) {
        *p = q;
        *rc = hs_kineto_row(k, form, err);
        return HS_SCAN_OK;
    }
    q = start;
    bool kept = true;
    enum hs_scan r = hs_kineto_parse(k, &q, end, false);
    if (r == HS_SCAN_MORE)
        return r;
    const char *looked = q;
    if (r == HS_SCAN_OK) {
        *rc = take(k, start, q, true, &kept, err);
        if (!kept)
            r = HS_SCAN_ODD;
    } else {
        q = start;
        r = repaired(k, &q, end, rc, err);
        if (r == HS_SCAN_MORE)
            return r;
        looked = q > looked ? q : looked;
    }
    k->objects++;
    *p = r ? give_up(k, start, looked) : q;
    return HS_SCAN_OK;
}

/* Something in the array that is no object. */
static enum hs_scan non_event(struct hs_kineto *k, const char **p, const char *end)
{
    const char *start = *p, *q = start;
    k->item = start;
    enum hs_scan r = hs_scan_value(&q, end, k->limits.depth + 2);
    if (r == HS_SCAN_ODD) {
        q = start;
        r = hs_repair_value(&k->repair, &q, end, k->final, k->limits.depth + 2, HS_REPAIR_EVENT);
    }
    if (r == HS_SCAN_MORE)
        return r;
    k->non_objects++;
    if (r == HS_SCAN_ODD) {
        *p = give_up(k, start, q);
    } else {
        hs_kineto_defect(k, HS_Q_BAD_EVENT);
        *p = q;
    }
    return HS_SCAN_OK;
}

static void comma(struct hs_kineto *k, const char *p)
{
    if (!k->comma_due) {
        k->item = p;
        hs_kineto_defect(k, HS_Q_STRAY_COMMA);
    }
    k->comma_due = false;
    k->comma_last = true;
}

/* Before an item of the array or object. */
static void item_begins(struct hs_kineto *k, const char *p)
{
    if (k->comma_due) {
        k->item = p;
        hs_kineto_defect(k, HS_Q_STRAY_COMMA);
    }
    k->comma_due = true;
    k->comma_last = false;
}

static void level_ends(struct hs_kineto *k, const char *p)
{
    if (k->comma_last) {
        k->item = p;
        hs_kineto_defect(k, HS_Q_STRAY_COMMA);
    }
    k->comma_due = true;
    k->comma_last = false;
}

/* The array of events, from *p: many events in one go. */
static enum hs_scan events(struct hs_kineto *k, const char **pp, const char *end, int *rc, struct hs_err *err)
{
    const char *p = *pp;
    enum hs_scan r = HS_SCAN_OK;
    while (!r && !*rc && k->state == HS_ST_EVENTS) {
        p = hs_skip_space(p, end);
        *pp = p;
        if (p >= end)
            return HS_SCAN_MORE;
        switch (*p) {
        case '{': {
            bool due = k->comma_due;
            r = event(k, &p, end, rc, err);
            if (r)
                break;
            k->comma_due = due;
            item_begins(k, *pp);
            break;
        }
        case ',': comma(k, p++); break;
        case ']':
            level_ends(k, p++);
            k->state = k->trace->bare_array ? HS_ST_DONE : HS_ST_KEY;
            break;
        case '}':
        case ':':
            k->item = p;
            hs_quality_add(&k->trace->quality, HS_Q_SKIPPED_BYTES, 1, hs_kineto_offset(k, p++));
            break;
        default:
            r = non_event(k, &p, end);
            if (!r)
                item_begins(k, *pp);
        }
        if (!r)
            *pp = p;
    }
    return r;
}

/* ---- finding the way again ---- */

static bool top_key(const char *p, const char *end)
{
    static const char *const keys[] = {
        "\"traceName\"",           "\"distributedInfo\"",  "\"displayTimeUnit\"", "\"schemaVersion\"",
        "\"baseTimeNanoseconds\"", "\"deviceProperties\"", "\"traceEvents\"",     "\"trace_id\""};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        size_t n = strlen(keys[i]);
        if ((size_t)(end - p) >= n && !memcmp(p, keys[i], n))
            return true;
    }
    return false;
}

/* Does the array of events end with the bracket at p? Arrays within events end alike, so only what can stand behind the
 * events, and nothing else, says so. */
static bool array_ends(const struct hs_kineto *k, const char *p, const char *end)
{
    const char *q = hs_skip_space(p + 1, end);
    if (k->trace->bare_array)
        return q == end && k->final;
    if (q < end && *q == ',')
        return top_key(hs_skip_space(q + 1, end), end);
    return q < end && *q == '}' && k->final && hs_skip_space(q + 1, end) == end;
}

static enum hs_scan resync(struct hs_kineto *k, const char **pp, const char *end)
{
    if (!k->final && end - *pp <= LOOK_AHEAD)
        return HS_SCAN_MORE;
    const char *p = *pp, *stop = k->final ? end : end - LOOK_AHEAD;
    char before = k->before;
    for (; p < stop; p++) {
        if (*p == '{' && before != ':' && hs_repair_event_start(p, end, true)) {
            k->state = HS_ST_EVENTS;
            k->comma_due = false;
            break;
        }
        if (*p == ']' && array_ends(k, p, end)) {
            k->state = HS_ST_EVENTS;
            break;
        }
        if (!hs_is_space(*p))
            before = *p;
    }
    k->before = before;
    hs_quality_add(&k->trace->quality, HS_Q_SKIPPED_BYTES, p - *pp, hs_kineto_offset(k, *pp));
    k->skipped += (uint64_t)(p - *pp);
    k->comma_last = false;
    *pp = p;
    return k->state == HS_ST_RESYNC ? HS_SCAN_MORE : HS_SCAN_OK;
}

/* The header is broken beyond repair: on to the events. */
static enum hs_scan seek(struct hs_kineto *k, const char **pp, const char *end)
{
    static const char key[] = "\"traceEvents\"";
    size_t n = (size_t)(end - *pp), keep = k->final || n < sizeof key ? (k->final ? 0 : n) : sizeof key;
    const char *found = memmem(*pp, n, key, sizeof key - 1), *p = found ? found : end - keep;
    hs_quality_add(&k->trace->quality, HS_Q_SKIPPED_BYTES, p - *pp, hs_kineto_offset(k, *pp));
    *pp = p;
    if (!found)
        return HS_SCAN_MORE;
    k->state = HS_ST_KEY;
    k->comma_due = k->comma_last = false;
    return HS_SCAN_OK;
}

/* Over a header value that is too large to keep, byte by byte. */
static enum hs_scan skip(struct hs_kineto *k, const char **pp, const char *end)
{
    const char *p = *pp;
    for (; p < end; p++) {
        char c = *p;
        if (k->skip.text) {
            if (k->skip.slash)
                k->skip.slash = false;
            else if (c == '\\')
                k->skip.slash = true;
            else
                k->skip.text = c != '"';
        } else if (c == '"') {
            k->skip.text = true;
        } else if (c == '{' || c == '[') {
            k->skip.depth++;
        } else if (!k->skip.depth && (c == ',' || c == '}' || c == ']')) {
            k->state = HS_ST_KEY;
            k->comma_due = true;
            break;
        } else if (c == '}' || c == ']') {
            k->skip.depth--;
        }
    }
    *pp = p;
    return k->state == HS_ST_SKIP ? HS_SCAN_MORE : HS_SCAN_OK;
}

/* ---- the top level ---- */

static enum hs_scan start(struct hs_kineto *k, const char **pp, const char *end)
{
    const char *p = *pp;
    if (hs_kineto_offset(k, p) == 0) {
        static const char bom[] = "\xef\xbb\xbf";
        size_t n = (size_t)(end - p);
        if (n < 3 && !k->final && n && !memcmp(p, bom, n))
            return HS_SCAN_MORE;
        if (n >= 3 && !memcmp(p, bom, 3)) {
            hs_quality_add(&k->trace->quality, HS_Q_BOM, 1, 0);
            p += 3;
        }
    }
    p = hs_skip_space(p, end);
    *pp = p;
    if (p == end)
        return HS_SCAN_MORE;
    if (*p == '[') {
        k->trace->bare_array = k->trace->has_events_key = true;
        k->state = HS_ST_EVENTS;
    } else if (*p == '{') {
        k->state = HS_ST_KEY;
    } else {
        k->no_json = true;
        k->state = HS_ST_IGNORE;
        *pp = end;
        return HS_SCAN_OK;
    }
    k->comma_due = k->comma_last = false;
    *pp = p + 1;
    return HS_SCAN_OK;
}

static enum hs_scan broken_header(struct hs_kineto *k, const char **pp)
{
    hs_kineto_defect(k, HS_Q_BAD_HEADER);
    k->state = HS_ST_SEEK;
    ++*pp; /* not the same member again */
    return HS_SCAN_OK;
}

/* A member's value at p, behind the key at *pp. */
static enum hs_scan header_value(struct hs_kineto *k, const char **pp, const char *p, const char *end, uint32_t key)
{
    const char *q = p;
    enum hs_scan r = hs_scan_value(&q, end, k->limits.depth);
    if (r == HS_SCAN_MORE)
        return r;
    if (r == HS_SCAN_OK) {
        hs_kineto_head_member(k, key, p, (size_t)(q - p));
    } else {
        q = p;
        r = hs_repair_value(&k->repair, &q, end, k->final, k->limits.depth, HS_REPAIR_HEADER);
        if (r == HS_SCAN_MORE)
            return r;
        if (r)
            return broken_header(k, pp);
        count_repairs(k);
        hs_kineto_head_member(k, key, k->repair.out.p, k->repair.out.n);
    }
    *pp = q;
    return HS_SCAN_OK;
}

static enum hs_scan member(struct hs_kineto *k, const char **pp, const char *end)
{
    const char *p = *pp + 1, *text = p;
    bool escaped;
    k->item = *pp;
    enum hs_scan r = hs_scan_text(&p, end, &escaped);
    if (r)
        return r == HS_SCAN_MORE ? r : broken_header(k, pp);
    size_t n = (size_t)(p - text);
    p = hs_skip_space(p + 1, end);
    if (p == end)
        return HS_SCAN_MORE;
    if (*p != ':')
        return broken_header(k, pp);
    p = hs_skip_space(p + 1, end);
    if (p == end)
        return HS_SCAN_MORE;
    if (hs_str_is(hs_str(text, n), "traceEvents")) {
        if (k->trace->has_events_key)
            hs_kineto_defect(k, HS_Q_DUPLICATE_KEY);
        k->trace->has_events_key = true;
        if (*p == '[') {
            item_begins(k, *pp);
            k->comma_due = k->comma_last = false;
            k->state = HS_ST_EVENTS;
            *pp = p + 1;
            return HS_SCAN_OK;
        }
    }
    uint32_t key = escaped ? hs_kineto_sym_escaped(k, text, n) : hs_kineto_sym(k, text, n);
    const char *at = *pp;
    r = header_value(k, pp, p, end, key);
    if (!r && k->state == HS_ST_KEY)
        item_begins(k, at);
    return r;
}

static enum hs_scan top(struct hs_kineto *k, const char **pp, const char *end)
{
    *pp = hs_skip_space(*pp, end);
    if (*pp == end)
        return HS_SCAN_MORE;
    k->item = *pp;
    switch (**pp) {
    case '"': return member(k, pp, end);
    case ',':
        comma(k, *pp);
        ++*pp;
        return HS_SCAN_OK;
    case '}':
        level_ends(k, *pp);
        ++*pp;
        k->state = HS_ST_DONE;
        return HS_SCAN_OK;
    default: return broken_header(k, pp);
    }
}

static enum hs_scan done(struct hs_kineto *k, const char **pp, const char *end)
{
    const char *p = *pp;
    while (p < end && (hs_is_space(*p) || !*p)) /* some writers pad with NULs */
        p++;
    if (p < end) {
        k->item = p;
        hs_kineto_defect(k, HS_Q_SECOND_DOCUMENT);
        k->state = HS_ST_IGNORE;
        p = end;
    }
    *pp = p;
    return HS_SCAN_OK;
}

/* ---- windows ---- */

/* Reads [text, text + n); *left: how many bytes at its end were not consumed. */
static int run(struct hs_kineto *k, const char *text, size_t n, size_t *left, struct hs_err *err)
{
    const char *p = text, *end = text + n;
    enum hs_scan r = HS_SCAN_OK;
    int rc = HS_OK;
    k->win = k->item = text;
    while (!rc && !r && p < end) {
        switch (k->state) {
        case HS_ST_START: r = start(k, &p, end); break;
        case HS_ST_KEY: r = top(k, &p, end); break;
        case HS_ST_EVENTS: r = events(k, &p, end, &rc, err); break;
        case HS_ST_RESYNC: r = resync(k, &p, end); break;
        case HS_ST_SEEK: r = seek(k, &p, end); break;
        case HS_ST_SKIP: r = skip(k, &p, end); break;
        case HS_ST_DONE: r = done(k, &p, end); break;
        case HS_ST_IGNORE: p = end; break;
        }
    }
    *left = (size_t)(end - p);
    k->win_off += (uint64_t)(p - text);
    return rc;
}

/* An item larger than any may be: the event is dropped, the header member skipped. */
static void too_large(struct hs_kineto *k, const char *text, size_t *left)
{
    int64_t at = (int64_t)k->win_off;
    if (k->state == HS_ST_KEY) {
        hs_quality_add(&k->trace->quality, HS_Q_BAD_HEADER, 1, at);
        k->state = HS_ST_SKIP;
        k->skip.depth = 0;
        k->skip.text = k->skip.slash = false;
        const char *p = text, *end = text + *left;
        k->win = text;
        bool escaped; /* the key and its colon were read before */
        p++;
        hs_scan_text(&p, end, &escaped);
        p++;
        skip(k, &p, end);
        k->win_off += (uint64_t)(p - text);
        *left = (size_t)(end - p);
        return;
    }
    hs_quality_add(&k->trace->quality, HS_Q_BAD_EVENT, 1, at);
    hs_quality_add(&k->trace->quality, HS_Q_SKIPPED_BYTES, (int64_t)*left, at);
    k->win_off += *left;
    *left = 0;
    k->before = ',';
    k->state = HS_ST_RESYNC;
}

/* Puts what the window left over before whatever comes next. `text` may lie in pending itself. */
static void keep(struct hs_kineto *k, const char *text, size_t left)
{
    if (left > item_max(k)) {
        size_t rest = left;
        too_large(k, text, &rest);
        text += left - rest;
        left = rest;
    }
    k->retry_at = left < TRY_AGAIN_ALWAYS ? 0 : 2 * left;
    if (k->retry_at > item_max(k) + 1)
        k->retry_at = item_max(k) + 1;
    if (k->pending.p && text >= k->pending.p && text <= k->pending.p + k->pending.n) {
        memmove(k->pending.p, text, left);
        k->pending.n = left;
        return;
    }
    hs_buf_clear(&k->pending);
    hs_buf_put(&k->pending, text, left);
}

static int run_pending(struct hs_kineto *k, struct hs_err *err)
{
    size_t left;
    hs_buf_reserve(&k->pending, HS_SCAN_PAD);
    memset(k->pending.p + k->pending.n, 0, HS_SCAN_PAD);
    int rc = run(k, k->pending.p, k->pending.n, &left, err);
    keep(k, k->pending.p + (k->pending.n - left), left);
    return rc;
}

int hs_kineto_feed(struct hs_kineto *k, char *text, size_t n, struct hs_err *err)
{
    size_t left, had = k->pending.n;
    if (!n)
        return HS_OK;
    if (k->head.n < HEAD_BYTES)
        hs_buf_put(&k->head, text, n < HEAD_BYTES - k->head.n ? n : HEAD_BYTES - k->head.n);
    if (had >= TRY_AGAIN_ALWAYS || had > HS_KINETO_HEAD) {
        hs_buf_put(&k->pending, text, n);
        return k->pending.n >= k->retry_at ? run_pending(k, err) : HS_OK;
    }
    if (had)
        memcpy(text - had, k->pending.p, had);
    int rc = run(k, text - had, n + had, &left, err);
    keep(k, text + n - left, left);
    return rc;
}

/* ---- the end ---- */

static int refuse(struct hs_kineto *k, const char *why, struct hs_err *err)
{
    if (err)
        err->offset = 0;
    (void)k;
    return hs_fail(err, HS_EINPUT, "%s", why);
}

static const char *no_trace(struct hs_kineto *k)
{
    struct hs_trace *t = k->trace;
    struct hs_str head = hs_str(k->head.n ? k->head.p : "", k->head.n);
    if (k->no_json || k->state == HS_ST_START)
        return hs_sniff_bytes(head);
    if (t->bare_array)
        return !k->with_ph && (k->objects || k->non_objects || t->events) ? hs_sniff_array(head) : NULL;
    if (t->has_events_key)
        return NULL;
    struct hs_str *keys = hs_calloc(t->header.n, sizeof *keys);
    for (size_t i = 0; i < t->header.n; i++)
        keys[i] = hs_intern_str(&t->syms, t->header.p[i].key);
    const char *why = hs_sniff_object(keys, t->header.n);
    free(keys);
    return why;
}

int hs_kineto_finish(struct hs_kineto *k, struct hs_err *err)
{
    struct hs_trace *t = k->trace;
    int rc = HS_OK;
    k->final = true;
    if (k->pending.n)
        rc = run_pending(k, err);
    if (rc)
        return rc;
    const char *why = no_trace(k);
    if (why)
        return refuse(k, why, err);
    bool cut = k->pending.n > 0 || (k->state != HS_ST_DONE && k->state != HS_ST_IGNORE);
    if (cut) {
        bool open_array = t->bare_array && k->state == HS_ST_EVENTS && !k->pending.n;
        hs_quality_add(&t->quality, open_array ? HS_Q_NO_CLOSING : HS_Q_TRUNCATED, 1, (int64_t)k->win_off);
    }
    hs_kineto_head_settle(k);
    return k->seg->rows ? hs_kineto_flush(k, err) : HS_OK;
}
