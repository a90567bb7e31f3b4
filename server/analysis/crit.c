#include "analysis/crit.h"
#include "analysis/order.h"

#include <stdlib.h>
#include <string.h>

const char *hs_crit_word(enum hs_crit_cause c)
{
    static const char *const words[HS_CRIT_CAUSES] = {"cpu_bound",
                                                      "data_loading",
                                                      "cpu_idle",
                                                      "gpu_compute_bound",
                                                      "gpu_communication_bound",
                                                      "gpu_memory_bound",
                                                      "gpu_kernel_launch_overhead",
                                                      "gpu_kernel_kernel_overhead",
                                                      "sync",
                                                      "unknown"};
    return words[c];
}

#define NO_ROW SIZE_MAX

struct walk {
    struct hs_crit *c;
    const struct hs_cpu *cpu;
    const struct hs_gpu *gpu;
    struct hs_crit_segments seg;
    size_t *lane_first; /* by lane: its first segment; [nlanes] is the end */
    uint32_t *by_start; /* active segments by start */
    uint32_t *latest;   /* by place in by_start: the segment with the latest end up to there */
    int64_t *start_of;  /* by place in by_start */
    size_t nactive;
    uint32_t *by_end;    /* device rows by end */
    int64_t *end_of;     /* by row */
    size_t *stream_prev; /* by row: the row before it on its stream that ends last; NO_ROW */
    uint8_t *waits;      /* by symbol: calls of this name wait for the device */
    int64_t from;
    bool full;
};

/* ---- tables ---- */

static bool has(struct hs_str name, const char *part)
{
    return memmem(name.p, name.n, part, strlen(part)) != NULL;
}

/* cudaStreamSynchronize, hipDeviceSynchronize, cuEventSynchronize, …; copies block unless they are shown not to. */
static void find_waits(struct walk *w)
{
    const struct hs_view *v = w->cpu->view;
    w->waits = hs_calloc(v->nsyms + 1, 1);
    for (size_t i = 0; i < v->nsyms; i++)
        w->waits[i] = has(v->syms[i], "Synchronize") ? 1 : has(v->syms[i], "Memcpy") ? 2 : 0;
}

static void index_segments(struct walk *w)
{
    size_t n = w->seg.n, nlanes = w->cpu->view->nlanes, i = 0;
    uint32_t *scratch = hs_malloc((n + 1) * sizeof *scratch);
    int64_t *key = hs_malloc((n + 1) * sizeof *key);
    w->lane_first = hs_malloc((nlanes + 1) * sizeof *w->lane_first);
    for (size_t lane = 0; lane <= nlanes; lane++) {
        while (i < n && w->seg.p[i].lane < lane)
            i++;
        w->lane_first[lane] = i;
    }
    w->by_start = hs_malloc((n + 1) * sizeof *w->by_start);
    w->latest = hs_malloc((n + 1) * sizeof *w->latest);
    w->start_of = hs_malloc((n + 1) * sizeof *w->start_of);
    for (i = 0; i < n; i++) {
        key[i] = w->seg.p[i].start;
        if (w->seg.p[i].active)
            w->by_start[w->nactive++] = (uint32_t)i;
    }
    hs_order_i64(w->by_start, scratch, w->nactive, key);
    for (i = 0; i < w->nactive; i++) {
        uint32_t s = w->by_start[i];
        w->start_of[i] = w->seg.p[s].start;
        w->latest[i] = !i || w->seg.p[s].end >= w->seg.p[w->latest[i - 1]].end ? s : w->latest[i - 1];
    }
    free(scratch);
    free(key);
}

static void index_rows(struct walk *w)
{
    const struct hs_gpu *g = w->gpu;
    uint32_t *scratch = hs_malloc((g->n + 1) * sizeof *scratch);
    w->by_end = hs_malloc((g->n + 1) * sizeof *w->by_end);
    w->end_of = hs_malloc((g->n + 1) * sizeof *w->end_of);
    w->stream_prev = hs_malloc((g->n + 1) * sizeof *w->stream_prev);
    for (size_t i = 0; i < g->n; i++) {
        bool same = i && g->device[i] == g->device[i - 1] && g->stream[i] == g->stream[i - 1];
        w->end_of[i] = hs_end_ns(g->ts[i], g->dur[i]);
        w->stream_prev[i] = !same                                                  ? NO_ROW
                            : w->stream_prev[i - 1] == NO_ROW                      ? i - 1
                            : w->end_of[i - 1] >= w->end_of[w->stream_prev[i - 1]] ? i - 1
                                                                                   : w->stream_prev[i - 1];
    }
    hs_order_iota(w->by_end, g->n);
    hs_order_i64(w->by_end, scratch, g->n, w->end_of);
    free(scratch);
}

