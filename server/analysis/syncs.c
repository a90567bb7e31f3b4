/* syncs: calls that make the CPU wait for the device, who made them, and the device's idle time that they cost. */
#include "analysis/analyses.h"
#include "analysis/gap_causes.h"
#include "analysis/gaps.h"
#include "analysis/hta_map.h"
#include "analysis/page.h"
#include "trace/stats.h"

#include <stdlib.h>
#include <string.h>

static const struct hs_param_spec params_spec[] = {
    {"by", HS_P_CHOICE, "", "site", 0, 0, "site|event",
     "site: a row per call, operator and Python frame; event: a row per call, the most expensive first"},
    HS_PARAM_PAGE,
};

static const struct hs_column_spec columns[] = {
    {"rank", HS_T_INT, "", "rank of the trace"},
    {"call", HS_T_TEXT, "", "the call of the runtime that waited"},
    {"op", HS_T_TEXT, "", "outermost operator around it: aten::item, aten::to, …; null: none"},
    {"frame", HS_T_TEXT, "", "innermost Python frame around it; null where no stacks were recorded (with_stack=True)"},
    {"hidden", HS_T_BOOL, "", "it was made by an operator, not asked for by torch.cuda.synchronize and the like"},
    {"count", HS_T_INT, "1", "calls"},
    {"cpu_us", HS_T_TIME, "us", "time that the CPU spent in them"},
    {"gpu_idle_us", HS_T_TIME, "us",
     "idle time of devices that follows from them: gaps that began while the launching thread was in the call"},
    {"idle_pct", HS_T_PCT, "percent", "gpu_idle_us of the rank's idle time of devices"},
    {"ts_us", HS_T_TIME, "us", "start of the one that cost most, on the run's clock"},
    {"event", HS_T_INT, "", "its event number"},
};

struct sync {
    uint32_t event, op, frame; /* op, frame: symbols, HS_NO_SYM */
    int64_t cpu, idle;
};
struct site {
    size_t first; /* in the list of calls: the one that cost most */
    int64_t count, cpu, idle;
};

struct job {
    struct hs_table *out;
    struct hs_page page;
    bool by_event;
    struct hs_select sel;
    struct hs_gap_causes g;
    struct {
        HS_VEC(struct sync);
    } list;
    struct hta_map at; /* event -> place in the list */
    int64_t idle;
};

static uint32_t name_of(struct hs_pick *pick, const struct hs_cpu *cpu, uint32_t event)
{
    uint32_t found = hs_pick(pick, event);
    return found == HS_NO_EVENT ? HS_NO_SYM : cpu->ev.name[found];
}

/* A copy is one only if it waited: told by its own work having ended within it. */
static bool waited(const struct job *j, uint32_t event)
{
    const struct hs_events *ev = &j->g.cpu.ev;
    struct hs_str name = hs_view_str(j->sel.view, ev->name[event]);
    struct hs_crit_segment s = {ev->ts[event], hs_end_ns(ev->ts[event], ev->dur[event]), event, ev->lane[event], true,
                                false};
    return !hs_str_contains(name, "Async") || hs_crit_waited_for(&j->g.index, &s, s.end) != HS_NO_ROW;
}

static int find_calls(struct job *j, struct hs_err *err)
{
    const struct hs_cpu *cpu = &j->g.cpu;
    struct hs_pick op, frame;
    bool full = false;
    hs_pick_open(&op, cpu, 1u << HS_CAT_CPU_OP, NULL, true);
    hs_pick_open(&frame, cpu, 1u << HS_CAT_PYTHON, NULL, false);
    for (uint32_t e = 0; e < cpu->ev.n && !full; e++) {
        if (!hs_cpu_is_span(cpu, e) || !hs_gap_is_sync(&j->g, e) ||
            !hs_select_has(&j->sel, cpu->ev.ts[e], hs_cpu_step(cpu, e)) || !waited(j, e))
            continue;
        *hta_map_at(&j->at, e) = (uint32_t)j->list.n;
        full = !hs_vec_push(&j->list, ((struct sync){e, name_of(&op, cpu, e), name_of(&frame, cpu, e),
                                                     hs_max_i64(0, cpu->ev.dur[e]), 0}));
    }
    hs_pick_close(&op);
    hs_pick_close(&frame);
    return full ? hs_fail(err, HS_ELIMIT, "more calls that wait than there may be") : HS_OK;
}

