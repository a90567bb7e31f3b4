/* Entries of torch's export_memory_timeline (raw): they become events, so that everything behind the reader, from the store
 * to SQL, takes them as it takes all else. */
#include "ingest/kineto_in.h"
#include "trace/view.h"

#include <stdio.h>

/* The integers of a list of n; false if they are others, or something else. */
static bool integers(const char *p, const char *end, int64_t *v, int n)
{
    for (int i = 0; i < n; i++) {
        struct hs_number x;
        p = hs_skip_space(p + 1, end); /* behind the bracket or the comma */
        p = hs_skip_space(hs_number(p, end, &x), end);
        if (x.kind != HS_NUM_INT || p >= end || *p != (i + 1 < n ? ',' : ']'))
            return false;
        v[i] = x.m;
    }
    return true;
}

bool hs_kineto_memory_event(const char *p, const char *end, char text[HS_MEMORY_EVENT], size_t *n)
{
    int64_t v[4];
    if (!integers(p, end, v, 4))
        return false;
    uint64_t ns = v[0] < 0 ? -(uint64_t)v[0] : (uint64_t)v[0];
    int k = snprintf(text, HS_MEMORY_EVENT - HS_SCAN_PAD,
                     "{\"ph\":\"i\",\"cat\":\"" HS_MEMORY_TIMELINE "\",\"name\":\"[memory]\",\"ts\":%s%llu.%03u,"
                     "\"args\":{\"Action\":%lld,\"Bytes\":%lld,\"Category\":%lld}}",
                     v[0] < 0 ? "-" : "", (unsigned long long)(ns / 1000), (unsigned)(ns % 1000), (long long)v[1],
                     (long long)v[2], (long long)v[3]);
    memset(text + k, 0, (size_t)(HS_MEMORY_EVENT - k));
    *n = (size_t)k;
    return true;
}
