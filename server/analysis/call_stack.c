/* call-stack: the call trees of the CPU threads with the device work beneath each event. HTA's CallGraph, with partial
 * overlaps, stream 0 and graphs put right (the nesting is that of ingest/link). */
#include "analysis/analyses.h"
#include "analysis/cpu_side.h"
#include "analysis/fwdbwd.h"
#include "analysis/hta.h"
#include "analysis/name_filter.h"
#include "analysis/order.h"
#include "analysis/page.h"
#include "analysis/threads.h"

#include <pthread.h>
#include <stdlib.h>

static const struct hs_param_spec params_spec[] = {
    HS_PARAM_THREAD,
    {"name", HS_P_TEXT, "", NULL, 0, 0, NULL,
     "regular expression (PCRE2) found anywhere in the name; other events are left out"},
    {"parent", HS_P_INT, "", NULL, -1, 4294967295.0, NULL,
     "only the events directly beneath this event number; -1: only the top of each thread"},
    {"with_kernels", HS_P_BOOL, "", "false", 0, 0, NULL, "leave out events with no device work beneath them"},
    HS_PARAM_PAGE,
};

static const struct hs_column_spec columns[] = {
    {"rank", HS_T_INT, "", "rank of the trace"},
    {"event", HS_T_INT, "", "event number"},
    {"name", HS_T_TEXT, "", "name of the event"},
    {"category", HS_T_TEXT, "", "its category"},
    {"pid", HS_T_TEXT, "", "process"},
    {"tid", HS_T_TEXT, "", "thread"},
    {"ts_us", HS_T_TIME, "us", "start, on the run's clock"},
    {"dur_us", HS_T_TIME, "us", "duration"},
    {"depth", HS_T_INT, "1", "events it nests in: 0 at the top of its thread"},
    {"height", HS_T_INT, "1", "1 where nothing nests in it, else 1 + the highest of its children"},
    {"parent", HS_T_INT, "", "event number of what it nests in; null at the top"},
    {"num_kernels", HS_T_INT, "1", "device activities launched by it or by anything beneath it"},
    {"kernel_dur_sum_us", HS_T_TIME, "us", "their summed durations (work volume)"},
    {"fwdbwd_event", HS_T_INT, "",
     "of an operator, event number of its backward or forward operator; null where the trace does not link it"},
};

struct job {
    struct hs_select sel, all; /* all: without the window, for what is beneath */
    struct hs_cpu cpu;
    struct hs_threads threads;
    struct hs_beneath beneath;
    struct hs_name_filter *filter;
    uint8_t *name_fits; /* by symbol: 0 not asked yet, 1 yes, 2 no */
    uint32_t *link;
    bool by_parent, with_kernels; /* parameters, looked up once */
    int64_t parent;
    uint32_t *rows; /* what choose() chose */
    size_t n, *first;
    int64_t first_ts, last_ts; /* of what was chosen */
};

static bool name_fits(struct job *j, uint32_t sym)
{
    if (!j->filter || sym >= j->sel.view->nsyms)
        return true;
    if (!j->name_fits[sym])
        j->name_fits[sym] = hs_name_matches(j->filter, hs_view_str(j->sel.view, sym)) ? 1 : 2;
    return j->name_fits[sym] == 1;
}

static bool wanted(struct job *j, uint32_t e)
{
    const struct hs_events *ev = &j->cpu.ev;
    if (!hs_cpu_is_span(&j->cpu, e) || ev->lane[e] >= j->sel.view->nlanes || !j->threads.on[ev->lane[e]] ||
        !hs_select_has(&j->sel, ev->ts[e], hs_cpu_step(&j->cpu, e)))
        return false;
    if (j->by_parent && (j->parent < 0 ? ev->parent[e] != HS_NO_EVENT : ev->parent[e] != j->parent))
        return false;
    if (j->with_kernels && !j->beneath.count[e])
        return false;
    return name_fits(j, ev->name[e]);
}

static void event_cell(struct hs_table *out, uint32_t event)
{
    if (event == HS_NO_EVENT)
        hs_cell_null(out);
    else
        hs_cell_i64(out, event);
}

static void row(const struct job *j, uint32_t e, int64_t dur, struct hs_table *out)
{
    const struct hs_events *ev = &j->cpu.ev;
    const struct hs_view *v = j->sel.view;
    hs_table_row(out);
    hs_cell_i64(out, j->sel.rank);
    hs_cell_i64(out, e);
    hs_cell_text(out, hs_view_str(v, ev->name[e]));
    hs_cell_text(out, hs_view_str(v, ev->cat[e]));
    hs_cell_id(out, v, v->lanes[ev->lane[e]].pid);
    hs_cell_id(out, v, v->lanes[ev->lane[e]].tid);
    hs_cell_ns(out, hs_add_sat(ev->ts[e], j->sel.offset));
    hs_cell_ns(out, hs_max_i64(0, dur));
    hs_cell_i64(out, ev->depth[e]);
    hs_cell_i64(out, j->beneath.height[e]);
    event_cell(out, ev->parent[e]);
    hs_cell_i64(out, j->beneath.count[e]);
    hs_cell_ns(out, j->beneath.ns[e]);
    event_cell(out, j->link ? j->link[e] : HS_NO_EVENT);
}

