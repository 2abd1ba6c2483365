/*
 * RedisBloom's cuckoo filters, bit for bit (after Fan, Andersen, Kaminsky, Mitzenmacher, "Cuckoo
 * filter: practically better than Bloom", 2014).
 *
 * Idea: a key has a fingerprint of one byte, and two buckets in each sub-filter, of which either
 * may hold it: one from its hash, the other from the hash XORed with a multiple of the fingerprint.
 * When all sub-filters have both of the key's buckets full, fingerprints of the newest are moved to
 * their other buckets, a fixed number of times; if that finds no free slot, everything is put back,
 * and a sub-filter is added, `expansion` times as large as the newest.
 *
 *     h ──▶ fingerprint f = h % 255 + 1 (0 is an empty slot)
 *       └─▶ buckets h and h ^ f · 0x5bd1e995, modulo their number
 *
 *     ┌───────────────┬───────────────────────────────┬───────┬───────────┬──────┐
 *     │ sub-filter 0  │ sub-filter 1                  │ items │ deletions │ idle │
 *     └───────────────┴───────────────────────────────┴───────┴───────────┴──────┘
 *
 * When deletions are more than a tenth of the items, fingerprints are moved from the newest
 * sub-filters to older ones, and those that are then empty are dropped. Here they stay, idle, since
 * a kind cannot free memory, and are used again before another is added.
 *
 * Example: capacity 1,000 in buckets of 2: 512 buckets, 1,024 bytes. Four full sub-filters have a
 * false-positive rate of 6 %.
 *
 * Cost: two cache lines for each sub-filter. Layout: buckets of the first sub-filter, slots of a
 * bucket, expansion (a power of two; 0: it does not grow), sub-filters, limits
 * (redis_cuckoo_layout.h).
 *
 * Invariants
 *   I1  the number of buckets is a power of two; a sub-filter has at most 2^32 slots.
 *   I2  a key that was added n times and removed m times has n - m fingerprints, each in one of its
 *       two buckets of some sub-filter in use.
 *   I3  the number of items is that of slots that are not empty; all of them are in sub-filters in
 *       use.
 */
#include "foreign/redis_cuckoo/redis_cuckoo_layout.h"

#include <string.h>

enum { EMPTY = 0 };

/* A sub-filter, and a key in it. */
struct sub_filter {
    uint8_t *slots;
    uint64_t mask; /* buckets less one */
    unsigned size; /* slots of a bucket */
};

struct redis_key {
    uint64_t home, other;
    uint8_t print;
};

static struct sub_filter part_of(const struct array *array, uint64_t i) {
    const uint64_t *layout = array->layout;
    return (struct sub_filter){array->bytes + redis_cuckoo_slots_of(layout, i), redis_cuckoo_buckets(layout, i) - 1,
                               (unsigned)layout[REDIS_CUCKOO_BUCKET_SIZE]};
}

static uint64_t other_bucket(uint64_t home, uint8_t print) {
    return home ^ print * UINT64_C(0x5bd1e995);
}

static struct redis_key key_at(uint64_t home, uint8_t print) {
    return (struct redis_key){home, other_bucket(home, print), print};
}

static struct redis_key key_of(struct digest digest) {
    return key_at(digest.first, (uint8_t)(digest.first % 255 + 1));
}

static uint8_t *bucket_of(const struct sub_filter *part, uint64_t home) {
    return part->slots + (home & part->mask) * part->size;
}

static void change(struct array *array, unsigned at, uint64_t by) {
    uint8_t *word = redis_cuckoo_tail(array, at);
    store64(word, load64(word) + by);
}

/* ---- queries ---- */

static uint8_t *find_in_bucket(const struct sub_filter *part, uint64_t home, uint8_t print) {
    return memchr(bucket_of(part, home), print, part->size);
}

/* A slot with this content, in the key's first bucket or its other one. */
static uint8_t *find(const struct sub_filter *part, const struct redis_key *key, uint8_t content) {
    uint8_t *slot = find_in_bucket(part, key->home, content);
    return slot ? slot : find_in_bucket(part, key->other, content);
}

static int redis_cuckoo_contains(const struct array *array, struct digest digest) {
    struct redis_key key = key_of(digest);
    for (uint64_t i = redis_cuckoo_in_use(array); i-- > 0;) {
        struct sub_filter part = part_of(array, i);
        if (find(&part, &key, key.print)) return 1;
    }
    return 0;
}

static uint64_t count_in_bucket(const struct sub_filter *part, uint64_t home, uint8_t print) {
    const uint8_t *bucket = bucket_of(part, home);
    uint64_t count = 0;
    for (unsigned i = 0; i < part->size; i++) count += bucket[i] == print;
    return count;
}

