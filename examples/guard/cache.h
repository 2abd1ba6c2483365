/* A cache of users. When it is full, it drops the least recently used one. */
#ifndef GUARD_CACHE_H
#define GUARD_CACHE_H

#include "user.h"

struct cache;

/* For at most `room` users; NULL if there is no memory. */
struct cache *cache_create(unsigned room);
void cache_free(struct cache *cache);

/* 1 if the user is there, and then in *user, else 0. */
int cache_get(struct cache *cache, uint32_t id, struct user *user);

/* Keeps a user that is not there yet. */
void cache_put(struct cache *cache, const struct user *user);

#endif
