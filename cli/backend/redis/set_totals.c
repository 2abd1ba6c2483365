#include "set_totals.h"
#include "output/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What one shard says; NAN for what it does not. */
struct shard_facts {
    double items, capacity, bytes, fpr_now, fpr_target, fill;
};

struct totals_gathering {
    struct set_totals *totals;
    struct set *set;
    bool no_such_command; /* PERHAPS.INFO: then it is another module's server */
};

/* The names of PERHAPS.INFO, of BF.INFO and of CF.INFO. */
static void take_field(struct shard_facts *shard, const char *name, const redisReply *reply) {
    static const struct {
        const char *name;
        size_t field;
    } known[] = {
        {"items", offsetof(struct shard_facts, items)},
        {"Number of items inserted", offsetof(struct shard_facts, items)},
        {"capacity", offsetof(struct shard_facts, capacity)},
        {"Capacity", offsetof(struct shard_facts, capacity)},
        {"bytes", offsetof(struct shard_facts, bytes)},
        {"Size", offsetof(struct shard_facts, bytes)},
        {"fpr_now", offsetof(struct shard_facts, fpr_now)},
        {"fpr_target", offsetof(struct shard_facts, fpr_target)},
        {"fill", offsetof(struct shard_facts, fill)},
    };
    double value = reply->type == REDIS_REPLY_INTEGER                                       ? (double)reply->integer
                   : reply->type == REDIS_REPLY_STRING || reply->type == REDIS_REPLY_STATUS ? strtod(reply->str, NULL)
                                                                                            : NAN;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i].name) == 0) memcpy((char *)shard + known[i].field, &value, sizeof value);
}

static uint64_t whole(double value) {
    return value > 0 ? (uint64_t)(value + 0.5) : 0;
}

static void add_shard(struct totals_gathering *g, const struct request *request, const struct shard_facts *shard) {
    struct set_totals *f = g->totals;
    const struct cluster *c = &g->set->cluster;
    uint64_t items = whole(shard->items), bytes = whole(shard->bytes);
    size_t node = c->clustered ? c->home[request->slot] : 0;
    f->items += items;
    f->capacity += whole(shard->capacity);
    f->bytes += bytes;
    if (items < f->least_items) f->least_items = items;
    if (items > f->most_items) f->most_items = items;
    if (bytes > f->most_bytes) f->most_bytes = bytes;
    f->fpr_now += shard->fpr_now / g->set->shards;
    f->fpr_target += shard->fpr_target / g->set->shards;
    f->fill += shard->fill / g->set->shards;
    f->shares[node].shards++;
    f->shares[node].bytes += bytes;
}

static int take_info(void *context, const struct request *request, const redisReply *reply) {
    struct totals_gathering *g = context;
    struct shard_facts shard = {NAN, NAN, NAN, NAN, NAN, NAN};
    char key[KEY_TEXT];
    if (reply->type == REDIS_REPLY_ERROR && strstr(reply->str, "unknown command")) {
        g->no_such_command = true;
        return FINE;
    }
    if (reply->type != REDIS_REPLY_ARRAY) return set_refused(g->set, set_key(g->set, request->shard, key), reply);
    for (size_t i = 0; i + 1 < reply->elements; i += 2)
        if (reply->element[i]->str) take_field(&shard, reply->element[i]->str, reply->element[i + 1]);
    add_shard(g, request, &shard);
    return FINE;
}

/* From how many bits are set follows about how many items set them, and how often an item finds all
 * of its bits set. */
static int take_bitcount(void *context, const struct request *request, const redisReply *reply) {
    struct totals_gathering *g = context;
    const struct set *set = g->set;
    char key[KEY_TEXT];
    if (reply->type != REDIS_REPLY_INTEGER) return set_refused(set, set_key(set, request->shard, key), reply);
    double bits = (double)set->bits, fill = fmin((double)reply->integer / bits, 1);
    double items = -bits / set->hashes * log1p(-fmin(fill, 1 - 1 / bits));
    add_shard(g, request,
              &(struct shard_facts){.items = items,
                                    .capacity = (double)set->items / set->shards,
                                    .bytes = bits / 8,
                                    .fpr_now = pow(fill, set->hashes),
                                    .fpr_target = set->fpr,
                                    .fill = fill});
    return FINE;
}

static int take_length(void *context, const struct request *request, const redisReply *reply) {
    const struct totals_gathering *g = context;
    return set_check_shard(g->set, request->shard, reply);
}

int set_totals_gather(struct set_totals *f, struct set *set) {
    struct totals_gathering g = {.totals = f, .set = set};
    const struct set_totals none = {.least_items = UINT64_MAX};
    struct share *shares = calloc(MOST_NODES, sizeof *shares);
    *f = none;
    f->shares = shares;
    if (!shares) return failure(NULL, "not enough memory");
    bool bits = set->kind == SET_BITS; /* of a missing string, none is set */
    int status = bits ? set_ask_shards(set, "STRLEN", "", take_length, &g) : FINE;
    if (status == FINE)
        status = bits ? set_ask_shards(set, "BITCOUNT", "", take_bitcount, &g)
                      : set_ask_shards(set, "PERHAPS.INFO", "", take_info, &g);
    if (status == FINE && g.no_such_command) {
        *f = none;
        f->shares = memset(shares, 0, MOST_NODES * sizeof *shares);
        status = set_ask_shards(set, set->kind == SET_CUCKOO ? "CF.INFO" : "BF.INFO", "", take_info, &g);
    }
    /* What the user wanted is in the hash; the shards have a little more room, and may have
     * grown. */
    if (set->items) f->capacity = set->items;
    if (set->fpr > 0) f->fpr_target = set->fpr;
    return status;
}