/* The call of the launching thread that was under way when the gap began; a gap follows from one call at most. */
static void charge(struct job *j, const struct hs_idle_gap *gap)
{
    const struct hs_crit_index *x = &j->g.index;
    uint32_t launch = j->sel.gpu.launch[gap->row];
    int64_t length = hs_sub_sat(gap->end, gap->start);
    j->idle = hs_add_sat(j->idle, length);
    if (launch == HS_NO_EVENT || j->sel.gpu.launch_ts[gap->row] <= gap->start)
        return; /* launched before: the CPU was ahead */
    size_t k = hs_crit_segment_before(x, j->g.cpu.ev.lane[launch], gap->start);
    if (k == HS_NO_SEGMENT || x->seg.p[k].end < gap->start)
        return;
    uint32_t at = hta_map_get(&j->at, x->seg.p[k].event);
    if (at != HTA_NONE)
        j->list.p[at].idle = hs_add_sat(j->list.p[at].idle, length);
}

/* ---- rows ---- */

static const struct hs_events *events_of(const struct job *j)
{
    return &j->g.cpu.ev;
}

static int dearer(const void *a, const void *b, void *job)
{
    const struct sync *x = a, *y = b;
    const struct hs_events *ev = events_of(job);
    if (x->idle != y->idle)
        return x->idle < y->idle ? 1 : -1;
    if (x->cpu != y->cpu)
        return x->cpu < y->cpu ? 1 : -1;
    return (ev->ts[x->event] > ev->ts[y->event]) - (ev->ts[x->event] < ev->ts[y->event]);
}

static int dearer_site(const void *a, const void *b)
{
    const struct site *x = a, *y = b;
    if (x->idle != y->idle)
        return x->idle < y->idle ? 1 : -1;
    if (x->cpu != y->cpu)
        return x->cpu < y->cpu ? 1 : -1;
    return (x->first > y->first) - (x->first < y->first);
}

static void name_cell(const struct job *j, uint32_t name)
{
    if (name == HS_NO_SYM)
        hs_cell_null(j->out);
    else
        hs_cell_text(j->out, hs_view_str(j->sel.view, name));
}

static void put_row(const struct job *j, const struct sync *first, int64_t count, int64_t cpu, int64_t idle)
{
    struct hs_table *out = j->out;
    const struct hs_events *ev = events_of(j);
    hs_table_row(out);
    hs_cell_i64(out, j->sel.rank);
    name_cell(j, ev->name[first->event]);
    name_cell(j, first->op);
    name_cell(j, first->frame);
    hs_cell_bool(out, first->op != HS_NO_SYM);
    hs_cell_i64(out, count);
    hs_cell_ns(out, cpu);
    hs_cell_ns(out, idle);
    hs_cell_f64(out, hs_percent(idle, j->idle));
    hs_cell_ns(out, hs_add_sat(ev->ts[first->event], j->sel.offset));
    hs_cell_i64(out, first->event);
}

/* Calls stand by cost, so the first of each site is the one that cost most. */
static void site_rows(struct job *j)
{
    struct {
        HS_VEC(struct site);
    } sites = HS_VEC_INIT(HS_MAX_EVENTS);
    struct hta_map by_op, by_site; /* two pairs, as a site has three names */
    hta_map_init(&by_op);
    hta_map_init(&by_site);
    for (size_t i = 0; i < j->list.n; i++) {
        const struct sync *s = &j->list.p[i];
        uint32_t *pair = hta_map_at(&by_op, hta_pair(events_of(j)->name[s->event], s->op));
        if (*pair == HTA_NONE)
            *pair = (uint32_t)by_op.n;
        uint32_t *at = hta_map_at(&by_site, hta_pair(*pair, s->frame));
        if (*at == HTA_NONE) {
            *at = (uint32_t)sites.n;
            hs_vec_push(&sites, ((struct site){i, 0, 0, 0}));
        }
        struct site *x = &sites.p[*at];
        x->count++;
        x->cpu = hs_add_sat(x->cpu, s->cpu);
        x->idle = hs_add_sat(x->idle, s->idle);
    }
    if (sites.n)
        qsort(sites.p, sites.n, sizeof *sites.p, dearer_site);
    for (size_t i = 0; i < sites.n; i++)
        if (hs_page_take(&j->page))
            put_row(j, &j->list.p[sites.p[i].first], sites.p[i].count, sites.p[i].cpu, sites.p[i].idle);
    hta_map_free(&by_op);
    hta_map_free(&by_site);
    hs_vec_free(&sites);
}

