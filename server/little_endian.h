/* Little-endian numbers of any length: RedisBloom's headers are made of them, and so is ours. */
#ifndef PERHAPS_SERVER_LITTLE_ENDIAN_H
#define PERHAPS_SERVER_LITTLE_ENDIAN_H

#include <stdint.h>

static inline uint64_t get_little_endian(const uint8_t *bytes, unsigned length) {
    uint64_t number = 0;
    for (unsigned i = length; i-- > 0;) number = number << 8 | bytes[i];
    return number;
}

static inline void put_little_endian(uint8_t *bytes, uint64_t number, unsigned length) {
    for (unsigned i = 0; i < length; i++) bytes[i] = (uint8_t)(number >> 8 * i);
}

#endif
