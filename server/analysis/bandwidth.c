#include "analysis/bandwidth.h"

#include "trace/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct hs_copy {
    struct hs_str kind;
    int64_t bytes, rate; /* bytes; bytes per second */
    uint32_t row;
};

/* What runtimes without CUDA's words call copies. */
static const struct {
    const char *part, *kind;
} g_kinds[] = {
    {"HostToDevice", "Memcpy HtoD"}, {"DeviceToHost", "Memcpy DtoH"}, {"DeviceToDevice", "Memcpy DtoD"},
    {"PeerToPeer", "Memcpy PtoP"},   {"HtoD", "Memcpy HtoD"},         {"DtoH", "Memcpy DtoH"},
    {"DtoD", "Memcpy DtoD"},         {"PtoP", "Memcpy PtoP"},         {"HtoH", "Memcpy HtoH"},
    {"M2D", "Memcpy HtoD"},          {"D2M", "Memcpy DtoH"},          {"D2D", "Memcpy DtoD"},
    {"HostToHost", "Memcpy HtoH"},
};

struct hs_str hs_memory_kind(struct hs_str name, unsigned cls)
{
    if (cls == HS_CLASS_MEMSET)
        return HS_STR("Memset");
    if (hs_str_starts(name, "Memcpy ") && name.n >= 11 && (name.n == 11 || name.p[11] == ' '))
        return hs_str(name.p, 11);
    for (size_t i = 0; i < sizeof g_kinds / sizeof g_kinds[0]; i++)
        if (hs_str_contains(name, g_kinds[i].part))
            return hs_cstr(g_kinds[i].kind);
    return HS_STR("Memcpy Unknown");
}

/* Whole bytes per second of a copy, to the nearest; saturates. */
static int64_t rate_of(int64_t bytes, int64_t ns)
{
    __int128 rate = ((__int128)bytes * 1000000000 + ns / 2) / ns;
    return rate > INT64_MAX ? INT64_MAX : (int64_t)rate;
}

static int by_device_kind(const void *a, const void *b, void *gpu)
{
    const struct hs_copy *x = a, *y = b;
    const struct hs_gpu *g = gpu;
    if (g->device[x->row] != g->device[y->row])
        return g->device[x->row] < g->device[y->row] ? -1 : 1;
    int c = hs_str_cmp(x->kind, y->kind);
    return c ? c : (x->row > y->row) - (x->row < y->row);
}

/* Bytes and rate of one row; false if it cannot have a rate. */
static bool measure(struct hs_bandwidth_walk *w, size_t i, const double *told, struct hs_copy *c)
{
    const struct hs_gpu *g = &w->s->gpu;
    double gbps = told && g->event[i] != HS_NO_EVENT ? told[g->event[i]] : NAN;
    c->bytes = g->bytes[i];
    if (c->bytes < 0 && gbps > 0 && g->dur[i] > 0) { /* old writers tell the bandwidth alone */
        c->bytes = hs_round_i64(gbps * (double)g->dur[i]);
        w->estimated++;
    }
    if (c->bytes < 0) {
        w->sizeless++;
        return false;
    }
    if (g->dur[i] <= 0) {
        w->timeless++;
        return false;
    }
    c->rate = rate_of(c->bytes, g->dur[i]);
    return true;
}

/* MTIA tells the way of a copy beside its name: {"direction": "DEVICE_TO_HOST"}. NULL: no event does. */
static int read_directions(struct hs_view *v, const uint32_t **out, struct hs_err *err)
{
    *out = NULL;
    return hs_view_sym(v, "direction") == HS_NO_SYM ? HS_OK : v->ops->arg_sym(v, "direction", 1, out, err);
}

static struct hs_str kind_of(const struct hs_select *s, size_t row, const uint32_t *directions)
{
    static const struct {
        const char *direction, *kind;
    } told[] = {
        {"HOST_TO_DEVICE", "Memcpy HtoD"}, {"DEVICE_TO_HOST", "Memcpy DtoH"}, {"DEVICE_TO_DEVICE", "Memcpy DtoD"}};
    const struct hs_gpu *g = &s->gpu;
    struct hs_str kind = hs_memory_kind(hs_view_str(s->view, g->name[row]), g->cls[row]);
    if (!directions || g->event[row] == HS_NO_EVENT || !hs_str_is(kind, "Memcpy Unknown"))
        return kind;
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++)
        if (hs_str_is(hs_view_str(s->view, directions[g->event[row]]), told[i].direction))
            return hs_cstr(told[i].kind);
    return kind;
}

