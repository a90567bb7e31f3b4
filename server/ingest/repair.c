#include "ingest/repair.h"

#include "ingest/number.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { MAX_KEY = 256, MAX_WORD = 64, MAX_LINE = 4096, CHECK_EVERY = 1 << 20 };

enum fits { NO, YES, UNKNOWN };

struct fix {
    struct hs_repair *r;
    const char *p, *end;
    bool final;
    enum hs_repair_mode mode;
    unsigned depth, max_depth;
    uint64_t is_object[HS_SCAN_DEPTH / 64];
    /* The blanks [from, to) that were looked over last for a line's end, and what was found behind them: each of n line
     * ends in a row asks the same question. */
    struct {
        const char *from, *to;
        enum fits key;
    } blanks;
};

void hs_repair_init(struct hs_repair *r, size_t max_out)
{
    *r = (struct hs_repair){.out = HS_BUF_INIT(max_out)};
}

void hs_repair_free(struct hs_repair *r)
{
    hs_buf_free(&r->out);
}

static void defect(struct fix *f, enum hs_quality_kind kind)
{
    f->r->count[kind]++;
}

static void put(struct fix *f, const char *s)
{
    hs_buf_puts(&f->r->out, s);
}

static bool in_object(const struct fix *f)
{
    return f->depth && (f->is_object[(f->depth - 1) / 64] >> ((f->depth - 1) % 64) & 1);
}

/* ---- looking ahead ---- */

/* hs_skip_space, counted. */
static const char *skip(uint64_t *work, const char *p, const char *end)
{
    const char *q = hs_skip_space(p, end);
    *work += (uint64_t)(q - p) + 1;
    return q;
}

/* Is the import to stop? Asked once for every CHECK_EVERY bytes looked at. */
static bool stopped(struct hs_repair *r)
{
    if (r->work < r->check_at)
        return false;
    r->check_at = r->work + CHECK_EVERY;
    return r->cancel && atomic_load_explicit(r->cancel, memory_order_relaxed);
}

bool hs_repair_event_key(const char *p, size_t n)
{
    static const char *const keys[] = {"ph", "cat", "name", "pid",   "tid",   "ts",  "dur",     "args", "id", "bp",
                                       "s",  "tts", "tdur", "scope", "cname", "id2", "bind_id", "sf",   "esf"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strlen(keys[i]) == n && !memcmp(keys[i], p, n))
            return true;
    return false;
}

/* `"key" :` at p: the key's length, 0 if none stands there, -1 if the text ends first. */
static int key_at(uint64_t *work, const char *p, const char *end)
{
    if (p == end)
        return -1;
    if (*p != '"')
        return 0;
    const char *q = ++p;
    while (q < end && q - p <= MAX_KEY && *q != '"' && (unsigned char)*q >= 0x20)
        q++;
    *work += (uint64_t)(q - p) + 1;
    if (q == end)
        return -1;
    if (*q != '"' || q == p)
        return 0;
    const char *colon = skip(work, q + 1, end);
    if (colon == end)
        return -1;
    return *colon == ':' ? (int)(q - p) : 0;
}

bool hs_repair_event_start(const char *p, const char *end, bool any, uint64_t *work)
{
    if (p >= end || *p != '{')
        return false;
    p = skip(work, p + 1, end);
    int n = key_at(work, p, end);
    return n > 0 && (any ? hs_repair_event_key(p + 1, (size_t)n) : n == 2 && !memcmp(p + 1, "ph", 2));
}

/* Behind a closing bracket at p: something that closes or separates, or the end. */
static enum fits closes(const struct fix *f, const char *p)
{
    p = skip(&f->r->work, p + 1, f->end);
    if (p == f->end)
        return f->final ? YES : UNKNOWN;
    return *p == ',' || *p == '}' || *p == ']' ? YES : NO;
}

