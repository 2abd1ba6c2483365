/* MurmurHash3 of foreign formats against published values. */
#include "support.h"

#include "foreign/foreign_hashes.h"
#include "core/hash.h"

#include <string.h>

/* The same numbers stand in the tests of several implementations of the 128-bit function. */
static void of_128_bits(void **state) {
    static const struct {
        const char *text;
        uint64_t words[2];
    } known[] = {
        {"", {0, 0}},
        {"hello", {UINT64_C(0xcbd8a7b341bd9b02), UINT64_C(0x5b1e906a48ae1d19)}},
        {"hello, world", {UINT64_C(0x342fac623a5ebc8e), UINT64_C(0x4cdcbc079642414d)}},
        {"19 Jan 2038 at 3:14:07 AM", {UINT64_C(0xb89e5988b737affc), UINT64_C(0x664fc2950231b2cb)}},
        {"The quick brown fox jumps over the lazy dog.", {UINT64_C(0xcd99481f9ee902c9), UINT64_C(0x695da1a38987b6e7)}},
    };
    struct hash hash = hash_unkeyed(PERHAPS_MURMUR3, 0);
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint64_t words[2];
        hash_two_words(&hash, known[i].text, strlen(known[i].text), words);
        CHECK(words[0] == known[i].words[0] && words[1] == known[i].words[1], "'%s': %llx %llx", known[i].text,
              (unsigned long long)words[0], (unsigned long long)words[1]);
        CHECK(hash_bytes(&hash, known[i].text, strlen(known[i].text)) == words[0], "'%s'", known[i].text);
    }
}

/* Keys of whole words have the hash of every other implementation. The rest, with seed 42, is what
 * hash() of Spark's SQL gives. */
static void of_32_bits(void **state) {
    static const struct {
        const char *text;
        uint32_t seed, value;
    } known[] = {
        {"", 0, 0},
        {"test", 0, 0xba6bd213},
        {"abcd", 0x9747b28c, 0xf0478627},
        {"\x21\x43\x65\x87", 0x5082edee, 0x2362f9de},
        {"", 42, 142593372},
        {"bar", 42, 2486176763},
        {"hello", 42, 3286402344},
        {"\xf0\x9f\x98\x81", 42, 885025535},
        {"\xe5\xa4\xa9\xe5\x9c\xb0", 42, 2395000894},
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint32_t value = murmur3_32_spark(known[i].seed, known[i].text, strlen(known[i].text));
        CHECK(value == known[i].value, "row %zu: %x", i, value);
    }
}

/* The second word is seeded with the first. */
static void of_32_bits_twice(void **state) {
    struct hash hash = hash_unkeyed(PERHAPS_MURMUR3_32, 0);
    uint64_t words[2];
    (void)state;
    hash_two_words(&hash, "test", 4, words);
    CHECK(words[0] == 0xba6bd213 && words[1] == murmur3_32_spark(0xba6bd213, "test", 4), "%llx %llx",
          (unsigned long long)words[0], (unsigned long long)words[1]);
    CHECK(hash_bytes(&hash, "test", 4) == words[0], "the first word alone");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_128_bits),
        cmocka_unit_test(of_32_bits),
        cmocka_unit_test(of_32_bits_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
