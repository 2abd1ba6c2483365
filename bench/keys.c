/*
 * The keys of a benchmark, by number. A filter's members have the numbers 0, 1, ...; non-members,
 * which are never added, have other numbers.
 *
 * For most kinds a key is any 64-bit integer, and a number becomes one by a mix that is a
 * bijection. A kind that holds integers as they are takes only those below its range: there a
 * number below the range becomes another one below it, in no visible order. The mix permutes the
 * numbers below a power of two; what falls beyond the range is mixed again until it falls within,
 * and so the numbers below the range are permuted.
 */
#include "measure.h"

static const uint64_t first_non_member = (uint64_t)1 << 60;

uint64_t key_number(uint64_t number) {
    uint64_t x = number * 0xff51afd7ed558ccdu + 0x2545f4914f6cdd1du;
    x = (x ^ x >> 29) * 0xc4ceb9fe1a85ec53u;
    x = (x ^ x >> 32) * 0xff51afd7ed558ccdu;
    return x ^ x >> 29;
}

struct key_space key_space_all(uint64_t members) {
    return (struct key_space){.members = members};
}

struct key_space key_space_below(uint64_t range, uint64_t members) {
    struct key_space space = {.members = members, .range = range, .bits = 2};
    while (space.bits < 63 && (uint64_t)1 << space.bits < range) space.bits++;
    return space;
}

static uint64_t permute(const struct key_space *space, uint64_t x) {
    const uint64_t mask = ((uint64_t)1 << space->bits) - 1;
    const unsigned half = space->bits / 2;
    do {
        x = (x * 0xff51afd7ed558ccdu + 0x2545f4914f6cdd1du) & mask;
        x = ((x ^ x >> half) * 0xc4ceb9fe1a85ec53u) & mask;
        x = ((x ^ x >> half) * 0xff51afd7ed558ccdu) & mask;
        x ^= x >> half;
    } while (x >= space->range);
    return x;
}

uint64_t key_member(const struct key_space *space, uint64_t number) {
    return space->range ? permute(space, number) : key_number(number);
}

uint64_t key_non_member(const struct key_space *space, uint64_t number) {
    if (!space->range) return key_number(first_non_member + number);
    return permute(space, space->members + number % (space->range - space->members));
}

uint64_t key_random(uint64_t number) {
    return key_number(first_non_member + number);
}

static uint64_t random_below(uint64_t random, uint64_t n) {
    return n >> 32 ? random % n : (random >> 32) * n >> 32;
}

uint64_t key_random_member(const struct key_space *space, uint64_t random, uint64_t n) {
    /* The choice must not be the key itself. */
    return key_member(space, random_below(random * 0x9e3779b97f4a7c15u, n));
}
