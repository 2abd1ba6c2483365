/* Where in the input each digest came first: a map from digests to places, in 17.5 bytes a digest,
 * growing included. A digest that several keys have has several places. */
#ifndef CLI_DEDUP_FIRST_LINES_H
#define CLI_DEDUP_FIRST_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Places are numbers below this: all bytes of 16 TiB of input. */
#define PLACES_END ((UINT64_C(1) << 44) - 1)

struct first_lines;

/* A walk over the places of a digest. */
struct place_search {
    uint64_t digest;
    size_t line; /* of the cache */
    unsigned slot;
};

/* NULL if there is not enough memory. */
struct first_lines *first_lines_create(void);

/* Fetches what a search for this digest looks at first. */
void first_lines_prefetch(const struct first_lines *places, uint64_t digest);

void first_lines_search(const struct first_lines *places, uint64_t digest, struct place_search *search);

/* The next place of the digest; false if there is none. A few bits of a digest are not kept: very
 * rarely it is the place of another one. */
bool first_lines_next(const struct first_lines *places, struct place_search *search, uint64_t *place);

/* Adds a place to the digest of a search that has ended. False if there is not enough memory. */
bool first_lines_add(struct first_lines *places, const struct place_search *search, uint64_t place);

void first_lines_free(struct first_lines *places);

#endif
