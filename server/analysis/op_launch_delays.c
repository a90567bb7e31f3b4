/* op-launch-delays: how long operators take until they launch, and their launches until the kernels start. HTA's
 * get_aten_op_kernels_and_delay, by the call tree instead of by time over all threads. */
#include "analysis/analyses.h"
#include "analysis/hta.h"
#include "analysis/launch_pairs.h"
#include "analysis/launched_by.h"
#include "analysis/page.h"
#include "analysis/patterns.h"
#include "trace/stats.h"

#include <stdlib.h>
#include <string.h>

static const struct hs_param_spec params_spec[] = {
    {"sort_by", HS_P_TEXT, "", "occurrence_count", 0, 0, NULL,
     "columns to sort by, joined by commas, largest first: occurrence_count, avg_aten_op_launch_delay, "
     "avg_runtime_delay, gpu_us"},
    {"op_prefix", HS_P_TEXT, "", "aten::", 0, 0, NULL, "operators are the CPU operators whose names begin so"},
    HS_PARAM_MEMORY_EVENTS,
    HS_PARAM_PAGE,
};

static const struct hs_column_spec columns[] = {
    {"rank", HS_T_INT, "", "rank of the trace"},
    HS_PATTERN_COLUMNS,
    {"occurrence_count", HS_T_INT, "1", "calls of the operator that launched this sequence"},
    {"avg_aten_op_launch_delay_us", HS_T_TIME, "us",
     "mean of the time from the operator's start to the start of its first launch call"},
    {"avg_runtime_delay_us", HS_T_TIME, "us",
     "mean of the time from the start of that call to the start of what it launched; not below 0"},
    {"cpu_us", HS_T_TIME, "us", "summed durations of these operator calls"},
    {"gpu_us", HS_T_TIME, "us", "summed durations of what they launched (work volume)"},
};

enum { MAX_KEYS = 4 };
enum sort { BY_COUNT, BY_LAUNCH, BY_RUNTIME, BY_GPU, SORTS };
static const char *const sorts[SORTS] = {"occurrence_count", "avg_aten_op_launch_delay", "avg_runtime_delay", "gpu_us"};

struct group {
    int64_t calls, launch_ns, runtime_ns, cpu_ns, gpu_ns;
    uint32_t pattern;
    uint64_t hash;
};

struct job {
    struct hs_select sel;
    struct hs_cpu cpu;
    struct hs_patterns patterns;
    struct {
        HS_VEC(struct group);
    } groups; /* by pattern - 1 */
    struct {
        HS_VEC(uint32_t);
    } symbols;
    enum sort keys[MAX_KEYS];
    size_t nkeys;
};

static int read_sort(struct job *j, const char *text, struct hs_err *err)
{
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, ","), k = 0;
        while (k < SORTS && !(strlen(sorts[k]) == n && !memcmp(p, sorts[k], n)))
            k++;
        if (k == SORTS || j->nkeys == MAX_KEYS)
            return hs_fail(err, HS_EUSAGE, "parameter sort_by: \"%.80s\" is not a list of %s, %s, %s, %s", text,
                           sorts[0], sorts[1], sorts[2], sorts[3]);
        j->keys[j->nkeys++] = (enum sort)k;
        p += n + (p[n] == ',');
    }
    return HS_OK;
}

/* One call of an operator: places [first, end) of the work. */
static int add_call(struct job *j, const struct hs_launched_by *work, size_t first, size_t end, struct hs_err *err)
{
    const struct hs_gpu *g = &j->sel.gpu;
    const struct hs_events *ev = &j->cpu.ev;
    uint32_t op = work->owner[first], row = work->row[first];
    int64_t gpu_ns = 0;
    j->symbols.n = 0;
    bool ok = hs_vec_push(&j->symbols, ev->name[op]);
    for (size_t k = first; k < end && ok; k++) {
        ok = hs_vec_push(&j->symbols, g->name[work->row[k]]);
        gpu_ns = hs_add_sat(gpu_ns, g->dur[work->row[k]]);
    }
    uint32_t pattern = ok ? hs_pattern_add(&j->patterns, j->symbols.p, j->symbols.n) : HS_NO_SYM;
    if (pattern != HS_NO_SYM && pattern > j->groups.n)
        ok = hs_vec_push(&j->groups, ((struct group){.pattern = pattern}));
    if (!ok || pattern == HS_NO_SYM)
        return hs_fail(err, HS_ELIMIT,
                       "the trace has more sequences of kernels than fit: narrow it with step, from, to");
    struct group *x = &j->groups.p[pattern - 1];
    x->calls++;
    x->launch_ns = hs_add_sat(x->launch_ns, hs_sub_sat(g->launch_ts[row], ev->ts[op]));
    x->runtime_ns = hs_add_sat(x->runtime_ns, hs_max_i64(0, hs_sub_sat(g->ts[row], g->launch_ts[row])));
    x->cpu_ns = hs_add_sat(x->cpu_ns, hs_max_i64(0, ev->dur[op]));
    x->gpu_ns = hs_add_sat(x->gpu_ns, gpu_ns);
    return HS_OK;
}

static double sort_value(const struct group *g, enum sort s)
{
    switch (s) {
    case BY_COUNT: return (double)g->calls;
    case BY_LAUNCH: return (double)g->launch_ns / (double)g->calls;
    case BY_RUNTIME: return (double)g->runtime_ns / (double)g->calls;
    case BY_GPU: return (double)g->gpu_ns;
    case SORTS: break;
    }
    return 0;
}

