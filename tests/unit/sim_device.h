/* Random device work with its launches, for property tests: kept as plain arrays beside the trace that is made of it, so
 * that a slow, obvious computation can be held against an analysis. */
#ifndef HS_TESTS_SIM_DEVICE_H
#define HS_TESTS_SIM_DEVICE_H

#include "tests/unit/json_trace.h"

#define SIM_END 600 /* everything happens between 10 and SIM_END, ns */

struct sim_work {
    int device, stream, corr; /* corr 0: the launch is not in the trace */
    int64_t ts, dur, launch_ts, launch_dur, bytes;
    bool comm, copy;
};
struct sim {
    struct sim_work w[120];
    size_t n;
};

/* n <= 120 pieces of work on 2 devices with 2 streams each, launched by two threads; some by calls that launch two. */
void sim_fill(struct sim *s, struct json_trace *t, uint32_t seed, size_t n);

#endif
