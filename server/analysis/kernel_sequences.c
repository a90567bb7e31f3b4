/* kernel-sequences: the sequences of kernels that calls of an operator launch, and how often each occurs. HTA's
 * get_frequent_cuda_kernel_sequences, per branch of the call tree instead of at one depth of all. */
#include "analysis/analyses.h"
#include "analysis/hta.h"
#include "analysis/launched_by.h"
#include "analysis/patterns.h"
#include "trace/stats.h"

#include <stdlib.h>
#include <string.h>

static const struct hs_param_spec params_spec[] = {
    {"operator_name", HS_P_TEXT, "", NULL, 0, 0, NULL,
     "a part of the operator's name, as it is written (operator, annotation, python frame or call)"},
    {"min_pattern_len", HS_P_INT, "1", "3", 1, 1e9, NULL, "leave out calls that launch fewer device activities"},
    {"top_k", HS_P_INT, "1", "5", 0, 1e9, NULL, "give at most so many sequences of a rank, the most frequent; 0: all"},
    {"compress_other_kernels", HS_P_BOOL, "", "true", 0, 0, NULL,
     "of HTA, for its overlay trace; no part in the answer"},
};

static const struct hs_column_spec columns[] = {
    {"rank", HS_T_INT, "", "rank of the trace"},
    HS_PATTERN_COLUMNS,
    {"count", HS_T_INT, "1", "calls that launched this sequence"},
    {"gpu_us", HS_T_TIME, "us", "summed durations of all that these calls launched (work volume)"},
    {"mean_gpu_us", HS_T_TIME, "us", "gpu_us / count"},
    {"cpu_us", HS_T_TIME, "us", "summed durations of these calls on the CPU"},
    {"gpu_pct", HS_T_PCT, "percent",
     "gpu_us of all that the operator's calls launched in the rank, short sequences included"},
    {"first_event", HS_T_INT, "", "event number of the first of these calls"},
};

struct group {
    int64_t count, gpu_ns, cpu_ns;
    uint32_t pattern, first_event;
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
    const char *wanted;
    size_t shortest;
    int64_t top, all_gpu_ns, too_short;
};

/* One call: places [first, end) of the work. Calls come by start, so the first to add a pattern is its first. */
static int add_call(struct job *j, const struct hs_launched_by *work, size_t first, size_t end, struct hs_err *err)
{
    const struct hs_gpu *g = &j->sel.gpu;
    uint32_t op = work->owner[first];
    int64_t gpu_ns = 0;
    j->symbols.n = 0;
    bool ok = hs_vec_push(&j->symbols, j->cpu.ev.name[op]);
    for (size_t k = first; k < end && ok; k++) {
        ok = hs_vec_push(&j->symbols, g->name[work->row[k]]);
        gpu_ns = hs_add_sat(gpu_ns, g->dur[work->row[k]]);
    }
    j->all_gpu_ns = hs_add_sat(j->all_gpu_ns, gpu_ns);
    if (ok && end - first < j->shortest) {
        j->too_short++;
        return HS_OK;
    }
    uint32_t pattern = ok ? hs_pattern_add(&j->patterns, j->symbols.p, j->symbols.n) : HS_NO_SYM;
    if (pattern != HS_NO_SYM && pattern > j->groups.n)
        ok = hs_vec_push(&j->groups, ((struct group){.pattern = pattern, .first_event = op}));
    if (!ok || pattern == HS_NO_SYM)
        return hs_fail(err, HS_ELIMIT,
                       "the trace has more sequences of kernels than fit: narrow it with step, from, to");
    struct group *x = &j->groups.p[pattern - 1];
    x->count++;
    x->gpu_ns = hs_add_sat(x->gpu_ns, gpu_ns);
    x->cpu_ns = hs_add_sat(x->cpu_ns, hs_max_i64(0, j->cpu.ev.dur[op]));
    return HS_OK;
}

static int by_count(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    if (x->gpu_ns != y->gpu_ns)
        return x->gpu_ns < y->gpu_ns ? 1 : -1;
    return (x->hash > y->hash) - (x->hash < y->hash);
}

static void write_rows(struct job *j, struct hs_table *out)
{
    struct hs_buf scratch = HS_BUF_INIT(1 << 24);
    for (size_t i = 0; i < j->groups.n; i++)
        j->groups.p[i].hash = hs_pattern_hash(&j->patterns, j->groups.p[i].pattern);
    if (j->groups.n)
        qsort(j->groups.p, j->groups.n, sizeof *j->groups.p, by_count);
    size_t n = j->top && (size_t)j->top < j->groups.n ? (size_t)j->top : j->groups.n;
    for (size_t i = 0; i < n; i++) {
        const struct group *g = &j->groups.p[i];
        hs_table_row(out);
        hs_cell_i64(out, j->sel.rank);
        hs_pattern_cells(&j->patterns, g->pattern, &scratch, out);
        hs_cell_i64(out, g->count);
        hs_cell_ns(out, g->gpu_ns);
        hs_cell_ns(out, hs_round_i64((double)g->gpu_ns / (double)g->count));
        hs_cell_ns(out, g->cpu_ns);
        hs_cell_f64(out, hs_percent(g->gpu_ns, j->all_gpu_ns));
        hs_cell_i64(out, g->first_event);
    }
    hs_buf_free(&scratch);
}