static enum fits before_key(const struct fix *f, const char *p, bool known)
{
    int n = key_at(&f->r->work, p, f->end);
    if (n < 0)
        return f->final ? NO : UNKNOWN;
    return n && (!known || hs_repair_event_key(p + 1, (size_t)n)) ? YES : NO;
}

/* May a text end with a quote whose next byte is at p? */
static enum fits ends_here(const struct fix *f, const char *p, bool is_key)
{
    p = skip(&f->r->work, p, f->end);
    if (p == f->end)
        return f->final ? YES : UNKNOWN;
    if (is_key)
        return *p == ':' ? YES : NO;
    if (!f->depth)
        return YES;
    if (*p == (in_object(f) ? '}' : ']'))
        return closes(f, p);
    if (*p != ',')
        return NO;
    p = skip(&f->r->work, p + 1, f->end);
    if (p == f->end)
        return f->final ? YES : UNKNOWN;
    if (in_object(f))
        return *p == '}' ? closes(f, p) : before_key(f, p, f->depth == 1 && f->mode == HS_REPAIR_EVENT);
    return strchr("\"[{]-0123456789tfnNTFI", *p) && *p ? YES : NO;
}

/* ---- texts ---- */

static void put_control(struct fix *f, unsigned char c)
{
    defect(f, c ? HS_Q_CONTROL_BYTE : HS_Q_NUL_BYTE);
    hs_buf_printf(&f->r->out, "\\u%04x", c);
}

/* Of the escape at p: a whole pair of surrogates is one. 0: JSON has no such escape. */
static size_t escape_length(const struct fix *f, const char *p)
{
    if (p[1] != 'u')
        return p[1] && strchr("\\/bfnrt", p[1]) ? 2 : 0;
    int c = f->end - p >= 6 ? hs_scan_hex4(p + 2) : -1;
    if (c >= 0xd800 && c < 0xdc00 && f->end - p >= 12 && p[6] == '\\' && p[7] == 'u' && hs_scan_hex4(p + 8) >= 0 &&
        !hs_scan_lone_surrogate(p, 12))
        return 12;
    return c < 0 ? 0 : 6;
}

/* A backslash at f->p. */
static enum hs_scan fix_escape(struct fix *f, bool is_key, bool *ended)
{
    const char *p = f->p;
    if (f->end - p < 2 || (p[1] == 'u' && f->end - p < 12 && !f->final)) /* a pair takes twelve */
        return HS_SCAN_MORE;
    if (p[1] == '"') { /* C:\dir\", "ts": 1: the backslash is the text's last byte, not an escape */
        enum fits e = NO;
        const char *q = skip(&f->r->work, p + 2, f->end);
        if (!is_key && q < f->end && *q == ',' && in_object(f))
            e = ends_here(f, p + 2, false);
        if (e == UNKNOWN)
            return HS_SCAN_MORE;
        if (e == YES) {
            defect(f, HS_Q_BAD_ESCAPE);
            put(f, "\\\\\"");
            *ended = true;
        } else {
            put(f, "\\\"");
        }
        f->p += 2;
        return HS_SCAN_OK;
    }
    size_t n = escape_length(f, p);
    if (n == 6 && hs_scan_lone_surrogate(p, 6)) {
        defect(f, HS_Q_LONE_SURROGATE);
        put(f, "\\ufffd");
        f->p += n;
    } else if (n) {
        hs_buf_put(&f->r->out, p, n);
        f->p += n;
    } else {
        defect(f, HS_Q_BAD_ESCAPE);
        put(f, "\\\\");
        f->p++;
    }
    return HS_SCAN_OK;
}

/* Does a key that events have stand behind the blanks at f->p? */
static enum fits key_behind_blanks(struct fix *f)
{
    if (f->p < f->blanks.from || f->p >= f->blanks.to) {
        const char *to = skip(&f->r->work, f->p, f->end);
        f->blanks.from = f->p;
        f->blanks.to = to;
        f->blanks.key = before_key(f, to, true);
    }
    return f->blanks.key;
}