/* Ties: by GPU time, then by the pattern's id, which depends on names alone. */
static int by_keys(const void *a, const void *b, void *job)
{
    const struct group *x = a, *y = b;
    const struct job *j = job;
    for (size_t k = 0; k < j->nkeys; k++) {
        double u = sort_value(x, j->keys[k]), v = sort_value(y, j->keys[k]);
        if (u != v)
            return u < v ? 1 : -1;
    }
    if (x->gpu_ns != y->gpu_ns)
        return x->gpu_ns < y->gpu_ns ? 1 : -1;
    return (x->hash > y->hash) - (x->hash < y->hash);
}

static int64_t mean(int64_t sum, int64_t n)
{
    return hs_round_i64((double)sum / (double)n);
}

static void write_rows(struct job *j, struct hs_page *page, struct hs_table *out)
{
    struct hs_buf scratch = HS_BUF_INIT(1 << 24);
    for (size_t i = 0; i < j->groups.n; i++)
        j->groups.p[i].hash = hs_pattern_hash(&j->patterns, j->groups.p[i].pattern);
    if (j->groups.n)
        qsort_r(j->groups.p, j->groups.n, sizeof *j->groups.p, by_keys, j);
    for (size_t i = 0; i < j->groups.n; i++) {
        const struct group *g = &j->groups.p[i];
        if (!hs_page_take(page))
            continue;
        hs_table_row(out);
        hs_cell_i64(out, j->sel.rank);
        hs_pattern_cells(&j->patterns, g->pattern, &scratch, out);
        hs_cell_i64(out, g->calls);
        hs_cell_ns(out, mean(g->launch_ns, g->calls));
        hs_cell_ns(out, mean(g->runtime_ns, g->calls));
        hs_cell_ns(out, g->cpu_ns);
        hs_cell_ns(out, g->gpu_ns);
    }
    hs_buf_free(&scratch);
}

static void note_left_out(const struct job *j, const struct hs_launched_by *work, struct hs_table *out)
{
    if (work->orphans)
        hs_table_note(out, "Rank %lld: %lld device activities are left out, as their launch is not in the trace.",
                      (long long)j->sel.rank, (long long)work->orphans);
    if (work->ownerless)
        hs_table_note(out,
                      "Rank %lld: %lld device activities are left out, as no such operator of the launching thread "
                      "encloses their launch.",
                      (long long)j->sel.rank, (long long)work->ownerless);
}

static int one_rank(struct job *j, const struct hs_run_rank *r, const struct hs_params *p, struct hs_page *page,
                    struct hs_table *out, struct hs_err *err)
{
    int rc = hs_select_open(&j->sel, r, p, out, err);
    if (rc || !j->sel.gpu.n)
        return rc;
    rc = hs_cpu_open(&j->cpu, r->view, HS_EV_TS | HS_EV_DUR, err);
    if (rc) {
        hs_select_close(&j->sel);
        return rc;
    }
    const char *prefix = hs_param_text(p, "op_prefix");
    uint8_t *named = hs_calloc(r->view->nsyms, 1);
    for (size_t i = 0; i < r->view->nsyms; i++)
        named[i] = hs_str_starts(r->view->syms[i], prefix);
    struct hs_pick pick;
    struct hs_launched_by work;
    hs_pick_open(&pick, &j->cpu, 1u << HS_CAT_CPU_OP, named, false);
    hs_launched_by(&j->sel, &pick, hs_param_bool(p, "include_memory_events"), HS_BY_LAUNCH, &work);
    hs_patterns_init(&j->patterns, r->view);
    j->groups.n = 0;
    for (size_t i = 0, end; i < work.n && !rc; i = end) {
        for (end = i + 1; end < work.n && work.owner[end] == work.owner[i];)
            end++;
        rc = add_call(j, &work, i, end, err);
    }
    if (!rc)
        write_rows(j, page, out);
    note_left_out(j, &work, out);
    hs_patterns_free(&j->patterns);
    hs_launched_by_free(&work);
    hs_pick_close(&pick);
    free(named);
    hs_cpu_close(&j->cpu);
    hs_select_close(&j->sel);
    return rc;
}

static int run(struct hs_run *r, const struct hs_params *p, struct hs_table *out, struct hs_err *err)
{
    struct job j = {.groups = HS_VEC_INIT(UINT32_MAX - 1), .symbols = HS_VEC_INIT(UINT32_MAX)};
    struct hs_page page = hs_page_of(p);
    int rc = read_sort(&j, hs_param_text(p, "sort_by"), err);
    for (size_t i = 0; i < r->n && !rc; i++)
        rc = one_rank(&j, &r->ranks[i], p, &page, out, err);
    hs_page_note(&page, out, "sequences");
    hs_note_excluded(r, out);
    hs_vec_free(&j.groups);
    hs_vec_free(&j.symbols);
    return rc;
}

const struct hs_analysis hs_analysis_op_launch_delays = {
    .name = "op-launch-delays",
    .summary = "Operators with the kernels they launch: delay until the launch and from launch to start",
    .doc = "Each launch (any runtime or driver API; a CUDA graph's launch counts with all its kernels) belongs to the "
           "innermost operator "
           "of its own thread that encloses it. One row per rank, operator and sequence of what its calls launched, in "
           "order of the "
           "launches. The delays are those of the first launch of each call, both from start to start, as HTA has "
           "them. A call "
           "belongs to the window in which it starts; `step` takes the work that those steps launched. Operators that "
           "launch nothing "
           "have no row.",
    .version = 1,
    .params = params_spec,
    .nparams = sizeof params_spec / sizeof params_spec[0],
    .columns = columns,
    .ncolumns = sizeof columns / sizeof columns[0],
    .run = run,
    .run_hta = hta_op_launch_delays,
};
