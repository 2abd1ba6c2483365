/* The commands, and what they have in common. */
#ifndef PERHAPS_SERVER_COMMANDS_H
#define PERHAPS_SERVER_COMMANDS_H

#include "named_filter.h"
#include "settings.h"

/* Registers all. False: a reason is in the server's log. */
bool commands_register(RedisModuleCtx *ctx);

/* ---- creating filters ---- */

/* What a client wants of a new filter: the arguments of RESERVE and INSERT, or the settings. */
struct filter_options {
    double error;
    long long capacity;
    long long expansion;
    bool fixed; /* NONSCALING; an expansion of 0 means the same */
    long long bucket, iterations;
    long long generations, period; /* of a window */
};

struct filter_options bloom_defaults(void);
struct filter_options cuckoo_defaults(void);

/* Creates an empty filter under a name that has none, and replies. */
int reserve(RedisModuleCtx *ctx, RedisModuleString *name, const struct filter_options *options,
            enum command_family family);

/* Finds the filter to add to, or creates it. False: it has replied with an error. Either way
 * named_close follows. */
bool find_or_create(struct named_filter *named, RedisModuleCtx *ctx, RedisModuleString *name,
                    const struct filter_options *options, enum command_family family, bool may_create);

/* What differs between the INSERT commands. */
struct insert_calls {
    enum command_family family;
    struct filter_options (*defaults)(void);
    /* Reads the option at argv[*at] and moves to its argument; NULL or the error. */
    const char *(*read_option)(RedisModuleString **argv, int argc, int *at, struct filter_options *options);
    /* find_or_create, or a function that refuses more. */
    bool (*find)(struct named_filter *named, RedisModuleCtx *ctx, RedisModuleString *name,
                 const struct filter_options *options, enum command_family family, bool may_create);
    /* Adds the items and replies with an array. */
    void (*add)(struct named_filter *named, RedisModuleString **argv, int argc);
    const char *event;
};

int insert(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, const struct insert_calls *calls);

/* ---- arguments ---- */

/* Whether an argument is this word, in any case. */
bool is_word(RedisModuleString *argument, const char *word);

/* Reads the first `count` of the four numbers of struct reported; false if one is no such
 * number. */
bool read_reported(RedisModuleString **argv, int count, struct reported *reported);

/* ---- batches and queries ---- */

/* Items go through the library in batches. */
enum { BATCH_ITEMS = 1024 };
struct command_batch {
    const void *items[BATCH_ITEMS];
    size_t lengths[BATCH_ITEMS];
    uint8_t answers[BATCH_ITEMS];
    size_t n;
};

/* The next items, as many as there is room for. */
void batch_fill(struct command_batch *batch, RedisModuleString **argv, int argc);

/* Is the item argv[2] in the filter argv[1]? And an array of answers, for all items from argv[2]
 * on. */
int reply_exist(RedisModuleCtx *ctx, RedisModuleString **argv, enum command_family family);
int reply_exist_many(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, enum command_family family);

/* Opens a filter for reading and calls `reply`, or replies that there is none. */
int reply_about(RedisModuleCtx *ctx, RedisModuleString *name, enum command_family family,
                void (*reply)(const struct named_filter *named));

/* ---- errors ---- */

/* The error for a command that needs a filter and has none; `missing` is the one for a key that
 * does not exist. */
int reply_no_filter(RedisModuleCtx *ctx, enum lookup found, const char *missing);

/* The error for a filter that would have had these bytes, beyond filter-memory-limit. */
int reply_too_large(RedisModuleCtx *ctx, uint64_t bytes);

/* The reason of the library's last error. */
int reply_why(RedisModuleCtx *ctx);
int reply_reason(RedisModuleCtx *ctx, const char *reason);

/* ---- the commands ---- */

int bf_reserve(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int bf_add(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int bf_madd(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int bf_insert(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int bf_exists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int bf_mexists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int bf_card(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int bf_info(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int bf_debug(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int bf_merge(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int bf_scandump(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int bf_loadchunk(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);

int cf_reserve(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int cf_add(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int cf_addnx(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int cf_insert(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int cf_insertnx(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int cf_exists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int cf_mexists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int cf_count(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int cf_del(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int cf_compact(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int cf_info(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int cf_debug(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int cf_scandump(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int cf_loadchunk(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);

int info_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int dump_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int load_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int create_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int reshape_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int advance_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);

#endif
