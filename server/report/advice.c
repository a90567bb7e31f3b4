#include "report/advice.h"

#include "trace/stats.h"

#include <math.h>
#include <stdio.h>

#define TEXT 600

/* Each rule returns the time at stake in percent of the GPU span (0: it does not apply) and writes its text. Rules without
 * GPU time at stake return a token share, so that they come last. */
struct rule {
    const char *id;
    double (*test)(const struct hs_facts *f, char text[TEXT]);
};
#define LAST 0.001

/* TraceLens, nsys-ai: idle above 15 % of the window is worth looking into. */
static double late_launches(const struct hs_facts *f, char text[TEXT])
{
    double wait = hs_facts_pct(f, f->idle_ns[HS_HOST_WAIT]);
    if (wait < 15)
        return 0;
    snprintf(text, TEXT,
             "Launch less, or sooner: the GPU waits for the CPU %.1f %% of its span. Try CUDA graphs or "
             "torch.compile(mode=\"reduce-overhead\"), "
             "a larger batch, fused or foreach optimizers; look for data loading and synchronising calls (.item(), "
             ".cpu()) on the launching thread.",
             wait);
    return wait;
}

/* TraceLens: kernels below 10 µs are short; worth a word when they are the most and the GPU waits for launches. */
static double short_kernels(const struct hs_facts *f, char text[TEXT])
{
    double share = hs_percent(f->short_kernels, f->kernels), wait = hs_facts_pct(f, f->idle_ns[HS_HOST_WAIT]);
    if (!(share >= 50) || wait < 15)
        return 0;
    snprintf(text, TEXT,
             "Fuse small kernels: %.0f %% of the %lld kernels run for less than 10 µs, about what a launch costs the "
             "CPU. torch.compile and fused "
             "operators make fewer, longer ones.",
             share, (long long)f->kernels);
    return wait / 2;
}

/* TraceLens flags exposed communication above 5 % of GPU time. */
static double exposed_communication(const struct hs_facts *f, char text[TEXT])
{
    int64_t comm = hs_time_of(f->time.ns, HS_SET_COMM), exposed = hs_exposed_comm(&f->time);
    double share = hs_facts_pct(f, exposed);
    if (share < 5)
        return 0;
    snprintf(text, TEXT,
             "Hide communication: %.1f %% of the GPU span is communication with no computation beside it (%.0f %% of "
             "all communication time). Try other "
             "bucket sizes, prefetching, fewer and larger messages; if one rank is late, the others' communication is "
             "waiting.",
             share, hs_percent(exposed, comm));
    return share;
}

/* TraceLens, nsys-ai: copies above 5 % of time. */
static double copies(const struct hs_facts *f, char text[TEXT])
{
    double share = hs_facts_pct(f, hs_exposed_memory(&f->time));
    if (share < 5)
        return 0;
    int n = snprintf(
        text, TEXT,
        "Copy less, or beside other work: copies and memsets that nothing hides take %.1f %% of the GPU span. ", share);
    if (f->pageable_copies)
        snprintf(text + n, TEXT - (size_t)n,
                 "%lld copies use pageable memory: pin_memory=True and non_blocking=True let them run beside kernels.",
                 (long long)f->pageable_copies);
    else
        snprintf(text + n, TEXT - (size_t)n,
                 "Batch small copies, create tensors on the device, move copies to a stream of their own.");
    return share;
}

/* nsys-ai: one kernel above 50 % of GPU time. */
static double one_kernel(const struct hs_facts *f, char text[TEXT])
{
    if (!f->ntop || f->top[0].share_pct < 50 || f->kernels < 2)
        return 0;
    snprintf(text, TEXT, "Look at one kernel first: %.200s takes %.1f %% of all GPU work.", f->top[0].display,
             f->top[0].share_pct);
    return f->top[0].share_pct * hs_facts_pct(f, f->time.busy_ns) / 1000; /* say a tenth of it can be won */
}

/* Our own threshold: a tenth more or less computation than the median rank. */
static double odd_rank(const struct hs_facts *f, char text[TEXT])
{
    const struct hs_rank_facts *r = f->run->n ? &f->ranks[f->odd] : NULL;
    if (!r || f->gpu_ranks < 2 || fabs(r->odd_pct) < 10)
        return 0;
    snprintf(text, TEXT,
             "Balance the ranks: rank %lld computes %.0f %% %s than the median rank; where ranks wait for each other, "
             "the slowest sets the pace.",
             (long long)r->rank, fabs(r->odd_pct), r->odd_pct > 0 ? "longer" : "less");
    return fabs(r->odd_pct) / (double)f->gpu_ranks;
}

static double no_gpu(const struct hs_facts *f, char text[TEXT])
{
    if (f->time.rows || !f->run->n)
        return 0;
    snprintf(text, TEXT,
             "Record GPU activity: pass ProfilerActivity.CUDA (or XPU, MTIA) to torch.profiler.profile, and make sure "
             "that no other profiler "
             "holds the GPU.");
    return LAST;
}

static double no_steps(const struct hs_facts *f, char text[TEXT])
{
    if (f->steps || !f->time.rows)
        return 0;
    snprintf(text, TEXT,
             "Mark the steps: call prof.step() once per iteration, then every answer can be had per step and warm-up "
             "can be left out.");
    return LAST;
}

static const struct rule rules[] = {
    {"late-launches", late_launches}, {"exposed-communication", exposed_communication},
    {"exposed-copies", copies},       {"one-kernel", one_kernel},
    {"short-kernels", short_kernels}, {"unbalanced-ranks", odd_rank},
    {"no-gpu-activity", no_gpu},      {"no-steps", no_steps},
};
#define RULES (sizeof rules / sizeof rules[0])

void hs_advise(const struct hs_facts *f, hs_say *say, void *ctx)
{
    char text[RULES][TEXT] = {{0}};
    double stake[RULES];
    for (size_t i = 0; i < RULES; i++)
        stake[i] = rules[i].test(f, text[i]);
    for (;;) {
        size_t best = RULES;
        for (size_t i = 0; i < RULES; i++)
            if (stake[i] > 0 && (best == RULES || stake[i] > stake[best]))
                best = i;
        if (best == RULES)
            return;
        say(ctx, rules[best].id, text[best]);
        stake[best] = 0;
    }
}
