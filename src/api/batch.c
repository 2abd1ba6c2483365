/* The verbs on a batch of keys: the same answers as single calls in order. Keys are hashed CHUNK at
 * a time, and memory is prefetched. */
#include "api/batch.h"

#include "api/partitioned.h"
#include "base/memory.h"
#include "base/error.h"

#include <string.h>

enum { AHEAD = 16 }; /* keys; how far ahead memory is prefetched, where the kind has no pipeline */

int batch_check(const perhaps *f, const perhaps_keys *keys) {
    int rc = keys_check(keys);
    if (rc < 0 || keys->form == PERHAPS_KEYS_FORM_U64) return rc;
    return keys->form == PERHAPS_KEYS_FORM_DIGEST ? filter_takes_digests(f) : filter_takes_bytes(f);
}

bool next_chunk(const perhaps *f, const perhaps_keys *keys, uint64_t *room, size_t words, struct chunk *chunk) {
    size_t most = f->two_words ? words / 2 : words;
    chunk->from += chunk->n;
    chunk->n = keys->n - chunk->from < most ? keys->n - chunk->from : most;
    if (chunk->n) chunk->digests = keys_digests(&f->hash, f->two_words, keys, chunk->from, chunk->n, room);
    return chunk->n > 0;
}

/* The batch operations of composite filters take digests of one word only; a kind of two may have
 * none. */
static bool takes_pairs_singly(const perhaps *f) {
    return f->two_words && (f->children || !f->ops.add_many);
}

static struct digest pair_at(const struct chunk *chunk, size_t i) {
    return (struct digest){chunk->digests[2 * i], chunk->digests[2 * i + 1]};
}

/* ---- room for the digests and answers of a chunk ---- */

struct room {
    size_t words; /* of digests */
    uint64_t *digests;
    uint8_t *answers;
    struct scratch *large; /* for scratch_leave; NULL: the arrays below are used */
    uint64_t small_digests[CHUNK];
    uint8_t small_answers[CHUNK];
};

/* Falls back to small chunks when memory is short. */
static void get_room(const perhaps *f, size_t n, struct room *room) {
    room->words = CHUNK;
    room->digests = room->small_digests;
    room->answers = room->small_answers;
    room->large = f->children && !f->two_words && n > CHUNK ? scratch_take(f, SCRATCH_BYTES) : NULL;
    if (!room->large) return;
    room->words = LARGE_BATCH;
    room->digests = (uint64_t *)(void *)room->large->room;
    room->answers = (uint8_t *)(room->digests + LARGE_BATCH);
}

/* What is read after this chunk, for `ahead`: the next integers if they are read in place. */
static const char *read_next(const perhaps_keys *keys, const struct chunk *chunk) {
    const uint64_t *words = keys->form == PERHAPS_KEYS_FORM_U64 ? keys_words(keys, chunk->from) : NULL;
    return (const char *)((words ? words : chunk->digests) + chunk->n);
}

/* ---- a few keys ---- */

/* They are done by single operations: a pipeline would take longer to begin and to end than the
 * keys take. For more than the processor looks ahead over, memory is prefetched (perhaps bench
 * --small measures both). */
enum { FEW = 16, SEEN_AHEAD = 4 };

static bool are_few(const perhaps *f, const perhaps_keys *keys) {
    return keys->n <= FEW && !f->children && !f->bins && !f->two_words;
}

static void prefetch_few(const perhaps *f, const uint64_t *digests, size_t n) {
    for (size_t i = 0; i < n; i++) f->ops.prefetch(&f->array, one_word(digests[i]));
}

static const uint64_t *take_few(const perhaps *f, const perhaps_keys *keys, uint64_t room[FEW]) {
    const uint64_t *digests = keys_digests(&f->hash, false, keys, 0, keys->n, room);
    if (keys->n > SEEN_AHEAD && !is_near(&f->array)) prefetch_few(f, digests, keys->n);
    return digests;
}

static int64_t contains_few(const perhaps *f, const uint64_t *digests, size_t n, uint8_t *answers) {
    int64_t ones = 0;
    for (size_t i = 0; i < n; i++) {
        int answer = f->ops.contains(&f->array, one_word(digests[i]));
        if (answers) answers[i] = (uint8_t)answer;
        ones += answer;
    }
    return ones;
}

/* What databases have most: a few integers side by side, under xxh3, for a plain filter. NULL if
 * these are not; keys_check looks at those. */
static const uint64_t *few_integers(const perhaps *f, const perhaps_keys *keys) {
    if (!keys || keys->n > FEW || keys->form != PERHAPS_KEYS_FORM_U64 || keys->width != sizeof(uint64_t)) return NULL;
    if (f->hash.id != PERHAPS_XXH3 || f->children || f->bins) return NULL;
    return keys_words(keys, 0);
}

