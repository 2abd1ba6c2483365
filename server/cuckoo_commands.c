/* CF.*: multisets, from which items can be taken out again. */
#include "redisbloom_header.h"
#include "server_commands.h"

#include <perhaps_embed.h>

#include <stdio.h>
#include <string.h>

/* ---- RedisBloom's layout ---- */

/* The header of a filter in RedisBloom's layout is the first thing that is written of it. */
static int take_header(void *header, const void *bytes, size_t length) {
    memcpy(header, bytes, length < CUCKOO_HEAD ? length : CUCKOO_HEAD);
    return 1;
}

/* ---- CF.RESERVE ---- */

/* The options with a number, and where each goes. */
static const struct number_option {
    const char *word;
    long long least, most;
    const char *bad, *out_of_range;
} number_options[] = {
    {"BUCKETSIZE", 1, MOST_BUCKET, "Couldn't parse BUCKETSIZE", "BUCKETSIZE: value must be in the range [1, 255]"},
    {"MAXITERATIONS", 1, MOST_ITERATIONS, "Couldn't parse MAXITERATIONS",
     "MAXITERATIONS: value must be in the range [1, 65535]"},
    {"EXPANSION", 0, MOST_EXPANSION, "Couldn't parse EXPANSION", "EXPANSION: value must be in the range [0, 32768]"},
};

static const char *read_option(const struct number_option *option, RedisModuleString *argument, long long *value) {
    if (!argument || RedisModule_StringToLongLong(argument, value) != REDISMODULE_OK) return option->bad;
    return *value >= option->least && *value <= option->most ? NULL : option->out_of_range;
}

static const char *read_rate(RedisModuleString *argument, struct filter_options *options) {
    if (!argument || RedisModule_StringToDouble(argument, &options->error) != REDISMODULE_OK)
        return "Couldn't parse ERROR";
    if (settings.layout == LAYOUT_REDISBLOOM)
        return "ERR RedisBloom's layout has one error rate only: leave out ERROR, or set perhaps.layout to native";
    return options->error > 0 && options->error < 1 ? NULL : "ERROR: value must be in the range (0, 1)";
}

static const char *read_options(RedisModuleString **argv, int argc, struct filter_options *options) {
    long long *values[] = {&options->bucket, &options->iterations, &options->expansion};
    const char *error = NULL;
    for (int i = 3; !error && i < argc; i += 2) {
        RedisModuleString *argument = i + 1 < argc ? argv[i + 1] : NULL;
        size_t which = 0;
        while (which < 3 && !is_word(argv[i], number_options[which].word)) which++;
        if (which < 3)
            error = read_option(&number_options[which], argument, values[which]);
        else
            error = is_word(argv[i], "ERROR") ? read_rate(argument, options) : "ERR Unknown argument received";
    }
    return error;
}

static const char *check_capacity(const struct filter_options *options, const char *out_of_range) {
    return options->capacity >= 2 * options->bucket && options->capacity <= MOST_CAPACITY ? NULL : out_of_range;
}

int cf_reserve(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct filter_options options = cuckoo_defaults();
    const char *error = NULL;
    if (argc < 3) return RedisModule_WrongArity(ctx);
    if (RedisModule_StringToLongLong(argv[2], &options.capacity) != REDISMODULE_OK) error = "Bad capacity";
    if (!error) error = read_options(argv, argc, &options);
    if (!error) error = check_capacity(&options, "Capacity must be in the range [2 * BUCKETSIZE, 1073741824]");
    if (error) return RedisModule_ReplyWithError(ctx, error);
    return reserve(ctx, argv[1], &options, FAMILY_CUCKOO);
}

/* ---- adding ---- */

/* Why there was no room: RedisBloom's layout has a largest number of parts, and a filter may be
 * made not to grow. */
static const char *error_of(const struct named_filter *named, int64_t rc) {
    uint8_t header[CUCKOO_HEAD] = {0};
    if (rc != PERHAPS_EFULL) return "ERR Insufficient memory";
    if (named->value->foreign) perhaps_write_foreign(named->filter, take_header, header);
    return get_little_endian(header + CUCKOO_EXPANSION_AT, 2) ? "Maximum expansions reached" : "Filter is full";
}

