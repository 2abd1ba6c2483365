/*
 * The stash of a cuckoo filter: keys that found no slot, and copies beyond those that the slots can
 * have.
 *
 * It is a small hash table with linear probing, of cells of two words, after two words that count:
 *
 *     ┌─────────┬───────────┬───────────────────────┬───────────────────────┬────
 *     │ entries │ placeless │ who, copies           │ who, copies           │ ...
 *     └─────────┴───────────┴───────────────────────┴───────────────────────┴────
 *
 * `who` is a key as the filter knows it: its home and its fingerprint. `copies` is 0 for an empty
 * cell; its highest bit says that the key is placeless: no slot has a copy of it, so a query must
 * look here. Removing an entry moves those behind it up, so that no trace of it remains.
 *
 * Invariants
 *   I1  entries is the number of cells that are not empty, placeless the number of those with the
 *       highest bit.
 *   I2  from the cell where an entry's probing begins to the cell it is in, none is empty.
 *   I3  at least one cell is empty, so that every search ends; in a damaged stash, after as many
 *       steps as cells.
 *   I4  no key has two entries.
 */
#ifndef PERHAPS_KIND_CUCKOO_CUCKOO_STASH_H
#define PERHAPS_KIND_CUCKOO_CUCKOO_STASH_H

#include "base/arith.h"
#include "base/endian.h"

#include <stdbool.h>

enum { STASH_HEAD = 16, STASH_CELL = 16 };

#define STASH_PLACELESS (UINT64_C(1) << 63)
#define STASH_NOWHERE   UINT64_MAX

/* How many cells a filter of that size begins with: a 32nd of a bit for each slot, and enough for
 * small ones. */
static inline uint64_t stash_cells_for(uint64_t slots) {
    return slots / 4096 < 6 ? 6 : slots / 4096;
}

struct stash {
    uint8_t *bytes;
    uint64_t cells;
};

static inline uint64_t stash_length(uint64_t cells) {
    return STASH_HEAD + cells * STASH_CELL;
}

static inline uint64_t stash_entries(struct stash s) {
    return load64(s.bytes);
}

static inline uint64_t stash_placeless(struct stash s) {
    return load64(s.bytes + 8);
}

static inline uint64_t stash_who(struct stash s, uint64_t cell) {
    return load64(s.bytes + STASH_HEAD + cell * STASH_CELL);
}

static inline uint64_t stash_copies(struct stash s, uint64_t cell) {
    return load64(s.bytes + STASH_HEAD + cell * STASH_CELL + 8);
}

static inline void stash_write(struct stash s, uint64_t cell, uint64_t who, uint64_t copies) {
    store64(s.bytes + STASH_HEAD + cell * STASH_CELL, who);
    store64(s.bytes + STASH_HEAD + cell * STASH_CELL + 8, copies);
}

/* Adds to the two counts; `by` is 1 or -1. */
static inline void stash_note(struct stash s, uint64_t copies, uint64_t by) {
    store64(s.bytes, stash_entries(s) + by);
    if (copies & STASH_PLACELESS) store64(s.bytes + 8, stash_placeless(s) + by);
}

static inline uint64_t stash_start(struct stash s, uint64_t who) {
    return mul_high(mix64(who), s.cells);
}

static inline uint64_t stash_after(struct stash s, uint64_t cell) {
    return cell + 1 == s.cells ? 0 : cell + 1;
}

/* The cell of a key, or STASH_NOWHERE. Ends even if a damaged stash has no empty cell. */
static inline uint64_t stash_find(struct stash s, uint64_t who) {
    uint64_t cell = stash_start(s, who);
    for (uint64_t i = 0; i < s.cells && stash_copies(s, cell); i++, cell = stash_after(s, cell)) {
        if (stash_who(s, cell) == who) return cell;
    }
    return STASH_NOWHERE;
}

/* The cell that an entry for a key takes; STASH_NOWHERE if an eighth of the cells, at least one,
 * would not stay empty. */
static inline uint64_t stash_vacant(struct stash s, uint64_t who) {
    uint64_t spare = s.cells / 8 ? s.cells / 8 : 1, cell = stash_start(s, who);
    if (stash_entries(s) >= s.cells - spare) return STASH_NOWHERE;
    for (uint64_t i = 0; i < s.cells; i++, cell = stash_after(s, cell))
        if (!stash_copies(s, cell)) return cell;
    return STASH_NOWHERE;
}

/* Makes an entry for a key that has none; false if there is no cell for it. */
static inline bool stash_put(struct stash s, uint64_t who, uint64_t copies) {
    uint64_t cell = stash_vacant(s, who);
    if (cell == STASH_NOWHERE) return false;
    stash_write(s, cell, who, copies);
    stash_note(s, copies, 1);
    return true;
}

/* How far a cell is behind another, around the end. */
static inline uint64_t stash_distance(struct stash s, uint64_t from, uint64_t to) {
    return to >= from ? to - from : to + s.cells - from;
}

static inline void stash_erase(struct stash s, uint64_t cell) {
    stash_note(s, stash_copies(s, cell), (uint64_t)-1);
    uint64_t hole = cell, next = stash_after(s, cell);
    for (uint64_t i = 1; i < s.cells && stash_copies(s, next); i++, next = stash_after(s, next)) {
        uint64_t start = stash_start(s, stash_who(s, next));
        if (stash_distance(s, start, next) < stash_distance(s, hole, next))
            continue; /* it may not go before its start */
        stash_write(s, hole, stash_who(s, next), stash_copies(s, next));
        hole = next;
    }
    stash_write(s, hole, 0, 0);
}

/* Adds copies to an entry, up to a number that nobody will ever count to. */
static inline void stash_more(struct stash s, uint64_t cell, uint64_t more) {
    uint64_t copies = stash_copies(s, cell), most = STASH_PLACELESS >> 1, counted = copies & ~STASH_PLACELESS;
    counted = counted < most && more < most - counted ? counted + more : most;
    stash_write(s, cell, stash_who(s, cell), counted | (copies & STASH_PLACELESS));
}

/* Takes one copy away from an entry. */
static inline void stash_take(struct stash s, uint64_t cell) {
    uint64_t copies = stash_copies(s, cell);
    if ((copies & ~STASH_PLACELESS) <= 1)
        stash_erase(s, cell);
    else
        stash_write(s, cell, stash_who(s, cell), copies - 1);
}

/* A copy of a placeless key has found a slot. */
static inline void stash_settle(struct stash s, uint64_t cell) {
    uint64_t copies = stash_copies(s, cell) & ~STASH_PLACELESS;
    if (copies <= 1) {
        stash_erase(s, cell);
        return;
    }
    stash_write(s, cell, stash_who(s, cell), copies - 1);
    store64(s.bytes + 8, stash_placeless(s) - 1);
}

#endif
