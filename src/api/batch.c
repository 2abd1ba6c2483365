/*
 * The verbs on many keys at a time: the same answers as the single calls in order, but hashed CHUNK keys at a time, and with
 * memory fetched ahead.
 */
#include "api/batch.h"

#include "api/partitioned.h"
#include "base/memory.h"
#include "base/error.h"

/* How many keys ahead of its turn a key's memory is fetched, where the kind has no pipeline of its own. */
enum { AHEAD = 16 };

const uint64_t *many_digests(const perhaps *f, const struct keys *keys, size_t from, size_t n, uint64_t *room) {
    if (keys->digests) return keys->digests + from;
    if (keys->integers) {
        if (f->hash.id == PERHAPS_IDENTITY) return keys->integers + from;
        hash_u64_many(&f->hash, f->isa, keys->integers + from, n, room);
        return room;
    }
    hash_bytes_many(&f->hash, f->isa, keys->bytes + from, keys->lengths + from, n, room);
    return room;
}

int many_takes(const perhaps *f, const struct keys *keys) {
    return keys->bytes ? filter_takes_bytes(f) : keys->digests ? filter_takes_digests(f) : PERHAPS_OK;
}

void perhaps_digest_many(const perhaps *f, const void *const *keys, const size_t *lengths, size_t n,
                         uint64_t *digests) {
    hash_bytes_many(&f->hash, f->isa, keys, lengths, n, digests);
}

void perhaps_digest_many_u64(const perhaps *f, const uint64_t *keys, size_t n, uint64_t *digests) {
    hash_u64_many(&f->hash, f->isa, keys, n, digests);
}

/* ---- keys whose digests have two words ---- */

static struct digest digest_of(const perhaps *f, const struct keys *keys, size_t i) {
    return keys->integers ? filter_digest_u64(f, keys->integers[i])
                          : filter_digest(f, keys->bytes[i], keys->lengths[i]);
}

/* None of them can be full half-way: many_provide has made room. */
static int64_t add_one_by_one(perhaps *f, const struct keys *keys, size_t n, uint8_t *answers) {
    int64_t added = 0;
    for (size_t i = 0; i < n; i++) {
        int is_new = filter_add(f, digest_of(f, keys, i));
        if (is_new < 0) return is_new;
        if (answers) answers[i] = (uint8_t)is_new;
        added += is_new;
    }
    return added;
}

/* Both words of the digests of n keys, one after the other. */
static void hash_pairs(const perhaps *f, const struct keys *keys, size_t from, size_t n, uint64_t *pairs) {
    if (keys->integers) {
        hash_two_words_many_u64(&f->hash, f->isa, keys->integers + from, n, pairs);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        struct digest digest = digest_of(f, keys, from + i);
        pairs[2 * i] = digest.first;
        pairs[2 * i + 1] = digest.second;
    }
}

enum { PAIRS = CHUNK };

static int64_t add_pairs(perhaps *f, const struct keys *keys, size_t n, uint8_t *answers) {
    uint64_t pairs[2 * PAIRS], added = 0;
    uint8_t some_answers[PAIRS];
    if (!f->ops.add_many) return add_one_by_one(f, keys, n, answers);
    for (size_t from = 0; from < n; from += PAIRS) {
        size_t some = n - from < PAIRS ? n - from : PAIRS;
        uint8_t *out = answers ? answers + from : some_answers;
        hash_pairs(f, keys, from, some, pairs);
        f->ops.add_many(&f->array, pairs, some, out, (const char *)pairs);
        added += count_ones(out, some);
    }
    filter_count_added(f, 0, added);
    return (int64_t)added;
}

static int64_t ask_one_by_one(const perhaps *f, const struct keys *keys, size_t n, uint8_t *answers) {
    int64_t found = 0;
    for (size_t i = 0; i < n; i++) {
        int is_there = f->ops.contains(&f->array, digest_of(f, keys, i));
        if (answers) answers[i] = (uint8_t)is_there;
        found += is_there;
    }
    return found;
}

/* The batches of filters of filters are for digests of one word. */
static int64_t ask_pairs(const perhaps *f, const struct keys *keys, size_t n, uint8_t *answers) {
    uint64_t pairs[2 * PAIRS], found = 0;
    uint8_t some_answers[PAIRS];
    if (f->family || !f->ops.contains_many) return ask_one_by_one(f, keys, n, answers);
    for (size_t from = 0; from < n; from += PAIRS) {
        size_t some = n - from < PAIRS ? n - from : PAIRS;
        uint8_t *out = answers ? answers + from : some_answers;
        hash_pairs(f, keys, from, some, pairs);
        f->ops.contains_many(&f->array, pairs, some, out, (const char *)pairs);
        found += count_ones(out, some);
    }
    return (int64_t)found;
}

/* ---- room for the digests and answers of a chunk ---- */

struct room {
    size_t chunk; /* keys */
    uint64_t *digests;
    uint8_t *answers;
    struct scratch *large; /* memory to be left; else it is `small` */
    uint64_t small_digests[CHUNK];
    uint8_t small_answers[CHUNK];
};