/* ---- rows by thread, start and depth ---- */

/* The order of the rows; free() it. */
static uint32_t *order_of(const struct job *j, const uint32_t *rows, size_t n)
{
    uint32_t *order = hs_realloc_array(NULL, 2 * n + 1, sizeof *order), *scratch = order + n;
    int64_t *key = hs_realloc_array(NULL, n + 1, sizeof *key);
    hs_order_iota(order, n);
    for (size_t i = 0; i < n; i++)
        key[i] = j->cpu.ev.depth[rows[i]];
    hs_order_i64(order, scratch, n, key);
    for (size_t i = 0; i < n; i++)
        key[i] = j->cpu.ev.ts[rows[i]];
    hs_order_i64(order, scratch, n, key);
    free(key);
    return order;
}

/* Rows, ascending by event, into the table. Of all the durations only theirs are read. */
static int tell(const struct job *j, const uint32_t *rows, size_t n, struct hs_page *page, struct hs_table *out,
                struct hs_err *err)
{
    struct hs_events few;
    int rc = j->sel.view->ops->events_at(j->sel.view, HS_EV_DUR, rows, n, &few, err);
    uint32_t *order = order_of(j, rows, n);
    for (size_t i = 0; i < n && !rc; i++)
        if (hs_page_take(page))
            row(j, rows[order[i]], few.dur[order[i]], out);
    free(order);
    hs_events_free(&few);
    return rc;
}

enum { BUCKETS = 4096, MANY = 200000 };

/* A shift that brings every time since min below BUCKETS: slices of a power of two need no division per event. */
static unsigned bucket_shift(int64_t min, int64_t max)
{
    unsigned shift = 0;
    while (((uint64_t)max - (uint64_t)min) >> shift >= BUCKETS)
        shift++;
    return shift;
}

static size_t bucket_of(int64_t ts, int64_t min, unsigned shift)
{
    return (size_t)(((uint64_t)ts - (uint64_t)min) >> shift);
}

/* Rows of one thread that stand on the page. Only the slices of time that the page reaches are sorted: a page of a few
 * thousand rows out of millions costs two passes. */
static int thread_rows(const struct job *j, uint32_t *rows, size_t n, struct hs_page *page, struct hs_table *out,
                       struct hs_err *err)
{
    const int64_t *ts = j->cpu.ev.ts;
    size_t count[BUCKETS] = {0}, first = 0, k = 0;
    int64_t done = page->seen, min = j->first_ts;
    unsigned shift = bucket_shift(min, j->last_ts);
    for (size_t i = 0; i < n; i++)
        count[bucket_of(ts[rows[i]], min, shift)]++;
    while (first < BUCKETS && done + (int64_t)count[first] <= page->offset) /* before the page */
        done += (int64_t)count[first++];
    size_t last = first;
    int64_t need = page->limit ? hs_add_sat(page->offset, page->limit) : INT64_MAX;
    for (int64_t upto = done; last < BUCKETS && upto < need; last++)
        upto += (int64_t)count[last];
    for (size_t i = 0; i < n; i++) {
        size_t bucket = bucket_of(ts[rows[i]], min, shift);
        if (bucket >= first && bucket < last)
            rows[k++] = rows[i];
    }
    int64_t all = page->seen + (int64_t)n;
    page->seen = done;
    int rc = tell(j, rows, k, page, out, err);
    page->seen = all;
    return rc;
}

/* The events that are wanted, grouped by thread in the order of the threads: those of the thread at place l are
 * rows[first[l]] up to rows[first[l + 1]]. */
static void choose(struct job *j)
{
    size_t lanes = j->sel.view->nlanes, n = 0;
    uint8_t *chosen = hs_calloc(j->cpu.ev.n, 1);
    j->first = hs_calloc(lanes + 2, sizeof *j->first);
    j->first_ts = INT64_MAX;
    j->last_ts = INT64_MIN;
    for (size_t e = 0; e < j->cpu.ev.n; e++) {
        if (!wanted(j, (uint32_t)e))
            continue;
        j->first[j->threads.place[j->cpu.ev.lane[e]] + 2]++;
        j->first_ts = hs_min_i64(j->first_ts, j->cpu.ev.ts[e]);
        j->last_ts = hs_max_i64(j->last_ts, j->cpu.ev.ts[e]);
        chosen[e] = 1;
        n++;
    }
    for (size_t l = 0; l < lanes; l++)
        j->first[l + 2] += j->first[l + 1];
    j->rows = hs_realloc_array(NULL, n + 1, sizeof *j->rows);
    for (size_t e = 0; e < j->cpu.ev.n; e++)
        if (chosen[e])
            j->rows[j->first[j->threads.place[j->cpu.ev.lane[e]] + 1]++] = (uint32_t)e;
    j->n = n;
    free(chosen);
}

