#include "http/router.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    unsigned method;
    const char *name;
} methods[] = {{HS_GET, "GET"}, {HS_HEAD, "HEAD"},     {HS_POST, "POST"},
               {HS_PUT, "PUT"}, {HS_DELETE, "DELETE"}, {HS_OPTIONS, "OPTIONS"}};
#define NMETHODS (sizeof methods / sizeof methods[0])

unsigned hs_method_parse(const char *name)
{
    for (size_t i = 0; i < NMETHODS; i++)
        if (!strcmp(name, methods[i].name))
            return methods[i].method;
    return 0;
}

const char *hs_method_name(unsigned method)
{
    for (size_t i = 0; i < NMETHODS; i++)
        if (method == methods[i].method)
            return methods[i].name;
    return "?";
}

char *hs_methods_text(unsigned set)
{
    struct hs_buf b = HS_BUF_INIT(128);
    for (size_t i = 0; i < NMETHODS; i++)
        if (set & methods[i].method) {
            hs_buf_puts(&b, b.n ? ", " : "");
            hs_buf_puts(&b, methods[i].name);
        }
    return b.p ? b.p : hs_strdup("");
}

/* Does the pattern match? vars get the values of its {variables}. */
static bool matches(const char *pattern, const struct hs_uri *u, const char *vars[HS_ROUTE_VARS])
{
    size_t seg = 0, nvars = 0;
    for (const char *p = pattern; *p;) {
        p++; /* the slash */
        size_t n = strcspn(p, "/");
        if (n >= 2 && p[n - 2] == '*') /* the page's files; what begins with /api and is no route is a mistake */
            return !u->nsegs || strcmp(u->segs[0], "api") != 0;
        if (seg == u->nsegs)
            return false;
        if (*p == '{')
            vars[nvars++] = u->segs[seg];
        else if (strlen(u->segs[seg]) != n || memcmp(u->segs[seg], p, n) != 0)
            return false;
        seg++;
        p += n;
    }
    return seg == u->nsegs;
}

int hs_route_find(const struct hs_route *routes, const struct hs_uri *u, unsigned method, const struct hs_route **out,
                  const char *vars[HS_ROUTE_VARS], unsigned *allowed, struct hs_err *err)
{
    const struct hs_route *first = NULL, *found = NULL;
    unsigned set = 0;
    for (const struct hs_route *r = routes; r->path; r++) {
        const char *values[HS_ROUTE_VARS] = {NULL};
        if (first ? strcmp(first->path, r->path) != 0 : !matches(r->path, u, values))
            continue;
        if (!first) {
            first = r;
            memcpy(vars, values, sizeof values);
        }
        set |= r->method;
        if (r->method == method || (method == HS_HEAD && r->method == HS_GET))
            found = r;
    }
    if (!first)
        return hs_fail(err, HS_ENOTFOUND,
                       "there is nothing at this path; GET /api/v1/openapi.json lists what there is");
    *allowed = set | HS_OPTIONS | (set & HS_GET ? HS_HEAD : 0u);
    if (!found && method != HS_OPTIONS)
        return hs_fail(err, HS_EUSAGE, "this path does not take that method; Allow lists those it takes");
    *out = found ? found : first;
    return HS_OK;
}
