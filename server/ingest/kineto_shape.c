/* Items of one event into its shape, its argument columns and its values. */
#include "ingest/kineto_in.h"

#include <xxhash.h>

/* ---- dictionaries: open addressing, entries + 1, never more than half full ---- */

static uint64_t column_hash(uint32_t key, uint8_t level, uint8_t type)
{
    return ((uint64_t)key << 8 | (uint64_t)level << 4 | type) * 0x9e3779b97f4a7c15u >> 20;
}

static void column_index(struct hs_kineto *k, uint32_t column)
{
    const struct hs_column *c = &k->trace->columns.p[column];
    size_t i = column_hash(c->key, c->level, c->type) & (k->column_slots - 1);
    while (k->column_table[i])
        i = (i + 1) & (k->column_slots - 1);
    k->column_table[i] = column + 1;
}

static void column_rehash(struct hs_kineto *k)
{
    free(k->column_table);
    k->column_slots = k->column_slots ? k->column_slots * 2 : 512;
    k->column_table = hs_calloc(k->column_slots, sizeof *k->column_table);
    for (uint32_t i = 0; i < k->trace->columns.n; i++)
        if (!k->trace->columns.p[i].scale)
            column_index(k, i);
}

/* The argument column of (key, level, type), made if new; HS_NO_COLUMN when there is no room for one. */
static int32_t column_of(struct hs_kineto *k, uint32_t key, uint8_t level, uint8_t type)
{
    struct hs_trace *t = k->trace;
    if (t->columns.n * 2 >= k->column_slots)
        column_rehash(k);
    for (size_t i = column_hash(key, level, type) & (k->column_slots - 1); k->column_table[i];
         i = (i + 1) & (k->column_slots - 1)) {
        const struct hs_column *c = &t->columns.p[k->column_table[i] - 1];
        if (c->key == key && c->level == level && c->type == type)
            return (int32_t)k->column_table[i] - 1;
    }
    if (!hs_vec_reserve(&t->columns, 2) || (level && t->columns.n >= HS_MAX_ARG_COLUMNS))
        return HS_NO_COLUMN;
    uint32_t id = (uint32_t)t->columns.n;
    t->columns.p[t->columns.n++] = (struct hs_column){key, level, type, false};
    if (type == HS_V_DEC)
        t->columns.p[t->columns.n++] = (struct hs_column){key, level, type, true};
    column_index(k, id);
    return (int32_t)id;
}

static uint64_t shape_hash(const struct hs_field *f, uint32_t n)
{
    return XXH3_64bits(f, n * sizeof *f);
}

static void shape_index(struct hs_kineto *k, uint32_t shape)
{
    const struct hs_shape *s = &k->trace->shapes.p[shape];
    size_t i = shape_hash(k->trace->fields.p + s->first, s->count) & (k->shape_slots - 1);
    while (k->shape_table[i])
        i = (i + 1) & (k->shape_slots - 1);
    k->shape_table[i] = shape + 1;
}

static void shape_rehash(struct hs_kineto *k)
{
    free(k->shape_table);
    k->shape_slots = k->shape_slots ? k->shape_slots * 2 : 512;
    k->shape_table = hs_calloc(k->shape_slots, sizeof *k->shape_table);
    for (uint32_t i = 0; i < k->trace->shapes.n; i++)
        shape_index(k, i);
}

static bool same_fields(const struct hs_field *a, const struct hs_field *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (a[i].key != b[i].key || a[i].column != b[i].column || a[i].level != b[i].level || a[i].type != b[i].type)
            return false;
    return true;
}