/* A control byte at f->p. At a line's end before `"key":` the closing quote was lost. */
static enum hs_scan fix_control(struct fix *f, bool is_key, bool *ended)
{
    if (!is_key && *f->p == '\n' && in_object(f)) {
        enum fits e = key_behind_blanks(f);
        if (e == UNKNOWN)
            return HS_SCAN_MORE;
        struct hs_buf *out = &f->r->out;
        if (e == YES && out->n && out->p[out->n - 1] == ',') {
            out->p[out->n - 1] = '"';
            defect(f, HS_Q_BARE_QUOTE);
            *ended = true;
            return HS_SCAN_OK; /* the missing comma is put back by the caller */
        }
    }
    put_control(f, (unsigned char)*f->p++);
    return HS_SCAN_OK;
}

/* From behind the opening quote to behind the closing one. */
static enum hs_scan fix_text(struct fix *f, bool is_key)
{
    bool ended = false;
    put(f, "\"");
    while (!ended) {
        const char *q = f->p < f->end ? hs_scan_string(f->p, f->end) : f->end;
        hs_buf_put(&f->r->out, f->p, (size_t)(q - f->p));
        f->r->work += (uint64_t)(q - f->p) + 1;
        f->p = q;
        if (q >= f->end)
            return f->final ? HS_SCAN_ODD : HS_SCAN_MORE;
        enum hs_scan rc = HS_SCAN_OK;
        if (*q == '\\') {
            rc = fix_escape(f, is_key, &ended);
        } else if (*q != '"') {
            rc = fix_control(f, is_key, &ended);
        } else {
            enum fits e = ends_here(f, q + 1, is_key);
            if (e == UNKNOWN)
                return HS_SCAN_MORE;
            ended = e == YES;
            if (!ended && is_key) /* a lost colon: nobody writes quotes into keys */
                return HS_SCAN_ODD;
            if (!ended) {
                defect(f, HS_Q_BARE_QUOTE);
                put(f, "\\");
                /* the next event begins inside this text: its end is lost, and so is the event */
                if (q[-1] == '{' && hs_repair_event_start(q - 1, f->end, false, &f->r->work))
                    return HS_SCAN_ODD;
            }
            put(f, "\"");
            f->p++;
        }
        if (rc)
            return rc == HS_SCAN_MORE && f->final ? HS_SCAN_ODD : rc;
        if (f->r->out.full || stopped(f->r))
            return HS_SCAN_ODD;
    }
    return HS_SCAN_OK;
}

/* ---- numbers and words ---- */

/* Does a bare word end at p? In a header it may be a whole line of somebody's log, commas and all. */
static bool delimits(const struct fix *f, const char *p)
{
    if (f->mode != HS_REPAIR_HEADER || f->depth)
        return hs_is_space(*p) || *p == ',' || *p == '}' || *p == ']';
    if (*p != ',')
        return *p == '\n' || *p == '}';
    p = skip(&f->r->work, p + 1, f->end);
    return p == f->end || *p == '"' || *p == '}';
}

static bool word_is(const char *p, size_t n, const char *lower)
{
    size_t i = 0;
    for (; i < n && lower[i]; i++)
        if ((p[i] | 0x20) != lower[i])
            return false;
    return i == n && !lower[i];
}

static bool all_of(const char *p, const char *end, const char *set)
{
    for (; p < end; p++)
        if (!*p || !strchr(set, *p))
            return false;
    return true;
}

static bool odd_hex(struct fix *f, const char *p, const char *q, bool negative)
{
    if (q - p < 3 || q - p > 18 || p[0] != '0' || (p[1] | 0x20) != 'x' || !all_of(p + 2, q, "0123456789abcdefABCDEF"))
        return false;
    char t[20];
    memcpy(t, p, (size_t)(q - p));
    t[q - p] = 0;
    hs_buf_printf(&f->r->out, "%s%llu", negative ? "-" : "", strtoull(t, NULL, 16));
    return true;
}

