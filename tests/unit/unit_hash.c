/* Hash functions against published vectors, and the integer mix against its own inverse. */
#include "isas.h"
#include "support.h"

#include "base/arith.h"
#include "core/hash.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>

/* SipHash-1-3 with key 00 01 .. 0f of the messages "", 00, 00 01, 00 01 02, ...: the same numbers
 * stand in the tests of Rust's and Swift's standard libraries. */
static const uint64_t siphash_vectors[64] = {
    UINT64_C(0xabac0158050fc4dc), UINT64_C(0xc9f49bf37d57ca93), UINT64_C(0x82cb9b024dc7d44d),
    UINT64_C(0x8bf80ab8e7ddf7fb), UINT64_C(0xcf75576088d38328), UINT64_C(0xdef9d52f49533b67),
    UINT64_C(0xc50d2b50c59f22a7), UINT64_C(0xd3927d989bb11140), UINT64_C(0x369095118d299a8e),
    UINT64_C(0x25a48eb36c063de4), UINT64_C(0x79de85ee92ff097f), UINT64_C(0x70c118c1f94dc352),
    UINT64_C(0x78a384b157b4d9a2), UINT64_C(0x306f760c1229ffa7), UINT64_C(0x605aa111c0f95d34),
    UINT64_C(0xd320d86d2a519956), UINT64_C(0xcc4fdd1a7d908b66), UINT64_C(0x9cf2689063dbd80c),
    UINT64_C(0x8ffc389cb473e63e), UINT64_C(0xf21f9de58d297d1c), UINT64_C(0xc0dc2f46a6cce040),
    UINT64_C(0xb992abfe2b45f844), UINT64_C(0x7ffe7b9ba320872e), UINT64_C(0x525a0e7fdae6c123),
    UINT64_C(0xf464aeb267349c8c), UINT64_C(0x45cd5928705b0979), UINT64_C(0x3a3e35e3ca9913a5),
    UINT64_C(0xa91dc74e4ade3b35), UINT64_C(0xfb0bed02ef6cd00d), UINT64_C(0x88d93cb44ab1e1f4),
    UINT64_C(0x540f11d643c5e663), UINT64_C(0x2370dd1f8c21d1bc), UINT64_C(0x81157b6c16a7b60d),
    UINT64_C(0x4d54b9e57a8ff9bf), UINT64_C(0x759f12781f2a753e), UINT64_C(0xcea1a3bebf186b91),
    UINT64_C(0x2cf508d3ada26206), UINT64_C(0xb6101c2da3c33057), UINT64_C(0xb3f47496ae3a36a1),
    UINT64_C(0x626b57547b108392), UINT64_C(0xc1d2363299e41531), UINT64_C(0x667cc1923f1ad944),
    UINT64_C(0x65704ffec8138825), UINT64_C(0x24f280d1c28949a6), UINT64_C(0xc2ca1cedfaf8876b),
    UINT64_C(0xc2164bfc9f042196), UINT64_C(0xa16e9c9368b1d623), UINT64_C(0x49fb169c8b5114fd),
    UINT64_C(0x9f3143f8df074c46), UINT64_C(0xc6fdaf2412cc86b3), UINT64_C(0x7eaf49d10a52098f),
    UINT64_C(0x1cf313559d292f9a), UINT64_C(0xc44a30dda2f41f12), UINT64_C(0x36fae98943a71ed0),
    UINT64_C(0x318fb34c73f0bce6), UINT64_C(0xa27abf3670a7e980), UINT64_C(0xb4bcc0db243c6d75),
    UINT64_C(0x23f8d852fdb71513), UINT64_C(0x8f035f4da67d8a08), UINT64_C(0xd89cd0e5b7e8f148),
    UINT64_C(0xf6f4e6bcf7a644ee), UINT64_C(0xaec59ad80f1837f2), UINT64_C(0xc3b2f6154b6694e0),
    UINT64_C(0x9d199062b7bbb3a8),
};

static void siphash_has_the_published_values(void **state) {
    (void)state;
    uint8_t key[16], message[64];
    for (uint8_t i = 0; i < 16; i++) key[i] = i;
    for (uint8_t i = 0; i < 64; i++) message[i] = i;
    struct hash hash = hash_siphash(key);
    for (size_t length = 0; length < 64; length++)
        CHECK(hash_bytes(&hash, message, length) == siphash_vectors[length], "SipHash of %zu bytes is %llx", length,
              (unsigned long long)hash_bytes(&hash, message, length));
    const void *keys[64];
    size_t lengths[64];
    uint64_t digests[64];
    for (size_t i = 0; i < 64; i++) {
        keys[i] = message;
        lengths[i] = i;
    }
    for (int isa = ISA_SCALAR; isa < ISA_COUNT; isa++) {
        if (!has_isa((enum isa)isa)) continue;
        hash.isa = (enum isa)isa;
        hash_bytes_many(&hash, false, keys, lengths, 64, digests);
        CHECK(memcmp(digests, siphash_vectors, sizeof digests) == 0, "SipHash of 64 messages at a time with %s",
              isa_name((enum isa)isa));
    }
}

