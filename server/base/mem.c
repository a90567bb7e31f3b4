#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static _Noreturn void out_of_memory(size_t n)
{
    fprintf(stderr, "holoscope: out of memory (%zu bytes)\n", n);
    abort();
}

/* Pages of 2 MiB for what is many of them long: on 4 M events an analysis touches 50 000 small pages for the first time,
 * a quarter of a cold answer. Measured on call-stack: 222 -> 184 ms. Only a hint; a kernel without them ignores it. */
#define HUGE_PAGE ((uintptr_t)2 << 20)
void hs_hint_large(void *p, size_t n)
{
    uintptr_t from = ((uintptr_t)p + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1), to = ((uintptr_t)p + n) & ~(HUGE_PAGE - 1);
    if (n >= 2 * HUGE_PAGE && from < to)
        madvise((char *)p + (from - (uintptr_t)p), to - from, MADV_HUGEPAGE);
}

void *hs_malloc(size_t n)
{
    void *p = malloc(n ? n : 1);
    if (!p)
        out_of_memory(n);
    hs_hint_large(p, n);
    return p;
}

void *hs_calloc(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size ? size : 1);
    if (!p)
        out_of_memory(n);
    hs_hint_large(p, n * size);
    return p;
}

void *hs_realloc_array(void *p, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes))
        out_of_memory(SIZE_MAX);
    void *q = realloc(p, bytes ? bytes : 1);
    if (!q)
        out_of_memory(bytes);
    if (!p) /* what grows is often let go half full, and moving it takes large pages apart: imports were slower with them */
        hs_hint_large(q, bytes);
    return q;
}

char *hs_strndup(const char *s, size_t n)
{
    char *p = hs_malloc(n + 1);
    if (n)
        memcpy(p, s, n);
    p[n] = 0;
    return p;
}

char *hs_strdup(const char *s)
{
    return hs_strndup(s, strlen(s));
}

char *hs_asprintf(const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *p = hs_malloc(n < 0 ? 1 : (size_t)n + 1);
    p[0] = 0;
    if (n >= 0)
        vsnprintf(p, (size_t)n + 1, fmt, again);
    va_end(again);
    return p;
}

struct hs_str hs_cstr(const char *s)
{
    return hs_str(s, s ? strlen(s) : 0);
}

bool hs_str_eq(struct hs_str a, struct hs_str b)
{
    return a.n == b.n && (!a.n || !memcmp(a.p, b.p, a.n));
}

bool hs_str_is(struct hs_str a, const char *lit)
{
    return hs_str_eq(a, hs_cstr(lit));
}

bool hs_str_starts(struct hs_str a, const char *lit)
{
    size_t n = strlen(lit);
    return a.n >= n && !memcmp(a.p, lit, n);
}

bool hs_str_contains(struct hs_str a, const char *lit)
{
    return memmem(a.p, a.n, lit, strlen(lit)) != NULL;
}

int hs_str_cmp(struct hs_str a, struct hs_str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.p, b.p, n) : 0;
    return c ? c : (a.n > b.n) - (a.n < b.n);
}

/* ---- bytes ---- */

void hs_buf_free(struct hs_buf *b)
{
    free(b->p);
    b->p = NULL;
    b->n = b->cap = 0;
}

void hs_buf_clear(struct hs_buf *b)
{
    b->n = 0;
    b->full = false;
    if (b->p)
        b->p[0] = 0;
}

bool hs_buf_reserve(struct hs_buf *b, size_t more)
{
    if (b->full || more > b->max || b->n > b->max - more) {
        b->full = true;
        return false;
    }
    size_t need = b->n + more + 1;
    if (need <= b->cap)
        return true;
    size_t cap = b->cap + b->cap / 2 + 64;
    if (cap < need)
        cap = need;
    b->p = hs_realloc_array(b->p, cap, 1);
    b->cap = cap;
    return true;
}

void hs_buf_put(struct hs_buf *b, const void *p, size_t n)
{
    if (!hs_buf_reserve(b, n))
        return;
    if (n)
        memcpy(b->p + b->n, p, n);
    b->n += n;
    b->p[b->n] = 0;
}

void hs_buf_putc(struct hs_buf *b, char c)
{
    hs_buf_put(b, &c, 1);
}

void hs_buf_puts(struct hs_buf *b, const char *s)
{
    hs_buf_put(b, s, strlen(s));
}

void hs_buf_put_i64(struct hs_buf *b, int64_t v)
{
    char t[20], *e = t + sizeof t, *p = e;
    uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    do
        *--p = (char)('0' + u % 10);
    while (u /= 10);
    if (v < 0)
        hs_buf_putc(b, '-');
    hs_buf_put(b, p, (size_t)(e - p));
}

void hs_buf_printf(struct hs_buf *b, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n > 0 && hs_buf_reserve(b, (size_t)n)) {
        vsnprintf(b->p + b->n, (size_t)n + 1, fmt, again);
        b->n += (size_t)n;
    }
    va_end(again);
}

int hs_buf_check(const struct hs_buf *b, const char *what, struct hs_err *err)
{
    if (!b->full)
        return HS_OK;
    return hs_fail(err, HS_ELIMIT, "%s is larger than the limit of %zu bytes", what, b->max);
}

/* ---- arrays ---- */

bool hs_vec_grow(void **p, size_t *cap, size_t n, size_t more, size_t max, size_t size)
{
    if (more > max || n > max - more)
        return false;
    size_t c = *cap + *cap / 2 + 16;
    if (c < n + more)
        c = n + more;
    if (c > max)
        c = max;
    *p = hs_realloc_array(*p, c, size);
    *cap = c;
    return true;
}

void hs_free_array(void **p)
{
    free(*p);
    *p = NULL;
}

/* ---- arena ---- */

struct hs_arena_block {
    struct hs_arena_block *next;
    size_t used, size;
    max_align_t data[];
};

void *hs_arena_alloc(struct hs_arena *a, size_t n)
{
    if (n > SIZE_MAX - 64 || n > a->max || a->used > a->max - n)
        return NULL;
    n = (n + 15) & ~(size_t)15;
    struct hs_arena_block *b = a->blocks;
    if (!b || b->size - b->used < n) {
        size_t size = n > 64 * 1024 ? n : 64 * 1024;
        struct hs_arena_block *fresh = hs_malloc(sizeof *fresh + size);
        fresh->used = 0;
        fresh->size = size;
        if (b && size == n && b->used < b->size) { /* a large one goes behind, so that the open block stays in use */
            fresh->next = b->next;
            b->next = fresh;
        } else {
            fresh->next = b;
            a->blocks = fresh;
        }
        b = fresh;
    }
    void *p = (char *)b->data + b->used;
    b->used += n;
    a->used += n;
    return p;
}

char *hs_arena_dup(struct hs_arena *a, const char *p, size_t n)
{
    char *q = hs_arena_alloc(a, n + 1);
    if (!q)
        return NULL;
    if (n)
        memcpy(q, p, n);
    q[n] = 0;
    return q;
}

void hs_arena_free(struct hs_arena *a)
{
    for (struct hs_arena_block *b = a->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    a->blocks = NULL;
    a->used = 0;
}
