#include "chosen.h"

#include <string.h>

/* ---- digests ---- */

/* See src/kind/table/table.c. */
static const uint64_t second_multiplier = UINT64_C(0x1F83D9ABFB41BD6B);

/* The digests d for which d and d · multiplier mod 2^64 are both small are a lattice in the plane.
 * These two vectors of it, found by Lagrange's reduction, have small positive coordinates; sums of
 * them have, too. */
static const uint64_t u = 1232221121, v = 1080527769;

uint64_t chosen_shared(uint64_t i) {
    return (1 + i % 64) * u + i / 64 * v;
}

/* The same at the other end: the last bucket and the first. */
static uint64_t shared_last(uint64_t i) {
    return 0 - chosen_shared(i);
}

static uint64_t dense(uint64_t i) {
    return i;
}

static uint64_t dense_down(uint64_t i) {
    return UINT64_MAX - i;
}

static uint64_t shifted_20(uint64_t i) {
    return i << 20;
}

static uint64_t shifted_48(uint64_t i) {
    return i << 48;
}

/* One second bucket, and first ones of all sorts. */
static uint64_t same_second(uint64_t i) {
    uint64_t inverse = second_multiplier; /* right in its last three bits; each step doubles them */
    for (int step = 0; step < 5; step++) inverse *= 2 - second_multiplier * inverse;
    return i * inverse;
}

/* Some among many that nobody chose. */
static uint64_t mixed(uint64_t i) {
    uint64_t x = (i + 1) * UINT64_C(0x9E3779B97F4A7C15);
    return i % 3 == 0 ? chosen_shared(i) : (x ^ x >> 29) | UINT64_C(1) << 63;
}

const struct chosen chosen_sorts[] = {
    {"shared", chosen_shared},
    {"shared-last", shared_last},
    {"dense", dense},
    {"dense-down", dense_down},
    {"shifted-20", shifted_20},
    {"shifted-48", shifted_48},
    {"same-second", same_second},
    {"mixed", mixed},
};
const size_t chosen_sort_count = sizeof chosen_sorts / sizeof *chosen_sorts;

/* ---- keys: XXH3 of eight bytes, backwards ---- */

static uint64_t rotate(uint64_t x, unsigned by) {
    return by % 64 ? x << by % 64 | x >> (64 - by % 64) : x;
}

/* `x ^ rotl(x, 49) ^ rotl(x, 24)`: in the rotation, a polynomial whose 63rd power inverts it. */
static uint64_t undo_rotations(uint64_t x) {
    for (unsigned power = 1; power < 64; power *= 2) x ^= rotate(x, 49 * power) ^ rotate(x, 24 * power);
    return x;
}

void chosen_key(uint64_t digest, char key[8]) {
    const uint64_t inverse = UINT64_C(0x02AB9C720D1024AD); /* of 0x9FB21C651E98DF25 */
    const uint64_t secret = UINT64_C(0x1CAD21F72C81017C) ^ UINT64_C(0xDB979083E96DD4DE);
    uint64_t h = digest ^ digest >> 28 ^ digest >> 56;
    h *= inverse;
    h ^= (h >> 35) + 8;
    h *= inverse;
    h = undo_rotations(h) ^ secret;
    for (int i = 0; i < 8; i++) key[i] = (char)(h >> 8 * (i < 4 ? 4 + i : i - 4));
}
