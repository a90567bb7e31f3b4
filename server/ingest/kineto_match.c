/* Events of a form seen before: compare the text between the values, parse only the values.
 *
 * The tree: a node is a piece of text and how to read the value behind it; its children are what may follow that value.
 * A path from the root to an HS_OP_END node is one form. Children are tried from the one that matched last. */
#include "ingest/kineto_in.h"

enum {
    MAX_NODES = 8192, /* bounds what a hostile file can make us keep and try */
    MAX_CHILDREN = 24,
    MAX_TEXT = 1024, /* of one node; longer blanks or categories are left to the general parser */
};

/* ---- values ---- */

/* An integer, canonical, of at most 18 digits; others are left to the general parser. NULL: it is none. */
static inline const char *read_int(const char *p, int64_t *v)
{
    uint64_t u;
    bool negative = *p == '-';
    p += negative;
    unsigned n = hs_digits18(p, &u);
    if (n - 1 > 17 || (*p == '0' && (n > 1 || negative)))
        return NULL;
    p += n;
    if (*p == '.' || (*p | 0x20) == 'e')
        return NULL;
    *v = negative ? -(int64_t)u : (int64_t)u;
    return p;
}

/* A decimal with a fraction, both parts together at most 18 digits. */
static inline const char *read_dec(const char *p, int64_t *m, unsigned *digits)
{
    static const int64_t pow10[19] = {1,
                                      10,
                                      100,
                                      1000,
                                      10000,
                                      100000,
                                      1000000,
                                      10000000,
                                      100000000,
                                      1000000000,
                                      10000000000,
                                      100000000000,
                                      1000000000000,
                                      10000000000000,
                                      100000000000000,
                                      1000000000000000,
                                      10000000000000000,
                                      100000000000000000,
                                      1000000000000000000};
    uint64_t whole, frac;
    bool negative = *p == '-';
    p += negative;
    unsigned n = hs_digits18(p, &whole);
    if (n - 1 > 17 || (*p == '0' && n > 1) || p[n] != '.')
        return NULL;
    p += n + 1;
    unsigned f = hs_digits18(p, &frac);
    if (f - 1 > 17 || n + f > 18)
        return NULL;
    p += f;
    if ((*p | 0x20) == 'e')
        return NULL;
    int64_t v = (int64_t)whole * pow10[f] + (int64_t)frac;
    if (negative && !v)
        return NULL;
    *m = negative ? -v : v;
    *digits = f;
    return p;
}

/* µs, as an integer or with up to three digits of fraction, to ns. */
static inline const char *read_time(const char *p, int64_t *ns, unsigned *digits)
{
    static const uint16_t to_ns[4] = {1000, 100, 10, 1};
    uint64_t whole, frac = 0;
    bool negative = *p == '-';
    p += negative;
    unsigned n = hs_digits18(p, &whole), f = 0;
    if (n - 1 > 17 || (*p == '0' && n > 1))
        return NULL;
    p += n;
    if (*p == '.') {
        f = hs_digits8(p + 1, &frac);
        if (f - 1 > 2)
            return NULL;
        p += f + 1;
    }
    if ((*p | 0x20) == 'e')
        return NULL;
    uint64_t v;
    if (__builtin_mul_overflow(whole, 1000u, &v) || v > INT64_MAX - 1000u)
        return NULL;
    v += frac * to_ns[f];
    if (negative && !v)
        return NULL;
    *ns = negative ? -(int64_t)v : (int64_t)v;
    *digits = f;
    return p;
}

/* From behind the opening quote; returns the closing one. */
static inline const char *read_text(struct hs_kineto *k, const char *p, const char *end, uint32_t *sym)
{
    const char *q = hs_scan_string(p, end);
    if (__builtin_expect(q >= end, 0))
        return NULL;
    if (__builtin_expect(*q == '"', 1)) {
        *sym = hs_kineto_sym(k, p, (size_t)(q - p));
        return q;
    }
    bool escaped;
    q = p;
    if (hs_scan_text(&q, end, &escaped))
        return NULL;
    *sym = hs_kineto_sym_escaped(k, p, (size_t)(q - p));
    return q;
}

