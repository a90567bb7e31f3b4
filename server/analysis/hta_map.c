#include "analysis/hta_map.h"

#include "base/mem.h"

static size_t slot_of(int64_t key, size_t mask)
{
    /* The finaliser of MurmurHash3: correlations are consecutive, pairs differ in few bits. */
    uint64_t h = (uint64_t)key;
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdu;
    h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53u;
    return (size_t)(h ^ (h >> 33)) & mask;
}

void hta_map_init(struct hta_map *m)
{
    m->mask = 63;
    m->n = 0;
    m->slots = hs_calloc(64, sizeof *m->slots);
}

void hta_map_free(struct hta_map *m)
{
    hs_free_array((void **)&m->slots);
    m->n = m->mask = 0;
}

uint32_t hta_map_get(const struct hta_map *m, int64_t key)
{
    if (!m->slots)
        return HTA_NONE;
    for (size_t i = slot_of(key, m->mask); m->slots[i].used; i = (i + 1) & m->mask)
        if (m->slots[i].key == key)
            return m->slots[i].value;
    return HTA_NONE;
}

static void grow(struct hta_map *m)
{
    struct hta_slot *old = m->slots;
    size_t n = m->mask + 1;
    m->mask = n * 2 - 1;
    m->slots = hs_calloc(n * 2, sizeof *m->slots);
    for (size_t i = 0; i < n; i++) {
        if (!old[i].used)
            continue;
        size_t k = slot_of(old[i].key, m->mask);
        while (m->slots[k].used)
            k = (k + 1) & m->mask;
        m->slots[k] = old[i];
    }
    hs_free_array((void **)&old);
}

uint32_t *hta_map_at(struct hta_map *m, int64_t key)
{
    if (m->n * 2 > m->mask)
        grow(m);
    size_t i = slot_of(key, m->mask);
    for (; m->slots[i].used; i = (i + 1) & m->mask)
        if (m->slots[i].key == key)
            return &m->slots[i].value;
    m->slots[i] = (struct hta_slot){key, HTA_NONE, 1};
    m->n++;
    return &m->slots[i].value;
}
