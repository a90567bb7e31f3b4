#include "ingest/trace_name.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

static bool ends_in(const char *name, const char *const *endings, size_t count)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < count; i++) {
        size_t e = strlen(endings[i]);
        if (n > e && !strcasecmp(name + n - e, endings[i]))
            return true;
    }
    return false;
}
#define ENDS_IN(name, ...) \
    ends_in(name, (const char *const[]){__VA_ARGS__}, sizeof(const char *const[]){__VA_ARGS__} / sizeof(char *))

bool hs_name_may_be_trace(const char *name)
{
    return ENDS_IN(name, ".json", ".gz", ".zst", ".zip", ".tar", ".tgz");
}

bool hs_name_is_archive(const char *name)
{
    return ENDS_IN(name, ".zip", ".tar", ".tgz", ".tar.gz", ".tar.zst");
}

bool hs_name_is_json(const char *name)
{
    return ENDS_IN(name, ".json");
}

int64_t hs_estimate_stored(const char *name, int64_t bytes)
{
    return (int64_t)((double)(bytes > 0 ? bytes : 0) * (hs_name_is_json(name) ? 0.05 : 0.6));
}
