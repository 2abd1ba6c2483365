/* Digests and keys that attack tables: they share buckets in tables of every size. */
#ifndef PERHAPS_TESTS_CHOSEN_H
#define PERHAPS_TESTS_CHOSEN_H

#include <stddef.h>
#include <stdint.h>

/* The sorts there are. Digest i of each differs from all others of its sort. */
struct chosen {
    const char *name;
    uint64_t (*digest)(uint64_t i); /* i below 2^16 */
};
extern const struct chosen chosen_sorts[];
extern const size_t chosen_sort_count;

/* Digests that share both buckets, the first two, in every table of up to 2^20 buckets. */
uint64_t chosen_shared(uint64_t i);

/* The key of eight bytes that has this digest under XXH3 with seed 0. */
void chosen_key(uint64_t digest, char key[8]);

#endif
