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
#include <string.h>

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

enum { BYTES, ALLOCATED, RESERVED, ADDR, TYPE, DEVICE, NUMBER, ARGS };

/* The changes of one rank, a column for each argument. They stay in the order of the file, and `order` is the order they are
 * told in: to copy 560 000 of them into rows and sort those took as much memory as all else, and memory touched for the
 * first time is most of a cold answer (190 -> 125 ms with events_at). */
struct changes {
    size_t n;                 /* in the file's order */
    const uint32_t *event;    /* event numbers */
    struct hs_events ev;      /* their times and names, ours to free */
    const int64_t *arg[ARGS]; /* HS_NO_VALUE where not told */
    int64_t *own[ARGS];       /* those that had to be made */
    uint32_t *order;          /* which to tell, by type, device, time and the profiler's number */
    size_t chosen;
};

/* Those of one device: order[0..n). */
struct device {
    struct changes *all;
    const uint32_t *order;
    size_t n;
};

struct job {
    struct hs_select sel;
    struct changes changes;
    struct hs_series_writer *writer;
    struct hs_series series, reserved;
    struct hs_pieces pieces, reserved_pieces;
};

/* c10::DeviceType */
static const char *type_word(int64_t type)
{
    static const char *const words[] = {"cpu",  "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip",
                                        "fpga", "maia", "xla",    "vulkan", "metal",  "xpu",   "mps",
                                        "meta", "hpu",  "ve",     "lazy",   "ipu",    "mtia",  "privateuse1"};
    return type >= 0 && (size_t)type < sizeof words / sizeof words[0] ? words[type] : "unknown";
}

/* One value an event: the list's own where it runs in step with the events, else one made of it. */
static void in_step(struct changes *c, int which, const struct hs_sparse *list)
{
    c->arg[which] = list->v;
    if (list->event == c->event && list->n == c->n)
        return;
    struct hs_sparse_walk walk = {.list = *list};
    c->own[which] = hs_realloc_array(NULL, c->n + 1, sizeof **c->own);
    for (size_t i = 0; i < c->n; i++)
        c->own[which][i] = hs_sparse_at(&walk, c->event[i]);
    c->arg[which] = c->own[which];
}

/* Ours to write to. */
static int64_t *own(struct changes *c, int which)
{
    if (!c->own[which]) {
        c->own[which] = hs_realloc_array(NULL, c->n + 1, sizeof **c->own);
        memcpy(c->own[which], c->arg[which], c->n * sizeof **c->own);
        c->arg[which] = c->own[which];
    }
    return c->own[which];
}

/* A type or device that is not told, or is no such number, is -1: they are one group. */
static void group_untold(struct changes *c, int which)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->arg[which][i] < INT32_MIN || c->arg[which][i] > INT32_MAX)
            own(c, which)[i] = -1;
}

static void changes_free(struct changes *c)
{
    hs_events_free(&c->ev);
    for (int i = 0; i < ARGS; i++)
        free(c->own[i]);
    free(c->order);
    *c = (struct changes){0};
}

/* By type, device and time; at one time by the profiler's number. The order of the file is the last resort. */
static void choose_and_sort(struct changes *c, uint32_t memory, const char *type)
{
    const int64_t *const keys[] = {c->arg[NUMBER], c->ev.ts, c->arg[DEVICE], c->arg[TYPE]};
    bool host = type && hs_str_is(hs_cstr(type), "cpu");
    uint32_t *order = c->order = hs_realloc_array(NULL, 2 * c->n + 1, sizeof *order);
    for (size_t i = 0; i < c->n; i++)
        if (c->ev.name[i] == memory && (!type || (c->arg[TYPE][i] == 0) == host))
            order[c->chosen++] = (uint32_t)i;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        hs_order_i64(order, order + c->n, c->chosen, keys[i]);
}

static bool has_memory_events(const struct hs_view *v)
{
    return v->sum.memory_events > 0 || hs_view_sym(v, "[memory]") != HS_NO_SYM;
}

