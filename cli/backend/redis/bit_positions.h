/* Sets in plain strings: which bits an item has. Simple enough for five lines in any language:
 *
 *     h = SHA-256 of the seed followed by the item, in hexadecimal
 *     x = its first 12 digits, y = the next 12, as numbers, both modulo `bits`
 *     for i = 1, 2, ..., `hashes`: bit x is one of them;
 *         then x = (x + y) modulo bits, y = (y + i) modulo bits
 *
 * SHA-256 since every language has it and it is the same everywhere, which cannot be said of faster
 * hashes; CRC32 is too short. Numbers of 48 bits since all languages can hold them, those included
 * whose only numbers are floating point. That y grows keeps two items with the same y from sharing
 * nearly all of their bits. */
#ifndef CLI_BACKEND_REDIS_BIT_POSITIONS_H
#define CLI_BACKEND_REDIS_BIT_POSITIONS_H

#include "server_set.h"

/* The bits of an item, as SETBIT counts them. */
void bits_of(const struct set *set, const void *item, size_t length, uint64_t bits[MOST_HASHES]);

/* How many bits a shard of n items takes at this rate, in whole words of 64, and how many of
 * them an item has. */
uint64_t bits_needed(uint64_t n, double fpr, unsigned *hashes);

#endif
