/* launch-outliers: what HTA's get_cuda_kernel_launch_stats draws: kernels that are over before their launch call is, calls
 * that take long, kernels that start late. */
#include "analysis/analyses.h"
#include "analysis/launch_pairs.h"
#include "analysis/order.h"
#include "analysis/page.h"

#include <stdlib.h>

static const struct hs_param_spec params_spec[] = {
    {"runtime_cutoff", HS_P_TIME, "us", "50", 0, 0, NULL, "calls that take longer are outliers (kind call)"},
    {"launch_delay_cutoff", HS_P_TIME, "us", "100", 0, 0, NULL,
     "work that starts later after its call is an outlier (kind delay)"},
    HS_PARAM_MEMORY_EVENTS,
    {"kind", HS_P_CHOICE, "", NULL, 0, 0, "short|call|delay", "only this kind"},
    {"offset", HS_P_INT, "1", "0", 0, 4e15, NULL, "leave out so many rows of each kind and rank at the beginning"},
    {"limit", HS_P_INT, "1", "100", 0, 4e15, NULL, "give at most so many rows of each kind and rank; 0: all"},
};

enum kind { SHORT, CALL, DELAY, KINDS };
static const char *const words[KINDS] = {"short", "call", "delay"};

static const struct hs_column_spec columns[] = {
    {"rank", HS_T_INT, "", "rank of the trace"},
    {"kind", HS_T_TEXT, "",
     "short: the work took less time than its launch call, and the call was no outlier; call: the call took longer "
     "than runtime_cutoff; "
     "delay: the work started more than launch_delay_cutoff after the call"},
    {"of_kind", HS_T_INT, "1", "how many pairs of this kind the rank has"},
    {"of_pairs_pct", HS_T_PCT, "percent",
     "of_kind of all pairs of a call and its work that the rank has in the window"},
    {"correlation", HS_T_INT, "", "correlation that call and work share"},
    {"ts_us", HS_T_TIME, "us", "start of the call, on the run's clock"},
    {"kernel", HS_T_TEXT, "", "name of the kernel, copy or memset"},
    {"cpu_duration_us", HS_T_TIME, "us", "duration of the call"},
    {"gpu_duration_us", HS_T_TIME, "us", "duration of the work"},
    {"launch_delay_us", HS_T_TIME, "us",
     "from the end of the call to the start of the work; 0 where the work starts before"},
    {"launch_event", HS_T_INT, "", "event number of the call"},
    {"kernel_event", HS_T_INT, "", "event number of the work"},
};

struct job {
    struct hs_select sel;
    int64_t runtime_cutoff, delay_cutoff;
    struct hs_launch_pairs pairs;
    uint32_t *rows, *scratch; /* pairs of one kind */
    int64_t *badness;         /* by device row: what the kind is sorted by, ascending */
};

/* The conditions are HTA's. */
static bool is_kind(const struct job *j, size_t i, enum kind k)
{
    int64_t cpu = hs_launch_dur(&j->sel, i), gpu = j->sel.gpu.dur[i];
    switch (k) {
    case SHORT: return cpu <= j->runtime_cutoff && gpu < cpu;
    case CALL: return cpu > j->runtime_cutoff;
    case DELAY: return hs_launch_delay(&j->sel, i) > j->delay_cutoff;
    case KINDS: break;
    }
    return false;
}

static int64_t badness(const struct job *j, size_t i, enum kind k)
{
    int64_t cpu = hs_launch_dur(&j->sel, i);
    return k == SHORT ? hs_sub_sat(j->sel.gpu.dur[i], cpu) : k == CALL ? -cpu : -hs_launch_delay(&j->sel, i);
}

