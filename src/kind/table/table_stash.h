/*
 * The stash of a table: digests that found no slot although the table is far from full, because
 * keys were chosen to share their buckets. Most tables have none.
 *
 *     ┌────┬────┬────┬────┬───┬───┬───┐
 *     │ d₀ │ d₁ │ d₂ │ d₃ │ 0 │ 0 │ 0 │     d₀ < d₁ < d₂ < d₃: one word each, empty cells last
 *     └────┴────┴────┴────┴───┴───┴───┘
 *
 * A sorted list has no hash that keys could be chosen against: a query takes log2(cells) steps, and
 * an add or a remove moves at most the whole list, whatever the digests are. 0 is not among them.
 *
 * Invariants
 *   I1  digests are in rising order, no two are equal, and none is 0.
 *   I2  empty cells are 0 and come last.
 * A hostile image may break both: then answers are arbitrary, but every index is below `cells`.
 */
#ifndef PERHAPS_KIND_TABLE_TABLE_STASH_H
#define PERHAPS_KIND_TABLE_TABLE_STASH_H

#include "base/endian.h"

#include <stdbool.h>
#include <string.h>

struct table_stash {
    uint8_t *bytes;
    uint64_t cells;
};

/* How many cells come before a digest. To compare what is one less makes 0, an empty cell, the last
 * in order: the place of 0 is the number of cells in use. */
static inline uint64_t table_stash_place(struct table_stash s, uint64_t digest) {
    uint64_t low = 0, rest = s.cells;
    while (rest) {
        uint64_t half = rest / 2;
        bool below = load64(s.bytes + 8 * (low + half)) - 1 < digest - 1;
        low = below ? low + half + 1 : low;
        rest = below ? rest - half - 1 : half;
    }
    return low;
}

static inline bool table_stash_is_at(struct table_stash s, uint64_t digest, uint64_t place) {
    return place < s.cells && load64(s.bytes + 8 * place) == digest;
}

static inline bool table_stash_has(struct table_stash s, uint64_t digest) {
    return table_stash_is_at(s, digest, table_stash_place(s, digest));
}

/* The cell that becomes the last in use when a digest is added at `place`; no cell is empty if it
 * is s.cells. */
static inline uint64_t table_stash_end(struct table_stash s, uint64_t place) {
    uint64_t end = table_stash_place(s, 0);
    return end < place ? place : end;
}

/* Adds a digest that is not there; false if no cell is empty. */
static inline bool table_stash_add(struct table_stash s, uint64_t digest) {
    uint64_t place = table_stash_place(s, digest), end = table_stash_end(s, place);
    if (end >= s.cells) return false;
    memmove(s.bytes + 8 * (place + 1), s.bytes + 8 * place, (size_t)(8 * (end - place)));
    store64(s.bytes + 8 * place, digest);
    return true;
}

/* False if it was not there. */
static inline bool table_stash_remove(struct table_stash s, uint64_t digest) {
    uint64_t place = table_stash_place(s, digest), end = table_stash_place(s, 0);
    if (!table_stash_is_at(s, digest, place)) return false;
    if (end <= place) end = place + 1;
    memmove(s.bytes + 8 * place, s.bytes + 8 * (place + 1), (size_t)(8 * (end - place - 1)));
    store64(s.bytes + 8 * (end - 1), 0);
    return true;
}

#endif
