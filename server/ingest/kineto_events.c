/* The array of events: one after another, and the way back into it behind what could not be read. */
#include "ingest/kineto_in.h"

enum {
    LOOK_AHEAD = 1024, /* bytes that finding the next event may want to see at once */
    FREE_DEBT = 1 << 20
};

void hs_kineto_count_repairs(struct hs_kineto *k)
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
    *kept = true;
    if (k->content == HS_CONTENT_UNKNOWN)
        k->content = HS_CONTENT_EVENTS;
    if (!k->items.n) {
        hs_kineto_defect(k, HS_Q_EMPTY_EVENT);
        return HS_OK;
    }
    hs_kineto_hta_rank(k, text, (size_t)(end - text));
    *kept = hs_kineto_resolve(k, &form);
    if (!*kept && !k->items.args_raw) {
        const char *p = text;
        if (hs_kineto_parse(k, &p, end, true) == HS_SCAN_OK)
            *kept = hs_kineto_resolve(k, &form);
    }
    if (!*kept)
        return HS_OK;
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
        hs_kineto_count_repairs(k);
    return kept ? HS_SCAN_OK : HS_SCAN_ODD;
}

/* Failing costs the bytes looked at, and the next failure may look at the same ones again: so the way back starts right
 * behind the item's first byte only as long as the failures before have not cost many times what they skipped. */
const char *hs_kineto_way_back(struct hs_kineto *k, const char *from, const char *looked)
{
    const char *next = k->debt > FREE_DEBT + 16 * k->skipped ? looked : from;
    k->debt += (uint64_t)(looked - from);
    if (next <= from)
        next = from + 1;
    k->skipped += (uint64_t)(next - from);
    return next;
}

static const char *give_up(struct hs_kineto *k, const char *from, const char *looked)
{
    int64_t at = hs_kineto_offset(k, from);
    hs_quality_add(&k->trace->quality, HS_Q_BAD_EVENT, 1, at);
    const char *next = hs_kineto_way_back(k, from, looked);
    hs_quality_add(&k->trace->quality, HS_Q_SKIPPED_BYTES, next - from, at);
    k->before = ',';
    k->state = HS_ST_RESYNC;
    return next;
}

/* The entry of a memory timeline at [start, end) becomes an event. False: it is none, or does not belong here. */
static bool memory_entry(struct hs_kineto *k, const char *start, const char *end, int *rc, struct hs_err *err)
{
    char text[HS_MEMORY_EVENT];
    struct hs_form *form;
    size_t n;
    bool kept;
    if (*start != '[' || !k->trace->bare_array || k->content == HS_CONTENT_EVENTS ||
        !hs_kineto_memory_event(start, end, text, &n))
        return false;
    k->content = HS_CONTENT_MEMORY;
    k->trace->memory_timeline = true;
    const char *p = text;
    if (hs_kineto_match(k, text, text + n, &form)) {
        *rc = hs_kineto_row(k, form, err);
        return true;
    }
    if (hs_kineto_parse(k, &p, text + n, false))
        return false;
    *rc = take(k, text, p, true, &kept, err);
    return kept;
}

/* Something in the array that is no object, or is one where there should be none. */
static enum hs_scan non_event(struct hs_kineto *k, const char **p, const char *end, int *rc, struct hs_err *err)
{
    const char *start = *p, *q = start;
    k->item = start;
    enum hs_scan r = hs_scan_value(&q, end, k->limits.depth + 2);
    hs_kineto_looked(k, start, q);
    if (r == HS_SCAN_OK && memory_entry(k, start, q, rc, err)) {
        *p = q;
        return HS_SCAN_OK;
    }
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
    if (k->content == HS_CONTENT_MEMORY)
        return non_event(k, p, end, rc, err);
    q = start;
    bool kept = true;
    enum hs_scan r = hs_kineto_parse(k, &q, end, false);
    hs_kineto_looked(k, start, q);
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

void hs_kineto_comma(struct hs_kineto *k, const char *p)
{
    if (!k->comma_due) {
        k->item = p;
        hs_kineto_defect(k, HS_Q_STRAY_COMMA);
    }
    k->comma_due = false;
    k->comma_last = true;
}

/* Before an item of the array or object. */
void hs_kineto_item_begins(struct hs_kineto *k, const char *p)
{
    if (k->comma_due) {
        k->item = p;
        hs_kineto_defect(k, HS_Q_STRAY_COMMA);
    }
    k->comma_due = true;
    k->comma_last = false;
}

void hs_kineto_level_ends(struct hs_kineto *k, const char *p)
{
    if (k->comma_last) {
        k->item = p;
        hs_kineto_defect(k, HS_Q_STRAY_COMMA);
    }
    k->comma_due = true;
    k->comma_last = false;
}

/* The array of events, from *p: many events in one go. */
enum hs_scan hs_kineto_events(struct hs_kineto *k, const char **pp, const char *end, int *rc, struct hs_err *err)
{
    const char *p = *pp;
    enum hs_scan r = HS_SCAN_OK;
    while (!r && !*rc && k->state == HS_ST_EVENTS && !(*rc = hs_kineto_stopped(k, err))) {
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
            hs_kineto_item_begins(k, *pp);
            break;
        }
        case ',': hs_kineto_comma(k, p++); break;
        case ']':
            hs_kineto_level_ends(k, p++);
            k->state = k->trace->bare_array ? HS_ST_DONE : HS_ST_KEY;
            break;
        case '}':
        case ':':
            k->item = p;
            hs_quality_add(&k->trace->quality, HS_Q_SKIPPED_BYTES, 1, hs_kineto_offset(k, p++));
            break;
        default:
            r = non_event(k, &p, end, rc, err);
            if (!r)
                hs_kineto_item_begins(k, *pp);
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

enum hs_scan hs_kineto_resync(struct hs_kineto *k, const char **pp, const char *end)
{
    if (!k->final && end - *pp <= LOOK_AHEAD)
        return HS_SCAN_MORE;
    const char *p = *pp, *stop = k->final ? end : end - LOOK_AHEAD;
    char before = k->before;
    for (; p < stop; p++) {
        if (*p == '{' && before != ':' && hs_repair_event_start(p, end, true, &k->repair.work)) {
            k->state = HS_ST_EVENTS;
            k->comma_due = false;
            break;
        }
        if (*p == '[' && k->content == HS_CONTENT_MEMORY) {
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
    hs_kineto_looked(k, *pp, p);
    hs_quality_add(&k->trace->quality, HS_Q_SKIPPED_BYTES, p - *pp, hs_kineto_offset(k, *pp));
    k->skipped += (uint64_t)(p - *pp);
    k->comma_last = false;
    *pp = p;
    return k->state == HS_ST_RESYNC ? HS_SCAN_MORE : HS_SCAN_OK;
}
