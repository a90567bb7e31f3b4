#include "analysis/crit_index.h"

#include "analysis/order.h"

#include <stdlib.h>
#include <string.h>

/* ---- tables ---- */

static bool has(struct hs_str name, const char *part)
{
    return memmem(name.p, name.n, part, strlen(part)) != NULL;
}

/* cudaStreamSynchronize, hipDeviceSynchronize, cuEventSynchronize, …; copies block unless they are shown not to. */
static void find_waits(struct hs_crit_index *x)
{
    const struct hs_view *v = x->cpu->view;
    x->waits = hs_calloc(v->nsyms + 1, 1);
    for (size_t i = 0; i < v->nsyms; i++)
        x->waits[i] = has(v->syms[i], "Synchronize") ? 1 : has(v->syms[i], "Memcpy") ? 2 : 0;
}

static void index_segments(struct hs_crit_index *x)
{
    size_t n = x->seg.n, nlanes = x->cpu->view->nlanes, i = 0;
    uint32_t *scratch = hs_malloc((n + 1) * sizeof *scratch);
    int64_t *key = hs_malloc((n + 1) * sizeof *key);
    x->lane_first = hs_malloc((nlanes + 1) * sizeof *x->lane_first);
    for (size_t lane = 0; lane <= nlanes; lane++) {
        while (i < n && x->seg.p[i].lane < lane)
            i++;
        x->lane_first[lane] = i;
    }
    x->by_start = hs_malloc((n + 1) * sizeof *x->by_start);
    x->latest = hs_malloc((n + 1) * sizeof *x->latest);
    x->start_of = hs_malloc((n + 1) * sizeof *x->start_of);
    for (i = 0; i < n; i++) {
        key[i] = x->seg.p[i].start;
        if (x->seg.p[i].active)
            x->by_start[x->nactive++] = (uint32_t)i;
    }
    hs_order_i64(x->by_start, scratch, x->nactive, key);
    for (i = 0; i < x->nactive; i++) {
        uint32_t s = x->by_start[i];
        x->start_of[i] = x->seg.p[s].start;
        x->latest[i] = !i || x->seg.p[s].end >= x->seg.p[x->latest[i - 1]].end ? s : x->latest[i - 1];
    }
    free(scratch);
    free(key);
}

static void index_rows(struct hs_crit_index *x)
{
    const struct hs_gpu *g = x->gpu;
    uint32_t *scratch = hs_malloc((g->n + 1) * sizeof *scratch);
    x->by_end = hs_malloc((g->n + 1) * sizeof *x->by_end);
    x->end_of = hs_malloc((g->n + 1) * sizeof *x->end_of);
    x->stream_prev = hs_malloc((g->n + 1) * sizeof *x->stream_prev);
    for (size_t i = 0; i < g->n; i++) {
        bool same = i && g->device[i] == g->device[i - 1] && g->stream[i] == g->stream[i - 1];
        x->end_of[i] = hs_end_ns(g->ts[i], g->dur[i]);
        x->stream_prev[i] = !same                                                  ? HS_NO_ROW
                            : x->stream_prev[i - 1] == HS_NO_ROW                   ? i - 1
                            : x->end_of[i - 1] >= x->end_of[x->stream_prev[i - 1]] ? i - 1
                                                                                   : x->stream_prev[i - 1];
    }
    hs_order_iota(x->by_end, g->n);
    hs_order_i64(x->by_end, scratch, g->n, x->end_of);
    free(scratch);
}

