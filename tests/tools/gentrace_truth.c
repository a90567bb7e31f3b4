/* gentrace_truth.c - sums over what was made. No number here is read back from a trace. */
#include "gentrace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void sum_add(struct sum *s, int64_t value)
{
    s->min = !s->n || value < s->min ? value : s->min;
    s->max = !s->n || value > s->max ? value : s->max;
    s->total += value;
    s->n++;
}

static void cover_add(struct cover *c, struct span at)
{
    if (!c->any || at.ts >= c->end) {
        c->total += at.end - at.ts;
        c->end = at.end;
        c->any = true;
    } else if (at.end > c->end) {
        c->total += at.end - c->end;
        c->end = at.end;
    }
}

/* The rule of idle causes: the gap before an activity is the host's if the launch was only called after the stream
 * had run dry; else a short one is the device's own. A stream's activities are made in order of start. */
static void idle_add(struct stream_truth *s, const struct activity *a)
{
    const int64_t short_gap = 30000;
    int64_t gap = s->activities ? a->ts - s->last : 0;
    if (gap > 0) {
        int cause = a->launch_ts > s->last ? IDLE_HOST : gap < short_gap ? IDLE_KERNEL : IDLE_OTHER;
        sum_add(&s->idle[cause], gap);
    }
    if (!s->activities)
        s->first = a->ts;
    s->activities++;
    s->busy += a->end - a->ts;
    s->last = a->end;
}

void truth_activity(struct truth *t, const struct activity *a)
{
    bool comm = a->cat == CAT_KERNEL && a->id == K_ALLREDUCE;
    bool any = t->cover[COVER_ALL].any || t->n_pending;
    sum_add(a->cat == CAT_KERNEL ? &t->kernels[a->id] : &t->copies[a->id], a->end - a->ts);
    sum_add(&t->delay, a->ts - a->launch_end);
    t->negative_delays += a->ts < a->launch_end;
    idle_add(&t->streams[a->stream], a);
    t->first = !any || a->ts < t->first ? a->ts : t->first;
    t->last = !any || a->end > t->last ? a->end : t->last;
    t->pending = grow(t->pending, &t->cap_pending, t->n_pending + 1, sizeof *t->pending);
    t->pending[t->n_pending++] = (struct pending){{a->ts, a->end}, a->cat, comm};
}

static int by_start(const void *a, const void *b)
{
    const struct pending *x = a, *y = b;
    return (x->at.ts > y->at.ts) - (x->at.ts < y->at.ts);
}

/* Work not launched yet starts after now, so what started before can be added up in order and forgotten. */
void truth_settle(struct truth *t, int64_t until)
{
    size_t n = 0;
    if (t->n_pending)
        qsort(t->pending, t->n_pending, sizeof *t->pending, by_start);
    for (; n < t->n_pending && t->pending[n].at.ts <= until; n++) {
        const struct pending *p = &t->pending[n];
        int class = p->cat != CAT_KERNEL ? COVER_MEMORY : p->comm ? COVER_COMM : COVER_COMPUTE;
        cover_add(&t->cover[COVER_ALL], p->at);
        cover_add(&t->cover[class], p->at);
        if (class != COVER_MEMORY)
            cover_add(&t->cover[COVER_COMPUTE_OR_COMM], p->at);
    }
    if (n)
        memmove(t->pending, t->pending + n, (t->n_pending - n) * sizeof *t->pending);
    t->n_pending -= n;
}

void truth_step(struct truth *t, int64_t number, int64_t ts, int64_t dur)
{
    t->steps = grow(t->steps, &t->cap_steps, t->n_steps + 1, sizeof *t->steps);
    t->steps[t->n_steps++] = (struct step_truth){number, ts, dur};
}

/* ---- truth.json ---- */

static void put(struct out *o, const char *key, int64_t value)
{
    out_text(o, "\"%s\": %" PRId64 ", ", key, value);
}

static void put_sum(struct out *o, const char *n, const struct sum *s)
{
    out_text(o, "{\"%s\": %" PRId64 ", \"sum_ns\": %" PRId64 ", \"min_ns\": %" PRId64 ", \"max_ns\": %" PRId64 "}", n,
             s->n, s->total, s->min, s->max);
}

static void put_counts(struct out *o, const struct truth *t)
{
    const char *comma = "";
    out_text(o, "\"by_phase\": {");
    for (int i = 0; i < 128; i++)
        if (t->phases[i]) {
            out_text(o, "%s\"%c\": %" PRId64, comma, i, t->phases[i]);
            comma = ", ";
        }
    comma = "";
    out_text(o, "},\n      \"by_category\": {");
    for (int i = 0; i < CAT_COUNT; i++)
        if (t->categories[i]) {
            out_text(o, "%s\"%s\": %" PRId64, comma, category_name[i], t->categories[i]);
            comma = ", ";
        }
    out_text(o, "},\n      ");
}

static void put_times(struct out *o, const struct truth *t)
{
    const struct cover *c = t->cover;
    int64_t busy = c[COVER_ALL].total, compute = c[COVER_COMPUTE].total, comm = c[COVER_COMM].total;
    put(o, "gpu_first_ns", t->first);
    put(o, "gpu_last_ns", t->last);
    put(o, "span_ns", t->last - t->first);
    put(o, "busy_ns", busy);
    put(o, "idle_ns", t->last - t->first - busy);
    put(o, "compute_ns", compute);
    put(o, "communication_ns", comm);
    put(o, "memory_ns", c[COVER_MEMORY].total);
    out_text(o, "\"overlap_ns\": %" PRId64 ",\n      ", compute + comm - c[COVER_COMPUTE_OR_COMM].total);
}

