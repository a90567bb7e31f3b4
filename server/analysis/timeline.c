/* timeline: what a screen of so many pixels can show of a window: steps, GPU streams with their idle gaps and causes, CPU
 * threads on request. The size of the answer goes with lanes and pixels, not with events. */
#include "analysis/analyses.h"
#include "analysis/timeline_cpu.h"
#include "analysis/timeline_lane.h"

#include <inttypes.h>
#include <stdio.h>

#define MAX_ROWS 2000000 /* lanes * pixels; more pixels are no use to anyone then */

static const struct hs_param_spec params_spec[] = {
    HS_PARAM_KERNEL_DELAY,
    {"px", HS_P_INT, "pixels", "1000", 1, 20000, NULL, "width of the picture: the window is cut into so many bins"},
    {"min_px", HS_P_REAL, "pixels", "3", 0.5, 1000, NULL, "events and gaps of at least this width stand whole"},
    {"lanes", HS_P_CHOICE, "", "gpu", 0, 0, "gpu|cpu|all",
     "gpu: steps and device streams; cpu: steps and CPU threads; all: all of them"},
    {"lane", HS_P_TEXT, "", NULL, 0, 0, NULL, "only the lane of this id (see the rows' lane)"},
    {"max_depth", HS_P_INT, "1", "32", 1, 256, NULL, "cpu lanes: deeper calls are left out"},
};

static const struct hs_column_spec columns[] = {
    {"rank", HS_T_INT, "", "rank of the trace"},
    {"lane", HS_T_TEXT, "", "stable id of the lane: rank/steps, rank/gpu/device/stream, rank/cpu/pid/tid"},
    {"lane_kind", HS_T_TEXT, "", "steps, gpu or cpu"},
    {"lane_name", HS_T_TEXT, "", "the lane's name for people"},
    {"depth", HS_T_INT, "1", "cpu lanes: depth in the call stack, 0 at the top; null else"},
    {"kind", HS_T_TEXT, "",
     "lane: announces a lane, its whole extent and its count; event: one event; idle: one gap; bin: all that was too "
     "narrow to stand alone"},
    {"start_us", HS_T_TIME, "us",
     "start on the run's clock; of events and gaps their own, also before the window; of bins pixel borders"},
    {"end_us", HS_T_TIME, "us", "end on the run's clock"},
    {"name", HS_T_TEXT, "", "event: its name; idle: the work that ended the gap; bin: its longest event"},
    {"short_name", HS_T_TEXT, "", "short form of name"},
    {"class", HS_T_TEXT, "",
     "gpu: compute, communication, memcpy, memset; cpu: op, runtime, annotation, python, other; of a bin the one with "
     "most time"},
    {"busy_pct", HS_T_PCT, "percent", "bin: time covered by its events of end_us - start_us; event 100, idle 0"},
    {"cause", HS_T_TEXT, "", "of the idle time: host_wait, kernel_wait, other; of a bin the one with most time"},
    {"count", HS_T_INT, "1", "events: 1, of a bin those that start in it, of a lane all"},
    {"event", HS_T_INT, "", "event number of name's event"},
};

struct window {
    int64_t from, to; /* run clock */
};

/* The chosen steps' extent. */
static bool widen_by_steps(const struct hs_run_rank *r, const int64_t *steps, size_t n, struct window *w)
{
    bool any = false;
    for (size_t i = 0; i < r->view->nsteps; i++) {
        const struct hs_step_row *s = &r->view->steps[i];
        for (size_t k = 0; k < n; k++) {
            if (steps[k] != s->number)
                continue;
            int64_t ts = hs_add_sat(s->ts, r->offset_ns);
            w->from = hs_min_i64(w->from, ts);
            w->to = hs_max_i64(w->to, hs_end_ns(ts, s->dur));
            any = true;
        }
    }
    return any;
}

/* from and to where given; else the extent of the steps asked for; else of all events of all ranks. */
static bool find_window(const struct hs_run *run, const struct hs_params *p, struct window *w)
{
    size_t n;
    const int64_t *steps = hs_param_list(p, "step", &n);
    bool any = false;
    *w = (struct window){INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < run->n; i++) {
        const struct hs_run_rank *r = &run->ranks[i];
        const struct hs_summary *s = &r->view->sum;
        if (hs_param_has(p, "step")) {
            any |= widen_by_steps(r, steps, n, w);
        } else if (s->last_end > s->first_ts) {
            w->from = hs_min_i64(w->from, hs_add_sat(s->first_ts, r->offset_ns));
            w->to = hs_max_i64(w->to, hs_add_sat(s->last_end, r->offset_ns));
            any = true;
        }
    }
    if (hs_param_has(p, "from"))
        w->from = hs_param_i64(p, "from");
    if (hs_param_has(p, "to"))
        w->to = hs_param_i64(p, "to");
    return (any || (hs_param_has(p, "from") && hs_param_has(p, "to"))) && w->from < w->to;
}

