/* BF.*: sets. */
#include "server_commands.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- arguments ---- */

/* Each reads one number, and gives NULL or the error. */
static const char *read_error(RedisModuleString *argument, double *error, const char *bad) {
    if (RedisModule_StringToDouble(argument, error) != REDISMODULE_OK) return bad;
    return *error > 0 && *error < 1 ? NULL : "ERR error rate must be in the range (0.000000, 1.000000)";
}

static const char *read_capacity(RedisModuleString *argument, long long *capacity, const char *bad) {
    if (RedisModule_StringToLongLong(argument, capacity) != REDISMODULE_OK) return bad;
    return *capacity >= 1 && *capacity <= MOST_CAPACITY ? NULL : "ERR capacity must be in the range [1, 1073741824]";
}

static const char *read_expansion(RedisModuleString *argument, long long *expansion, const char *bad) {
    if (RedisModule_StringToLongLong(argument, expansion) != REDISMODULE_OK) return bad;
    return *expansion >= 0 && *expansion <= MOST_EXPANSION ? NULL : "ERR expansion must be in the range [0, 32768]";
}

/* ---- BF.RESERVE ---- */

/* WINDOW generations [PERIOD milliseconds]; *at stands on WINDOW. */
static const char *read_window(RedisModuleString **argv, int argc, int *at, struct filter_options *options) {
    if (++*at == argc || RedisModule_StringToLongLong(argv[*at], &options->generations) != REDISMODULE_OK ||
        options->generations < 2 || options->generations > 64)
        return "ERR a window has 2 to 64 generations";
    if (*at + 1 == argc || !is_word(argv[*at + 1], "PERIOD")) return NULL;
    *at += 2;
    if (*at == argc || RedisModule_StringToLongLong(argv[*at], &options->period) != REDISMODULE_OK ||
        options->period < 1)
        return "ERR a period is a number of milliseconds";
    return NULL;
}

static const char *read_options(RedisModuleString **argv, int argc, struct filter_options *options) {
    bool nonscaling = false, expands = false;
    const char *error = NULL;
    for (int i = 4; !error && i < argc; i++) {
        if (is_word(argv[i], "NONSCALING")) {
            nonscaling = true;
        } else if (is_word(argv[i], "EXPANSION")) {
            expands = true;
            error =
                ++i == argc ? "ERR no expansion" : read_expansion(argv[i], &options->expansion, "ERR bad expansion");
        } else if (is_word(argv[i], "WINDOW")) {
            error = read_window(argv, argc, &i, options);
        } else {
            error = is_word(argv[i], "PERIOD") ? "ERR PERIOD comes after WINDOW generations"
                                               : "ERR Unknown argument received";
        }
    }
    if (!error && nonscaling && expands) error = "Nonscaling filters cannot expand";
    if (!error && options->generations && (nonscaling || expands))
        error = "ERR a window forgets instead of growing: leave out EXPANSION and NONSCALING";
    options->fixed = nonscaling;
    return error;
}

int bf_reserve(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct filter_options options = bloom_defaults();
    if (argc < 4) return RedisModule_WrongArity(ctx);
    const char *error = read_error(argv[2], &options.error, "ERR bad error rate");
    if (!error) error = read_capacity(argv[3], &options.capacity, "ERR bad capacity");
    if (!error) error = read_options(argv, argc, &options);
    if (error) return RedisModule_ReplyWithError(ctx, error);
    return reserve(ctx, argv[1], &options, FAMILY_BLOOM);
}

/* ---- adding ---- */

static int reply_refused(const struct named_filter *named, int64_t rc) {
    count_refusal();
    if (named->refused) return reply_too_large(named->ctx, named->refused);
    return RedisModule_ReplyWithError(named->ctx, rc == PERHAPS_ESEALED
                                                      ? "ERR the filter is sealed: static filters take no more items"
                                                  : rc == PERHAPS_EFULL ? "ERR non scaling filter is full"
                                                                        : "ERR problem inserting into filter");
}