static bool shape_of(struct hs_kineto *k, const struct hs_field *f, uint32_t n, uint32_t *shape)
{
    struct hs_trace *t = k->trace;
    if (t->shapes.n * 2 >= k->shape_slots)
        shape_rehash(k);
    for (size_t i = shape_hash(f, n) & (k->shape_slots - 1); k->shape_table[i]; i = (i + 1) & (k->shape_slots - 1)) {
        const struct hs_shape *s = &t->shapes.p[k->shape_table[i] - 1];
        if (s->count == n && same_fields(t->fields.p + s->first, f, n)) {
            *shape = k->shape_table[i] - 1;
            return true;
        }
    }
    if (!hs_vec_reserve(&t->fields, n) || !hs_vec_reserve(&t->shapes, 1))
        return false;
    uint32_t first = (uint32_t)t->fields.n;
    if (n)
        memcpy(t->fields.p + first, f, n * sizeof *f);
    t->fields.n += n;
    *shape = (uint32_t)t->shapes.n;
    t->shapes.p[t->shapes.n++] = (struct hs_shape){first, n};
    shape_index(k, *shape);
    return true;
}

/* ---- roles ---- */

void hs_kineto_values_reset(struct hs_values *v)
{
    v->ts = v->dur = 0;
    /* Member by member: a copy of the struct just written would wait for the store, at every event. */
    v->pid.v = v->tid.v = 0;
    v->pid.kind = v->tid.kind = HS_ID_NONE;
    v->name = 0;
    v->digits = v->has = 0;
    v->text_numbers = v->texts = 0;
    v->id = v->corr = v->stream = v->device = v->bytes = v->size = v->graph = HS_NO_VALUE;
    v->meta_name = v->meta_labels = 0;
    v->n = 0;
}

void hs_kineto_role_int(struct hs_kineto *k, enum hs_role role, int64_t v)
{
    struct hs_values *o = &k->values;
    switch (role) {
    case HS_ROLE_ID: o->id = v; break;
    case HS_ROLE_CORR: o->corr = v; break;
    case HS_ROLE_STREAM: o->stream = v; break;
    case HS_ROLE_DEVICE: o->device = v; break;
    case HS_ROLE_BYTES: o->bytes = v; break;
    case HS_ROLE_SIZE: o->size = v; break;
    case HS_ROLE_GRAPH: o->graph = v; break;
    case HS_ROLE_TS:
    case HS_ROLE_DUR: hs_kineto_role_dec(k, role, v, 0); break;
    default: break;
    }
}

void hs_kineto_role_dec(struct hs_kineto *k, enum hs_role role, int64_t m, unsigned digits)
{
    struct hs_values *o = &k->values;
    int64_t ns;
    if ((role != HS_ROLE_TS && role != HS_ROLE_DUR) || !hs_us_to_ns(m, digits, &ns))
        return;
    *(role == HS_ROLE_TS ? &o->ts : &o->dur) = ns;
    o->has |= role == HS_ROLE_TS ? HS_ROW_HAS_TS : HS_ROW_HAS_DUR;
}

void hs_kineto_role_text(struct hs_kineto *k, enum hs_role role, uint32_t sym)
{
    struct hs_values *o = &k->values;
    struct hs_str s = hs_intern_str(&k->trace->syms, sym);
    int64_t v;
    if (role == HS_ROLE_ID) {
        o->id = INT64_MIN + 1 + sym;
    } else if (role == HS_ROLE_META_NAME || role == HS_ROLE_META_LABELS) {
        *(role == HS_ROLE_META_NAME ? &o->meta_name : &o->meta_labels) = sym;
    } else if (role == HS_ROLE_TS || role == HS_ROLE_DUR) {
        if (!hs_text_ns(s, &v))
            return;
        *(role == HS_ROLE_TS ? &o->ts : &o->dur) = v;
        o->has |= role == HS_ROLE_TS ? HS_ROW_HAS_TS : HS_ROW_HAS_DUR;
        o->text_numbers++;
    } else if (hs_text_i64(s, &v)) {
        hs_kineto_role_int(k, role, v);
        o->text_numbers++;
    }
}

