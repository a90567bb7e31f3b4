#include "analysis/patterns.h"

#include "trace/names.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

void hs_patterns_init(struct hs_patterns *p, const struct hs_view *view)
{
    p->view = view;
    hs_intern_init(&p->set, (size_t)1 << 26, (size_t)1 << 33);
}

void hs_patterns_free(struct hs_patterns *p)
{
    hs_intern_free(&p->set);
}

uint32_t hs_pattern_add(struct hs_patterns *p, const uint32_t *symbols, size_t n)
{
    return hs_intern_add(&p->set, (const char *)symbols, n * sizeof *symbols);
}

static size_t length(const struct hs_patterns *p, uint32_t pattern)
{
    return hs_intern_str(&p->set, pattern).n / sizeof(uint32_t);
}

static uint32_t symbol(const struct hs_patterns *p, uint32_t pattern, size_t i)
{
    uint32_t sym; /* the bytes are not aligned */
    memcpy(&sym, hs_intern_str(&p->set, pattern).p + i * sizeof sym, sizeof sym);
    return sym;
}

size_t hs_pattern_kernels(const struct hs_patterns *p, uint32_t pattern)
{
    size_t n = length(p, pattern);
    return n ? n - 1 : 0;
}

uint32_t hs_pattern_operator(const struct hs_patterns *p, uint32_t pattern)
{
    return length(p, pattern) ? symbol(p, pattern, 0) : HS_NO_SYM;
}

uint64_t hs_pattern_hash(const struct hs_patterns *p, uint32_t pattern)
{
    uint64_t h = 0;
    for (size_t i = 0; i < length(p, pattern); i++) {
        struct hs_str name = hs_view_str(p->view, symbol(p, pattern, i));
        h = XXH3_64bits_withSeed(name.p, name.n, h);
    }
    return h;
}

/* Runs of one kernel are written once with their length. */
static void sequence_text(const struct hs_patterns *p, uint32_t pattern, struct hs_buf *scratch, struct hs_buf *text)
{
    size_t n = length(p, pattern);
    for (size_t i = 1, end; i < n; i = end) {
        uint32_t sym = symbol(p, pattern, i);
        for (end = i + 1; end < n && symbol(p, pattern, end) == sym;)
            end++;
        struct hs_str name = hs_short_name(hs_view_str(p->view, sym), scratch);
        if (text->n && text->n + name.n > HS_PATTERN_TEXT) {
            hs_buf_printf(text, " -> ... (%zu more)", n - i);
            return;
        }
        if (text->n)
            hs_buf_puts(text, " -> ");
        hs_buf_put(text, name.p, name.n < HS_PATTERN_TEXT ? name.n : HS_PATTERN_TEXT);
        if (end - i > 1)
            hs_buf_printf(text, " (x%zu)", end - i);
    }
}

void hs_pattern_cells(const struct hs_patterns *p, uint32_t pattern, struct hs_buf *scratch, struct hs_table *out)
{
    struct hs_buf text = HS_BUF_INIT(3 * HS_PATTERN_TEXT);
    char id[17];
    snprintf(id, sizeof id, "%016llx", (unsigned long long)hs_pattern_hash(p, pattern));
    sequence_text(p, pattern, scratch, &text);
    hs_cell_cstr(out, id);
    hs_cell_text(out, hs_view_str(p->view, hs_pattern_operator(p, pattern)));
    hs_cell_i64(out, (int64_t)hs_pattern_kernels(p, pattern));
    hs_cell_text(out, hs_str(text.p ? text.p : "", text.n));
    hs_buf_free(&text);
}
