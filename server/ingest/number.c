#include "ingest/number.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *digits_end(const char *p, const char *end)
{
    while (p < end && is_digit(*p))
        p++;
    return p;
}

/* All digits of [p, end), a point between them skipped, as an int64; false: too big. */
static bool mantissa(const char *p, const char *end, bool negative, int64_t *m)
{
    int64_t v = 0;
    for (; p < end; p++) {
        if (*p == '.')
            continue;
        int d = *p - '0';
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_sub_overflow(v, d, &v)) /* negative: it reaches further */
            return false;
    }
    if (!negative)
        return !__builtin_sub_overflow(0, v, m);
    *m = v;
    return true;
}

const char *hs_number(const char *p, const char *end, struct hs_number *out)
{
    const char *start = p;
    *out = (struct hs_number){.kind = HS_NUM_BAD};
    bool negative = p < end && *p == '-';
    if (negative)
        p++;
    const char *whole = p;
    p = digits_end(p, end);
    if (p == whole)
        return p == end ? end : start;
    if (*whole == '0' && p - whole > 1)
        return p == end ? end : start;
    const char *frac = p;
    ptrdiff_t digits = 0;
    if (p < end && *p == '.') {
        p = digits_end(p + 1, end);
        digits = p - frac - 1;
        if (!digits)
            return p == end ? end : start;
    }
    const char *last = p;
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < end && (*p == '+' || *p == '-'))
            p++;
        const char *power = p;
        p = digits_end(p, end);
        if (p == power)
            return p == end ? end : start;
    }
    out->kind = HS_NUM_RAW;
    if (p == last && digits <= 18 && mantissa(whole, last, negative, &out->m) && !(negative && out->m == 0)) {
        out->kind = digits ? HS_NUM_DEC : HS_NUM_INT;
        out->digits = (uint8_t)digits;
    }
    return p;
}

bool hs_us_to_ns(int64_t m, unsigned digits, int64_t *ns)
{
    static const int64_t up[4] = {1000, 100, 10, 1};
    if (digits <= 3)
        return !__builtin_mul_overflow(m, up[digits], ns);
    for (; digits > 3; digits--)
        m = m / 10 - (m % 10 < 0);
    *ns = m;
    return true;
}

/* ---- any decimal text ---- */

/* sign, significant digits (at most 40, the rest only moves the point) and where the point is */
struct decimal {
    bool negative;
    char digit[40];
    int n;
    int64_t point; /* value = 0.d1d2… · 10^point */
};

static bool parse_decimal(struct hs_str s, struct decimal *d)
{
    const char *p = s.p, *end = s.p + s.n;
    bool any = false, fraction = false;
    *d = (struct decimal){0};
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    while (end > p && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    if (p < end && (*p == '-' || *p == '+'))
        d->negative = *p++ == '-';
    for (; p < end && (is_digit(*p) || (*p == '.' && !fraction)); p++) {
        if (*p == '.') {
            fraction = true;
            continue;
        }
        any = true;
        if (*p == '0' && !d->n) {
            d->point -= fraction;
            continue;
        }
        if (d->n < (int)sizeof d->digit)
            d->digit[d->n++] = *p;
        d->point += !fraction;
    }
    if (any && p < end && (*p == 'e' || *p == 'E')) {
        p++;
        bool minus = false;
        if (p < end && (*p == '-' || *p == '+'))
            minus = *p++ == '-';
        if (p == end)
            return false;
        int64_t e = 0;
        for (; p < end && is_digit(*p); p++)
            e = e < 100000 ? e * 10 + (*p - '0') : e;
        d->point += minus ? -e : e;
    }
    return any && p == end;
}

/* floor(d · 10^shift) and whether anything was cut. */
static bool scaled(const struct decimal *d, int shift, int64_t *v, bool *cut)
{
    int64_t places = d->point + shift, m = 0;
    *cut = false;
    if (d->n && places > 19)
        return false;
    for (int64_t i = 0; i < places && d->n; i++) {
        int digit = i < d->n ? d->digit[i] - '0' : 0;
        if (__builtin_mul_overflow(m, 10, &m) || __builtin_sub_overflow(m, digit, &m))
            return false;
    }
    for (int64_t i = places < 0 ? 0 : places; i < d->n; i++)
        *cut |= d->digit[i] != '0';
    if (d->negative) {
        *v = m;
        return !(*cut && __builtin_sub_overflow(m, 1, v));
    }
    return !__builtin_sub_overflow(0, m, v);
}

bool hs_text_ns(struct hs_str s, int64_t *ns)
{
    struct decimal d;
    bool cut;
    return parse_decimal(s, &d) && scaled(&d, 3, ns, &cut);
}

bool hs_text_i64(struct hs_str s, int64_t *v)
{
    struct decimal d;
    bool cut;
    int64_t r;
    if (!parse_decimal(s, &d) || !scaled(&d, 0, &r, &cut) || cut)
        return false;
    *v = r;
    return true;
}

bool hs_text_non_finite(struct hs_str s)
{
    static const char *const words[] = {"inf", "nan", "infinity"};
    if (s.n && (*s.p == '-' || *s.p == '+')) {
        s.p++;
        s.n--;
    }
    for (size_t w = 0; w < sizeof words / sizeof words[0]; w++) {
        size_t i = 0;
        while (i < s.n && words[w][i] && (s.p[i] | 0x20) == words[w][i])
            i++;
        if (i == s.n && !words[w][i])
            return true;
    }
    return false;
}