/* +3, .5, 5., 007, 0x1f: writes the number that is meant. */
static bool odd_number(struct fix *f, const char *p, const char *q)
{
    bool negative = *p == '-';
    if (*p == '-' || *p == '+')
        p++;
    if (odd_hex(f, p, q, negative))
        return true;
    const char *e = p;
    while (e < q && (*e | 0x20) != 'e')
        e++;
    const char *dot = memchr(p, '.', (size_t)(e - p));
    const char *whole_end = dot ? dot : e;
    if (e == p || (dot && e - p == 1) || !all_of(p, whole_end, "0123456789") ||
        (dot && !all_of(dot + 1, e, "0123456789")))
        return false;
    const char *power = e < q ? e + 1 : q;
    if (power < q && (*power == '-' || *power == '+'))
        power++;
    if (e < q && (power == q || !all_of(power, q, "0123456789")))
        return false;
    while (whole_end - p > 1 && *p == '0')
        p++;
    if (negative)
        put(f, "-");
    if (p == whole_end)
        put(f, "0");
    hs_buf_put(&f->r->out, p, (size_t)(whole_end - p));
    if (dot && e - dot > 1)
        hs_buf_put(&f->r->out, dot, (size_t)(e - dot));
    hs_buf_put(&f->r->out, e, (size_t)(q - e));
    return true;
}

static bool finite_word(const char *p, size_t n)
{
    if (n && (*p == '-' || *p == '+')) {
        p++;
        n--;
    }
    return !(word_is(p, n, "inf") || word_is(p, n, "nan") || word_is(p, n, "infinity") ||
             (n > 4 && memchr(p, '#', n) && p[0] == '1')); /* 1.#INF, 1.#IND: an old Windows runtime */
}

/* Anything that is no text, array or object. */
static enum hs_scan fix_word(struct fix *f)
{
    const char *p = f->p, *q = p;
    size_t most = f->mode == HS_REPAIR_HEADER ? MAX_LINE : MAX_WORD;
    while (q < f->end && !delimits(f, q) && (size_t)(q - p) <= most)
        q++;
    f->r->work += (uint64_t)(q - p) + 1;
    f->p = q;
    if (!f->final && (q == f->end || skip(&f->r->work, q + 1, f->end) == f->end))
        return HS_SCAN_MORE;
    size_t n = (size_t)(q - p);
    if (!n || n > most || memchr(p, '"', n) || memchr(p, ':', n)) {
        if (f->mode == HS_REPAIR_EVENT || !n || n > most)
            return HS_SCAN_ODD;
    }
    struct hs_number num;
    if ((n == 4 && (!memcmp(p, "true", 4) || !memcmp(p, "null", 4))) || (n == 5 && !memcmp(p, "false", 5)) ||
        (hs_number(p, q, &num) == q && num.kind != HS_NUM_BAD)) {
        hs_buf_put(&f->r->out, p, n);
    } else if (odd_number(f, p, q)) {
        defect(f, HS_Q_ODD_NUMBER);
    } else if (!finite_word(p, n)) {
        defect(f, HS_Q_NON_FINITE);
        put(f, "null");
    } else {
        defect(f, HS_Q_BARE_WORD);
        put(f, word_is(p, n, "true") ? "true" : word_is(p, n, "false") ? "false" : "null");
    }
    return HS_SCAN_OK;
}

/* ---- structure ---- */

