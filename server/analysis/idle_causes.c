/* idle-causes: what the idle time of whole devices was spent on, by cause, by operator, by Python frame or gap by gap. */
#include "analysis/analyses.h"
#include "analysis/gap_causes.h"
#include "analysis/gaps.h"
#include "analysis/hta_map.h"
#include "analysis/order.h"
#include "analysis/page.h"
#include "analysis/threads.h"
#include "trace/stats.h"

#include <stdlib.h>
#include <string.h>

static const struct hs_param_spec params_spec[] = {
    {"by", HS_P_CHOICE, "", "cause", 0, 0, "cause|op|frame|gap",
     "cause: a row each; op, frame: causes split by the operator or Python frame that ran; gap: a row each, the "
     "longest first"},
    HS_PARAM_KERNEL_DELAY,
    HS_PARAM_PAGE,
};

static const struct hs_column_spec columns[] = {
    {"rank", HS_T_INT, "", "rank of the trace"},
    {"device", HS_T_INT, "", "device number; -1 where the trace does not tell"},
    {"cause", HS_T_TEXT, "",
     "the device waited for the CPU: data_loading, synchronize, allocation, compile, garbage_collection, cpu_work, "
     "launch, "
     "not_recorded; or its work had been launched in time: event_wait, inside_graph, dispatch_delay, launched_waiting; "
     "or "
     "launch_unknown. With by=gap the cause with most of it"},
    {"gaps", HS_T_INT, "1", "gaps that have some of it"},
    {"idle_us", HS_T_TIME, "us",
     "idle time of it; the rows of a device add up to its idle time. With by=gap the gap's length"},
    {"idle_pct", HS_T_PCT, "percent", "idle_us of the device's idle time"},
    {"span_pct", HS_T_PCT, "percent", "idle_us of the device's span, first start to last end in the window"},
    {"op", HS_T_TEXT, "",
     "innermost operator that ran then; with by=cause and gap the one with most of it; null: none"},
    {"frame", HS_T_TEXT, "",
     "innermost Python frame, the same way; null where no stacks were recorded (with_stack=True)"},
    {"ts_us", HS_T_TIME, "us", "start of the longest stretch of it, on the run's clock; of a gap its start"},
    {"event", HS_T_INT, "", "event of the CPU that ran in that stretch; null: none"},
    {"next", HS_T_TEXT, "", "device work that ended that gap"},
    {"next_event", HS_T_INT, "", "its event number"},
};

enum by { BY_CAUSE, BY_OP, BY_FRAME, BY_GAP };

/* What is added up: a cause on a device, perhaps of one name. */
struct group {
    enum hs_gap_cause cause;
    uint32_t name; /* symbol, HS_NO_SYM */
    int64_t ns, gaps, longest;
    size_t gap, piece; /* the longest stretch */
    size_t last_gap;   /* counted */
};
struct groups {
    struct hta_map at;
    struct {
        HS_VEC(struct group);
    } list;
};

struct job {
    enum by by;
    int64_t delay;
    struct hs_page page;
    struct hs_table *out;
    struct hs_select sel;
    struct hs_gap_causes g;
    struct hs_pick op, frame;
    struct groups main, ops, frames; /* of one device */
    int64_t idle, span;
};

static uint32_t name_of(struct hs_pick *pick, const struct hs_cpu *cpu, uint32_t event)
{
    uint32_t found = event == HS_NO_EVENT ? HS_NO_EVENT : hs_pick(pick, event);
    return found == HS_NO_EVENT ? HS_NO_SYM : cpu->ev.name[found];
}

static void groups_clear(struct groups *g)
{
    hta_map_free(&g->at);
    hta_map_init(&g->at);
    g->list.n = 0;
}

