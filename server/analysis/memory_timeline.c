/* memory-timeline: the allocator's memory over time, from the [memory] instants that profile_memory=True records; or, by
 * category, from the file that torch's export_memory_timeline writes (memory_raw.c). */
#include "analysis/analyses.h"
#include "analysis/hta.h"
#include "analysis/memory_raw.h"
#include "analysis/order.h"
#include "analysis/select.h"
#include "analysis/series.h"
#include "trace/classes.h"
#include "trace/stats.h"

#include <stdio.h>
#include <stdlib.h>

static const struct hs_param_spec params_spec[] = {
    {"device_type", HS_P_CHOICE, "", NULL, 0, 0, "cpu|gpu", "only the host's memory, or only that of devices"},
    HS_PARAM_SERIES,
};

#define CATEGORY(name, what)                                                                                      \
    {                                                                                                             \
        name, HS_T_INT, "bytes", what " after it; with px the time-weighted mean; null where the file is a trace" \
    }

static const struct hs_column_spec columns[] = {
    {"rank", HS_T_INT, "", "rank of the trace"},
    {"device_type", HS_T_TEXT, "", "cpu, cuda, hip, xpu, ...: torch's device type"},
    {"device", HS_T_INT, "", "device number; -1 for the host"},
    {"ts_us", HS_T_TIME, "us", "when, on the run's clock; with px, when the row's pixel begins"},
    {"dur_us", HS_T_TIME, "us", "how long: until the device's next row"},
    {"bytes", HS_T_INT, "bytes", "what was allocated, negative for what was freed; null with px"},
    {"allocated_bytes", HS_T_INT, "bytes", "allocated after it; with px the time-weighted mean"},
    {"allocated_min", HS_T_INT, "bytes", "smallest in the row's time"},
    {"allocated_max", HS_T_INT, "bytes", "largest in the row's time"},
    {"reserved_bytes", HS_T_INT, "bytes",
     "held by the caching allocator after it; with px the largest; null where not told"},
    {"addr", HS_T_INT, "", "address of the block; null with px"},
    {"event", HS_T_INT, "",
     "event number, of a memory timeline that of the entry, the first of its time; null with px"},
    CATEGORY("parameter_bytes", "in parameters of the model"),
    CATEGORY("optimizer_state_bytes", "in the optimizer's state"),
    CATEGORY("input_bytes", "in inputs"),
    CATEGORY("temporary_bytes", "in temporaries"),
    CATEGORY("activation_bytes", "in activations"),
    CATEGORY("gradient_bytes", "in gradients"),
    CATEGORY("autograd_bytes", "in what autograd keeps"),
    CATEGORY("unknown_bytes", "in what the profiler could not tell"),
};

struct change {
    int64_t ts, bytes, allocated, reserved, addr,
        number; /* HS_NO_VALUE where not told; number: Ev Idx, order at one time */
    int32_t type, device;
    uint32_t event;
};

struct job {
    struct hs_select sel;
    struct {
        HS_VEC(struct change);
    } changes;
    struct hs_series_writer *writer;
    struct hs_series series, reserved;
    struct hs_pieces pieces, reserved_pieces;
};

/* c10::DeviceType */
static const char *type_word(int32_t type)
{
    static const char *const words[] = {"cpu",  "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip",
                                        "fpga", "maia", "xla",    "vulkan", "metal",  "xpu",   "mps",
                                        "meta", "hpu",  "ve",     "lazy",   "ipu",    "mtia",  "privateuse1"};
    return type >= 0 && (size_t)type < sizeof words / sizeof words[0] ? words[type] : "unknown";
}

static int32_t narrow(int64_t v)
{
    return v >= INT32_MIN && v <= INT32_MAX ? (int32_t)v : -1;
}

enum { BYTES, ALLOCATED, RESERVED, ADDR, TYPE, DEVICE, NUMBER, ARGS };

