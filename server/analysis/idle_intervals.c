/* idle-intervals: the gaps behind `idle`: their statistics, or one by one. */
#include "analysis/analyses.h"
#include "analysis/gaps.h"
#include "analysis/hta.h"
#include "trace/names.h"
#include "trace/stats.h"

#include <stdlib.h>

static const struct hs_param_spec params_spec[] = {
    HS_PARAM_KERNEL_DELAY,
    HS_PARAM_STREAMS,
    {"list", HS_P_BOOL, "", "false", 0, 0, NULL,
     "the gaps themselves instead of statistics; columns: rank, device, stream, cause, start_us, end_us, idle_us, "
     "kernel (that ended the gap), short_name, event"},
    {"min_idle", HS_P_TIME, "us", "0", 0, 0, NULL, "leave out gaps shorter than this"},
    {"cause", HS_P_CHOICE, "", NULL, 0, 0, "host_wait|kernel_wait|other", "only gaps of this cause"},
    {"longest", HS_P_INT, "1", NULL, 1, 1e6, NULL,
     "with list: only so many of the longest gaps of each rank, longest first"},
};

static const struct hs_column_spec columns[] = {
    {"rank", HS_T_INT, "", "rank of the trace"},
    {"device", HS_T_INT, "", "device number; -1 where the trace does not tell"},
    {"stream", HS_T_INT, "", "stream number on that device; -1 where the trace does not tell"},
    {"cause", HS_T_TEXT, "", "host_wait, kernel_wait or other, as in idle"},
    {"count", HS_T_INT, "1", "gaps"},
    {"mean_us", HS_T_TIME, "us", "mean length"},
    {"std_us", HS_T_TIME, "us", "sample standard deviation (n - 1); null for one gap"},
    {"min_us", HS_T_TIME, "us", "shortest"},
    {"p25_us", HS_T_TIME, "us", "25th percentile: linear interpolation at position (n - 1) q"},
    {"p50_us", HS_T_TIME, "us", "median"},
    {"p75_us", HS_T_TIME, "us", "75th percentile"},
    {"max_us", HS_T_TIME, "us", "longest"},
};

static const struct hs_column_spec list_columns[] = {
    {"rank", HS_T_INT, "", "rank of the trace"},
    {"device", HS_T_INT, "", "device number; -1 where the trace does not tell"},
    {"stream", HS_T_INT, "", "stream number on that device; -1 where the trace does not tell"},
    {"cause", HS_T_TEXT, "", "host_wait, kernel_wait or other, as in idle"},
    {"start_us", HS_T_TIME, "us", "end of the work before, on the run's clock"},
    {"end_us", HS_T_TIME, "us", "start of the work after"},
    {"idle_us", HS_T_TIME, "us", "length"},
    {"kernel", HS_T_TEXT, "", "the work that ended the gap"},
    {"short_name", HS_T_TEXT, "", "its short name"},
    {"event", HS_T_INT, "", "its event number"},
};

struct listed {
    struct hs_gap gap;
    size_t order; /* as walked: of equal ones the earlier stands first */
};

struct job {
    struct hs_select sel;
    int64_t delay, min_idle;
    int cause; /* -1 all */
    bool list;
    size_t longest; /* 0 all */
    size_t listed;
    int64_t worth; /* shorter gaps need not be listed */
    struct {
        HS_VEC(int64_t);
    } lengths[HS_CAUSES];
    struct {
        HS_VEC(int64_t);
    } scratch;
    struct {
        HS_VEC(struct listed);
    } gaps;
};