/* Adds item by item, where there may not be room for all, or no memory for more room; *done: how
 * many it took. An item that is there already is no error in a full filter. */
static int64_t add_singly(struct named_filter *named, struct command_batch *batch, size_t *done) {
    for (*done = 0; *done < batch->n; ++*done) {
        const void *item = batch->items[*done];
        bool full = !named_room(named) && !perhaps_contains(named->filter, item, batch->lengths[*done]);
        int64_t rc = full ? PERHAPS_EFULL : named_add(named, &item, &batch->lengths[*done], 1, &batch->answers[*done]);
        if (rc < 0) return rc;
    }
    return PERHAPS_OK;
}

static int64_t add_batch(struct named_filter *named, struct command_batch *batch, size_t *done) {
    if (named_room(named) < batch->n) return add_singly(named, batch, done);
    int64_t rc = named_add(named, batch->items, batch->lengths, batch->n, batch->answers);
    if (rc < 0 && named->refused) return add_singly(named, batch, done);
    *done = rc < 0 ? 0 : batch->n;
    return rc;
}

/* Adds items and replies with an array, which an error ends. Then replicas get the items before the
 * error: they must not find room for more. */
static void add_items(struct named_filter *named, RedisModuleString **argv, int argc) {
    struct command_batch batch;
    long replied = 0;
    int64_t rc = PERHAPS_OK;
    if (argc > BATCH_ITEMS) RedisModule_ReplyWithArray(named->ctx, REDISMODULE_POSTPONED_LEN);
    for (int from = 0; rc >= 0 && from < argc; from += BATCH_ITEMS) {
        size_t done;
        batch_fill(&batch, argv + from, argc - from);
        rc = add_batch(named, &batch, &done);
        replied += (long)done + (rc < 0);
        if (argc <= BATCH_ITEMS) RedisModule_ReplyWithArray(named->ctx, replied);
        for (size_t i = 0; i < done; i++) RedisModule_ReplyWithBool(named->ctx, batch.answers[i]);
        if (rc < 0) reply_refused(named, rc);
    }
    if (argc > BATCH_ITEMS) RedisModule_ReplySetArrayLength(named->ctx, replied);
    if (rc < 0 && named->changed) named_replicate_items(named, "BF.INSERT", argv, (size_t)replied - 1);
}

int bf_add(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct filter_options options = bloom_defaults();
    struct named_filter named;
    struct command_batch batch;
    size_t done;
    if (argc != 3) return RedisModule_WrongArity(ctx);
    if (find_or_create(&named, ctx, argv[1], &options, FAMILY_BLOOM, true)) {
        batch_fill(&batch, argv + 2, 1);
        int64_t rc = add_singly(&named, &batch, &done);
        if (rc < 0)
            reply_refused(&named, rc);
        else
            RedisModule_ReplyWithBool(ctx, batch.answers[0]);
    }
    named_close(&named, "bf.add");
    return REDISMODULE_OK;
}

int bf_madd(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct filter_options options = bloom_defaults();
    struct named_filter named;
    if (argc < 3) return RedisModule_WrongArity(ctx);
    if (find_or_create(&named, ctx, argv[1], &options, FAMILY_BLOOM, true)) add_items(&named, argv + 2, argc - 2);
    named_close(&named, "bf.add");
    return REDISMODULE_OK;
}

static const char *read_insert_option(RedisModuleString **argv, int argc, int *at, struct filter_options *options) {
    const char *word_error = "Unknown argument received";
    if (is_word(argv[*at], "NONSCALING")) {
        options->fixed = true;
        return NULL;
    }
    if (*at + 1 == argc) return word_error;
    RedisModuleString *word = argv[*at], *argument = argv[++*at];
    if (is_word(word, "CAPACITY")) return read_capacity(argument, &options->capacity, "Bad capacity");
    if (is_word(word, "ERROR")) return read_error(argument, &options->error, "Bad error rate");
    if (is_word(word, "EXPANSION")) return read_expansion(argument, &options->expansion, "Bad expansion");
    return word_error;
}