/* As in RedisBloom, a command that finds as many parts as there may be adds nothing. One that finds
 * fewer adds all of its items. */
static bool has_too_many_parts(const struct named_filter *named) {
    return named->parts >= settings.cf_max_expansions && !named_follows(named);
}

/* find_or_create, for adding. */
static bool find_with_room(struct named_filter *named, RedisModuleCtx *ctx, RedisModuleString *name,
                           const struct filter_options *options, enum command_family family, bool may_create) {
    if (!find_or_create(named, ctx, name, options, family, may_create)) return false;
    if (!has_too_many_parts(named)) return true;
    count_refusal();
    RedisModule_ReplyWithError(ctx, "Maximum expansions reached");
    return false;
}

static int reply_refused(const struct named_filter *named, int64_t rc) {
    count_refusal();
    return named->refused ? reply_too_large(named->ctx, named->refused)
                          : RedisModule_ReplyWithError(named->ctx, error_of(named, rc));
}

static int add_one(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, bool absent) {
    struct filter_options options = cuckoo_defaults();
    struct named_filter named;
    struct command_batch batch;
    if (argc != 3) return RedisModule_WrongArity(ctx);
    if (find_with_room(&named, ctx, argv[1], &options, FAMILY_CUCKOO, true)) {
        batch_fill(&batch, argv + 2, 1);
        int64_t rc = absent ? named_add_absent(&named, batch.items[0], batch.lengths[0])
                            : named_add(&named, batch.items, batch.lengths, 1, batch.answers);
        if (rc < 0)
            reply_refused(&named, rc);
        else
            RedisModule_ReplyWithBool(ctx, (int)rc);
    }
    named_close(&named, "cf.add");
    return REDISMODULE_OK;
}

int cf_add(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    return add_one(ctx, argv, argc, false);
}

int cf_addnx(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    return add_one(ctx, argv, argc, true);
}

static const char *read_insert_option(RedisModuleString **argv, int argc, int *at, struct filter_options *options) {
    if (!is_word(argv[*at], "CAPACITY") || *at + 1 == argc) return "Unknown argument received";
    if (RedisModule_StringToLongLong(argv[++*at], &options->capacity) != REDISMODULE_OK) return "Bad capacity";
    return check_capacity(options, "Capacity must be in the range [cf-bucket-size * 2, 1073741824]");
}

/* Adds a batch and replies, or gives an error: then nothing of it is in. RedisBloom's layout counts
 * removals, so a batch that fails there and is taken back would show. */
static int64_t insert_whole(struct named_filter *named, struct command_batch *batch) {
    if (named->value->foreign) return PERHAPS_ECANNOT;
    int64_t rc = named_add(named, batch->items, batch->lengths, batch->n, batch->answers);
    for (size_t i = 0; rc >= 0 && i < batch->n; i++) RedisModule_ReplyWithBool(named->ctx, batch->answers[i]);
    return rc;
}

/* Item by item: one that finds no room is -1, and the others go on. `added` gets those that were
 * added, up to *count. */
static void insert_singly(struct named_filter *named, struct command_batch *batch, bool absent,
                          RedisModuleString **argv, RedisModuleString **added, size_t *count) {
    *count = 0;
    memset(batch->answers, 0, batch->n);
    /* Those that are there already stay there, and a batch of queries takes less time. */
    if (absent)
        perhaps_contains_many(named->filter, &PERHAPS_KEYS_BYTES(batch->items, batch->lengths, batch->n),
                              batch->answers);
    for (size_t i = 0; i < batch->n; i++) {
        int64_t rc = absent && batch->answers[i] ? 0
                     : absent                    ? named_add_absent(named, batch->items[i], batch->lengths[i])
                              : named_add(named, &batch->items[i], &batch->lengths[i], 1, &batch->answers[i]);
        if (rc > 0) added[(*count)++] = argv[i];
        if (rc < 0) count_refusal();
        if (absent || rc < 0)
            RedisModule_ReplyWithLongLong(named->ctx, rc < 0 ? -1 : rc);
        else
            RedisModule_ReplyWithBool(named->ctx, (int)rc);
    }
}

