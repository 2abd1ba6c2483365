#include "set_create.h"
#include "output/report.h"

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

struct finding {
    const struct set *set;
    char *found; /* the key of a shard; "" = none */
};

static int take_existence(void *context, const struct request *request, const redisReply *reply) {
    struct finding *finding = context;
    char key[KEY_TEXT];
    set_key(finding->set, request->shard, key);
    if (reply->type != REDIS_REPLY_INTEGER) return set_refused(finding->set, key, reply);
    if (reply->integer) memcpy(finding->found, key, sizeof key);
    return FINE;
}

/* Is any of the shards there? */
static int find_shards(struct set *set, char found[KEY_TEXT]) {
    struct requests requests = {0};
    char key[KEY_TEXT];
    *found = 0;
    for (unsigned shard = 0; shard < set->shards; shard++) {
        struct request *request = request_begin(&requests, "EXISTS", set_key(set, shard, key), 2);
        if (!request) break;
        request->shard = shard;
        request_end(&requests);
    }
    return set_ask(set, &requests, take_existence, &(struct finding){set, found});
}

static int expect_no_shards(struct set *set) {
    char found[KEY_TEXT];
    if (find_shards(set, found) != FINE) return TROUBLE;
    return *found ? failure(set->url.shown, "%s exists; give -f to replace it, or take another NAME", found) : FINE;
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

/* None of these harms what is there already: a filter is not made twice, and a bit that 0 is added to stays as it is. */
static void put_reserve(struct set *set, const struct options *options, struct requests *requests, const char *key) {
    struct text *text = &requests->text;
    bool fixed = given(options, OPT_NO_GROW);
    char rate[32];
    snprintf(rate, sizeof rate, "%.15g", set->fpr);
    if (set->kind == SET_BITS) {
        request_begin(requests, "BITFIELD", key, 6);
        text_words(text, "INCRBY u1");
        text_number(text, set->bits - 1);
        text_words(text, "0");
    } else if (set->kind == SET_CUCKOO) {
        request_begin(requests, "CF.RESERVE", key, fixed ? 7 : 5);
        text_number(text, set_capacity(set));
        text_words(text, "ERROR");
        text_words(text, rate);
        if (fixed) text_words(text, "EXPANSION 0");
    } else {
        request_begin(requests, "BF.RESERVE", key, fixed ? 5 : 4);
        text_words(text, rate);
        text_number(text, set_capacity(set));
        if (fixed) text_words(text, "NONSCALING");
    }
}

struct shard_reserving {
    struct set *set;
    bool refused; /* a server would not make a shard */
};

static int take_reserved(void *context, const struct request *request, const redisReply *reply) {
    struct shard_reserving *reserving = context;
    struct set *set = reserving->set;
    char key[KEY_TEXT];
    if (reply->type != REDIS_REPLY_ERROR) return FINE;
    bool mine = request->repeated || *set->making; /* made before the connection broke, or by others who make the set */
    if (mine && strstr(reply->str, "exists")) return FINE;
    reserving->refused = true;
    return set_refused(set, set_key(set, request->shard, key), reply);
}

static int reserve(struct set *set, const struct options *options, bool *refused) {
    struct shard_reserving reserving = {.set = set};
    struct requests requests = {0};
    char key[KEY_TEXT];
    for (unsigned shard = 0; shard < set->shards && !requests.text.broken; shard++) {
        put_reserve(set, options, &requests, set_key(set, shard, key));
        if (requests.text.broken) break;
        requests.list[requests.n - 1].shard = shard;
        request_end(&requests);
    }
    int status = set_ask(set, &requests, take_reserved, &reserving);
    *refused = reserving.refused;
    return status;
}

static int take_described(void *context, const struct request *request, const redisReply *reply) {
    struct set *set = context;
    (void)request;
    return reply->type == REDIS_REPLY_ERROR ? set_refused(set, set->url.name, reply) : FINE;
}

/* The hash that makes it a set for all other commands, and for other programs. */
static int describe(struct set *set) {
    struct requests requests = {0};
    char fields[FIELDS_TEXT];
    size_t lines = 0;
    set_write_fields(set, fields);
    for (const char *c = fields; *c; c++) lines += *c == '\n';
    if (!request_begin(&requests, "HSET", set->url.name, 2 + 2 * lines)) return failure(NULL, "not enough memory");
    for (const char *line = fields; *line; line += strcspn(line, "\n") + 1) {
        size_t name = strcspn(line, " "), length = strcspn(line, "\n");
        text_word(&requests.text, line, name);
        text_word(&requests.text, line + name + 1, length - name - 1);
    }
    request_end(&requests);
    return set_ask(set, &requests, take_described, set);
}

int set_create(struct set *set, const struct options *options) {
    bool refused;
    if (make_place(set, options) != FINE || reserve(set, options, &refused) != FINE || describe(set) != FINE)
        return TROUBLE;
    set->seen = calloc(set->shards, sizeof *set->seen);
    return set->seen ? FINE : failure(NULL, "not enough memory");
}

/* ------------------------------------------------------------------------------------- making it with others --- */

/* A command about the field `making`; `value` may be NULL. */
static int ask_about_making(struct set *set, const char *command, const char *value) {
    struct requests requests = {0};
    if (!request_begin(&requests, command, set->url.name, value ? 4 : 3)) return failure(NULL, "not enough memory");
    text_words(&requests.text, "making");
    if (value) text_word(&requests.text, value, strlen(value));
    request_end(&requests);
    return set_ask(set, &requests, take_described, set);
}

/* Shards without a hash are not made by others just now, since these begin with the hash: so that is asked for once more. */
static int expect_free_place(struct set *set, char type[32]) {
    char found[KEY_TEXT];
    if (find_shards(set, found) != FINE || set_type(set, type) != FINE) return TROUBLE;
    if (!*found || strcmp(type, "none") != 0) return FINE;
    return failure(set->url.shown, "there is no such set, but %s exists, which may be a part of one; take another NAME",
                   found);
}

static int begin_making(struct set *set, const struct options *options, char type[32]) {
    char fields[FIELDS_TEXT];
    if (set_shape(set, options, options->items) != FINE || expect_free_place(set, type) != FINE) return TROUBLE;
    if (strcmp(type, "none") != 0) return FINE;
    set_write_fields(set, fields);
    if (ask_about_making(set, "HSETNX", fields) != FINE) return TROUBLE;
    return set_type(set, type);
}

/* A set that cannot be made leaves no trace, so that one of another shape can be. */
static void withdraw(struct set *set) {
    char found[KEY_TEXT];
    if (find_shards(set, found) == FINE && !*found) ask_about_making(set, "HDEL", NULL);
}

static int finish_making(struct set *set, const struct options *options) {
    bool refused;
    if (reserve(set, options, &refused) != FINE) {
        if (refused) withdraw(set);
        return TROUBLE;
    }
    if (describe(set) != FINE) return TROUBLE;
    *set->making = 0;
    return ask_about_making(set, "HDEL", NULL);
}

int set_join(struct set *set, const struct options *options, double fpr, perhaps_recipe recipe) {
    char type[32];
    if (set_connect(set, options) != FINE || set_type(set, type) != FINE) return TROUBLE;
    if (strcmp(type, "none") == 0) {
        set->fpr = fpr;
        set->recipe = recipe;
        if (begin_making(set, options, type) != FINE) return TROUBLE;
    }
    if (set_find(set, type) != FINE) return TROUBLE;
    return *set->making ? finish_making(set, options) : FINE;
}