int hs_bandwidth_open(struct hs_bandwidth_walk *w, const struct hs_select *s, struct hs_err *err)
{
    const struct hs_gpu *g = &s->gpu;
    const double *told = NULL;
    bool sizes = true;
    size_t n = 0;
    *w = (struct hs_bandwidth_walk){.s = s, .series = HS_SERIES_INIT, .changes = HS_CHANGES_INIT};
    for (size_t i = 0; i < g->n; i++) {
        bool copy = g->cls[i] == HS_CLASS_MEMCPY || g->cls[i] == HS_CLASS_MEMSET;
        n += copy;
        sizes = sizes && (!copy || g->bytes[i] >= 0);
    }
    const uint32_t *directions;
    int rc = sizes ? HS_OK : s->view->ops->arg_f64(s->view, "memory bandwidth (GB/s)", 1, &told, err);
    if (!rc)
        rc = read_directions(s->view, &directions, err);
    if (rc)
        return rc;
    w->copies = hs_realloc_array(NULL, n ? n : 1, sizeof *w->copies);
    for (size_t i = 0; i < g->n; i++) {
        struct hs_copy c = {.row = (uint32_t)i};
        struct hs_span span;
        if ((g->cls[i] != HS_CLASS_MEMCPY && g->cls[i] != HS_CLASS_MEMSET) || !hs_select_span(s, i, &span) ||
            !measure(w, i, told, &c))
            continue;
        c.kind = kind_of(s, i, directions);
        w->copies[w->n++] = c;
    }
    qsort_r(w->copies, w->n, sizeof *w->copies, by_device_kind, (void *)g);
    return HS_OK;
}

bool hs_bandwidth_next(struct hs_bandwidth_walk *w, struct hs_bandwidth *out)
{
    const struct hs_gpu *g = &w->s->gpu;
    if (w->i >= w->n)
        return false;
    const struct hs_copy *first = &w->copies[w->i];
    *out = (struct hs_bandwidth){.device = g->device[first->row], .kind = first->kind};
    w->changes.n = 0;
    for (; w->i < w->n; w->i++) {
        const struct hs_copy *c = &w->copies[w->i];
        if (g->device[c->row] != out->device || !hs_str_eq(c->kind, out->kind))
            break;
        hs_vec_push(&w->changes, ((struct hs_change){g->ts[c->row], c->rate}));
        hs_vec_push(&w->changes, ((struct hs_change){hs_end_ns(g->ts[c->row], g->dur[c->row]), -c->rate}));
        if (hs_select_starts(w->s, c->row)) {
            out->copies++;
            out->bytes = hs_add_sat(out->bytes, c->bytes);
        }
    }
    hs_series_sum(&w->series, &w->changes);
    hs_series_cut(&w->series, w->s->from, w->s->to);
    out->series = w->series;
    return true;
}

void hs_bandwidth_end(struct hs_bandwidth_walk *w, struct hs_table *out)
{
    long long rank = (long long)w->s->rank;
    if (w->sizeless)
        hs_table_note(out, "Rank %lld: %lld copies are left out, as the trace does not tell their bytes.", rank,
                      (long long)w->sizeless);
    if (w->estimated)
        hs_table_note(out, "Rank %lld: the bytes of %lld copies are taken from the bandwidth that the trace tells.",
                      rank, (long long)w->estimated);
    if (w->timeless)
        hs_table_note(out, "Rank %lld: %lld copies of no duration have no bandwidth and are left out.", rank,
                      (long long)w->timeless);
    if (w->s->gpu.n && !w->n && !w->sizeless && !w->timeless)
        hs_table_note(out, "Rank %lld has no copies or memsets that fit.", rank);
    hs_vec_free(&w->series);
    hs_vec_free(&w->changes);
    free(w->copies);
    w->copies = NULL;
}