static int read_args(struct hs_view *v, struct hs_sparse_walk args[ARGS], struct hs_err *err)
{
    static const char *const keys[ARGS] = {"Bytes",       "Total Allocated", "Total Reserved", "Addr",
                                           "Device Type", "Device Id",       "Ev Idx"};
    int rc = HS_OK;
    for (size_t i = 0; i < ARGS && !rc; i++) {
        args[i].at = 0;
        rc = v->ops->arg_sparse(v, keys[i], 1, &args[i].list, err);
    }
    return rc;
}

/* list[i] = old list[order[i]], in place: a second list would cost more, in fresh pages, than the sort. Spends `order`. */
static void permute(struct change *list, uint32_t *order, size_t n)
{
    for (size_t start = 0; start < n; start++) {
        if (order[start] == start)
            continue;
        struct change first = list[start];
        size_t i = start;
        for (size_t from; (from = order[i]) != start; i = from) {
            list[i] = list[from];
            order[i] = (uint32_t)i;
        }
        list[i] = first;
        order[i] = (uint32_t)i;
    }
}

/* By type, device and time; at one time by the profiler's number. Events come in the order of the file, the last resort. */
static void sort_changes(struct change *list, size_t n)
{
    uint32_t *order = hs_realloc_array(NULL, 2 * n + 1, sizeof *order);
    int64_t *key = hs_realloc_array(NULL, n + 1, sizeof *key);
    hs_order_iota(order, n);
    for (int pass = 0; pass < 4; pass++) {
        for (size_t i = 0; i < n; i++)
            key[i] = pass == 0 ? list[i].number : pass == 1 ? list[i].ts : pass == 2 ? list[i].device : list[i].type;
        hs_order_i64(order, order + n, n, key);
    }
    permute(list, order, n);
    free(order);
    free(key);
}

static bool has_memory_events(const struct hs_view *v)
{
    return v->sum.memory_events > 0 || hs_view_sym(v, "[memory]") != HS_NO_SYM;
}

static int collect(struct job *j, const char *type, struct hs_err *err)
{
    struct hs_view *v = j->sel.view;
    struct hs_events ev;
    struct hs_sparse_walk args[ARGS];
    uint32_t memory = hs_view_sym(v, "[memory]");
    j->changes.n = 0;
    if (memory == HS_NO_SYM || !has_memory_events(v))
        return HS_OK;
    int rc = hs_view_events(v, HS_EV_TS | HS_EV_NAME, &ev, err);
    if (!rc)
        rc = read_args(v, args, err);
    if (!rc && !hs_vec_reserve(&j->changes, args[BYTES].list.n))
        rc = hs_fail(err, HS_ELIMIT, "more memory events than there may be");
    for (size_t i = 0; !rc && i < args[BYTES].list.n; i++) {
        uint32_t e = args[BYTES].list.event[i];
        if (ev.name[e] != memory)
            continue;
        int64_t told = hs_sparse_at(&args[TYPE], e), device = hs_sparse_at(&args[DEVICE], e);
        struct change c = {ev.ts[e],
                           args[BYTES].list.v[i],
                           hs_sparse_at(&args[ALLOCATED], e),
                           hs_sparse_at(&args[RESERVED], e),
                           hs_sparse_at(&args[ADDR], e),
                           hs_sparse_at(&args[NUMBER], e),
                           told == HS_NO_VALUE ? -1 : narrow(told),
                           device == HS_NO_VALUE ? -1 : narrow(device),
                           e};
        bool host = c.type == 0;
        if (type && hs_str_is(hs_cstr(type), "cpu") != host)
            continue;
        j->changes.p[j->changes.n++] = c;
    }
    if (!rc && j->changes.n)
        sort_changes(j->changes.p, j->changes.n);
    return rc;
}

/* What was allocated after each change: as told, else the sum of the changes so far, which knows nothing of what was
 * allocated before the trace. True if it had to be summed. */
static bool fill_allocated(struct change *c, size_t n)
{
    int64_t sum = 0;
    bool told = true;
    for (size_t i = 0; i < n; i++)
        told = told && c[i].allocated != HS_NO_VALUE;
    for (size_t i = 0; i < n && !told; i++) {
        sum = hs_add_sat(sum, c[i].bytes);
        c[i].allocated = sum;
    }
    return !told;
}

