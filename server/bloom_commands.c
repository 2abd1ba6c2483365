/* BF.*: sets. */
#include "server_commands.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- arguments ---- */

/* Each reads one number, and gives NULL or the error. */
static const char *read_error(RedisModuleString *argument, double *error, const char *bad) {
    if (RedisModule_StringToDouble(argument, error) != REDISMODULE_OK) return bad;
    return *error > 0 && *error < 1 ? NULL : "ERR error rate must be in the range (0.000000, 1.000000)";
}

static const char *read_capacity(RedisModuleString *argument, long long *capacity, const char *bad) {
    if (RedisModule_StringToLongLong(argument, capacity) != REDISMODULE_OK) return bad;
    return *capacity >= 1 && *capacity <= CAPACITY_MOST ? NULL : "ERR capacity must be in the range [1, 1073741824]";
}

static const char *read_expansion(RedisModuleString *argument, long long *expansion, const char *bad) {
    if (RedisModule_StringToLongLong(argument, expansion) != REDISMODULE_OK) return bad;
    return *expansion >= 0 && *expansion <= EXPANSION_MOST ? NULL : "ERR expansion must be in the range [0, 32768]";
}

/* ---- BF.RESERVE ---- */

/* WINDOW generations [PERIOD milliseconds]; *at stands on WINDOW. */
static const char *read_window(RedisModuleString **argv, int argc, int *at, struct wish *wish) {
    if (++*at == argc || RedisModule_StringToLongLong(argv[*at], &wish->generations) != REDISMODULE_OK ||
        wish->generations < 2 || wish->generations > 64)
        return "ERR a window has 2 to 64 generations";
    if (*at + 1 == argc || !is_word(argv[*at + 1], "PERIOD")) return NULL;
    *at += 2;
    if (*at == argc || RedisModule_StringToLongLong(argv[*at], &wish->period) != REDISMODULE_OK || wish->period < 1)
        return "ERR a period is a number of milliseconds";
    return NULL;
}

static const char *read_options(RedisModuleString **argv, int argc, struct wish *wish) {
    bool nonscaling = false, expands = false;
    const char *error = NULL;
    for (int i = 4; !error && i < argc; i++) {
        if (is_word(argv[i], "NONSCALING")) {
            nonscaling = true;
        } else if (is_word(argv[i], "EXPANSION")) {
            expands = true;
            error = ++i == argc ? "ERR no expansion" : read_expansion(argv[i], &wish->expansion, "ERR bad expansion");
        } else if (is_word(argv[i], "WINDOW")) {
            error = read_window(argv, argc, &i, wish);
        } else {
            error = is_word(argv[i], "PERIOD") ? "ERR PERIOD comes after WINDOW generations"
                                               : "ERR Unknown argument received";
        }
    }
    if (!error && nonscaling && expands) error = "Nonscaling filters cannot expand";
    if (!error && wish->generations && (nonscaling || expands))
        error = "ERR a window forgets instead of growing: leave out EXPANSION and NONSCALING";
    wish->fixed = nonscaling;
    return error;
}

int bf_reserve(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct wish wish = bloom_wish();
    if (argc < 4) return RedisModule_WrongArity(ctx);
    const char *error = read_error(argv[2], &wish.error, "ERR bad error rate");
    if (!error) error = read_capacity(argv[3], &wish.capacity, "ERR bad capacity");
    if (!error) error = read_options(argv, argc, &wish);
    if (error) return RedisModule_ReplyWithError(ctx, error);
    return reserve(ctx, argv[1], &wish, BLOOM_FILTER);
}

/* ---- adding ---- */

static const char *error_of(int64_t rc) {
    if (rc == PERHAPS_ESEALED) return "ERR the filter is sealed: static filters take no more items";
    return rc == PERHAPS_EFULL ? "ERR non scaling filter is full" : "ERR problem inserting into filter";
}

/* Adds item by item while there may not be room for all: how many were done. */
static int64_t add_singly(struct held *held, struct batch *batch, size_t *done) {
    for (*done = 0; *done < batch->n; ++*done) {
        const void *item = batch->items[*done];
        bool full = !hold_room(held) && !perhaps_contains(held->filter, item, batch->lengths[*done]);
        int64_t rc = full ? PERHAPS_EFULL : hold_add(held, &item, &batch->lengths[*done], 1, &batch->answers[*done]);
        if (rc < 0) return rc;
    }
    return PERHAPS_OK;
}