static void *beneath(void *arg)
{
    struct job *j = arg;
    hs_cpu_beneath(&j->cpu, &j->all, &j->beneath);
    return NULL;
}

/* Chooses events and adds up what is beneath each of all events; side by side where the choice does not depend on that: both
 * are passes over millions of events (4 M of them: 195 -> 160 ms from cold). */
static void choose_and_add_up(struct job *j)
{
    pthread_t helper;
    bool helped = !j->with_kernels && j->cpu.ev.n >= MANY && !pthread_create(&helper, NULL, beneath, j);
    if (!helped)
        beneath(j);
    choose(j);
    if (helped)
        pthread_join(helper, NULL);
}

static int one_rank(struct job *j, const struct hs_run_rank *r, const struct hs_params *p, struct hs_page *page,
                    struct hs_table *out, struct hs_err *err)
{
    struct hs_gpu gpu;
    int rc = hs_view_gpu_columns(r->view, HS_BENEATH_COLUMNS, &gpu, err);
    if (!rc)
        rc = hs_cpu_open(&j->cpu, r->view,
                         HS_EV_TS | HS_EV_PH | HS_EV_LANE | HS_EV_DEPTH | (hs_param_has(p, "step") ? HS_EV_STEP : 0),
                         err);
    if (rc)
        return rc;
    hs_select_window(&j->sel, r, p, out);
    rc = hs_fwdbwd(&j->cpu, &j->link, err);
    if (rc)
        goto out;
    j->all = (struct hs_select){.view = r->view, .from = INT64_MIN, .to = INT64_MAX, .gpu = gpu};
    hs_threads_open(&j->threads, r->view, hs_param_text(p, "thread"));
    j->name_fits = hs_calloc(r->view->nsyms, 1);
    choose_and_add_up(j);
    for (size_t l = 0; l < r->view->nlanes && !rc; l++)
        if (j->first[l] < j->first[l + 1])
            rc = thread_rows(j, j->rows + j->first[l], j->first[l + 1] - j->first[l], page, out, err);
    if (!rc && !j->n)
        hs_table_note(out, "Rank %lld has no CPU events that fit%s.", (long long)r->rank,
                      j->threads.chosen ? "" : ": it has no such thread");
    free(j->rows);
    free(j->first);
    free(j->name_fits);
    free(j->link);
    hs_beneath_free(&j->beneath);
    hs_threads_close(&j->threads);
out:
    hs_select_close(&j->sel);
    hs_cpu_close(&j->cpu);
    return rc;
}

static int run(struct hs_run *r, const struct hs_params *p, struct hs_table *out, struct hs_err *err)
{
    struct job j = {.by_parent = hs_param_has(p, "parent"), .with_kernels = hs_param_bool(p, "with_kernels")};
    if (j.by_parent)
        j.parent = hs_param_i64(p, "parent");
    struct hs_page page = hs_page_of(p);
    int rc = hs_name_filter_new(&j.filter, hs_param_text(p, "name"), err);
    for (size_t i = 0; i < r->n && !rc; i++)
        rc = one_rank(&j, &r->ranks[i], p, &page, out, err);
    hs_page_note(&page, out, "events");
    hs_name_filter_free(j.filter);
    return rc;
}

const struct hs_analysis hs_analysis_call_stack = {
    .name = "call-stack",
    .summary = "The call tree of every CPU thread: depth, parent, height, and the GPU work beneath each event",
    .doc = "One row per operator, annotation, python frame and API call, by rank, thread, start and depth. Events nest "
           "by time within "
           "their thread; one that overruns its parent by a rounding error still nests, one that overlaps it in part "
           "is its sibling; of two of exactly the same time the first in the file is the outer one. "
           "`num_kernels` and `kernel_dur_sum_us` are over everything that was launched beneath the event, whenever it "
           "ran, each kernel "
           "of a CUDA graph counted. `fwdbwd_event` follows the profiler's fwdbwd flows, so a forward operator leads "
           "to its backward "
           "on another thread. `parent` asks for one level of the tree. An event belongs to the window in which it "
           "starts.",
    .version = 1,
    .params = params_spec,
    .nparams = sizeof params_spec / sizeof params_spec[0],
    .columns = columns,
    .ncolumns = sizeof columns / sizeof columns[0],
    .run = run,
    .run_hta = hta_call_stack,
};