/* Where both buckets are the same, its copies count twice, as in RedisBloom. */
static uint64_t redis_cuckoo_count(const struct array *array, struct digest digest) {
    struct redis_key key = key_of(digest);
    uint64_t sum = 0;
    for (uint64_t i = 0; i < redis_cuckoo_in_use(array); i++) {
        struct sub_filter part = part_of(array, i);
        sum += count_in_bucket(&part, key.home, key.print) + count_in_bucket(&part, key.other, key.print);
    }
    return sum;
}

static void redis_cuckoo_prefetch(const struct array *array, struct digest digest) {
    struct sub_filter newest = part_of(array, redis_cuckoo_in_use(array) - 1);
    struct redis_key key = key_of(digest);
    __builtin_prefetch(bucket_of(&newest, key.home));
    __builtin_prefetch(bucket_of(&newest, key.other));
}

/* ---- adding ---- */

static uint8_t exchange(uint8_t *slot, uint8_t print) {
    uint8_t old = *slot;
    *slot = print;
    return old;
}

/* The fingerprint replaces another, which moves to its other bucket, and so on. Slots are taken in
 * turn: the first of the first bucket, the second of the next. If no bucket on the way has a free
 * slot, every step is undone. */
static bool move_others(const struct sub_filter *part, const struct redis_key *key, uint64_t steps) {
    uint64_t at = key->home & part->mask;
    unsigned victim = 0;
    uint8_t print = key->print;
    for (uint64_t i = 0; i < steps; i++) {
        print = exchange(bucket_of(part, at) + victim, print);
        at = other_bucket(at, print) & part->mask;
        uint8_t *empty = find_in_bucket(part, at, EMPTY);
        if (empty) {
            *empty = print;
            return true;
        }
        victim = (victim + 1) % part->size;
    }
    for (uint64_t i = 0; i < steps; i++) {
        victim = (victim + part->size - 1) % part->size;
        at = other_bucket(at, print) & part->mask;
        print = exchange(bucket_of(part, at) + victim, print);
    }
    return false;
}

static bool put(struct array *array, const struct redis_key *key) {
    uint64_t in_use = redis_cuckoo_in_use(array);
    for (uint64_t i = in_use; i-- > 0;) {
        struct sub_filter part = part_of(array, i);
        uint8_t *empty = find(&part, key, EMPTY);
        if (!empty) continue;
        *empty = key->print;
        return true;
    }
    struct sub_filter newest = part_of(array, in_use - 1);
    return move_others(&newest, key, array->layout[REDIS_CUCKOO_LIMITS] & REDIS_CUCKOO_STEPS_MAX);
}

/* Uses a sub-filter again that compaction has emptied. */
static bool wake(struct array *array) {
    if (redis_cuckoo_in_use(array) == array->layout[REDIS_CUCKOO_FILTERS]) return false;
    store64(redis_cuckoo_tail(array, REDIS_CUCKOO_IDLE),
            array->layout[REDIS_CUCKOO_FILTERS] - redis_cuckoo_in_use(array) - 1);
    return true;
}

static int redis_cuckoo_add(struct array *array, struct digest digest) {
    struct redis_key key = key_of(digest);
    while (!put(array, &key)) {
        if (!wake(array)) return FULL;
    }
    change(array, REDIS_CUCKOO_ITEMS, 1);
    return 1;
}

/* ---- removing ---- */

/* Moves a fingerprint to the oldest sub-filter that has room for it. Older ones do not have more
 * buckets: the number of its bucket here gives the bucket there. */
static bool move_down(struct array *array, uint64_t from, uint64_t bucket, uint8_t *slot) {
    struct redis_key key = key_at(bucket, *slot);
    for (uint64_t i = 0; i < from; i++) {
        struct sub_filter part = part_of(array, i);
        uint8_t *empty = find(&part, &key, EMPTY);
        if (!empty) continue;
        *empty = exchange(slot, EMPTY);
        return true;
    }
    return false;
}

/* Moves down all that it can; whether the sub-filter is empty then. */
static bool empty_part(struct array *array, uint64_t i) {
    struct sub_filter part = part_of(array, i);
    bool all = true;
    for (uint64_t bucket = 0; bucket <= part.mask; bucket++) {
        uint8_t *slots = bucket_of(&part, bucket);
        for (unsigned j = 0; j < part.size; j++) {
            if (slots[j] != EMPTY) all &= move_down(array, i, bucket, slots + j);
        }
    }
    return all;
}

/* From the newest sub-filter to the oldest. Stops at one that cannot be emptied; with `go_on` older
 * ones are emptied too, but not dropped. */