static int64_t contains_integers(const perhaps *f, const uint64_t *keys, size_t n, uint8_t *answers) {
    int64_t ones = 0;
    for (size_t i = 0; i < n; i++) {
        int answer = filter_contains_u64(f, keys[i]);
        if (answers) answers[i] = (uint8_t)answer;
        ones += answer;
    }
    return ones;
}

static int64_t contains_far_integers(const perhaps *f, const uint64_t *keys, size_t n, uint8_t *answers) {
    uint64_t digests[FEW];
    for (size_t i = 0; i < n; i++) {
        digests[i] = hash_u64_xxh3(&f->hash, keys[i]);
        f->ops.prefetch(&f->array, one_word(digests[i]));
    }
    return contains_few(f, digests, n, answers);
}

static int64_t add_few(perhaps *f, const perhaps_keys *keys, uint8_t *answers) {
    uint64_t room[FEW], fresh = 0;
    uint8_t is_new[FEW];
    const uint64_t *digests = take_few(f, keys, room);
    for (size_t i = 0; i < keys->n; i++) {
        int added = filter_add(f, one_word(digests[i]));
        if (added < 0) {
            filter_undo(f, digests, i, is_new);
            return added;
        }
        is_new[i] = (uint8_t)added;
        fresh += (uint64_t)added;
    }
    if (answers) memcpy(answers, is_new, keys->n);
    return (int64_t)fresh;
}

/* ---- adding ---- */

/* Kinds with digests of two words cannot remove keys. */
void batch_undo(perhaps *f, const perhaps_keys *keys, size_t n, const uint8_t *answers) {
    uint64_t room[CHUNK];
    perhaps_keys added = keys_slice(keys, 0, f->two_words ? 0 : n);
    for (struct chunk chunk = {0}; next_chunk(f, &added, room, CHUNK, &chunk);)
        filter_undo(f, chunk.digests, chunk.n, answers ? answers + chunk.from : NULL);
}

/* Cannot run out of room half-way: batch_provide has made it. */
static int add_pairs(perhaps *f, const struct chunk *chunk, uint8_t *answers, struct added *added) {
    *added = (struct added){0};
    for (size_t i = 0; i < chunk->n; i++) {
        int is_new = filter_add(f, pair_at(chunk, i));
        if (is_new < 0) return is_new;
        answers[i] = (uint8_t)is_new;
        added->fresh += (uint64_t)is_new;
    }
    return PERHAPS_OK;
}

static int64_t add_all(perhaps *f, const perhaps_keys *keys, uint8_t *answers, struct room *room) {
    uint64_t fresh = 0;
    for (struct chunk chunk = {0}; next_chunk(f, keys, room->digests, room->words, &chunk);) {
        struct added added;
        uint8_t *out = answers ? answers + chunk.from : room->answers;
        int rc = takes_pairs_singly(f)
                     ? add_pairs(f, &chunk, out, &added)
                     : filter_add_many(f, chunk.digests, chunk.n, out, read_next(keys, &chunk), &added);
        if (rc < 0) {
            if (answers) batch_undo(f, keys, chunk.from + added.done, answers);
            return rc;
        }
        fresh += added.fresh;
    }
    return (int64_t)fresh;
}

static void expect(perhaps *f, const perhaps_keys *keys, const struct reserving *reserving) {
    uint64_t room[CHUNK];
    for (struct chunk chunk = {0}; next_chunk(f, keys, room, CHUNK, &chunk);) {
        if (!f->two_words) reserving->expect(f, chunk.digests, chunk.n);
        for (size_t i = 0; f->two_words && i < chunk.n; i++) reserving->expect_one(f, pair_at(&chunk, i));
    }
}

int batch_provide(perhaps *f, const perhaps_keys *keys) {
    const struct children_ops *ops = f->children ? f->kind->composite->ops : NULL;
    if (!ops || !ops->provide) return PERHAPS_OK;
    if (ops->reserving && keys->n > ops->reserving->room(f)) expect(f, keys, ops->reserving);
    return ops->provide(f);
}

int64_t batch_put(perhaps *f, const perhaps_keys *keys, uint8_t *answers) {
    struct room room;
    get_room(f, keys->n, &room);
    int64_t added = add_all(f, keys, answers, &room);
    scratch_leave(f, room.large);
    return added;
}

static int64_t collect_all_or_none(perhaps *f, const perhaps_keys *keys, uint8_t *answers) {
    int rc = bins_begin(f->bins, keys->n);
    if (rc < 0) return rc;
    int64_t added = batch_put(f, keys, answers);
    if (added < 0) bins_undo(f->bins);
    f->header.items = bins_keys(f->bins);
    return added;
}

/* An empty batch is no change: it marks no file dirty, and nothing refuses it. */
int batch_begin(perhaps *f, const perhaps_keys *keys) {
    return keys->n == 0 ? PERHAPS_OK : filter_prepare_change(f);
}