/* An array or object. One that stood here before is known by its bytes alone: what is balanced ends where it ends. */
static const char *read_raw(struct hs_kineto *k, struct hs_node *nd, const char *p, const char *end, uint32_t *sym)
{
    if (*p != '[' && *p != '{')
        return NULL;
    for (unsigned i = 0; i < HS_RAW_RECENT; i++) {
        const struct hs_raw_seen *s = &nd->recent[i];
        if (s->n && s->n < (size_t)(end - p) && hs_same_padded(p, s->p, s->n)) {
            *sym = s->sym;
            return p + s->n;
        }
    }
    const char *q = p;
    if (hs_scan_value(&q, end, k->limits.depth))
        return NULL;
    *sym = hs_kineto_raw(k, p, (size_t)(q - p));
    struct hs_str kept = hs_intern_str(&k->trace->syms, *sym);
    if (kept.n == (size_t)(q - p) && !memcmp(kept.p, p, kept.n)) {
        nd->recent[nd->turn++ % HS_RAW_RECENT] = (struct hs_raw_seen){kept.p, (uint32_t)kept.n, *sym};
    }
    return q;
}

/* ---- nodes ---- */

/* The node's text and value at p: the byte behind the value, NULL if they do not stand there. May leave rubbish in
 * k->values beyond its n. */
static inline const char *read_node(struct hs_kineto *k, struct hs_node *nd, const char *p, const char *end)
{
    struct hs_values *o = &k->values;
    int64_t v;
    uint32_t sym;
    unsigned digits;
    if ((size_t)(end - p) <= nd->n || !hs_same_padded(p, nd->text, nd->n))
        return NULL;
    p += nd->n;
    switch ((enum hs_op)nd->op) {
    case HS_OP_END: return p;
    case HS_OP_NAME: return read_text(k, p, end, &o->name);
    case HS_OP_PID_INT: o->pid.kind = HS_ID_INT; return read_int(p, &o->pid.v);
    case HS_OP_TID_INT: o->tid.kind = HS_ID_INT; return read_int(p, &o->tid.v);
    case HS_OP_PID_TEXT:
        p = read_text(k, p, end, &sym);
        o->pid = (struct hs_id){p ? sym : 0, HS_ID_TEXT};
        return p;
    case HS_OP_TID_TEXT:
        p = read_text(k, p, end, &sym);
        o->tid = (struct hs_id){p ? sym : 0, HS_ID_TEXT};
        return p;
    case HS_OP_TS:
        if ((p = read_time(p, &o->ts, &digits))) {
            o->digits = (uint8_t)((o->digits & 0xf0u) | digits);
            o->has |= HS_ROW_HAS_TS;
        }
        return p;
    case HS_OP_DUR:
        if ((p = read_time(p, &o->dur, &digits))) {
            o->digits = (uint8_t)((o->digits & 15u) | digits << 4);
            o->has |= HS_ROW_HAS_DUR;
        }
        return p;
    case HS_OP_INT:
        if ((p = read_int(p, &v))) {
            o->v[o->n++] = v;
            if (nd->role)
                hs_kineto_role_int(k, (enum hs_role)nd->role, v);
        }
        return p;
    case HS_OP_DEC:
        if ((p = read_dec(p, &v, &digits))) {
            o->v[o->n++] = v;
            o->v[o->n++] = digits;
            if (nd->role)
                hs_kineto_role_dec(k, (enum hs_role)nd->role, v, digits);
        }
        return p;
    case HS_OP_STR:
        if ((p = read_text(k, p, end, &sym))) {
            o->v[o->n++] = sym;
            if (nd->role)
                hs_kineto_role_text(k, (enum hs_role)nd->role, sym);
        }
        return p;
    case HS_OP_RAW:
        if ((p = read_raw(k, nd, p, end, &sym)))
            o->v[o->n++] = sym;
        return p;
    case HS_OP_FIXED:
    case HS_OP_CANNOT: break;
    }
    return NULL;
}