/* Replicas get what was added, batch by batch: they must not find room where there was none here.
 * The command as it came is as good, if it is one batch and all of it was added. What a full filter
 * refused goes out as it came: taking a batch back moves items, so it must happen there, too. */
static void insert_items(struct named_filter *named, RedisModuleString **argv, int argc, bool absent) {
    struct command_batch batch;
    RedisModuleString *added[BATCH_ITEMS];
    RedisModule_ReplyWithArray(named->ctx, argc);
    for (int from = 0; from < argc; from += BATCH_ITEMS) {
        size_t count;
        batch_fill(&batch, argv + from, argc - from);
        int64_t rc = absent ? PERHAPS_ECANNOT : insert_whole(named, &batch);
        if (rc >= 0 && argc <= BATCH_ITEMS) return;
        if (rc < 0) insert_singly(named, &batch, absent, argv + from, added, &count);
        if (rc >= 0 || rc == PERHAPS_EFULL)
            named_replicate_items(named, "CF.INSERT", argv + from, batch.n);
        else if (absent || count < (size_t)argc)
            named_replicate_items(named, "CF.INSERT", added, count);
    }
}

static void insert_all(struct named_filter *named, RedisModuleString **argv, int argc) {
    insert_items(named, argv, argc, false);
}

static void insert_absent(struct named_filter *named, RedisModuleString **argv, int argc) {
    insert_items(named, argv, argc, true);
}

int cf_insert(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    static const struct insert_calls calls = {FAMILY_CUCKOO,  cuckoo_defaults, read_insert_option,
                                              find_with_room, insert_all,      "cf.add"};
    return insert(ctx, argv, argc, &calls);
}

int cf_insertnx(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    static const struct insert_calls calls = {FAMILY_CUCKOO,  cuckoo_defaults, read_insert_option,
                                              find_with_room, insert_absent,   "cf.add"};
    return insert(ctx, argv, argc, &calls);
}

/* ---- queries ---- */

int cf_exists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    return argc == 3 ? reply_exist(ctx, argv, FAMILY_CUCKOO) : RedisModule_WrongArity(ctx);
}

int cf_mexists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    return argc >= 3 ? reply_exist_many(ctx, argv, argc, FAMILY_CUCKOO) : RedisModule_WrongArity(ctx);
}

int cf_count(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct named_filter named;
    size_t length;
    if (argc != 3) return RedisModule_WrongArity(ctx);
    enum lookup found = named_open(&named, ctx, argv[1], REDISMODULE_READ, FAMILY_CUCKOO);
    const char *item = RedisModule_StringPtrLen(argv[2], &length);
    if (found == LOOKUP_LOADING || found == LOOKUP_NO_MEMORY)
        reply_no_filter(ctx, found, NULL);
    else
        RedisModule_ReplyWithLongLong(ctx, found == LOOKUP_FOUND ? perhaps_count(named.filter, item, length) : 0);
    named_close(&named, NULL);
    return REDISMODULE_OK;
}

/* ---- removing ---- */

int cf_del(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct named_filter named;
    size_t length;
    if (argc != 3) return RedisModule_WrongArity(ctx);
    enum lookup found = named_open(&named, ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE, FAMILY_CUCKOO);
    const char *item = RedisModule_StringPtrLen(argv[2], &length);
    if (found == LOOKUP_FOUND) {
        int removed = perhaps_remove(named.filter, item, length);
        named.changed = removed > 0;
        if (removed > 0) count_change((struct totals){.items = -1});
        if (removed > 0 && !named.value->foreign) named.value->reported.deleted++;
        RedisModule_ReplyWithBool(ctx, removed > 0);
    } else {
        reply_no_filter(ctx, found == LOOKUP_WRONG_TYPE ? LOOKUP_MISSING : found, "Not found");
    }
    named_close(&named, "cf.del");
    return REDISMODULE_OK;
}

/* ---- CF.INFO and CF.DEBUG ---- */

/* What CF.INFO tells, in its order. */
enum { SIZE, BUCKETS, FILTERS, ITEMS, DELETED, BUCKET_SIZE, EXPANSION, ITERATIONS, FIELDS };

