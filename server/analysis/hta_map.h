/* A hash map from int64 keys to uint32 values, and one from pairs of texts' numbers: joins by correlation, groups. */
#ifndef HS_ANALYSIS_HTA_MAP_H
#define HS_ANALYSIS_HTA_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTA_NONE UINT32_MAX

struct hta_slot {
    int64_t key;
    uint32_t value, used;
};
struct hta_map {
    struct hta_slot *slots;
    size_t mask, n;
};

void hta_map_init(struct hta_map *m);
void hta_map_free(struct hta_map *m);
uint32_t hta_map_get(const struct hta_map *m, int64_t key); /* HTA_NONE if it is not there */

/* Where the key's value stands, HTA_NONE at first. Valid until the next call. */
uint32_t *hta_map_at(struct hta_map *m, int64_t key);

/* Two 32-bit numbers as one key. */
static inline int64_t hta_pair(uint32_t a, uint32_t b)
{
    return (int64_t)((uint64_t)a << 32 | b);
}

#endif
