/* Little-endian words at any address, on every machine. Compiles to plain loads. */
#ifndef PERHAPS_BASE_ENDIAN_H
#define PERHAPS_BASE_ENDIAN_H

#include <stdint.h>
#include <string.h>

static inline uint64_t le64(uint64_t x) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap64(x);
#else
    return x;
#endif
}

static inline uint32_t le32(uint32_t x) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap32(x);
#else
    return x;
#endif
}

static inline uint64_t load64(const void *p) {
    uint64_t x;
    memcpy(&x, p, sizeof x);
    return le64(x);
}

static inline void store64(void *p, uint64_t x) {
    x = le64(x);
    memcpy(p, &x, sizeof x);
}

static inline uint32_t load32(const uint8_t *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline void store32(uint8_t *p, uint32_t x) {
    for (int i = 0; i < 4; i++) p[i] = (uint8_t)(x >> 8 * i);
}

static inline uint16_t load16(const uint8_t *p) {
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline void store16(uint8_t *p, uint16_t x) {
    p[0] = (uint8_t)x;
    p[1] = (uint8_t)(x >> 8);
}

/* IEEE doubles. */
static inline double load_double(const uint8_t *p) {
    uint64_t bits = load64(p);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline void store_double(uint8_t *p, double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    store64(p, bits);
}

/* ---- big-endian, as Java writes them ---- */

static inline uint32_t load32_big(const uint8_t *p) {
    return __builtin_bswap32(load32(p));
}

static inline void store32_big(uint8_t *p, uint32_t x) {
    store32(p, __builtin_bswap32(x));
}

#endif