/* Number of elements of by_end that end at or before t. */
static size_t ended_by(const struct hs_crit_index *x, int64_t t)
{
    size_t lo = 0, hi = x->gpu->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (x->end_of[x->by_end[mid]] <= t)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Did row b come before row a, as far as a can have waited for it? An order of all rows, so that nothing waits for itself
 * by way of others, whatever clocks say. */
static bool precedes(const struct hs_gpu *g, size_t b, size_t a)
{
    return g->ts[b] != g->ts[a] ? g->ts[b] < g->ts[a] : b < a;
}

/* The device row that ended last in (after, t] of those that `row` can have waited for: work of its device that was launched
 * earlier, or by the same call (a CUDA graph); with `graph` only the latter. HS_NO_ROW. Looks at so many at most: what ended
 * in the meantime and was launched later is work of other streams. */
enum { MANY = 512 };
static size_t waited_by_row(const struct hs_crit_index *x, size_t row, int64_t after, bool graph)
{
    const struct hs_gpu *g = x->gpu;
    size_t k = ended_by(x, g->ts[row]);
    for (size_t looked = 0; k-- > 0 && looked < MANY; looked++) {
        size_t other = x->by_end[k];
        if (x->end_of[other] <= after)
            break;
        bool earlier = !graph && g->launch_ts[other] != HS_NO_VALUE && g->launch_ts[other] < g->launch_ts[row];
        if (g->device[other] == g->device[row] && (earlier || g->launch[other] == g->launch[row]) &&
            precedes(g, other, row))
            return other;
    }
    return HS_NO_ROW;
}

/* The device row that ended last in (after, t] and was launched before `launched`, of any device (-1) or of one. */
static size_t last_ended(const struct hs_crit_index *x, int64_t after, int64_t t, int64_t launched, int32_t device)
{
    const struct hs_gpu *g = x->gpu;
    size_t k = ended_by(x, t);
    for (size_t looked = 0; k-- > 0 && looked < MANY; looked++) {
        size_t row = x->by_end[k];
        if (x->end_of[row] <= after)
            break;
        if ((device < 0 || g->device[row] == device) && g->launch_ts[row] != HS_NO_VALUE &&
            g->launch_ts[row] < launched)
            return row;
    }
    return HS_NO_ROW;
}

/* The same of one stream, whose rows end in the order in which they begin. */
static size_t last_on_stream(const struct hs_crit_index *x, const struct hs_crit_call *call, int64_t after, int64_t t)
{
    size_t first, lo, hi;
    hs_crit_stream_rows(x->gpu, call->device, call->stream, &first, &hi);
    for (lo = first; lo < hi;) {
        size_t mid = lo + (hi - lo) / 2;
        if (x->end_of[mid] <= t)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo > first && x->end_of[lo - 1] > after ? lo - 1 : HS_NO_ROW;
}

/* ---- what came before ---- */

struct hs_crit_arrivals hs_crit_arrivals(const struct hs_crit_index *x, size_t row)
{
    const struct hs_gpu *g = x->gpu;
    int64_t start = g->ts[row], last;
    struct hs_crit_arrivals a = {INT64_MIN, x->stream_prev[row], HS_NO_ROW, false, false};
    bool launched = g->launch[row] != HS_NO_EVENT && g->launch_ts[row] <= start;
    if (a.prev != HS_NO_ROW && x->end_of[a.prev] > start)
        a.prev = HS_NO_ROW;
    if (launched)
        a.call = hs_min_i64(hs_end_ns(g->launch_ts[row], g->launch_dur[row]), start);
    a.by_call = launched && (a.prev == HS_NO_ROW || a.call >= x->end_of[a.prev]);
    last = a.by_call ? a.call : a.prev != HS_NO_ROW ? x->end_of[a.prev] : INT64_MIN;
    if (x->recorded.any) {
        a.waited = x->recorded.row_wait[row];
        if (a.waited != HS_NO_ROW && (x->end_of[a.waited] > start || !precedes(g, a.waited, row)))
            a.waited = HS_NO_ROW;
    }
    if (a.waited == HS_NO_ROW && last < start && launched)
        a.waited = waited_by_row(x, row, last, x->recorded.any);
    a.by_waited = a.waited != HS_NO_ROW && x->end_of[a.waited] > last;
    return a;
}

size_t hs_crit_segment_before(const struct hs_crit_index *x, uint32_t lane, int64_t t)
{
    size_t first = x->lane_first[lane], lo = first, hi = x->lane_first[lane + 1];
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (x->seg.p[mid].start < t)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo > first ? lo - 1 : HS_NO_SEGMENT;
}

size_t hs_crit_latest_active(const struct hs_crit_index *x, int64_t t)
{
    size_t lo = 0, hi = x->nactive;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (x->start_of[mid] < t)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo ? x->latest[lo - 1] : HS_NO_SEGMENT;
}

size_t hs_crit_waited_for(const struct hs_crit_index *x, const struct hs_crit_segment *s, int64_t t)
{
    const struct hs_events *ev = &x->cpu->ev;
    unsigned how = hs_cpu_kind(x->cpu, s->event) == HS_CAT_RUNTIME ? x->waits[ev->name[s->event]] : 0;
    if (how == 1) {
        const struct hs_crit_call *call = hs_crit_recorded_call(&x->recorded, s->event);
        if (call && call->is_event) /* an event that nothing was launched before has happened already */
            return call->row != HS_NO_ROW && x->end_of[call->row] > s->start && x->end_of[call->row] <= t ? call->row
                                                                                                          : HS_NO_ROW;
        if (call && call->stream != HS_NO_VALUE)
            return last_on_stream(x, call, s->start, t);
        return last_ended(x, s->start, t, ev->ts[s->event], call ? call->device : -1);
    }
    if (how == 2) { /* its own copy, if that ended before the call returned */
        size_t row = last_ended(x, s->start, t, hs_add_sat(ev->ts[s->event], 1), -1);
        return row != HS_NO_ROW && x->gpu->launch[row] == s->event ? row : HS_NO_ROW;
    }
    return HS_NO_ROW;
}

enum hs_crit_cause hs_crit_cause_of_row(const struct hs_gpu *g, size_t row)
{
    return g->cls[row] == HS_CLASS_COMPUTE ? HS_CRIT_COMPUTE
           : g->cls[row] == HS_CLASS_COMM  ? HS_CRIT_COMM
                                           : HS_CRIT_MEMORY;
}

/* ---- open, close ---- */

int hs_crit_index_open(struct hs_crit_index *x, const struct hs_cpu *cpu, const struct hs_gpu *gpu,
                       const uint8_t *loading, struct hs_err *err)
{
    *x = (struct hs_crit_index){.cpu = cpu, .gpu = gpu, .seg = HS_VEC_INIT((size_t)1 << 33)};
    if (!hs_crit_segments(cpu, loading, &x->seg))
        return hs_fail(err, HS_ELIMIT, "the trace has too many CPU events");
    find_waits(x);
    index_segments(x);
    index_rows(x);
    return hs_crit_recorded_open(&x->recorded, cpu, gpu, x->end_of, err);
}

void hs_crit_index_close(struct hs_crit_index *x)
{
    free(x->lane_first);
    free(x->by_start);
    free(x->latest);
    free(x->start_of);
    free(x->by_end);
    free(x->end_of);
    free(x->stream_prev);
    free(x->waits);
    hs_vec_free(&x->seg);
    hs_crit_recorded_close(&x->recorded);
}