int bf_insert(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    static const struct insert_calls calls = {FAMILY_BLOOM,   bloom_defaults, read_insert_option,
                                              find_or_create, add_items,      "bf.add"};
    return insert(ctx, argv, argc, &calls);
}

/* ---- queries ---- */

int bf_exists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    return argc == 3 ? reply_exist(ctx, argv, FAMILY_BLOOM) : RedisModule_WrongArity(ctx);
}

int bf_mexists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    return argc >= 3 ? reply_exist_many(ctx, argv, argc, FAMILY_BLOOM) : RedisModule_WrongArity(ctx);
}

/* ---- BF.CARD, BF.INFO and BF.DEBUG ---- */

int bf_card(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct named_filter named;
    struct perhaps_info facts = {.size = sizeof facts};
    if (argc != 2) return RedisModule_WrongArity(ctx);
    enum lookup found = named_open(&named, ctx, argv[1], REDISMODULE_READ, FAMILY_BLOOM);
    if (found == LOOKUP_FOUND) named_facts(&named, &facts);
    if (found == LOOKUP_FOUND || found == LOOKUP_MISSING)
        RedisModule_ReplyWithLongLong(ctx, (long long)facts.items);
    else
        reply_no_filter(ctx, found, NULL);
    named_close(&named, NULL);
    return REDISMODULE_OK;
}

static unsigned layers_in(const struct perhaps_info *facts) {
    return facts->children ? facts->children : 1;
}

/* Windows and filters of a fixed size have no expansion rate. */
static void reply_expansion(const struct named_filter *named, const struct perhaps_info *facts) {
    if (!named->value->grows)
        RedisModule_ReplyWithNull(named->ctx);
    else
        RedisModule_ReplyWithLongLong(named->ctx, named->value->reported.expansion
                                                      ? named->value->reported.expansion
                                                      : (facts->growth != 0 ? llabs((long long)facts->growth) : 2));
}

enum { INFO_CAPACITY, INFO_SIZE, INFO_FILTERS, INFO_ITEMS, INFO_EXPANSION, INFO_FIELDS };
static const struct {
    const char *word, *name;
} info_fields[INFO_FIELDS] = {
    {"CAPACITY", "Capacity"},         {"SIZE", "Size"},
    {"FILTERS", "Number of filters"}, {"ITEMS", "Number of items inserted"},
    {"EXPANSION", "Expansion rate"},
};

static void reply_field(const struct named_filter *named, const struct perhaps_info *facts, int field) {
    if (field == INFO_EXPANSION) {
        reply_expansion(named, facts);
        return;
    }
    long long numbers[] = {[INFO_CAPACITY] = (long long)facts->capacity,
                           [INFO_SIZE] = (long long)value_memory(named->value),
                           [INFO_FILTERS] = layers_in(facts),
                           [INFO_ITEMS] = (long long)facts->items};
    RedisModule_ReplyWithLongLong(named->ctx, numbers[field]);
}

/* One field is an array of one in the old protocol, and a map of one in the new. */
static void reply_info(const struct named_filter *named, int field) {
    struct perhaps_info facts = {.size = sizeof facts};
    bool maps = RedisModule_GetContextFlags(named->ctx) & REDISMODULE_CTX_FLAGS_RESP3;
    named_facts(named, &facts);
    if (field < INFO_FIELDS && !maps) {
        RedisModule_ReplyWithArray(named->ctx, 1);
        reply_field(named, &facts, field);
        return;
    }
    RedisModule_ReplyWithMap(named->ctx, field < INFO_FIELDS ? 1 : INFO_FIELDS);
    for (int i = 0; i < INFO_FIELDS; i++) {
        if (field < INFO_FIELDS && i != field) continue;
        RedisModule_ReplyWithSimpleString(named->ctx, info_fields[i].name);
        reply_field(named, &facts, i);
    }
}

