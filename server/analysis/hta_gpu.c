/* Where the device's time goes: get_temporal_breakdown, get_comm_comp_overlap, the first table of get_gpu_kernel_breakdown. */
#include "analysis/hta_query.h"
#include "analysis/hta_sort.h"
#include "trace/stats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct hs_column_spec temporal_columns[] = {
    HTA_RANK_COLUMN,
    {"idle_time(us)", HS_T_REAL, "us", "time between the first and the last device event in which there is none"},
    {"compute_time(us)", HS_T_REAL, "us", "time covered by computation kernels"},
    {"non_compute_time(us)", HS_T_REAL, "us", "time covered only by other device events"},
    {"kernel_time(us)", HS_T_REAL, "us", "from the first to the last device event"},
    {"idle_time_pctg", HS_T_REAL, "percent", "share of kernel_time, two decimals"},
    {"compute_time_pctg", HS_T_REAL, "percent", "share of kernel_time, two decimals"},
    {"non_compute_time_pctg", HS_T_REAL, "percent", "share of kernel_time, two decimals"},
};

static void temporal_row(const struct hta_trace *t, const struct hta_rank *r, struct hs_table *out)
{
    struct hta_ivs all = HTA_IVS_INIT, comp = HTA_IVS_INIT;
    hta_merge(t, r, HTA_ANY_CLASS, &all);
    hta_merge(t, r, HTA_COMPUTATION, &comp);
    if (all.n) {
        long double total = all.p[all.n - 1].b - all.p[0].a, idle = total - hta_ivs_length(&all);
        long double compute = hta_ivs_length(&comp), rest = total - compute - idle;
        const long double part[] = {idle, compute, rest};
        hs_table_row(out);
        hs_cell_i64(out, r->rank);
        for (int i = 0; i < 3; i++)
            hs_cell_f64(out, (double)part[i]);
        hs_cell_f64(out, (double)total);
        for (int i = 0; i < 3; i++)
            hs_cell_f64(out, hta_round(100 * ((double)part[i] / (double)total), 2));
        if (rest < 0)
            hs_table_note(out, "rank %lld: negative non_compute_time, out of rounded durations; HTA stops here",
                          (long long)r->rank);
    } else {
        hs_table_note(out, "rank %lld has no device events; HTA stops here", (long long)r->rank);
    }
    hs_vec_free(&all);
    hs_vec_free(&comp);
}

int hta_temporal(struct hs_run *run, const struct hs_params *params, struct hs_table *out, struct hs_err *err)
{
    struct hta_query q;
    int rc = hta_query_open(&q, run, params, HTA_ALL_RANKS, temporal_columns, HTA_COUNT(temporal_columns), out, err);
    for (size_t i = 0; !rc && i < q.n; i++)
        temporal_row(q.t, q.ranks[i], out);
    hta_query_close(&q);
    return rc ? rc : hs_table_check(out, err);
}

static const struct hs_column_spec overlap_columns[] = {
    HTA_RANK_COLUMN,
    {"comp_comm_overlap_pctg", HS_T_REAL, "percent",
     "share of the communication time during which there is computation, two decimals"},
};

static long double shared_length(const struct hta_ivs *x, const struct hta_ivs *y)
{
    long double sum = 0;
    for (size_t i = 0, j = 0; i < x->n && j < y->n;) {
        sum += fmaxl(0, fminl(x->p[i].b, y->p[j].b) - fmaxl(x->p[i].a, y->p[j].a));
        if (x->p[i].b < y->p[j].b)
            i++;
        else
            j++;
    }
    return sum;
}

int hta_overlap(struct hs_run *run, const struct hs_params *params, struct hs_table *out, struct hs_err *err)
{
    struct hta_query q;
    struct hta_ivs comm = HTA_IVS_INIT, comp = HTA_IVS_INIT;
    int rc = hta_query_open(&q, run, params, HTA_ALL_RANKS, overlap_columns, HTA_COUNT(overlap_columns), out, err);
    for (size_t i = 0; !rc && i < q.n; i++) {
        hta_merge(q.t, q.ranks[i], HTA_COMMUNICATION, &comm);
        hta_merge(q.t, q.ranks[i], HTA_COMPUTATION, &comp);
        hs_table_row(out);
        hs_cell_i64(out, q.ranks[i]->rank);
        hs_cell_f64(out, hta_round(100 * (double)(shared_length(&comm, &comp) / hta_ivs_length(&comm)), 2));
    }
    hs_vec_free(&comm);
    hs_vec_free(&comp);
    hta_query_close(&q);
    return rc ? rc : hs_table_check(out, err);
}