static bool wanted(const char *only, const char *id)
{
    return !only || hs_str_is(hs_cstr(only), id);
}

static void steps_lane(const struct hs_run_rank *r, struct window w, const char *only, struct hs_lane_bins *bins)
{
    char id[64];
    const struct hs_view *v = r->view;
    snprintf(id, sizeof id, "%" PRId64 "/steps", r->rank);
    if (!v->nsteps || !wanted(only, id))
        return;
    struct hs_lane_label label = {r->rank, HS_LANE_STEPS, id, "steps", -1};
    int64_t first = INT64_MAX, last = INT64_MIN, covered = INT64_MIN;
    for (size_t i = 0; i < v->nsteps; i++) {
        first = hs_min_i64(first, v->steps[i].ts);
        last = hs_max_i64(last, hs_end_ns(v->steps[i].ts, v->steps[i].dur));
    }
    hs_lane_announce(bins, &label, hs_add_sat(first, r->offset_ns), hs_add_sat(last, r->offset_ns), (int64_t)v->nsteps);
    for (size_t i = 0; i < v->nsteps; i++) { /* by ts */
        int64_t ts = hs_add_sat(v->steps[i].ts, r->offset_ns), end = hs_end_ns(ts, v->steps[i].dur);
        struct hs_item item = {ts, end, (uint32_t)i, v->steps[i].event, HS_ITEM_COMPUTE};
        if (ts < w.to && end > w.from)
            hs_lane_item(bins, &item, hs_max_i64(covered, ts));
        covered = hs_max_i64(covered, end);
    }
    hs_lane_write(bins, &label, v);
}

static enum hs_item_class gpu_class(uint8_t cls)
{
    switch (cls) {
    case HS_CLASS_COMPUTE: return HS_ITEM_COMPUTE;
    case HS_CLASS_COMM: return HS_ITEM_COMM;
    case HS_CLASS_MEMCPY: return HS_ITEM_MEMCPY;
    case HS_CLASS_MEMSET: return HS_ITEM_MEMSET;
    }
    return HS_ITEM_DEVICE_OTHER;
}

/* *covered: the end of all work of the stream before. */
static void draw_work(const struct hs_select *s, size_t i, int64_t *covered, struct hs_lane_bins *bins)
{
    const struct hs_gpu *g = &s->gpu;
    int64_t end = hs_end_ns(g->ts[i], g->dur[i]);
    if (end > s->from || g->ts[i] >= s->from) {
        int64_t ts = hs_add_sat(g->ts[i], s->offset);
        struct hs_item item = {ts, hs_add_sat(end, s->offset), g->name[i], g->event[i], gpu_class(g->cls[i])};
        hs_lane_item(bins, &item, hs_add_sat(hs_max_i64(*covered, g->ts[i]), s->offset));
    }
    *covered = hs_max_i64(*covered, end);
}

static void draw_stream(const struct hs_select *s, struct hs_stream_rows rows, int64_t delay, struct hs_lane_bins *bins)
{
    const struct hs_gpu *g = &s->gpu;
    int64_t covered = INT64_MIN;
    struct hs_gap_walk walk;
    struct hs_gap gap;
    for (size_t i = rows.first; i < rows.end && g->ts[i] < s->to;) {
        uint32_t together[64]; /* what starts together, in an order of its own */
        int64_t ts = g->ts[i];
        size_t n = 0;
        for (; i < rows.end && g->ts[i] == ts && n < sizeof together / sizeof together[0]; i++)
            together[n++] = (uint32_t)i;
        hs_select_settle(s, together, n);
        for (size_t k = 0; k < n; k++)
            draw_work(s, together[k], &covered, bins);
    }
    hs_gap_walk(&walk, s, rows, delay);
    while (hs_gap_next(&walk, &gap)) {
        struct hs_span at = {hs_add_sat(gap.whole.start, s->offset), hs_add_sat(gap.whole.end, s->offset)};
        hs_lane_gap(bins, at, gap.cause, g->name[gap.next], g->event[gap.next]);
    }
}