/* Integers under SipHash are hashed as their eight little-endian bytes, on every machine. */
static void siphash_of_integers_is_that_of_their_bytes(void **state) {
    (void)state;
    uint8_t key[16];
    for (uint8_t i = 0; i < 16; i++) key[i] = i;
    struct hash hash = hash_siphash(key);
    CHECK(hash_u64(&hash, UINT64_C(0x0706050403020100)) == siphash_vectors[8], "the hash is %llx",
          (unsigned long long)hash_u64(&hash, UINT64_C(0x0706050403020100)));
}

/* XXH3-64 of prefixes of the buffer of xxHash's sanity check, under seed 0 and its seed. */
static const struct {
    size_t length;
    uint64_t plain, seeded;
} xxh3_vectors[] = {
    {0, UINT64_C(0x2d06800538d394c2), UINT64_C(0xa8a6b918b2f0364a)},
    {1, UINT64_C(0xc44bdff4074eecdb), UINT64_C(0x032be332dd766ef8)},
    {6, UINT64_C(0x27b56a84cd2d7325), UINT64_C(0x84589c116ab59ab9)},
    {12, UINT64_C(0xa713daf0dfbb77e7), UINT64_C(0xe7303e1b2336de0e)},
    {24, UINT64_C(0xa3fe70bf9d3510eb), UINT64_C(0x850e80fc35bdd690)},
    {48, UINT64_C(0x397da259ecba1f11), UINT64_C(0xadc2cbaa44acc616)},
    {80, UINT64_C(0xbcdefbbb2c47c90a), UINT64_C(0xc6dd0cb699532e73)},
    {195, UINT64_C(0xcd94217ee362ec3a), UINT64_C(0xba68003d370cb3d9)},
    {403, UINT64_C(0xcdeb804d65c6dea4), UINT64_C(0x6259f6ecfd6443fd)},
    {512, UINT64_C(0x617e49599013cb6b), UINT64_C(0x3ce457de14c27708)},
    {2048, UINT64_C(0xdd59e2c3a5f038e0), UINT64_C(0x66f81670669ababc)},
    {2240, UINT64_C(0x6e73a90539cf2948), UINT64_C(0x757ba8487d1b5247)},
    {2367, UINT64_C(0xcb37aeb9e5d361ed), UINT64_C(0xd2db3415b942b42a)},
};

static void xxh3_has_the_published_values(void **state) {
    (void)state;
    uint8_t buffer[2367];
    const uint64_t prime = UINT64_C(11400714785074694797);
    uint64_t generator = 2654435761;
    for (size_t i = 0; i < sizeof buffer; i++) {
        buffer[i] = (uint8_t)(generator >> 56);
        generator *= prime;
    }
    struct hash plain = hash_xxh3(0), seeded = hash_xxh3(prime);
    for (size_t i = 0; i < sizeof xxh3_vectors / sizeof *xxh3_vectors; i++) {
        size_t length = xxh3_vectors[i].length;
        CHECK(hash_bytes(&plain, buffer, length) == xxh3_vectors[i].plain, "XXH3 of %zu bytes", length);
        CHECK(hash_bytes(&seeded, buffer, length) == xxh3_vectors[i].seeded, "XXH3 of %zu bytes with a seed", length);
        CHECK(hash_checksum(buffer, length) == xxh3_vectors[i].plain, "checksum of %zu bytes", length);
    }
}

/* ---- the mix ---- */

/* y = x ^ x >> shift, undone. */
static uint64_t undo_shift(uint64_t y, int shift) {
    uint64_t x = y;
    for (int known = shift; known < 64; known += shift) x = y ^ x >> shift;
    return x;
}

/* 1 / odd modulo 2^64, by Newton's iteration: each step doubles the number of right bits. */
static uint64_t inverse_of(uint64_t odd) {
    uint64_t x = odd;
    for (int i = 0; i < 6; i++) x *= 2 - odd * x;
    return x;
}

static uint64_t undo_mix(uint64_t x) {
    x = undo_shift(x, 27) * inverse_of(UINT64_C(0x1C69B3F74AC4AE35));
    x = undo_shift(x, 33) * inverse_of(UINT64_C(0x3C79AC492BA7B653));
    return undo_shift(x, 27);
}

