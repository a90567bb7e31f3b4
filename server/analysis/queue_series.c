/* queue-length-series: the length of each stream's queue over time. HTA's get_queue_length_time_series. */
#include "analysis/analyses.h"
#include "analysis/hta.h"
#include "analysis/queue.h"

static const struct hs_param_spec params_spec[] = {HS_PARAM_SERIES};

static const struct hs_column_spec columns[] = {
    {"rank", HS_T_INT, "", "rank of the trace"},
    {"device", HS_T_INT, "", "device number; -1 where the trace does not tell"},
    {"stream", HS_T_INT, "", "stream number; -1 where the trace does not tell"},
    HS_SERIES_COLUMNS("queue_length", "1", "activities that are launched and not started"),
};

struct key {
    int64_t rank, device, stream;
};

static void key_cells(const void *arg, struct hs_table *out)
{
    const struct key *k = arg;
    hs_cell_i64(out, k->rank);
    hs_cell_i64(out, k->device);
    hs_cell_i64(out, k->stream);
}

static int run(struct hs_run *r, const struct hs_params *p, struct hs_table *out, struct hs_err *err)
{
    struct hs_series_writer writer = hs_series_writer(r, p, out, 1);
    int rc = HS_OK;
    for (size_t i = 0; i < r->n && !rc; i++) {
        struct hs_select s;
        struct hs_queue_walk w;
        struct hs_queue q;
        rc = hs_select_open(&s, &r->ranks[i], p, out, err);
        if (rc)
            break;
        for (hs_queue_walk(&w, &s); hs_queue_next(&w, &q);)
            hs_series_write(&writer, &q.length, s.offset, key_cells, &(struct key){s.rank, q.device, q.stream});
        hs_queue_end(&w, out);
        hs_select_close(&s);
    }
    hs_page_note(&writer.page, out, "points");
    hs_note_excluded(r, out);
    return rc;
}

const struct hs_analysis hs_analysis_queue_length_series = {
    .name = "queue-length-series",
    .summary = "Length of each stream's launch queue over time, change by change or pixel by pixel",
    .doc = "The series that `queue-length` sums up. Without px one row a change: the length from `ts_us` on, all "
           "changes of one "
           "instant together, so that it is never negative; before a series' first row and after its last it is 0. "
           "With px one "
           "row a pixel that the series reaches, with its time-weighted mean, minimum and maximum. Rows are by rank, "
           "device, "
           "stream and time.",
    .version = 1,
    .params = params_spec,
    .nparams = sizeof params_spec / sizeof params_spec[0],
    .columns = columns,
    .ncolumns = sizeof columns / sizeof columns[0],
    .run = run,
    .run_hta = hta_queue_length_series,
};
