/* kernel-sequences: the sequences of kernels that calls of an operator launch, and how often each occurs. HTA's
 * get_frequent_cuda_kernel_sequences, per branch of the call tree instead of at one depth of all. */
#include "analysis/analyses.h"
#include "analysis/hta.h"
#include "analysis/sequences.h"
#include "trace/stats.h"

static const struct hs_param_spec params_spec[] = {
    HS_PARAM_SEQUENCES,
    {"compress_other_kernels", HS_P_BOOL, "", "true", 0, 0, NULL,
     "of HTA, for its overlay trace, which export gives; no part in the answer"},
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

static void write_rows(const struct hs_sequences *s, struct hs_table *out)
{
    struct hs_buf scratch = HS_BUF_INIT(1 << 24);
    for (size_t i = 0; i < s->top; i++) {
        const struct hs_sequence *x = &s->list.p[i];
        hs_table_row(out);
        hs_cell_i64(out, s->sel.rank);
        hs_pattern_cells(&s->patterns, x->pattern, &scratch, out);
        hs_cell_i64(out, x->count);
        hs_cell_ns(out, x->gpu_ns);
        hs_cell_ns(out, hs_round_i64((double)x->gpu_ns / (double)x->count));
        hs_cell_ns(out, x->cpu_ns);
        hs_cell_f64(out, hs_percent(x->gpu_ns, s->all_gpu_ns));
        hs_cell_i64(out, x->first_event);
    }
    hs_buf_free(&scratch);
}

static int run(struct hs_run *r, const struct hs_params *p, struct hs_table *out, struct hs_err *err)
{
    const char *wanted = hs_param_text(p, "operator_name");
    int rc = HS_OK;
    if (!wanted || !*wanted) {
        hs_table_note(out, "Name an operator, or a part of its name, with operator_name; symbols lists the names.");
        return HS_OK;
    }
    for (size_t i = 0; i < r->n && !rc; i++) {
        struct hs_sequences s;
        rc = hs_sequences_open(&s, &r->ranks[i], p, out, err);
        if (!rc) {
            write_rows(&s, out);
            hs_sequences_note(&s, p, out);
        }
        hs_sequences_close(&s);
    }
    hs_note_excluded(r, out);
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
