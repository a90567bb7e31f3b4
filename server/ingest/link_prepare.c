#include "ingest/link_in.h"

#include <stdlib.h>
#include <string.h>

static bool pid_is(const struct hs_trace *t, struct hs_id pid, const char *text)
{
    return pid.kind == HS_ID_TEXT && hs_str_is(hs_intern_str(&t->syms, (uint32_t)pid.v), text);
}

static struct hs_str bracket(const struct hs_trace *t, struct hs_id pid)
{
    struct hs_str s = pid.kind == HS_ID_TEXT ? hs_intern_str(&t->syms, (uint32_t)pid.v) : hs_str("", 0);
    const char *end = s.n && s.p[0] == '[' ? memchr(s.p, ']', s.n) : NULL;
    return end ? hs_str(s.p, (size_t)(end - s.p) + 1) : hs_str("", 0);
}

static uint8_t lane_flags(const struct hs_trace *t, struct hs_id pid)
{
    if (pid_is(t, pid, "Spans") || pid_is(t, pid, "Traces"))
        return HS_LANE_SYNTHETIC;
    if (pid_is(t, pid, "CPU functions"))
        return HS_LANE_OLD_CPU;
    if (pid_is(t, pid, "CUDA functions"))
        return HS_LANE_OLD_GPU;
    return bracket(t, pid).n ? HS_LANE_PART : 0;
}

/* What makes a process look like a host. */
enum { HAS_OPS = 1, HAS_CALLS = 2 };

static uint8_t host_sign(enum hs_cat_kind k)
{
    if (k == HS_CAT_CPU_OP || k == HS_CAT_ANNOTATION || k == HS_CAT_PYTHON)
        return HAS_OPS;
    return k == HS_CAT_RUNTIME ? HAS_CALLS : 0;
}

static void learn_category(struct hs_linking *l, uint16_t cat)
{
    if (cat == UINT16_MAX) {
        l->kind[cat] = HS_CAT_OTHER;
        return;
    }
    struct hs_str text = hs_intern_str(&l->t->syms, cat);
    l->kind[cat] = (uint8_t)hs_cat_kind(text);
    if (hs_cat_is_mixed(text))
        l->mixed = cat;
}

/* Categories, phases, and what spans each lane has (`signs`): all that must be known of the rows first, in one pass. */
static void read_rows(struct hs_linking *l, uint8_t *signs)
{
    memset(l->kind, UINT8_MAX, sizeof l->kind);
    l->mixed = UINT16_MAX;
    for (size_t e = 0; e < l->r->n; e++) {
        uint16_t cat = l->r->cat[e];
        if (l->kind[cat] == UINT8_MAX)
            learn_category(l, cat);
        uint8_t ph = l->r->ph[e];
        if (ph == 'X' || ph == 'B') {
            uint8_t sign = host_sign(l->kind[cat]), *known = &signs[l->r->lane[e]];
            if (sign & ~*known)
                *known |= sign;
        }
        switch (ph) {
        case 'B':
        case 'E': l->nb++; break;
        case 'b':
        case 'e': l->nasync++; break;
        case 's':
        case 't':
        case 'f': l->nflows++; break;
        default: break;
        }
    }
}

/* Are there several processes that could each be a rank? Such a process has operators (or, where no process has any, calls
 * of the runtime). A device's firmware that writes runtime rows of its own (MTIA) is none. */
static bool several_hosts(const struct hs_linking *l, const uint8_t *signs)
{
    uint32_t with_ops = UINT32_MAX, with_calls = UINT32_MAX; /* the part of the last one met */
    bool ops = false, calls = false;                         /* there is another */
    for (size_t i = 0; i < l->t->lanes.n; i++) {
        uint32_t part = l->part[i];
        if (signs[i] & HAS_OPS) {
            ops |= with_ops != UINT32_MAX && with_ops != part;
            with_ops = part;
        }
        if (signs[i] & HAS_CALLS) {
            calls |= with_calls != UINT32_MAX && with_calls != part;
            with_calls = part;
        }
    }
    return with_ops == UINT32_MAX ? calls : ops;
}

void hs_link_lanes(struct hs_linking *l)
{
    const struct hs_trace *t = l->t;
    size_t n = t->lanes.n;
    struct hs_intern pids, parts;
    hs_intern_init(&pids, n + 2, SIZE_MAX / 4);
    hs_intern_init(&parts, n + 2, SIZE_MAX / 4);
    l->lane_flags = hs_calloc(n, 1);
    l->process = hs_calloc(n, sizeof *l->process);
    l->part = hs_calloc(n, sizeof *l->part);
    for (size_t i = 0; i < n; i++) {
        struct hs_id pid = t->lanes.p[i].pid;
        char key[1 + sizeof pid.v] = {(char)('0' + pid.kind)}; /* kind and value: 1 and "1" are two processes */
        memcpy(key + 1, &pid.v, sizeof pid.v);
        struct hs_str part = bracket(t, pid);
        l->lane_flags[i] = lane_flags(t, pid);
        l->old_profiler |= (l->lane_flags[i] & HS_LANE_OLD_GPU) != 0;
        l->process[i] = hs_intern_add(&pids, key, sizeof key);
        l->part[i] = part.n ? hs_intern_add(&parts, part.p, part.n) : hs_intern_add(&parts, key, sizeof key);
    }
    l->nprocesses = (uint32_t)pids.n;
    l->nparts = (uint32_t)parts.n;
    hs_intern_free(&pids);
    hs_intern_free(&parts);

    uint8_t *signs = hs_calloc(n, 1);
    read_rows(l, signs);
    bool several = several_hosts(l, signs);
    free(signs);
    if (!several) {
        memset(l->part, 0, n * sizeof *l->part);
        l->nparts = 1;
        for (size_t i = 0; i < n; i++)
            l->lane_flags[i] &= (uint8_t)~HS_LANE_PART;
    }
}