/* Number of elements of by_end that end at or before t. */
static size_t ended_by(const struct walk *w, int64_t t)
{
    size_t lo = 0, hi = w->gpu->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (w->end_of[w->by_end[mid]] <= t)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* The device row that ended last in (after, t], was launched before `launched`, and is of the device (-1: any); NO_ROW.
 * Looks at so many at most: what ended in the meantime and was launched later is work of other streams. */
static size_t last_ended(const struct walk *w, int64_t after, int64_t t, int64_t launched, int32_t device)
{
    enum { MANY = 512 };
    const struct hs_gpu *g = w->gpu;
    size_t k = ended_by(w, t);
    for (size_t looked = 0; k-- > 0 && looked < MANY; looked++) {
        size_t row = w->by_end[k];
        if (w->end_of[row] <= after)
            break;
        if ((device < 0 || g->device[row] == device) && g->launch_ts[row] != HS_NO_VALUE &&
            g->launch_ts[row] < launched)
            return row;
    }
    return NO_ROW;
}

/* ---- pieces, from the end to the beginning ---- */

static void put(struct walk *w, int64_t start, int64_t end, enum hs_crit_cause cause, uint32_t event, size_t row)
{
    struct hs_crit_piece x = {hs_max_i64(start, w->from), end, cause, event, row};
    if (x.start < x.end)
        w->full |= !hs_vec_push(&w->c->pieces, x);
}

/* Where the walk is: on a device row that ends at t, or on a thread at t. */
struct place {
    int64_t t;
    size_t row;
    uint32_t lane;
    bool lost; /* nothing tells what came before */
};

static enum hs_crit_cause cause_of_row(const struct hs_gpu *g, size_t row)
{
    return g->cls[row] == HS_CLASS_COMPUTE ? HS_CRIT_COMPUTE
           : g->cls[row] == HS_CLASS_COMM  ? HS_CRIT_COMM
                                           : HS_CRIT_MEMORY;
}

static struct place before_row(struct walk *w, size_t row)
{
    const struct hs_gpu *g = w->gpu;
    int64_t start = g->ts[row], arrival = INT64_MIN;
    size_t prev = w->stream_prev[row];
    bool launched = g->launch[row] != HS_NO_EVENT && g->launch_ts[row] <= start;
    if (prev != NO_ROW && w->end_of[prev] <= start)
        arrival = w->end_of[prev];
    else
        prev = NO_ROW;
    int64_t call = launched ? hs_min_i64(hs_end_ns(g->launch_ts[row], g->launch_dur[row]), start) : INT64_MIN;
    bool by_call = launched && call >= arrival;
    arrival = hs_max_i64(arrival, call);
    size_t waited =
        arrival < start && launched ? last_ended(w, arrival, start, g->launch_ts[row], g->device[row]) : NO_ROW;
    if (waited != NO_ROW) {
        put(w, w->end_of[waited], start, HS_CRIT_SYNC, g->event[row], row);
        return (struct place){w->end_of[waited], waited, 0, false};
    }
    if (arrival == INT64_MIN)
        return (struct place){start, NO_ROW, 0, true};
    put(w, arrival, start, by_call ? HS_CRIT_LAUNCH : HS_CRIT_KERNEL, g->event[row], row);
    return by_call ? (struct place){arrival, NO_ROW, w->cpu->ev.lane[g->launch[row]], false}
                   : (struct place){arrival, prev, 0, false};
}

/* Last segment of the lane that starts before t; SIZE_MAX. */
static size_t segment_before(const struct walk *w, uint32_t lane, int64_t t)
{
    size_t first = w->lane_first[lane], lo = first, hi = w->lane_first[lane + 1];
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (w->seg.p[mid].start < t)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo > first ? lo - 1 : SIZE_MAX;
}

/* The active segment of any thread that starts before t and ends last; NULL. */
static const struct hs_crit_segment *latest_active(const struct walk *w, int64_t t)
{
    size_t lo = 0, hi = w->nactive;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (w->start_of[mid] < t)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo ? &w->seg.p[w->latest[lo - 1]] : NULL;
}

/* The device row whose end an active segment that ends at t has waited for; NO_ROW. */
static size_t waited_for(const struct walk *w, const struct hs_crit_segment *s, int64_t t)
{
    const struct hs_events *ev = &w->cpu->ev;
    unsigned how = hs_cpu_kind(w->cpu, s->event) == HS_CAT_RUNTIME ? w->waits[ev->name[s->event]] : 0;
    if (how == 1)
        return last_ended(w, s->start, t, ev->ts[s->event], -1);
    if (how == 2) { /* its own copy, if that ended before the call returned */
        size_t row = last_ended(w, s->start, t, hs_add_sat(ev->ts[s->event], 1), -1);
        return row != NO_ROW && w->gpu->launch[row] == s->event ? row : NO_ROW;
    }
    return NO_ROW;
}

static struct place before_cpu(struct walk *w, uint32_t lane, int64_t t)
{
    size_t k = segment_before(w, lane, t);
    const struct hs_crit_segment *s = k == SIZE_MAX ? NULL : &w->seg.p[k];
    bool covered = s && s->end >= t;
    if (covered && s->active) {
        size_t row = waited_for(w, s, t);
        if (row != NO_ROW) {
            put(w, w->end_of[row], t, HS_CRIT_SYNC, s->event, NO_ROW);
            return (struct place){w->end_of[row], row, 0, false};
        }
        put(w, s->start, t, s->loads ? HS_CRIT_LOADING : HS_CRIT_CPU, s->event, NO_ROW);
        return (struct place){s->start, NO_ROW, lane, false};
    }
    const struct hs_crit_segment *other = latest_active(w, t);
    int64_t low = covered ? s->start : s ? s->end : INT64_MIN;
    bool jump = other && other->lane != lane && hs_min_i64(other->end, t) > low;
    if (jump)
        low = hs_min_i64(other->end, t);
    bool loads = covered && s->loads;
    put(w, low, t,
        loads     ? HS_CRIT_LOADING
        : covered ? HS_CRIT_CPU
                  : HS_CRIT_CPU_IDLE,
        covered ? s->event : HS_NO_EVENT, NO_ROW);
    return (struct place){low, NO_ROW, jump ? other->lane : lane, false};
}

/* ---- the walk ---- */

static struct place end_of_path(const struct walk *w, int64_t from, int64_t to)
{
    struct place p = {INT64_MIN, NO_ROW, 0, true};
    for (size_t i = 0; i < w->seg.n; i++) {
        const struct hs_crit_segment *s = &w->seg.p[i];
        int64_t end = hs_min_i64(s->end, to);
        if (s->start < to && end > from && (end > p.t || (end == p.t && s->active)))
            p = (struct place){end, NO_ROW, s->lane, false};
    }
    for (size_t i = 0; i < w->gpu->n; i++) {
        int64_t since = w->gpu->launch_ts[i] == HS_NO_VALUE ? w->gpu->ts[i] : w->gpu->launch_ts[i];
        if (since >= from && since < to && w->end_of[i] > p.t)
            p = (struct place){w->end_of[i], i, 0, false};
    }
    return p;
}

static void turn_round(struct hs_crit *c)
{
    for (size_t i = 0, k = c->pieces.n; i + 1 < k; i++) {
        struct hs_crit_piece x = c->pieces.p[i];
        c->pieces.p[i] = c->pieces.p[--k];
        c->pieces.p[k] = x;
    }
}

static int64_t first_time(const struct walk *w)
{
    int64_t t = INT64_MAX;
    for (size_t i = 0; i < w->seg.n; i++)
        t = hs_min_i64(t, w->seg.p[i].start);
    for (size_t i = 0; i < w->gpu->n; i++)
        t = hs_min_i64(t, w->gpu->ts[i]);
    return t;
}

static int walk(struct walk *w, int64_t from, int64_t to, struct hs_err *err)
{
    /* Each step consumes a segment or a row, or jumps once before it does; more is a fault of ours, and no endless loop. */
    size_t left = 4 * (w->seg.n + w->gpu->n) + 64;
    struct place p = end_of_path(w, from, to);
    w->from = hs_max_i64(from, first_time(w));
    while (!p.lost && p.t > w->from && !w->full && left--) {
        if (p.row != NO_ROW) {
            size_t row = p.row;
            put(w, w->gpu->ts[row], p.t, cause_of_row(w->gpu, row), w->gpu->event[row], row);
            p = w->gpu->ts[row] > w->from ? before_row(w, row) : (struct place){w->from, NO_ROW, 0, false};
        } else {
            p = before_cpu(w, p.lane, p.t);
        }
    }
    if (p.lost && p.t > w->from)
        put(w, w->from, p.t, HS_CRIT_UNKNOWN, HS_NO_EVENT, NO_ROW);
    if (w->full || (!p.lost && p.t > w->from))
        return hs_fail(err, HS_ELIMIT, "the critical path has too many pieces");
    turn_round(w->c);
    return HS_OK;
}

int hs_crit_find(struct hs_crit *c, const struct hs_cpu *cpu, const struct hs_gpu *gpu, int64_t from, int64_t to,
                 const uint8_t *loading, struct hs_err *err)
{
    *c = (struct hs_crit){.pieces = HS_VEC_INIT((size_t)1 << 33)};
    struct walk w = {.c = c, .cpu = cpu, .gpu = gpu, .seg = HS_VEC_INIT((size_t)1 << 33)};
    int rc =
        hs_crit_segments(cpu, loading, &w.seg) ? HS_OK : hs_fail(err, HS_ELIMIT, "the trace has too many CPU events");
    if (!rc) {
        find_waits(&w);
        index_segments(&w);
        index_rows(&w);
        c->nodes = w.seg.n + gpu->n;
        rc = walk(&w, from, to, err);
    }
    free(w.lane_first);
    free(w.by_start);
    free(w.latest);
    free(w.start_of);
    free(w.by_end);
    free(w.end_of);
    free(w.stream_prev);
    free(w.waits);
    hs_vec_free(&w.seg);
    return rc;
}

void hs_crit_free(struct hs_crit *c)
{
    hs_vec_free(&c->pieces);
    c->pieces.n = 0;
}
