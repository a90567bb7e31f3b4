#include "analysis/compare.h"
#include "analysis/select.h"
#include "trace/classes.h"
#include "trace/names.h"
#include "trace/stats.h"

#include <stdlib.h>
#include <string.h>

const struct hs_param_spec hs_compare_params[HS_COMPARE_NPARAMS] = {
    {"device_type", HS_P_CHOICE, "", "ALL", 0, 0, "ALL|CPU|GPU", "events compared"},
    {"use_short_name", HS_P_BOOL, "", "false", 0, 0, NULL, "compare names without template and arguments"},
    {"by", HS_P_CHOICE, "", "name", 0, 0, "name|position|part",
     "rows are names; or places in the call tree (the names from the top of the thread down); or parts of the devices' "
     "time, which add up to it (diff only)"},
    {"control_iteration", HS_P_INT_LIST, "", NULL, 0, 0, NULL, "steps of the base by number; absent: all"},
    {"test_iteration", HS_P_INT_LIST, "", NULL, 0, 0, NULL, "steps of the test by number; absent: all"},
    {"control_rank", HS_P_INT_LIST, "", NULL, 0, 0, NULL, "ranks of the base; absent: all"},
    {"test_rank", HS_P_INT_LIST, "", NULL, 0, 0, NULL, "ranks of the test; absent: all"},
};

/* ---- what is chosen ---- */

static bool in_list(const struct hs_params *p, const char *name, int64_t v)
{
    size_t n;
    const int64_t *list = hs_param_list(p, name, &n);
    if (!hs_param_has(p, name))
        return true;
    for (size_t i = 0; i < n; i++)
        if (list[i] == v)
            return true;
    return false;
}

bool hs_compare_rank_on(const struct hs_params *p, int side, const struct hs_run *run, size_t i)
{
    return in_list(p, "rank", run->ranks[i].rank) &&
           in_list(p, side ? "test_rank" : "control_rank", run->ranks[i].rank);
}

static bool step_on(const struct hs_params *p, int side, int64_t number)
{
    return in_list(p, "step", number) && in_list(p, side ? "test_iteration" : "control_iteration", number);
}

uint8_t *hs_compare_steps_on(const struct hs_params *p, int side, const struct hs_view *v)
{
    if (!v->nsteps)
        return NULL;
    uint8_t *on = hs_calloc(v->nsteps, 1);
    for (size_t i = 0; i < v->nsteps; i++)
        on[i] = step_on(p, side, v->steps[i].number);
    return on;
}

/* ---- one side ---- */

struct side {
    struct hs_compare *c;
    int side;
    struct hs_view *v;
    struct hs_select sel; /* with the steps that are chosen on this side */
    struct hs_events ev;
    uint32_t *name_of; /* by symbol: name in c->names + 1 */
    uint8_t *counts;   /* by symbol of a category: a `counting` */
    uint32_t *node_of; /* by event: its node + 1; by position only */
    uint32_t step_name;
    bool full;
};

enum { NO_NODE = 0 };
enum counting { DEVICE, NESTS, COUNTS }; /* NESTS: takes time off what it nests in, but has no row of its own */

static enum counting counting_of(struct hs_str cat)
{
    enum hs_cat_kind k = hs_cat_kind(cat);
    if (hs_cat_is_device(k))
        return DEVICE;
    return k == HS_CAT_CPU_OP || k == HS_CAT_ANNOTATION || k == HS_CAT_PYTHON || k == HS_CAT_RUNTIME ||
                   k == HS_CAT_OVERHEAD
               ? COUNTS
               : NESTS;
}

static enum counting is_counted(const struct side *s, size_t e)
{
    return s->ev.ph[e] == 'X' || s->ev.ph[e] == 'B' ? (enum counting)s->counts[s->ev.cat[e]] : DEVICE;
}

static uint32_t name_id(struct side *s, uint32_t sym)
{
    if (!s->name_of[sym]) {
        struct hs_buf scratch = HS_BUF_INIT((size_t)64 << 20);
        struct hs_str name = hs_view_str(s->v, sym);
        if (name.n >= 13 && !memcmp(name.p, "ProfilerStep#", 13))
            name = hs_cstr("ProfilerStep#*");
        else if (s->c->by == HS_BY_SHORT_NAME)
            name = hs_short_name(name, &scratch);
        uint32_t id = hs_intern_add(&s->c->names, name.p, name.n);
        s->full |= id == HS_NO_SYM;
        s->name_of[sym] = id == HS_NO_SYM ? 1 : id + 1;
        hs_buf_free(&scratch);
    }
    return s->name_of[sym] - 1;
}

