/* Memory: checked allocation, byte buffers and typed arrays that are born with a ceiling, and arenas.
 *
 * Small allocations never return NULL: out of memory ends the process with a message (under Linux's overcommit a
 * NULL from malloc is all but unseen; half-handled it is a hole). What can be made large by a user's input grows only
 * through hs_buf, hs_vec or hs_arena, and those have a ceiling and fail with HS_ELIMIT instead. */
#ifndef HS_BASE_MEM_H
#define HS_BASE_MEM_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *hs_malloc(size_t n);
void *hs_calloc(size_t n, size_t size); /* zeroed; the product is checked for overflow */
void *hs_realloc_array(void *p, size_t n, size_t size);
void hs_hint_large(void *p, size_t n); /* asks for large pages behind n bytes; the three above do so by themselves */
char *hs_strdup(const char *s);
char *hs_strndup(const char *s, size_t n); /* n bytes and a terminator */
char *hs_asprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Bytes with a length: names and values of traces hold NULs and bad UTF-8, so nothing in the project trusts strlen
 * on them. Never owns its memory. */
struct hs_str {
    const char *p;
    size_t n;
};
#define HS_STR(lit) ((struct hs_str){"" lit, sizeof(lit) - 1})
static inline struct hs_str hs_str(const char *p, size_t n)
{
    return (struct hs_str){p, n};
}
struct hs_str hs_cstr(const char *s);
bool hs_str_eq(struct hs_str a, struct hs_str b);
bool hs_str_is(struct hs_str a, const char *lit);
bool hs_str_starts(struct hs_str a, const char *lit);
bool hs_str_contains(struct hs_str a, const char *lit);
int hs_str_cmp(struct hs_str a, struct hs_str b); /* byte order, which for UTF-8 is code point order */

/* ---- a growable byte buffer; init with HS_BUF_INIT(ceiling) ---- */
struct hs_buf {
    char *p; /* terminated by a NUL that n does not count, once anything was written */
    size_t n, cap;
    size_t max; /* the ceiling, bytes */
    bool full;  /* a write did not fit and was dropped whole; later writes are dropped too */
};
#define HS_BUF_INIT(ceiling)         \
    {                                \
        NULL, 0, 0, (ceiling), false \
    }
void hs_buf_free(struct hs_buf *b);
void hs_buf_clear(struct hs_buf *b);                /* keeps the memory */
bool hs_buf_reserve(struct hs_buf *b, size_t more); /* room for `more` bytes and the NUL; false: over the ceiling */
void hs_buf_put(struct hs_buf *b, const void *p, size_t n);
void hs_buf_putc(struct hs_buf *b, char c);
void hs_buf_puts(struct hs_buf *b, const char *s);
void hs_buf_put_i64(struct hs_buf *b, int64_t v);
void hs_buf_printf(struct hs_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int hs_buf_check(const struct hs_buf *b, const char *what, struct hs_err *err); /* HS_ELIMIT if full */

/* ---- typed growable arrays ----
 *     struct { HS_VEC(int64_t); } v = HS_VEC_INIT(1 << 20);
 *     if (!hs_vec_push(&v, 42)) ... ceiling reached
 *     v.p[0], v.n; hs_vec_free(&v) */
#define HS_VEC(type) \
    type *p;         \
    size_t n, cap, max
#define HS_VEC_INIT(ceiling)  \
    {                         \
        NULL, 0, 0, (ceiling) \
    }
bool hs_vec_grow(void **p, size_t *cap, size_t n, size_t more, size_t max, size_t size);
#define hs_vec_reserve(v, more) \
    ((v)->n + (more) <= (v)->cap || hs_vec_grow((void **)&(v)->p, &(v)->cap, (v)->n, (more), (v)->max, sizeof *(v)->p))
#define hs_vec_push(v, x) (hs_vec_reserve(v, 1) ? ((v)->p[(v)->n++] = (x), true) : false)
#define hs_vec_free(v) (hs_free_array((void **)&(v)->p), (v)->n = (v)->cap = 0)
void hs_free_array(void **p);

/* ---- an arena: everything allocated from it dies with it ---- */
struct hs_arena {
    struct hs_arena_block *blocks;
    size_t used; /* bytes handed out */
    size_t max;  /* ceiling */
};
#define HS_ARENA_INIT(ceiling) \
    {                          \
        NULL, 0, (ceiling)     \
    }
void *hs_arena_alloc(struct hs_arena *a, size_t n);              /* 16-byte aligned; NULL over the ceiling */
char *hs_arena_dup(struct hs_arena *a, const char *p, size_t n); /* terminated copy; NULL over the ceiling */
void hs_arena_free(struct hs_arena *a);

#endif