int64_t batch_add(perhaps *f, const perhaps_keys *keys, uint8_t *answers) {
    int rc = batch_begin(f, keys);
    if (rc < 0 || keys->n == 0) return rc;
    if (f->bins) return collect_all_or_none(f, keys, answers);
    if (are_few(f, keys)) return add_few(f, keys, answers);
    rc = batch_provide(f, keys);
    if (rc < 0) return rc;
    if (partitioned_add_pays(f, keys->n)) return partitioned_add(f, keys, answers);
    if (answers || !filter_may_be_full(f)) return batch_put(f, keys, answers);
    /* batch_undo needs the answers. */
    answers = memory_get(&f->allocator, keys->n);
    if (!answers) return fail(PERHAPS_ENOMEM, "no memory for %zu answers", keys->n);
    int64_t added = batch_put(f, keys, answers);
    memory_release(&f->allocator, answers, keys->n);
    return added;
}

int64_t perhaps_add_many(perhaps *f, const perhaps_keys *keys, uint8_t *answers) {
    int rc = batch_check(f, keys);
    return rc < 0 ? rc : batch_add(f, keys, answers);
}

/* ---- queries ---- */

static void query(const perhaps *f, const perhaps_keys *keys, const struct chunk *chunk, uint8_t *answers) {
    if (!takes_pairs_singly(f))
        f->ops.contains_many(&f->array, chunk->digests, chunk->n, answers, read_next(keys, chunk));
    else
        for (size_t i = 0; i < chunk->n; i++) answers[i] = (uint8_t)f->ops.contains(&f->array, pair_at(chunk, i));
}

int64_t batch_contains(const perhaps *f, const perhaps_keys *keys, uint8_t *answers) {
    struct room room;
    uint64_t ones = 0;
    int rc = filter_check_sealed(f);
    if (rc < 0) return rc;
    if (are_few(f, keys)) {
        uint64_t digests[FEW];
        return contains_few(f, take_few(f, keys, digests), keys->n, answers);
    }
    if (partitioned_query_pays(f, keys->n) && partitioned_query(f, keys, answers, &ones)) return (int64_t)ones;
    get_room(f, keys->n, &room);
    for (struct chunk chunk = {0}; next_chunk(f, keys, room.digests, room.words, &chunk);) {
        uint8_t *out = answers ? answers + chunk.from : room.answers;
        query(f, keys, &chunk, out);
        ones += count_ones(out, chunk.n);
    }
    scratch_leave(f, room.large);
    return (int64_t)ones;
}

int64_t perhaps_contains_many(const perhaps *f, const perhaps_keys *keys, uint8_t *answers) {
    const uint64_t *integers = few_integers(f, keys);
    if (integers && (keys->n <= SEEN_AHEAD || is_near(&f->array)))
        return contains_integers(f, integers, keys->n, answers);
    if (integers) return contains_far_integers(f, integers, keys->n, answers);
    int rc = batch_check(f, keys);
    return rc < 0 ? rc : batch_contains(f, keys, answers);
}

/* ---- removing and counting ---- */

/* Key i of a chunk; the memory of a later one is prefetched. */
static struct digest take_digest(const perhaps *f, const struct chunk *chunk, size_t i) {
    if (i + AHEAD < chunk->n) f->ops.prefetch(&f->array, one_word(chunk->digests[i + AHEAD]));
    return one_word(chunk->digests[i]);
}

int64_t perhaps_remove_many(perhaps *f, const perhaps_keys *keys, uint8_t *answers) {
    uint64_t room[CHUNK], removed = 0;
    int rc = batch_check(f, keys);
    if (rc == PERHAPS_OK) rc = f->ops.remove ? batch_begin(f, keys) : filter_cannot(f, "remove keys");
    if (rc < 0) return rc;
    for (struct chunk chunk = {0}; next_chunk(f, keys, room, CHUNK, &chunk);)
        for (size_t i = 0; i < chunk.n; i++) {
            int gone = f->ops.remove(&f->array, take_digest(f, &chunk, i));
            if (answers) answers[chunk.from + i] = (uint8_t)gone;
            removed += (uint64_t)gone;
        }
    filter_count_removed(f, removed, removed);
    return (int64_t)removed;
}

int64_t perhaps_count_many(const perhaps *f, const perhaps_keys *keys, uint64_t *counts) {
    uint64_t room[CHUNK];
    int64_t present = 0;
    int rc = batch_check(f, keys);
    if (rc == PERHAPS_OK && !f->ops.count) rc = filter_cannot(f, "count copies of a key");
    if (rc < 0) return rc;
    for (struct chunk chunk = {0}; next_chunk(f, keys, room, CHUNK, &chunk);)
        for (size_t i = 0; i < chunk.n; i++) {
            uint64_t copies = f->ops.count(&f->array, take_digest(f, &chunk, i));
            if (counts) counts[chunk.from + i] = copies;
            present += copies != 0;
        }
    return present;
}
