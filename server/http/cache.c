#include "http/cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 1024u /* an answer is kilobytes, so there are thousands of them at most */

struct entry {
    struct entry *chain; /* same bucket */
    struct entry *newer, *older;
    size_t bytes;
    struct hs_blob *body, *gz;
    char key[HS_ETAG_SIZE];
};

struct hs_cache {
    pthread_mutex_t lock;
    size_t max, bytes;
    struct entry *newest, *oldest;
    struct entry *buckets[BUCKETS];
};

struct hs_cache *hs_cache_new(size_t max_bytes)
{
    struct hs_cache *c = hs_calloc(1, sizeof *c);
    pthread_mutex_init(&c->lock, NULL);
    c->max = max_bytes;
    return c;
}

static unsigned bucket(const char *key)
{
    unsigned h = 5381;
    for (; *key; key++)
        h = h * 33 + (unsigned char)*key;
    return h % BUCKETS;
}

static struct entry **slot(struct hs_cache *c, const char *key)
{
    struct entry **e = &c->buckets[bucket(key)];
    while (*e && strcmp((*e)->key, key))
        e = &(*e)->chain;
    return e;
}

static void unlink_entry(struct hs_cache *c, struct entry *e)
{
    *(e->newer ? &e->newer->older : &c->newest) = e->older;
    *(e->older ? &e->older->newer : &c->oldest) = e->newer;
}

static void push_newest(struct hs_cache *c, struct entry *e)
{
    e->newer = NULL;
    e->older = c->newest;
    *(c->newest ? &c->newest->newer : &c->oldest) = e;
    c->newest = e;
}

static void drop(struct hs_cache *c, struct entry **at)
{
    struct entry *e = *at;
    if (!e)
        return;
    *at = e->chain;
    unlink_entry(c, e);
    c->bytes -= e->bytes;
    hs_blob_unref(e->body);
    hs_blob_unref(e->gz);
    free(e);
}

void hs_cache_free(struct hs_cache *c)
{
    if (!c)
        return;
    while (c->oldest)
        drop(c, slot(c, c->oldest->key));
    pthread_mutex_destroy(&c->lock);
    free(c);
}

bool hs_cache_get(struct hs_cache *c, const char *key, struct hs_blob **body, struct hs_blob **gz)
{
    pthread_mutex_lock(&c->lock);
    struct entry *e = *slot(c, key);
    if (e) {
        unlink_entry(c, e);
        push_newest(c, e);
        *body = hs_blob_ref(e->body);
        *gz = hs_blob_ref(e->gz);
    }
    pthread_mutex_unlock(&c->lock);
    return e != NULL;
}

void hs_cache_put(struct hs_cache *c, const char *key, struct hs_blob *body, struct hs_blob *gz)
{
    size_t bytes = sizeof(struct entry) + body->n + (gz ? gz->n : 0);
    if (bytes > c->max / 4 || strlen(key) >= HS_ETAG_SIZE) /* one huge answer must not push all others out */
        return;
    pthread_mutex_lock(&c->lock);
    struct entry **at = slot(c, key);
    if (*at && gz && !(*at)->gz) { /* the same answer, now also compressed */
        drop(c, at);
        at = slot(c, key);
    }
    if (!*at) {
        while (c->bytes + bytes > c->max && c->oldest)
            drop(c, slot(c, c->oldest->key));
        struct entry *e = hs_calloc(1, sizeof *e);
        e->bytes = bytes;
        e->body = hs_blob_ref(body);
        e->gz = hs_blob_ref(gz);
        memcpy(e->key, key, strlen(key) + 1);
        e->chain = c->buckets[bucket(key)];
        c->buckets[bucket(key)] = e;
        push_newest(c, e);
        c->bytes += bytes;
    }
    pthread_mutex_unlock(&c->lock);
}

size_t hs_cache_bytes(struct hs_cache *c)
{
    pthread_mutex_lock(&c->lock);
    size_t n = c->bytes;
    pthread_mutex_unlock(&c->lock);
    return n;
}