static void put_launches(struct out *o, const struct truth *t, bool memory)
{
    put(o, "launches", t->launches);
    put(o, "launches_without_kernel", t->empty_launches);
    put(o, "kernels_without_launch", 0);
    put(o, "negative_launch_delays", t->negative_delays);
    out_text(o, "\"launch_delay\": ");
    put_sum(o, "count", &t->delay);
    out_text(o,
             ",\n      \"collectives\": {\"count\": %" PRId64 ", \"wait_ns\": %" PRId64 ", \"transfer_ns\": %" PRId64
             "},\n",
             t->comm_count, t->comm_wait, t->comm_transfer);
    if (memory)
        out_text(o, "      \"peak_allocated_bytes\": %" PRId64 ",\n", t->peak_allocated);
}

static void put_names(struct out *o, const struct rank *r)
{
    const struct truth *t = &r->truth;
    const char *comma = "";
    out_text(o, "      \"kernel_names\": {");
    for (int i = 0; i < K_COUNT; i++)
        if (t->kernels[i].n) {
            out_text(o, "%s\n        \"%s\": ", comma, kernel_table[i].name[r->opt->style]);
            put_sum(o, "calls", &t->kernels[i]);
            comma = ",";
        }
    comma = "";
    out_text(o, "\n      },\n      \"memory_names\": {");
    for (int i = 0; i < C_COUNT; i++)
        if (t->copies[i].n) {
            out_text(o, "%s\n        \"%s\": ", comma, copy_table[i].name);
            put_sum(o, "calls", &t->copies[i]);
            comma = ",";
        }
    out_text(o, "\n      },\n");
}

static void put_streams(struct out *o, const struct rank *r)
{
    static const char *const causes[IDLE_COUNT] = {"host_wait", "kernel_wait", "other"};
    const char *comma = "";
    out_text(o, "      \"streams\": [");
    for (int i = 0; i < r->n_streams; i++) {
        const struct stream_truth *s = &r->truth.streams[i];
        if (!s->activities)
            continue;
        out_text(o,
                 "%s\n        {\"stream\": %" PRId64 ", \"activities\": %" PRId64 ", \"busy_ns\": %" PRId64
                 ", \"first_ns\": %" PRId64 ", \"last_ns\": %" PRId64 ", \"idle\": {",
                 comma, r->streams[i].number, s->activities, s->busy, s->first - r->base, s->last - r->base);
        for (int c = 0; c < IDLE_COUNT; c++) {
            out_text(o, "%s\"%s\": ", c ? ", " : "", causes[c]);
            put_sum(o, "count", &s->idle[c]);
        }
        out_text(o, "}}");
        comma = ",";
    }
    out_text(o, "\n      ],\n      \"steps\": [");
    for (size_t i = 0; i < r->truth.n_steps; i++) {
        const struct step_truth *s = &r->truth.steps[i];
        out_text(o, "%s\n        {\"number\": %" PRId64 ", \"ts_ns\": %" PRId64 ", \"dur_ns\": %" PRId64 "}",
                 i ? "," : "", s->number, s->ts - r->base, s->dur);
    }
    out_text(o, "\n      ]\n    }");
}

static void put_rank(struct out *o, const struct rank *r)
{
    struct truth t = r->truth;
    t.first -= r->base;
    t.last -= r->base;
    out_text(o, "    {\n      ");
    put(o, "rank", r->number);
    put(o, "device", r->device);
    out_text(o, "\"file\": \"%s%" PRId64 ".json%s\",\n      ", r->opt->prefix, r->number, r->opt->gzip ? ".gz" : "");
    put(o, "events", t.events);
    put(o, "cpu_ops", t.categories[CAT_CPU_OP]);
    put(o, "kernels", t.categories[CAT_KERNEL]);
    put(o, "memcpys", t.categories[CAT_MEMCPY]);
    put(o, "memsets", t.categories[CAT_MEMSET]);
    put_counts(o, &t);
    put_times(o, &t);
    put_launches(o, &t, r->opt->memory);
    put_names(o, r);
    put_streams(o, r);
}

static void put_planted(struct out *o, const struct story *s, int64_t straggler)
{
    out_text(o, "  \"causes\": [");
    for (const char *p = s->cause, *end; *p; p = *end ? end + 1 : end) {
        end = p + strcspn(p, ",");
        out_text(o, "%s\"%.*s\"", p == s->cause ? "" : ", ", (int)(end - p), p);
    }
    out_text(o, "],\n");
    if (straggler >= 0)
        out_text(o, "  \"straggler_rank\": %" PRId64 ",\n", straggler);
    else
        out_text(o, "  \"straggler_rank\": null,\n");
}

void truth_write(const struct options *opt, const struct rank *ranks, int64_t straggler, int64_t steps)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/truth.json", opt->dir);
    struct out *o = out_open(path, false);
    out_text(o, "{\n  \"story\": \"%s\",\n", opt->story->name);
    put_planted(o, opt->story, straggler);
    out_text(o, "  \"seed\": %" PRIu64 ", \"style\": \"%s\", \"steps\": %" PRId64 ", \"layers\": %" PRId64 ",\n",
             opt->seed, opt->style == STYLE_US ? "us" : "ns", steps, opt->layers);
    out_text(o, "  \"base_ns\": %" PRId64 ",\n  \"ranks\": [\n", ranks[0].base);
    for (int64_t i = 0; i < opt->ranks; i++) {
        put_rank(o, &ranks[i]);
        out_text(o, i + 1 < opt->ranks ? ",\n" : "\n");
    }
    out_text(o, "  ]\n}\n");
    out_close(o);
}
