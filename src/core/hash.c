#include "core/hash.h"

#include "base/endian.h"
#include "foreign/foreign_hashes.h"
#include "base/target.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* ---- SipHash-1-3 ---- */

/* The bytes after the last whole word, as a number: cut from the word that ends with the key, or
 * put together from two halves, which may overlap. */
static uint64_t last_bytes(const uint8_t *p, size_t length) {
    size_t rest = length % 8;
    if (!rest) return 0;
    if (length > 8) return load64(p + (length - 8)) >> 8 * (8 - rest);
    if (rest >= 4) return load32(p) | (uint64_t)load32(p + rest - 4) << 8 * (rest - 4);
    return p[0] | (uint64_t)p[rest / 2] << 8 * (rest / 2) | (uint64_t)p[rest - 1] << 8 * (rest - 1);
}

/* Keys of different lengths are hashed singly if one is longer: the other lanes would wait. */
enum { SIP_LONG = 128 }; /* bytes */

#define FOR_SCALAR "core/siphash_scalar.h"
#define FOR_AVX2   "core/siphash_avx2.h"
#define FOR_AVX512 "core/siphash_avx512.h"
#define TEMPLATE   "core/siphash.h"
#include "base/each_isa.h"

uint64_t siphash13(const uint64_t key[2], const void *bytes, size_t length) {
    struct sip_scalar v = sip_start_scalar(key);
    const uint8_t *p = bytes;
    for (size_t i = 0; i < length / 8; i++) sip_word_scalar(&v, load64(p + 8 * i));
    sip_word_scalar(&v, (uint64_t)length << 56 | last_bytes(p, length));
    return sip_end_scalar(&v);
}

static void siphash13_many(const uint64_t key[2], enum isa isa, const void *const *keys, const size_t *lengths,
                           size_t n, uint64_t *digests) {
#if defined(__x86_64__)
    if (isa == ISA_AVX512 || isa == ISA_AVX2) {
        (isa == ISA_AVX512 ? siphash13_many_avx512 : siphash13_many_avx2)(key, keys, lengths, n, digests);
        return;
    }
#endif
    (void)isa;
    for (size_t i = 0; i < n; i++) digests[i] = siphash13(key, keys[i], lengths[i]);
}

static size_t siphash13_many_u64(const uint64_t key[2], enum isa isa, const uint64_t *keys, size_t n,
                                 uint64_t *digests) {
#if defined(__x86_64__)
    if (isa == ISA_AVX512) return siphash13_many_u64_avx512(key, keys, n, digests);
    if (isa == ISA_AVX2) return siphash13_many_u64_avx2(key, keys, n, digests);
#endif
    (void)key, (void)isa, (void)keys, (void)n, (void)digests;
    return 0;
}

/* ---- MurmurHash64A ---- */

uint64_t murmur64a(uint64_t seed, const void *bytes, size_t length) {
    static const uint64_t factor = UINT64_C(0xc6a4a7935bd1e995);
    const uint8_t *p = bytes;
    size_t whole = length - length % 8;
    uint64_t h = seed ^ length * factor;
    for (size_t i = 0; i < whole; i += 8) {
        uint64_t word = load64(p + i) * factor;
        h = (h ^ (word ^ word >> 47) * factor) * factor;
    }
    if (length > whole) {
        h = (h ^ last_bytes(p, length)) * factor;
    }
    h = (h ^ h >> 47) * factor;
    return h ^ h >> 47;
}

/* ---- the hash functions ---- */

struct hash hash_xxh3(uint64_t seed) {
    /* 2^64 / golden ratio: integer key 0 under seed 0 must not have digest 0. */
    uint64_t stir = UINT64_C(0x9E3779B97F4A7C15) ^ mix64(seed);
    return (struct hash){.id = PERHAPS_XXH3, .seed = seed, .stir = stir};
}

struct hash hash_siphash(const uint8_t key[16]) {
    struct hash hash = {.id = PERHAPS_SIPHASH, .key = {load64(key), load64(key + 8)}};
    hash.seed = siphash13(hash.key, "perhaps: key check", 18);
    return hash;
}

struct hash hash_unkeyed(int id, uint64_t seed) {
    return id == PERHAPS_XXH3 ? hash_xxh3(seed) : (struct hash){.id = id, .seed = seed};
}

void hash_key_bytes(const uint64_t words[2], uint8_t key[16]) {
    store64(key, words[0]);
    store64(key + 8, words[1]);
}

const char *hash_name(int id) {
    static const char *const names[] = {NULL,      "xxh3", "siphash", "identity",  "murmur",
                                        "murmur3", "fnv1", "xxh64",   "murmur3_32"};
    return id > 0 && id < (int)(sizeof names / sizeof names[0]) ? names[id] : NULL;
}

uint64_t hash_bytes_xxh3(const struct hash *hash, const void *key, size_t length) {
    return XXH3_64bits_withSeed(key, length, hash->seed);
}

