/* annotations: time by user annotation, on the GPU's side or the CPU's, with the device work that belongs to each. HTA's
 * get_gpu_user_annotation_breakdown with statistics over events and names kept by their share of time. */
#include "analysis/analyses.h"
#include "analysis/annotated.h"
#include "analysis/hta.h"
#include "analysis/name_filter.h"
#include "trace/stats.h"

#include <stdlib.h>
#include <string.h>

static const struct hs_param_spec params_spec[] = {
    {"use_gpu_annotation", HS_P_BOOL, "", "true", 0, 0, NULL,
     "true: gpu_user_annotation, the annotations as spans of device streams; false: user_annotation, on the CPU"},
    {"name", HS_P_TEXT, "", NULL, 0, 0, NULL,
     "regular expression (PCRE2) found anywhere in the name; others are left out"},
    {"duration_ratio", HS_P_REAL, "1", NULL, 0, 1, NULL,
     "keep, per rank, the longest names that together make up this share of the time; the rest becomes one row, "
     "others"},
    {"num_kernels", HS_P_INT, "1", "1000", 1, 1e9, NULL,
     "keep at most so many names per rank; the rest becomes one row, others"},
    {"allowlist_patterns", HS_P_TEXT, "", NULL, 0, 0, NULL,
     "texts joined by commas: names that contain one of them are never part of others"},
};

static const struct hs_column_spec columns[] = {
    {"rank", HS_T_INT, "", "rank of the trace"},
    {"name", HS_T_TEXT, "", "the annotation; others: what duration_ratio and num_kernels leave"},
    {"calls", HS_T_INT, "1", "annotations of this name"},
    {"sum_us", HS_T_TIME, "us", "sum of their durations; nested ones of one name count each"},
    {"mean_us", HS_T_TIME, "us", "sum_us / calls"},
    {"min_us", HS_T_TIME, "us", "shortest"},
    {"max_us", HS_T_TIME, "us", "longest"},
    {"stddev_us", HS_T_TIME, "us", "sample standard deviation (n - 1); 0 for one"},
    {"p50_us", HS_T_TIME, "us", "median: linear interpolation at position (n - 1) q"},
    {"kernels", HS_T_INT, "1",
     "device activities of theirs: GPU side, those that start within one on its stream; CPU side, those "
     "launched under one; each once a name, however deep the name nests"},
    {"gpu_us", HS_T_TIME, "us", "summed durations of those (work volume)"},
    {"gpu_pct", HS_T_PCT, "percent", "gpu_us of the summed durations of all device work of the rank's trace"},
    {"names", HS_T_INT, "1", "distinct names in the row: 1, more for others"},
};

struct group {
    uint32_t sym;
    size_t first, n; /* of the annotations, which are sorted by name */
    int64_t sum, kernels, gpu_ns;
    bool always; /* of the allow-list */
};

struct job {
    struct hs_annotated ann;
    struct {
        HS_VEC(struct group);
    } groups;
    struct hs_name_filter *filter;
    const char *allow;
    bool gpu_side;
    double ratio;
    int64_t limit, all_gpu_ns;
};

static bool allowed(const char *list, struct hs_str name)
{
    for (const char *p = list; p && *p;) {
        size_t n = strcspn(p, ",");
        if (n && n <= name.n && memmem(name.p, name.n, p, n))
            return true;
        p += n + (p[n] == ',');
    }
    return false;
}

static int make_groups(struct job *j, struct hs_err *err)
{
    const struct hs_annotated *a = &j->ann;
    j->groups.n = 0;
    for (size_t i = 0, end; i < a->n; i = end) {
        struct group g = {.sym = a->list[i].name, .first = i};
        struct hs_str name = hs_view_str(a->sel.view, g.sym);
        for (end = i; end < a->n && a->list[end].name == g.sym; end++) {
            g.sum = hs_add_sat(g.sum, hs_sub_sat(a->list[end].end, a->list[end].ts));
            g.kernels += a->list[end].kernels;
            g.gpu_ns = hs_add_sat(g.gpu_ns, a->list[end].gpu_ns);
        }
        g.n = end - i;
        g.always = allowed(j->allow, name);
        if (hs_name_matches(j->filter, name) && !hs_vec_push(&j->groups, g))
            return hs_fail(err, HS_ELIMIT, "more distinct names than there may be");
    }
    return HS_OK;
}

static int by_time(const void *a, const void *b, void *view)
{
    const struct group *x = a, *y = b;
    if (x->sum != y->sum)
        return x->sum < y->sum ? 1 : -1;
    return hs_str_cmp(hs_view_str(view, x->sym), hs_view_str(view, y->sym));
}

/* Moves the kept groups to the front, in their order; the number of them. */
static size_t keep(struct job *j, struct group *scratch)
{
    double all = 0, sum = 0;
    size_t kept = 0, left = 0;
    for (size_t i = 0; i < j->groups.n; i++)
        all += (double)j->groups.p[i].sum;
    for (size_t i = 0; i < j->groups.n; i++) {
        struct group g = j->groups.p[i];
        if (g.always || ((int64_t)i < j->limit && (j->ratio >= 1 || sum < j->ratio * all)))
            j->groups.p[kept++] = g;
        else
            scratch[left++] = g;
        sum += (double)g.sum;
    }
    if (left)
        memcpy(j->groups.p + kept, scratch, left * sizeof *scratch);
    return kept;
}