static void notes(const struct job *j, const struct hs_launched_by *work, bool named, struct hs_table *out)
{
    long long rank = (long long)j->sel.rank;
    if (!named)
        hs_table_note(out, "Rank %lld has no CPU event whose name contains \"%.200s\".", rank, j->wanted);
    else if (!work->n)
        hs_table_note(out, "Rank %lld: no call of \"%.200s\" launched anything in the window.", rank, j->wanted);
    if (j->too_short)
        hs_table_note(out, "Rank %lld: %lld calls launched fewer than %zu device activities and are left out.", rank,
                      (long long)j->too_short, j->shortest);
    if (j->top && (size_t)j->top < j->groups.n)
        hs_table_note(out, "Rank %lld has %zu different sequences; top_k gives more than the first %lld.", rank,
                      j->groups.n, (long long)j->top);
    if (work->orphans)
        hs_table_note(
            out,
            "Rank %lld: the launches of %lld device activities are not in the trace: no call is known to have them.",
            rank, (long long)work->orphans);
}

static int one_rank(struct job *j, const struct hs_run_rank *r, const struct hs_params *p, struct hs_table *out,
                    struct hs_err *err)
{
    static const unsigned kinds =
        1u << HS_CAT_CPU_OP | 1u << HS_CAT_ANNOTATION | 1u << HS_CAT_PYTHON | 1u << HS_CAT_RUNTIME | 1u << HS_CAT_OTHER;
    int rc = hs_select_open(&j->sel, r, p, out, err);
    if (rc || !j->sel.gpu.n)
        return rc;
    rc = hs_cpu_open(&j->cpu, r->view, HS_EV_TS | HS_EV_DUR, err);
    if (rc) {
        hs_select_close(&j->sel);
        return rc;
    }
    size_t len = strlen(j->wanted);
    bool any = false;
    uint8_t *named = hs_calloc(r->view->nsyms, 1);
    for (size_t i = 0; i < r->view->nsyms; i++) {
        named[i] = r->view->syms[i].n >= len && memmem(r->view->syms[i].p, r->view->syms[i].n, j->wanted, len);
        any = any || named[i];
    }
    struct hs_pick pick;
    struct hs_launched_by work;
    hs_pick_open(&pick, &j->cpu, kinds, named, true);
    hs_launched_by(&j->sel, &pick, true, HS_BY_START, &work);
    hs_patterns_init(&j->patterns, r->view);
    j->groups.n = 0;
    j->all_gpu_ns = j->too_short = 0;
    for (size_t i = 0, end; i < work.n && !rc; i = end) {
        for (end = i + 1; end < work.n && work.owner[end] == work.owner[i];)
            end++;
        rc = add_call(j, &work, i, end, err);
    }
    if (!rc) {
        write_rows(j, out);
        notes(j, &work, any, out);
    }
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
    struct job j = {.groups = HS_VEC_INIT(UINT32_MAX - 1),
                    .symbols = HS_VEC_INIT(UINT32_MAX),
                    .wanted = hs_param_text(p, "operator_name"),
                    .shortest = (size_t)hs_param_i64(p, "min_pattern_len"),
                    .top = hs_param_i64(p, "top_k")};
    int rc = HS_OK;
    if (!j.wanted || !*j.wanted) {
        hs_table_note(out, "Name an operator, or a part of its name, with operator_name; symbols lists the names.");
        return HS_OK;
    }
    for (size_t i = 0; i < r->n && !rc; i++)
        rc = one_rank(&j, &r->ranks[i], p, out, err);
    hs_note_excluded(r, out);
    hs_vec_free(&j.groups);
    hs_vec_free(&j.symbols);
    return rc;
}

const struct hs_analysis hs_analysis_kernel_sequences = {
    .name = "kernel-sequences",
    .summary = "The sequences of kernels that calls of an operator launch, and how often each occurs",
    .doc = "A call is an event of the CPU side whose name contains operator_name and that nests in no other such "
           "event. Its sequence is "
           "all device work launched by anything within it, in order of start. Calls with the same name and sequence "
           "are one row, the "
           "most frequent first, then the longest. `pattern_id` stands for the whole sequence, whose text is cut when "
           "very long. A call "
           "belongs to the window in which it starts; `step` takes the work that those steps launched.",
    .version = 1,
    .params = params_spec,
    .nparams = sizeof params_spec / sizeof params_spec[0],
    .columns = columns,
    .ncolumns = sizeof columns / sizeof columns[0],
    .run = run,
    .run_hta = hta_kernel_sequences,
};