uint64_t hash_bytes(const struct hash *hash, const void *key, size_t length) {
    if (hash->id == PERHAPS_SIPHASH) return siphash13(hash->key, key, length);
    if (hash->id == PERHAPS_XXH3) return hash_bytes_xxh3(hash, key, length);
    if (hash->id == PERHAPS_MURMUR) return murmur64a(hash->seed, key, length);
    if (hash->id == PERHAPS_FNV) return fnv1(key, length);
    if (hash->id == PERHAPS_XXH64) return XXH64(key, length, hash->seed);
    uint64_t words[2];
    hash_two_words(hash, key, length, words);
    return words[0];
}

/* Flattened: for short keys, a call costs half as much as the hash. */
__attribute__((flatten)) static void xxh3_many(uint64_t seed, const void *const *keys, const size_t *lengths, size_t n,
                                               uint64_t *digests) {
    for (size_t i = 0; i < n; i++) digests[i] = XXH3_64bits_withSeed(keys[i], lengths[i], seed);
}

void hash_bytes_many(const struct hash *hash, bool two_words, const void *const *keys, const size_t *lengths, size_t n,
                     uint64_t *digests) {
    if (two_words)
        for (size_t i = 0; i < n; i++) hash_two_words(hash, keys[i], lengths[i], digests + 2 * i);
    else if (hash->id == PERHAPS_SIPHASH)
        siphash13_many(hash->key, hash->isa, keys, lengths, n, digests);
    else if (hash->id == PERHAPS_XXH3)
        xxh3_many(hash->seed, keys, lengths, n, digests);
    else
        for (size_t i = 0; i < n; i++) digests[i] = hash_bytes(hash, keys[i], lengths[i]);
}

void hash_two_words(const struct hash *hash, const void *key, size_t length, uint64_t words[2]) {
    if (hash->id == PERHAPS_MURMUR3) {
        murmur3_128(key, length, words);
    } else if (hash->id == PERHAPS_MURMUR3_32) {
        words[0] = murmur3_32_spark(0, key, length);
        words[1] = murmur3_32_spark((uint32_t)words[0], key, length);
    } else {
        words[0] = murmur64a(hash->seed, key, length);
        words[1] = murmur64a(words[0], key, length);
    }
}

uint64_t hash_u64_other(const struct hash *hash, uint64_t key) {
    if (hash->id == PERHAPS_IDENTITY) return key;
    uint8_t bytes[8];
    store64(bytes, key);
    return hash_bytes(hash, bytes, sizeof bytes);
}

/* ---- many integers at a time ---- */

/* Hashes of which compilers make vector code; false for others. */
static inline __attribute__((always_inline)) bool hash_in_loop(const struct hash *hash, bool two_words,
                                                               const uint64_t *restrict keys, size_t n,
                                                               uint64_t *restrict digests) {
    uint64_t stir = hash->stir;
    if (hash->id == PERHAPS_XXH3)
        for (size_t i = 0; i < n; i++) digests[i] = mix64(keys[i] ^ stir);
    else if (hash->id == PERHAPS_FNV)
        for (size_t i = 0; i < n; i++) digests[i] = fnv1_u64(keys[i]);
    else if (hash->id == PERHAPS_MURMUR3 && two_words)
        for (size_t i = 0; i < n; i++) murmur3_128_u64(keys[i], digests + 2 * i);
    else
        return false;
    return true;
}

#if defined(__x86_64__)
/* AVX2 multiplies 64-bit words in parts, and takes 0.6 of the time all the same. */
TARGET_AVX2 static bool hash_in_loop_avx2(const struct hash *hash, bool two_words, const uint64_t *restrict keys,
                                          size_t n, uint64_t *restrict digests) {
    return hash_in_loop(hash, two_words, keys, n, digests);
}

TARGET_AVX512 static bool hash_in_loop_avx512(const struct hash *hash, bool two_words, const uint64_t *restrict keys,
                                              size_t n, uint64_t *restrict digests) {
    return hash_in_loop(hash, two_words, keys, n, digests);
}
#endif

void hash_u64_many(const struct hash *hash, bool two_words, const uint64_t *keys, size_t n, uint64_t *digests) {
    uint8_t bytes[8];
#if defined(__x86_64__)
    if (hash->isa == ISA_AVX512 && hash_in_loop_avx512(hash, two_words, keys, n, digests)) return;
    if (hash->isa == ISA_AVX2 && hash_in_loop_avx2(hash, two_words, keys, n, digests)) return;
#endif
    if (hash_in_loop(hash, two_words, keys, n, digests)) return;
    size_t done = hash->id == PERHAPS_SIPHASH ? siphash13_many_u64(hash->key, hash->isa, keys, n, digests) : 0;
    for (size_t i = done; i < n && !two_words; i++) digests[i] = hash_u64_other(hash, keys[i]);
    for (size_t i = 0; i < n && two_words; i++) {
        store64(bytes, keys[i]);
        hash_two_words(hash, bytes, sizeof bytes, digests + 2 * i);
    }
}