/* A key and its colon. `tid": 5` lost its first quote. */
static enum hs_scan fix_key(struct fix *f)
{
    enum hs_scan r;
    if (*f->p == '"') {
        f->p++;
        r = fix_text(f, true);
    } else {
        const char *q = f->p;
        while (q < f->end && q - f->p < MAX_WORD && ((*q | 0x20) >= 'a' && (*q | 0x20) <= 'z'))
            q++;
        if (q == f->end && !f->final)
            return HS_SCAN_MORE;
        if (q == f->p || q == f->end || *q != '"')
            return HS_SCAN_ODD;
        defect(f, HS_Q_BARE_QUOTE);
        r = fix_text(f, true);
    }
    if (r)
        return r;
    f->p = skip(&f->r->work, f->p, f->end);
    if (f->p == f->end)
        return f->final ? HS_SCAN_ODD : HS_SCAN_MORE;
    if (*f->p != ':')
        return HS_SCAN_ODD;
    f->p++;
    put(f, ":");
    return HS_SCAN_OK;
}

static enum hs_scan open_level(struct fix *f)
{
    if (f->depth >= f->max_depth)
        return HS_SCAN_ODD;
    uint64_t bit = (uint64_t)1 << (f->depth % 64), *word = &f->is_object[f->depth / 64];
    *word = *f->p == '{' ? *word | bit : *word & ~bit;
    hs_buf_put(&f->r->out, f->p, 1);
    f->depth++;
    f->p++;
    return HS_SCAN_OK;
}

/* Commas before the next member; *closed: the level ended (and was closed). `any`: there was a member before. */
static enum hs_scan separate(struct fix *f, bool any, bool *closed)
{
    int commas = 0;
    *closed = false;
    for (;; f->p++, commas++) {
        f->p = skip(&f->r->work, f->p, f->end);
        if (f->p == f->end)
            return f->final ? HS_SCAN_ODD : HS_SCAN_MORE;
        if (*f->p != ',')
            break;
    }
    if (*f->p == '}' || *f->p == ']') {
        if ((*f->p == '}') != in_object(f))
            return HS_SCAN_ODD;
        if (commas)
            defect(f, HS_Q_STRAY_COMMA);
        hs_buf_put(&f->r->out, f->p, 1);
        f->p++;
        f->depth--;
        *closed = true;
        return HS_SCAN_OK;
    }
    if (commas != (any ? 1 : 0))
        defect(f, HS_Q_STRAY_COMMA);
    if (any)
        put(f, ",");
    return HS_SCAN_OK;
}

/* One value that is no container, or the opening of one (then *opened). */
static enum hs_scan fix_value(struct fix *f, bool *opened)
{
    *opened = false;
    f->p = skip(&f->r->work, f->p, f->end);
    if (f->p == f->end)
        return f->final ? HS_SCAN_ODD : HS_SCAN_MORE;
    switch (*f->p) {
    case '{':
    case '[': *opened = true; return open_level(f);
    case '"': f->p++; return fix_text(f, false);
    case ',':
    case '}': /* "key": , */
        if (!in_object(f))
            return HS_SCAN_ODD;
        defect(f, HS_Q_BARE_WORD);
        put(f, "null");
        return HS_SCAN_OK;
    default: return fix_word(f);
    }
}

enum hs_scan hs_repair_value(struct hs_repair *r, const char **p, const char *end, bool final, unsigned depth,
                             enum hs_repair_mode mode)
{
    struct fix f = {.r = r, .p = *p, .end = end, .final = final, .mode = mode};
    bool opened, closed, any = false;
    f.max_depth = depth < HS_SCAN_DEPTH ? depth : HS_SCAN_DEPTH;
    memset(r->count, 0, sizeof r->count);
    hs_buf_clear(&r->out);
    enum hs_scan rc = fix_value(&f, &opened);
    while (!rc && f.depth) {
        if ((rc = separate(&f, any && !opened, &closed)))
            break;
        any = true;
        opened = false;
        if (closed)
            continue;
        if (in_object(&f) && (rc = fix_key(&f)))
            break;
        rc = fix_value(&f, &opened);
        if (r->out.full || stopped(r))
            rc = HS_SCAN_ODD;
    }
    if (!rc && !hs_buf_reserve(&r->out, HS_SCAN_PAD))
        rc = HS_SCAN_ODD;
    *p = f.p;
    return rc;
}