/* The child of `parent` that goes on at *p. */
static inline struct hs_node *step(struct hs_kineto *k, struct hs_node *parent, const char **p, const char *end)
{
    struct hs_node *hot = parent->hot;
    const char *q = hot ? read_node(k, hot, *p, end) : NULL;
    if (__builtin_expect(q != NULL, 1)) {
        *p = q;
        return hot;
    }
    for (struct hs_node *nd = parent->children; nd; nd = nd->next) {
        if (nd == hot || !(q = read_node(k, nd, *p, end)))
            continue;
        parent->hot = nd;
        *p = q;
        return nd;
    }
    return NULL;
}

/* The first node of an event: what followed an event of the last form before is tried first. */
static struct hs_node *first_step(struct hs_kineto *k, const char **p, const char *end)
{
    struct hs_form *last = k->last;
    for (int i = 0; last && i < 2; i++) {
        struct hs_node *nd = last->guess[i];
        const char *q = nd ? read_node(k, nd, *p, end) : NULL;
        if (!q)
            continue;
        if (i) {
            last->guess[1] = last->guess[0];
            last->guess[0] = nd;
        }
        *p = q;
        return nd;
    }
    struct hs_node *nd = step(k, &k->root, p, end);
    if (nd && last) {
        last->guess[1] = last->guess[0];
        last->guess[0] = nd;
    }
    return nd;
}

const char *hs_kineto_match(struct hs_kineto *k, const char *p, const char *end, struct hs_form **form)
{
    hs_kineto_values_reset(&k->values);
    struct hs_node *nd = first_step(k, &p, end);
    while (nd && nd->op != HS_OP_END)
        nd = step(k, nd, &p, end);
    if (!nd)
        return NULL;
    *form = k->last = nd->form;
    return p;
}

/* ---- learning ---- */

static struct hs_node *child(struct hs_kineto *k, struct hs_node *parent, const char *text, size_t n, uint8_t op,
                             uint8_t role, int64_t column)
{
    for (struct hs_node *nd = parent->children; nd; nd = nd->next)
        if (nd->op == op && nd->role == role && nd->n == n && nd->column == column && !memcmp(nd->text, text, n))
            return nd;
    if (n > MAX_TEXT || k->nodes >= MAX_NODES || parent->nchildren >= MAX_CHILDREN)
        return NULL;
    struct hs_node *nd = hs_arena_alloc(&k->arena, sizeof *nd);
    char *copy = hs_arena_alloc(&k->arena, n + 16);
    if (!nd || !copy)
        return NULL;
    memcpy(copy, text, n);
    memset(copy + n, 0, 16);
    *nd = (struct hs_node){.text = copy, .n = (uint32_t)n, .op = op, .role = role, .column = column};
    nd->next = parent->children;
    parent->children = nd;
    parent->nchildren++;
    k->nodes++;
    return nd;
}

static struct hs_form *keep_form(struct hs_kineto *k, const struct hs_form *form)
{
    struct hs_form *f = hs_arena_alloc(&k->arena, sizeof *f);
    int32_t *columns = hs_arena_alloc(&k->arena, form->nvalues * sizeof *columns + 1);
    if (!f || !columns)
        return NULL;
    *f = *form;
    f->columns = columns;
    for (uint32_t i = 0; i < form->nvalues; i++)
        columns[i] = form->columns[i];
    return f;
}

struct hs_form *hs_kineto_learn(struct hs_kineto *k, const struct hs_form *form, const char *text, const char *end)
{
    struct hs_node *nd = &k->root;
    const char *from = text;
    uint32_t value = 0;
    for (uint32_t i = 0; i < k->items.n; i++)
        if (k->items.p[i].op == HS_OP_CANNOT)
            return NULL;
    for (uint32_t i = 0; i < k->items.n && nd; i++) {
        const struct hs_item *it = &k->items.p[i];
        int64_t column = 0;
        if (it->op == HS_OP_FIXED)
            continue;
        if (it->op >= HS_OP_INT) {
            column = form->columns[value];
            value += it->op == HS_OP_DEC ? 2 : 1;
        }
        nd = child(k, nd, from, (size_t)(it->v - from), it->op, it->role, column);
        from = it->vend;
    }
    if (nd)
        nd = child(k, nd, from, (size_t)(end - from), HS_OP_END, 0, 0);
    if (nd && !nd->form)
        nd->form = keep_form(k, form);
    if (!nd || !nd->form)
        return NULL;
    return nd->form;
}
