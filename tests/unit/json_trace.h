/* Small traces for tests of analyses that need call stacks, launches, arguments or flows: written as Kineto JSON, read by the
 * real import into memory, so that everything between a file and an analysis takes part.
 *
 *     struct json_trace t;
 *     json_trace_begin(&t, 0);
 *     trace_cpu(&t, "cpu_op", "aten::add", 1, 100, 50);
 *     trace_launch(&t, "cudaLaunchKernel", 1, 110, 10, 7);
 *     trace_kernel(&t, "add_kernel", 0, 7, 200, 30, 7);
 *     struct hs_run *run = json_trace_load(&t, 1);     ... fake_analyze(run, ...) ...
 *     json_trace_end(&t, 1);
 *
 * Times are ns on the run's clock: an event that begins at 0 stands first in every trace, on a thread of its own. */
#ifndef HS_TESTS_JSON_TRACE_H
#define HS_TESTS_JSON_TRACE_H

#include "ingest/import.h"

struct json_trace {
    int rank;
    const char *header; /* members before traceEvents, each with a comma behind it; NULL: none */
    struct {
        HS_VEC(char *);
    } events; /* JSON objects, in the order of the file */
    struct hs_imported *imported;
    size_t nimported;
    struct hs_run *run; /* of the first trace of a load */
};

void json_trace_begin(struct json_trace *t, int rank);
void trace_event(struct json_trace *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void trace_cpu(struct json_trace *t, const char *cat, const char *name, int tid, int64_t ts, int64_t dur);
void trace_launch(struct json_trace *t, const char *name, int tid, int64_t ts, int64_t dur, int corr);
void trace_kernel(struct json_trace *t, const char *name, int device, int stream, int64_t ts, int64_t dur, int corr);
void trace_copy(struct json_trace *t, const char *name, int device, int stream, int64_t ts, int64_t dur, int corr,
                int64_t bytes);
const char *trace_us(char buf[40], int64_t ns); /* as µs, where `ts` stands on the run's clock */

/* Puts the events into another order, the same for the same seed. */
void json_trace_shuffle(struct json_trace *t, uint32_t seed);

/* Imports n traces (again, after a shuffle) as the ranks of one run, which lives until the next load or end. */
struct hs_run *json_trace_load(struct json_trace *t, size_t n);
void json_trace_end(struct json_trace *t, size_t n);

/* The same rows and notes, but for columns that hold event numbers (they end in "event", or are "parent"). */
struct hs_table;
void tables_agree(const struct hs_table *a, const struct hs_table *b, const char *what);

/* A small generator of random numbers, the same everywhere. */
uint32_t draw_below(uint32_t *state, uint32_t below);

#endif