static void add(struct groups *g, const struct job *j, uint32_t name, size_t gap, size_t piece)
{
    const struct hs_gap_piece *x = &j->g.pieces.p[piece];
    int64_t length = hs_sub_sat(x->end, x->start);
    uint32_t *at = hta_map_at(&g->at, hta_pair((uint32_t)x->cause, name));
    if (*at == HTA_NONE) {
        *at = (uint32_t)g->list.n;
        if (!hs_vec_push(&g->list, ((struct group){x->cause, name, 0, 0, -1, 0, 0, SIZE_MAX})))
            return;
    }
    struct group *k = &g->list.p[*at];
    k->ns = hs_add_sat(k->ns, length);
    k->gaps += k->last_gap != gap;
    k->last_gap = gap;
    if (length > k->longest) {
        k->longest = length;
        k->gap = gap;
        k->piece = piece;
    }
}

/* The heaviest first; what is equally heavy by name, not by the file's order. */
static int heavier(const void *a, const void *b, void *view)
{
    const struct group *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    if (x->cause != y->cause)
        return x->cause < y->cause ? -1 : 1;
    return hs_str_cmp(hs_view_str(view, x->name), hs_view_str(view, y->name));
}

/* Of a cause the name with most of its time, HS_NO_SYM. */
static uint32_t heaviest(const struct groups *g, const struct job *j, enum hs_gap_cause cause)
{
    const struct group *best = NULL;
    for (size_t i = 0; i < g->list.n; i++) {
        const struct group *k = &g->list.p[i];
        if (k->cause == cause && k->name != HS_NO_SYM && (!best || heavier(k, best, j->sel.view) < 0))
            best = k;
    }
    return best ? best->name : HS_NO_SYM;
}

/* ---- rows ---- */

static void name_cell(const struct job *j, uint32_t name)
{
    if (name == HS_NO_SYM)
        hs_cell_null(j->out);
    else
        hs_cell_text(j->out, hs_view_str(j->sel.view, name));
}

struct cells {
    enum hs_gap_cause cause;
    int64_t gaps, ns, ts;
    uint32_t op, frame, event;
    size_t row;
};

static void put_row(const struct job *j, int32_t device, const struct cells *c)
{
    struct hs_table *out = j->out;
    hs_table_row(out);
    hs_cell_i64(out, j->sel.rank);
    hs_cell_i64(out, device);
    hs_cell_cstr(out, hs_gap_word(c->cause));
    hs_cell_i64(out, c->gaps);
    hs_cell_ns(out, c->ns);
    hs_cell_f64(out, hs_percent(c->ns, j->idle));
    hs_cell_f64(out, hs_percent(c->ns, j->span));
    name_cell(j, c->op);
    name_cell(j, c->frame);
    hs_cell_ns(out, hs_add_sat(c->ts, j->sel.offset));
    if (c->event == HS_NO_EVENT)
        hs_cell_null(out);
    else
        hs_cell_i64(out, c->event);
    hs_cell_text(out, hs_view_str(j->sel.view, j->sel.gpu.name[c->row]));
    hs_cell_i64(out, j->sel.gpu.event[c->row]);
}

static void group_rows(struct job *j, int32_t device)
{
    if (j->main.list.n)
        qsort_r(j->main.list.p, j->main.list.n, sizeof *j->main.list.p, heavier, j->sel.view);
    for (size_t i = 0; i < j->main.list.n; i++) {
        const struct group *k = &j->main.list.p[i];
        const struct hs_gap_piece *x = &j->g.pieces.p[k->piece];
        struct cells c = {k->cause, k->gaps, k->ns, x->start, HS_NO_SYM, HS_NO_SYM, x->event, j->g.gaps.p[k->gap].row};
        if (!hs_page_take(&j->page))
            continue;
        c.op = j->by == BY_OP      ? k->name
               : j->by == BY_FRAME ? name_of(&j->op, &j->g.cpu, x->event)
                                   : heaviest(&j->ops, j, k->cause);
        c.frame = j->by == BY_FRAME ? k->name
                  : j->by == BY_OP  ? name_of(&j->frame, &j->g.cpu, x->event)
                                    : heaviest(&j->frames, j, k->cause);
        put_row(j, device, &c);
    }
}

