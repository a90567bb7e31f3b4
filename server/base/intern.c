#include "base/intern.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

void hs_intern_init(struct hs_intern *in, size_t max_count, size_t max_bytes)
{
    *in = (struct hs_intern){.bytes = HS_ARENA_INIT(max_bytes)};
    in->max = max_count < 1 ? 1 : max_count < HS_NO_SYM ? max_count : HS_NO_SYM - 1;
    in->nslots = 1024;
    in->slots = hs_calloc(in->nslots, sizeof *in->slots);
    hs_intern_add(in, "", 0);
}

void hs_intern_free(struct hs_intern *in)
{
    hs_vec_free(in);
    hs_arena_free(&in->bytes);
    free(in->slots);
    in->slots = NULL;
    in->nslots = 0;
}

/* Slot that holds the string, or the free one where it belongs. */
static size_t probe(const struct hs_intern *in, const char *p, size_t n, uint64_t hash)
{
    size_t mask = in->nslots - 1;
    uint64_t tag = hash & 0xffffffff00000000u;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        uint64_t s = in->slots[i];
        if (!s)
            return i;
        if ((s & 0xffffffff00000000u) == tag) {
            struct hs_str have = in->p[(uint32_t)s - 1];
            if (have.n == n && (!n || !memcmp(have.p, p, n)))
                return i;
        }
    }
}

static void grow(struct hs_intern *in)
{
    free(in->slots);
    in->nslots *= 2;
    in->slots = hs_calloc(in->nslots, sizeof *in->slots);
    for (uint32_t id = 0; id < in->n; id++) {
        uint64_t hash = XXH3_64bits(in->p[id].p, in->p[id].n);
        size_t i = hash & (in->nslots - 1);
        while (in->slots[i])
            i = (i + 1) & (in->nslots - 1);
        in->slots[i] = (hash & 0xffffffff00000000u) | (id + 1u);
    }
}

uint32_t hs_intern_add(struct hs_intern *in, const char *p, size_t n)
{
    uint64_t hash = XXH3_64bits(p, n);
    size_t i = probe(in, p, n, hash);
    if (in->slots[i])
        return (uint32_t)in->slots[i] - 1;
    if (!hs_vec_reserve(in, 1))
        return HS_NO_SYM;
    char *copy = hs_arena_dup(&in->bytes, p, n);
    if (!copy)
        return HS_NO_SYM;
    uint32_t id = (uint32_t)in->n;
    in->p[in->n++] = hs_str(copy, n);
    in->slots[i] = (hash & 0xffffffff00000000u) | (id + 1u);
    if (in->n * 2 > in->nslots)
        grow(in);
    return id;
}

uint32_t hs_intern_find(const struct hs_intern *in, const char *p, size_t n)
{
    size_t i = probe(in, p, n, XXH3_64bits(p, n));
    return in->slots[i] ? (uint32_t)in->slots[i] - 1 : HS_NO_SYM;
}