static void the_mix_is_a_bijection(void **state) {
    (void)state;
    uint64_t random = 1;
    for (int i = 0; i < 1000000; i++) {
        uint64_t x = i % 2 ? next_random(&random) : (uint64_t)i << i % 47;
        CHECK(undo_mix(mix64(x)) == x, "the mix of %llx cannot be undone", (unsigned long long)x);
    }
}

static void two_integers_never_share_a_digest(void **state) {
    (void)state;
    struct hash hash = hash_xxh3(12345);
    for (uint64_t i = 0; i < 1000000; i++) {
        uint64_t key = undo_mix(hash_u64(&hash, i)) ^ hash.stir;
        CHECK(key == i, "the digest of %llu leads back to %llx", (unsigned long long)i, (unsigned long long)key);
    }
}

/* Every input bit flips every output bit half of the time. */
static void every_bit_stirs_every_bit(void **state) {
    (void)state;
    enum { SAMPLES = 4096 };
    static unsigned flips[64][64];
    uint64_t random = 7;
    memset(flips, 0, sizeof flips);
    for (int s = 0; s < SAMPLES; s++) {
        uint64_t x = s % 2 ? next_random(&random) : (uint64_t)s;
        for (int in = 0; in < 64; in++) {
            uint64_t changed = mix64(x) ^ mix64(x ^ (uint64_t)1 << in);
            for (int out = 0; out < 64; out++) flips[in][out] += (unsigned)(changed >> out & 1);
        }
    }
    for (int in = 0; in < 64; in++)
        for (int out = 0; out < 64; out++)
            CHECK(fabs(flips[in][out] - SAMPLES / 2.0) < 6 * sqrt(SAMPLES / 4.0), "bit %d flips bit %d %u times of %d",
                  in, out, flips[in][out], SAMPLES);
}

static void batches_hash_like_singles(void **state) {
    (void)state;
    uint64_t keys[300], digests[300];
    uint8_t secret[16] = {1, 2, 3};
    struct hash hashes[] = {hash_xxh3(0), hash_xxh3(99), hash_siphash(secret)};
    for (size_t i = 0; i < 300; i++) keys[i] = member(i);
    for (int isa = ISA_SCALAR; isa < ISA_COUNT; isa++)
        for (size_t h = 0; has_isa((enum isa)isa) && h < 3; h++)
            for (size_t n = 0; n <= 300; n += n < 70 ? 1 : 115) {
                memset(digests, 0, sizeof digests);
                hashes[h].isa = (enum isa)isa;
                hash_u64_many(&hashes[h], false, keys, n, digests);
                for (size_t i = 0; i < 300; i++)
                    CHECK(digests[i] == (i < n ? hash_u64(&hashes[h], keys[i]) : 0),
                          "%s, hash %zu, batch of %zu: digest %zu", isa_name((enum isa)isa), h, n, i);
            }
}

/* ---- many keys of bytes ---- */

enum { KEYS = 60, LENGTHS = 400, ROOM = 1 << 16 }; /* ROOM is a multiple of any machine's pages */

/* Memory that ends, and begins, where nothing can be read. */
static uint8_t *walled_room(void) {
    uint8_t *pages = mmap(NULL, 3 * (size_t)ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED && mprotect(pages + ROOM, ROOM, PROT_READ | PROT_WRITE) == 0, "no memory");
    uint64_t random = 11;
    for (size_t i = 0; i < ROOM; i++) pages[ROOM + i] = (uint8_t)next_random(&random);
    return pages + ROOM;
}

static void check_batch(const struct hash *hash, enum isa isa, const void *const *keys, const size_t *lengths,
                        size_t n) {
    uint64_t digests[KEYS + 1] = {0};
    struct hash batch = *hash;
    batch.isa = isa;
    hash_bytes_many(&batch, false, keys, lengths, n, digests);
    for (size_t i = 0; i < n; i++)
        CHECK(digests[i] == hash_bytes(hash, keys[i], lengths[i]), "%s: key %zu of %zu, which has %zu bytes",
              isa_name(isa), i, n, lengths[i]);
    CHECK(!digests[n], "%s: a digest beyond %zu", isa_name(isa), n);
}