/* Uses the lengths up. */
static void stat_row(struct job *j, struct hs_stream_rows r, int cause, struct hs_table *out)
{
    static const double q[] = {0.25, 0.5, 0.75};
    double p[3];
    int64_t *v = j->lengths[cause].p;
    size_t n = j->lengths[cause].n;
    struct hs_moments m = hs_moments_i64(v, n);
    hs_quantiles_i64(v, j->scratch.p, n, q, 3, p);
    hs_table_row(out);
    hs_cell_i64(out, j->sel.rank);
    hs_cell_i64(out, j->sel.gpu.device[r.first]);
    hs_cell_i64(out, j->sel.gpu.stream[r.first]);
    hs_cell_cstr(out, hs_cause_word((enum hs_cause)cause));
    hs_cell_i64(out, (int64_t)n);
    hs_cell_ns(out, hs_round_i64(m.mean));
    if (n > 1)
        hs_cell_ns(out, hs_round_i64(m.std));
    else
        hs_cell_null(out);
    hs_cell_ns(out, m.min);
    for (int k = 0; k < 3; k++)
        hs_cell_ns(out, hs_round_i64(p[k]));
    hs_cell_ns(out, m.max);
}

static int stream_stats(struct job *j, struct hs_stream_rows r, struct hs_table *out, struct hs_err *err)
{
    struct hs_gap_walk w;
    struct hs_gap gap;
    for (int c = 0; c < HS_CAUSES; c++)
        j->lengths[c].n = 0;
    hs_gap_walk(&w, &j->sel, r, j->delay);
    while (hs_gap_next(&w, &gap)) {
        int64_t length = hs_sub_sat(gap.at.end, gap.at.start);
        if (length >= j->min_idle && (j->cause < 0 || j->cause == (int)gap.cause) &&
            !hs_vec_push(&j->lengths[gap.cause], length))
            return hs_fail(err, HS_ELIMIT, "more gaps than there may be");
    }
    for (int c = 0; c < HS_CAUSES; c++) {
        size_t n = j->lengths[c].n;
        if (!n)
            continue;
        j->scratch.n = 0;
        if (!hs_vec_reserve(&j->scratch, n))
            return hs_fail(err, HS_ELIMIT, "more gaps than there may be");
        stat_row(j, r, c, out);
    }
    return HS_OK;
}

static int64_t length_of(const struct listed *x)
{
    return hs_sub_sat(x->gap.at.end, x->gap.at.start);
}