static uint32_t node_under(struct side *s, uint32_t parent, uint32_t name)
{
    uint32_t key[2] = {parent, name};
    uint32_t id = hs_intern_add(&s->c->nodes, (const char *)key, sizeof key);
    s->full |= id == HS_NO_SYM;
    return id == HS_NO_SYM ? 0 : id;
}

/* Node + 1 of a CPU event, NO_NODE for none. Walks up to the first ancestor that is known, then down again through `way`;
 * the tree may be deeper than the stack of this thread. */
static uint32_t find_node(struct side *s, uint32_t e, uint32_t *way)
{
    size_t n = 0;
    while (e != HS_NO_EVENT && e < s->ev.n && !s->node_of[e] && n < s->ev.n) {
        way[n++] = e;
        e = s->ev.parent[e];
    }
    uint32_t node = e < s->ev.n ? s->node_of[e] : NO_NODE;
    while (n) {
        e = way[--n];
        node = node_under(s, node, name_id(s, s->ev.name[e])) + 1;
        s->node_of[e] = node;
    }
    return node;
}

static struct hs_compare_row *row_at(struct side *s, bool gpu, uint32_t key)
{
    struct hs_compare *c = s->c;
    while (key >= c->row_cap[gpu]) {
        size_t cap = c->row_cap[gpu] ? c->row_cap[gpu] * 2 : 1024;
        c->row_of[gpu] = hs_realloc_array(c->row_of[gpu], cap, sizeof(uint32_t));
        memset(c->row_of[gpu] + c->row_cap[gpu], 0, (cap - c->row_cap[gpu]) * sizeof(uint32_t));
        c->row_cap[gpu] = cap;
    }
    uint32_t *at = &c->row_of[gpu][key];
    if (!*at) {
        struct hs_compare_row none = {.key = key, .gpu = gpu};
        if (!hs_vec_push(&c->rows, none)) {
            s->full = true;
            return NULL;
        }
        *at = (uint32_t)c->rows.n;
    }
    return &c->rows.p[*at - 1];
}

static void add(struct side *s, bool gpu, uint32_t key, int64_t ns, int64_t whole)
{
    struct hs_compare_row *r = row_at(s, gpu, key);
    if (!r)
        return;
    struct hs_compare_side *x = &r->of[s->side];
    x->count++;
    x->ns = hs_add_sat(x->ns, ns);
    x->whole_ns = hs_add_sat(x->whole_ns, whole);
}

/* Self time: what is right under an event is taken off it, whether it is chosen or not. */
static int64_t *self_times(const struct side *s)
{
    int64_t *self = hs_calloc(s->ev.n, sizeof *self);
    for (size_t e = 0; e < s->ev.n; e++) {
        if (is_counted(s, e) == DEVICE)
            continue;
        int64_t dur = hs_max_i64(0, s->ev.dur[e]);
        uint32_t parent = s->ev.parent[e];
        self[e] = hs_add_sat(self[e], dur);
        if (parent < s->ev.n)
            self[parent] = hs_sub_sat(self[parent], dur);
    }
    return self;
}

static void add_cpu(struct side *s, uint32_t *way)
{
    int64_t *self = self_times(s);
    for (uint32_t e = 0; e < s->ev.n; e++) {
        if (is_counted(s, e) != COUNTS || !hs_select_has(&s->sel, s->ev.ts[e], s->ev.step[e]))
            continue;
        uint32_t key = way ? find_node(s, e, way) - 1 : name_id(s, s->ev.name[e]);
        add(s, false, key, self[e], hs_max_i64(0, s->ev.dur[e]));
    }
    free(self);
}

static void add_gpu(struct side *s, uint32_t *way)
{
    const struct hs_gpu *g = &s->sel.gpu;
    for (size_t i = 0; i < g->n; i++) {
        if (s->sel.step_on && g->step[i] < 0)
            s->c->outside[s->side]++;
        if (!hs_select_starts(&s->sel, i))
            continue;
        uint32_t key = name_id(s, g->name[i]);
        if (way)
            key = node_under(s, g->launch[i] == HS_NO_EVENT ? NO_NODE : find_node(s, g->launch[i], way), key);
        add(s, true, key, g->dur[i], g->dur[i]);
    }
}