/* Keys of `least` to `most` bytes, at the walls or anywhere between them. */
static void check_lengths(const struct hash *hash, uint8_t *room, size_t least, size_t most, uint64_t *random) {
    const void *keys[KEYS];
    size_t lengths[KEYS], n = (size_t)(next_random(random) % (KEYS + 1));
    for (size_t i = 0; i < KEYS; i++) {
        lengths[i] = least + (size_t)(next_random(random) % (most - least + 1));
        size_t places[] = {0, ROOM - lengths[i], (size_t)(next_random(random) % (ROOM - lengths[i]))};
        keys[i] = room + places[next_random(random) % 3];
    }
    for (int isa = ISA_SCALAR; isa < ISA_COUNT; isa++)
        if (has_isa((enum isa)isa)) check_batch(hash, (enum isa)isa, keys, lengths, n);
}

static void batches_of_bytes_hash_like_singles(void **state) {
    (void)state;
    const uint8_t secret[16] = {9, 8, 7};
    struct hash hashes[] = {hash_siphash(secret), hash_xxh3(5), hash_unkeyed(PERHAPS_MURMUR, 6)};
    uint8_t *room = walled_room();
    uint64_t random = 12;
    for (size_t h = 0; h < 3; h++)
        for (size_t length = 0; length < LENGTHS; length++) {
            check_lengths(&hashes[h], room, length, length, &random);
            check_lengths(&hashes[h], room, length, length + 10, &random);
            check_lengths(&hashes[h], room, 0, length, &random);
        }
    munmap(room - ROOM, 3 * (size_t)ROOM);
}

/* ---- arithmetic ---- */

static void checked_arithmetic_notices_overflow(void **state) {
    (void)state;
    uint64_t out = 0;
    CHECK(add_fits(UINT64_MAX - 1, 1, &out) && out == UINT64_MAX, "sum %llx", (unsigned long long)out);
    CHECK(!add_fits(UINT64_MAX, 1, &out) && !add_fits(UINT64_MAX, UINT64_MAX, &out), "an overflowing sum fits");
    CHECK(mul_fits(UINT32_MAX, UINT32_MAX, &out) && out == UINT64_C(0xFFFFFFFE00000001), "product %llx",
          (unsigned long long)out);
    CHECK(!mul_fits((uint64_t)1 << 32, (uint64_t)1 << 32, &out) && !mul_fits(UINT64_MAX, 2, &out),
          "an overflowing product fits");
    CHECK(round_up_fits(1, 64, &out) && out == 64 && round_up_fits(64, 64, &out) && out == 64, "rounded to %llu",
          (unsigned long long)out);
    CHECK(round_up_fits(0, 64, &out) && out == 0, "rounded to %llu", (unsigned long long)out);
    CHECK(!round_up_fits(UINT64_MAX - 62, 64, &out), "rounding past the end fits");
}

/* By schoolbook multiplication in 32-bit digits. */
static uint64_t slow_mul_high(uint64_t a, uint64_t b) {
    uint64_t carry = 0, digits[4] = {0};
    for (int i = 0; i < 2; i++) {
        carry = 0;
        for (int j = 0; j < 2; j++) {
            carry += digits[i + j] + (a >> 32 * i & UINT32_MAX) * (b >> 32 * j & UINT32_MAX);
            digits[i + j] = carry & UINT32_MAX;
            carry >>= 32;
        }
        digits[i + 2] = carry;
    }
    return digits[3] << 32 | digits[2];
}

static void high_products_are_right(void **state) {
    (void)state;
    uint64_t random = 3;
    for (int i = 0; i < 100000; i++) {
        uint64_t a = next_random(&random) >> i % 40, b = ~(uint64_t)0 >> i % 64;
        CHECK(mul_high(a, b) == slow_mul_high(a, b), "mul_high of %llx and %llx", (unsigned long long)a,
              (unsigned long long)b);
        b = next_random(&random);
        CHECK(mul_high(a, b) == slow_mul_high(a, b), "mul_high of %llx and %llx", (unsigned long long)a,
              (unsigned long long)b);
        CHECK(mul_high_32(a, (uint32_t)b) == slow_mul_high(a, (uint32_t)b), "mul_high_32 of %llx and %llx",
              (unsigned long long)a, (unsigned long long)b);
    }
    CHECK(mul_high(UINT64_MAX, UINT64_MAX) == UINT64_MAX - 1, "the largest product is wrong");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(siphash_has_the_published_values),
        cmocka_unit_test(siphash_of_integers_is_that_of_their_bytes),
        cmocka_unit_test(xxh3_has_the_published_values),
        cmocka_unit_test(the_mix_is_a_bijection),
        cmocka_unit_test(two_integers_never_share_a_digest),
        cmocka_unit_test(every_bit_stirs_every_bit),
        cmocka_unit_test(batches_hash_like_singles),
        cmocka_unit_test(batches_of_bytes_hash_like_singles),
        cmocka_unit_test(checked_arithmetic_notices_overflow),
        cmocka_unit_test(high_products_are_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
