/* symbols: every distinct event name of a run, and what is read off it: HTA's shorten_name, get_kernel_type and
 * get_memory_kernel_type, and ours. */
#include "analysis/analyses.h"
#include "analysis/bandwidth.h"
#include "analysis/hta_map.h"
#include "analysis/hta_names.h"
#include "analysis/name_filter.h"
#include "analysis/page.h"
#include "trace/names.h"

#include <stdlib.h>

static const struct hs_param_spec params_spec[] = {
    {"name", HS_P_TEXT, "", NULL, 0, 0, NULL, "regular expression (PCRE2) found anywhere in the name"},
    HS_PARAM_PAGE,
};

static const struct hs_column_spec columns[] = {
    {"name", HS_T_TEXT, "", "full name"},
    {"category", HS_T_TEXT, "", "category of the events, as written"},
    {"short_name", HS_T_TEXT, "", "the name without return type, template and arguments"},
    {"class", HS_T_TEXT, "", "of device work: compute, communication, memcpy or memset; else null"},
    {"memory_kind", HS_T_TEXT, "", "of copies and memsets: Memcpy HtoD, Memcpy DtoH, ..., Memset; else null"},
    {"hta_class", HS_T_TEXT, "",
     "what HTA's get_kernel_type says of the name: COMPUTATION, COMMUNICATION, MEMORY or OTHER"},
    {"events", HS_T_INT, "1", "events of this name, category and class, over the ranks"},
    {"ranks", HS_T_INT, "1", "traces in which they occur"},
};

static const struct hs_column_spec columns_hta[] = {
    {"symbol", HS_T_TEXT, "", "full name"},
    {"short", HS_T_TEXT, "", "shorten_name"},
    {"kernel_type", HS_T_TEXT, "", "get_kernel_type"},
    {"memory_kernel_type", HS_T_TEXT, "", "get_memory_kernel_type"},
};

struct symbol {
    uint32_t name, cat; /* texts of `texts` */
    uint8_t cls;
    int64_t events, ranks;
    size_t last_rank;
};

struct job {
    struct hs_intern texts; /* names and categories of all ranks */
    struct hta_map by_key;
    struct {
        HS_VEC(struct symbol);
    } symbols;
};

/* Events of one rank by (name, category, class), counted by the rank's own symbols first: texts are hashed once a symbol. */
struct local {
    uint32_t name, cat;
    uint8_t cls;
    int64_t events;
};
struct locals {
    struct hta_map of; /* by key_of */
    struct {
        HS_VEC(struct local);
    } list;
};

/* Names and categories have less than 2^30 symbols each (hs_limits.names); the class takes what is left. */
static int64_t key_of(uint32_t name, uint32_t cat, uint8_t cls)
{
    return (int64_t)((uint64_t)name << 34 | (uint64_t)cat << 4 | (cls & 15u));
}

static bool count(struct locals *l, uint32_t name, uint32_t cat, uint8_t cls)
{
    uint32_t *at = hta_map_at(&l->of, key_of(name, cat, cls));
    if (*at == HTA_NONE) {
        *at = (uint32_t)l->list.n;
        if (!hs_vec_push(&l->list, ((struct local){name, cat, cls, 0})))
            return false;
    }
    l->list.p[*at].events++;
    return true;
}

static bool count_rank(struct locals *l, const struct hs_events *ev, const struct hs_gpu *gpu)
{
    uint8_t *cls = hs_calloc(ev->n, 1);
    bool ok = true;
    for (size_t i = 0; i < gpu->n; i++)
        if (gpu->event[i] < ev->n)
            cls[gpu->event[i]] = gpu->cls[i];
    for (size_t i = 0; i < ev->n && ok; i++)
        if (ev->ph[i] != 'M')
            ok = count(l, ev->name[i], ev->cat[i], cls[i]);
    free(cls);
    return ok;
}

static bool add_rank(struct job *j, const struct hs_view *v, const struct locals *l, size_t rank)
{
    for (size_t i = 0; i < l->list.n; i++) {
        const struct local *x = &l->list.p[i];
        struct hs_str name = hs_view_str(v, x->name), cat = hs_view_str(v, x->cat);
        uint32_t n = hs_intern_add(&j->texts, name.p, name.n), c = hs_intern_add(&j->texts, cat.p, cat.n);
        if (n == HS_NO_SYM || c == HS_NO_SYM)
            return false;
        uint32_t *at = hta_map_at(&j->by_key, key_of(n, c, x->cls));
        if (*at == HTA_NONE) {
            *at = (uint32_t)j->symbols.n;
            if (!hs_vec_push(&j->symbols, ((struct symbol){n, c, x->cls, 0, 0, SIZE_MAX})))
                return false;
        }
        struct symbol *s = &j->symbols.p[*at];
        s->events = hs_add_sat(s->events, x->events);
        s->ranks += s->last_rank != rank;
        s->last_rank = rank;
    }
    return true;
}

static int read_rank(struct job *j, struct hs_view *v, size_t rank, struct hs_err *err)
{
    struct hs_events ev;
    struct hs_gpu gpu;
    struct locals l = {.list = HS_VEC_INIT(UINT32_MAX - 1)};
    int rc = hs_view_events(v, HS_EV_NAME | HS_EV_CAT | HS_EV_PH, &ev, err);
    if (!rc)
        rc = hs_view_gpu(v, &gpu, err);
    if (rc)
        return rc;
    hta_map_init(&l.of);
    if (!count_rank(&l, &ev, &gpu) || !add_rank(j, v, &l, rank))
        rc = hs_fail(err, HS_ELIMIT, "the run has more distinct names than fit");
    hta_map_free(&l.of);
    hs_vec_free(&l.list);
    return rc;
}

