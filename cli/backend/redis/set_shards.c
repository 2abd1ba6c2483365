#include "set_shards.h"
#include "bit_positions.h"
#include "options/abilities.h"
#include "output/numbers.h"
#include "output/report.h"
#include "options/want.h"

#include <math.h>
#include <string.h>

/* A value that takes milliseconds to make, copy or free blocks the server no longer than that. */
static const uint64_t usual_shard_bytes = UINT64_C(64) << 20;
static const double smallest_rate_of_bits = 1e-9;

/* As the module makes growing filters: the first layer may take this much of the rate. */
static const double share_of_first_layer = 0.88;

/* The most that BF.RESERVE takes; and, where the number of keys is unknown, shards enough for a
 * billion. */
enum { MOST_CAPACITY = 1 << 30, SHARDS_OF_A_PIPE = 64 };

static int choose_kind(struct set *set, const struct options *options) {
    static const unsigned can[SET_KINDS] = {PERHAPS_ADD | PERHAPS_GROW,
                                            PERHAPS_ADD | PERHAPS_GROW | PERHAPS_REMOVE | PERHAPS_COUNT, PERHAPS_ADD};
    bool bits = set->url.bits, any = options->kind == PERHAPS_ANY, cuckoo = options->kind == PERHAPS_CUCKOO;
    char what[100];
    if (!any && !cuckoo && options->kind != PERHAPS_BLOOM && options->kind != PERHAPS_BLOCKED)
        return failure("--kind", "servers have no %s filters; give bloom, blocked or cuckoo", kind_name(options->kind));
    bool forgets = options->needs & (PERHAPS_REMOVE | PERHAPS_COUNT) || cuckoo;
    set->kind = bits ? SET_BITS : forgets ? SET_CUCKOO : SET_BLOOM;
    unsigned lacking = options->needs & ~can[set->kind];
    if (lacking)
        return failure("--needs", "a set on a server%s cannot %s%s", bits ? " in plain strings" : "",
                       abilities_text(lacking, " and ", what, sizeof what),
                       bits ? "; with the module (redis://) it can remove, count and grow" : "");
    if (bits && cuckoo) return failure("--kind", "plain strings hold a bloom filter; leave it out, or use redis://");
    if (set->kind == SET_CUCKOO && !any && !cuckoo)
        return failure("--needs", "of the kinds on a server only cuckoo can remove and count; leave out -k");
    return FINE;
}

/* Shards are not equally full: by chance none gets five standard deviations more than its share;
 * and CRC16 spreads numbers that follow one another, written in decimal, only to within a
 * twentieth. One that is too full grows by half or more. */
static uint64_t items_of_shard(uint64_t items, unsigned shards) {
    double share = (double)items / shards;
    return shards == 1 ? items : (uint64_t)ceil(1.05 * share + 5 * sqrt(share));
}

uint64_t set_capacity(const struct set *set) {
    return set->items ? items_of_shard(set->items, set->shards) : FIRST_GUESS;
}

/* Do shards of at most `limit` bytes hold all items? */
static bool fits(const struct set *set, unsigned shards, uint64_t limit) {
    struct perhaps_plan plan = {.size = sizeof plan};
    uint64_t items = items_of_shard(set->items, shards);
    unsigned hashes;
    if (items > MOST_CAPACITY) return false;
    if (set->kind == SET_BITS) return bits_needed(items, set->fpr, &hashes) / 8 <= limit;
    perhaps_want want = PERHAPS_WANT(.kind = set->kind == SET_CUCKOO ? PERHAPS_CUCKOO : PERHAPS_BLOCKED, .items = items,
                                     .fpr = set->fpr * share_of_first_layer);
    return perhaps_plan(&want, &plan) == PERHAPS_OK && plan.bytes <= limit;
}

static int choose_shards(struct set *set, const struct options *options) {
    char size[NUMBER_TEXT];
    uint64_t limit = given(options, OPT_SHARD_BYTES) ? options->shard_bytes : usual_shard_bytes;
    unsigned fewest = 1;
    while (set->items && fewest <= MOST_SHARDS && !fits(set, fewest, limit)) fewest *= 2;
    uint64_t wanted = given(options, OPT_SHARDS) ? options->shards : set->items ? fewest : SHARDS_OF_A_PIPE;
    human_bytes(limit, size);
    if (fewest > MOST_SHARDS)
        return failure("--shard-bytes", "even %d shards would be larger than %s each; give more", MOST_SHARDS, size);
    if (!wanted || wanted > MOST_SHARDS || wanted & (wanted - 1))
        return failure("--shards", "on a server it must be a power of two up to %d", MOST_SHARDS);
    if (wanted < fewest)
        return failure("--shards", "each would be larger than %s; give %u or more, or a larger --shard-bytes", size,
                       fewest);
    set->shards = (unsigned)wanted;
    if (set->shards > 1 && strchr(set->url.name, '{'))
        return failure("--at", "a name with { would put all shards on one server of a cluster; choose another");
    return FINE;
}

int set_shape(struct set *set, const struct options *options, uint64_t items) {
    uint64_t seed;
    set->items = items;
    if (options->fpr > 0) set->fpr = options->fpr;
    if (choose_kind(set, options) != FINE) return TROUBLE;
    if (set->kind != SET_BITS)
        return given(options, OPT_SEED) ? failure("--seed", "the server chooses it; leave it out")
                                        : choose_shards(set, options);

    if (!set->items) return failure("-n", "is missing; plain strings cannot grow, so say how many keys there will be");
    if (given(options, OPT_GROW)) return failure("--grow", "plain strings cannot grow; give a larger -n");
    if (set->fpr < smallest_rate_of_bits)
        return failure("-p", "plain strings have rates of %g and more; give a higher one, or use the module (redis://)",
                       smallest_rate_of_bits);
    if (seed_from_options(&seed, options) != FINE || choose_shards(set, options) != FINE) return TROUBLE;
    snprintf(set->seed, sizeof set->seed, "%llu", (unsigned long long)seed);
    set->bits = bits_needed(set_capacity(set), set->fpr, &set->hashes);
    if (set->bits <= most_bits) return FINE;
    return failure("--shard-bytes", "a string on a server holds at most 512 MiB; give less");
}
