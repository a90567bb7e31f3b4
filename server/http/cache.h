/* cache: rendered answers, least recently used out first, under a ceiling of bytes. The key is the answer's ETag, which
 * is a hash of everything the answer depends on; so nothing here is ever stale, and nothing needs to be invalidated.
 * Thread-safe; `lock` protects all. */
#ifndef HS_HTTP_CACHE_H
#define HS_HTTP_CACHE_H

#include "http/reply.h"

struct hs_cache;

struct hs_cache *hs_cache_new(size_t max_bytes); /* 0: keeps nothing */
void hs_cache_free(struct hs_cache *c);

/* References of the caller's own; false if it is not there. *gz may be NULL. */
bool hs_cache_get(struct hs_cache *c, const char *key, struct hs_blob **body, struct hs_blob **gz);
/* Of a key that is there only a compressed form that was missing is taken over. */
void hs_cache_put(struct hs_cache *c, const char *key, struct hs_blob *body, struct hs_blob *gz);
size_t hs_cache_bytes(struct hs_cache *c);

#endif
