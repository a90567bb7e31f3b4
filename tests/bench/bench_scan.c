/* How fast is reading a trace on one thread, without inflating and without storing?
 *
 *     bench_scan FILE.json [REPEAT]     the file is read REPEAT times as one trace after another
 *     bench_scan --events FILE.json     prints every event as it is given back, one a line */
#include "base/clock.h"
#include "ingest/kineto.h"
#include "ingest/scan.h"
#include "trace/event_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 4 << 20 };

struct sink {
    bool print;
    struct hs_trace *trace;
    uint64_t events;
};

static void print_segment(const struct hs_trace *t, const struct hs_segment *s)
{
    struct hs_buf out = HS_BUF_INIT(1u << 30);
    uint32_t *at = calloc(t->columns.n + 1, sizeof *at);
    for (uint32_t i = 0; i < s->rows; i++) {
        const struct hs_shape *shape = &t->shapes.p[s->shape[i]];
        const struct hs_lane *lane = &t->lanes.p[s->lane[i]];
        struct hs_event_core core = {s->ts[i],   s->dur[i], lane->pid, lane->tid,
                                     s->name[i], s->cat[i], s->ph[i],  s->digits[i]};
        int64_t values[1024];
        size_t n = 0;
        for (uint32_t f = shape->first; f < shape->first + shape->count; f++) {
            const struct hs_field *fd = &t->fields.p[f];
            for (uint32_t c = 0; fd->type <= HS_V_RAW && c < (fd->type == HS_V_DEC ? 2u : 1u); c++)
                values[n++] = s->args[fd->column + c].v[at[fd->column + c]++];
        }
        hs_buf_clear(&out);
        hs_event_json(&out, &core, t->fields.p + shape->first, shape->count, values, t->syms.p, t->syms.n);
        for (char *nl = out.p; (nl = strchr(nl, '\n'));
             nl++) /* of nested values, verbatim; texts have theirs escaped */
            *nl = ' ';
        puts(out.p);
    }
    free(at);
    hs_buf_free(&out);
}

static int take(void *ctx, struct hs_segment *full, struct hs_segment **next, struct hs_err *err)
{
    struct sink *s = ctx;
    (void)err;
    s->events += full->rows;
    if (s->print)
        print_segment(s->trace, full);
    *next = full;
    return 0;
}

static char *slurp(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END))
        return NULL;
    long size = ftell(f);
    rewind(f);
    char *p = malloc((size_t)size + 1);
    *n = fread(p, 1, (size_t)size, f);
    fclose(f);
    return p;
}

static int read_once(const char *text, size_t n, bool print, int64_t *ns, bool tell)
{
    struct hs_trace trace;
    struct hs_kineto *k = NULL;
    struct hs_err err = HS_ERR_INIT;
    struct sink sink = {print, &trace, 0};
    char *window = malloc(HS_KINETO_HEAD + WINDOW + HS_KINETO_PAD);
    memset(window, 0, HS_KINETO_HEAD + WINDOW + HS_KINETO_PAD);
    hs_trace_init(&trace, NULL);
    int rc = hs_kineto_new(&k, &trace, NULL, hs_segment_new(), take, &sink, &err);
    for (size_t at = 0; !rc && at < n;) {
        size_t part = n - at < WINDOW ? n - at : WINDOW;
        memcpy(window + HS_KINETO_HEAD, text + at, part);
        int64_t t0 = hs_now_ns();
        rc = hs_kineto_feed(k, window + HS_KINETO_HEAD, part, &err);
        *ns += hs_now_ns() - t0;
        at += part;
    }
    if (!rc)
        rc = hs_kineto_finish(k, &err);
    if (rc)
        fprintf(stderr, "%s (byte %lld)\n", err.text, (long long)err.offset);
    if (tell && !print) {
        printf("%llu events, %zu texts, %zu shapes, %zu columns, %zu lanes, %zu device rows\n",
               (unsigned long long)trace.events, trace.syms.n, trace.shapes.n, trace.columns.n, trace.lanes.n,
               trace.device_rows.n);
        for (int q = 0; q < HS_QUALITY_KINDS; q++)
            if (trace.quality.count[q])
                printf("  %s: %lld\n", hs_quality_infos[q].name, (long long)trace.quality.count[q]);
    }
    hs_kineto_free(k);
    hs_trace_free(&trace);
    free(window);
    return rc;
}

int main(int argc, char **argv)
{
    bool print = argc > 2 && !strcmp(argv[1], "--events");
    const char *path = print ? argv[2] : argc > 1 ? argv[1] : NULL;
    int repeat = !print && argc > 2 ? atoi(argv[2]) : 1;
    size_t n;
    char *text = path ? slurp(path, &n) : NULL;
    if (!text) {
        fprintf(stderr, "usage: bench_scan FILE.json [REPEAT] | --events FILE.json\n");
        return 2;
    }
    int64_t ns = 0;
    int rc = 0;
    for (int i = 0; i < repeat && !rc; i++)
        rc = read_once(text, n, print, &ns, i == 0);
    if (!print && !rc)
        printf("%.3f GB/s (%s), %.0f MB a run\n", (double)n * repeat / (double)ns, hs_scan_simd(), (double)n / 1e6);
    free(text);
    return rc;
}