/* ---- kernel types ---- */

static const struct hs_column_spec types_columns[] = {
    {"kernel_type", HS_T_TEXT, "", "the classes that run at once"},
    {"sum", HS_T_INT, "us", "time during which just these run, over all ranks"},
    {"percentage", HS_T_REAL, "percent", "share of all rows, one decimal"},
};

#define TYPES 3
#define SETS (1 << TYPES)
static const uint32_t type_class[TYPES] = {HTA_COMPUTATION, HTA_COMMUNICATION, HTA_MEMORY};
static const char *const type_name[TYPES] = {"COMPUTATION", "COMMUNICATION", "MEMORY"};

struct edge {
    double at;
    int bit;
};
struct edges {
    HS_VEC(struct edge);
};

/* HTA sorts again each time it has put in a class; equal times fall as that sort lets them. */
static void sort_edges(struct edges *e)
{
    double *key = hs_malloc((e->n + 1) * sizeof *key);
    uint32_t *order = hs_malloc((e->n + 1) * sizeof *order);
    struct edge *old = hs_malloc((e->n + 1) * sizeof *old);
    for (size_t i = 0; i < e->n; i++) {
        key[i] = e->p[i].at;
        old[i] = e->p[i];
    }
    hta_argsort(key, e->n, order);
    for (size_t i = 0; i < e->n; i++)
        e->p[i] = old[order[i]];
    hs_free_array((void **)&key);
    hs_free_array((void **)&order);
    hs_free_array((void **)&old);
}

static void add_type_times(const struct hta_trace *t, const struct hta_rank *r, int types, double *sum, bool *seen)
{
    struct edges e = HS_VEC_INIT(HS_MAX_EVENTS);
    struct hta_ivs m = HTA_IVS_INIT;
    for (int b = 0; b < types; b++) {
        hta_merge(t, r, type_class[b], &m);
        if (!hs_vec_reserve(&e, 2 * m.n))
            break;
        for (size_t i = 0; i < m.n; i++)
            e.p[e.n++] = (struct edge){(double)m.p[i].a, 1 << b};
        for (size_t i = 0; i < m.n; i++)
            e.p[e.n++] = (struct edge){(double)m.p[i].b, -(1 << b)};
        sort_edges(&e);
    }
    int64_t now = 0;
    for (size_t i = 0; i + 1 < e.n; i++) {
        now += e.p[i].bit;
        if (now <= 0)
            continue;
        int set = (int)(now & (SETS - 1));
        seen[set] = true;
        sum[set] += trunc(e.p[i + 1].at - e.p[i].at);
    }
    hs_vec_free(&m);
    hs_vec_free(&e);
}

static void set_name(int set, char *buf, size_t cap)
{
    buf[0] = 0;
    for (int b = 0; b < TYPES; b++)
        if (set & 1 << b)
            snprintf(buf + strlen(buf), cap - strlen(buf), "%s%s", buf[0] ? " overlapping " : "", type_name[b]);
}

int hta_kernel_types(struct hs_run *run, const struct hs_params *params, struct hs_table *out, struct hs_err *err)
{
    /* The sets in the order of their names, in which HTA's groupby has them before it sorts by time. */
    static const int by_name[] = {0, 2, 6, 1, 3, 7, 5, 4};
    struct hta_query q;
    double sum[SETS] = {0}, key[SETS], total = 0;
    bool seen[SETS] = {false};
    int set[SETS];
    size_t n = 0;
    uint32_t order[SETS];
    int rc = hta_query_open(&q, run, params, HTA_ALL_RANKS, types_columns, HTA_COUNT(types_columns), out, err);
    for (size_t i = 0; !rc && i < q.n; i++)
        add_type_times(q.t, q.ranks[i], hta_flag(params, "include_memory_kernels", true) ? TYPES : TYPES - 1, sum,
                       seen);
    for (size_t i = 0; i < SETS; i++) {
        if (!seen[by_name[i]])
            continue;
        total += sum[by_name[i]];
        key[n] = sum[by_name[i]];
        set[n++] = by_name[i];
    }
    hta_argsort_desc(key, n, order);
    for (size_t i = 0; !rc && i < n; i++) {
        char name[96];
        set_name(set[order[i]], name, sizeof name);
        hs_table_row(out);
        hs_cell_cstr(out, name);
        hs_cell_i64(out, hs_trunc_i64(key[order[i]]));
        hs_cell_f64(out, hta_round(key[order[i]] / total * 100, 1));
    }
    hta_query_close(&q);
    return rc ? rc : hs_table_check(out, err);
}