static void value_cell(struct hs_table *out, int64_t v)
{
    if (v == HS_NO_VALUE)
        hs_cell_null(out);
    else
        hs_cell_i64(out, v);
}

static void head_cells(const struct job *j, const struct change *c, int64_t t, int64_t end, struct hs_table *out)
{
    hs_table_row(out);
    hs_cell_i64(out, j->sel.rank);
    hs_cell_cstr(out, type_word(c->type));
    hs_cell_i64(out, c->device);
    hs_cell_ns(out, t);
    hs_cell_ns(out, hs_sub_sat(end, t));
}

static void no_categories(struct hs_table *out)
{
    for (int i = 0; i < HS_MEMORY_CATEGORIES; i++)
        hs_cell_null(out);
}

static void change_row(const struct job *j, const struct change *c, int64_t end, struct hs_table *out)
{
    head_cells(j, c, hs_add_sat(c->ts, j->sel.offset), hs_add_sat(end, j->sel.offset), out);
    value_cell(out, c->bytes);
    value_cell(out, c->allocated);
    value_cell(out, c->allocated);
    value_cell(out, c->allocated);
    value_cell(out, c->reserved);
    value_cell(out, c->addr);
    hs_cell_i64(out, c->event);
    no_categories(out);
}

static void series_of(const struct job *j, const struct change *c, size_t n, bool reserved, struct hs_series *s)
{
    s->n = 0;
    for (size_t i = 0; i < n; i++)
        hs_vec_push(s, ((struct hs_point){c[i].ts, reserved ? c[i].reserved : c[i].allocated}));
    s->end = hs_max_i64(c[n - 1].ts, hs_min_i64(j->sel.view->sum.last_end, j->sel.to));
    hs_series_cut(s, j->sel.from, j->sel.to);
}

/* Both series change at the same instants, so they have the same pixels. */
static void pixel_rows(struct job *j, const struct change *c, size_t n, struct hs_table *out)
{
    bool reserved = true;
    for (size_t i = 0; i < n; i++)
        reserved = reserved && c[i].reserved != HS_NO_VALUE;
    series_of(j, c, n, false, &j->series);
    hs_series_pixels(j->writer, &j->series, j->sel.offset, &j->pieces);
    series_of(j, c, n, true, &j->reserved);
    hs_series_pixels(j->writer, &j->reserved, j->sel.offset, &j->reserved_pieces);
    for (size_t k = 0; k < j->pieces.n; k++) {
        const struct hs_piece *x = &j->pieces.p[k];
        if (!hs_page_take(&j->writer->page))
            continue;
        head_cells(j, c, x->t, x->end, out);
        hs_cell_null(out);
        hs_cell_i64(out, hs_trunc_i64(x->mean));
        hs_cell_i64(out, x->min);
        hs_cell_i64(out, x->max);
        value_cell(out, reserved && k < j->reserved_pieces.n ? j->reserved_pieces.p[k].max : HS_NO_VALUE);
        hs_cell_null(out);
        hs_cell_null(out);
        no_categories(out);
    }
}

static void peak_note(const struct job *j, const struct change *c, size_t n, bool summed, struct hs_table *out)
{
    const struct change *peak = NULL;
    for (size_t i = 0; i < n; i++)
        if (c[i].ts >= j->sel.from && c[i].ts < j->sel.to && (!peak || c[i].allocated > peak->allocated))
            peak = &c[i];
    if (!peak)
        return;
    char reserved[64] = "";
    if (peak->reserved != HS_NO_VALUE)
        snprintf(reserved, sizeof reserved, " (%lld reserved)", (long long)peak->reserved);
    hs_table_note(out, "Rank %lld, %s %d: the peak is %lld bytes%s at %.3f us, event %u%s.", (long long)j->sel.rank,
                  type_word(c->type), c->device, (long long)peak->allocated, reserved,
                  (double)hs_add_sat(peak->ts, j->sel.offset) / 1000.0, peak->event,
                  summed ? "; the trace tells no totals, so this is the sum of what it shows" : "");
}