static int by_events(const void *a, const void *b, void *texts)
{
    const struct symbol *x = a, *y = b;
    if (x->events != y->events)
        return x->events < y->events ? 1 : -1;
    int c = hs_str_cmp(hs_intern_str(texts, x->name), hs_intern_str(texts, y->name));
    if (!c)
        c = hs_str_cmp(hs_intern_str(texts, x->cat), hs_intern_str(texts, y->cat));
    return c ? c : (x->cls > y->cls) - (x->cls < y->cls);
}

static const char *hta_class_word(struct hs_str name)
{
    switch (hta_name_class(name)) {
    case HTA_COMPUTATION: return "COMPUTATION";
    case HTA_COMMUNICATION: return "COMMUNICATION";
    case HTA_MEMORY: return "MEMORY";
    case HTA_OTHER: break;
    }
    return "OTHER";
}

static void row(const struct job *j, const struct symbol *s, struct hs_buf *scratch, struct hs_table *out)
{
    struct hs_str name = hs_intern_str(&j->texts, s->name);
    bool memory = s->cls == HS_CLASS_MEMCPY || s->cls == HS_CLASS_MEMSET;
    hs_table_row(out);
    hs_cell_text(out, name);
    hs_cell_text(out, hs_intern_str(&j->texts, s->cat));
    hs_cell_text(out, hs_short_name(name, scratch));
    hs_cell_cstr(out, s->cls ? hs_class_word(s->cls) : NULL);
    if (memory)
        hs_cell_text(out, hs_memory_kind(name, s->cls));
    else
        hs_cell_null(out);
    hs_cell_cstr(out, hta_class_word(name));
    hs_cell_i64(out, s->events);
    hs_cell_i64(out, s->ranks);
}

static int read_run(struct job *j, struct hs_run *r, struct hs_err *err)
{
    *j = (struct job){.symbols = HS_VEC_INIT(UINT32_MAX - 1)};
    int rc = HS_OK;
    hs_intern_init(&j->texts, (size_t)1 << 28, (size_t)1 << 32);
    hta_map_init(&j->by_key);
    for (size_t i = 0; i < r->n && !rc; i++)
        rc = read_rank(j, r->ranks[i].view, i, err);
    if (!rc && j->symbols.n)
        qsort_r(j->symbols.p, j->symbols.n, sizeof *j->symbols.p, by_events, &j->texts);
    return rc;
}

static void job_free(struct job *j)
{
    hs_vec_free(&j->symbols);
    hta_map_free(&j->by_key);
    hs_intern_free(&j->texts);
}

static int run(struct hs_run *r, const struct hs_params *p, struct hs_table *out, struct hs_err *err)
{
    struct job j;
    struct hs_name_filter *filter;
    struct hs_buf scratch = HS_BUF_INIT(1 << 24);
    struct hs_page page = hs_page_of(p);
    int rc = hs_name_filter_new(&filter, hs_param_text(p, "name"), err);
    if (rc)
        return rc;
    rc = read_run(&j, r, err);
    for (size_t i = 0; !rc && i < j.symbols.n; i++)
        if (hs_name_matches(filter, hs_intern_str(&j.texts, j.symbols.p[i].name)) && hs_page_take(&page))
            row(&j, &j.symbols.p[i], &scratch, out);
    if (!rc && !j.symbols.n)
        hs_table_note(out, "There are no events.");
    hs_page_note(&page, out, "symbols");
    hs_note_unapplied(p, out, "step", "from", "to", NULL);
    job_free(&j);
    hs_buf_free(&scratch);
    hs_name_filter_free(filter);
    return rc;
}

static int run_hta(struct hs_run *r, const struct hs_params *p, struct hs_table *out, struct hs_err *err)
{
    struct job j;
    struct hs_buf scratch = HS_BUF_INIT(1 << 24);
    (void)p;
    out->columns = columns_hta;
    out->ncolumns = sizeof columns_hta / sizeof columns_hta[0];
    int rc = read_run(&j, r, err);
    uint8_t *seen = !rc ? hs_calloc(j.texts.n, 1) : NULL;
    for (size_t i = 0; !rc && i < j.symbols.n; i++) {
        uint32_t sym = j.symbols.p[i].name;
        struct hs_str name = hs_intern_str(&j.texts, sym);
        if (seen[sym])
            continue;
        seen[sym] = 1;
        hs_table_row(out);
        hs_cell_text(out, name);
        hs_cell_text(out, hs_shorten_hta(name, &scratch));
        hs_cell_cstr(out, hta_class_word(name));
        hs_cell_text(out, hta_memory_kind(name));
    }
    free(seen);
    job_free(&j);
    hs_buf_free(&scratch);
    return rc;
}

const struct hs_analysis hs_analysis_symbols = {
    .name = "symbols",
    .summary = "Every distinct event name: short name, kernel class, memory kind, how often it occurs",
    .doc = "One row per name, category and class over the chosen ranks, the most frequent first. `class` is of device "
           "work alone: "
           "by category, then by the collective's metadata, then by name. `short_name` is HTA's shorten_name, but "
           "never empty. "
           "`memory_kind` is that of `memory-bandwidth`. With compat=hta, one row a name with HTA's shorten_name, "
           "get_kernel_type and get_memory_kernel_type, which see nothing but the name.",
    .version = 1,
    .params = params_spec,
    .nparams = sizeof params_spec / sizeof params_spec[0],
    .columns = columns,
    .ncolumns = sizeof columns / sizeof columns[0],
    .run = run,
    .run_hta = run_hta,
};