int bf_info(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct named_filter named;
    int field = INFO_FIELDS;
    if (argc != 2 && argc != 3) return RedisModule_WrongArity(ctx);
    for (int i = 0; argc == 3 && i < INFO_FIELDS; i++)
        if (is_word(argv[2], info_fields[i].word)) field = i;
    enum lookup found = named_open(&named, ctx, argv[1], REDISMODULE_READ, FAMILY_BLOOM);
    if (found != LOOKUP_FOUND)
        reply_no_filter(ctx, found, "ERR not found");
    else if (argc == 3 && field == INFO_FIELDS)
        RedisModule_ReplyWithError(ctx, "Invalid information value");
    else
        reply_info(&named, field);
    named_close(&named, NULL);
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

static void reply_debug(const struct named_filter *named) {
    struct perhaps_info facts = {.size = sizeof facts}, layer = {.size = sizeof layer};
    char text[64];
    perhaps_facts(named->filter, &facts);
    RedisModule_ReplyWithArray(named->ctx, 1 + (long)layers_in(&facts));
    int length = snprintf(text, sizeof text, "size:%llu", (unsigned long long)facts.items);
    RedisModule_ReplyWithStringBuffer(named->ctx, text, (size_t)length);
    if (!facts.children) reply_layer(named->ctx, &facts);
    for (unsigned i = 0; i < facts.children; i++) {
        perhaps_child_facts(named->filter, i, &layer);
        reply_layer(named->ctx, &layer);
    }
}

int bf_debug(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    return argc == 2 ? reply_about(ctx, argv[1], FAMILY_BLOOM, reply_debug) : RedisModule_WrongArity(ctx);
}

/* ---- BF.MERGE ---- */

/* Into a filter of its own, so that a failure changes nothing. NULL: it has replied with an
 * error. */
static perhaps *merged(RedisModuleCtx *ctx, RedisModuleString **names, int count, struct reported *reported) {
    perhaps *sum = NULL;
    for (int i = 0; i < count; i++) {
        struct named_filter named;
        enum lookup found = named_open(&named, ctx, names[i], REDISMODULE_READ, FAMILY_BLOOM);
        perhaps *whole = found == LOOKUP_FOUND ? value_whole(named.value) : NULL;
        int rc = PERHAPS_OK;
        if (whole) rc = sum ? perhaps_merge(sum, whole) : perhaps_clone(whole, &sum);
        if (whole && !i) *reported = named.value->reported;
        if (whole) value_whole_done(named.value, whole);
        named_close(&named, NULL);
        if (whole && rc == PERHAPS_OK) continue;
        perhaps_free(sum);
        if (found != LOOKUP_FOUND)
            reply_no_filter(ctx, found, "ERR not found");
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
    struct named_filter named;
    struct reported reported;
    struct perhaps_info facts = {.size = sizeof facts};
    if (argc < 3) return RedisModule_WrongArity(ctx);
    enum lookup found = named_open(&named, ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE, FAMILY_BLOOM);
    named_close(&named, NULL);
    if (found != LOOKUP_FOUND && found != LOOKUP_MISSING) return reply_no_filter(ctx, found, NULL);
    bool exists = found == LOOKUP_FOUND;
    perhaps *sum = merged(ctx, argv + (exists ? 1 : 2), argc - (exists ? 1 : 2), &reported);
    if (!sum) return REDISMODULE_OK;
    named_open(&named, ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE, FAMILY_BLOOM);
    if (named.filter) value_filter_done(named.value, named.filter);
    named.filter = NULL;
    perhaps_facts(sum, &facts);
    if (named_is_too_large(&named, facts.bytes)) {
        count_refusal();
        reply_too_large(ctx, facts.bytes);
        perhaps_free(sum);
    } else if (named_set_filter(&named, sum, &reported)) {
        named.changed = true;
        RedisModule_ReplyWithSimpleString(ctx, "OK");
    } else {
        RedisModule_ReplyWithError(ctx, "ERR Insufficient memory");
    }
    named_close(&named, "bf.merge");
    return REDISMODULE_OK;
}
