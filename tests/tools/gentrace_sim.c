/* gentrace_sim.c - one rank: its CPU clock and call stack, launches, streams.
 *
 * One clock is enough for the main and the autograd thread, for backward runs while the main thread waits for it.
 * A GPU activity starts when its launch has returned and reached the device, the work before it on its stream is
 * done, and the event it waits for has happened. */
#include "gentrace.h"

/* The grid is what makes the microsecond style exact: no time is ever rounded after it was used. */
static int64_t grid(const struct rank *r, int64_t ns)
{
    int64_t g = (ns + r->unit / 2) / r->unit * r->unit;
    return g > 0 ? g : r->unit;
}

static int64_t vary(struct rank *r, int64_t ns, int64_t percent)
{
    return grid(r, prng_jitter(&r->rng, ns, percent));
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void rank_tick(struct rank *r, int64_t ns)
{
    r->now += vary(r, ns, 30);
}

/* ---- call stack ---- */

size_t event_open(struct rank *r, enum category cat, const char *name)
{
    r->events = grow(r->events, &r->cap_events, r->n_events + 1, sizeof *r->events);
    if (r->depth >= MAX_DEPTH)
        die("call stack too deep");
    size_t i = r->n_events++;
    struct cpu_event *e = &r->events[i];
    *e = (struct cpu_event){.cat = cat,
                            .name = name,
                            .number = -1,
                            .tid = r->tid,
                            .ts = r->now,
                            .sequence = -1,
                            .py_parent = -1,
                            .index = r->index++};
    if (cat == CAT_PYTHON) {
        e->py_id = ++r->py_id;
        e->py_parent = r->py_depth ? r->py_open[r->py_depth - 1] : -1;
        r->py_open[r->py_depth++] = e->py_id;
    } else {
        e->external = ++r->external;
    }
    r->open[r->depth++] = i;
    rank_tick(r, cat == CAT_PYTHON ? 900 : 1600);
    return i;
}

void event_close(struct rank *r)
{
    rank_tick(r, 1100);
    struct cpu_event *e = &r->events[r->open[--r->depth]];
    e->dur = r->now - e->ts;
    if (e->cat == CAT_PYTHON)
        r->py_depth--;
    rank_tick(r, 500); /* so that a sibling does not touch */
}

/* GPU work belongs to the innermost op; Python frames have no External id. */
static int64_t current_external(const struct rank *r)
{
    for (int d = r->depth; d-- > 0;)
        if (r->events[r->open[d]].external)
            return r->events[r->open[d]].external;
    return 0;
}

void memory_event(struct rank *r, int64_t addr, int64_t bytes)
{
    const int64_t chunk = 20 << 20; /* the caching allocator reserves whole segments and keeps them */
    r->allocated += bytes;
    r->reserved = later(r->reserved, (r->allocated + chunk - 1) / chunk * chunk);
    r->truth.peak_allocated = later(r->truth.peak_allocated, r->allocated);
    r->events = grow(r->events, &r->cap_events, r->n_events + 1, sizeof *r->events);
    r->events[r->n_events++] = (struct cpu_event){.cat = CAT_INSTANT,
                                                  .name = "[memory]",
                                                  .number = -1,
                                                  .tid = r->tid,
                                                  .ts = r->now,
                                                  .sequence = -1,
                                                  .py_parent = -1,
                                                  .index = r->index++,
                                                  .addr = addr,
                                                  .bytes = bytes,
                                                  .allocated = r->allocated,
                                                  .reserved = r->reserved};
}

/* ---- runtime calls ---- */

void sim_call(struct rank *r, const char *name, int cbid, int64_t ns, int64_t not_before)
{
    struct activity a = {.launch_ts = r->now, .correlation = ++r->correlation, .external = current_external(r)};
    r->now = later(r->now + vary(r, ns, 30), not_before);
    a.launch_end = r->now;
    write_call(r, name, cbid, &a, false);
    rank_tick(r, 300);
}

/* A full launch queue holds the caller until the device has taken an entry. It also bounds how far the CPU can run
 * ahead, and with it how many activities wait to be settled. */
static void launch(struct rank *r, struct activity *a, const char *name, int cbid, int64_t ns)
{
    const struct stream *s = &r->streams[a->stream];
    int64_t room = s->n >= QUEUE_DEPTH ? s->ends[s->n % QUEUE_DEPTH] : 0;
    a->correlation = ++r->correlation;
    a->external = current_external(r);
    a->launch_ts = r->now;
    r->now = later(r->now + vary(r, ns, 35), room);
    a->launch_end = r->now;
    r->truth.launches++;
    write_call(r, name, cbid, a, true);
    rank_tick(r, 300);
}

static int64_t stream_ready(struct rank *r, const struct stream *s, int64_t launched)
{
    int64_t arrival = launched + grid(r, 1500 + prng_below(&r->rng, 3000));
    int64_t gap =
        200 +
        prng_below(&r->rng, 1400); /* the device's own pause between two activities; may be 0 on the coarse grid */
    int64_t free = s->tail ? s->tail + (gap + r->unit / 2) / r->unit * r->unit : 0;
    return later(later(arrival, free), s->wait_for);
}

static void widen(struct span *s, int64_t ts, int64_t end)
{
    s->ts = s->end ? (ts < s->ts ? ts : s->ts) : ts;
    s->end = later(s->end, end);
}

static void finish(struct rank *r, struct activity *a)
{
    struct stream *s = &r->streams[a->stream];
    s->ends[s->n++ % QUEUE_DEPTH] = a->end;
    s->tail = a->end;
    s->wait_for = 0;
    if (!a->stream) {
        widen(&r->step_gpu, a->ts, a->end);
        if (r->in_optimizer)
            widen(&r->optimizer_gpu, a->ts, a->end);
    }
    truth_activity(&r->truth, a);
    write_activity(r, a);
}

static void place(struct rank *r, struct activity *a, int64_t dur)
{
    a->ts = stream_ready(r, &r->streams[a->stream], a->launch_end);
    a->end = a->ts + dur;
    finish(r, a);
}

static int64_t kernel_time(struct rank *r, int kernel, int scale)
{
    const struct story *s = r->opt->story;
    int64_t ns = kernel_table[kernel].ns * scale;
    if (kernel == K_ATTN_BWD)
        ns = ns * s->dominant_pct / 100;
    ns = ns * r->compute_pct / 100;
    return vary(r, ns < 1300 ? 1300 + prng_below(&r->rng, 900) : ns, 4);
}

void sim_kernel(struct rank *r, int stream, int kernel, int scale)
{
    struct activity a = {.cat = CAT_KERNEL, .id = kernel, .stream = stream, .scale = scale};
    launch(r, &a, "cudaLaunchKernel", 211, 5200);
    place(r, &a, kernel_time(r, kernel, scale));
}

/* One launch, many kernels: all carry the correlation of the graph launch. */
void sim_graph(struct rank *r, int stream, const int *kernels, size_t n)
{
    struct activity a = {.cat = CAT_KERNEL, .stream = stream, .scale = 1};
    launch(r, &a, "cudaGraphLaunch", 311, 20000 + (int64_t)n * 350);
    for (size_t i = 0; i < n; i++) {
        a.id = kernels[i];
        a.graph_node = ++r->node;
        place(r, &a, kernel_time(r, a.id, 1));
    }
}

void sim_copy(struct rank *r, int stream, enum copy_id copy, int64_t bytes)
{
    struct activity a = {
        .cat = copy == C_MEMSET ? CAT_MEMSET : CAT_MEMCPY, .id = (int)copy, .stream = stream, .bytes = bytes};
    bool pageable = copy == C_H2D_PAGEABLE || copy == C_D2H;
    if (copy == C_MEMSET)
        launch(r, &a, "cudaMemsetAsync", 51, 4200);
    else /* pageable memory is staged by the caller, in part, before the call returns */
        launch(r, &a, "cudaMemcpyAsync", 41, pageable ? 7000 + bytes / 40 : 5600);
    place(r, &a, vary(r, 1100 + bytes * 1000 / copy_table[copy].bytes_per_us, 5));
    if (pageable) /* what PyTorch does for a copy that is not non_blocking */
        sim_sync_stream(r, stream);
}

/* What is put on stream `after` from now on starts when all that is on `before` has ended. */
void sim_order(struct rank *r, int before, int after)
{
    sim_call(r, "cudaEventRecord", 135, 1500, 0);
    sim_call(r, "cudaStreamWaitEvent", 147, 1200, 0);
    struct stream *s = &r->streams[after];
    s->wait_for = later(s->wait_for, r->streams[before].tail);
}

void sim_sync_stream(struct rank *r, int stream)
{
    int64_t tail = r->streams[stream].tail;
    sim_call(r, "cudaStreamSynchronize", 131, 2400, tail > r->now ? tail + vary(r, 2600, 30) : 0);
}

void sim_sync_device(struct rank *r)
{
    int64_t tail = 0;
    for (int i = 0; i < r->n_streams; i++)
        tail = later(tail, r->streams[i].tail);
    sim_call(r, "cudaDeviceSynchronize", 165, 4800, tail > r->now ? tail + vary(r, 3200, 30) : 0);
}

/* A launch whose kernel came after the record window had closed. */
void sim_lost_launch(struct rank *r)
{
    struct activity a = {.stream = 0};
    launch(r, &a, "cudaLaunchKernel", 211, 5200);
    r->truth.empty_launches++;
}

/* ---- collectives: begun by each rank, ended by the slowest ---- */

int64_t sim_comm_launch(struct rank *r, int64_t seq, int64_t elements)
{
    struct activity *a = &r->comm;
    *a = (struct activity){.cat = CAT_KERNEL,
                           .id = K_ALLREDUCE,
                           .stream = r->comm_stream,
                           .scale = 1,
                           .comm_seq = seq,
                           .comm_elements = elements};
    if (r->opt->style == STYLE_NS)
        launch(r, a, "cudaLaunchKernelExC", 430, 8200);
    else
        launch(r, a, "cudaLaunchKernel", 211, 8200);
    a->ts = stream_ready(r, &r->streams[a->stream], a->launch_end);
    return a->ts;
}

void sim_comm_end(struct rank *r, int64_t latest, int64_t end)
{
    r->comm.end = end;
    r->truth.comm_count++;
    r->truth.comm_wait += latest - r->comm.ts;
    r->truth.comm_transfer += end - latest;
    finish(r, &r->comm);
}