static int collect(struct job *j, const char *type, struct hs_err *err)
{
    static const char *const keys[ARGS] = {"Bytes",       "Total Allocated", "Total Reserved", "Addr",
                                           "Device Type", "Device Id",       "Ev Idx"};
    struct hs_view *v = j->sel.view;
    struct changes *c = &j->changes;
    struct hs_sparse list[ARGS];
    uint32_t memory = hs_view_sym(v, "[memory]");
    if (memory == HS_NO_SYM || !has_memory_events(v))
        return HS_OK;
    int rc = HS_OK;
    for (int i = 0; i < ARGS && !rc; i++)
        rc = v->ops->arg_sparse(v, keys[i], 1, &list[i], err);
    if (!rc)
        rc = v->ops->events_at(v, HS_EV_TS | HS_EV_NAME, list[BYTES].event, list[BYTES].n, &c->ev, err);
    if (rc)
        return rc;
    c->n = list[BYTES].n;
    c->event = list[BYTES].event;
    for (int i = 0; i < ARGS; i++)
        in_step(c, i, &list[i]);
    group_untold(c, TYPE);
    group_untold(c, DEVICE);
    choose_and_sort(c, memory, type);
    return HS_OK;
}

/* What was allocated after each change: as told, else the sum of the changes so far, which knows nothing of what was
 * allocated before the trace. True if it had to be summed. */
static bool fill_allocated(struct device *d)
{
    int64_t sum = 0;
    bool told = true;
    for (size_t i = 0; i < d->n; i++)
        told = told && d->all->arg[ALLOCATED][d->order[i]] != HS_NO_VALUE;
    for (size_t i = 0; i < d->n && !told; i++) {
        sum = hs_add_sat(sum, d->all->arg[BYTES][d->order[i]]);
        own(d->all, ALLOCATED)[d->order[i]] = sum;
    }
    return !told;
}

static int64_t at(const struct device *d, size_t i, int which)
{
    return d->all->arg[which][d->order[i]];
}

static int64_t ts_at(const struct device *d, size_t i)
{
    return d->all->ev.ts[d->order[i]];
}

static void value_cell(struct hs_table *out, int64_t v)
{
    if (v == HS_NO_VALUE)
        hs_cell_null(out);
    else
        hs_cell_i64(out, v);
}

static void head_cells(const struct job *j, const struct device *d, int64_t t, int64_t end, struct hs_table *out)
{
    hs_table_row(out);
    hs_cell_i64(out, j->sel.rank);
    hs_cell_cstr(out, type_word(at(d, 0, TYPE)));
    hs_cell_i64(out, at(d, 0, DEVICE));
    hs_cell_ns(out, t);
    hs_cell_ns(out, hs_sub_sat(end, t));
}

static void no_categories(struct hs_table *out)
{
    for (int i = 0; i < HS_MEMORY_CATEGORIES; i++)
        hs_cell_null(out);
}

static void change_row(const struct job *j, const struct device *d, size_t i, int64_t end, struct hs_table *out)
{
    head_cells(j, d, hs_add_sat(ts_at(d, i), j->sel.offset), hs_add_sat(end, j->sel.offset), out);
    value_cell(out, at(d, i, BYTES));
    value_cell(out, at(d, i, ALLOCATED));
    value_cell(out, at(d, i, ALLOCATED));
    value_cell(out, at(d, i, ALLOCATED));
    value_cell(out, at(d, i, RESERVED));
    value_cell(out, at(d, i, ADDR));
    hs_cell_i64(out, d->all->event[d->order[i]]);
    no_categories(out);
}

static void series_of(const struct job *j, const struct device *d, int which, struct hs_series *s)
{
    s->n = 0;
    for (size_t i = 0; i < d->n; i++)
        hs_vec_push(s, ((struct hs_point){ts_at(d, i), at(d, i, which)}));
    s->end = hs_max_i64(ts_at(d, d->n - 1), hs_min_i64(j->sel.view->sum.last_end, j->sel.to));
    hs_series_cut(s, j->sel.from, j->sel.to);
}