/* Without memory for large chunks, small ones do. */
static void get_room(const perhaps *f, size_t n, struct room *room) {
    room->chunk = CHUNK;
    room->digests = room->small_digests;
    room->answers = room->small_answers;
    room->large = f->family && n > CHUNK ? scratch_take(f, SCRATCH_BYTES) : NULL;
    if (!room->large) return;
    room->chunk = LARGE_BATCH;
    room->digests = (uint64_t *)(void *)room->large->room;
    room->answers = (uint8_t *)(room->digests + LARGE_BATCH);
}

static void give_back_room(const perhaps *f, struct room *room) {
    if (room->large) scratch_leave(f, room->large);
}

static size_t chunk_length(const struct room *room, size_t rest) {
    return rest < room->chunk ? rest : room->chunk;
}

/* ---- adding ---- */

void many_undo(perhaps *f, const struct keys *keys, size_t n, const uint8_t *answers) {
    uint64_t digests[CHUNK];
    for (size_t from = 0; from < n; from += CHUNK) {
        size_t count = n - from < CHUNK ? n - from : CHUNK;
        filter_undo(f, many_digests(f, keys, from, count, digests), count, answers + from);
    }
}

static int64_t add_all(perhaps *f, const struct keys *keys, size_t n, uint8_t *answers, struct room *room) {
    uint64_t fresh = 0;
    for (size_t from = 0; from < n; from += room->chunk) {
        size_t count = chunk_length(room, n - from);
        struct added added;
        uint8_t *out = answers ? answers + from : room->answers;
        const uint64_t *digests = many_digests(f, keys, from, count, room->digests);
        const char *ahead = (const char *)((keys->integers ? keys->integers + from : digests) + count);
        int rc = filter_add_many(f, digests, count, out, ahead, &added);
        if (rc < 0) {
            if (answers) many_undo(f, keys, from + added.done, answers);
            return rc;
        }
        fresh += added.fresh;
    }
    return (int64_t)fresh;
}

int many_provide(perhaps *f, const struct keys *keys, size_t n) {
    const struct children_ops *ops = f->family ? f->kind->composite->ops : NULL;
    uint64_t digests[CHUNK];
    if (!ops || !ops->provide) return PERHAPS_OK;
    bool ask = ops->reserving && n > ops->reserving->room(f);
    for (size_t i = 0; ask && f->two_words && i < n; i++) ops->reserving->expect_one(f, digest_of(f, keys, i));
    ask = ask && !f->two_words;
    for (size_t from = 0; ask && from < n; from += CHUNK) {
        size_t count = n - from < CHUNK ? n - from : CHUNK;
        ops->reserving->expect(f, many_digests(f, keys, from, count, digests), count);
    }
    return ops->provide(f);
}

int64_t many_put(perhaps *f, const struct keys *keys, size_t n, uint8_t *answers) {
    struct room room;
    if (f->two_words) return add_pairs(f, keys, n, answers);
    get_room(f, n, &room);
    int64_t added = add_all(f, keys, n, answers, &room);
    give_back_room(f, &room);
    return added;
}

/* A static filter collects all of them, or none. */
static int64_t collect_all_or_none(perhaps *f, const struct keys *keys, size_t n, uint8_t *answers) {
    int rc = bins_begin(f->bins, n);
    if (rc < 0) return rc;
    int64_t added = many_put(f, keys, n, answers);
    if (added < 0) bins_undo(f->bins);
    f->header.items = bins_keys(f->bins);
    return added;
}

int64_t many_add(perhaps *f, const struct keys *keys, size_t n, uint8_t *answers) {
    int rc = many_takes(f, keys);
    if (rc == PERHAPS_OK) rc = filter_prepare_change(f);
    if (rc < 0 || n == 0) return rc;
    if (f->bins) return collect_all_or_none(f, keys, n, answers);
    rc = many_provide(f, keys, n);
    if (rc < 0) return rc;
    if (arranging_pays_to_add(f, n)) return arranging_add(f, keys, n, answers);
    if (answers || !filter_may_be_full(f)) return many_put(f, keys, n, answers);
    /* What must be undone if there is no room for all is to be remembered. */
    answers = memory_get(&f->allocator, n);
    if (!answers) return fail(PERHAPS_ENOMEM, "no memory for %llu answers", (unsigned long long)n);
    int64_t added = many_put(f, keys, n, answers);
    memory_release(&f->allocator, answers, n);
    return added;
}

int64_t perhaps_add_many(perhaps *f, const void *const *keys, const size_t *lengths, size_t n, uint8_t *answers) {
    return many_add(f, &(struct keys){.bytes = keys, .lengths = lengths}, n, answers);
}

int64_t perhaps_add_many_u64(perhaps *f, const uint64_t *keys, size_t n, uint8_t *answers) {
    return many_add(f, &(struct keys){.integers = keys}, n, answers);
}

int64_t perhaps_add_many_digest(perhaps *f, const uint64_t *digests, size_t n, uint8_t *answers) {
    return many_add(f, &(struct keys){.digests = digests}, n, answers);
}