static int64_t add_batch(struct held *held, struct batch *batch, size_t *done) {
    if (hold_room(held) < batch->n) return add_singly(held, batch, done);
    int64_t rc = hold_add(held, batch->items, batch->lengths, batch->n, batch->answers);
    *done = rc < 0 ? 0 : batch->n;
    return rc;
}

/* Adds items and replies with an array, which an error ends. */
static void add_items(struct held *held, RedisModuleString **argv, int argc) {
    struct batch batch;
    long replied = 0;
    int64_t rc = PERHAPS_OK;
    if (argc > BATCH) RedisModule_ReplyWithArray(held->ctx, REDISMODULE_POSTPONED_LEN);
    for (int from = 0; rc >= 0 && from < argc; from += BATCH) {
        size_t done;
        batch_fill(&batch, argv + from, argc - from);
        rc = add_batch(held, &batch, &done);
        replied += (long)done + (rc < 0);
        if (argc <= BATCH) RedisModule_ReplyWithArray(held->ctx, replied);
        for (size_t i = 0; i < done; i++) RedisModule_ReplyWithBool(held->ctx, batch.answers[i]);
        if (rc < 0) RedisModule_ReplyWithError(held->ctx, error_of(rc));
    }
    if (argc > BATCH) RedisModule_ReplySetArrayLength(held->ctx, replied);
    if (rc < 0 && held->changed) hold_replicate_items(held, "BF.INSERT", argv, (size_t)replied - 1);
}

int bf_add(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct wish wish = bloom_wish();
    struct held held;
    struct batch batch;
    size_t done;
    if (argc != 3) return RedisModule_WrongArity(ctx);
    if (find_or_make(&held, ctx, argv[1], &wish, BLOOM_FILTER, true)) {
        batch_fill(&batch, argv + 2, 1);
        int64_t rc = add_singly(&held, &batch, &done);
        if (rc < 0)
            RedisModule_ReplyWithError(ctx, error_of(rc));
        else
            RedisModule_ReplyWithBool(ctx, batch.answers[0]);
    }
    let_go(&held, "bf.add");
    return REDISMODULE_OK;
}

int bf_madd(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct wish wish = bloom_wish();
    struct held held;
    if (argc < 3) return RedisModule_WrongArity(ctx);
    if (find_or_make(&held, ctx, argv[1], &wish, BLOOM_FILTER, true)) add_items(&held, argv + 2, argc - 2);
    let_go(&held, "bf.add");
    return REDISMODULE_OK;
}

/* The options of BF.INSERT, up to and with ITEMS: where the items begin. */
static const char *read_insert(RedisModuleString **argv, int argc, struct wish *wish, bool *may_make, int *items) {
    const char *error = NULL;
    bool nonscaling = false;
    for (int i = 2; !error && i < argc; i++) {
        if (is_word(argv[i], "ITEMS")) {
            *items = i + 1;
            break;
        }
        if (is_word(argv[i], "NOCREATE"))
            *may_make = false;
        else if (is_word(argv[i], "NONSCALING"))
            nonscaling = true;
        else if (is_word(argv[i], "CAPACITY") && i + 1 < argc)
            error = read_capacity(argv[++i], &wish->capacity, "Bad capacity");
        else if (is_word(argv[i], "ERROR") && i + 1 < argc)
            error = read_error(argv[++i], &wish->error, "Bad error rate");
        else if (is_word(argv[i], "EXPANSION") && i + 1 < argc)
            error = read_expansion(argv[++i], &wish->expansion, "Bad expansion");
        else
            error = "Unknown argument received";
    }
    wish->fixed = nonscaling;
    return error;
}

int bf_insert(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct wish wish = bloom_wish();
    struct held held;
    bool may_make = true;
    int items = argc;
    if (argc < 4) return RedisModule_WrongArity(ctx);
    const char *error = read_insert(argv, argc, &wish, &may_make, &items);
    if (error) return RedisModule_ReplyWithError(ctx, error);
    if (items == argc) return RedisModule_WrongArity(ctx);
    if (find_or_make(&held, ctx, argv[1], &wish, BLOOM_FILTER, may_make)) add_items(&held, argv + items, argc - items);
    let_go(&held, "bf.add");
    return REDISMODULE_OK;
}

