/* launches: each launch call with each piece of device work it started. HTA's get_cuda_kernel_launch_stats for every runtime
 * and driver API. */
#include "analysis/analyses.h"
#include "analysis/hta.h"
#include "analysis/launch_pairs.h"
#include "analysis/page.h"

static const struct hs_param_spec params_spec[] = {HS_PARAM_MEMORY_EVENTS, HS_PARAM_PAGE};

static const struct hs_column_spec columns[] = {
    {"rank", HS_T_INT, "", "rank of the trace"},
    {"correlation", HS_T_INT, "", "correlation that call and work share"},
    {"ts_us", HS_T_TIME, "us", "start of the call, on the run's clock"},
    {"call", HS_T_TEXT, "", "name of the API call"},
    {"kernel", HS_T_TEXT, "", "name of the kernel, copy or memset"},
    {"class", HS_T_TEXT, "", "compute, communication, memcpy or memset"},
    {"device", HS_T_INT, "", "device number; -1 where the trace does not tell"},
    {"stream", HS_T_INT, "", "stream number; -1 where the trace does not tell"},
    {"cpu_duration_us", HS_T_TIME, "us", "duration of the call; repeated in each row of a call that started several"},
    {"gpu_duration_us", HS_T_TIME, "us", "duration of the work"},
    {"launch_delay_us", HS_T_TIME, "us",
     "from the end of the call to the start of the work; 0 where the work starts before"},
    {"launch_event", HS_T_INT, "", "event number of the call"},
    {"kernel_event", HS_T_INT, "", "event number of the work"},
};

static void pair_row(const struct hs_select *s, size_t i, const struct hs_events *ev, struct hs_table *out)
{
    const struct hs_gpu *g = &s->gpu;
    hs_table_row(out);
    hs_cell_i64(out, s->rank);
    hs_cell_i64(out, g->corr[i]);
    hs_cell_ns(out, hs_add_sat(g->launch_ts[i], s->offset));
    hs_cell_text(out, hs_view_str(s->view, g->launch[i] < ev->n ? ev->name[g->launch[i]] : HS_NO_SYM));
    hs_cell_text(out, hs_view_str(s->view, g->name[i]));
    hs_cell_cstr(out, hs_class_word(g->cls[i]));
    hs_cell_i64(out, g->device[i]);
    hs_cell_i64(out, g->stream[i]);
    hs_cell_ns(out, hs_launch_dur(s, i));
    hs_cell_ns(out, g->dur[i]);
    hs_cell_ns(out, hs_launch_delay(s, i));
    hs_cell_i64(out, g->launch[i]);
    hs_cell_i64(out, g->event[i]);
}

static int one_rank(const struct hs_run_rank *r, const struct hs_params *p, struct hs_page *page, struct hs_table *out,
                    struct hs_err *err)
{
    struct hs_select s;
    struct hs_events ev;
    struct hs_launch_pairs pairs;
    int rc = hs_select_open(&s, r, p, out, err);
    if (rc)
        return rc;
    rc = hs_view_events(s.view, HS_EV_NAME, &ev, err);
    if (!rc && s.gpu.n) {
        hs_launch_pairs(&s, hs_param_bool(p, "include_memory_events"), &pairs);
        for (size_t k = 0; k < pairs.n; k++)
            if (hs_page_take(page))
                pair_row(&s, pairs.row[k], &ev, out);
        hs_launch_pairs_note(&pairs, s.rank, out);
        hs_launch_pairs_free(&pairs);
    }
    hs_select_close(&s);
    return rc;
}

static int run(struct hs_run *r, const struct hs_params *p, struct hs_table *out, struct hs_err *err)
{
    struct hs_page page = hs_page_of(p);
    int rc = HS_OK;
    for (size_t i = 0; i < r->n && !rc; i++)
        rc = one_rank(&r->ranks[i], p, &page, out, err);
    hs_page_note(&page, out, "pairs of a call and its work");
    hs_note_excluded(r, out);
    return rc;
}

const struct hs_analysis hs_analysis_launches = {
    .name = "launches",
    .summary = "Every launch call with the device work it started: durations and the delay between them",
    .doc =
        "One row per pair of a call and a piece of device work that share a correlation, of any runtime or driver API "
        "(CUDA, driver API, HIP, MTIA, XPU); the launch of a CUDA graph has one row for each of its kernels. Rows are "
        "in "
        "order of the calls' starts, rank by rank. `launch_delay_us` is max(0, start of the work - end of the call). "
        "A pair belongs to the window in which the call starts, and to the call's step.",
    .version = 1,
    .params = params_spec,
    .nparams = sizeof params_spec / sizeof params_spec[0],
    .columns = columns,
    .ncolumns = sizeof columns / sizeof columns[0],
    .run = run,
    .run_hta = hta_launches,
};
