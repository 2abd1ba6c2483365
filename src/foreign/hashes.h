/* The hash functions of other programs. */
#ifndef PERHAPS_FOREIGN_HASHES_H
#define PERHAPS_FOREIGN_HASHES_H

#include <stddef.h>
#include <stdint.h>

/* FNV-1 of 64 bits (Fowler, Noll, Vo): multiply, then xor. */
uint64_t fnv1(const void *bytes, size_t length);

/* MurmurHash3 (Appleby) of 128 bits for 64-bit machines, with seed 0. */
void murmur3_128(const void *bytes, size_t length, uint64_t words[2]);

/* MurmurHash3 of 32 bits as Spark has it: bytes behind the last whole word are words, too, each with its sign. Keys of whole words
 * have the same hash as everywhere. */
uint32_t murmur3_32_spark(uint32_t seed, const void *bytes, size_t length);

#endif