void hs_link_forget(struct hs_linking *l)
{
    free(l->lane_flags);
    free(l->process);
    free(l->part);
    free(l->side);
}

/* Are all spans that do not start at 0 far from it? */
static bool zero_is_odd(const struct hs_linking *l)
{
    const struct hs_rows *r = l->r;
    bool any = false;
    for (size_t e = 0; e < r->n; e++) {
        if (r->ph[e] != 'X' || !(r->flags[e] & HS_ROW_HAS_TS) || !r->ts[e])
            continue;
        if (r->ts[e] < HS_FAR)
            return false;
        any = true;
    }
    return any;
}

static uint8_t side_of(const struct hs_linking *l, size_t e)
{
    const struct hs_rows *r = l->r;
    unsigned both = HS_ROW_HAS_TS | HS_ROW_HAS_DUR;
    if ((r->ph[e] != 'X' && r->ph[e] != 'B') || (r->flags[e] & both) != both)
        return HS_SIDE_NONE;
    enum hs_cat_kind k = hs_row_kind(l, e);
    if (k == HS_CAT_FLOW || k == HS_CAT_TRACE || l->lane_flags[r->lane[e]] & HS_LANE_SYNTHETIC)
        return HS_SIDE_NONE;
    return hs_cat_is_device(k) ? HS_SIDE_DEVICE : HS_SIDE_CPU;
}

void hs_link_normalise(struct hs_linking *l)
{
    struct hs_rows *r = &l->t->rows;
    bool odd_zero = zero_is_odd(l);
    int64_t huge = 0, zero = 0, end;
    l->side = hs_malloc(r->n);
    for (size_t e = 0; e < r->n; e++) {
        l->side[e] = HS_SIDE_NONE;
        if (!(r->flags[e] & HS_ROW_HAS_DUR))
            continue;
        if (r->dur[e] < 0)
            r->dur[e] = 0;
        if (r->dur[e] > HS_HUGE_DUR || __builtin_add_overflow(r->ts[e], r->dur[e], &end)) {
            r->flags[e] &= (uint8_t)~HS_ROW_HAS_DUR;
            huge++;
        }
        if (odd_zero && !r->ts[e] && r->flags[e] & HS_ROW_HAS_TS && hs_cat_is_device(hs_row_kind(l, e))) {
            r->flags[e] &= (uint8_t)~HS_ROW_HAS_TS;
            zero++;
        }
        l->side[e] = side_of(l, e);
    }
    hs_count(&l->t->quality, HS_Q_HUGE_DUR, huge);
    hs_count(&l->t->quality, HS_Q_TS_ZERO, zero);
}

/* ---- counts by category and phase ---- */

struct cat_slots { /* open addressing over out->cats; index + 1 */
    uint32_t *slot;
    size_t n;
};

static size_t cat_probe(const struct cat_slots *s, const struct hs_cat_row *rows, uint32_t cat, uint8_t ph)
{
    size_t i = ((cat << 8 | ph) * 2654435761u) & (s->n - 1);
    while (s->slot[i] && (rows[s->slot[i] - 1].cat != cat || rows[s->slot[i] - 1].ph != ph))
        i = (i + 1) & (s->n - 1);
    return i;
}

static struct hs_cat_row *cat_row(struct cat_slots *s, struct hs_links *out, uint32_t cat, uint8_t ph)
{
    size_t i = cat_probe(s, out->cats.p, cat, ph);
    if (!s->slot[i]) {
        (void)hs_vec_push(&out->cats, ((struct hs_cat_row){cat, ph, 0, 0}));
        s->slot[i] = (uint32_t)out->cats.n;
        if (out->cats.n * 2 > s->n) {
            free(s->slot);
            s->slot = hs_calloc(s->n *= 2, sizeof *s->slot);
            for (size_t k = 0; k < out->cats.n; k++)
                s->slot[cat_probe(s, out->cats.p, out->cats.p[k].cat, out->cats.p[k].ph)] = (uint32_t)k + 1;
        }
        return &out->cats.p[out->cats.n - 1];
    }
    return &out->cats.p[s->slot[i] - 1];
}

static int compare_cats(const void *a, const void *b, void *syms)
{
    const struct hs_cat_row *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    int c = hs_str_cmp(hs_intern_str(syms, x->cat), hs_intern_str(syms, y->cat));
    return c ? c : x->ph - y->ph;
}

void hs_link_categories(const struct hs_linking *l)
{
    const struct hs_rows *r = l->r;
    struct cat_slots s = {hs_calloc(64, sizeof *s.slot), 64};
    struct hs_cat_row *row = NULL;
    for (size_t e = 0; e < r->n; e++) {
        uint32_t cat = r->cat[e];
        if (!row || row->cat != cat || row->ph != r->ph[e])
            row = cat_row(&s, l->out, cat, r->ph[e]);
        row->count++;
        if (r->flags[e] & HS_ROW_HAS_DUR)
            row->dur = hs_add_sat(row->dur, r->dur[e]);
    }
    free(s.slot);
    if (l->out->cats.n)
        qsort_r(l->out->cats.p, l->out->cats.n, sizeof *l->out->cats.p, compare_cats, &l->t->syms);
}
