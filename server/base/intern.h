/* Interner: each distinct byte string gets one small number, in order of first appearance. Id 0 is always "".
 *
 * Strings are copied, never move, never die before the interner. Not thread-safe for writing; once no one adds any
 * more, any number of threads may read. Hash: XXH3 (64 bit); equal hashes are told apart by comparing bytes. */
#ifndef HS_BASE_INTERN_H
#define HS_BASE_INTERN_H

#include "base/mem.h"

#define HS_NO_SYM UINT32_MAX

struct hs_intern {
    HS_VEC(struct hs_str); /* p[id] */
    struct hs_arena bytes;
    uint64_t *slots; /* high 32 bits of the hash, then id + 1; 0 is free */
    size_t nslots;
};

/* max_count: most distinct strings; max_bytes: most bytes of all of them together. */
void hs_intern_init(struct hs_intern *in, size_t max_count, size_t max_bytes);
void hs_intern_free(struct hs_intern *in);

/* The id of the string, HS_NO_SYM when it is new and does not fit under a ceiling. */
uint32_t hs_intern_add(struct hs_intern *in, const char *p, size_t n);

/* The id if it is there, else HS_NO_SYM; adds nothing. */
uint32_t hs_intern_find(const struct hs_intern *in, const char *p, size_t n);

static inline struct hs_str hs_intern_str(const struct hs_intern *in, uint32_t id)
{
    return id < in->n ? in->p[id] : hs_str("", 0);
}

#endif
