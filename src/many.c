/*
 * The verbs on many keys at a time: the same answers as the single calls in order, but hashed CHUNK keys at a time, and with
 * memory fetched ahead.
 */
#include "base/memory.h"
#include "base/why.h"
#include "filter.h"

enum {
    CHUNK = 2048, /* keys hashed at a time: their digests stay in the first-level cache */
    AHEAD =
        16 /* how many keys ahead of its turn a key's memory is fetched, where the kind has no pipeline of its own */
};

/* Where the keys of a batch come from: one of the three forms. */
struct keys {
    const void *const *bytes;
    const size_t *lengths;
    const uint64_t *integers;
    const uint64_t *digests;
};

/* The digests of keys from..from+n-1: the caller's own, or made in `room`. */
static const uint64_t *digests_of(const perhaps *f, const struct keys *keys, size_t from, size_t n, uint64_t *room) {
    if (keys->digests) return keys->digests + from;
    if (keys->integers) {
        if (f->hash.id == PERHAPS_IDENTITY) return keys->integers + from;
        hash_u64_many(&f->hash, f->isa, keys->integers + from, n, room);
        return room;
    }
    for (size_t i = 0; i < n; i++) room[i] = hash_bytes(&f->hash, keys->bytes[from + i], keys->lengths[from + i]);
    return room;
}

static int takes(const perhaps *f, const struct keys *keys) {
    return keys->bytes ? filter_takes_bytes(f) : keys->digests ? filter_takes_digests(f) : PERHAPS_OK;
}

static size_t chunk_length(size_t rest) {
    return rest < CHUNK ? rest : CHUNK;
}

static uint64_t count_ones(const uint8_t *answers, size_t n) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) sum += answers[i];
    return sum;
}

static inline struct digest one_word(uint64_t digest) {
    return (struct digest){digest, 0};
}

/* ---- adding ---- */

/* Adds a chunk, growing as needed. On failure *done says how many keys were added before. */
static int add_chunk(perhaps *f, const uint64_t *digests, size_t n, uint8_t *answers, const char *ahead, size_t *done) {
    *done = f->ops.add_many(&f->array, digests, n, answers, ahead);
    while (*done < n) {
        int rc = filter_grow(f, digests[*done]);
        if (rc < 0) return rc;
        *done += f->ops.add_many(&f->array, digests + *done, n - *done, answers + *done, ahead);
    }
    return PERHAPS_OK;
}

/* Takes the first n keys out again, those that were new. */
static void undo(perhaps *f, const struct keys *keys, size_t n, const uint8_t *answers) {
    uint64_t room[CHUNK];
    for (size_t from = 0; from < n; from += CHUNK) {
        size_t count = chunk_length(n - from);
        const uint64_t *digests = digests_of(f, keys, from, count, room);
        for (size_t i = 0; i < count; i++) {
            if (answers[from + i]) f->ops.remove(&f->array, one_word(digests[i]));
        }
    }
}

/* `answers` is NULL only for kinds that are never full. */
static int64_t add_all(perhaps *f, const struct keys *keys, size_t n, uint8_t *answers) {
    uint64_t room[CHUNK], added = 0;
    uint8_t own_answers[CHUNK];
    for (size_t from = 0; from < n; from += CHUNK) {
        size_t count = chunk_length(n - from), done;
        uint8_t *out = answers ? answers + from : own_answers;
        const uint64_t *digests = digests_of(f, keys, from, count, room);
        const char *ahead = (const char *)((keys->integers ? keys->integers + from : digests) + count);
        int rc = add_chunk(f, digests, count, out, ahead, &done);
        if (rc < 0) {
            undo(f, keys, from + done, answers);
            return rc;
        }
        added += count_ones(out, count);
    }
    f->header.items += added;
    return (int64_t)added;
}

