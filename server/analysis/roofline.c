/* roofline: operators by name and shapes, the work that these tell, and how near the GPU came to its limits. */
#include "analysis/analyses.h"
#include "analysis/name_filter.h"
#include "analysis/op_groups.h"
#include "analysis/page.h"
#include "trace/stats.h"

#include <math.h>
#include <string.h>

static const struct hs_param_spec params_spec[] = {
    {"name", HS_P_TEXT, "", NULL, 0, 0, NULL, "regular expression (PCRE2) found anywhere in the operator's name"},
    {"kind", HS_P_CHOICE, "", NULL, 0, 0, "matmul|attention|elementwise|norm|triton", "only this kind of operator"},
    HS_PARAM_PAGE,
};

static const struct hs_column_spec columns[] = {
    {"rank", HS_T_INT, "", "rank of the trace"},
    {"name", HS_T_TEXT, "", "the operator, innermost around the launches of its kernels"},
    {"kind", HS_T_TEXT, "", "matmul, attention, elementwise, norm, triton"},
    {"input_dims", HS_T_JSON, "", "shapes of its arguments, as recorded"},
    {"input_types", HS_T_JSON, "", "their types, as recorded"},
    {"dtype", HS_T_TEXT, "",
     "what a product ran in: float16, tf32 …; float operands count as tf32 where the kernel's name says so or where it "
     "was faster than float32 can be; null for kinds without products"},
    {"calls", HS_T_INT, "1", "calls with these shapes that launched kernels"},
    {"gpu_us", HS_T_TIME, "us", "summed durations of these kernels, and of memsets between them"},
    {"share_pct", HS_T_PCT, "percent", "gpu_us of the summed durations of all device work asked for"},
    {"flops", HS_T_REAL, "1", "multiplications and additions of one call; null for kinds without products"},
    {"bytes", HS_T_REAL, "bytes", "the least that one call must read and write"},
    {"tflops", HS_T_REAL, "TFLOP/s", "flops x calls / gpu_us"},
    {"gbps", HS_T_REAL, "GB/s", "bytes x calls / gpu_us (10^9 bytes)"},
    {"compute_pct", HS_T_PCT, "percent", "tflops of the device's peak in dtype; null where no peak is known"},
    {"bandwidth_pct", HS_T_PCT, "percent", "gbps of the peak of the device's memory"},
    {"roof_pct", HS_T_PCT, "percent", "the larger of the two: how near it came to the limit that binds it"},
    {"bound", HS_T_TEXT, "",
     "compute or memory: which of the two limits is the lower one for so many operations and bytes"},
    {"cached", HS_T_BOOL, "", "bytes fit into the device's last cache, so bandwidth_pct may be above 100"},
    {"event", HS_T_INT, "", "the call whose kernels took longest"},
    {"event_ts_us", HS_T_TIME, "us", "its start, on the run's clock"},
};

struct job {
    struct hs_select sel;
    struct hs_cpu cpu;
    struct hs_op_groups groups;
    struct hs_name_filter *filter;
    const char *kind;
    struct hs_page page;
    struct hs_table *out;
    struct hs_buf text;
};

/* Some writers spread lists over lines: the same text without blanks outside of strings. */
static void cell_json(struct job *j, struct hs_str s)
{
    bool quoted = false;
    j->text.n = 0;
    for (size_t i = 0; i < s.n; i++) {
        quoted ^= s.p[i] == '"' && (!i || s.p[i - 1] != '\\');
        if (quoted || !strchr(" \t\r\n", s.p[i]))
            hs_buf_putc(&j->text, s.p[i]);
    }
    hs_cell_text(j->out, hs_str(j->text.p, j->text.n));
}

static const char *bound_of(const struct hs_op_group *x)
{
    if (!x->peaks || !isfinite(x->bandwidth_pct))
        return NULL;
    return isfinite(x->compute_pct) && x->compute_pct > x->bandwidth_pct ? "compute" : "memory";
}

static void put_row(struct job *j, const struct hs_op_group *x)
{
    const struct hs_view *v = j->sel.view;
    bool products = x->cost.flops > 0;
    hs_table_row(j->out);
    hs_cell_i64(j->out, j->sel.rank);
    hs_cell_text(j->out, hs_view_str(v, x->name));
    hs_cell_cstr(j->out, hs_op_kind_names[x->cost.kind]);
    cell_json(j, hs_view_str(v, x->dims));
    cell_json(j, hs_view_str(v, x->types));
    hs_cell_cstr(j->out, products ? hs_dtype_names[x->cost.dtype] : NULL);
    hs_cell_i64(j->out, x->calls);
    hs_cell_ns(j->out, x->gpu_ns);
    hs_cell_f64(j->out, hs_percent(x->gpu_ns, j->groups.work_ns));
    hs_cell_f64(j->out, products ? x->cost.flops : NAN);
    hs_cell_f64(j->out, x->cost.bytes);
    hs_cell_f64(j->out, products ? hs_op_tflops(x) : NAN);
    hs_cell_f64(j->out, hs_op_gbps(x));
    hs_cell_f64(j->out, x->compute_pct);
    hs_cell_f64(j->out, x->bandwidth_pct);
    hs_cell_f64(j->out, fmax(x->compute_pct, x->bandwidth_pct)); /* of a number and NaN the number */
    hs_cell_cstr(j->out, bound_of(x));
    if (x->peaks)
        hs_cell_bool(j->out, x->cached);
    else
        hs_cell_null(j->out);
    hs_cell_i64(j->out, x->event);
    hs_cell_ns(j->out, hs_add_sat(x->ts, j->sel.offset));
}