/* The piece of a gap that stands for it: of the cause with most of its time, the longest. */
static size_t main_piece(const struct job *j, const struct hs_idle_gap *gap)
{
    int64_t ns[HS_GAP_CAUSES] = {0};
    enum hs_gap_cause top = HS_GAP_LOADING;
    size_t best = gap->piece;
    int64_t length = -1;
    for (size_t i = gap->piece; i < gap->piece + gap->npieces; i++)
        ns[j->g.pieces.p[i].cause] += j->g.pieces.p[i].end - j->g.pieces.p[i].start;
    for (int c = 0; c < HS_GAP_CAUSES; c++)
        top = ns[c] > ns[top] ? (enum hs_gap_cause)c : top;
    for (size_t i = gap->piece; i < gap->piece + gap->npieces; i++) {
        const struct hs_gap_piece *x = &j->g.pieces.p[i];
        if (x->cause == top && x->end - x->start > length) {
            length = x->end - x->start;
            best = i;
        }
    }
    return best;
}

static int longer(const void *a, const void *b)
{
    const struct hs_idle_gap *x = a, *y = b;
    int64_t i = hs_sub_sat(x->end, x->start), k = hs_sub_sat(y->end, y->start);
    if (i != k)
        return i < k ? 1 : -1;
    return (x->start > y->start) - (x->start < y->start);
}

static void gap_rows(struct job *j, int32_t device, struct hs_idle_gap *gaps, size_t n)
{
    if (n)
        qsort(gaps, n, sizeof *gaps, longer);
    for (size_t i = 0; i < n; i++) {
        if (!hs_page_take(&j->page))
            continue;
        const struct hs_gap_piece *x = &j->g.pieces.p[main_piece(j, &gaps[i])];
        struct cells c = {x->cause,
                          1,
                          hs_sub_sat(gaps[i].end, gaps[i].start),
                          gaps[i].start,
                          name_of(&j->op, &j->g.cpu, x->event),
                          name_of(&j->frame, &j->g.cpu, x->event),
                          x->event,
                          gaps[i].row};
        put_row(j, device, &c);
    }
}

/* ---- a device, a rank ---- */

/* From the first start to the last end of the device's work, cut at the window. */
static int64_t span_of(const struct job *j, int32_t device)
{
    const struct hs_gpu *g = &j->sel.gpu;
    int64_t from = INT64_MAX, to = INT64_MIN;
    for (size_t i = 0; i < g->n; i++)
        if (g->device[i] == device) {
            from = hs_min_i64(from, g->ts[i]);
            to = hs_max_i64(to, j->g.index.end_of[i]);
        }
    return hs_max_i64(0, hs_sub_sat(hs_min_i64(to, j->sel.to), hs_max_i64(from, j->sel.from)));
}

static void one_device(struct job *j, size_t first, size_t end)
{
    int32_t device = j->sel.gpu.device[j->g.gaps.p[first].row];
    groups_clear(&j->main);
    groups_clear(&j->ops);
    groups_clear(&j->frames);
    j->idle = 0;
    j->span = span_of(j, device);
    for (size_t i = first; i < end; i++) {
        const struct hs_idle_gap *gap = &j->g.gaps.p[i];
        j->idle = hs_add_sat(j->idle, hs_sub_sat(gap->end, gap->start));
        for (size_t k = gap->piece; j->by != BY_GAP && k < gap->piece + gap->npieces; k++) {
            uint32_t event = j->g.pieces.p[k].event, op = name_of(&j->op, &j->g.cpu, event),
                     frame = name_of(&j->frame, &j->g.cpu, event);
            add(&j->main, j, j->by == BY_OP ? op : j->by == BY_FRAME ? frame : HS_NO_SYM, i, k);
            if (j->by == BY_CAUSE) {
                add(&j->ops, j, op, i, k);
                add(&j->frames, j, frame, i, k);
            }
        }
    }
    if (j->by == BY_GAP)
        gap_rows(j, device, j->g.gaps.p + first, end - first);
    else
        group_rows(j, device);
}

