/* get_cuda_kernel_launch_stats: launch calls and the kernels of their correlation. */
#include "analysis/hta_queue.h"
#include "trace/intervals.h"

static const struct hs_column_spec columns[] = {
    HTA_RANK_COLUMN,
    {"correlation", HS_T_INT, "1", "correlation of call and kernel"},
    {"cpu_duration", HS_T_REAL, "us", "duration of the call"},
    {"gpu_duration", HS_T_REAL, "us", "duration of the kernel"},
    {"launch_delay", HS_T_REAL, "us", "from the end of the call to the start of the kernel, not below 0"},
};

/* CPU rows by correlation in order of first appearance, as a join leaves them. */
static uint32_t *cpu_rows(const struct hta_trace *t, const struct hta_rank *r, bool copies, size_t *n)
{
    struct hta_map wanted, group;
    uint32_t *rows = hs_malloc((r->n + 1) * sizeof *rows), *out = hs_malloc((r->n + 1) * sizeof *out);
    *n = 0;
    hta_map_init(&wanted);
    hta_map_init(&group);
    for (size_t i = 0; i < r->n; i++)
        if (hta_name_has(t, &r->rows[i], HTA_IS_STATS_LAUNCH | (copies ? HTA_IS_STATS_COPY : 0)))
            *hta_map_at(&wanted, r->rows[i].corr) = 1;
    for (uint32_t i = 0; i < r->n; i++) {
        if (hta_on_stream(&r->rows[i]) || hta_map_get(&wanted, r->rows[i].corr) == HTA_NONE)
            continue;
        rows[(*n)++] = i;
        uint32_t *g = hta_map_at(&group, r->rows[i].corr);
        if (*g == HTA_NONE)
            *g = (uint32_t)group.n - 1;
    }
    size_t *at = hs_calloc(group.n + 2, sizeof *at);
    for (size_t i = 0; i < *n; i++)
        at[hta_map_get(&group, r->rows[rows[i]].corr) + 1]++;
    for (size_t g = 0; g < group.n; g++)
        at[g + 1] += at[g];
    for (size_t i = 0; i < *n; i++)
        out[at[hta_map_get(&group, r->rows[rows[i]].corr)]++] = rows[i];
    hs_free_array((void **)&at);
    hs_free_array((void **)&rows);
    hta_map_free(&wanted);
    hta_map_free(&group);
    return out;
}

static void rank_rows(const struct hta_trace *t, const struct hta_rank *r, bool copies, struct hs_table *out)
{
    struct hta_by_corr by;
    size_t n, nk;
    uint32_t *cpu = cpu_rows(t, r, copies, &n);
    hta_by_corr_build(r, &by);
    for (size_t i = 0; i < n && !out->full; i++) {
        const struct hta_row *x = &r->rows[cpu[i]];
        const uint32_t *k = hta_by_corr_find(&by, x->corr, &nk);
        for (size_t j = 0; j < nk && !out->full; j++) {
            const struct hta_row *y = &r->rows[k[j]];
            double delay = (double)hs_sub_sat(y->ts, x->ts) - x->dur;
            hs_table_row(out);
            hs_cell_i64(out, r->rank);
            hs_cell_i64(out, x->corr);
            hs_cell_f64(out, x->dur);
            hs_cell_f64(out, y->dur);
            hs_cell_f64(out, delay > 0 ? delay : 0);
        }
    }
    if (!n)
        hs_table_note(out, "rank %lld has none of the launch calls HTA knows", (long long)r->rank);
    hta_by_corr_free(&by);
    hs_free_array((void **)&cpu);
}

int hta_launches(struct hs_run *run, const struct hs_params *params, struct hs_table *out, struct hs_err *err)
{
    struct hta_query q;
    int rc = hta_query_open(&q, run, params, HTA_RANK_0, columns, HTA_COUNT(columns), out, err);
    for (size_t i = 0; !rc && i < q.n; i++)
        rank_rows(q.t, q.ranks[i], hta_flag(params, "include_memory_events", true), out);
    hta_query_close(&q);
    return rc ? rc : hs_table_check(out, err);
}
