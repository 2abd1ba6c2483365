/* Tracing RedisBloom's cuckoo filters; a part of redis_cuckoo.c. */
#include "kind/trace.h"

/* The slots that move_others() would write, in order, and what it would put there. RedisBloom moves
 * at most 20; a path of more than TRACED_MOVES counts as none. */
enum { TRACED_MOVES = 2048 };
struct moves {
    unsigned n;
    uint8_t *slot[TRACED_MOVES];
    uint8_t print[TRACED_MOVES];
};

/* What is in a slot after these moves. */
static uint8_t content_after(const struct moves *moves, const uint8_t *slot) {
    for (unsigned i = moves->n; i-- > 0;)
        if (moves->slot[i] == slot) return moves->print[i];
    return *slot;
}

/* Follows move_others() without changing anything. No slot on the way becomes empty. */
TRACED static bool follow_moves(const struct sub_filter *part, const struct redis_key *key, uint64_t steps,
                                struct moves *moves) {
    uint64_t at = key->home & part->mask;
    uint8_t print = key->print, *empty = NULL;
    moves->n = 0;
    for (uint64_t i = 0; i < steps && !empty && moves->n + 1 < TRACED_MOVES; i++) {
        uint8_t *slot = bucket_of(part, at) + i % part->size, old = content_after(moves, slot);
        moves->slot[moves->n] = slot;
        moves->print[moves->n++] = print;
        print = old;
        at = other_bucket(at, print) & part->mask;
        empty = find_in_bucket(part, at, EMPTY);
    }
    moves->slot[moves->n] = empty;
    moves->print[moves->n] = print;
    return empty;
}

TRACED static void trace_moves(const struct array *array, const struct moves *moves, struct trace *trace) {
    trace_store(trace, (uint64_t)(moves->slot[0] - array->bytes), *moves->slot[0], moves->print[0]);
    for (unsigned i = 0; i < moves->n; i++)
        trace_move(trace, (uint64_t)(moves->slot[i] - array->bytes), (uint64_t)(moves->slot[i + 1] - array->bytes),
                   moves->print[i + 1], moves->print[i + 1]);
}

TRACED static bool trace_bucket(const struct array *array, const struct sub_filter *part, uint64_t home, uint8_t print,
                                struct trace *trace) {
    const uint8_t *bucket = bucket_of(part, home);
    size_t at = trace_inside(trace, "bucket", home & part->mask);
    bool found = false;
    for (unsigned i = 0; i < part->size; i++)
        found |= trace_slot(trace, (uint64_t)(bucket + i - array->bytes), bucket[i], print);
    trace_settle(trace, at, found);
    return found;
}

/* Adds look for an empty slot and do not stop at a copy. */
TRACED static bool trace_parts(const struct array *array, const struct redis_key *key, bool adding,
                               struct trace *trace) {
    bool found = false;
    for (uint64_t i = redis_cuckoo_in_use(array); i-- > 0 && (adding || !found);) {
        struct sub_filter part = part_of(array, i);
        size_t at = trace_inside(trace, "sub-filter", i);
        bool home = trace_bucket(array, &part, key->home, key->print, trace);
        bool other = trace_bucket(array, &part, key->other, key->print, trace);
        trace_settle(trace, at, home || other);
        found |= home || other;
    }
    return found;
}

TRACED static int redis_cuckoo_trace(const struct array *array, struct digest digest, bool adding,
                                     struct trace *trace) {
    struct redis_key key = key_of(digest);
    struct moves moves;
    uint64_t steps = array->layout[REDIS_CUCKOO_LIMITS] & REDIS_CUCKOO_STEPS_MAX, in_use = redis_cuckoo_in_use(array);
    bool found = trace_parts(array, &key, adding, trace);
    if (!adding)
        return trace_answer(trace, false, found,
                            found ? "A slot has the key's fingerprint." : "No slot has the key's fingerprint.");
    for (;; in_use++) {
        for (uint64_t i = in_use; i-- > 0;) {
            struct sub_filter part = part_of(array, i);
            uint8_t *empty = find(&part, &key, EMPTY);
            if (!empty) continue;
            trace_store(trace, (uint64_t)(empty - array->bytes), EMPTY, key.print);
            return trace_answer(trace, true, 1, "The key takes an empty slot.");
        }
        struct sub_filter newest = part_of(array, in_use - 1);
        if (follow_moves(&newest, &key, steps, &moves)) {
            trace_moves(array, &moves, trace);
            return trace_answer(trace, true, 1, "Fingerprints move to their other buckets, and the key takes a slot.");
        }
        if (in_use == array->layout[REDIS_CUCKOO_FILTERS]) return FULL;
        trace_step(trace, PERHAPS_STEP_ROOM, "sub-filter", false, in_use, 0, 0);
    }
}

TRACED static uint64_t redis_cuckoo_cells(const struct array *array, uint64_t i, uint64_t *value) {
    uint64_t slots = array->length - REDIS_CUCKOO_TAIL_BYTES;
    if (i < slots) *value = array->bytes[i];
    return slots;
}