/* ---- asking ---- */

int64_t many_contains(const perhaps *f, const struct keys *keys, size_t n, uint8_t *answers) {
    struct room room;
    uint64_t ones = 0;
    int rc = many_takes(f, keys);
    if (rc == PERHAPS_OK) rc = filter_is_sealed(f);
    if (rc < 0) return rc;
    if (f->two_words) return ask_pairs(f, keys, n, answers);
    if (arranging_pays(f, n) && arranging_ask(f, keys, n, answers, &ones)) return (int64_t)ones;
    get_room(f, n, &room);
    for (size_t from = 0; from < n; from += room.chunk) {
        size_t count = chunk_length(&room, n - from);
        uint8_t *out = answers ? answers + from : room.answers;
        const uint64_t *digests = many_digests(f, keys, from, count, room.digests);
        const char *ahead = (const char *)((keys->integers ? keys->integers + from : digests) + count);
        f->ops.contains_many(&f->array, digests, count, out, ahead);
        ones += count_ones(out, count);
    }
    give_back_room(f, &room);
    return (int64_t)ones;
}

int64_t perhaps_contains_many(const perhaps *f, const void *const *keys, const size_t *lengths, size_t n,
                              uint8_t *answers) {
    return many_contains(f, &(struct keys){.bytes = keys, .lengths = lengths}, n, answers);
}

int64_t perhaps_contains_many_u64(const perhaps *f, const uint64_t *keys, size_t n, uint8_t *answers) {
    return many_contains(f, &(struct keys){.integers = keys}, n, answers);
}

int64_t perhaps_contains_many_digest(const perhaps *f, const uint64_t *digests, size_t n, uint8_t *answers) {
    return many_contains(f, &(struct keys){.digests = digests}, n, answers);
}

/* ---- removing ---- */

static void fetch_ahead(const perhaps *f, const uint64_t *digests, size_t i, size_t n) {
    if (i + AHEAD < n) f->ops.fetch(&f->array, one_word(digests[i + AHEAD]));
}

static int64_t remove_many(perhaps *f, const struct keys *keys, size_t n, uint8_t *answers) {
    uint64_t room[CHUNK], removed = 0;
    int rc = many_takes(f, keys);
    if (rc == PERHAPS_OK) rc = f->ops.remove ? filter_prepare_change(f) : filter_cannot(f, "forget single keys");
    if (rc < 0) return rc;
    for (size_t from = 0; from < n; from += CHUNK) {
        size_t count = n - from < CHUNK ? n - from : CHUNK;
        const uint64_t *digests = many_digests(f, keys, from, count, room);
        for (size_t i = 0; i < count; i++) {
            fetch_ahead(f, digests, i, count);
            int gone = f->ops.remove(&f->array, one_word(digests[i]));
            if (answers) answers[from + i] = (uint8_t)gone;
            removed += (uint64_t)gone;
        }
    }
    filter_count_removed(f, removed, removed);
    return (int64_t)removed;
}

int64_t perhaps_remove_many(perhaps *f, const void *const *keys, const size_t *lengths, size_t n, uint8_t *answers) {
    return remove_many(f, &(struct keys){.bytes = keys, .lengths = lengths}, n, answers);
}

int64_t perhaps_remove_many_u64(perhaps *f, const uint64_t *keys, size_t n, uint8_t *answers) {
    return remove_many(f, &(struct keys){.integers = keys}, n, answers);
}

int64_t perhaps_remove_many_digest(perhaps *f, const uint64_t *digests, size_t n, uint8_t *answers) {
    return remove_many(f, &(struct keys){.digests = digests}, n, answers);
}

/* ---- counting ---- */

static int64_t count_many(const perhaps *f, const struct keys *keys, size_t n, uint64_t *counts) {
    uint64_t room[CHUNK];
    int64_t present = 0;
    int rc = many_takes(f, keys);
    if (rc == PERHAPS_OK && !f->ops.count) rc = filter_cannot(f, "count copies of a key");
    if (rc < 0) return rc;
    for (size_t from = 0; from < n; from += CHUNK) {
        size_t count = n - from < CHUNK ? n - from : CHUNK;
        const uint64_t *digests = many_digests(f, keys, from, count, room);
        for (size_t i = 0; i < count; i++) {
            fetch_ahead(f, digests, i, count);
            counts[from + i] = f->ops.count(&f->array, one_word(digests[i]));
            present += counts[from + i] != 0;
        }
    }
    return present;
}

int64_t perhaps_count_many(const perhaps *f, const void *const *keys, const size_t *lengths, size_t n,
                           uint64_t *counts) {
    return count_many(f, &(struct keys){.bytes = keys, .lengths = lengths}, n, counts);
}

int64_t perhaps_count_many_u64(const perhaps *f, const uint64_t *keys, size_t n, uint64_t *counts) {
    return count_many(f, &(struct keys){.integers = keys}, n, counts);
}

int64_t perhaps_count_many_digest(const perhaps *f, const uint64_t *digests, size_t n, uint64_t *counts) {
    return count_many(f, &(struct keys){.digests = digests}, n, counts);
}
