#include "trace/names.h"

#include <string.h>

bool hs_name_is_memory_hta(struct hs_str name)
{
    if (hs_str_starts(name, "dma"))
        return true;
    if (hs_str_starts(name, "hip"))
        name = hs_str(name.p + 3, name.n - 3);
    return hs_str_starts(name, "Memcpy") || hs_str_starts(name, "Memset");
}

/* Removes from the end of the stack to the nearest `open`, with it; everything if there is none. Each byte is pushed
 * and popped once, so the whole is linear. */
static size_t pop_to(const char *stack, size_t top, char open)
{
    while (top && stack[top - 1] != open)
        top--;
    return top ? top - 1 : 0;
}

struct hs_str hs_shorten_hta(struct hs_str name, struct hs_buf *scratch)
{
    if (hs_name_is_memory_hta(name) || (!hs_str_contains(name, "<") && !hs_str_contains(name, "(")))
        return name;
    hs_buf_clear(scratch);
    if (!hs_buf_reserve(scratch, name.n))
        return name;
    char *stack = scratch->p;
    size_t top = 0;
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        if (c == '-' && i + 1 < name.n && name.p[i + 1] == '>')
            i++;
        else if (c == '>' || c == ')')
            top = pop_to(stack, top, c == '>' ? '<' : '(');
        else
            stack[top++] = c;
    }
    const char *blank = top ? memrchr(stack, ' ', top) : NULL;
    size_t from = blank ? (size_t)(blank - stack) + 1 : 0;
    return hs_str(stack + from, top - from);
}

struct hs_str hs_short_name(struct hs_str name, struct hs_buf *scratch)
{
    struct hs_str s = hs_shorten_hta(name, scratch);
    return s.n ? s : name;
}
