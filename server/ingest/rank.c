#include "ingest/import.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* The number behind `word` at p: separators may stand between. -1: it is not that word, or no number, or one with more
 * than nine digits (a time, not a rank). A word begins where no letter precedes it, or with a capital. */
static int64_t number_after(const char *start, const char *p, const char *end, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(end - p) <= n || strncasecmp(p, word, n))
        return -1;
    if (p > start && isalpha((unsigned char)p[-1]) && !(isupper((unsigned char)*p) && islower((unsigned char)p[-1])))
        return -1;
    p += n;
    while (p < end && strchr("-_.=# ", *p))
        p++;
    int64_t v = 0;
    int digits = 0;
    for (; p < end && isdigit((unsigned char)*p); p++, digits++)
        if (digits < 10)
            v = v * 10 + (*p - '0');
    return digits && digits <= 9 ? v : -1;
}

static int64_t last_of(const char *p, const char *end, const char *const *words, size_t n)
{
    int64_t found = -1;
    for (const char *at = p; at < end; at++)
        for (size_t i = 0; i < n; i++) {
            int64_t v = number_after(p, at, end, words[i]);
            if (v >= 0)
                found = v;
        }
    return found;
}

static int64_t of_parallelism(const char *p, const char *end)
{
    static const char *const words[] = {"tp", "pp", "dp", "ep", "cp", "sp"};
    int64_t rank = -1;
    for (const char *at = p; at < end; at++)
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            int64_t v = number_after(p, at, end, words[i]);
            if (v > 0 && rank > 0)
                return -1;
            if (v > 0 || (v == 0 && rank < 0))
                rank = v;
        }
    return rank;
}

static int64_t of_part(const char *p, const char *end)
{
    static const char *const ranks[] = {"rank", "worker"}, *const gpus[] = {"gpu"};
    int64_t v = last_of(p, end, ranks, 2);
    if (v < 0)
        v = of_parallelism(p, end);
    return v < 0 ? last_of(p, end, gpus, 1) : v;
}

int64_t hs_rank_of_name(const char *file_name)
{
    const char *end = file_name + strlen(file_name), *p = end;
    for (int parts = 0; parts < 2; parts++) {
        while (p > file_name && p[-1] != '/' && p[-1] != '\\')
            p--;
        int64_t v = of_part(p, end);
        if (v >= 0 || p == file_name)
            return v;
        end = --p;
    }
    return -1;
}
