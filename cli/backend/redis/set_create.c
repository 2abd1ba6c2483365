#include "set_create.h"
#include "set_shards.h"
#include "output/report.h"

#include <stdlib.h>
#include <string.h>

static int take_done(void *context, const struct request *request, const redisReply *reply) {
    const struct set *set = context;
    (void)request;
    return reply->type == REDIS_REPLY_ERROR ? set_refused(set, set->url.name, reply) : FINE;
}

/* A command about the key NAME itself, and its words after that. */
static int ask_name(struct set *set, const char *command, const char *const *words, size_t n) {
    struct requests requests = {0};
    struct request *request = request_begin(&requests, command, set->url.name, 2 + n);
    for (size_t i = 0; i < n; i++) text_word(&requests.text, words[i], strlen(words[i]));
    if (request) request_end(&requests);
    return set_ask(set, &requests, take_done, set);
}

/* ---- what stands there ---- */

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
    *found = 0;
    return set_ask_shards(set, "EXISTS", "", take_existence, &(struct finding){set, found});
}

/* Takes away the set or filter at NAME, which may have more shards than the new one. UNLINK
 * frees memory in the background. */
static int remove_old(struct set *set, const char *type) {
    struct set old = *set;
    bool filter = set_type_is_filter(type);
    if (!filter && strcmp(type, "hash") != 0)
        return failure(set->url.shown, "the key holds a %s, which is not replaced; choose another NAME", type);
    int status = filter ? FINE : set_read(&old);
    if (status == FINE) status = set_ask_shards(&old, "UNLINK", "", take_done, set);
    if (status == FINE) status = ask_name(&old, "UNLINK", NULL, 0);
    set->cluster = old.cluster; /* its table of servers may have grown */
    return status;
}

static int make_place(struct set *set, const struct options *options) {
    char type[32], found[KEY_TEXT];
    if (set_type(set, type) != FINE) return TROUBLE;
    bool free_place = strcmp(type, "none") == 0;
    if (given(options, OPT_FORCE)) {
        if (!free_place && remove_old(set, type) != FINE) return TROUBLE;
        return set_ask_shards(set, "UNLINK", "", take_done, set);
    }
    if (!free_place) return failure(set->url.shown, "exists; give -f to replace it, or choose another NAME");
    if (find_shards(set, found) != FINE) return TROUBLE;
    return *found ? failure(set->url.shown, "%s exists; give -f to replace it, or choose another NAME", found) : FINE;
}

/* ---- making ---- */

struct shard_reserving {
    struct set *set;
    bool refused; /* a server would not make a shard */
};

static int take_reserved(void *context, const struct request *request, const redisReply *reply) {
    struct shard_reserving *reserving = context;
    struct set *set = reserving->set;
    char key[KEY_TEXT];
    if (reply->type != REDIS_REPLY_ERROR) return FINE;
    /* made before the connection broke, or by others who make the set */
    bool mine = request->repeated || *set->making;
    if (mine && strstr(reply->str, "exists")) return FINE;
    reserving->refused = true;
    return set_refused(set, set_key(set, request->shard, key), reply);
}

/* Makes the shards. None of the commands harms what is there already: a filter is not made
 * twice, and a bit that 0 is added to stays as it is. */
static int reserve(struct set *set, const struct options *options, bool *refused) {
    static const char *const names[SET_KINDS] = {"BF.RESERVE", "CF.RESERVE", "BITFIELD"};
    struct shard_reserving reserving = {.set = set};
    unsigned long long capacity = set_capacity(set);
    bool fixed = given(options, OPT_NO_GROW);
    char words[120];
    if (set->kind == SET_BITS)
        snprintf(words, sizeof words, "INCRBY u1 %llu 0", (unsigned long long)set->bits - 1);
    else if (set->kind == SET_CUCKOO)
        snprintf(words, sizeof words, "%llu ERROR %.15g%s", capacity, set->fpr, fixed ? " EXPANSION 0" : "");
    else
        snprintf(words, sizeof words, "%.15g %llu%s", set->fpr, capacity, fixed ? " NONSCALING" : "");
    int status = set_ask_shards(set, names[set->kind], words, take_reserved, &reserving);
    *refused = reserving.refused;
    return status;
}

/* Writes the hash that makes it a set for all other commands, and for other programs. */
static int describe(struct set *set) {
    char fields[FIELDS_TEXT];
    const char *words[FIELDS_TEXT / 2];
    size_t n = 0;
    set_write_fields(set, fields);
    for (char *line = fields, *end; (end = strchr(line, '\n')); line = end + 1) {
        char *space = strchr(line, ' ');
        *space = *end = 0;
        words[n++] = line;
        words[n++] = space + 1;
    }
    return ask_name(set, "HSET", words, n);
}

int set_create(struct set *set, const struct options *options) {
    bool refused;
    if (make_place(set, options) != FINE || reserve(set, options, &refused) != FINE || describe(set) != FINE)
        return TROUBLE;
    set->seen = calloc(set->shards, sizeof *set->seen);
    return set->seen ? FINE : failure(NULL, "not enough memory");
}

/* ---- making it with others ---- */

/* Begins a set where there is none, unless others have meanwhile: `type` is what is there
 * afterwards. */
static int begin_making(struct set *set, const struct options *options, char type[32]) {
    char fields[FIELDS_TEXT], found[KEY_TEXT];
    if (set_shape(set, options, options->items) != FINE || find_shards(set, found) != FINE) return TROUBLE;
    /* Others who make the set begin with the hash: shards without one are not theirs. */
    if (set_type(set, type) != FINE) return TROUBLE;
    if (strcmp(type, "none") != 0) return FINE;
    if (*found)
        return failure(set->url.shown,
                       "there is no such set, but %s exists, which may be a part of one; choose another NAME", found);
    set_write_fields(set, fields);
    return ask_name(set, "HSETNX", (const char *[]){"making", fields}, 2) == FINE ? set_type(set, type) : TROUBLE;
}

static int finish_making(struct set *set, const struct options *options) {
    char found[KEY_TEXT];
    bool refused;
    if (reserve(set, options, &refused) == FINE) {
        if (describe(set) != FINE) return TROUBLE;
        *set->making = 0;
        return ask_name(set, "HDEL", (const char *[]){"making"}, 1);
    }
    /* A set that cannot be made leaves no trace, so that one of another shape can be. */
    if (refused && find_shards(set, found) == FINE && !*found) ask_name(set, "HDEL", (const char *[]){"making"}, 1);
    return TROUBLE;
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