static int by_length(const void *a, const void *b)
{
    const struct listed *x = a, *y = b;
    if (length_of(x) != length_of(y))
        return length_of(x) < length_of(y) ? 1 : -1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Keeps the longest ones only. From then on shorter ones than the last of them are not even taken, so the list stays small
 * and the whole is linear in the gaps. */
static void keep_longest(struct job *j)
{
    if (j->gaps.n <= j->longest)
        return;
    qsort(j->gaps.p, j->gaps.n, sizeof *j->gaps.p, by_length);
    j->gaps.n = j->longest;
    j->worth = hs_max_i64(j->worth, length_of(&j->gaps.p[j->longest - 1]));
}

static int stream_list(struct job *j, struct hs_stream_rows r, struct hs_err *err)
{
    struct hs_gap_walk w;
    struct listed x;
    hs_gap_walk(&w, &j->sel, r, j->delay);
    while (hs_gap_next(&w, &x.gap)) {
        if (length_of(&x) < j->worth || (j->cause >= 0 && j->cause != (int)x.gap.cause))
            continue;
        x.order = j->listed++;
        if (!hs_vec_push(&j->gaps, x))
            return hs_fail(err, HS_ELIMIT, "more than %zu gaps: ask for fewer with min_idle or longest", j->gaps.max);
        if (j->longest && j->gaps.n >= 4 * j->longest + 1024)
            keep_longest(j);
    }
    return HS_OK;
}

static void list_rows(struct job *j, struct hs_table *out)
{
    const struct hs_select *s = &j->sel;
    struct hs_buf scratch = HS_BUF_INIT(1 << 24);
    if (j->longest) {
        keep_longest(j);
        if (j->gaps.n)
            qsort(j->gaps.p, j->gaps.n, sizeof *j->gaps.p, by_length);
    }
    for (size_t i = 0; i < j->gaps.n && !out->full; i++) {
        const struct hs_gap *g = &j->gaps.p[i].gap;
        struct hs_str name = hs_view_str(s->view, s->gpu.name[g->next]);
        hs_table_row(out);
        hs_cell_i64(out, s->rank);
        hs_cell_i64(out, s->gpu.device[g->next]);
        hs_cell_i64(out, s->gpu.stream[g->next]);
        hs_cell_cstr(out, hs_cause_word(g->cause));
        hs_cell_ns(out, hs_add_sat(g->at.start, s->offset));
        hs_cell_ns(out, hs_add_sat(g->at.end, s->offset));
        hs_cell_ns(out, hs_sub_sat(g->at.end, g->at.start));
        hs_cell_text(out, name);
        hs_cell_text(out, hs_short_name(name, &scratch));
        hs_cell_i64(out, s->gpu.event[g->next]);
    }
    hs_buf_free(&scratch);
}

static int one_rank(struct job *j, const struct hs_run_rank *r, const struct hs_params *p, struct hs_table *out,
                    struct hs_err *err)
{
    int rc = hs_select_open(&j->sel, r, p, out, err);
    if (rc)
        return rc;
    j->gaps.n = j->listed = 0;
    j->worth = j->min_idle;
    for (struct hs_stream_rows rows = {0, 0}; !rc && hs_next_stream(&j->sel.gpu, &rows);)
        if (hs_stream_asked(&j->sel.gpu, &rows, p))
            rc = j->list ? stream_list(j, rows, err) : stream_stats(j, rows, out, err);
    if (!rc && j->list)
        list_rows(j, out);
    hs_select_close(&j->sel);
    return rc;
}

static int cause_param(const struct hs_params *p)
{
    const char *text = hs_param_text(p, "cause");
    for (int c = 0; text && c < HS_CAUSES; c++)
        if (hs_str_is(hs_cstr(text), hs_cause_word((enum hs_cause)c)))
            return c;
    return -1;
}

static int run(struct hs_run *r, const struct hs_params *p, struct hs_table *out, struct hs_err *err)
{
    struct job j = {.delay = hs_param_i64(p, "consecutive_kernel_delay"),
                    .min_idle = hs_param_i64(p, "min_idle"),
                    .cause = cause_param(p),
                    .list = hs_param_bool(p, "list"),
                    .longest = hs_param_has(p, "longest") ? (size_t)hs_param_i64(p, "longest") : 0,
                    .scratch = HS_VEC_INIT(UINT32_MAX),
                    .gaps = HS_VEC_INIT(4u << 20)};
    int rc = HS_OK;
    for (int c = 0; c < HS_CAUSES; c++)
        j.lengths[c].max = UINT32_MAX;
    if (j.list) {
        out->columns = list_columns;
        out->ncolumns = sizeof list_columns / sizeof list_columns[0];
    }
    for (size_t i = 0; i < r->n && !rc; i++)
        rc = one_rank(&j, &r->ranks[i], p, out, err);
    hs_note_excluded(r, out);
    for (int c = 0; c < HS_CAUSES; c++)
        hs_vec_free(&j.lengths[c]);
    hs_vec_free(&j.scratch);
    hs_vec_free(&j.gaps);
    return rc;
}

const struct hs_analysis hs_analysis_idle_intervals = {
    .name = "idle-intervals",
    .summary = "Statistics of the idle gaps of every stream by cause, or the gaps themselves",
    .doc = "Gaps and causes as in `idle`. Without list: one row per rank, device, stream and cause that occurs, with "
           "the statistics "
           "of the gaps' lengths. With list=true: one row a gap, in order of device, stream and time (longest: longest "
           "first), with the "
           "work that ended it; the columns are then those named at the parameter.",
    .version = 1,
    .params = params_spec,
    .nparams = sizeof params_spec / sizeof params_spec[0],
    .columns = columns,
    .ncolumns = sizeof columns / sizeof columns[0],
    .run = run,
    .run_hta = hta_idle_intervals,
};
