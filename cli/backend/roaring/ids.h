/* An exact set of integers in memory: for each upper half of 32 bits that occurs, in rising order,
 * a Roaring bitmap of the lower halves. Sets of 32-bit ids have only one, for 0. */
#ifndef CLI_BACKEND_ROARING_IDS_H
#define CLI_BACKEND_ROARING_IDS_H

#include "backend/backend.h"

#include <roaring/roaring.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most that is added in one call. */
enum { IDS_BATCH = 1024 };

struct bucket {
    uint32_t high;
    roaring_bitmap_t *low;
};

/* All zeros is an empty set of 32-bit ids. */
struct ids {
    bool wide; /* ids may have 64 bits, and the file is in the layout for these */
    size_t n, room;
    struct bucket *buckets;
};

void ids_free(struct ids *ids);

/* Adds up to IDS_BATCH numbers; those of a set that is not wide must have 32 bits. *added is how
 * many were new. False if there is not enough memory. */
bool ids_add(struct ids *ids, const uint64_t *numbers, size_t n, uint64_t *added);

/* Removes numbers; how many were there. */
uint64_t ids_remove(struct ids *ids, const uint64_t *numbers, size_t n);

/* answers[i] = 1 or 0; how many are there. */
uint64_t ids_contain(const struct ids *ids, const uint64_t *numbers, size_t n, uint8_t *answers);

uint64_t ids_count(const struct ids *ids);

/* How many are in both. */
uint64_t ids_common(const struct ids *a, const struct ids *b);

/* Up to n ids, in rising order, of those that are not below `from`; how many. */
size_t ids_from(const struct ids *ids, uint64_t from, uint64_t *numbers, size_t n);

/* The smallest and the largest. False if there is none. */
bool ids_ends(const struct ids *ids, uint64_t *smallest, uint64_t *largest);

/* Makes it in `into`, of parts of `from`, which can then only be freed. False if there is not
 * enough memory. */
bool ids_combine(struct ids *into, struct ids *from, enum set_operation how);

/* Makes the set that a file holds. NULL, or what is wrong, as a phrase that follows the file's
 * name; the set is then empty. */
const char *ids_read(struct ids *ids, const uint8_t *bytes, size_t length, bool wide);

/* The file's bytes, for free(), with runs where these are shorter. NULL if memory has run out. */
char *ids_write(struct ids *ids, size_t *length);

#endif
