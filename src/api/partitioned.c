#include "api/partitioned.h"

#include "base/memory.h"
#include "base/error.h"
#include "base/scatter.h"
#include "composite/composite.h"

#include <string.h>

/* When it pays for queries: filters below FEWEST_BYTES stay in the cache anyway. The cost is the
 * same for every filter; the gain, fewer cache and TLB misses, grows with the batch and the filter.
 * Filters that mix layers of one and of two cache lines per key are rare: the newest decides. */
enum { FEWEST_KEYS = 32768, FEWEST_BYTES = 1 << 24 };
#define FEWEST_KEYS_TIMES_BYTES (UINT64_C(1) << 42)

/* When it pays for adds: with at most DENSE_BYTES of filter for each key, prefetching all of it in
 * order takes less time than prefetching what the keys need. */
enum { FEWEST_BYTES_TO_ADD = 1 << 22, DENSE_BYTES = 256 };

/* Keys partitioned at a time: one for BYTES_PER_KEY of the filter. A key takes 12 bytes. */
enum { BYTES_PER_KEY = 64, MOST_KEYS = 1 << 22 };

/* Up to this many bytes of filter for each key, all its cache lines are prefetched in order. */
enum { SWEPT_BYTES = 96 };

/* The cache lines that partitions are written to must stay in the cache. */
enum { MOST_PARTS = 1024 };

/* I1  Partition p has digests with digest >> shift == p: digests of a partition are below those of
 *     the next one.
 * I2  Its keys are digests[p·room .. p·room + count[p] - 1], in the order of the batch.
 * I3  Key i of the n partitioned ones is the next key of partition part[i], in that order. */
struct partitions {
    unsigned parts; /* a power of two */
    unsigned shift;
    size_t most; /* room for all keys together */
    size_t room; /* room for the keys of one partition */
    size_t n;    /* keys partitioned */
    bool sweep;  /* prefetch the cache lines of a later span of keys at a steady rate */
    uint64_t *digests;
    uint32_t *count;
    uint16_t *part;   /* NULL without answers */
    uint8_t *answers; /* where the digests are */
};

bool partitioned_query_pays(const perhaps *f, size_t n) {
    if (n < FEWEST_KEYS || !f->children || f->kind->composite->key_in_one_child || !filter_cache_line(newest_of(f)))
        return false;
    uint64_t bytes = filter_bytes(f);
    return bytes >= FEWEST_BYTES && n >= FEWEST_KEYS_TIMES_BYTES / bytes;
}

/* Partitions of uniform digests seldom need more; a full one ends the batch early. They begin an
 * odd number of cache lines apart, to use all sets of the cache. */
static size_t room_of_part(size_t keys) {
    return (keys + keys / 16 + 128) / 8 * 8 | 8;
}

/* For up to n keys, as many as the size of the filter allows. */
static struct partitions plan(const perhaps *f, size_t n) {
    uint64_t most = filter_bytes(f) / BYTES_PER_KEY;
    struct partitions partitions = {.parts = 2};
    if (most > MOST_KEYS) most = MOST_KEYS;
    partitions.most = most < n ? (size_t)most : n;
    while (partitions.parts < MOST_PARTS && partitions.parts * (size_t)CHILD_BLOCK < partitions.most)
        partitions.parts *= 2;
    partitions.shift = 64 - (unsigned)__builtin_ctz(partitions.parts);
    partitions.room = room_of_part(partitions.most / partitions.parts);
    return partitions;
}

static uint64_t bytes_of(const struct partitions *partitions, bool answered) {
    uint64_t of_key = sizeof *partitions->digests + (answered ? sizeof *partitions->answers : 0);
    return partitions->parts * (partitions->room * of_key + sizeof *partitions->count) +
           (answered ? partitions->most * sizeof *partitions->part : 0);
}

static void use_memory(struct partitions *partitions, uint8_t *memory, bool answered) {
    partitions->digests = (uint64_t *)(void *)memory;
    partitions->count = (uint32_t *)(partitions->digests + partitions->parts * partitions->room);
    if (!answered) return;
    partitions->part = (uint16_t *)(partitions->count + partitions->parts);
    partitions->answers = (uint8_t *)(partitions->part + partitions->most);
}

/* Puts n keys into their partitions, or as many as there is room for. One pass: to count first, as
 * base/scatter.h does, takes 3 to 7 % more time for the whole batch. */
static inline __attribute__((always_inline)) size_t put(struct partitions *partitions, const uint64_t *digests,
                                                        size_t n, bool answered) {
    uint32_t *restrict count = partitions->count;
    uint16_t *restrict part = answered ? partitions->part + partitions->n : NULL;
    size_t room = partitions->room, i;
    for (i = 0; i < n; i++) {
        size_t p = (size_t)(digests[i] >> partitions->shift);
        if (__builtin_expect(count[p] == room, 0)) break;
        uint64_t *place = partitions->digests + p * room + count[p]++;
        scatter_put(place, digests[i]);
        if (answered) part[i] = (uint16_t)p;
    }
    partitions->n += i;
    return i;
}

/* Partitions the first of n keys, until they are enough or a partition is full. */
static void collect(const perhaps *f, const perhaps_keys *keys, size_t from, size_t n, unsigned swept_bytes,
                    struct partitions *partitions) {
    uint64_t room[CHUNK];
    size_t some, done;
    if (n > partitions->most) n = partitions->most;
    partitions->n = 0;
    memset(partitions->count, 0, partitions->parts * sizeof *partitions->count);
    do {
        some = n - partitions->n < CHUNK ? n - partitions->n : CHUNK;
        const uint64_t *digests = keys_digests(&f->hash, false, keys, from + partitions->n, some, room);
        done = partitions->part ? put(partitions, digests, some, true) : put(partitions, digests, some, false);
    } while (done == some && partitions->n < n);
    partitions->sweep = partitions->n * (uint64_t)swept_bytes >= filter_bytes(f);
}