static void foreign_fields(const struct named_filter *named, long long fields[FIELDS]) {
    uint8_t header[CUCKOO_HEAD] = {0};
    perhaps_write_foreign(named->filter, take_header, header);
    fields[ITEMS] = (long long)get_little_endian(header + CUCKOO_ITEMS_AT, 8);
    fields[BUCKETS] = (long long)get_little_endian(header + CUCKOO_BUCKETS_AT, 8);
    fields[DELETED] = (long long)get_little_endian(header + CUCKOO_DELETIONS_AT, 8);
    fields[FILTERS] = (long long)get_little_endian(header + CUCKOO_FILTERS_AT, 8);
    fields[BUCKET_SIZE] = (long long)get_little_endian(header + CUCKOO_BUCKET_SIZE_AT, 2);
    fields[ITERATIONS] = (long long)get_little_endian(header + CUCKOO_ITERATIONS_AT, 2);
    fields[EXPANSION] = (long long)get_little_endian(header + CUCKOO_EXPANSION_AT, 2);
}

static void native_fields(const struct named_filter *named, long long fields[FIELDS]) {
    const struct reported *reported = &named->value->reported;
    struct perhaps_info facts = {.size = sizeof facts};
    perhaps_facts(named->filter, &facts);
    fields[BUCKET_SIZE] = reported->bucket ? reported->bucket : 2;
    fields[ITERATIONS] = reported->iterations ? reported->iterations : 20;
    fields[EXPANSION] = reported->expansion;
    fields[ITEMS] = (long long)facts.items;
    fields[DELETED] = (long long)reported->deleted;
    fields[FILTERS] = facts.children ? facts.children : 1;
    fields[BUCKETS] = ((long long)facts.capacity + fields[BUCKET_SIZE] - 1) / fields[BUCKET_SIZE];
}

static void info_fields(const struct named_filter *named, long long fields[FIELDS]) {
    if (named->value->foreign)
        foreign_fields(named, fields);
    else
        native_fields(named, fields);
    fields[SIZE] = (long long)value_memory(named->value);
}

static void reply_info(const struct named_filter *named) {
    static const char *const names[FIELDS] = {
        "Size",        "Number of buckets", "Number of filters", "Number of items inserted", "Number of items deleted",
        "Bucket size", "Expansion rate",    "Max iterations"};
    long long fields[FIELDS];
    info_fields(named, fields);
    RedisModule_ReplyWithMap(named->ctx, FIELDS);
    for (int i = 0; i < FIELDS; i++) {
        RedisModule_ReplyWithSimpleString(named->ctx, names[i]);
        RedisModule_ReplyWithLongLong(named->ctx, fields[i]);
    }
}

int cf_info(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    return argc == 2 ? reply_about(ctx, argv[1], FAMILY_CUCKOO, reply_info) : RedisModule_WrongArity(ctx);
}

static void reply_debug(const struct named_filter *named) {
    long long fields[FIELDS];
    char text[256];
    info_fields(named, fields);
    int length = snprintf(text, sizeof text,
                          "bktsize:%lld buckets:%lld items:%lld deletes:%lld filters:%lld max_iterations:%lld "
                          "expansion:%lld",
                          fields[BUCKET_SIZE], fields[BUCKETS], fields[ITEMS], fields[DELETED], fields[FILTERS],
                          fields[ITERATIONS], fields[EXPANSION]);
    RedisModule_ReplyWithStringBuffer(named->ctx, text, (size_t)length);
}

int cf_debug(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    return argc == 2 ? reply_about(ctx, argv[1], FAMILY_CUCKOO, reply_debug) : RedisModule_WrongArity(ctx);
}

/* Native filters have nothing to compact. */
int cf_compact(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct named_filter named;
    if (argc != 2) return RedisModule_WrongArity(ctx);
    enum lookup found = named_open(&named, ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE, FAMILY_CUCKOO);
    if (found == LOOKUP_FOUND) {
        named.changed = named.value->foreign;
        perhaps_compact(named.filter);
        RedisModule_ReplyWithSimpleString(ctx, "OK");
    } else {
        reply_no_filter(ctx, found == LOOKUP_WRONG_TYPE ? LOOKUP_MISSING : found, "Cuckoo filter was not found");
    }
    named_close(&named, "cf.compact");
    return REDISMODULE_OK;
}
