/* Key → digest: the first step of every call. After it nothing sees key bytes. */
#ifndef PERHAPS_CORE_HASH_H
#define PERHAPS_CORE_HASH_H

#include "base/arith.h"
#include "base/cpu.h"
#include "perhaps.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A hash function with its seed or secret key. */
struct hash {
    int id;          /* enum perhaps_hash, never PERHAPS_HASH_DEFAULT */
    enum isa isa;    /* for batches; every instruction set gives the same digests */
    uint64_t seed;   /* siphash: a check of the key. Equal id and seed: the same function */
    uint64_t key[2]; /* siphash */
    uint64_t stir;   /* xxh3: xored to integer keys before the mix; follows from the seed */
};

struct hash hash_xxh3(uint64_t seed);
struct hash hash_siphash(const uint8_t key[16]);

/* Any hash without a secret key. */
struct hash hash_unkeyed(int id, uint64_t seed);

/* The 16 bytes of a secret key from its two words. */
void hash_key_bytes(const uint64_t words[2], uint8_t key[16]);

/* Such as "xxh3"; NULL for an unknown number. */
const char *hash_name(int id);

uint64_t hash_bytes(const struct hash *hash, const void *key, size_t length);
uint64_t hash_bytes_xxh3(const struct hash *hash, const void *key, size_t length); /* of xxh3 */

/* Both words of a digest of two words. */
void hash_two_words(const struct hash *hash, const void *key, size_t length, uint64_t words[2]);
uint64_t hash_u64_other(const struct hash *hash, uint64_t key); /* hashes other than xxh3 */

static inline uint64_t hash_u64_xxh3(const struct hash *hash, uint64_t key) {
    return mix64(key ^ hash->stir);
}

static inline uint64_t hash_u64(const struct hash *hash, uint64_t key) {
    return hash->id == PERHAPS_XXH3 ? hash_u64_xxh3(hash, key) : hash_u64_other(hash, key);
}

/* Many keys. Digests of two words are one after the other: first, second, first, ... */
void hash_bytes_many(const struct hash *hash, bool two_words, const void *const *keys, const size_t *lengths, size_t n,
                     uint64_t *digests);
void hash_u64_many(const struct hash *hash, bool two_words, const uint64_t *keys, size_t n, uint64_t *digests);

/* XXH3-64 without a seed: the checksum of images; of two pieces as if they were one. */
uint64_t hash_checksum(const void *bytes, size_t length);
uint64_t hash_checksum_of_two(const void *a, size_t a_length, const void *b, size_t b_length);

/* MurmurHash64A (Appleby). */
uint64_t murmur64a(uint64_t seed, const void *bytes, size_t length);

/* SipHash-1-3 (Aumasson & Bernstein): one round a word, three at the end. */
uint64_t siphash13(const uint64_t key[2], const void *bytes, size_t length);

#endif