/* A number kept as text of JSON: 1e15, 12345678901234567890. */
static void role_number(struct hs_kineto *k, enum hs_role role, const struct hs_item *it)
{
    struct hs_values *o = &k->values;
    struct hs_str s = hs_str(it->v, (size_t)(it->vend - it->v));
    int64_t v;
    if (role == HS_ROLE_TS || role == HS_ROLE_DUR) {
        if (!hs_text_ns(s, &v))
            return;
        *(role == HS_ROLE_TS ? &o->ts : &o->dur) = v;
        o->has |= role == HS_ROLE_TS ? HS_ROW_HAS_TS : HS_ROW_HAS_DUR;
    } else if (hs_text_i64(s, &v)) {
        hs_kineto_role_int(k, role, v);
    }
}

static enum hs_role role_of(enum hs_known known, uint8_t level)
{
    if (level == 0)
        return known == HS_KEY_TS    ? HS_ROLE_TS
               : known == HS_KEY_DUR ? HS_ROLE_DUR
               : known == HS_KEY_ID  ? HS_ROLE_ID
                                     : HS_ROLE_NONE;
    switch (known) {
    case HS_KEY_CORRELATION: return HS_ROLE_CORR;
    case HS_KEY_STREAM: return HS_ROLE_STREAM;
    case HS_KEY_DEVICE: return HS_ROLE_DEVICE;
    case HS_KEY_BYTES: return HS_ROLE_BYTES;
    case HS_KEY_SIZE: return HS_ROLE_SIZE;
    case HS_KEY_GRAPH: return HS_ROLE_GRAPH;
    case HS_KEY_NAME: return HS_ROLE_META_NAME;
    case HS_KEY_LABELS: return HS_ROLE_META_LABELS;
    default: return HS_ROLE_NONE;
    }
}

/* ---- one item ---- */

struct building {
    struct hs_form *form;
    uint32_t nfields;
    bool has_name, has_ph, full;
};

static uint32_t text_sym(struct hs_kineto *k, const struct hs_item *it)
{
    size_t n = (size_t)(it->vend - it->v);
    return it->escaped ? hs_kineto_sym_escaped(k, it->v, n) : hs_kineto_sym(k, it->v, n);
}

static bool core_time(struct hs_kineto *k, const struct hs_item *it, bool dur)
{
    struct hs_values *o = &k->values;
    int64_t ns;
    if (it->kind != HS_I_INT && (it->kind != HS_I_DEC || it->num.digits > 3))
        return false;
    unsigned digits = it->kind == HS_I_DEC ? it->num.digits : 0;
    if (!hs_us_to_ns(it->num.m, digits, &ns))
        return false;
    *(dur ? &o->dur : &o->ts) = ns;
    o->digits = (uint8_t)(dur ? (o->digits & 15u) | digits << 4 : (o->digits & 0xf0u) | digits);
    o->has |= dur ? HS_ROW_HAS_DUR : HS_ROW_HAS_TS;
    return true;
}

