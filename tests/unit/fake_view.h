/* A view over plain arrays, for tests of analyses: device rows, launches, steps, CPU events, quality. No store behind it.
 *
 *     struct fake f;
 *     fake_init(&f, 0);
 *     fake_gpu(&f, (struct fake_row){.ts = 0, .dur = 10, .stream = 7, .name = "k", .cls = HS_CLASS_COMPUTE});
 *     struct hs_run *run = fake_run(&f, 1);
 *
 * Times are ns. A row without .launched has no launch. Rows may be added in any order: fake_run sorts the device table as the
 * contract says and takes the summary from it, by the plainest means (a painted union). */
#ifndef HS_TESTS_FAKE_VIEW_H
#define HS_TESTS_FAKE_VIEW_H

#include "analysis/registry.h"
#include "trace/view.h"

#define FAKE_MAX 4096

struct fake_row {
    int64_t ts, dur, stream, launch_ts;
    const char *name;
    int32_t device, step;
    uint8_t cls;
    bool launched, in_step;
};

struct fake {
    struct hs_view view; /* first: the ops cast back */
    struct fake_row gpu[FAKE_MAX];
    size_t ngpu, nevents, nlanes;
    struct hs_step_row steps[16];
    struct hs_cat_row cats[16];
    struct hs_str syms[FAKE_MAX];
    struct hs_lane_info lanes[64];
    /* columns handed out */
    int64_t ts[FAKE_MAX], dur[FAKE_MAX], stream[FAKE_MAX], none[FAKE_MAX], launch_ts[FAKE_MAX];
    uint32_t event[FAKE_MAX], launch[FAKE_MAX], name[FAKE_MAX], lane[FAKE_MAX];
    int32_t device[FAKE_MAX], step[FAKE_MAX];
    uint8_t cls[FAKE_MAX];
    int64_t ev_ts[FAKE_MAX], ev_dur[FAKE_MAX];
    uint32_t ev_name[FAKE_MAX], ev_cat[FAKE_MAX], ev_lane[FAKE_MAX];
    uint16_t ev_depth[FAKE_MAX];
    uint8_t ev_ph[FAKE_MAX];
    struct hs_run run;
    struct hs_run_rank ranks[8];
};

void fake_init(struct fake *f, int64_t rank);
void fake_gpu(struct fake *f, struct fake_row row);
void fake_step(struct fake *f, int64_t number, int64_t ts, int64_t dur);
void fake_cpu(struct fake *f, const char *cat, const char *name, int64_t tid, int depth, int64_t ts, int64_t dur);
uint32_t fake_sym(struct fake *f, const char *text);

/* A run over n fakes, ascending by rank; the memory is in fakes[0]. Clock offsets are 0: set run->ranks[i].offset_ns. */
struct hs_run *fake_run(struct fake *fakes, size_t n);

/* Runs an analysis with parameters "a=1&b=2" ("" for none) and fails the test if it fails. Free with hs_table_free. */
struct hs_table fake_analyze(struct hs_run *run, const char *analysis, const char *params);
/* The status of a call that should fail; *err has the message. */
int fake_analyze_fails(struct hs_run *run, const char *analysis, const char *params, struct hs_err *err);

size_t table_column(const struct hs_table *t, const char *name); /* fails the test if there is none */
int64_t table_i64(const struct hs_table *t, size_t row, const char *column);
double table_f64(const struct hs_table *t, size_t row, const char *column);
const char *table_text(const struct hs_table *t, size_t row, const char *column); /* "" for null */
bool table_null(const struct hs_table *t, size_t row, const char *column);
bool table_has_note(const struct hs_table *t, const char *part);

#endif
