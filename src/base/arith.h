/* Integer arithmetic: checked, wide, and the 64-bit mix. */
#ifndef PERHAPS_BASE_ARITH_H
#define PERHAPS_BASE_ARITH_H

#include <stdbool.h>
#include <stdint.h>

/* False when the result does not fit; *out is then meaningless. */
static inline bool add_fits(uint64_t a, uint64_t b, uint64_t *out) {
    return !__builtin_add_overflow(a, b, out);
}

static inline bool mul_fits(uint64_t a, uint64_t b, uint64_t *out) {
    return !__builtin_mul_overflow(a, b, out);
}

/* a rounded up to a multiple of unit; false when that does not fit. */
static inline bool round_up_fits(uint64_t a, uint64_t unit, uint64_t *out) {
    if (!add_fits(a, unit - 1, &a)) return false;
    *out = a - a % unit;
    return true;
}

/* The upper half of a 128-bit product: h * n / 2^64 is uniform below n if h is uniform. */
static inline uint64_t mul_high_by_parts(uint64_t a, uint64_t b) {
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
    uint64_t carry = a0 * b1 + (uint32_t)middle;
    return a1 * b1 + (middle >> 32) + (carry >> 32);
}

static inline uint64_t mul_high(uint64_t a, uint64_t b) {
#if defined(__SIZEOF_INT128__) && !defined(__wasm__) /* there it is a call of a function */
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)((wide)a * b >> 64);
#else
    return mul_high_by_parts(a, b);
#endif
}

/* The same for n below 2^32, in multiplications that vector units have. */
static inline uint64_t mul_high_32(uint64_t h, uint32_t n) {
    return ((h >> 32) * n + ((uint64_t)(uint32_t)h * n >> 32)) >> 32;
}

/* Exact remainders by one number without divisions. The inverse is 2^64 / n less at most 1, so the
 * quotient is right or one too small, and the remainder below 2n. n is 1 to 2^63. */
struct divisor {
    uint64_t n, inverse;
};

static inline struct divisor divisor_of(uint64_t n) {
    return (struct divisor){n, UINT64_MAX / n};
}

static inline uint64_t smaller_of(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* If rest < n, rest - n wraps around and is larger. */
static inline uint64_t remainder_of(uint64_t a, const struct divisor *by) {
    uint64_t rest = a - mul_high(a, by->inverse) * by->n;
    return smaller_of(rest, rest - by->n);
}

/* A bijection on 64-bit words; every input bit affects every output bit. The constants are Pelle
 * Evensen's "moremur". */
#define MIX64_FIRST  UINT64_C(0x3C79AC492BA7B653)
#define MIX64_SECOND UINT64_C(0x1C69B3F74AC4AE35)

static inline uint64_t mix64(uint64_t x) {
    x ^= x >> 27;
    x *= MIX64_FIRST;
    x ^= x >> 33;
    x *= MIX64_SECOND;
    x ^= x >> 27;
    return x;
}

#endif
