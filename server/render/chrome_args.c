#include "render/chrome_args.h"

#include <string.h>

/* Behind the closing quote of the string that begins at i. */
static size_t skip_string(const char *p, size_t i, size_t n)
{
    for (i++; i < n && p[i] != '"'; i++)
        i += p[i] == '\\';
    return i + 1;
}

struct place {
    size_t args, end; /* where the value of args begins; its closing brace; 0: none */
};

/* Looks through the members of the object p[at, n). Of several args the last one counts, as for all readers. */
static struct place find_args(const char *p, size_t at, size_t n)
{
    struct place x = {0};
    int depth = 0;
    for (size_t i = at; i < n;) {
        size_t from = i;
        if (p[i] == '"') {
            i = skip_string(p, i, n);
            if (depth == 1 && i < n && p[i] == ':' && i - from == 6 && !memcmp(p + from, "\"args\"", 6))
                x = (struct place){.args = i + 1};
            continue;
        }
        if (p[i] == '{' || p[i] == '[') {
            depth++;
        } else if (p[i] == '}' || p[i] == ']') {
            depth--;
            if (depth == 1 && x.args && !x.end && p[x.args] == '{')
                x.end = i;
        }
        i++;
    }
    return x;
}

static bool insert(struct hs_buf *b, size_t at, const struct hs_str *parts, size_t nparts)
{
    size_t n = 0;
    for (size_t i = 0; i < nparts; i++)
        n += parts[i].n;
    if (!hs_buf_reserve(b, n))
        return false;
    memmove(b->p + at + n, b->p + at, b->n - at + 1);
    b->n += n;
    for (size_t i = 0; i < nparts; at += parts[i].n, i++)
        memcpy(b->p + at, parts[i].p, parts[i].n);
    return true;
}

bool hs_chrome_add_arg(struct hs_buf *b, size_t at, struct hs_str member)
{
    if (b->full || b->n < at + 2)
        return false;
    struct place x = find_args(b->p, at, b->n);
    if (x.args && !x.end)
        return false;
    size_t end = x.args ? x.end : b->n - 1;
    struct hs_str comma = b->p[end - 1] == '{' ? HS_STR("") : HS_STR(",");
    if (x.args)
        return insert(b, end, (const struct hs_str[]){comma, member}, 2);
    return insert(b, end, (const struct hs_str[]){comma, HS_STR("\"args\":{"), member, HS_STR("}")}, 4);
}

void hs_chrome_drop_args(struct hs_buf *b, size_t at)
{
    struct place x = find_args(b->p, at, b->n);
    if (b->full || !x.end)
        return;
    size_t from = x.args - strlen("\"args\":"), to = x.end + 1;
    if (b->p[from - 1] == ',')
        from--;
    else if (b->p[to] == ',')
        to++;
    memmove(b->p + from, b->p + to, b->n - to + 1);
    b->n -= to - from;
}