/* What to prefetch with piece i of partition p: the same piece of the next one, or nothing. */
static struct span span_ahead(const struct partitions *partitions, unsigned p, size_t i, size_t pieces) {
    if (p + 1 == partitions->parts) return (struct span){0, 0};
    uint64_t width = (UINT64_C(1) << partitions->shift) / pieces, first = ((uint64_t)p + 1) << partitions->shift;
    return (struct span){first + i * width, first + i * width + (width - 1)};
}

/* Gives the number of keys found. */
static uint64_t query_part(const perhaps *f, const struct partitions *partitions, unsigned p) {
    const uint64_t *digests = partitions->digests + p * partitions->room;
    uint8_t *answers = partitions->answers + p * partitions->room;
    size_t n = partitions->count[p], pieces = (n + CHILD_BLOCK - 1) / CHILD_BLOCK, from = 0;
    for (size_t i = 0; i < pieces; i++) {
        size_t some = (n - from) / (pieces - i);
        struct span next = span_ahead(partitions, p, i, pieces);
        any_child_has_partition(f, digests + from, some, answers + from, partitions->sweep ? &next : NULL);
        from += some;
    }
    return count_ones(answers, n);
}

/* Writes the answers in the order of the batch. */
static void restore_order(const struct partitions *partitions, uint8_t *restrict answers) {
    const uint16_t *restrict part = partitions->part;
    const uint8_t *restrict partition_answers = partitions->answers;
    uint32_t *restrict count = partitions->count;
    size_t room = partitions->room;
    memset(count, 0, partitions->parts * sizeof *count);
    for (size_t i = 0, n = partitions->n; i < n; i++) answers[i] = partition_answers[part[i] * room + count[part[i]]++];
}

bool partitioned_query(const perhaps *f, const perhaps_keys *keys, uint8_t *answers, uint64_t *ones) {
    size_t n = keys->n;
    struct partitions partitions = plan(f, n);
    struct scratch *scratch = scratch_take(f, bytes_of(&partitions, true));
    if (!scratch) return false;
    use_memory(&partitions, scratch->room, true);
    *ones = 0;
    for (size_t from = 0; from < n; from += partitions.n) {
        collect(f, keys, from, n - from, SWEPT_BYTES, &partitions);
        for (unsigned p = 0; p < partitions.parts; p++) *ones += query_part(f, &partitions, p);
        if (answers) restore_order(&partitions, answers + from);
    }
    scratch_leave(f, scratch);
    return true;
}

/* ---- adding ---- */

bool partitioned_add_pays(const perhaps *f, size_t n) {
    if (n < FEWEST_KEYS || !f->ops.batch || !f->ops.batch->add_partition) return false;
    return f->array.length >= FEWEST_BYTES_TO_ADD && f->array.length / n <= DENSE_BYTES;
}

/* As filter_add_many. Without `sweep` it prefetches nothing of the next partition: keys are few
 * when one partition was full long before the others. */
static int add_part(perhaps *f, const struct partitions *partitions, unsigned p, size_t *done) {
    const uint64_t *digests = partitions->digests + p * partitions->room;
    struct span next = span_ahead(partitions, p, 0, 1);
    int rc = PERHAPS_OK;
    *done = 0;
    while (rc == PERHAPS_OK && *done < partitions->count[p]) {
        size_t rest = partitions->count[p] - *done;
        *done += f->ops.batch->add_partition(&f->array, digests + *done, rest, partitions->sweep ? &next : NULL);
        if (*done < partitions->count[p]) rc = filter_grow(f, digests[*done]);
    }
    filter_count_added(f, 0, *done);
    return rc;
}

/* Adds all partitions, or nothing. */
static int add_parts(perhaps *f, const struct partitions *partitions) {
    for (unsigned p = 0; p < partitions->parts; p++) {
        size_t done;
        int rc = add_part(f, partitions, p, &done);
        if (rc == PERHAPS_OK) continue;
        filter_undo(f, partitions->digests + p * partitions->room, done, NULL);
        while (p-- > 0) filter_undo(f, partitions->digests + p * partitions->room, partitions->count[p], NULL);
        return rc;
    }
    return PERHAPS_OK;
}

int64_t partitioned_add(perhaps *f, const perhaps_keys *keys, uint8_t *answers) {
    size_t n = keys->n;
    struct partitions partitions = plan(f, n);
    uint64_t bytes = bytes_of(&partitions, false);
    uint8_t *memory = memory_get(&f->allocator, bytes);
    size_t added = 0;
    if (!memory) return fail(PERHAPS_ENOMEM, "no memory to partition %zu keys", n);
    int rc = PERHAPS_OK;
    use_memory(&partitions, memory, false);
    while (rc == PERHAPS_OK && added < n) {
        collect(f, keys, added, n - added, DENSE_BYTES, &partitions);
        rc = add_parts(f, &partitions);
        if (rc == PERHAPS_OK) added += partitions.n;
    }
    if (rc < 0) batch_undo(f, keys, added, NULL);
    memory_release(&f->allocator, memory, bytes);
    if (rc == PERHAPS_OK && answers) memset(answers, 1, n);
    return rc < 0 ? rc : (int64_t)n;
}