/* ---- asking ---- */

int bf_exists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    return argc == 3 ? reply_exist(ctx, argv, BLOOM_FILTER) : RedisModule_WrongArity(ctx);
}

int bf_mexists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    return argc >= 3 ? reply_exist_many(ctx, argv, argc, BLOOM_FILTER) : RedisModule_WrongArity(ctx);
}

/* ---- looking ---- */

int bf_card(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct held held;
    struct perhaps_info facts = {.size = sizeof facts};
    if (argc != 2) return RedisModule_WrongArity(ctx);
    enum found found = hold(&held, ctx, argv[1], REDISMODULE_READ, BLOOM_FILTER);
    if (found == FOUND) perhaps_facts(held.filter, &facts);
    if (found == FOUND || found == MISSING)
        RedisModule_ReplyWithLongLong(ctx, (long long)facts.items);
    else
        reply_not_held(ctx, found, NULL);
    let_go(&held, NULL);
    return REDISMODULE_OK;
}

static unsigned layers_in(const struct perhaps_info *facts) {
    return facts->children ? facts->children : 1;
}

/* What BF.INFO calls the size: of RedisBloom's layout what that program would say, else the memory that is really spent. */
static long long size_of(const struct held *held, const struct perhaps_info *facts) {
    if (!held->value->foreign) return (long long)value_memory(held->value);
    return 32 + 64 * (long long)layers_in(facts) + (long long)facts->bytes;
}

/* Windows and filters of a fixed size have no expansion rate. */
static void reply_expansion(const struct held *held, const struct perhaps_info *facts) {
    if (!held->value->grows)
        RedisModule_ReplyWithNull(held->ctx);
    else
        RedisModule_ReplyWithLongLong(held->ctx, held->value->told.expansion
                                                     ? held->value->told.expansion
                                                     : (facts->growth >= 1 ? (long long)facts->growth : 2));
}

enum { INFO_CAPACITY, INFO_SIZE, INFO_FILTERS, INFO_ITEMS, INFO_EXPANSION, INFO_FIELDS };
static const struct {
    const char *word, *name;
} info_fields[INFO_FIELDS] = {
    {"CAPACITY", "Capacity"},         {"SIZE", "Size"},
    {"FILTERS", "Number of filters"}, {"ITEMS", "Number of items inserted"},
    {"EXPANSION", "Expansion rate"},
};

static void reply_field(const struct held *held, const struct perhaps_info *facts, int field) {
    if (field == INFO_EXPANSION) {
        reply_expansion(held, facts);
        return;
    }
    long long numbers[] = {[INFO_CAPACITY] = (long long)facts->capacity,
                           [INFO_SIZE] = size_of(held, facts),
                           [INFO_FILTERS] = layers_in(facts),
                           [INFO_ITEMS] = (long long)facts->items};
    RedisModule_ReplyWithLongLong(held->ctx, numbers[field]);
}

/* One field is an array of one in the old protocol, and a map of one in the new. */
static void reply_info(const struct held *held, int field) {
    struct perhaps_info facts = {.size = sizeof facts};
    bool maps = RedisModule_GetContextFlags(held->ctx) & REDISMODULE_CTX_FLAGS_RESP3;
    perhaps_facts(held->filter, &facts);
    if (field < INFO_FIELDS && !maps) {
        RedisModule_ReplyWithArray(held->ctx, 1);
        reply_field(held, &facts, field);
        return;
    }
    RedisModule_ReplyWithMap(held->ctx, field < INFO_FIELDS ? 1 : INFO_FIELDS);
    for (int i = 0; i < INFO_FIELDS; i++) {
        if (field < INFO_FIELDS && i != field) continue;
        RedisModule_ReplyWithSimpleString(held->ctx, info_fields[i].name);
        reply_field(held, &facts, i);
    }
}

int bf_info(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct held held;
    int field = INFO_FIELDS;
    if (argc != 2 && argc != 3) return RedisModule_WrongArity(ctx);
    for (int i = 0; argc == 3 && i < INFO_FIELDS; i++)
        if (is_word(argv[2], info_fields[i].word)) field = i;
    enum found found = hold(&held, ctx, argv[1], REDISMODULE_READ, BLOOM_FILTER);
    if (found != FOUND)
        reply_not_held(ctx, found, "ERR not found");
    else if (argc == 3 && field == INFO_FIELDS)
        RedisModule_ReplyWithError(ctx, "Invalid information value");
    else
        reply_info(&held, field);
    let_go(&held, NULL);
    return REDISMODULE_OK;
}

