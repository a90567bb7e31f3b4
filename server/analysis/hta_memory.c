/* MemoryAnalysis: a sample whenever the time differs from that of the entry before, in the order of the file. */
#include "analysis/hta_query.h"
#include "analysis/memory_raw.h"

#include <string.h>

#define SIZE_COLUMN(name)                                                                      \
    {                                                                                          \
        name, HS_T_INT, "bytes", "allocated in this category after the entries of this sample" \
    }

static const struct hs_column_spec columns[] = {
    {"rank", HS_T_INT, "1", "rank of the file; HTA reads one"},
    {"times", HS_T_INT, "ns", "time as in the file; the smallest for what was allocated before"},
    SIZE_COLUMN("Parameter"),
    SIZE_COLUMN("Optimizer state"),
    SIZE_COLUMN("Input"),
    SIZE_COLUMN("Temporary"),
    SIZE_COLUMN("Activation"),
    SIZE_COLUMN("Gradient"),
    SIZE_COLUMN("Autograd"),
    SIZE_COLUMN("Unknown"),
};

/* As the method's loop finds it: -1 counts as "none yet" for as long as it stands. */
static int64_t smallest(const struct hs_memory_raw *raw)
{
    int64_t min = -1;
    for (size_t i = 0; i < raw->n; i++)
        if (min == -1 || (raw->p[i].ts > 0 && raw->p[i].ts < min))
            min = raw->p[i].ts;
    return min;
}

static void sample_row(int64_t rank, int64_t t, const int64_t *size, struct hs_table *out)
{
    hs_table_row(out);
    hs_cell_i64(out, rank);
    hs_cell_i64(out, t);
    for (int c = 0; c < HS_MEMORY_CATEGORIES; c++)
        hs_cell_i64(out, size[c]);
}

static void rows_of(const struct hs_memory_raw *raw, int64_t rank, struct hs_table *out)
{
    int64_t size[HS_MEMORY_CATEGORIES] = {0}, min = smallest(raw), beyond = 0;
    for (size_t i = 0; i < raw->n; i++) {
        const struct hs_memory_entry *x = &raw->p[i];
        int64_t c = x->category < 0 ? x->category + HS_MEMORY_CATEGORIES : x->category; /* Python counts from the end */
        if (c < 0 || c >= HS_MEMORY_CATEGORIES) {
            c = HS_MEMORY_CATEGORIES - 1;
            beyond++;
        }
        size[c] = hs_add_sat(size[c], x->bytes);
        if (i + 1 == raw->n || x[1].ts != x->ts)
            sample_row(rank, x->ts < 0 ? min : x->ts, size, out);
    }
    if (beyond)
        hs_table_note(out, "HTA raises an IndexError for %lld entries of other categories; here they are unknown.",
                      (long long)beyond);
}

int hta_memory_timeline(struct hs_run *run, const struct hs_params *params, struct hs_table *out, struct hs_err *err)
{
    struct hs_memory_raw raw = HS_MEMORY_RAW_INIT;
    size_t n = 0;
    const int64_t *list = hta_list(params, "rank", &n);
    bool any = false;
    int rc = HS_OK;
    hta_table(out, columns, HTA_COUNT(columns));
    for (size_t i = 0; i < run->n && !rc; i++) {
        const struct hs_run_rank *r = &run->ranks[i];
        if (!hs_view_is_memory_timeline(r->view) || (list && !hta_in_list(r->rank, list, n)))
            continue;
        any = true;
        rc = hs_memory_raw_read(r->view, &raw, err);
        if (!rc)
            rows_of(&raw, r->rank, out);
    }
    if (!any)
        hs_table_note(out, "HTA reads only the raw list of export_memory_timeline (.raw.json.gz), which is not among "
                           "these files. Without compat=hta the [memory] events of a trace answer.");
    hs_vec_free(&raw);
    return rc;
}
