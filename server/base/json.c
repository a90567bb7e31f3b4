#include "base/json.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void sep(struct hs_json *j)
{
    if (j->comma && !j->after_key)
        hs_buf_putc(j->out, ',');
    j->after_key = false;
    j->comma = true;
}

static void open_level(struct hs_json *j, char open, char close)
{
    sep(j);
    assert(j->depth < HS_JSON_DEPTH);
    j->close[j->depth++] = close;
    hs_buf_putc(j->out, open);
    j->comma = false;
}

void hs_json_obj(struct hs_json *j)
{
    open_level(j, '{', '}');
}

void hs_json_arr(struct hs_json *j)
{
    open_level(j, '[', ']');
}

void hs_json_end(struct hs_json *j)
{
    assert(j->depth > 0);
    hs_buf_putc(j->out, j->close[--j->depth]);
    j->comma = true;
}

void hs_json_key_n(struct hs_json *j, struct hs_str key)
{
    sep(j);
    hs_json_quote(j->out, key);
    hs_buf_putc(j->out, ':');
    j->after_key = true;
}

void hs_json_key(struct hs_json *j, const char *key)
{
    hs_json_key_n(j, hs_cstr(key));
}

void hs_json_str(struct hs_json *j, struct hs_str s)
{
    sep(j);
    hs_json_quote(j->out, s);
}

void hs_json_cstr(struct hs_json *j, const char *s)
{
    if (s)
        hs_json_str(j, hs_cstr(s));
    else
        hs_json_null(j);
}

void hs_json_i64(struct hs_json *j, int64_t v)
{
    const int64_t safe = (int64_t)1 << 53;
    bool quote = v > safe || v < -safe;
    sep(j);
    if (quote)
        hs_buf_putc(j->out, '"');
    hs_buf_put_i64(j->out, v);
    if (quote)
        hs_buf_putc(j->out, '"');
}

void hs_json_f64(struct hs_json *j, double v)
{
    sep(j);
    if (isfinite(v))
        hs_put_f64(j->out, v);
    else
        hs_buf_puts(j->out, "null");
}

void hs_json_us(struct hs_json *j, int64_t ns)
{
    sep(j);
    hs_put_us(j->out, ns);
}

void hs_json_bool(struct hs_json *j, bool v)
{
    sep(j);
    hs_buf_puts(j->out, v ? "true" : "false");
}

void hs_json_null(struct hs_json *j)
{
    sep(j);
    hs_buf_puts(j->out, "null");
}

void hs_json_raw(struct hs_json *j, struct hs_str json)
{
    sep(j);
    hs_buf_put(j->out, json.p, json.n);
}

/* Bytes of the valid UTF-8 sequence at p, 0 if it is none (overlong, surrogate, beyond U+10FFFF, cut). */
static size_t utf8_len(const unsigned char *p, size_t n)
{
    if (p[0] < 0x80)
        return 1;
    if (p[0] >= 0xc2 && p[0] < 0xe0)
        return n > 1 && (p[1] & 0xc0) == 0x80 ? 2 : 0;
    if (p[0] >= 0xe0 && p[0] < 0xf0) {
        if (n < 3 || (p[1] & 0xc0) != 0x80 || (p[2] & 0xc0) != 0x80)
            return 0;
        return (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0) ? 0 : 3;
    }
    if (p[0] >= 0xf0 && p[0] < 0xf5) {
        if (n < 4 || (p[1] & 0xc0) != 0x80 || (p[2] & 0xc0) != 0x80 || (p[3] & 0xc0) != 0x80)
            return 0;
        return (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] >= 0x90) ? 0 : 4;
    }
    return 0;
}

static bool plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&';
}

static void escape_one(struct hs_buf *out, unsigned char c)
{
    switch (c) {
    case '"': hs_buf_puts(out, "\\\""); break;
    case '\\': hs_buf_puts(out, "\\\\"); break;
    case '\n': hs_buf_puts(out, "\\n"); break;
    case '\r': hs_buf_puts(out, "\\r"); break;
    case '\t': hs_buf_puts(out, "\\t"); break;
    default: hs_buf_printf(out, "\\u%04x", c);
    }
}

void hs_json_quote(struct hs_buf *out, struct hs_str s)
{
    const unsigned char *p = (const unsigned char *)s.p, *end = p + s.n;
    hs_buf_putc(out, '"');
    while (p < end) {
        const unsigned char *run = p;
        while (p < end && plain(*p))
            p++;
        if (p > run)
            hs_buf_put(out, run, (size_t)(p - run));
        if (p == end)
            break;
        if (*p < 0x80) {
            escape_one(out, *p++);
            continue;
        }
        size_t n = utf8_len(p, (size_t)(end - p));
        hs_buf_put(out, n ? (const char *)p : "\xef\xbf\xbd", n ? n : 3);
        p += n ? n : 1;
    }
    hs_buf_putc(out, '"');
}

void hs_put_utf8(struct hs_buf *out, struct hs_str s)
{
    const unsigned char *p = (const unsigned char *)s.p, *end = p + s.n;
    while (p < end) {
        size_t n = utf8_len(p, (size_t)(end - p));
        hs_buf_put(out, n ? (const char *)p : "\xef\xbf\xbd", n ? n : 3);
        p += n ? n : 1;
    }
}

void hs_put_us(struct hs_buf *out, int64_t ns)
{
    uint64_t u = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    unsigned frac = (unsigned)(u % 1000);
    if (ns < 0)
        hs_buf_putc(out, '-');
    hs_buf_put_i64(out, (int64_t)(u / 1000));
    if (!frac)
        return;
    char t[4] = {'.', (char)('0' + frac / 100), (char)('0' + frac / 10 % 10), (char)('0' + frac % 10)};
    hs_buf_put(out, t, frac % 10 ? 4 : frac / 10 % 10 ? 3 : 2);
}

void hs_put_f64(struct hs_buf *out, double v)
{
    char t[40];
    for (int digits = 15; digits <= 17; digits++) { /* most doubles need 15; 17 always suffice */
        snprintf(t, sizeof t, "%.*g", digits, v);
        if (digits == 17 || strtod(t, NULL) == v)
            break;
    }
    hs_buf_puts(out, t);
}