static void outlier_row(const struct job *j, size_t i, enum kind k, size_t of_kind, struct hs_table *out)
{
    const struct hs_select *s = &j->sel;
    hs_table_row(out);
    hs_cell_i64(out, s->rank);
    hs_cell_cstr(out, words[k]);
    hs_cell_i64(out, (int64_t)of_kind);
    hs_cell_f64(out, 100.0 * (double)of_kind / (double)j->pairs.n);
    hs_cell_i64(out, s->gpu.corr[i]);
    hs_cell_ns(out, hs_add_sat(s->gpu.launch_ts[i], s->offset));
    hs_cell_text(out, hs_view_str(s->view, s->gpu.name[i]));
    hs_cell_ns(out, hs_launch_dur(s, i));
    hs_cell_ns(out, s->gpu.dur[i]);
    hs_cell_ns(out, hs_launch_delay(s, i));
    hs_cell_i64(out, s->gpu.launch[i]);
    hs_cell_i64(out, s->gpu.event[i]);
}

static void one_kind(struct job *j, enum kind k, struct hs_page page, struct hs_table *out)
{
    size_t n = 0;
    for (size_t x = 0; x < j->pairs.n; x++) {
        uint32_t i = j->pairs.row[x];
        if (!is_kind(j, i, k))
            continue;
        j->badness[i] = badness(j, i, k);
        j->rows[n++] = i;
    }
    hs_order_i64(j->rows, j->scratch, n, j->badness);
    for (size_t x = 0; x < n; x++)
        if (hs_page_take(&page))
            outlier_row(j, j->rows[x], k, n, out);
}

static int one_rank(struct job *j, const struct hs_run_rank *r, const struct hs_params *p, struct hs_table *out,
                    struct hs_err *err)
{
    int rc = hs_select_open(&j->sel, r, p, out, err);
    if (rc || !j->sel.gpu.n)
        return rc;
    const char *only = hs_param_text(p, "kind");
    hs_launch_pairs(&j->sel, hs_param_bool(p, "include_memory_events"), &j->pairs);
    j->rows = hs_realloc_array(NULL, j->pairs.n + 1, sizeof *j->rows);
    j->scratch = hs_realloc_array(NULL, j->pairs.n + 1, sizeof *j->scratch);
    j->badness = hs_realloc_array(NULL, j->sel.gpu.n, sizeof *j->badness);
    for (enum kind k = SHORT; k < KINDS; k++)
        if (!only || hs_str_is(hs_cstr(only), words[k]))
            one_kind(j, k, hs_page_of(p), out);
    hs_launch_pairs_note(&j->pairs, j->sel.rank, out);
    free(j->rows);
    free(j->scratch);
    free(j->badness);
    hs_launch_pairs_free(&j->pairs);
    hs_select_close(&j->sel);
    return rc;
}

static int run(struct hs_run *r, const struct hs_params *p, struct hs_table *out, struct hs_err *err)
{
    struct job j = {.runtime_cutoff = hs_param_i64(p, "runtime_cutoff"),
                    .delay_cutoff = hs_param_i64(p, "launch_delay_cutoff")};
    int rc = HS_OK;
    for (size_t i = 0; i < r->n && !rc; i++)
        rc = one_rank(&j, &r->ranks[i], p, out, err);
    hs_note_excluded(r, out);
    return rc;
}

const struct hs_analysis hs_analysis_launch_outliers = {
    .name = "launch-outliers",
    .summary = "Launches out of line: work shorter than its call, slow calls, late starts; the worst first",
    .doc = "The pairs of `launches` in three kinds, whose conditions are HTA's: `short`, cpu_duration <= "
           "runtime_cutoff and "
           "gpu_duration < cpu_duration (the CPU cannot keep the GPU busy with such work); `call`, cpu_duration > "
           "runtime_cutoff (the CPU was held up in the call: a full queue, an allocation, a lock); `delay`, "
           "launch_delay > "
           "launch_delay_cutoff (the work queued behind other work, or waited for an event). A pair can be of two "
           "kinds. Per rank "
           "and kind the worst come first: the largest difference, the longest call, the longest delay; `of_kind` "
           "counts all.",
    .version = 1,
    .params = params_spec,
    .nparams = sizeof params_spec / sizeof params_spec[0],
    .columns = columns,
    .ncolumns = sizeof columns / sizeof columns[0],
    .run = run,
};