static void note_rank(const struct job *j)
{
    const struct hs_op_groups *g = &j->groups;
    long long rank = (long long)j->sel.rank;
    if (!j->sel.gpu.n)
        return; /* said already */
    if (g->no_shapes) {
        hs_table_note(j->out, "Rank %lld: %s.", rank, g->no_shapes);
        return;
    }
    if (g->peaks)
        hs_table_note(j->out, "Rank %lld: %.*s; peaks of %s: %.0f GB/s, float32 %.1f, half %.1f TFLOP/s (dense).", rank,
                      (int)hs_min_i64(100, (int64_t)g->device.n), g->device.p, g->peaks->name, g->peaks->gbps,
                      g->peaks->tflops[HS_DTYPE_F32], g->peaks->tflops[HS_DTYPE_F16]);
    else
        hs_table_note(
            j->out,
            "Rank %lld: the peaks of its device (%.*s) are not known, or it is a part of one: nothing is said "
            "of how near it came to them.",
            rank, g->device.n ? (int)hs_min_i64(100, (int64_t)g->device.n) : 8, g->device.n ? g->device.p : "not told");
    hs_table_note(j->out,
                  "Rank %lld: %.1f %% of the time of device work belongs to operators whose shapes tell what they do; "
                  "the rest is left out.",
                  rank, g->work_ns > 0 ? hs_percent(g->told_ns, g->work_ns) : 0);
}

static int one_rank(struct job *j, const struct hs_run_rank *r, const struct hs_params *p, struct hs_err *err)
{
    int rc = hs_select_open(&j->sel, r, p, j->out, err);
    if (rc)
        return rc;
    rc = hs_cpu_open(&j->cpu, r->view, HS_EV_TS | HS_EV_PH, err);
    if (!rc)
        rc = hs_op_groups_open(&j->groups, &j->sel, &j->cpu, err);
    for (size_t i = 0; i < j->groups.n && !rc; i++) {
        const struct hs_op_group *x = &j->groups.p[i];
        if (x->told && x->gpu_ns > 0 && (!j->kind || !strcmp(j->kind, hs_op_kind_names[x->cost.kind])) &&
            hs_name_matches(j->filter, hs_view_str(r->view, x->name)) && hs_page_take(&j->page))
            put_row(j, x);
    }
    if (!rc)
        note_rank(j);
    hs_op_groups_close(&j->groups);
    hs_cpu_close(&j->cpu);
    hs_select_close(&j->sel);
    return rc;
}

static int run(struct hs_run *r, const struct hs_params *p, struct hs_table *out, struct hs_err *err)
{
    struct job j = {.kind = hs_param_text(p, "kind"), .page = hs_page_of(p), .out = out, .text = HS_BUF_INIT(1 << 20)};
    int rc = hs_name_filter_new(&j.filter, hs_param_text(p, "name"), err);
    for (size_t i = 0; i < r->n && !rc; i++)
        rc = one_rank(&j, &r->ranks[i], p, err);
    if (!rc && hs_name_filter_gave_up(j.filter))
        hs_table_note(out, "The pattern took too long on %zu names; they count as not matching.",
                      hs_name_filter_gave_up(j.filter));
    hs_name_filter_free(j.filter);
    hs_buf_free(&j.text);
    hs_page_note(&j.page, out, "operators");
    hs_note_excluded(r, out);
    return rc;
}

const struct hs_analysis hs_analysis_roofline = {
    .name = "roofline",
    .summary = "Operators by shapes: operations, bytes, TFLOP/s and GB/s, and how near they came to the GPU's limits",
    .doc =
        "Needs record_shapes=True. Each kernel counts for the innermost operator around its launch. A matrix product "
        "[M,K]x[K,N] "
        "has 2MNK operations, attention 2(D+Dv) for each pair of a query and a key (S(S+1)/2 pairs under a causal "
        "mask of equal lengths; all where the mask is not recorded). Bytes are the least there can be: each operand "
        "read once, each result written once; caches and strides are not known, so an operand that was expanded "
        "counts in full and what fits into the last cache may be faster than the memory. Peaks are the makers' for "
        "dense operands at boost clock, by the device's name; a MIG slice or a partition, told by its "
        "multiprocessors, has none. Convolutions, embeddings, fused optimizers and operators of other libraries are "
        "not told by their shapes alone and are left out, as are calls that also copied between devices or "
        "communicated; a note says how much of the device time is told.",
    .version = 1,
    .params = params_spec,
    .nparams = sizeof params_spec / sizeof params_spec[0],
    .columns = columns,
    .ncolumns = sizeof columns / sizeof columns[0],
    .run = run,
};