static int one_rank(struct job *j, const struct hs_run_rank *r, const struct hs_params *p, struct hs_err *err)
{
    int rc = hs_select_open(&j->sel, r, p, j->out, err);
    if (rc)
        return rc;
    rc = hs_gap_causes_open(&j->g, &j->sel, j->delay, err);
    if (!rc) {
        hs_pick_open(&j->op, &j->g.cpu, 1u << HS_CAT_CPU_OP, NULL, false);
        hs_pick_open(&j->frame, &j->g.cpu, 1u << HS_CAT_PYTHON, NULL, false);
        for (size_t i = 0, end; i < j->g.gaps.n; i = end) {
            int32_t device = j->sel.gpu.device[j->g.gaps.p[i].row];
            for (end = i + 1; end < j->g.gaps.n && j->sel.gpu.device[j->g.gaps.p[end].row] == device;)
                end++;
            one_device(j, i, end);
        }
        if (j->sel.gpu.n && !j->g.gaps.n)
            hs_table_note(j->out, "Rank %lld: its devices are never idle between their first and last work.",
                          (long long)r->rank);
        hs_pick_close(&j->op);
        hs_pick_close(&j->frame);
    }
    hs_gap_causes_close(&j->g);
    hs_select_close(&j->sel);
    return rc;
}

static int run(struct hs_run *r, const struct hs_params *p, struct hs_table *out, struct hs_err *err)
{
    const char *by = hs_param_text(p, "by");
    struct job j = {.out = out,
                    .by = !strcmp(by, "op")      ? BY_OP
                          : !strcmp(by, "frame") ? BY_FRAME
                          : !strcmp(by, "gap")   ? BY_GAP
                                                 : BY_CAUSE,
                    .delay = hs_param_i64(p, "consecutive_kernel_delay"),
                    .page = hs_page_of(p),
                    .main.list = HS_VEC_INIT(1u << 26),
                    .ops.list = HS_VEC_INIT(1u << 26),
                    .frames.list = HS_VEC_INIT(1u << 26)};
    struct groups *all[] = {&j.main, &j.ops, &j.frames};
    int rc = HS_OK;
    for (size_t i = 0; i < 3; i++)
        hta_map_init(&all[i]->at);
    for (size_t i = 0; i < r->n && !rc; i++)
        rc = one_rank(&j, &r->ranks[i], p, err);
    for (size_t i = 0; i < 3; i++) {
        hta_map_free(&all[i]->at);
        hs_vec_free(&all[i]->list);
    }
    hs_page_note(&j.page, out, j.by == BY_GAP ? "gaps" : "rows");
    hs_note_excluded(r, out);
    return rc;
}

const struct hs_analysis hs_analysis_idle_causes = {
    .name = "idle-causes",
    .summary = "What the idle time of whole GPUs was spent on: which CPU work, call or frame led to the next launch",
    .doc =
        "A device is idle between its first start and last end while none of its streams has work (idle answers per "
        "stream). A gap is ended by the work that starts next; of several that start together the one launched first. "
        "If its "
        "launch call began after the gap did, the device waited for the CPU, and the time from the gap's start to the "
        "call "
        "belongs to what ran on the launching thread, innermost event by innermost event, walking back from the call; "
        "where "
        "that thread ran nothing, to the thread whose operators or calls ran last. From the call's start to the work's "
        "start "
        "it is launch. If it had been launched in time, the whole gap has one cause. Names are told by patterns: data "
        "loading (DataLoader), compiling (dynamo, inductor, triton), garbage collection (gc.collect) by annotations, "
        "operators and Python frames around what ran; synchronize, allocation and launch by the runtime's calls. Every "
        "nanosecond of a gap is counted once. Gaps are cut at the window; a step's are those that its work ended.",
    .version = 1,
    .params = params_spec,
    .nparams = sizeof params_spec / sizeof params_spec[0],
    .columns = columns,
    .ncolumns = sizeof columns / sizeof columns[0],
    .run = run,
};
