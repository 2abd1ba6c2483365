/*
 * A filter before a database: requests for what does not exist end at the filter.
 *
 * A cache keeps what was found. What is not there is not found, so nothing is kept, and the next
 * request for it goes to the database again: requests for made-up ids pass every cache. The filter
 * knows all ids there are, in ten bits each. Whoever inserts a user adds the id; whoever looks for
 * one queries the filter first.
 *
 *     request ──▶ filter ──▶ cache ──▶ database
 *            definitely not    found    the rest
 *
 * Half of the requests here are for ids that do not exist. The others are more often for popular
 * users than for others, and a tenth of the users has room in the cache.
 */
#include "cache.h"
#include "database.h"
#include <perhaps.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { USERS = 100000, REQUESTS = 200000, CACHED = USERS / 10 };

/* Where users are looked for, in this order; there may be no filter and no cache. */
struct application {
    perhaps *filter;
    struct cache *cache;
    struct database *database;
};

static void *must_have(void *memory) {
    if (!memory) abort();
    return memory;
}

static int must(int result) {
    if (result >= 0) return result;
    fprintf(stderr, "guard: %s\n", perhaps_why());
    exit(1);
}

static void insert_user(struct application *application, const struct user *user) {
    must(perhaps_add_u64(application->filter, user->id));
    database_insert(application->database, user);
}

static int find_user(struct application *application, uint32_t id, struct user *user) {
    if (application->filter && !must(perhaps_contains_u64(application->filter, id))) return 0;
    if (application->cache && cache_get(application->cache, id, user)) return 1;
    int found = database_select(application->database, id, user);
    if (found && application->cache) cache_put(application->cache, user);
    return found;
}

/* Ids look random and never repeat. Numbers from USERS on have no user. */
static uint32_t id_of(uint32_t number) {
    return number * UINT32_C(2654435761);
}

static void insert_all(struct application *application) {
    database_begin(application->database);
    for (uint32_t i = 0; i < USERS; i++) {
        struct user user = {.id = id_of(i)};
        snprintf(user.name, sizeof user.name, "user number %u", i);
        insert_user(application, &user);
    }
    database_commit(application->database);
}

/* The same numbers below `limit` on every machine. */
static uint32_t random_below(uint64_t *state, uint32_t limit) {
    *state = *state * UINT64_C(6364136223846793005) + 1;
    return (uint32_t)((*state >> 32) * limit >> 32);
}

/* The id of request i. Products of random shares are mostly small: the first users are popular. */
static uint32_t next_request(uint64_t *state, unsigned i) {
    if (i % 2) return id_of(USERS + random_below(state, UINT32_MAX - USERS));
    return id_of(random_below(state, random_below(state, random_below(state, USERS) + 1) + 1));
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void serve(const char *name, struct application application) {
    unsigned before = database_selects(application.database), found = 0;
    uint64_t state = 1;
    double start = seconds_now();
    for (unsigned i = 0; i < REQUESTS; i++) {
        struct user user;
        found += (unsigned)find_user(&application, next_request(&state, i), &user);
    }
    double time = seconds_now() - start;
    printf("%-18s %6u users found, %6u requests reach the database, %8.1f ms\n", name, found,
           database_selects(application.database) - before, time * 1e3);
}

int main(void) {
    perhaps *filter;
    must(perhaps_create(&filter, &PERHAPS_WANT(.items = USERS, .fpr = 0.01)));
    struct database *database = database_open();
    struct cache *alone = must_have(cache_create(CACHED)), *guarded = must_have(cache_create(CACHED));
    insert_all(&(struct application){filter, NULL, database});

    printf("%d users; %d requests, half of them for users that do not exist\n", USERS, REQUESTS);
    serve("database alone", (struct application){NULL, NULL, database});
    serve("cache", (struct application){NULL, alone, database});
    serve("filter", (struct application){filter, NULL, database});
    serve("filter and cache", (struct application){filter, guarded, database});

    cache_free(alone);
    cache_free(guarded);
    database_close(database);
    perhaps_free(filter);
    return 0;
}
