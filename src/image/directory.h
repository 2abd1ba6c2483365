/*
 * The directory of a filter of filters: its payload. The images of the children follow it, each whole in itself.
 *
 *     ┌────────┬───────────┬─────────┬───┬─────────┬───┬─────
 *     │ header │ directory │ image 0 │ 0 │ image 1 │ 0 │ ...     zeros up to where the next may begin
 *     └────────┴───────────┴─────────┴───┴─────────┴───┴─────
 *
 * An entry has four words: where the child's image begins, from the beginning of this one; how long it is; the checksum in
 * its header, which vouches for all of it; and the time at which it began, for generations of a window (else 0). An image
 * begins at a multiple of 64, or of 4096 if it has a mebibyte or more.
 */
#ifndef PERHAPS_IMAGE_DIRECTORY_H
#define PERHAPS_IMAGE_DIRECTORY_H

#include "image/header.h"

enum { ENTRY_BYTES = 32, CHILDREN_MAX = 65536 };

struct entry {
    uint64_t offset, length, sum, since;
};

struct entry directory_get(const uint8_t *directory, uint64_t i);
void directory_put(uint8_t *directory, uint64_t i, const struct entry *entry);

/* Where an image of that length may begin, at or after `end`; false if that does not fit 63 bits. */
bool directory_place(uint64_t end, uint64_t length, uint64_t *offset);

/* Whether the children of an image of `length` bytes, whose directory of `count` entries ends at `end`, lie where they should,
 * one after the other, and the last one at the end: NULL, or what is wrong. */
const char *directory_check(const uint8_t *directory, uint64_t count, uint64_t end, uint64_t length);

#endif
