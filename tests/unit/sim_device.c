#include "tests/unit/sim_device.h"

void sim_fill(struct sim *s, struct json_trace *t, uint32_t seed, size_t n)
{
    uint32_t r = seed * 2654435761u + 1;
    s->n = n;
    for (size_t i = 0; i < n; i++) {
        struct sim_work *w = &s->w[i];
        *w = (struct sim_work){
            .device = (int)draw_below(&r, 2), .stream = (int)(7 + draw_below(&r, 2)), .corr = (int)i + 100};
        bool second = i && s->w[i - 1].corr && draw_below(&r, 8) == 0; /* of the call before, as of a CUDA graph */
        w->launch_ts = 10 + draw_below(&r, 400);
        w->launch_dur = draw_below(&r, 30);
        w->ts = w->launch_ts + draw_below(&r, 60) - (draw_below(&r, 20) == 0 ? 5 : 0);
        w->dur = draw_below(&r, 10) ? 1 + draw_below(&r, 40) : 0;
        w->copy = draw_below(&r, 4) == 0;
        w->comm = !w->copy && draw_below(&r, 3) == 0;
        w->bytes = w->copy ? (int64_t)draw_below(&r, 5000) : -1;
        if (second) {
            w->corr = s->w[i - 1].corr;
            w->launch_ts = s->w[i - 1].launch_ts;
            w->launch_dur = s->w[i - 1].launch_dur;
            w->ts = w->launch_ts + draw_below(&r, 80);
        } else if (draw_below(&r, 10) == 0) {
            w->corr = 0;
        } else {
            trace_launch(t, w->copy ? "cudaMemcpyAsync" : "cudaLaunchKernel", 1 + (int)(i % 2), w->launch_ts,
                         w->launch_dur, w->corr);
        }
        /* a correlation of which no call has: the work is an orphan */
        int corr = w->corr ? w->corr : 100000 + (int)i;
        if (w->copy)
            trace_copy(t, "Memcpy HtoD (Pinned -> Device)", w->device, w->stream, w->ts, w->dur, corr, w->bytes);
        else
            trace_kernel(t, w->comm ? "ncclDevKernel_AllReduce" : "gemm", w->device, w->stream, w->ts, w->dur, corr);
    }
}
