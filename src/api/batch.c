/* The verbs on a batch of keys: the same answers as single calls in order. Keys are hashed CHUNK at
 * a time, and memory is prefetched. */
#include "api/batch.h"

#include "api/partitioned.h"
#include "base/memory.h"
#include "base/error.h"

enum { AHEAD = 16 }; /* keys; how far ahead memory is prefetched, where the kind has no pipeline */

int batch_check(const perhaps *f, const perhaps_keys *keys) {
    int rc = keys_check(keys);
    if (rc < 0 || keys->form == PERHAPS_KEYS_FORM_U64) return rc;
    return keys->form == PERHAPS_KEYS_FORM_DIGEST ? filter_takes_digests(f) : filter_takes_bytes(f);
}

/* ---- keys whose digests have two words ---- */

static struct digest pair_at(const uint64_t *pairs, size_t i) {
    return (struct digest){pairs[2 * i], pairs[2 * i + 1]};
}

/* Cannot run out of room half-way: batch_provide has made it. */
static int add_each(perhaps *f, const uint64_t *pairs, size_t n, uint8_t *answers) {
    for (size_t i = 0; i < n; i++) {
        int is_new = filter_add(f, pair_at(pairs, i));
        if (is_new < 0) return is_new;
        answers[i] = (uint8_t)is_new;
    }
    return PERHAPS_OK;
}

static int64_t add_pairs(perhaps *f, const perhaps_keys *keys, uint8_t *answers) {
    uint64_t pairs[2 * CHUNK], added = 0;
    uint8_t some_answers[CHUNK];
    for (size_t from = 0; from < keys->n; from += CHUNK) {
        size_t some = keys->n - from < CHUNK ? keys->n - from : CHUNK;
        uint8_t *out = answers ? answers + from : some_answers;
        int rc = PERHAPS_OK;
        keys_digest_pairs(&f->hash, keys, from, some, pairs);
        if (f->ops.add_many)
            f->ops.add_many(&f->array, pairs, some, out, (const char *)pairs);
        else
            rc = add_each(f, pairs, some, out);
        if (rc < 0) return rc;
        added += count_ones(out, some);
    }
    if (f->ops.add_many) filter_count_added(f, 0, added); /* filter_add has counted the others */
    return (int64_t)added;
}

/* Batch queries of composite filters take digests of one word only. */
static int64_t query_pairs(const perhaps *f, const perhaps_keys *keys, uint8_t *answers) {
    uint64_t pairs[2 * CHUNK], found = 0;
    uint8_t some_answers[CHUNK];
    bool singly = f->children || !f->ops.contains_many;
    for (size_t from = 0; from < keys->n; from += CHUNK) {
        size_t some = keys->n - from < CHUNK ? keys->n - from : CHUNK;
        uint8_t *out = answers ? answers + from : some_answers;
        keys_digest_pairs(&f->hash, keys, from, some, pairs);
        if (!singly) f->ops.contains_many(&f->array, pairs, some, out, (const char *)pairs);
        for (size_t i = 0; singly && i < some; i++) out[i] = (uint8_t)f->ops.contains(&f->array, pair_at(pairs, i));
        found += count_ones(out, some);
    }
    return (int64_t)found;
}

/* ---- room for the digests and answers of a chunk ---- */

struct room {
    size_t chunk; /* keys */
    uint64_t *digests;
    uint8_t *answers;
    struct scratch *large; /* for scratch_leave; NULL: the arrays below are used */
    uint64_t small_digests[CHUNK];
    uint8_t small_answers[CHUNK];
};

/* Falls back to small chunks when memory is short. */
static void get_room(const perhaps *f, size_t n, struct room *room) {
    room->chunk = CHUNK;
    room->digests = room->small_digests;
    room->answers = room->small_answers;
    room->large = f->children && n > CHUNK ? scratch_take(f, SCRATCH_BYTES) : NULL;
    if (!room->large) return;
    room->chunk = LARGE_BATCH;
    room->digests = (uint64_t *)(void *)room->large->room;
    room->answers = (uint8_t *)(room->digests + LARGE_BATCH);
}

/* ---- adding ---- */

void batch_undo(perhaps *f, const perhaps_keys *keys, size_t n, const uint8_t *answers) {
    uint64_t digests[CHUNK];
    for (size_t from = 0; from < n; from += CHUNK) {
        size_t count = n - from < CHUNK ? n - from : CHUNK;
        filter_undo(f, keys_digests(&f->hash, keys, from, count, digests), count, answers ? answers + from : NULL);
    }
}

/* What is read after these digests, for `ahead`: the next integers if they are read in place. */
static const char *read_next(const perhaps_keys *keys, size_t from, const uint64_t *digests, size_t count) {
    const uint64_t *words = keys->form == PERHAPS_KEYS_FORM_U64 ? keys_words(keys, from) : NULL;
    return (const char *)((words ? words : digests) + count);
}

