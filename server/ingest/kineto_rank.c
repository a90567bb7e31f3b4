/* The rank as HTA reads it (hs_trace.hta_rank): it searches the lines of the file for "rank", a colon, white space, a
 * number, whatever they belong to. Here only text is searched in which the key is new: header members, the first event
 * of each layout, and nested values that were not seen before. */
#include "ingest/kineto_in.h"

#include <string.h>

void hs_kineto_hta_rank(struct hs_kineto *k, const char *p, size_t n)
{
    static const char key[] = "\"rank\":";
    const char *end = p + n, *at = p;
    if (k->trace->hta_rank >= 0)
        return;
    while ((at = memmem(at, (size_t)(end - at), key, sizeof key - 1))) {
        const char *q = at += sizeof key - 1;
        while (q < end && (*q == ' ' || *q == '\t' || *q == '\r'))
            q++;
        int64_t v = 0;
        bool digits = false;
        for (; q > at && q < end && *q >= '0' && *q <= '9'; q++, digits = true)
            if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *q - '0', &v))
                v = INT64_MAX;
        if (digits) {
            k->trace->hta_rank = v;
            return;
        }
    }
}
