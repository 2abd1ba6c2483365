#include "create.h"
#include "../report.h"

#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------------------------- what stands there --- */

static int take_unlinked(void *context, const struct request *request, const redisReply *reply) {
    (void)request;
    return reply->type == REDIS_REPLY_ERROR ? set_refused(context, "UNLINK", reply) : FINE;
}

/* Takes away all shards, and the key NAME itself if asked. The server frees the memory in the background. */
static int unlink_all(struct set *set, bool name) {
    struct requests requests = {0};
    char key[KEY_TEXT];
    for (unsigned shard = 0; shard < set->shards; shard++)
        if (request_begin(&requests, "UNLINK", set_key(set, shard, key), 2)) request_end(&requests);
    if (name && request_begin(&requests, "UNLINK", set->url.name, 2)) request_end(&requests);
    return set_ask(set, &requests, take_unlinked, set);
}

static int take_absence(void *context, const struct request *request, const redisReply *reply) {
    struct set *set = context;
    char key[KEY_TEXT];
    set_key(set, request->shard, key);
    if (reply->type != REDIS_REPLY_INTEGER) return set_refused(set, key, reply);
    if (!reply->integer) return FINE;
    return failure(set->url.shown, "%s exists; give -f to replace it, or take another NAME", key);
}

static int expect_no_shards(struct set *set) {
    struct requests requests = {0};
    char key[KEY_TEXT];
    for (unsigned shard = 0; shard < set->shards; shard++) {
        struct request *request = request_begin(&requests, "EXISTS", set_key(set, shard, key), 2);
        if (!request) break;
        request->shard = shard;
        request_end(&requests);
    }
    return set_ask(set, &requests, take_absence, set);
}

/* The old set may have had more shards than the new one. */
static int remove_old(struct set *set, const char *type) {
    struct set old = *set;
    bool filter = strncmp(type, "MBbloom", 7) == 0 || strcmp(type, "perhaps--") == 0;
    int status = FINE;
    if (!filter && strcmp(type, "hash") != 0)
        return failure(set->url.shown, "the key holds a %s, which is not replaced; take another NAME", type);
    if (!filter) status = set_read(&old);
    if (status == FINE) status = unlink_all(&old, true);
    set->cluster = old.cluster; /* its table of servers may have grown */
    return status;
}

static int make_place(struct set *set, const struct options *options) {
    char type[32];
    if (set_type(set, type) != FINE) return TROUBLE;
    bool free_place = strcmp(type, "none") == 0;
    if (!given(options, OPT_FORCE)) {
        if (!free_place) return failure(set->url.shown, "exists; give -f to replace it, or take another NAME");
        return expect_no_shards(set);
    }
    if (!free_place && remove_old(set, type) != FINE) return TROUBLE;
    return unlink_all(set, false);
}

/* -------------------------------------------------------------------------------------------------- making --- */

static const char *rate_text(const struct set *set, char text[32]) {
    snprintf(text, 32, "%.15g", set->fpr);
    return text;
}

static void put_reserve(struct set *set, const struct options *options, struct requests *requests, const char *key) {
    struct text *text = &requests->text;
    bool fixed = given(options, OPT_NO_GROW);
    char rate[32];
    rate_text(set, rate);
    if (set->kind == SET_BITS) {
        request_begin(requests, "SETBIT", key, 4);
        text_number(text, set->bits - 1);
        text_words(text, "0");
    } else if (set->kind == SET_CUCKOO) {
        request_begin(requests, "CF.RESERVE", key, fixed ? 7 : 5);
        text_number(text, set->capacity);
        text_words(text, "ERROR");
        text_words(text, rate);
        if (fixed) text_words(text, "EXPANSION 0");
    } else {
        request_begin(requests, "BF.RESERVE", key, fixed ? 5 : 4);
        text_words(text, rate);
        text_number(text, set->capacity);
        if (fixed) text_words(text, "NONSCALING");
    }
}

static int take_reserved(void *context, const struct request *request, const redisReply *reply) {
    struct set *set = context;
    char key[KEY_TEXT];
    if (reply->type != REDIS_REPLY_ERROR) return FINE;
    if (request->repeated && strstr(reply->str, "exists")) return FINE; /* made before the connection broke */
    return set_refused(set, set_key(set, request->shard, key), reply);
}

static int reserve(struct set *set, const struct options *options) {
    struct requests requests = {0};
    char key[KEY_TEXT];
    for (unsigned shard = 0; shard < set->shards && !requests.text.broken; shard++) {
        put_reserve(set, options, &requests, set_key(set, shard, key));
        if (requests.text.broken) break;
        requests.list[requests.n - 1].shard = shard;
        request_end(&requests);
    }
    return set_ask(set, &requests, take_reserved, set);
}

static void put_field(struct text *text, const char *name, const char *value) {
    text_words(text, name);
    text_word(text, value, strlen(value));
}

static void put_count(struct text *text, const char *name, uint64_t value) {
    text_words(text, name);
    text_number(text, value);
}

static int take_described(void *context, const struct request *request, const redisReply *reply) {
    struct set *set = context;
    (void)request;
    return reply->type == REDIS_REPLY_ERROR ? set_refused(set, set->url.name, reply) : FINE;
}

/* The hash that makes it a set for all other commands, and for other programs. */
static int describe(struct set *set) {
    enum { FIELDS = 5, MORE_OF_BITS = 3 };
    struct requests requests = {0};
    struct text *text = &requests.text;
    char rate[32];
    size_t fields = FIELDS + (set->kind == SET_BITS ? MORE_OF_BITS : 0);
    if (!request_begin(&requests, "HSET", set->url.name, 2 + 2 * fields)) return failure(NULL, "not enough memory");
    put_count(text, "shards", set->shards);
    put_field(text, "kind", set_kind_name(set->kind));
    put_count(text, "items", set->items);
    put_field(text, "fpr", rate_text(set, rate));
    put_field(text, "key", encoding_name((enum encoding)set->encoding));
    if (set->kind == SET_BITS) {
        put_count(text, "bits", set->bits);
        put_count(text, "hashes", set->hashes);
        put_field(text, "seed", set->seed);
    }
    request_end(&requests);
    return set_ask(set, &requests, take_described, set);
}

int set_create(struct set *set, const struct options *options) {
    if (make_place(set, options) != FINE || reserve(set, options) != FINE || describe(set) != FINE) return TROUBLE;
    set->seen = calloc(set->shards, sizeof *set->seen);
    return set->seen ? FINE : failure(NULL, "not enough memory");
}