static int64_t add_many(perhaps *f, const struct keys *keys, size_t n, uint8_t *answers) {
    int rc = takes(f, keys);
    if (rc == PERHAPS_OK) rc = filter_prepare_change(f);
    if (rc < 0 || n == 0) return rc;
    if (answers || !f->kind->full) return add_all(f, keys, n, answers);
    /* What must be undone if there is no room for all is to be remembered. */
    answers = memory_get(&f->allocator, n);
    if (!answers) return fail(PERHAPS_ENOMEM, "no memory for %llu answers", (unsigned long long)n);
    int64_t added = add_all(f, keys, n, answers);
    memory_release(&f->allocator, answers, n);
    return added;
}

int64_t perhaps_add_many(perhaps *f, const void *const *keys, const size_t *lengths, size_t n, uint8_t *answers) {
    return add_many(f, &(struct keys){.bytes = keys, .lengths = lengths}, n, answers);
}

int64_t perhaps_add_many_u64(perhaps *f, const uint64_t *keys, size_t n, uint8_t *answers) {
    return add_many(f, &(struct keys){.integers = keys}, n, answers);
}

int64_t perhaps_add_many_digest(perhaps *f, const uint64_t *digests, size_t n, uint8_t *answers) {
    return add_many(f, &(struct keys){.digests = digests}, n, answers);
}

/* ---- asking ---- */

static int64_t contains_many(const perhaps *f, const struct keys *keys, size_t n, uint8_t *answers) {
    uint64_t room[CHUNK], ones = 0;
    uint8_t own_answers[CHUNK];
    int rc = takes(f, keys);
    if (rc < 0) return rc;
    for (size_t from = 0; from < n; from += CHUNK) {
        size_t count = chunk_length(n - from);
        uint8_t *out = answers ? answers + from : own_answers;
        const uint64_t *digests = digests_of(f, keys, from, count, room);
        const char *ahead = (const char *)((keys->integers ? keys->integers + from : digests) + count);
        f->ops.contains_many(&f->array, digests, count, out, ahead);
        ones += count_ones(out, count);
    }
    return (int64_t)ones;
}

int64_t perhaps_contains_many(const perhaps *f, const void *const *keys, const size_t *lengths, size_t n,
                              uint8_t *answers) {
    return contains_many(f, &(struct keys){.bytes = keys, .lengths = lengths}, n, answers);
}

int64_t perhaps_contains_many_u64(const perhaps *f, const uint64_t *keys, size_t n, uint8_t *answers) {
    return contains_many(f, &(struct keys){.integers = keys}, n, answers);
}

int64_t perhaps_contains_many_digest(const perhaps *f, const uint64_t *digests, size_t n, uint8_t *answers) {
    return contains_many(f, &(struct keys){.digests = digests}, n, answers);
}

/* ---- removing ---- */

static void fetch_ahead(const perhaps *f, const uint64_t *digests, size_t i, size_t n) {
    if (i + AHEAD < n) f->ops.fetch(&f->array, one_word(digests[i + AHEAD]));
}

static int64_t remove_many(perhaps *f, const struct keys *keys, size_t n, uint8_t *answers) {
    uint64_t room[CHUNK], removed = 0;
    int rc = takes(f, keys);
    if (rc == PERHAPS_OK) rc = f->ops.remove ? filter_prepare_change(f) : filter_cannot(f, "forget single keys");
    if (rc < 0) return rc;
    for (size_t from = 0; from < n; from += CHUNK) {
        size_t count = chunk_length(n - from);
        const uint64_t *digests = digests_of(f, keys, from, count, room);
        for (size_t i = 0; i < count; i++) {
            fetch_ahead(f, digests, i, count);
            int gone = f->ops.remove(&f->array, one_word(digests[i]));
            if (answers) answers[from + i] = (uint8_t)gone;
            removed += (uint64_t)gone;
        }
    }
    filter_count_removed(f, removed);
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
    int rc = takes(f, keys);
    if (rc == PERHAPS_OK && !f->ops.count) rc = filter_cannot(f, "count copies of a key");
    if (rc < 0) return rc;
    for (size_t from = 0; from < n; from += CHUNK) {
        size_t count = chunk_length(n - from);
        const uint64_t *digests = digests_of(f, keys, from, count, room);
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
