#include "base/clock.h"

#include <time.h>

static int64_t read_clock(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t hs_now_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

int64_t hs_unix_ns(void)
{
    return read_clock(CLOCK_REALTIME);
}