static int add_rank(struct side *s, const char *device, struct hs_err *err)
{
    bool position = s->c->by == HS_BY_POSITION, cpu = strcmp(device, "GPU") != 0, gpu = strcmp(device, "CPU") != 0;
    struct hs_view *v = s->v;
    uint32_t *way = NULL;
    int rc = HS_OK;
    if (cpu || position)
        rc = hs_view_events(v, HS_EV_TS | HS_EV_DUR | HS_EV_NAME | HS_EV_CAT | HS_EV_PH | HS_EV_PARENT | HS_EV_STEP,
                            &s->ev, err);
    if (!rc && gpu)
        rc = hs_view_gpu(v, &s->sel.gpu, err);
    if (rc)
        return rc;
    s->name_of = hs_calloc(v->nsyms, sizeof *s->name_of);
    s->counts = hs_calloc(v->nsyms, 1);
    for (size_t i = 0; i < v->ncats; i++)
        s->counts[v->cats[i].cat] = (uint8_t)counting_of(hs_view_str(v, v->cats[i].cat));
    if (position) {
        s->node_of = hs_calloc(s->ev.n, sizeof *s->node_of);
        way = hs_malloc((s->ev.n + 1) * sizeof *way);
    }
    if (cpu)
        add_cpu(s, way);
    if (gpu)
        add_gpu(s, way);
    free(way);
    free(s->node_of);
    free(s->counts);
    free(s->name_of);
    return s->full ? hs_fail(err, HS_ELIMIT, "the runs have too many distinct names to compare") : HS_OK;
}

static int add_side(struct hs_compare *c, int side, struct hs_run *run, const struct hs_params *p, struct hs_table *out,
                    struct hs_err *err)
{
    int64_t pairs = 0, ranks = 0;
    int rc = HS_OK;
    for (size_t i = 0; i < run->n; i++)
        c->stepped[side] |= hs_compare_rank_on(p, side, run, i) && run->ranks[i].view->nsteps;
    for (size_t i = 0; i < run->n && !rc; i++) {
        struct side s = {.c = c, .side = side, .v = run->ranks[i].view};
        if (!hs_compare_rank_on(p, side, run, i))
            continue;
        hs_select_window(&s.sel, &run->ranks[i], p, out);
        hs_select_close(&s.sel);
        s.sel.step_on = hs_compare_steps_on(p, side, s.v);
        for (size_t k = 0; k < s.v->nsteps; k++)
            pairs += s.sel.step_on[k] && s.v->steps[k].ts >= s.sel.from && s.v->steps[k].ts < s.sel.to;
        ranks++;
        if (s.v->nsteps || !c->stepped[side])
            rc = add_rank(&s, hs_param_text(p, "device_type"), err);
        hs_select_close(&s.sel);
    }
    c->per[side] = hs_max_i64(1, c->stepped[side] ? pairs : ranks);
    return rc ? rc : hs_compare_step_time(run, p, side, &c->step[side], err);
}

int hs_compare_open(struct hs_compare *c, struct hs_run *run, const struct hs_params *p, struct hs_table *out,
                    struct hs_err *err)
{
    const char *by = hs_param_text(p, "by");
    *c = (struct hs_compare){.rows = HS_VEC_INIT((size_t)1 << 28)};
    c->by = !strcmp(by, "position")              ? HS_BY_POSITION
            : hs_param_bool(p, "use_short_name") ? HS_BY_SHORT_NAME
                                                 : HS_BY_NAME;
    hs_intern_init(&c->names, HS_MAX_EVENTS, (size_t)2 << 30);
    hs_intern_init(&c->nodes, HS_MAX_EVENTS, (size_t)4 << 30);
    int rc = add_side(c, 0, run, p, out, err);
    return rc ? rc : add_side(c, 1, run->other, p, out, err);
}

void hs_compare_free(struct hs_compare *c)
{
    hs_intern_free(&c->names);
    hs_intern_free(&c->nodes);
    hs_vec_free(&c->rows);
    free(c->row_of[0]);
    free(c->row_of[1]);
    *c = (struct hs_compare){.rows = HS_VEC_INIT(0)};
}

/* ---- rows ---- */

struct hs_str hs_compare_name(const struct hs_compare *c, const struct hs_compare_row *r, struct hs_buf *scratch)
{
    enum { DEEPEST = 512 }; /* of a path that is written; deeper ones lose their top */
    uint32_t way[DEEPEST], key[2] = {r->key + 1, 0};
    size_t n = 0;
    if (c->by != HS_BY_POSITION)
        return c->names.p[r->key];
    while (key[0] != NO_NODE && n < DEEPEST) {
        memcpy(key, hs_intern_str(&c->nodes, key[0] - 1).p, sizeof key);
        way[n++] = key[1];
    }
    scratch->n = 0;
    if (key[0] != NO_NODE)
        hs_buf_puts(scratch, "… > ");
    while (n) {
        struct hs_str name = c->names.p[way[--n]];
        hs_buf_put(scratch, name.p, name.n);
        if (n)
            hs_buf_puts(scratch, " > ");
    }
    return hs_str(scratch->p, scratch->n);
}

const char *hs_compare_change(const struct hs_compare *c, const struct hs_compare_row *r)
{
    __int128 base = (__int128)r->of[0].count * c->per[1], test = (__int128)r->of[1].count * c->per[0];
    if (!base)
        return "added";
    if (!test)
        return "deleted";
    return test > base ? "increased" : test < base ? "decreased" : "unchanged";
}