/* Both series change at the same instants, so they have the same pixels. */
static void pixel_rows(struct job *j, const struct device *d, struct hs_table *out)
{
    bool reserved = true;
    for (size_t i = 0; i < d->n; i++)
        reserved = reserved && at(d, i, RESERVED) != HS_NO_VALUE;
    series_of(j, d, ALLOCATED, &j->series);
    hs_series_pixels(j->writer, &j->series, j->sel.offset, &j->pieces);
    series_of(j, d, RESERVED, &j->reserved);
    hs_series_pixels(j->writer, &j->reserved, j->sel.offset, &j->reserved_pieces);
    for (size_t k = 0; k < j->pieces.n; k++) {
        const struct hs_piece *x = &j->pieces.p[k];
        if (!hs_page_take(&j->writer->page))
            continue;
        head_cells(j, d, x->t, x->end, out);
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

static void peak_note(const struct job *j, const struct device *d, bool summed, struct hs_table *out)
{
    size_t peak = d->n;
    for (size_t i = 0; i < d->n; i++)
        if (ts_at(d, i) >= j->sel.from && ts_at(d, i) < j->sel.to &&
            (peak == d->n || at(d, i, ALLOCATED) > at(d, peak, ALLOCATED)))
            peak = i;
    if (peak == d->n)
        return;
    char reserved[64] = "";
    if (at(d, peak, RESERVED) != HS_NO_VALUE)
        snprintf(reserved, sizeof reserved, " (%lld reserved)", (long long)at(d, peak, RESERVED));
    hs_table_note(out, "Rank %lld, %s %lld: the peak is %lld bytes%s at %.3f us, event %u%s.", (long long)j->sel.rank,
                  type_word(at(d, 0, TYPE)), (long long)at(d, 0, DEVICE), (long long)at(d, peak, ALLOCATED), reserved,
                  (double)hs_add_sat(ts_at(d, peak), j->sel.offset) / 1000.0, d->all->event[d->order[peak]],
                  summed ? "; the trace tells no totals, so this is the sum of what it shows" : "");
}

static void one_device(struct job *j, struct device *d, struct hs_table *out)
{
    bool summed = fill_allocated(d);
    if (j->writer->px) {
        pixel_rows(j, d, out);
    } else {
        for (size_t i = 0; i < d->n; i++) {
            if (ts_at(d, i) < j->sel.from || ts_at(d, i) >= j->sel.to || !hs_page_take(&j->writer->page))
                continue;
            int64_t end = i + 1 < d->n ? ts_at(d, i + 1) : j->sel.view->sum.last_end;
            change_row(j, d, i, hs_max_i64(ts_at(d, i), hs_min_i64(end, j->sel.to)), out);
        }
    }
    peak_note(j, d, summed, out);
}

static int one_rank(struct job *j, const struct hs_run_rank *r, const struct hs_params *p, struct hs_table *out,
                    struct hs_err *err)
{
    hs_select_window(&j->sel, r, p, out);
    int rc = collect(j, hs_param_text(p, "device_type"), err);
    struct changes *c = &j->changes;
    for (size_t i = 0, end; !rc && i < c->chosen; i = end) {
        struct device d = {c, c->order + i, 1};
        for (end = i + 1; end < c->chosen && c->arg[TYPE][c->order[end]] == at(&d, 0, TYPE) &&
                          c->arg[DEVICE][c->order[end]] == at(&d, 0, DEVICE);
             end++)
            d.n++;
        one_device(j, &d, out);
    }
    if (!rc && !c->chosen)
        hs_table_note(out, "Rank %lld has no memory events%s.", (long long)r->rank,
                      hs_param_has(p, "device_type") ? " of this kind" : ": record the trace with profile_memory=True");
    changes_free(c);
    hs_select_close(&j->sel);
    return rc;
}

static int run(struct hs_run *r, const struct hs_params *p, struct hs_table *out, struct hs_err *err)
{
    struct hs_series_writer writer = hs_series_writer(r, p, out, 1);
    struct job j = {.writer = &writer,
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
