/* memory-bandwidth-series: bandwidth of copies and memsets over time. HTA's get_memory_bw_time_series. */
#include "analysis/analyses.h"
#include "analysis/bandwidth.h"
#include "analysis/hta.h"

static const struct hs_param_spec params_spec[] = {HS_PARAM_SERIES};

static const struct hs_column_spec columns[] = {
    {"rank", HS_T_INT, "", "rank of the trace"},
    {"device", HS_T_INT, "", "device number; -1 where the trace does not tell"},
    {"name", HS_T_TEXT, "", "kind: Memcpy HtoD, Memcpy DtoH, Memcpy DtoD, Memcpy PtoP, Memset, Memcpy Unknown"},
    HS_SERIES_COLUMNS("memory_bw_gbps", "GB/s", "bandwidth of all copies of the kind that run"),
};

struct key {
    int64_t rank, device;
    struct hs_str kind;
};

static void key_cells(const void *arg, struct hs_table *out)
{
    const struct key *k = arg;
    hs_cell_i64(out, k->rank);
    hs_cell_i64(out, k->device);
    hs_cell_text(out, k->kind);
}

static int run(struct hs_run *r, const struct hs_params *p, struct hs_table *out, struct hs_err *err)
{
    struct hs_series_writer writer = hs_series_writer(r, p, out, 1000000000);
    int rc = HS_OK;
    for (size_t i = 0; i < r->n && !rc; i++) {
        struct hs_select s;
        struct hs_bandwidth_walk w;
        struct hs_bandwidth b;
        rc = hs_select_open(&s, &r->ranks[i], p, out, err);
        if (rc)
            break;
        rc = hs_bandwidth_open(&w, &s, err);
        while (!rc && hs_bandwidth_next(&w, &b))
            hs_series_write(&writer, &b.series, s.offset, key_cells, &(struct key){s.rank, b.device, b.kind});
        hs_bandwidth_end(&w, out);
        hs_select_close(&s);
    }
    hs_page_note(&writer.page, out, "points");
    hs_note_excluded(r, out);
    return rc;
}

const struct hs_analysis hs_analysis_memory_bandwidth_series = {
    .name = "memory-bandwidth-series",
    .summary = "Bandwidth of copies and memsets over time, change by change or pixel by pixel",
    .doc = "The series that `memory-bandwidth` sums up. Without px one row a change: the bandwidth from `ts_us` on, "
           "exactly 0 "
           "between copies, before a series' first row and after its last. With px one row a pixel that the series "
           "reaches, "
           "with its time-weighted mean, minimum and maximum. Rows are by rank, device, kind and time.",
    .version = 1,
    .params = params_spec,
    .nparams = sizeof params_spec / sizeof params_spec[0],
    .columns = columns,
    .ncolumns = sizeof columns / sizeof columns[0],
    .run = run,
    .run_hta = hta_memory_bandwidth_series,
};
