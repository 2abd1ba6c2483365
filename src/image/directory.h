/*
 * The directory of a composite filter: its payload. The images of the children follow it.
 *
 *     ┌────────┬───────────┬─────────┬───┬─────────┬───┬─────
 *     │ header │ directory │ image 0 │ 0 │ image 1 │ 0 │ ...     zeros up to the next image
 *     └────────┴───────────┴─────────┴───┴─────────┴───┴─────
 *
 * An entry has four words: the offset of the child's image in this one; its length; the checksum in
 * its header, which covers all of it; and when it began, for generations of a window (else 0). An
 * image begins at a multiple of 64, or of 4096 if it has 1 MiB or more.
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

/* Where an image of that length begins, at or after `end`; false if it does not fit 63 bits. */
bool directory_place(uint64_t end, uint64_t length, uint64_t *offset);

/* Checks that the children of an image of `length` bytes, whose directory of `count` entries ends
 * at `end`, are in their places, and the last one ends the image: NULL, or the reason. */
const char *directory_check(const uint8_t *directory, uint64_t count, uint64_t end, uint64_t length);

#endif
