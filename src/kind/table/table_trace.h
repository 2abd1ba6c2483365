/* Tracing tables; a part of table.c. */
#include "kind/trace.h"

/* Returns the slots of the bucket that have the digest, a bit for each. */
static unsigned trace_bucket(const struct array *array, uint64_t bucket, uint64_t digest, struct trace *trace) {
    size_t at = trace_inside(trace, "bucket", bucket);
    unsigned found = matches_scalar(bucket_at(array, bucket), digest);
    for (unsigned i = 0; i < TABLE_SLOTS; i++)
        trace_slot(trace, bucket * TABLE_SLOTS + i, load64(bucket_at(array, bucket) + 8 * i), digest);
    trace_settle(trace, at, found);
    return found;
}

/* Whether the stash has the digest, if there is a stash. */
TRACED static bool trace_stash(const struct array *array, uint64_t digest, struct trace *trace) {
    struct table_stash stash = stash_of(array);
    if (!stash.cells) return false;
    uint64_t place = table_stash_place(stash, digest);
    bool found = table_stash_has(stash, digest);
    uint64_t value = place < stash.cells ? load64(stash.bytes + 8 * place) : 0;
    trace_step(trace, PERHAPS_STEP_STASH, "stash cell", found, place, value, digest);
    return found;
}

/* What make_room() would do, and after it the stash. */
TRACED static int trace_full(const struct array *array, uint64_t digest, struct pair pair, struct trace *trace) {
    struct search_scalar search;
    struct table_stash stash = stash_of(array);
    unsigned slot, i = find_room_scalar(array, &search, pair.a, pair.b, &slot);
    if (!i) {
        uint64_t place = table_stash_place(stash, digest);
        if (table_stash_end(stash, place) >= stash.cells) return FULL;
        trace_step(trace, PERHAPS_STEP_STASH, "stash cell", false, place, 0, digest);
        return trace_answer(trace, true, 1, "Both buckets are full, and the stash takes the key.");
    }
    uint64_t to = search.reached[i] * TABLE_SLOTS + slot;
    while (i >= 2) {
        uint64_t from = search.reached[(i - 2) / TABLE_SLOTS] * TABLE_SLOTS + (i - 2) % TABLE_SLOTS;
        uint64_t value = load64(array->bytes + 8 * from);
        trace_move(trace, from, to, value, value);
        to = from;
        i = (i - 2) / TABLE_SLOTS;
    }
    trace_store(trace, to, load64(array->bytes + 8 * to), digest);
    return trace_answer(trace, true, 1,
                        "Others move to their other buckets, and the key takes the slot that is free then.");
}

/* The digest 0 has a word behind the buckets. */
TRACED static int trace_zero(const struct array *array, bool adding, struct trace *trace) {
    uint64_t at = array->layout[TABLE_BUCKETS] * TABLE_SLOTS, word = load64(zero_of(array));
    bool found = trace_slot(trace, at, word != 0, 1);
    if (adding && !found) trace_store(trace, at, word, 1);
    return trace_answer(trace, adding, adding ? !found : found,
                        found ? "The word of the digest 0 is set." : "The word of the digest 0 is not set.");
}

TRACED static int table_trace(const struct array *array, struct digest digest, bool adding, struct trace *trace) {
    if (!digest.first) return trace_zero(array, adding, trace);
    struct pair pair = buckets_of(digest.first, array->layout[TABLE_BUCKETS]);
    unsigned first = trace_bucket(array, pair.a, digest.first, trace);
    unsigned second = trace_bucket(array, pair.b, digest.first, trace);
    bool stashed = trace_stash(array, digest.first, trace), found = first || second || stashed;
    if (found || !adding)
        return trace_answer(trace, adding, adding ? 0 : found,
                            stashed ? "The stash has the digest."
                            : found ? "A slot has the digest."
                                    : "No slot has the digest.");
    unsigned empty_first = matches_scalar(bucket_at(array, pair.a), 0);
    unsigned empty_second = matches_scalar(bucket_at(array, pair.b), 0);
    if (!(empty_first | empty_second)) return trace_full(array, digest.first, pair, trace);
    bool is_second = empty_second > empty_first; /* see put() */
    uint64_t slot = (uint64_t)__builtin_ctz(is_second ? empty_second : empty_first);
    trace_store(trace, (is_second ? pair.b : pair.a) * TABLE_SLOTS + slot, 0, digest.first);
    return trace_answer(trace, true, 1, "The key takes a free slot of the emptier bucket.");
}

/* The last one is the word of the digest 0. */
TRACED static uint64_t table_cells(const struct array *array, uint64_t i, uint64_t *value) {
    uint64_t cells = array->layout[TABLE_BUCKETS] * TABLE_SLOTS + 1;
    if (i < cells) *value = load64(array->bytes + 8 * i);
    return cells;
}