static void reply_layer(RedisModuleCtx *ctx, const struct perhaps_info *layer) {
    char text[256];
    int length =
        snprintf(text, sizeof text, "bytes:%llu bits:%llu hashes:%u hashwidth:64 capacity:%llu size:%llu ratio:%g",
                 (unsigned long long)layer->bytes, (unsigned long long)layer->bytes * 8, layer->hashes,
                 (unsigned long long)layer->capacity, (unsigned long long)layer->items, layer->fpr_target);
    RedisModule_ReplyWithStringBuffer(ctx, text, (size_t)length);
}

int bf_debug(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct held held;
    struct perhaps_info facts = {.size = sizeof facts}, layer = {.size = sizeof layer};
    char text[64];
    if (argc != 2) return RedisModule_WrongArity(ctx);
    enum found found = hold(&held, ctx, argv[1], REDISMODULE_READ, BLOOM_FILTER);
    if (found != FOUND) {
        reply_not_held(ctx, found, "ERR not found");
    } else {
        perhaps_facts(held.filter, &facts);
        RedisModule_ReplyWithArray(ctx, 1 + (long)layers_in(&facts));
        int length = snprintf(text, sizeof text, "size:%llu", (unsigned long long)facts.items);
        RedisModule_ReplyWithStringBuffer(ctx, text, (size_t)length);
        if (!facts.children) reply_layer(ctx, &facts);
        for (unsigned i = 0; i < facts.children; i++) {
            perhaps_child_facts(held.filter, i, &layer);
            reply_layer(ctx, &layer);
        }
    }
    let_go(&held, NULL);
    return REDISMODULE_OK;
}

/* ---- BF.MERGE ---- */

/* Into a filter of its own, so that a failure changes nothing. NULL: it has replied with an error. */
static perhaps *merged(RedisModuleCtx *ctx, RedisModuleString **names, int count, struct told *told) {
    perhaps *sum = NULL;
    for (int i = 0; i < count; i++) {
        struct held held;
        enum found found = hold(&held, ctx, names[i], REDISMODULE_READ, BLOOM_FILTER);
        perhaps *whole = found == FOUND ? value_whole(held.value) : NULL;
        int rc = PERHAPS_OK;
        if (whole) rc = sum ? perhaps_merge(sum, whole) : perhaps_clone(whole, &sum);
        if (whole && !i) *told = held.value->told;
        if (whole) value_whole_done(held.value, whole);
        let_go(&held, NULL);
        if (whole && rc == PERHAPS_OK) continue;
        perhaps_free(sum);
        if (found != FOUND)
            reply_not_held(ctx, found, "ERR not found");
        else if (rc == PERHAPS_EMISMATCH)
            RedisModule_ReplyWithError(ctx, "ERR filters can be merged that have the same hash key and layout: set "
                                            "perhaps.hash-key before they are made");
        else
            reply_why(ctx);
        return NULL;
    }
    return sum;
}

/* The destination is one of the filters to be merged, if it exists. */
int bf_merge(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct held held;
    struct told told;
    if (argc < 3) return RedisModule_WrongArity(ctx);
    enum found found = hold(&held, ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE, BLOOM_FILTER);
    let_go(&held, NULL);
    if (found != FOUND && found != MISSING) return reply_not_held(ctx, found, NULL);
    bool exists = found == FOUND;
    perhaps *sum = merged(ctx, argv + (exists ? 1 : 2), argc - (exists ? 1 : 2), &told);
    if (!sum) return REDISMODULE_OK;
    hold(&held, ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE, BLOOM_FILTER);
    if (held.filter) value_filter_done(held.value, held.filter, false);
    held.filter = NULL;
    if (hold_quietly(&held, sum, &told)) {
        held.changed = true;
        RedisModule_ReplyWithSimpleString(ctx, "OK");
    } else {
        RedisModule_ReplyWithError(ctx, "ERR Insufficient memory");
    }
    let_go(&held, "bf.merge");
    return REDISMODULE_OK;
}