static void write_rows(struct job *j)
{
    if (j->list.n)
        qsort_r(j->list.p, j->list.n, sizeof *j->list.p, dearer, j);
    if (!j->by_event)
        site_rows(j);
    for (size_t i = 0; j->by_event && i < j->list.n; i++)
        if (hs_page_take(&j->page))
            put_row(j, &j->list.p[i], 1, j->list.p[i].cpu, j->list.p[i].idle);
}

static int one_rank(struct job *j, const struct hs_run_rank *r, const struct hs_params *p, struct hs_err *err)
{
    int rc = hs_select_open(&j->sel, r, p, j->out, err);
    if (rc)
        return rc;
    rc = hs_gap_causes_open(&j->g, &j->sel, 0, err);
    if (!rc && hs_param_has(p, "step"))
        rc = hs_view_events(
            r->view, HS_EV_STEP | HS_EV_TS | HS_EV_DUR | HS_EV_LANE | HS_EV_PH | HS_EV_NAME | HS_EV_CAT | HS_EV_PARENT,
            &j->g.cpu.ev, err);
    hta_map_init(&j->at);
    j->list.n = 0;
    j->idle = 0;
    if (!rc)
        rc = find_calls(j, err);
    for (size_t i = 0; i < j->g.gaps.n && !rc; i++)
        charge(j, &j->g.gaps.p[i]);
    if (!rc)
        write_rows(j);
    if (!rc && !j->list.n)
        hs_table_note(j->out, "Rank %lld: no call waits for the device%s.", (long long)r->rank,
                      hs_view_has_kind(r->view, HS_CAT_RUNTIME) ? ""
                                                                : ": the trace has no calls of a runtime (record "
                                                                  "ProfilerActivity.CUDA)");
    hta_map_free(&j->at);
    hs_gap_causes_close(&j->g);
    hs_select_close(&j->sel);
    return rc;
}

static int run(struct hs_run *r, const struct hs_params *p, struct hs_table *out, struct hs_err *err)
{
    struct job j = {.out = out,
                    .page = hs_page_of(p),
                    .by_event = !strcmp(hs_param_text(p, "by"), "event"),
                    .list = HS_VEC_INIT(HS_MAX_EVENTS)};
    int rc = HS_OK;
    for (size_t i = 0; i < r->n && !rc; i++)
        rc = one_rank(&j, &r->ranks[i], p, err);
    hs_vec_free(&j.list);
    hs_page_note(&j.page, out, j.by_event ? "calls" : "sites");
    hs_note_excluded(r, out);
    return rc;
}

const struct hs_analysis hs_analysis_syncs = {
    .name = "syncs",
    .summary = "Synchronisations, hidden and asked for: who made them and what they cost in idle time of the GPU",
    .doc = "Calls of the runtime that make the CPU wait: those with Synchronize in their names, copies that are not "
           "asynchronous, and "
           "asynchronous ones that waited all the same (their own copy ended before they returned: pageable memory). "
           "Hidden are "
           "those that an operator made (aten::item, aten::nonzero, aten::to …), not the program by name. What one "
           "costs is not "
           "the time that the CPU spends in it, for the GPU works meanwhile, but what follows: while it waits the CPU "
           "launches "
           "nothing, so when the device has run dry it stays idle until the thread has launched again. A gap of a "
           "device counts "
           "for the call that its launching thread was in when the gap began, if the work that ended it was launched "
           "after "
           "that; each gap once.",
    .version = 1,
    .params = params_spec,
    .nparams = sizeof params_spec / sizeof params_spec[0],
    .columns = columns,
    .ncolumns = sizeof columns / sizeof columns[0],
    .run = run,
};