static void one_device(struct job *j, struct change *c, size_t n, struct hs_table *out)
{
    bool summed = fill_allocated(c, n);
    if (j->writer->px) {
        pixel_rows(j, c, n, out);
    } else {
        for (size_t i = 0; i < n; i++) {
            if (c[i].ts < j->sel.from || c[i].ts >= j->sel.to || !hs_page_take(&j->writer->page))
                continue;
            int64_t end = i + 1 < n ? c[i + 1].ts : j->sel.view->sum.last_end;
            change_row(j, &c[i], hs_max_i64(c[i].ts, hs_min_i64(end, j->sel.to)), out);
        }
    }
    peak_note(j, c, n, summed, out);
}

static int one_rank(struct job *j, const struct hs_run_rank *r, const struct hs_params *p, struct hs_table *out,
                    struct hs_err *err)
{
    hs_select_window(&j->sel, r, p, out);
    int rc = collect(j, hs_param_text(p, "device_type"), err);
    for (size_t i = 0, end; !rc && i < j->changes.n; i = end) {
        struct change *c = &j->changes.p[i];
        for (end = i + 1;
             end < j->changes.n && j->changes.p[end].type == c->type && j->changes.p[end].device == c->device;)
            end++;
        one_device(j, c, end - i, out);
    }
    if (!rc && !j->changes.n)
        hs_table_note(out, "Rank %lld has no memory events%s.", (long long)r->rank,
                      hs_param_has(p, "device_type") ? " of this kind" : ": record the trace with profile_memory=True");
    hs_select_close(&j->sel);
    return rc;
}

static int run(struct hs_run *r, const struct hs_params *p, struct hs_table *out, struct hs_err *err)
{
    struct hs_series_writer writer = hs_series_writer(r, p, out, 1);
    struct job j = {.changes = HS_VEC_INIT(HS_MAX_EVENTS),
                    .writer = &writer,
                    .series = HS_SERIES_INIT,
                    .reserved = HS_SERIES_INIT,
                    .pieces = HS_PIECES_INIT,
                    .reserved_pieces = HS_PIECES_INIT};
    int rc = HS_OK;
    for (size_t i = 0; i < r->n && !rc; i++)
        rc = hs_view_is_memory_timeline(r->ranks[i].view) ? hs_memory_raw_rows(&r->ranks[i], p, &writer, out, err)
                                                          : one_rank(&j, &r->ranks[i], p, out, err);
    hs_page_note(&writer.page, out, "rows");
    hs_note_unapplied(p, out, "step", NULL);
    hs_vec_free(&j.changes);
    hs_vec_free(&j.series);
    hs_vec_free(&j.reserved);
    hs_vec_free(&j.pieces);
    hs_vec_free(&j.reserved_pieces);
    return rc;
}

const struct hs_analysis hs_analysis_memory_timeline = {
    .name = "memory-timeline",
    .summary = "Memory of each device over time: every allocation and free, or pixel by pixel; the peak in the notes",
    .doc =
        "From the trace's [memory] instants (profile_memory=True): one row an allocation or free, by rank, device "
        "and time; at one time "
        "in the order of the profiler's own numbers (Ev Idx). `allocated_bytes` and `reserved_bytes` are what the "
        "allocator told after "
        "it (Total Allocated, Total Reserved); where a trace tells no totals, `allocated_bytes` is the sum of the "
        "changes from the "
        "trace's beginning. With px one row a pixel. reserved - allocated is memory that the allocator holds and no "
        "tensor uses.\n\n"
        "Of the raw list of torch's export_memory_timeline (.raw.json.gz: [time_ns, action, bytes, category]) the rows "
        "are its times: what is allocated after all entries of one time, together and by category, as torch's "
        "memory profiler told them apart (torch.profiler._memory_profiler.Category). Entries of time -1 were "
        "allocated before the recording: they are the first row, of no duration, at the first time. Devices and "
        "addresses are not in that file. compat=hta gives HTA's MemoryAnalysis of it.",
    .version = 2,
    .params = params_spec,
    .nparams = sizeof params_spec / sizeof params_spec[0],
    .columns = columns,
    .ncolumns = sizeof columns / sizeof columns[0],
    .run = run,
    .run_hta = hta_memory_timeline,
    .memory_timelines = true,
};