static int64_t add_all(perhaps *f, const perhaps_keys *keys, uint8_t *answers, struct room *room) {
    uint64_t fresh = 0;
    for (size_t from = 0; from < keys->n; from += room->chunk) {
        size_t count = keys->n - from < room->chunk ? keys->n - from : room->chunk;
        struct added added;
        uint8_t *out = answers ? answers + from : room->answers;
        const uint64_t *digests = keys_digests(&f->hash, keys, from, count, room->digests);
        int rc = filter_add_many(f, digests, count, out, read_next(keys, from, digests, count), &added);
        if (rc < 0) {
            if (answers) batch_undo(f, keys, from + added.done, answers);
            return rc;
        }
        fresh += added.fresh;
    }
    return (int64_t)fresh;
}

static void expect_pairs(perhaps *f, const perhaps_keys *keys) {
    uint64_t pairs[2 * CHUNK];
    for (size_t from = 0; from < keys->n; from += CHUNK) {
        size_t some = keys->n - from < CHUNK ? keys->n - from : CHUNK;
        keys_digest_pairs(&f->hash, keys, from, some, pairs);
        for (size_t i = 0; i < some; i++) f->kind->composite->ops->reserving->expect_one(f, pair_at(pairs, i));
    }
}

static void expect_all(perhaps *f, const perhaps_keys *keys) {
    uint64_t digests[CHUNK];
    for (size_t from = 0; from < keys->n; from += CHUNK) {
        size_t count = keys->n - from < CHUNK ? keys->n - from : CHUNK;
        f->kind->composite->ops->reserving->expect(f, keys_digests(&f->hash, keys, from, count, digests), count);
    }
}

int batch_provide(perhaps *f, const perhaps_keys *keys) {
    const struct children_ops *ops = f->children ? f->kind->composite->ops : NULL;
    if (!ops || !ops->provide) return PERHAPS_OK;
    if (ops->reserving && keys->n > ops->reserving->room(f)) (f->two_words ? expect_pairs : expect_all)(f, keys);
    return ops->provide(f);
}

int64_t batch_put(perhaps *f, const perhaps_keys *keys, uint8_t *answers) {
    struct room room;
    if (f->two_words) return add_pairs(f, keys, answers);
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

/* An empty batch is no change, which would mark a mapped file dirty. */
int batch_begin(perhaps *f, const perhaps_keys *keys) {
    return keys->n == 0 && f->state == CLEAN_MAP ? PERHAPS_OK : filter_prepare_change(f);
}

int64_t batch_add(perhaps *f, const perhaps_keys *keys, uint8_t *answers) {
    int rc = batch_begin(f, keys);
    if (rc < 0 || keys->n == 0) return rc;
    if (f->bins) return collect_all_or_none(f, keys, answers);
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

int64_t batch_contains(const perhaps *f, const perhaps_keys *keys, uint8_t *answers) {
    struct room room;
    uint64_t ones = 0;
    int rc = filter_check_sealed(f);
    if (rc < 0) return rc;
    if (f->two_words) return query_pairs(f, keys, answers);
    if (partitioned_query_pays(f, keys->n) && partitioned_query(f, keys, answers, &ones)) return (int64_t)ones;
    get_room(f, keys->n, &room);
    for (size_t from = 0; from < keys->n; from += room.chunk) {
        size_t count = keys->n - from < room.chunk ? keys->n - from : room.chunk;
        uint8_t *out = answers ? answers + from : room.answers;
        const uint64_t *digests = keys_digests(&f->hash, keys, from, count, room.digests);
        f->ops.contains_many(&f->array, digests, count, out, read_next(keys, from, digests, count));
        ones += count_ones(out, count);
    }
    scratch_leave(f, room.large);
    return (int64_t)ones;
}

int64_t perhaps_contains_many(const perhaps *f, const perhaps_keys *keys, uint8_t *answers) {
    int rc = batch_check(f, keys);
    return rc < 0 ? rc : batch_contains(f, keys, answers);
}

/* ---- removing and counting ---- */

static void prefetch_ahead(const perhaps *f, const uint64_t *digests, size_t i, size_t n) {
    if (i + AHEAD < n) f->ops.prefetch(&f->array, one_word(digests[i + AHEAD]));
}

int64_t perhaps_remove_many(perhaps *f, const perhaps_keys *keys, uint8_t *answers) {
    uint64_t room[CHUNK], removed = 0;
    int rc = batch_check(f, keys);
    if (rc == PERHAPS_OK) rc = f->ops.remove ? batch_begin(f, keys) : filter_cannot(f, "forget single keys");
    if (rc < 0) return rc;
    for (size_t from = 0; from < keys->n; from += CHUNK) {
        size_t count = keys->n - from < CHUNK ? keys->n - from : CHUNK;
        const uint64_t *digests = keys_digests(&f->hash, keys, from, count, room);
        for (size_t i = 0; i < count; i++) {
            prefetch_ahead(f, digests, i, count);
            int gone = f->ops.remove(&f->array, one_word(digests[i]));
            if (answers) answers[from + i] = (uint8_t)gone;
            removed += (uint64_t)gone;
        }
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
    for (size_t from = 0; from < keys->n; from += CHUNK) {
        size_t count = keys->n - from < CHUNK ? keys->n - from : CHUNK;
        const uint64_t *digests = keys_digests(&f->hash, keys, from, count, room);
        for (size_t i = 0; i < count; i++) {
            prefetch_ahead(f, digests, i, count);
            uint64_t copies = f->ops.count(&f->array, one_word(digests[i]));
            if (counts) counts[from + i] = copies;
            present += copies != 0;
        }
    }
    return present;
}