/* One row over groups [first, end): one name, or what is left over. */
static void row(struct job *j, size_t first, size_t end, bool others, int64_t *durs, int64_t *scratch,
                struct hs_table *out)
{
    int64_t sum = 0, kernels = 0, gpu_ns = 0;
    size_t n = 0;
    for (size_t k = first; k < end; k++) {
        const struct group *g = &j->groups.p[k];
        for (size_t i = g->first; i < g->first + g->n; i++)
            durs[n++] = hs_sub_sat(j->ann.list[i].end, j->ann.list[i].ts);
        sum = hs_add_sat(sum, g->sum);
        kernels += g->kernels;
        gpu_ns = hs_add_sat(gpu_ns, g->gpu_ns);
    }
    hs_sort_i64(durs, scratch, n);
    hs_table_row(out);
    hs_cell_i64(out, j->ann.sel.rank);
    hs_cell_text(out, others ? HS_STR("others") : hs_view_str(j->ann.sel.view, j->groups.p[first].sym));
    hs_cell_i64(out, (int64_t)n);
    hs_cell_ns(out, sum);
    hs_cell_ns(out, hs_round_i64(hs_mean_i64(durs, n)));
    hs_cell_ns(out, durs[0]);
    hs_cell_ns(out, durs[n - 1]);
    hs_cell_ns(out, hs_round_i64(hs_std_i64(durs, n)));
    hs_cell_ns(out, hs_round_i64(hs_percentile_i64(durs, n, 0.5)));
    if (others) { /* their work overlaps: a sum would count some of it twice */
        hs_cell_null(out);
        hs_cell_null(out);
        hs_cell_null(out);
    } else {
        hs_cell_i64(out, kernels);
        hs_cell_ns(out, gpu_ns);
        hs_cell_f64(out, hs_percent(gpu_ns, j->all_gpu_ns));
    }
    hs_cell_i64(out, (int64_t)(end - first));
}

static void write_rows(struct job *j, struct hs_table *out)
{
    struct group *left = hs_realloc_array(NULL, j->groups.n + 1, sizeof *left);
    int64_t *durs = hs_realloc_array(NULL, 2 * (j->ann.n + 1), sizeof *durs);
    if (j->groups.n)
        qsort_r(j->groups.p, j->groups.n, sizeof *j->groups.p, by_time, j->ann.sel.view);
    size_t kept = keep(j, left);
    for (size_t k = 0; k < kept; k++)
        row(j, k, k + 1, false, durs, durs + j->ann.n + 1, out);
    if (kept < j->groups.n)
        row(j, kept, j->groups.n, true, durs, durs + j->ann.n + 1, out);
    free(left);
    free(durs);
}

static int one_rank(struct job *j, const struct hs_run_rank *r, const struct hs_params *p, struct hs_table *out,
                    struct hs_err *err)
{
    int rc = hs_annotated_open(&j->ann, r, p, j->gpu_side, out, err);
    if (rc)
        return rc;
    j->all_gpu_ns = 0;
    for (size_t i = 0; i < j->ann.sel.gpu.n; i++)
        j->all_gpu_ns = hs_add_sat(j->all_gpu_ns, j->ann.sel.gpu.dur[i]);
    rc = make_groups(j, err);
    if (!rc)
        write_rows(j, out);
    hs_annotated_close(&j->ann);
    return rc;
}

static int run(struct hs_run *r, const struct hs_params *p, struct hs_table *out, struct hs_err *err)
{
    struct job j = {.groups = HS_VEC_INIT(UINT32_MAX - 1),
                    .allow = hs_param_text(p, "allowlist_patterns"),
                    .gpu_side = hs_param_bool(p, "use_gpu_annotation"),
                    .ratio = hs_param_has(p, "duration_ratio") ? hs_param_f64(p, "duration_ratio") : 1,
                    .limit = hs_param_i64(p, "num_kernels")};
    int rc = hs_name_filter_new(&j.filter, hs_param_text(p, "name"), err);
    for (size_t i = 0; i < r->n && !rc; i++)
        rc = one_rank(&j, &r->ranks[i], p, out, err);
    hs_note_excluded(r, out);
    hs_name_filter_free(j.filter);
    hs_vec_free(&j.groups);
    return rc;
}

const struct hs_analysis hs_analysis_annotations = {
    .name = "annotations",
    .summary = "Time by user annotation (record_function, steps), with the GPU work of each",
    .doc = "One row per rank and name, the longest first. Two sides: use_gpu_annotation=true takes the profiler's "
           "gpu_user_annotation, which spans, on a stream, the work that was launched under an annotation; false takes "
           "the "
           "user_annotation of the CPU. The statistics are over the annotations' own durations. `kernels` and `gpu_us` "
           "are the "
           "device work: on the GPU's side what starts within [ts, ts + dur) on the annotation's own stream, on the "
           "CPU's side "
           "what was launched by anything nested in the annotation. Names nest, so rows do not add up to the whole. An "
           "annotation "
           "belongs to the window in which it starts; on the GPU's side its step is that of the first work that it "
           "contains.",
    .version = 1,
    .params = params_spec,
    .nparams = sizeof params_spec / sizeof params_spec[0],
    .columns = columns,
    .ncolumns = sizeof columns / sizeof columns[0],
    .run = run,
    .run_hta = hta_annotations,
};
