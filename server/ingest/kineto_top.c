/* The top level: the first bracket, members of the object, what stands behind it. */
#include "ingest/kineto_in.h"

enum hs_scan hs_kineto_start(struct hs_kineto *k, const char **pp, const char *end)
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

/* The member at *pp cannot be read; it was looked at up to `looked`. */
static enum hs_scan broken_header(struct hs_kineto *k, const char **pp, const char *looked)
{
    const char *next = hs_kineto_way_back(k, *pp, looked);
    hs_kineto_defect(k, HS_Q_BAD_HEADER);
    if (next - *pp > 1)
        hs_quality_add(&k->trace->quality, HS_Q_SKIPPED_BYTES, next - *pp, hs_kineto_offset(k, *pp));
    k->state = HS_ST_SEEK;
    *pp = next;
    return HS_SCAN_OK;
}

static void header_member(struct hs_kineto *k, struct hs_str key, bool escaped, struct hs_str json)
{
    uint32_t sym = escaped ? hs_kineto_sym_escaped(k, key.p, key.n) : hs_kineto_sym(k, key.p, key.n);
    hs_kineto_head_member(k, sym, json.p, json.n);
}

/* A member's value at p, behind the key at *pp. */
static enum hs_scan header_value(struct hs_kineto *k, const char **pp, const char *p, const char *end,
                                 struct hs_str key, bool escaped)
{
    const char *q = p;
    enum hs_scan r = hs_scan_value(&q, end, k->limits.depth);
    hs_kineto_looked(k, p, q);
    if (r == HS_SCAN_MORE)
        return r;
    if (r == HS_SCAN_OK) {
        header_member(k, key, escaped, hs_str(p, (size_t)(q - p)));
    } else {
        q = p;
        r = hs_repair_value(&k->repair, &q, end, k->final, k->limits.depth, HS_REPAIR_HEADER);
        if (r == HS_SCAN_MORE)
            return r;
        if (r)
            return broken_header(k, pp, q);
        hs_kineto_count_repairs(k);
        header_member(k, key, escaped, hs_str(k->repair.out.p, k->repair.out.n));
    }
    *pp = q;
    return HS_SCAN_OK;
}

static void events_begin(struct hs_kineto *k)
{
    if (k->trace->has_events_key)
        hs_kineto_defect(k, HS_Q_DUPLICATE_KEY);
    k->trace->has_events_key = true;
}

static enum hs_scan member(struct hs_kineto *k, const char **pp, const char *end)
{
    const char *p = *pp + 1, *text = p;
    bool escaped;
    k->item = *pp;
    enum hs_scan r = hs_scan_text(&p, end, &escaped);
    hs_kineto_looked(k, *pp, p);
    if (r)
        return r == HS_SCAN_MORE ? r : broken_header(k, pp, p);
    size_t n = (size_t)(p - text);
    p = hs_skip_space(p + 1, end);
    hs_kineto_looked(k, text + n, p);
    if (p == end)
        return HS_SCAN_MORE;
    if (*p != ':')
        return broken_header(k, pp, p);
    p = hs_skip_space(p + 1, end);
    if (p == end)
        return HS_SCAN_MORE;
    bool is_events = hs_str_is(hs_str(text, n), "traceEvents");
    if (is_events && *p == '[') {
        events_begin(k);
        hs_kineto_item_begins(k, *pp);
        k->comma_due = k->comma_last = false;
        k->state = HS_ST_EVENTS;
        *pp = p + 1;
        return HS_SCAN_OK;
    }
    const char *at = *pp;
    k->values.texts = 0;
    r = header_value(k, pp, p, end, hs_str(text, n), escaped);
    if (!r)
        hs_kineto_hta_rank(k, at, (size_t)(*pp - at));
    if (!r && is_events) /* "traceEvents": null */
        events_begin(k);
    if (!r && k->state == HS_ST_KEY)
        hs_kineto_item_begins(k, at);
    return r;
}

enum hs_scan hs_kineto_top(struct hs_kineto *k, const char **pp, const char *end)
{
    *pp = hs_skip_space(*pp, end);
    if (*pp == end)
        return HS_SCAN_MORE;
    k->item = *pp;
    switch (**pp) {
    case '"': return member(k, pp, end);
    case ',':
        hs_kineto_comma(k, *pp);
        ++*pp;
        return HS_SCAN_OK;
    case '}':
        hs_kineto_level_ends(k, *pp);
        ++*pp;
        k->state = HS_ST_DONE;
        return HS_SCAN_OK;
    default: return broken_header(k, pp, *pp);
    }
}

enum hs_scan hs_kineto_done(struct hs_kineto *k, const char **pp, const char *end)
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

/* ---- a broken or huge header ---- */

/* The header is broken beyond repair: on to the events. */
enum hs_scan hs_kineto_seek(struct hs_kineto *k, const char **pp, const char *end)
{
    static const char key[] = "\"traceEvents\"";
    size_t n = (size_t)(end - *pp), keep = k->final || n < sizeof key ? (k->final ? 0 : n) : sizeof key;
    const char *found = memmem(*pp, n, key, sizeof key - 1), *p = found ? found : end - keep;
    hs_quality_add(&k->trace->quality, HS_Q_SKIPPED_BYTES, p - *pp, hs_kineto_offset(k, *pp));
    hs_kineto_looked(k, *pp, p);
    k->skipped += (uint64_t)(p - *pp);
    *pp = p;
    if (!found)
        return HS_SCAN_MORE;
    k->state = HS_ST_KEY;
    k->comma_due = k->comma_last = false;
    return HS_SCAN_OK;
}

/* Over a header value that is too large to keep, byte by byte. */
enum hs_scan hs_kineto_skip(struct hs_kineto *k, const char **pp, const char *end)
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