static bool core_id(struct hs_kineto *k, struct hs_item *it, bool tid)
{
    struct hs_id id;
    if (it->kind == HS_I_INT)
        id = (struct hs_id){it->num.m, HS_ID_INT};
    else if (it->kind == HS_I_TEXT)
        id = (struct hs_id){text_sym(k, it), HS_ID_TEXT};
    else
        return false;
    *(tid ? &k->values.tid : &k->values.pid) = id;
    it->op = it->kind == HS_I_INT ? (tid ? HS_OP_TID_INT : HS_OP_PID_INT) : (tid ? HS_OP_TID_TEXT : HS_OP_PID_TEXT);
    return true;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Does the item fill a core column in its canonical form? Then *core says which one. */
static bool core_item(struct hs_kineto *k, struct building *b, struct hs_item *it, enum hs_known known, uint32_t *core)
{
    it->op = HS_OP_FIXED;
    switch (known) {
    case HS_KEY_PH:
        b->has_ph = true;
        *core = HS_CORE_PH;
        if (it->kind != HS_I_TEXT || it->vend - it->v != 1 || !is_letter(*it->v))
            return false;
        b->form->ph = (uint8_t)*it->v;
        return true;
    case HS_KEY_CAT:
        *core = HS_CORE_CAT;
        if (it->kind != HS_I_TEXT)
            return false;
        b->form->cat = text_sym(k, it);
        return true;
    case HS_KEY_NAME:
        *core = HS_CORE_NAME;
        b->has_name = true;
        if (it->kind != HS_I_TEXT)
            return false;
        k->values.name = text_sym(k, it);
        it->op = HS_OP_NAME;
        return true;
    case HS_KEY_PID: *core = HS_CORE_PID; return core_id(k, it, false);
    case HS_KEY_TID: *core = HS_CORE_TID; return core_id(k, it, true);
    case HS_KEY_TS:
        *core = HS_CORE_TS;
        it->op = HS_OP_TS;
        return core_time(k, it, false);
    case HS_KEY_DUR:
        *core = HS_CORE_DUR;
        it->op = HS_OP_DUR;
        return core_time(k, it, true);
    default: return false;
    }
}

static void add_field(struct hs_kineto *k, struct building *b, const struct hs_item *it, uint32_t column, uint8_t type)
{
    struct hs_field *f = &k->fields[b->nfields++];
    memset(f, 0, sizeof *f); /* padding too: fields are hashed as bytes */
    f->key = it->key;
    f->column = column;
    f->level = it->level;
    f->type = type;
}

static void push(struct hs_kineto *k, int32_t column, int64_t v)
{
    k->columns[k->values.n] = column;
    k->values.v[k->values.n++] = v;
}

/* An item with an argument column, or of a type that needs none. A dropped one leaves no field, but the matcher reads
 * its value too, so it has a place among the values. */
static void column_item(struct hs_kineto *k, struct building *b, struct hs_item *it)
{
    static const uint8_t type[] = {[HS_I_TEXT] = HS_V_STR,    [HS_I_INT] = HS_V_INT,    [HS_I_DEC] = HS_V_DEC,
                                   [HS_I_NUMBER] = HS_V_RAW,  [HS_I_NESTED] = HS_V_RAW, [HS_I_TRUE] = HS_V_TRUE,
                                   [HS_I_FALSE] = HS_V_FALSE, [HS_I_NULL] = HS_V_NULL,  [HS_I_ARGS] = HS_V_OBJECT};
    static const uint8_t op[] = {[HS_I_TEXT] = HS_OP_STR,      [HS_I_INT] = HS_OP_INT,    [HS_I_DEC] = HS_OP_DEC,
                                 [HS_I_NUMBER] = HS_OP_CANNOT, [HS_I_NESTED] = HS_OP_RAW, [HS_I_TRUE] = HS_OP_FIXED,
                                 [HS_I_FALSE] = HS_OP_FIXED,   [HS_I_NULL] = HS_OP_FIXED, [HS_I_ARGS] = HS_OP_FIXED};
    uint8_t t = type[it->kind];
    int32_t column = HS_NO_COLUMN;
    it->op = op[it->kind];
    if (it->kind == HS_I_NESTED && !it->level && it->key == k->key[HS_KEY_ARGS])
        it->op =
            HS_OP_CANNOT; /* args that are an array, or too many: a form of it would swallow proper args as one text */
    if (t <= HS_V_RAW && !it->dropped) {
        column = column_of(k, it->key, it->level, t);
        b->full |= column == HS_NO_COLUMN;
    }
    if (!it->dropped)
        add_field(k, b, it, t <= HS_V_RAW ? (uint32_t)column : 0, t);
    enum hs_role role = it->dropped ? HS_ROLE_NONE : it->role;
    it->role = (uint8_t)role;
    uint32_t sym;
    switch ((enum hs_item_kind)it->kind) {
    case HS_I_TEXT:
        sym = text_sym(k, it);
        push(k, column, sym);
        hs_kineto_role_text(k, role, sym);
        break;
    case HS_I_INT:
        push(k, column, it->num.m);
        hs_kineto_role_int(k, role, it->num.m);
        break;
    case HS_I_DEC:
        push(k, column, it->num.m);
        push(k, column < 0 ? column : column + 1, it->num.digits);
        hs_kineto_role_dec(k, role, it->num.m, it->num.digits);
        break;
    case HS_I_NUMBER:
    case HS_I_NESTED:
        sym = hs_kineto_raw(k, it->v, (size_t)(it->vend - it->v));
        push(k, column, sym);
        if (role == HS_ROLE_ID)
            k->values.id = INT64_MIN + 1 + sym; /* beyond int64: as a text */
        else if (it->kind == HS_I_NUMBER)
            role_number(k, role, it);
        break;
    default: break;
    }
}

/* Of members with one key the last counts, and the first args' members go with their object. */
static void drop_duplicates(struct hs_items *items)
{
    items->duplicate = false;
    for (uint32_t i = 1; i < items->n; i++) {
        struct hs_item *it = &items->p[i];
        for (uint32_t j = 0; j < i; j++) {
            struct hs_item *old = &items->p[j];
            if (old->key != it->key || old->level != it->level || old->dropped)
                continue;
            old->dropped = items->duplicate = true;
            if (old->kind == HS_I_ARGS)
                for (j++; j < i && items->p[j].level; j++)
                    items->p[j].dropped = true;
            break;
        }
    }
}

static void settle(struct hs_kineto *k, struct building *b)
{
    struct hs_form *f = b->form;
    enum hs_cat_kind kind = hs_cat_kind(hs_intern_str(&k->trace->syms, f->cat));
    struct hs_values *v = &k->values;
    bool meta = f->ph == 'M';
    f->no_ph = !b->has_ph;
    f->nameless = !b->has_name && f->ph != 'E';
    f->need = (uint8_t)((meta ? 0 : HS_ROW_HAS_TS) | (f->ph == 'X' ? HS_ROW_HAS_DUR : 0));
    f->duplicate = k->items.duplicate;
    f->device_cat = hs_cat_is_device(kind);
    f->device = f->device_cat && !meta;
    f->linked = f->ph && strchr("stfben", f->ph);
    for (uint32_t i = 0; i < k->items.n; i++) {
        const struct hs_item *it = &k->items.p[i];
        if (it->level == 0 && it->key == k->key[HS_KEY_ARGS] && it->kind != HS_I_ARGS && !it->dropped)
            f->bad_args = !k->items.args_raw || *it->v != '{';
        f->device |= it->level && (it->role == HS_ROLE_STREAM || it->role == HS_ROLE_DEVICE);
        f->collective |= it->level && !it->dropped && it->key == k->key[HS_KEY_COLLECTIVE];
        f->meta |= meta && (it->role == HS_ROLE_META_NAME || it->role == HS_ROLE_META_LABELS);
    }
    f->special = f->no_ph || f->nameless || f->duplicate || f->device || f->meta || f->bad_args;
    f->nvalues = v->n;
    f->columns = k->columns;
}

bool hs_kineto_resolve(struct hs_kineto *k, struct hs_form *form)
{
    struct building b = {.form = form};
    *form = (struct hs_form){0};
    hs_kineto_values_reset(&k->values);
    for (uint32_t i = 0; i < k->items.n; i++) {
        struct hs_item *it = &k->items.p[i];
        it->key = it->key_escaped ? hs_kineto_sym_escaped(k, it->key_text, it->key_n)
                                  : hs_kineto_sym(k, it->key_text, it->key_n);
    }
    drop_duplicates(&k->items);
    for (uint32_t i = 0; i < k->items.n; i++) {
        struct hs_item *it = &k->items.p[i];
        enum hs_known known = it->key < sizeof k->known ? k->known[it->key] : HS_KEY_NONE;
        uint32_t core = 0;
        it->role = (uint8_t)role_of(known, it->level);
        if (it->level == 0 && !it->dropped && known && core_item(k, &b, it, known, &core)) {
            it->role = HS_ROLE_NONE;
            add_field(k, &b, it, core, HS_V_CORE);
        } else {
            column_item(k, &b, it);
        }
    }
    settle(k, &b);
    return !b.full && shape_of(k, k->fields, b.nfields, &form->shape);
}
