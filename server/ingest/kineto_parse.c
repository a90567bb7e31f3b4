/* One event, strictly: any order of keys, any whitespace. */
#include "ingest/kineto_in.h"

struct cursor {
    struct hs_kineto *k;
    const char *p, *end;
};

static enum hs_scan blanks(struct cursor *c)
{
    c->p = hs_skip_space(c->p, c->end);
    return c->p < c->end ? HS_SCAN_OK : HS_SCAN_MORE;
}

/* `"key" :` and the blanks behind it. */
static enum hs_scan key(struct cursor *c, struct hs_item *it)
{
    enum hs_scan r;
    if (*c->p != '"')
        return HS_SCAN_ODD;
    it->key_text = ++c->p;
    if ((r = hs_scan_text(&c->p, c->end, &it->key_escaped)))
        return r;
    it->key_n = (uint32_t)(c->p - it->key_text);
    c->p++;
    if ((r = blanks(c)))
        return r;
    if (*c->p != ':')
        return HS_SCAN_ODD;
    c->p++;
    return blanks(c);
}

static enum hs_scan text_value(struct cursor *c, struct hs_item *it)
{
    it->kind = HS_I_TEXT;
    it->v = ++c->p;
    enum hs_scan r = hs_scan_text(&c->p, c->end, &it->escaped);
    it->vend = c->p;
    if (!r)
        c->p++;
    return r;
}

static enum hs_scan number_value(struct cursor *c, struct hs_item *it)
{
    static const uint8_t kind[] = {
        [HS_NUM_BAD] = HS_I_NUMBER, [HS_NUM_INT] = HS_I_INT, [HS_NUM_DEC] = HS_I_DEC, [HS_NUM_RAW] = HS_I_NUMBER};
    it->v = c->p;
    c->p = it->vend = hs_number(c->p, c->end, &it->num);
    if (c->p == c->end)
        return HS_SCAN_MORE;
    it->kind = kind[it->num.kind];
    return it->num.kind == HS_NUM_BAD ? HS_SCAN_ODD : HS_SCAN_OK;
}

static enum hs_scan value(struct cursor *c, struct hs_item *it, unsigned depth)
{
    char first = *c->p;
    if (first == '"')
        return text_value(c, it);
    if (first == '-' || (first >= '0' && first <= '9'))
        return number_value(c, it);
    it->v = c->p;
    it->kind = first == 't' ? HS_I_TRUE : first == 'f' ? HS_I_FALSE : first == 'n' ? HS_I_NULL : HS_I_NESTED;
    if (it->kind == HS_I_NESTED && first != '[' && first != '{')
        return HS_SCAN_ODD;
    enum hs_scan r = hs_scan_value(&c->p, c->end, depth);
    it->vend = c->p;
    return r;
}

/* Over a comma if one is due. *closed: the object's brace came instead. */
static enum hs_scan next_member(struct cursor *c, bool *first, bool *closed)
{
    enum hs_scan r;
    *closed = false;
    if ((r = blanks(c)))
        return r;
    if (*c->p == '}') {
        c->p++;
        *closed = true;
        return HS_SCAN_OK;
    }
    if (!*first) {
        if (*c->p != ',')
            return HS_SCAN_ODD;
        c->p++;
        if ((r = blanks(c)))
            return r;
    }
    *first = false;
    return HS_SCAN_OK;
}

enum hs_scan hs_kineto_parse(struct hs_kineto *k, const char **pp, const char *end, bool args_raw)
{
    struct cursor c = {k, *pp + 1, end};
    struct hs_items *items = &k->items;
    enum hs_scan r;
    uint8_t level = 0;
    bool first = true, closed;

    items->n = 0;
    items->args_raw = args_raw;
    for (;;) {
        if ((r = next_member(&c, &first, &closed)))
            break;
        if (closed) {
            if (!level) {
                *pp = c.p;
                return HS_SCAN_OK;
            }
            level = 0;
            first = false;
            continue;
        }
        if (items->n == HS_MAX_ITEMS)
            return args_raw ? HS_SCAN_ODD : hs_kineto_parse(k, pp, end, true);
        struct hs_item *it = &items->p[items->n];
        *it = (struct hs_item){.level = level};
        if ((r = key(&c, it)))
            break;
        items->n++;
        if (!level && !args_raw && *c.p == '{' && it->key_n == 4 && !memcmp(it->key_text, "args", 4)) {
            it->kind = HS_I_ARGS;
            it->v = c.p;
            it->vend = ++c.p;
            level = 1;
            first = true;
            continue;
        }
        if ((r = value(&c, it, k->limits.depth + (level == 0))))
            break;
    }
    *pp = c.p;
    return r;
}
