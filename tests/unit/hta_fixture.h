/* For tests of compat=hta: traces written as text in the test, imported by the real reader, asked through hta_entries.
 *
 *     struct hta_fixture f;
 *     hta_open(&f, 1, TRACE(KERNEL("k", "7", "20", "5", "1") "," CALL("cudaLaunchKernel", "12", "3", "1")));
 *     struct hs_table t = hta_ask(&f, "temporal", "");
 *     expect(&t, "kernel_time(us)", 1, 5.0);
 *     hs_table_free(&t); hta_close(&f);
 */
#ifndef HS_TESTS_HTA_FIXTURE_H
#define HS_TESTS_HTA_FIXTURE_H

#include "analysis/hta.h"
#include "ingest/import.h"

#define TRACE(events) "{\"traceEvents\": [" events "]}"
#define RANK(n, events) "{\"distributedInfo\": {\"rank\": " n "}, \"traceEvents\": [" events "]}"
#define EVENT(cat, name, pid, tid, ts, dur, args)                                                                   \
    "{\"ph\": \"X\", \"cat\": \"" cat "\", \"name\": \"" name "\", \"pid\": " pid ", \"tid\": " tid ", \"ts\": " ts \
    ", \"dur\": " dur ", \"args\": {" args "}}"
#define OP(name, ts, dur) EVENT("cpu_op", name, "1", "1", ts, dur, "")
#define NOTE(name, ts, dur) EVENT("user_annotation", name, "1", "1", ts, dur, "")
#define CALL(name, ts, dur, corr) EVENT("cuda_runtime", name, "1", "1", ts, dur, "\"correlation\": " corr)
#define WORK(cat, name, stream, ts, dur, corr) \
    EVENT(cat, name, "0", stream, ts, dur, "\"stream\": " stream ", \"correlation\": " corr)
#define KERNEL(name, stream, ts, dur, corr) WORK("kernel", name, stream, ts, dur, corr)

struct hta_fixture {
    struct hs_imported *traces[8];
    size_t n;
    struct hs_run *run, *other;
};
void hta_open(struct hta_fixture *f, size_t n, ...); /* n texts, each the file rank<i>.json */
void hta_close(struct hta_fixture *f);

/* Runs the compat form of an analysis with parameters "a=1&b=2"; fails the test if it fails. */
struct hs_table hta_ask(struct hta_fixture *f, const char *analysis, const char *params);

/* The column has these n numbers, in this order; NAN means null. */
void expect(const struct hs_table *t, const char *column, size_t n, ...);
/* The same for texts; NULL means null. */
void expect_text(const struct hs_table *t, const char *column, size_t n, ...);
bool hta_noted(const struct hs_table *t, const char *part);

#endif