static void move_all_down(struct array *array, bool go_on) {
    uint64_t in_use = redis_cuckoo_in_use(array);
    bool emptied = true;
    for (uint64_t i = in_use; i-- > 1 && (emptied || go_on);) {
        emptied = empty_part(array, i);
        if (emptied && i == in_use - 1) in_use--;
    }
    store64(redis_cuckoo_tail(array, REDIS_CUCKOO_IDLE), array->layout[REDIS_CUCKOO_FILTERS] - in_use);
    store64(redis_cuckoo_tail(array, REDIS_CUCKOO_DELETIONS), 0);
}

static void compact(struct array *array, uint64_t layout[LAYOUT_WORDS], uint64_t *capacity) {
    move_all_down(array, true);
    memcpy(layout, array->layout, sizeof array->layout);
    layout[REDIS_CUCKOO_FILTERS] = redis_cuckoo_in_use(array);
    *capacity = redis_cuckoo_slots_of(layout, layout[REDIS_CUCKOO_FILTERS]);
}

static int redis_cuckoo_remove(struct array *array, struct digest digest) {
    struct redis_key key = key_of(digest);
    uint8_t *slot = NULL;
    for (uint64_t i = redis_cuckoo_in_use(array); !slot && i-- > 0;) {
        struct sub_filter part = part_of(array, i);
        slot = find(&part, &key, key.print);
    }
    if (!slot) return 0;
    *slot = EMPTY;
    uint64_t items = load64(redis_cuckoo_tail(array, REDIS_CUCKOO_ITEMS));
    items -= items > 0; /* a damaged array may have 0 */
    store64(redis_cuckoo_tail(array, REDIS_CUCKOO_ITEMS), items);
    change(array, REDIS_CUCKOO_DELETIONS, 1);
    uint64_t deletions = load64(redis_cuckoo_tail(array, REDIS_CUCKOO_DELETIONS));
    if (redis_cuckoo_in_use(array) > 1 && deletions > items / 10) move_all_down(array, false);
    return 1;
}

/* ---- batches ---- */

static size_t redis_cuckoo_add_many(struct array *array, const uint64_t *digests, size_t n, uint8_t *answers,
                                    const char *ahead) {
    (void)ahead;
    for (size_t i = 0; i < n; i++) {
        if (redis_cuckoo_add(array, (struct digest){digests[i], 0}) == FULL) return i;
        answers[i] = 1;
    }
    return n;
}

static void redis_cuckoo_contains_many(const struct array *array, const uint64_t *digests, size_t n, uint8_t *answers,
                                       const char *ahead) {
    (void)ahead;
    for (size_t i = 0; i < n; i++) answers[i] = (uint8_t)redis_cuckoo_contains(array, (struct digest){digests[i], 0});
}

/* ---- the layout ---- */

static bool is_power_of_two(uint64_t x) {
    return x && (x & (x - 1)) == 0;
}

/* There is at least one sub-filter. */
static bool sizes_fit(const uint64_t layout[LAYOUT_WORDS]) {
    uint64_t shift_of_newest = (layout[REDIS_CUCKOO_FILTERS] - 1) * redis_cuckoo_shift(layout);
    if (layout[REDIS_CUCKOO_EXPANSION] == 0 && layout[REDIS_CUCKOO_FILTERS] > 1) return false;
    return shift_of_newest <= 32 && layout[REDIS_CUCKOO_BUCKETS] <=
                                        (REDIS_CUCKOO_SLOTS_MAX >> shift_of_newest) / layout[REDIS_CUCKOO_BUCKET_SIZE];
}

static const char *check_layout(const uint64_t layout[LAYOUT_WORDS]) {
    uint64_t expansion = layout[REDIS_CUCKOO_EXPANSION], limits = layout[REDIS_CUCKOO_LIMITS];
    if (!is_power_of_two(layout[REDIS_CUCKOO_BUCKETS])) return "a number of buckets that is no power of two";
    if (layout[REDIS_CUCKOO_BUCKET_SIZE] < 1 || layout[REDIS_CUCKOO_BUCKET_SIZE] > REDIS_CUCKOO_BUCKET_SIZE_MAX)
        return "a bucket size that is not 1 to 255";
    if (expansion > REDIS_CUCKOO_EXPANSION_MAX || (expansion && !is_power_of_two(expansion)))
        return "an expansion that is no power of two, or too large";
    if (!(limits & REDIS_CUCKOO_STEPS_MAX) || limits >> 16 > REDIS_CUCKOO_FILTERS_MAX)
        return "limits that make no sense";
    if (layout[REDIS_CUCKOO_FILTERS] < 1 || layout[REDIS_CUCKOO_FILTERS] > limits >> 16)
        return "an impossible number of sub-filters";
    return sizes_fit(layout) ? NULL : "sub-filters that are too large";
}

