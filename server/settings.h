/* Settings of the module: how filters are created. By CONFIG SET perhaps.NAME, in the server's
 * configuration, or as pairs of name and value when the module is loaded. */
#ifndef PERHAPS_SERVER_SETTINGS_H
#define PERHAPS_SERVER_SETTINGS_H

#include "modapi.h"

#include <stdbool.h>

enum { LAYOUT_NATIVE, LAYOUT_REDISBLOOM };

struct settings {
    int layout;
    int huge_pages;                /* wanted for large filters */
    long long filter_memory_limit; /* bytes of the largest filter; 0: no limit */
    double bf_error_rate, cf_error_rate;
    long long bf_initial_size, bf_expansion_factor;
    long long cf_initial_size, cf_bucket_size, cf_max_iterations, cf_expansion_factor, cf_max_expansions;
    bool has_hash_key; /* else every filter gets a random one */
    uint8_t hash_key[16];
    char prefix[33]; /* of all commands: "" or "x." */
};

extern struct settings settings;

/* Limits that commands have too. */
enum {
    MOST_CAPACITY = 1 << 30,
    MOST_EXPANSION = 32768,
    MOST_BUCKET = 255,
    MOST_ITERATIONS = 65535,
    MOST_EXPANSIONS = 65535
};

/* Takes what came with loading, then registers settings with the server. False: a reason is in the
 * server's log. */
bool settings_load(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);

/* A command of this module as it is called on this server: with the prefix, if there is one. Until
 * the next call. */
const char *command_name(const char *name);

#endif
