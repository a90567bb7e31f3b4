/* kernel-types: how long which classes of work ran, alone and side by side. HTA's first table of get_gpu_kernel_breakdown
 * put right: the class comes from category and metadata, not from loose name patterns; ties cannot invent overlaps. */
#include "analysis/analyses.h"
#include "analysis/device_time.h"
#include "analysis/hta.h"
#include "trace/stats.h"

#include <stdlib.h>

static const struct hs_param_spec params_spec[] = {
    {"include_memory_kernels", HS_P_BOOL, "", "true", 0, 0, NULL,
     "whether copies and memsets are a class of their own; else they are left out"},
    {"per_rank", HS_P_BOOL, "", "true", 0, 0, NULL, "rows per rank; false: sums over the ranks, with rank null"},
};

static const struct hs_column_spec columns[] = {
    {"rank", HS_T_INT, "", "rank of the trace; null for sums over ranks"},
    {"kernel_type", HS_T_TEXT, "", "the classes that ran: compute, communication, memory, joined by \" overlapping \""},
    {"time_us", HS_T_TIME, "us", "time during which exactly these classes ran, per device, summed over devices"},
    {"share_pct", HS_T_PCT, "percent", "time_us of the time during which any of the classes ran"},
};

static const char *const set_names[HS_SETS] = {
    [HS_SET_COMPUTE] = "compute",
    [HS_SET_COMM] = "communication",
    [HS_SET_COMPUTE | HS_SET_COMM] = "compute overlapping communication",
    [HS_SET_MEMORY] = "memory",
    [HS_SET_COMPUTE | HS_SET_MEMORY] = "compute overlapping memory",
    [HS_SET_COMM | HS_SET_MEMORY] = "communication overlapping memory",
    [HS_SETS - 1] = "compute overlapping communication overlapping memory",
};

struct part {
    unsigned set;
    int64_t ns;
};

static int by_time(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    return (x->set > y->set) - (x->set < y->set);
}

/* Without memory, what ran beside a copy ran alone. */
static void fold_memory(int64_t ns[HS_SETS])
{
    for (unsigned set = 0; set < HS_SET_MEMORY; set++) {
        ns[set] = set ? hs_add_sat(ns[set], ns[set | HS_SET_MEMORY]) : 0;
        ns[set | HS_SET_MEMORY] = 0;
    }
}

static void write_rows(const int64_t *rank, int64_t ns[HS_SETS], bool memory, struct hs_table *out)
{
    struct part parts[HS_SETS];
    size_t n = 0;
    if (!memory)
        fold_memory(ns);
    int64_t all = hs_time_of(ns, HS_SETS - 1);
    for (unsigned set = 1; set < HS_SETS; set++)
        if (ns[set])
            parts[n++] = (struct part){set, ns[set]};
    qsort(parts, n, sizeof *parts, by_time);
    for (size_t i = 0; i < n; i++) {
        hs_table_row(out);
        if (rank)
            hs_cell_i64(out, *rank);
        else
            hs_cell_null(out);
        hs_cell_cstr(out, set_names[parts[i].set]);
        hs_cell_ns(out, parts[i].ns);
        hs_cell_f64(out, hs_percent(parts[i].ns, all));
    }
}

static int run(struct hs_run *r, const struct hs_params *p, struct hs_table *out, struct hs_err *err)
{
    int rc = HS_OK;
    bool memory = hs_param_bool(p, "include_memory_kernels"), per_rank = hs_param_bool(p, "per_rank");
    int64_t sum[HS_SETS] = {0};
    for (size_t i = 0; i < r->n && !rc; i++) {
        struct hs_select sel;
        struct hs_rank_time t;
        rc = hs_select_open(&sel, &r->ranks[i], p, out, err);
        if (rc)
            break;
        rc = hs_rank_time(&sel, &t, err);
        for (unsigned set = 1; set < HS_SETS && !rc; set++)
            sum[set] = hs_add_sat(sum[set], t.ns[set]);
        if (!rc && per_rank)
            write_rows(&r->ranks[i].rank, t.ns, memory, out);
        hs_select_close(&sel);
    }
    if (!rc && !per_rank)
        write_rows(NULL, sum, memory, out);
    hs_note_excluded(r, out);
    return rc;
}

const struct hs_analysis hs_analysis_kernel_types = {
    .name = "kernel-types",
    .summary = "GPU time by class of work (compute, communication, memory) and by their overlaps",
    .doc = "Per device the union of the intervals of each class; each nanosecond with any work is credited to the "
           "exact set of "
           "classes that ran in it, then summed over the devices of a rank. The rows of a rank add up to its busy time "
           "in `temporal` "
           "(with memory). Longest first; sets that never occur have no row. `from` and `to` cut intervals at the "
           "window's borders.",
    .version = 1,
    .params = params_spec,
    .nparams = sizeof params_spec / sizeof params_spec[0],
    .columns = columns,
    .ncolumns = sizeof columns / sizeof columns[0],
    .run = run,
    .run_hta = hta_kernel_types,
};