static int gpu_lanes(const struct hs_run_rank *r, struct window w, const struct hs_params *p, struct hs_lane_bins *bins,
                     struct hs_err *err)
{
    struct hs_select s = {.view = r->view,
                          .rank = r->rank,
                          .offset = r->offset_ns,
                          .from = hs_sub_sat(w.from, r->offset_ns),
                          .to = hs_sub_sat(w.to, r->offset_ns)};
    int rc = hs_view_gpu(r->view, &s.gpu, err);
    for (struct hs_stream_rows rows = {0, 0}; !rc && hs_next_stream(&s.gpu, &rows);) {
        char id[100], text[100];
        int32_t device = s.gpu.device[rows.first];
        int64_t stream = s.gpu.stream[rows.first], last = INT64_MIN;
        snprintf(id, sizeof id, "%" PRId64 "/gpu/%" PRId32 "/%" PRId64, r->rank, device, stream);
        snprintf(text, sizeof text, "GPU %" PRId32 " stream %" PRId64, device, stream);
        if (!wanted(hs_param_text(p, "lane"), id))
            continue;
        for (size_t i = rows.first; i < rows.end; i++)
            last = hs_max_i64(last, hs_end_ns(s.gpu.ts[i], s.gpu.dur[i]));
        struct hs_lane_label label = {r->rank, HS_LANE_GPU, id, text, -1};
        hs_lane_announce(bins, &label, hs_add_sat(s.gpu.ts[rows.first], r->offset_ns), hs_add_sat(last, r->offset_ns),
                         (int64_t)(rows.end - rows.first));
        draw_stream(&s, rows, hs_param_i64(p, "consecutive_kernel_delay"), bins);
        hs_lane_write(bins, &label, r->view);
    }
    return rc;
}

/* Pixels that keep lanes * pixels bounded. CPU lanes are bounded by themselves. */
static size_t bounded_px(const struct hs_run *run, size_t px, struct hs_table *out)
{
    size_t lanes = 1;
    for (size_t i = 0; i < run->n; i++)
        lanes += (size_t)hs_max_i64(run->ranks[i].view->sum.streams, 0) + 1;
    size_t most = MAX_ROWS / lanes;
    most = most < 16 ? 16 : most;
    if (px <= most)
        return px;
    hs_table_note(out, "%zu lanes at %zu pixels are too many rows: drawn at %zu pixels; ask for single ranks or lanes.",
                  lanes, px, most);
    return most;
}

static int one_rank(const struct hs_run_rank *r, struct window w, const struct hs_params *p, struct hs_lane_bins *bins,
                    struct hs_table *out, struct hs_err *err)
{
    const char *lanes = hs_param_text(p, "lanes"), *only = hs_param_text(p, "lane");
    bool cpu = lanes[0] != 'g', gpu = lanes[0] != 'c';
    int64_t deeper = 0;
    int rc = HS_OK;
    steps_lane(r, w, only, bins);
    if (gpu)
        rc = gpu_lanes(r, w, p, bins, err);
    if (gpu && r->view->sum.gpu_first_ts == HS_NO_VALUE)
        hs_table_note(out, "Rank %" PRId64 " has no device events: it has no GPU lanes.", r->rank);
    if (!rc && cpu)
        rc = hs_timeline_cpu(r, w.from, w.to, (int)hs_param_i64(p, "max_depth"), only, bins, out, &deeper, err);
    if (deeper)
        hs_table_note(out, "Rank %" PRId64 ": %" PRId64 " CPU events deeper than max_depth are left out.", r->rank,
                      deeper);
    return rc;
}

static int run(struct hs_run *r, const struct hs_params *p, struct hs_table *out, struct hs_err *err)
{
    struct window w;
    int rc = HS_OK;
    if (!find_window(r, p, &w)) {
        hs_table_note(out, r->n ? "There are no timed events in this window." : "There is nothing to show.");
        return HS_OK;
    }
    struct hs_lane_bins *bins = hs_lane_bins_new(w.from, w.to, bounded_px(r, (size_t)hs_param_i64(p, "px"), out),
                                                 hs_param_f64(p, "min_px"), out);
    for (size_t i = 0; i < r->n && !rc; i++)
        rc = one_rank(&r->ranks[i], w, p, bins, out, err);
    hs_lane_bins_free(bins);
    hs_note_excluded(r, out);
    return rc;
}

const struct hs_analysis hs_analysis_timeline = {
    .name = "timeline",
    .summary = "Lanes of steps, GPU streams and CPU threads at the detail that a given number of pixels can show",
    .doc = "The window [from, to) (absent: that of the steps asked for, else of the whole run) is cut into px pixels. "
           "Every lane has a "
           "row of kind `lane`; events and idle gaps at least min_px pixels wide have rows of their own; all narrower "
           "ones are summed "
           "into bins of one pixel, with the share of it that is busy, the class with most time, the cause with most "
           "idle time and the "
           "longest event; neighbouring bins that look alike (class, cause, busy share in eighths) are joined. Gaps "
           "and causes as in "
           "`idle`. A stream's bins count time once where its events overlap. CPU lanes have one row of calls per "
           "depth of the call "
           "stack; they cost a pass over all events, so they are drawn only when asked for.",
    .version = 1,
    .params = params_spec,
    .nparams = sizeof params_spec / sizeof params_spec[0],
    .columns = columns,
    .ncolumns = sizeof columns / sizeof columns[0],
    .run = run,
};
