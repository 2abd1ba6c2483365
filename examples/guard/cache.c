/*
 * Entries stand in one array. Each is in two lists: that of its bucket, by which it is found, and
 * that of all entries from the most to the least recently used. Entry 0 is the head of the latter.
 *
 *     head ⇄ newest ⇄ ... ⇄ oldest ⇄ head
 */
#include "cache.h"
#include <stdlib.h>

struct cache_entry {
    struct user user;
    unsigned newer, older; /* neighbours by time */
    unsigned next;         /* in the same bucket; 0 at its end */
};

struct cache {
    struct cache_entry *entries; /* room + 1 */
    unsigned *buckets;           /* the first entry of each; 0 if there is none */
    unsigned room, used;
};

struct cache *cache_create(unsigned room) {
    struct cache *cache = calloc(1, sizeof *cache);
    if (!cache) return NULL;
    cache->room = room;
    cache->entries = calloc((size_t)room + 1, sizeof *cache->entries);
    cache->buckets = calloc(room, sizeof *cache->buckets);
    if (cache->entries && cache->buckets) return cache;
    cache_free(cache);
    return NULL;
}

void cache_free(struct cache *cache) {
    if (!cache) return;
    free(cache->entries);
    free(cache->buckets);
    free(cache);
}

static unsigned *bucket_of(const struct cache *cache, uint32_t id) {
    return &cache->buckets[(uint64_t)(id * UINT32_C(2654435769)) * cache->room >> 32];
}

static void unlink_entry(struct cache_entry *entries, unsigned i) {
    entries[entries[i].newer].older = entries[i].older;
    entries[entries[i].older].newer = entries[i].newer;
}

static void link_newest(struct cache_entry *entries, unsigned i) {
    entries[i].newer = 0;
    entries[i].older = entries[0].older;
    entries[entries[0].older].newer = i;
    entries[0].older = i;
}

int cache_get(struct cache *cache, uint32_t id, struct user *user) {
    unsigned i = *bucket_of(cache, id);
    while (i && cache->entries[i].user.id != id) i = cache->entries[i].next;
    if (!i) return 0;
    unlink_entry(cache->entries, i);
    link_newest(cache->entries, i);
    *user = cache->entries[i].user;
    return 1;
}

/* Takes the oldest entry out of both lists. */
static unsigned evict(struct cache *cache) {
    unsigned oldest = cache->entries[0].newer;
    unsigned *link = bucket_of(cache, cache->entries[oldest].user.id);
    while (*link != oldest) link = &cache->entries[*link].next;
    *link = cache->entries[oldest].next;
    unlink_entry(cache->entries, oldest);
    return oldest;
}

void cache_put(struct cache *cache, const struct user *user) {
    unsigned i = cache->used < cache->room ? ++cache->used : evict(cache);
    unsigned *bucket = bucket_of(cache, user->id);
    cache->entries[i].user = *user;
    cache->entries[i].next = *bucket;
    *bucket = i;
    link_newest(cache->entries, i);
}