static uint64_t payload_bytes(const uint64_t layout[LAYOUT_WORDS], const char **reason) {
    *reason = check_layout(layout);
    return *reason ? 0 : redis_cuckoo_slots_of(layout, layout[REDIS_CUCKOO_FILTERS]) + REDIS_CUCKOO_TAIL_BYTES;
}

static const char *check_array(const struct array *array, uint64_t items) {
    uint64_t in_use = redis_cuckoo_slots_of(array->layout, redis_cuckoo_in_use(array)),
             all = array->length - REDIS_CUCKOO_TAIL_BYTES;
    if (load64(redis_cuckoo_tail(array, REDIS_CUCKOO_ITEMS)) != items ||
        redis_cuckoo_used(array->bytes, in_use) != items)
        return "another number of items than slots in use";
    return redis_cuckoo_used(array->bytes + in_use, all - in_use) ? "keys in sub-filters that are not in use" : NULL;
}

static bool grow(const struct array *array, uint64_t digest, uint64_t layout[LAYOUT_WORDS], uint64_t *capacity) {
    const char *reason;
    (void)digest;
    memcpy(layout, array->layout, sizeof array->layout);
    layout[REDIS_CUCKOO_FILTERS]++;
    uint64_t length = payload_bytes(layout, &reason);
    if (length) *capacity = length - REDIS_CUCKOO_TAIL_BYTES;
    return length;
}

/* Into an array with one more sub-filter, which is in use at once, or with those in use only. */
static bool rehash(struct array *into, const struct array *from) {
    uint64_t shorter = into->length < from->length ? into->length : from->length;
    memcpy(into->bytes, from->bytes, (size_t)(shorter - REDIS_CUCKOO_TAIL_BYTES));
    memcpy(redis_cuckoo_tail(into, 0), redis_cuckoo_tail(from, 0), REDIS_CUCKOO_TAIL_BYTES);
    if (into->length < from->length) store64(redis_cuckoo_tail(into, REDIS_CUCKOO_IDLE), 0);
    return true;
}

/* The new sub-filter begins where the three numbers were. */
static void extend(struct array *array, uint64_t length) {
    uint8_t numbers[REDIS_CUCKOO_TAIL_BYTES], *before = array->bytes + length - REDIS_CUCKOO_TAIL_BYTES;
    memcpy(numbers, before, sizeof numbers);
    memset(before, 0, sizeof numbers);
    memcpy(redis_cuckoo_tail(array, 0), numbers, sizeof numbers);
}

static const struct kind_ops *ops(const uint64_t layout[LAYOUT_WORDS], enum isa isa, bool shared) {
    static const struct kind_ops all = {BASIC_OPS(redis_cuckoo_add, redis_cuckoo_contains, redis_cuckoo_add_many,
                                                  redis_cuckoo_contains_many, redis_cuckoo_prefetch),
                                        .remove = redis_cuckoo_remove, .count = redis_cuckoo_count};
    (void)layout, (void)isa, (void)shared;
    return &all;
}

/* Not fewer than there are. */
static void set_parts(uint64_t layout[LAYOUT_WORDS], unsigned parts) {
    uint64_t filters = layout[REDIS_CUCKOO_FILTERS], most = parts > filters ? parts : filters;
    layout[REDIS_CUCKOO_LIMITS] = (layout[REDIS_CUCKOO_LIMITS] & REDIS_CUCKOO_STEPS_MAX) | most << 16;
}

static unsigned parts_of(const struct array *array) {
    return (unsigned)redis_cuckoo_in_use(array);
}

static const struct growable growable = {.full = "all places of this key are taken",
                                         .grow = grow,
                                         .rehash = rehash,
                                         .extend = extend,
                                         .set_parts = set_parts,
                                         .parts = parts_of};

static const struct shrinkable shrinkable = {.compact = compact};

static const struct foreign_checks foreign_checks = {.check_array = check_array};

#include "foreign/redis_cuckoo/redis_cuckoo_trace.h"

const struct kind kind_redis_cuckoo = {
    .row = {PERHAPS_REDIS_CUCKOO, PERHAPS_ADD | PERHAPS_REMOVE | PERHAPS_COUNT | PERHAPS_GROW, "redis_cuckoo",
            "what RedisBloom's CF commands keep, bit for bit"},
    .hashing = {.hash = PERHAPS_MURMUR, .words = 1, .own = true},
    .words = {.name = {"buckets", "bucket size", "expansion", "sub-filters", "limits"}},
    .payload_bytes = payload_bytes,
    .ops = ops,
    .counter_bytes = REDIS_CUCKOO_TAIL_BYTES,
    .model = &model_redis_cuckoo,
    .growable = &growable,
    .shrinkable = &shrinkable,
    .foreign = &foreign_checks,
    .trace = redis_cuckoo_trace,
    .cells = redis_cuckoo_cells,
    .cell = "slot",
};
